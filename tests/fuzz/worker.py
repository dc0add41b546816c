"""One worker process: makes its mutants, runs the operations, tells what was wrong."""

from __future__ import annotations

import faulthandler
import os
import signal
import time
import traceback
import warnings
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

from tests.fuzz import meter
from tests.fuzz.corpus import write_data_file
from tests.fuzz.faults import FAULTS
from tests.fuzz.mutate import Mutant, make_mutant
from tests.fuzz.operations import OPERATIONS, Case, Operation, clear

REPORT_SECONDS = 1.0
_OUR_FILES = ("qcowgui", "tests")


@dataclass(frozen=True)
class Failure:
    """What one operation did wrong with one mutant.

    Attributes:
        kind: "exception", "time", "memory", "source changed", "leftovers"; from the parent process
            also "crash" and "hang".
        signature: The same for failures that have one cause, as far as that can be told.
        detail: For people; several lines.
    """

    kind: str
    operation: str
    index: int
    signature: str
    detail: str


@dataclass
class Tally:
    """What happened since the last report.

    Attributes:
        next_index: The worker's next mutant.
        outcomes: How often an operation ended in which way: "map: CorruptError".
        spent: Processor seconds of each operation, all runs together.
        slowest: Processor seconds of the slowest run of each operation, and the mutant.
        largest: The same for bytes of memory.
    """

    next_index: int
    mutants: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    spent: dict[str, float] = field(default_factory=dict)
    slowest: dict[str, tuple[float, int]] = field(default_factory=dict)
    largest: dict[str, tuple[float, int]] = field(default_factory=dict)

    def merge(self, other: Tally) -> None:
        """Add what another tally holds."""
        self.next_index = other.next_index
        self.mutants += other.mutants
        self.outcomes += other.outcomes
        self.failures += other.failures
        for name, seconds in other.spent.items():
            self.spent[name] = self.spent.get(name, 0.0) + seconds
        for mine, theirs in ((self.slowest, other.slowest), (self.largest, other.largest)):
            for name, value in theirs.items():
                mine[name] = max(mine.get(name, (0.0, 0)), value)


@dataclass
class Heartbeat:
    """Where a worker is, in memory that the parent process sees.

    Attributes:
        index: The mutant at work.
        operation: Its place in the list of operations; -1 between two mutants.
        started: `time.monotonic()` when that operation began.
    """

    index: Synchronized[int]
    operation: Synchronized[int]
    started: Synchronized[float]

    def beat(self, index: int, operation: int) -> None:
        """Note that something begins now."""
        self.started.value = time.monotonic()
        self.index.value = index
        self.operation.value = operation


def operation_named(name: str) -> Operation:
    """Return one of the operations, or of the faults that the driver's own tests need."""
    return OPERATIONS[name] if name in OPERATIONS else FAULTS[name]


class Bench:
    """A folder with one mutant in it, and what has to be done there."""

    def __init__(
        self, folder: Path, operations: Sequence[str], *, is_sampled: bool = False
    ) -> None:
        """An empty bench; with `is_sampled`, an operation's `every` counts."""
        self._is_sampled = is_sampled
        self._operations = operations
        self._image = folder / "mutant.qcow2"
        self._scratch = folder / "scratch"
        self._scratch.mkdir(exist_ok=True)
        self._data_file = write_data_file(folder)

    def run(
        self, index: int, mutant: Mutant, tally: Tally, heartbeat: Heartbeat | None = None
    ) -> None:
        """Do every operation with a mutant and note the outcomes."""
        self._image.write_bytes(mutant.data)
        choice = zlib.crc32(mutant.data)
        case = Case(self._image, self._data_file, self._scratch, index, choice)
        for number, name in enumerate(self._operations):
            if self._is_sampled and index % operation_named(name).every:
                continue
            if heartbeat is not None:
                heartbeat.beat(index, number)
            self._run_one(name, case, tally)
            if left := clear(self._scratch):
                tally.failures.append(
                    Failure("leftovers", name, index, f"{name}: files are left", ", ".join(left))
                )
            if self._image.read_bytes() != mutant.data:
                tally.failures.append(
                    Failure("source changed", name, index, f"{name}: the source was changed", "")
                )
                self._image.write_bytes(mutant.data)
        if heartbeat is not None:
            heartbeat.beat(index, -1)
        tally.mutants += 1

    def _run_one(self, name: str, case: Case, tally: Tally) -> None:
        operation, index = operation_named(name), case.index
        outcome = "good"
        with meter.Meter() as used:
            try:
                operation.run(case)
            except operation.documented as error:
                outcome = type(error).__name__
            except Exception as error:  # noqa: BLE001  finding these is what the driver is for
                outcome = f"FAILED with {type(error).__name__}"
                tally.failures.append(_exception_failure(name, index, error))
        tally.outcomes[f"{name}: {outcome}"] += 1
        tally.spent[name] = tally.spent.get(name, 0.0) + used.seconds
        for record, value in ((tally.slowest, used.seconds), (tally.largest, used.growth_bytes)):
            record[name] = max(record.get(name, (0.0, 0)), (value, index))
        if used.seconds > meter.MAX_SECONDS:
            tally.failures.append(_time_failure(name, index, used))
        if used.growth_bytes > meter.MAX_RSS_GROWTH_BYTES:
            text = f"{used.growth_bytes / 1e6:.0f} MB"
            tally.failures.append(Failure("memory", name, index, f"{name}: over memory", text))


def _innermost(frames: traceback.StackSummary) -> traceback.FrameSummary:
    """Return the last call that is in a file of this project, or else the last."""
    ours = [frame for frame in frames if any(part in frame.filename for part in _OUR_FILES)]
    return ours[-1] if ours else frames[-1]


def _time_failure(name: str, index: int, used: meter.Meter) -> Failure:
    """Return the failure that an operation over time is, by the function that it was in."""
    where = f" in {_innermost(used.stack).name}" if used.stack else ""
    detail = f"{used.seconds:.1f} s of processor time\n{''.join(used.stack.format())}"
    return Failure("time", name, index, f"{name}: over time{where}", detail)


def _exception_failure(name: str, index: int, error: Exception) -> Failure:
    """Return the failure that an undocumented exception is, by its type and its innermost line."""
    where = _innermost(traceback.extract_tb(error.__traceback__))
    signature = (
        f"{name}: {type(error).__name__} in {Path(where.filename).name}:{where.lineno} {where.name}"
    )
    detail = "".join(traceback.format_exception(error))
    return Failure("exception", name, index, signature, detail)


def work(
    connection: Connection,
    heartbeat: Heartbeat,
    folder: Path,
    seed: int,
    indices: Iterable[int],
    operations: Sequence[str],
) -> None:
    """Run the mutants `indices`, and send a `Tally` about once a second; None at the end.

    The process ends early, after a report, once an operation exceeded its memory: from then on its
    memory can't be measured.
    """
    # The parent process decides what ctrl-c means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("error")
    folder.mkdir(exist_ok=True)
    with (folder / "trace.txt").open("w", encoding="utf-8") as trace:
        faulthandler.enable(trace)
        if hasattr(faulthandler, "register"):
            faulthandler.register(signal.SIGUSR1, trace)
        bench = Bench(folder, operations, is_sampled=True)
        meter.limit_process()
        tally = Tally(next_index=0)
        reported = time.monotonic()
        for index in indices:
            heartbeat.beat(index, -1)
            bench.run(index, make_mutant(seed, index), tally, heartbeat)
            tally.next_index = index + 1
            over_memory = any(failure.kind == "memory" for failure in tally.failures)
            if over_memory or time.monotonic() - reported > REPORT_SECONDS:
                connection.send(tally)
                tally = Tally(next_index=index + 1)
                reported = time.monotonic()
            if over_memory:
                # Without the tidying up of an interpreter that may have no memory for it.
                os._exit(0)
        connection.send(tally)
        connection.send(None)
        faulthandler.disable()
        if hasattr(faulthandler, "unregister"):
            faulthandler.unregister(signal.SIGUSR1)
