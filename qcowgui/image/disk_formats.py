"""Disk images by the magic number in their header or footer: qcow, QED, VMDK, VHDX, VHD, VDI."""

from __future__ import annotations

import struct
from typing import Final

from qcowgui.image.signatures import FileKind, Identification, Probe, evidence_of, size_sentence
from qcowgui.units import KIB, MIB, SECTOR_BYTES, align_up


def detect_qcow(probe: Probe) -> Identification | None:
    """A qcow image of either format, whatever its version. Cases: BL-O35."""
    if not probe.head.startswith(b"QFI\xfb"):
        return None
    evidence = evidence_of(probe, 0, 8)
    version = probe.number(4, 4, "big")
    if version == 1:
        size = probe.number(24, 8, "big")
        detail = f"This is the format before qcow2. {size_sentence(size)}"
        return Identification(
            FileKind.QCOW1, "old qcow version 1 image", detail, evidence, guest_bytes=size
        )
    if version in (2, 3):
        return Identification(FileKind.QCOW2, f"qcow2 image, version {version}", "", evidence)
    return Identification(
        FileKind.QCOW2,
        f"qcow2 image with the unknown version {version}",
        "Only versions 2 and 3 exist; the header is damaged or from the future.",
        evidence,
    )


def detect_qed(probe: Probe) -> Identification | None:
    """A QED image."""
    if not probe.head.startswith(b"QED\0"):
        return None
    size = probe.number(48, 8)
    return Identification(
        FileKind.QED, "QED image", size_sentence(size), evidence_of(probe, 0, 4), guest_bytes=size
    )


_VMDK_COMPRESSED_GRAINS: Final = 1 << 16
_VMDK_DIRECTORY_AT_END: Final = 0xFFFF_FFFF_FFFF_FFFF
_VMDK_FOOTER_POSITION: Final = -2 * SECTOR_BYTES  # a footer, then the end-of-stream marker


def _has_vmdk_footer(probe: Probe) -> bool:
    return probe.tail[_VMDK_FOOTER_POSITION:].startswith(b"KDMV")


def detect_vmdk(probe: Probe) -> Identification | None:
    """A VMDK: ESX copy-on-write, a descriptor, or a sparse extent. Cases: BL-O36, BL-O38."""
    head = probe.head
    if head.startswith(b"COWD"):
        size = probe.number(12, 4) * SECTOR_BYTES
        title = "VMDK image (ESX copy-on-write, COWD)"
        detail, evidence = size_sentence(size), evidence_of(probe, 0, 4)
        return Identification(FileKind.VMDK, title, detail, evidence, guest_bytes=size)
    if head[:512].lstrip().lower().startswith(b"# disk descriptorfile"):
        return Identification(
            FileKind.VMDK,
            "VMDK descriptor",
            "It is a text that names the files with the data; it holds no data itself.",
            "the text “# Disk DescriptorFile” at its start",
        )
    if not head.startswith(b"KDMV"):
        return None
    size = probe.number(12, 8) * SECTOR_BYTES
    stream = bool(probe.number(8, 4) & _VMDK_COMPRESSED_GRAINS) or probe.number(77, 2) == 1
    detail = f"Header version {probe.number(4, 4)}. {size_sentence(size)}"
    directory_at_end = probe.number(56, 8) == _VMDK_DIRECTORY_AT_END
    if (directory_at_end and not _has_vmdk_footer(probe)) or (
        probe.size_bytes < probe.number(64, 8) * SECTOR_BYTES
    ):
        detail += " The file is cut short: the end that its header promises is missing."
    return Identification(
        FileKind.VMDK,
        f"VMDK image ({'stream-optimized' if stream else 'sparse'})",
        detail,
        evidence_of(probe, 0, 8),
        guest_bytes=size,
    )


_GRAIN_MARKER: Final = struct.Struct("<QI2s")


def _grain_marker(head: bytes, offset: int) -> tuple[int, int] | None:
    """First guest sector and end offset of the compressed grain at `offset`, if one is there."""
    if offset + _GRAIN_MARKER.size > len(head):
        return None
    sector, payload_bytes, zlib_header = _GRAIN_MARKER.unpack_from(head, offset)
    # A zlib stream with a 32 KiB window starts with 0x78, and its two bytes divide by 31.
    if zlib_header[0] != 0x78 or int.from_bytes(zlib_header, "big") % 31:
        return None
    if not 0 < payload_bytes <= MIB or sector >= 1 << 48:
        return None
    return sector, align_up(offset + 12 + payload_bytes, SECTOR_BYTES)


def detect_vmdk_part(probe: Probe) -> Identification | None:
    """A piece of a stream-optimized VMDK without its beginning. Cases: BL-O43."""
    evidence = ""
    if _has_vmdk_footer(probe):
        evidence = "a VMDK footer 1024 bytes before the end, and no header at the start"
    else:
        for offset in range(0, len(probe.head), SECTOR_BYTES):
            first = _grain_marker(probe.head, offset)
            second = first and _grain_marker(probe.head, first[1])
            if first and second and second[0] > first[0]:
                evidence = f"compressed VMDK grains from offset {offset:#x} on, and no header"
                break
    if not evidence:
        return None
    return Identification(
        FileKind.VMDK,
        "part of a stream-optimized VMDK image",
        "The header that tells the disk's size and layout is missing: this is a later piece of a "
        "disk that was split, or the beginning was lost.",
        evidence,
        "Join all pieces in order into one file, then convert that with: "
        "qemu-img convert -f vmdk -O qcow2 SOURCE TARGET",
    )


_VHDX_HEADERS: Final = (64 * KIB, 128 * KIB)


def detect_vhdx(probe: Probe) -> Identification | None:
    """A VHDX, and whether its log must be replayed. Cases: BL-O36."""
    if not probe.head.startswith(b"vhdxfile"):
        return None
    detail, hint = "", ""
    headers = [at for at in _VHDX_HEADERS if probe.head[at : at + 4] == b"head"]
    if headers:
        current = max(headers, key=lambda at: probe.number(at + 8, 8))
        if any(probe.head[current + 48 : current + 64]):
            detail = "Its log is not empty: it was not closed cleanly and must be replayed first."
            hint = (
                "Replay the log (Hyper-V does when it mounts the disk, or: qemu-img check -r all), "
                "then convert: qemu-img convert -f vhdx -O qcow2 SOURCE TARGET"
            )
    else:
        detail = "Neither of its two headers is intact."
    return Identification(FileKind.VHDX, "VHDX image", detail, evidence_of(probe, 0, 8), hint)


_VHD_COOKIE: Final = b"conectix"
_VHD_TYPES: Final = {2: "fixed", 3: "dynamic", 4: "differencing"}


def detect_vhd_header(probe: Probe) -> Identification | None:
    """A dynamic or differencing VHD: a copy of the footer stands at offset 0."""
    if not probe.head.startswith(_VHD_COOKIE):
        return None
    return _vhd(probe.head[:512], evidence_of(probe, 0, 8), "")


def detect_vhd_footer(probe: Probe) -> Identification | None:
    """A fixed VHD: the whole disk, then a footer of 512 bytes, or 511 from old writers."""
    for footer_bytes in (512, 511):
        footer = probe.tail[-footer_bytes:]
        if len(footer) == footer_bytes and footer.startswith(_VHD_COOKIE):
            disk_type = int.from_bytes(footer[60:64], "big")
            if disk_type not in _VHD_TYPES:
                continue
            guest_bytes = int.from_bytes(footer[48:56], "big")
            data_bytes = probe.size_bytes - footer_bytes
            note = f"A footer of {footer_bytes} bytes follows the data; it is no guest data."
            if disk_type != 2:
                note = "Its first sector, a copy of the footer, is missing or damaged."
            elif guest_bytes != data_bytes:
                note += f" {data_bytes:,} bytes lie in front of it, not the size it names."
            return _vhd(footer, f"the text “conectix” {footer_bytes} bytes before the end", note)
    return None


def _vhd(footer: bytes, evidence: str, note: str) -> Identification:
    disk_type = _VHD_TYPES.get(int.from_bytes(footer[60:64], "big"), "unknown type")
    guest_bytes = int.from_bytes(footer[48:56], "big")
    detail = f"{size_sentence(guest_bytes)} {note}".rstrip()
    stored = int.from_bytes(footer[64:68], "big")
    if ~(sum(footer) - sum(footer[64:68])) & 0xFFFF_FFFF != stored:
        detail += " The footer's checksum is wrong."
    return Identification(
        FileKind.VHD, f"VHD image ({disk_type})", detail, evidence, guest_bytes=guest_bytes
    )


def detect_vdi(probe: Probe) -> Identification | None:
    """A VDI. Cases: BL-O37."""
    if probe.number(0x40, 4) != 0xBEDA107F:
        return None
    layout = {1: "dynamic", 2: "fixed", 3: "undo", 4: "differencing"}.get(probe.number(0x4C, 4))
    size = probe.number(0x170, 8)
    title = f"VDI image ({layout})" if layout else "VDI image"
    detail, evidence = size_sentence(size), evidence_of(probe, 0x40, 4)
    return Identification(FileKind.VDI, title, detail, evidence, guest_bytes=size)
