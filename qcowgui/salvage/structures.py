"""What a damaged image still holds under one geometry: its tables, and how they hang together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from qcowgui.engine.work import CancelToken
from qcowgui.format.geometry import OFFSET_MASK, Geometry
from qcowgui.format.snapshots import Snapshot
from qcowgui.format.tables import Words
from qcowgui.image.source import ByteSource
from qcowgui.salvage.found_refcounts import MAX_TRIALS, FoundRefcounts, find_refcounts
from qcowgui.salvage.found_snapshots import find_snapshots, load_l1
from qcowgui.salvage.scan import Indices, Scan
from qcowgui.salvage.tables import MAX_TABLES, Flags, TableSet, describe_tables
from qcowgui.units import MIB

_MAX_GAP_BYTES: Final = 4 * MIB
"""ours: zeros inside an L1 table, where the disk is sparse, that are bridged."""


@dataclass(frozen=True, slots=True)
class FoundL1:
    """A run of clusters that is an L1 table by where its entries lead.

    Attributes:
        host_offset: Where it begins.
        words: Its entries, up to the last that says anything.
        copied: Entries with the COPIED flag.
        named: Entries that name a table.
        found: Those of them that lead to a cluster which could be an L2 table.
        beyond: Those that lead beyond the end of the file.
    """

    host_offset: int
    words: Words
    copied: int
    named: int
    found: int
    beyond: int

    @property
    def offsets(self) -> Indices:
        """The host offset of the L2 table of each entry, 0 for none."""
        return (self.words & np.uint64(OFFSET_MASK)).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Structures:
    """The tables of a damaged image under one geometry.

    Attributes:
        geometry: With the width of the refcounts, where their table was found.
        l2_tables: Clusters that could be L2 tables; with 8-byte entries others are among them.
        word_tables: Clusters that could be L1 or refcount tables; the same without extended L2.
        refcounts: The refcount table, or None.
        snapshots: The snapshot table's entries.
        l1_tables: L1 tables that no snapshot names, the most complete first.
        not_l2: Host offsets of clusters of `l2_tables` that are something else.
    """

    geometry: Geometry
    l2_tables: TableSet
    word_tables: TableSet
    refcounts: FoundRefcounts | None
    snapshots: tuple[Snapshot, ...]
    l1_tables: tuple[FoundL1, ...]
    not_l2: frozenset[int]

    @property
    def l2_count(self) -> int:
        """How many clusters could be L2 tables and are nothing else."""
        other = np.array(sorted(self.not_l2), dtype=np.int64)
        return int(np.count_nonzero(~np.isin(self.l2_tables.offsets, other)))

    def without_l2(self, start: int, end: int) -> Structures:
        """The same, knowing that no cluster in the host range [start, end) is an L2 table."""
        offsets = self.l2_tables.offsets
        inside = (offsets >= start) & (offsets < end)
        return replace(self, l2_tables=self.l2_tables.without(inside)) if inside.any() else self


def find_structures(
    source: ByteSource,
    scan: Scan,
    geometry: Geometry,
    token: CancelToken,
    *,
    most: int = MAX_TABLES,
    most_trials: int = MAX_TRIALS,
    refcounts_said: tuple[int, int] | None = None,
) -> Structures:
    """Everything that can be found under `geometry`.

    Args:
        source: The damaged image.
        scan: What its scan has shown.
        geometry: The cluster size and the kind of L2 entry to judge by.
        token: Stops the work.
        most: Clusters of each kind that are looked at.
        most_trials: Clusters that are tried as refcount table.
        refcounts_said: Host offset of the refcount table and width of its counts, by the header.

    Raises:
        Cancelled: When the token was set.
        SourceError: When the operating system refuses a read.
    """
    l2_tables = describe_tables(source, scan, geometry, token, most=most)
    word_tables = l2_tables
    if geometry.extended_l2:
        plain = Geometry(geometry.cluster_bits)
        word_tables = describe_tables(
            source, scan, plain, token, among=l2_tables.clusters, most=most
        )
    refcounts = find_refcounts(source, word_tables, token, most=most_trials, said=refcounts_said)
    snapshots = find_snapshots(source, scan, l2_tables)
    taken = _named_ranges(snapshots, refcounts, geometry)
    roots = find_roots(source, word_tables, token) & ~_inside(word_tables.offsets, taken)
    l1_tables = _join_roots(source, word_tables, roots, l2_tables)
    not_l2 = set(l2_tables.offsets[_inside(l2_tables.offsets, taken)].tolist())
    for table in l1_tables:
        end = table.host_offset + len(table.words) * 8
        not_l2 |= set(range(table.host_offset, end, geometry.cluster_bytes))
    if refcounts is not None:
        geometry = Geometry(geometry.cluster_bits, geometry.extended_l2, refcounts.refcount_order)
        # Blocks of 64-bit counts look like tables of clusters that read as zeros.
        not_l2 |= set(refcounts.block_offsets[refcounts.block_offsets != 0].tolist())
    return Structures(
        geometry,
        l2_tables,
        word_tables,
        refcounts,
        snapshots,
        tuple(sorted(l1_tables, key=lambda table: (-table.found, -table.copied))),
        frozenset(not_l2),
    )


def find_roots(source: ByteSource, tables: TableSet, token: CancelToken) -> Flags:
    """Which clusters are (parts of) L1 tables: most of their entries lead to L2 tables.

    A table that another one of them names is an L2 table whose data looks like tables: a disk with
    qcow2 files in it.

    Raises:
        Cancelled: When the token was set.
        SourceError: When the operating system refuses a read.
    """
    roots = (tables.to_tables > 0) & (tables.to_tables * 2 >= tables.inside)
    roots &= (tables.compressed == 0) & (tables.flagged == 0)
    named = np.zeros(len(tables), dtype=np.bool_)
    for index in np.flatnonzero(roots).tolist():
        token.raise_if_cancelled()
        offset = int(tables.offsets[index])
        words = load_l1(source, offset, tables.geometry.cluster_bytes // 8)
        places = tables.index_of(np.unique((words & np.uint64(OFFSET_MASK)).astype(np.int64)))
        places = places[(places >= 0) & (places != index)]
        # Guest data that happens to look like a table has no COPIED flags.
        named[places[(tables.copied[index] > 0) | (tables.copied[places] == 0)]] = True
    clear = roots & ~named
    return clear if clear.any() else roots


def _named_ranges(
    snapshots: tuple[Snapshot, ...], refcounts: FoundRefcounts | None, geometry: Geometry
) -> list[tuple[int, int]]:
    """Host ranges that are something known: L1 tables of snapshots, the refcount table."""
    ranges = [(s.l1_table_offset, s.l1_table_offset + max(1, s.l1_size * 8)) for s in snapshots]
    if refcounts is not None:
        start = refcounts.table_offset
        ranges.append((start, start + (refcounts.table_clusters << geometry.cluster_bits)))
    return ranges


def _inside(offsets: Indices, ranges: list[tuple[int, int]]) -> Flags:
    """Which offsets lie in one of `ranges`."""
    result = np.zeros(len(offsets), dtype=np.bool_)
    for start, end in ranges:
        result |= (offsets >= start) & (offsets < end)
    return result


def _join_roots(
    source: ByteSource, tables: TableSet, roots: Flags, l2_tables: TableSet
) -> list[FoundL1]:
    """L1 tables from the clusters that are pieces of them.

    Neighbours are one table unless both name the same L2 table, as two versions of one table do;
    zeros between them are entries of a sparse disk.
    """
    cluster_bytes = tables.geometry.cluster_bytes
    groups: list[tuple[int, int]] = []
    seen: set[int] = set()
    for offset in tables.offsets[roots].tolist():
        words = load_l1(source, offset, cluster_bytes // 8)
        named = set((words & np.uint64(OFFSET_MASK)).astype(np.int64).tolist()) - {0}
        joins = bool(groups) and not (seen & named)
        if joins and offset - groups[-1][1] <= _MAX_GAP_BYTES:
            between = source.read_at(groups[-1][1], offset - groups[-1][1])
            joins = not any(between)
        else:
            joins = False
        if joins:
            groups[-1] = groups[-1][0], offset + cluster_bytes
            seen |= named
        else:
            groups.append((offset, offset + cluster_bytes))
            seen = named
    return [found_l1(source, start, (end - start) // 8, l2_tables) for start, end in groups]


def found_l1(source: ByteSource, offset: int, entries: int, l2_tables: TableSet) -> FoundL1:
    """The L1 table of `entries` entries at `offset`, described.

    Raises:
        SourceError: When the operating system refuses a read.
    """
    words = load_l1(source, offset, entries)
    used = np.flatnonzero(words)
    words = words[: int(used[-1]) + 1 if len(used) else 0]
    offsets = (words & np.uint64(OFFSET_MASK)).astype(np.int64)
    named = offsets[offsets != 0]
    return FoundL1(
        offset,
        words,
        copied=int(np.count_nonzero(words >> np.uint64(63))),
        named=len(named),
        found=int(np.count_nonzero(l2_tables.index_of(named) >= 0)),
        beyond=int(np.count_nonzero(named >= source.size_bytes)),
    )
