"""Persistent dirty bitmaps: the extension that points to them, one of them, its table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from qcowgui.format import fields, geometry, limits
from qcowgui.format.finding import Finding, Refusal, Severity
from qcowgui.units import ceil_div, format_offset

TYPE_DIRTY_TRACKING: Final = 1
FLAG_IN_USE: Final = 1 << 0
FLAG_AUTO: Final = 1 << 1
FLAG_EXTRA_DATA_COMPATIBLE: Final = 1 << 2
_KNOWN_FLAGS: Final = FLAG_IN_USE | FLAG_AUTO | FLAG_EXTRA_DATA_COMPATIBLE

MAX_SHIFT_BITS: Final = 63
"""spec: the most granularity_bits that a 64-bit guest offset has a meaning for."""
_ALL_ONES: Final = 1 << 0
_EXTENSION_BYTES: Final = fields.BITMAPS_EXTENSION_FIELDS[-1].end


@dataclass(frozen=True, slots=True)
class BitmapsExtension:
    """The content of the bitmaps header extension.

    Attributes:
        nb_bitmaps: Entries of the directory.
        reserved: Must be zero.
        bitmap_directory_size: Length of the directory in bytes.
        bitmap_directory_offset: Its host offset, cluster-aligned when valid.
    """

    nb_bitmaps: int
    reserved: int
    bitmap_directory_size: int
    bitmap_directory_offset: int


def parse_bitmaps_extension(
    data: bytes, *, cluster_bits: int, host_offset: int, loaded: bool = True
) -> tuple[BitmapsExtension | None, list[Finding]]:
    """The extension in `data`, None when it is shorter than 24 bytes, and what is wrong with it.

    Args:
        data: The extension's data, without its type and length.
        cluster_bits: Of the image.
        host_offset: Where `data` lies in the file.
        loaded: Whether QEMU loads the bitmaps, so that it refuses broken ones: in version 3 with
            the autoclear bit. It refuses a wrong length in any case.

    Spec: 1.4, 1.5
    """
    extension = None
    problems: list[tuple[int, str, int, str]] = []
    if len(data) != _EXTENSION_BYTES:
        message = f"The bitmaps extension has {len(data):,} bytes instead of {_EXTENSION_BYTES}."
        problems.append((0, message, len(data), f"{_EXTENSION_BYTES} bytes"))
    if len(data) >= _EXTENSION_BYTES:
        extension = BitmapsExtension(**fields.parse_fields(fields.BITMAPS_EXTENSION_FIELDS, data))
        problems += _iter_extension_problems(extension, 1 << cluster_bits)
    findings = [
        Finding(
            "bitmaps-extension",
            Severity.CORRUPTION,
            message,
            "bitmaps extension",
            host_offset=host_offset + field_offset,
            raw=raw,
            expected=expected,
            spec="1.4",
            refusal=Refusal.QEMU if loaded or len(data) != _EXTENSION_BYTES else Refusal.NONE,
        )
        for field_offset, message, raw, expected in problems
    ]
    return extension, findings


def _iter_extension_problems(
    extension: BitmapsExtension, cluster_bytes: int
) -> Iterator[tuple[int, str, int, str]]:
    """Field offset, message, value found and value expected of each broken rule."""
    count = extension.nb_bitmaps
    if not 1 <= count <= limits.MAX_BITMAPS:
        message = f"The bitmaps extension announces {count:,} bitmaps."
        yield 0, message, count, f"1 to {limits.MAX_BITMAPS:,}"
    if extension.reserved:
        message = "The reserved field of the bitmaps extension is not zero."
        yield 4, message, extension.reserved, "0"
    size = extension.bitmap_directory_size
    if not 0 < size <= limits.MAX_BITMAP_DIRECTORY_BYTES:
        message = f"The bitmap directory is said to be {size:,} bytes long."
        yield 8, message, size, f"1 to {limits.MAX_BITMAP_DIRECTORY_BYTES:,} bytes"
    offset = extension.bitmap_directory_offset
    if offset == 0 or offset % cluster_bytes:
        message = f"The bitmap directory's offset {format_offset(offset)} is not a usable cluster."
        yield 16, message, offset, f"a multiple of {cluster_bytes:,}, not 0"


@dataclass(frozen=True, slots=True)
class BitmapEntry:
    """One entry of the bitmap directory.

    Attributes:
        index: Position in the directory, from 0.
        bitmap_table_offset: Host offset of the bitmap's table, not validated.
        bitmap_table_size: Entries (not bytes) of that table.
        flags: As stored.
        type: As stored; 1 = dirty tracking.
        granularity_bits: As stored; each bit stands for 1 << granularity_bits guest bytes.
        extra_data: As stored.
        name: Fit to be shown; `name_raw` has the bytes.
        name_raw: As stored.
        entry_offset: Host offset of the entry.
        entry_bytes: Its length with the padding up to the next entry.
    """

    index: int
    bitmap_table_offset: int
    bitmap_table_size: int
    flags: int
    type: int
    granularity_bits: int
    extra_data: bytes
    name: str
    name_raw: bytes
    entry_offset: int
    entry_bytes: int

    @property
    def in_use(self) -> bool:
        """Whether it was not saved cleanly: its content can't be trusted."""
        return bool(self.flags & FLAG_IN_USE)

    @property
    def auto(self) -> bool:
        """Whether it goes on recording as soon as the image is opened for writing."""
        return bool(self.flags & FLAG_AUTO)

    @property
    def extra_data_compatible(self) -> bool:
        """Whether a program that doesn't know the extra data may use the bitmap all the same."""
        return bool(self.flags & FLAG_EXTRA_DATA_COMPATIBLE)

    @property
    def unknown_flags(self) -> int:
        """The flag bits that the format does not define."""
        return self.flags & ~_KNOWN_FLAGS

    @property
    def granularity_bytes(self) -> int | None:
        """Guest bytes per bit, or None when granularity_bits is impossible."""
        if self.granularity_bits > MAX_SHIFT_BITS:
            return None
        return 1 << self.granularity_bits

    @property
    def usable(self) -> bool:
        """Whether the entry's own fields let its bits be believed; says nothing of its table."""
        return (
            not self.in_use
            and not self.unknown_flags
            and self.type == TYPE_DIRTY_TRACKING
            and self.granularity_bytes is not None
            and (not self.extra_data or self.extra_data_compatible)
        )


def bitmap_table_entries_needed(
    virtual_bytes: int, granularity_bits: int, cluster_bits: int
) -> int:
    """How many table entries (clusters of bits) a bitmap over the whole disk needs."""
    bits = ceil_div(virtual_bytes, 1 << granularity_bits)
    return ceil_div(ceil_div(bits, 8), 1 << cluster_bits)


class BitmapClusterKind(IntEnum):
    """What one entry of a bitmap table says about its cluster of bits."""

    ZEROS = 0
    """No cluster: every bit is 0."""
    ONES = 1
    """No cluster: every bit is 1."""
    ALLOCATED = 2
    """The bits lie at the cluster offset."""
    INVALID = 3
    """Reserved bits are set, or the offset is not a cluster's."""


@dataclass(frozen=True, slots=True)
class BitmapTable:
    """A bitmap table taken apart, one element per complete entry.

    Attributes:
        cluster_offset: uint64, host offset of the bits; 0 unless `kind` is ALLOCATED.
        kind: uint8, values of `BitmapClusterKind`.
    """

    cluster_offset: NDArray[np.uint64]
    kind: NDArray[np.uint8]


def decode_bitmap_table(data: bytes, *, cluster_bits: int) -> BitmapTable:
    """The meaning of each complete entry in `data`; an incomplete one at the end is left out.

    Allocates some five times the length of `data`: bound that by `bitmap_table_entries_needed` and
    by `limits.MAX_BITMAP_BYTES` before reading it.

    Spec: 1.12
    """
    raw = np.frombuffer(data, dtype=">u8", count=len(data) // geometry.ENTRY_BYTES).astype(
        np.uint64
    )
    offset = raw & np.uint64(geometry.OFFSET_MASK)
    all_ones = (raw & np.uint64(_ALL_ONES)) != 0
    invalid = (raw & np.uint64(geometry.BITMAP_RESERVED_MASK)) != 0
    # Bit 0 has a meaning only where there is no offset.
    invalid |= (offset != 0) & all_ones
    invalid |= (offset & np.uint64((1 << cluster_bits) - 1)) != 0
    kind = np.full(raw.shape, BitmapClusterKind.ZEROS, dtype=np.uint8)
    kind[all_ones] = BitmapClusterKind.ONES
    kind[offset != 0] = BitmapClusterKind.ALLOCATED
    kind[invalid] = BitmapClusterKind.INVALID
    offset[kind != BitmapClusterKind.ALLOCATED] = 0
    return BitmapTable(offset, kind)
