"""Cells in the plane: row by row or along a Hilbert curve, each with levels of 2 × 2 blocks.

A plane answers for a rectangle of a level what to draw. Positions are (x, y), y counts downwards;
arrays are row-major: `window(…)[y, x]`. On level k a cell stands for 2 ** k × 2 ** k cells of
level 0, the worst of which wins. Along the Hilbert curve these are neighbours in the file, too.
"""

from __future__ import annotations

from functools import cache
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from qcowgui.check.cells import MAX_CELLS, Cells
from qcowgui.check.pyramid import FACTOR, Pyramid
from qcowgui.units import ceil_div

Indices = npt.NDArray[np.int64]
"""Indices of cells along the line, or coordinates; -1 where there is no cell."""

_BAND_CELLS: Final = 1 << 18
"""Cells of a window gathered at a time: bounds the memory of their indices to 2 MiB."""
_BLOCK_BITS: Final = 4
"""A Hilbert curve's smallest blocks, 16 × 16 cells, are looked up in a table."""


class Plane(Protocol):
    """An arrangement of cells and its levels."""

    @property
    def levels(self) -> int:
        """How many levels there are; the last is one cell."""
        ...

    def shape(self, level: int) -> tuple[int, int]:
        """(height, width) of a level, in cells."""
        ...

    def window(self, level: int, x: int, y: int, width: int, height: int) -> Cells:
        """The cells of a rectangle of a level, shape (height, width), 0 outside the cells."""
        ...

    def update(self, first: int, cells: Cells) -> None:
        """Replace cells of the line from `first` on, and what the levels make of them."""
        ...

    def place(self, indices: Indices) -> tuple[Indices, Indices]:
        """(x, y) on level 0 of cells of the line."""
        ...

    def index_at(self, x: Indices, y: Indices) -> Indices:
        """The cells of the line that lie at positions of level 0; -1 where none does."""
        ...


class RowMajorPlane:
    """Cells row by row: the next below the previous. The levels add a third to the cells."""

    def __init__(self, cells: Cells, width: int) -> None:
        """Build every level.

        Args:
            cells: The line of cells. It is kept, not copied: change it by `update` only.
            width: Cells in a row. The levels of a plane narrower than some 64 cells take more.

        Raises:
            ValueError: When there are more than `MAX_CELLS`, or `width` is below 1.
        """
        if len(cells) > MAX_CELLS or width < 1:
            raise ValueError(f"{len(cells):,} cells in rows of {width:,} make no plane")
        self._cells = cells
        self._width = width
        self._shapes = [(ceil_div(len(cells), width), width)]
        self._coarser: list[Cells] = []
        while self._shapes[-1][0] > 1 or self._shapes[-1][1] > 1:
            height, columns = self._shapes[-1]
            self._shapes.append((ceil_div(height, 2), ceil_div(columns, 2)))
            self._coarser.append(np.zeros(self._shapes[-1], dtype=np.uint8))
        self._rebuild(0, self._shapes[0][0])

    @property
    def levels(self) -> int:
        """How many levels there are; the last is one cell."""
        return len(self._shapes)

    @property
    def bytes_used(self) -> int:
        """Memory of all levels, the line of cells included."""
        return self._cells.nbytes + sum(level.nbytes for level in self._coarser)

    def shape(self, level: int) -> tuple[int, int]:
        """(height, width) of a level, in cells."""
        return self._shapes[level]

    def window(self, level: int, x: int, y: int, width: int, height: int) -> Cells:
        """The cells of a rectangle of a level, shape (height, width), 0 outside the cells."""
        found = np.zeros((height, width), dtype=np.uint8)
        rows, columns = self._shapes[level]
        top, left = max(y, 0), max(x, 0)
        bottom, right = min(y + height, rows), min(x + width, columns)
        if top < bottom and left < right:
            part = self._rows(level, top, bottom)[:, left:right]
            found[top - y : bottom - y, left - x : right - x] = part
        return found

    def update(self, first: int, cells: Cells) -> None:
        """Replace cells of the line from `first` on, and what the levels make of them.

        Raises:
            IndexError: When the range leaves the cells.
        """
        last = first + len(cells)
        if first < 0 or last > len(self._cells):
            raise IndexError(f"[{first}, {last}) is not inside 0 to {len(self._cells)}")
        if len(cells):
            self._cells[first:last] = cells
            self._rebuild(first // self._width, ceil_div(last, self._width))

    def place(self, indices: Indices) -> tuple[Indices, Indices]:
        """(x, y) on level 0 of cells of the line."""
        return indices % self._width, indices // self._width

    def index_at(self, x: Indices, y: Indices) -> Indices:
        """The cells of the line that lie at positions of level 0; -1 where none does."""
        indices = y * self._width + x
        inside = (x >= 0) & (x < self._width) & (y >= 0) & (indices < len(self._cells))
        return np.where(inside, indices, -1)

    def _rows(self, level: int, top: int, bottom: int) -> Cells:
        """The rows [top, bottom) of a level; the line's incomplete last row is filled with 0."""
        if level:
            return self._coarser[level - 1][top:bottom]
        flat = self._cells[top * self._width : bottom * self._width]
        missing = (bottom - top) * self._width - len(flat)
        if missing:
            flat = np.concatenate([flat, np.zeros(missing, dtype=np.uint8)])
        return flat.reshape(bottom - top, self._width)

    def _rebuild(self, top: int, bottom: int) -> None:
        """Make the levels anew from rows [top, bottom) of level 0."""
        for level, coarser in enumerate(self._coarser):
            rows, columns = self._shapes[level]
            top, bottom = top // 2, ceil_div(bottom, 2)
            step = max(1, _BAND_CELLS // columns)
            for start in range(top, bottom, step):
                end = min(start + step, bottom)
                fine = self._rows(level, 2 * start, min(2 * end, rows))
                tall = fine[0::2].copy()
                low = fine[1::2]
                np.maximum(tall[: len(low)], low, out=tall[: len(low)])
                coarser[start:end] = tall[:, 0::2]
                odd = tall[:, 1::2]
                target = coarser[start:end, : odd.shape[1]]
                np.maximum(target, odd, out=target)


# The curve visits a square's quarters in the order upper left, upper right, lower right, lower
# left. Inside a quarter it is the same curve, turned; the turns are 0: as it is, 1: x and y
# exchanged, 2: both reversed, 3: both of that. Turns combine by exclusive or.
_QUARTERS: Final = ((0, 0), (1, 0), (1, 1), (0, 1))
_TURNS: Final = (1, 0, 0, 3)


def _turned(turn: int, x: int, y: int) -> tuple[int, int]:
    if turn & 1:
        x, y = y, x
    return (1 - x, 1 - y) if turn & 2 else (x, y)


@cache
def _step_tables() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Two tables of 16, by turn * 4 + what is known: the other side * 4 + the next turn.

    The first goes from a quarter's number to x * 2 + y, the second the other way.
    """
    forward = np.zeros(16, dtype=np.int64)
    backward = np.zeros(16, dtype=np.int64)
    for turn in range(4):
        for quarter, position in enumerate(_QUARTERS):
            x, y = _turned(turn, *position)
            following = turn ^ _TURNS[quarter]
            forward[turn * 4 + quarter] = (x * 2 + y) * 4 + following
            backward[turn * 4 + x * 2 + y] = quarter * 4 + following
    return forward, backward


def hilbert_place(indices: Indices, order: int) -> tuple[Indices, Indices]:
    """(x, y) of indices along the curve that fills a square of 2 ** order cells a side."""
    forward, _ = _step_tables()
    x, y, turn = np.zeros_like(indices), np.zeros_like(indices), np.zeros_like(indices)
    for bit in reversed(range(order)):
        step = forward[turn * 4 + ((indices >> (2 * bit)) & 3)]
        x = x << 1 | step >> 3
        y = y << 1 | (step >> 2) & 1
        turn = step & 3
    return x, y


def hilbert_index(x: Indices, y: Indices, order: int) -> Indices:
    """The indices along the curve of positions inside a square of 2 ** order cells a side."""
    return _index_and_turn(x, y, order)[0]


def _index_and_turn(x: Indices, y: Indices, order: int) -> tuple[Indices, Indices]:
    _, backward = _step_tables()
    index, turn = np.zeros_like(x), np.zeros_like(x)
    for bit in reversed(range(order)):
        step = backward[turn * 4 + ((x >> bit) & 1) * 2 + ((y >> bit) & 1)]
        index = index << 2 | step >> 2
        turn = step & 3
    return index, turn


@cache
def _block_table(bits: int) -> Indices:
    """The index inside a block of 2 ** bits cells a side, by turn, y and x."""
    y, x = np.indices((1 << bits, 1 << bits), dtype=np.int64)
    index = np.zeros((4, 1 << bits, 1 << bits), dtype=np.int64)
    upright = hilbert_index(x, y, bits)
    last = (1 << bits) - 1
    for turn in range(4):
        from_x, from_y = (y, x) if turn & 1 else (x, y)
        if turn & 2:
            from_x, from_y = last - from_x, last - from_y
        index[turn] = upright[from_y, from_x]
    return index


class HilbertPlane:
    """Cells along a Hilbert curve: what is near in the file is near in the picture.

    The square has a power of two of cells a side; where half of it is enough, it is the upper half.
    Its levels are those of a `Pyramid`, and it takes no memory of its own: windows are gathered.
    """

    def __init__(self, pyramid: Pyramid) -> None:
        """A plane over `pyramid`, which may be shared."""
        self._pyramid = pyramid
        self._order = 0
        while FACTOR**self._order < len(pyramid):
            self._order += 1
        side = 1 << self._order
        half = self._order and len(pyramid) * 2 <= side * side
        self._shape = (side // 2 if half else side, side)

    @property
    def levels(self) -> int:
        """How many levels there are; the last is one cell."""
        return self._order + 1

    def shape(self, level: int) -> tuple[int, int]:
        """(height, width) of a level, in cells."""
        height, width = self._shape
        return max(1, height >> level), width >> level

    def window(self, level: int, x: int, y: int, width: int, height: int) -> Cells:
        """The cells of a rectangle of a level, shape (height, width), 0 outside the cells."""
        found = np.zeros((height, width), dtype=np.uint8)
        rows, columns = self.shape(level)
        top, left = max(y, 0), max(x, 0)
        bottom, right = min(y + height, rows), min(x + width, columns)
        if left >= right:
            return found
        step = max(1, _BAND_CELLS // (right - left) >> _BLOCK_BITS) << _BLOCK_BITS
        start = top
        while start < bottom:
            # Bands end where blocks do: no block is gathered twice.
            end = min(bottom, (start // step + 1) * step)
            found[start - y : end - y, left - x : right - x] = self._gather(
                level, left, start, right, end
            )
            start = end
        return found

    def _gather(self, level: int, left: int, top: int, right: int, bottom: int) -> Cells:
        order = self._order - level
        bits = min(_BLOCK_BITS, order)
        side = 1 << bits
        rows = np.arange(top >> bits, ceil_div(bottom, side), dtype=np.int64)
        columns = np.arange(left >> bits, ceil_div(right, side), dtype=np.int64)
        block_y, block_x = np.meshgrid(rows, columns, indexing="ij")
        block, turn = _index_and_turn(block_x, block_y, order - bits)
        indices = (block << 2 * bits)[:, :, None, None] + _block_table(bits)[turn]
        square = indices.transpose(0, 2, 1, 3).reshape(len(rows) * side, len(columns) * side)
        y, x = int(rows[0]) * side, int(columns[0]) * side
        wanted = square[top - y : bottom - y, left - x : right - x]
        return _take(self._pyramid.level(level), wanted)

    def update(self, first: int, cells: Cells) -> None:
        """Replace cells of the line from `first` on, and what the levels make of them.

        Raises:
            IndexError: When the range leaves the cells.
        """
        self._pyramid.update(first, cells)

    def place(self, indices: Indices) -> tuple[Indices, Indices]:
        """(x, y) on level 0 of cells of the line."""
        return hilbert_place(indices, self._order)

    def index_at(self, x: Indices, y: Indices) -> Indices:
        """The cells of the line that lie at positions of level 0; -1 where none does."""
        height, width = self._shape
        inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
        indices = hilbert_index(np.where(inside, x, 0), np.where(inside, y, 0), self._order)
        return np.where(inside & (indices < len(self._pyramid)), indices, -1)


def _take(cells: Cells, indices: Indices) -> Cells:
    """The cells at `indices`, 0 behind the end."""
    if not len(cells):
        return np.zeros(indices.shape, dtype=np.uint8)
    found: Cells = np.take(cells, indices, mode="clip")
    if int(indices.max(initial=0)) >= len(cells):
        found[indices >= len(cells)] = 0
    return found
