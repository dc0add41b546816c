"""What a file is, by its content."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import struct
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.image.identify import FileKind, Identification, identify
from qcowgui.units import MIB

QCOW2_HEAD = b"QFI\xfb" + struct.pack(">I", 3) + bytes(504)


class Memory:
    """A source in memory that counts what is read."""

    def __init__(self, data: bytes, size_bytes: int | None = None) -> None:
        self._data = data
        self._size_bytes = len(data) if size_bytes is None else size_bytes
        self.read_bytes = 0

    @property
    def size_bytes(self) -> int:
        return self._size_bytes

    def read_at(self, offset: int, length: int) -> bytes:
        length = max(0, min(length, self._size_bytes - offset))
        self.read_bytes += length
        return self._data[offset : offset + length].ljust(length, b"\0")


def look(data: bytes, name: str = "") -> Identification:
    return identify(Memory(data), name=name)


def put(size_bytes: int, *pieces: tuple[int, bytes]) -> bytes:
    data = bytearray(size_bytes)
    for offset, piece in pieces:
        data[offset : offset + len(piece)] = piece
    return bytes(data)


def vhd_footer(size_bytes: int, disk_type: int = 2, length: int = 512) -> bytes:
    footer = bytearray(put(length, (0, b"conectix"), (12, b"\0\1\0\0")))
    struct.pack_into(">QQ", footer, 40, size_bytes, size_bytes)
    struct.pack_into(">I", footer, 60, disk_type)
    struct.pack_into(">I", footer, 64, ~sum(footer) & 0xFFFF_FFFF)
    return bytes(footer)


def mbr(partition_type: int = 0x83) -> bytes:
    entry = struct.pack("<B3sB3sII", 0x80, bytes(3), partition_type, bytes(3), 2048, 4096)
    return put(2 * MIB, (446, entry), (510, b"\x55\xaa"))


def qemu_image(folder: Path, qemu_format: str, options: str = "", size: str = "4M") -> bytes:
    path = folder / f"x.{qemu_format}"
    command = ["qemu-img", "create", "-q", "-f", qemu_format, str(path), size]
    subprocess.run(command + (["-o", options] if options else []), check=True)
    return path.read_bytes()


@pytest.fixture
def stream_vmdk(tmp_path: Path) -> bytes:
    raw, target = tmp_path / "x.raw", tmp_path / "x.vmdk"
    raw.write_bytes(random.Random(3).randbytes(MIB))
    options = ["-f", "raw", "-O", "vmdk", "-o", "subformat=streamOptimized"]
    subprocess.run(["qemu-img", "convert", *options, str(raw), str(target)], check=True)
    return target.read_bytes()


@pytest.mark.parametrize("version", [2, 3])
def test_qcow2(version: int) -> None:
    found = look(b"QFI\xfb" + struct.pack(">I", version) + bytes(100), "x.qcow2")
    assert found.kind is FileKind.QCOW2
    assert f"version {version}" in found.title
    assert (found.hint, found.expected_by_name) == ("", "")


@pytest.mark.parametrize("version", [0, 4, 0xFFFF_FFFF])
def test_other_versions_under_the_magic_are_still_qcow2(version: int) -> None:
    found = look(b"QFI\xfb" + struct.pack(">I", version))
    assert found.kind is FileKind.QCOW2
    assert f"unknown version {version}" in found.title


@pytest.mark.parametrize("name", ["x.img", "x.disk", "X.QCOW2", "x", "/a.b/x", "C:\\a.raw\\x"])
def test_a_qcow2_image_is_found_under_any_name(name: str) -> None:
    """BL-O34: the name does not decide, and a neutral one is no reason for a remark."""
    found = look(QCOW2_HEAD, name)
    assert found.kind is FileKind.QCOW2
    assert found.expected_by_name == ""


def zipped(data: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("x.qcow2", data)
    return target.getvalue()


@pytest.mark.parametrize(
    ("data", "kind", "word"),
    [
        (gzip.compress(QCOW2_HEAD), FileKind.GZIP, "gunzip"),
        (lzma.compress(QCOW2_HEAD), FileKind.XZ, "unxz"),
        (zstandard.compress(QCOW2_HEAD), FileKind.ZSTD, "unzstd"),
        (bz2.compress(QCOW2_HEAD), FileKind.BZIP2, "bunzip2"),
        (zipped(QCOW2_HEAD), FileKind.ZIP, "unzip"),
        (b"7z\xbc\xaf\x27\x1c\0\4" + bytes(24), FileKind.SEVEN_ZIP, "7z x"),
    ],
    # Some archives hold the time: without names, each worker would collect other tests.
    ids=["gzip", "xz", "zstd", "bzip2", "zip", "7z"],
)
def test_a_packed_download_is_named(data: bytes, kind: FileKind, word: str) -> None:
    """BL-O31: the wrapper's name, and what to do."""
    found = look(data, "x.qcow2")
    assert found.kind is kind
    assert word in found.hint
    assert "Unpack it first" in found.hint
    assert ".qcow2" in found.expected_by_name


@pytest.mark.parametrize(
    ("data", "title"),
    [
        (b"\x1f\x8b\x08" + bytes(20), "a gzip archive"),
        (b"\xfd7zXZ\0" + bytes(20), "an xz archive"),
        (b"PK\x05\x06" + bytes(18), "an empty zip archive"),
        (b"<?xml version='1.0'?><a/>", "an XML document"),
        (b"<html>", "a web page (HTML)"),
        (b"", "an empty file"),
        (bytes(100), "a file of zeros"),
        (b"x", "unknown content"),
        (QCOW2_HEAD, "a qcow2 image, version 3"),
        (put(512, (0, b"disk.OVF"), (257, b"ustar")), "an OVA package"),
        (b"COWD" + bytes(600), "a VMDK image (ESX copy-on-write, COWD)"),
    ],
)
def test_titles_fit_into_a_sentence(data: bytes, title: str) -> None:
    assert look(data).title == title


@pytest.mark.parametrize(
    ("member", "kind"), [("vm.ovf", FileKind.OVA), ("disk.qcow2", FileKind.TAR)]
)
def test_tar_and_ova(member: str, kind: FileKind) -> None:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        info = tarfile.TarInfo(member)
        info.size = 3
        archive.addfile(info, io.BytesIO(b"abc"))
    assert look(target.getvalue()).kind is kind


def test_a_raw_disk_named_qcow2() -> None:
    """BL-O33: detected format, the expected one, and why."""
    found = look(mbr(), "win.qcow2")
    assert found.kind is FileKind.RAW
    assert found.title == "a raw disk with an MBR partition table"
    assert found.detail == "It has 1 partition."
    assert "promises a qcow2 image" in found.expected_by_name
    assert "55 aa at offset 0x1fe" in found.expected_by_name


def test_a_qcow2_image_named_raw() -> None:
    """BL-O33: the reverse."""
    found = look(QCOW2_HEAD, "disk.raw")
    assert found.kind is FileKind.QCOW2
    assert "promises a raw image" in found.expected_by_name
    assert "51 46 49 fb" in found.expected_by_name


def test_the_text_qcow2_means_nothing() -> None:
    """BL-O35: no sniffing for words."""
    assert look(b"a file about qcow2 images\n" + bytes(512)).kind is FileKind.UNKNOWN


def test_three_bytes_of_magic_are_not_enough() -> None:
    """BL-O35: QFI and a blank is not qcow2, and the near miss is said."""
    found = look(b"QFI\x20" + struct.pack(">I", 3) + bytes(504))
    assert found.kind is FileKind.UNKNOWN
    assert "QFI" in found.detail


def test_qcow_version_1(tmp_path: Path) -> None:
    """BL-O35: the old format is named, with its size and a way out."""
    found = look(qemu_image(tmp_path, "qcow"), "x.qcow2")
    assert found.kind is FileKind.QCOW1
    assert found.title == "an old qcow version 1 image"
    assert found.guest_bytes == 4 * MIB
    assert "qemu-img convert -f qcow " in found.hint
    assert found.expected_by_name


@pytest.mark.parametrize(
    ("qemu_format", "options", "kind", "title"),
    [
        ("qed", "", FileKind.QED, "a QED image"),
        ("vdi", "", FileKind.VDI, "a VDI image (dynamic)"),
        ("vdi", "static=on", FileKind.VDI, "a VDI image (fixed)"),
        ("vmdk", "", FileKind.VMDK, "a VMDK image (sparse)"),
        ("vmdk", "subformat=streamOptimized", FileKind.VMDK, "a VMDK image (stream-optimized)"),
        ("vpc", "force_size=on", FileKind.VHD, "a VHD image (dynamic)"),
        ("vpc", "subformat=fixed,force_size=on", FileKind.VHD, "a VHD image (fixed)"),
    ],
)
def test_images_of_other_programs(
    tmp_path: Path, qemu_format: str, options: str, kind: FileKind, title: str
) -> None:
    """BL-O37 among them: a VDI is never passed on as raw."""
    found = look(qemu_image(tmp_path, qemu_format, options), "disk.img")
    assert (found.kind, found.title) == (kind, title)
    assert found.guest_bytes == 4 * MIB
    assert f"-f {qemu_format} -O qcow2" in found.hint
    assert not found.kind.reads_as_raw
    assert "checksum" not in found.detail
    assert "cut short" not in found.detail


def test_vhdx_with_a_clean_log(tmp_path: Path) -> None:
    found = look(qemu_image(tmp_path, "vhdx"))
    assert found.kind is FileKind.VHDX
    assert "log" not in found.detail


def test_vhdx_with_a_log_to_replay(tmp_path: Path) -> None:
    """BL-O36: said by name, from the header with the higher sequence number."""
    data = bytearray(qemu_image(tmp_path, "vhdx"))
    sequences = {at: data[at + 8 : at + 16][::-1] for at in (64 * 1024, 128 * 1024)}
    current, stale = sorted(sequences, key=lambda at: sequences[at], reverse=True)
    data[stale + 48] = 1
    assert "replay" not in look(bytes(data)).detail
    data[current + 48] = 1
    found = look(bytes(data))
    assert "must be replayed" in found.detail
    assert "Replay the log" in found.hint


def test_vhdx_without_an_intact_header() -> None:
    assert "Neither" in look(b"vhdxfile" + bytes(MIB)).detail


def test_vmdk_version_3(tmp_path: Path) -> None:
    """BL-O38: refused by name, not misread."""
    data = bytearray(qemu_image(tmp_path, "vmdk"))
    data[4:8] = struct.pack("<I", 3)
    found = look(bytes(data))
    assert found.kind is FileKind.VMDK
    assert "version 3" in found.detail


def test_vmdk_cut_inside_its_tables(tmp_path: Path) -> None:
    """BL-O36: a cut VMDK is an error with a name."""
    data = qemu_image(tmp_path, "vmdk")
    assert "cut short" in look(data[: len(data) // 2]).detail


def test_vmdk_that_promises_a_footer(stream_vmdk: bytes) -> None:
    data = bytearray(stream_vmdk)
    data[56:64] = b"\xff" * 8
    assert "cut short" in look(bytes(data)).detail
    footer = bytes(data[:512]) + bytes(512)
    assert "cut short" not in look(bytes(data) + footer).detail


def test_vmdk_descriptor(tmp_path: Path) -> None:
    text = b"# Disk DescriptorFile\nversion=1\n"
    assert look(text, "x.vmdk").title == "a VMDK descriptor"
    data = qemu_image(tmp_path, "vmdk", "subformat=monolithicFlat")
    assert look(data).title == "a VMDK descriptor"


def test_vmdk_cowd() -> None:
    found = look(b"COWD" + struct.pack("<III", 1, 3, 2048) + bytes(512))
    assert found.kind is FileKind.VMDK
    assert found.guest_bytes == MIB


@pytest.mark.parametrize("sector_shift", [0, 1, 77])
def test_second_half_of_a_stream_optimized_vmdk(stream_vmdk: bytes, sector_shift: int) -> None:
    """BL-O43: a later chunk, wherever it was cut, is no disk of its own."""
    start = len(stream_vmdk) // 2 // 512 * 512 + sector_shift * 512
    found = look(stream_vmdk[start:], "disk.vmdk")
    assert found.kind is FileKind.VMDK
    assert found.title == "part of a stream-optimized VMDK image"
    assert "Join all pieces" in found.hint


def test_last_piece_of_a_stream_optimized_vmdk_with_a_footer(stream_vmdk: bytes) -> None:
    """BL-O43: the footer gives away a piece that has no whole grain."""
    piece = random.Random(1).randbytes(4096) + stream_vmdk[:512] + bytes(512)
    assert look(piece).title == "part of a stream-optimized VMDK image"


@pytest.mark.parametrize("footer_bytes", [512, 511])
def test_fixed_vhd(footer_bytes: int) -> None:
    """BL-O41: a raw disk and a footer; the guest size is without the footer."""
    disk = mbr() + bytes(6 * MIB)
    found = look(disk + vhd_footer(8 * MIB, length=footer_bytes), "disk.img")
    assert found.kind is FileKind.VHD
    assert found.title == "a VHD image (fixed)"
    assert found.guest_bytes == 8 * MIB
    assert f"footer of {footer_bytes} bytes" in found.detail
    assert "checksum" not in found.detail
    assert "not the size" not in found.detail


def test_fixed_vhd_that_disagrees_with_its_footer() -> None:
    footer = bytearray(vhd_footer(9 * MIB))
    footer[100] ^= 1
    found = look(bytes(8 * MIB) + bytes(footer))
    assert found.kind is FileKind.VHD
    assert "not the size it names" in found.detail
    assert "checksum is wrong" in found.detail


def test_dynamic_vhd_without_its_first_sector() -> None:
    found = look(bytes(MIB) + vhd_footer(8 * MIB, disk_type=3))
    assert found.title == "a VHD image (dynamic)"
    assert "missing or damaged" in found.detail


def test_a_cookie_alone_makes_no_vhd() -> None:
    assert look(mbr() + put(512, (0, b"conectix"))).kind is FileKind.RAW


@pytest.mark.parametrize(
    ("data", "title"),
    [
        (put(0x10000, (0x8001, b"CD001")), "an ISO 9660 image"),
        (put(0x10000, (0x8001, b"CD001"), (0x9801, b"NSR02")), "an ISO 9660 image with UDF"),
        (put(0x10000, (0x8001, b"BEA01"), (0x8801, b"NSR03")), "a UDF image"),
        (mbr()[:0x8001] + b"CD001" + bytes(512), "an ISO 9660 image"),
    ],
)
def test_optical_discs(data: bytes, title: str) -> None:
    found = look(data, "x.iso")
    assert (found.kind, found.title) == (FileKind.ISO, title)
    assert found.expected_by_name == ""


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"<!DOCTYPE html><html></html>", FileKind.HTML),
        (b"\xef\xbb\xbf\r\n  <HTML lang=de>", FileKind.HTML),
        ("\ufeff<html>".encode("utf-16-le"), FileKind.HTML),
        (b"<!-- mirror --><html>", FileKind.HTML),
        (b'<?xml version="1.0"?><!DOCTYPE x><html xmlns="y">', FileKind.HTML),
        (b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', FileKind.XML),
        (json.dumps({"error": "not found"}).encode(), FileKind.JSON),
        (b"[1, 2]\n", FileKind.JSON),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", FileKind.LFS_POINTER),
        (b"{ this is no JSON }", FileKind.UNKNOWN),
        (b"[" * 60_000, FileKind.UNKNOWN),
        (b"[" + b" " * 65_536 + b"]", FileKind.UNKNOWN),
        (b"[" + b"9" * 9000 + b"]", FileKind.UNKNOWN),
        (b"{\xff\xfe}", FileKind.UNKNOWN),
    ],
)
def test_texts_in_place_of_a_download(data: bytes, kind: FileKind) -> None:
    assert look(data, "x.qcow2").kind is kind


def test_escape_sequences_of_a_page_are_not_shown() -> None:
    assert "\x1b" not in look(b"<html>\x1b[31m").evidence


def test_empty_file() -> None:
    found = look(b"", "x.qcow2")
    assert found.kind is FileKind.EMPTY
    assert found.hint


@pytest.mark.parametrize("size_bytes", [1, 511, 70_000, MIB + 1, 2 * MIB])
def test_small_file_of_zeros_is_read_whole(size_bytes: int) -> None:
    found = look(bytes(size_bytes))
    assert found.kind is FileKind.ZEROS
    assert found.detail == "Every byte of the file is zero."


def test_large_file_of_zeros_says_what_was_not_read() -> None:
    found = identify(Memory(b"", size_bytes=1 << 42))
    assert found.kind is FileKind.ZEROS
    assert "was not read" in found.detail


@pytest.mark.parametrize("position", [192 * 1024, MIB - 1, 3 * MIB - 1, 2 * MIB])
def test_one_byte_at_either_end_makes_it_no_file_of_zeros(position: int) -> None:
    assert look(put(3 * MIB, (position, b"x"))).kind is FileKind.UNKNOWN


@pytest.mark.parametrize("version", [1, 2])
def test_luks_volume(version: int) -> None:
    found = look(b"LUKS\xba\xbe" + struct.pack(">H", version) + bytes(600))
    assert (found.kind, found.title) == (FileKind.LUKS, f"a LUKS volume, version {version}")


def test_a_fixed_vhd_with_an_encrypted_disk_is_a_vhd() -> None:
    disk = b"LUKS\xba\xbe\0\1" + bytes(MIB - 8)
    assert look(disk + vhd_footer(MIB)).kind is FileKind.VHD


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (put(MIB, (512, b"EFI PART")), "GPT"),
        (put(MIB, (4096, b"EFI PART")), "GPT"),
        (mbr(), "MBR"),
        (put(MIB, (3, b"NTFS    "), (510, b"\x55\xaa")), "NTFS"),
        (put(MIB, (3, b"EXFAT   ")), "exFAT"),
        (put(MIB, (54, b"FAT16   "), (510, b"\x55\xaa")), "FAT"),
        (put(MIB, (82, b"FAT32   "), (510, b"\x55\xaa")), "FAT"),
        (put(MIB, (0, b"XFSB")), "XFS"),
        (put(MIB, (0x10040, b"_BHRfS_M")), "Btrfs"),
        (put(MIB, (0, b"hsqs")), "SquashFS"),
        (put(MIB, (4086, b"SWAPSPACE2")), "swap"),
        (put(MIB, (512, b"LABELONE")), "LVM"),
    ],
)
def test_raw_disks(data: bytes, word: str) -> None:
    found = look(data, "disk.raw")
    assert found.kind is FileKind.RAW
    assert word in found.title
    assert found.expected_by_name == ""


def test_a_real_ext4_file_system(tmp_path: Path) -> None:
    path = tmp_path / "ext4"
    subprocess.run(["mke2fs", "-q", "-t", "ext4", str(path), "1M"], check=True)
    assert look(path.read_bytes()).title == "a raw image: ext2/3/4 file system"


@pytest.mark.parametrize(
    "data",
    [
        put(MIB, (510, b"\x55\xaa")),
        put(MIB, (446, b"\x31"), (450, b"\x83"), (458, b"\1"), (510, b"\x55\xaa")),
        put(MIB, (0x438, b"\x53\xef"), (0x43A, b"\x77\x77")),
        put(MIB, (0, b"\1" + bytes(11) + b"\x78\x9c")),  # a VMDK grain of no bytes
    ],
)
def test_half_a_signature_proves_nothing(data: bytes) -> None:
    assert look(data).kind is FileKind.UNKNOWN


@pytest.mark.parametrize("name", ["x-flat.vmdk", "x.img"])
def test_names_that_promise_nothing(name: str) -> None:
    assert look(mbr(), name).expected_by_name == ""


@pytest.mark.parametrize("head", [b"", b"QFI\xfb", b"KDMV", b"vhdxfile", b"x"])
def test_reads_are_bounded(head: bytes) -> None:
    source = Memory(head, size_bytes=1 << 50)
    identify(source)
    assert source.read_bytes <= 2 * MIB + 64 * 1024


MAGICS = [
    b"",
    b"QFI\xfb",
    b"QED\0",
    b"KDMV",
    b"COWD",
    b"vhdxfile",
    b"conectix",
    b"PK\3\4",
    b"<?xml",
]


@given(magic=st.sampled_from(MAGICS), rest=st.binary(max_size=2000), name=st.text(max_size=20))
def test_any_content_is_something(magic: bytes, rest: bytes, name: str) -> None:
    found = look(magic + rest, name)
    assert found.title
    assert found.evidence


@given(cut=st.integers(0, 2048), tail=st.binary(max_size=600))
def test_any_cut_of_a_footer_is_something(cut: int, tail: bytes) -> None:
    assert look(bytes(1024) + vhd_footer(1024)[:cut] + tail).title
