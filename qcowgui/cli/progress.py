"""A job's progress on standard error: one line that is drawn again and again on a terminal."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple

from qcowgui.units import format_size

_BAR_CELLS: Final = 24
_REDRAW_SECONDS: Final = 0.1
_LINE_SECONDS: Final = 1.0
"""Not on a terminal each state is a line of its own, so they come less often."""
_ETA_AFTER_SECONDS: Final = 2.0
"""Before that a rate says little."""


class State(NamedTuple):
    """How far a job is.

    Attributes:
        label: What it does: "converting".
        done_bytes: Guest bytes dealt with in this phase.
        total_bytes: Guest bytes of this phase; 0 when not known yet.
    """

    label: str
    done_bytes: int
    total_bytes: int


class ProgressLine:
    """Draws a job's state, however often it is asked to, about ten times a second."""

    def __init__(
        self, state: Callable[[], State], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """A line that has not been drawn.

        Args:
            state: Asked for each drawing.
            clock: Seconds, from any start.
        """
        self._state = state
        self._clock = clock
        self._terminal = sys.stderr.isatty()
        self._label = ""
        self._phase_started = clock()
        self._drawn: float | None = None

    def tick(self) -> None:
        """Draw the state, unless the last drawing was a moment ago."""
        interval = _REDRAW_SECONDS if self._terminal else _LINE_SECONDS
        now = self._clock()
        if self._drawn is None or now - self._drawn >= interval:
            self._draw(now)

    def close(self) -> None:
        """Take the line off a terminal; elsewhere draw the last state."""
        if not self._terminal:
            self._draw(self._clock())
        elif self._drawn is not None:
            _write("\r\x1b[K")

    def _draw(self, now: float) -> None:
        state = self._state()
        if state.label != self._label:
            self._label, self._phase_started = state.label, now
        self._drawn = now
        text = format_state(state, now - self._phase_started)
        if self._terminal:
            width = shutil.get_terminal_size().columns - 1
            _write(f"\r{text[:width]}\x1b[K")
        else:
            _write(text + "\n")


def _write(text: str) -> None:
    # A job goes on when nobody can see how far it is.
    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()


def format_state(state: State, seconds: float) -> str:
    """A state as one line: a bar, per cent, rate and time left.

    Args:
        state: The state.
        seconds: How long the phase has been going on.
    """
    if not state.total_bytes:
        return state.label
    fraction = min(1.0, state.done_bytes / state.total_bytes)
    cells = int(fraction * _BAR_CELLS)
    bar = "#" * cells + "." * (_BAR_CELLS - cells)
    parts = [f"{state.label} [{bar}] {int(fraction * 100):3d} %"]
    if seconds > 0 and state.done_bytes:
        rate = state.done_bytes / seconds
        parts.append(f"{rate / 1e6:,.0f} MB/s")
        if seconds >= _ETA_AFTER_SECONDS:
            parts.append(f"{format_seconds((state.total_bytes - state.done_bytes) / rate)} left")
    parts.append(f"of {format_size(state.total_bytes)}")
    return "  ".join(parts)


def format_seconds(seconds: float) -> str:
    """A duration for people: 0.42 s, 12.3 s, 2:05, 1:02:05."""
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def wanted(*, forced: bool, quiet: bool) -> bool:
    """Whether progress is shown: on a terminal, or when asked for; never when quiet."""
    return not quiet and (forced or sys.stderr.isatty())


@contextmanager
def shown(state: Callable[[], State]) -> Iterator[None]:
    """Show `state` from a thread of its own while the body runs in this one."""
    line = ProgressLine(state)
    ended = threading.Event()

    def draw() -> None:
        while not ended.wait(_REDRAW_SECONDS):
            line.tick()

    drawing = threading.Thread(target=draw, name="progress", daemon=True)
    drawing.start()
    try:
        yield
    finally:
        ended.set()
        drawing.join()
        line.close()
