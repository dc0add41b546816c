"""`python -m tests.bench python`: how long Python itself keeps the GIL for each cluster.

Codecs and system calls let other threads run; what is left bounds the number of cores that a
conversion can feed. Measured is the CPU time of one thread that converts alone, without the time
inside the calls that let go of the GIL, and without what a disk of one cluster takes as well.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, ParamSpec, TypeVar
from unittest import mock

import deflate
import zstandard

from qcowgui.convert.job import ConvertJob
from qcowgui.convert.options import Compression, ConvertOptions, TargetFormat
from qcowgui.engine.work import SerialExecutor
from qcowgui.units import KIB, MIB

P = ParamSpec("P")
T = TypeVar("T")

CLUSTER_BYTES: Final = 64 * KIB
LIMIT_MICROSECONDS: Final = 8.0
"""With it, 16 cores at 64 KiB clusters are fed: a core needs 130 µs and more for one of them."""
_DISK_BYTES: Final = 256 * MIB
_RUNS: Final = 3
_SHM: Final = Path("/dev/shm")
_SYSTEM_CALLS: Final = ("preadv", "pread", "pwritev", "lseek", "fsync", "replace", "truncate")


class _Outside:
    """The CPU time that this thread spends in calls that let go of the GIL."""

    def __init__(self) -> None:
        self.nanoseconds = 0
        self.calls = 0

    def timed(self, function: Callable[P, T]) -> Callable[P, T]:
        """`function`, with its time counted."""

        def call(*arguments: P.args, **named: P.kwargs) -> T:
            started = time.thread_time_ns()
            try:
                return function(*arguments, **named)
            finally:
                self.nanoseconds += time.thread_time_ns() - started
                self.calls += 1

        return call


class _TimedContext:
    """A zstd context whose calls are counted."""

    def __init__(self, context: object, outside: _Outside) -> None:
        self._context = context
        for name in ("compress", "decompress", "multi_decompress_to_buffer"):
            method = getattr(context, name, None)
            if method is not None:
                setattr(self, name, outside.timed(method))

    def __getattr__(self, name: str) -> object:
        return getattr(self._context, name)


@contextlib.contextmanager
def watched() -> Iterator[_Outside]:
    """Count every call that lets go of the GIL, in this thread."""
    outside = _Outside()

    def made(kind: Callable[..., object]) -> Callable[..., _TimedContext]:
        return lambda *arguments, **named: _TimedContext(kind(*arguments, **named), outside)

    with contextlib.ExitStack() as patches:
        for name in _SYSTEM_CALLS:
            if hasattr(os, name):
                function = outside.timed(getattr(os, name))
                patches.enter_context(mock.patch.object(os, name, function))
        for name in ("deflate_compress", "deflate_decompress"):
            function = outside.timed(getattr(deflate, name))
            patches.enter_context(mock.patch.object(deflate, name, function))
        for name in ("ZstdCompressor", "ZstdDecompressor"):
            kind = made(getattr(zstandard, name))
            patches.enter_context(mock.patch.object(zstandard, name, kind))
        yield outside


@dataclass(frozen=True)
class PythonTime:
    """What one conversion cost.

    Attributes:
        name: Of the row.
        python_microseconds: Python's own CPU time for each cluster.
        outside_microseconds: CPU time in codecs and system calls for each cluster.
        calls: Calls of those for each cluster.
    """

    name: str
    python_microseconds: float
    outside_microseconds: float
    calls: float

    @property
    def cores(self) -> int:
        """How many cores could be fed before they wait for the GIL."""
        return int(
            (self.python_microseconds + self.outside_microseconds) / self.python_microseconds
        )


@dataclass(frozen=True)
class _Spent:
    """What a whole conversion took: nanoseconds of CPU time, and calls."""

    python: int
    outside: int
    calls: int


def _spent(options: ConvertOptions, runs: int) -> _Spent:
    """What the quickest of several conversions took in this thread."""
    found = []
    for _ in range(runs):
        with watched() as outside:
            started = time.thread_time_ns()
            ConvertJob(options).run(SerialExecutor())
            whole = time.thread_time_ns() - started
        found.append(_Spent(whole - outside.nanoseconds, outside.nanoseconds, outside.calls))
    return min(found, key=lambda spent: spent.python)


@dataclass(frozen=True)
class Disks:
    """The same kind of image twice: with many clusters, and with one.

    Attributes:
        large: Path of the first.
        small: Path of the second.
        clusters: How many clusters more the first has.
    """

    large: Path
    small: Path
    clusters: int

    def convert(
        self,
        name: str,
        suffix: str,
        target_format: TargetFormat,
        compression: Compression = "none",
        *,
        runs: int,
    ) -> tuple[PythonTime, Disks]:
        """Convert both; what the large one cost for each cluster that it has more."""
        made = replace(
            self, large=self.large.with_suffix(suffix), small=self.small.with_suffix(suffix)
        )
        large, small = (
            _spent(
                ConvertOptions(
                    source,
                    target,
                    target_format,
                    compression=compression,
                    verify=False,
                    overwrite=True,
                ),
                runs,
            )
            for source, target in ((self.large, made.large), (self.small, made.small))
        )
        row = PythonTime(
            name,
            max(1, large.python - small.python) / 1000 / self.clusters,
            max(1, large.outside - small.outside) / 1000 / self.clusters,
            (large.calls - small.calls) / self.clusters,
        )
        return row, made


def write_text(path: Path, size_bytes: int) -> None:
    """A raw disk full of text that no cluster repeats, and that compresses as programs do."""
    chance = random.Random(1)
    words = [chance.randbytes(chance.randint(3, 12)) for _ in range(1 << 14)]
    with path.open("wb") as file:
        while (position := file.tell()) < size_bytes:
            text = b"".join(chance.choices(words, k=MIB // 4))
            file.write(text[: size_bytes - position])


def measure_all(folder: Path, disk_bytes: int = _DISK_BYTES, runs: int = _RUNS) -> list[PythonTime]:
    """Every conversion between raw and qcow2 with 64 KiB clusters."""
    raw = Disks(folder / "large.raw", folder / "small.raw", disk_bytes // CLUSTER_BYTES - 1)
    write_text(raw.large, disk_bytes)
    write_text(raw.small, CLUSTER_BYTES)
    rows = []
    kinds: tuple[Compression, ...] = ("none", "zlib", "zstd")
    for kind in kinds:
        label = "plain" if kind == "none" else kind
        row, made = raw.convert(f"raw to {label}", ".qcow2", "qcow2", kind, runs=runs)
        rows.append(row)
        rows.append(made.convert(f"{label} to raw", ".back", "raw", runs=runs)[0])
    return rows


def format_rows(rows: Sequence[PythonTime]) -> str:
    """The rows as a table for people."""
    lines = [f"{'64 KiB clusters':16}  Python µs  outside µs  calls  cores fed"]
    lines += [
        f"{row.name:16}  {row.python_microseconds:9.1f}  {row.outside_microseconds:10.1f}"
        f"  {row.calls:5.2f}  {row.cores:9}"
        for row in rows
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Measure and print; 1 when Python takes longer than the limit for a compressed cluster."""
    parser = argparse.ArgumentParser("python -m tests.bench python", description=__doc__)
    parser.add_argument("--runs", type=int, default=_RUNS, metavar="N", help="default: %(default)s")
    parsed = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=_SHM if _SHM.is_dir() else None) as folder:
        rows = measure_all(Path(folder), runs=parsed.runs)
    print(format_rows(rows))
    slow = [row.name for row in rows if row.python_microseconds >= LIMIT_MICROSECONDS]
    if slow:
        print(f"Not under {LIMIT_MICROSECONDS:.0f} µs: {', '.join(slow)}.")
    return 1 if slow else 0
