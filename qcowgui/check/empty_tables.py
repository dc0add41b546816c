"""Mapping tables without any entry: lawful, but beside leaks they were probably overwritten."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qcowgui.check.l1_tables import L1Table
from qcowgui.check.snapshot_list import SnapshotList
from qcowgui.check.walk import iter_distinct_l2_tables, iter_l1_tables
from qcowgui.engine.work import CancelToken
from qcowgui.format import geometry as geo
from qcowgui.format.geometry import Geometry
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource


@dataclass(frozen=True, slots=True)
class EmptyTables:
    """The tables of an image that map nothing.

    Attributes:
        active_l1_used: Entries of the active L1 table that are not zero.
        active_l2: L2 tables of the active disk, inside the file, without any entry.
        snapshot_l1: L1 tables of snapshots without any entry.
        snapshot_l2: L2 tables that only snapshots name, inside the file, without any entry.
    """

    active_l1_used: int = 0
    active_l2: int = 0
    snapshot_l1: int = 0
    snapshot_l2: int = 0

    @property
    def any(self) -> bool:
        """Whether there is such a table, the active L1 table included."""
        return not self.active_l1_used or bool(self.active_l2 or self.of_snapshots)

    @property
    def of_snapshots(self) -> int:
        """The tables of snapshots."""
        return self.snapshot_l1 + self.snapshot_l2


def find_empty_tables(
    source: ByteSource,
    report: ImageReport,
    geometry: Geometry,
    snapshots: SnapshotList,
    token: CancelToken,
) -> EmptyTables:
    """Look through all L1 and L2 tables of an image.

    Raises:
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
    """
    used = snapshot_l1 = 0
    active: set[int] = set()
    others: set[int] = set()
    for l1 in iter_l1_tables(source, report, snapshots):
        token.raise_if_cancelled()
        entries = int(np.count_nonzero(l1.words))
        named = _tables_named(l1, geometry, source.size_bytes)
        if l1.owner.snapshot is None:
            used = entries
            active = named
        else:
            # One that the file does not hold was not emptied.
            snapshot_l1 += not entries and not l1.entries_missing
            others |= named
    others -= active
    for table in iter_distinct_l2_tables(source, report, snapshots):
        token.raise_if_cancelled()
        starts = np.arange(0, len(table.words), geometry.l2_entries)
        has_entries = np.logical_or.reduceat(table.words != 0, starts)
        if table.bitmaps is not None:
            has_entries |= np.logical_or.reduceat(table.bitmaps != 0, starts)
        for index in np.flatnonzero(has_entries).tolist():
            offset = int(table.host_offsets[index])
            active.discard(offset)
            others.discard(offset)
    return EmptyTables(used, len(active), snapshot_l1, len(others))


def _tables_named(l1: L1Table, geometry: Geometry, file_bytes: int) -> set[int]:
    """The offsets of the L2 tables that `l1` names and that begin inside the file."""
    offsets = l1.words & np.uint64(geo.OFFSET_MASK)
    inside = (offsets != 0) & (offsets < np.uint64(file_bytes))
    inside &= offsets & np.uint64(geometry.cluster_bytes - 1) == 0
    return set(np.unique(offsets[inside]).tolist())
