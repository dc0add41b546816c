"""The table of the findings dock: kinds that open and close, rows that lead to their place."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QMenu, QTableView, QWidget

from qcowgui.gui.finding_list import ListRow
from qcowgui.gui.formatters import tsv
from qcowgui.gui.models.findings_model import FindingColumn, FindingsModel
from qcowgui.gui.theme import Theme

_ROWS_MEASURED: Final = 60
_WIDTHS: Final = {
    FindingColumn.WHERE: (200, 330),
    FindingColumn.GUEST: (190, 240),
    FindingColumn.CODE: (0, 220),
}
"""The least and the most: rows that are not there yet need room, too."""
_COLUMN_GAP: Final = 8
_MAX_COPIED: Final = 100_000


class FindingsTable(QTableView):
    """Shows a `FindingsModel`; the keyboard opens and closes kinds as in a tree.

    Signals:
        finding_chosen: A finding was clicked, or Enter pressed on it: the Finding.
        all_wanted: Somebody wants to see all findings of a kind: its index in the list.
    """

    finding_chosen = Signal(object)
    all_wanted = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.findings = FindingsModel(theme, self)
        self.setModel(self.findings)
        self.setAccessibleName(self.tr("Findings"))
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 11)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setResizeContentsPrecision(_ROWS_MEASURED)
        header.setStretchLastSection(False)
        header.setSectionResizeMode(FindingColumn.WHAT, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(24)
        self.clicked.connect(self._clicked)
        self.doubleClicked.connect(self._double_clicked)
        self.customContextMenuRequested.connect(self._show_menu)
        theme.changed.connect(self.viewport().update)

    # ---------------------------------------------------------------- rows

    def current_row(self) -> int | None:
        """The current row, or None."""
        index = self.currentIndex()
        return index.row() if index.isValid() else None

    def select_row(self, row: int) -> None:
        """Make a row the current one and bring it into view."""
        if 0 <= row < self.findings.rowCount():
            self.setCurrentIndex(self.findings.index(row, FindingColumn.WHAT))
            self.selectRow(row)

    def step(self, step: int) -> bool:
        """Choose the next finding (1) or the one before (-1); False when there is none."""
        row = self.findings.list.step(self.current_row(), step)
        if row is None:
            return False
        self.select_row(row)
        self._choose(self.findings.list.row(row))
        return True

    def toggle(self, group: int) -> None:
        """Open a kind, or close it."""
        self.findings.set_expanded(group, not self.findings.list.is_expanded(group))

    def fit_columns(self) -> None:
        """Give the columns the width that their first rows need."""
        self.resizeColumnsToContents()
        for column in FindingColumn:
            if column is not FindingColumn.WHAT:
                width = self.columnWidth(column) + _COLUMN_GAP
                least, most = _WIDTHS.get(column, (0, width))
                self.setColumnWidth(column, max(least, min(width, most)))

    # ---------------------------------------------------------------- copying

    def copy_cells(self) -> None:
        """Copy the selected rows: a part of a row would lose what it is about."""
        self.copy_rows()

    def copy_rows(self) -> None:
        """Copy the selected rows."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        if rows:
            QGuiApplication.clipboard().setText(self.findings.row_tsv(rows[:_MAX_COPIED]))

    def copy_table(self) -> None:
        """Copy everything that is shown, headings included."""
        rows = list(range(min(self.findings.rowCount(), _MAX_COPIED)))
        text = "\n".join(filter(None, (tsv([self.findings.titles()]), self.findings.row_tsv(rows))))
        QGuiApplication.clipboard().setText(text)

    def make_menu(self) -> QMenu:
        """The context menu; it deletes itself when it closes."""
        some = self.selectionModel().hasSelection()
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Copy rows"), self.copy_rows).setEnabled(some)
        menu.addAction(self.tr("Copy all that is shown"), self.copy_table)
        row = self.current_row()
        if row is not None:
            group = self.findings.list.row(row).group
            if self.findings.list.missing(group) and not self.findings.list.was_searched(group):
                menu.addSeparator()
                menu.addAction(self.tr("List all of this kind"), lambda: self._want_all(group))
        return menu

    # ---------------------------------------------------------------- keyboard and mouse

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy with the system's key; Enter chooses; Left and Right close and open a kind."""
        row = self.current_row()
        key = event.key()
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_rows()
        elif row is None:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.findings.list.row(row))
        elif key in (Qt.Key.Key_Right, Qt.Key.Key_Plus):
            self.findings.set_expanded(self.findings.list.row(row).group, True)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Minus):
            self._close(row)
        elif key == Qt.Key.Key_Space:
            self.toggle(self.findings.list.row(row).group)
        else:
            super().keyPressEvent(event)

    def _close(self, row: int) -> None:
        """Close the kind that a row belongs to, and stay there."""
        group = self.findings.list.row(row).group
        start = self.findings.list.row_of_group(group)
        self.findings.set_expanded(group, False)
        if start is not None:
            self.select_row(start)

    def _clicked(self, index: QModelIndex) -> None:
        row = self.findings.list.row(index.row())
        if QGuiApplication.keyboardModifiers() & (
            Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier
        ):
            return  # somebody selects rows to copy them
        if index.column() == FindingColumn.SEVERITY and not self.findings.is_inside(row):
            self.toggle(row.group)
        self._choose(row)

    def _double_clicked(self, index: QModelIndex) -> None:
        row = self.findings.list.row(index.row())
        if index.column() != FindingColumn.SEVERITY and not self.findings.is_inside(row):
            self.toggle(row.group)

    def _choose(self, row: ListRow) -> None:
        if row.is_more:
            self._want_all(row.group)
            return
        finding = self.findings.list.finding_at(row)
        if finding is not None:
            self.finding_chosen.emit(finding)

    def _want_all(self, group: int) -> None:
        if not self.findings.list.was_searched(group):
            self.all_wanted.emit(group)

    def _show_menu(self, position: QPoint) -> None:
        self.make_menu().popup(self.viewport().mapToGlobal(position))
