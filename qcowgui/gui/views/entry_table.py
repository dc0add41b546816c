"""A table of entries with its filter: L1, L2, refcount table and blocks, bitmap tables."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from qcowgui.engine.work import CancelToken, Failed, Outcome
from qcowgui.errors import QcowError
from qcowgui.gui.formatters import Column
from qcowgui.gui.models.entry_feed import EntryFeed, FeedState
from qcowgui.gui.models.entry_filter import EntryFilter, EntryOrder
from qcowgui.gui.models.entry_models import CopyWork
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import Session
from qcowgui.gui.structures import StructureKey, entry_table_title
from qcowgui.gui.theme import Theme
from qcowgui.gui.translation import count_text
from qcowgui.gui.views.boundary import Boundary
from qcowgui.gui.views.entry_filter_bar import EntryFilterBar
from qcowgui.gui.views.entry_grid import EntryGrid
from qcowgui.gui.views.placeholder import Placeholder

MAX_COPIED_ROWS: Final = 1 << 18
"""ours: rows that are copied at once, some 40 MB of text."""


class EntryTable(QWidget):
    """Shows the table of entries that the session's selection is in, with its row.

    A cluster that an entry maps is shown as that entry. What is in no table of entries leaves it
    as it was. While it is hidden it does nothing.

    Signals:
        status_changed: What the selected row says, or what became of a command; maybe empty.
    """

    status_changed = Signal(str)

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._row: int | None = None
        self._fitted: tuple[Column, ...] = ()
        self._copying: CancelToken | None = None
        self.feed = EntryFeed(session, self)
        self.bar = EntryFilterBar()
        self.grid = EntryGrid(theme)
        self.message = Placeholder("", busy=True)
        self.note = QLabel()
        self.note.setProperty("tone", "warning")
        self.note.setWordWrap(True)
        self.note.hide()
        self._stack = QStackedWidget()
        self._stack.addWidget(self.grid)
        self._stack.addWidget(self.message)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self.bar.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        for widget in (Boundary(self.bar), self.note, self._stack):
            layout.addWidget(widget)
        layout.setStretchFactor(self._stack, 1)
        self._connect()
        self._follow_selection()
        self._show_rows()

    def abandon(self) -> None:
        """Take no more results: the tab is being closed."""
        self.feed.abandon()
        if self._copying is not None:
            self._copying.cancel()
            self._copying = None

    def go_to_entry(self, entry: int) -> None:
        """Select an entry, filtered out or not."""
        rows = self.feed.rows
        if rows is None or not 0 <= entry < len(rows.arrays):
            text = self.tr("The table has no entry {entry}.").format(entry=f"{entry:,}")
            self.bar.refuse_entry(text)
            return
        if self.grid.entries.model_row(entry) is None:
            self.bar.show_filter(rows.key, EntryFilter())
            self._arrange()
        self._select(entry)
        self.grid.setFocus(Qt.FocusReason.OtherFocusReason)

    def _connect(self) -> None:
        session = self._session
        session.changed.connect(self._follow_selection)
        session.selection_changed.connect(self._follow_selection)
        session.index_changed.connect(self._follow_selection)
        self.feed.rows_changed.connect(self._show_rows)
        self.feed.shown_changed.connect(self._show_order)
        self.feed.busy_changed.connect(self._show_count)
        self.bar.changed.connect(self._arrange)
        self.bar.entry_requested.connect(self.go_to_entry)
        self.bar.refused.connect(self.status_changed)
        self.bar.left.connect(self.grid.setFocus)
        self.grid.entry_selected.connect(self._select)
        self.grid.entry_activated.connect(self._follow_entry)
        self.grid.order_requested.connect(self._sort)
        self.grid.copy_requested.connect(self._copy)

    # ---------------------------------------------------------------- selection

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what was selected while it was hidden."""
        super().showEvent(event)
        self._follow_selection()

    def _follow_selection(self) -> None:
        locator = self._session.locator
        if locator is None or self._session.inspected is None or not self.isVisible():
            return
        found = locator.entry_of(self._session.selection)
        if found is None or not found.structure.is_entry_table:
            return
        self._row = found.row
        self.feed.show_table(found)
        report = self._session.inspected.report
        self.grid.setAccessibleName(entry_table_title(found.table, report))
        self._show_current()

    def _show_current(self) -> None:
        """Bring the row of the selection into view, unless the filter hides it."""
        if self.feed.rows is None or self._row is None:
            return
        if self.grid.current_entry() != self._row:
            with QSignalBlocker(self.grid):
                self.grid.select_entry(self._row)
        if self._row < len(self.feed.rows.arrays):
            cells = self.feed.rows.row(self._row).cells
            parts = [
                f"{column.title} {cell}" if column.monospaced else cell
                for column, cell in zip(self.grid.entries.columns, cells, strict=True)
                if cell not in ("", "–")
            ]
            self.status_changed.emit("  ·  ".join(parts))

    def _select(self, entry: int) -> None:
        table = self.feed.table
        if table is not None and self.feed.rows is not None:
            self._session.select(Selection(table.structure, entry, table.part, table.snapshot))

    def _follow_entry(self, entry: int) -> None:
        """Select what an entry points to: a table as its first row, else the cluster."""
        table, rows, locator = self.feed.table, self.feed.rows, self._session.locator
        if table is None or rows is None or locator is None or self._session.inspected is None:
            return
        offset = rows.arrays.host_offset(entry)
        if not offset and table.structure is not StructureKey.REFCOUNT_BLOCK:
            self.status_changed.emit(self.tr("This entry points to nothing."))
        elif table.structure is StructureKey.L1:
            self._session.select(Selection(StructureKey.L2, None, entry, table.snapshot))
        elif table.structure is StructureKey.REFCOUNT_TABLE:
            self._session.select(Selection(StructureKey.REFCOUNT_BLOCK, None, entry))
        elif table.structure is StructureKey.L2 and not bool(rows.arrays.refcounts.about[entry]):
            self.status_changed.emit(self.tr("This cluster is not in the image file."))
        else:
            self._session.select(locator.at_host(offset))

    # ---------------------------------------------------------------- rows

    def _arrange(self) -> None:
        self.feed.arrange(self.bar.wanted, self.feed.order)

    def _sort(self, order: EntryOrder) -> None:
        self.feed.arrange(self.feed.wanted, order)

    def _show_rows(self) -> None:
        feed = self.feed
        with QSignalBlocker(self.grid):
            self.grid.entries.set_rows(feed.rows, feed.shown)
        self.grid.show_order(feed.order)
        # Another table of the kind keeps the columns as a person has made them.
        if feed.rows is not None and self.grid.entries.columns != self._fitted:
            self._fitted = self.grid.entries.columns
            for section in range(len(self.grid.entries.columns)):
                self.grid.setColumnHidden(section, False)
            self.grid.fit_columns()
        if feed.table is not None:
            self.bar.show_filter(feed.table.structure, feed.wanted)
        self.bar.setEnabled(feed.rows is not None)
        self._stack.setCurrentWidget(self.message if feed.rows is None else self.grid)
        self.message.label.setText(self._message())
        self.message.bar.setVisible(feed.state is FeedState.LOADING)
        self._show_note()
        self._show_count()
        self._show_current()

    def _show_order(self) -> None:
        with QSignalBlocker(self.grid):
            self.grid.entries.set_rows(self.feed.rows, self.feed.shown)
        self.grid.show_order(self.feed.order)
        self._show_count()
        self._show_current()

    def _show_count(self) -> None:
        rows = self.feed.rows
        total = 0 if rows is None else len(rows.arrays)
        self.bar.show_count(self.grid.entries.rowCount(), total, busy=self.feed.busy)

    def _show_note(self) -> None:
        rows = self.feed.rows
        missing = 0 if rows is None else rows.arrays.missing
        self.note.setVisible(missing > 0)
        if missing:
            count = count_text(missing, "entry", "entries")
            self.note.setText(
                self.tr("{count} more should follow; the file ends before them.").format(
                    count=count
                )
            )

    def _message(self) -> str:
        match self.feed.state:
            case FeedState.LOADING:
                return self.tr("Reading the table…")
            case FeedState.ABSENT:
                return self.tr("The image names no table here.")
            case FeedState.FAILED:
                error = self.feed.error
                return self.tr("The table can't be read: {reason}").format(
                    reason="" if error is None else error.message
                )
            case _:
                return self.tr("Select a table in the structures.")

    # ---------------------------------------------------------------- copying

    def _copy(self, ranges: list[tuple[int, int]], sections: list[int], titles: bool) -> None:
        rows = self.feed.rows
        if rows is None:
            return
        entries = self.grid.entries.entries(ranges)
        wanted = len(entries)
        entries = entries[:MAX_COPIED_ROWS]
        token = self._copying = CancelToken()
        work = CopyWork(rows, entries, sections, titles=titles)

        def finished(outcome: Outcome, text: str | None) -> None:
            if token is self._copying:
                self._copying = None
                self._take_copy(outcome, text, len(entries), wanted)

        self._session.runner.submit(work, finished, token=token)

    def _take_copy(self, outcome: Outcome, text: str | None, copied: int, wanted: int) -> None:
        if text is not None:
            QGuiApplication.clipboard().setText(text)
            said = self.tr("Copied {count}.").format(count=count_text(copied, "row"))
            if copied < wanted:
                said += " " + self.tr("There were {count}: more can't be copied at once.").format(
                    count=f"{wanted:,}"
                )
            self.status_changed.emit(said)
        elif isinstance(outcome, Failed) and not isinstance(outcome.error, QcowError):
            raise outcome.error
