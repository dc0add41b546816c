from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.check.checker import check_image
from qcowgui.check.l2_references import find_references, find_run
from qcowgui.check.l2_tables import L2Table
from qcowgui.check.rule_context import Hit
from qcowgui.check.totals import QemuTotals
from qcowgui.check.walk import iter_distinct_l2_tables
from qcowgui.engine.work import CancelToken
from qcowgui.errors import ExitCode
from qcowgui.image.inspect import inspect_source
from qcowgui.image.source import BytesSource
from tests.support.base_images import b0, b0_builder, pattern, rich, text
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.damage import set_field, set_integer, set_l1_entry, truncate_at
from tests.support.damages import DAMAGES
from tests.support.options import MIB

COPIED, COMPRESSED = 1 << 63, 1 << 62


def totals_of(image: BuiltImage) -> QemuTotals:
    return check_image(BytesSource(image.to_bytes()), token=CancelToken()).totals


def tables_of(image: BuiltImage) -> list[L2Table]:
    source = BytesSource(image.to_bytes())
    return list(iter_distinct_l2_tables(source, inspect_source(source)))


@pytest.mark.parametrize(
    ("totals", "code"),
    [
        (QemuTotals(), ExitCode.GOOD),
        (QemuTotals(leaks=1), ExitCode.LEAKS),
        (QemuTotals(corruptions=1, leaks=1), ExitCode.CORRUPT),
        (QemuTotals(corruptions=1, check_errors=1), ExitCode.FAILED),
        (QemuTotals(refusal="no"), ExitCode.FAILED),
    ],
)
def test_exit_codes(totals: QemuTotals, code: ExitCode) -> None:
    assert totals.exit_code == code


def test_a_hit_counts_by_its_weight_for_each_reference() -> None:
    totals = QemuTotals()
    two, three = np.arange(2), np.arange(3)
    totals.count_hits([Hit("l2-reserved-bits", two), Hit("data-at-header", three)], 4)
    assert totals.corruptions == 8


@given(
    st.lists(
        st.one_of(
            st.integers(3, 12).map(lambda cluster: COPIED | cluster * 512),
            st.integers(3, 12).map(lambda cluster: cluster * 512 | 1),
            st.integers(1500, 6000).map(lambda offset: COMPRESSED | offset),
            st.sampled_from([0, 1, COPIED]),
        ),
        max_size=200,
    )
)
def test_fragments_are_those_of_a_loop(words: list[int]) -> None:
    builder = ImageBuilder(cluster_bits=9, size=200 * 512)
    for index, word in enumerate(words):
        if word:
            builder.raw_l2_entry(index, word)
    expected = allocated = compressed = 0
    for start in range(0, len(words), 64):
        following = None
        for word in words[start : start + 64]:
            offset = word & 0x00FF_FFFF_FFFF_FE00
            if word & COMPRESSED:
                compressed += 1
                expected += 1
            elif offset:
                allocated += 1
                expected += following is not None and offset != following
                following = offset + 512
    totals = QemuTotals()
    for table in tables_of(builder.build()):
        run = find_run(table, 1 << 20)
        if run is None:
            totals.count_entries(table, find_references(table))
        else:
            totals.count_run(table, run)
    assert totals.allocated_clusters == allocated + compressed
    assert totals.compressed_clusters == compressed
    assert totals.fragmented_clusters == expected


def test_only_the_active_disk_is_counted() -> None:
    builder = ImageBuilder(size=MIB)
    builder.write(0, pattern(4 * 65536))
    builder.snapshot("one")
    for index in range(4):
        builder.discard(index)
    totals = totals_of(builder.build())
    assert (totals.total_clusters, totals.allocated_clusters) == (16, 0)


def test_a_run_is_found_only_where_everything_follows() -> None:
    builder = ImageBuilder(cluster_bits=9, size=2 * MIB)
    builder.write(0, pattern(64 * 512))
    image = builder.build()
    (table,) = tables_of(image)
    run = find_run(table, len(image.file))
    assert run is not None
    assert (run.host_offset, run.clusters, run.copied) == (image.layout.data[0].offset, 64, True)
    assert find_run(table, len(image.file) - 1) is None
    entry = image.layout.l2_entry_offset
    first, second = (image.read_integer(entry(index), 8) for index in (10, 11))
    exchanged = set_integer(set_integer(image, entry(10), 8, second), entry(11), 8, first)
    for damaged in (
        exchanged,
        set_integer(image, entry(10), 8, first & ~COPIED),
        set_integer(image, entry(10), 8, first | 1),
        set_integer(image, entry(0), 8, 0),
        set_integer(image, entry(63), 8, 0),
    ):
        (table,) = tables_of(damaged)
        assert find_run(table, len(image.file)) is None


def test_what_a_compressed_entry_refers_to() -> None:
    builder = ImageBuilder(cluster_bits=12, size=MIB)
    builder.write_compressed(0, text(4096), at=0x9E01, extra_sectors=2)
    image = builder.build()
    (table,) = tables_of(image)
    found = find_references(table)
    payload = image.layout.payloads[0]
    assert found.payloads.tolist() == [0]
    assert found.payload_offsets.tolist() == [payload.offset]
    sectors = (payload.end - 1) // 512 - payload.offset // 512 + 1 + 2
    assert found.payload_ends.tolist() == [payload.offset // 512 * 512 + sectors * 512]
    assert not len(found.standard)


@pytest.mark.parametrize(
    "name",
    [
        "header_refcount_table_unaligned",
        "header_nb_snapshots_huge",
        "snapshot_extra_overlong",
        "feature_incompatible_5",
        "bitmap_type_7",
    ],
)
def test_where_qemu_gives_no_totals(name: str) -> None:
    totals = totals_of(DAMAGES[name].apply(rich()))
    assert totals.refusal.startswith("qemu-img ")
    assert totals.refusal.endswith(".")
    assert totals.exit_code == ExitCode.FAILED


def test_no_refcount_table_at_an_impossible_offset() -> None:
    image = set_field(rich(), "refcount_table_clusters", 0)
    assert not totals_of(image).refusal
    assert totals_of(set_field(image, "refcount_table_offset", 0x1001)).refusal


@pytest.mark.parametrize("name", ["header_no_refcount_table", "feature_dirty", "feature_corrupt"])
def test_what_a_check_opens_all_the_same(name: str) -> None:
    assert not totals_of(DAMAGES[name].apply(rich())).refusal


def test_an_impossible_offset_of_a_snapshots_table_stops_qemu() -> None:
    image = rich()
    damaged = set_integer(image, image.layout.snapshot_entries[0].offset, 8, 3 << 62)
    assert "memory" in totals_of(damaged).refusal


def test_a_bitmap_in_use_with_a_bad_table_stops_qemu() -> None:
    builder = b0_builder()
    builder.bitmap("one", flags=1, set_ranges=[(0, MIB)])
    image = builder.build()
    damaged = set_integer(image, image.layout.bitmap_tables[0].offset, 8, 1 << 60)
    assert "bitmap" in totals_of(damaged).refusal


def test_snapshots_in_an_image_with_a_data_file() -> None:
    builder = ImageBuilder(size=MIB, data_file="data", data_file_raw=False)
    plain = totals_of(builder.build()).corruptions
    builder.snapshot("one")
    assert totals_of(builder.build()).corruptions == plain + 1


def test_the_size_counts_in_whole_sectors_and_clusters() -> None:
    assert totals_of(set_field(b0(), "size", 65536 * 3 + 511)).total_clusters == 3
    assert totals_of(set_field(b0(), "size", 65536 * 3 + 512)).total_clusters == 4


def test_the_end_is_that_of_the_last_cluster_in_use() -> None:
    image = b0()
    assert totals_of(image).image_end_offset == 0x60000
    assert totals_of(image.resized(0x90000)).image_end_offset == 0x60000
    assert totals_of(truncate_at(image, 0x5FE00)).image_end_offset == 0x60000


def test_the_hits_in_what_is_no_table_count_but_are_not_reported() -> None:
    image = set_l1_entry(b0(size=1 << 30), 1, COPIED)
    checked = check_image(BytesSource(image.to_bytes()), token=CancelToken())
    assert checked.totals.corruptions > 10
    assert not [group for group in checked.groups if group.code.startswith(("l2-", "compressed"))]
