"""The first cluster: header, header extensions, backing file name."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tests.support.layout import HEADER_FIELDS, V2_HEADER_BYTES, ExtensionSpan, Span
from tests.support.records import padded

MAGIC = 0x514649FB

EXT_END = 0x00000000
EXT_BACKING_FORMAT = 0xE2792ACA
EXT_FEATURE_NAMES = 0x6803F857
EXT_BITMAPS = 0x23852875
EXT_ENCRYPTION = 0x0537BE77
EXT_DATA_FILE = 0x44415441
EXT_CROSVM_BACKING_FORMAT = 0xE279268F

INCOMPATIBLE_DIRTY = 1 << 0
INCOMPATIBLE_CORRUPT = 1 << 1
INCOMPATIBLE_DATA_FILE = 1 << 2
INCOMPATIBLE_COMPRESSION = 1 << 3
INCOMPATIBLE_EXTENDED_L2 = 1 << 4
COMPATIBLE_LAZY_REFCOUNTS = 1 << 0
AUTOCLEAR_BITMAPS = 1 << 0
AUTOCLEAR_RAW_DATA_FILE = 1 << 1

FEATURE_NAMES: tuple[tuple[int, int, str], ...] = (
    (0, 0, "dirty bit"),
    (0, 1, "corrupt bit"),
    (0, 2, "external data file"),
    (0, 3, "compression type"),
    (0, 4, "extended L2 entries"),
    (1, 0, "lazy refcounts"),
    (2, 0, "bitmaps"),
    (2, 1, "raw external data"),
)


def feature_table(names: Iterable[tuple[int, int, str]] = FEATURE_NAMES) -> bytes:
    """Return the data of a feature name table of (class, bit, name) rows."""
    return b"".join(struct.pack(">BB46s", kind, bit, name.encode()) for kind, bit, name in names)


def header_bytes(
    fields: Mapping[str, int], *, version: int, header_length: int, tail: bytes
) -> bytes:
    """Return the header proper; `tail` goes to byte 112, fields past its end are left out.

    Raises:
        ValueError: A field that is not zero, or the tail, does not fit.
    """
    length = V2_HEADER_BYTES if version < 3 else header_length
    header = bytearray(length)
    for name, (offset, width) in HEADER_FIELDS.items():
        value = fields.get(name, 0)
        if offset + width <= length:
            header[offset : offset + width] = value.to_bytes(width, "big")
        elif value:
            raise ValueError(f"{name} does not fit into a header of {length} bytes")
    if tail:
        if 112 + len(tail) > length:
            raise ValueError(f"a header of {length} bytes has no room for the tail")
        header[112 : 112 + len(tail)] = tail
    return bytes(header)


@dataclass(frozen=True)
class ExtensionArea:
    """Encoded header extensions and the backing file name behind them.

    Attributes:
        data: From the first extension's type word to the end of the name.
        spans: The extensions in file order, the end marker left out.
        backing_name: Where the name is, or None.
    """

    data: bytes
    spans: list[ExtensionSpan]
    backing_name: Span | None


def extension_area(
    start: int,
    extensions: Iterable[tuple[int, bytes]],
    *,
    end_extension: bool,
    backing_file: bytes | None,
) -> ExtensionArea:
    """Return the extensions as stored from the host offset `start` on."""
    data = b""
    spans: list[ExtensionSpan] = []
    for extension_type, content in extensions:
        spans.append(ExtensionSpan(extension_type, start + len(data), len(content)))
        data += struct.pack(">II", extension_type, len(content)) + padded(content)
    if end_extension:
        data += bytes(8)
    if backing_file is None:
        return ExtensionArea(data, spans, None)
    name = Span(start + len(data), len(backing_file))
    return ExtensionArea(data + backing_file, spans, name)
