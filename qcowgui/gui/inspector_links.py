"""Ways from what is selected to what it points to and what points to it. Knows no widgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QCoreApplication

from qcowgui.check.owners import Owner, owners_of
from qcowgui.check.roles import Role
from qcowgui.check.snapshot_list import SnapshotList
from qcowgui.engine.work import CancelToken
from qcowgui.gui.inspection import Link
from qcowgui.gui.locator import Locator
from qcowgui.gui.selection import Selection
from qcowgui.gui.structures import StructureKey
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.units import format_offset

translate = QCoreApplication.translate


def unaligned_text() -> str:
    """What to say of a table that lies where no cluster starts."""
    return translate(
        "inspector", "No cluster starts where this table is said to be: what names it is damaged."
    )


def cluster_link(cluster: int, locator: Locator) -> Link:
    """The way to a host cluster."""
    selection = locator.at_entry(StructureKey.CLUSTER, None, cluster)
    text = translate("inspector", "cluster {index} at {offset}")
    offset = selection.host[0] if selection.host else 0
    return Link(text.format(index=f"{cluster:,}", offset=format_offset(offset)), selection)


def guest_link(guest_row: int, snapshot: int | None, locator: Locator) -> Link:
    """The way to a guest cluster."""
    selection = locator.at_entry(StructureKey.GUEST, None, guest_row, snapshot)
    offset = selection.guest[0] if selection.guest else 0
    text = translate("inspector", "guest {offset}").format(offset=format_offset(offset))
    return Link(text, selection)


def block_entry_link(cluster: int, locator: Locator) -> Link | None:
    """The way to the refcount of a host cluster; None when no block counts it."""
    geometry = locator.geometry
    if geometry is None:
        return None
    part, row = divmod(cluster, geometry.refcounts_per_block)
    selection = locator.at_entry(StructureKey.REFCOUNT_BLOCK, part, row)
    if selection.host is None:
        return None
    text = translate("inspector", "its refcount, block {part} [{row}]")
    return Link(text.format(part=f"{part:,}", row=f"{row:,}"), selection)


def table_owner_links(selection: Selection, locator: Locator) -> tuple[Link, ...]:
    """What names the table of entries that `selection` is in."""
    snapshot = selection.snapshot
    match selection.structure:
        case StructureKey.L1 if snapshot is not None:
            return _row_link(StructureKey.SNAPSHOTS, _position(locator, snapshot), locator)
        case StructureKey.L1:
            return _field_link("l1_table_offset", locator)
        case StructureKey.REFCOUNT_TABLE:
            return _field_link("refcount_table_offset", locator)
        case StructureKey.L2:
            entry = locator.at_entry(StructureKey.L1, None, selection.part, snapshot)
            return (Link(_of_snapshot(f"L1[{selection.part:,}]", snapshot), entry),)
        case StructureKey.REFCOUNT_BLOCK:
            entry = locator.at_entry(StructureKey.REFCOUNT_TABLE, None, selection.part)
            text = translate("inspector", "refcount table [{index}]")
            return (Link(text.format(index=f"{selection.part:,}"), entry),)
        case StructureKey.BITMAP_TABLE:
            rows = [
                row
                for row, found in enumerate(locator.report.bitmaps)
                if found.index == selection.part
            ]
            return _row_link(StructureKey.BITMAPS, rows[0] if rows else None, locator)
        case _:
            return ()


def _position(locator: Locator, snapshot: int) -> int | None:
    rows = [row for row, found in enumerate(locator.report.snapshots) if found.index == snapshot]
    return rows[0] if rows else None


def _row_link(key: StructureKey, row: int | None, locator: Locator) -> tuple[Link, ...]:
    """The way to a row of the snapshots or of the bitmaps; nothing when it is not there."""
    structure = locator.structure(key)
    if structure is None or row is None or row >= len(structure.table.rows):
        return ()
    name_column = 1 if key is StructureKey.SNAPSHOTS else 0
    name = structure.table.rows[row].cells[name_column]
    if key is StructureKey.SNAPSHOTS:
        text = translate("inspector", "snapshot “{name}”").format(name=name)
    else:
        text = translate("inspector", "bitmap “{name}”").format(name=name)
    return (Link(text, locator.at_entry(key, None, row)),)


def _field_link(name: str, locator: Locator) -> tuple[Link, ...]:
    structure = locator.structure(StructureKey.HEADER)
    rows = structure.table.rows if structure else ()
    for index, row in enumerate(rows):
        if row.cells[0] == name:
            text = translate("inspector", "header field {name}").format(name=name)
            return (Link(text, locator.at_entry(StructureKey.HEADER, None, index)),)
    return ()


def _of_snapshot(text: str, snapshot: int | None) -> str:
    if snapshot is None:
        return text
    return translate("inspector", "{entry} of snapshot {index}").format(entry=text, index=snapshot)


# -------------------------------------------------------------------------------- owners


@dataclass(frozen=True, slots=True)
class OwnersWork:
    """Looks for who refers to some clusters: one pass over the tables, beside the window.

    Attributes:
        source: The image.
        report: What an open says of it.
        clusters: Indices of host clusters.
        snapshots: The snapshot table, when a check has loaded it.
    """

    source: ByteSource
    report: ImageReport
    clusters: tuple[int, ...]
    snapshots: SnapshotList | None = None

    def __call__(self, token: CancelToken) -> dict[int, list[Owner]]:
        """The owners of each cluster.

        Raises:
            SourceError: When the operating system refuses a read.
            Cancelled: When the token asks for it.
        """
        return owners_of(
            self.source, self.report, self.clusters, token=token, snapshots=self.snapshots
        )


_L1_ENTRY_ROLES: Final = frozenset({Role.ACTIVE_L2, Role.SNAPSHOT_L2})
_WHOLE: Final = {
    Role.HEADER: StructureKey.HEADER,
    Role.BITMAP_DIRECTORY: StructureKey.BITMAPS,
    Role.ENCRYPTION_HEADER: StructureKey.ENCRYPTION,
}
"""What has no single entry that names it."""


def owner_links(owners: Sequence[Owner], locator: Locator) -> tuple[Link, ...]:
    """The way to the entry or field of each owner that names the cluster."""
    return tuple(Link(str(owner), _owner_place(owner, locator)) for owner in owners)


def _owner_place(owner: Owner, locator: Locator) -> Selection | None:
    snapshot = None if owner.mapping is None else owner.mapping.snapshot
    if owner.l2_index is not None:
        return locator.at_entry(StructureKey.L2, owner.l1_index, owner.l2_index, snapshot)
    if owner.role in _L1_ENTRY_ROLES:
        return locator.at_entry(StructureKey.L1, None, owner.l1_index, snapshot)
    if owner.role is Role.REFCOUNT_BLOCK:
        return locator.at_entry(StructureKey.REFCOUNT_TABLE, None, owner.l1_index)
    if owner.host_offset is not None:
        return locator.at_host(owner.host_offset)
    key = _WHOLE.get(owner.role)
    if key is None or locator.structure(key) is None:
        return None
    return Selection(key)
