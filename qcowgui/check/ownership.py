"""Counting the references of an image: one pass over its structures and mapping tables.

Others may look at the same tables in the same pass: `on_l1` and `on_l2` get each of them once.
Spec: 1.10, 2.1, 2.2 (R0 to R2, R13 to R16, R20)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from qcowgui.check.bitmap_references import BitmapReferences
from qcowgui.check.cluster_ownership import Ownership, Region
from qcowgui.check.l1_tables import L1Table, l1_places, load_l1_table
from qcowgui.check.l2_places import L2Places, PlaceCollector
from qcowgui.check.l2_references import EntryReferences, Run, find_references, find_run
from qcowgui.check.l2_tables import L2Table, L2TableReader
from qcowgui.check.reference_counts import Clusters, ReferenceCounts
from qcowgui.check.roles import SNAPSHOT_PAYLOAD_BIT, Role, use_bit
from qcowgui.check.shared_data import SharedData
from qcowgui.check.snapshot_list import SnapshotList, load_snapshot_list
from qcowgui.check.stored import StoredRefcounts
from qcowgui.engine.work import CancelToken
from qcowgui.format.geometry import Geometry
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.units import SECTOR_BYTES, align_up

__all__ = ["MAX_CLUSTERS", "L2Callback", "Ownership", "Region", "build"]

MAX_CLUSTERS: Final = (1 << 31) - 1
"""QEMU counts a file's clusters in a C int, and checks no file that has more. Spec: 2.2 (R0)"""

L1Callback = Callable[[L1Table], None]
L2Callback = Callable[[L2Table, Run | EntryReferences], None]


def build(
    source: ByteSource,
    report: ImageReport,
    *,
    stored: StoredRefcounts | None = None,
    token: CancelToken | None = None,
    on_l1: L1Callback | None = None,
    on_l2: L2Callback | None = None,
    tick: Callable[[], None] | None = None,
) -> Ownership:
    """Who owns each cluster of an image.

    Memory: some 6 bytes a cluster, and 4 more when there are snapshots; a sparse file's holes cost
    nothing.

    Args:
        source: The image.
        report: What `inspect_source` says of it.
        stored: Its refcount table, when that is loaded already.
        token: Looked at for every 8,192 L2 entries.
        on_l1: Gets each L1 table.
        on_l2: Gets each L2 table (or run of tables), and what its entries refer to. Those that are
            no clusters of the file, but which QEMU reads as tables, come last.
        tick: Called as often as the token is looked at.

    Raises:
        SourceError: When the operating system refuses a read.
        Cancelled: When the token asks for it.
    """
    geometry = report.header.geometry
    file_end = align_up(source.size_bytes, SECTOR_BYTES)
    clusters = 0 if geometry is None else geometry.clusters(file_end)
    if geometry is None or clusters > MAX_CLUSTERS:
        return Ownership.empty(0 if geometry is None else geometry.cluster_bytes)
    sweep = _Sweep(source, report, geometry, file_end, token or CancelToken(), tick)
    return sweep.run(stored or StoredRefcounts(source, report), on_l1, on_l2)


class _Sweep:
    """One run of `build`."""

    def __init__(
        self,
        source: ByteSource,
        report: ImageReport,
        geometry: Geometry,
        file_end: int,
        token: CancelToken,
        tick: Callable[[], None] | None,
    ) -> None:
        self._source = source
        self._report = report
        self._geometry = geometry
        self._file_end = file_end
        self._token = token
        self._tick = tick
        clusters = geometry.clusters(file_end)
        # A reference may reach into the cluster behind the last one.
        self._counts = ReferenceCounts(clusters + 1)
        self._ownership = Ownership(geometry.cluster_bytes, self._counts, clusters)
        self._shared: SharedData | None = None
        self._overwritten: list[npt.NDArray[np.int64]] = []

    def run(
        self,
        stored: StoredRefcounts,
        on_l1: L1Callback | None,
        on_l2: L2Callback | None,
    ) -> Ownership:
        ownership = self._ownership
        self._add_region(Region(Role.HEADER, 0, self._geometry.cluster_bytes))
        snapshots = load_snapshot_list(self._source, self._report)
        ownership.snapshots = snapshots
        if snapshots.snapshots:
            self._shared = SharedData(len(self._counts.counts))
        places = self._walk_l1_tables(snapshots, on_l1)
        sound = places.sound
        displaced = self._add_tables(sound)
        reader = L2TableReader(self._source, self._report)
        self._walk_l2_tables(reader, sound, on_l2)
        self._add_structures(snapshots)
        self._add_refcount_blocks(stored)
        shared = self._shared.clusters() if self._shared else np.zeros(0, dtype=np.int64)
        ownership.clusters = max(ownership.clusters, self._counts.referenced_end)
        ownership.find_conflicts(displaced, shared)
        # Last, because these references are not to be believed: they are no owners.
        self._add_overwritten(reader, sound)
        disbelieved = places.disbelieved
        self._add_tables(disbelieved)
        self._walk_l2_tables(reader, disbelieved, on_l2)
        unsound = places.unsound
        self._add_tables(unsound)
        for index in range(len(unsound)):
            self._walk_l2_tables(reader, unsound.select(slice(index, index + 1)), on_l2)
        ownership.clusters = max(ownership.clusters, self._counts.referenced_end)
        self._find_shared_blocks(stored)
        return ownership

    def _walk_l1_tables(self, snapshots: SnapshotList, on_l1: L1Callback | None) -> L2Places:
        collector = PlaceCollector(self._geometry, self._file_end)
        found = l1_places(self._report, snapshots)
        self._ownership.complete &= found.complete
        self._ownership.unusable_snapshots = found.unusable_snapshots
        for place in found.places:
            self._breathe()
            role = Role.ACTIVE_L1 if place.owner.snapshot is None else Role.SNAPSHOT_L1
            self._add_region(Region(role, place.host_offset, place.table_bytes, place.references))
            l1 = load_l1_table(self._source, place)
            collector.add(l1)
            if on_l1 is not None:
                on_l1(l1)
        return collector.places()

    def _add_tables(self, places: L2Places) -> Clusters:
        """Count the references to L2 tables; returns the clusters of displaced ones."""
        clusters = places.host_offsets >> self._geometry.cluster_bits
        sound = places.are_sound
        for bits, chosen in (
            (use_bit(Role.ACTIVE_L2), sound & (places.active_references > 0)),
            (
                use_bit(Role.SNAPSHOT_L2),
                sound & (places.references > places.active_references),
            ),
        ):
            self._counts.uses[clusters[chosen]] |= np.uint16(bits)
        for weight in np.unique(places.references).tolist():
            chosen = places.references == weight
            self._counts.add_each(clusters[chosen], 0, weight)
            # An unaligned table touches the next cluster, too.
            unaligned = chosen & (places.host_offsets & (self._geometry.cluster_bytes - 1) != 0)
            self._counts.add_each(clusters[unaligned] + 1, 0, weight)
        displaced: Clusters = clusters[sound & places.displaced]
        return displaced

    def _walk_l2_tables(
        self,
        reader: L2TableReader,
        places: L2Places,
        on_l2: L2Callback | None,
    ) -> None:
        for table in reader.iter_tables(places):
            self._breathe()
            run = find_run(table, self._source.size_bytes)
            if run is not None:
                self._add_run(table, run)
                if on_l2 is not None:
                    on_l2(table, run)
                continue
            found = find_references(table)
            if found.overwritten is None or not table.is_sound:
                self._add_entries(table, found)
            else:
                self._add_entries(table, found.believed)
                self._note_overwritten(table, found.overwritten)
            if on_l2 is not None:
                on_l2(table, found)

    def _note_overwritten(self, table: L2Table, overwritten: npt.NDArray[np.bool_]) -> None:
        tables = overwritten.reshape(table.tables, table.geometry.l2_entries).any(axis=1)
        self._overwritten.append(table.host_offsets[tables])

    def _add_overwritten(self, reader: L2TableReader, places: L2Places) -> None:
        """Count what QEMU takes for references: the bytes that were written over tables."""
        if not self._overwritten:
            return
        noted = np.isin(places.host_offsets, np.concatenate(self._overwritten))
        for table in reader.iter_tables(places.select(noted)):
            self._breathe()
            found = find_references(table).disbelieved
            if found is not None:
                self._add_entries(replace(table, believed=False), found)

    def _add_run(self, table: L2Table, run: Run) -> None:
        first = run.host_offset >> self._geometry.cluster_bits
        role = Role.DATA if table.active_references else Role.SNAPSHOT_DATA
        bits = use_bit(role) if table.is_sound else 0
        self._counts.add_run(first, first + run.clusters, bits, table.references)
        if self._shared is not None and table.is_sound:
            clusters = np.arange(first, first + run.clusters)
            self._shared.note(clusters, table.guest_offsets(np.arange(run.clusters)))

    def _add_entries(self, table: L2Table, found: EntryReferences) -> None:
        if len(found.standard) and not table.has_data_file:
            self._add_standard(table, found)
        if len(found.payloads):
            payload_bit = use_bit(Role.COMPRESSED)
            bits = payload_bit if table.active_references else SNAPSHOT_PAYLOAD_BIT
            self._add_payloads(found, bits if table.is_sound else 0, table.references)

    def _add_standard(self, table: L2Table, found: EntryReferences) -> None:
        entries, offsets, zero = found.standard, found.standard_offsets, found.zero
        inside = offsets < self._file_end
        if not inside.all():
            entries, offsets, zero = entries[inside], offsets[inside], zero[inside]
        if zero.any():
            self._add_clusters(table, offsets[~zero], Role.DATA)
            self._add_clusters(table, offsets[zero], Role.ZERO_ALLOC)
        else:
            self._add_clusters(table, offsets, Role.DATA)
        if self._shared is not None and table.is_sound:
            clusters = offsets >> self._geometry.cluster_bits
            self._shared.note(clusters, table.guest_offsets(entries))

    def _add_clusters(self, table: L2Table, offsets: npt.NDArray[np.int64], role: Role) -> None:
        role = role if table.active_references else Role.SNAPSHOT_DATA
        bits = use_bit(role) if table.is_sound else 0
        clusters = offsets >> self._geometry.cluster_bits
        self._counts.add_each(clusters, bits, table.references)
        inside = self._geometry.cluster_bytes - 1
        if int(np.bitwise_or.reduce(offsets)) & inside:
            # An unaligned cluster touches the next one, too.
            unaligned = offsets & inside != 0
            self._counts.add_each(clusters[unaligned] + 1, bits, table.references)

    def _add_payloads(self, found: EntryReferences, bits: int, weight: int) -> None:
        cluster_bits = self._geometry.cluster_bits
        inside = found.payload_ends - self._file_end < self._geometry.cluster_bytes
        first = found.payload_offsets[inside] >> cluster_bits
        last = found.payload_ends[inside] - 1 >> cluster_bits
        self._counts.add_each(first, bits, weight)
        while len(first):
            more = first < last
            first, last = first[more] + 1, last[more]
            self._counts.add_each(first, bits, weight)

    def _add_structures(self, snapshots: SnapshotList) -> None:
        header, geometry = self._report.header, self._geometry
        self._add_region(
            Region(Role.SNAPSHOT_TABLE, header.snapshots_offset, snapshots.table_bytes)
        )
        table_bytes = header.refcount_table_clusters * geometry.cluster_bytes
        self._add_region(Region(Role.REFCOUNT_TABLE, header.refcount_table_offset, table_bytes))
        pointer = self._report.encryption_pointer
        if pointer is not None:
            self._add_region(Region(Role.ENCRYPTION_HEADER, pointer.offset, pointer.length))
        bitmaps = BitmapReferences(self._source, self._report, self._token)
        for region in bitmaps.iter_regions():
            self._add_region(region)
        for clusters, references in bitmaps.iter_data(self._file_end):
            self._counts.add_each(clusters, use_bit(Role.BITMAP_DATA), references)
        self._ownership.bitmap_clusters_beyond = bitmaps.beyond
        self._ownership.bitmaps_refused = bitmaps.refused
        self._ownership.complete &= bitmaps.complete

    def _valid_blocks(self, stored: StoredRefcounts) -> tuple[Clusters, Clusters]:
        """(entries, clusters) of the refcount table's entries that QEMU counts. Spec: 2.2"""
        offsets = stored.block_offsets
        valid = (offsets != 0) & ~stored.unaligned_entries & ~stored.reserved_entries
        valid &= offsets < np.uint64(self._file_end)
        entries = np.flatnonzero(valid).astype(np.int64)
        return entries, offsets[entries].astype(np.int64) >> self._geometry.cluster_bits

    def _add_refcount_blocks(self, stored: StoredRefcounts) -> None:
        _, clusters = self._valid_blocks(stored)
        self._counts.add_each(clusters, use_bit(Role.REFCOUNT_BLOCK))

    def _find_shared_blocks(self, stored: StoredRefcounts) -> None:
        """Note the entries whose block has two references once they are counted. Spec: 2.2 (R20)"""
        entries, clusters = self._valid_blocks(stored)
        order = np.argsort(clusters, kind="stable")
        ordered = clusters[order]
        starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        times = np.diff(starts, append=len(ordered))
        rank = np.arange(len(ordered)) - np.repeat(starts, times) + 1
        before = self._ownership.computed[ordered].astype(np.int64) - np.repeat(times, times)
        most = min(self._geometry.refcount_max, np.iinfo(np.int64).max)
        bad = np.minimum(before + rank, most) != 1
        self._ownership.blocks_shared = np.sort(entries[order[bad]])

    def _add_region(self, region: Region) -> None:
        """Count a region's clusters, unless it ends a cluster or more behind the file's end."""
        if region.length_bytes <= 0:
            return
        end = region.host_offset + region.length_bytes
        if end - self._file_end >= self._geometry.cluster_bytes:
            self._ownership.regions_beyond.append(region)
            return
        first = region.host_offset >> self._geometry.cluster_bits
        last = (end - 1 >> self._geometry.cluster_bits) + 1
        self._counts.add_run(first, last, use_bit(region.role), region.references)

    def _breathe(self) -> None:
        self._token.raise_if_cancelled()
        if self._tick is not None:
            self._tick()
