"""Bytes as text: rows of a hex view, what is copied from it, what a few bytes would mean.

Knows no widgets. Rows are ASCII alone, so that digits stand below digits.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from enum import Enum
from typing import Final, NamedTuple

from qcowgui.errors import UsageError
from qcowgui.units import format_size, parse_size

_STRONG_DIGITS: Final = ("  ", *(f"{byte:02x}" for byte in range(1, 256)))
_QUIET_DIGITS: Final = ("00", *["  "] * 255)
_LETTERS: Final = bytes(byte if 0x20 <= byte < 0x7F else 0x20 for byte in range(256))
_DOTS: Final = bytes(0x20 if 0x20 <= byte < 0x7F else 0x2E for byte in range(256))
_UNREADABLE: Final = "??"
_C_BYTES_PER_LINE: Final = 12
_PYTHON_BYTES_PER_LINE: Final = 16
GROUP_BYTES: Final = 8
"""Between groups of this many bytes there is a wider gap: the size of a table's entry."""


def offset_digits(size_bytes: int) -> int:
    """How many hexadecimal digits the offsets of a source have: 8, 12 or 16."""
    needed = (max(size_bytes - 1, 0).bit_length() + 3) // 4
    return max(8, -(-needed // 4) * 4)


def offset_text(offset: int, digits: int) -> str:
    """An offset in groups of four digits: "0001_4000_0000"."""
    padded = f"{offset:0{digits}x}"
    return "_".join(padded[start : start + 4] for start in range(0, digits, 4))


class RowText(NamedTuple):
    """One row of bytes as strings of equal pitch, to be drawn over each other.

    Attributes:
        digits: Two digits a byte at column `hex_column(i)`, spaces between; for all but zeros.
        zeros: The same for zeros, which step back.
        letters: A character a byte that is printable, spaces for the others.
        dots: A dot a byte that is not printable.
    """

    digits: str
    zeros: str
    letters: str
    dots: str


def hex_column(index: int) -> int:
    """At which character of a row's digits the byte `index` begins."""
    return 3 * index + index // GROUP_BYTES


def row_text(data: bytes, readable: Sequence[bool] | None = None) -> RowText:
    """The text of one row.

    Args:
        data: The bytes of the row, fewer than a row's at the end of the source.
        readable: Whether each could be read; None: all. Others show as question marks.
    """
    digits = [_STRONG_DIGITS[byte] for byte in data]
    zeros = [_QUIET_DIGITS[byte] for byte in data]
    letters = data.translate(_LETTERS).decode("ascii")
    dots = data.translate(_DOTS).decode("ascii")
    if readable is not None:
        for index, known in enumerate(readable):
            if not known:
                digits[index], zeros[index] = _UNREADABLE, "  "
                letters = f"{letters[:index]} {letters[index + 1 :]}"
                dots = f"{dots[:index]}?{dots[index + 1 :]}"
    return RowText(_spaced(digits), _spaced(zeros), letters, dots)


def _spaced(cells: Sequence[str]) -> str:
    """Digits of bytes with a space between them and two between groups."""
    groups = range(0, len(cells), GROUP_BYTES)
    return "  ".join(" ".join(cells[start : start + GROUP_BYTES]) for start in groups)


class CopyFormat(Enum):
    """As what bytes are copied."""

    HEX = "hex"
    DUMP = "dump"
    C = "c"
    PYTHON = "python"
    BASE64 = "base64"
    TEXT = "text"


def copy_text(data: bytes, form: CopyFormat, *, offset: int = 0) -> str:
    """`data` as text; `offset` is where its first byte lies, for a dump's first column."""
    match form:
        case CopyFormat.HEX:
            return data.hex(" ")
        case CopyFormat.DUMP:
            return dump(data, offset)
        case CopyFormat.C:
            return _c_array(data)
        case CopyFormat.PYTHON:
            return _python_literal(data)
        case CopyFormat.BASE64:
            return base64.b64encode(data).decode("ascii")
        case CopyFormat.TEXT:
            # A clipboard's text must not end at the first NUL.
            return data.decode("utf-8", "replace").replace("\0", "\N{SYMBOL FOR NULL}")


def dump(data: bytes, offset: int, *, row_bytes: int = 16) -> str:
    """Rows of offset, digits and characters; the first row may begin inside a full one."""
    digits = offset_digits(offset + len(data))
    width = hex_column(row_bytes)
    lines = []
    start = offset - offset % row_bytes
    for row in range(start, offset + len(data), row_bytes):
        skipped = max(0, offset - row)
        part = data[max(0, row - offset) : row - offset + row_bytes]
        shown = row_text(bytes(skipped) + part)
        both = _overlay(shown.digits, shown.zeros)
        letters = _overlay(shown.letters, shown.dots)
        if skipped:
            both = " " * hex_column(skipped) + both[hex_column(skipped) :]
            letters = " " * skipped + letters[skipped:]
        lines.append(f"{offset_text(row, digits)}  {both:<{width}}{letters}".rstrip())
    return "\n".join(lines)


def _overlay(front: str, back: str) -> str:
    return "".join(b if f == " " else f for f, b in zip(front, back, strict=True))


def _c_array(data: bytes) -> str:
    lines = [
        "    " + " ".join(f"0x{byte:02x}," for byte in data[i : i + _C_BYTES_PER_LINE])
        for i in range(0, len(data), _C_BYTES_PER_LINE)
    ]
    return "\n".join([f"static const unsigned char data[{len(data)}] = {{", *lines, "};"])


def _python_literal(data: bytes) -> str:
    lines = [
        '    b"' + "".join(f"\\x{byte:02x}" for byte in data[i : i + _PYTHON_BYTES_PER_LINE]) + '"'
        for i in range(0, len(data), _PYTHON_BYTES_PER_LINE)
    ]
    return "\n".join(["data = (", *lines, ")"]) if lines else 'data = b""'


class Reading(NamedTuple):
    """What bytes mean when they are read as a number.

    Attributes:
        name: "u16" and the like.
        text: Hexadecimal and decimal.
    """

    name: str
    text: str


_WIDTHS: Final = (1, 2, 4, 8)


def readings(data: bytes, *, little_endian: bool = False) -> list[Reading]:
    """What the first bytes of `data` mean as numbers; all of qcow2's own are big-endian."""
    found = []
    for width in _WIDTHS:
        if len(data) >= width:
            value = int.from_bytes(data[:width], "little" if little_endian else "big")
            text = f"0x{value:0{2 * width}x} = {value:,}"
            found.append(Reading(f"u{8 * width}", text))
    return found


def range_text(start: int, end: int) -> str:
    """A range of bytes for reading: "0x1000 – 0x1fff · 4,096 bytes (4 KiB)"."""
    length = end - start
    if length == 1:
        return f"0x{start:_x} = {start:,}"
    size = f" ({format_size(length)})" if length >= 1024 else ""
    return f"0x{start:_x} – 0x{end - 1:_x} · {length:,} bytes{size}"


def parse_offset(text: str, *, current: int, size_bytes: int) -> int:
    """The offset that a person means: 0x1_0000, 65536, 64k; +0x200 and -16 from `current`; "end".

    Raises:
        UsageError: When it is none, or outside of the source.
    """
    stripped = text.strip().replace(",", "")
    if stripped.lower() == "end":
        return max(0, size_bytes - 1)
    sign, number = (
        (stripped[0], stripped[1:].strip()) if stripped.startswith(("+", "-")) else ("", stripped)
    )
    try:
        value = int(number, 16) if number.lower().startswith("0x") else _decimal(number)
    except ValueError:
        raise UsageError(
            f"{text.strip()!r} is not an offset", hint="examples: 0x1_0000, 65536, 64k, +0x200, end"
        ) from None
    offset = current + value if sign == "+" else current - value if sign else value
    if not 0 <= offset < max(size_bytes, 1):
        place = "before the start" if offset < 0 else "behind the end"
        raise UsageError(
            f"{text.strip()} lies {place}",
            hint=f"the last byte is at 0x{max(0, size_bytes - 1):_x}",
        )
    return offset


def _decimal(number: str) -> int:
    plain = number.replace("_", "")
    return int(plain) if plain.isdecimal() else parse_size(plain)
