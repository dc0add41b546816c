"""The tables of an image's structures, made from what inspecting it found. Knows no widgets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from PySide6.QtCore import QCoreApplication

from qcowgui.format import fields, limits
from qcowgui.format.bitmaps import TYPE_DIRTY_TRACKING, BitmapEntry
from qcowgui.format.encryption import LuksHeader
from qcowgui.format.header import CRYPT_METHODS
from qcowgui.format.snapshots import Snapshot
from qcowgui.format.text import decode_name
from qcowgui.gui.formatters import (
    FLAG_WORDS,
    NOTHING,
    Column,
    Row,
    Table,
    Tone,
    field_columns,
    field_row,
    hex_text,
    offset_text,
    size_text,
)
from qcowgui.image.inspect import ImageReport
from qcowgui.image.references import Reference
from qcowgui.units import format_count, format_offset, format_size

translate = QCoreApplication.translate

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FEATURE_FIELDS: Final = {feature_class: name for name, feature_class in FLAG_WORDS.items()}


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
                    hex_text(tail),
                    format_count(len(tail), "byte"),
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
    for feature in report.features:
        name = _FEATURE_FIELDS[feature.feature_class]
        field = fields.field_named(fields.HEADER_FIELDS, name)
        tone = Tone.NORMAL if feature.known else Tone.WARNING
        if not feature.is_set:
            tone = Tone.MUTED
        rows.append(
            Row(
                (
                    f"{feature.feature_class.name.lower()} · bit {feature.bit} · {feature.name}",
                    # Big-endian: bit 0 lies in the word's last byte.
                    format_offset(field.end - 1 - feature.bit // 8),
                    hex_text((1 << feature.bit).to_bytes(8, "big")),
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
    rows = []
    for found in snapshots:
        taken = _EPOCH + timedelta(seconds=found.date_seconds)
        clock_seconds = found.vm_clock_nanoseconds / 1e9
        disk_bytes = found.disk_bytes
        rows.append(
            Row(
                (
                    found.id,
                    found.name,
                    f"{taken:%Y-%m-%d %H:%M:%S}",
                    f"{clock_seconds:,.3f} s",
                    size_text(found.vm_state_bytes) if found.vm_state_bytes else NOTHING,
                    NOTHING if disk_bytes is None else format_size(disk_bytes),
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
                    -1 if disk_bytes is None else disk_bytes,
                    found.l1_table_offset,
                    found.l1_size,
                    found.entry_offset,
                ),
            )
        )
    return Table(columns, tuple(rows), sortable=True)


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
    rows = []
    for found in bitmaps:
        granularity = found.granularity_bytes
        rows.append(
            Row(
                (
                    found.name,
                    format_size(granularity) if granularity else f"2^{found.granularity_bits}",
                    _bitmap_state(found),
                    _bitmap_type(found),
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
        )
    return Table(columns, tuple(rows), sortable=True)


def _bitmap_type(bitmap: BitmapEntry) -> str:
    if bitmap.type == TYPE_DIRTY_TRACKING:
        return translate("structures", "dirty tracking")
    return f"{bitmap.type}"


def _bitmap_state(bitmap: BitmapEntry) -> str:
    words = []
    if bitmap.in_use:
        words.append(translate("structures", "not saved cleanly"))
    words.append(
        translate("structures", "recording") if bitmap.auto else translate("structures", "disabled")
    )
    if bitmap.unknown_flags:
        words.append(f"flags {bitmap.unknown_flags:#x}")
    return ", ".join(words)


def encryption_table(report: ImageReport) -> Table:
    """The method, where the LUKS header is, and what it says."""
    columns = (
        Column(translate("structures", "Field")),
        Column(translate("structures", "Value")),
        Column(translate("structures", "Meaning"), quiet=True),
    )
    method = report.header.crypt_method
    field = fields.field_named(fields.HEADER_FIELDS, "crypt_method")
    lines: list[tuple[str, str, str]] = [
        (field.name, f"{method} ({CRYPT_METHODS.get(method, '?')})", field.meaning)
    ]
    pointer = report.encryption_pointer
    if pointer is not None:
        where, length = fields.ENCRYPTION_EXTENSION_FIELDS
        lines.append((where.name, offset_text(pointer.offset), where.meaning))
        lines.append((length.name, size_text(pointer.length), length.meaning))
    if report.luks is not None:
        lines += _luks_lines(report.luks)
    rows = [Row(line) for line in lines]
    if pointer is not None:
        first = rows[1]
        rows[1] = Row(first.cells, pointer.offset, pointer.offset + pointer.length)
    return Table(columns, tuple(rows))


def _luks_lines(luks: LuksHeader) -> Iterator[tuple[str, str, str]]:
    yield "LUKS version", f"{luks.version}", ""
    yield "cipher", luks.cipher, translate("structures", "how guest data is encrypted")
    yield "hash", luks.hash_spec, translate("structures", "used to derive keys from passphrases")
    yield "UUID", luks.uuid, ""
    yield (
        "master key digest",
        luks.mk_digest.hex(" ", -4),
        format_count(luks.mk_digest_iterations, "iteration"),
    )
    for slot in luks.key_slots:
        state = (
            translate("structures", "active") if slot.active else translate("structures", "empty")
        )
        detail = format_count(slot.iterations, "iteration") if slot.active else ""
        yield f"key slot {slot.index}", state, detail


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
