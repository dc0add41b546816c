from __future__ import annotations

from collections.abc import Iterator

import pytest

from qcowgui.check.l2_references import find_references, find_run
from qcowgui.check.l2_tables import L2Table
from qcowgui.check.ownership import build
from qcowgui.check.refcount_rules import (
    CopiedHit,
    CopiedRules,
    RefcountSummary,
    iter_mismatches,
    judge_refcount_table,
    kept_leak_count,
)
from qcowgui.check.stored import NarrowRefcounts, StoredRefcounts
from qcowgui.check.walk import iter_distinct_l2_tables, iter_l1_tables
from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled
from qcowgui.format.geometry import Geometry
from qcowgui.image.inspect import inspect_source
from qcowgui.image.source import BytesSource
from tests.support.base_images import b0, b0_builder, pattern, rich
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.check_damages.geometries import GEOMETRIES
from tests.support.damage import (
    get_l1_entry,
    get_l2_entry,
    get_refcount,
    set_integer,
    set_l1_entry,
    set_l2_entry,
    set_refcount,
)
from tests.support.damages import DAMAGES
from tests.support.options import GIB, MIB

COPIED = 1 << 63


def mismatches(image: BuiltImage) -> tuple[dict[str, list[tuple[int, int, int]]], RefcountSummary]:
    """By code: (cluster, stored, computed); and the summary."""
    source = BytesSource(image.to_bytes())
    report = inspect_source(source)
    stored = StoredRefcounts(source, report)
    summary = RefcountSummary()
    found: dict[str, list[tuple[int, int, int]]] = {}
    for code, clusters, counts, computed in iter_mismatches(
        stored, build(source, report), summary, CancelToken()
    ):
        rows = zip(clusters.tolist(), counts.tolist(), computed.tolist(), strict=True)
        found.setdefault(code, []).extend(rows)
    return found, summary


@pytest.mark.parametrize("name", sorted(GEOMETRIES))
def test_a_sound_image_has_none(name: str) -> None:
    image = GEOMETRIES[name].image()
    found, summary = mismatches(image)
    assert found == {}
    assert (summary.too_low, summary.too_high, summary.leaked, summary.unreadable) == (0, 0, 0, 0)
    clusters = -(-len(image.file) // image.layout.cluster_bytes)
    counts = [get_refcount(image, cluster) for cluster in range(clusters)]
    assert summary.used == sum(count > 0 for count in counts)
    assert summary.end == max(n for n, count in enumerate(counts) if count) + 1
    assert summary.free_inside == counts[: summary.end].count(0)


@pytest.mark.parametrize(
    ("stored", "code"),
    [(0, "refcount-zero"), (2, "refcount-too-low"), (4, "refcount-too-high"), (3, "")],
)
def test_a_cluster_with_three_references(stored: int, code: str) -> None:
    image = rich()
    cluster = image.layout.data[0].offset // 4096
    assert get_refcount(image, cluster) == 3
    damaged = image if stored == 3 else set_refcount(image, cluster, stored)
    found, summary = mismatches(damaged)
    assert found == ({code: [(cluster, stored, 3)]} if code else {})
    assert (summary.too_low, summary.too_high) == (stored < 3, stored > 3)


def test_leaks_are_clusters_that_nothing_refers_to() -> None:
    builder = b0_builder()
    builder.leak(2)
    builder.gap(3)
    builder.leak(1)
    found, summary = mismatches(builder.build())
    leaks = [cluster for cluster, stored, computed in found["leak"] if stored and not computed]
    assert len(leaks) == summary.leaked == summary.too_high == 3
    assert leaks == [leaks[0], leaks[0] + 1, leaks[0] + 5]
    assert summary.free_inside == 3
    assert summary.end == leaks[-1] + 1


def test_all_counts_lost() -> None:
    found, summary = mismatches(DAMAGES["refcount_block_missing"].apply(rich()))
    assert set(found) == {"refcount-zero"}
    assert len(found["refcount-zero"]) == summary.too_low == 28


def test_counts_that_cannot_be_read_are_neither_right_nor_wrong() -> None:
    found, summary = mismatches(DAMAGES["refcount_block_unaligned"].apply(rich()))
    assert found == {}
    assert summary.unreadable == 31
    assert (summary.used, summary.end, summary.free_inside) == (0, 1, 0)


def test_references_are_compared_as_far_as_a_refcount_can_count() -> None:
    image = b0(refcount_order=1, size=64 * MIB)
    word = get_l2_entry(image, 0)
    for index in range(1, 9):
        image = set_l2_entry(image, index, word)
    cluster = image.layout.data[0].offset // 65536
    assert mismatches(image)[0] == {"refcount-too-low": [(cluster, 1, 3)]}
    assert mismatches(set_refcount(image, cluster, 3))[0] == {}


def test_the_token_stops_the_comparison() -> None:
    source = BytesSource(b0().to_bytes())
    report = inspect_source(source)
    stored, ownership = StoredRefcounts(source, report), build(source, report)
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        list(iter_mismatches(stored, ownership, RefcountSummary(), token))


# The refcount table


@pytest.mark.parametrize(
    ("index", "word", "codes"),
    [
        (0, 0x2001, {"refcount-table-reserved-bits": [0]}),
        (0, 0x2201, {"refcount-table-reserved-bits": [0], "refcount-unreadable": [0]}),
        (0, 0x2200, {"refcount-block-unaligned": [0]}),
        (1, 1 << 40, {"refcount-block-beyond-eof": [1]}),
        (9, 0xFFFF_FFFF_FFFF_F000, {"refcount-block-beyond-eof": [9]}),
        (1, 0x2000, {"refcount-block-shared": [1]}),
        (1, 0x3000, {"refcount-block-shared": [1]}),
        (
            0,
            0x8000_0000_0000_2000,
            {"refcount-block-beyond-eof": [0], "refcount-unreadable": [0]},
        ),
    ],
)
def test_entries_of_the_refcount_table(index: int, word: int, codes: dict[str, list[int]]) -> None:
    image = rich()
    assert image.layout.refcount_blocks[0].offset == 0x2000
    assert image.layout.l1.offset == 0x3000
    image = set_integer(image, image.layout.refcount_table.offset + 8 * index, 8, word)
    source = BytesSource(image.to_bytes())
    report = inspect_source(source)
    stored = StoredRefcounts(source, report)
    hits = judge_refcount_table(stored, build(source, report, stored=stored))
    assert {code: indices.tolist() for code, indices in hits} == codes


# COPIED


def copied_hits(image: BuiltImage) -> Iterator[tuple[L2Table | None, CopiedHit]]:
    """What is wrong with the flags of every table; None for L1 tables."""
    source = BytesSource(image.to_bytes())
    report = inspect_source(source)
    clusters = -(-len(image.file) // image.layout.cluster_bytes)
    rules = CopiedRules(NarrowRefcounts(StoredRefcounts(source, report), clusters))
    for l1 in iter_l1_tables(source, report):
        hit = rules.judge_l1(l1)
        if hit is not None:
            yield None, hit
    for table in iter_distinct_l2_tables(source, report):
        run = find_run(table, len(image.file))
        if run is not None:
            hit = rules.judge_run(table, run)
        else:
            hit = rules.judge_entries(table, find_references(table))
        if hit is not None:
            yield table, hit


def copied_entries(image: BuiltImage) -> list[tuple[str, list[int]]]:
    return [(found.hit.code, found.hit.indices.tolist()) for _, found in copied_hits(image)]


@pytest.mark.parametrize("name", sorted(GEOMETRIES))
def test_the_flags_of_a_sound_image_are_right(name: str) -> None:
    assert copied_entries(GEOMETRIES[name].image()) == []


def test_l1_flags() -> None:
    image = rich()
    assert copied_entries(set_l1_entry(image, 0, get_l1_entry(image, 0) ^ COPIED)) == [
        ("l1-copied", [0])
    ]
    assert copied_entries(set_l1_entry(image, 1, get_l1_entry(image, 1) ^ COPIED)) == [
        ("l1-copied", [1])
    ]


def test_l2_flags_and_their_refcounts() -> None:
    image = rich()
    damaged = set_l2_entry(image, 0, get_l2_entry(image, 0) ^ COPIED)
    damaged = set_l2_entry(damaged, 2, get_l2_entry(damaged, 2) ^ COPIED)
    ((_, found),) = copied_hits(damaged)
    assert found.hit.code == "l2-copied"
    assert found.hit.indices.tolist() == [0, 2]
    assert found.refcounts[[0, 2]].tolist() == [3, 1]
    assert found.counted == 2


def test_flags_that_name_clusters_behind_the_end() -> None:
    image = rich()
    assert copied_entries(set_l2_entry(image, 2, COPIED | 1 << 40)) == [("l2-copied", [2])]
    assert copied_entries(set_l2_entry(image, 2, 1 << 40)) == []


def test_flags_of_snapshots_must_not_lie_but_may_be_clear() -> None:
    image = rich()
    offset = image.layout.snapshot_l2[0, 0].offset
    word = image.read_integer(offset, 8)
    assert not word & COPIED
    assert copied_entries(set_integer(image, offset, 8, word | COPIED)) == [
        ("snapshot-copied", [0])
    ]


def test_a_flag_of_a_snapshots_own_cluster_is_true() -> None:
    builder = ImageBuilder(size=MIB)
    builder.write(0, pattern(65536))
    builder.snapshot("one")
    builder.write(0, pattern(65536, 1))
    image = builder.build()
    offset = image.layout.snapshot_l2[0, 0].offset
    own = image.read_integer(offset, 8) | COPIED
    assert copied_entries(set_integer(image, offset, 8, own)) == []


def test_the_flags_of_a_run() -> None:
    builder = ImageBuilder(cluster_bits=9, size=MIB)
    builder.write(0, pattern(64 * 512))
    image = builder.build()
    cluster = image.layout.data[7].offset // 512
    assert copied_entries(set_refcount(image, cluster, 2)) == [("l2-copied", [7])]


def test_a_table_whose_own_refcount_is_unreadable_does_not_count() -> None:
    """QEMU skips it; the flags that contradict readable refcounts are wrong all the same."""
    image = rich()
    image = set_integer(image, image.layout.refcount_table.offset, 8, 0x2200)
    ((table, found),) = copied_hits(set_l2_entry(image, 2, COPIED | 1 << 40))
    assert table is not None
    assert found.hit.indices.tolist() == [2]
    assert found.counted == 0


def test_in_a_data_file_every_cluster_has_one_owner() -> None:
    image = GEOMETRIES["data-file-64k"].image()
    word = get_l2_entry(image, 1)
    assert copied_entries(set_l2_entry(image, 1, word & ~COPIED)) == [("l2-copied", [1])]


def test_the_second_of_many_tables() -> None:
    builder = ImageBuilder(cluster_bits=9, size=MIB)
    for table in range(4):
        builder.write(table * 32768, pattern(512, table))
    image = builder.build()
    damaged = set_l2_entry(image, 64, get_l2_entry(image, 64) & ~COPIED)
    assert copied_entries(damaged) == [("l2-copied", [64])]


def test_an_empty_disk() -> None:
    assert copied_entries(ImageBuilder(size=GIB).build()) == []


def test_the_mark_of_a_leak_that_a_repair_kept() -> None:
    """Narrow refcounts have none: 1 is any leak's, and 2 what two references left."""
    marks = [kept_leak_count(Geometry(16, refcount_order=order)) for order in range(7)]
    assert marks == [None, 3, 15, 61, 61, 61, 61]
