"""The snapshot table as `qemu-img check` reads it: with zeros behind the end of the file.

An open lists the entries that are whole. A check counts every entry that the header announces, and
a cut one may well name an L1 table. Spec: 1.11, 2.2 (S1 to S6)
"""

from __future__ import annotations

from dataclasses import dataclass

from qcowgui.format import fields, limits
from qcowgui.format.snapshots import Snapshot, SnapshotTableParser
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.units import KIB

_READ_BYTES = 64 * KIB


@dataclass(frozen=True, slots=True)
class SnapshotList:
    """What the snapshot table holds.

    Attributes:
        snapshots: The entries; the first ones are those of the report.
        table_bytes: Length of the table, without the padding behind its last entry.
        refused: Whether `qemu-img check` gives up here, before it looks at anything else.
    """

    snapshots: tuple[Snapshot, ...] = ()
    table_bytes: int = 0
    refused: bool = False

    @property
    def incomplete_entries(self) -> int:
        """How many entries lack extra data that version 3 needs. Spec: 2.2 (S6)"""
        least = limits.MIN_V3_SNAPSHOT_EXTRA_BYTES
        return sum(snapshot.extra_data_size < least for snapshot in self.snapshots)


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
        return SnapshotList(report.snapshots, _bytes_of(report.snapshots, offset), refused=True)
    if offset > limits.MAX_OFFSET - limits.MAX_SNAPSHOT_TABLE_BYTES:
        return SnapshotList(refused=True)
    if not count:
        return SnapshotList()
    if len(report.snapshots) == count:
        return _judged(report.snapshots, offset, count)
    if any(finding.code == "snapshot-table-too-large" for finding in report.findings):
        return SnapshotList(report.snapshots, _bytes_of(report.snapshots, offset), refused=True)
    # Some entries are cut off by the end of the file.
    parser = SnapshotTableParser(table_offset=offset, nb_snapshots=count, version=header.version)
    while wanted := parser.wanted_bytes:
        wanted = max(wanted, _READ_BYTES)
        parser.feed(source.read_at(parser.next_offset, wanted).ljust(wanted, b"\0"))
    return _judged(parser.finish().snapshots, offset, count)


def _judged(snapshots: tuple[Snapshot, ...], table_offset: int, count: int) -> SnapshotList:
    too_much_extra = any(
        snapshot.extra_data_size > limits.MAX_SNAPSHOT_EXTRA_BYTES for snapshot in snapshots
    )
    refused = too_much_extra or len(snapshots) < count
    return SnapshotList(snapshots, _bytes_of(snapshots, table_offset), refused)


def _bytes_of(snapshots: tuple[Snapshot, ...], table_offset: int) -> int:
    if not snapshots:
        return 0
    last = snapshots[-1]
    names_bytes = len(last.id_raw) + len(last.name_raw)
    unpadded = fields.SNAPSHOT_FIELDS[-1].end + last.extra_data_size + names_bytes
    return last.entry_offset + unpadded - table_offset
