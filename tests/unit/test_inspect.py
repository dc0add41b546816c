"""The report on an image: what it lists and what it says of damage."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from qcowgui.errors import NotQcow2Error, SourceError
from qcowgui.format import limits
from qcowgui.format.bitmaps import BitmapEntry
from qcowgui.format.finding import Finding, Refusal, Severity
from qcowgui.image.bitmap_tables import iter_bitmap_table_findings
from qcowgui.image.inspect import ImageReport, inspect, inspect_source
from qcowgui.image.source import BytesSource
from tests.support.base_images import b0, b0_builder, rich, s0
from tests.support.built import BuiltImage
from tests.support.damage import set_field, set_integer, set_l1_entry
from tests.support.preamble import EXT_BITMAPS, EXT_ENCRYPTION


def report_on(image: BuiltImage) -> ImageReport:
    return inspect_source(BytesSource(image.to_bytes(), "x.qcow2"))


def found(report: ImageReport, code: str) -> list[Finding]:
    return [finding for finding in report.findings if finding.code == code]


def codes(report: ImageReport) -> set[str]:
    return {finding.code for finding in report.findings}


def test_everything_in_the_rich_image() -> None:
    report = report_on(rich())
    assert report.readable
    assert codes(report) == {"extension-unknown"}
    assert (report.name, report.disk_bytes) == ("x.qcow2", None)
    assert report.virtual_bytes == report.header.size == 4 << 20
    assert (report.backing_name, report.backing_name_raw) == ("base.raw", b"base.raw")
    assert report.backing_format == "raw"
    assert report.feature_names[0, 0] == "dirty bit"
    assert len(report.features) == 8
    assert [snapshot.name for snapshot in report.snapshots] == ["first", "second"]
    assert [bitmap.name for bitmap in report.bitmaps] == ["dirty", "fine"]
    assert report.bitmaps_extension is not None
    assert report.bitmaps_extension.nb_bitmaps == 2
    assert (report.luks, report.encryption_pointer, report.data_file_name) == (None, None, None)


@pytest.mark.parametrize("cluster_bits", range(9, 22))
@pytest.mark.parametrize("version", [2, 3])
def test_every_cluster_size(version: int, cluster_bits: int) -> None:
    image = b0(version=version, cluster_bits=cluster_bits, size=1 << 20, backing_file="base")
    report = report_on(image)
    assert report.findings == ()
    assert report.header.geometry is not None
    assert report.header.geometry.cluster_bytes == 1 << cluster_bits
    assert report.backing_name == "base"


def test_a_backing_name_far_into_a_large_cluster() -> None:
    """The first read is 64 KiB; what the cluster size asks for beyond is read then."""
    image = b0(cluster_bits=20).edited(8, struct.pack(">QI", 0xF_0000, 4)).edited(0xF_0000, b"base")
    assert report_on(image).backing_name == "base"


def test_data_file() -> None:
    report = report_on(b0(data_file="guest.data", data_file_raw=True))
    assert (report.data_file_name, report.data_file_name_raw) == ("guest.data", b"guest.data")
    assert report.readable
    assert report.header.data_file_raw


def test_data_file_without_a_name() -> None:
    report = report_on(b0(incompatible=4))
    assert [f.refusal for f in found(report, "data-file-missing-name")] == [Refusal.READER]


def test_data_file_name_without_the_bit() -> None:
    report = report_on(b0(extensions=[(0x44415441, b"guest.data")]))
    assert codes(report) == {"data-file-unused-name"}
    assert report.readable


def test_luks() -> None:
    builder = b0_builder()
    builder.luks()
    report = report_on(builder.build())
    assert report.luks is not None
    assert report.encryption_pointer is not None
    assert report.readable


def test_encryption_header_without_luks() -> None:
    report = report_on(b0(extensions=[(EXT_ENCRYPTION, struct.pack(">QQ", 0x10000, 4096))]))
    assert report.luks is None
    assert report.encryption_pointer is not None
    assert not report.readable


def test_encryption_header_pointer_that_is_cut() -> None:
    report = report_on(b0(crypt_method=2, extensions=[(EXT_ENCRYPTION, bytes(8))]))
    assert (report.luks, report.encryption_pointer) == (None, None)
    assert not report.readable


def test_backing_name_that_is_no_text() -> None:
    image = b0(backing_file="base.raw")
    span = image.layout.backing_name
    assert span is not None
    report = report_on(image.edited(span.offset, b"\x1b[2J"))
    assert report.backing_name == "\\x1b[2J.raw"
    assert codes(report) == {"backing-name-text"}


def test_backing_name_cut_by_the_end_of_the_file() -> None:
    image = b0(backing_file="base.raw")
    span = image.layout.backing_name
    assert span is not None
    report = report_on(image.resized(span.offset + 4))
    assert report.backing_name is None
    assert [f.refusal for f in found(report, "backing-name-location")] == [Refusal.READER]


def test_a_distrusted_name_is_not_shown() -> None:
    report = report_on(set_field(b0(backing_file="base.raw"), "backing_file_size", 1024))
    assert (report.backing_name, report.backing_name_raw) == (None, b"")


@pytest.mark.parametrize(
    ("field", "value"),
    [("version", 9), ("cluster_bits", 8), ("header_length", 1 << 30), ("refcount_order", 9)],
)
def test_nothing_is_made_up_from_an_impossible_header(field: str, value: int) -> None:
    report = report_on(set_field(rich(), field, value))
    assert not report.readable
    assert report.mapping_refusals
    assert not found(report, "structure-overlap")
    if field != "refcount_order":
        assert report.extensions == ()


def test_a_header_cut_before_its_extensions() -> None:
    report = report_on(b0(header_length=136).resized(120))
    assert report.extensions == ()
    assert report.header.tail == bytes(8)


def test_snapshots_with_a_data_file() -> None:
    builder = b0_builder()
    builder.snapshot("a")
    image = set_field(builder.build(), "incompatible_features", 4)
    assert found(report_on(image), "snapshots-with-data-file")


def test_no_snapshots_are_read_from_the_header() -> None:
    builder = b0_builder()
    builder.snapshot("a")
    report = report_on(set_field(builder.build(), "snapshots_offset", 0))
    assert report.snapshots == ()
    assert found(report, "snapshot-table-offset")


@pytest.mark.parametrize(
    ("offset", "width", "value", "words"),
    [
        (0, 8, 0x400200, "no cluster for it"),
        (0, 8, 0, "no cluster for it"),
        (0, 8, 1 << 40, "but the file ends at"),
        (8, 4, 0x10000000, "QEMU allows 32 MiB"),
        (8, 4, 0, "its disk needs 1"),
    ],
)
def test_a_snapshot_without_a_usable_l1(offset: int, width: int, value: int, words: str) -> None:
    builder = b0_builder()
    builder.snapshot("good")
    builder.snapshot("bad")
    image = builder.build()
    entry = image.layout.snapshot_entries[1].offset
    report = report_on(set_integer(image, entry + offset, width, value))
    (finding,) = found(report, "snapshot-l1")
    assert words in finding.message
    assert (finding.entry, finding.severity) == (1, Severity.CORRUPTION)
    assert report.readable


def test_a_snapshot_of_version_2_is_as_large_as_the_disk() -> None:
    builder = b0_builder(version=2)
    builder.snapshot("old")
    report = report_on(builder.build())
    assert report.findings == ()
    assert report.snapshots[0].disk_bytes is None


def test_bitmaps_that_a_stranger_made_stale() -> None:
    builder = b0_builder()
    builder.bitmap("one", type=7)
    image = set_field(builder.build(), "autoclear_features", 0)
    report = report_on(image)
    assert codes(report) == {"bitmaps-not-consistent", "bitmap-type"}
    assert report.readable
    assert [bitmap.name for bitmap in report.bitmaps] == ["one"]


def test_a_directory_at_no_usable_place_is_not_walked() -> None:
    builder = b0_builder()
    builder.bitmap("one")
    image = builder.build()
    offset = image.layout.extension(EXT_BITMAPS).data_offset
    report = report_on(image.edited(offset + 16, struct.pack(">Q", 1)))
    assert report.bitmaps == ()
    assert report.bitmaps_extension is not None
    assert not report.readable


@pytest.mark.parametrize("word", [1 << 63, 1 << 56, 2, 0x100, 0x200, 0x50001])
def test_a_bitmap_table_with_a_bad_entry(word: int) -> None:
    builder = b0_builder()
    builder.bitmap("one")
    image = builder.build()
    table = image.layout.bitmap_tables[0].offset
    report = report_on(image.edited(table, struct.pack(">Q", word)))
    (finding,) = found(report, "bitmap-table")
    assert (finding.host_offset, finding.entry, finding.refusal) == (table, 0, Refusal.QEMU)


def bitmap_entry(table_offset: int, table_entries: int) -> BitmapEntry:
    return BitmapEntry(3, table_offset, table_entries, 0, 1, 16, b"", "b", b"b", 0, 32)


def test_bad_entries_are_counted_over_windows() -> None:
    entries = (1 << 20) // 8 + 10
    table = bytearray(entries * 8)
    for index in (5, 7, entries - 1):
        table[index * 8] = 0xFF
    source = BytesSource(bytes(512) + bytes(table))
    (finding,) = iter_bitmap_table_findings(source, [bitmap_entry(512, entries)], cluster_bits=9)
    assert (finding.entry, finding.count, finding.host_offset) == (5, 3, 512 + 40)


def test_a_table_behind_the_end_reads_as_zeros() -> None:
    source = BytesSource(bytes(512))
    assert not list(
        iter_bitmap_table_findings(source, [bitmap_entry(1 << 40, 1 << 20)], cluster_bits=9)
    )


def test_a_directory_that_names_one_table_again_and_again() -> None:
    """What an open reads of bitmap tables has a bound."""
    reads = 0

    class Counting(BytesSource):
        def read_at(self, offset: int, length: int) -> bytes:
            nonlocal reads
            reads += 1
            return super().read_at(offset, length)

    source = Counting(bytes(512) + b"\xff" * 512)
    entries = [bitmap_entry(512, 64)] * 65535
    findings = list(iter_bitmap_table_findings(source, entries, cluster_bits=9))
    assert len(findings) == reads == limits.MAX_BITMAP_TABLES_READ_BYTES // 4096


def test_header_structures_that_overlap() -> None:
    image = set_field(b0(), "refcount_table_offset", 0x30000)
    (finding,) = found(report_on(image), "structure-overlap")
    assert "active L1 table (0x3_0000 to 0x3_0008)" in finding.message
    assert "refcount table (0x3_0000 to 0x4_0000)" in finding.message
    assert "share cluster 3." in finding.message


def test_snapshot_table_on_the_l1_of_another() -> None:
    builder = b0_builder()
    builder.snapshot("a")
    image = builder.build()
    table = image.layout.snapshot_table
    assert table is not None
    report = report_on(set_field(image, "l1_table_offset", table.offset))
    assert any("snapshot table" in f.message for f in found(report, "structure-overlap"))


def test_directory_and_encryption_header_take_part() -> None:
    builder = b0_builder()
    builder.bitmap("one")
    builder.luks()
    image = builder.build()
    pointer = image.layout.extension(EXT_ENCRYPTION).data_offset
    directory = image.layout.bitmap_directory
    assert directory is not None
    report = report_on(image.edited(pointer, struct.pack(">Q", directory.offset)))
    messages = [f.message for f in found(report, "structure-overlap")]
    assert any("bitmap directory" in m and "encryption header" in m for m in messages)


def test_many_l2_tables_on_one_structure() -> None:
    image = s0(size=64 << 10, l1_size=4)
    for index in range(3):
        image = image.edited(image.layout.l1_entry_offset(index), struct.pack(">Q", 0x200))
    report = report_on(image)
    overlaps = found(report, "structure-overlap")
    (finding,) = (f for f in overlaps if "refcount table" in f.message)
    assert finding.count == 3
    assert "and so do 2 other L2 tables" in finding.message


def test_overlaps_are_found_in_every_window_of_a_large_l1() -> None:
    entries = (1 << 20) // 8 * 2 + 5
    image = b0(l1_size=entries)
    healthy = report_on(image)
    assert not found(healthy, "structure-overlap")
    damaged = set_l1_entry(image, entries - 1, 0x10000)
    (finding,) = found(report_on(damaged), "structure-overlap")
    assert f"L2 table of L1 entry {entries - 1:,}" in finding.message
    assert "clusters" not in finding.message


def test_an_l1_cut_by_the_end_of_the_file() -> None:
    report = report_on(b0(l1_size=1 << 18).resized(0x30000 + 100))
    assert codes(report) == {"l1-truncated"}


def test_from_a_path(tmp_path: Path) -> None:
    path = b0().write_to(tmp_path / "x.qcow2")
    with path.open("rb+") as file:
        os.fsync(file.fileno())  # a file system may allocate blocks late
    report = inspect(path)
    assert (report.name, report.file_bytes) == (str(path), 0x60000)
    assert report.disk_bytes == path.stat().st_blocks * 512


def test_something_else(tmp_path: Path) -> None:
    path = tmp_path / "x.qcow2"
    path.write_bytes(b"KDMV" + bytes(2000))
    with pytest.raises(NotQcow2Error, match="not a qcow2 image: this is a VMDK") as caught:
        inspect(path)
    assert (caught.value.detected, caught.value.path) == ("vmdk", str(path))
    assert "promises a qcow2 image" in caught.value.message
    assert "qemu-img convert" in caught.value.hint


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        inspect(tmp_path / "missing.qcow2")


def test_worst_findings_come_first() -> None:
    image = set_field(
        set_field(rich(), "incompatible_features", 1 << 7 | 1), "compatible_features", 2
    )
    severities = [finding.severity for finding in report_on(image).findings]
    assert severities == sorted(severities, reverse=True)
    assert severities[0] is Severity.FATAL


def test_a_flood_of_bad_snapshots_is_counted_not_listed() -> None:
    image = set_field(set_field(b0(), "nb_snapshots", 65536), "snapshots_offset", 0x60000)
    data = image.to_bytes() + bytes(40 * 65536)
    report = inspect_source(BytesSource(data))
    assert len(report.snapshots) == 65536
    for code in ("snapshot-l1", "snapshot-extra-data"):
        assert len(found(report, code)) == limits.MAX_FINDINGS_OF_A_KIND
        assert sum(finding.count for finding in found(report, code)) == 65536
