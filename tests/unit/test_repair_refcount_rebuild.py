"""Refcounts made right, whatever state their structures are in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from qcowgui.check.checker import CheckReport
from qcowgui.check.overwritten import CountStretches
from qcowgui.check.ownership import build
from qcowgui.check.stored import StoredRefcounts
from qcowgui.engine.work import CancelToken
from qcowgui.format.finding import Severity
from qcowgui.image.inspect import inspect_source
from qcowgui.image.patched import PatchedSource
from qcowgui.image.source import BytesSource
from qcowgui.repair.entry_pass import View
from qcowgui.repair.free_space import FreeSpace
from qcowgui.repair.planner import ProvenPlan, RepairRequest, plan_repair
from qcowgui.repair.refcount_rebuild import RefcountError, rebuild
from qcowgui.repair.refcount_targets import Targets, find_sound, keep_high_counts, targets_of
from tests.support.base_images import b0, s0, s0_builder
from tests.support.built import BuiltImage
from tests.support.check_damages import CHECK_DAMAGES
from tests.support.damage import poke, set_field, set_integer, set_refcount, truncate_at


def planned(image: BuiltImage, request: RepairRequest | None = None) -> ProvenPlan:
    source = BytesSource(image.to_bytes())
    return plan_repair(source, request or RepairRequest(), token=CancelToken())


def codes(report: CheckReport) -> set[str]:
    return {group.code for group in report.groups}


@dataclass(frozen=True)
class Large:
    """An image of 512-byte clusters with enough of them for several refcount blocks."""

    blocks: int

    def image(self) -> BuiltImage:
        builder = s0_builder(size=1 << 20)
        builder.write(0, b"\7" * (self.blocks * 256 * 512 - 512 * 40))
        image = builder.build()
        assert len(image.layout.refcount_blocks) >= self.blocks
        return image


def test_one_wrong_count_is_one_edit_in_place() -> None:
    proven = planned(set_refcount(b0(), 5, 0))
    (edit,) = proven.plan.edits
    assert edit.offset == 0x20000 + 2 * 5
    assert (edit.before, edit.after) == (b"\0\0", b"\0\1")
    assert edit.code == "refcount-zero"
    assert edit.why == "The refcount of cluster 5 changes from 0 to 1."
    assert proven.plan.growth_bytes == 0


@pytest.mark.parametrize("order", range(7))
def test_counts_of_every_width_are_edited_in_place(order: int) -> None:
    image = b0(refcount_order=order)
    proven = planned(set_refcount(set_refcount(image, 5, 0), 3, 0))
    assert proven.changes == {"refcount-zero": 2}
    assert proven.plan.growth_bytes == 0
    assert codes(proven.after) == set()


def test_counts_far_apart_are_edits_of_their_own() -> None:
    image = Large(2).image()
    image = set_refcount(set_refcount(image, 5, 0), 200, 3)
    proven = planned(image)
    assert [edit.code for edit in proven.plan.edits if edit.offset > 512] == [
        "refcount-zero",
        "refcount-too-high",
    ]


def test_a_missing_block_is_made_anew_and_the_others_stay() -> None:
    image = Large(3).image()
    table = image.layout.refcount_table
    image = set_integer(image, table.offset + 8, 8, 0)
    proven = planned(image)
    assert codes(proven.after) == {"free-inside"}  # the block that nothing names any more
    assert proven.changes["refcount-zero"] >= 1
    blocks = [edit for edit in proven.plan.edits if edit.offset >= len(image.file)]
    assert [edit.length_bytes for edit in blocks] == [512]
    # The header is not touched: the table stays where it is.
    assert min(edit.offset for edit in proven.plan.edits) >= 512


def test_the_old_table_and_blocks_are_free_once_they_are_replaced() -> None:
    image = set_field(Large(2).image(), "refcount_table_offset", 1 << 40)
    proven = planned(image)
    assert codes(proven.after) == {"free-inside"}
    assert proven.changes.keys() == {"refcount-table-truncated"}
    fields = next(edit for edit in proven.plan.edits if edit.offset == 48)
    assert fields.length_bytes == 12


def test_a_table_too_small_for_the_file_moves_and_its_clusters_become_free() -> None:
    builder = s0_builder(size=16 << 20)
    # One cluster of the table covers 8 MiB of the file.
    builder.write(0, b"\7" * (17 << 19))
    image = set_field(builder.build(), "refcount_table_clusters", 1)
    proven = planned(image, RepairRequest(free_unowned=True))
    assert proven.after.counts[Severity.CORRUPTION] == 0
    assert proven.after.counts[Severity.LEAK] == 0
    assert any(edit.offset == 48 for edit in proven.plan.edits)


def test_wider_refcounts_where_the_references_do_not_fit() -> None:
    proven = planned(CHECK_DAMAGES["R2-references-above-maximum"].damaged("order-1"))
    assert "references-above-maximum" in codes(proven.before)
    assert "references-above-maximum" not in codes(proven.after)
    order = next(edit for edit in proven.plan.edits if edit.offset == 96)
    assert order.after == (2).to_bytes(4, "big")
    assert proven.after.totals.corruptions == 0


def test_version_2_has_no_wider_refcounts_and_says_so() -> None:
    image = b0(version=2)
    source = BytesSource(image.to_bytes())
    report = inspect_source(source)
    stored = StoredRefcounts(source, report)
    ownership = build(source, report)
    targets = Targets(ownership.computed.astype("uint32"))
    targets.counts[5] = 1 << 16
    space = FreeSpace(source, ownership, 16, None)
    sound = find_sound(stored, ownership, report.header, source.size_bytes)
    with pytest.raises(RefcountError, match="version 2"):
        rebuild(source, stored, sound, targets, space, report.header)


def test_nothing_is_appended_where_an_entry_names_the_place() -> None:
    """The file is cut: what is missing must not be found in new metadata."""
    image = Large(3).image()
    image = set_integer(image, image.layout.refcount_table.offset, 8, 0)
    cut = truncate_at(image, len(image.file) - 20 * 512)
    proven = planned(cut)
    assert all(edit.end_offset <= len(cut.file) for edit in proven.plan.edits)
    assert proven.plan.growth_bytes == 0
    assert any("not rebuilt" in sentence for sentence in proven.plan.refused)


def test_what_is_counted_behind_the_end_of_the_file_stays_counted() -> None:
    """A cut image: the counts of its missing clusters keep their places."""
    image = Large(1).image()
    cut = truncate_at(image, len(image.file) - 3 * 512)
    cut = set_refcount(cut, 5, 0)
    proven = planned(cut)
    for edit in proven.plan.edits:
        assert edit.code == "refcount-zero"


def find(image: BuiltImage) -> tuple[View, Targets, tuple[bool, list[int]]]:
    source = BytesSource(image.to_bytes())
    without = PatchedSource(source, [(48, bytes(12))])
    report = inspect_source(source)
    ownership = build(without, inspect_source(without))
    stored = StoredRefcounts(source, report)
    sound = find_sound(stored, ownership, report.header, source.size_bytes)
    targets = targets_of(ownership)
    nothing = np.zeros(0, dtype=np.int64)
    keep_high_counts(targets, source, stored, sound, nothing, CountStretches(), mark=False)
    return View(source, report), targets, (sound.table, sound.blocks[:3].tolist())


def test_sound_structures_of_a_healthy_image() -> None:
    _, targets, (table, blocks) = find(s0())
    assert table
    assert blocks == [2, 0, 0]
    assert targets.kept_leaks == 0


@pytest.mark.parametrize(
    ("word", "why"),
    [
        (0x400 | 1, "reserved bits"),
        (0x500, "unaligned"),
        (1 << 40, "behind the end"),
        (0x600, "it is the L1 table"),
        (0x200, "it is the refcount table itself"),
    ],
)
def test_a_block_that_can_not_stay(word: int, why: str) -> None:
    image = s0()
    entry = image.layout.refcount_table.offset
    _, _, (table, blocks) = find(poke(image, entry, word.to_bytes(8, "big")))
    assert table
    assert blocks[0] == 0, why


def test_two_entries_with_one_block_lose_both() -> None:
    image = s0()
    entry = image.layout.refcount_table.offset + 8
    _, _, (_, blocks) = find(poke(image, entry, (0x400).to_bytes(8, "big")))
    assert blocks == [0, 0, 0]


def test_leaks_are_kept_where_that_is_wanted_but_not_the_structures_themselves() -> None:
    builder = s0_builder()
    builder.leak(4)
    image = builder.build()
    _, targets, _ = find(image)
    assert targets.kept_leaks == 4
    assert int(targets.counts.sum()) == len(image.file) // 512 - 2  # but for table and block
