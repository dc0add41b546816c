"""Writes the persistent bitmaps of a new qcow2 file: bits, tables, directory. Spec: 1.12"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from qcowgui.convert.carried_bitmaps import all_ones
from qcowgui.convert.qcow2_header import DirectoryPlace
from qcowgui.convert.zeros import is_zero
from qcowgui.format.bitmaps import (
    FLAG_AUTO,
    TYPE_DIRTY_TRACKING,
    BitmapEntry,
    bitmap_table_entries_needed,
)
from qcowgui.format.geometry import ENTRY_BYTES, Geometry
from qcowgui.units import align_up, ceil_div

if TYPE_CHECKING:
    from qcowgui.convert.carried_bitmaps import BitmapSource
    from qcowgui.convert.host_layout import HostLayout

_ENTRY: Final = struct.Struct(">QIIBBHI")
"""Table offset, table entries, flags, type, granularity, length of the name and of extra data."""
_ALL_ONES: Final = 1
"""A table entry without a cluster, all of whose bits are 1."""


def write_bitmaps(
    bitmaps: BitmapSource,
    geometry: Geometry,
    layout: HostLayout,
    write: Callable[[int, bytes], None],
) -> DirectoryPlace | None:
    """Write bitmaps at the end of what a layout has handed out; None when there is none.

    Args:
        bitmaps: What to write.
        geometry: Of the new file.
        layout: Gives each structure its place.
        write: Writes bytes at a host offset.

    Raises:
        LimitError: When bits can't be read after all.
        SourceError: When the operating system refuses a read.
        OutputError: When it refuses a write.
        Cancelled: When the token was set.
    """
    if not bitmaps.carried.kept:
        return None
    directory = bytearray()
    for entry in bitmaps.carried.kept:
        words = _write_bits(bitmaps, entry, geometry, layout, write)
        table_offset = layout.allocate_clusters(geometry.clusters(len(words) * ENTRY_BYTES))
        write(table_offset, words.tobytes())
        layout.write_final_blocks()
        fixed = _ENTRY.pack(
            table_offset,
            len(words),
            FLAG_AUTO if entry.auto else 0,
            TYPE_DIRTY_TRACKING,
            entry.granularity_bits,
            len(entry.name_raw),
            0,
        )
        record = fixed + entry.name_raw
        directory += record.ljust(align_up(len(record), ENTRY_BYTES), b"\0")
    offset = layout.allocate_clusters(geometry.clusters(len(directory)))
    write(offset, bytes(directory))
    return DirectoryPlace(offset, len(directory), len(bitmaps.carried.kept))


def _write_bits(
    bitmaps: BitmapSource,
    entry: BitmapEntry,
    geometry: Geometry,
    layout: HostLayout,
    write: Callable[[int, bytes], None],
) -> npt.NDArray[np.uint64]:
    """Write the parts of a bitmap that need a cluster; the words of its table, big-endian."""
    part_bytes = geometry.cluster_bytes
    bits = ceil_div(bitmaps.virtual_bytes, 1 << entry.granularity_bits)
    count = bitmap_table_entries_needed(
        bitmaps.virtual_bytes, entry.granularity_bits, geometry.cluster_bits
    )
    words = np.zeros(count, dtype=">u8")
    for index, part in enumerate(bitmaps.iter_parts(entry, part_bytes)):
        if is_zero(part):
            continue
        if all_ones(part, min(part_bytes * 8, bits - index * part_bytes * 8)):
            words[index] = _ALL_ONES
            continue
        offset = layout.allocate_clusters(1)
        write(offset, part)
        words[index] = offset
    return words
