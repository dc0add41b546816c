"""How long an operation took, and how much memory it had in hand."""

from __future__ import annotations

import signal
import sys
import time
import traceback
from pathlib import Path
from types import FrameType, TracebackType
from typing import Self

MAX_SECONDS = 2.0
"""Processor time, which other programs on the machine don't lengthen."""
MAX_RSS_GROWTH_BYTES = 300 * 1_000_000
ADDRESS_SPACE_BYTES = 3 << 30
"""What a worker may map beyond what it has at its start: a net under the limit above."""

MEASURES_MEMORY = sys.platform == "linux"

_HAS_TIMERS = hasattr(signal, "setitimer")
_STATM = Path("/proc/self/statm")
_STATUS = Path("/proc/self/status")


def resident_bytes() -> int:
    """Return what of this process is in memory now; 0 where that can't be asked."""
    return _statm(1)


def peak_bytes() -> int:
    """Return the most of this process that was ever in memory; 0 where that can't be asked.

    Not getrusage's figure: a child inherits that of the process that started it.
    """
    if not MEASURES_MEMORY:
        return 0
    (line,) = (line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def limit_process() -> None:
    """Let allocations far beyond the limit fail in this process; leave no memory dumps."""
    if not MEASURES_MEMORY:
        return
    import resource

    limit = _statm(0) + ADDRESS_SPACE_BYTES
    for kind, soft in ((resource.RLIMIT_AS, limit), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(kind, (soft, resource.getrlimit(kind)[1]))


def _statm(field: int) -> int:
    if not MEASURES_MEMORY:
        return 0
    import resource

    return int(_STATM.read_text().split()[field]) * resource.getpagesize()


class Meter:
    """Measures what happens in its `with` block.

    Attributes:
        seconds: Processor time.
        growth_bytes: How far the memory in use rose above that at the start, at the highest; 0 if
            it was higher before. A process that once exceeded the limit can't measure any more.
        stack: Where the program was when the time was over, outermost call first; empty if it never
            was, or on a system without interval timers. Only the main thread can have this.
    """

    def __enter__(self) -> Self:
        self.seconds = 0.0
        self.growth_bytes = 0
        self.stack = traceback.StackSummary()
        if _HAS_TIMERS:
            self._old_handler = signal.signal(signal.SIGPROF, self._note_stack)
            signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)
        self._resident = resident_bytes()
        self._peak = peak_bytes()
        self._start = time.process_time()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.seconds = time.process_time() - self._start
        if _HAS_TIMERS:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, self._old_handler)
        peak = peak_bytes()
        if peak > self._peak:
            self.growth_bytes = peak - self._resident

    def _note_stack(self, _number: int, frame: FrameType | None) -> None:
        self.stack = traceback.extract_stack(frame)
