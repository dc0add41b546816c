"""The grid of a table of entries: a QTableView that millions of rows do not slow down."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import (
    QItemSelectionModel,
    QItemSelectionRange,
    QModelIndex,
    QPoint,
    QSignalBlocker,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QAction,
    QFocusEvent,
    QFontMetrics,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QMenu, QTableView, QWidget

from qcowgui.gui.models.entry_filter import EntryOrder
from qcowgui.gui.models.entry_models import EntryModel
from qcowgui.gui.models.entry_rows import EntryColumn
from qcowgui.gui.theme import Theme, monospaced_font
from qcowgui.gui.views.grid_painter import Band, GridPainter

_ROW_PADDING: Final = 11
_CELL_PADDING: Final = 26
_MAX_COLUMN_WIDTH: Final = 460
_ROWS_MEASURED: Final = 50
_LEAST: Final = {
    EntryColumn.KIND: "zero, allocated",
    EntryColumn.DETAILS: "COPIED, reserved bits",
    EntryColumn.GUEST_OFFSET: "0x10_0000_0000",
    EntryColumn.HOST_OFFSET: "0x10_0000_0000",
}
"""Columns that have room for this, whatever the first rows hold."""


class EntryGrid(QTableView):
    """Shows an `EntryModel`.

    Signals:
        entry_selected: The current row is another: its entry in the file.
        entry_activated: An entry was double-clicked, or Enter pressed on it.
        order_requested: A heading was clicked: an `EntryOrder`.
        copy_requested: (rows as ranges [first, last), columns, with titles): copy these.
    """

    entry_selected = Signal(object)
    entry_activated = Signal(object)
    order_requested = Signal(object)
    copy_requested = Signal(object, object, bool)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.entries = EntryModel(theme, self)
        self.setModel(self.entries)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + _ROW_PADDING)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)  # the model's sort does nothing; see _sort_requested
        # A heading asks whether its column is selected, which looks at every row.
        self._unselected = QItemSelectionModel(self.entries, self)
        header.setSelectionModel(self._unselected)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.setStretchLastSection(True)
        header.sortIndicatorChanged.connect(self._sort_requested)
        header.customContextMenuRequested.connect(self._show_column_menu)
        self.customContextMenuRequested.connect(self._show_menu)
        self.doubleClicked.connect(self._activate)
        self.selectionModel().currentRowChanged.connect(self._current_changed)
        self._painter = GridPainter(theme)
        theme.changed.connect(self.viewport().update)

    def current_entry(self) -> int | None:
        """The entry of the current row."""
        index = self.currentIndex()
        return self.entries.entry(index.row()) if index.isValid() else None

    def select_entry(self, entry: int) -> bool:
        """Make the row of an entry the current one; False when it is not shown."""
        row = self.entries.model_row(entry)
        if row is None:
            return False
        index = self.entries.index(row, max(0, self.currentIndex().column()))
        if index != self.currentIndex():
            rows = QItemSelectionModel.SelectionFlag.ClearAndSelect
            rows |= QItemSelectionModel.SelectionFlag.Rows
            self.selectionModel().setCurrentIndex(index, rows)
        self.scrollTo(index, QAbstractItemView.ScrollHint.EnsureVisible)
        return True

    def show_order(self, order: EntryOrder) -> None:
        """Show by which column the rows are sorted."""
        rows = self.entries.rows
        section = -1
        if rows is not None and order.column in rows.columns:
            section = rows.columns.index(order.column)
        header = self.horizontalHeader()
        direction = (
            Qt.SortOrder.DescendingOrder if order.descending else Qt.SortOrder.AscendingOrder
        )
        blocked = header.blockSignals(True)
        header.setSortIndicator(section, direction)
        header.blockSignals(blocked)

    def fit_columns(self) -> None:
        """Give every column the room that its heading and the first rows need."""
        model = self.entries
        plain, fixed = QFontMetrics(self.font()), QFontMetrics(monospaced_font())
        heading = QFontMetrics(self.horizontalHeader().font())
        measured = [model.row_at(row) for row in range(min(_ROWS_MEASURED, model.rowCount()))]
        for section, column in enumerate(model.columns):
            metrics = fixed if column.monospaced else plain
            kind = model.column_of(section)
            texts = [row.cells[section] for row in measured]
            texts.append(_LEAST.get(kind, "") if kind is not None else "")
            width = max(metrics.horizontalAdvance(text) for text in texts)
            # The bold heading, and an arrow beside it.
            width = max(width, int(heading.horizontalAdvance(column.title) * 1.15) + 14)
            self.setColumnWidth(section, min(width + _CELL_PADDING, _MAX_COLUMN_WIDTH))

    def selected_rows(self) -> list[tuple[int, int]]:
        """The rows in which something is selected, as ranges [first, last) without overlaps."""
        spans = sorted((found.top(), found.bottom() + 1) for found in self._selection())
        joined: list[tuple[int, int]] = []
        for first, last in spans:
            if joined and first <= joined[-1][1]:
                joined[-1] = joined[-1][0], max(last, joined[-1][1])
            else:
                joined.append((first, last))
        return joined

    def copy_cells(self) -> None:
        """Copy the selected rows, of them the columns in which something is selected."""
        sections = {
            section
            for found in self._selection()
            for section in range(found.left(), found.right() + 1)
        }
        self._copy(self.selected_rows(), sorted(sections), titles=False)

    def copy_rows(self) -> None:
        """Copy the whole rows in which a cell is selected."""
        self._copy(self.selected_rows(), list(range(len(self.entries.columns))), titles=False)

    def copy_table(self) -> None:
        """Copy everything shown, headings included, in the order shown."""
        everything = [(0, self.entries.rowCount())]
        self._copy(everything, list(range(len(self.entries.columns))), titles=True)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Take the keyboard, and leave the current row as it is.

        Where there is none, Qt would take the first one: that would select it everywhere, in place
        of what the table is only about to show.
        """
        had_none = not self.currentIndex().isValid()
        with QSignalBlocker(self):
            super().focusInEvent(event)
            if had_none:
                self.setCurrentIndex(QModelIndex())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy with the system's key, follow an entry with Enter."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_cells()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._activate(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the cells in view, in one go.

        Delegates would be called for every cell and the model some ten times for each. While a
        check runs in another thread, every such call may wait for Python's lock.
        """
        painter = QPainter(self.viewport())
        first, last = self.rowAt(event.rect().top()), self.rowAt(event.rect().bottom())
        if first < 0:
            return
        sections = [
            (section, self.columnViewportPosition(section), self.columnWidth(section))
            for section in range(len(self.entries.columns))
            if not self.isColumnHidden(section)
        ]
        spans = [(s.top(), s.bottom(), s.left(), s.right()) for s in self._selection()]
        height = self.verticalHeader().defaultSectionSize()
        top = self.rowViewportPosition(first)
        current = self.currentIndex()
        self._painter.begin(painter, self.font())
        for row in range(first, (last if last >= 0 else self.entries.rowCount() - 1) + 1):
            chosen = {
                section
                for section, _, _ in sections
                for span in spans
                if span[0] <= row <= span[1] and span[2] <= section <= span[3]
            }
            focus = current.column() if self.hasFocus() and row == current.row() else -1
            self._painter.paint_row(
                painter, self.entries, row, Band(top, height), sections, chosen, focus
            )
            top += height

    def keyboardSearch(self, search: str) -> None:
        """Nothing: Qt would ask for the text of every row, of which there may be millions."""

    def make_menu(self) -> QMenu:
        """The context menu; it deletes itself when it closes."""
        some = bool(self.selected_rows())
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Follow"), lambda: self._activate(self.currentIndex())).setEnabled(
            self.currentIndex().isValid()
        )
        menu.addSeparator()
        menu.addAction(self.tr("Copy"), self.copy_cells).setEnabled(some)
        menu.addAction(self.tr("Copy rows"), self.copy_rows).setEnabled(some)
        menu.addAction(self.tr("Copy table"), self.copy_table)
        return menu

    def make_column_menu(self) -> QMenu:
        """The menu that hides columns and brings them back."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for section, column in enumerate(self.entries.columns):
            action = QAction(column.title, menu)
            action.setCheckable(True)
            action.setChecked(not self.isColumnHidden(section))
            action.setEnabled(section > 0)  # one must stay, for the heading's menu
            action.toggled.connect(
                lambda on, section=section: self.setColumnHidden(section, not on)
            )
            menu.addAction(action)
        return menu

    def _selection(self) -> list[QItemSelectionRange]:
        # A list by its methods, though the stubs (6.11.3) don't know that it is one.
        found = self.selectionModel().selection()
        return [found.at(position) for position in range(found.count())]

    def _copy(self, rows: list[tuple[int, int]], sections: list[int], *, titles: bool) -> None:
        shown = [section for section in sections if not self.isColumnHidden(section)]
        if rows and shown:
            self.copy_requested.emit(rows, shown, titles)

    def _sort_requested(self, section: int, direction: Qt.SortOrder) -> None:
        descending = direction == Qt.SortOrder.DescendingOrder
        column = self.entries.column_of(section)
        self.order_requested.emit(EntryOrder(column, descending if column else False))

    def _current_changed(self, current: QModelIndex) -> None:
        if current.isValid():
            self.entry_selected.emit(self.entries.entry(current.row()))

    def _activate(self, index: QModelIndex) -> None:
        if index.isValid():
            self.entry_activated.emit(self.entries.entry(index.row()))

    def _show_menu(self, position: QPoint) -> None:
        self.make_menu().popup(self.viewport().mapToGlobal(position))

    def _show_column_menu(self, position: QPoint) -> None:
        self.make_column_menu().popup(self.horizontalHeader().mapToGlobal(position))
