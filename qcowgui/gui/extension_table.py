"""The table of the header extensions: each one's head, and below it its content."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from PySide6.QtCore import QCoreApplication

from qcowgui.format import describe, fields, limits
from qcowgui.format.extensions import Extension, ExtensionType
from qcowgui.format.features import FEATURES, FeatureClass
from qcowgui.format.text import decode_name
from qcowgui.gui.formatters import NOTHING, Row, Table, Tone, field_columns, field_row
from qcowgui.gui.translation import count_text
from qcowgui.image.inspect import ImageReport
from qcowgui.units import format_hex, format_offset

translate = QCoreApplication.translate

_LINE_BYTES: Final = 16
_MAX_DATA_LINES: Final = 256
_HEAD_BYTES: Final = 8


def extensions_table(report: ImageReport) -> Table:
    """Each extension's head, and below it its content."""
    rows: list[Row] = []
    for extension in report.extensions:
        rows.append(_extension_row(extension))
        rows += _extension_content(extension)
    return Table(field_columns(), tuple(rows))


def _extension_row(extension: Extension) -> Row:
    head = extension.type.to_bytes(4, "big") + extension.length.to_bytes(4, "big")
    name = describe.extension_name_text(extension)
    return Row(
        (
            extension.name,
            format_offset(extension.offset),
            describe.hex_text(head),
            name or count_text(extension.length, "byte"),
            translate("structures", "type {number}, {length} of data").format(
                number=format_hex(extension.type, 32),
                length=count_text(extension.length, "byte"),
            ),
        ),
        extension.offset,
        extension.offset + _HEAD_BYTES + len(extension.data) + len(extension.padding),
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
                describe.hex_text(line),
                "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in line),
                "",
            ),
            base + index,
            base + index + len(line),
            Tone.MUTED,
        )
    rest = len(extension.data) - _LINE_BYTES * _MAX_DATA_LINES
    if rest > 0:
        more = translate("structures", "{count} more").format(count=count_text(rest, "byte"))
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
            kind = describe.feature_class_text(feature_class)
            meaning = _name_meaning(feature_class, bit, name)
        yield Row(
            (
                f"    {kind} · bit {bit}",
                format_offset(base + start),
                describe.hex_text(entry.rstrip(b"\0")[:_LINE_BYTES]) + " …",
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
