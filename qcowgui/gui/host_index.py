"""Where a byte of the file belongs: the mapping tables turned round, for answers without a search.

Built once beside the window, in one pass over all tables; afterwards immutable. Refers to nothing
of Qt. Memory: 4 bytes a host cluster, 8 with internal snapshots. Spec: 1.7 to 1.12
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from qcowgui.check.l2_places import L2Places, PlaceCollector
from qcowgui.check.l2_references import find_references, find_run
from qcowgui.check.l2_tables import L2Table, L2TableReader
from qcowgui.check.stored import StoredRefcounts
from qcowgui.check.walk import iter_l1_tables
from qcowgui.engine.work import CancelToken
from qcowgui.format.bitmaps import BitmapClusterKind, decode_bitmap_table
from qcowgui.format.geometry import ENTRY_BYTES, Geometry
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource

_Int64s = npt.NDArray[np.int64]
_NONE: Final[_Int64s] = np.zeros(0, dtype=np.int64)

MAX_INDEXED_CLUSTERS: Final = 1 << 26
"""Host clusters whose guest clusters are kept (256 MiB): a larger file is searched instead."""
_MAX_BITMAP_ENTRIES: Final = 1 << 22


class GuestCluster(NamedTuple):
    """A guest cluster of one disk.

    Attributes:
        cluster: Which one, in that disk.
        snapshot: Whose disk; None for the active one.
    """

    cluster: int
    snapshot: int | None


@dataclass(frozen=True, slots=True)
class _Lookup:
    """Things by where they are: sorted keys, and for each one or two numbers."""

    keys: _Int64s = field(default_factory=_NONE.copy)
    firsts: _Int64s = field(default_factory=_NONE.copy)
    seconds: _Int64s = field(default_factory=_NONE.copy)

    @classmethod
    def of(cls, keys: _Int64s, firsts: _Int64s, seconds: _Int64s) -> _Lookup:
        order = np.argsort(keys, kind="stable")
        return cls(keys[order], firsts[order], seconds[order])

    def at(self, key: int) -> tuple[int, int] | None:
        position = int(np.searchsorted(self.keys, key))
        if position == len(self.keys) or int(self.keys[position]) != key:
            return None
        return int(self.firsts[position]), int(self.seconds[position])


@dataclass(frozen=True, slots=True)
class HostIndex:
    """Which entry leads to a host cluster. Any thread may ask.

    Attributes:
        complete: Whether `guest_at` knows every cluster; False for files that are too large.
    """

    complete: bool = True
    _tables: _Lookup = field(default_factory=_Lookup)
    _blocks: _Lookup = field(default_factory=_Lookup)
    _bitmaps: _Lookup = field(default_factory=_Lookup)
    _guests: npt.NDArray[np.unsignedinteger] = field(
        default_factory=lambda: np.zeros(0, dtype=np.uint32)
    )
    _snapshots: npt.NDArray[np.int32] | None = None

    def l2_table_at(self, host_offset: int) -> tuple[int, int | None] | None:
        """(first L1 entry that names it, snapshot) of the L2 table that starts there."""
        found = self._tables.at(host_offset)
        return None if found is None else (found[0], None if found[1] < 0 else found[1])

    def refcount_block_at(self, host_offset: int) -> int | None:
        """The entry of the refcount table that names the block at `host_offset`."""
        found = self._blocks.at(host_offset)
        return None if found is None else found[0]

    def bitmap_entry_at(self, cluster: int) -> tuple[int, int] | None:
        """(bitmap's index, entry of its table) of the bits that lie in a host cluster."""
        return self._bitmaps.at(cluster)

    def guest_at(self, cluster: int) -> GuestCluster | None:
        """A guest cluster that lies in a host cluster: of several the first, the active disk's."""
        if not 0 <= cluster < len(self._guests) or not self._guests[cluster]:
            return None
        snapshot = -1 if self._snapshots is None else int(self._snapshots[cluster])
        return GuestCluster(int(self._guests[cluster]) - 1, None if snapshot < 0 else snapshot)


def build_host_index(source: ByteSource, report: ImageReport, *, token: CancelToken) -> HostIndex:
    """The index of an image; an empty one where no geometry is known.

    Raises:
        SourceError: When the operating system refuses a read.
        Cancelled: When the token asks for it.
    """
    geometry = report.header.geometry
    if geometry is None:
        return HostIndex(complete=False)
    collector = PlaceCollector(geometry)
    for l1 in iter_l1_tables(source, report):
        token.raise_if_cancelled()
        collector.add(l1)
    places = collector.places().sound
    blocks = StoredRefcounts(source, report).block_offsets
    entries = np.flatnonzero(blocks).astype(np.int64)
    lookups = (
        _Lookup.of(places.host_offsets, places.l1_indices, places.owners),
        _Lookup.of(blocks[entries].astype(np.int64), entries, np.zeros_like(entries)),
        _bitmap_clusters(source, report, geometry, token),
    )
    clusters = geometry.clusters(source.size_bytes)
    if clusters > MAX_INDEXED_CLUSTERS:
        return HostIndex(False, *lookups)
    guests = _Guests(geometry, places, clusters)
    if not report.header.has_data_file:
        for table in L2TableReader(source, report).iter_tables(places):
            token.raise_if_cancelled()
            guests.add(table, source.size_bytes)
    return HostIndex(True, *lookups, guests.guests, guests.snapshots)


class _Guests:
    """The guest cluster of each host cluster, while they are gathered."""

    def __init__(self, geometry: Geometry, places: L2Places, clusters: int) -> None:
        self._geometry = geometry
        last = (int(places.l1_indices.max(initial=0)) + 1) * geometry.l2_entries
        self.guests: npt.NDArray[np.unsignedinteger] = np.zeros(
            clusters, dtype=np.uint32 if last < 1 << 32 else np.uint64
        )
        """The index plus one; 0 for none."""
        self.snapshots: npt.NDArray[np.int32] | None = None
        if (places.owners >= 0).any():
            self.snapshots = np.full(clusters, -1, dtype=np.int32)

    def add(self, table: L2Table, file_bytes: int) -> None:
        """Note what the entries of a table refer to; what is known already stays."""
        bits = self._geometry.cluster_bits
        run = find_run(table, file_bytes)
        if run is not None:
            first = run.host_offset >> bits
            everything = np.arange(run.clusters, dtype=np.intp)
            self._set(table, first + everything.astype(np.int64), everything)
            return
        found = find_references(table).believed
        whole = found.standard_offsets >> bits
        self._set(table, whole, found.standard)
        starts = found.payload_offsets >> bits
        self._set(table, starts, found.payloads)
        # A payload that reaches into the next cluster may be the only one there. Longer ones
        # than two clusters are no writer's.
        ends = (found.payload_ends - 1) >> bits
        reaching = ends > starts
        self._set(table, ends[reaching], found.payloads[reaching])

    def _set(self, table: L2Table, clusters: _Int64s, entries: npt.NDArray[np.intp]) -> None:
        inside = (clusters >= 0) & (clusters < len(self.guests))
        inside[inside] = self.guests[clusters[inside]] == 0
        clusters, entries = clusters[inside], entries[inside]
        guests = table.guest_offsets(entries) >> self._geometry.cluster_bits
        # Backwards: of several in one cluster the first entry stays.
        self.guests[clusters[::-1]] = (guests[::-1] + 1).astype(self.guests.dtype)
        if self.snapshots is not None and table.owner.snapshot is not None:
            self.snapshots[clusters] = table.owner.snapshot


def _bitmap_clusters(
    source: ByteSource, report: ImageReport, geometry: Geometry, token: CancelToken
) -> _Lookup:
    keys, bitmaps, rows = [_NONE], [_NONE], [_NONE]
    left = _MAX_BITMAP_ENTRIES
    for entry in report.bitmaps:
        token.raise_if_cancelled()
        count = min(entry.bitmap_table_size, left)
        left -= count
        data = source.read_at(entry.bitmap_table_offset, count * ENTRY_BYTES)
        table = decode_bitmap_table(data, cluster_bits=geometry.cluster_bits)
        found = np.flatnonzero(table.kind == BitmapClusterKind.ALLOCATED).astype(np.int64)
        keys.append(table.cluster_offset[found].astype(np.int64) >> geometry.cluster_bits)
        bitmaps.append(np.full(len(found), entry.index, dtype=np.int64))
        rows.append(found)
    return _Lookup.of(np.concatenate(keys), np.concatenate(bitmaps), np.concatenate(rows))
