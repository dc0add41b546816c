"""A bounded set of joined byte ranges: where findings of one kind lie."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from qcowgui.format import limits

Offsets = npt.NDArray[np.int64]

MAX_RANGES: Final = 64
"""ours: more ranges than this tell a reader nothing new."""

_FEW: Final = 8
"""Ranges added one by one: for so few, numpy takes longer (2026-11-30)."""


class Ranges(NamedTuple):
    """Joined ranges in ascending order.

    Attributes:
        spans: (start, end) in bytes, end exclusive; no two of them overlap or touch.
        complete: Whether these are all; else there are others, which were not kept.
    """

    spans: tuple[tuple[int, int], ...]
    complete: bool = True


class RangeSet:
    """Collects byte ranges and joins those that overlap or touch.

    It keeps the first `MAX_RANGES` of them. Later ones still extend these, and any other makes the
    set incomplete: every byte of a kept range was added, whatever the order.
    """

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._complete = True

    def add(self, start: int, end: int) -> None:
        """Add the bytes [start, end); an empty range, or one beyond any file, changes nothing."""
        end = min(end, limits.MAX_OFFSET)
        if start >= end:
            return
        first = bisect_left(self._ends, start)
        last = bisect_right(self._starts, end)
        if first < last:
            self._starts[first:last] = [min(start, self._starts[first])]
            self._ends[first:last] = [max(end, self._ends[last - 1])]
        elif len(self._starts) < MAX_RANGES:
            self._starts.insert(first, start)
            self._ends.insert(first, end)
        else:
            self._complete = False

    def add_many(self, starts: Offsets, ends: Offsets) -> None:
        """Add the ranges [starts[i], ends[i]), which may overlap and have any order."""
        if len(starts) <= _FEW:
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
                self.add(start, end)
            return
        starts, ends = _joined(starts, ends)
        apart = self._extend(starts, ends)
        room = MAX_RANGES - len(self._starts)
        for index in apart[:room].tolist():
            self.add(int(starts[index]), int(ends[index]))
        self._complete = self._complete and len(apart) <= room

    def _extend(self, starts: Offsets, ends: Offsets) -> npt.NDArray[np.intp]:
        """Add the ranges that touch a kept one; the indices of the others.

        The ranges must be joined: then few of them touch a kept one without lying inside it.
        """
        if not self._starts:
            return np.arange(len(starts))
        kept_starts = np.array(self._starts, dtype=np.int64)
        kept_ends = np.array(self._ends, dtype=np.int64)
        first = np.searchsorted(kept_ends, starts)
        touching = first < np.searchsorted(kept_starts, ends, side="right")
        found = np.minimum(first, len(kept_starts) - 1)
        inside = touching & (starts >= kept_starts[found]) & (ends <= kept_ends[found])
        for index in np.flatnonzero(touching & ~inside).tolist():
            self.add(int(starts[index]), int(ends[index]))
        return np.flatnonzero(~touching)

    def ranges(self) -> Ranges:
        """What was kept."""
        return Ranges(tuple(zip(self._starts, self._ends, strict=True)), self._complete)


def _joined(starts: Offsets, ends: Offsets) -> tuple[Offsets, Offsets]:
    """The union of ranges as ascending ranges that do not touch; empty ones are dropped."""
    used = starts < ends
    starts, ends = starts[used], ends[used]
    if not len(starts):
        return starts, ends
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], np.maximum.accumulate(ends[order])
    breaks = np.flatnonzero(starts[1:] > ends[:-1])
    first = np.concatenate(([0], breaks + 1))
    last = np.concatenate((breaks, [len(ends) - 1]))
    return starts[first], ends[last]
