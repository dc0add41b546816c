"""Tables of entries in the window: loaded beside it, filtered, sorted, copied, followed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFocusEvent, QGuiApplication, QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from qcowgui.errors import SourceError
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.models.entry_feed import FeedState
from qcowgui.gui.models.entry_filter import EntryFilter, EntryOrder
from qcowgui.gui.models.entry_rows import COLUMNS, EntryColumn
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import Session, SessionState
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.entry_table import EntryTable
from qcowgui.image.source import FileSource
from tests.support.base_images import rich
from tests.support.damage import set_l1_entry, set_l2_entry, truncate_at

KEY = StructureKey
COPIED = 1 << 63
BROKEN_ENTRY = 30


@pytest.fixture
def runner(qtbot: QtBot) -> Iterator[BackgroundRunner]:
    """A runner that has nothing left to do at the end of the test."""
    made = BackgroundRunner(interval_ms=5)
    yield made
    made.cancel_all()
    qtbot.waitUntil(lambda: not made.active)


def settle(qtbot: QtBot, runner: BackgroundRunner) -> None:
    qtbot.waitUntil(lambda: not runner.active, timeout=20_000)


class Shown:
    """An image whose table of entries is on the screen."""

    def __init__(self, path: Path, qtbot: QtBot, runner: BackgroundRunner, theme: Theme) -> None:
        self.qtbot, self.runner = qtbot, runner
        self.session = Session(path, runner)
        self.table = EntryTable(self.session, theme)
        qtbot.addWidget(self.table)
        self.said: list[str] = []
        self.table.status_changed.connect(self.said.append)
        self.table.resize(1200, 500)
        self.table.show()
        self.session.load()
        self.settle()

    def settle(self) -> None:
        settle(self.qtbot, self.runner)

    def select(self, key: StructureKey, part: int | None = None, row: int | None = None) -> None:
        self.session.select(Selection(key, row, part))
        self.settle()

    def state(self) -> FeedState:
        """The state now: a type checker takes an attribute that was looked at for unchanged."""
        return self.table.feed.state

    @property
    def entries(self) -> list[int]:
        """The entries shown, in their order."""
        model = self.table.grid.entries
        return [model.entry(row) for row in range(model.rowCount())]


@pytest.fixture
def shown(tmp_path: Path, qtbot: QtBot, runner: BackgroundRunner, theme: Theme) -> Iterator[Shown]:
    """The rich image with one broken entry; its first L2 table is selected."""
    image = set_l2_entry(rich(), BROKEN_ENTRY, COPIED | 0x6000 | 2)
    found = Shown(image.write_to(tmp_path / "rich.qcow2"), qtbot, runner, theme)
    found.select(KEY.L2, 0)
    yield found
    found.table.abandon()
    found.session.abandon()


def test_the_selected_table_is_shown_with_its_row(shown: Shown) -> None:
    assert shown.state() is FeedState.READY
    assert len(shown.entries) == 512
    shown.select(KEY.L2, 0, 300)
    grid = shown.table.grid
    assert grid.current_entry() == 300
    assert grid.visualRect(grid.currentIndex()).isValid()
    assert shown.said[-1].startswith("Entry 300  ·  File offset 0x4960")
    assert grid.accessibleName() == "L2 table of L1[0]"


def test_a_row_that_is_clicked_is_selected_everywhere(shown: Shown) -> None:
    grid = shown.table.grid
    place = grid.visualRect(grid.entries.index(9, 3)).center()
    QTest.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=place)
    selected = shown.session.selection
    assert (selected.structure, selected.part, selected.row) == (KEY.L2, 0, 9)
    assert selected.host == (0x4048, 0x4050)


def test_taking_the_keyboard_selects_nothing(shown: Shown) -> None:
    grid, before = shown.table.grid, shown.session.selection
    grid.reset()  # as in a table whose row is yet to come
    QApplication.sendEvent(grid, QFocusEvent(QEvent.Type.FocusIn))
    assert grid.current_entry() is None
    assert shown.session.selection == before


def test_another_structure_leaves_the_table(shown: Shown) -> None:
    shown.select(KEY.HEADER)
    assert shown.table.feed.table == Selection(KEY.L2, None, 0)
    shown.select(KEY.REFCOUNT_BLOCK, 0, 7)
    assert shown.table.grid.current_entry() == 7
    assert shown.table.feed.table == Selection(KEY.REFCOUNT_BLOCK, None, 0)
    assert shown.table.grid.entries.columnCount() == 10


def test_a_cluster_of_the_map_is_shown_as_its_entry(shown: Shown) -> None:
    locator = shown.session.locator
    assert locator is not None
    shown.session.select(locator.at_host(0x1_3000))
    shown.settle()
    assert shown.table.grid.current_entry() == 2


def test_filters_of_the_bar(shown: Shown) -> None:
    bar = shown.table.bar
    bar.findings.setChecked(True)
    assert BROKEN_ENTRY in shown.entries
    assert len(shown.entries) < 20
    assert bar.count.text() == f"{len(shown.entries)} of 512 entries"
    bar.findings.setChecked(False)
    bar.allocated.setChecked(True)
    assert shown.entries == [0, 1, 2, *range(8, 14), 21, BROKEN_ENTRY]
    bar.kind.setCurrentText("compressed")
    assert shown.entries == list(range(8, 14))
    QTest.keyClicks(bar.text, "9617")
    shown.qtbot.waitUntil(lambda: shown.entries == [9])
    QTest.keyClick(bar.text, Qt.Key.Key_Escape)
    shown.qtbot.waitUntil(lambda: len(shown.entries) == 6)
    QTest.keyClick(bar.text, Qt.Key.Key_Return)
    assert shown.table.feed.wanted == EntryFilter(kind=4, only_allocated=True)


def test_another_table_is_shown_whole(shown: Shown) -> None:
    shown.table.bar.allocated.setChecked(True)
    shown.table.bar.text.setText("x")
    shown.select(KEY.L1)
    assert shown.entries == [0, 1]
    assert shown.table.bar.wanted == EntryFilter()
    assert shown.table.bar.kind.itemText(2) == "L2 table"


def test_headings_sort_and_a_third_click_ends_it(shown: Shown) -> None:
    shown.select(KEY.L2, 0, 12)
    grid = shown.table.grid
    header = grid.horizontalHeader()
    section = COLUMNS[KEY.L2].index(EntryColumn.HOST_OFFSET)
    place = header.rect().center()
    place.setX(header.sectionViewportPosition(section) + 20)
    seen = []
    for _ in range(3):
        QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)
        seen.append((shown.table.feed.order, shown.entries[-1], shown.entries[0]))
    assert [order for order, _, _ in seen] == [
        EntryOrder(EntryColumn.HOST_OFFSET),
        EntryOrder(EntryColumn.HOST_OFFSET, descending=True),
        EntryOrder(),
    ]
    assert [ends for _, *ends in seen] == [[2, 3], [511, 2], [511, 0]]
    assert grid.current_entry() == 12, "sorting moves the selection along"
    assert shown.session.selection.row == 12


def test_large_tables_are_arranged_beside_the_window(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qcowgui.gui.models.entry_feed._AT_ONCE_ROWS", 100)
    shown.table.bar.allocated.setChecked(True)
    assert len(shown.entries) == 512
    assert shown.table.bar.count.text() == "512 entries …"
    shown.table.bar.kind.setCurrentText("data")
    shown.settle()
    assert shown.entries == [0, 1, 2, BROKEN_ENTRY]
    assert shown.table.bar.count.text() == "4 of 512 entries"


def test_going_to_an_entry(shown: Shown) -> None:
    bar = shown.table.bar
    bar.allocated.setChecked(True)
    for text, entry in (("500", 500), ("0x1f", 31), ("2", 2)):
        bar.entry.setText(text)
        QTest.keyClick(bar.entry, Qt.Key.Key_Return)
        assert shown.session.selection.row == entry
        assert shown.table.grid.current_entry() == entry
    assert not bar.allocated.isChecked(), "the filter hid the entry"
    for text in ("512", "-1", "seven"):
        bar.entry.setText(text)
        QTest.keyClick(bar.entry, Qt.Key.Key_Return)
        assert shown.session.selection.row == 2
    assert shown.said[-1] == "This is no number."
    assert "The table has no entry 512." in shown.said


def test_enter_follows_an_entry_to_what_it_names(shown: Shown) -> None:
    shown.select(KEY.L1, None, 1)
    QTest.keyClick(shown.table.grid, Qt.Key.Key_Return)
    shown.settle()
    assert shown.session.selection.table == Selection(KEY.L2, None, 1)
    shown.select(KEY.REFCOUNT_TABLE, None, 0)
    QTest.keyClick(shown.table.grid, Qt.Key.Key_Return)
    shown.settle()
    assert shown.session.selection.table == Selection(KEY.REFCOUNT_BLOCK, None, 0)
    shown.select(KEY.REFCOUNT_BLOCK, 0, 0)
    QTest.keyClick(shown.table.grid, Qt.Key.Key_Return)
    assert shown.session.selection.structure is KEY.HEADER
    shown.select(KEY.L2, 0, 2)
    QTest.keyClick(shown.table.grid, Qt.Key.Key_Return)
    selected = shown.session.selection
    assert (selected.structure, selected.host) == (KEY.CLUSTER, (0x1_3000, 0x1_4000))
    shown.select(KEY.L2, 0, 4)
    QTest.keyClick(shown.table.grid, Qt.Key.Key_Return)
    assert shown.said[-1] == "This entry points to nothing."


def clipboard_after(shown: Shown) -> str:
    shown.settle()
    return QGuiApplication.clipboard().text()


def test_copying(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = shown.table.grid
    shown.table.bar.kind.setCurrentText("compressed")
    grid.setColumnHidden(1, True)
    grid.selectRow(1)
    grid.copy_rows()
    cells = clipboard_after(shown).split("\t")
    assert cells[:4] == ["9", "4c000000 00009617", "compressed", "0x9617"]
    QTest.keyClick(grid, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(grid, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert len(clipboard_after(shown).split("\n")) == 6
    grid.copy_table()
    lines = clipboard_after(shown).split("\n")
    assert lines[0].startswith("Entry\tRaw hex\tKind")
    assert len(lines) == 7
    assert shown.said[-1] == "Copied 6 rows."
    monkeypatch.setattr("qcowgui.gui.views.entry_table.MAX_COPIED_ROWS", 2)
    grid.copy_table()
    assert len(clipboard_after(shown).split("\n")) == 3
    assert shown.said[-1] == "Copied 2 rows. There were 6: more can't be copied at once."


def test_menus(shown: Shown) -> None:
    grid = shown.table.grid
    menu = grid.make_menu()
    assert [action.text() for action in menu.actions() if action.text()] == [
        "Follow",
        "Copy",
        "Copy rows",
        "Copy table",
    ]
    columns = grid.make_column_menu()
    file_offset = columns.actions()[1]
    assert file_offset.text() == "File offset"
    file_offset.trigger()
    assert grid.isColumnHidden(1)
    assert not columns.actions()[0].isEnabled()
    menu.deleteLater()
    columns.deleteLater()


def test_cells_have_tooltips_names_and_colours(shown: Shown) -> None:
    model = shown.table.grid.entries
    row = model.model_row(BROKEN_ENTRY)
    assert row is not None
    kind = model.index(row, 3)
    assert "Reserved bits are set in an L2 entry." in str(kind.data(Qt.ItemDataRole.ToolTipRole))
    assert kind.data(Qt.ItemDataRole.AccessibleTextRole) == "Kind: data"
    colour = kind.data(Qt.ItemDataRole.ForegroundRole).name()
    assert colour != model.index(1, 3).data(Qt.ItemDataRole.ForegroundRole).name()
    grid = shown.table.grid
    place = grid.visualRect(model.index(2, 3)).center()
    event = QHelpEvent(QEvent.Type.ToolTip, place, grid.viewport().mapToGlobal(place))
    QApplication.sendEvent(grid.viewport(), event)
    assert event.isAccepted()


def test_every_painted_cell_can_be_seen(shown: Shown, theme: Theme) -> None:
    """A row's own painting: text in its colour, selected cells on their ground."""
    grid = shown.table.grid
    shown.table.bar.setFocus()
    before = grid.viewport().grab().toImage()
    grid.select_entry(4)
    after = grid.viewport().grab().toImage()
    rect = grid.visualRect(grid.entries.index(4, 2))
    ground = after.pixelColor(rect.left() + 2, rect.center().y()).name()
    assert ground == theme.colours.selected
    other = grid.visualRect(grid.entries.index(6, 2))
    assert before.copy(other) == after.copy(other)
    inks = {
        before.pixelColor(x, other.center().y()).name() for x in range(other.left(), other.right())
    }
    assert len(inks) > 2


def test_a_table_that_is_not_there(
    tmp_path: Path, qtbot: QtBot, runner: BackgroundRunner, theme: Theme
) -> None:
    image = set_l1_entry(rich(), 0, 0)
    found = Shown(image.write_to(tmp_path / "gap.qcow2"), qtbot, runner, theme)
    assert found.table.message.label.text() == "Select a table in the structures."
    found.select(KEY.L2, 0)
    assert found.state() is FeedState.ABSENT
    assert found.table.message.label.text() == "The image names no table here."
    assert not found.table.bar.isEnabled()
    found.select(KEY.L2, 1)
    assert found.state() is FeedState.READY
    assert found.table.bar.isEnabled()
    found.session.abandon()


def test_a_table_that_the_file_cuts_off(
    tmp_path: Path, qtbot: QtBot, runner: BackgroundRunner, theme: Theme
) -> None:
    image = truncate_at(rich(), 0x4000 + 80)
    found = Shown(image.write_to(tmp_path / "cut.qcow2"), qtbot, runner, theme)
    found.select(KEY.L2, 0)
    assert len(found.entries) == 10
    assert found.table.note.text() == "502 entries more should follow; the file ends before them."
    assert found.table.note.isVisibleTo(found.table)
    found.session.abandon()


def test_a_table_that_cannot_be_read(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: FileSource, offset: int, length: int) -> bytes:  # noqa: ARG001
        raise SourceError("the disk is broken", path="x")

    with monkeypatch.context() as patch:
        patch.setattr(FileSource, "read_at", fail)
        shown.select(KEY.L1)
    assert shown.state() is FeedState.FAILED
    assert "the disk is broken" in shown.table.message.label.text()


def test_the_check_adds_references_and_reading_again_keeps_the_table(
    shown: Shown,
) -> None:
    shown.table.bar.allocated.setChecked(True)
    before = shown.entries
    shown.session.load()
    states = []
    shown.session.changed.connect(lambda: states.append(shown.session.state))
    shown.settle()
    assert states == [SessionState.READY]
    assert shown.entries == before
    rows = shown.table.feed.rows
    assert rows is not None
    assert rows.arrays.refcounts.found is not None


def test_results_of_a_table_that_was_left_are_dropped(shown: Shown) -> None:
    for part in (1, 0, 1):
        shown.session.select(Selection(KEY.L2, 3, part))
    shown.session.select(Selection(KEY.L1, 1))
    shown.settle()
    assert shown.table.feed.table == Selection(KEY.L1)
    assert len(shown.entries) == 2
    assert shown.table.grid.current_entry() == 1


def test_millions_of_rows_are_painted_quickly(shown: Shown) -> None:
    """A screen full costs the same in a table of any length: 12 ms of one core (2026-11-30)."""
    grid = shown.table.grid
    model = grid.entries
    entries = np.tile(np.arange(512, dtype=np.int32), 1 << 13)
    model.set_rows(model.rows, entries)
    assert model.rowCount() == 1 << 22
    bar = grid.verticalScrollBar()
    spent = []
    for step in range(20):
        bar.setValue(bar.maximum() // 20 * step + 7)
        start = time.thread_time()
        grid.viewport().repaint()
        spent.append(time.thread_time() - start)
    assert sorted(spent)[10] < 0.05
    start = time.thread_time()
    grid.selectAll()
    grid.horizontalHeader().viewport().repaint()
    grid.viewport().repaint()
    assert time.thread_time() - start < 0.3
    assert grid.selected_rows() == [(0, 1 << 22)]
