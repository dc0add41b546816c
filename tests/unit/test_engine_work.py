"""The Qt-free half of the engine: iterators, outcomes, the serial executor and the wait."""

from __future__ import annotations

import gc
import threading
import traceback
import weakref
from collections.abc import Iterator

import pytest

from qcowgui.engine.work import (
    CancelledOutcome,
    CancelToken,
    Counter,
    Done,
    Failed,
    Outcome,
    RunningWork,
    SerialExecutor,
    SharedIterator,
    Worker,
    WorkerRun,
    raise_outcome,
    run,
)
from qcowgui.errors import Cancelled


def in_threads(count: int, target: Worker) -> None:
    threads = [threading.Thread(target=target, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_counter_loses_nothing() -> None:
    counter = Counter()

    def add(_worker_index: int) -> None:
        for _ in range(5_000):
            counter.add(3)

    in_threads(4, add)
    assert counter.value == 4 * 5_000 * 3


def test_token_raises_only_once_it_is_set() -> None:
    token = CancelToken()
    token.raise_if_cancelled()
    token.cancel()
    token.cancel()
    with pytest.raises(Cancelled):
        token.raise_if_cancelled()


def look_in_a_thread(token: CancelToken) -> tuple[threading.Thread, list[str]]:
    """A worker that looks at the token once, and what came of it."""
    seen: list[str] = []

    def look() -> None:
        try:
            token.raise_if_cancelled()
            seen.append("went on")
        except Cancelled:
            seen.append("cancelled")

    thread = threading.Thread(target=look)
    thread.start()
    return thread, seen


@pytest.mark.parametrize(("wake", "expected"), [("resume", "went on"), ("cancel", "cancelled")])
def test_a_paused_worker_waits_until_it_is_told(wake: str, expected: str) -> None:
    token = CancelToken()
    token.pause()
    assert token.paused
    thread, seen = look_in_a_thread(token)
    thread.join(0.05)
    assert thread.is_alive()
    assert not seen
    getattr(token, wake)()
    thread.join()
    assert seen == [expected]
    assert not token.paused


def test_what_is_cancelled_cannot_be_paused() -> None:
    token = CancelToken()
    token.cancel()
    token.pause()
    assert not token.paused
    with pytest.raises(Cancelled):
        token.raise_if_cancelled()


def test_shared_iterator_gives_each_item_once() -> None:
    def slow_source() -> Iterator[int]:
        # A generator that two threads enter at once raises ValueError.
        yield from range(3_000)

    shared = SharedIterator(slow_source())
    taken: list[list[int]] = [[] for _ in range(4)]

    def take(worker_index: int) -> None:
        taken[worker_index].extend(shared)

    in_threads(4, take)
    assert sorted(item for items in taken for item in items) == list(range(3_000))
    for items in taken:
        assert items == sorted(items)


def test_shared_iterator_ends_for_all_after_an_error() -> None:
    def source() -> Iterator[int]:
        yield 1
        raise KeyError("broken")

    class Resuming:
        """Would go on after its error; SharedIterator must not ask again."""

        def __init__(self) -> None:
            self.calls = 0

        def __iter__(self) -> Resuming:
            return self

        def __next__(self) -> int:
            self.calls += 1
            if self.calls == 2:
                raise KeyError("broken")
            return self.calls

    for make in (source, Resuming):
        shared = SharedIterator(make())
        assert next(shared) == 1
        with pytest.raises(KeyError, match="broken"):
            next(shared)
        assert list(shared) == []
        assert next(shared, None) is None


def test_serial_executor_runs_in_the_calling_thread() -> None:
    seen: list[tuple[int, int]] = []
    executor = SerialExecutor()
    running = executor.start(
        lambda index: seen.append((index, threading.get_ident())), CancelToken()
    )
    assert seen == [(0, threading.get_ident())]
    assert executor.threads == 1
    assert running.wait() == Done()


def test_serial_executor_outcomes() -> None:
    token = CancelToken()

    def cancelled(_worker_index: int) -> None:
        raise Cancelled

    def failing(_worker_index: int) -> None:
        raise OSError(28, "full")

    assert run(SerialExecutor(), cancelled, token) == CancelledOutcome()
    assert not token.cancelled
    outcome = run(SerialExecutor(), failing, token)
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, OSError)
    assert token.cancelled


def test_serial_executor_lets_ctrl_c_through() -> None:
    token = CancelToken()

    def interrupted(_worker_index: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(SerialExecutor(), interrupted, token)
    assert token.cancelled


def test_first_error_wins_over_later_ones_and_over_cancelled() -> None:
    errors = [ValueError("first"), ValueError("second"), Cancelled()]
    remaining = iter(errors)

    def worker(_worker_index: int) -> None:
        raise next(remaining)

    running = WorkerRun(worker, CancelToken(), threads=3)
    for worker_index in range(3):
        assert running.wait(0) is None
        running.call(worker_index)
    assert running.wait() == Failed(errors[0])


def test_failed_keeps_the_lines_and_frees_the_buffers() -> None:
    class Buffer:
        pass

    buffers: list[weakref.ref[Buffer]] = []

    def deepest() -> None:
        buffer = Buffer()
        buffers.append(weakref.ref(buffer))
        raise ValueError("deep")

    def worker(_worker_index: int) -> None:
        buffer = Buffer()
        buffers.append(weakref.ref(buffer))
        try:
            deepest()
        except ValueError as error:
            raise OSError("outer") from error

    gc.disable()
    try:
        outcome = run(SerialExecutor(), worker, CancelToken())
        assert [buffer() for buffer in buffers] == [None, None]
    finally:
        gc.enable()
    assert isinstance(outcome, Failed)
    text = "".join(traceback.format_exception(outcome.error))
    assert "ValueError: deep" in text
    assert "in deepest" in text
    assert 'raise OSError("outer") from error' in text


def test_a_finished_run_lets_go_of_its_worker() -> None:
    class Job:
        def work(self, _worker_index: int) -> None:
            pass

    job = Job()
    alive = weakref.ref(job)
    running = SerialExecutor().start(job.work, CancelToken())
    del job
    assert alive() is None
    assert running.wait() == Done()


class Scripted:
    """An executor whose run ends after a number of waits, and notes whether it was drained."""

    threads = 1

    def __init__(self, waits: int) -> None:
        self.waits = waits
        self.timeouts: list[float | None] = []

    def start(self, worker: Worker, token: CancelToken) -> RunningWork:
        return self

    def wait(self, timeout_seconds: float | None = None) -> Outcome | None:
        self.timeouts.append(timeout_seconds)
        return Done() if len(self.timeouts) > self.waits else None


def test_run_ticks_between_waits() -> None:
    ticks: list[int] = []
    executor = Scripted(waits=3)
    outcome = run(
        executor, lambda _: None, CancelToken(), tick=lambda: ticks.append(1), tick_seconds=0.01
    )
    assert outcome == Done()
    assert len(ticks) == 3
    assert executor.timeouts == [0.01] * 4


@pytest.mark.parametrize("error", [KeyboardInterrupt(), BrokenPipeError(32, "pipe")])
def test_run_drains_before_it_raises(error: BaseException) -> None:
    token = CancelToken()
    executor = Scripted(waits=5)

    def tick() -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        run(executor, lambda _: None, token, tick=tick)
    assert caught.value is error
    assert token.cancelled
    assert len(executor.timeouts) == 6


def test_raise_outcome() -> None:
    raise_outcome(Done())
    with pytest.raises(Cancelled):
        raise_outcome(CancelledOutcome())
    error = ValueError("mine")
    with pytest.raises(ValueError, match="mine") as caught:
        raise_outcome(Failed(error))
    assert caught.value is error
