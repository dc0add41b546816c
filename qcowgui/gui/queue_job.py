"""One conversion of the queue: what was asked for, how far it is, what came of it."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

from qcowgui.convert.done_record import Done
from qcowgui.convert.job import ConvertResult, Phase, Progress
from qcowgui.convert.naming import name_key
from qcowgui.convert.options import ConvertOptions
from qcowgui.errors import ImageError, NotQcow2Error, QcowError, SourceError
from qcowgui.gui.consent import NOTHING_ALLOWED, Consent
from qcowgui.gui.formatters import without_options
from qcowgui.gui.meter import ProgressMeter
from qcowgui.gui.throughput import Throughput
from qcowgui.image.references import Reference

VERIFYING_SHARE: Final = 0.25
"""What verifying takes of a whole conversion, for its total: reading alone is the quicker part."""


class JobState(Enum):
    """How far a conversion is."""

    WAITING = auto()
    RUNNING = auto()
    PAUSED = auto()
    CANCELLING = auto()
    DONE = auto()
    CANCELLED = auto()
    FAILED = auto()
    INTERRUPTED = auto()

    @property
    def ended(self) -> bool:
        """Whether nothing more happens by itself."""
        return self in _ENDED

    @property
    def under_way(self) -> bool:
        """Whether it has begun and not ended."""
        return self in (JobState.RUNNING, JobState.PAUSED, JobState.CANCELLING)


_ENDED: Final = (JobState.DONE, JobState.CANCELLED, JobState.FAILED, JobState.INTERRUPTED)


@dataclass(slots=True, eq=False)
class Job:
    """One conversion of the queue. Belongs to the GUI's thread.

    Attributes:
        options: What was asked for.
        consent: Which referenced files a person has agreed to open, and where they are.
        state: How far it is.
        interrupted: Whether an earlier window ended while it was under way: its target may be
            there already.
        progress: The last look at it, once it runs.
        meter: Speeds and remaining time.
        throughput: How the speeds went.
        result: What it made, when it is done; None when its target was there already, made and
            verified before an interruption.
        found: What is known of that target.
        error: Why it failed, when it did.
        refused: The references that were not opened, when that is why it failed.
        paused_seconds: How long it was paused, until the last time it went on.
    """

    options: ConvertOptions
    consent: Consent = NOTHING_ALLOWED
    state: JobState = JobState.WAITING
    interrupted: bool = False
    progress: Progress | None = None
    meter: ProgressMeter = field(default_factory=ProgressMeter)
    throughput: Throughput = field(default_factory=Throughput)
    result: ConvertResult | None = None
    found: Done | None = None
    error: BaseException | None = None
    refused: tuple[Reference, ...] = ()
    paused_seconds: float = 0.0
    _began: float | None = None
    _ended: float | None = None
    _paused_at: float | None = None

    @property
    def elapsed_seconds(self) -> float:
        """Time since the start without pauses, up to the end when it has ended."""
        if self._began is None:
            return 0.0
        until = self._ended or self._paused_at or time.monotonic()
        return until - self._began - self.paused_seconds

    @property
    def fraction(self) -> float:
        """The part of the whole conversion that is done, 0 to 1, verifying included."""
        if self.state is JobState.DONE:
            return 1.0
        if self.progress is None:
            return 0.0
        verifying = VERIFYING_SHARE if self.options.verify else 0.0
        part = self.meter.fraction or 0.0
        match self.progress.phase:
            case Phase.CONVERTING:
                return part * (1 - verifying)
            case Phase.VERIFYING:
                return 1 - verifying + part * verifying
            case Phase.FINISHING:
                return 1.0
            case _:
                return 0.0

    @property
    def error_details(self) -> str:
        """The error for a bug report: what was to be done, and the traceback."""
        if self.error is None:
            return ""
        lines = traceback.format_exception(self.error)
        return f"{self.options}\n\n{''.join(lines)}"

    def stands_on(self, other: Job) -> bool:
        """Whether the other one's target is the backing file that this one's target keeps."""
        name = self.options.backing_file
        if name is None:
            return False
        # As names alone: this is asked in the GUI's thread, and a disk may take its time.
        base = self.options.target.absolute().parent / name
        return name_key(base) == name_key(other.options.target)

    @property
    def may_salvage(self) -> bool:
        """Whether it failed at something that salvage would write as zeros and list."""
        error = self.error
        if self.state is not JobState.FAILED or self.options.salvage:
            return False
        if isinstance(error, ImageError):
            return not isinstance(error, NotQcow2Error) and error.guest_offset is not None
        return isinstance(error, SourceError) and self._has_read

    @property
    def _has_read(self) -> bool:
        """Whether the source could be opened at all."""
        return self.progress is not None and self.progress.phase is not Phase.PREPARING

    def wait_again(self, options: ConvertOptions, consent: Consent) -> None:
        """Forget what came of it, and wait for another run."""
        self.options, self.consent = options, consent
        self.state = JobState.WAITING
        self.progress, self.result, self.found, self.error = None, None, None, None
        self.meter, self.throughput = ProgressMeter(), Throughput()
        self.refused = ()
        self._began = self._ended = self._paused_at = None
        self.paused_seconds = 0.0

    def begin(self) -> None:
        """Note the start."""
        self.state = JobState.RUNNING
        self._began = time.monotonic()

    def look(self, progress: Progress) -> None:
        """Take in how far it is."""
        now = time.monotonic()
        if self.state is JobState.PAUSED:
            self.meter.hold(now)
            return
        self.progress = progress
        self.meter.update(progress, now)
        if progress.phase is Phase.VERIFYING and self.throughput.verifying_from is None:
            self.throughput.verifying_from = self.elapsed_seconds
        rate, written = self.meter.bytes_per_second, self.meter.written_per_second
        if rate is not None and written is not None:
            self.throughput.add(self.elapsed_seconds, rate, written)

    def pause(self) -> None:
        """Note the start of a pause."""
        self.state = JobState.PAUSED
        self._paused_at = time.monotonic()

    def resume(self, state: JobState = JobState.RUNNING) -> None:
        """Note the end of a pause, if there is one."""
        self.state = state
        if self._paused_at is not None:
            now = time.monotonic()
            self.paused_seconds += now - self._paused_at
            self._paused_at = None
            self.meter.hold(now)

    def end(self, state: JobState) -> None:
        """Note the end."""
        self.resume(state)
        self._ended = time.monotonic()


def error_texts(error: BaseException) -> tuple[str, str]:
    """An error as a sentence and a hint; the hint may be empty."""
    if isinstance(error, QcowError):
        return error.message, without_options(error.hint)
    return f"{type(error).__name__}: {error}", ""
