"""A benchmark for programs: as an object of JSON and as the rows of one flat table."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any, Final

from qcowgui.convert.benchmark_codecs import BACKENDS
from qcowgui.convert.benchmark_result import (
    Benchmark,
    CodecFigures,
    PeerFigures,
    ReadFigures,
    Spread,
)

_CODEC: Final = "codec"
_READ: Final = "read"
_PEER: Final = "program"

COLUMNS: Final = (
    "kind",
    "cluster_size",
    "compression_type",
    "backend",
    "level",
    "threads",
    "guest_bytes",
    "stored_bytes",
    "compress_bytes_per_second",
    "compress_stddev",
    "decompress_bytes_per_second",
    "decompress_stddev",
    "p50_seconds",
    "p50_stddev",
    "p99_seconds",
    "p99_stddev",
    "program",
    "direction",
    "seconds",
    "seconds_stddev",
    "runs",
    "failure",
)
"""Of the flat table. Each kind of row, "codec", "read" or "program", fills some of them."""


def benchmark_object(benchmark: Benchmark) -> dict[str, Any]:
    """The figures as JSON: sizes in bytes, times in seconds, speeds in bytes a second."""
    plan, machine = benchmark.plan, benchmark.machine
    return {
        "virtual-size": benchmark.virtual_bytes,
        "stored-bytes": benchmark.frame_bytes,
        "sampled-bytes": benchmark.sample_bytes,
        "seed": plan.seed,
        "runs": plan.runs,
        "reads": plan.reads,
        "machine": {
            "cores": machine.cores,
            "core-share": benchmark.core_share,
            "system": machine.system,
            "versions": dict(machine.versions),
        },
        "codecs": [_codec_object(item) for item in benchmark.codecs],
        "random-reads": [_read_object(item) for item in benchmark.reads],
        "programs": [_peer_object(item) for item in benchmark.peers],
    }


def _spread_object(spread: Spread | None) -> dict[str, float] | None:
    if spread is None:
        return None
    return {"mean": spread.mean, "stddev": spread.deviation, "runs": spread.runs}


def _codec_object(item: CodecFigures) -> dict[str, Any]:
    size, method, threads = item.setting
    return {
        "cluster_size": size,
        "compression_type": BACKENDS[method.backend].compression_type.label,
        "backend": method.backend,
        "level": method.level,
        "threads": threads,
        "guest-bytes": item.guest_bytes,
        "stored-bytes": item.stored_bytes,
        "ratio": item.ratio,
        "compress": _spread_object(item.compress),
        "decompress": _spread_object(item.decompress),
    }


def _read_object(item: ReadFigures) -> dict[str, Any]:
    return {
        "cluster_size": item.cluster_bytes,
        "compression_type": item.compression,
        "file-size": item.file_bytes,
        "p50": _spread_object(item.p50),
        "p99": _spread_object(item.p99),
    }


def _peer_object(item: PeerFigures) -> dict[str, Any]:
    found = {
        "cluster_size": item.cluster_bytes,
        "compression_type": item.compression,
        "direction": direction(item),
        "program": item.program,
        "file-size": item.target_bytes,
        "seconds": _spread_object(item.seconds),
    }
    return {**found, "failure": item.failure} if item.failure else found


def direction(item: PeerFigures) -> str:
    """What was converted to what."""
    return "raw to qcow2" if item.writes_qcow2 else "qcow2 to raw"


def csv_text(benchmark: Benchmark) -> str:
    """The flat table as CSV, with a heading; a cell that a row does not fill is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_iter_rows(benchmark))
    return text.getvalue()


def _iter_rows(benchmark: Benchmark) -> Iterator[dict[str, Any]]:
    for codec in benchmark.codecs:
        size, method, threads = codec.setting
        yield {
            "kind": _CODEC,
            "cluster_size": size,
            "compression_type": BACKENDS[method.backend].compression_type.label,
            "backend": method.backend,
            "level": method.level,
            "threads": threads,
            "guest_bytes": codec.guest_bytes,
            "stored_bytes": codec.stored_bytes,
            "runs": codec.compress.runs,
            **_cells("compress", codec.compress, "compress_bytes_per_second"),
            **_cells("decompress", codec.decompress, "decompress_bytes_per_second"),
        }
    for read in benchmark.reads:
        yield {
            "kind": _READ,
            "cluster_size": read.cluster_bytes,
            "compression_type": read.compression,
            "guest_bytes": benchmark.sample_bytes,
            "stored_bytes": read.file_bytes,
            "runs": read.p50.runs,
            **_cells("p50", read.p50, "p50_seconds"),
            **_cells("p99", read.p99, "p99_seconds"),
        }
    for peer in benchmark.peers:
        yield {
            "kind": _PEER,
            "cluster_size": peer.cluster_bytes,
            "compression_type": peer.compression,
            "guest_bytes": benchmark.sample_bytes,
            "stored_bytes": peer.target_bytes or None,
            "program": peer.program,
            "direction": direction(peer),
            "runs": peer.seconds.runs if peer.seconds else None,
            "failure": peer.failure,
            **_cells("seconds", peer.seconds, "seconds"),
        }


def _cells(name: str, spread: Spread | None, mean_column: str) -> dict[str, float]:
    if spread is None:
        return {}
    return {mean_column: spread.mean, f"{name}_stddev": spread.deviation}
