"""The geometry of the hex view: columns, hits, the scale of its scroll bar; and its cursor."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.check.clustermap import ClusterState
from qcowgui.check.guestmap import GuestState
from qcowgui.gui.views.hex_cursor import ByteCursor, Move
from qcowgui.gui.views.hex_layout import ROW_SIZES, HexLayout, Part, ScrollScale
from qcowgui.gui.views.hex_tints import OwnerMap, hover_text

COLUMN = 7.2


def layout(width: float, size_bytes: int = 1 << 20) -> HexLayout:
    return HexLayout.fitting(
        width=width, column=COLUMN, row_height=20, margin=18.0, size_bytes=size_bytes
    )


def test_rows_are_as_long_as_there_is_room() -> None:
    assert [layout(width).row_bytes for width in (100, 620, 1280, 2000)] == [8, 16, 32, 32]


@pytest.mark.parametrize("width", [300, 620, 1280])
@pytest.mark.parametrize("size_bytes", [1, 1 << 40, 1 << 63])
def test_every_byte_is_hit_where_it_is_drawn(width: int, size_bytes: int) -> None:
    made = layout(width, size_bytes)
    for index in range(made.row_bytes):
        left, right = made.hex_span(index, index + 1)
        for x in (left + 0.01, (left + right) / 2, right - 0.01):
            assert made.hit(x) == (Part.HEX, index), x
        left, right = made.text_span(index, index + 1)
        for x in (left + 0.01, right - 0.01):
            assert made.hit(x) == (Part.TEXT, index), x
    assert made.hit(made.margin + 1) == (Part.OFFSET, 0)
    assert made.hit(made.width + 500) == (Part.TEXT, made.row_bytes - 1)
    assert made.hex_span(0, made.row_bytes)[1] < made.text_x
    assert made.text_span(0, made.row_bytes)[1] <= made.width <= made.note_x


def test_a_row_belongs_to_one_cluster() -> None:
    assert all(512 % size == 0 for size in ROW_SIZES)


def test_a_window_without_height_shows_a_row() -> None:
    made = layout(600)
    assert made.visible_rows(0) == made.visible_rows(45) == 1
    assert made.visible_rows(220) == 10
    assert (made.row_count(0), made.row_count(16), made.row_count(17)) == (1, 1, 2)


@given(max_top=st.integers(0, 1 << 60), share=st.floats(0, 1))
def test_the_scroll_bar_reaches_every_place(max_top: int, share: float) -> None:
    scale = ScrollScale(max_top)
    assert scale.bar_maximum < 1 << 31
    assert scale.value(0) == scale.top(0) == 0
    assert scale.top(scale.bar_maximum) == max_top
    assert scale.value(max_top) == scale.bar_maximum
    top = int(max_top * share)
    step = max(1, -(-max_top // max(1, scale.bar_maximum)))
    assert abs(scale.top(scale.value(min(top, max_top))) - min(top, max_top)) <= step


def test_a_small_file_is_scrolled_exactly() -> None:
    scale = ScrollScale(1 << 30)
    assert all(scale.top(scale.value(top)) == top for top in (1, 12_345, (1 << 30) - 1))


@pytest.mark.parametrize(
    ("move", "target"),
    [
        (Move.BYTE_BACK, 99),
        (Move.BYTE_ON, 101),
        (Move.WORD_BACK, 96),
        (Move.WORD_ON, 104),
        (Move.ROW_BACK, 84),
        (Move.ROW_ON, 116),
        (Move.PAGE_BACK, 52),
        (Move.PAGE_ON, 148),
        (Move.ROW_START, 96),
        (Move.ROW_END, 111),
        (Move.START, 0),
        (Move.END, 999),
    ],
)
def test_moves(move: Move, target: int) -> None:
    cursor = ByteCursor(1000)
    cursor.place(100)
    assert cursor.target(move, 16, 3) == target


def test_the_column_stays_at_the_ends() -> None:
    cursor = ByteCursor(100)
    cursor.place(20)
    assert cursor.target(Move.PAGE_BACK, 16, 50) == 4
    assert cursor.target(Move.PAGE_ON, 16, 50) == 84
    cursor.place(90)
    assert cursor.target(Move.ROW_ON, 16, 50) == 90
    cursor.place(4)
    assert cursor.target(Move.ROW_BACK, 16, 50) == 4
    cursor.place(96)
    assert cursor.target(Move.WORD_BACK, 16, 50) == 88


def test_a_cursor_stays_inside_and_selects_both_ways() -> None:
    cursor = ByteCursor(100)
    cursor.place(-5)
    assert (cursor.start, cursor.end) == (0, 1)
    cursor.place(500)
    assert (cursor.start, cursor.end) == (99, 100)
    cursor.place(40)
    cursor.place(10, extend=True)
    assert (cursor.start, cursor.end) == (10, 41)
    cursor.place(60, extend=True)
    assert (cursor.start, cursor.end) == (40, 61)


def test_blocks_are_aligned_and_end_with_the_source() -> None:
    cursor = ByteCursor(100)
    cursor.place(13)
    cursor.select_word()
    assert (cursor.start, cursor.end, cursor.position) == (8, 16, 8)
    cursor.place(98)
    cursor.select_block(16)
    assert (cursor.start, cursor.end) == (96, 100)


def test_an_empty_source_has_no_bytes_to_select() -> None:
    cursor = ByteCursor(0)
    cursor.place(cursor.target(Move.END, 16, 3))
    assert (cursor.position, cursor.start, cursor.end) == (0, 0, 0)
    cursor.select(0, 0)
    assert cursor.end <= cursor.start


def test_the_owner_of_a_byte_is_its_clusters() -> None:
    states = np.array([ClusterState.HEADER, ClusterState.CONTESTED], dtype=np.uint8)
    owners = OwnerMap.of_file(4096, states)
    found = owners.at(4096)
    assert found is not None
    assert (found.cluster_index, found.state, found.name) == (
        1,
        ClusterState.CONTESTED,
        "contested",
    )
    assert owners.at(8192) is None
    assert hover_text(4097, found, guest=False) == "host 0x1001 · cluster 1 · contested"
    assert hover_text(9000, None, guest=True) == "guest 0x2328"
    assert [owners.starts_cluster(offset, 16) for offset in (0, 16, 4080, 4096)] == [
        True,
        False,
        False,
        True,
    ]
    guest = OwnerMap.of_guest(512, np.array([GuestState.ZERO], dtype=np.uint8)).at(511)
    assert guest is not None
    assert hover_text(511, guest, guest=True) == "guest 0x1ff · guest cluster 0 · zero"


def test_every_state_has_a_name_and_a_colour() -> None:
    for made, states in ((OwnerMap.of_file, ClusterState), (OwnerMap.of_guest, GuestState)):
        owners = made(1, np.arange(len(states), dtype=np.uint8))
        for offset in range(len(states)):
            found = owners.at(offset)
            if offset == 0:  # OUTSIDE is nothing that owns a byte
                assert found is None
                continue
            assert found is not None
            assert found.name
            assert found.meaning
            assert found.colour.light != found.colour.dark
