"""How far the queue is as a whole: what was asked for since it was last idle. Knows no widgets."""

from __future__ import annotations

from qcowgui.gui.queue_job import Job, JobState


class QueueTotal:
    """The jobs of one stretch of work, each counted alike whatever its size."""

    def __init__(self) -> None:
        self._jobs: list[Job] = []

    def note(self, job: Job) -> None:
        """Take in a job that waits or runs; after everything has ended, a new stretch begins."""
        if job.state.ended or job in self._jobs:
            return
        if all(known.state.ended for known in self._jobs):
            self._jobs.clear()
        self._jobs.append(job)

    def forget(self, job: Job) -> None:
        """Leave out a job that was removed."""
        if job in self._jobs:
            self._jobs.remove(job)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._jobs)

    @property
    def ended(self) -> int:
        """How many of them have ended, well or not."""
        return sum(job.state.ended for job in self._jobs)

    @property
    def done(self) -> int:
        """How many of them have ended well."""
        return self._in(JobState.DONE)

    @property
    def failed(self) -> int:
        """How many of them have failed."""
        return self._in(JobState.FAILED)

    @property
    def cancelled(self) -> int:
        """How many of them were cancelled."""
        return self._in(JobState.CANCELLED)

    @property
    def fraction(self) -> float:
        """The part that is done, 0 to 1; what has ended in any way counts as done."""
        if not self._jobs:
            return 0.0
        parts = [1.0 if job.state.ended else job.fraction for job in self._jobs]
        return sum(parts) / len(parts)

    def _in(self, state: JobState) -> int:
        return sum(job.state is state for job in self._jobs)
