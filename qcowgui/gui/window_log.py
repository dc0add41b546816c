"""Writes into the log what happens to the images and conversions of a window."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from qcowgui.gui.crash_reports import report_text
from qcowgui.gui.diagnostics import circumstances
from qcowgui.gui.jobs import Job, JobController, JobState
from qcowgui.gui.session import CheckState, Session, SessionState
from qcowgui.gui.translation import verdict_text
from qcowgui.gui.views.log_panel import LogPanel


class WindowLog(QObject):
    """Follows sessions and conversions, and says in the log what came of them."""

    def __init__(
        self, panel: LogPanel, controller: JobController, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._panel = panel
        self._ended: set[int] = set()
        controller.job_changed.connect(self._job_changed)

    def follow(self, session: Session) -> None:
        """Write about `session` for as long as it lives."""
        session.changed.connect(lambda: self._session_changed(session))
        session.check_changed.connect(lambda: self._check_changed(session))

    def add(self, line: str, problem: bool = False) -> None:
        """Write a line; whether it tells of a problem."""
        self._panel.add(line, problem=problem)

    def copy_diagnostics(self) -> None:
        """Put on the clipboard what is known of the program and the system, and the log."""
        log = "\n".join(line.text for line in self._panel.lines)
        QGuiApplication.clipboard().setText(report_text(log, circumstances()))

    def _session_changed(self, session: Session) -> None:
        if session.state is SessionState.READY:
            self.add(self.tr("{path}: read").format(path=session.path))
        elif session.state is SessionState.FAILED and session.error is not None:
            self.add(f"{session.path}: {session.error.message}", problem=True)

    def _check_changed(self, session: Session) -> None:
        problem = False
        match session.check_state:
            case CheckState.DONE if session.check is not None:
                check = session.check
                text = verdict_text(check.counts, complete=check.complete)
            case CheckState.CANCELLED:
                text = self.tr("check stopped")
            case CheckState.FAILED if session.check_error is not None:
                text = self.tr("check failed: {reason}").format(reason=session.check_error.message)
                problem = True
            case _:
                return
        self.add(f"{session.path.name}: {text}", problem)

    def _job_changed(self, job: Job) -> None:
        if not job.state.ended:
            self._ended.discard(id(job))
            return
        if id(job) in self._ended:
            return
        self._ended.add(id(job))
        what = f"{job.options.source} → {job.options.target}"
        text = {
            JobState.DONE: self.tr("converted"),
            JobState.CANCELLED: self.tr("cancelled"),
            JobState.INTERRUPTED: self.tr("interrupted"),
        }.get(job.state, f"{job.error}")
        self.add(f"{what}: {text}", problem=job.state is JobState.FAILED)
