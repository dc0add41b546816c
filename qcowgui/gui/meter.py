"""Speeds and remaining time of a running conversion, smoothed."""

from __future__ import annotations

from typing import Final

from qcowgui.convert.job import Phase, Progress

SETTLING_SECONDS: Final = 2.0
"""No remaining time is named before a phase has run for so long: the first numbers mislead."""

_SMOOTHING_SECONDS: Final = 5.0


class ProgressMeter:
    """Turns looks at a job's progress into speeds and remaining time.

    The speeds are exponential means over some seconds; each phase starts anew.
    """

    def __init__(self) -> None:
        self._phase: Phase | None = None
        self._began = 0.0
        self._time = 0.0
        self._done_bytes = 0
        self._total_bytes = 0
        self._written_bytes = 0
        self._rate: float | None = None
        self._written_rate: float | None = None

    def update(self, progress: Progress, now: float) -> None:
        """Take a look in; `now` is any clock in seconds that does not go backwards."""
        if progress.phase is not self._phase:
            self._phase = progress.phase
            self._began = self._time = now
            self._done_bytes = progress.done_bytes
            self._written_bytes = progress.written_bytes
            self._rate = self._written_rate = None
        span = now - self._time
        if span > 0:
            done = progress.done_bytes - self._done_bytes
            written = progress.written_bytes - self._written_bytes
            # At first the mean of all there is, or the speed would seem to rise for seconds.
            weight = min(1.0, span / min(_SMOOTHING_SECONDS, now - self._began))
            self._rate = _smoothed(self._rate, done / span, weight)
            self._written_rate = _smoothed(self._written_rate, written / span, weight)
            self._time = now
        self._done_bytes = progress.done_bytes
        self._total_bytes = progress.total_bytes
        self._written_bytes = progress.written_bytes

    def hold(self, now: float) -> None:
        """Let the time since the last look count for nothing: the job was paused."""
        if self._phase is not None:
            self._began += now - self._time
            self._time = now

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
    def written_per_second(self) -> float | None:
        """Bytes written to the target per second, or None before there are two looks."""
        return self._written_rate

    @property
    def remaining_seconds(self) -> float | None:
        """Seconds until the phase's end at this speed; None as long as nobody can know."""
        if self._time - self._began < SETTLING_SECONDS or not self._rate or not self._total_bytes:
            return None
        return max(0, self._total_bytes - self._done_bytes) / self._rate


def _smoothed(mean: float | None, value: float, weight: float) -> float:
    return value if mean is None else value * weight + mean * (1 - weight)
