"""Broken snapshot tables: entries that are no snapshots dropped, extra data made what it must be.

A snapshot whose entry and L1 table are whole is never dropped. A table that needs other bytes is
written anew in free clusters; the header is switched to it. Spec: 1.11, 2.2 (S1 to S6)
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

from qcowgui.format import limits
from qcowgui.format.geometry import ENTRY_BYTES
from qcowgui.format.snapshots import Snapshot
from qcowgui.image.inspect import ImageReport
from qcowgui.image.patched import Edit
from qcowgui.image.source import ByteSource
from qcowgui.repair.feature_fixes import header_field_edit
from qcowgui.repair.free_space import FreeSpace
from qcowgui.units import align_up, format_count

_COUNT_OFFSET: Final = 60
"""nb_snapshots (4 bytes), then snapshots_offset (8)."""
_FIXED: Final = struct.Struct(">QIHHIIQII")
_ENTRY_ALIGNMENT: Final = 8


@dataclass(frozen=True, slots=True)
class SnapshotEdits:
    """What makes the snapshot table right.

    Attributes:
        edits: The edits; none when the table can't be repaired, or needs no repair.
        dropped: Entries that the header announces and that are no snapshots.
        rewritten: Entries whose extra data changes.
    """

    edits: tuple[Edit, ...] = ()
    dropped: int = 0
    rewritten: int = 0


def needs_snapshot_fixes(report: ImageReport) -> bool:
    """Whether something is wrong with the snapshot table that can be put right."""
    codes = {finding.code for finding in report.findings}
    # A table of which not even the beginning is in the file may well be elsewhere in it.
    if codes & _HOPELESS or report.header.snapshots_offset >= report.file_bytes:
        return False
    if codes & {"snapshot-count", "snapshot-table-truncated"}:
        return True
    if all(_is_blank(snapshot) for snapshot in report.snapshots):
        return False
    return _is_blank(report.snapshots[-1]) or any(
        _odd_extra(snapshot, report.header.version) for snapshot in report.snapshots
    )


_HOPELESS: Final = frozenset(
    {"snapshot-table-offset", "snapshot-table-too-large", "snapshots-with-data-file"}
)
"""Where the table is, or where it ends, can't be told."""


def plan_snapshot_edits(source: ByteSource, report: ImageReport, space: FreeSpace) -> SnapshotEdits:
    """The edits of the snapshot table.

    Args:
        source: The image.
        report: What an open says of it.
        space: Gives clusters to a new table.

    Raises:
        NoSpaceError: When there is no place for a new table.
        SourceError: When the operating system refuses a read.
    """
    header = report.header
    kept = _kept(report)
    dropped = header.nb_snapshots - len(kept)
    odd = sum(_odd_extra(snapshot, header.version) for snapshot in kept)
    if not odd:
        return SnapshotEdits(tuple(_count_edits(source, report, len(kept), dropped)), dropped)
    table = b"".join(_entry_bytes(source, snapshot, report) for snapshot in kept)
    clusters = -(-len(table) >> header.cluster_bits)
    offset = space.take(clusters) << header.cluster_bits
    whole = table.ljust(clusters << header.cluster_bits, b"\0")
    fields = len(kept).to_bytes(4, "big") + offset.to_bytes(8, "big")
    why = f"The extra data of {format_count(odd, 'snapshot')} gets the size that it must have"
    if dropped:
        why += f", and {format_count(dropped, 'broken entry', 'broken entries')} are dropped"
    return SnapshotEdits(
        (
            Edit(
                offset,
                source.read_at(offset, len(whole)),
                whole,
                f"A new snapshot table: {why[0].lower()}{why[1:]}.",
                "snapshot-extra-data",
            ),
            Edit(
                _COUNT_OFFSET,
                source.read_at(_COUNT_OFFSET, len(fields)),
                fields,
                "The header names the new snapshot table.",
                "snapshot-extra-data",
            ),
        ),
        dropped,
        odd,
    )


def _kept(report: ImageReport) -> tuple[Snapshot, ...]:
    """The entries that stay: all whole ones; of a senseless count, up to the last that makes sense.

    Behind the last snapshot the parser of a table with too large a count finds anything.
    """
    snapshots = report.snapshots
    if all(finding.code != "snapshot-count" for finding in report.findings):
        # A count that is too large makes entries of the zeros that fill the table's cluster.
        last = max(
            (snapshot.index for snapshot in snapshots if not _is_blank(snapshot)), default=-1
        )
        return snapshots[: last + 1]
    sound = [snapshot.index for snapshot in snapshots if _is_plausible(snapshot, report)]
    return snapshots[: sound[-1] + 1] if sound else ()


def _is_plausible(snapshot: Snapshot, report: ImageReport) -> bool:
    geometry = report.header.geometry
    l1_end = snapshot.l1_table_offset + snapshot.l1_size * ENTRY_BYTES
    return (
        geometry is not None
        and bool(snapshot.id_raw)
        and snapshot.l1_table_offset > 0
        and geometry.is_aligned(snapshot.l1_table_offset)
        and l1_end <= report.file_bytes
        and snapshot.extra_data_size <= limits.MAX_SNAPSHOT_EXTRA_BYTES
    )


def _is_blank(snapshot: Snapshot) -> bool:
    """Whether the entry is made of zeros: it has no id, and names no table."""
    return not (
        snapshot.id_raw
        or snapshot.name_raw
        or snapshot.l1_table_offset
        or snapshot.l1_size
        or snapshot.extra_data_size
        or snapshot.vm_state_bytes
    )


def _odd_extra(snapshot: Snapshot, version: int) -> bool:
    if snapshot.extra_data_size > limits.MAX_SNAPSHOT_EXTRA_BYTES:
        return True
    return version >= 3 and snapshot.extra_data_size < limits.MIN_V3_SNAPSHOT_EXTRA_BYTES


def _count_edits(source: ByteSource, report: ImageReport, kept: int, dropped: int) -> list[Edit]:
    """Only the header changes: the entries that stay are the table's first ones."""
    if not dropped:
        return []
    code = "snapshot-table-truncated"
    if report.header.nb_snapshots > limits.MAX_SNAPSHOTS:
        code = "snapshot-count"
    entries = format_count(dropped, "entry is", "entries are")
    why = f"The snapshot table has {format_count(kept, 'snapshot')}; {entries} broken."
    edits = [header_field_edit(source, "nb_snapshots", kept, why, code)]
    if not kept:
        why = "Without a snapshot there is no snapshot table."
        edits.append(header_field_edit(source, "snapshots_offset", 0, why, code))
    return edits


def _entry_bytes(source: ByteSource, snapshot: Snapshot, report: ImageReport) -> bytes:
    """The entry as it is, but for its extra data."""
    extra = snapshot.extra_data
    if report.header.version >= 3 and len(extra) < limits.MIN_V3_SNAPSHOT_EXTRA_BYTES:
        # What a reader takes for the values that are missing.
        disk_bytes = snapshot.disk_bytes
        disk_bytes = report.header.size if disk_bytes is None else disk_bytes
        extra = struct.pack(">QQ", snapshot.vm_state_bytes, disk_bytes)
    fields = list(_FIXED.unpack(source.read_at(snapshot.entry_offset, _FIXED.size)))
    fields[-1] = len(extra)
    entry = _FIXED.pack(*fields) + extra + snapshot.id_raw + snapshot.name_raw
    return entry.ljust(align_up(len(entry), _ENTRY_ALIGNMENT), b"\0")
