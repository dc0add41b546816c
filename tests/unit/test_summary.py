"""Counts of the whole mapping, and what a file that is cut short has lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled, LimitError
from qcowgui.format.finding import Severity
from qcowgui.image.inspect import inspect_source
from qcowgui.image.source import BytesSource, FileSource
from qcowgui.image.summary import MappingSummary, l2_table_bytes, summarise_mapping
from tests.support.base_images import b0, b0_builder, pattern, text
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.damage import set_field, set_l1_entry, set_l2_entry, truncate_at
from tests.support.options import KIB, MIB
from tests.support.payload import LengthPrefix

CLUSTER = 64 * KIB
COPIED = 1 << 63


def summarise(image: BuiltImage, data_file_bytes: int | None = None) -> MappingSummary:
    source = BytesSource(image.to_bytes(), "image.qcow2")
    return summarise_mapping(source, inspect_source(source), data_file_bytes=data_file_bytes)


def codes(summary: MappingSummary) -> list[str]:
    return [finding.code for finding in summary.findings()]


def mixed_builder(cluster_bits: int = 16) -> ImageBuilder:
    cluster = 1 << cluster_bits
    builder = ImageBuilder(cluster_bits=cluster_bits, size=300 * cluster)
    builder.write(0, pattern(3 * cluster))
    for index in range(10, 15):
        builder.write_compressed(index, text(cluster // 2, index))
    builder.zero(20)
    builder.zero(21, allocated=True)
    builder.write(299 * cluster, pattern(cluster))
    return builder


@pytest.mark.parametrize("cluster_bits", [9, 12, 16])
def test_counts(cluster_bits: int) -> None:
    """299 clusters of 512 bytes are five L2 tables; an entry counts once."""
    image = mixed_builder(cluster_bits).build()
    summary = summarise(image)
    assert (summary.total_clusters, summary.stored_clusters) == (300, 9)
    assert (summary.normal_clusters, summary.compressed_clusters) == (4, 5)
    assert (summary.zero_clusters, summary.unusable_clusters) == (2, 0)
    assert (summary.unmapped_clusters, summary.cut_clusters, summary.missing_bytes) == (0, 0, 0)
    assert summary.host_end_offset <= summary.file_bytes == len(image.file)
    assert summary.findings() == []
    assert summary.prerelease_offset is None


def test_subclusters_count_as_their_cluster() -> None:
    builder = ImageBuilder(cluster_bits=14, size=MIB, extended_l2=True)
    builder.subclusters(1, 1, 2, pattern(16 * KIB))
    builder.subclusters(2, 0, 3, allocated=False)
    builder.zero(3)
    builder.raw_l2_entry(4, 0, 1)
    summary = summarise(builder.build())
    assert (summary.normal_clusters, summary.zero_clusters, summary.unusable_clusters) == (2, 1, 1)


def test_damaged_entries() -> None:
    image = set_l2_entry(b0(), 5, 0x50200)
    summary = summarise(image)
    assert (summary.normal_clusters, summary.unusable_clusters) == (1, 1)
    # A check judges them; here they only count.
    assert codes(summary) == []


def test_cut_data() -> None:
    builder = b0_builder()
    builder.write(CLUSTER, pattern(9 * CLUSTER))
    image = builder.build()
    cut = truncate_at(image, 0x50000 + 6 * CLUSTER + 100)
    summary = summarise(cut)
    assert (summary.stored_clusters, summary.cut_clusters) == (10, 4)
    assert summary.missing_bytes == 4 * CLUSTER - 100
    (finding,) = summary.findings()
    assert finding.code == "file-shorter-than-image"
    assert finding.severity is Severity.CORRUPTION
    assert "4 of 10 stored clusters (40.0 %)" in finding.message
    assert "256 KiB more are needed" in finding.message
    assert finding.host_offset == len(cut.file)


def test_the_end_of_the_disk_ends_what_must_be_there() -> None:
    """The last cluster's rest is no guest data: a file without it has lost nothing."""
    builder = ImageBuilder(size=3 * CLUSTER - 512)
    builder.write(2 * CLUSTER, pattern(100))
    image = builder.build()
    assert codes(summarise(truncate_at(image, len(image.file) - 512))) == []
    assert codes(summarise(truncate_at(image, len(image.file) - 513))) != []


def test_a_payload_must_begin_in_its_last_sector() -> None:
    builder = b0_builder(short_last_cluster=True)
    builder.write_compressed(1, text(CLUSTER))
    image = builder.build()
    assert codes(summarise(image)) == []
    cut = summarise(truncate_at(image, image.layout.payloads[1].offset + 10))
    assert cut.cut_clusters == 1


@pytest.mark.parametrize("in_table", [True, False])
def test_cut_tables(in_table: bool) -> None:
    builder = ImageBuilder(size=8 * CLUSTER, placement={"l2[0]": MIB})
    builder.write(0, pattern(8 * CLUSTER))
    image = truncate_at(builder.build(), MIB + 24 if in_table else MIB - 5)
    summary = summarise(image)
    assert summary.unmapped_clusters == (5 if in_table else 8)
    (finding,) = summary.findings()
    assert finding.code == "l2-truncated"
    assert f"{summary.unmapped_clusters} of 8 guest clusters" in finding.message


def test_a_table_at_an_impossible_offset() -> None:
    summary = summarise(set_l1_entry(b0(), 0, COPIED | 0x40200))
    assert codes(summary) == ["l2-truncated"]
    assert summary.unmapped_clusters == summary.total_clusters


@pytest.mark.parametrize("byte_order", ["big", "little"])
def test_prerelease_zstd_is_a_finding(byte_order: LengthPrefix) -> None:
    builder = b0_builder(compression_type=1)
    builder.write_compressed(100, text(CLUSTER), length_prefix=byte_order)
    image = builder.build()
    summary = summarise(image)
    assert summary.prerelease_offset == image.layout.payloads[100].offset
    (finding,) = summary.findings()
    assert finding.code == "prerelease-zstd"
    assert finding.host_offset == summary.prerelease_offset


@pytest.mark.parametrize("compression_type", [0, 1])
def test_released_layouts_are_no_finding(compression_type: int) -> None:
    builder = b0_builder(compression_type=compression_type)
    builder.write_compressed(100, text(CLUSTER))
    assert codes(summarise(builder.build())) == []


def test_data_files() -> None:
    """Host offset 0 is data there, and the file ends with the disk."""
    builder = ImageBuilder(size=3 * CLUSTER - 512, data_file="guest.data")
    builder.write(0, pattern(CLUSTER))
    builder.write(2 * CLUSTER, pattern(CLUSTER - 512))
    image = builder.build()
    unknown = summarise(image)
    assert (unknown.normal_clusters, unknown.cut_clusters) == (2, 0)
    assert unknown.host_end_offset == 3 * CLUSTER - 512
    assert summarise(image, data_file_bytes=3 * CLUSTER - 512).cut_clusters == 0
    assert summarise(image, data_file_bytes=3 * CLUSTER - 513).cut_clusters == 1
    assert summarise(image, data_file_bytes=0).cut_clusters == 2


def test_no_mapping_no_summary() -> None:
    with pytest.raises(LimitError):
        summarise(set_field(b0(), "l1_size", 0))
    with pytest.raises(LimitError):
        summarise(set_field(b0(), "cluster_bits", 63))


def test_cancel() -> None:
    token = CancelToken()
    token.cancel()
    source = BytesSource(b0().to_bytes())
    with pytest.raises(Cancelled):
        summarise_mapping(source, inspect_source(source), token=token)


def test_upper_bound_of_what_is_read() -> None:
    report = inspect_source(BytesSource(b0(l1_size=3).to_bytes()))
    assert l2_table_bytes(report) == 3 * (CLUSTER + 8)
    report = inspect_source(BytesSource(set_field(b0(), "cluster_bits", 63).to_bytes()))
    assert l2_table_bytes(report) == 0


def test_empty_disk() -> None:
    summary = summarise(ImageBuilder(size=0).build())
    assert (summary.total_clusters, summary.stored_clusters, summary.findings()) == (0, 0, [])


def test_windows_without_tables_are_passed_over() -> None:
    builder = ImageBuilder(cluster_bits=9, size=64 * MIB)
    builder.write(0, pattern(512))
    builder.write(60 * MIB, pattern(512))
    summary = summarise(builder.build())
    assert (summary.total_clusters, summary.stored_clusters) == (131_072, 2)


def test_sparse_far_cluster_costs_nothing(tmp_path: Path) -> None:
    builder = ImageBuilder(size=CLUSTER)
    builder.write(0, pattern(CLUSTER), at=8 << 30)
    path = builder.build().write_to(tmp_path / "far.qcow2")
    with FileSource(path) as source:
        summary = summarise_mapping(source, inspect_source(source))
    assert summary.host_end_offset == (8 << 30) + CLUSTER
    assert summary.cut_clusters == 0
