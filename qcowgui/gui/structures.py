"""The tables of an image's structures, made from what inspecting it found. Knows no widgets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Final

from PySide6.QtCore import QCoreApplication

from qcowgui.format import fields, limits
from qcowgui.format.bitmaps import TYPE_DIRTY_TRACKING, BitmapEntry
from qcowgui.format.encryption import LuksHeader
from qcowgui.format.extensions import Extension, ExtensionType
from qcowgui.format.features import FEATURES, FeatureClass
from qcowgui.format.finding import Finding
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
from qcowgui.units import format_count, format_hex, format_offset, format_size

translate = QCoreApplication.translate

_LINE_BYTES: Final = 16
_MAX_DATA_LINES: Final = 256
_HEAD_BYTES: Final = 8
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FEATURE_FIELDS: Final = {feature_class: name for name, feature_class in FLAG_WORDS.items()}


class StructureKey(Enum):
    """The structures that have a table of their own."""

    HEADER = "header"
    FEATURES = "features"
    EXTENSIONS = "extensions"
    SNAPSHOTS = "snapshots"
    BITMAPS = "bitmaps"
    ENCRYPTION = "encryption"
    BACKING_CHAIN = "backing-chain"
    DATA_FILE = "data-file"


@dataclass(frozen=True, slots=True)
class Structure:
    """A structure that the image has.

    Attributes:
        key: Which one.
        title: Its name.
        note: How many entries, or what kind; may be empty.
        table: Its content.
    """

    key: StructureKey
    title: str
    note: str
    table: Table


@dataclass(frozen=True, slots=True)
class Selection:
    """What is selected of one image.

    Attributes:
        structure: The structure.
        row: Index in its table, or None for the structure as a whole.
    """

    structure: StructureKey
    row: int | None = None


@dataclass(frozen=True, slots=True)
class ReferenceState:
    """A referenced file as a look at the file system shows it; nothing was opened.

    Attributes:
        reference: What the image says and where it leads.
        exists: Whether something is there; None when the name is no plain file name.
    """

    reference: Reference
    exists: bool | None


def image_structures(
    report: ImageReport, references: Sequence[ReferenceState]
) -> tuple[Structure, ...]:
    """Every structure that the image has, in the order of the list."""
    return tuple(_iter_structures(report, references))


def locate(structures: Sequence[Structure], finding: Finding) -> Selection | None:
    """The row that shows the place of `finding` most closely, or None when no table shows it."""
    if finding.host_offset is None:
        return None
    best: tuple[int, Selection] | None = None
    for structure in structures:
        for index, row in enumerate(structure.table.rows):
            if row.covers(finding.host_offset) and (best is None or row.host_bytes < best[0]):
                best = row.host_bytes, Selection(structure.key, index)
    return best[1] if best else None


def _iter_structures(
    report: ImageReport, references: Sequence[ReferenceState]
) -> Iterator[Structure]:
    key = StructureKey
    title = _titles()
    note = f"v{report.header.version}"
    yield Structure(key.HEADER, title[key.HEADER], note, header_table(report))
    if report.features:
        set_count = sum(feature.is_set for feature in report.features)
        note = translate("structures", "{count} set").format(count=set_count) if set_count else ""
        yield Structure(key.FEATURES, title[key.FEATURES], note, features_table(report))
    if report.extensions:
        note = f"{len(report.extensions):,}"
        yield Structure(key.EXTENSIONS, title[key.EXTENSIONS], note, extensions_table(report))
    if report.snapshots:
        note = f"{len(report.snapshots):,}"
        table = snapshots_table(report.snapshots)
        yield Structure(key.SNAPSHOTS, title[key.SNAPSHOTS], note, table)
    if report.bitmaps:
        note = f"{len(report.bitmaps):,}"
        yield Structure(key.BITMAPS, title[key.BITMAPS], note, bitmaps_table(report.bitmaps))
    if report.header.crypt_method:
        note = CRYPT_METHODS.get(report.header.crypt_method, "?")
        yield Structure(key.ENCRYPTION, title[key.ENCRYPTION], note, encryption_table(report))
    for kind, structure_key in (
        ("backing file", key.BACKING_CHAIN),
        ("data file", key.DATA_FILE),
    ):
        states = [state for state in references if state.reference.kind == kind]
        if states:
            table = references_table(report, states)
            yield Structure(structure_key, title[structure_key], f"{len(states)}", table)


def _titles() -> dict[StructureKey, str]:
    return {
        StructureKey.HEADER: translate("structures", "Header"),
        StructureKey.FEATURES: translate("structures", "Features"),
        StructureKey.EXTENSIONS: translate("structures", "Extensions"),
        StructureKey.SNAPSHOTS: translate("structures", "Snapshots"),
        StructureKey.BITMAPS: translate("structures", "Bitmaps"),
        StructureKey.ENCRYPTION: translate("structures", "Encryption"),
        StructureKey.BACKING_CHAIN: translate("structures", "Backing chain"),
        StructureKey.DATA_FILE: translate("structures", "Data file"),
    }


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


def extensions_table(report: ImageReport) -> Table:
    """Each extension's head, and below it its content."""
    rows: list[Row] = []
    for extension in report.extensions:
        rows.append(_extension_row(extension))
        rows += _extension_content(extension)
    return Table(field_columns(), tuple(rows))


def _extension_row(extension: Extension) -> Row:
    head = extension.type.to_bytes(4, "big") + extension.length.to_bytes(4, "big")
    text = ""
    if extension.type in _TEXT_TYPES:
        text = decode_name(extension.data)[0]
    return Row(
        (
            extension.name,
            format_offset(extension.offset),
            hex_text(head),
            text or format_count(extension.length, "byte"),
            translate("structures", "type {number}, {length} of data").format(
                number=format_hex(extension.type, 32),
                length=format_count(extension.length, "byte"),
            ),
        ),
        extension.offset,
        extension.offset + _HEAD_BYTES + len(extension.data) + len(extension.padding),
    )


_TEXT_TYPES: Final = frozenset(
    {
        ExtensionType.BACKING_FORMAT,
        ExtensionType.CROSVM_BACKING_FORMAT,
        ExtensionType.DATA_FILE,
    }
)
_FIELD_TYPES: Final = {
    ExtensionType.BITMAPS: fields.BITMAPS_EXTENSION_FIELDS,
    ExtensionType.ENCRYPTION_HEADER: fields.ENCRYPTION_EXTENSION_FIELDS,
}


def _extension_content(extension: Extension) -> Iterator[Row]:
    base = extension.offset + _HEAD_BYTES
    if extension.type == ExtensionType.FEATURE_NAMES:
        yield from _feature_name_rows(extension)
        return
    for kind, table in _FIELD_TYPES.items():
        if extension.type == kind:
            for found in fields.iter_field_values(table, extension.data, base_offset=base):
                yield field_row(found, indent=True)
            return
    for index in range(0, min(len(extension.data), _LINE_BYTES * _MAX_DATA_LINES), _LINE_BYTES):
        line = extension.data[index : index + _LINE_BYTES]
        yield Row(
            (
                "    " + translate("structures", "data"),
                format_offset(base + index),
                hex_text(line),
                "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in line),
                "",
            ),
            base + index,
            base + index + len(line),
            Tone.MUTED,
        )
    rest = len(extension.data) - _LINE_BYTES * _MAX_DATA_LINES
    if rest > 0:
        more = translate("structures", "{count} more").format(count=format_count(rest, "byte"))
        yield Row(("    …", NOTHING, NOTHING, more, ""), tone=Tone.MUTED)


def _feature_name_rows(extension: Extension) -> Iterator[Row]:
    entry_bytes = limits.FEATURE_NAME_ENTRY_BYTES
    base = extension.offset + _HEAD_BYTES
    for start in range(0, len(extension.data) - entry_bytes + 1, entry_bytes):
        entry = extension.data[start : start + entry_bytes]
        class_number, bit = entry[0], entry[1]
        name = decode_name(entry[2:].rstrip(b"\0"))[0]
        try:
            feature_class = FeatureClass(class_number)
        except ValueError:
            kind, meaning = f"class {class_number}", translate("structures", "unknown class")
        else:
            kind = feature_class.name.lower()
            meaning = _name_meaning(feature_class, bit, name)
        yield Row(
            (
                f"    {kind} · bit {bit}",
                format_offset(base + start),
                hex_text(entry.rstrip(b"\0")[:_LINE_BYTES]) + " …",
                name,
                meaning,
            ),
            base + start,
            base + start + entry_bytes,
            Tone.MUTED,
        )


def _name_meaning(feature_class: FeatureClass, bit: int, name: str) -> str:
    known = FEATURES.get((feature_class, bit))
    if known is None:
        return translate("structures", "the image’s name for a bit that the format does not define")
    if known[0] == name:
        return translate("structures", "the format’s own name")
    return translate("structures", "the format calls it {name}").format(name=known[0])


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
