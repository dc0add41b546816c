"""The table of the selected structure: fields of the metadata, or entries by the million."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from qcowgui.gui.selection import Selection
from qcowgui.gui.session import Session
from qcowgui.gui.structures import Structure, entry_table_title
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.data_table import DataTable
from qcowgui.gui.views.entry_grid import EntryGrid
from qcowgui.gui.views.entry_table import EntryTable


class StructurePane(QWidget):
    """Shows the table that the session's selection is in, with its row.

    A cluster that an entry maps is shown as that entry. What is in no table leaves the table as it
    was.

    Signals:
        title_changed: Another table is shown: its name.
        status_changed: What the selected row says, in one line; empty for none.
    """

    title_changed = Signal(str)
    status_changed = Signal(str)

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._shown: Structure | None = None
        self.table = DataTable(theme)
        self.entries = EntryTable(session, theme)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.table)
        self._stack.addWidget(self.entries)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._stack)
        self.entries.status_changed.connect(self.status_changed)
        self.table.row_selected.connect(self._row_selected)
        session.changed.connect(self._show)
        session.index_changed.connect(self._show)
        session.selection_changed.connect(self._show)

    def abandon(self) -> None:
        """Take no more results: the tab is being closed."""
        self.entries.abandon()

    def shown_table(self) -> DataTable | EntryGrid:
        """The table that is shown, for the commands that copy."""
        shown = self._stack.currentWidget()
        return self.entries.grid if shown is self.entries else self.table

    def focus_table(self) -> None:
        """Give the table that is shown the keyboard."""
        self.shown_table().setFocus(Qt.FocusReason.OtherFocusReason)

    def _show(self) -> None:
        session = self._session
        if session.locator is None or session.inspected is None:
            return
        selection = session.locator.entry_of(session.selection)
        if selection is None:
            return
        if selection.structure.is_entry_table:
            self._show_entries(selection)
            return
        structure = session.structure(selection.structure)
        if structure is not None:
            self._show_structure(structure, selection.row)

    def _show_entries(self, selection: Selection) -> None:
        report = self._session.inspected.report if self._session.inspected else None
        if report is None:
            return
        self._stack.setCurrentWidget(self.entries)
        self.title_changed.emit(entry_table_title(selection, report))

    def _show_structure(self, structure: Structure, row: int | None) -> None:
        self._stack.setCurrentWidget(self.table)
        if structure is not self._shown:
            self._shown = structure
            with QSignalBlocker(self.table):
                self.table.set_table(structure.table)
            self.table.setAccessibleName(structure.title)
        self.title_changed.emit(structure.title)
        if row is None:
            self.status_changed.emit("")
            return
        if self.table.current_row() != row:
            with QSignalBlocker(self.table):
                self.table.select_row(row)
        self.status_changed.emit(_row_text(structure, row))

    def _row_selected(self, row: int) -> None:
        if self._shown is not None:
            self._session.select(Selection(self._shown.key, row))


def _row_text(structure: Structure, row: int) -> str:
    """A row in one line: headings and cells of the columns that have something."""
    cells = structure.table.rows[row].cells
    parts = [structure.title, *(cell.strip() for cell in cells[:4] if cell.strip())]
    return "   ·   ".join(parts)
