"""Which entries of a table are none, because something else was written over it.

A single impossible entry is a fault of that entry, and a file that was cut has many that name what
lies behind its end. Here a stretch counts in which most entries are impossible: they contradict the
format, or name a place where no writer of this image can have put anything. What else stands in
such a stretch is not to be believed either, be it possible by chance.

Storage is overwritten by the sector, so that a table may well be sound before or behind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from qcowgui.format import geometry as geo
from qcowgui.format import limits
from qcowgui.format.geometry import ENTRY_BYTES, Geometry
from qcowgui.format.tables import Words
from qcowgui.image.inspect import ImageReport
from qcowgui.units import SECTOR_BYTES

Flags = npt.NDArray[np.bool_]
_Offsets = npt.NDArray[np.int64]

MIN_IMPOSSIBLE: Final = 8
"""Fewer impossible entries than this may be broken one by one."""
_FARTHEST_FACTOR: Final = 1024
"""So many times the file, or the disk: no file has had so much cut off its end."""
_MAX_SHARES: Final = 1024
"""References to one cluster for each disk: so many payloads of zeros fit a cluster of 64 KiB."""
_MIN_SHARES: Final = 64
_PART_ENTRIES: Final = 1 << 16

_OFFSET_MASK: Final = np.uint64(geo.OFFSET_MASK)
_COMPRESSED: Final = np.uint64(geo.COMPRESSED)
_L2_RESERVED: Final = np.uint64(geo.L2_RESERVED_MASK)
_L1_RESERVED: Final = np.uint64(geo.L1_RESERVED_MASK)


@dataclass(frozen=True, slots=True)
class EntryBounds:
    """Where the clusters of an image can lie, be the file cut or not.

    Attributes:
        cluster_bytes: Size of a cluster.
        farthest_offset: End (exclusive) of the host offsets that an entry may name.
    """

    cluster_bytes: int
    farthest_offset: int

    @classmethod
    def of(cls, report: ImageReport, geometry: Geometry) -> EntryBounds:
        """The bounds of an image.

        Every cluster that a writer gave away has a refcount, so that it lies where the refcount
        table has room for one.
        """
        header, file_bytes = report.header, report.file_bytes
        farthest = min(_FARTHEST_FACTOR * max(file_bytes, report.virtual_bytes), limits.MAX_OFFSET)
        entries = header.refcount_table_clusters * geometry.cluster_bytes // ENTRY_BYTES
        counted = entries * geometry.refcounts_per_block * geometry.cluster_bytes
        if counted > file_bytes and not header.has_data_file:
            farthest = min(farthest, counted)
        return cls(geometry.cluster_bytes, farthest)


def overwritten_l1(words: Words, bounds: EntryBounds) -> Flags | None:
    """The entries of an L1 table that are none; None when all may be some.

    Args:
        words: The whole table in native byte order, as far as the file holds it.
        bounds: The image's.
    """
    return _overwritten_offsets(words, _OFFSET_MASK, _L1_RESERVED, bounds)


def overwritten_refcount_table(words: Words, bounds: EntryBounds) -> Flags | None:
    """The entries of the refcount table that are none; None when all may be some.

    Arguments as of `overwritten_l1`.
    """
    offset_mask = np.uint64(geo.REFCOUNT_OFFSET_MASK)
    reserved = np.uint64(geo.REFCOUNT_RESERVED_MASK)
    return _overwritten_offsets(words, offset_mask, reserved, bounds)


def _overwritten_offsets(
    words: Words, offset_mask: np.uint64, reserved: np.uint64, bounds: EntryBounds
) -> Flags | None:
    impossible = np.zeros(len(words), dtype=np.bool_)
    # By parts: a crafted table has four million entries.
    for start in range(0, len(words), _PART_ENTRIES):
        part = slice(start, start + _PART_ENTRIES)
        offsets = words[part] & offset_mask
        impossible[part] = _are_impossible(words[part], offsets, reserved, bounds)
    return _in_stretches(impossible, words != 0, SECTOR_BYTES // ENTRY_BYTES, len(words))


def overwritten_l2(
    words: Words,
    bitmaps: Words | None,
    geometry: Geometry,
    bounds: EntryBounds,
    *,
    has_data_file: bool,
) -> Flags | None:
    """The entries of whole L2 tables that are none; None when all may be some.

    Args:
        words: Their first (or only) words, table after table.
        bitmaps: Their subcluster bitmaps, with extended L2 entries.
        geometry: The image's.
        bounds: The image's.
        has_data_file: Whether the data is in another file, where nothing can be compressed.
    """
    compressed = (words & _COMPRESSED) != 0
    impossible = _are_impossible(words, words & _OFFSET_MASK, _L2_RESERVED, bounds)
    impossible &= ~compressed
    if has_data_file:
        impossible |= compressed
    else:
        payloads = words & np.uint64(geometry.compressed_offset_mask)
        impossible |= compressed & (payloads >= np.uint64(bounds.farthest_offset))
    used = words != 0
    if bitmaps is not None:
        used |= bitmaps != 0
    per_sector = SECTOR_BYTES // geometry.l2_entry_bytes
    return _in_stretches(impossible, used, per_sector, geometry.l2_entries)


def _are_impossible(
    words: Words, offsets: Words, reserved: np.uint64, bounds: EntryBounds
) -> Flags:
    """Which entries name no cluster, or nothing but flags that have no meaning.

    Reserved bits beside a sound offset are no reason: a program may have given them a meaning.
    """
    impossible: Flags = (offsets & np.uint64(bounds.cluster_bytes - 1)) != 0
    impossible |= offsets >= np.uint64(bounds.farthest_offset)
    impossible |= (offsets == 0) & ((words & reserved) != 0)
    return impossible


def may_be_overwritten(
    words: Words,
    standard_offsets: _Offsets,
    payload_offsets: _Offsets,
    bounds: EntryBounds,
    *,
    has_data_file: bool,
) -> bool:
    """Whether `overwritten_l2` can find anything; may err to True.

    A few reductions over arrays that are there already: all entries of the sound tables of a large
    image go through it.

    Args:
        words: The entries.
        standard_offsets: Host offsets of those that name a standard cluster.
        payload_offsets: Those of all compressed ones.
        bounds: The image's.
        has_data_file: See `overwritten_l2`.
    """
    union = int(np.bitwise_or.reduce(words))
    if has_data_file and union & geo.COMPRESSED:
        return True
    if int(np.bitwise_or.reduce(standard_offsets)) & bounds.cluster_bytes - 1:
        return True
    farthest = bounds.farthest_offset
    if int(standard_offsets.max(initial=0)) >= farthest:
        return True
    if int(payload_offsets.max(initial=0)) >= farthest:
        return True
    if not union & geo.L2_RESERVED_MASK:
        return False
    homeless = (words & (_OFFSET_MASK | _COMPRESSED)) == 0
    return bool((homeless & (words != 0) & ((words & _L2_RESERVED) != 0)).any())


def _in_stretches(impossible: Flags, used: Flags, per_sector: int, per_table: int) -> Flags | None:
    """The used entries of the sectors in which most are impossible, table by table."""
    if np.count_nonzero(impossible) < MIN_IMPOSSIBLE:
        return None
    per_sector = min(per_sector, per_table)
    starts = np.arange(0, len(impossible), per_sector)
    wrong = np.add.reduceat(impossible, starts, dtype=np.int64)
    bad = 2 * wrong > np.add.reduceat(used, starts, dtype=np.int64)
    tables = starts // per_table
    enough = np.bincount(tables, weights=np.where(bad, wrong, 0)) >= MIN_IMPOSSIBLE
    bad &= enough[tables]
    if not bad.any():
        return None
    flags: Flags = np.repeat(bad, per_sector)[: len(impossible)] & used
    return flags


class CountStretch(NamedTuple):
    """A stretch of a refcount block that holds no refcounts.

    Attributes:
        first: The first cluster whose refcount would be there.
        last: Index behind the last one.
        impossible: How many of these counts are higher than any can be.
    """

    first: int
    last: int
    impossible: int


@dataclass(frozen=True, slots=True)
class CountStretches:
    """Stretches of refcount blocks that hold no refcounts.

    Attributes:
        stretches: By ascending cluster.
    """

    stretches: tuple[CountStretch, ...] = ()

    def cover(self, clusters: _Offsets) -> Flags:
        """Whether the refcount of each of `clusters` would be in one of them."""
        if not self.stretches:
            return np.zeros(len(clusters), dtype=np.bool_)
        firsts = np.array([stretch.first for stretch in self.stretches])
        lasts = np.array([stretch.last for stretch in self.stretches])
        found = np.searchsorted(firsts, clusters, side="right") - 1
        covered: Flags = (found >= 0) & (clusters < lasts[np.maximum(found, 0)])
        return covered


def overwritten_counts(
    counts: npt.NDArray[np.unsignedinteger], geometry: Geometry, disks: int
) -> CountStretches:
    """The stretches of refcounts, a sector each or several, that hold something else.

    Told by counts that are too high for any cluster; so narrow refcounts, and those of an image
    with very many snapshots, never look wrong.

    Args:
        counts: The refcounts of the file's clusters, from the first one on; those above 65,535 may
            be given as 65,535.
        geometry: The image's.
        disks: The active disk and the snapshots: each may refer to a cluster.
    """
    shares = max(_MIN_SHARES, min(geometry.cluster_bytes // _MIN_SHARES, _MAX_SHARES))
    most = shares * disks
    if most >= min(geometry.refcount_max, np.iinfo(np.uint16).max) or not len(counts):
        return CountStretches()
    impossible = counts > np.uint16(most)
    if np.count_nonzero(impossible) < MIN_IMPOSSIBLE:
        return CountStretches()
    per_sector = SECTOR_BYTES * 8 // geometry.refcount_bits
    flags = _in_stretches(impossible, counts != 0, per_sector, geometry.refcounts_per_block)
    if flags is None:
        return CountStretches()
    sectors = np.unique(np.flatnonzero(flags) // per_sector)
    blocks = sectors * per_sector // geometry.refcounts_per_block
    breaks = (np.diff(sectors) != 1) | (np.diff(blocks) != 0)
    found = []
    for run in np.split(sectors, np.flatnonzero(breaks) + 1):
        first = int(run[0]) * per_sector
        last = min((int(run[-1]) + 1) * per_sector, len(counts))
        wrong = int(np.count_nonzero(impossible[first:last]))
        found.append(CountStretch(first, last, wrong))
    return CountStretches(tuple(found))
