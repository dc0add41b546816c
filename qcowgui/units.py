"""Sizes, hexadecimal text, alignment and byte ranges. Knows nothing of qcow2."""

from __future__ import annotations

import re
from typing import Final

KIB: Final = 1 << 10
MIB: Final = 1 << 20
GIB: Final = 1 << 30
TIB: Final = 1 << 40
SECTOR_BYTES: Final = 512

_BINARY_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_SUFFIXES: Final = {
    "": 1,
    "b": 1,
    "k": KIB,
    "m": MIB,
    "g": GIB,
    "t": TIB,
    "p": 1 << 50,
    "e": 1 << 60,
}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([bkmgtpe]?)(?:i?b)?", re.IGNORECASE)


def align_down(value: int, alignment: int) -> int:
    """The largest multiple of `alignment` that is not above `value`."""
    return value - value % alignment


def align_up(value: int, alignment: int) -> int:
    """The smallest multiple of `alignment` that is not below `value`."""
    return -(-value // alignment) * alignment


def ceil_div(value: int, divisor: int) -> int:
    """`value / divisor`, rounded up."""
    return -(-value // divisor)


def format_size(size_bytes: int) -> str:
    """`size_bytes` with three significant digits and a binary unit, as qemu-img prints it.

    The rounding is printf's "%0.3g" (ties to even): 1536 → "1.5 KiB", 197120 → "192 KiB".
    """
    value = float(size_bytes)
    index = 0
    while abs(value) >= 1000 and index < len(_BINARY_UNITS) - 1:  # "%0.3g" would turn to 1e+03
        value /= 1024
        index += 1
    return f"{value:.3g} {_BINARY_UNITS[index]}"


def parse_size(text: str) -> int:
    """The number of bytes that `text` means: a number with an optional binary suffix (64k, 1.5G).

    Raises:
        ValueError: When `text` is not such a number, or not a whole number of bytes.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a size (examples: 512, 64k, 2M, 1.5G)")
    digits, suffix = match.groups()
    factor = _SUFFIXES[suffix.lower()]
    if "." not in digits:
        return int(digits) * factor
    size = float(digits) * factor
    if not size.is_integer():
        raise ValueError(f"{text!r} is not a whole number of bytes")
    return int(size)


def format_hex(value: int, bits: int = 64) -> str:
    """`value` as 0x and `bits` / 4 hexadecimal digits."""
    return f"0x{value:0{bits // 4}x}"


def format_offset(offset: int) -> str:
    """A file offset for reading: hexadecimal, grouped by four digits (0x1_4000_0000)."""
    return f"0x{offset:_x}"


def format_count(count: int, singular: str, plural: str = "") -> str:
    """`count` with thousands separators and the noun in the right number: "1,024 clusters"."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"
