"""Short ways to convert in tests, and disks that are worth converting."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict, Unpack

from qcowgui.codec.registry import Window
from qcowgui.convert.job import ConvertJob, ConvertResult
from qcowgui.convert.options import Compat, Compression, ConvertOptions, Preallocation, TargetFormat
from qcowgui.engine.work import Executor, SerialExecutor
from qcowgui.image.references import DENY, AllowGate, Gate
from tests.support.base_images import pattern, text
from tests.support.options import KIB, MIB

ALLOW = AllowGate()


class ConvertKeywords(TypedDict, total=False):
    """The fields of `ConvertOptions` but for the two paths."""

    target_format: TargetFormat
    source_format: str | None
    compression: Compression
    level: int | None
    window: Window
    cluster_bytes: int
    compat: Compat
    refcount_bits: int
    extended_l2: bool
    lazy_refcounts: bool
    snapshot: str | None
    backing_file: str | None
    backing_format: str | None
    keep_backing: bool
    bitmaps: bool
    preallocation: Preallocation
    sparse_bytes: int
    verify: bool
    salvage: bool
    overwrite: bool


def job(
    source: Path, target: Path, *, gate: Gate = DENY, **keywords: Unpack[ConvertKeywords]
) -> ConvertJob:
    """Return a job; formats that are not given follow from the names' ends."""
    keywords.setdefault("source_format", "raw" if source.suffix == ".raw" else "qcow2")
    keywords.setdefault("target_format", "raw" if target.suffix == ".raw" else "qcow2")
    return ConvertJob(ConvertOptions(source, target, **keywords), gate)


def convert(
    source: Path,
    target: Path,
    *,
    gate: Gate = DENY,
    executor: Executor | None = None,
    **keywords: Unpack[ConvertKeywords],
) -> ConvertResult:
    """Convert, in this thread unless there is an executor; see `job`."""
    return job(source, target, gate=gate, **keywords).run(executor or SerialExecutor())


def mixed_disk(size: int = 6 * MIB + 1536) -> bytes:
    """Return a disk with every kind of cluster that a writer must tell apart.

    Incompressible and compressible runs, zeros between them, single sectors of data in clusters of
    zeros, single sectors of zeros in clusters of data, and a last sector that is not zero.
    """
    disk = bytearray(size)

    def put(offset: int, data: bytes) -> None:
        end = min(size, offset + len(data))
        if offset < end:
            disk[offset:end] = data[: end - offset]

    put(0, pattern(100 * KIB, 1))
    put(192 * KIB, text(300 * KIB, 2))
    put(700 * KIB, b"\xff" * 70 * KIB)
    put(MIB, pattern(3000, 3))
    put(MIB + 64 * KIB, text(3 * 512, 4))
    put(2 * MIB - 1, b"\x01")
    put(2 * MIB + 512, pattern(512, 5))
    for index in range(24):
        put(3 * MIB + index * 12 * KIB + 512 * index, pattern(512, 6 + index))
    put(4 * MIB, text(200 * KIB, 40) + bytes(512) + pattern(200 * KIB, 41))
    put(size - 512, pattern(512, 42))
    return bytes(disk)


def names_in(folder: Path) -> set[str]:
    """Return the names in a folder, hidden ones included."""
    return {path.name for path in folder.iterdir()}
