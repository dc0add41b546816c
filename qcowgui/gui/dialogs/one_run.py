"""The work of a dialog: one piece at a time, stopped when the dialog is closed."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import QObject
from shiboken6 import isValid

from qcowgui.engine.qpool import QPoolExecutor
from qcowgui.engine.work import CancelToken, Outcome
from qcowgui.gui.background import BackgroundRunner, Finished, Work

T = TypeVar("T")


class OneRun:
    """Runs at most one piece of work for `owner`; a later one overtakes an earlier one.

    What was overtaken or dropped reports nothing any more, nor does anything to an owner that Qt
    has deleted. An owner that closes calls `drop`.
    """

    def __init__(self, runner: BackgroundRunner, owner: QObject) -> None:
        self._runner = runner
        self._owner = owner
        self._token: CancelToken | None = None

    @property
    def active(self) -> bool:
        """Whether something runs that will report."""
        return self._token is not None

    def start(
        self,
        work: Work[T],
        finished: Finished[T],
        *,
        token: CancelToken | None = None,
        executor: QPoolExecutor | None = None,
    ) -> None:
        """Start `work` beside the window.

        Args:
            work: What to run; it must not refer to anything of Qt.
            finished: Called in the GUI's thread with the outcome, also when it was stopped.
            token: Stops the work; by default a new one.
            executor: What the work runs on; it is closed when the work has returned.

        Raises:
            QcowError: When the system lets this process start no thread.
        """
        self.drop()
        own = token or CancelToken()

        def ended(outcome: Outcome, value: T | None) -> None:
            if executor is not None:
                executor.close()  # its workers have returned
            if own is self._token:
                self._token = None
                if isValid(self._owner):
                    finished(outcome, value)

        self._runner.submit(work, ended, token=own)
        self._token = own

    def stop(self) -> None:
        """Ask what runs to stop; it still reports that it was stopped."""
        if self._token is not None:
            self._token.cancel()

    def drop(self) -> None:
        """Stop what runs, and take no report of it."""
        self.stop()
        self._token = None
