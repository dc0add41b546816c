"""Many conversions, some at a time: what each of them is, and how far."""

from __future__ import annotations

import contextlib
import errno
import os
import queue
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from qcowgui.convert.batch import remove_debris
from qcowgui.convert.done_record import Done
from qcowgui.convert.job import ConvertJob, ConvertResult
from qcowgui.convert.losses import losses_path
from qcowgui.convert.noted_job import run_noted
from qcowgui.convert.snapshots import without_base
from qcowgui.convert.target_judge import find_done
from qcowgui.engine.qpool import QPoolExecutor
from qcowgui.engine.work import CancelToken, Counter, Executor, Failed, SharedIterator
from qcowgui.engine.work import run as run_work
from qcowgui.errors import Cancelled, OutputError, QcowError
from qcowgui.image.references import AllowGate, EitherGate, Gate

if TYPE_CHECKING:
    from qcowgui.convert.options import ConvertOptions
    from qcowgui.convert.snapshots import Step


class RowState(Enum):
    """How far one conversion of a batch is; the value is its phase for programs."""

    WAITING = "waiting"
    COMPARING = "comparing"
    RUNNING = "running"
    DONE = "done"
    SKIPPED = "skipped"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(slots=True, eq=False)
class Row:
    """One conversion of a batch.

    Attributes:
        number: From 1 on.
        options: What to do.
        gate: Decides whether backing and data files may be opened.
        base: The one that makes the backing file of this one's target.
        state: How far it is.
        job: What does it, once it runs.
        compared: Guest bytes of an existing target that were compared.
        result: What came of it, when it is done.
        done: What is known of a target that was there already, when it is skipped.
        error: Why it failed, when it did.
    """

    number: int
    options: ConvertOptions
    gate: Gate
    base: Row | None = None
    state: RowState = RowState.WAITING
    job: ConvertJob | None = None
    compared: Counter = field(default_factory=Counter)
    result: ConvertResult | None = None
    done: Done | None = None
    error: BaseException | None = None


class _BatchToken(CancelToken):
    """A request to stop that reaches each running conversion.

    They have tokens of their own, because one that fails sets its token and must stop no other.
    `cancel` is called by a signal's handler, so nothing here takes a lock.
    """

    def __init__(self) -> None:
        super().__init__()
        self._children: list[CancelToken] = []

    def attach(self, child: CancelToken) -> None:
        """Cancel `child` as well, now if that was asked for already."""
        self._children.append(child)
        if self.cancelled:
            child.cancel()

    def detach(self, child: CancelToken) -> None:
        """Forget `child`, whose work has ended."""
        self._children.remove(child)

    def cancel(self) -> None:
        """Ask all for a stop."""
        super().cancel()
        for child in tuple(self._children):
            child.cancel()


@dataclass(frozen=True, slots=True)
class Event:
    """What the main thread is to tell: that a row has begun, warns or has ended."""

    row: Row
    warning: str = ""


class Batch:
    """Runs conversions, `jobs` at a time.

    Attributes:
        rows: In the order in which they begin.
        token: Stops all of them.
        events: What happened, for the main thread; from any of the others.
    """

    def __init__(
        self, groups: Sequence[Sequence[Step]], gate: Gate, *, jobs: int, threads: int
    ) -> None:
        """A batch that has not begun.

        Args:
            groups: Conversions with a target each; those of one group run one after the other.
            gate: Decides whether backing and data files may be opened.
            jobs: How many groups run at a time.
            threads: Workers of each conversion.
        """
        self.rows: list[Row] = []
        self._groups: list[list[Row]] = []
        for steps in groups:
            group: list[Row] = []
            for number, step in enumerate(steps, start=len(self.rows) + 1):
                base = group[-1] if step.allowed else None
                group.append(Row(number, step.options, _gate_of(step, gate), base))
            self._groups.append(group)
            self.rows += group
        self.token = _BatchToken()
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._jobs = jobs
        self._threads = threads

    def run(self, tick: Callable[[], None]) -> None:
        """Run all; returns when each has ended. A row's failure stops no other.

        Args:
            tick: Called in this thread about ten times a second, and at the end.

        Raises:
            QcowError: When the system lets not one of them start.
        """
        targets = [row.options.target for row in self.rows]
        remove_debris(*targets, *map(losses_path, targets))
        waiting = SharedIterator(self._groups)

        def work(_worker_index: int) -> None:
            with QPoolExecutor(self._threads) as executor:
                for group in waiting:
                    for row in group:
                        if self.token.cancelled:
                            return
                        self._run_row(row, executor)

        with QPoolExecutor(self._jobs) as coordinators:
            outcome = run_work(coordinators, work, self.token, tick=tick)
        for row in self.rows:
            if row.state is RowState.WAITING:
                self._end(row, RowState.CANCELLED)
        tick()
        if isinstance(outcome, Failed):  # a mistake of ours
            raise outcome.error

    def _run_row(self, row: Row, executor: Executor) -> None:
        try:
            _require_base(row)
            row.done = self._find_done(row, executor)
            if row.done is None:
                self._convert(row, executor)
            self._end(row, RowState.SKIPPED if row.result is None else RowState.DONE)
        except Cancelled:
            self._end(row, RowState.CANCELLED)
        except (QcowError, OSError, MemoryError) as error:
            row.error = error
            self._end(row, RowState.FAILED)

    def _find_done(self, row: Row, executor: Executor) -> Done | None:
        """The target when it is done already; None when it is to be made."""
        if row.options.overwrite or not os.path.lexists(row.options.target):
            return None
        row.state = RowState.COMPARING
        token = CancelToken()
        with self._attached(token):
            return find_done(row.options, executor, row.gate, token=token, counter=row.compared)

    def _convert(self, row: Row, executor: Executor) -> None:
        job = ConvertJob(row.options, row.gate)
        row.job, row.state = job, RowState.RUNNING
        try:
            with self._attached(job.token):
                row.result = run_noted(
                    job, executor, row.gate, warn=lambda text: self.events.put(Event(row, text))
                )
        except OutputError as error:
            if error.errno != errno.EEXIST:
                raise
            # Another run may have made the same thing meanwhile.
            row.done = self._find_done(row, executor)
            if row.done is None:
                raise

    @contextlib.contextmanager
    def _attached(self, token: CancelToken) -> Iterator[None]:
        self.token.attach(token)
        try:
            yield
        finally:
            self.token.detach(token)

    def _end(self, row: Row, state: RowState) -> None:
        row.state = state
        self.events.put(Event(row))


def _gate_of(step: Step, gate: Gate) -> Gate:
    """What the user allowed, and what the steps before this one have made."""
    return EitherGate(gate, AllowGate(step.allowed)) if step.allowed else gate


def _require_base(row: Row) -> None:
    """Refuse a row whose backing file is not what this batch makes there.

    Raises:
        OutputError: When the row that makes it has not ended well.
    """
    base = row.base
    if base is not None and base.state not in (RowState.DONE, RowState.SKIPPED):
        raise without_base(row.options, base.options.target)
