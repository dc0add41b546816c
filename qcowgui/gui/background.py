"""Work beside the window: started here, pulled by a timer, finished in the GUI's thread.

The work is a plain callable that sees a CancelToken. It must not refer to anything of Qt: Python's
garbage collector may run in its thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from qcowgui.engine.qpool import QPoolExecutor
from qcowgui.engine.work import CancelToken, Done, Outcome, RunningWork

T = TypeVar("T")

Work = Callable[[CancelToken], T]
Finished = Callable[[Outcome, "T | None"], None]
"""Called once in the GUI's thread with the outcome and, when it is Done, what the work returned."""

PULL_INTERVAL_MS: Final = 100

_TURN_SECONDS: Final = 0.01
"""After so long, what else has finished is taken in the next turn: many views may draw much from
each result, and the window answers in between."""


@dataclass(slots=True)
class _Result(Generic[T]):
    value: T | None = None


@dataclass(slots=True, eq=False)
class _Run(Generic[T]):
    """One piece of work on its way.

    Attributes:
        executor: A thread of its own, so that work which waits for a slow disk delays no other.
    """

    executor: QPoolExecutor
    running: RunningWork
    result: _Result[T]
    finished: Finished[T]
    token: CancelToken = field(default_factory=CancelToken)


def _work_into(result: _Result[T], work: Work[T], token: CancelToken) -> Callable[[int], None]:
    """A worker that keeps what `work` returns; it holds nothing of Qt."""

    def worker(_: int) -> None:
        result.value = work(token)

    return worker


class BackgroundRunner(QObject):
    """Runs work in threads and reports to the GUI's thread. Belongs to the GUI's thread.

    Signals:
        pulled: Every `interval_ms` while something runs: the moment to look at counters.
        idle: The last running work has finished, and its callback has returned.
    """

    pulled = Signal()
    idle = Signal()

    def __init__(
        self, parent: QObject | None = None, *, interval_ms: int = PULL_INTERVAL_MS
    ) -> None:
        super().__init__(parent)
        self._runs: list[_Run[Any]] = []
        self._timer = QTimer(self)
        self._timer.setInterval(interval_ms)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._pull)

    @property
    def active(self) -> bool:
        """Whether any work has not finished."""
        return bool(self._runs)

    def submit(
        self, work: Work[T], finished: Finished[T], *, token: CancelToken | None = None
    ) -> CancelToken:
        """Start `work(token)` in a thread; `finished` is called here, never before this returns."""
        token = token or CancelToken()
        result: _Result[T] = _Result()
        executor = QPoolExecutor(1)
        running = executor.start(_work_into(result, work, token), token)
        self._runs.append(_Run(executor, running, result, finished, token))
        if not self._timer.isActive():
            self._timer.start()
        return token

    def cancel_all(self) -> None:
        """Ask all work to stop; it finishes as soon as it looks at its token."""
        for run in self._runs:
            run.token.cancel()

    def _pull(self) -> None:
        self.pulled.emit()
        turn_ends = time.monotonic() + _TURN_SECONDS
        for run in list(self._runs):
            outcome = run.running.wait(0)
            if outcome is None:
                continue
            self._runs.remove(run)
            # The worker has returned: this waits only for its thread to leave Qt's code.
            run.executor.close()
            run.finished(outcome, run.result.value if isinstance(outcome, Done) else None)
            if time.monotonic() > turn_ends:
                break
        if not self._runs:
            self._timer.stop()
            self.idle.emit()
