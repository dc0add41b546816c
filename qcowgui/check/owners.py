"""Who refers to given host clusters: the question that a sum of references doesn't answer.

One more pass over the tables, for a few clusters that a reader wants to know about. Spec: 1.10
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from qcowgui.check.bitmap_references import iter_bitmap_clusters
from qcowgui.check.l1_tables import L1Table, MappingOwner
from qcowgui.check.l2_references import Run, find_references, find_run
from qcowgui.check.l2_tables import L2Table
from qcowgui.check.roles import Role
from qcowgui.check.snapshot_list import SnapshotList, load_snapshot_list
from qcowgui.check.stored import StoredRefcounts
from qcowgui.check.walk import iter_distinct_l2_tables, iter_l1_tables
from qcowgui.engine.work import CancelToken
from qcowgui.format import geometry as geo
from qcowgui.format.geometry import ENTRY_BYTES, Geometry
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.units import format_offset

MAX_OWNERS: Final = 16
"""Owners listed of one cluster: a shared payload cluster may have hundreds."""

_HEADER_FIELD_OFFSETS: Final = {
    Role.ACTIVE_L1: 40,
    Role.REFCOUNT_TABLE: 48,
    Role.SNAPSHOT_TABLE: 64,
}


class Owner(NamedTuple):
    """One reference to a host cluster.

    Attributes:
        role: What the cluster is said to be.
        mapping: Whose table refers to it; None where it is no disk's.
        l1_index: The L1 entry on the way to it; of a refcount block the table's entry, of a bitmap
            its index in the directory; else None.
        l2_index: The L2 entry, or None.
        guest_offset: First guest byte mapped to it, or None.
        host_offset: Where the entry or field lies that refers to it; None for the header.
        others: How many further L1 entries lead to the same reference.
    """

    role: Role
    mapping: MappingOwner | None = None
    l1_index: int | None = None
    l2_index: int | None = None
    guest_offset: int | None = None
    host_offset: int | None = None
    others: int = 0

    def __str__(self) -> str:
        text = self._text()
        if self.mapping is not None and self.mapping.snapshot is not None:
            text += f" of snapshot {self.mapping.snapshot}"
        return f"{text} (and {self.others:,} more of its kind)" if self.others else text

    def _text(self) -> str:
        if self.l2_index is not None and self.guest_offset is not None:
            kind = {Role.COMPRESSED: " (compressed)", Role.ZERO_ALLOC: " (zero)"}.get(self.role, "")
            entry = f"L1[{self.l1_index}]/L2[{self.l2_index}]"
            return f"guest {format_offset(self.guest_offset)}{kind} by {entry}"
        return _TEXTS[self.role].format(self.l1_index)


_TEXTS: Final = {
    Role.HEADER: "the header",
    Role.ACTIVE_L1: "the L1 table",
    Role.SNAPSHOT_L1: "the L1 table",
    Role.ACTIVE_L2: "the L2 table of L1[{}]",
    Role.SNAPSHOT_L2: "the L2 table of L1[{}]",
    Role.REFCOUNT_TABLE: "the refcount table",
    Role.REFCOUNT_BLOCK: "refcount block {}",
    Role.SNAPSHOT_TABLE: "the snapshot table",
    Role.BITMAP_DIRECTORY: "the bitmap directory",
    Role.BITMAP_TABLE: "the table of bitmap {}",
    Role.BITMAP_DATA: "the bits of bitmap {}",
    Role.ENCRYPTION_HEADER: "the encryption header",
}


def owners_of(
    source: ByteSource,
    report: ImageReport,
    clusters: Sequence[int],
    *,
    token: CancelToken | None = None,
    snapshots: SnapshotList | None = None,
) -> dict[int, list[Owner]]:
    """Who refers to each of `clusters`, metadata first; at most `MAX_OWNERS` of each.

    Every cluster asked for is a key; one without owners has an empty list.

    Args:
        source: The image.
        report: What `inspect_source` says of it.
        clusters: Indices of host clusters.
        token: Looked at for every 8,192 L2 entries.
        snapshots: The snapshot table, when that is loaded already.

    Raises:
        SourceError: When the operating system refuses a read.
        Cancelled: When the token asks for it.
    """
    found: dict[int, list[Owner]] = {cluster: [] for cluster in clusters}
    geometry = report.header.geometry
    if geometry is None or not found:
        return found
    search = _Search(geometry, found)
    snapshots = snapshots or load_snapshot_list(source, report)
    search.regions(_iter_regions(report, snapshots))
    entry_offsets = {snapshot.index: snapshot.entry_offset for snapshot in snapshots.snapshots}
    for l1 in iter_l1_tables(source, report, snapshots):
        search.l1_table(l1, entry_offsets)
    search.refcount_blocks(StoredRefcounts(source, report), report.header.refcount_table_offset)
    for index, entry_offset, cluster in iter_bitmap_clusters(source, report, search.wanted):
        search.add(cluster, Owner(Role.BITMAP_DATA, l1_index=index, host_offset=entry_offset))
    for table in iter_distinct_l2_tables(source, report, snapshots):
        if token is not None:
            token.raise_if_cancelled()
        search.l2_table(table, source.size_bytes)
    return found


def _iter_regions(report: ImageReport, snapshots: SnapshotList) -> Iterator[tuple[Owner, int, int]]:
    """(owner, host offset, length) of what the header and its extensions name."""
    header = report.header
    yield Owner(Role.HEADER), 0, 1 << header.cluster_bits
    for role, offset, length in (
        (Role.SNAPSHOT_TABLE, header.snapshots_offset, snapshots.table_bytes),
        (
            Role.REFCOUNT_TABLE,
            header.refcount_table_offset,
            header.refcount_table_clusters << header.cluster_bits,
        ),
    ):
        yield Owner(role, host_offset=_HEADER_FIELD_OFFSETS[role]), offset, length
    pointer = report.encryption_pointer
    if pointer is not None:
        yield Owner(Role.ENCRYPTION_HEADER), pointer.offset, pointer.length
    bitmaps = report.bitmaps_extension
    if bitmaps is not None:
        owner = Owner(Role.BITMAP_DIRECTORY)
        yield owner, bitmaps.bitmap_directory_offset, bitmaps.bitmap_directory_size
    for entry in report.bitmaps:
        owner = Owner(Role.BITMAP_TABLE, l1_index=entry.index, host_offset=entry.entry_offset)
        yield owner, entry.bitmap_table_offset, entry.bitmap_table_size * ENTRY_BYTES


class _Search:
    """Looks for references to some clusters, and notes them in `found`."""

    def __init__(self, geometry: Geometry, found: dict[int, list[Owner]]) -> None:
        self._geometry = geometry
        self._found = found
        self.wanted = np.array(sorted(found), dtype=np.int64)

    def add(self, cluster: int, owner: Owner) -> None:
        owners = self._found[cluster]
        if len(owners) < MAX_OWNERS:
            owners.append(owner)

    def regions(self, regions: Iterator[tuple[Owner, int, int]]) -> None:
        for owner, offset, length in regions:
            if length > 0:
                bits = self._geometry.cluster_bits
                self._add_range(owner, offset >> bits, (offset + length - 1 >> bits) + 1)

    def _add_range(self, owner: Owner, first: int, last: int) -> None:
        start, end = np.searchsorted(self.wanted, (first, last)).tolist()
        for cluster in self.wanted[start:end].tolist():
            self.add(cluster, owner)

    def l1_table(self, l1: L1Table, entry_offsets: dict[int, int]) -> None:
        """The L1 table itself, and the L2 tables that it names."""
        active = l1.owner.snapshot is None
        role = Role.ACTIVE_L1 if active else Role.SNAPSHOT_L1
        field = (
            _HEADER_FIELD_OFFSETS[Role.ACTIVE_L1]
            if l1.owner.snapshot is None
            else entry_offsets.get(l1.owner.snapshot)
        )
        owner = Owner(role, l1.owner, host_offset=field, others=l1.references - 1)
        length = (len(l1.words) + l1.entries_missing) * ENTRY_BYTES
        self.regions(iter([(owner, l1.host_offset, length)]))
        offsets = (l1.words & np.uint64(geo.OFFSET_MASK)).view(np.int64)
        clusters = offsets >> self._geometry.cluster_bits
        role = Role.ACTIVE_L2 if active else Role.SNAPSHOT_L2
        for index in self._first_positions(clusters, offsets != 0):
            host_offset = l1.host_offset + index * ENTRY_BYTES
            owner = Owner(role, l1.owner, l1_index=index, host_offset=host_offset)
            self.add(int(clusters[index]), owner)

    def _first_positions(
        self, clusters: npt.NDArray[np.int64], named: npt.NDArray[np.bool_]
    ) -> list[int]:
        """Positions of the named clusters that are wanted: of each at most `MAX_OWNERS`."""
        nearest = np.minimum(np.searchsorted(self.wanted, clusters), len(self.wanted) - 1)
        positions = np.flatnonzero(named & (self.wanted[nearest] == clusters))
        if not len(positions):
            return []
        order = np.argsort(clusters[positions], kind="stable")
        ordered = clusters[positions[order]]
        rank = np.arange(len(ordered)) - np.searchsorted(ordered, ordered)
        return [int(position) for position in np.sort(positions[order[rank < MAX_OWNERS]])]

    def refcount_blocks(self, stored: StoredRefcounts, table_offset: int) -> None:
        clusters = (stored.block_offsets >> np.uint64(self._geometry.cluster_bits)).view(np.int64)
        named = (stored.block_offsets != 0) & ~stored.unaligned_entries
        for index in self._first_positions(clusters, named):
            host_offset = table_offset + index * ENTRY_BYTES
            owner = Owner(Role.REFCOUNT_BLOCK, l1_index=index, host_offset=host_offset)
            self.add(int(clusters[index]), owner)

    def l2_table(self, table: L2Table, file_bytes: int) -> None:
        bits = self._geometry.cluster_bits
        run = find_run(table, file_bytes)
        if run is not None:
            self._run(table, run)
            return
        if table.has_data_file:
            return
        found = find_references(table).believed
        first = found.standard_offsets >> bits
        last = (found.standard_offsets + (self._geometry.cluster_bytes - 1)) >> bits
        roles = np.where(found.zero, Role.ZERO_ALLOC, Role.DATA)
        self._entries(table, found.standard, first, last, roles)
        first = found.payload_offsets >> bits
        last = (found.payload_ends - 1) >> bits
        roles = np.full(len(first), Role.COMPRESSED)
        self._entries(table, found.payloads, first, last, roles)

    def _run(self, table: L2Table, run: Run) -> None:
        first = run.host_offset >> self._geometry.cluster_bits
        start, end = np.searchsorted(self.wanted, (first, first + run.clusters)).tolist()
        for cluster in self.wanted[start:end].tolist():
            self._entry(table, cluster - first, cluster, Role.DATA)

    def _entries(
        self,
        table: L2Table,
        entries: npt.NDArray[np.intp],
        first: npt.NDArray[np.int64],
        last: npt.NDArray[np.int64],
        roles: npt.NDArray[np.int64],
    ) -> None:
        """Note the entries that refer to clusters in [first, last], element by element."""
        starts = np.searchsorted(self.wanted, first)
        ends = np.searchsorted(self.wanted, last, side="right")
        for position in np.flatnonzero(starts < ends).tolist():
            for cluster in self.wanted[starts[position] : ends[position]].tolist():
                if len(self._found[cluster]) >= MAX_OWNERS:
                    continue
                self._entry(table, int(entries[position]), cluster, Role(int(roles[position])))

    def _entry(self, table: L2Table, entry: int, cluster: int, role: Role) -> None:
        index, l2_index = divmod(entry, self._geometry.l2_entries)
        guest = table.guest_offsets(np.array([entry], dtype=np.intp))
        owner = Owner(
            role,
            table.owner,
            int(table.l1_indices[index]),
            l2_index,
            int(guest[0]),
            table.entry_offset(entry),
            table.references - 1,
        )
        self.add(cluster, owner)
