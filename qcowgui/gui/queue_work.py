"""What the queue runs beside the window. Refers to nothing of Qt's widgets or signals."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from qcowgui.convert.done_record import is_done, note_done, source_facts
from qcowgui.convert.job import ConvertJob, ConvertResult
from qcowgui.engine.work import CancelToken, Executor
from qcowgui.errors import QcowError
from qcowgui.gui.queue_store import QueueStore, SavedJob
from qcowgui.image.references import AllowGate, Reference


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


@dataclass(frozen=True, slots=True)
class Conversion:
    """One conversion; it gives None when its target was there already.

    Attributes:
        convert_job: What runs.
        executor: Where its workers run.
        allowed: The referenced files that a person has agreed to open.
        look_first: Whether an earlier run may have put the target in place, unnoticed.
    """

    convert_job: ConvertJob
    executor: Executor
    allowed: tuple[Path, ...]
    look_first: bool

    def __call__(self, token: CancelToken) -> ConvertResult | None:
        """Convert, and note that it was done; None when it was done already."""
        token.raise_if_cancelled()
        options, gate = self.convert_job.options, AllowNamedGate(self.allowed)
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
