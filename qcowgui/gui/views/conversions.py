"""The panel of conversions: the queue, a row for each job, and how fast the running one is."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from PySide6.QtCore import QPoint, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from qcowgui.gui.drops import DropTarget, sort_urls
from qcowgui.gui.jobs import Job, JobController, JobState
from qcowgui.gui.theme import SPACING, Theme
from qcowgui.gui.views.queue_bar import QueueBar
from qcowgui.gui.views.queue_drop import DropZones, convert_zone
from qcowgui.gui.views.queue_plot import ThroughputPlot
from qcowgui.gui.views.queue_row import JobRow

_ROWS_AT_ONCE: Final = 20
_TURN_SECONDS: Final = 0.02
_WIDTH_WITH_PLOT: Final = 860


class ConversionsPanel(QWidget):
    """Every job of a controller in the order in which they run. Files can be dropped on it.

    Signals:
        open_requested, allow_requested, edit_requested: As in JobRow.
        add_requested: A person wants to convert something.
        dropped: Files and folders to convert: a tuple of paths.
        refused: Sentences about what was dropped and can't be converted: a tuple of texts.
    """

    open_requested = Signal(str)
    allow_requested = Signal(object)
    edit_requested = Signal(object)
    add_requested = Signal()
    dropped = Signal(object)
    refused = Signal(object)

    def __init__(
        self, controller: JobController, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._controller = controller
        self._theme = theme
        self._states: dict[Job, JobState] = {}
        self._ends: tuple[Job, ...] = ()
        self.rows: dict[Job, JobRow] = {}
        self._without_row: list[Job] = []
        self._made_rows = 0
        self._turn = QTimer(self)
        self._turn.setSingleShot(True)
        self._turn.timeout.connect(self._make_more_rows)
        self._reveal = QTimer(self)  # a row that is new has its place only after this turn
        self._reveal.setSingleShot(True)
        self._reveal.timeout.connect(self._reveal_running)
        self.bar = QueueBar(controller)
        self.bar.add_requested.connect(self.add_requested)
        self.plot = ThroughputPlot(theme)
        self._list = QScrollArea()
        self._build()
        self._zones = DropZones([convert_zone()], theme, self)
        target = DropTarget(self)
        target.held.connect(self._zones.hold)
        target.left.connect(self._zones.hide)
        target.dropped.connect(self._drop)
        controller.job_added.connect(self._add)
        controller.job_changed.connect(self._refresh)
        controller.job_removed.connect(self._remove)
        controller.order_changed.connect(self._arrange)
        for job in controller.jobs:
            self._add(job)

    def _build(self) -> None:
        self._list.setWidgetResizable(True)
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        self._list.setAccessibleName(self.tr("Conversions"))
        self._nothing = QLabel(
            self.tr("No conversion yet: drop images or folders here, or File → Convert… (Ctrl+E)")
        )
        self._nothing.setProperty("muted", True)
        self._nothing.setWordWrap(True)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        inner = QWidget()
        self._column = QVBoxLayout(inner)
        self._column.setContentsMargins(SPACING + 2, SPACING // 2, SPACING + 2, SPACING)
        self._column.setSpacing(SPACING - 2)
        self._column.addWidget(self._nothing)
        self._column.addStretch(1)
        self._list.setWidget(inner)
        below = QHBoxLayout()
        below.setSpacing(0)
        below.addWidget(self._list, 3)
        below.addWidget(self.plot, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.bar)
        layout.addLayout(below, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give all of the width to the rows when there is little."""
        super().resizeEvent(event)
        self.plot.set_room(self.width() >= _WIDTH_WITH_PLOT)

    # ---------------------------------------------------------------- following the queue

    def _add(self, job: Job) -> None:
        """Make a row for a job; of very many, the window's thread makes some at a time."""
        self._nothing.hide()
        self._states[job] = job.state
        if self._made_rows < _ROWS_AT_ONCE and not self._without_row:
            self._make_row(job)
        else:
            self._without_row.append(job)
        self._turn.start()

    def _make_more_rows(self) -> None:
        turn_ends = time.monotonic() + _TURN_SECONDS
        self._made_rows = 0
        while self._without_row and time.monotonic() < turn_ends:
            self._make_row(self._without_row.pop(0))
        if self._without_row:
            self._turn.start()

    def _make_row(self, job: Job) -> None:
        self._made_rows += 1
        row = JobRow(job, self._controller, self._theme)
        row.open_requested.connect(self.open_requested)
        row.allow_requested.connect(self.allow_requested)
        row.edit_requested.connect(self.edit_requested)
        self.rows[job] = row
        self._column.insertWidget(self._column.count() - 1, row)
        row.chain_focus()  # which Qt does not do while a row is alone
        if job.state.under_way:
            self._reveal.start()
        self._refresh_moves()

    def _refresh(self, job: Job) -> None:
        row = self.rows.get(job)
        if row is not None:
            row.refresh()
        if self._states[job] is not job.state:
            self._state_changed(job)
        if job.state.under_way:
            self.plot.show_job(job)

    def _state_changed(self, job: Job) -> None:
        begins = job.state is JobState.RUNNING and not self._states[job].under_way
        self._states[job] = job.state
        self._refresh_moves()
        if begins:
            self._reveal.start()
        elif job.state.ended and job is self.plot.job:
            self.plot.show_job(job)

    def _reveal_running(self) -> None:
        """Scroll to the row that runs, below however many that have ended."""
        row = self.rows.get(self._controller.running) if self._controller.running else None
        if row is not None:
            self._list.ensureWidgetVisible(row, 0, SPACING)

    def _refresh_moves(self) -> None:
        """Only the first and the last row that wait can move in one direction alone."""
        waiting = [job for job in self._controller.jobs if job.state is JobState.WAITING]
        ends = (*waiting[:1], *waiting[-1:])
        for job in {*ends, *self._ends} & self.rows.keys():
            self.rows[job].refresh_moves()
        self._ends = ends

    def _remove(self, job: Job) -> None:
        del self._states[job]
        row = self.rows.pop(job, None)
        if row is None:
            self._without_row.remove(job)
        else:
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.plot.forget_job(job)
        self._nothing.setVisible(not self._states)
        self._refresh_moves()

    def _arrange(self) -> None:
        """Put the rows into the order of the queue; the keyboard stays where it is."""
        focus: QWidget | None = self.focusWidget()  # the stubs don't know that there may be none
        made = [job for job in self._controller.jobs if job in self.rows]
        self._without_row.sort(key=self._controller.jobs.index)
        previous: QWidget = self.bar.add
        for index, job in enumerate(made, start=1):  # 0 says that there is none
            self._column.insertWidget(index, self.rows[job])
            previous = self.rows[job].chain_focus(previous)
        self._refresh_moves()
        if focus is not None and focus.isEnabled():
            focus.setFocus(Qt.FocusReason.OtherFocusReason)

    # ---------------------------------------------------------------- dropping

    def _drop(self, urls: list[QUrl], _place: QPoint) -> None:
        dropped = sort_urls(urls, folders=True)
        if dropped.refusals:
            self.refused.emit(dropped.refusals)
        if dropped.paths:
            paths: tuple[Path, ...] = dropped.paths
            self.dropped.emit(paths)
