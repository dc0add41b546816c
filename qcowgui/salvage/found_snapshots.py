"""Snapshot tables found without a header. They name the L1 tables of snapshots, and disk sizes."""

from __future__ import annotations

from typing import Final

import numpy as np

from qcowgui.format import limits
from qcowgui.format.geometry import ENTRY_BYTES, OFFSET_MASK
from qcowgui.format.snapshots import Snapshot, parse_snapshot_entry
from qcowgui.format.tables import Words, parse_words
from qcowgui.format.text import is_clean_name
from qcowgui.image.source import ByteSource
from qcowgui.salvage.scan import Scan
from qcowgui.salvage.tables import TableSet
from qcowgui.units import KIB

_READ_BYTES: Final = 64 * KIB
"""ours: what is read of a supposed table; honest entries take some 60 to 100 bytes."""
_MAX_ENTRIES: Final = 4096
"""ours: entries and failed attempts, over all supposed tables."""
_JUDGED_ENTRIES: Final = 4096
"""ours: L1 entries that are looked at to tell whether a snapshot's table is one."""


def find_snapshots(source: ByteSource, scan: Scan, tables: TableSet) -> tuple[Snapshot, ...]:
    """The entries of the most plausible snapshot table, or none.

    Args:
        source: The damaged image.
        scan: What its scan has shown.
        tables: The clusters that could be L2 tables.

    Raises:
        SourceError: When the operating system refuses a read.
    """
    best: list[Snapshot] = []
    left = _MAX_ENTRIES
    for offset in scan.snapshot_offsets:
        if left > 0 and tables.geometry.is_aligned(offset):
            found = _parse(source, offset, tables, left)
            left -= len(found) + 1
            if len(found) > len(best):
                best = found
    return tuple(best)


def load_l1(source: ByteSource, offset: int, entries: int) -> Words:
    """`entries` words of an L1 table, within QEMU's bound; fewer where the file ends."""
    length = min(entries * ENTRY_BYTES, limits.MAX_L1_BYTES)
    return parse_words(source.read_at(offset, length))


def _parse(source: ByteSource, offset: int, tables: TableSet, most: int) -> list[Snapshot]:
    data = source.read_at(offset, _READ_BYTES)
    found: list[Snapshot] = []
    position = 0
    while len(found) < most:
        entry = parse_snapshot_entry(
            data, position, index=len(found), entry_offset=offset + position
        )
        if not isinstance(entry, Snapshot) or not _is_plausible(source, entry, tables):
            break
        found.append(entry)
        position += entry.entry_bytes
    return found


def _is_plausible(source: ByteSource, entry: Snapshot, tables: TableSet) -> bool:
    """Whether an entry is text where it should be, and its L1 table leads to L2 tables."""
    offset, l1_bytes = entry.l1_table_offset, entry.l1_size * ENTRY_BYTES
    if not entry.id_raw or not 0 < offset < source.size_bytes or l1_bytes > limits.MAX_L1_BYTES:
        return False
    if not tables.geometry.is_aligned(offset) or (entry.disk_bytes or 0) > limits.MAX_OFFSET:
        return False
    if not (is_clean_name(entry.id_raw) and is_clean_name(entry.name_raw)):
        return False
    words = load_l1(source, offset, min(entry.l1_size, _JUDGED_ENTRIES))
    offsets = (words & np.uint64(OFFSET_MASK)).astype(np.int64)
    named = offsets[offsets != 0]
    # The snapshot of an empty disk names no table; what else the entry says has to do then.
    found = int(np.count_nonzero(tables.index_of(named) >= 0))
    return found * 2 >= len(named)
