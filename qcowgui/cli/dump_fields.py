"""Structures made of fields, as tables: header, extensions, snapshots, bitmaps, encryption.

The rows come from the format's own field tables (`format.fields`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from qcowgui.cli.output import Cell, Column, Table
from qcowgui.format import fields
from qcowgui.format.encryption import LuksHeader
from qcowgui.format.extensions import Extension, ExtensionType
from qcowgui.format.fields import BitField, Field, FieldKind, FieldValue
from qcowgui.format.text import decode_name
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.units import format_hex, format_offset, format_size

_RAW_BYTES_SHOWN: Final = 32
_TEXT_EXTENSIONS: Final = frozenset(
    {
        ExtensionType.BACKING_FORMAT,
        ExtensionType.CROSVM_BACKING_FORMAT,
        ExtensionType.DATA_FILE,
    }
)


def show_offset(cell: Cell) -> str:
    """An offset as grouped hexadecimal digits."""
    return format_offset(cell) if isinstance(cell, int) else ""


FIELD_COLUMNS: Final = (
    Column("field", "field"),
    Column("offset", "offset", show=show_offset, right=True),
    Column("raw", "raw", whole=True),
    Column("value", None),
    Column("text", "value", right=True),
    Column("meaning", "meaning"),
)


def value_text(found: FieldValue) -> str:
    """A field's number for people, or why there is none."""
    value, kind = found.value, found.field.kind
    if value is None:
        return "cut off" if found.raw else "absent"
    if kind is FieldKind.HEX or kind is FieldKind.FLAGS:
        return format_hex(value, found.field.width_bytes * 8)
    if kind is FieldKind.OFFSET:
        return format_offset(value) if value else "none"
    if kind is FieldKind.BYTES and value >= 1000:
        return f"{value:,} ({format_size(value)})"
    return f"{value:,}"


def field_rows(
    table: Sequence[Field], data: bytes, base_offset: int, *, end: int | None = None
) -> Iterator[tuple[Cell, ...]]:
    """Rows for `FIELD_COLUMNS`; the arguments are those of `fields.iter_field_values`."""
    return map(field_row, fields.iter_field_values(table, data, base_offset=base_offset, end=end))


def field_row(found: FieldValue) -> tuple[Cell, ...]:
    """The row of one field for `FIELD_COLUMNS`."""
    return (
        found.field.name,
        found.host_offset,
        found.raw.hex(" ", 4) if found.value is not None else "",
        found.value,
        value_text(found),
        found.field.meaning,
    )


def bit_rows(
    bits: Iterable[BitField], word: int, host_offset: int | None
) -> Iterator[tuple[Cell, ...]]:
    """Rows for `BIT_COLUMNS`, most significant bits first."""
    for field in sorted(bits, key=lambda item: -item.low):
        value = field.extract(word)
        span = str(field.low) if field.low == field.high else f"{field.high}–{field.low}"
        yield field.name, host_offset, span, value, bit_value_text(field, word), field.meaning


BIT_COLUMNS: Final = (
    Column("field", "field"),
    Column("offset", None),
    Column("bits", "bits", right=True),
    Column("value", None),
    Column("text", "value", right=True),
    Column("meaning", "meaning"),
)


def bit_value_text(field: BitField, word: int) -> str:
    """The value of a bit field for people: offsets in bytes, flags as they are."""
    value = field.extract(word)
    if field.name.endswith("offset"):
        offset = value << field.low
        return format_offset(offset) if offset else "none"
    width = field.high - field.low + 1
    return format_hex(value, width + -width % 4) if width == 32 else f"{value:,}"


def header_table(report: ImageReport) -> Table:
    """The header's fields."""
    rows = map(field_row, report.header.field_values())
    return Table("header", "Header", FIELD_COLUMNS, rows)


def extensions_table(report: ImageReport) -> Table:
    """The header extensions, with their data as text where it is a name."""
    columns = (
        Column("offset", "offset", show=show_offset, right=True),
        Column("type", "type", show=lambda cell: format_hex(int(cell or 0), 32)),
        Column("name", "name"),
        Column("length", "bytes", right=True),
        Column("data", "data"),
    )
    rows = (
        (item.offset, item.type, item.name, item.length, _extension_data(item))
        for item in report.extensions
    )
    return Table("extensions", "Header extensions", columns, rows)


def _extension_data(extension: Extension) -> str:
    if extension.type in _TEXT_EXTENSIONS:
        return f"“{decode_name(extension.data)[0]}”"
    more = " …" if len(extension.data) > _RAW_BYTES_SHOWN else ""
    return extension.data[:_RAW_BYTES_SHOWN].hex(" ", 4) + more


def snapshot_tables(source: ByteSource, report: ImageReport) -> Iterator[Table]:
    """One table of fields for each internal snapshot."""
    for snapshot in report.snapshots:
        base = snapshot.entry_offset
        fixed_bytes = fields.SNAPSHOT_FIELDS[-1].end
        fixed = source.read_at(base, fixed_bytes)
        extra = snapshot.extra_data
        rows = [
            *field_rows(fields.SNAPSHOT_FIELDS, fixed, base),
            *field_rows(fields.SNAPSHOT_EXTRA_FIELDS, extra, base + fixed_bytes),
        ]
        title = f"Snapshot {snapshot.index}: id “{snapshot.id}”, name “{snapshot.name}”"
        yield Table(f"snapshot-{snapshot.index}", title, FIELD_COLUMNS, rows)
    if not report.snapshots:
        yield Table("snapshots", "Internal snapshots", FIELD_COLUMNS, ())


def bitmap_tables(source: ByteSource, report: ImageReport) -> Iterator[Table]:
    """The bitmaps extension, and one table of fields for each bitmap of the directory."""
    for extension in report.extensions:
        if extension.type == ExtensionType.BITMAPS:
            rows = field_rows(fields.BITMAPS_EXTENSION_FIELDS, extension.data, extension.offset + 8)
            yield Table("bitmaps-extension", "Bitmaps extension", FIELD_COLUMNS, rows)
    for bitmap in report.bitmaps:
        data = source.read_at(bitmap.entry_offset, fields.BITMAP_DIRECTORY_FIELDS[-1].end)
        rows = field_rows(fields.BITMAP_DIRECTORY_FIELDS, data, bitmap.entry_offset)
        title = f"Bitmap {bitmap.index}: “{bitmap.name}”"
        yield Table(f"bitmap-{bitmap.index}", title, FIELD_COLUMNS, rows)
    if not report.bitmaps:
        yield Table("bitmaps", "Bitmaps", FIELD_COLUMNS, ())


def encryption_tables(report: ImageReport) -> Iterator[Table]:
    """The pointer to the LUKS header, the header and its key slots."""
    for extension in report.extensions:
        if extension.type == ExtensionType.ENCRYPTION_HEADER:
            rows = field_rows(
                fields.ENCRYPTION_EXTENSION_FIELDS, extension.data, extension.offset + 8
            )
            title = "Full disk encryption header pointer"
            yield Table("encryption-pointer", title, FIELD_COLUMNS, rows)
    if report.luks is not None:
        yield _luks_table(report.luks)
        yield _key_slots_table(report.luks)
    elif report.encryption_pointer is None:
        yield Table("encryption", "Encryption", FIELD_COLUMNS, (), empty="no encryption header")


def _luks_table(luks: LuksHeader) -> Table:
    columns = (Column("name", "field"), Column("value", "value"))
    rows: list[tuple[Cell, ...]] = [
        ("version", luks.version),
        ("cipher-name", luks.cipher_name),
        ("cipher-mode", luks.cipher_mode),
        ("hash-spec", luks.hash_spec),
        ("payload-offset", luks.payload_offset),
        ("key-bytes", luks.key_bytes),
        ("mk-digest", luks.mk_digest.hex()),
        ("mk-digest-salt", luks.mk_digest_salt.hex()),
        ("mk-digest-iterations", luks.mk_digest_iterations),
        ("uuid", luks.uuid),
    ]
    return Table("luks", "LUKS header", columns, rows)


def _key_slots_table(luks: LuksHeader) -> Table:
    columns = (
        Column("slot", "slot", right=True),
        Column("active", "in use"),
        Column("iterations", "iterations", right=True),
        Column("key-offset", "key material at", show=show_offset, right=True),
        Column("stripes", "stripes", right=True),
        Column("salt", None),
    )
    rows = [
        (
            slot.index,
            slot.active,
            slot.iterations,
            slot.key_material_offset,
            slot.stripes,
            slot.salt.hex(),
        )
        for slot in luks.key_slots
    ]
    return Table("key-slots", "Key slots", columns, rows)
