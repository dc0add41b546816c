"""The measurement of Python's own time; how long it is, is not tested."""

from __future__ import annotations

import os
import time
from pathlib import Path

import zstandard

from qcowgui.units import MIB
from tests.bench.python_time import PythonTime, format_rows, measure_all, watched


def test_every_conversion_is_measured(tmp_path: Path) -> None:
    rows = measure_all(tmp_path, disk_bytes=2 * MIB, runs=1)
    assert [row.name for row in rows] == [
        *("raw to plain", "plain to raw", "raw to zlib", "zlib to raw", "raw to zstd"),
        "zstd to raw",
    ]
    assert all(row.python_microseconds > 0 and row.outside_microseconds > 0 for row in rows)
    assert len(format_rows(rows).splitlines()) == 1 + len(rows)


def test_a_conversion_calls_a_codec_once_a_cluster_or_for_many(tmp_path: Path) -> None:
    """Exact, not timed: a call more for each cluster would be seen here."""
    calls = {row.name: row.calls for row in measure_all(tmp_path, disk_bytes=8 * MIB, runs=1)}
    assert calls["raw to plain"] < 0.5
    assert calls["plain to raw"] < 0.5
    assert 1 <= calls["raw to zlib"] < 1.5
    assert 1 <= calls["zlib to raw"] < 1.5
    assert 1 <= calls["raw to zstd"] < 1.5
    assert calls["zstd to raw"] < 0.6


def test_what_lets_go_of_the_gil_is_counted_and_put_back() -> None:
    before = os.lseek, zstandard.ZstdCompressor
    with watched() as outside:
        context = zstandard.ZstdCompressor(level=19)
        started = time.thread_time_ns()
        payload = context.compress(os.urandom(MIB) * 4)
        whole = time.thread_time_ns() - started
        assert outside.calls == 1
        assert whole / 2 < outside.nanoseconds <= whole
    assert zstandard.ZstdDecompressor().decompress(payload)[:8]
    assert (os.lseek, zstandard.ZstdCompressor) == before


def test_cores_are_those_that_do_not_wait() -> None:
    assert PythonTime("row", 10.0, 150.0, 1.0).cores == 16
