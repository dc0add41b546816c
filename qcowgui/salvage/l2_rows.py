"""L2 tables that are damaged or gone: what is left of them, and which guest ranges are lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from qcowgui.engine.work import CancelToken
from qcowgui.format.geometry import READS_ZERO, Geometry
from qcowgui.image.layer import LostRange
from qcowgui.image.patched import Patch
from qcowgui.image.source import ByteSource
from qcowgui.salvage.scan import Indices
from qcowgui.salvage.tables import Flags, TableSet, iter_loaded
from qcowgui.salvage.words import fits_geometry, is_bitmap, offset_limit
from qcowgui.units import SECTOR_BYTES, format_offset

LOST_TABLE: Final = -1
"""In place of a host offset: an L1 entry whose table is lost."""
_ALL_ZERO_BITMAP: Final = 0xFFFF_FFFF_0000_0000
_LOST: Final = "lost-table"


@dataclass(frozen=True, slots=True)
class CleanedTables:
    """An L1 table's L2 tables, as far as they can be used.

    Attributes:
        l1: The host offset of the L2 table of each entry; 0 for none, LOST_TABLE for a lost one.
        patches: What to read instead of the damaged parts of tables.
        lost: The guest ranges that lost tables and parts of tables mapped.
        whole: Tables without damage.
        damaged: Tables of which a part can be used.
        gone: Tables that are overwritten, all zeros or beyond the end of the file.
    """

    l1: Indices
    patches: tuple[Patch, ...]
    lost: tuple[LostRange, ...]
    whole: int
    damaged: int
    gone: int


def zero_entries(geometry: Geometry, entries: int) -> bytes:
    """L2 entries of clusters that read as zeros. Spec: 1.7, 1.8"""
    if geometry.extended_l2:
        return np.array([0, _ALL_ZERO_BITMAP] * entries, dtype=">u8").tobytes()
    return np.full(entries, READS_ZERO, dtype=">u8").tobytes()


def clean_tables(
    source: ByteSource, l1: Indices, tables: TableSet, virtual_bytes: int, token: CancelToken
) -> CleanedTables:
    """Sort the tables that an L1 table names into whole, damaged and gone.

    Args:
        source: The damaged image.
        l1: The host offset of the L2 table of each entry, 0 for none.
        tables: The clusters that are shaped like L2 tables.
        virtual_bytes: Where the disk ends.
        token: Stops the work.

    Raises:
        Cancelled: When the token was set.
        SourceError: When the operating system refuses a read.
    """
    run = _Cleaning(source, tables, virtual_bytes)
    result = l1.copy()
    named = np.flatnonzero(l1)
    # The last table of a file that was cut may end in the middle.
    whole = l1[named] + tables.geometry.cluster_bytes <= source.size_bytes
    shaped = (tables.index_of(l1[named]) >= 0) & whole
    for index in named[~shaped].tolist():
        token.raise_if_cancelled()
        if not run.keep(index, int(l1[index])):
            result[index] = LOST_TABLE
    return CleanedTables(
        result,
        tuple(run.patches.items()),
        tuple(run.lost),
        int(np.count_nonzero(shaped)),
        run.damaged,
        int(np.count_nonzero(result == LOST_TABLE)),
    )


class _Cleaning:
    """One run of `clean_tables`: looks at one damaged table after another."""

    def __init__(self, source: ByteSource, tables: TableSet, virtual_bytes: int) -> None:
        self._source = source
        self._geometry = tables.geometry
        self._virtual_bytes = virtual_bytes
        self.patches: dict[int, bytes] = {}
        self.lost: list[LostRange] = []
        self.damaged = 0

    def keep(self, l1_index: int, offset: int) -> bool:
        """Whether a table that is not shaped like one is of any use; notes what is not."""
        geometry = self._geometry
        what = f"the L2 table at {format_offset(offset)}, which L1[{l1_index}] names,"
        whole = geometry.l1_coverage_bytes
        if not geometry.is_aligned(offset):
            self._lose(l1_index, 0, whole, f"{what} is at no cluster boundary")
            return False
        if offset >= self._source.size_bytes:
            self._lose(l1_index, 0, whole, f"{what} lies beyond the end of the file")
            return False
        cluster = np.array([offset >> geometry.cluster_bits])
        _, words, bitmaps = next(iter_loaded(self._source, cluster, geometry, CancelToken()))
        good = fits_geometry(words, geometry, offset_limit(self._source.size_bytes))
        if bitmaps is not None:
            good &= is_bitmap(bitmaps, words)
        per_row = SECTOR_BYTES // geometry.l2_entry_bytes
        good_rows: Flags = np.array(good.reshape(-1, per_row).all(axis=1))
        good_rows[max(0, self._source.size_bytes - offset) // SECTOR_BYTES :] = False
        used_rows = words.reshape(-1, per_row).any(axis=1)
        if not (good_rows & used_rows).any():
            why = "is overwritten" if used_rows.any() else "is nothing but zeros"
            self._lose(l1_index, 0, whole, f"{what} {why}")
            return False
        row_bytes = per_row << geometry.cluster_bits
        for row in np.flatnonzero(~good_rows).tolist():
            self.patches[offset + row * SECTOR_BYTES] = zero_entries(geometry, per_row)
            beyond = offset + (row + 1) * SECTOR_BYTES > self._source.size_bytes
            why = "is cut by the end of the file" if beyond else "is overwritten in part"
            self._lose(l1_index, row * row_bytes, row_bytes, f"{what} {why}")
        self.damaged += 1
        return True

    def _lose(self, l1_index: int, start: int, length: int, reason: str) -> None:
        start += l1_index * self._geometry.l1_coverage_bytes
        length = min(length, self._virtual_bytes - start)
        if length > 0:
            last = self.lost[-1] if self.lost else None
            if last is not None and last.reason == reason and last.end == start:
                self.lost[-1] = LostRange(last.start, last.length + length, reason, _LOST)
            else:
                self.lost.append(LostRange(start, length, reason, _LOST))
