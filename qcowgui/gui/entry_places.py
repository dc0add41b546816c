"""Where the tables of entries of an image lie, and what single entries of them say.

Knows no widgets, and never waits: see `EntryPlaces`. Spec: 1.7 to 1.12
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from qcowgui.format.entries import L1Entry, L2Entry
from qcowgui.format.geometry import ENTRY_BYTES, REFCOUNT_OFFSET_MASK, Geometry
from qcowgui.gui.selection import Selection
from qcowgui.gui.structures import StructureKey
from qcowgui.image.inspect import ImageReport
from qcowgui.units import ceil_div

Read = Callable[[int, int], bytes | None]
"""(offset, length) → the bytes of the file, fewer only at its end; None when not here yet."""


@dataclass(frozen=True, slots=True)
class TablePlace:
    """Where a table of entries lies, and what its entries stand for.

    Attributes:
        host_offset: First byte of the table in the file.
        entries: How many entries it has, as the image says; the file may end before.
        entry_bits: Bits in one entry.
    """

    host_offset: int
    entries: int
    entry_bits: int

    @property
    def end_offset(self) -> int:
        """End (exclusive) of the table."""
        return self.host_offset + ceil_div(self.entries * self.entry_bits, 8)

    def entry_range(self, row: int) -> tuple[int, int]:
        """The bytes [start, end) of the file that entry `row` occupies, at least one."""
        start = self.host_offset + row * self.entry_bits // 8
        return start, start + max(1, self.entry_bits // 8)

    def row_at(self, host_offset: int) -> int | None:
        """The first entry in the byte at `host_offset`, or None when it is not in the table."""
        if not self.host_offset <= host_offset < self.end_offset:
            return None
        return (host_offset - self.host_offset) * 8 // self.entry_bits


class EntryPlaces:
    """The tables of one image. What it needs of the file it asks its `read` for.

    As long as that has nothing yet (None), the answer is as good as it can be without, and may be
    asked for again. Belongs to one thread.

    Attributes:
        report: What an open says of the image.
    """

    def __init__(self, report: ImageReport, read: Read) -> None:
        self.report = report
        self._read = read

    @property
    def geometry(self) -> Geometry | None:
        """The numbers that follow from the header, or None when it allows none."""
        return self.report.header.geometry

    def guest_bytes(self, snapshot: int | None = None) -> int:
        """How far the tables of a disk may map: of a snapshot its VM state, too."""
        geometry = self.geometry
        if geometry is None:
            return 0
        if snapshot is None:
            return self.report.virtual_bytes
        place = self.l1_place(snapshot)
        return 0 if place is None else place.entries * geometry.l1_coverage_bytes

    def table_place(self, selection: Selection) -> TablePlace | None:
        """Where the entry table that is selected lies; None when it is none, or not known yet."""
        geometry = self.geometry
        if geometry is None:
            return None
        header = self.report.header
        match selection.structure:
            case StructureKey.L1:
                return self.l1_place(selection.snapshot)
            case StructureKey.REFCOUNT_TABLE:
                table_bytes = header.refcount_table_clusters * geometry.cluster_bytes
                return TablePlace(header.refcount_table_offset, table_bytes // ENTRY_BYTES, 64)
            case StructureKey.L2:
                word = self.entry_word(self.l1_place(selection.snapshot), selection.part)
                offset = 0 if word is None else L1Entry(word).l2_table_offset
                entries, bits = geometry.l2_entries, geometry.l2_entry_bytes * 8
            case StructureKey.REFCOUNT_BLOCK:
                table = self.table_place(Selection(StructureKey.REFCOUNT_TABLE))
                word = self.entry_word(table, selection.part)
                offset = 0 if word is None else word & REFCOUNT_OFFSET_MASK
                entries, bits = geometry.refcounts_per_block, geometry.refcount_bits
            case StructureKey.BITMAP_TABLE:
                for bitmap in self.report.bitmaps:
                    if bitmap.index == selection.part:
                        return TablePlace(
                            bitmap.bitmap_table_offset, bitmap.bitmap_table_size, ENTRY_BYTES * 8
                        )
                return None
            case _:
                return None
        return TablePlace(offset, entries, bits) if offset else None

    def host_of_entry(self, entry: Selection) -> tuple[int, int] | None:
        """The bytes [start, end) of the image file that an L1, L2 or other entry points to."""
        geometry = self.geometry
        if geometry is None or entry.row is None:
            return None
        size = geometry.cluster_bytes
        match entry.structure:
            case StructureKey.L1:
                place = self.table_place(
                    Selection(StructureKey.L2, None, entry.row, entry.snapshot)
                )
            case StructureKey.REFCOUNT_TABLE:
                place = self.table_place(Selection(StructureKey.REFCOUNT_BLOCK, None, entry.row))
            case StructureKey.REFCOUNT_BLOCK if entry.part is not None:
                start = (entry.part * geometry.refcounts_per_block + entry.row) * size
                return start, start + size
            case StructureKey.BITMAP_TABLE:
                word = self.entry_word(self.table_place(entry.table), entry.row)
                offset = 0 if word is None else L1Entry(word).l2_table_offset
                return (offset, offset + size) if offset else None
            case StructureKey.L2:
                found = self.l2_entry(entry)
                return None if found is None else data_range(found, self.report)
            case _:
                return None
        return None if place is None else (place.host_offset, place.host_offset + size)

    def l1_place(self, snapshot: int | None) -> TablePlace | None:
        """Where the L1 table of a disk lies; None when there is no such snapshot."""
        header = self.report.header
        if snapshot is None:
            return TablePlace(header.l1_table_offset, header.l1_size, ENTRY_BYTES * 8)
        for found in self.report.snapshots:
            if found.index == snapshot:
                return TablePlace(found.l1_table_offset, found.l1_size, ENTRY_BYTES * 8)
        return None

    def entry_word(self, place: TablePlace | None, row: int | None) -> int | None:
        """The 64-bit word of an entry; None when there is none, or it is not here yet."""
        if place is None or row is None or not 0 <= row < place.entries:
            return None
        data = self._read(place.entry_range(row)[0], ENTRY_BYTES)
        return None if data is None or len(data) < ENTRY_BYTES else int.from_bytes(data, "big")

    def l2_entry(self, selection: Selection) -> L2Entry | None:
        """The L2 entry that is selected; None when there is none, or it is not here yet."""
        geometry = self.geometry
        place = self.table_place(selection)
        if geometry is None or place is None or selection.row is None:
            return None
        start, end = place.entry_range(selection.row)
        data = self._read(start, end - start)
        if data is None or len(data) < end - start:
            return None
        bitmap = int.from_bytes(data[ENTRY_BYTES:], "big")
        return L2Entry(int.from_bytes(data[:ENTRY_BYTES], "big"), bitmap, geometry)

    def lies_beyond(self, entry: Selection) -> bool:
        """Whether the file ends before the end of an entry."""
        return entry.host is not None and entry.host[1] > self.report.file_bytes

    def entry_host(self, selection: Selection) -> tuple[int, int] | None:
        """The bytes of the file that an entry of a table, or the table, occupies."""
        place = self.table_place(selection)
        if place is None:
            return None
        if selection.row is None:
            return place.host_offset, place.end_offset
        return place.entry_range(selection.row)

    def entry_guest(self, selection: Selection) -> tuple[int, int] | None:
        """The guest bytes that an L1 or L2 entry, or an L2 table, maps."""
        geometry, row = self.geometry, selection.row
        if geometry is None:
            return None
        if selection.structure is StructureKey.L1 and row is not None:
            start = geometry.guest_offset(row)
            size = geometry.l1_coverage_bytes
        elif selection.structure is StructureKey.L2 and selection.part is not None:
            start = geometry.guest_offset(selection.part, row or 0)
            size = geometry.l1_coverage_bytes if row is None else geometry.cluster_bytes
        else:
            return None
        return self._clipped(start, size, selection.snapshot)

    def guest_cluster(self, row: int | None, snapshot: int | None) -> tuple[int, int] | None:
        """The guest bytes of a cluster; None behind the end of the disk."""
        if row is None or self.geometry is None:
            return None
        size = self.geometry.cluster_bytes
        return self._clipped(row * size, size, snapshot)

    def _clipped(self, start: int, size: int, snapshot: int | None) -> tuple[int, int] | None:
        end = min(start + size, self.guest_bytes(snapshot))
        return (start, end) if start < end else None


def data_range(entry: L2Entry, report: ImageReport) -> tuple[int, int] | None:
    """The bytes of the image file that hold an entry's data, or are kept for it."""
    if report.header.has_data_file or not entry.host_offset:
        return None
    if entry.is_compressed:
        return entry.host_offset, entry.compressed.end
    return entry.host_offset, entry.host_offset + entry.geometry.cluster_bytes
