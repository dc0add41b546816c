"""The product's Executor: workers on a QThreadPool of its own.

The only module below gui/ that imports PySide6, and of it only QtCore. It needs no
QCoreApplication, so the command line uses it as the window does.
"""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Final, Self

from PySide6.QtCore import QRunnable, QThreadPool

from qcowgui.engine.allocator import keep_freed_memory
from qcowgui.engine.work import CancelToken, RunningWork, Worker, WorkerRun, default_threads

if TYPE_CHECKING:
    from types import TracebackType

_EXPIRY_MS: Final = 5_000  # the threads of one job serve its verify; an idle window has none


class _Runnable(QRunnable):
    """One worker of one run. Refers to nothing of Qt, so it may be destroyed in any thread."""

    def __init__(self, running: WorkerRun, worker_index: int) -> None:
        super().__init__()
        self.setAutoDelete(False)
        self._running = running
        self._worker_index = worker_index

    def run(self) -> None:
        self._running.call(self._worker_index)


class QPoolExecutor:
    """Runs each worker as one long QRunnable on a QThreadPool of its own.

    `start` may be called from any thread, also while another run goes on: workers that find no
    free thread then begin when one ends. Close the executor, or use it as a context manager,
    before dropping it: what destroys a QThreadPool waits for its threads.
    """

    def __init__(self, threads: int | None = None) -> None:
        """An executor with `threads` workers; by default one for each usable core.

        Raises:
            ValueError: When `threads` is below 1.
        """
        self._threads = default_threads() if threads is None else threads
        if self._threads < 1:
            raise ValueError(f"an executor needs at least one thread, not {threads}")
        keep_freed_memory()
        self._pool = QThreadPool()
        self._pool.setMaxThreadCount(self._threads)
        self._pool.setExpiryTimeout(_EXPIRY_MS)
        self._lock = threading.Lock()
        self._runnables: list[_Runnable] = []
        # A forgotten executor must not reach QThreadPool's destructor while a worker needs the
        # GIL that the destructor holds; waitForDone lets go of it.
        self._finalizer = weakref.finalize(self, self._pool.waitForDone)

    @property
    def threads(self) -> int:
        """How many workers `start` runs."""
        return self._threads

    def start(self, worker: Worker, token: CancelToken) -> RunningWork:
        """Start `worker(worker_index)` once per thread and return at once. See Executor."""
        running = WorkerRun(worker, token, self._threads)
        with self._lock:
            self._release_finished()
            for worker_index in range(self._threads):
                runnable = _Runnable(running, worker_index)
                self._runnables.append(runnable)
                self._pool.start(runnable)
        return running

    def close(self) -> None:
        """Wait until every worker has returned and every thread has ended.

        It cancels nothing: set the token first. The executor can be used again afterwards.
        """
        self._pool.waitForDone()
        with self._lock:
            self._release_finished()

    def _release_finished(self) -> None:
        # A run can have ended for Python while its thread is still in QRunnable's C++ code; only
        # the pool's own count says that nobody uses the objects any more.
        if self._pool.activeThreadCount() == 0:
            self._runnables.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
