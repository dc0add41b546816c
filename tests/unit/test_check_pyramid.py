"""The pyramid and the planes: the worst cell wins on every level, wherever it lies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qcowgui.check.arrangement import (
    HilbertPlane,
    Plane,
    RowMajorPlane,
    hilbert_index,
    hilbert_place,
)
from qcowgui.check.cells import MAX_CELLS, Cells
from qcowgui.check.pyramid import Pyramid

MANY = 1 << 24


def cells_of(values: Iterable[int]) -> Cells:
    return np.array(list(values), dtype=np.uint8)


def row_major(cells: Cells) -> RowMajorPlane:
    return RowMajorPlane(cells, 7)


def hilbert(cells: Cells) -> HilbertPlane:
    return HilbertPlane(Pyramid(cells))


PLANES: list[Callable[[Cells], Plane]] = [row_major, hilbert]


def whole(plane: Plane, level: int) -> Cells:
    height, width = plane.shape(level)
    return plane.window(level, 0, 0, width, height)


def indices(count: int) -> npt.NDArray[np.int64]:
    return np.arange(count, dtype=np.int64)


# ------------------------------------------------------------------------------------ the line


@given(st.binary(max_size=700))
def test_each_level_is_the_worst_of_four(content: bytes) -> None:
    pyramid = Pyramid(cells_of(content))
    expected = list(content)
    for level in range(pyramid.levels):
        assert pyramid.level(level).tolist() == expected
        expected = [max(expected[i : i + 4]) for i in range(0, len(expected), 4)]
    assert len(pyramid.level(pyramid.levels - 1)) == min(1, len(content))


@given(st.binary(max_size=3000), st.data())
def test_the_worst_of_a_range(content: bytes, data: st.DataObject) -> None:
    pyramid = Pyramid(cells_of(content))
    first = data.draw(st.integers(0, len(content)))
    last = data.draw(st.integers(first, len(content)))
    assert pyramid.worst(first, last) == max(content[first:last], default=0)


@given(st.binary(min_size=1, max_size=700), st.data())
def test_an_update_is_as_building_anew(content: bytes, data: st.DataObject) -> None:
    pyramid = Pyramid(cells_of(content))
    first = data.draw(st.integers(0, len(content)))
    patch = data.draw(st.binary(max_size=len(content) - first))
    pyramid.update(first, cells_of(patch))
    fresh = Pyramid(cells_of(content[:first] + patch + content[first + len(patch) :]))
    for level in range(fresh.levels):
        assert pyramid.level(level).tolist() == fresh.level(level).tolist()


@pytest.mark.parametrize("position", [0, 1, MANY // 3, MANY - 1])
def test_one_bad_cluster_among_16_million_is_seen_on_every_level(position: int) -> None:
    cells = np.full(MANY, 2, dtype=np.uint8)
    cells[position] = 200
    pyramid = Pyramid(cells)
    assert pyramid.levels == 13
    for level in range(pyramid.levels):
        assert pyramid.level(level)[position // 4**level] == 200
        assert np.count_nonzero(pyramid.level(level) == 200) == 1
    assert pyramid.worst(0, MANY) == pyramid.worst(position, position + 1) == 200
    assert pyramid.worst(0, position) <= 2
    assert pyramid.bytes_used < 1.34 * MANY


def test_the_cells_are_not_copied_and_not_given_away_for_writing() -> None:
    cells = cells_of(range(100))
    pyramid = Pyramid(cells)
    assert np.shares_memory(pyramid.level(0), cells)
    with pytest.raises(ValueError, match="read-only"):
        pyramid.level(1)[0] = 1


def test_ranges_outside_are_refused() -> None:
    pyramid = Pyramid(cells_of(bytes(10)))
    for first, last in ((-1, 3), (4, 3), (0, 11)):
        with pytest.raises(IndexError):
            pyramid.worst(first, last)
    with pytest.raises(IndexError):
        pyramid.update(9, cells_of(bytes(2)))
    with pytest.raises(IndexError):
        pyramid.update(-1, cells_of(bytes(1)))


def test_more_cells_than_one_piece_may_have() -> None:
    cells: Any = np.broadcast_to(np.uint8(0), (MAX_CELLS + 1,))  # takes one byte
    with pytest.raises(ValueError, match="use a range"):
        Pyramid(cells)
    with pytest.raises(ValueError, match="no plane"):
        RowMajorPlane(cells, 4096)
    with pytest.raises(ValueError, match="no plane"):
        RowMajorPlane(cells_of(b"abc"), 0)


# ------------------------------------------------------------------------------------ the curve


@pytest.mark.parametrize("order", range(7))
def test_the_curve_fills_the_square_step_by_step(order: int) -> None:
    x, y = hilbert_place(indices(4**order), order)
    assert len(set(zip(x.tolist(), y.tolist(), strict=True))) == 4**order
    assert x.max() == y.max() == 2**order - 1
    assert set((np.abs(np.diff(x)) + np.abs(np.diff(y))).tolist()) <= {1}
    assert (x[0], y[0]) == (0, 0)
    assert hilbert_index(x, y, order).tolist() == list(range(4**order))


@pytest.mark.parametrize("order", range(1, 6))
def test_four_neighbours_on_the_curve_are_a_block(order: int) -> None:
    x, y = hilbert_place(indices(4**order), order)
    coarse_x, coarse_y = hilbert_place(indices(4 ** (order - 1)), order - 1)
    assert (x >> 1).tolist() == np.repeat(coarse_x, 4).tolist()
    assert (y >> 1).tolist() == np.repeat(coarse_y, 4).tolist()


@given(st.integers(0, 4**14 - 1))
def test_a_place_far_along_the_curve_leads_back(index: int) -> None:
    x, y = hilbert_place(np.array([index], dtype=np.int64), 14)
    assert hilbert_index(x, y, 14).tolist() == [index]


# ------------------------------------------------------------------------------------ the planes


@pytest.mark.parametrize("make", PLANES)
@given(content=st.binary(max_size=1500))
@settings(max_examples=40)
def test_every_cell_is_where_place_says(make: Callable[[Cells], Plane], content: bytes) -> None:
    plane = make(cells_of(content))
    height, width = plane.shape(0)
    expected = np.zeros((height, width), dtype=np.uint8)
    x, y = plane.place(indices(len(content)))
    expected[y, x] = cells_of(content)
    assert whole(plane, 0).tolist() == expected.tolist()
    assert plane.index_at(x, y).tolist() == list(range(len(content)))


@pytest.mark.parametrize("make", PLANES)
@given(content=st.binary(min_size=1, max_size=1500))
@settings(max_examples=40)
def test_each_level_is_the_worst_of_blocks(make: Callable[[Cells], Plane], content: bytes) -> None:
    plane = make(cells_of(content))
    fine = whole(plane, 0)
    for level in range(1, plane.levels):
        height, width = plane.shape(level)
        expected = [
            [int(fine[2 * y : 2 * y + 2, 2 * x : 2 * x + 2].max()) for x in range(width)]
            for y in range(height)
        ]
        fine = whole(plane, level)
        assert fine.tolist() == expected
    assert fine.tolist() == [[max(content)]]


@pytest.mark.parametrize("make", PLANES)
@given(content=st.binary(min_size=1, max_size=1500), data=st.data())
@settings(max_examples=40)
def test_a_window_is_a_part_of_the_whole(
    make: Callable[[Cells], Plane], content: bytes, data: st.DataObject
) -> None:
    plane = make(cells_of(content))
    level = data.draw(st.integers(0, plane.levels - 1))
    x, y = data.draw(st.integers(-5, 50)), data.draw(st.integers(-5, 50))
    width, height = data.draw(st.integers(0, 60)), data.draw(st.integers(0, 60))
    padded = np.zeros((400, 400), dtype=np.uint8)
    rows, columns = plane.shape(level)
    padded[10 : 10 + rows, 10 : 10 + columns] = whole(plane, level)
    expected = padded[10 + y : 10 + y + height, 10 + x : 10 + x + width]
    assert plane.window(level, x, y, width, height).tolist() == expected.tolist()


@pytest.mark.parametrize("make", PLANES)
@given(content=st.binary(min_size=1, max_size=1500), data=st.data())
@settings(max_examples=40)
def test_an_update_is_seen_on_every_level(
    make: Callable[[Cells], Plane], content: bytes, data: st.DataObject
) -> None:
    plane = make(cells_of(content))
    first = data.draw(st.integers(0, len(content)))
    patch = data.draw(st.binary(max_size=len(content) - first))
    plane.update(first, cells_of(patch))
    fresh = make(cells_of(content[:first] + patch + content[first + len(patch) :]))
    for level in range(plane.levels):
        assert whole(plane, level).tolist() == whole(fresh, level).tolist()


def test_positions_without_a_cell() -> None:
    x = np.array([0, -1, 6, 7, 3, 4, 0], dtype=np.int64)
    y = np.array([0, 0, 0, 0, 1, 1, -1], dtype=np.int64)
    assert row_major(cells_of(bytes(11))).index_at(x, y).tolist() == [0, -1, 6, -1, 10, -1, -1]
    # 11 cells need a square of 4 × 4, whose last quarter is the lower left one.
    far = np.array([0, 1, 3, 4, -1], dtype=np.int64)
    assert hilbert(cells_of(bytes(11))).index_at(far, far).tolist() == [0, 2, 10, -1, -1]
    x, y = np.array([0, 0], dtype=np.int64), np.array([2, 3], dtype=np.int64)
    assert hilbert(cells_of(bytes(11))).index_at(x, y).tolist() == [-1, -1]


def test_where_half_a_square_is_enough_the_picture_is_flat() -> None:
    assert hilbert(cells_of(bytes(8))).shape(0) == (2, 4)
    assert hilbert(cells_of(bytes(9))).shape(0) == (4, 4)
    assert hilbert(cells_of(bytes(8))).shape(2) == (1, 1)
    assert row_major(cells_of(bytes(8))).shape(0) == (2, 7)


def test_one_bad_cluster_among_16_million_is_seen_in_the_plane() -> None:
    position = 12_345_678
    cells = np.full(MANY, 2, dtype=np.uint8)
    cells[position] = 200
    plane = RowMajorPlane(cells, 4096)
    curve = HilbertPlane(Pyramid(cells))
    for each in (plane, curve):
        assert each.shape(0) == (4096, 4096)
        x, y = each.place(np.array([position], dtype=np.int64))
        for level in range(each.levels):
            window = each.window(level, (int(x[0]) >> level) - 3, (int(y[0]) >> level) - 3, 7, 7)
            assert window[3, 3] == 200
            assert np.count_nonzero(window == 200) == 1
    assert plane.bytes_used < 1.34 * MANY
