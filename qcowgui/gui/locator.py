"""From addresses to structures and back: what lies where in an image. Knows no widgets.

A Locator never waits. What it needs of the file it asks its `read` for; as long as that has nothing
yet (None), the answer is as good as it can be without, and may be asked for again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final

import numpy as np

from qcowgui.check.cluster_ownership import Ownership
from qcowgui.format.entries import L2Entry
from qcowgui.format.finding import Finding
from qcowgui.format.geometry import SUBCLUSTERS
from qcowgui.format.tables import decode_l2, parse_words
from qcowgui.gui.byte_ranges import ByteRanges, NamedRange
from qcowgui.gui.entry_places import EntryPlaces, Read, data_range
from qcowgui.gui.go_to import parse_place
from qcowgui.gui.go_to_places import place_in
from qcowgui.gui.guest_path import GuestPath, PathBuilder
from qcowgui.gui.host_index import HostIndex
from qcowgui.gui.selection import Selection
from qcowgui.gui.structures import Structure, StructureKey, translate
from qcowgui.image.inspect import ImageReport
from qcowgui.units import align_down

_MAX_OFFSET: Final = 1 << 64
_PAYLOAD_WINDOW_ENTRIES: Final = 2048


class Locator(EntryPlaces):
    """Answers where things are in one image. Belongs to one thread."""

    def __init__(
        self,
        report: ImageReport,
        read: Read,
        ownership: Ownership | None = None,
        index: HostIndex | None = None,
        structures: Sequence[Structure] = (),
    ) -> None:
        """A locator; without `ownership` and `index` it knows less of the bytes of the file.

        Args:
            report: What an open says of the image.
            read: Gives bytes of the file.
            ownership: Who refers to each cluster.
            index: Which entries lead to each cluster.
            structures: The tables whose rows are the fields of the metadata.
        """
        super().__init__(report, read)
        self._ownership = ownership
        self._index = index or HostIndex(complete=False)
        self._structures = structures

    def structure(self, key: StructureKey) -> Structure | None:
        """The structure called `key` with its table, when the image has it."""
        return next((found for found in self._structures if found.key is key), None)

    # ---------------------------------------------------------------- tables and entries

    def at_entry(
        self,
        key: StructureKey,
        part: int | None = None,
        row: int | None = None,
        snapshot: int | None = None,
    ) -> Selection:
        """An entry, a table, a field or a cluster, with the bytes it occupies and stands for."""
        selection = Selection(key, row, part, snapshot)
        if key is StructureKey.CLUSTER:
            return selection if row is None else self._cluster(row)
        if key is StructureKey.GUEST:
            return replace(selection, guest=self.guest_cluster(row, snapshot))
        if key.is_entry_table:
            return replace(
                selection, host=self.entry_host(selection), guest=self.entry_guest(selection)
            )
        structure = self.structure(key)
        if structure is None or row is None or not 0 <= row < len(structure.table.rows):
            return selection
        found = structure.table.rows[row]
        if found.host_start is None or found.host_end is None:
            return selection
        return replace(selection, host=(found.host_start, found.host_end))

    def resolve(self, selection: Selection) -> Selection:
        """`selection` with its bytes filled in, as far as they are missing and known by now."""
        if selection.host is not None and selection.guest is not None:
            return selection
        known = self.at_entry(
            selection.structure, selection.part, selection.row, selection.snapshot
        )
        return replace(
            selection, host=selection.host or known.host, guest=selection.guest or known.guest
        )

    def entry_of(self, selection: Selection) -> Selection | None:
        """The row of a table that stands for `selection`: itself, or the entry that maps it."""
        if selection.structure is StructureKey.CLUSTER and selection.guest is None:
            return self._bitmap_entry(selection)
        if selection.structure in (StructureKey.CLUSTER, StructureKey.GUEST):
            geometry = self.geometry
            if geometry is None or selection.guest is None:
                return None
            start = selection.guest[0]
            return self.at_entry(
                StructureKey.L2,
                geometry.l1_index(start),
                geometry.l2_index(start),
                selection.snapshot,
            )
        return selection

    # ---------------------------------------------------------------- bytes of the file

    def at_host(self, offset: int) -> Selection:
        """What the byte of the file at `offset` belongs to, as closely as it is known."""
        found = self._fields.smallest_at(offset) or self._table_at(offset)
        if found is not None:
            return found
        geometry = self.geometry
        if geometry is None:
            return Selection(StructureKey.CLUSTER, host=(offset, offset + 1))
        return self._cluster(geometry.cluster_index(offset), offset)

    def at_finding(self, finding: Finding) -> Selection | None:
        """The place that a finding is about; None when it is about no place."""
        guest = None
        if finding.guest_start is not None and finding.guest_end is not None:
            guest = finding.guest_start, finding.guest_end
        if finding.host_offset is not None:
            found = self.at_host(finding.host_offset)
            if found.structure is StructureKey.CLUSTER and found.guest is None:
                return replace(found, guest=guest, snapshot=finding.snapshot)
            if found.structure in (StructureKey.L1, StructureKey.L2):
                return self._in_disk_of(found, finding)
            return found
        if guest is None or self.geometry is None:
            return None
        return Selection(
            StructureKey.GUEST,
            self.geometry.cluster_index(guest[0]),
            snapshot=finding.snapshot,
            guest=guest,
        )

    # ---------------------------------------------------------------- guest bytes

    @property
    def host_end(self) -> int:
        """The end of the file, or of the clusters behind it that something refers to."""
        found = self._ownership
        known = 0 if found is None else min(found.clusters * found.cluster_bytes, _MAX_OFFSET)
        return max(self.report.file_bytes, known)

    def at_guest(self, offset: int, snapshot: int | None = None) -> GuestPath:
        """The way from a guest byte to the bytes of the file that hold it, step by step."""
        path = PathBuilder(offset, snapshot)
        geometry = self.geometry
        if geometry is None or not 0 <= offset < self.guest_bytes(snapshot):
            path.end(translate("locator", "The disk ends before this byte."))
            return path.build()
        l1 = self.at_entry(StructureKey.L1, None, geometry.l1_index(offset), snapshot)
        table = self.l1_place(snapshot)
        if table is None or geometry.l1_index(offset) >= table.entries:
            path.end(translate("locator", "The L1 table has no entry for this byte."))
            return path.build()
        if self.lies_beyond(l1):
            path.add_beyond(l1)
            return path.build()
        l1_word = self.entry_word(table, l1.row)
        if not path.add_l1(l1, l1_word, geometry):
            return path.build()
        l2 = self.at_entry(
            StructureKey.L2, geometry.l1_index(offset), geometry.l2_index(offset), snapshot
        )
        if self.lies_beyond(l2):
            path.add_beyond(l2)
            return path.build()
        entry = self.l2_entry(l2)
        if not path.add_l2(l2, entry) or entry is None:
            return path.build()
        self._add_data(path, entry, offset)
        return path.build()

    def parse_go_to(self, text: str) -> Selection:
        """The place that `text` means in this image.

        Raises:
            UsageError: When it means nothing, or lies outside; the message is a sentence.
        """
        return place_in(self, parse_place(text))

    # ---------------------------------------------------------------- inside

    @cached_property
    def _fields(self) -> ByteRanges[Selection]:
        """The rows of the tables in memory that show bytes of the file."""
        return ByteRanges(
            NamedRange(
                row.host_start,
                row.host_end,
                Selection(structure.key, index, host=(row.host_start, row.host_end)),
            )
            for structure in self._structures
            for index, row in enumerate(structure.table.rows)
            if row.host_start is not None and row.host_end is not None
        )

    @cached_property
    def _fixed_tables(self) -> ByteRanges[Selection]:
        """The tables of entries whose place is known without reading others."""
        tables = [Selection(StructureKey.L1), Selection(StructureKey.REFCOUNT_TABLE)]
        tables += [
            Selection(StructureKey.L1, snapshot=found.index) for found in self.report.snapshots
        ]
        tables += [
            Selection(StructureKey.BITMAP_TABLE, None, found.index) for found in self.report.bitmaps
        ]
        return ByteRanges(
            NamedRange(place.host_offset, place.end_offset, table)
            for table in tables
            if (place := self.table_place(table)) is not None
        )

    def _table_at(self, offset: int) -> Selection | None:
        """The entry of a table of entries that holds a byte of the file."""
        geometry = self.geometry
        if geometry is None:
            return None
        fixed = self._fixed_tables.smallest_at(offset)
        if fixed is not None:
            place = self.table_place(fixed)
            row = None if place is None else place.row_at(offset)
            return fixed if row is None else self._row(fixed, row)
        start = align_down(offset, geometry.cluster_bytes)
        block = self._index.refcount_block_at(start)
        if block is not None:
            row = (offset - start) * 8 // geometry.refcount_bits
            return self._row(Selection(StructureKey.REFCOUNT_BLOCK, None, block), row)
        table = self._index.l2_table_at(start)
        if table is None:
            return None
        row = (offset - start) // geometry.l2_entry_bytes
        return self._row(Selection(StructureKey.L2, None, table[0], table[1]), row)

    def _row(self, table: Selection, row: int) -> Selection:
        return self.at_entry(table.structure, table.part, row, table.snapshot)

    def _cluster(self, cluster: int, offset: int | None = None) -> Selection:
        """A host cluster; or the payload in it that holds the byte at `offset`, if there is one."""
        geometry = self.geometry
        size = geometry.cluster_bytes if geometry else 1
        start = cluster * size
        whole = Selection(StructureKey.CLUSTER, cluster, host=(start, start + size))
        found = self._index.guest_at(cluster)
        if found is None or geometry is None:
            return whole
        guest = self.guest_cluster(found.cluster, found.snapshot)
        if offset is not None:
            payload = self._payload_at(offset, found.cluster, found.snapshot)
            if payload is not None:
                index, host = payload
                guest = self.guest_cluster(index, found.snapshot)
                return replace(whole, host=host, guest=guest, snapshot=found.snapshot)
        return replace(whole, guest=guest, snapshot=found.snapshot)

    def _payload_at(
        self, offset: int, near: int, snapshot: int | None
    ) -> tuple[int, tuple[int, int]] | None:
        """(guest cluster, host bytes) of the payload that holds `offset`, among those near `near`.

        Payloads lie in the order in which they were written: neighbours in the file are close to
        each other in the guest's disk, or were written by something that leaves no order at all.
        """
        geometry = self.geometry
        if geometry is None:
            return None
        part, row = divmod(near, geometry.l2_entries)
        place = self.table_place(Selection(StructureKey.L2, None, part, snapshot))
        if place is None:
            return None
        first = max(0, row - _PAYLOAD_WINDOW_ENTRIES // 2)
        last = min(geometry.l2_entries, first + _PAYLOAD_WINDOW_ENTRIES)
        entry_bytes = geometry.l2_entry_bytes
        data = self._read(place.host_offset + first * entry_bytes, (last - first) * entry_bytes)
        if not data:
            return None
        words = parse_words(data)
        if geometry.extended_l2:
            words = np.ascontiguousarray(words[: len(words) // 2 * 2 : 2])
        view = decode_l2(words, None, geometry, version=self.report.header.version)
        ends = view.host_offsets + view.payload_bytes
        hits = np.flatnonzero((view.host_offsets <= offset) & (offset < ends))
        if not len(hits):
            return None
        # The sector count overshoots: of two that claim a byte the later one has it.
        best = int(hits[np.argmax(view.host_offsets[hits])])
        host = int(view.host_offsets[best]), int(ends[best])
        return part * geometry.l2_entries + first + best, host

    def _bitmap_entry(self, selection: Selection) -> Selection | None:
        if selection.row is None:
            return None
        found = self._index.bitmap_entry_at(selection.row)
        return None if found is None else self.at_entry(StructureKey.BITMAP_TABLE, *found)

    def _in_disk_of(self, found: Selection, finding: Finding) -> Selection:
        """An entry as part of the disk that a finding names: disks may share tables."""
        if found.snapshot == finding.snapshot or finding.snapshot is None:
            return found
        if found.structure is StructureKey.L2 and finding.guest_start is not None:
            geometry = self.geometry
            part = geometry.l1_index(finding.guest_start) if geometry else found.part
            found = replace(found, part=part)
        return replace(found, snapshot=finding.snapshot)

    def _add_data(self, path: PathBuilder, entry: L2Entry, offset: int) -> None:
        """The last steps: the subcluster, and what holds the byte."""
        geometry = entry.geometry
        subcluster = None
        if geometry.extended_l2 and not entry.is_compressed:
            subcluster = geometry.offset_in_cluster(offset) * SUBCLUSTERS // geometry.cluster_bytes
            if not path.add_subcluster(entry, subcluster):
                return
        host = data_range(entry, self.report)
        if host is None:
            path.add_elsewhere(entry, self.report)
            return
        selection = Selection(
            StructureKey.CLUSTER,
            geometry.cluster_index(host[0]),
            snapshot=path.snapshot,
            host=host,
            guest=self.guest_cluster(geometry.cluster_index(offset), path.snapshot),
        )
        path.add_data(selection, entry, self.report.file_bytes)
