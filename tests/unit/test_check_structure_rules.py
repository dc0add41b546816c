"""What a check says of snapshots, bitmaps and the file's end that an open does not."""

from __future__ import annotations

import pytest

from qcowgui.check import bitmap_rules, structure_rules
from qcowgui.check.structure_rules import (
    iter_structure_findings,
    judge_cluster_count,
    judge_free_clusters,
    judge_tail,
)
from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled
from qcowgui.format.finding import Finding, Severity
from qcowgui.format.geometry import Geometry
from qcowgui.image.inspect import inspect_source
from qcowgui.image.source import BytesSource
from qcowgui.units import MIB
from tests.support.base_images import b0_builder, rich, rich_builder
from tests.support.built import BuiltImage
from tests.support.damage import flip_bits, poke, set_field, set_integer

IN_USE = 1
AUTOCLEAR_NONE = 0


def found_in(image: BuiltImage) -> list[Finding]:
    source = BytesSource(image.to_bytes())
    report = inspect_source(source)
    return list(iter_structure_findings(source, report, token=CancelToken()))


def codes_of(image: BuiltImage) -> list[str]:
    return [finding.code for finding in found_in(image)]


def bitmap_image(
    *, in_use: bool = False, granularity_bits: int = 16, size: int = 1000 * 65536
) -> BuiltImage:
    """B0 with one bitmap that has a cluster of bits, of which the last is not a whole one."""
    builder = b0_builder(size=size)
    builder.bitmap(
        "changed",
        flags=IN_USE if in_use else 0,
        granularity_bits=granularity_bits,
        set_ranges=[(0, 65536), (999 * 65536, 65536)],
    )
    return builder.build()


# ------------------------------------------------------------------------------ snapshots


def test_a_sound_image_has_nothing() -> None:
    assert found_in(rich()) == []
    assert found_in(bitmap_image()) == []


def test_snapshots_of_one_name() -> None:
    builder = b0_builder()
    for name in ("daily", "other", "daily", "", "", "daily"):
        builder.snapshot(name)
    image = builder.build()
    (finding,) = found_in(image)
    assert (finding.code, finding.entry, finding.count) == ("snapshot-name-duplicate", 2, 2)
    assert "3 snapshots are named “daily”" in finding.message
    assert finding.host_offset == image.layout.snapshot_entries[2].offset


# ------------------------------------------------------------------------------ bitmaps


def test_a_bad_entry_is_found_where_an_open_does_not_look() -> None:
    image = bitmap_image(in_use=True)
    table = image.layout.bitmap_tables[0].offset
    (finding,) = found_in(flip_bits(image, table, mask=0x80))
    assert (finding.code, finding.host_offset, finding.entry, finding.count) == (
        "bitmap-table",
        table,
        0,
        1,
    )


def test_a_bad_entry_of_bitmaps_that_qemu_drops() -> None:
    image = bitmap_image()
    image = set_field(image, "autoclear_features", AUTOCLEAR_NONE)
    image = flip_bits(image, image.layout.bitmap_tables[0].offset, mask=0x80)
    assert codes_of(image) == ["bitmap-table"]


def test_what_an_open_finds_is_not_found_again() -> None:
    image = bitmap_image()
    image = flip_bits(image, image.layout.bitmap_tables[0].offset, mask=0x80)
    report = inspect_source(BytesSource(image.to_bytes()))
    assert "bitmap-table" in {finding.code for finding in report.findings}
    assert found_in(image) == []


def test_bits_behind_the_disk() -> None:
    image = bitmap_image()
    (bits,) = image.layout.bitmap_data.values()
    assert image.read(bits.offset, 1) == b"\x01"
    assert image.read(bits.offset + 124, 2) == b"\x80\0"
    # 1,000 bits are 125 bytes exactly.
    (finding,) = found_in(poke(image, bits.offset + 125, b"\x01"))
    assert (finding.code, finding.host_offset) == ("bitmap-tail", bits.offset + 125)
    assert finding.severity is Severity.SUSPICIOUS
    assert codes_of(poke(image, bits.offset + 65535, b"\x01")) == ["bitmap-tail"]
    assert found_in(poke(image, bits.offset + 124, b"\xff")) == []


def test_bits_behind_the_disk_inside_a_byte() -> None:
    image = bitmap_image(size=1001 * 65536)
    (bits,) = image.layout.bitmap_data.values()
    assert found_in(poke(image, bits.offset + 125, b"\x01")) == []
    assert codes_of(poke(image, bits.offset + 125, b"\x02")) == ["bitmap-tail"]


def test_an_untrusted_bitmap_is_not_judged_by_its_last_bits() -> None:
    image = bitmap_image(in_use=True)
    (bits,) = image.layout.bitmap_data.values()
    assert found_in(poke(image, bits.offset + 125, b"\x01")) == []


def test_bits_beyond_the_file() -> None:
    image = bitmap_image()
    table = image.layout.bitmap_tables[0].offset
    (finding,) = found_in(set_integer(image, table, 8, 1 << 40))
    assert (finding.code, finding.host_offset, finding.entry) == (
        "bitmap-data-beyond-eof",
        table,
        0,
    )


def test_a_table_beyond_the_file() -> None:
    image = bitmap_image()
    directory_entry = image.layout.bitmap_entries[0].offset
    (finding,) = found_in(set_integer(image, directory_entry, 8, 1 << 40))
    assert (finding.code, finding.host_offset) == ("metadata-beyond-eof", 1 << 40)


def test_an_impossible_table_has_its_finding_from_the_open() -> None:
    image = bitmap_image()
    directory_entry = image.layout.bitmap_entries[0].offset
    for offset in (0x1001, 0):
        assert found_in(set_integer(image, directory_entry, 8, offset)) == []
    assert found_in(set_integer(image, directory_entry + 8, 4, 0)) == []


def test_padding_of_the_directory() -> None:
    image = bitmap_image()
    entry = image.layout.bitmap_entries[0]
    padding = entry.offset + 24 + len("changed")
    (finding,) = found_in(poke(image, padding, b"\x07"))
    assert (finding.code, finding.host_offset, finding.raw) == ("bitmap-directory", padding, 7)


def test_one_table_of_many_bitmaps_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    builder = rich_builder()
    for index in range(20):
        builder.bitmap(f"more {index}", flags=IN_USE, set_ranges=[(0, 4096)])
    image = builder.build()
    first = image.layout.bitmap_tables[2].offset
    for span in image.layout.bitmap_entries[3:]:
        image = set_integer(image, span.offset, 8, first)
    image = flip_bits(image, first, mask=0x80)
    (finding,) = found_in(image)
    assert (finding.code, finding.host_offset) == ("bitmap-table", first)
    # What is left out is said: the budget here is that of one bitmap.
    monkeypatch.setattr(bitmap_rules, "_MAX_READ_BYTES", 4096)
    (finding,) = found_in(builder.build())
    assert finding.code == "bitmap-table"
    assert "were not looked at" in finding.message
    assert finding.count == 22


def test_bitmaps_can_be_cancelled() -> None:
    token = CancelToken()
    token.cancel()
    source = BytesSource(rich().to_bytes())
    with pytest.raises(Cancelled):
        list(iter_structure_findings(source, inspect_source(source), token=token))


# ------------------------------------------------------------------------------ the file


def tail_of(data: bytes, end_offset: int) -> Finding | None:
    return judge_tail(BytesSource(data), end_offset=end_offset, token=CancelToken())


def test_no_tail() -> None:
    assert tail_of(b"x" * 1024, 1024) is None
    assert tail_of(b"x" * 1000, 1024) is None


def test_a_tail_of_zeros() -> None:
    finding = tail_of(b"x" * 1024 + bytes(5000), 1024)
    assert finding
    assert (finding.code, finding.host_offset, finding.raw) == ("trailing-space", 1024, 5000)
    assert finding.severity is Severity.INFO


@pytest.mark.parametrize("position", [1024, 1025, 3 * MIB, 3 * MIB + 4999])
def test_a_tail_of_data(position: int) -> None:
    data = bytearray(3 * MIB + 5000)
    data[position] = 1
    finding = tail_of(bytes(data), 1024)
    assert finding
    assert (finding.code, finding.host_offset) == ("trailing-data", position)
    assert finding.raw == len(data) - 1024


def test_a_long_tail_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structure_rules, "_MAX_TAIL_BYTES", 2 * MIB)
    finding = tail_of(bytes(4 * MIB) + b"x", 1024)
    assert finding
    assert finding.code == "trailing-space"
    assert "begin with 2 MiB of zeros" in finding.message


def test_a_tail_can_be_cancelled() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        judge_tail(BytesSource(bytes(2048)), end_offset=1024, token=token)


def test_free_clusters() -> None:
    assert judge_free_clusters(0, 65536) is None
    one, many = judge_free_clusters(1, 65536), judge_free_clusters(1600, 65536)
    assert one
    assert many
    assert one.message.startswith("1 cluster is free inside the file (64 KiB)")
    assert many.message.startswith("1,600 clusters are free inside the file (100 MiB)")
    assert (many.code, many.severity, many.raw) == ("free-inside", Severity.INFO, 1600)


def test_more_clusters_than_can_be_counted() -> None:
    geometry = Geometry(9)
    most = ((1 << 31) - 1) * 512
    assert judge_cluster_count(most, geometry) is None
    finding = judge_cluster_count(most + 1, geometry)
    assert finding
    assert (finding.code, finding.raw) == ("clusters-above-limit", 1 << 31)
