"""Which payloads a deep check decodes: every compressed cluster of every disk, each payload once.

Internal snapshots share payloads in two ways. Sharing a whole L2 table, they show it as one table
with several references. Once the guest has written there, the active disk has a copy of the table,
most of whose entries are still the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from qcowgui.check.l1_tables import ACTIVE, L1Place, MappingOwner, l1_places, load_l1_table
from qcowgui.check.l2_references import find_references
from qcowgui.check.l2_tables import L2Table
from qcowgui.check.snapshot_list import SnapshotList, load_snapshot_list
from qcowgui.check.walk import iter_distinct_l2_tables
from qcowgui.format.geometry import COMPRESSED, COPIED, ENTRY_BYTES, OFFSET_MASK, Geometry
from qcowgui.format.tables import Words, parse_words
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.units import MIB, SECTOR_BYTES

_BATCH_BYTES: Final = 4 * MIB
"""Guest bytes of a batch: what a worker decodes before it looks whether to stop."""
_READ_BYTES: Final = 8 * MIB
"""Host bytes of a batch, gaps included."""

_Offsets = npt.NDArray[np.int64]
_Entries = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class PayloadBatch:
    """Payloads that lie close together in the file, in its order.

    Attributes:
        number: 0 for the first batch, one more for each that follows.
        table: The L2 table, or run of tables, whose entries name them.
        entries: intp: the positions of these entries in `table.words`.
        starts: int64: host offset of each payload; inside the file.
        ends: int64: end (exclusive) of the sectors that each descriptor claims; perhaps beyond it.
    """

    number: int
    table: L2Table
    entries: _Entries
    starts: _Offsets
    ends: _Offsets

    @property
    def payload_bytes(self) -> int:
        """What the descriptors span, all together."""
        return int((self.ends - self.starts).sum())


class PayloadBatches:
    """Iterates over the batches of an image, once. Not thread-safe.

    Memory: two L2 tables, or windows of small ones, and two L1 tables.

    Attributes:
        beyond_file: Payloads met so far that begin behind the end of the file.
    """

    def __init__(
        self,
        source: ByteSource,
        report: ImageReport,
        geometry: Geometry,
        snapshots: SnapshotList | None = None,
    ) -> None:
        """The payloads of an image.

        Args:
            source: The image.
            report: What `inspect_source` says of it.
            geometry: Its geometry.
            snapshots: Its snapshot table, when that is loaded already.

        Raises:
            SourceError: When the operating system refuses a read.
        """
        self.beyond_file = 0
        self._source = source
        self._report = report
        self._geometry = geometry
        self._snapshots = snapshots or load_snapshot_list(source, report)
        self._earlier = _EarlierTables(source, report, geometry, self._snapshots)
        self._number = 0

    def __iter__(self) -> Iterator[PayloadBatch]:
        """The batches.

        Raises:
            SourceError: When the operating system refuses a read.
        """
        if self._report.header.has_data_file:  # nothing can be compressed there
            return
        for table in iter_distinct_l2_tables(self._source, self._report, self._snapshots):
            entries = np.flatnonzero(table.words & np.uint64(COMPRESSED))
            if table.entries_missing.any():
                entries = entries[_are_whole(table, entries)]
            overwritten = find_references(table).overwritten if len(entries) else None
            if overwritten is not None:
                entries = entries[~overwritten[entries]]
            if len(entries) and table.owner != ACTIVE:
                entries = entries[~self._earlier.have(table, entries)]
            if len(entries):
                yield from self._iter_table(table, entries)

    def _iter_table(self, table: L2Table, entries: _Entries) -> Iterator[PayloadBatch]:
        starts, ends = self._spans(table.words[entries])
        inside = starts < self._source.size_bytes
        self.beyond_file += int(len(inside) - np.count_nonzero(inside))
        order = np.lexsort((ends, starts))
        order = order[inside[order]]
        entries, starts, ends = entries[order], starts[order], ends[order]
        # The same payload named twice in one table: shared data, or a crafted file.
        is_new = np.ones(len(starts), dtype=np.bool_)
        is_new[1:] = (starts[1:] != starts[:-1]) | (ends[1:] != ends[:-1])
        entries, starts, ends = entries[is_new], starts[is_new], ends[is_new]
        for part in _iter_groups(starts, ends, self._geometry.cluster_bytes):
            yield PayloadBatch(self._number, table, entries[part], starts[part], ends[part])
            self._number += 1

    def _spans(self, words: Words) -> tuple[_Offsets, _Offsets]:
        """First byte and claimed end of payloads. Spec: 1.9"""
        geometry = self._geometry
        starts = (words & np.uint64(geometry.compressed_offset_mask)).astype(np.int64)
        sectors = (words >> np.uint64(geometry.compressed_shift)) & np.uint64(
            geometry.compressed_sectors_mask
        )
        first_sectors = starts & ~np.int64(SECTOR_BYTES - 1)
        return starts, first_sectors + (sectors.astype(np.int64) + 1) * SECTOR_BYTES


def _are_whole(table: L2Table, entries: _Entries) -> npt.NDArray[np.bool_]:
    """Whether each of `entries` lies inside the file: half a word names anything."""
    tables, inside = np.divmod(entries, table.geometry.l2_entries)
    whole: npt.NDArray[np.bool_] = (
        inside < table.geometry.l2_entries - table.entries_missing[tables]
    )
    return whole


def _iter_groups(starts: _Offsets, ends: _Offsets, cluster_bytes: int) -> Iterator[slice]:
    """Parts of payloads, sorted by start, that are read in one go and decoded together."""
    most = max(1, _BATCH_BYTES // cluster_bytes)
    reach = np.maximum.accumulate(ends)
    breaks = (np.flatnonzero(starts[1:] - reach[:-1] > cluster_bytes) + 1).tolist()
    first = 0
    for last in (*breaks, len(starts)):
        while first < last:
            limit = int(starts[first]) + _READ_BYTES
            fitting = int(np.searchsorted(reach[first:last], limit, side="right"))
            stop = min(last, first + max(1, min(most, fitting)))
            yield slice(first, stop)
            first = stop


class _EarlierTables:
    """Tells which entries of a snapshot's L2 table were met already.

    It looks at the same place of the active disk and of the snapshot before. What two snapshots
    share that are no neighbours, and the active disk has not, is decoded twice.
    """

    def __init__(
        self,
        source: ByteSource,
        report: ImageReport,
        geometry: Geometry,
        snapshots: SnapshotList,
    ) -> None:
        self._source = source
        self._report = report
        self._geometry = geometry
        self._snapshots = snapshots
        self._owner: MappingOwner = ACTIVE
        self._places: dict[MappingOwner, L1Place] = {}
        self._l1_words: dict[MappingOwner, Words] = {}

    def have(self, table: L2Table, entries: _Entries) -> npt.NDArray[np.bool_]:
        """Whether each of `entries`, of a snapshot's table, is the same in an earlier one."""
        if table.owner != self._owner:
            self._turn_to(table.owner)
        met = np.zeros(len(entries), dtype=np.bool_)
        per_table = self._geometry.l2_entries
        bounds = np.searchsorted(entries, np.arange(table.tables + 1) * per_table)
        for index in np.flatnonzero(np.diff(bounds)).tolist():
            part = slice(int(bounds[index]), int(bounds[index + 1]))
            own = table.words[entries[part]]
            inside = entries[part] - index * per_table
            for owner, l1_words in self._l1_words.items():
                if owner != table.owner:
                    l1_index = int(table.l1_indices[index])
                    met[part] |= self._same(l1_words, l1_index, inside, own)
        return met

    def _turn_to(self, owner: MappingOwner) -> None:
        """Keep the L1 tables of the active disk, of the snapshot before and of `owner`."""
        if not self._places:
            found = l1_places(self._report, self._snapshots)
            self._places = {place.owner: place for place in found.places}
        kept = self._l1_words
        self._l1_words = {
            wanted: kept[wanted]
            if wanted in kept
            else load_l1_table(self._source, self._places[wanted]).words
            for wanted in (ACTIVE, self._owner, owner)
            if wanted in self._places
        }
        self._owner = owner

    def _same(
        self, l1_words: Words, l1_index: int, inside: _Entries, own: Words
    ) -> npt.NDArray[np.bool_]:
        """Whether the entries `inside` of another disk's table are the same as `own`."""
        offset = int(l1_words[l1_index]) & OFFSET_MASK if l1_index < len(l1_words) else 0
        if not offset or not self._geometry.is_aligned(offset):
            return np.zeros(len(own), dtype=np.bool_)
        data = self._source.read_at(offset, self._geometry.cluster_bytes)
        words = parse_words(data.ljust(self._geometry.cluster_bytes, b"\0"))
        step = self._geometry.l2_entry_bytes // ENTRY_BYTES
        differing = (words[inside * step] ^ own) & ~np.uint64(COPIED)
        same: npt.NDArray[np.bool_] = differing == 0
        return same
