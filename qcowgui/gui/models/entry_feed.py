"""Brings a table of entries to the window: read, filtered and sorted in threads beside it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from PySide6.QtCore import QObject, Signal

from qcowgui.engine.work import CancelToken, Done, Failed, Outcome
from qcowgui.errors import QcowError
from qcowgui.gui.host_index import HostIndex
from qcowgui.gui.image_check import CheckState
from qcowgui.gui.models.entry_arrays import TableWork
from qcowgui.gui.models.entry_filter import EntryFilter, EntryOrder, OrderWork, RowNumbers
from qcowgui.gui.models.entry_rows import EntryRows
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import Session
from qcowgui.gui.session_states import SessionState

_AT_ONCE_ROWS: Final = 1 << 13
"""Tables up to this are filtered and sorted without a thread: it takes some 5 ms (2026-11-30)."""


class FeedState(Enum):
    """How far a table is."""

    NONE = auto()
    """No table was asked for."""
    LOADING = auto()
    """It is read; of the table shown before, the rows stay until then."""
    READY = auto()
    ABSENT = auto()
    """The image has no such table."""
    FAILED = auto()


@dataclass(frozen=True, slots=True)
class _RowsWork:
    work: TableWork
    index: HostIndex | None

    def __call__(self, token: CancelToken) -> EntryRows | None:
        arrays = self.work(token)
        return None if arrays is None else EntryRows(arrays, self.index)


class EntryFeed(QObject):
    """One table of entries of a session at a time. Belongs to the GUI's thread.

    Attributes:
        table: Which table is shown, or on its way; None for none.
        state: How far it is.
        error: Why there is nothing, when `state` is FAILED.
        rows: Its rows, when `state` is READY.
        shown: Which of them are shown, in their order; None for all in the order of the file.
        wanted: The filter.
        order: What it is sorted by.

    Signals:
        rows_changed: `state`, `rows` and maybe `shown` are others.
        shown_changed: `shown` is another, of the same rows.
        busy_changed: `busy` is another.
    """

    rows_changed = Signal()
    shown_changed = Signal()
    busy_changed = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.table: Selection | None = None
        self.state = FeedState.NONE
        self.error: QcowError | None = None
        self.rows: EntryRows | None = None
        self.shown: RowNumbers | None = None
        self.wanted = EntryFilter()
        self.order = EntryOrder()
        self._session = session
        self._loading: CancelToken | None = None
        self._ordering: CancelToken | None = None
        session.changed.connect(self._session_changed)
        session.check_changed.connect(self._check_changed)
        session.index_changed.connect(self._index_changed)

    @property
    def busy(self) -> bool:
        """Whether a table is read, filtered or sorted."""
        return self._loading is not None or self._ordering is not None

    def show_table(self, table: Selection) -> None:
        """Show another table, whole and in the order of the file; the same one stays as it is."""
        if table.table == self.table:
            return
        self._stop()
        self.table = table.table
        self.rows, self.shown, self.error = None, None, None
        self.wanted, self.order = EntryFilter(), EntryOrder()
        self.state = FeedState.LOADING
        self.rows_changed.emit()
        self._load()

    def arrange(self, wanted: EntryFilter, order: EntryOrder) -> None:
        """Show what `wanted` leaves of the table, in `order`."""
        if (wanted, order) == (self.wanted, self.order):
            return
        self.wanted, self.order = wanted, order
        if self.rows is not None:
            self._arrange(self.rows, in_place=True)

    def abandon(self) -> None:
        """Take no more results: the tab is being closed."""
        self._stop()

    # ---------------------------------------------------------------- the session

    def _session_changed(self) -> None:
        self._stop()
        if self._session.state is SessionState.READY:
            self._load()
        elif self._session.state is SessionState.FAILED:
            self.table, self.rows, self.shown = None, None, None
            self.state = FeedState.NONE
            self.rows_changed.emit()

    def _check_changed(self) -> None:
        if self._session.check_state is CheckState.DONE:
            self._load()

    def _index_changed(self) -> None:
        if self.rows is not None:
            self.rows = self.rows.with_index(self._session.index)
            self.shown_changed.emit()

    # ---------------------------------------------------------------- reading

    def _stop(self) -> None:
        for token in (self._loading, self._ordering):
            if token is not None:
                token.cancel()
        was_busy = self.busy
        self._loading = self._ordering = None
        if was_busy:
            self.busy_changed.emit()

    def _load(self) -> None:
        session, table = self._session, self.table
        if session.inspected is None or session.source is None or table is None:
            return
        self._stop()
        token = CancelToken()
        ownership = session.check.ownership if session.check else None
        work = TableWork(session.source, session.inspected.report, table, ownership)

        def finished(outcome: Outcome, rows: EntryRows | None) -> None:
            if token is self._loading:
                self._take(outcome, rows)

        self._loading = token
        session.runner.submit(_RowsWork(work, session.index), finished, token=token)
        self.busy_changed.emit()

    def _take(self, outcome: Outcome, rows: EntryRows | None) -> None:
        self._loading = None
        if rows is not None:
            self._arrange(rows.with_index(self._session.index), in_place=False)
            return
        self.rows, self.shown = None, None
        self.state = FeedState.ABSENT if isinstance(outcome, Done) else FeedState.FAILED
        self.error = None
        if isinstance(outcome, Failed) and isinstance(outcome.error, QcowError):
            self.error = outcome.error
        self.rows_changed.emit()
        self.busy_changed.emit()
        if isinstance(outcome, Failed) and self.error is None:
            raise outcome.error

    # ---------------------------------------------------------------- arranging

    def _arrange(self, rows: EntryRows, *, in_place: bool) -> None:
        """Filter and sort `rows`, and show them then: in place of others, or of the same ones."""
        if self._ordering is not None:
            self._ordering.cancel()
        token = self._ordering = CancelToken()
        work = OrderWork(rows, self.wanted, self.order)
        natural = self.wanted.shows_all and self.order.column is None
        if natural or len(rows.arrays) <= _AT_ONCE_ROWS:
            self._show(rows, work(token), in_place=in_place)
            return

        def finished(outcome: Outcome, shown: RowNumbers | None) -> None:
            if token is not self._ordering:
                return
            if isinstance(outcome, Failed):
                self._ordering = None
                raise outcome.error
            self._show(rows, shown, in_place=in_place)

        self._session.runner.submit(work, finished, token=token)
        self.busy_changed.emit()

    def _show(self, rows: EntryRows, shown: RowNumbers | None, *, in_place: bool) -> None:
        self._ordering = None
        self.rows, self.shown, self.error = rows, shown, None
        self.state = FeedState.READY
        if in_place:
            self.shown_changed.emit()
        else:
            self.rows_changed.emit()
        self.busy_changed.emit()
