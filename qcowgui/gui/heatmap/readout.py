"""One line about a cluster, for the status bar. Knows no widgets, and never waits for the file."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from qcowgui.check import clustermap, guestmap
from qcowgui.check.clustermap import ClusterState
from qcowgui.check.guestmap import GuestState
from qcowgui.format.geometry import Geometry
from qcowgui.format.refcounts import unpack_refcounts
from qcowgui.gui.heatmap.layers import ColourMode, MapLayer, Order
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import Session
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.translation import state_description
from qcowgui.units import format_offset, format_size

translate = QCoreApplication.translate

SEPARATOR = " · "


def cluster_text(session: Session, layer: MapLayer, cluster: int, *, shared_by: int = 1) -> str:
    """What is known of a cluster without reading more of the file.

    Args:
        session: The image.
        layer: What the map shows.
        cluster: Of the file or of the guest's disk, as the layer's order says.
        shared_by: How many clusters the cell of the map stands for, of which this is the worst.
    """
    host = layer.order is Order.HOST
    parts = _host_parts(session, layer, cluster) if host else _guest_parts(session, layer, cluster)
    key = layer.key(layer.value_of(cluster))
    if layer.mode is not ColourMode.STATE and key is not None:
        parts.append(f"{layer.mode.title}: {key.name}")
    if shared_by > 1:
        parts.append(
            translate("heatmap", "worst of {count} in this cell").format(count=f"{shared_by:,}")
        )
    return SEPARATOR.join(parts)


def _host_parts(session: Session, layer: MapLayer, cluster: int) -> list[str]:
    offset = cluster * layer.cluster_bytes
    parts = [
        translate("heatmap", "host {offset}").format(offset=format_offset(offset)),
        translate("heatmap", "cluster {index}").format(index=f"{cluster:,}"),
    ]
    if cluster < len(session.states):
        parts.append(
            state_description(clustermap.DESCRIPTIONS[ClusterState(session.states[cluster])]).name
        )
    locator = session.locator
    if locator is None:
        return parts
    selection = locator.at_host(offset)
    if selection.structure is StructureKey.CLUSTER and selection.guest is not None:
        parts += _mapping_parts(selection, locator.geometry)
    elif selection.structure.is_entry_table:
        parts.append(_table_text(selection))
    count = _refcount_text(session, cluster)
    return [*parts, count] if count else parts


def _guest_parts(session: Session, layer: MapLayer, cluster: int) -> list[str]:
    offset = cluster * layer.cluster_bytes
    parts = [
        translate("heatmap", "guest {offset}").format(offset=format_offset(offset)),
        format_size(offset),
        translate("heatmap", "guest cluster {index}").format(index=f"{cluster:,}"),
    ]
    if cluster < len(session.guest_states):
        parts.append(
            state_description(guestmap.DESCRIPTIONS[GuestState(session.guest_states[cluster])]).name
        )
    locator = session.locator
    if locator is None:
        return parts
    if locator.geometry is not None:
        parts.append(_entry_text(offset, locator.geometry))
    path = locator.at_guest(offset)
    place = path.steps[-1].selection if path.complete and path.steps else None
    if place is not None and place.structure is StructureKey.CLUSTER and place.host is not None:
        parts.append(
            translate("heatmap", "host {offset}").format(offset=format_offset(place.host[0]))
        )
    return parts


def _mapping_parts(selection: Selection, geometry: Geometry | None) -> list[str]:
    start = selection.guest[0] if selection.guest else 0
    guest = translate("heatmap", "guest {size}").format(size=format_size(start))
    if selection.snapshot is not None:
        guest += translate("heatmap", " of snapshot {index}").format(index=selection.snapshot)
    return [guest] if geometry is None else [guest, _entry_text(start, geometry)]


def _entry_text(guest_offset: int, geometry: Geometry) -> str:
    return f"L1[{geometry.l1_index(guest_offset):,}] L2[{geometry.l2_index(guest_offset):,}]"


def _table_text(selection: Selection) -> str:
    match selection.structure:
        case StructureKey.L2:
            return translate("heatmap", "table of L1[{index}]").format(index=f"{selection.part:,}")
        case StructureKey.REFCOUNT_BLOCK:
            text = translate("heatmap", "block {index}")
            return text.format(index=f"{selection.part:,}")
        case _:
            return translate("heatmap", "entries from {row}").format(row=f"{selection.row or 0:,}")


def _refcount_text(session: Session, cluster: int) -> str:
    check = session.check
    if check is None or cluster >= check.ownership.clusters:
        return ""
    computed = int(check.ownership.computed[cluster])
    stored = stored_refcount(session, cluster)
    if stored is None or stored == computed:
        return translate("heatmap", "refcount {count}").format(count=f"{computed:,}")
    return translate("heatmap", "refcount {stored}, but {computed} references").format(
        stored=f"{stored:,}", computed=f"{computed:,}"
    )


def stored_refcount(session: Session, cluster: int) -> int | None:
    """The refcount as the image stores it; None when it is not known (yet)."""
    check, pages = session.check, session.pages
    stored = None if check is None else check.stored
    if stored is None or pages is None or not stored.usable:
        return None
    entry, index = divmod(cluster, stored.geometry.refcounts_per_block)
    if entry >= len(stored.block_offsets) or not stored.block_offsets[entry]:
        return 0
    if stored.unreadable_entries[entry]:
        return None
    bits = stored.geometry.refcount_bits
    byte, shift = divmod(index * bits, 8)
    width = max(1, bits // 8)
    data = pages.read(int(stored.block_offsets[entry]) + byte, width)
    if not data:
        return None
    counts = unpack_refcounts(data.ljust(width, b"\0"), stored.geometry.refcount_order)
    return int(counts[shift // bits])
