"""The product's Executor: workers on a QThreadPool of its own.

The only module below gui/ that imports PySide6, and of it only QtCore. It needs no
QCoreApplication, so the command line uses it as the window does.
"""

from __future__ import annotations

import ctypes
import threading
import time
import weakref
from typing import TYPE_CHECKING, Final, Self

from PySide6.QtCore import QObject, QRunnable, QThreadPool

from qcowgui.engine.allocator import keep_freed_memory
from qcowgui.engine.work import (
    CancelToken,
    Outcome,
    RunningWork,
    Worker,
    WorkerRun,
    default_threads,
)
from qcowgui.errors import QcowError

if TYPE_CHECKING:
    from types import TracebackType

_EXPIRY_MS: Final = 5_000  # the threads of one job serve its verify; an idle window has none
_THREAD_START_SECONDS: Final = 5.0
"""A thread begins within milliseconds; one that has not by then was refused by the system."""
_LOOK_SECONDS: Final = 0.5


class _Runnable(QRunnable):
    """One worker of one run. Refers to no QObject, so it may be destroyed in any thread."""

    def __init__(self, running: _PoolRun, worker_index: int) -> None:
        super().__init__()
        self.setAutoDelete(False)
        self.running = running
        self._worker_index = worker_index

    def run(self) -> None:
        watch = self.running.watch
        watch.entered(self)
        try:
            self.running.call(self._worker_index)
        finally:
            watch.left()


class _Watch:
    """Which runnables of a pool have begun, and so whether one of them never will.

    QThreadPool says nothing when the system refuses it a thread: the runnable never runs, its
    thread counts as active for ever, and whoever waits for the pool waits for ever.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._changed = threading.Condition()
        self._queued: dict[_Runnable, None] = {}
        self._inside = 0
        self._changed_at = time.monotonic()
        self.thread_lost = False

    def expect(self, runnable: _Runnable) -> None:
        """Note a runnable that the pool is about to get."""
        with self._changed:
            self._queued[runnable] = None
            self._note_change()

    def entered(self, runnable: _Runnable) -> None:
        """Note that a runnable has begun."""
        with self._changed:
            self._queued.pop(runnable, None)
            self._inside += 1
            self._note_change()

    def left(self) -> None:
        """Note that a runnable has ended."""
        with self._changed:
            self._inside -= 1
            self._note_change()

    def _note_change(self) -> None:
        self._changed_at = time.monotonic()
        self._changed.notify_all()

    def look(self) -> None:
        """Let the runs go on without the runnables whose thread has not started in time."""
        with self._changed:
            waited_seconds = time.monotonic() - self._changed_at
            if not self._queued or self._inside >= self._threads:
                return
            if waited_seconds < _THREAD_START_SECONDS:
                return
            self.thread_lost = True
            runs = {runnable.running for runnable in self._queued}
            self._queued.clear()
        for running in runs:
            running.go_on_without_unbegun(
                QcowError(
                    "The system did not start a thread for this",
                    hint="a limit on processes or memory is reached: use fewer threads or jobs",
                )
            )

    def wait_for_those_inside(self) -> None:
        """Return once every runnable that has begun has ended."""
        with self._changed:
            while self._inside:
                self._changed.wait(_LOOK_SECONDS)


class _PoolRun(WorkerRun):
    """A run whose workers begin when the pool has a thread for them."""

    def __init__(self, worker: Worker, token: CancelToken, threads: int, watch: _Watch) -> None:
        super().__init__(worker, token, threads)
        self.watch = watch

    def wait(self, timeout_seconds: float | None = None) -> Outcome | None:
        """The outcome once every worker has returned, or None when the time is over first."""
        ends_at = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        while True:
            self.watch.look()
            left_seconds = _LOOK_SECONDS if ends_at is None else ends_at - time.monotonic()
            outcome = super().wait(max(0.0, min(left_seconds, _LOOK_SECONDS)))
            if outcome is not None or left_seconds <= 0:
                return outcome


class _WatchedPool:
    """A QThreadPool of `threads` threads; it is of no more use once it has lost one of them."""

    def __init__(self, threads: int) -> None:
        self._watch = _Watch(threads)
        self._runnables: list[_Runnable] = []
        self._keeper = QObject()  # lives in the same thread, as a parent must
        self._pool: QThreadPool | None = QThreadPool()
        self._pool.setMaxThreadCount(threads)
        self._pool.setExpiryTimeout(_EXPIRY_MS)

    @property
    def usable(self) -> bool:
        """Whether no thread was lost."""
        return not self._watch.thread_lost

    def start(self, worker: Worker, token: CancelToken, threads: int) -> RunningWork:
        """Run `worker(worker_index)` on `threads` of the threads."""
        running = _PoolRun(worker, token, threads, self._watch)
        self._release_finished()
        for worker_index in range(threads):
            runnable = _Runnable(running, worker_index)
            self._runnables.append(runnable)
            self._watch.expect(runnable)
            if self._pool is not None:
                self._pool.start(runnable)
        return running

    def close(self) -> None:
        """Wait until every worker has returned and every thread has ended."""
        while self.usable and self._pool is not None:
            # It lets go of the GIL, which QThreadPool's destructor does not.
            if self._pool.waitForDone(round(_LOOK_SECONDS * 1_000)):
                self._release_finished()
                return
            self._watch.look()
        self._watch.wait_for_those_inside()
        self._leave_behind()

    def _release_finished(self) -> None:
        # A run can have ended for Python while its thread is still in QRunnable's C++ code; only
        # the pool's own count says that nobody uses the objects any more.
        if self._pool is not None and self._pool.activeThreadCount() == 0:
            self._runnables.clear()

    def _leave_behind(self) -> None:
        """Keep the pool and its runnables for as long as the process lives.

        Whatever destroyed a pool that has lost a thread would wait for that thread for ever. At
        the end, Python destroys what it can reach, and PySide what Python owns: two QObjects that
        are each other's parent belong to nobody, and one more reference is never given back.
        """
        if self._pool is not None:
            self._pool.setParent(self._keeper)
            self._keeper.setParent(self._pool)
            kept = (self._pool, self._keeper, *self._runnables)
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
            self._pool = None


def startable_threads(wanted: int) -> int:
    """How many threads, up to `wanted`, the system lets this process start now.

    Python's threads tell at once when one could not be started (a limit on processes or on
    memory); QThreadPool's only by not beginning.

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
        self._lock = threading.Lock()
        self._pools: list[_WatchedPool] = []
        self._open_pool()

    def _open_pool(self) -> None:
        pool = _WatchedPool(self._threads)
        self._pools.append(pool)
        # A forgotten executor must not reach QThreadPool's destructor while a worker needs the
        # GIL that the destructor holds.
        weakref.finalize(self, pool.close)

    @property
    def threads(self) -> int:
        """How many workers `start` runs."""
        return self._threads

    def start(self, worker: Worker, token: CancelToken) -> RunningWork:
        """Start `worker(worker_index)` once per thread and return at once. See Executor.

        Where the system allows fewer threads, fewer workers run. A thread that it refuses only
        when it is started is noticed by `wait`: with none at all, the run ends as failed.

        Raises:
            QcowError: When it allows none.
        """
        threads = startable_threads(self._threads)
        with self._lock:
            if not self._pools[-1].usable:
                self._open_pool()
            return self._pools[-1].start(worker, token, threads)

    def close(self) -> None:
        """Wait until every worker has returned and every thread has ended.

        It cancels nothing: set the token first. The executor can be used again afterwards.
        """
        with self._lock:
            pools = tuple(self._pools)
        for pool in pools:
            pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
