"""What a row gave, and whether that is enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Final

from tests.bench.measure import Sample
from tests.bench.rows import Row

# Holds in every row, required or not: memory must not depend on the image or its clusters.
MAX_PEAK_RSS_BYTES: Final = 300_000_000


@dataclass(frozen=True)
class Figures:
    """The runs of one program in one row.

    Attributes:
        samples: At least one, in the order of the runs.
        output_bytes: The last output's file length; 0 where nothing is written.
    """

    samples: tuple[Sample, ...]
    output_bytes: int

    def _median(self, key: Callable[[Sample], float]) -> float:
        return median(key(sample) for sample in self.samples)

    @property
    def wall_seconds(self) -> float:
        """Median wall time."""
        return self._median(lambda sample: sample.wall_seconds)

    @property
    def cpu_seconds(self) -> float:
        """Median CPU time."""
        return self._median(lambda sample: sample.cpu_seconds)

    @property
    def peak_rss_bytes(self) -> int:
        """The largest of all runs: a limit on memory isn't kept on average."""
        return max(sample.peak_rss_bytes for sample in self.samples)


@dataclass(frozen=True)
class Measured:
    """A row whose runs all ended well, with the right content."""

    row: Row
    product: Figures
    peer: Figures

    @property
    def ratio(self) -> float:
        """How many times as fast as the peer the product is."""
        return self.peer.wall_seconds / self.product.wall_seconds

    @property
    def size_ratio(self) -> float | None:
        """The product's output length over the peer's; None where no qcow2 is written."""
        if self.row.target is None or self.row.target.format == "raw":
            return None
        return self.product.output_bytes / self.peer.output_bytes


@dataclass(frozen=True)
class Broken:
    """A row in which a program failed or wrote something wrong; `reason` says what."""

    row: Row
    reason: str


def _speed_misses(result: Measured) -> list[str]:
    limits = result.row.limits
    misses = []
    if limits.min_ratio is not None and result.ratio < limits.min_ratio:
        misses.append(f"ratio {result.ratio:.2f} is below {limits.min_ratio}")
    seconds = result.product.wall_seconds
    if limits.max_wall_seconds is not None and seconds >= limits.max_wall_seconds:
        misses.append(f"{seconds:.2f} s is not under {limits.max_wall_seconds} s")
    return misses


def find_misses(result: Measured | Broken, *, judge_speed: bool) -> list[str]:
    """Why `result` is not good enough, one sentence each; empty when it is.

    With `judge_speed` off, times and ratios decide nothing: on a small input the start of an
    interpreter is most of what is measured.
    """
    if isinstance(result, Broken):
        return [result.reason]
    misses = _speed_misses(result) if judge_speed else []
    size_ratio, max_size_ratio = result.size_ratio, result.row.limits.max_size_ratio
    if size_ratio is not None and max_size_ratio is not None and size_ratio > max_size_ratio:
        misses.append(f"the output is {size_ratio:.3f} times as large as the peer's")
    rss_bytes = result.product.peak_rss_bytes
    if rss_bytes >= MAX_PEAK_RSS_BYTES:
        misses.append(f"peak memory of {rss_bytes / 1e6:.0f} MB is not under 300 MB")
    return misses
