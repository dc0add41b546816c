"""What the inspector says of the entries of L1 and L2 tables. Knows no widgets. Spec: 1.7 to 1.9"""

from __future__ import annotations

from typing import Final

import numpy as np
from PySide6.QtCore import QCoreApplication

from qcowgui.check import guestmap
from qcowgui.check.guestmap import GuestState
from qcowgui.format.entries import L1Entry, L2Entry, SubclusterKind
from qcowgui.format.geometry import Geometry
from qcowgui.format.tables import decode_l2
from qcowgui.gui.bit_layout import l1_word, l2_words
from qcowgui.gui.entry_places import data_range
from qcowgui.gui.formatters import Tone
from qcowgui.gui.inspection import Described, Fact, Known, Link, bytes_text
from qcowgui.gui.inspector_links import cluster_link, guest_link, table_owner_links
from qcowgui.gui.selection import Selection
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.translation import count_text, state_description
from qcowgui.image.inspect import ImageReport
from qcowgui.units import format_offset, format_size

translate = QCoreApplication.translate

_MAPPING: Final = "Cluster mapping"
_EXTENDED: Final = "Extended L2 Entries"
"""Sections of QEMU's description of the format: names, which no translation changes."""


def word_of(selection: Selection, known: Known) -> int | None:
    """The 64-bit word of an entry; None while it is not here."""
    place = known.locator.table_place(selection.table)
    return known.locator.entry_word(place, selection.row)


# -------------------------------------------------------------------------------- L1


def describe_l1(
    title: str, selection: Selection, known: Known, geometry: Geometry
) -> Described | None:
    """What an L1 entry says; None while it is not here."""
    word = word_of(selection, known)
    if word is None:
        return None
    entry, report = L1Entry(word), known.locator.report
    named_by = table_owner_links(selection, known.locator)
    if not entry.l2_table_offset:
        text = translate("inspector", "It names no L2 table: {reading}").format(
            reading=_unallocated_text(report)
        )
        return Described(title, text, (l1_word(word),), named_by=named_by, spec=_MAPPING)
    mapped_bytes = geometry.l1_coverage_bytes
    if selection.guest is not None:
        mapped_bytes = selection.guest[1] - selection.guest[0]
    text = translate(
        "inspector", "It leads to the L2 table at {offset}, which says where {size} are stored."
    ).format(offset=format_offset(entry.l2_table_offset), size=format_size(mapped_bytes))
    if selection.guest is None:
        text += " " + translate("inspector", "That lies behind the end of the disk.")
    text += " " + _copied_text(entry.copied, selection)
    fault = offset_fault(entry.l2_table_offset, geometry, report)
    table = known.locator.at_entry(StructureKey.L2, selection.row, None, selection.snapshot)
    links = (
        Link(translate("inspector", "the L2 table"), table),
        cluster_link(geometry.cluster_index(entry.l2_table_offset), known.locator),
    )
    return Described(
        title,
        " ".join(filter(None, (text, fault))),
        (l1_word(word),),
        (),
        links,
        named_by,
        geometry.cluster_index(entry.l2_table_offset),
        _MAPPING,
        tone=Tone.DANGER if fault else Tone.NORMAL,
    )


def _unallocated_text(report: ImageReport) -> str:
    if report.backing_name_raw:
        return state_description(guestmap.DESCRIPTIONS[GuestState.BACKING]).meaning
    return state_description(guestmap.DESCRIPTIONS[GuestState.UNALLOCATED]).meaning


def _copied_text(copied: bool, selection: Selection) -> str:
    if copied:
        return translate(
            "inspector", "COPIED says that nothing shares it, so a write changes it in place."
        )
    if selection.snapshot is not None:
        return translate("inspector", "COPIED is not set, as in every snapshot.")
    return translate(
        "inspector", "COPIED is not set: it may be shared, so a write makes a copy first."
    )


def offset_fault(offset: int, geometry: Geometry, report: ImageReport) -> str:
    """Why nothing can be at a host offset that an entry names; empty when something can."""
    if not geometry.is_aligned(offset):
        return translate("inspector", "But no cluster starts there: the entry is damaged.")
    if offset >= report.file_bytes:
        return translate("inspector", "But the file ends before that.")
    return ""


# -------------------------------------------------------------------------------- L2


def guest_state_of(
    entry: L2Entry, guest: tuple[int, int] | None, report: ImageReport
) -> GuestState:
    """What an L2 entry says of its guest cluster, whose guest bytes are `guest`."""
    start = guest[0] if guest else 0
    view = decode_l2(
        np.array([entry.word], dtype=np.uint64),
        np.array([entry.bitmap], dtype=np.uint64) if entry.geometry.extended_l2 else None,
        entry.geometry,
        version=report.header.version,
        data_file_guest_offset=start if report.header.has_data_file else None,
    )
    used = entry.geometry.cluster_bytes if guest is None else guest[1] - guest[0]
    states = guestmap.states_of_view(
        view,
        entry.geometry,
        data_bytes=None if report.header.has_data_file else report.file_bytes,
        unused_bytes=entry.geometry.cluster_bytes - used,
    )
    state = GuestState(int(states[0]))
    if state is GuestState.UNALLOCATED and report.backing_name_raw:
        return GuestState.BACKING
    return state


def describe_l2(
    title: str, selection: Selection, known: Known, geometry: Geometry
) -> Described | None:
    """What an L2 entry says; None while it is not here."""
    locator = known.locator
    entry = locator.l2_entry(selection)
    if entry is None:
        return None
    state = guest_state_of(entry, selection.guest, locator.report)
    sentences = [_mapped_text(selection), state_description(guestmap.DESCRIPTIONS[state]).meaning]
    if entry.host_offset and not entry.is_compressed and not locator.report.header.has_data_file:
        sentences.append(_copied_text(entry.copied, selection))
        if not geometry.is_aligned(entry.host_offset):
            sentences.append(offset_fault(entry.host_offset, geometry, locator.report))
    guest_row = (selection.part or 0) * geometry.l2_entries + (selection.row or 0)
    links = []
    host = data_range(entry, locator.report)
    if host is not None:
        links.append(_payload_link(entry, host, guest_row, selection, known))
    if selection.guest is not None:
        links.append(guest_link(guest_row, selection.snapshot, locator))
    return Described(
        title,
        " ".join(sentences),
        l2_words(entry, locator.report.header.version),
        tuple(_l2_facts(entry, state, host)),
        tuple(links),
        table_owner_links(selection, locator),
        None if host is None else geometry.cluster_index(host[0]),
        _EXTENDED if geometry.extended_l2 else _MAPPING,
        tone=Tone.DANGER if state.is_fault else Tone.NORMAL,
    )


def _mapped_text(selection: Selection) -> str:
    if selection.guest is None:
        return translate("inspector", "It maps nothing: the disk ends before.")
    start, end = selection.guest
    text = translate("inspector", "It maps {size} at guest {offset}.")
    return text.format(size=format_size(end - start), offset=format_offset(start))


def _payload_link(
    entry: L2Entry, host: tuple[int, int], guest_row: int, selection: Selection, known: Known
) -> Link:
    if not entry.is_compressed:
        return cluster_link(entry.geometry.cluster_index(host[0]), known.locator)
    place = Selection(
        StructureKey.CLUSTER,
        entry.geometry.cluster_index(host[0]),
        snapshot=selection.snapshot,
        host=host,
        guest=known.locator.guest_cluster(guest_row, selection.snapshot),
    )
    text = translate("inspector", "compressed payload at {offset}")
    return Link(text.format(offset=format_offset(host[0])), place)


def _l2_facts(entry: L2Entry, state: GuestState, host: tuple[int, int] | None) -> list[Fact]:
    tone = Tone.DANGER if state.is_fault else Tone.NORMAL
    facts = [
        Fact(
            translate("inspector", "Says"),
            state_description(guestmap.DESCRIPTIONS[state]).name,
            tone,
        )
    ]
    if entry.is_compressed and host is not None:
        sectors = count_text(entry.compressed.sectors, "sector")
        text = translate("inspector", "{bytes} at most, in {sectors}")
        text = text.format(bytes=bytes_text(host), sectors=sectors)
        facts.append(Fact(translate("inspector", "Payload"), text))
    elif host is not None:
        facts.append(Fact(translate("inspector", "Stored at"), bytes_text(host)))
    if entry.geometry.extended_l2 and not entry.is_compressed:
        facts.append(_subcluster_fact(entry))
    return facts


def _subcluster_fact(entry: L2Entry) -> Fact:
    kinds = entry.subclusters()
    words = {
        SubclusterKind.NORMAL: translate("inspector", "{count} stored"),
        SubclusterKind.ZERO: translate("inspector", "{count} zero"),
        SubclusterKind.UNALLOCATED: translate("inspector", "{count} not allocated"),
        SubclusterKind.INVALID: translate("inspector", "{count} contradictory"),
    }
    parts = [text.format(count=kinds.count(kind)) for kind, text in words.items() if kind in kinds]
    size = format_size(entry.geometry.subcluster_bytes)
    text = translate("inspector", "{kinds}\nof {size} each").format(
        kinds=", ".join(parts), size=size
    )
    tone = Tone.DANGER if SubclusterKind.INVALID in kinds else Tone.NORMAL
    return Fact(translate("inspector", "Subclusters"), text, tone)
