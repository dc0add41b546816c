"""What the entries of an L2 table refer to, counted as `qemu-img check` counts. Spec: 1.7 to 1.10

QEMU's classification goes by the words alone: it knows no invalid entries, and an unaligned offset
refers to both clusters that it touches. What is wrong with an entry is another matter (`l2_rules`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from qcowgui.check.l2_tables import L2Table
from qcowgui.check.overwritten import may_be_overwritten, overwritten_l2
from qcowgui.format import geometry as geo
from qcowgui.format.tables import Words
from qcowgui.units import SECTOR_BYTES

_Entries = npt.NDArray[np.intp]
_Offsets = npt.NDArray[np.int64]
_Flags = npt.NDArray[np.bool_]

_NO_ENTRIES: Final[_Entries] = np.zeros(0, dtype=np.intp)
_NO_OFFSETS: Final[_Offsets] = np.zeros(0, dtype=np.int64)
_OFFSET_MASK: Final = np.uint64(geo.OFFSET_MASK)
_COMPRESSED: Final = np.uint64(geo.COMPRESSED)
_READS_ZERO: Final = np.uint64(geo.READS_ZERO)
_COPIED: Final = np.uint64(geo.COPIED)


@dataclass(frozen=True, slots=True)
class Run:
    """All entries of a table are standard clusters that follow each other in the file.

    Attributes:
        host_offset: Of the first one; aligned.
        clusters: How many there are; none reaches beyond the end of the file.
        copied: Their COPIED flag, which is the same for all.
    """

    host_offset: int
    clusters: int
    copied: bool


@dataclass(frozen=True, slots=True)
class EntryReferences:
    """The references of one `L2Table`, entry by entry.

    Attributes:
        standard: Positions of the entries that name a standard cluster.
        standard_offsets: int64: its host offset, unaligned or beyond the end of the file as found;
            with a data file, an offset in that.
        zero: Of these, whether the cluster reads as zeros (but keeps its place).
        copied: Of these, the COPIED flag.
        payloads: Positions of the compressed entries that count.
        payload_offsets: int64: first byte of each one's payload.
        payload_ends: int64: end (exclusive) of the sectors it claims.
        overwritten: bool, of each entry of the table: it is none, because something else was
            written there. None when all may be some.
    """

    standard: _Entries
    standard_offsets: _Offsets
    zero: _Flags
    copied: _Flags
    payloads: _Entries
    payload_offsets: _Offsets
    payload_ends: _Offsets
    overwritten: _Flags | None = None

    @property
    def believed(self) -> EntryReferences:
        """Those of the entries that may be some."""
        return self if self.overwritten is None else self._select(~self.overwritten)

    @property
    def disbelieved(self) -> EntryReferences | None:
        """Those of what was written over the table; None when nothing was."""
        return None if self.overwritten is None else self._select(self.overwritten)

    def _select(self, entries: _Flags) -> EntryReferences:
        standard, payloads = entries[self.standard], entries[self.payloads]
        return EntryReferences(
            self.standard[standard],
            self.standard_offsets[standard],
            self.zero[standard],
            self.copied[standard],
            self.payloads[payloads],
            self.payload_offsets[payloads],
            self.payload_ends[payloads],
        )

    def fragmented_clusters(self, entries_per_table: int, cluster_bytes: int) -> int:
        """QEMU's number: standard clusters that don't follow the one before, and all payloads."""
        offsets = self.standard_offsets
        follows = offsets[1:] - offsets[:-1] == cluster_bytes
        if len(self.standard) and self.standard[-1] >= entries_per_table:
            tables = self.standard // entries_per_table
            follows |= tables[1:] != tables[:-1]
        return int(len(follows) - np.count_nonzero(follows)) + len(self.payloads)


def find_run(table: L2Table, file_bytes: int) -> Run | None:
    """The run that `table` is, or None when it is something else: most tables, mostly, are runs."""
    if table.bitmaps is not None or table.has_data_file:
        return None
    words, cluster_bytes = table.words, table.geometry.cluster_bytes
    first, last = int(words[0]), int(words[-1])
    offset = first & geo.OFFSET_MASK
    length = len(words) * cluster_bytes
    if (
        last - first != length - cluster_bytes
        or first & ~(geo.COPIED | geo.OFFSET_MASK)
        or offset & cluster_bytes - 1
        or not offset
        or offset + length > file_bytes
    ):
        return None
    # The ends alone don't tell: entries between them may be exchanged.
    if not (words[1:] - words[:-1] == np.uint64(cluster_bytes)).all():
        return None
    return Run(offset, len(words), bool(first & geo.COPIED))


def find_references(table: L2Table) -> EntryReferences:
    """What the entries of `table` refer to, wherever that lies."""
    words = table.words
    union = int(np.bitwise_or.reduce(words))
    offsets = words & _OFFSET_MASK
    is_standard = offsets != 0
    if table.has_data_file:
        # Only here may a cluster lie at offset 0. The zero flag, tested first, hides it.
        is_copied = (words & _COPIED) != 0
        if table.bitmaps is None:
            is_copied &= (words & _READS_ZERO) == 0
        is_standard |= is_copied
    payloads = _NO_ENTRIES
    payload_offsets = payload_ends = _NO_OFFSETS
    if union & geo.COMPRESSED:
        is_compressed = (words & _COMPRESSED) != 0
        is_standard &= ~is_compressed
        if table.bitmaps is not None:
            is_compressed &= table.bitmaps == 0
        if not table.has_data_file:
            payloads = np.flatnonzero(is_compressed)
            payload_offsets, payload_ends = _payload_ranges(words[payloads], table)
    if is_standard.all():
        standard, chosen, standard_offsets = np.arange(len(words)), words, offsets
    else:
        standard = np.flatnonzero(is_standard)
        chosen, standard_offsets = words[standard], offsets[standard]
    if table.bitmaps is not None:
        zero = (table.bitmaps[standard] & np.uint64(0xFFFF_FFFF)) == 0
    elif union & geo.READS_ZERO:
        zero = (chosen & _READS_ZERO) != 0
    else:
        zero = np.zeros(len(standard), dtype=np.bool_)
    return EntryReferences(
        standard,
        standard_offsets.view(np.int64),
        zero,
        chosen >= _COPIED,
        payloads,
        payload_offsets,
        payload_ends,
        _find_overwritten(table, standard_offsets.view(np.int64), payload_offsets),
    )


def _find_overwritten(
    table: L2Table, standard_offsets: _Offsets, payload_offsets: _Offsets
) -> _Flags | None:
    # A compressed entry with a subcluster bitmap is among neither of the two.
    known = table.bitmaps is None
    if known and not may_be_overwritten(
        table.words,
        standard_offsets,
        payload_offsets,
        table.bounds,
        has_data_file=table.has_data_file,
    ):
        return None
    return overwritten_l2(
        table.words,
        table.bitmaps,
        table.geometry,
        table.bounds,
        has_data_file=table.has_data_file,
    )


def _payload_ranges(words: Words, table: L2Table) -> tuple[_Offsets, _Offsets]:
    """First byte and end of the sectors of compressed descriptors. Spec: 1.9"""
    geometry = table.geometry
    offsets = (words & np.uint64(geometry.compressed_offset_mask)).view(np.int64)
    sectors = (words >> np.uint64(geometry.compressed_shift)) & np.uint64(
        geometry.compressed_sectors_mask
    )
    first_sectors = offsets - (offsets & (SECTOR_BYTES - 1))
    return offsets, first_sectors + (sectors.view(np.int64) + 1) * SECTOR_BYTES
