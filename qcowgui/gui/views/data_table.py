"""The table view of the window: every cell can be selected and copied."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QMenu, QTableView, QWidget

from qcowgui.gui.formatters import Column, Table, tsv
from qcowgui.gui.models.table import TableModel
from qcowgui.gui.theme import Theme

_MAX_COLUMN_WIDTH: Final = 460
_COLUMN_GAP: Final = 8
_ROWS_MEASURED: Final = 100  # for the columns' widths; a table may have a hundred thousand
_EMPTY: Final = Table((Column(""),), ())


class DataTable(QTableView):
    """Shows a `Table`; copies cells, rows or all of it as tab-separated text.

    Signals:
        row_selected: The current row is another: its index in the table.
        row_activated: A row was double-clicked, or Enter pressed on it: its index in the table.
    """

    row_selected = Signal(int)
    row_activated = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = TableModel(_EMPTY, theme, self)
        self.setModel(self._model)
        self.selectionModel().currentRowChanged.connect(self._current_changed)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._show_menu)
        self.doubleClicked.connect(self._activate)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setResizeContentsPrecision(_ROWS_MEASURED)
        self._size_rows()
        theme.changed.connect(self.viewport().update)

    @property
    def table(self) -> Table:
        """What is shown."""
        return self._model.table

    def set_table(self, table: Table) -> None:
        """Show `table` in its own order, nothing selected."""
        self.setSortingEnabled(False)
        self._model.set_table(table)
        self.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(table.sortable)
        self._fit_columns()

    def current_row(self) -> int | None:
        """The index of the current row in the table, or None."""
        index = self.currentIndex()
        return self._model.table_row(index.row()) if index.isValid() else None

    def select_row(self, row: int) -> None:
        """Select a row of the table and bring it into view."""
        if not 0 <= row < self._model.rowCount():
            return
        model_row = self._model.model_row(row)
        self.selectRow(model_row)
        self.scrollTo(self._model.index(model_row, 0))

    def needed_height(self) -> int:
        """The height in pixels at which every row is visible, a bar to scroll sideways included."""
        rows = self._model.rowCount() * self.verticalHeader().defaultSectionSize()
        bar = self.horizontalScrollBar().sizeHint().height()
        header = self.horizontalHeader().sizeHint().height()
        return header + rows + bar + 2 * self.frameWidth()

    def copy_cells(self) -> None:
        """Copy the selected cells, each row of them a line."""
        rows: dict[int, dict[int, str]] = {}
        for index in self.selectedIndexes():
            rows.setdefault(index.row(), {})[index.column()] = str(index.data())
        columns = sorted({column for cells in rows.values() for column in cells})
        lines = [[rows[row].get(column, "") for column in columns] for row in sorted(rows)]
        if lines:
            QGuiApplication.clipboard().setText(tsv(lines))

    def copy_rows(self) -> None:
        """Copy the whole rows in which a cell is selected."""
        rows = sorted({index.row() for index in self.selectedIndexes()})
        if rows:
            QGuiApplication.clipboard().setText(
                tsv([self._model.row_at(row).cells for row in rows])
            )

    def copy_table(self) -> None:
        """Copy everything, headings included, in the order shown."""
        titles = [column.title for column in self._model.table.columns]
        rows = [self._model.row_at(row).cells for row in range(self._model.rowCount())]
        QGuiApplication.clipboard().setText(tsv([titles, *rows]))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy with the system's key, activate with Enter."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_cells()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._activate(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _size_rows(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 11)

    def _fit_columns(self) -> None:
        columns = self._model.table.columns
        wide = next((i for i, column in enumerate(columns) if column.wide), len(columns) - 1)
        header = self.horizontalHeader()
        mode = QHeaderView.ResizeMode
        header.setStretchLastSection(False)
        for index in range(len(columns)):
            header.setSectionResizeMode(index, mode.Stretch if index == wide else mode.Interactive)
        self.resizeColumnsToContents()
        for index in range(len(columns)):
            if index != wide:
                width = min(header.sectionSize(index) + _COLUMN_GAP, _MAX_COLUMN_WIDTH)
                header.resizeSection(index, width)

    def _current_changed(self, current: QModelIndex) -> None:
        if current.isValid():
            self.row_selected.emit(self._model.table_row(current.row()))

    def _activate(self, index: QModelIndex) -> None:
        if index.isValid():
            self.row_activated.emit(self._model.table_row(index.row()))

    def make_menu(self) -> QMenu:
        """The context menu; it deletes itself when it closes."""
        some = bool(self.selectedIndexes())
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Copy"), self.copy_cells).setEnabled(some)
        menu.addAction(self.tr("Copy rows"), self.copy_rows).setEnabled(some)
        menu.addAction(self.tr("Copy table"), self.copy_table)
        return menu

    def _show_menu(self, position: QPoint) -> None:
        self.make_menu().popup(self.viewport().mapToGlobal(position))
