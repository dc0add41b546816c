"""What the inspector says of whole tables, and of the fields of the metadata. Knows no widgets.

Spec: 1.2 to 1.4, 1.7, 1.10 to 1.13
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from PySide6.QtCore import QCoreApplication

from qcowgui.format import describe
from qcowgui.format.geometry import Geometry
from qcowgui.gui.bit_layout import BitWord, bitmap_flags_word, feature_word
from qcowgui.gui.entry_places import TablePlace
from qcowgui.gui.formatters import NOTHING, Row, Tone, field_columns
from qcowgui.gui.inspection import Described, Fact, Known, Link
from qcowgui.gui.inspector_links import table_owner_links, unaligned_text
from qcowgui.gui.selection import Selection
from qcowgui.gui.structures import Structure, StructureKey, entry_table_title
from qcowgui.gui.translation import count_text
from qcowgui.image.inspect import ImageReport
from qcowgui.units import format_size

translate = QCoreApplication.translate

_K: Final = StructureKey

_SECTIONS: Final = {
    _K.HEADER: "Header",
    _K.FEATURES: "Header",
    _K.EXTENSIONS: "Header extensions",
    _K.SNAPSHOTS: "Snapshots",
    _K.BITMAPS: "Bitmaps",
    _K.ENCRYPTION: "Data encryption",
    _K.BACKING_CHAIN: "Header",
    _K.DATA_FILE: "String header extensions",
    _K.L1: "Cluster mapping",
    _K.L2: "Cluster mapping",
    _K.REFCOUNT_TABLE: "Host cluster management",
    _K.REFCOUNT_BLOCK: "Host cluster management",
    _K.BITMAP_TABLE: "Bitmaps",
}
"""Sections of QEMU's description of the format: names, which no translation changes."""


def describe_table(selection: Selection, known: Known) -> Described:
    """A structure as a whole."""
    key, locator = selection.structure, known.locator
    if key.is_entry_table:
        return _describe_entry_table(selection, known)
    structure = locator.structure(key)
    title = structure.title if structure else key.value
    rows = structure.table.rows if structure else ()
    count = Fact(translate("inspector", "Rows"), f"{len(rows):,}")
    return Described(title, _structure_text(key), facts=(count,), spec=_SECTIONS[key])


def _structure_text(key: StructureKey) -> str:
    texts = {
        _K.HEADER: translate(
            "inspector",
            "The first bytes of the file: sizes, features, and where everything else lies.",
        ),
        _K.FEATURES: translate(
            "inspector", "What a program must know, may ignore, or must clear before it writes."
        ),
        _K.EXTENSIONS: translate(
            "inspector", "Parts that follow the header: names, and where optional structures lie."
        ),
        _K.SNAPSHOTS: translate(
            "inspector", "Internal snapshots: each has an L1 table of its own and shares data."
        ),
        _K.BITMAPS: translate(
            "inspector", "Persistent bitmaps: which parts of the disk changed since a backup."
        ),
        _K.ENCRYPTION: translate("inspector", "How the guest’s data is encrypted."),
        _K.BACKING_CHAIN: translate(
            "inspector", "The file that is read where this image has nothing of its own."
        ),
        _K.DATA_FILE: translate(
            "inspector", "The file that holds the guest’s data; this one only maps it."
        ),
    }
    return texts[key]


# -------------------------------------------------------------------------------- entry tables


def _describe_entry_table(selection: Selection, known: Known) -> Described:
    locator, geometry = known.locator, known.locator.geometry
    title = entry_table_title(selection, locator.report)
    place = locator.table_place(selection)
    named_by = table_owner_links(selection, locator)
    section = _SECTIONS[selection.structure]
    if geometry is None or place is None:
        text = translate("inspector", "Nothing names such a table, or that is being read.")
        return Described(
            title, text, named_by=named_by, spec=section, complete=False, tone=Tone.MUTED
        )
    text, tone = _entry_table_text(selection, geometry), Tone.NORMAL
    if place.end_offset > locator.report.file_bytes:
        text += " " + translate("inspector", "But the file ends before its end.")
        tone = Tone.DANGER
    if not geometry.is_aligned(place.host_offset):
        text, tone = f"{text} {unaligned_text()}", Tone.DANGER
    entries = Fact(translate("inspector", "Entries"), _entries_text(place))
    first = locator.at_entry(selection.structure, selection.part, 0, selection.snapshot)
    links = (Link(translate("inspector", "its first entry"), first),) if place.entries else ()
    cluster = geometry.cluster_index(place.host_offset)
    return Described(title, text, (), (entries,), links, named_by, cluster, section, tone=tone)


def _entries_text(place: TablePlace) -> str:
    text = translate("inspector", "{count} of {bits}")
    bits = count_text(place.entry_bits, "bit")
    return text.format(count=f"{place.entries:,}", bits=bits)


def _entry_table_text(selection: Selection, geometry: Geometry) -> str:
    cluster = format_size(geometry.cluster_bytes)
    match selection.structure:
        case StructureKey.L1:
            text = translate(
                "inspector", "Each entry names the L2 table of {size} of the guest’s disk."
            )
            return text.format(size=format_size(geometry.l1_coverage_bytes))
        case StructureKey.L2:
            text = translate("inspector", "Each entry says where {size} of the guest are stored.")
            return text.format(size=cluster)
        case StructureKey.REFCOUNT_TABLE:
            text = translate(
                "inspector", "Each entry names a block with the refcounts of {clusters}."
            )
            return text.format(clusters=count_text(geometry.refcounts_per_block, "cluster"))
        case StructureKey.REFCOUNT_BLOCK:
            first = (selection.part or 0) * geometry.refcounts_per_block
            last = first + geometry.refcounts_per_block - 1
            text = translate(
                "inspector", "It counts how often each of the clusters {first} to {last} is used."
            )
            return text.format(first=f"{first:,}", last=f"{last:,}")
        case _:
            text = translate("inspector", "Each entry names {size} of the bitmap’s bits.")
            return text.format(size=cluster)


# -------------------------------------------------------------------------------- fields


def describe_field(selection: Selection, known: Known) -> Described:
    """A row of a table in memory: a field of the metadata, a snapshot, a bitmap, a file."""
    key = selection.structure
    structure = known.locator.structure(key)
    row_index = selection.row or 0
    if structure is None or not 0 <= row_index < len(structure.table.rows):
        return describe_table(selection.table, known)
    row = structure.table.rows[row_index]
    report = known.locator.report
    text, facts = _row_words(structure, row, placed=selection.host is not None)
    return Described(
        f"{structure.title} · {row.cells[_name_column(key)].strip()}",
        text,
        tuple(_iter_words(key, row_index, row, report)),
        facts,
        tuple(_iter_links(key, row_index, row, known)),
        spec=_SECTIONS[key],
        tone=row.tone if row.tone in (Tone.WARNING, Tone.DANGER) else Tone.NORMAL,
    )


def _name_column(key: StructureKey) -> int:
    return 1 if key is StructureKey.SNAPSHOTS else 0


def _row_words(structure: Structure, row: Row, *, placed: bool) -> tuple[str, tuple[Fact, ...]]:
    """(its meaning as a sentence, its other cells) of a row; the meaning is a quiet column.

    Where the place in the file is known, the column with the offset says nothing new.
    """
    offset_title = field_columns()[1].title if placed else ""
    sentences, facts = [], []
    for column, cell in zip(structure.table.columns, row.cells, strict=True):
        if not cell or cell == NOTHING:
            continue
        if column.quiet:
            sentences.append(f"{cell[:1].upper()}{cell[1:]}.")
        elif column.title != offset_title:
            facts.append(Fact(column.title, cell.strip()))
    if row.detail:
        sentences.append(f"{row.detail[:1].upper()}{row.detail[1:].rstrip('.')}.")
    if not sentences:
        sentences.append(_structure_text(structure.key))
    # The first cell is the title.
    return " ".join(sentences), tuple(facts[_skipped(structure) :])


def _skipped(structure: Structure) -> int:
    return 0 if structure.key is StructureKey.SNAPSHOTS else 1


def _iter_words(
    key: StructureKey, row_index: int, row: Row, report: ImageReport
) -> Iterator[BitWord]:
    """The word of flags that a row is about."""
    if key is StructureKey.HEADER:
        name = row.cells[0]
        for found in report.header.field_values():
            is_it = found.field.name == name and name in describe.FEATURE_FIELDS
            if is_it and found.value is not None:
                yield feature_word(name, found.value, report.features)
    elif key is StructureKey.FEATURES and row_index < len(report.features):
        feature = report.features[row_index]
        for found in report.header.field_values():
            wanted = describe.FEATURE_FIELDS.get(found.field.name)
            if wanted is feature.feature_class and found.value is not None:
                yield feature_word(found.field.name, found.value, report.features, feature.bit)
    elif key is StructureKey.BITMAPS and row_index < len(report.bitmaps):
        yield bitmap_flags_word(report.bitmaps[row_index].flags)


def _iter_links(key: StructureKey, row_index: int, row: Row, known: Known) -> Iterator[Link]:
    """What a row leads to."""
    locator = known.locator
    if key is StructureKey.SNAPSHOTS and row_index < len(locator.report.snapshots):
        index = locator.report.snapshots[row_index].index
        table = locator.at_entry(StructureKey.L1, None, None, index)
        yield Link(translate("inspector", "its L1 table"), table)
    elif key is StructureKey.BITMAPS and row_index < len(locator.report.bitmaps):
        index = locator.report.bitmaps[row_index].index
        table = locator.at_entry(StructureKey.BITMAP_TABLE, index)
        yield Link(translate("inspector", "its table"), table)
    elif key is StructureKey.HEADER:
        yield from _field_links(row.cells[0], known)


def _field_links(name: str, known: Known) -> Iterator[Link]:
    """What a field of the header names."""
    locator = known.locator
    named = {
        "l1_table_offset": StructureKey.L1,
        "l1_size": StructureKey.L1,
        "refcount_table_offset": StructureKey.REFCOUNT_TABLE,
        "refcount_table_clusters": StructureKey.REFCOUNT_TABLE,
        "snapshots_offset": StructureKey.SNAPSHOTS,
        "nb_snapshots": StructureKey.SNAPSHOTS,
        "backing_file_offset": StructureKey.BACKING_CHAIN,
        "crypt_method": StructureKey.ENCRYPTION,
        "incompatible_features": StructureKey.FEATURES,
        "compatible_features": StructureKey.FEATURES,
        "autoclear_features": StructureKey.FEATURES,
    }
    key = named.get(name)
    if key is None:
        return
    if key.is_entry_table:
        if locator.geometry is not None:
            table = locator.at_entry(key)
            yield Link(entry_table_title(table, locator.report), table)
        return
    structure = locator.structure(key)
    if structure is not None:
        yield Link(structure.title, Selection(key))
