"""Tables over which something else was written: one finding, and nothing else is made of it."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from qcowgui.check.checker import CheckReport, check_image
from qcowgui.check.overwritten import (
    MIN_IMPOSSIBLE,
    CountStretches,
    EntryBounds,
    overwritten_counts,
    overwritten_l1,
    overwritten_l2,
)
from qcowgui.engine.work import CancelToken
from qcowgui.format.geometry import Geometry
from qcowgui.image.inspect import inspect_source
from qcowgui.image.source import BytesSource
from qcowgui.repair.planner import ProvenPlan, RepairRequest, plan_repair
from tests.support.base_images import b0_builder, pattern, text
from tests.support.built import BuiltImage
from tests.support.check_damages.overwritten import CONTENTS
from tests.support.damage import poke, truncate_at
from tests.support.options import KIB, MIB

COPIED, COMPRESSED, READS_ZERO = 1 << 63, 1 << 62, 1
STANDARD = Geometry(16)
BOUNDS = EntryBounds(1 << 16, 1 << 36)
HOST = COPIED | 0x10_0000


def l2_flags(words: list[int], bounds: EntryBounds = BOUNDS, **options: bool) -> list[int] | None:
    """The positions of the entries that are none, in a table that is otherwise empty."""
    table = np.zeros(STANDARD.l2_entries, dtype=np.uint64)
    table[: len(words)] = words
    found = overwritten_l2(
        table, None, STANDARD, bounds, has_data_file=options.get("has_data_file", False)
    )
    return None if found is None else np.flatnonzero(found).tolist()


def checked(image: BuiltImage, *, deep: bool = False) -> CheckReport:
    return check_image(BytesSource(image.to_bytes()), token=CancelToken(), deep=deep)


def planned(image: BuiltImage) -> ProvenPlan:
    source = BytesSource(image.to_bytes())
    return plan_repair(source, RepairRequest(), token=CancelToken())


def codes(report: CheckReport) -> dict[str, int]:
    return {group.code: group.count for group in report.groups}


def full(clusters: int = 512) -> BuiltImage:
    """One L2 table of 512 entries, all of them used."""
    builder = b0_builder(cluster_bits=12, size=4 * MIB)
    for index in range(clusters):
        builder.write(index * 4 * KIB, pattern(512, index))
    return builder.build()


def over_l2(image: BuiltImage, content: bytes, start: int = 0) -> BuiltImage:
    return poke(image, image.layout.l2[0].offset + start, content)


# --- which entries are none


@pytest.mark.parametrize(
    "word",
    [
        COPIED | 0x10_0200,
        1 << 36,
        COPIED | 1 << 40,
        COMPRESSED | 1 << 36,
        1 << 56,
        0x4F00_1122_3344_5566,
        (1 << 64) - 1,
    ],
)
def test_impossible_words_together_are_no_entries(word: int) -> None:
    assert l2_flags([word] * MIN_IMPOSSIBLE) == list(range(MIN_IMPOSSIBLE))
    assert l2_flags([word] * (MIN_IMPOSSIBLE - 1)) is None
    # Half of them is not most of them.
    assert l2_flags([word, HOST] * MIN_IMPOSSIBLE) is None


@pytest.mark.parametrize(
    "word",
    [
        HOST,
        HOST | READS_ZERO,
        READS_ZERO,
        # A file that was cut has such entries everywhere.
        (1 << 36) - (1 << 16),
        COMPRESSED | (1 << 36) - 1,
        # Programs may give a meaning to reserved bits, and COPIED is a flag like another.
        HOST | 1 << 57,
        COPIED | COMPRESSED | 0x1234,
        COPIED,
    ],
)
def test_words_that_may_be_entries(word: int) -> None:
    assert l2_flags([word] * 8192) is None


def test_what_stands_among_impossible_words_is_no_entry_either() -> None:
    assert l2_flags([HOST, *[1 << 56] * 10, 0, HOST]) == [*range(11), 12]


def test_only_the_sectors_that_were_hit_count() -> None:
    words = [HOST] * 64 + [1 << 56] * 64 + [HOST] * 64
    assert l2_flags(words) == list(range(64, 128))


def test_compressed_entries_of_an_image_with_a_data_file() -> None:
    words = [COMPRESSED | 0x1000] * MIN_IMPOSSIBLE
    assert l2_flags(words) is None
    assert l2_flags(words, has_data_file=True) == list(range(MIN_IMPOSSIBLE))


def test_runs_of_tables_are_judged_table_by_table() -> None:
    """Seven impossible words in each of two tables are not fourteen in one."""
    small = Geometry(9)
    table = np.zeros(2 * small.l2_entries, dtype=np.uint64)
    table[:7] = table[64:71] = 1 << 56
    bounds = EntryBounds(512, 1 << 36)
    assert overwritten_l2(table, None, small, bounds, has_data_file=False) is None
    table[71] = 1 << 56
    found = overwritten_l2(table, None, small, bounds, has_data_file=False)
    assert found is not None
    assert np.flatnonzero(found).tolist() == list(range(64, 72))


def test_a_short_l1_table_is_never_judged() -> None:
    words = np.full(MIN_IMPOSSIBLE - 1, 1, dtype=np.uint64)
    assert overwritten_l1(words, BOUNDS) is None
    assert overwritten_l1(np.full(MIN_IMPOSSIBLE, 1 << 57, dtype=np.uint64), BOUNDS) is not None


def test_an_entry_may_name_what_the_refcount_table_has_room_for() -> None:
    report = inspect_source(BytesSource(full().to_bytes()))
    geometry = report.header.geometry
    assert geometry is not None
    bounds = EntryBounds.of(report, geometry)
    # A table of one cluster: 512 blocks of 2,048 counts for clusters of 4 KiB.
    assert bounds == EntryBounds(4096, min(512 * 2048 * 4096, 1024 * 4 * MIB))


# --- refcounts


def test_stretches_of_counts_that_are_too_high() -> None:
    counts = np.ones(2000, dtype=np.uint16)
    assert overwritten_counts(counts, STANDARD, 1) == CountStretches()
    counts[256:512] = 0x2020
    counts[300] = 0
    found = overwritten_counts(counts, STANDARD, 1)
    (stretch,) = found.stretches
    assert stretch == (256, 512, 255)
    assert found.cover(np.array([0, 255, 256, 511, 512])).tolist() == [0, 0, 1, 1, 0]
    # With so many snapshots any count may be right.
    assert overwritten_counts(counts, STANDARD, 100) == CountStretches()


def test_narrow_counts_are_never_too_high() -> None:
    counts = np.full(100, 3, dtype=np.uint16)
    assert overwritten_counts(counts, Geometry(16, refcount_order=1), 1) == CountStretches()


# --- a whole check


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_an_overwritten_table_is_one_finding(content: Callable[[int], bytes]) -> None:
    image = full()
    report = checked(over_l2(image, content(4096)), deep=True)
    assert codes(report) == {"l2-overwritten": 1, "leak": 512}
    (group,) = (group for group in report.groups if group.code == "l2-overwritten")
    finding = group.first[0]
    assert finding.host_offset == image.layout.l2[0].offset
    assert (finding.guest_start, finding.guest_end) == (0, 2 * MIB)
    assert group.guest_ranges.spans == ((0, 2 * MIB),)
    assert report.mapped == (0, 0, 0)
    assert report.hints[0].code == "overwritten"
    assert report.totals.corruptions >= 512


def test_the_half_that_is_whole_is_read_as_before() -> None:
    noise = random.Random(3).randbytes(2048)
    report = checked(over_l2(full(), noise, 2048))
    assert codes(report) == {"l2-overwritten": 1, "leak": 256}
    assert report.mapped.allocated == 256
    (group,) = (group for group in report.groups if group.code == "l2-overwritten")
    assert group.guest_ranges.spans == ((1 * MIB, 2 * MIB),)


def test_what_only_garbage_refers_to_has_no_second_owner() -> None:
    """Words that happen to name clusters in use count for QEMU, and for nobody else."""
    image = full()
    data = image.layout.l2[0].offset + 4096
    words = [1 << 56] * 3 + [data | COPIED] + [1 << 56] * 3 + [image.layout.l1.offset]
    garbage = b"".join(word.to_bytes(8, "big") for word in words * 64)
    report = checked(over_l2(image, garbage))
    assert not report.ownership.conflicts.size
    assert not report.ownership.shared.size
    assert {"owner-conflict", "shared-data"}.isdisjoint(codes(report))


def test_a_cut_file_is_not_an_overwritten_one() -> None:
    image = full()
    report = checked(truncate_at(image, image.layout.l2[0].offset + 4096))
    assert "data-beyond-eof" in codes(report)
    assert "l2-overwritten" not in codes(report)


def test_no_place_is_wrong_twice() -> None:
    image = full()
    span = image.layout.l2[0]
    broken = poke(image, span.offset, (COPIED | 1 << 31 | 0x200).to_bytes(8, "big"))
    assert codes(checked(broken)) == {"data-cluster-unaligned": 1, "leak": 1}


# --- what a repair makes of it


@pytest.mark.parametrize("start", [0, 2048])
def test_a_repair_edits_no_byte_of_what_is_no_table(start: int) -> None:
    image = over_l2(full(), random.Random(5).randbytes(2048), start)
    proven = planned(image)
    assert proven.plan.is_empty
    assert any("l2-overwritten" in sentence for sentence in proven.plan.refused)
    assert any("stay counted as used" in sentence for sentence in proven.plan.refused)


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_refcounts_are_counted_anew(content: Callable[[int], bytes]) -> None:
    image = full()
    block = image.layout.refcount_blocks[0]
    broken = poke(image, block.offset, content(block.length))
    report = checked(broken)
    assert codes(report) == {"refcount-block-overwritten": 1}
    assert report.leaked_clusters == 0
    assert {hint.code for hint in report.hints} == {"overwritten-refcounts"}
    proven = planned(broken)
    assert codes(proven.after) == {}
    assert not proven.plan.refused


def test_an_overwritten_refcount_table_is_made_anew() -> None:
    image = full()
    table = image.layout.refcount_table
    broken = poke(image, table.offset, text(table.length))
    report = checked(broken)
    assert codes(report) == {"refcount-table-overwritten": 1}
    assert codes(planned(broken).after).keys() <= {"free-inside"}


def l1_over(image: BuiltImage, words: list[int]) -> BuiltImage:
    data = b"".join(word.to_bytes(8, "big") for word in words)
    return poke(image, image.layout.l1.offset, data)


def small_tables() -> BuiltImage:
    """Two hundred clusters of 512 bytes: an L1 table of 16 entries, of which four are used."""
    builder = b0_builder(cluster_bits=9, size=512 * KIB)
    for index in range(200):
        builder.write(index * 512, pattern(512, index))
    return builder.build()


def test_an_overwritten_l1_table_leads_nowhere() -> None:
    """Its words may name clusters by chance: they are no tables, and own nothing."""
    image = small_tables()
    data = image.layout.l2[0].offset + 512
    report = checked(l1_over(image, [1 << 57] * 5 + [COPIED | data] + [1 << 57] * 6))
    # QEMU reads a table there, whose entries add to its counts.
    assert codes(report).keys() == {"l1-overwritten", "leak", "refcount-too-low"}
    assert codes(report)["l1-overwritten"] == 1
    assert not report.ownership.conflicts.size
    assert report.mapped.allocated == 0
    (group,) = (group for group in report.groups if group.code == "l1-overwritten")
    assert group.guest_ranges.spans == ((0, 12 * 32 * KIB),)


def test_an_l1_entry_is_told_of_once() -> None:
    image = small_tables()
    report = checked(l1_over(image, [COPIED | 1 << 40]))
    assert codes(report)["l2-table-beyond-eof"] == 1
    assert "l1-copied" not in codes(report)
