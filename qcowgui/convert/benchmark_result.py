"""What a benchmark has measured: means and their spread, as values."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from qcowgui.convert.benchmark_plan import BenchmarkPlan, Setting
from qcowgui.convert.options import Compression

_QUIET_SHARE: Final = 0.9
_SMALL: Final = 10


class Spread(NamedTuple):
    """A number that was measured several times.

    Attributes:
        mean: Of all runs.
        deviation: The standard deviation of a run; 0 for a single one.
        runs: How many there were.
    """

    mean: float
    deviation: float
    runs: int

    def text(self, factor: float, digits: int = 0) -> str:
        """Mean ± deviation, both times `factor`; the mean alone of a single run.

        Without `digits` behind the point, one stands there all the same where it says much.
        """
        if not digits and self.mean * factor < _SMALL:
            digits = 1
        mean = f"{self.mean * factor:,.{digits}f}"
        return mean if self.runs == 1 else f"{mean} ± {self.deviation * factor:,.{digits}f}"


def spread_of(values: Sequence[float]) -> Spread:
    """Mean and standard deviation of at least one value."""
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    return Spread(statistics.fmean(values), deviation, len(values))


@dataclass(frozen=True, slots=True)
class CodecFigures:
    """What a cell of the matrix gave.

    Attributes:
        setting: Which one.
        guest_bytes: Of the sample, as far as it was compressed.
        stored_bytes: What they take: payloads, and the clusters that do not shrink.
        compress: Guest bytes a second, zeros left out.
        decompress: Guest bytes a second, of the clusters that had shrunk; None when none had.
    """

    setting: Setting
    guest_bytes: int
    stored_bytes: int
    compress: Spread
    decompress: Spread | None

    @property
    def ratio(self) -> float:
        """Guest bytes for each byte stored; 0 when nothing needs to be."""
        return self.guest_bytes / self.stored_bytes if self.stored_bytes else 0.0


@dataclass(frozen=True, slots=True)
class ReadFigures:
    """How long a random read of 4 KiB takes.

    Attributes:
        cluster_bytes: Of the image that was read.
        compression: Its compression, at the level that is the default.
        file_bytes: Its length.
        p50: Seconds that half of a run's reads stay under.
        p99: Seconds that 99 of 100 stay under.
    """

    cluster_bytes: int
    compression: Compression
    file_bytes: int
    p50: Spread
    p99: Spread


@dataclass(frozen=True, slots=True)
class PeerFigures:
    """How long a program takes for a whole conversion, its start included.

    Attributes:
        cluster_bytes: Of the qcow2 image.
        compression: Of the qcow2 image.
        writes_qcow2: Whether raw → qcow2 was measured; else qcow2 → raw.
        program: Its name, with the options that matter.
        seconds: By the clock; None when it failed.
        target_bytes: Length of what it wrote; 0 when it failed.
        failure: What it said when it failed.
    """

    cluster_bytes: int
    compression: Compression
    writes_qcow2: bool
    program: str
    seconds: Spread | None
    target_bytes: int
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Machine:
    """What the figures hold for.

    Attributes:
        cores: Those that this process may use.
        system: Operating system and processor.
        versions: Of the programs and libraries that took part, by their names.
    """

    cores: int
    system: str
    versions: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """All figures, or those so far.

    Attributes:
        plan: What was asked for.
        machine: Where.
        virtual_bytes: Size of the virtual disk.
        frame_bytes: Guest bytes to draw the sample from: cells of 2 MiB that store something.
        sample_bytes: Guest bytes that were drawn.
        codecs: The matrix, in its order.
        reads: By cluster size.
        peers: By cluster size; the programs of each in turn.
        core_share: Which part of a core each thread had, with as few threads as were tried: below
            1, other programs were busy, and the figures are lower than they could be.
    """

    plan: BenchmarkPlan
    machine: Machine
    virtual_bytes: int = 0
    frame_bytes: int = 0
    sample_bytes: int = 0
    codecs: tuple[CodecFigures, ...] = ()
    reads: tuple[ReadFigures, ...] = ()
    peers: tuple[PeerFigures, ...] = ()
    core_share: float = 1.0

    @property
    def was_disturbed(self) -> bool:
        """Whether other programs took so much that the figures say little."""
        return self.core_share < _QUIET_SHARE
