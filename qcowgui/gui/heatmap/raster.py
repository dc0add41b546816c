"""From a plane to pixels: one uint8 a pixel, an index into a table of colours. Knows no widgets."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final

import numpy as np
import numpy.typing as npt

from qcowgui.check.arrangement import Indices, Plane
from qcowgui.gui.heatmap.layers import HATCHED, NOTHING
from qcowgui.gui.heatmap.viewport import Viewport

Pixels = npt.NDArray[np.uint8]
"""Shape (height, width)."""

GAP_FROM: Final = 9
"""Cells of so many device-independent pixels have a gap between them."""
_STRIPE_FROM: Final = 10
_MARK_BELOW: Final = 3


def draw(plane: Plane, view: Viewport, faults: AbstractSet[int], *, ratio: float = 1.0) -> Pixels:
    """The pixels of a viewport.

    Cells that say that something is wrong differ by more than their colour: large ones are striped,
    smaller ones have an outline, and those below three pixels are drawn as three.

    Args:
        plane: What is drawn.
        view: Which part of it.
        faults: The values that say that something is wrong.
        ratio: Device pixels of a device-independent one.
    """
    columns, rows = view.pixel_columns(), view.pixel_rows()
    x, y = int(columns[0]), int(rows[0])
    cells = plane.window(view.level, x, y, int(columns[-1]) - x + 1, int(rows[-1]) - y + 1)
    table = _fault_table(faults)
    has_faults = bool(faults) and bool(table[cells].any())
    size = view.cell_pixels
    pixels = cells if size == 1 else cells[rows - y].take(columns - x, axis=1)
    if has_faults and size < _MARK_BELOW:
        _widen(pixels, table)
    if size >= GAP_FROM * ratio:
        gap = max(1, round(ratio))
        inside_x, inside_y = _inside(view.left, columns, size), _inside(view.top, rows, size)
        if has_faults:
            _hatch(pixels, table, inside_x, inside_y, size, gap, ratio)
        pixels[:, inside_x >= int(size) - gap] = NOTHING
        pixels[inside_y >= int(size) - gap, :] = NOTHING
    return pixels


def _fault_table(faults: AbstractSet[int]) -> npt.NDArray[np.bool_]:
    table = np.zeros(256, dtype=np.bool_)
    table[list(faults)] = True
    return table


def _inside(origin: int, cells: Indices, size: float) -> Indices:
    """Of each pixel, its place inside its cell."""
    pixels = np.arange(len(cells)) + origin
    inside: Indices = pixels - np.ceil(cells * size - 0.5).astype(np.int64)
    return inside


def _widen(pixels: Pixels, table: npt.NDArray[np.bool_]) -> None:
    """Draw lonely pixels that say that something is wrong as 3 × 3."""
    marks = np.where(table[pixels], pixels, NOTHING).astype(np.uint8)
    wide = marks.copy()
    np.maximum(wide[:, 1:], marks[:, :-1], out=wide[:, 1:])
    np.maximum(wide[:, :-1], marks[:, 1:], out=wide[:, :-1])
    tall = wide.copy()
    np.maximum(tall[1:], wide[:-1], out=tall[1:])
    np.maximum(tall[:-1], wide[1:], out=tall[:-1])
    np.maximum(pixels, tall, out=pixels)


def _hatch(
    pixels: Pixels,
    table: npt.NDArray[np.bool_],
    inside_x: Indices,
    inside_y: Indices,
    size: float,
    gap: int,
    ratio: float,
) -> None:
    """Set `HATCHED` in the outline of cells, and in stripes across large ones."""
    line = max(1, round(ratio))
    last = int(size) - gap - line
    edge_x = (inside_x < line) | (inside_x >= last)
    edge_y = (inside_y < line) | (inside_y >= last)
    marked = edge_y[:, None] | edge_x[None, :]
    if size >= _STRIPE_FROM * ratio:
        period = max(4, round(5 * ratio))
        diagonal = (inside_x[None, :] + inside_y[:, None]) % period
        marked |= diagonal < line
    marked &= table[pixels]
    pixels[marked] |= HATCHED
