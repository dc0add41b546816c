"""What a dirty bitmap marks: its bits, taken from the clusters that its table names. Spec: 1.12

Bit n of a bitmap stands for the guest bytes from n << granularity_bits on; in a byte, the least
significant bit is the first. What can't be read is neither set nor clear: it is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from qcowgui.engine.work import CancelToken
from qcowgui.errors import LimitError
from qcowgui.format import limits
from qcowgui.format.bitmaps import (
    BitmapClusterKind,
    BitmapEntry,
    bitmap_table_entries_needed,
    decode_bitmap_table,
)
from qcowgui.format.geometry import ENTRY_BYTES, Geometry
from qcowgui.image.source import ByteSource
from qcowgui.units import ceil_div

_TABLE_STEP_ENTRIES: Final = 1 << 16

Bits = npt.NDArray[np.uint8]
"""One element a bit: 0 or 1."""


class Mark(IntEnum):
    """What a bitmap says of a guest cluster; the larger one wins where several bits share it."""

    OUTSIDE = 0
    CLEAN = 1
    DIRTY = 2
    UNKNOWN = 3
    """Its bits can't be read: the table or the cluster is cut off or contradicts the format."""


class BitRun(NamedTuple):
    """Neighbouring bits that one entry of the table holds.

    Attributes:
        first: The first bit.
        last: End (exclusive).
        mark: What all of them say; None when they differ.
        bits: Each bit, when they differ.
    """

    first: int
    last: int
    mark: Mark | None
    bits: Bits | None


def iter_bit_runs(
    source: ByteSource, bitmap: BitmapEntry, geometry: Geometry, virtual_bytes: int
) -> Iterator[BitRun]:
    """All bits of a bitmap over a disk, in order and without gaps; a cluster of them at a time.

    Raises:
        LimitError: When the granularity is none that QEMU knows, or the bitmap is too large.
        SourceError: When the operating system refuses a read.
    """
    needed = _entries_needed(bitmap, geometry, virtual_bytes)
    bits_in_all = ceil_div(virtual_bytes, 1 << bitmap.granularity_bits)
    bits_per_entry = geometry.cluster_bytes * 8
    for start in range(0, needed, _TABLE_STEP_ENTRIES):
        count = min(_TABLE_STEP_ENTRIES, needed - start)
        there = max(0, min(count, bitmap.bitmap_table_size - start))
        offset = bitmap.bitmap_table_offset + start * ENTRY_BYTES
        data = source.read_at(offset, there * ENTRY_BYTES)
        table = decode_bitmap_table(data, cluster_bits=geometry.cluster_bits)
        for index in range(count):
            first = (start + index) * bits_per_entry
            last = min(first + bits_per_entry, bits_in_all)
            if index >= len(table.kind):
                yield BitRun(first, last, Mark.UNKNOWN, None)
                continue
            kind, where = int(table.kind[index]), int(table.cluster_offset[index])
            yield _run(source, kind, where, first, last)


def _entries_needed(bitmap: BitmapEntry, geometry: Geometry, virtual_bytes: int) -> int:
    bits = bitmap.granularity_bits
    if not limits.MIN_BITMAP_GRANULARITY_BITS <= bits <= limits.MAX_BITMAP_GRANULARITY_BITS:
        raise LimitError(f"the bitmap's granularity of 2^{bits} bytes is none that QEMU knows")
    needed = bitmap_table_entries_needed(virtual_bytes, bits, geometry.cluster_bits)
    if needed * geometry.cluster_bytes > limits.MAX_BITMAP_BYTES + geometry.cluster_bytes:
        raise LimitError(f"the bitmap would have more than {limits.MAX_BITMAP_BYTES:,} bytes")
    return needed


def _run(source: ByteSource, kind: int, where: int, first: int, last: int) -> BitRun:
    if kind == BitmapClusterKind.ZEROS:
        return BitRun(first, last, Mark.CLEAN, None)
    if kind == BitmapClusterKind.ONES:
        return BitRun(first, last, Mark.DIRTY, None)
    wanted = ceil_div(last - first, 8)
    data = source.read_at(where, wanted) if kind == BitmapClusterKind.ALLOCATED else b""
    if len(data) < wanted:
        return BitRun(first, last, Mark.UNKNOWN, None)
    if not any(data):
        return BitRun(first, last, Mark.CLEAN, None)
    bits = np.unpackbits(np.frombuffer(data, dtype=np.uint8), count=last - first, bitorder="little")
    return BitRun(first, last, None, bits)


def iter_dirty_ranges(
    source: ByteSource, bitmap: BitmapEntry, geometry: Geometry, virtual_bytes: int
) -> Iterator[tuple[int, int]]:
    """The guest ranges [start, end) that a bitmap marks, in order, neighbours joined.

    Ranges whose bits can't be read are left out.

    Raises:
        LimitError: When the granularity is none that QEMU knows, or the bitmap is too large.
        SourceError: When the operating system refuses a read.
    """
    pending: tuple[int, int] | None = None
    for first, last in _iter_set_bits(source, bitmap, geometry, virtual_bytes):
        start = first << bitmap.granularity_bits
        end = min(last << bitmap.granularity_bits, virtual_bytes)
        if pending is not None and pending[1] == start:
            pending = pending[0], end
            continue
        if pending is not None:
            yield pending
        pending = start, end
    if pending is not None:
        yield pending


def _iter_set_bits(
    source: ByteSource, bitmap: BitmapEntry, geometry: Geometry, virtual_bytes: int
) -> Iterator[tuple[int, int]]:
    """Runs [first, last) of bits that are set; those of two table entries are not joined."""
    for run in iter_bit_runs(source, bitmap, geometry, virtual_bytes):
        if run.mark is Mark.DIRTY:
            yield run.first, run.last
        elif run.bits is not None:
            framed = np.zeros(len(run.bits) + 2, dtype=np.int8)
            framed[1:-1] = run.bits
            edges = np.flatnonzero(np.diff(framed)) + run.first
            yield from zip(edges[0::2].tolist(), edges[1::2].tolist(), strict=True)


def cluster_marks(
    source: ByteSource,
    bitmap: BitmapEntry,
    geometry: Geometry,
    virtual_bytes: int,
    *,
    first: int,
    last: int,
    token: CancelToken,
) -> npt.NDArray[np.uint8]:
    """uint8: a `Mark` of each of the guest clusters [first, last).

    A cluster is dirty when any of its bits is set; a bit may stand for many clusters.

    Raises:
        LimitError: When the granularity is none that QEMU knows, or the bitmap is too large.
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
    """
    marks = np.zeros(max(0, last - first), dtype=np.uint8)
    shift = geometry.cluster_bits - bitmap.granularity_bits
    end = geometry.clusters(virtual_bytes)
    for run in iter_bit_runs(source, bitmap, geometry, virtual_bytes):
        token.raise_if_cancelled()
        start, stop = _clusters_of(run.first, run.last, shift, end)
        if start >= last:
            break
        low, high = max(start, first), min(stop, last)
        if low < high:
            part = marks[low - first : high - first]
            np.maximum(part, _marks_of(run, low, high, shift), out=part)
    return marks


def _clusters_of(first: int, last: int, shift: int, end: int) -> tuple[int, int]:
    """The clusters [start, stop) that the bits [first, last) stand for."""
    if shift >= 0:
        return first >> shift, min(end, ceil_div(last, 1 << shift))
    return min(end, first << -shift), min(end, last << -shift)


def _marks_of(run: BitRun, low: int, high: int, shift: int) -> npt.NDArray[np.uint8]:
    """The marks of the clusters [low, high), all of which the run has bits for."""
    if run.bits is None:
        return np.full(high - low, run.mark, dtype=np.uint8)
    if shift >= 0:
        # An entry's bits begin with a cluster's first: both are powers of two.
        bits = run.bits[(low << shift) - run.first : (high << shift) - run.first]
        values: Bits = np.maximum.reduceat(bits, np.arange(0, len(bits), 1 << shift))
    else:
        step = 1 << -shift
        begin = low // step
        bits = run.bits[begin - run.first : ceil_div(high, step) - run.first]
        values = np.repeat(bits, step)[low - begin * step : high - begin * step]
    return values + np.uint8(Mark.CLEAN)
