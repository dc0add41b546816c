"""How the speeds of a conversion went, for a plot: any duration in bounded memory. Knows no Qt."""

from __future__ import annotations

from typing import Final

MAX_SAMPLES: Final = 600
FIRST_INTERVAL_SECONDS: Final = 0.25


class Throughput:
    """Samples of two speeds at even distances; they move apart as the job grows longer.

    Attributes:
        seconds: When each sample was taken, since the job's start.
        read: Guest bytes per second then.
        written: Bytes per second then that went to the target.
        verifying_from: When the result began to be read again, or None.
    """

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.read: list[float] = []
        self.written: list[float] = []
        self.verifying_from: float | None = None
        self._interval = FIRST_INTERVAL_SECONDS

    def add(self, seconds: float, read: float, written: float) -> None:
        """Take in the speeds of a moment; one that comes too soon after the last is left out."""
        if self.seconds and seconds - self.seconds[-1] < self._interval:
            return
        self.seconds.append(seconds)
        self.read.append(read)
        self.written.append(written)
        if len(self.seconds) >= MAX_SAMPLES:
            self._thin_out()

    def _thin_out(self) -> None:
        """Make one sample, their mean, of each two."""
        for values in (self.seconds, self.read, self.written):
            values[:] = [
                (first + second) / 2
                for first, second in zip(values[::2], values[1::2], strict=True)
            ]
        self._interval *= 2
