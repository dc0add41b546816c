"""Structures made of fields, as tables: header, extensions, snapshots, bitmaps, encryption.

The rows come from the format's own field tables (`format.fields`), their words from
`format.describe`.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from qcowgui.cli.output import Cell, Column, Table
from qcowgui.format import describe, fields
from qcowgui.format.encryption import LuksHeader
from qcowgui.format.extensions import Extension, ExtensionType
from qcowgui.format.features import FeatureNames
from qcowgui.format.fields import BitField, Field, FieldValue
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.units import format_hex, format_offset

_EXTENSION_BYTES_SHOWN: Final = 32
_WIDTH_WITH_MEANINGS: Final = 100
"""Columns of a terminal from which on a field's meaning has room beside what the image says."""


def show_offset(cell: Cell) -> str:
    """An offset as grouped hexadecimal digits."""
    return format_offset(cell) if isinstance(cell, int) else ""


def field_columns() -> tuple[Column, ...]:
    """The columns of a table of fields.

    A narrow terminal leaves out the meanings: they are the same in every image, and broken into
    lines of a few letters nobody could read them. JSON, files and pipes always have them.
    """
    narrow = sys.stdout.isatty() and shutil.get_terminal_size().columns < _WIDTH_WITH_MEANINGS
    meaning = Column("meaning", None if narrow else "meaning")
    return (
        Column("field", "field", whole=True),
        Column("offset", "offset", show=show_offset, right=True),
        Column("raw", "raw", whole=True),
        Column("value", None),
        Column("text", "value"),
        meaning,
    )


def field_rows(table: Sequence[Field], data: bytes, base_offset: int) -> Iterator[tuple[Cell, ...]]:
    """Rows for `field_columns`; the arguments are those of `fields.iter_field_values`."""
    return map(field_row, fields.iter_field_values(table, data, base_offset=base_offset))


def field_row(found: FieldValue, names: FeatureNames | None = None) -> tuple[Cell, ...]:
    """The row of one field for `field_columns`; `names` are the image's own of feature bits."""
    return (
        found.field.name,
        found.host_offset,
        describe.hex_text(found.raw) if found.value is not None else "",
        found.value,
        describe.field_text(found, names),
        found.field.meaning,
    )


def bit_rows(
    bits: Iterable[BitField], word: int, host_offset: int | None
) -> Iterator[tuple[Cell, ...]]:
    """Rows for `BIT_COLUMNS`, most significant bits first."""
    for field in sorted(bits, key=lambda item: -item.low):
        span, text = describe.bit_span_text(field), describe.bit_field_text(field, word)
        yield field.name, host_offset, span, field.extract(word), text, field.meaning


BIT_COLUMNS: Final = (
    Column("field", "field"),
    Column("offset", None),
    Column("bits", "bits", right=True),
    Column("value", None),
    Column("text", "value", right=True),
    Column("meaning", "meaning"),
)


def header_table(report: ImageReport) -> Table:
    """The header's fields."""
    names = report.feature_names
    rows = (field_row(found, names) for found in report.header.field_values())
    return Table("header", "Header", field_columns(), rows)


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
    name = describe.extension_name_text(extension)
    return name or describe.hex_text(extension.data, _EXTENSION_BYTES_SHOWN)


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
        yield Table(f"snapshot-{snapshot.index}", title, field_columns(), rows)
    if not report.snapshots:
        yield Table("snapshots", "Internal snapshots", field_columns(), ())


def bitmap_tables(source: ByteSource, report: ImageReport) -> Iterator[Table]:
    """The bitmaps extension, and one table of fields for each bitmap of the directory."""
    for extension in report.extensions:
        if extension.type == ExtensionType.BITMAPS:
            rows = field_rows(fields.BITMAPS_EXTENSION_FIELDS, extension.data, extension.offset + 8)
            yield Table("bitmaps-extension", "Bitmaps extension", field_columns(), rows)
    for bitmap in report.bitmaps:
        data = source.read_at(bitmap.entry_offset, fields.BITMAP_DIRECTORY_FIELDS[-1].end)
        rows = field_rows(fields.BITMAP_DIRECTORY_FIELDS, data, bitmap.entry_offset)
        title = f"Bitmap {bitmap.index}: “{bitmap.name}”"
        yield Table(f"bitmap-{bitmap.index}", title, field_columns(), rows)
    if not report.bitmaps:
        yield Table("bitmaps", "Bitmaps", field_columns(), ())


def encryption_tables(report: ImageReport) -> Iterator[Table]:
    """The pointer to the LUKS header, the header and its key slots."""
    for extension in report.extensions:
        if extension.type == ExtensionType.ENCRYPTION_HEADER:
            rows = field_rows(
                fields.ENCRYPTION_EXTENSION_FIELDS, extension.data, extension.offset + 8
            )
            title = "Full disk encryption header pointer"
            yield Table("encryption-pointer", title, field_columns(), rows)
    if report.luks is not None:
        yield _luks_table(report.luks)
        yield _key_slots_table(report.luks)
    elif report.encryption_pointer is None:
        yield Table("encryption", "Encryption", field_columns(), (), empty="no encryption header")


def _luks_table(luks: LuksHeader) -> Table:
    columns = (
        Column("name", "field", whole=True),
        Column("value", None),
        Column("text", "value"),
        Column("meaning", "meaning"),
    )
    return Table("luks", "LUKS header", columns, describe.iter_luks_rows(luks))


def _key_slots_table(luks: LuksHeader) -> Table:
    columns = (
        Column("slot", "slot", right=True),
        Column("active", None),
        Column("state", "state"),
        Column("iterations", "iterations", right=True),
        Column("key-offset", "key material at", show=show_offset, right=True),
        Column("stripes", "stripes", right=True),
        Column("salt", None),
    )
    rows = [
        (
            slot.index,
            slot.active,
            describe.key_slot_state_text(slot),
            slot.iterations,
            slot.key_material_offset,
            slot.stripes,
            slot.salt.hex(),
        )
        for slot in luks.key_slots
    ]
    return Table("key-slots", "Key slots", columns, rows)
