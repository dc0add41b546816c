"""The figures of a benchmark as the lines of its plots. Knows no widgets."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from qcowgui.convert.benchmark_codecs import LIBDEFLATE, ZSTD
from qcowgui.convert.benchmark_result import Benchmark, CodecFigures, Spread
from qcowgui.convert.options import Compression
from qcowgui.gui.benchmark_work import compression_text

COMPRESSION_SERIES: Final[Mapping[Compression, str]] = {
    "none": "none",
    "zlib": LIBDEFLATE.name,
    "zstd": ZSTD.name,
}
"""What an image of this compression was written and is read with; it lends its colour."""


class Point(NamedTuple):
    """A place in a plot.

    Attributes:
        x: Across.
        y: Upwards.
        deviation: Of `y`, in its unit.
        label: What stands beside it, or "".
    """

    x: float
    y: float
    deviation: float
    label: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """Points that a line joins.

    Attributes:
        series: A backend's name, or "none": what gives it colour and mark.
        name: What it shows, in words.
        points: In the order of `x`, or of levels.
        dashed: Whether it is the lesser of two lines of its series.
    """

    series: str
    name: str
    points: tuple[Point, ...]
    dashed: bool = False


def cluster_sizes(benchmark: Benchmark) -> list[int]:
    """Those that the matrix has figures of, in order."""
    return sorted({item.setting.cluster_bytes for item in benchmark.codecs})


def speed_lines(benchmark: Benchmark, cluster_bytes: int, *, decompressing: bool) -> list[Line]:
    """Megabytes a second against the size in bytes, a line for each backend through its levels.

    Of as few threads as were tried: how well more of them do is another question.
    """
    speed = _speed_of(decompressing)
    chosen = [item for item in benchmark.codecs if item.setting.cluster_bytes == cluster_bytes]
    least = min((item.setting.threads for item in chosen), default=0)
    lines: dict[str, list[tuple[int, Point]]] = {}
    for item in chosen:
        found = speed(item)
        if item.setting.threads == least and found is not None:
            method = item.setting.method
            point = Point(
                item.stored_bytes, found.mean / 1e6, found.deviation / 1e6, f"{method.level}"
            )
            lines.setdefault(method.backend, []).append((method.level, point))
    return [
        Line(backend, backend, tuple(point for _, point in sorted(points)))
        for backend, points in lines.items()
    ]


def thread_lines(benchmark: Benchmark, cluster_bytes: int, *, decompressing: bool) -> list[Line]:
    """Megabytes a second against threads, of each backend's first level that was tried."""
    speed = _speed_of(decompressing)
    lines: dict[str, list[Point]] = {}
    levels: dict[str, int] = {}
    for item in benchmark.codecs:
        size, method, threads = item.setting
        level = levels.setdefault(method.backend, method.level)
        found = speed(item)
        if size == cluster_bytes and level == method.level and found is not None:
            point = Point(threads, found.mean / 1e6, found.deviation / 1e6)
            lines.setdefault(method.backend, []).append(point)
    return [
        Line(backend, f"{backend} {levels[backend]}", tuple(sorted(points)))
        for backend, points in lines.items()
    ]


def _speed_of(decompressing: bool) -> Callable[[CodecFigures], Spread | None]:
    return lambda item: item.decompress if decompressing else item.compress


def read_lines(benchmark: Benchmark) -> list[Line]:
    """Microseconds against the binary logarithm of the cluster size: p50, and p99 dashed."""
    found: dict[tuple[Compression, bool], list[Point]] = {}
    for item in benchmark.reads:
        for dashed, spread in ((False, item.p50), (True, item.p99)):
            point = Point(math.log2(item.cluster_bytes), spread.mean * 1e6, spread.deviation * 1e6)
            found.setdefault((item.compression, dashed), []).append(point)
    return [
        Line(
            COMPRESSION_SERIES[compression],
            compression_text(compression),
            tuple(sorted(points)),
            dashed,
        )
        for (compression, dashed), points in found.items()
    ]
