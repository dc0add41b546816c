"""A run: worker processes, a watchdog over them, and what all of them found."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import connection as mp_connection
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path

from tests.fuzz.worker import Failure, Heartbeat, Tally, work

HANG_SECONDS = 20.0
TRACE_SECONDS = 0.5
"""What a process that hangs gets to write down where it is."""
POLL_SECONDS = 0.2
MAX_RESTARTS = 200
"""A run that kills so many processes has found enough."""

_CONTEXT = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class Plan:
    """What to run.

    Attributes:
        mutants: How many, from index 0 on.
        minutes: When to stop before that, or None.
        folder: An existing folder, best in memory.
        operations: Names of operations.
        hang_seconds: How long one may take by the clock. Generous, since other programs may have
            the processor; the limit of processor time is another.
    """

    seed: int
    mutants: int
    minutes: float | None
    workers: int
    folder: Path
    operations: Sequence[str]
    hang_seconds: float = HANG_SECONDS


@dataclass
class Result:
    """What a run found.

    Attributes:
        total: Everything that the workers noted.
        seconds: By the clock, from the start of the first worker on.
        stopped: Why it ended before all mutants were done; empty if they were.
    """

    total: Tally = field(default_factory=lambda: Tally(next_index=0))
    seconds: float = 0.0
    stopped: str = ""


class _Worker:
    """A worker process with its place in the run; a new process continues where one ended."""

    def __init__(self, number: int, plan: Plan) -> None:
        self._plan = plan
        self._folder = plan.folder / f"worker-{number}"
        self._next_index = number
        self.is_done = False
        self._start()

    def _start(self) -> None:
        plan = self._plan
        self.heartbeat = Heartbeat(
            _CONTEXT.Value("q", self._next_index),
            _CONTEXT.Value("q", -1),
            _CONTEXT.Value("d", time.monotonic()),
        )
        self.connection: Connection
        self.connection, theirs = _CONTEXT.Pipe(duplex=False)
        indices = range(self._next_index, plan.mutants, plan.workers)
        self.process: SpawnProcess = _CONTEXT.Process(
            target=work,
            args=(theirs, self.heartbeat, self._folder, plan.seed, indices, plan.operations),
            daemon=True,
        )
        self.process.start()
        theirs.close()

    def receive(self, total: Tally) -> None:
        """Merge what the process sent; note whether it is done."""
        try:
            while self.connection.poll():
                message: Tally | None = self.connection.recv()
                if message is None:
                    self.is_done = True
                    return
                total.merge(message)
                self._next_index += message.mutants * self._plan.workers
        except EOFError:
            pass

    def hangs(self) -> bool:
        """Whether the operation at work takes far too long. The start of a process may."""
        if self.heartbeat.operation.value < 0:
            return False
        return time.monotonic() - self.heartbeat.started.value > self._plan.hang_seconds

    def end(self, kind: str) -> Failure:
        """End the process, which hangs or has crashed, and return the failure that this is."""
        if kind == "hang":
            if hasattr(signal, "SIGUSR1") and self.process.pid is not None:
                _send(self.process, signal.SIGUSR1)
                time.sleep(TRACE_SECONDS)
            self.process.kill()
        self.process.join()
        index, number = self.heartbeat.index.value, self.heartbeat.operation.value
        name = self._plan.operations[number] if number >= 0 else "the driver"
        trace_path = self._folder / "trace.txt"
        trace = trace_path.read_text(errors="replace") if trace_path.exists() else ""
        # 'File "…", line N in function', the innermost first. Where in a loop it was, is chance.
        functions = [line.split()[-1] for line in trace.splitlines() if "qcowgui" in line]
        where = f"in {functions[0]}" if functions else f"with exit code {self.process.exitcode}"
        return Failure(kind, name, index, f"{name}: {kind} {where}", trace)

    def restart(self, *, behind: int | None = None) -> bool:
        """Start a new process, behind a mutant or where reports end; False if none are left."""
        self.connection.close()
        if behind is not None:
            self._next_index = behind + self._plan.workers
        if self._next_index >= self._plan.mutants:
            self.is_done = True
            return False
        self._start()
        return True

    def close(self) -> None:
        """End the process if it still runs."""
        if self.process.is_alive():
            self.process.kill()
        self.process.join()
        self.connection.close()


def _send(process: SpawnProcess, number: signal.Signals) -> None:
    if process.pid is not None and process.is_alive():
        os.kill(process.pid, number)


@contextmanager
def _workers(plan: Plan) -> Iterator[list[_Worker]]:
    workers: list[_Worker] = []
    try:
        for number in range(min(plan.workers, plan.mutants)):
            workers.append(_Worker(number, plan))  # noqa: PERF401  closed below, however many
        yield workers
    finally:
        for worker in workers:
            worker.close()


def run(plan: Plan, *, tick: Callable[[Tally, float], None] | None = None) -> Result:
    """Run a plan to its end.

    Args:
        plan: What to run.
        tick: Called some times a second with what was found so far, and the seconds.
    """
    result, restarts = Result(), 0
    began = time.monotonic()
    with _workers(plan) as workers:
        while running := [worker for worker in workers if not worker.is_done]:
            mp_connection.wait([worker.connection for worker in running], POLL_SECONDS)
            for worker in running:
                restarts += _look_after(worker, result.total)
            result.seconds = time.monotonic() - began
            if tick is not None:
                tick(result.total, result.seconds)
            if plan.minutes is not None and result.seconds > plan.minutes * 60:
                result.stopped = f"{plan.minutes:g} minutes are over"
                break
            if restarts > MAX_RESTARTS:
                result.stopped = f"{restarts} processes had to be replaced"
                break
        for worker in workers:
            worker.receive(result.total)
    return result


def _look_after(worker: _Worker, total: Tally) -> int:
    """Take a worker's reports; replace its process if it hangs or has ended. Return how often."""
    was_alive = worker.process.is_alive()
    worker.receive(total)
    if worker.is_done:
        return 0
    if was_alive and not worker.hangs():
        return 0
    if not was_alive and worker.process.exitcode == 0:
        # It has told why: it had used too much memory to measure on.
        return int(worker.restart())
    failure = worker.end("hang" if was_alive else "crash")
    worker.receive(total)
    total.failures.append(failure)
    # What it did between its last report and the end is done, but was never reported.
    return int(worker.restart(behind=failure.index))
