"""How work runs: the Executor protocol, progress, cancelling and outcomes. Knows no Qt.

A job is a number of workers that loop over one shared iterator of batches. The contexts and
buffers a worker makes live as long as its loop does. Progress is pulled from a Counter; cancelling
and pausing are requests that each worker looks at before each batch. A worker that fails sets the
request to stop, so that the others drain; the outcome is its error all the same.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from traceback import clear_frames
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

from qcowgui.errors import Cancelled

T = TypeVar("T")

Worker: TypeAlias = Callable[[int], None]
"""What a job runs on each thread; the argument is the worker's index, 0 to threads - 1."""

TICK_SECONDS: Final = 0.1


def default_threads() -> int:
    """The number of cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # Windows and macOS have no affinity call
        return os.cpu_count() or 1


class Counter:
    """A sum that any thread may add to and any thread may read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._value = 0

    def add(self, amount: int) -> None:
        """Add `amount`. Thread-safe."""
        with self._lock:
            self._value += amount

    @property
    def value(self) -> int:
        """The sum so far."""
        return self._value


class CancelToken:
    """A request to stop or to wait, set by one thread and looked at by the workers."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._go_on = threading.Event()
        self._go_on.set()
        # Whether there is anything to look at: workers ask for each cluster.
        self._disturbed = False

    def cancel(self) -> None:
        """Ask for a stop, of paused workers as well. Thread-safe, and safe to call again."""
        self._event.set()
        self._disturbed = True
        self._go_on.set()

    def pause(self) -> None:
        """Ask the workers to wait where they next look, until `resume` or `cancel`. Thread-safe."""
        self._go_on.clear()
        self._disturbed = True
        if self._event.is_set():  # set meanwhile, or before: nobody may wait for a cancelled job
            self._go_on.set()

    def resume(self) -> None:
        """Let paused workers go on. Thread-safe, and safe to call without a pause."""
        # It stays disturbed: a request to stop that comes in this moment must not be forgotten.
        self._go_on.set()

    @property
    def cancelled(self) -> bool:
        """Whether a stop was asked for."""
        return self._event.is_set()

    @property
    def paused(self) -> bool:
        """Whether the workers are asked to wait."""
        return not self._go_on.is_set()

    def raise_if_cancelled(self) -> None:
        """Raise Cancelled when a stop was asked for; while paused, wait first."""
        if self._disturbed:
            self._go_on.wait()
            if self._event.is_set():
                raise Cancelled


@dataclass(frozen=True, slots=True)
class Done:
    """The work ended well."""


@dataclass(frozen=True, slots=True)
class CancelledOutcome:
    """The work was stopped on request."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The work ended with `error`, the first one that any worker met.

    Its traceback is kept, without the values of the local variables.
    """

    error: BaseException


Outcome = Done | CancelledOutcome | Failed


class Executor(Protocol):
    """Runs the same callable on several threads at once."""

    @property
    def threads(self) -> int:
        """How many workers `start` runs."""
        ...

    def start(self, worker: Worker, token: CancelToken) -> RunningWork:
        """Start `worker(worker_index)` once per thread.

        A worker that raises Cancelled ends the run as cancelled; any other exception ends it as
        failed, and sets `token` so that the other workers drain at their next batch.
        """
        ...


class RunningWork(Protocol):
    """What `Executor.start` returns."""

    def wait(self, timeout_seconds: float | None = None) -> Outcome | None:
        """The outcome once every worker has returned, or None when the time is over first."""
        ...


class SharedIterator(Generic[T]):
    """An iterator that several workers share: each item goes to one of them.

    The source runs under a lock, so a generator is fine. It ends for every worker once it is
    exhausted or has raised; the exception reaches only the worker that was asking.
    """

    def __init__(self, iterable: Iterable[T]) -> None:
        self._lock = threading.Lock()
        self._source: Iterator[T] | None = iter(iterable)

    def __iter__(self) -> SharedIterator[T]:
        return self

    def __next__(self) -> T:
        """The next item. Thread-safe.

        Raises:
            StopIteration: When the source has ended or has failed.
        """
        with self._lock:
            if self._source is None:
                raise StopIteration
            try:
                return next(self._source)
            except BaseException:
                self._source = None
                raise


class WorkerRun:
    """One run of a worker on a number of threads: what the executors share. A RunningWork."""

    def __init__(self, worker: Worker, token: CancelToken, threads: int) -> None:
        self._worker: Worker | None = worker
        self._token = token
        self._lock = threading.Lock()
        self._threads = self._running = threads
        self._begun: set[int] = set()
        self._closed = False
        self._error: BaseException | None = None
        self._cancelled = False
        self._ended = threading.Event()

    def call(self, worker_index: int) -> None:
        """Run the worker on this thread, unless the run has gone on without it.

        The job's boundary: nothing is raised.
        """
        with self._lock:
            if self._closed:
                return
            self._begun.add(worker_index)
        try:
            worker = self._worker
            if worker is not None:
                worker(worker_index)
        except Cancelled:
            self._cancelled = True
        except BaseException as error:  # noqa: BLE001  an escape would end the process
            self._fail(error)
        finally:
            worker = None  # or the last thread to leave keeps the buffers of the job alive
            self._leave()

    def wait(self, timeout_seconds: float | None = None) -> Outcome | None:
        """The outcome once every worker has returned, or None when the time is over first.

        A cancelled run of which nothing has begun has ended.
        """
        if self._token.cancelled:
            self._end_unbegun()
        if not self._ended.wait(timeout_seconds):
            return None
        if self._error is not None:
            return Failed(self._error)
        return CancelledOutcome() if self._cancelled else Done()

    def go_on_without_unbegun(self, error: BaseException) -> None:
        """Expect no worker that has not begun; with none at all, the run fails with `error`."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            if not self._begun:
                self._error = error
            self._running -= self._threads - len(self._begun)
            ended = self._running == 0
        if ended:
            self._end()

    def _end_unbegun(self) -> None:
        with self._lock:
            if self._closed or self._begun:
                return
            self._closed = self._cancelled = True
            self._running = 0
        self._end()

    def _fail(self, error: BaseException) -> None:
        link: BaseException | None = error
        while link is not None:
            # The error may be kept for as long as a dialog shows it; the lines stay, the local
            # variables (the buffers of a batch) go.
            clear_frames(link.__traceback__)
            link = link.__context__
        with self._lock:
            if self._error is None:
                self._error = error
        self._token.cancel()

    def _leave(self) -> None:
        with self._lock:
            self._running -= 1
            ended = self._running == 0
        if ended:
            self._end()

    def _end(self) -> None:
        self._worker = None
        self._ended.set()


class SerialExecutor:
    """An Executor whose only worker runs in the calling thread, inside `start`.

    A KeyboardInterrupt passes through `start`: there is no other thread to wait for.
    """

    @property
    def threads(self) -> int:
        """One."""
        return 1

    def start(self, worker: Worker, token: CancelToken) -> RunningWork:
        """Run `worker(0)` to its end; `wait` then answers at once."""
        running = WorkerRun(worker, token, threads=1)
        running.call(0)
        outcome = running.wait(0)
        if isinstance(outcome, Failed) and isinstance(outcome.error, KeyboardInterrupt):
            raise outcome.error
        return running


def run(
    executor: Executor,
    worker: Worker,
    token: CancelToken,
    *,
    tick: Callable[[], None] | None = None,
    tick_seconds: float = TICK_SECONDS,
) -> Outcome:
    """Run `worker` on every thread of `executor`, and return the outcome when all have returned.

    `tick` is called in the calling thread about every `tick_seconds` until then, never after.
    Whatever interrupts the wait (Ctrl-C, an error of `tick`) sets the token, waits until the
    workers have drained, and is raised again; a second Ctrl-C doesn't wait.
    """
    running = executor.start(worker, token)
    try:
        while (outcome := running.wait(tick_seconds)) is None:
            if tick is not None:
                tick()
    except BaseException:
        token.cancel()
        # In slices: on Windows a wait without an end doesn't see Ctrl-C.
        while running.wait(tick_seconds) is None:
            pass
        raise
    return outcome


def raise_outcome(outcome: Outcome) -> None:
    """Raise what `outcome` stands for; return when it is Done.

    Raises:
        Cancelled: When the work was stopped on request.
        BaseException: The worker's own error, when the work failed.
    """
    if isinstance(outcome, Failed):
        raise outcome.error
    if isinstance(outcome, CancelledOutcome):
        raise Cancelled
