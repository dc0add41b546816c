"""What the inspector says of bytes that are in no table: host clusters, payloads, guest clusters.

Knows no widgets. Spec: 1.7 to 1.10
"""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QCoreApplication

from qcowgui.check import clustermap, guestmap
from qcowgui.check.clustermap import ClusterState
from qcowgui.format.geometry import Geometry
from qcowgui.gui.formatters import Tone
from qcowgui.gui.guest_path import GuestPath
from qcowgui.gui.inspection import Described, Known, Link, cluster_state
from qcowgui.gui.inspector_links import block_entry_link, guest_link
from qcowgui.gui.inspector_mapping import guest_state_of
from qcowgui.gui.places import range_text
from qcowgui.gui.selection import Selection
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.translation import count_text, state_description

translate = QCoreApplication.translate

_TABLE_STATES: Final = frozenset(
    {
        ClusterState.HEADER,
        ClusterState.ACTIVE_L1,
        ClusterState.ACTIVE_L2,
        ClusterState.SNAPSHOT_L1,
        ClusterState.SNAPSHOT_L2,
        ClusterState.SNAPSHOT_TABLE,
        ClusterState.REFCOUNT_TABLE,
        ClusterState.REFCOUNT_BLOCK,
        ClusterState.BITMAP_METADATA,
        ClusterState.ENCRYPTION_HEADER,
        ClusterState.CONTESTED,
    }
)
"""What a cluster is whose first byte belongs to a structure that can be selected."""


def describe_cluster(selection: Selection, known: Known) -> Described:
    """A host cluster, or a payload in it."""
    geometry = known.locator.geometry
    if selection.row is None or geometry is None:
        title = translate("inspector", "Bytes of the file")
        text = translate("inspector", "Without a usable header nobody can tell what they are.")
        return Described(title, text, tone=Tone.MUTED)
    cluster = selection.row
    payload = _is_payload(selection, geometry)
    if payload and selection.host is not None:
        title = translate("inspector", "Compressed payload at {place}")
        title = title.format(place=range_text(selection.host))
    else:
        title = translate("inspector", "Cluster {index}").format(index=f"{cluster:,}")
    leads_to, named_by = _cluster_links(selection, known, geometry)
    return Described(
        title,
        _cluster_text(selection, known, geometry, payload=payload),
        leads_to=leads_to,
        named_by=named_by,
        cluster=cluster,
        spec="Host cluster management",
    )


def _is_payload(selection: Selection, geometry: Geometry) -> bool:
    host = selection.host
    if host is None or selection.row is None:
        return False
    start = selection.row * geometry.cluster_bytes
    return host != (start, start + geometry.cluster_bytes) and selection.guest is not None


def _cluster_text(selection: Selection, known: Known, geometry: Geometry, *, payload: bool) -> str:
    cluster = selection.row or 0
    sentences = []
    if payload:
        sentences.append(
            translate("inspector", "Holds one guest cluster, compressed; it may end sooner.")
        )
        if selection.host is not None:
            last = geometry.cluster_index(selection.host[1] - 1)
            touched = last - geometry.cluster_index(selection.host[0]) + 1
            if touched > 1:
                text = translate("inspector", "It touches {clusters}.")
                sentences.append(text.format(clusters=count_text(touched, "cluster")))
        return " ".join(sentences)
    state = cluster_state(cluster, known)
    start = cluster * geometry.cluster_bytes
    if start >= known.locator.report.file_bytes:
        sentences.append(translate("inspector", "The file ends before it."))
    if state is not None:
        sentences.append(state_description(clustermap.DESCRIPTIONS[state]).meaning)
    elif not sentences:
        sentences.append(translate("inspector", "What it is used for tells a check."))
    if start < known.locator.report.file_bytes < start + geometry.cluster_bytes:
        sentences.append(translate("inspector", "The file ends inside it."))
    return " ".join(sentences)


def _cluster_links(
    selection: Selection, known: Known, geometry: Geometry
) -> tuple[tuple[Link, ...], tuple[Link, ...]]:
    """(what it leads to, what names it) of a cluster; its owners are looked for elsewhere."""
    locator = known.locator
    cluster = selection.row or 0
    leads_to = []
    state = cluster_state(cluster, known)
    if state in _TABLE_STATES:
        inside = locator.at_host(cluster * geometry.cluster_bytes)
        if inside.structure is not StructureKey.CLUSTER:
            leads_to.append(Link(translate("inspector", "its first entry or field"), inside))
    if selection.guest is not None:
        row = geometry.cluster_index(selection.guest[0])
        leads_to.append(guest_link(row, selection.snapshot, locator))
    count = block_entry_link(cluster, locator)
    if count is not None:
        leads_to.append(count)
    entry = locator.entry_of(selection)
    if entry is None or entry.structure is StructureKey.CLUSTER:
        return tuple(leads_to), ()
    if entry.structure is StructureKey.L2:
        text = f"L1[{entry.part:,}]/L2[{entry.row:,}]"
    else:
        text = translate("inspector", "bitmap table [{index}]").format(index=f"{entry.row:,}")
    return tuple(leads_to), (Link(text, entry),)


def describe_guest(selection: Selection, known: Known) -> Described:
    """A guest cluster: the way to its bytes, step by step."""
    locator, geometry = known.locator, known.locator.geometry
    row = "?" if selection.row is None else f"{selection.row:,}"
    title = translate("inspector", "Guest cluster {index}").format(index=row)
    if selection.snapshot is not None:
        title = translate("inspector", "{place} of snapshot {index}").format(
            place=title, index=selection.snapshot
        )
    if geometry is None or selection.guest is None:
        text = translate("inspector", "It lies behind the end of the disk.")
        return Described(title, text, tone=Tone.MUTED)
    path = locator.at_guest(selection.guest[0], selection.snapshot)
    last = path.steps[-1].selection if path.steps else None
    cluster = last.row if last and last.structure is StructureKey.CLUSTER else None
    text, tone = _guest_text(path, known)
    return Described(
        title,
        text,
        leads_to=tuple(Link(step.text, step.selection) for step in path.steps),
        cluster=cluster,
        spec="Cluster mapping",
        complete=path.complete,
        tone=tone,
    )


def _guest_text(path: GuestPath, known: Known) -> tuple[str, Tone]:
    """What the entry that maps it says, and what the way comes to."""
    sentences, tone = [], Tone.NORMAL
    for step in path.steps:
        entry = known.locator.l2_entry(step.selection)
        if step.selection.structure is StructureKey.L2 and entry is not None:
            state = guest_state_of(entry, step.selection.guest, known.locator.report)
            sentences.append(state_description(guestmap.DESCRIPTIONS[state]).meaning)
            tone = Tone.DANGER if state.is_fault else Tone.NORMAL
            break
    if path.conclusion and (not path.steps or path.conclusion != path.steps[-1].text):
        sentences.append(path.conclusion)
    return " ".join(sentences), tone
