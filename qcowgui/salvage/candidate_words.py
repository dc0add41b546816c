"""The words for how a candidate's L2 tables got their places, and what is a guess of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from qcowgui.format.geometry import L1_RESERVED_MASK, Geometry
from qcowgui.image.layer import LostRange
from qcowgui.salvage.ordering import Placement
from qcowgui.salvage.scan import Indices
from qcowgui.salvage.structures import FoundL1
from qcowgui.units import format_count

_GUESS: Final = "nothing proves that this is the place of the L2 table that maps it"


def placement_words(placement: Placement, known: int) -> tuple[list[str], list[str]]:
    """(reasons, doubts) that a placement gives, of which `known` tables had their places before."""
    reasons: list[str] = list(placement.notes)
    doubts: list[str] = []
    total = placement.exact + placement.guessed
    reasons.append(
        f"{placement.exact - known:,} of {total:,} tables are placed by what they map, "
        f"{placement.between:,} fill the room between those exactly."
    )
    if placement.by_usage:
        doubts.append(
            f"The places of {format_count(placement.by_usage, 'table')} follow from which "
            "blocks the file system calls used: others may look alike."
        )
    by_order = placement.guessed - placement.by_usage
    open_places = by_order - placement.between
    if by_order:
        between = (
            f"; for {open_places:,} not even the number of tables between is known"
            if open_places
            else ""
        )
        doubts.append(
            f"The places of {format_count(by_order, 'table')} follow from the order "
            "of their data in the file alone, which is the disk's only if the disk was written "
            f"from front to back{between}."
        )
    if placement.left_over:
        doubts.append(
            f"There is no room in the disk for {placement.left_over:,} of the tables: earlier "
            "versions, or parts of snapshots."
        )
    return reasons, doubts


def agreement_words(offsets: Indices) -> list[str]:
    """How far the order of the data, in which the tables at `offsets` are, is theirs too."""
    pairs = max(0, len(offsets) - 1)
    if not pairs:
        return []
    rising = int(np.count_nonzero(np.diff(offsets) > 0))
    sentence = (
        f"Of {format_count(pairs, 'pair')} of tables that follow each other by their data, "
        f"{rising:,} do so by their own place in the file, too."
    )
    return [sentence]


def reserved_words(table: FoundL1) -> list[str]:
    """That bits of an L1 table are ignored which no writer sets, where there are any."""
    odd = int(np.count_nonzero(table.words & np.uint64(L1_RESERVED_MASK)))
    if not odd:
        return []
    sentence = (
        f"{format_count(odd, 'entry', 'entries')} of it with reserved bits set: the bits are "
        "ignored, the offsets are used."
    )
    return [sentence]


def guessed_ranges(
    geometry: Geometry, l1: Indices, guessed: Sequence[int], virtual_bytes: int
) -> tuple[LostRange, ...]:
    """The guest ranges of the L1 entries `guessed`, ascending, that name a table."""
    coverage = geometry.l1_coverage_bytes
    found: list[LostRange] = []
    for index in guessed:
        start = index * coverage
        length = min(coverage, virtual_bytes - start)
        if index >= len(l1) or l1[index] <= 0 or length <= 0:
            continue
        if found and found[-1].end == start:
            start, length = found[-1].start, found[-1].length + length
            found.pop()
        found.append(LostRange(start, length, _GUESS, "guessed-place"))
    return tuple(found)
