"""One sequential read of a file that notes every sector which could be part of a table.

The cluster size need not be known: a table of any size is a run of sectors that each look like a
piece of one. Guest data is turned away by the first word or two of a sector.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from qcowgui.engine.work import CancelToken, Counter
from qcowgui.format import geometry as geo
from qcowgui.format import limits
from qcowgui.format.tables import Words
from qcowgui.image.source import ByteSource
from qcowgui.salvage.words import Mask, is_bitmap, is_descriptor, is_small_counts, offset_limit
from qcowgui.units import MIB, SECTOR_BYTES, align_down

Indices = npt.NDArray[np.int64]

_CHUNK_BYTES: Final = 4 * MIB
_SECTOR_WORDS: Final = SECTOR_BYTES // 8
_MAX_RUNS: Final = 1 << 22
"""ours: 64 MiB of runs; a terabyte of 64 KiB clusters has some 2,000 tables."""
_MAX_SNAPSHOT_SECTORS: Final = 1024
"""ours: sectors that a snapshot table could start at; each is looked at more closely."""
_ZERO_PLAIN: Final = 1


class SectorRuns(NamedTuple):
    """Sectors of one look, as runs [start, end) of sector numbers in the file's order."""

    starts: Indices
    ends: Indices

    @property
    def sectors(self) -> int:
        """How many sectors there are in all runs."""
        return int((self.ends - self.starts).sum())


@dataclass(frozen=True, slots=True)
class Scan:
    """What one read of a file has shown.

    Attributes:
        file_bytes: The file's length.
        standard: Sectors that could be part of an L1, L2 or refcount table.
        extended: Sectors that could be part of an L2 table with 16-byte entries.
        counts: Sectors that could be part of a refcount block of 16-bit counts.
        snapshot_offsets: Host offsets where a snapshot table could begin.
        complete: False when there were more runs than are kept: a file made to look like tables.
    """

    file_bytes: int
    standard: SectorRuns
    extended: SectorRuns
    counts: SectorRuns
    snapshot_offsets: tuple[int, ...]
    complete: bool


def scan_source(source: ByteSource, token: CancelToken, counter: Counter | None = None) -> Scan:
    """Read `source` once and note what could be tables.

    Args:
        source: The damaged image.
        token: Stops the scan.
        counter: Gets the bytes dealt with, holes included: in the end `source.size_bytes`.

    Raises:
        Cancelled: When the token was set.
        SourceError: When the operating system refuses a read.
    """
    file_bytes = source.size_bytes
    standard, extended, counts = _RunList(), _RunList(), _RunList()
    snapshots: list[int] = []
    limit = offset_limit(file_bytes)
    done = 0
    for offset, sectors in _iter_chunks(source):
        token.raise_if_cancelled()
        if counter is not None:
            end = min(offset + len(sectors) * SECTOR_BYTES, file_bytes)
            counter.add(end - done)
            done = end
        first_sector = offset // SECTOR_BYTES
        firsts = sectors[:, 0].astype(np.uint64)
        hopeful = np.flatnonzero(is_descriptor(firsts, limit))
        if len(hopeful):
            # Most that get here are zeros throughout; their bytes need no turning round.
            hopeful = hopeful[sectors.view(np.uint64)[hopeful].any(axis=1)]
        if len(hopeful):
            words = sectors[hopeful].astype(np.uint64)
            standard.add(first_sector + hopeful[_is_standard(words, limit)])
            extended.add(first_sector + hopeful[_is_extended(words, limit)])
        hopeful = np.flatnonzero(is_small_counts(firsts) & (firsts != 0))
        if len(hopeful):
            words = sectors[hopeful].astype(np.uint64)
            counts.add(first_sector + hopeful[is_small_counts(words).all(axis=1)])
        if len(snapshots) < _MAX_SNAPSHOT_SECTORS:
            found = np.flatnonzero(_may_be_snapshot(sectors[:, :5].astype(np.uint64), limit))
            snapshots += ((first_sector + found) * SECTOR_BYTES).tolist()
    if counter is not None:
        counter.add(file_bytes - done)
    return Scan(
        file_bytes,
        standard.runs(),
        extended.runs(),
        counts.runs(),
        tuple(snapshots[:_MAX_SNAPSHOT_SECTORS]),
        standard.complete and extended.complete and counts.complete,
    )


def _iter_chunks(source: ByteSource) -> Iterator[tuple[int, npt.NDArray[np.uint64]]]:
    """(file offset, sectors as rows of 64 big-endian words); valid until the next one."""
    buffer = bytearray(_CHUNK_BYTES)
    view = memoryview(buffer)
    position = 0
    for start, end in source.iter_data_ranges(0, source.size_bytes):
        position = max(position, align_down(start, SECTOR_BYTES))
        while position < end:
            wanted = min(_CHUNK_BYTES, end - position)
            found = source.read_into(position, view[:wanted])
            if not found:
                return
            # The file may end inside a sector, a range of data inside one that a hole continues.
            padded = -(-found // SECTOR_BYTES) * SECTOR_BYTES
            buffer[found:padded] = bytes(padded - found)
            words = np.frombuffer(view[:padded], dtype=">u8")
            yield position, words.reshape(-1, _SECTOR_WORDS)
            position += padded


def _is_standard(words: Words, limit: int) -> Mask:
    """Which rows could be a piece of a table with 8-byte entries."""
    good: Mask = np.all(is_descriptor(words, limit), axis=1)
    return good & ~_is_monotonous(words)


def _is_monotonous(words: Words) -> Mask:
    """Which rows repeat one word, as tables don't, unless it says "zeros"."""
    low: Words = np.min(words, axis=1)
    high: Words = np.max(words, axis=1)
    result: Mask = np.logical_and(low == high, low != _ZERO_PLAIN)
    return result


def _is_extended(words: Words, limit: int) -> Mask:
    """Which rows could be a piece of an L2 table with 16-byte entries. Spec: 1.8"""
    descriptors, bitmaps = words[:, 0::2], words[:, 1::2]
    standard = (descriptors & np.uint64(geo.COMPRESSED)) == 0
    flagged = standard & ((descriptors & np.uint64(geo.READS_ZERO)) != 0)
    good = is_descriptor(descriptors, limit) & ~flagged & is_bitmap(bitmaps, descriptors)
    result: Mask = good.all(axis=1)
    return result


def _may_be_snapshot(words: Words, limit: int) -> Mask:
    """Which rows begin like an entry of the snapshot table. Spec: 1.11"""
    offsets, sizes = words[:, 0], words[:, 1]
    dates, last = words[:, 2], words[:, 4]
    l1_size = sizes >> np.uint64(32)
    id_bytes = (sizes >> np.uint64(16)) & np.uint64(0xFFFF)
    name_bytes = sizes & np.uint64(0xFFFF)
    result: Mask = (
        (offsets != 0)
        & (offsets < limit)
        & ((offsets & np.uint64(SECTOR_BYTES - 1)) == 0)
        & (l1_size <= limits.MAX_L1_BYTES // geo.ENTRY_BYTES)
        & (id_bytes > 0)
        & (id_bytes <= 255)
        & (name_bytes <= 1023)
        & ((dates & np.uint64(0xFFFF_FFFF)) < 1_000_000_000)
        & ((last & np.uint64(0xFFFF_FFFF)) <= limits.MAX_SNAPSHOT_EXTRA_BYTES)
    )
    return result


class _RunList:
    """Collects sector numbers, which come in order, as runs."""

    def __init__(self) -> None:
        self._starts: list[Indices] = []
        self._ends: list[Indices] = []
        self._count = 0
        self.complete = True

    def add(self, sectors: Indices) -> None:
        """Add sector numbers, ascending and above all before."""
        if not len(sectors):
            return
        if self._count >= _MAX_RUNS:
            self.complete = False
            return
        breaks = np.flatnonzero(np.diff(sectors) != 1)
        self._starts.append(sectors[np.concatenate(([0], breaks + 1))])
        self._ends.append(sectors[np.concatenate((breaks, [len(sectors) - 1]))] + 1)
        self._count += len(breaks) + 1

    def runs(self) -> SectorRuns:
        """All runs; those that touch are one."""
        if not self._starts:
            empty = np.zeros(0, dtype=np.int64)
            return SectorRuns(empty, empty)
        starts, ends = np.concatenate(self._starts), np.concatenate(self._ends)
        apart = starts[1:] != ends[:-1]
        return SectorRuns(
            starts[np.concatenate(([True], apart))], ends[np.concatenate((apart, [True]))]
        )
