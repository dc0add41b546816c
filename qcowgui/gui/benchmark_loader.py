"""Running a benchmark beside the window: started, followed, stopped."""

from __future__ import annotations

from enum import Enum, auto
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from qcowgui.convert.benchmark import Progress
from qcowgui.convert.benchmark_plan import BenchmarkPlan
from qcowgui.convert.benchmark_result import Benchmark
from qcowgui.engine.work import (
    CancelledOutcome,
    CancelToken,
    Failed,
    Outcome,
    default_threads,
)
from qcowgui.errors import QcowError, ReferencedFileError
from qcowgui.gui.benchmark_work import BenchmarkWork, SaveWork
from qcowgui.gui.polite import PoliteExecutor
from qcowgui.gui.session import Session
from qcowgui.image.references import Reference
from qcowgui.image.source import Identity


class BenchmarkState(Enum):
    """How far a benchmark is."""

    NONE = auto()
    RUNNING = auto()
    DONE = auto()
    FAILED = auto()
    CANCELLED = auto()


class BenchmarkLoader(QObject):
    """Runs one benchmark at a time. Belongs to the GUI's thread.

    Attributes:
        state: How far it is.
        found: The figures, those so far included; None when there are none.
        error: Why it failed, when `state` is FAILED.
        refused: The files that would have been needed and were not allowed.

    Signals:
        changed: One of these is another.
        progressed: What runs has come on; `found` may have grown.
        saved: The figures are in a file: its path.
        save_failed: They could not be written: a `QcowError`.
    """

    changed = Signal()
    progressed = Signal()
    saved = Signal(object)
    save_failed = Signal(object)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._token: CancelToken | None = None
        self._work: BenchmarkWork | None = None
        self._identities: frozenset[Identity] = frozenset()
        self.state = BenchmarkState.NONE
        self.found: Benchmark | None = None
        self.error: QcowError | None = None
        self.refused: tuple[Reference, ...] = ()
        session.runner.pulled.connect(self._pulled)

    @property
    def progress(self) -> Progress | None:
        """How far it is; None when nothing runs."""
        return None if self._work is None else self._work.progress

    def start(self, plan: BenchmarkPlan) -> None:
        """Measure the session's image; what runs is stopped, what was found is gone.

        Raises:
            QcowError: When the system lets this process start no thread.
        """
        self._drop()
        counts = dict.fromkeys((*plan.threads, default_threads()))
        executors = {threads: PoliteExecutor(threads) for threads in counts}
        gate = self._session.permissions.gate()
        work = BenchmarkWork(self._session.path, gate, plan, executors)
        token = CancelToken()

        def finished(outcome: Outcome, found: Benchmark | None) -> None:
            for executor in executors.values():
                executor.close()  # its workers have returned
            if token is self._token:
                so_far, self._identities = work.found, work.identities
                self._token = self._work = None
                self._take(outcome, found or so_far, tuple(gate.refused))

        self._session.runner.submit(work, finished, token=token)
        self._token, self._work = token, work
        self.state, self.found = BenchmarkState.RUNNING, None
        self.error, self.refused = None, ()
        self.changed.emit()

    def stop(self) -> None:
        """Ask what runs to stop; its figures so far stay."""
        if self._token is not None:
            self._token.cancel()

    def save(self, target: Path) -> None:
        """Write the figures beside the window."""
        if self.found is None or self.state is BenchmarkState.RUNNING:
            return
        work = SaveWork(self._session.path, self._identities, self.found, target)
        self._session.runner.submit(work, self._save_finished)

    def abandon(self) -> None:
        """Take no more results, and say nothing of it: the tab is being closed."""
        self._drop()

    def _drop(self) -> None:
        if self._token is not None:
            self._token.cancel()
        self._token = self._work = None

    def _take(
        self, outcome: Outcome, found: Benchmark | None, refused: tuple[Reference, ...]
    ) -> None:
        error = outcome.error if isinstance(outcome, Failed) else None
        self.found = found if found is not None and found.codecs else None
        if isinstance(outcome, CancelledOutcome):
            self.state = BenchmarkState.CANCELLED
        elif error is None:
            self.state = BenchmarkState.DONE
        else:
            self.state = BenchmarkState.FAILED
            self.error = error if isinstance(error, QcowError) else None
            if isinstance(error, ReferencedFileError) and error.reason == "denied":
                self.refused = refused
        self.changed.emit()
        if error is not None and not isinstance(error, QcowError):
            raise error

    def _save_finished(self, outcome: Outcome, path: Path | None) -> None:
        if path is not None:
            self.saved.emit(path)
        elif isinstance(outcome, Failed):
            if not isinstance(outcome.error, QcowError):
                raise outcome.error
            self.save_failed.emit(outcome.error)

    def _pulled(self) -> None:
        if self._work is not None:
            self.found = self._work.found
            self.progressed.emit()
