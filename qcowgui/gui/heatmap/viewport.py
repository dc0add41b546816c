"""Which cell of a plane lies at which pixel of the canvas. Knows no widgets.

All in device pixels. A pixel shows the cell that its centre lies in, so what is drawn and what is
hit follow from one formula. Zoomed out, a pixel shows a cell of the finest level whose cells are a
pixel or more: every one of them owns a pixel, and none is left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from qcowgui.check.arrangement import Indices
from qcowgui.units import ceil_div

WHOLE_FROM: Final = 4.0
"""From this scale on, cells are a whole number of pixels: smaller ones would leave gaps."""


@dataclass(frozen=True, slots=True)
class Viewport:
    """A part of a plane on a canvas.

    Attributes:
        columns: Cells of level 0 in a row of the plane.
        rows: Rows of level 0.
        width: Pixels of the canvas.
        height: Pixels of the canvas.
        scale: Pixels of a cell of level 0; below 1 where a pixel stands for several.
        left: Where the canvas begins, in pixels from the left edge of the plane.
        top: The same from its upper edge.
    """

    columns: int
    rows: int
    width: int
    height: int
    scale: float
    left: int = 0
    top: int = 0

    @property
    def level(self) -> int:
        """The level that is drawn: the finest whose cells are a pixel or more."""
        level = 0
        while self.scale * (1 << level) < 1:
            level += 1
        return level

    @property
    def cell_pixels(self) -> float:
        """Pixels of a cell of `level`, 1 or more."""
        return self.scale * (1 << self.level)

    @property
    def is_whole(self) -> bool:
        """Whether all of the plane is visible."""
        return self._needed_width <= self.width and self._needed_height <= self.height

    @property
    def _needed_width(self) -> int:
        return math.ceil(self.columns * self.scale - 1e-6)

    @property
    def _needed_height(self) -> int:
        return math.ceil(self.rows * self.scale - 1e-6)

    # ---------------------------------------------------------------- pixels to cells

    def pixel_columns(self) -> Indices:
        """int64: of each column of pixels, the column of cells of `level`; maybe outside."""
        return self._cells_of(np.arange(self.width), self.left)

    def pixel_rows(self) -> Indices:
        """int64: of each row of pixels, the row of cells of `level`; maybe outside."""
        return self._cells_of(np.arange(self.height), self.top)

    def _cells_of(self, pixels: Indices, origin: int) -> Indices:
        cells: Indices = np.floor((pixels + origin + 0.5) / self.cell_pixels).astype(np.int64)
        return cells

    def cell_at(self, x: int, y: int) -> tuple[int, int]:
        """(x, y) of the cell of `level` that a pixel shows; maybe outside the plane."""
        pixels = self.cell_pixels
        return (
            math.floor((x + self.left + 0.5) / pixels),
            math.floor((y + self.top + 0.5) / pixels),
        )

    def square(self, x: int, y: int, cells: int = 1) -> tuple[int, int, int, int]:
        """(left, top, right, bottom), ends exclusive: the pixels of `cells` × `cells` of level 0.

        At least one pixel each way: that of the cell of `level` which stands for them.
        """
        left, right = self._pixels_of(x, x + cells, self.left)
        top, bottom = self._pixels_of(y, y + cells, self.top)
        return left, top, right, bottom

    def _pixels_of(self, first: int, last: int, origin: int) -> tuple[int, int]:
        """The pixels whose centre lies in cells [first, last) of level 0."""
        step = 1 << self.level
        pixels = self.cell_pixels
        start = math.ceil(first // step * pixels - 0.5) - origin
        end = math.ceil(ceil_div(last, step) * pixels - 0.5) - origin
        return start, end

    # ---------------------------------------------------------------- moving

    def panned(self, right: int, down: int) -> Viewport:
        """The viewport after the content was dragged by so many pixels."""
        return replace(self, left=self.left - right, top=self.top - down).clamped()

    def zoomed(self, scale: float, x: float, y: float) -> Viewport:
        """The viewport with another scale; what is at pixel (x, y) stays there."""
        ratio = scale / self.scale
        return replace(
            self,
            scale=scale,
            left=round((self.left + x) * ratio - x),
            top=round((self.top + y) * ratio - y),
        ).clamped()

    def showing(self, x: int, y: int) -> Viewport:
        """The viewport moved as little as needed to show a cell of level 0."""
        left, top, right, bottom = self.square(x, y)
        across = min(left, 0) or max(right - self.width, 0)
        down = min(top, 0) or max(bottom - self.height, 0)
        if not across and not down:
            return self
        return replace(self, left=self.left + across, top=self.top + down).clamped()

    def centred_on(self, x: int, y: int) -> Viewport:
        """The viewport with a cell of level 0 in its middle, as far as the plane allows."""
        left, top, right, bottom = self.square(x, y)
        return replace(
            self,
            left=self.left + (left + right - self.width) // 2,
            top=self.top + (top + bottom - self.height) // 2,
        ).clamped()

    def clamped(self) -> Viewport:
        """No empty canvas beside a plane that could fill it; a narrower one is centred."""
        return replace(
            self,
            left=_clamp(self.left, self._needed_width, self.width, centre=True),
            top=_clamp(self.top, self._needed_height, self.height, centre=False),
        )


def _clamp(origin: int, needed: int, available: int, *, centre: bool) -> int:
    if needed <= available:
        return -((available - needed) // 2) if centre else 0
    return min(max(origin, 0), needed - available)


def snapped_scale(scale: float) -> float:
    """The nearest scale at which all cells look alike, where that can be."""
    return float(round(scale)) if scale >= WHOLE_FROM else scale


def fitting_columns(cells: int, width: int, height: int, largest: int) -> tuple[int, float]:
    """(columns, scale) that fill a canvas with rows of cells.

    Args:
        cells: How many there are.
        width: Pixels of the canvas.
        height: Pixels of the canvas.
        largest: The most pixels that a cell may have.
    """
    cells, width, height = max(1, cells), max(1, width), max(1, height)
    scale = min(math.sqrt(width * height / cells), float(largest), float(width))
    if scale >= WHOLE_FROM:
        pixels = math.floor(scale)
        while pixels >= WHOLE_FROM:
            columns = min(cells, max(1, width // pixels))
            if ceil_div(cells, columns) * pixels <= height:
                return columns, float(pixels)
            pixels -= 1
        scale = float(pixels)
    columns = min(cells, max(1, math.floor(width / scale)))
    rows = ceil_div(cells, columns)
    return columns, min(width / columns, height / rows, float(largest))


def fitting_scale(columns: int, rows: int, width: int, height: int, largest: int) -> float:
    """The scale at which all of a plane is visible."""
    scale = min(width / max(1, columns), height / max(1, rows), float(largest))
    return float(math.floor(scale)) if scale >= WHOLE_FROM else scale
