"""The snapshot table as `qemu-img check` reads it: with zeros behind the end of the file.

An open lists the entries that are whole. A check counts every entry that the header announces, and
a cut one may well name an L1 table. Spec: 1.11, 2.2 (S1 to S6)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from qcowgui.format import fields, limits
from qcowgui.format.snapshots import NeedMore, Snapshot, parse_snapshot_entry
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource

_FIXED_BYTES: Final = fields.SNAPSHOT_FIELDS[-1].end
"""The length of an entry without extra data, id and name, as zeros are one."""


@dataclass(frozen=True, slots=True)
class SnapshotList:
    """What the snapshot table holds.

    Attributes:
        snapshots: The entries that begin inside the file; the first ones are those of the report.
        zero_entries: How many more the header announces, behind the end of the file: they read as
            zeros, so that they name no L1 table. A crafted header has 65,536 of them.
        table_bytes: Length of the table, without the padding behind its last entry.
        refused: Whether `qemu-img check` gives up here, before it looks at anything else.
    """

    snapshots: tuple[Snapshot, ...] = ()
    zero_entries: int = 0
    table_bytes: int = 0
    refused: bool = False

    @property
    def entries(self) -> int:
        """How many entries the table has."""
        return len(self.snapshots) + self.zero_entries

    @property
    def incomplete_entries(self) -> int:
        """How many entries lack extra data that version 3 needs. Spec: 2.2 (S6)"""
        least = limits.MIN_V3_SNAPSHOT_EXTRA_BYTES
        stored = sum(snapshot.extra_data_size < least for snapshot in self.snapshots)
        return stored + self.zero_entries


def load_snapshot_list(source: ByteSource, report: ImageReport) -> SnapshotList:
    """The snapshot table of an image; empty where nothing at all can be read of it.

    Raises:
        SourceError: When the operating system refuses a read.
    """
    header, geometry = report.header, report.header.geometry
    if geometry is None:
        return SnapshotList()
    offset, count = header.snapshots_offset, header.nb_snapshots
    if count > limits.MAX_SNAPSHOTS or not geometry.is_aligned(offset):
        return _listed(report.snapshots, offset, refused=True)
    if offset > limits.MAX_OFFSET - limits.MAX_SNAPSHOT_TABLE_BYTES:
        return SnapshotList(refused=True)
    if not count:
        return SnapshotList()
    if any(finding.code == "snapshot-table-too-large" for finding in report.findings):
        return _listed(report.snapshots, offset, refused=True)
    snapshots = list(report.snapshots)
    end_offset = _end_of(snapshots, offset)
    limit_offset = offset + limits.MAX_SNAPSHOT_TABLE_BYTES
    # One entry at most, in which the file ends; all of them where the table is in the header's
    # cluster, since an open does not look at it there.
    while len(snapshots) < count and end_offset < source.size_bytes:
        entry = _load_entry(source, len(snapshots), end_offset, limit_offset)
        if entry is None:
            return _listed(snapshots, offset, refused=True)
        snapshots.append(entry)
        end_offset += entry.entry_bytes
    too_much_extra = any(
        snapshot.extra_data_size > limits.MAX_SNAPSHOT_EXTRA_BYTES for snapshot in snapshots
    )
    zero_entries = count - len(snapshots)
    if not zero_entries:
        return _listed(snapshots, offset, refused=too_much_extra)
    end_offset += zero_entries * _FIXED_BYTES
    refused = too_much_extra or end_offset > limit_offset
    return SnapshotList(tuple(snapshots), zero_entries, end_offset - offset, refused)


def _load_entry(
    source: ByteSource, index: int, entry_offset: int, limit_offset: int
) -> Snapshot | None:
    """The entry at a host offset, zeros behind the file's end; None when it ends behind a limit."""
    entry: Snapshot | NeedMore = NeedMore(_FIXED_BYTES)
    while isinstance(entry, NeedMore):
        wanted = entry.entry_bytes
        if entry_offset + wanted > limit_offset:
            return None
        data = source.read_at(entry_offset, wanted).ljust(wanted, b"\0")
        entry = parse_snapshot_entry(data, 0, index=index, entry_offset=entry_offset)
    return entry


def _listed(snapshots: Sequence[Snapshot], table_offset: int, *, refused: bool) -> SnapshotList:
    """A table of which nothing lies behind the end of the file, or is of interest there."""
    if not snapshots:
        return SnapshotList(refused=refused)
    last = snapshots[-1]
    names_bytes = len(last.id_raw) + len(last.name_raw)
    unpadded_bytes = _FIXED_BYTES + last.extra_data_size + names_bytes
    table_bytes = last.entry_offset + unpadded_bytes - table_offset
    return SnapshotList(tuple(snapshots), 0, table_bytes, refused)


def _end_of(snapshots: Sequence[Snapshot], table_offset: int) -> int:
    """Host offset of the entry behind the last one."""
    return snapshots[-1].entry_offset + snapshots[-1].entry_bytes if snapshots else table_offset
