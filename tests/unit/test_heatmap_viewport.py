"""The viewport of the map: which cell is at which pixel."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.gui.heatmap.viewport import (
    WHOLE_FROM,
    Viewport,
    fitting_columns,
    fitting_scale,
    snapped_scale,
)
from qcowgui.units import ceil_div

RATIOS = (1.0, 1.25, 1.5, 2.0)


@pytest.mark.parametrize("cells", [1, 2, 31, 1000, 65_537, 10_036, 1 << 20, 1 << 24, 1 << 28])
@pytest.mark.parametrize("size", [(700, 500), (333, 901), (1920, 1080), (160, 120)])
def test_all_cells_fit_and_fill_the_canvas(cells: int, size: tuple[int, int]) -> None:
    width, height = size
    columns, scale = fitting_columns(cells, width, height, 40)
    rows = ceil_div(cells, columns)
    assert columns * scale <= width + 1e-6
    assert rows * scale <= height + 1e-6
    if scale < WHOLE_FROM:
        assert columns * rows * scale * scale > 0.9 * width * height
    elif scale < 40:
        assert columns * rows * scale * scale > 0.55 * width * height
    else:
        assert scale == 40


def test_no_cells_need_no_place() -> None:
    assert fitting_columns(0, 0, 0, 40) == (1, 1.0)


@given(
    scale=st.one_of(
        st.floats(0.001, 4, allow_nan=False), st.integers(4, 96).map(float), st.just(1 / 3)
    ),
    left=st.integers(-500, 5000),
    pixel=st.integers(0, 299),
)
def test_a_pixel_shows_the_cell_that_owns_it(scale: float, left: int, pixel: int) -> None:
    """What is drawn, what is hit and what is outlined agree."""
    view = Viewport(100_000, 10, 300, 20, scale, left, 0)
    drawn = int(view.pixel_columns()[pixel])
    assert view.cell_at(pixel, 0)[0] == drawn
    step = 1 << view.level
    first, _, end, _ = view.square(drawn * step, 0)
    assert first <= pixel < end


@given(
    scale=st.floats(0.001, 4, allow_nan=False),
    cell=st.integers(0, 10_000),
    left=st.integers(0, 10_000),
)
def test_every_cell_has_a_pixel(scale: float, cell: int, left: int) -> None:
    view = Viewport(1 << 20, 1, 300, 1, scale, left, 0)
    start, _, end, _ = view.square(cell << view.level, 0)
    assert end > start
    assert end - start <= math.ceil(view.cell_pixels)


@given(
    scale=st.floats(0.01, 40, allow_nan=False),
    factor=st.sampled_from([2**0.5, 2.0, 0.5, 2**-0.5]),
    x=st.integers(0, 999),
    y=st.integers(0, 699),
)
def test_zooming_keeps_what_is_below_the_pointer(
    scale: float, factor: float, x: int, y: int
) -> None:
    view = Viewport(1 << 14, 1 << 14, 1000, 700, scale, 900, 900).clamped()
    zoomed = view.zoomed(snapped_scale(scale * factor), x, y)
    before = (view.left + x) / view.scale
    after = (zoomed.left + x) / zoomed.scale
    inside = 0 < zoomed.left < zoomed.columns * zoomed.scale - zoomed.width - 1
    if inside:
        assert abs(after - before) <= 1 / zoomed.scale


def test_panning_stops_at_the_edges() -> None:
    view = Viewport(1000, 1000, 300, 200, 2.0, 100, 100)
    assert view.panned(5000, 5000).left == 0
    assert view.panned(-5000, -5000).left == 2000 - 300
    assert view.panned(-5000, -5000).top == 2000 - 200


def test_a_small_plane_is_centred() -> None:
    view = Viewport(10, 2, 300, 200, 10.0).clamped()
    assert (view.left, view.top) == (-100, 0)
    assert view.is_whole


@pytest.mark.parametrize("ratio", RATIOS)
def test_showing_moves_as_little_as_needed(ratio: float) -> None:
    view = Viewport(1000, 1000, round(300 * ratio), round(200 * ratio), round(8 * ratio))
    assert view.showing(3, 3) == view
    moved = view.showing(500, 0)
    _, _, right, _ = moved.square(500, 0)
    assert right == view.width
    centred = view.centred_on(500, 500)
    left, _, right, _ = centred.square(500, 500)
    assert abs((left + right) // 2 - view.width // 2) <= 1


def test_levels_double_until_a_cell_is_a_pixel() -> None:
    for scale, level in ((4.0, 0), (1.0, 0), (0.99, 1), (0.5, 1), (0.49, 2), (2**-10, 10)):
        view = Viewport(1 << 14, 1, 10, 10, scale)
        assert view.level == level
        assert 1 <= view.cell_pixels < 2 or scale >= 1


def test_the_fitting_scale_shows_everything() -> None:
    scale = fitting_scale(4096, 2048, 1000, 300, 40)
    view = Viewport(4096, 2048, 1000, 300, scale).clamped()
    assert view.is_whole
    assert np.all(view.pixel_rows() < (2048 >> view.level))
