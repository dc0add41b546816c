"""What the queue runs beside the window. Refers to nothing of Qt's widgets or signals."""

from __future__ import annotations

from dataclasses import dataclass

from qcowgui.convert.done_record import Done
from qcowgui.convert.job import ConvertJob, ConvertResult
from qcowgui.convert.noted_job import run_noted
from qcowgui.convert.target_judge import find_done, judge_target
from qcowgui.engine.work import CancelToken, Executor
from qcowgui.gui.consent import Consent
from qcowgui.gui.queue_store import QueueStore, SavedJob
from qcowgui.image.references import Gate


@dataclass(frozen=True, slots=True)
class Conversion:
    """One conversion; it gives a Done when its target was there already.

    Attributes:
        convert_job: What runs.
        executor: Where its workers run.
        consent: Which referenced files a person has agreed to open, and where they are.
        look_first: Whether an earlier run may have put the target in place, unnoticed.
    """

    convert_job: ConvertJob
    executor: Executor
    consent: Consent
    look_first: bool

    def __call__(self, token: CancelToken) -> ConvertResult | Done:
        """Convert, and note that it was done; what is known of its target when it was there."""
        token.raise_if_cancelled()
        gate = self.consent.gate()
        if self.look_first:
            found = self._found(token, gate)
            if found is not None:
                return found
        return run_noted(self.convert_job, self.executor, gate)

    def _found(self, token: CancelToken, gate: Gate) -> Done | None:
        """The target when it is done; None when it is to be made, or replaced.

        Raises:
            OutputError: When something else is there and may not be replaced.
        """
        options = self.convert_job.options
        if not options.overwrite:
            return find_done(options, self.executor, gate, token=token)
        found = judge_target(options, self.executor, gate=gate, token=token)
        return found if isinstance(found, Done) else None


@dataclass(frozen=True, slots=True)
class Saving:
    """Keeps a list of conversions on disk."""

    store: QueueStore
    jobs: tuple[SavedJob, ...]

    def __call__(self, _token: CancelToken) -> None:
        """Write them."""
        self.store.write(self.jobs)
