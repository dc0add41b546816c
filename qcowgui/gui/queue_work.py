"""What the queue runs beside the window. Refers to nothing of Qt's widgets or signals."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from qcowgui.convert.done_record import is_done, note_done, source_facts
from qcowgui.convert.job import ConvertJob, ConvertResult
from qcowgui.engine.work import CancelToken, Executor
from qcowgui.errors import QcowError
from qcowgui.gui.consent import Consent
from qcowgui.gui.queue_store import QueueStore, SavedJob


@dataclass(frozen=True, slots=True)
class Conversion:
    """One conversion; it gives None when its target was there already.

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

    def __call__(self, token: CancelToken) -> ConvertResult | None:
        """Convert, and note that it was done; None when it was done already."""
        token.raise_if_cancelled()
        options, gate = self.convert_job.options, self.consent.gate()
        if self.look_first and is_done(options, self.executor, gate=gate, token=token):
            return None
        before = []
        with contextlib.suppress(QcowError):  # the conversion says why, and better
            before = source_facts(options, gate)
        result = self.convert_job.run(self.executor)
        if result.verified and not result.losses:
            note_done(options, before, gate)
        return result


@dataclass(frozen=True, slots=True)
class Saving:
    """Keeps a list of conversions on disk."""

    store: QueueStore
    jobs: tuple[SavedJob, ...]

    def __call__(self, _token: CancelToken) -> None:
        """Write them."""
        self.store.write(self.jobs)
