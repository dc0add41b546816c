"""The conversions of this window: a queue, and the controller that runs one after the other.

Work knows nothing of Qt and Qt nothing of work: a coordinator thread runs `ConvertJob.run`, a timer
in the GUI's thread looks at its counters ten times a second and takes its outcome.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from qcowgui.convert.job import ConvertJob, ConvertResult, Progress
from qcowgui.convert.options import ConvertOptions
from qcowgui.engine.qpool import QPoolExecutor
from qcowgui.engine.work import CancelledOutcome, CancelToken, Done, Executor, Failed, Outcome
from qcowgui.errors import QcowError, ReferencedFileError
from qcowgui.gui.background import PULL_INTERVAL_MS, BackgroundRunner
from qcowgui.gui.meter import ProgressMeter
from qcowgui.gui.polite import PoliteExecutor
from qcowgui.image.references import AllowGate, Reference


class JobState(Enum):
    """How far a conversion is."""

    WAITING = auto()
    RUNNING = auto()
    CANCELLING = auto()
    DONE = auto()
    CANCELLED = auto()
    FAILED = auto()

    @property
    def ended(self) -> bool:
        """Whether nothing more happens by itself."""
        return self in (JobState.DONE, JobState.CANCELLED, JobState.FAILED)


class AllowNamedGate:
    """Opens the files a person has named, and keeps what it refused for the question to them."""

    def __init__(self, allowed: Sequence[Path]) -> None:
        # Without a name AllowGate would open any backing file.
        self._gate = AllowGate(tuple(allowed)) if allowed else None
        self.refused: list[Reference] = []

    def permit(self, reference: Reference) -> bool:
        """Whether the file was named. Called by the job's thread."""
        if self._gate is not None and self._gate.permit(reference):
            return True
        self.refused.append(reference)
        return False


@dataclass(slots=True, eq=False)
class Job:
    """One conversion of the queue. Belongs to the GUI's thread.

    Attributes:
        options: What was asked for.
        allowed: The referenced files that a person has agreed to open.
        state: How far it is.
        progress: The last look at it, once it runs.
        meter: Speed and remaining time.
        result: What it made, when it is done.
        error: Why it failed, when it did.
        refused: The references that were not opened, when that is why it failed.
    """

    options: ConvertOptions
    allowed: tuple[Path, ...] = ()
    state: JobState = JobState.WAITING
    progress: Progress | None = None
    meter: ProgressMeter = field(default_factory=ProgressMeter)
    result: ConvertResult | None = None
    error: BaseException | None = None
    refused: tuple[Reference, ...] = ()
    _began: float | None = None
    _ended: float | None = None

    @property
    def elapsed_seconds(self) -> float:
        """Time since the start, up to the end when it has ended."""
        if self._began is None:
            return 0.0
        return (self._ended or time.monotonic()) - self._began

    @property
    def error_details(self) -> str:
        """The error for a bug report: what was to be done, and the traceback."""
        if self.error is None:
            return ""
        lines = traceback.format_exception(self.error)
        return f"{self.options}\n\n{''.join(lines)}"

    def begin(self) -> None:
        """Note the start."""
        self.state = JobState.RUNNING
        self._began = time.monotonic()

    def end(self, state: JobState) -> None:
        """Note the end."""
        self.state = state
        self._ended = time.monotonic()


@dataclass(slots=True, eq=False)
class _Running:
    """The job that runs, with what it runs on."""

    job: Job
    convert_job: ConvertJob
    gate: AllowNamedGate
    executor: QPoolExecutor


@dataclass(frozen=True, slots=True)
class _Conversion:
    """The work of the coordinator thread; refers to nothing of Qt's widgets or signals."""

    convert_job: ConvertJob
    executor: Executor

    def __call__(self, token: CancelToken) -> ConvertResult:
        token.raise_if_cancelled()
        return self.convert_job.run(self.executor)


class JobController(QObject):
    """Runs conversions one after the other: each of them uses every core by itself.

    Signals:
        job_added: A Job was put into the queue.
        job_changed: A Job's state or progress is another.
        job_removed: An ended Job was taken out.
        idle: No Job runs or waits any more.
    """

    job_added = Signal(object)
    job_changed = Signal(object)
    job_removed = Signal(object)
    idle = Signal()

    def __init__(
        self, parent: QObject | None = None, *, interval_ms: int = PULL_INTERVAL_MS
    ) -> None:
        super().__init__(parent)
        self._jobs: list[Job] = []
        self._running: _Running | None = None
        self._runner = BackgroundRunner(self, interval_ms=interval_ms)
        self._runner.pulled.connect(self._look)

    @property
    def jobs(self) -> tuple[Job, ...]:
        """Every Job that was not removed, the oldest first."""
        return tuple(self._jobs)

    @property
    def active(self) -> bool:
        """Whether a Job runs or waits."""
        return any(not job.state.ended for job in self._jobs)

    def start(self, options: ConvertOptions, allowed: Sequence[Path] = ()) -> Job:
        """Put a conversion into the queue; it begins at once when nothing else runs.

        Args:
            options: What to do.
            allowed: The referenced files that a person has agreed to open.
        """
        job = Job(options, tuple(allowed))
        self._jobs.append(job)
        self.job_added.emit(job)
        self._begin_next()
        return job

    def retry(self, job: Job, also_allowed: Sequence[Path] = ()) -> Job:
        """Put an ended Job's conversion into the queue again, in a new Job that takes its place."""
        allowed = (*job.allowed, *also_allowed)
        self.remove(job)
        return self.start(job.options, allowed)

    def cancel(self, job: Job) -> None:
        """Ask a Job to stop. One that waits is cancelled at once."""
        if job.state is JobState.WAITING:
            job.end(JobState.CANCELLED)
            self.job_changed.emit(job)
            self._tell_if_idle()
        elif job.state is JobState.RUNNING and self._running is not None:
            job.state = JobState.CANCELLING
            self._running.convert_job.token.cancel()
            self.job_changed.emit(job)

    def cancel_all(self) -> None:
        """Ask every Job to stop; `idle` tells when they have."""
        for job in reversed(self._jobs):  # those that wait first, or the next one would begin
            self.cancel(job)

    def remove(self, job: Job) -> None:
        """Take an ended Job out of the list.

        Raises:
            ValueError: When it has not ended.
        """
        if not job.state.ended:
            raise ValueError("only a conversion that has ended can be removed")
        self._jobs.remove(job)
        self.job_removed.emit(job)

    def _begin_next(self) -> None:
        if self._running is not None:
            return
        job = next((job for job in self._jobs if job.state is JobState.WAITING), None)
        if job is None:
            return
        gate = AllowNamedGate(job.allowed)
        convert_job = ConvertJob(job.options, gate)
        executor = PoliteExecutor(job.options.threads)
        self._running = _Running(job, convert_job, gate, executor)
        job.begin()
        self._runner.submit(
            _Conversion(convert_job, executor), self._finished, token=convert_job.token
        )
        self.job_changed.emit(job)

    def _look(self) -> None:
        running = self._running
        if running is None:
            return
        progress = running.convert_job.progress()
        running.job.progress = progress
        running.job.meter.update(progress, time.monotonic())
        self.job_changed.emit(running.job)

    def _finished(self, outcome: Outcome, result: ConvertResult | None) -> None:
        running = self._running
        if running is None:
            raise RuntimeError("a conversion has finished that was never started")
        self._running = None
        running.executor.close()  # run() has returned, so no worker is left to wait for
        job = running.job
        match outcome:
            case Done():
                job.result = result
                job.end(JobState.DONE)
            case CancelledOutcome():
                job.end(JobState.CANCELLED)
            case Failed(error):
                job.error = error
                if isinstance(error, ReferencedFileError) and error.reason == "denied":
                    job.refused = tuple(running.gate.refused)
                job.end(JobState.FAILED)
        self.job_changed.emit(job)
        self._begin_next()
        self._tell_if_idle()

    def _tell_if_idle(self) -> None:
        if not self.active:
            self.idle.emit()


def error_texts(error: BaseException) -> tuple[str, str]:
    """An error as a sentence and a hint; the hint may be empty."""
    if isinstance(error, QcowError):
        return error.message, error.hint
    return f"{type(error).__name__}: {error}", ""
