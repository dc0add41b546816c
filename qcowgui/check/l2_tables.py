"""Loading L2 tables, some thousand entries at a time. Spec: 1.7, 1.8

An `L2Table` is one table, or, where clusters are small, a run of tables: setting up the arrays of
a table of 64 entries costs as much as of one of 8,192 (2026-11-30).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

import numpy as np
import numpy.typing as npt

from qcowgui.check.l1_tables import MappingOwner
from qcowgui.check.l2_places import L2Places
from qcowgui.check.overwritten import EntryBounds
from qcowgui.format.entries import ClusterKind
from qcowgui.format.geometry import Geometry
from qcowgui.format.tables import L2View, Words, decode_l2
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource

WINDOW_ENTRIES: Final = 8192
_WINDOWS_PLANNED: Final = 1024

_Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class L2Table:
    """One L2 table, or a run of several that the same number of L1 entries name.

    Attributes:
        owner: The disk whose L1 table names them; the active one before snapshots.
        l1_indices: int64, one element a table: the first L1 entry that names it.
        host_offsets: int64, one element a table.
        words: The entries' first (or only) words, table after table; zeros beyond the file's end.
        bitmaps: Their subcluster bitmaps with extended L2 entries, else None.
        entries_missing: int64, one element a table: entries (partly) beyond the end of the file.
        references: How many L1 entries name each of them, those of all disks together.
        active_references: How many of these are in the active L1.
        geometry: The image's.
        bounds: Where what the entries name can lie.
        version: Of the image.
        has_data_file: Whether the host offsets are those of an external data file. Then the tables
            of a run are neighbours in the guest's disk.
        believed: Whether an entry names them, and not only what was written over an L1 table.
    """

    owner: MappingOwner
    l1_indices: _Int64s
    host_offsets: _Int64s
    words: Words
    bitmaps: Words | None
    entries_missing: _Int64s
    references: int
    active_references: int
    geometry: Geometry
    bounds: EntryBounds
    version: int
    has_data_file: bool = False
    believed: bool = True

    @property
    def tables(self) -> int:
        """How many tables this is."""
        return len(self.host_offsets)

    @property
    def is_sound(self) -> bool:
        """Whether they are believed, and clusters other than the header's; all of them, or none."""
        return (
            self.believed and bool(self.host_offset) and self.geometry.is_aligned(self.host_offset)
        )

    @property
    def l1_index(self) -> int:
        """The L1 entry that names the first table."""
        return int(self.l1_indices[0])

    @property
    def host_offset(self) -> int:
        """Where the first table lies."""
        return int(self.host_offsets[0])

    @property
    def first_guest_offsets(self) -> _Int64s:
        """int64, one element a table: the guest offset of its first entry."""
        return self.l1_indices * self.geometry.l1_coverage_bytes

    @property
    def first_guest_offset(self) -> int:
        """The guest offset of the first entry."""
        return self.l1_index * self.geometry.l1_coverage_bytes

    def guest_offsets(self, entries: npt.NDArray[np.intp]) -> _Int64s:
        """The guest offsets of entries, by their positions in `words`."""
        per_table = self.geometry.l2_entries
        inside = (entries % per_table).astype(np.int64) << self.geometry.cluster_bits
        return self.first_guest_offsets[entries // per_table] + inside

    def entry_offset(self, entry: int) -> int:
        """The host offset of an entry, by its position in `words`."""
        table, inside = divmod(entry, self.geometry.l2_entries)
        return int(self.host_offsets[table]) + inside * self.geometry.l2_entry_bytes

    def decoded(self) -> L2View:
        """The entries, classified. Costs some passes over them: keep the result."""
        view = decode_l2(
            self.words,
            self.bitmaps,
            self.geometry,
            version=self.version,
            data_file_guest_offset=self.first_guest_offset if self.has_data_file else None,
        )
        per_table = self.geometry.l2_entries
        for table in np.flatnonzero(self.entries_missing):
            end = (int(table) + 1) * per_table
            view.kinds[end - int(self.entries_missing[table]) : end] = ClusterKind.MISSING
        return view

    def single(self, table: int) -> L2Table:
        """One table of a run."""
        per_table = self.geometry.l2_entries
        part = slice(table * per_table, (table + 1) * per_table)
        return replace(
            self,
            l1_indices=self.l1_indices[table : table + 1],
            host_offsets=self.host_offsets[table : table + 1],
            words=self.words[part],
            bitmaps=None if self.bitmaps is None else self.bitmaps[part],
            entries_missing=self.entries_missing[table : table + 1],
        )


class L2TableReader:
    """Reads the L2 tables of one image. For one thread."""

    def __init__(self, source: ByteSource, report: ImageReport) -> None:
        """A reader of `source`, whose geometry `report` knows.

        Raises:
            ValueError: The header allows no geometry.
        """
        geometry = report.header.geometry
        if geometry is None:
            raise ValueError("an image without a geometry has no tables")
        self._source = source
        self._geometry = geometry
        self._bounds = EntryBounds.of(report, geometry)
        self._version = report.header.version
        self._has_data_file = report.header.has_data_file
        self._tables_per_window = max(1, WINDOW_ENTRIES // geometry.l2_entries)
        self._buffer = bytearray(self._tables_per_window * geometry.cluster_bytes)

    def iter_tables(self, places: L2Places) -> Iterator[L2Table]:
        """The tables at `places` in their order, but for those without any entry.

        Those are the ones beyond the end of the file and in its holes.

        Raises:
            SourceError: When the operating system refuses a read.
        """
        step = self._tables_per_window * _WINDOWS_PLANNED
        for start in range(0, len(places), step):
            yield from self._iter_runs(places.select(slice(start, start + step)))

    def _iter_runs(self, places: L2Places) -> Iterator[L2Table]:
        stored = self._are_stored(places.host_offsets)
        if not stored.all():
            places = places.select(stored)
        breaks = (np.diff(places.owners) != 0) | (np.diff(places.references) != 0)
        breaks |= np.diff(places.active_references) != 0
        breaks |= np.diff(places.believed)
        if self._has_data_file:
            breaks |= np.diff(places.l1_indices) != 1
        start = 0
        for end in (*(np.flatnonzero(breaks) + 1).tolist(), len(places)):
            while start < end:
                stop = min(end, start + self._tables_per_window)
                yield self._load(places.select(slice(start, stop)))
                start = stop

    def _are_stored(self, offsets: _Int64s) -> npt.NDArray[np.bool_]:
        """Whether the table at each offset may have entries.

        That is: it does not lie beyond the file's end, nor in a hole; but where there are more
        holes than tables, nothing is known of these.
        """
        cluster_bytes = self._geometry.cluster_bytes
        stored = offsets < self._source.size_bytes
        if not stored.any():
            return stored
        first, last = int(offsets[stored].min()), int(offsets[stored].max())
        ranges = self._source.iter_data_ranges(first, last + cluster_bytes)
        known = list(islice(ranges, len(offsets) + 1))
        if len(known) > len(offsets):
            return stored
        starts = np.array([start for start, _ in known] + [np.iinfo(np.int64).max])
        ends = np.array([end for _, end in known], dtype=np.int64)
        following = np.searchsorted(ends, offsets, side="right")
        in_data: npt.NDArray[np.bool_] = starts[following] < offsets + cluster_bytes
        return in_data & stored

    def _load(self, places: L2Places) -> L2Table:
        geometry = self._geometry
        cluster_bytes = geometry.cluster_bytes
        buffer = memoryview(self._buffer)[: len(places) * cluster_bytes]
        missing = np.zeros(len(places), dtype=np.int64)
        for offset, first, count in _runs(places.host_offsets, cluster_bytes):
            part = buffer[first * cluster_bytes : (first + count) * cluster_bytes]
            found = self._source.read_into(offset, part)
            if found < len(part):
                part[found:] = bytes(len(part) - found)
                ends = np.arange(1, count + 1) * cluster_bytes
                lacking = np.clip(ends - found, 0, cluster_bytes)
                missing[first : first + count] = -(-lacking // geometry.l2_entry_bytes)
        words = np.frombuffer(buffer, dtype=">u8").astype(np.uint64)
        bitmaps = None
        if geometry.extended_l2:
            words, bitmaps = np.ascontiguousarray(words[0::2]), np.ascontiguousarray(words[1::2])
        owner = int(places.owners[0])
        return L2Table(
            MappingOwner(None if owner < 0 else owner),
            places.l1_indices,
            places.host_offsets,
            words,
            bitmaps,
            missing,
            int(places.references[0]),
            int(places.active_references[0]),
            geometry,
            self._bounds,
            self._version,
            self._has_data_file,
            bool(places.believed[0]),
        )


def _runs(offsets: _Int64s, cluster_bytes: int) -> Iterator[tuple[int, int, int]]:
    """(host offset, first table, count) of the tables that follow each other in the file."""
    first = 0
    for last in (*(np.flatnonzero(np.diff(offsets) != cluster_bytes) + 1).tolist(), len(offsets)):
        yield int(offsets[first]), first, last - first
        first = last
