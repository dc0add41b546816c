"""The conversions of this window: the controller that runs one after the other.

Work knows nothing of Qt and Qt nothing of work: a coordinator thread runs `ConvertJob.run`, a timer
in the GUI's thread looks at its counters ten times a second and takes its outcome.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from qcowgui.convert.done_record import Done as DoneBefore
from qcowgui.convert.job import ConvertJob, ConvertResult
from qcowgui.convert.options import ConvertOptions
from qcowgui.convert.snapshots import without_base
from qcowgui.engine.work import CancelledOutcome, Done, Failed, Outcome, default_threads
from qcowgui.errors import ReferencedFileError
from qcowgui.gui.background import PULL_INTERVAL_MS, BackgroundRunner
from qcowgui.gui.consent import NOTHING_ALLOWED, Consent, ConsentGate
from qcowgui.gui.polite import PoliteExecutor
from qcowgui.gui.queue_job import Job, JobState, error_texts
from qcowgui.gui.queue_store import QueueStore, SavedJob
from qcowgui.gui.queue_work import Conversion, Saving

__all__ = ["Job", "JobController", "JobState", "error_texts"]


@dataclass(slots=True, eq=False)
class _Running:
    """The job that runs, with what it runs on."""

    job: Job
    convert_job: ConvertJob
    gate: ConsentGate


class JobController(QObject):
    """Runs conversions one after the other: each of them uses every core by itself.

    They share one executor, whose threads outlive a conversion for some seconds.

    Signals:
        job_added: A Job was put at the end of the queue.
        job_changed: A Job's state, options or progress is another.
        job_removed: An ended Job was taken out.
        order_changed: The Jobs stand in another order.
        store_failed: The queue can't be kept on disk: the error. Told once.
        idle: No Job runs or waits any more, and the queue is kept as it is.
    """

    job_added = Signal(object)
    job_changed = Signal(object)
    job_removed = Signal(object)
    order_changed = Signal()
    store_failed = Signal(object)
    idle = Signal()

    def __init__(
        self, parent: QObject | None = None, *, interval_ms: int = PULL_INTERVAL_MS
    ) -> None:
        super().__init__(parent)
        self._jobs: list[Job] = []
        self._running: _Running | None = None
        self._executor: PoliteExecutor | None = None
        self._runner = BackgroundRunner(self, interval_ms=interval_ms)
        self._runner.pulled.connect(self._look)
        self._store: QueueStore | None = None
        self._storing = False
        self._unsaved: tuple[SavedJob, ...] | None = None
        self._suspended = False
        self._store_problem_told = False

    # ---------------------------------------------------------------- what there is

    @property
    def jobs(self) -> tuple[Job, ...]:
        """Every Job that was not removed, in the order in which they run."""
        return tuple(self._jobs)

    @property
    def unfinished(self) -> tuple[Job, ...]:
        """Those that run or wait."""
        return tuple(job for job in self._jobs if not job.state.ended)

    @property
    def running(self) -> Job | None:
        """The one that is under way, paused or not."""
        return self._running.job if self._running is not None else None

    @property
    def active(self) -> bool:
        """Whether a Job runs or waits, or the queue is being read or written."""
        return self._storing or any(not job.state.ended for job in self._jobs)

    @property
    def remembers(self) -> bool:
        """Whether what is unfinished when the window ends comes back with the next one."""
        return self._store is not None

    # ---------------------------------------------------------------- what a person asks for

    def start(self, options: ConvertOptions, consent: Consent = NOTHING_ALLOWED) -> Job:
        """Put a conversion into the queue; it begins at once when nothing else runs.

        Args:
            options: What to do.
            consent: Which referenced files a person has agreed to open, and where they are.
        """
        (job,) = self.start_all([(options, consent)])
        return job

    def start_all(self, wanted: Iterable[tuple[ConvertOptions, Consent]]) -> list[Job]:
        """Put conversions into the queue, as `start` does with one."""
        jobs = [Job(options, consent) for options, consent in wanted]
        for job in jobs:
            self._add(job)
        self._begin_next()
        self._save()
        return jobs

    def retry(self, job: Job, also_allowed: Sequence[Path] = (), *, salvage: bool = False) -> Job:
        """Let an ended Job wait again, at its place in the queue.

        Args:
            job: The Job; it is returned.
            also_allowed: Further referenced files that a person has agreed to open.
            salvage: Whether what can't be read is written as zeros now, and listed.

        Raises:
            ValueError: When it has not ended.
        """
        _require(job.state.ended, "only a conversion that has ended can be tried again")
        options = replace(job.options, salvage=True) if salvage else job.options
        job.wait_again(options, job.consent.allowing(also_allowed))
        self.job_changed.emit(job)
        self._begin_next()
        self._save()
        return job

    def resume_interrupted(self) -> None:
        """Let every interrupted Job wait again."""
        for job in self._jobs:
            if job.state is JobState.INTERRUPTED:
                self.retry(job)

    def can_edit(self, job: Job) -> bool:
        """Whether a Job can have other options: it waits, or has ended without a result."""
        state = job.state
        return state is JobState.WAITING or (state.ended and state is not JobState.DONE)

    def edit(self, job: Job, options: ConvertOptions, consent: Consent = NOTHING_ALLOWED) -> None:
        """Give a Job other options, for when it runs.

        Raises:
            ValueError: When it is under way or done.
        """
        _require(self.can_edit(job), "only a conversion that waits can be changed")
        job.options, job.consent = options, consent
        self.job_changed.emit(job)
        self._save()

    def pause(self, job: Job) -> None:
        """Let the running Job wait where it is, after its current batches; the others wait, too."""
        if job.state is JobState.RUNNING and self._running is not None:
            self._running.convert_job.token.pause()
            job.pause()
            self.job_changed.emit(job)

    def resume(self, job: Job) -> None:
        """Let a paused Job go on."""
        if job.state is JobState.PAUSED and self._running is not None:
            self._running.convert_job.token.resume()
            job.resume()
            self.job_changed.emit(job)

    def cancel(self, job: Job) -> None:
        """Ask a Job to stop. One that waits is cancelled at once."""
        if job.state is JobState.WAITING:
            job.end(JobState.CANCELLED)
            self.job_changed.emit(job)
            self._fail_baseless()
            self._save()
            self._tell_if_idle()
        elif job.state in (JobState.RUNNING, JobState.PAUSED) and self._running is not None:
            job.resume(JobState.CANCELLING)
            self._running.convert_job.token.cancel()
            self.job_changed.emit(job)

    def cancel_all(self) -> None:
        """Ask every Job to stop; `idle` tells when they have."""
        for job in reversed(self._jobs):  # those that wait first, or the next one would begin
            self.cancel(job)

    def can_move(self, job: Job, step: int) -> bool:
        """Whether `move` would change anything."""
        return self._neighbour(job, step) is not None

    def move(self, job: Job, step: int) -> None:
        """Let a Job that waits run before the one before it (-1), or after the next one (1)."""
        index = self._neighbour(job, step)
        if index is not None:
            self._jobs.remove(job)
            self._jobs.insert(index, job)
            self.order_changed.emit()
            self._save()

    def remove(self, job: Job) -> None:
        """Take an ended Job out of the list.

        Raises:
            ValueError: When it has not ended.
        """
        _require(job.state.ended, "only a conversion that has ended can be removed")
        self._jobs.remove(job)
        self.job_removed.emit(job)
        self._save()

    # ---------------------------------------------------------------- outliving the window

    def remember_in(self, store: QueueStore) -> None:
        """Keep the queue in `store` from now on; what it holds comes back as interrupted Jobs."""
        self._storing = True
        self._runner.submit(store.open, lambda outcome, saved: self._opened(store, outcome, saved))

    def suspend(self) -> None:
        """Stop everything; what is unfinished comes back as interrupted when the store is read."""
        self._suspended = True
        self.cancel_all()

    def _opened(
        self, store: QueueStore, outcome: Outcome, saved: tuple[SavedJob, ...] | None
    ) -> None:
        self._storing = False
        self._tell_of_store(outcome)
        if saved is not None:
            self._store = store
            for kept in saved:
                self._add(Job(kept.options, kept.consent, JobState.INTERRUPTED, interrupted=True))
            self._save()
        self._tell_if_idle()

    def _save(self) -> None:
        """Write the unfinished Jobs; while that goes on, what changes waits for its end."""
        if self._store is None or self._suspended:
            return
        self._unsaved = tuple(
            SavedJob(job.options, job.consent)
            for job in self._jobs
            if job.state is JobState.INTERRUPTED or not job.state.ended
        )
        self._write()

    def _write(self) -> None:
        if self._storing or self._store is None or self._unsaved is None:
            return
        jobs, self._unsaved = self._unsaved, None
        self._storing = True
        self._runner.submit(Saving(self._store, jobs), self._written)

    def _written(self, outcome: Outcome, _: None) -> None:
        self._storing = False
        self._tell_of_store(outcome)
        self._write()
        self._tell_if_idle()

    def _tell_of_store(self, outcome: Outcome) -> None:
        if isinstance(outcome, Failed) and not self._store_problem_told:
            self._store_problem_told = True
            self.store_failed.emit(outcome.error)

    # ---------------------------------------------------------------- running

    def _add(self, job: Job) -> None:
        self._jobs.append(job)
        self.job_added.emit(job)

    def _neighbour(self, job: Job, step: int) -> int | None:
        """Where the next Job that waits stands, in one direction; None when there is none.

        None as well when one of the two makes the backing file of the other one's target.
        """
        if job.state is not JobState.WAITING:
            return None
        end = len(self._jobs) if step > 0 else -1
        indices = range(self._jobs.index(job) + step, end, step)
        index = next((i for i in indices if self._jobs[i].state is JobState.WAITING), None)
        if index is None:
            return None
        other = self._jobs[index]
        return None if job.stands_on(other) or other.stands_on(job) else index

    def _base_of(self, job: Job) -> Job | None:
        """The Job before this one that makes the backing file of its target; None when none does.

        Of several the last one: what the others have made it replaces.
        """
        if job.options.backing_file is None:
            return None
        before = self._jobs[: self._jobs.index(job)]
        return next((other for other in reversed(before) if job.stands_on(other)), None)

    def _fail_baseless(self) -> None:
        """Let those fail that wait for a backing file which was not made."""
        for job in self._jobs:
            if job.state is not JobState.WAITING:
                continue
            base = self._base_of(job)
            if base is not None and base.state.ended and base.state is not JobState.DONE:
                job.error = without_base(job.options, base.options.target)
                job.end(JobState.FAILED)
                self.job_changed.emit(job)

    def _begin_next(self) -> None:
        self._fail_baseless()
        if self._running is not None:
            return
        job = next((job for job in self._jobs if job.state is JobState.WAITING), None)
        if job is None:
            return
        gate = job.consent.gate()
        convert_job = ConvertJob(job.options, gate)
        executor = self._executor_with(job.options.threads)
        self._running = _Running(job, convert_job, gate)
        job.begin()
        work = Conversion(convert_job, executor, job.consent, look_first=job.interrupted)
        self._runner.submit(work, self._finished, token=convert_job.token)
        self.job_changed.emit(job)

    def _executor_with(self, threads: int | None) -> PoliteExecutor:
        """The shared executor; another one when a conversion wants another number of threads."""
        wanted = threads or default_threads()
        if self._executor is None or self._executor.threads != wanted:
            self._executor = PoliteExecutor(wanted)
        return self._executor

    def _look(self) -> None:
        running = self._running
        if running is None:
            return
        running.job.look(running.convert_job.progress())
        self.job_changed.emit(running.job)

    def _finished(self, outcome: Outcome, result: ConvertResult | DoneBefore | None) -> None:
        running = self._running
        if running is None:
            raise RuntimeError("a conversion has finished that was never started")
        self._running = None
        job = running.job
        match outcome:
            case Done():
                if isinstance(result, DoneBefore):
                    job.found = result
                else:
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
        self._save()
        self._tell_if_idle()

    def _tell_if_idle(self) -> None:
        if not self.active:
            self.idle.emit()


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise ValueError(what)
