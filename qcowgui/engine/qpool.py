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
from qcowgui.errors import QcowError

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


def startable_threads(wanted: int) -> int:
    """How many threads, up to `wanted`, the system lets this process start now.

    QThreadPool doesn't notice that a thread could not be started (a limit on processes or on
    memory): its worker would never run, and a run never end. Python's threads do notice.

    Raises:
        QcowError: When not a single one can be started.
    """
    release = threading.Event()
    probes: list[threading.Thread] = []
    try:
        while len(probes) < wanted:
            probe = threading.Thread(target=release.wait)
            probe.start()
            probes.append(probe)
    except (RuntimeError, MemoryError) as error:
        if not probes:
            raise QcowError(
                f"The system lets this process start no thread: {error}",
                hint="a limit on processes or memory is reached",
            ) from error
    finally:
        release.set()
        for probe in probes:
            probe.join()
    return len(probes)


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
        """Start `worker(worker_index)` once per thread and return at once. See Executor.

        Where the system allows fewer threads, fewer workers run.

        Raises:
            QcowError: When it allows none.
        """
        threads = startable_threads(self._threads)
        running = WorkerRun(worker, token, threads)
        with self._lock:
            self._release_finished()
            for worker_index in range(threads):
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
