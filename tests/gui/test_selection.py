"""Selections, and the way back and forward through them."""

from __future__ import annotations

from qcowgui.gui.selection import History, Selection
from qcowgui.gui.structures import StructureKey

HEADER = Selection(StructureKey.HEADER, 3)
L1 = Selection(StructureKey.L1, 7, host=(100, 108))
L2 = Selection(StructureKey.L2, 7, 2)


def test_the_same_place_does_not_depend_on_what_is_known_of_it() -> None:
    assert L1.is_same_place(Selection(StructureKey.L1, 7))
    assert not L1.is_same_place(Selection(StructureKey.L1, 8))
    assert not L1.is_same_place(Selection(StructureKey.L1, 7, snapshot=0))
    assert not L2.is_same_place(Selection(StructureKey.L2, 7, 3))


def test_bytes_without_a_row_are_told_apart_by_where_they_are() -> None:
    one = Selection(StructureKey.CLUSTER, host=(0, 1))
    assert one.is_same_place(Selection(StructureKey.CLUSTER, host=(0, 1)))
    assert not one.is_same_place(Selection(StructureKey.CLUSTER, host=(5, 6)))


def test_the_table_of_a_selection_keeps_whose_it_is() -> None:
    entry = Selection(StructureKey.L2, 9, 4, 1, host=(0, 8), guest=(0, 512))
    assert entry.table == Selection(StructureKey.L2, None, 4, 1)


def test_back_and_forward() -> None:
    history = History()
    assert not history.can_go_back
    assert history.back() is None
    for selection in (HEADER, L1, L2):
        history.visit(selection)
    assert history.back() == L1
    assert history.back() == HEADER
    assert history.back() is None
    assert history.forward() == L1
    assert history.can_go_forward
    assert history.forward() == L2
    assert history.forward() is None


def test_a_new_visit_ends_what_lay_ahead() -> None:
    history = History()
    history.visit(HEADER)
    history.visit(L1)
    history.back()
    history.visit(L2)
    assert not history.can_go_forward
    assert history.back() == HEADER


def test_staying_in_a_place_is_no_step_but_what_is_known_is_kept() -> None:
    history = History()
    history.visit(HEADER)
    history.visit(Selection(StructureKey.L1, 7))
    history.visit(L1)
    history.visit(L2)
    assert history.back() == L1
    assert history.back() == HEADER


def test_the_oldest_are_forgotten() -> None:
    history = History(limit=3)
    for row in range(5):
        history.visit(Selection(StructureKey.L1, row))
    rows = []
    while (selection := history.back()) is not None:
        rows.append(selection.row)
    assert rows == [3, 2]
