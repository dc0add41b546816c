"""The line above the queue: how far it is as a whole, and what can be done with all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from qcowgui.gui.jobs import Job, JobController, JobState
from qcowgui.gui.queue_text import total_text
from qcowgui.gui.queue_total import QueueTotal
from qcowgui.gui.theme import SPACING

_BAR_STEPS: Final = 1000
_REST_MS: Final = 40
"""A folder with a thousand images changes the queue a thousand times in a moment."""


class QueueBar(QWidget):
    """Follows a controller.

    Attributes:
        total: What the bar shows.

    Signals:
        add_requested: "Convert…" was clicked.
        finished: Everything that was asked for has ended: the QueueTotal.
    """

    add_requested = Signal()
    finished = Signal(object)

    def __init__(self, controller: JobController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._controller = controller
        self.total = QueueTotal()
        self._told = True
        self.text = QLabel()
        self.bar = QProgressBar()
        self.bar.setRange(0, _BAR_STEPS)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(self.tr("Progress of all conversions"))
        self.resume = self._button(self.tr("Resume all"), controller.resume_interrupted)
        self.pause = self._button(self.tr("Pause"), self._pause)
        self.cancel = self._button(self.tr("Cancel all"), controller.cancel_all)
        self.clear = self._button(self.tr("Remove finished"), self._clear)
        self.add = self._button(self.tr("Convert…"), self.add_requested.emit)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(SPACING + 2, SPACING // 2, SPACING + 2, 0)
        layout.setSpacing(SPACING)
        layout.addWidget(self.text)
        layout.addWidget(self.bar, 1)
        layout.addStretch()
        for button in (self.resume, self.pause, self.cancel, self.clear, self.add):
            layout.addWidget(button)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._catch_up)
        self._stale = False
        controller.job_added.connect(self._note)
        controller.job_changed.connect(self._note)
        controller.job_removed.connect(self._forget)
        self.refresh()

    def refresh(self) -> None:
        """Show the queue as it is now."""
        jobs = self._controller.jobs
        states = {job.state for job in jobs}
        unfinished = any(not state.ended for state in states)
        self.text.setText(total_text(self.total))
        self.text.setVisible(bool(self.text.text()))
        self.bar.setVisible(unfinished)
        self.bar.setValue(round(self.total.fraction * _BAR_STEPS))
        self.resume.setVisible(JobState.INTERRUPTED in states)
        paused = JobState.PAUSED in states
        self.pause.setVisible(paused or JobState.RUNNING in states)
        self.pause.setText(self.tr("Resume") if paused else self.tr("Pause"))
        self.cancel.setVisible(unfinished)
        self.clear.setVisible(bool(states & {JobState.DONE, JobState.CANCELLED}))

    def _note(self, job: Job) -> None:
        self.total.note(job)
        if not job.state.ended:
            self._told = False
        elif not self._told and self.total.ended == self.total.count:
            self._told = True
            self.finished.emit(self.total)
        self._refresh_soon()

    def _forget(self, job: Job) -> None:
        self.total.forget(job)
        self._refresh_soon()

    def _refresh_soon(self) -> None:
        """Show the queue now, unless that was done a moment ago."""
        if self._rest.isActive():
            self._stale = True
        else:
            self.refresh()
            self._rest.start()

    def _catch_up(self) -> None:
        if self._stale:
            self._stale = False
            self._refresh_soon()

    def _pause(self) -> None:
        job = self._controller.running
        if job is None:
            return
        if job.state is JobState.PAUSED:
            self._controller.resume(job)
        else:
            self._controller.pause(job)

    def _clear(self) -> None:
        for job in self._controller.jobs:
            if job.state in (JobState.DONE, JobState.CANCELLED):
                self._controller.remove(job)

    def _button(self, text: str, clicked: Callable[[], object]) -> QPushButton:
        button = QPushButton(text)
        button.setProperty("flat", True)
        button.clicked.connect(lambda _checked=False: clicked())
        return button
