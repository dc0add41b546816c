"""A pyramid over a line of cells in which the worst cell wins: one bad cluster stays visible.

A cell is a uint8 whose value is its rank: the larger, the worse. A cell of level k stands for the
worst of 4 ** k cells of level 0. Building it costs one pass over memory: 6 ms for 2 ** 24 cells,
and all levels together take a third of level 0 (2026-11-30).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from qcowgui.check.cells import MAX_CELLS, Cells
from qcowgui.units import align_down, ceil_div

FACTOR: Final = 4
"""Cells that a cell of the next level stands for: those of a 2 × 2 block along a Hilbert curve."""
_CHUNK_CELLS: Final = 1 << 18
"""A part that stays in a core's cache: half the time of doing all at once."""


class Pyramid:
    """All levels over one line of cells, down to a single cell. Not thread-safe while updated."""

    def __init__(self, cells: Cells) -> None:
        """Build every level.

        Args:
            cells: Level 0, one-dimensional. It is kept, not copied: change it by `update` only.

        Raises:
            ValueError: When there are more than `MAX_CELLS`.
        """
        if len(cells) > MAX_CELLS:
            raise ValueError(f"{len(cells):,} cells are more than {MAX_CELLS:,}: use a range")
        self._levels = [cells]
        while len(self._levels[-1]) > 1:
            finer = self._levels[-1]
            coarser = np.empty(ceil_div(len(finer), FACTOR), dtype=np.uint8)
            _reduce(finer, coarser, 0, len(coarser))
            self._levels.append(coarser)

    @property
    def levels(self) -> int:
        """How many levels there are; the last has one cell, or none when there are no cells."""
        return len(self._levels)

    @property
    def bytes_used(self) -> int:
        """Memory of all levels, level 0 included."""
        return sum(level.nbytes for level in self._levels)

    def __len__(self) -> int:
        return len(self._levels[0])

    def level(self, index: int) -> Cells:
        """The cells of a level, read-only; 0 is the finest."""
        view = self._levels[index][:]
        view.flags.writeable = False
        return view

    def worst(self, first: int, last: int) -> int:
        """The worst cell of level 0 in [first, last), in logarithmic time; 0 when it is empty.

        Raises:
            IndexError: When the range leaves the cells.
        """
        if not 0 <= first <= last <= len(self):
            raise IndexError(f"[{first}, {last}) is not inside 0 to {len(self)}")
        worst = 0
        for level in self._levels:
            if last - first <= 2 * FACTOR:
                return max(worst, int(level[first:last].max(initial=0)))
            # What whole cells of the next level don't cover; the rest is theirs.
            inner_first, inner_last = ceil_div(first, FACTOR), last // FACTOR
            left, right = level[first : inner_first * FACTOR], level[inner_last * FACTOR : last]
            worst = max(worst, int(left.max(initial=0)), int(right.max(initial=0)))
            first, last = inner_first, inner_last
        return worst

    def update(self, first: int, cells: Cells) -> None:
        """Replace the cells of level 0 from `first` on, and what the other levels make of them.

        Raises:
            IndexError: When the range leaves the cells.
        """
        last = first + len(cells)
        if first < 0 or last > len(self):
            raise IndexError(f"[{first}, {last}) is not inside 0 to {len(self)}")
        if not len(cells):
            return
        self._levels[0][first:last] = cells
        for finer, coarser in zip(self._levels, self._levels[1:], strict=False):
            first, last = first // FACTOR, ceil_div(last, FACTOR)
            _reduce(finer, coarser, first, last)


def _reduce(finer: Cells, coarser: Cells, first: int, last: int) -> None:
    """Fill in [first, last) of `coarser`: each cell the worst of its `FACTOR` in `finer`."""
    whole = min(last, len(finer) // FACTOR)
    step = _CHUNK_CELLS // FACTOR
    for start in range(first, whole, step):
        end = min(start + step, whole)
        part = finer[start * FACTOR : end * FACTOR]
        # Neighbours first, all of them: numpy does that by vector instructions, which it can't on
        # every fourth byte.
        pairs = np.maximum(part[:-1], part[1:])
        coarser[start:end] = np.maximum(pairs[:-2], pairs[2:])[::FACTOR]
    if last > whole:
        coarser[last - 1] = finer[align_down(len(finer) - 1, FACTOR) :].max()
