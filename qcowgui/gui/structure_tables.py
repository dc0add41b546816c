"""The tables of an image's structures, made from what inspecting it found. Knows no widgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from qcowgui.format import describe, fields, limits
from qcowgui.format.bitmaps import BitmapEntry
from qcowgui.format.snapshots import Snapshot
from qcowgui.format.text import decode_name
from qcowgui.gui.formatters import NOTHING, Column, Row, Table, Tone, field_columns, field_row
from qcowgui.gui.translation import count_text
from qcowgui.image.inspect import ImageReport
from qcowgui.image.references import Reference
from qcowgui.units import format_offset

translate = QCoreApplication.translate


@dataclass(frozen=True, slots=True)
class ReferenceState:
    """A referenced file as a look at the file system shows it; nothing was opened.

    Attributes:
        reference: What the image says and where it leads.
        exists: Whether something is there; None when the name is no plain file name.
    """

    reference: Reference
    exists: bool | None


def header_table(report: ImageReport) -> Table:
    """The header's fields, those of a longer header than is known today as one more row."""
    rows = [field_row(found, names=report.feature_names) for found in report.header.field_values()]
    tail = report.header.tail
    if tail:
        start = limits.KNOWN_HEADER_BYTES
        rows.append(
            Row(
                (
                    translate("structures", "(unknown)"),
                    format_offset(start),
                    describe.hex_text(tail),
                    count_text(len(tail), "byte"),
                    translate("structures", "header bytes beyond the fields known today; kept"),
                ),
                start,
                start + len(tail),
                Tone.MUTED,
            )
        )
    return Table(field_columns(), tuple(rows))


def features_table(report: ImageReport) -> Table:
    """Every feature bit that is defined or set."""
    rows = []
    names = {feature_class: name for name, feature_class in describe.FEATURE_FIELDS.items()}
    for feature in report.features:
        kind = describe.feature_class_text(feature.feature_class)
        name = names[feature.feature_class]
        field = fields.field_named(fields.HEADER_FIELDS, name)
        tone = Tone.NORMAL if feature.known else Tone.WARNING
        if not feature.is_set:
            tone = Tone.MUTED
        rows.append(
            Row(
                (
                    f"{kind} · bit {feature.bit} · {feature.name}",
                    # Big-endian: bit 0 lies in the word's last byte.
                    format_offset(field.end - 1 - feature.bit // 8),
                    describe.hex_text((1 << feature.bit).to_bytes(8, "big")),
                    translate("structures", "set") if feature.is_set else NOTHING,
                    feature.meaning,
                ),
                tone=tone,
            )
        )
    return Table(field_columns(), tuple(rows))


def snapshots_table(snapshots: Sequence[Snapshot]) -> Table:
    """The internal snapshots, in the table's order."""
    columns = (
        Column(translate("structures", "ID")),
        Column(translate("structures", "Name")),
        Column(translate("structures", "Taken (UTC)"), monospaced=True),
        Column(translate("structures", "VM clock"), monospaced=True, right=True),
        Column(translate("structures", "VM state"), right=True),
        Column(translate("structures", "Virtual size"), right=True),
        Column(translate("structures", "L1 table"), monospaced=True, right=True),
        Column(translate("structures", "L1 entries"), right=True),
        Column(translate("structures", "Entry at"), monospaced=True, right=True),
    )
    return Table(columns, tuple(map(_snapshot_row, snapshots)), sortable=True)


def _snapshot_row(found: Snapshot) -> Row:
    return Row(
        (
            found.id,
            found.name,
            describe.snapshot_date_text(found),
            describe.snapshot_clock_text(found),
            describe.snapshot_vm_state_text(found),
            describe.snapshot_disk_text(found),
            format_offset(found.l1_table_offset),
            f"{found.l1_size:,}",
            format_offset(found.entry_offset),
        ),
        found.entry_offset,
        found.entry_offset + found.entry_bytes,
        sort_keys=(
            found.id,
            found.name,
            found.date_seconds,
            found.vm_clock_nanoseconds,
            found.vm_state_bytes,
            -1 if found.disk_bytes is None else found.disk_bytes,
            found.l1_table_offset,
            found.l1_size,
            found.entry_offset,
        ),
    )


def bitmaps_table(bitmaps: Sequence[BitmapEntry]) -> Table:
    """The bitmap directory, in its order."""
    columns = (
        Column(translate("structures", "Name")),
        Column(translate("structures", "Granularity"), right=True),
        Column(translate("structures", "State")),
        Column(translate("structures", "Type")),
        Column(translate("structures", "Table at"), monospaced=True, right=True),
        Column(translate("structures", "Table entries"), right=True),
        Column(translate("structures", "Entry at"), monospaced=True, right=True),
    )
    return Table(columns, tuple(map(_bitmap_row, bitmaps)), sortable=True)


def _bitmap_row(found: BitmapEntry) -> Row:
    return Row(
        (
            found.name,
            describe.bitmap_granularity_text(found),
            describe.bitmap_state_text(found),
            describe.bitmap_type_text(found),
            format_offset(found.bitmap_table_offset),
            f"{found.bitmap_table_size:,}",
            format_offset(found.entry_offset),
        ),
        found.entry_offset,
        found.entry_offset + found.entry_bytes,
        Tone.NORMAL if found.usable else Tone.WARNING,
        sort_keys=(
            found.name,
            found.granularity_bits,
            found.flags,
            found.type,
            found.bitmap_table_offset,
            found.bitmap_table_size,
            found.entry_offset,
        ),
    )


def encryption_table(report: ImageReport) -> Table:
    """The method, where the LUKS header is, and what it says."""
    columns = (
        Column(translate("structures", "Field")),
        Column(translate("structures", "Value")),
        Column(translate("structures", "Meaning"), quiet=True),
    )
    rows = [
        Row((found.field.name, describe.field_text(found), found.field.meaning))
        for found in report.header.field_values()
        if found.field.name == "crypt_method"
    ]
    pointer, luks = report.encryption_pointer, report.luks
    if pointer is not None:
        where, length = fields.ENCRYPTION_EXTENSION_FIELDS
        area = pointer.offset, pointer.offset + pointer.length
        offset, size = describe.offset_text(pointer.offset), describe.size_text(pointer.length)
        rows.append(Row((where.name, offset, where.meaning), *area))
        rows.append(Row((length.name, size, length.meaning)))
    if luks is not None:
        rows += [Row((name, text, why)) for name, _, text, why in describe.iter_luks_rows(luks)]
        for slot in luks.key_slots:
            detail = count_text(slot.iterations, "iteration") if slot.active else ""
            name = translate("structures", "key slot {index}").format(index=slot.index)
            rows.append(Row((name, describe.key_slot_state_text(slot), detail)))
    return Table(columns, tuple(rows))


def references_table(report: ImageReport, states: Sequence[ReferenceState]) -> Table:
    """The files that the image names, none of which was opened."""
    columns = (
        Column(translate("structures", "Name in the image")),
        Column(translate("structures", "Format")),
        Column(translate("structures", "Leads to")),
        Column(translate("structures", "State")),
    )
    rows = []
    for state in states:
        reference = state.reference
        recorded = report.backing_format if reference.kind == "backing file" else "raw"
        rows.append(
            Row(
                (
                    decode_name(reference.name.encode("utf-8", "surrogateescape"))[0],
                    recorded or translate("structures", "not recorded"),
                    NOTHING if reference.path is None else f"{reference.path}",
                    _reference_state(state),
                ),
                tone=Tone.NORMAL if state.exists else Tone.WARNING,
                detail=reference.note,
            )
        )
    return Table(columns, tuple(rows))


def _reference_state(state: ReferenceState) -> str:
    if state.exists is None:
        return translate("structures", "no plain file name: never opened")
    if not state.exists:
        return translate("structures", "not found")
    if state.reference.in_folder:
        return translate("structures", "exists, in the image’s folder; not opened")
    return translate("structures", "exists, outside the image’s folder; not opened")
