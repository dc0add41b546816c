"""Real cases about opening and inspecting an image; their numbers are in the docstrings."""

from __future__ import annotations

import os
import struct
import time
import tracemalloc
from pathlib import Path

import pytest

from qcowgui.errors import NotQcow2Error
from qcowgui.format.finding import Finding, Refusal, Severity
from qcowgui.image.inspect import ImageReport, inspect, inspect_source
from qcowgui.image.source import BytesSource
from tests.support.base_images import b0, b0_builder, pattern, s0
from tests.support.built import BuiltImage
from tests.support.damage import set_feature_bit, set_field, set_l1_entry
from tests.support.options import MIB, TIB
from tests.support.preamble import EXT_FEATURE_NAMES, feature_table

COPIED = 1 << 63


def report_on(image: BuiltImage) -> ImageReport:
    return inspect_source(BytesSource(image.to_bytes()))


def only(report: ImageReport, code: str) -> Finding:
    (finding,) = (finding for finding in report.findings if finding.code == code)
    return finding


def codes(report: ImageReport) -> list[str]:
    return [finding.code for finding in report.findings]


def cheap_report(data: bytes) -> ImageReport:
    """The report; it must take less than a second and a few MiB."""
    source = BytesSource(data)
    start = time.process_time()
    tracemalloc.start()
    try:
        report = inspect_source(source)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert time.process_time() - start < 1
    assert peak_bytes < 8 * MIB
    return report


@pytest.mark.parametrize("marked", [False, True])
def test_l1_that_names_its_own_cluster(marked: bool) -> None:
    """BL-O01: opens; the corrupt mark is shown; both structures and cluster 3 are named."""
    image = set_l1_entry(b0(), 0, COPIED | 0x30000)
    if marked:
        image = set_feature_bit(image, "incompatible_features", 1)
    report = report_on(image)
    assert report.readable
    assert ("corrupt" in codes(report)) == marked == report.header.corrupt
    finding = only(report, "structure-overlap")
    assert finding.severity is Severity.CORRUPTION
    assert finding.message == (
        "The active L1 table (0x3_0000 to 0x3_0008) and the L2 table of L1 entry 0 "
        "(0x3_0000 to 0x4_0000) share cluster 3."
    )


def test_l1_enlarged_within_its_cluster() -> None:
    """BL-O02, first variant: 2,048 entries still fit in front of the L2 table."""
    image = set_field(set_field(b0(), "size", TIB), "l1_size", 2048)
    assert report_on(image).findings == ()


def test_l1_enlarged_over_an_l2_table() -> None:
    """BL-O02, second variant: the L1 and an L2 table are named, each with its bytes."""
    image = set_field(set_field(b0(), "size", TIB), "l1_size", 16384)
    report = report_on(image)
    assert report.readable
    messages = [f.message for f in report.findings if f.code == "structure-overlap"]
    expected = (
        "The active L1 table (0x3_0000 to 0x5_0000) and the L2 table of L1 entry 0 "
        "(0x4_0000 to 0x5_0000) share cluster 4."
    )
    assert messages == [expected]


def test_no_refcount_table() -> None:
    """BL-O04, the open: the fault is named, and guest data can still be mapped."""
    image = b0().edited(48, bytes(12))
    report = report_on(image)
    finding = only(report, "refcount-table-missing")
    assert finding.refusal is Refusal.QEMU
    assert "it can be read, but not written" in finding.message
    assert report.mapping_refusals == ()


def test_l1_behind_the_end_of_the_file() -> None:
    """BL-O06: one clear message with both numbers."""
    image = set_field(b0(), "l1_table_offset", 0x70000).resized(0x30000)
    report = report_on(image)
    finding = only(report, "l1-truncated")
    assert finding.message == (
        "The file ends at 0x3_0000 but the L1 table needs bytes up to 0x7_0008."
    )
    assert codes(report) == ["l1-truncated"]
    assert finding.severity is Severity.CORRUPTION


def test_highest_offset_far_away(tmp_path: Path) -> None:
    """BL-O10, the open: data at 8 GiB in a sparse file is no damage and costs nothing."""
    builder = b0_builder()
    builder.write(MIB, pattern(65536), at=8 << 30)
    path = builder.build().write_to(tmp_path / "x.qcow2")
    report = inspect(path)
    assert report.findings == ()
    assert report.file_bytes > 8 << 30
    assert report.disk_bytes is not None
    assert report.disk_bytes < 8 * MIB


def test_snapshot_table_cut_after_the_second_entry() -> None:
    """BL-O18: two are listed, the third is called unreadable, the active disk opens."""
    builder = b0_builder()
    for name in ("one", "two", "three"):
        builder.snapshot(name)
    image = builder.build()
    # The table goes to the end of the file, so that its cut hurts nothing else.
    start, third = image.layout.snapshot_table, image.layout.snapshot_entries[2]
    assert start is not None
    table = image.read(start.offset, third.offset - start.offset)
    end = -(-len(image.file) // 65536) * 65536
    image = set_field(image.resized(end).edited(end, table), "snapshots_offset", end)
    report = report_on(image)
    assert report.readable
    assert [snapshot.name for snapshot in report.snapshots] == ["one", "two"]
    finding = only(report, "snapshot-table-truncated")
    assert "Entry 2 of the snapshot table" in finding.message
    assert "2 of 3 snapshots can be listed" in finding.message


@pytest.mark.parametrize("length", [104, 112, 120, 136])
def test_lengths_of_the_header(length: int) -> None:
    """BL-O19: all open, with the extensions behind them; unknown bytes are kept."""
    tail = b"\x5a" * (length - 112) if length > 112 else b""
    image = b0(header_length=length, header_tail=tail, backing_file="base", backing_format="raw")
    report = report_on(image)
    assert report.readable
    assert (report.backing_format, report.backing_name) == ("raw", "base")
    assert report.header.tail == tail
    assert codes(report) == (["header-tail"] if tail else [])


def test_length_of_the_header_that_is_no_multiple_of_8() -> None:
    """BL-O19: reported."""
    report = report_on(b0(header_length=117))
    assert "header-length-alignment" in codes(report)


def test_version_2() -> None:
    """BL-O20: compat 0.10, 16-bit refcounts; fields of version 3 are absent, not invented."""
    builder = b0_builder(version=2, backing_file="base", backing_format="raw")
    builder.snapshot("old")
    report = report_on(builder.build())
    header = report.header
    assert report.findings == ()
    assert (header.compat, header.refcount_order, header.end) == ("0.10", 4, 72)
    values = {value.field.name: value.value for value in header.field_values()}
    absent = [name for name, value in values.items() if value is None]
    assert absent == [
        "incompatible_features",
        "compatible_features",
        "autoclear_features",
        "refcount_order",
        "header_length",
        "compression_type",
        "padding",
    ]
    assert report.features == ()
    assert report.extensions[0].offset == 72
    assert report.snapshots[0].extra_data == b""


def test_refcount_table_larger_than_the_size_asks_for() -> None:
    """BL-O21: no hidden formula."""
    image = b0(refcount_table_clusters=4, placement={"refcount_table": 0x90000})
    assert image.read_integer(48, 8) == 0x90000
    assert report_on(image).findings == ()


@pytest.mark.parametrize("named", [False, True])
def test_unknown_incompatible_bit(named: bool) -> None:
    """BL-O22: no guest data; the header is shown, and the bit with its own name or number."""
    rows = [(0, 5, "zoned\x1b[31m storage")] if named else []
    image = b0(incompatible=1 << 5, feature_table=False).edited(
        112, struct.pack(">II", EXT_FEATURE_NAMES, 48 * len(rows)) + feature_table(rows)
    )
    report = report_on(image)
    assert not report.readable
    finding = only(report, "unknown-incompatible")
    assert finding.refusal is Refusal.READER
    assert report.header.size == 64 * MIB
    (feature,) = (feature for feature in report.features if not feature.known)
    assert feature.name == ("zoned\\x1b[31m storage" if named else "bit 5")
    assert "bit 5" in finding.message
    assert ("called “zoned\\x1b[31m storage”" in finding.message) == named
    assert finding.message.isprintable()


def test_dirty() -> None:
    """BL-O23, the open: said, and no obstacle to reading."""
    report = report_on(b0(incompatible=1))
    assert report.readable
    assert report.header.dirty
    finding = only(report, "dirty")
    assert finding.severity is Severity.INFO
    assert "not closed cleanly" in finding.message


def test_a_high_incompatible_bit_is_no_extension() -> None:
    """BL-O24: refused for bit 40; version 3 has no extensions at byte 72."""
    report = report_on(b0(incompatible=1 << 40))
    assert "bit 40 is set" in only(report, "unknown-incompatible").message
    assert report.extensions[0].offset == 112
    assert not report.readable


@pytest.mark.parametrize(
    ("offset", "length", "code"),
    [
        (0x50000, 12, "backing-name-location"),
        (0xFFF8, 16, "backing-name-length"),
        (0x1000, 1024, "backing-name-length"),
    ],
)
def test_backing_name_outside_the_first_cluster(offset: int, length: int, code: str) -> None:
    """BL-O25: refused with the reason; the name is not shown."""
    report = report_on(b0().edited(8, struct.pack(">QI", offset, length)))
    assert only(report, code).refusal is Refusal.READER
    assert (report.backing_name, report.backing_name_raw) == (None, b"")


@pytest.mark.parametrize("length", [0xFFFFFFFF, 0x7FFFFFFF])
def test_huge_header(length: int) -> None:
    """BL-O26: a clean refusal; the claimed length is never read."""
    report = cheap_report(set_field(b0(), "header_length", length).to_bytes())
    assert only(report, "header-length").refusal is Refusal.READER


def test_huge_extension() -> None:
    """BL-O26: the same for an extension of 2 GiB."""
    image = b0().edited(112, struct.pack(">II", 0x12345678, 0x7FFFFFFF))
    report = cheap_report(image.to_bytes())
    assert only(report, "extension-overlong").raw == 0x7FFFFFFF
    assert not report.readable


@pytest.mark.parametrize("bits", [0, 8, 9, 21, 22, 31, 63, 64, 0xFFFFFFFF])
def test_cluster_bits(bits: int) -> None:
    """BL-O27: 9 to 21 are taken, the others refused with the range; no shift by them."""
    report = cheap_report(b0().edited(20, struct.pack(">I", bits)).to_bytes())
    refused = [f for f in report.findings if f.code == "header-cluster-bits"]
    assert bool(refused) == (bits not in (9, 21))
    for finding in refused:
        assert "9 to 21 are allowed" in finding.message


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("l1_size", 0x7FFFFFFF, "l1-too-large"),
        ("l1_table_offset", 0x1234567890ABCDEF, "l1-offset"),
        ("refcount_table_clusters", 0x00020001, "refcount-table-too-large"),
        ("nb_snapshots", 0x7FFFFFFF, "snapshot-count"),
        ("snapshots_offset", 0x1234, "snapshot-table-offset"),
    ],
)
def test_crafted_tables(field: str, value: int, code: str) -> None:
    """BL-O28: one clear refusal each, at once and in little memory."""
    builder = b0_builder()
    builder.snapshot("one")
    report = cheap_report(set_field(builder.build(), field, value).to_bytes())
    refusals = [finding.code for finding in report.refusals]
    assert code in refusals
    assert not report.readable
    # Snapshot and refcount faults do not hide the active disk.
    assert bool(report.mapping_refusals) == code.startswith("l1")


@pytest.mark.parametrize(("offset", "width", "value"), [(0, 8, 0x400200), (8, 4, 0x10000000)])
def test_crafted_snapshot(offset: int, width: int, value: int) -> None:
    """BL-O28: a snapshot's own L1 is named as the fault, and the active disk stays readable."""
    builder = b0_builder()
    builder.snapshot("one")
    image = builder.build()
    entry = image.layout.snapshot_entries[0].offset
    image = image.edited(entry + offset, value.to_bytes(width, "big"))
    report = cheap_report(image.to_bytes())
    assert "snapshot 0" in only(report, "snapshot-l1").message
    assert report.readable


def test_no_l1_for_a_disk_with_a_snapshot() -> None:
    """BL-O30: refused as too small an L1."""
    builder = b0_builder()
    builder.snapshot("one")
    report = report_on(set_field(builder.build(), "l1_size", 0))
    finding = only(report, "l1-too-small")
    assert finding.refusal is Refusal.READER
    assert "has 0 entries; the virtual size needs 1" in finding.message


@pytest.mark.parametrize("name", ["x.img", "x.disk", "X.QCOW2", "x", "disk.raw"])
def test_the_name_does_not_decide(tmp_path: Path, name: str) -> None:
    """BL-O34 and BL-O33: a qcow2 image opens under any name."""
    assert inspect(b0().write_to(tmp_path / name)).readable


@pytest.mark.parametrize(
    ("content", "detected", "word"),
    [
        (b"\x1f\x8b\x08" + bytes(600), "gzip", "gzip archive"),
        (b"QFI\xfb" + struct.pack(">I", 1) + bytes(600), "qcow", "-f qcow -O qcow2"),
        (b"QFI\x20" + bytes(600), "unknown", "QFI"),
        (bytes(0x40) + struct.pack("<I", 0xBEDA107F) + bytes(600), "vdi", "VDI image"),
        (b"vhdxfile" + bytes(600), "vhdx", "VHDX image"),
        (b"KDMV" + struct.pack("<I", 3) + bytes(600), "vmdk", "VMDK image"),
        (b"x" * 2048 + b"conectix" + bytes(52) + b"\0\0\0\2" + bytes(448), "vhd", "VHD image"),
        (b"", "empty", "empty file"),
    ],
)
def test_other_files_are_named(tmp_path: Path, content: bytes, detected: str, word: str) -> None:
    """BL-O31, BL-O35, BL-O36, BL-O37, BL-O38, BL-O41: the open says what the file is instead."""
    path = tmp_path / "x.qcow2"
    path.write_bytes(content)
    with pytest.raises(NotQcow2Error) as caught:
        inspect(path)
    assert caught.value.detected == detected
    assert word in str(caught.value)


def test_raw_disk_named_qcow2(tmp_path: Path) -> None:
    """BL-O33: what was expected, what was found, and the bytes that say so."""
    path = tmp_path / "win.qcow2"
    path.write_bytes(
        bytes(446) + b"\x80\0\0\0\x07" + bytes(7) + b"\1\0\0\0" + bytes(48) + b"\x55\xaa"
    )
    with pytest.raises(NotQcow2Error) as caught:
        inspect(path)
    text = str(caught.value)
    assert "promises a qcow2 image" in text
    assert "raw disk with an MBR partition table (bytes 55 aa at offset 0x1fe)" in text


def test_a_later_piece_of_a_vmdk(tmp_path: Path) -> None:
    """BL-O43: refused as a piece that lacks its header."""
    path = tmp_path / "disk-2.vmdk"
    path.write_bytes(pattern(4096) + b"KDMV" + bytes(1020))
    with pytest.raises(NotQcow2Error, match="part of a stream-optimized VMDK") as caught:
        inspect(path)
    assert "header" in caught.value.message


def test_only_the_first_cluster_is_at_hand() -> None:
    """BL-O44: size, version, backing name and features are shown; the rest is called missing."""
    image = b0(backing_file="base.qcow2", backing_format="qcow2").resized(65536)
    report = report_on(image)
    assert report.readable
    assert (report.virtual_bytes, report.header.version) == (64 * MIB, 3)
    assert (report.backing_name, report.backing_format) == ("base.qcow2", "qcow2")
    assert sorted(codes(report)) == ["l1-truncated", "refcount-table-truncated"]
    assert "The file ends at 0x1_0000" in only(report, "l1-truncated").message


@pytest.mark.parametrize(
    ("bit", "kind", "code"),
    [
        (True, 1, None),
        (False, 1, "compression-type-bit"),
        (True, 0, "compression-type-bit"),
        (True, 2, "compression-type-unknown"),
    ],
)
def test_compression_type(bit: bool, kind: int, code: str | None) -> None:
    """BL-O49: zstd with its bit opens, without it is invalid, type 2 is refused as unknown."""
    image = b0().edited(104, bytes([kind])).edited(72, struct.pack(">Q", 8 if bit else 0))
    report = report_on(image)
    assert codes(report) == ([code] if code else [])
    assert report.readable == (code is None)
    assert report.header.compression_name == ("zlib", "zstd", "2")[kind]


@pytest.mark.parametrize("size", [152 * TIB, (1 << 63) - 512, (1 << 64) - 1])
def test_huge_size_in_516_bytes(size: int) -> None:
    """BL-O60, the open: instant, in little memory, with the claimed size."""
    l1_size = min(-(-size >> 29), 0xFFFFFFFF) if size < 1 << 60 else 0xFFFFFFFF
    image = b0().edited(24, struct.pack(">Q", size)).edited(36, struct.pack(">I", l1_size))
    report = cheap_report(image.resized(516).to_bytes())
    assert report.header.size == size
    assert report.file_bytes == 516
    assert "l1-truncated" in codes(report) or not report.readable


def test_old_aes() -> None:
    """BL-O63: named as old and weak; says that a wrong password can't be detected."""
    report = report_on(b0(crypt_method=1))
    finding = only(report, "aes-legacy")
    assert "old AES" in finding.message
    assert "wrong password can't be detected" in finding.message
    assert report.readable


def test_bitmap_in_use() -> None:
    """BL-O64: listed as inconsistent, with advice; no damage to the image."""
    builder = b0_builder()
    builder.bitmap("backup", flags=1)
    report = report_on(builder.build())
    (bitmap,) = report.bitmaps
    assert (bitmap.name, bitmap.in_use, bitmap.usable) == ("backup", True, False)
    finding = only(report, "bitmap-in-use")
    assert finding.severity < Severity.CORRUPTION
    assert "remove it" in finding.message
    assert report.readable


@pytest.mark.parametrize("compatible", [False, True])
def test_bitmap_with_extra_data(compatible: bool) -> None:
    """BL-O65: listed either way, the walk stays aligned; usable only with the flag."""
    builder = b0_builder()
    builder.bitmap("extra", extra=b"12345678", flags=4 if compatible else 0)
    builder.bitmap("plain")
    report = report_on(builder.build())
    assert [bitmap.name for bitmap in report.bitmaps] == ["extra", "plain"]
    assert [bitmap.usable for bitmap in report.bitmaps] == [compatible, True]
    # QEMU refuses the whole image for it; guest data can be read here.
    assert not report.readable
    assert report.mapping_refusals == ()


@pytest.mark.parametrize(
    ("bits", "severity"), [(0, Severity.INFO), (16, None), (64, Severity.CORRUPTION)]
)
def test_bitmap_granularity(bits: int, severity: Severity | None) -> None:
    """BL-O65: 0 is allowed by the format but not taken by QEMU, 64 is impossible."""
    builder = b0_builder()
    builder.bitmap("one")
    image = builder.build()
    report = report_on(image.edited(image.layout.bitmap_entries[0].offset + 17, bytes([bits])))
    found = [f.severity for f in report.findings if f.code == "bitmap-granularity"]
    assert found == ([severity] if severity is not None else [])


def test_read_only_file_in_a_read_only_folder(tmp_path: Path) -> None:
    """BL-O85: opens, and leaves nothing beside it."""
    folder = tmp_path / "folder"
    folder.mkdir()
    path = b0().write_to(folder / "x.qcow2")
    path.chmod(0o444)
    before = path.stat().st_mtime_ns
    folder.chmod(0o555)
    try:
        assert inspect(path).readable
        assert list(folder.iterdir()) == [path]
        assert path.stat().st_mtime_ns == before
    finally:
        folder.chmod(0o755)


def test_nothing_is_opened_for_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """BL-O85: whoever runs the test may write everywhere, so the flags of each open count."""
    path = s0(backing_file="base").write_to(tmp_path / "x.qcow2")
    flags_seen: list[int] = []
    real_open = os.open

    def watching(name: str, flags: int, *rest: int) -> int:
        flags_seen.append(flags)
        return real_open(name, flags, *rest)

    monkeypatch.setattr(os, "open", watching)
    inspect(path)
    assert [flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) for flags in flags_seen] == [0]
