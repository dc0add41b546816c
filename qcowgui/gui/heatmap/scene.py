"""A layer arranged in the plane: from clusters to places and pixels, and back. Knows no widgets."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple

import numpy as np

from qcowgui.check.arrangement import HilbertPlane, Plane, RowMajorPlane
from qcowgui.check.cells import Cells
from qcowgui.check.pyramid import FACTOR, Pyramid
from qcowgui.gui.heatmap.layers import MapLayer, Shown
from qcowgui.gui.heatmap.raster import Pixels, draw
from qcowgui.gui.heatmap.viewport import Viewport


class Arrangement(Enum):
    """How cells lie in the plane."""

    LINEAR = "linear"
    HILBERT = "hilbert"


class Square(NamedTuple):
    """Cells of the plane, in cells of level 0.

    Attributes:
        x: Of the left edge.
        y: Of the upper edge.
        width: How many columns.
        height: How many rows.
    """

    x: int
    y: int
    width: int
    height: int


class Scene:
    """A layer, or what is shown of it, as a plane. Replaced, never changed."""

    def __init__(
        self, layer: MapLayer, shown: Shown, arrangement: Arrangement, columns: int
    ) -> None:
        """Build the plane.

        Args:
            layer: What is shown.
            shown: Which of its values.
            arrangement: How the cells lie.
            columns: Cells in a row, where the arrangement leaves the choice.
        """
        self.layer = layer
        self.shown = shown
        self.arrangement = arrangement
        self.faults = shown.drawn_faults(layer.keys)
        cells = shown.applied(layer.cells)
        self._plane = _plane(cells, arrangement, columns)
        self.rows, self.columns = self._plane.shape(0)

    def with_columns(self, columns: int) -> Scene:
        """The same with other rows; this one when the arrangement leaves no choice."""
        if self.arrangement is Arrangement.HILBERT or columns == self.columns:
            return self
        return Scene(self.layer, self.shown, self.arrangement, columns)

    def draw(self, view: Viewport, ratio: float) -> Pixels:
        """The pixels of a viewport."""
        return draw(self._plane, view, self.faults, ratio=ratio)

    # ---------------------------------------------------------------- places

    def place(self, cluster: int) -> tuple[int, int]:
        """(x, y) of a cluster of the layer."""
        index = np.array([cluster - self.layer.first], dtype=np.int64)
        x, y = self._plane.place(index)
        return int(x[0]), int(y[0])

    def cluster_at(self, x: int, y: int) -> int | None:
        """The cluster at a place of level 0, or None."""
        found = self._plane.index_at(np.array([x], dtype=np.int64), np.array([y], dtype=np.int64))
        index = int(found[0])
        return None if index < 0 else index + self.layer.first

    def neighbour(self, cluster: int, right: int, down: int) -> int | None:
        """The cluster that lies beside another one; from a row's end, the next row's first."""
        x, y = self.place(cluster)
        found = self.cluster_at(x + right, y + down)
        if found is None and self.arrangement is Arrangement.LINEAR and not down:
            found = cluster + right
        return found if found is not None and self.layer.first <= found < self.layer.last else None

    def worst_at(self, level: int, x: int, y: int) -> int | None:
        """The cluster that decides what a cell of a level looks like; None where there is none."""
        value = int(self._plane.window(level, x, y, 1, 1)[0, 0])
        while level:
            level -= 1
            finer = self._plane.window(level, 2 * x, 2 * y, 2, 2)
            down, right = np.argwhere(finer == value)[0].tolist()
            x, y = 2 * x + right, 2 * y + down
        return self.cluster_at(x, y)

    def hit(self, view: Viewport, x: int, y: int) -> int | None:
        """The cluster that a pixel shows, or None beside the cells.

        Below three pixels a cell that says that something is wrong is drawn larger than it is; the
        pixels around it mean it, too.
        """
        level = view.level
        column, row = view.cell_at(x, y)
        if view.cell_pixels < 3 and self.faults:
            around = [view.cell_at(x + dx, y + dy) for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
            best = max(
                around, key=lambda cell: (self._fault_at(level, cell), cell == (column, row))
            )
            if self._fault_at(level, best) > self._fault_at(level, (column, row)):
                column, row = best
        rows, columns = self._plane.shape(level)
        if not (0 <= column < columns and 0 <= row < rows):
            return None
        return self.worst_at(level, column, row)

    def _fault_at(self, level: int, cell: tuple[int, int]) -> int:
        value = int(self._plane.window(level, cell[0], cell[1], 1, 1)[0, 0])
        return value if value in self.faults else 0

    def clusters_below(self, view: Viewport) -> int:
        """How many clusters a cell of the drawn level stands for."""
        return int(FACTOR**view.level)

    # ---------------------------------------------------------------- ranges

    def squares(self, first: int, last: int) -> Iterator[Square]:
        """The clusters [first, last) as few rectangles: three at most in rows."""
        start = max(first, self.layer.first) - self.layer.first
        end = min(last, self.layer.last) - self.layer.first
        if start >= end:
            return
        if self.arrangement is Arrangement.LINEAR:
            yield from _row_squares(start, end, self.columns)
            return
        while start < end:
            # An aligned block of a power of four cells is a square of the curve.
            side = 1
            while start % (side * side * 4) == 0 and start + side * side * 4 <= end:
                side *= 2
            x, y = self.place(start + self.layer.first)
            yield Square(x // side * side, y // side * side, side, side)
            start += side * side

    def next_like(self, cluster: int, value: int, step: int) -> int | None:
        """The next run of a value of the layer after `cluster` (step 1), or before it (-1).

        A run is entered at its end that lies nearer. None when there is no other.
        """
        cells = self.layer.cells
        position = cluster - self.layer.first
        found = _next_run(cells, position, value) if step > 0 else None
        if step < 0:
            backwards = _next_run(cells[::-1], len(cells) - 1 - position, value)
            found = None if backwards is None else len(cells) - 1 - backwards
        return None if found is None else found + self.layer.first


_SEARCHED_AT_ONCE: Final = 1 << 20


def _next_run(cells: Cells, position: int, value: int) -> int | None:
    """The first index behind `position`'s own run where `value` begins again."""
    left_own = not (0 <= position < len(cells)) or int(cells[position]) != value
    start = max(0, position + 1)
    while start < len(cells):
        part = cells[start : start + _SEARCHED_AT_ONCE] == value
        if not left_own:
            other = np.flatnonzero(~part)
            if not len(other):
                start += len(part)
                continue
            left_own = True
            start += int(other[0])
            continue
        hits = np.flatnonzero(part)
        if len(hits):
            return start + int(hits[0])
        start += len(part)
    return None


def _row_squares(start: int, end: int, columns: int) -> Iterator[Square]:
    x, y = start % columns, start // columns
    if x and end - start > 0:
        width = min(columns - x, end - start)
        yield Square(x, y, width, 1)
        start += width
        y += 1
    rows = (end - start) // columns
    if rows:
        yield Square(0, y, columns, rows)
        start += rows * columns
        y += rows
    if start < end:
        yield Square(0, y, end - start, 1)


def _plane(cells: Cells, arrangement: Arrangement, columns: int) -> Plane:
    if arrangement is Arrangement.HILBERT:
        return HilbertPlane(Pyramid(cells))
    return RowMajorPlane(cells, columns)
