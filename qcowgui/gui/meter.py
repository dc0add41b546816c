"""Speed and remaining time of a running conversion, smoothed."""

from __future__ import annotations

from typing import Final

from qcowgui.convert.job import Phase, Progress

SETTLING_SECONDS: Final = 2.0
"""No remaining time is named before a phase has run for so long: the first numbers mislead."""

_SMOOTHING_SECONDS: Final = 5.0


class ProgressMeter:
    """Turns looks at a job's progress into speed and remaining time.

    The speed is an exponential mean over some seconds; each phase starts anew.
    """

    def __init__(self) -> None:
        self._phase: Phase | None = None
        self._began = 0.0
        self._time = 0.0
        self._done_bytes = 0
        self._total_bytes = 0
        self._rate: float | None = None

    def update(self, progress: Progress, now: float) -> None:
        """Take a look in; `now` is any clock in seconds that does not go backwards."""
        if progress.phase is not self._phase:
            self._phase = progress.phase
            self._began = self._time = now
            self._done_bytes = progress.done_bytes
            self._rate = None
        span = now - self._time
        if span > 0:
            rate = (progress.done_bytes - self._done_bytes) / span
            weight = 1.0 if self._rate is None else min(1.0, span / _SMOOTHING_SECONDS)
            self._rate = rate * weight + (self._rate or 0.0) * (1 - weight)
            self._time = now
        self._done_bytes = progress.done_bytes
        self._total_bytes = progress.total_bytes

    @property
    def fraction(self) -> float | None:
        """The part of the phase that is done, 0 to 1; None when its size is not known."""
        if self._total_bytes <= 0:
            return None
        return min(1.0, self._done_bytes / self._total_bytes)

    @property
    def bytes_per_second(self) -> float | None:
        """Guest bytes per second, or None before there are two looks."""
        return self._rate

    @property
    def remaining_seconds(self) -> float | None:
        """Seconds until the phase's end at this speed; None as long as nobody can know."""
        if self._time - self._began < SETTLING_SECONDS or not self._rate or not self._total_bytes:
            return None
        return max(0, self._total_bytes - self._done_bytes) / self._rate
