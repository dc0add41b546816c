"""What a file is, told from its content; its name only says what somebody expected.

An identification reads some 200 KiB (2 MiB when the file seems to be all zeros), whatever the
file's size, and never fails on content: what nothing matches is "unknown", which reads as raw.

The order of the detectors matters. A magic number at offset 0 wins; then the footer of a fixed VHD,
because in front of it lies a whole disk with signatures of its own; then ISO 9660 before partition
tables, because bootable ISO images carry one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PureWindowsPath
from typing import Final

from qcowgui.image.disk_formats import (
    detect_qcow,
    detect_qed,
    detect_vdi,
    detect_vhd_footer,
    detect_vhd_header,
    detect_vhdx,
    detect_vmdk,
    detect_vmdk_part,
)
from qcowgui.image.signatures import (
    HEAD_BYTES,
    Detector,
    FileKind,
    Identification,
    Probe,
    ReadableAt,
    evidence_of,
)
from qcowgui.units import KIB, MIB, format_count

__all__ = ["FileKind", "Identification", "identify"]

ZERO_SAMPLE_BYTES: Final = MIB
_JSON_MAX_BYTES: Final = 64 * KIB


def identify(source: ReadableAt, *, name: str = "") -> Identification:
    """What `source` is.

    Args:
        source: Read with a few bounded reads; its own errors pass through.
        name: The file's name or path, used only for `expected_by_name`.
    """
    probe = Probe(source)
    for detect in _DETECTORS:
        match = detect(probe)
        if match is not None:
            break
    else:
        match = _unknown(probe)
    match = replace(match, title=_with_article(match.title))
    return replace(
        match,
        hint=match.hint or _hint(match.kind),
        expected_by_name=_expected_by_name(match, name),
    )


_AN: Final = ("ISO ", "OVA ", "XML ", "empty ", "old ", "xz ")
_NO_ARTICLE: Final = ("part of ", "unknown content")


def _with_article(title: str) -> str:
    """The detectors' noun phrase as a sentence needs it; what counts is how it is spoken."""
    if title.startswith(_NO_ARTICLE):
        return title
    return f"an {title}" if title.startswith(_AN) else f"a {title}"


def _detect_empty(probe: Probe) -> Identification | None:
    if probe.size_bytes:
        return None
    return Identification(FileKind.EMPTY, "empty file", "The file has no bytes.", "0 bytes")


def _detect_luks(probe: Probe) -> Identification | None:
    if not probe.head.startswith(b"LUKS\xba\xbe"):
        return None
    title = f"LUKS volume, version {probe.number(6, 2, 'big')}"
    detail = "The whole file is one encrypted volume, not an encrypted qcow2 image."
    return Identification(FileKind.LUKS, title, detail, evidence_of(probe, 0, 8))


@dataclass(frozen=True, slots=True)
class _Signature:
    """A kind that fixed bytes at a fixed offset give away."""

    offset: int
    magic: bytes
    kind: FileKind
    title: str


_ARCHIVES: Final = (
    _Signature(0, b"\x1f\x8b\x08", FileKind.GZIP, "gzip archive"),
    _Signature(0, b"\xfd7zXZ\0", FileKind.XZ, "xz archive"),
    _Signature(0, b"\x28\xb5\x2f\xfd", FileKind.ZSTD, "Zstandard archive"),
    _Signature(4, b"1AY&SY", FileKind.BZIP2, "bzip2 archive"),
    _Signature(0, b"7z\xbc\xaf\x27\x1c", FileKind.SEVEN_ZIP, "7-Zip archive"),
    _Signature(0, b"PK\x03\x04", FileKind.ZIP, "zip archive"),
    _Signature(0, b"PK\x05\x06", FileKind.ZIP, "empty zip archive"),
    _Signature(257, b"ustar", FileKind.TAR, "tar archive"),
)

_CONTENTS: Final = (
    _Signature(3, b"NTFS    ", FileKind.RAW, "NTFS file system"),
    _Signature(3, b"EXFAT   ", FileKind.RAW, "exFAT file system"),
    _Signature(54, b"FAT1", FileKind.RAW, "FAT file system"),
    _Signature(82, b"FAT32", FileKind.RAW, "FAT file system"),
    _Signature(0, b"XFSB", FileKind.RAW, "XFS file system"),
    _Signature(0x10040, b"_BHRfS_M", FileKind.RAW, "Btrfs file system"),
    _Signature(0, b"hsqs", FileKind.RAW, "SquashFS file system"),
    _Signature(4086, b"SWAPSPACE2", FileKind.RAW, "Linux swap space"),
    _Signature(512, b"LABELONE", FileKind.RAW, "LVM physical volume"),
)


_EXT_MAGIC: Final = _Signature(0x438, b"\x53\xef", FileKind.RAW, "ext2/3/4 file system")


def _is_ext(probe: Probe) -> bool:
    """Whether an ext superblock is there; two bytes of magic alone would be too weak a proof."""
    block_size_shift, state = probe.number(0x418, 4), probe.number(0x43A, 2)
    plausible = block_size_shift <= 6 and state <= 7
    return plausible and probe.head.startswith(_EXT_MAGIC.magic, _EXT_MAGIC.offset)


def _first_match(probe: Probe, signatures: tuple[_Signature, ...]) -> _Signature | None:
    return next((s for s in signatures if probe.head.startswith(s.magic, s.offset)), None)


def _detect_archive(probe: Probe) -> Identification | None:
    found = _first_match(probe, _ARCHIVES)
    if found is None or (found.kind is FileKind.BZIP2 and not probe.head.startswith(b"BZh")):
        return None
    evidence = evidence_of(probe, found.offset, len(found.magic))
    first_name = probe.head[:100].partition(b"\0")[0]
    if found.kind is FileKind.TAR and first_name.lower().endswith(b".ovf"):
        detail = "A packed virtual machine: a description (OVF) and its disks, usually VMDK."
        return Identification(FileKind.OVA, "OVA package", detail, evidence)
    detail = "The disk image, if there is one, is packed inside."
    return Identification(found.kind, found.title, detail, evidence)


def _detect_iso(probe: Probe) -> Identification | None:
    descriptors = [probe.head[at + 1 : at + 6] for at in range(0x8000, 0x10000, 2048)]
    udf = b"NSR02" in descriptors or b"NSR03" in descriptors
    if descriptors[0] == b"CD001":
        title = "ISO 9660 image with UDF" if udf else "ISO 9660 image"
    elif descriptors[0] == b"BEA01" and udf:
        title = "UDF image"
    else:
        return None
    detail = "An optical disc's content; its bytes are the disc's bytes."
    return Identification(FileKind.ISO, title, detail, evidence_of(probe, 0x8001, 5))


def _detect_text(probe: Probe) -> Identification | None:
    """A web page, an error message or a pointer in place of the download."""
    start = probe.head[: 4 * KIB]
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = start.decode("utf-16", "replace")
    else:
        text = start.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    text = text.lstrip().lower()
    if text.startswith("version https://git-lfs.github.com/spec/"):
        kind, title = FileKind.LFS_POINTER, "Git LFS pointer"
    elif text.startswith(("<!doctype html", "<html")):
        kind, title = FileKind.HTML, "web page (HTML)"
    elif text.startswith("<?xml"):
        html = "<html" in text
        kind, title = (
            (FileKind.HTML, "web page (XHTML)") if html else (FileKind.XML, "XML document")
        )
    elif text.startswith(("{", "[")) and _is_json(probe):
        kind, title = FileKind.JSON, "JSON document"
    elif text.startswith("<!--") and "<html" in text:
        kind, title = FileKind.HTML, "web page (HTML)"
    else:
        return None
    shown = "".join(char if char.isprintable() else " " for char in text[:60]).strip()
    detail = "A server probably sent this in place of the image: an error or a login page."
    if kind is FileKind.LFS_POINTER:
        detail = "It stands for a file that Git LFS has not fetched."
    return Identification(kind, title, detail, f"it starts with the text “{shown}”")


def _is_json(probe: Probe) -> bool:
    if probe.size_bytes > _JSON_MAX_BYTES:
        return False
    try:
        json.loads(probe.head)
    except (ValueError, RecursionError):  # nesting is the file's choice
        return False
    return True


def _detect_zeros(probe: Probe) -> Identification | None:
    if any(probe.head):
        return None
    rest = ZERO_SAMPLE_BYTES - HEAD_BYTES
    last_start = max(ZERO_SAMPLE_BYTES, probe.size_bytes - ZERO_SAMPLE_BYTES)
    if any(probe.read(HEAD_BYTES, rest)) or any(probe.read(last_start, ZERO_SAMPLE_BYTES)):
        return None
    if probe.size_bytes <= 2 * ZERO_SAMPLE_BYTES:
        title, detail = "file of zeros", "Every byte of the file is zero."
    else:
        title = "file of zeros, as far as looked"
        detail = "Its first and its last MiB are zero; what lies between was not read."
    return Identification(FileKind.ZEROS, title, detail, "no byte other than 00")


def _detect_disk(probe: Probe) -> Identification | None:
    for sector_bytes in (512, 4096):
        if probe.head.startswith(b"EFI PART", sector_bytes):
            title = "raw disk with a GPT partition table"
            return Identification(FileKind.RAW, title, "", evidence_of(probe, sector_bytes, 8))
    content = _EXT_MAGIC if _is_ext(probe) else _first_match(probe, _CONTENTS)
    if content is not None:
        return Identification(
            FileKind.RAW,
            f"raw image: {content.title}",
            "It has no partition table.",
            evidence_of(probe, content.offset, len(content.magic)),
        )
    partitions = sum(1 for _ in _iter_mbr_partitions(probe.head))
    if partitions:
        detail = f"It has {format_count(partitions, 'partition')}."
        title = "raw disk with an MBR partition table"
        return Identification(FileKind.RAW, title, detail, evidence_of(probe, 510, 2))
    return None


def _iter_mbr_partitions(head: bytes) -> Iterator[int]:
    """The types of the primary partitions of a plausible MBR, nothing when it is none."""
    if head[510:512] != b"\x55\xaa":
        return
    entries = [head[at : at + 16] for at in range(446, 510, 16)]
    if any(entry[0] not in (0x00, 0x80) for entry in entries):
        return
    for entry in entries:
        if entry[4] and any(entry[12:16]):
            yield entry[4]


def _unknown(probe: Probe) -> Identification:
    detail = "Nothing in it tells what it is; it can be read as a raw disk."
    if probe.head.startswith(b"QFI"):
        detail = "It starts with “QFI” but not with the qcow2 magic 51 46 49 fb. " + detail
    return Identification(
        FileKind.UNKNOWN,
        "unknown content",
        detail,
        evidence_of(probe, 0, min(16, probe.size_bytes)),
    )


_DETECTORS: Final[tuple[Detector, ...]] = (
    _detect_empty,
    detect_qcow,
    detect_qed,
    detect_vmdk,
    detect_vhdx,
    detect_vhd_header,
    detect_vhd_footer,
    _detect_luks,
    detect_vdi,
    _detect_archive,
    _detect_iso,
    _detect_text,
    _detect_zeros,
    _detect_disk,
    detect_vmdk_part,
)

_QEMU_FORMATS: Final = {
    FileKind.QCOW1: "qcow",
    FileKind.QED: "qed",
    FileKind.VMDK: "vmdk",
    FileKind.VHD: "vpc",
    FileKind.VHDX: "vhdx",
    FileKind.VDI: "vdi",
}
_UNPACKERS: Final = {
    FileKind.GZIP: "gunzip -k",
    FileKind.XZ: "unxz -k",
    FileKind.ZSTD: "unzstd",
    FileKind.BZIP2: "bunzip2 -k",
    FileKind.SEVEN_ZIP: "7z x",
    FileKind.ZIP: "unzip",
    FileKind.TAR: "tar -xf",
    FileKind.OVA: "tar -xf",
}
_OTHER_HINTS: Final = {
    FileKind.QCOW2: "",
    FileKind.LUKS: "Open the volume with cryptsetup, or decrypt it with qemu-img.",
    FileKind.EMPTY: "Download or copy the image again.",
    FileKind.ZEROS: "It is a blank raw disk, or a download that never got its data.",
    FileKind.LFS_POINTER: "Fetch the file itself with: git lfs pull",
    FileKind.ISO: "Use it as a CD, or convert it as a raw image.",
    FileKind.RAW: "Open or convert it as a raw image.",
    FileKind.UNKNOWN: "If it is a raw disk, convert it as a raw image. If it should be a qcow2 "
    "image, its first cluster is damaged or the wrong file was copied.",
}


def _hint(kind: FileKind) -> str:
    if kind in _QEMU_FORMATS:
        qemu_format = _QEMU_FORMATS[kind]
        return (
            "Only raw and qcow2 are read here. Convert it first with: "
            f"qemu-img convert -f {qemu_format} -O qcow2 SOURCE TARGET"
        )
    if kind in _UNPACKERS:
        return f"Unpack it first ({_UNPACKERS[kind]} FILE), then open the image that was inside."
    return _OTHER_HINTS.get(kind, "Look at it in a text editor, then download the image again.")


_RAW_KINDS: Final = tuple(kind for kind in FileKind if kind.reads_as_raw)
_EXPECTED: Final[dict[str, tuple[str, tuple[FileKind, ...]]]] = {
    ".qcow2": ("a qcow2 image", (FileKind.QCOW2,)),
    ".qcow": ("a qcow image", (FileKind.QCOW1, FileKind.QCOW2)),
    ".qed": ("a QED image", (FileKind.QED,)),
    ".vmdk": ("a VMDK image", (FileKind.VMDK,)),
    ".vhd": ("a VHD image", (FileKind.VHD,)),
    ".vhdx": ("a VHDX image", (FileKind.VHDX,)),
    ".vdi": ("a VDI image", (FileKind.VDI,)),
    ".iso": ("an ISO image", (FileKind.ISO,)),
    ".raw": ("a raw image", _RAW_KINDS),
    ".gz": ("a gzip archive", (FileKind.GZIP,)),
    ".xz": ("an xz archive", (FileKind.XZ,)),
    ".zst": ("a Zstandard archive", (FileKind.ZSTD,)),
    ".bz2": ("a bzip2 archive", (FileKind.BZIP2,)),
    ".7z": ("a 7-Zip archive", (FileKind.SEVEN_ZIP,)),
    ".zip": ("a zip archive", (FileKind.ZIP,)),
    ".tar": ("a tar archive", (FileKind.TAR, FileKind.OVA)),
    ".ova": ("an OVA package", (FileKind.OVA,)),
}
"""What a suffix promises. Suffixes such as .img and .disk promise nothing."""


def _expected_by_name(found: Identification, name: str) -> str:
    # The Windows flavour splits at both kinds of slash.
    path = PureWindowsPath(name)
    suffix = path.suffix.lower()
    if suffix not in _EXPECTED or path.name.lower().endswith("-flat.vmdk"):
        return ""  # the data file of a VMDK is raw
    expected, kinds = _EXPECTED[suffix]
    if found.kind in kinds:
        return ""
    return (
        f"The name ends in {path.suffix}, which promises {expected}, but the content is: "
        f"{found.title} ({found.evidence})."
    )
