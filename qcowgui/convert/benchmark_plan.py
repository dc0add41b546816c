"""What a benchmark is asked to measure, tested for contradictions before it starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from qcowgui.codec.registry import CompressionType
from qcowgui.convert.benchmark_codecs import (
    BACKENDS,
    Backend,
    Method,
    available_backends,
    find_backend,
)
from qcowgui.convert.options import CLUSTER_SIZES, Compression
from qcowgui.engine.work import default_threads
from qcowgui.errors import OptionsError
from qcowgui.units import KIB, MIB

DEFAULT_CLUSTER_SIZES: Final = (4 * KIB, 64 * KIB, 512 * KIB, 2 * MIB)
DEFAULT_RUNS: Final = 3
DEFAULT_READS: Final = 500
DEFAULT_SEED: Final = 1
MAX_RUNS: Final = 1000
MAX_READS: Final = 1_000_000
MAX_THREADS: Final = 256

_LEAST_SAMPLE_BYTES: Final = 32 * MIB
_SAMPLE_BYTES_PER_CORE: Final = 16 * MIB
"""Eight of the largest clusters, or the last one would decide how well threads scale."""
_PEERS_SAMPLE_BYTES: Final = 128 * MIB
"""Of less, the start of a program is most of what it takes."""
_COMPRESSIONS: Final[dict[CompressionType, Compression]] = {
    CompressionType.ZLIB: "zlib",
    CompressionType.ZSTD: "zstd",
}


class Setting(NamedTuple):
    """A cell of the matrix.

    Attributes:
        cluster_bytes: The cluster size.
        method: Backend and level.
        threads: How many work at once.
    """

    cluster_bytes: int
    method: Method
    threads: int


@dataclass(frozen=True, slots=True)
class BenchmarkPlan:
    """What to measure. Creating one validates it.

    Attributes:
        methods: At least one; all that are tried in every cluster size.
        cluster_sizes: At least one, in bytes.
        threads: At least one; each a number of threads to try.
        runs: How often each thing is measured.
        sample_bytes: Guest bytes to draw, at the most; None: all that the image stores.
        seed: Of the sample and of the places that are read.
        reads: Random reads a run and image; 0 leaves them out.
        peers: Whether other programs that are found on the machine are run as well.
        folder: Where the temporary files are; None: the system's folder for such files.

    Raises:
        OptionsError: When there is nothing to measure, or when a number is not possible.
    """

    methods: tuple[Method, ...]
    cluster_sizes: tuple[int, ...] = DEFAULT_CLUSTER_SIZES
    threads: tuple[int, ...] = (1,)
    runs: int = DEFAULT_RUNS
    sample_bytes: int | None = _LEAST_SAMPLE_BYTES
    seed: int = DEFAULT_SEED
    reads: int = DEFAULT_READS
    peers: bool = False
    folder: Path | None = None

    def __post_init__(self) -> None:
        if not (self.methods and self.cluster_sizes and self.threads):
            raise OptionsError("There is nothing to measure")
        for method in self.methods:
            levels = find_backend(method.backend).levels
            if not levels.lowest <= method.level <= levels.highest:
                raise OptionsError(
                    f"{method.backend} has no level {method.level}",
                    hint=f"{levels.lowest} to {levels.highest} exist",
                )
        for size in self.cluster_sizes:
            if size not in CLUSTER_SIZES:
                raise OptionsError(f"A cluster size of {size} bytes is not possible")
        for threads in self.threads:
            _require("threads", threads, 1, MAX_THREADS)
        _require("runs", self.runs, 1, MAX_RUNS)
        _require("reads", self.reads, 0, MAX_READS)
        if self.sample_bytes is not None and self.sample_bytes < 1:
            raise OptionsError("A sample of nothing can't be measured")

    @property
    def compressions(self) -> tuple[Compression, ...]:
        """What whole images are written with: nothing, and the types of the methods."""
        kinds = dict.fromkeys(method.compression_type for method in self.methods)
        return ("none", *(_COMPRESSIONS[kind] for kind in kinds))

    def iter_settings(self) -> Iterator[Setting]:
        """The matrix: by cluster size, then method, then threads."""
        for size in self.cluster_sizes:
            for method in self.methods:
                for threads in self.threads:
                    yield Setting(size, method, threads)

    def iter_images(self) -> Iterator[tuple[int, Compression]]:
        """Cluster size and compression of the images that are written, by cluster size."""
        for size in self.cluster_sizes:
            for compression in self.compressions:
                yield size, compression


def _require(what: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise OptionsError(f"{value} {what} are not possible; {least} to {most:,} are")


def thread_counts(cores: int | None = None) -> tuple[int, ...]:
    """1, 2, 4 and so on, and last the number of cores."""
    cores = cores or default_threads()
    return (*(1 << bit for bit in range((cores - 1).bit_length())), cores)


def default_sample_bytes(threads: Iterable[int], *, peers: bool = False) -> int:
    """How much is drawn unasked, for measuring with so many threads at the most."""
    least = _PEERS_SAMPLE_BYTES if peers else _LEAST_SAMPLE_BYTES
    return max(least, max(threads) * _SAMPLE_BYTES_PER_CORE)


def choose_methods(
    kinds: Sequence[CompressionType] = (),
    levels: Sequence[int] = (),
    backends: Sequence[str] = (),
) -> tuple[Method, ...]:
    """The methods of the compression types, levels and backends asked for; of each, () is all.

    Levels are tried with every backend that has them; without any, each has some of its own.

    Raises:
        OptionsError: When there is no such backend or it is not installed, or when a level or a
            type fits none of them.
    """
    chosen = [find_backend(name) for name in dict.fromkeys(backends)] or available_backends()
    wanted = [item for item in chosen if not kinds or item.compression_type in kinds]
    for kind in kinds:
        if all(item.compression_type is not kind for item in wanted):
            raise OptionsError(f"None of the backends asked for writes {kind.label}")
    for level in levels:
        if not any(_has(item, level) for item in wanted):
            raise OptionsError(
                f"None of the backends has a level {level}",
                hint=", ".join(
                    f"{item.name}: {item.levels.lowest} to {item.levels.highest}"
                    for item in BACKENDS.values()
                ),
            )
    return tuple(
        Method(item.name, level)
        for item in wanted
        for level in (dict.fromkeys(levels) or item.tried_levels)
        if _has(item, level)
    )


def _has(backend: Backend, level: int) -> bool:
    return backend.levels.lowest <= level <= backend.levels.highest
