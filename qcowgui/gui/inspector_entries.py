"""What the inspector says of single entries: of any table, and in full of refcounts and bitmaps.

Knows no widgets. Spec: 1.10, 1.12
"""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QCoreApplication

from qcowgui.check import clustermap
from qcowgui.format.bitmaps import BitmapClusterKind, decode_bitmap_table
from qcowgui.format.geometry import ENTRY_BYTES, REFCOUNT_OFFSET_MASK, Geometry
from qcowgui.gui.bit_layout import bitmap_table_word, refcount_table_word, refcount_word
from qcowgui.gui.formatters import Tone
from qcowgui.gui.inspection import (
    Described,
    Fact,
    Known,
    Link,
    bytes_text,
    cluster_state,
    stored_refcount,
)
from qcowgui.gui.inspector_links import cluster_link, table_owner_links, unaligned_text
from qcowgui.gui.inspector_mapping import describe_l1, describe_l2, offset_fault, word_of
from qcowgui.gui.selection import Selection
from qcowgui.gui.structures import StructureKey, entry_table_title
from qcowgui.gui.translation import count_text, state_description
from qcowgui.units import format_offset

translate = QCoreApplication.translate

_MANAGEMENT: Final = "Host cluster management"
_BITMAPS: Final = "Bitmaps"
"""Sections of QEMU's description of the format: names, which no translation changes."""


def describe_entry(selection: Selection, known: Known) -> Described:
    """What an entry of a table of entries says; `selection.row` is not None."""
    title = f"{entry_table_title(selection, known.locator.report)} [{selection.row:,}]"
    geometry = known.locator.geometry
    named_by = table_owner_links(selection, known.locator)
    place = known.locator.table_place(selection.table)
    if geometry is None or place is None or not 0 <= (selection.row or 0) < place.entries:
        text = translate("inspector", "There is no such entry, or its table is not known yet.")
        return Described(title, text, named_by=named_by, complete=False, tone=Tone.MUTED)
    if not geometry.is_aligned(place.host_offset):
        return Described(title, unaligned_text(), named_by=named_by, tone=Tone.DANGER)
    if known.locator.lies_beyond(selection):
        text = translate("inspector", "The file ends before this entry.")
        return Described(title, text, named_by=named_by, tone=Tone.DANGER)
    found = _ENTRIES[selection.structure](title, selection, known, geometry)
    if found is None:
        text = translate("inspector", "It is being read…")
        return Described(title, text, named_by=named_by, complete=False)
    return found


# -------------------------------------------------------------------------------- refcounts


def _describe_refcount_table(
    title: str, selection: Selection, known: Known, geometry: Geometry
) -> Described | None:
    word = word_of(selection, known)
    if word is None:
        return None
    row = selection.row or 0
    first = row * geometry.refcounts_per_block
    last = first + geometry.refcounts_per_block - 1
    clusters = Fact(translate("inspector", "Counts"), f"{first:,} – {last:,}")
    named_by = table_owner_links(selection, known.locator)
    offset = word & REFCOUNT_OFFSET_MASK
    if not offset:
        text = translate("inspector", "It names no refcount block: all its clusters count as free.")
        words = (refcount_table_word(word),)
        return Described(title, text, words, (clusters,), (), named_by, spec=_MANAGEMENT)
    text = translate(
        "inspector",
        "It leads to the refcount block at {offset}, which counts how often {clusters} are used.",
    ).format(
        offset=format_offset(offset),
        clusters=count_text(geometry.refcounts_per_block, "cluster"),
    )
    fault = offset_fault(offset, geometry, known.locator.report)
    block = known.locator.at_entry(StructureKey.REFCOUNT_BLOCK, row)
    cluster = geometry.cluster_index(offset)
    return Described(
        title,
        " ".join(filter(None, (text, fault))),
        (refcount_table_word(word),),
        (clusters,),
        (
            Link(translate("inspector", "the refcount block"), block),
            cluster_link(cluster, known.locator),
        ),
        named_by,
        cluster,
        _MANAGEMENT,
        tone=Tone.DANGER if fault else Tone.NORMAL,
    )


def _describe_refcount(
    title: str, selection: Selection, known: Known, geometry: Geometry
) -> Described | None:
    cluster = (selection.part or 0) * geometry.refcounts_per_block + (selection.row or 0)
    count = stored_refcount(cluster, known)
    if count is None:
        return None
    if count:
        times = count_text(count, "time")
        text = translate("inspector", "It counts cluster {cluster} as used {times}.")
        text = text.format(cluster=f"{cluster:,}", times=times)
    else:
        text = translate("inspector", "It counts cluster {cluster} as free.")
        text = text.format(cluster=f"{cluster:,}")
    state = cluster_state(cluster, known)
    if state is not None:
        text += " " + state_description(clustermap.DESCRIPTIONS[state]).meaning
    elif cluster * geometry.cluster_bytes >= known.locator.report.file_bytes:
        text += " " + translate("inspector", "The file ends before that cluster.")
    return Described(
        title,
        text,
        (refcount_word(count, geometry.refcount_bits),),
        (),
        (cluster_link(cluster, known.locator),),
        table_owner_links(selection, known.locator),
        cluster,
        _MANAGEMENT,
    )


# -------------------------------------------------------------------------------- bitmaps


def _describe_bitmap_entry(
    title: str, selection: Selection, known: Known, geometry: Geometry
) -> Described | None:
    word = word_of(selection, known)
    if word is None:
        return None
    table = decode_bitmap_table(
        word.to_bytes(ENTRY_BYTES, "big"), cluster_bits=geometry.cluster_bits
    )
    kind, offset = BitmapClusterKind(int(table.kind[0])), int(table.cluster_offset[0])
    texts = {
        BitmapClusterKind.ZEROS: translate("inspector", "No bit is set, and no cluster needed."),
        BitmapClusterKind.ONES: translate("inspector", "Every bit is set, and no cluster needed."),
        BitmapClusterKind.ALLOCATED: translate("inspector", "The bits lie in the cluster at {at}."),
        BitmapClusterKind.INVALID: translate("inspector", "It contradicts the format."),
    }
    text = texts[kind].format(at=format_offset(offset))
    fault = offset_fault(offset, geometry, known.locator.report) if offset else ""
    wrong = bool(fault) or kind is BitmapClusterKind.INVALID
    cluster = geometry.cluster_index(offset) if offset else None
    return Described(
        title,
        " ".join(filter(None, (text, fault))),
        (bitmap_table_word(word),),
        tuple(_bitmap_facts(selection, known, geometry)),
        () if cluster is None else (cluster_link(cluster, known.locator),),
        table_owner_links(selection, known.locator),
        cluster,
        _BITMAPS,
        tone=Tone.DANGER if wrong else Tone.NORMAL,
    )


def _bitmap_facts(selection: Selection, known: Known, geometry: Geometry) -> list[Fact]:
    """The guest bytes that the bits of an entry are about."""
    report = known.locator.report
    bits = [found.granularity_bits for found in report.bitmaps if found.index == selection.part]
    if not bits or bits[0] >= 64:
        return []
    covered = geometry.cluster_bytes * 8 << bits[0]
    start = (selection.row or 0) * covered
    end = min(start + covered, report.virtual_bytes)
    if start >= end:
        text = translate("inspector", "nothing: behind the end of the disk")
        return [Fact(translate("inspector", "About"), text)]
    return [Fact(translate("inspector", "About"), bytes_text((start, end)))]


_ENTRIES: Final = {
    StructureKey.L1: describe_l1,
    StructureKey.L2: describe_l2,
    StructureKey.REFCOUNT_TABLE: _describe_refcount_table,
    StructureKey.REFCOUNT_BLOCK: _describe_refcount,
    StructureKey.BITMAP_TABLE: _describe_bitmap_entry,
}
