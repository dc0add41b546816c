"""The table view of the window: every cell can be selected and copied."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QModelIndex, QPoint, QSortFilterProxyModel, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QMenu, QTableView, QWidget

from qcowgui.gui.formatters import Table, tsv
from qcowgui.gui.models.table import SORT_ROLE, TableModel
from qcowgui.gui.theme import Theme

_MAX_COLUMN_WIDTH: Final = 460


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
        self._theme = theme
        self._model: TableModel | None = None
        self._proxy = QSortFilterProxyModel(self)
        self._proxy.setSortRole(SORT_ROLE)
        self.setModel(self._proxy)
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
        header.setStretchLastSection(True)
        header.setHighlightSections(False)
        self._size_rows()
        theme.changed.connect(self.viewport().update)

    @property
    def table(self) -> Table | None:
        """What is shown."""
        return self._model.table if self._model else None

    def set_table(self, table: Table) -> None:
        """Show `table`, its first row current."""
        old = self._model
        self._model = TableModel(table, self._theme, self)
        self.setSortingEnabled(False)
        self._proxy.setSourceModel(self._model)
        self._proxy.sort(-1)
        if old is not None:
            old.deleteLater()
        self.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(table.sortable)
        self.selectionModel().currentRowChanged.connect(self._current_changed)
        self._fit_columns()

    def current_row(self) -> int | None:
        """The index of the current row in the table, or None."""
        index = self._proxy.mapToSource(self.currentIndex())
        return index.row() if index.isValid() else None

    def select_row(self, row: int) -> None:
        """Select a row of the table and bring it into view."""
        if self._model is None or not 0 <= row < self._model.rowCount():
            return
        index = self._proxy.mapFromSource(self._model.index(row, 0))
        self.selectRow(index.row())
        self.scrollTo(index)

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
            QGuiApplication.clipboard().setText(tsv([self._row_texts(row) for row in rows]))

    def copy_table(self) -> None:
        """Copy everything, headings included, in the order shown."""
        if self._model is None:
            return
        titles = [column.title for column in self._model.table.columns]
        rows = [self._row_texts(row) for row in range(self._proxy.rowCount())]
        QGuiApplication.clipboard().setText(tsv([titles, *rows]))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy with the system's key, activate with Enter."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_cells()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._activate(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _row_texts(self, row: int) -> list[str]:
        return [
            str(self._proxy.index(row, column).data())
            for column in range(self._proxy.columnCount())
        ]

    def _size_rows(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 11)

    def _fit_columns(self) -> None:
        self.resizeColumnsToContents()
        header = self.horizontalHeader()
        for column in range(self._proxy.columnCount() - 1):
            header.resizeSection(column, min(header.sectionSize(column) + 8, _MAX_COLUMN_WIDTH))

    def _current_changed(self, current: QModelIndex) -> None:
        index = self._proxy.mapToSource(current)
        if index.isValid():
            self.row_selected.emit(index.row())

    def _activate(self, index: QModelIndex) -> None:
        source = self._proxy.mapToSource(index)
        if source.isValid():
            self.row_activated.emit(source.row())

    def _show_menu(self, position: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Copy"), self.copy_cells).setEnabled(bool(self.selectedIndexes()))
        menu.addAction(self.tr("Copy rows"), self.copy_rows).setEnabled(
            bool(self.selectedIndexes())
        )
        menu.addAction(self.tr("Copy table"), self.copy_table)
        menu.popup(self.viewport().mapToGlobal(position))
