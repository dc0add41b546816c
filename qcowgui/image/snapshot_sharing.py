"""What an internal snapshot holds that the active disk and the other snapshots don't, by mapping.

Two disks share a guest cluster when their L2 entries lead to the same host bytes; nothing is read
but tables. A snapshot and the active disk may hold equal bytes in different places: by mapping they
differ, and the space of both is taken.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from qcowgui.engine.work import CancelToken
from qcowgui.errors import CorruptError
from qcowgui.format import limits
from qcowgui.format.entries import ClusterKind
from qcowgui.format.geometry import COPIED, OFFSET_MASK, Geometry
from qcowgui.format.snapshots import Snapshot, check_snapshot_l1
from qcowgui.image.inspect import ImageReport
from qcowgui.image.mapping import GuestMapping
from qcowgui.image.source import ByteSource
from qcowgui.units import SECTOR_BYTES, align_down

_CHUNK_CLUSTERS: Final = 1 << 16

_Flags = npt.NDArray[np.bool_]
_Bytes = npt.NDArray[np.uint8]
_Words = npt.NDArray[np.uint64]


class Sharing(IntEnum):
    """A guest cluster of a snapshot beside the active disk's; the larger wins in a shared cell."""

    OUTSIDE = 0
    NEITHER = 1
    """Neither stores anything."""
    SAME = 2
    """Both have the same mapping."""
    ACTIVE_ONLY = 3
    """The active disk has an entry of its own; the snapshot stores nothing."""
    KEPT_ELSEWHERE = 4
    """The active disk has another mapping; a further snapshot leads to the old host bytes, too."""
    ONLY_HERE = 5
    """No other disk of the image leads to these host bytes: deleting the snapshot frees them."""
    UNREADABLE = 6
    """A table is missing, or an entry contradicts the format."""


def snapshot_mapping(source: ByteSource, report: ImageReport, snapshot: Snapshot) -> GuestMapping:
    """The mapping of a snapshot's disk.

    Raises:
        CorruptError: When its L1 table is in an impossible place.
        SourceError: When the operating system refuses a read.
        ValueError: When the header allows no geometry.
    """
    geometry = _geometry(report)
    finding = check_snapshot_l1(
        snapshot,
        geometry,
        virtual_bytes=report.header.size,
        file_bytes=limits.MAX_OFFSET + limits.MAX_L1_BYTES,
    )
    if finding is not None:
        raise CorruptError(finding.message.rstrip("."), path=report.name, finding=finding)
    disk_bytes = report.virtual_bytes if snapshot.disk_bytes is None else snapshot.disk_bytes
    return GuestMapping(
        source,
        geometry,
        version=report.header.version,
        l1_table_offset=snapshot.l1_table_offset,
        l1_size=snapshot.l1_size,
        virtual_bytes=align_down(disk_bytes, SECTOR_BYTES),
        has_data_file=report.header.has_data_file,
    )


def sharing_cells(
    source: ByteSource,
    report: ImageReport,
    snapshot: Snapshot,
    *,
    first: int,
    last: int,
    token: CancelToken,
) -> _Bytes:
    """uint8: a `Sharing` of each of the guest clusters [first, last).

    The tables of one other disk are looked at, at a time. Snapshots whose L1 table is in an
    impossible place hold nothing.

    Raises:
        CorruptError: When this snapshot's L1 table is in such a place.
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
        ValueError: When the header allows no geometry.
    """
    own = snapshot_mapping(source, report, snapshot)
    cells = np.zeros(max(0, last - first), dtype=np.uint8)
    _compare_with_active(own, _active_mapping(source, report), cells, first, token)
    for other in report.snapshots:
        if other.index == snapshot.index or not (cells == Sharing.ONLY_HERE).any():
            continue
        try:
            mapping = snapshot_mapping(source, report, other)
        except CorruptError:
            continue
        _find_elsewhere(own, mapping, cells, first, token)
    return cells


def _geometry(report: ImageReport) -> Geometry:
    if report.header.geometry is None:
        raise ValueError("an image without a geometry has no mapping")
    return report.header.geometry


def _active_mapping(source: ByteSource, report: ImageReport) -> GuestMapping:
    header = report.header
    return GuestMapping(
        source,
        _geometry(report),
        version=header.version,
        l1_table_offset=header.l1_table_offset,
        l1_size=header.l1_size,
        virtual_bytes=report.virtual_bytes,
        has_data_file=header.has_data_file,
    )


class _Entries(NamedTuple):
    """L2 entries of neighbouring guest clusters.

    Attributes:
        kinds: `ClusterKind`; UNALLOCATED behind the end of the disk.
        words: Without the flag COPIED, which says nothing of the place.
        bitmaps: Of the subclusters; zeros without extended L2 entries.
    """

    kinds: _Bytes
    words: _Words
    bitmaps: _Words

    @property
    def unreadable(self) -> _Flags:
        """Which can't be told."""
        return self.kinds >= ClusterKind.INVALID

    @property
    def stores(self) -> _Flags:
        """Which lead to host bytes."""
        places = (self.kinds == ClusterKind.COMPRESSED) | (self.places != 0)
        stores: _Flags = (self.kinds > ClusterKind.ZERO_PLAIN) & places & ~self.unreadable
        return stores

    @property
    def places(self) -> _Words:
        """What tells the host bytes: of a payload the whole descriptor, else the offset alone."""
        packed = self.kinds == ClusterKind.COMPRESSED
        return np.where(packed, self.words, self.words & np.uint64(OFFSET_MASK))


def _entries(mapping: GuestMapping, first: int, last: int) -> _Entries:
    count = last - first
    kinds = np.full(count, ClusterKind.UNALLOCATED, dtype=np.uint8)
    words, bitmaps = np.zeros(count, dtype=np.uint64), np.zeros(count, dtype=np.uint64)
    size = mapping.geometry.cluster_bytes
    for span in mapping.iter_spans(first * size, last * size):
        start = span.first_cluster - first
        if span.view is None:
            if span.missing:
                kinds[start : -(-span.end // size) - first] = ClusterKind.MISSING
            continue
        part = slice(start, start + len(span.view))
        kinds[part] = span.view.kinds
        words[part] = span.view.words & np.uint64(~COPIED & (1 << 64) - 1)
        if span.view.bitmaps is not None:
            bitmaps[part] = span.view.bitmaps
    return _Entries(kinds, words, bitmaps)


def _compare_with_active(
    own: GuestMapping, active: GuestMapping, cells: _Bytes, first: int, token: CancelToken
) -> None:
    for start in range(0, len(cells), _CHUNK_CLUSTERS):
        token.raise_if_cancelled()
        end = min(start + _CHUNK_CLUSTERS, len(cells))
        mine = _entries(own, first + start, first + end)
        theirs = _entries(active, first + start, first + end)
        part = cells[start:end]
        part[:] = Sharing.NEITHER
        same = (mine.kinds == theirs.kinds) & (mine.words == theirs.words)
        same &= mine.bitmaps == theirs.bitmaps
        part[same & (mine.kinds != ClusterKind.UNALLOCATED)] = Sharing.SAME
        part[~same] = Sharing.ACTIVE_ONLY
        moved = ~same & mine.stores
        held = moved & theirs.stores & (mine.places == theirs.places)
        part[moved] = Sharing.ONLY_HERE
        part[held] = Sharing.KEPT_ELSEWHERE
        part[mine.unreadable | theirs.unreadable] = Sharing.UNREADABLE


def _find_elsewhere(
    own: GuestMapping, other: GuestMapping, cells: _Bytes, first: int, token: CancelToken
) -> None:
    for start in range(0, len(cells), _CHUNK_CLUSTERS):
        token.raise_if_cancelled()
        part = cells[start : start + _CHUNK_CLUSTERS]
        alone = part == Sharing.ONLY_HERE
        if not alone.any():
            continue
        mine = _entries(own, first + start, first + start + len(part))
        theirs = _entries(other, first + start, first + start + len(part))
        held = alone & theirs.stores & (mine.places == theirs.places)
        part[held] = Sharing.KEPT_ELSEWHERE
