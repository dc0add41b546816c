"""The table view: selecting, copying, sorting, activating."""

from __future__ import annotations

import time

import pytest
from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from qcowgui.gui.formatters import Column, Row, Table, Tone
from qcowgui.gui.models.table import TableModel
from qcowgui.gui.theme import DARK, LIGHT, Theme, monospaced_font
from qcowgui.gui.views.data_table import DataTable

TABLE = Table(
    (Column("Name"), Column("Size", monospaced=True, right=True), Column("Note", quiet=True)),
    (
        Row(("b", "10", "ten"), sort_keys=("b", 10, "ten")),
        Row(("a", "9", "nine"), tone=Tone.DANGER, detail="why", sort_keys=("a", 9, "nine")),
        Row(("c", "100", ""), tone=Tone.MUTED, sort_keys=("c", 100, "")),
    ),
    sortable=True,
)


@pytest.fixture
def view(qtbot: QtBot, theme: Theme) -> DataTable:
    made = DataTable(theme)
    qtbot.addWidget(made)
    made.set_table(TABLE)
    made.resize(500, 300)
    made.show()
    return made


def clipboard() -> str:
    return QGuiApplication.clipboard().text()


def select(view: DataTable, *cells: tuple[int, int]) -> None:
    view.clearSelection()
    for row, column in cells:
        view.selectionModel().select(
            view.model().index(row, column), QItemSelectionModel.SelectionFlag.Select
        )


def test_the_model_obeys_qts_rules(qtmodeltester: ModelTester, theme: Theme) -> None:
    model = TableModel(TABLE, theme)
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]
    model.sort(1)
    model.set_table(Table((Column("x"),), ()))


def test_the_model_shows_the_table(theme: Theme) -> None:
    model = TableModel(TABLE, theme)
    role = Qt.ItemDataRole
    assert [model.headerData(i, Qt.Orientation.Horizontal) for i in range(3)] == [
        "Name",
        "Size",
        "Note",
    ]
    assert model.headerData(0, Qt.Orientation.Vertical) is None
    assert model.index(1, 1).data() == "9"
    assert model.index(1, 1).data(role.ToolTipRole) == "9\nwhy"
    assert model.index(1, 1).data(role.AccessibleTextRole) == "Size: 9"
    assert model.index(0, 1).data(role.FontRole) == monospaced_font()
    assert model.index(0, 0).data(role.FontRole) is None
    assert model.index(1, 0).data(role.ForegroundRole) == QColor(theme.colours.danger)
    assert model.index(1, 1).data(role.ForegroundRole) == QColor(theme.colours.text)
    assert model.index(1, 2).data(role.ForegroundRole) == QColor(theme.colours.muted)
    assert model.index(2, 1).data(role.ForegroundRole) == QColor(theme.colours.muted)
    assert model.rowCount(model.index(0, 0)) == model.columnCount(model.index(0, 0)) == 0


def test_cells_are_copied_as_a_rectangle(view: DataTable) -> None:
    select(view, (0, 0), (1, 0), (0, 2))
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert clipboard() == "b\tten\na\t"


def test_rows_and_the_table_are_copied(view: DataTable) -> None:
    select(view, (1, 1))
    view.copy_rows()
    assert clipboard() == "a\t9\tnine"
    view.copy_table()
    assert clipboard() == TABLE.as_tsv()


def test_without_a_selection_nothing_is_copied(view: DataTable) -> None:
    QGuiApplication.clipboard().setText("before")
    view.clearSelection()
    view.copy_cells()
    view.copy_rows()
    assert clipboard() == "before"


def test_numbers_are_sorted_as_numbers(view: DataTable) -> None:
    view.sortByColumn(1, Qt.SortOrder.AscendingOrder)
    assert [view.model().index(row, 1).data() for row in range(3)] == ["9", "10", "100"]
    view.copy_table()
    assert clipboard().splitlines()[1] == "a\t9\tnine"
    view.select_row(0)  # a row of the table, not of the view
    assert view.currentIndex().row() == 1
    assert view.current_row() == 0


def test_a_selection_stays_with_its_row_when_sorting(view: DataTable) -> None:
    view.select_row(0)
    view.sortByColumn(1, Qt.SortOrder.DescendingOrder)
    assert [view.model().index(row, 1).data() for row in range(3)] == ["100", "10", "9"]
    assert view.current_row() == 0
    view.copy_rows()
    assert clipboard() == "b\t10\tten"


def test_a_hundred_thousand_rows_are_usable(view: DataTable) -> None:
    columns = tuple(Column(name) for name in "abcd")
    rows = tuple(Row((f"{i % 7}", f"{i}", "x" * 40, "y")) for i in range(100_000))
    began = time.monotonic()
    view.set_table(Table(columns, rows, sortable=True))
    view.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    view.select_row(99_999)
    assert time.monotonic() - began < 2.0  # 0.2 s on an idle machine
    assert view.current_row() == 99_999


def test_enter_and_double_click_activate(view: DataTable, qtbot: QtBot) -> None:
    view.sortByColumn(1, Qt.SortOrder.AscendingOrder)
    view.select_row(1)
    with qtbot.waitSignal(view.row_activated) as signal:
        QTest.keyClick(view, Qt.Key.Key_Return)
    assert signal.args == [1]
    with qtbot.waitSignal(view.row_activated) as signal:
        view.doubleClicked.emit(view.model().index(2, 0))
    assert signal.args == [2]


def test_a_new_table_forgets_the_old_ones_order(view: DataTable) -> None:
    view.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    plain = Table((Column("x"),), (Row(("2",)), Row(("1",))))
    view.set_table(plain)
    assert [view.model().index(row, 0).data() for row in range(2)] == ["2", "1"]
    assert not view.isSortingEnabled()
    seen: list[int] = []
    view.row_selected.connect(seen.append)
    view.select_row(1)
    assert seen == [1]
    view.select_row(7)
    assert view.current_row() == 1


def test_the_context_menu_copies(view: DataTable) -> None:
    select(view, (0, 0))
    menu = view.make_menu()
    assert [action.text() for action in menu.actions()] == ["Copy", "Copy rows", "Copy table"]
    menu.actions()[0].trigger()
    assert clipboard() == "b"
    view.clearSelection()
    assert [action.isEnabled() for action in view.make_menu().actions()] == [False, False, True]


def test_colours_are_readable() -> None:
    for colours in (LIGHT, DARK):
        for text, back in (
            (colours.text, colours.panel),
            (colours.muted, colours.panel),
            (colours.muted, colours.window),
            (colours.on_accent, colours.accent),
            (colours.on_selected, colours.selected),
            (colours.note, colours.note_back),
            (colours.warning, colours.warning_back),
            (colours.danger, colours.danger_back),
            (colours.note, colours.panel),
            (colours.warning, colours.panel),
            (colours.danger, colours.panel),
        ):
            assert contrast(QColor(text), QColor(back)) >= 4.5, (text, back)


def contrast(first: QColor, second: QColor) -> float:
    """The contrast ratio of WCAG 2."""

    def luminance(colour: QColor) -> float:
        parts = (colour.redF(), colour.greenF(), colour.blueF())
        red, green, blue = (
            part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def test_an_index_from_elsewhere_is_no_row(view: DataTable) -> None:
    view.setCurrentIndex(QModelIndex())
    assert view.current_row() is None
