"""The executor on a QThreadPool, without a QCoreApplication and with one."""

from __future__ import annotations

import _thread
import gc
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from typing import Final

import pytest
from PySide6.QtCore import QThreadPool

from qcowgui.engine.qpool import QPoolExecutor
from qcowgui.engine.work import (
    CancelledOutcome,
    CancelToken,
    Counter,
    Done,
    Failed,
    SharedIterator,
    default_threads,
    run,
)
from qcowgui.errors import QcowError

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def executor() -> Iterator[QPoolExecutor]:
    with QPoolExecutor(3) as pool:
        yield pool


def wait_until_cancelled(token: CancelToken) -> None:
    deadline = time.monotonic() + 20
    while not token.cancelled:
        assert time.monotonic() < deadline, "nobody set the token"
        time.sleep(0.001)
    token.raise_if_cancelled()


def test_threads_default_to_the_cores_and_must_be_positive() -> None:
    with QPoolExecutor() as pool:
        assert pool.threads == default_threads()
    for threads in (0, -1):
        with pytest.raises(ValueError, match="at least one thread"):
            QPoolExecutor(threads)


def test_many_short_runs_with_collections_in_the_workers(executor: QPoolExecutor) -> None:
    counter = Counter()
    for _ in range(200):
        items = SharedIterator(range(5))

        def worker(_worker_index: int, items: SharedIterator[int] = items) -> None:
            for item in items:
                counter.add(item)
            gc.collect(0)

        assert run(executor, worker, CancelToken()) == Done()
    gc.collect()
    assert counter.value == 200 * 10


def test_workers_run_at_the_same_time_off_the_calling_thread(executor: QPoolExecutor) -> None:
    barrier = threading.Barrier(3)
    threads: dict[int, int] = {}

    def worker(worker_index: int) -> None:
        barrier.wait(timeout=20)  # passes only when all three are inside
        threads[worker_index] = threading.get_ident()

    assert run(executor, worker, CancelToken()) == Done()
    assert sorted(threads) == [0, 1, 2]
    assert len(set(threads.values())) == 3
    assert threading.get_ident() not in threads.values()


def test_the_global_pool_is_left_alone(executor: QPoolExecutor) -> None:
    active: list[int] = []
    worker_count = QThreadPool.globalInstance().maxThreadCount()
    run(
        executor,
        lambda _: active.append(QThreadPool.globalInstance().activeThreadCount()),
        CancelToken(),
    )
    assert active == [0, 0, 0]
    assert QThreadPool.globalInstance().maxThreadCount() == worker_count


def test_first_error_wins_and_the_others_drain(executor: QPoolExecutor) -> None:
    token = CancelToken()
    first_raised = threading.Event()

    def worker(worker_index: int) -> None:
        if worker_index == 0:
            first_raised.set()
            raise OSError(28, "first")
        first_raised.wait(20)
        if worker_index == 1:
            wait_until_cancelled(token)
        while not token.cancelled:
            time.sleep(0.001)
        raise ValueError("late")

    outcome = run(executor, worker, token)
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, OSError)
    frames = traceback.extract_tb(outcome.error.__traceback__)
    assert (frames[-1].name, frames[-1].filename) == ("worker", __file__)


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
def test_no_exception_escapes_into_qt(executor: QPoolExecutor, error: BaseException) -> None:
    def worker(_worker_index: int) -> None:
        raise error

    outcome = run(executor, worker, CancelToken())
    assert isinstance(outcome, Failed)
    assert outcome.error is error


def test_cancel_drains(executor: QPoolExecutor) -> None:
    token = CancelToken()
    batches = Counter()

    def endless() -> Iterator[int]:
        while True:
            yield 1

    items = SharedIterator(endless())

    def worker(_worker_index: int) -> None:
        for item in items:
            token.raise_if_cancelled()
            batches.add(item)
            time.sleep(0.001)

    running = executor.start(worker, token)
    assert running.wait(0.05) is None
    token.cancel()
    assert running.wait(20) == CancelledOutcome()
    drained = batches.value
    assert drained > 0
    assert running.wait(0.02) == CancelledOutcome()
    assert batches.value == drained


def test_ctrl_c_drains_the_workers_and_is_raised_again(executor: QPoolExecutor) -> None:
    token = CancelToken()
    drained = Counter()

    def worker(worker_index: int) -> None:
        if worker_index == 0:
            _thread.interrupt_main()
        try:
            wait_until_cancelled(token)
        finally:
            time.sleep(0.02)
            drained.add(1)

    with pytest.raises(KeyboardInterrupt):
        run(executor, worker, token, tick_seconds=0.01)
    assert drained.value == 3


def test_runs_may_overlap(executor: QPoolExecutor) -> None:
    release = threading.Event()
    order: list[str] = []

    def first(_worker_index: int) -> None:
        release.wait(20)
        order.append("first")

    earlier = executor.start(first, CancelToken())
    later = executor.start(lambda _: order.append("later"), CancelToken())
    assert later.wait(0.02) is None
    release.set()
    assert earlier.wait(20) == Done()
    assert later.wait(20) == Done()
    assert sorted(order) == ["first"] * 3 + ["later"] * 3


def test_close_waits_and_the_executor_works_again() -> None:
    executor = QPoolExecutor(2)
    ended = Counter()

    def worker(_worker_index: int) -> None:
        time.sleep(0.05)
        ended.add(1)

    executor.start(worker, CancelToken())
    executor.close()
    assert ended.value == 2
    assert run(executor, worker, CancelToken()) == Done()
    executor.close()


@pytest.mark.parametrize("application", ["", "QCoreApplication([])"])
def test_a_forgotten_executor_neither_hangs_nor_crashes_at_exit(application: str) -> None:
    script = f"""
import os, time
from PySide6.QtCore import QCoreApplication
from qcowgui.engine.qpool import QPoolExecutor
from qcowgui.engine.work import CancelToken
application = {application or None}
def worker(index):
    time.sleep(0.2)
    os.write(1, b"ended %d\\n" % index)  # print may write the end of the line apart
dropped = QPoolExecutor(2)
dropped.start(worker, CancelToken())
del dropped
kept = QPoolExecutor(2)
kept.start(worker, CancelToken())
"""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert sorted(result.stdout.split("\n")) == ["", *["ended 0"] * 2, *["ended 1"] * 2]


def test_where_few_threads_can_start_fewer_workers_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit on processes: QThreadPool would wait for ever for the threads it did not get."""
    real = threading.Thread.start
    started: list[threading.Thread] = []

    def start(thread: threading.Thread) -> None:
        if len(started) == 2:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        real(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    seen: list[int] = []
    with QPoolExecutor(8) as executor:
        assert executor.start(seen.append, CancelToken()).wait(5) == Done()
    assert sorted(seen) == [0, 1]


def test_where_no_thread_can_start_the_run_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    with QPoolExecutor(2) as executor, pytest.raises(QcowError, match="can't start new thread"):
        executor.start(lambda _index: None, CancelToken())


_REFUSING: Final = """
import resource, time
from qcowgui.engine import qpool
from qcowgui.engine.work import CancelToken, run

qpool._THREAD_START_SECONDS = 0.5

def leave(room_bytes):
    with open("/proc/self/statm") as file:
        taken_bytes = int(file.read().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (taken_bytes + room_bytes, hard))

def lift():
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))

def startable_but_then(room_bytes):
    # The limit is reached between the look and the start.
    def startable_threads(wanted):
        leave(room_bytes)
        return wanted
    return startable_threads

look = qpool.startable_threads
"""


def run_script(body: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _REFUSING + body],
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_a_run_whose_threads_the_system_refuses_ends() -> None:
    result = run_script("""
with qpool.QPoolExecutor(4) as executor:
    qpool.startable_threads = startable_but_then(0)
    outcome = run(executor, lambda index: None, CancelToken())
    lift()
    print(type(outcome).__name__, outcome.error)
    qpool.startable_threads = look
    again = []
    print(type(run(executor, again.append, CancelToken())).__name__, sorted(again))
print("closed")
""")
    assert result.returncode == 0, result.stderr
    failed, again, closed = result.stdout.splitlines()
    assert failed.startswith("Failed The system did not start a thread for this")
    assert (again, closed) == ("Done [0, 1, 2, 3]", "closed")
    assert "Thread creation error" in result.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_a_run_goes_on_without_the_threads_that_the_system_refuses() -> None:
    """Also with an application, which destroys what Qt has when the interpreter ends."""
    result = run_script("""
from PySide6.QtCore import QCoreApplication
application = QCoreApplication([])
executor = qpool.QPoolExecutor(24)
qpool.startable_threads = startable_but_then(64 << 20)
begun = []
def worker(index):
    begun.append(index)
    time.sleep(0.3)
print(type(run(executor, worker, CancelToken())).__name__, 0 < len(begun) < 24)
""")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["Done True"]
    assert "Thread creation error" in result.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_a_run_that_never_began_can_be_cancelled() -> None:
    result = run_script("""
qpool._THREAD_START_SECONDS = 2
token = CancelToken()
with qpool.QPoolExecutor(2) as executor:
    qpool.startable_threads = startable_but_then(0)
    running = executor.start(lambda index: None, token)
    print(running.wait(0.1))
    token.cancel()
    print(running.wait(0.1))
""")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["None", "CancelledOutcome()"]


def test_a_cancelled_run_that_waits_for_a_thread_ends_without_it() -> None:
    release = threading.Event()
    seen: list[int] = []
    with QPoolExecutor(1) as executor:

        def wait(_worker_index: int) -> None:
            release.wait(20)

        earlier = executor.start(wait, CancelToken())
        token = CancelToken()
        later = executor.start(seen.append, token)
        assert later.wait(0.02) is None
        token.cancel()
        assert later.wait(5) == CancelledOutcome()
        release.set()
        assert earlier.wait(20) == Done()
    assert not seen
