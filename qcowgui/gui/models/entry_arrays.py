"""A whole table of entries as arrays: read, decoded and judged beside the window.

The largest tables have some millions of entries, tens of MiB; so all of one is in memory while it
is looked at, and sorting or filtering it needs no file. Knows no widgets. Spec: 1.7 to 1.12
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from qcowgui.check.cluster_ownership import Ownership
from qcowgui.check.rule_context import Hit
from qcowgui.check.stored import StoredRefcounts
from qcowgui.engine.work import CancelToken
from qcowgui.format import geometry as geo
from qcowgui.format.bitmaps import decode_bitmap_table
from qcowgui.format.geometry import Geometry
from qcowgui.format.refcounts import refcount_block_offsets, unpack_refcounts
from qcowgui.format.tables import L2View, decode_l2, parse_words
from qcowgui.gui.entry_places import EntryPlaces, TablePlace
from qcowgui.gui.models.entry_judge import TableJudge
from qcowgui.gui.models.entry_refcounts import Refcounts, load_refcount_table, look_up_refcounts
from qcowgui.gui.selection import Selection
from qcowgui.gui.structures import StructureKey
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.units import ceil_div

MAX_ROWS: Final = 1 << 24
"""ours: entries of one table that are shown; only an L1 table that QEMU refuses may have more."""

_READ_BYTES: Final = 4 << 20
_NARROW: Final = {0: np.uint8, 1: np.uint8, 2: np.uint8, 3: np.uint8, 4: np.uint16, 5: np.uint32}

Unsigned = npt.NDArray[np.unsignedinteger[Any]]


class PointerKind(IntEnum):
    """What an entry of an L1 table or of the refcount table is."""

    NONE = 0
    """It names nothing."""
    TABLE = 1
    """It names a cluster of the file."""
    UNUSABLE = 2
    """It names what is no cluster of the file, or has flags alone."""


class CountKind(IntEnum):
    """What a stored refcount says of its cluster."""

    FREE = 0
    ONCE = 1
    SEVERAL = 2


@dataclass(frozen=True, slots=True, eq=False)
class EntryArrays:
    """One table of entries, or as much of it as the file holds. Immutable; any thread may read.

    All arrays have one element an entry, in the file's order.

    Attributes:
        table: Which table.
        place: Where it lies, and how many entries it should have.
        geometry: The image's.
        words: The raw words; of a refcount block the refcounts, in the narrowest type for them.
        bitmaps: uint64, the subcluster bitmaps of extended L2 entries, else None.
        kinds: uint8: a `ClusterKind`, `BitmapClusterKind`, `PointerKind` or `CountKind`.
        hosts: uint64, bytes of the file (of L2 entries with a data file: of that) to which entries
            point, 0 for none; None of a refcount block, whose entries point to every cluster.
        payload_bytes: int32, the most bytes a compressed payload may have; None but for L2 tables.
        first_guest_offset: Guest offset that the first entry is about.
        guest_bytes: Guest bytes that an entry is about; 0 when it is about none.
        first_cluster: Of a refcount block: the host cluster that its first entry counts.
        refcounts: Of the cluster to which each entry points, or that it counts.
        differences: int64, refcount less references; None without a check.
        hits: What is wrong, rule by rule.
        flagged: bool: something is wrong with the entry, or with what it points to.
    """

    table: Selection
    place: TablePlace
    geometry: Geometry
    words: Unsigned
    bitmaps: npt.NDArray[np.uint64] | None
    kinds: npt.NDArray[np.uint8]
    hosts: npt.NDArray[np.uint64] | None
    payload_bytes: npt.NDArray[np.int32] | None
    first_guest_offset: int
    guest_bytes: int
    first_cluster: int
    refcounts: Refcounts
    differences: npt.NDArray[np.int64] | None
    hits: tuple[Hit, ...]
    flagged: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def missing(self) -> int:
        """How many entries the table should have and are not here."""
        return max(0, self.place.entries - len(self))

    @property
    def allocated(self) -> npt.NDArray[np.bool_]:
        """bool: the entry names a cluster, or counts one that is in use."""
        if self.hosts is not None:
            # The first cluster of a data file is at offset 0: its entry has flags all the same.
            used: npt.NDArray[np.bool_] = self.hosts != 0
            return used | (self.words >= np.uint64(geo.COPIED))
        used = self.words != 0
        if self.refcounts.found is not None:
            used |= self.refcounts.found != 0
        return used

    def host_offset(self, row: int) -> int:
        """Where entry `row` points to, in bytes; 0 for nowhere."""
        if self.hosts is None:
            return (self.first_cluster + row) << self.geometry.cluster_bits
        return int(self.hosts[row])

    def guest_range(self, row: int) -> tuple[int, int] | None:
        """The guest bytes [start, end) that entry `row` is about, or None."""
        if not self.guest_bytes:
            return None
        start = self.first_guest_offset + row * self.guest_bytes
        return start, start + self.guest_bytes

    def codes(self, row: int) -> list[str]:
        """The codes of all that is wrong with entry `row`."""
        if not self.flagged[row]:
            return []
        return [hit.code for hit in self.hits if _holds(hit, row)]


def _holds(hit: Hit, row: int) -> bool:
    position = int(np.searchsorted(hit.indices, row))
    return position < len(hit.indices) and int(hit.indices[position]) == row


@dataclass(frozen=True, slots=True)
class TableWork:
    """Reads, decodes and judges one table of entries.

    Attributes:
        source: The image.
        report: What an open says of it.
        table: Which table; its `row` does not matter.
        ownership: Who refers to each cluster, once a check was done.
    """

    source: ByteSource
    report: ImageReport
    table: Selection
    ownership: Ownership | None = None

    def __call__(self, token: CancelToken) -> EntryArrays | None:
        """The table; None when the image names none there.

        Raises:
            SourceError: When the operating system refuses a read.
            Cancelled: When the token asks for it.
        """
        places = EntryPlaces(self.report, self.source.read_at)
        geometry, place = places.geometry, places.table_place(self.table)
        if geometry is None or place is None:
            return None
        data = _read_table(self.source, place, token)
        stored = load_refcount_table(self.source, self.report)
        reader = _Reader(self, place, geometry, stored, token)
        match self.table.structure:
            case StructureKey.L2:
                return reader.l2(data)
            case StructureKey.REFCOUNT_BLOCK:
                return reader.refcount_block(data)
            case StructureKey.BITMAP_TABLE:
                return reader.bitmap_table(data)
            case _:
                return reader.pointers(data)


def _read_table(source: ByteSource, place: TablePlace, token: CancelToken) -> bytes:
    """The bytes of a table that the file holds, whole entries only."""
    length = ceil_div(min(place.entries, MAX_ROWS) * place.entry_bits, 8)
    length = min(length, max(0, source.size_bytes - place.host_offset))
    parts = []
    for start in range(0, length, _READ_BYTES):
        token.raise_if_cancelled()
        wanted = min(_READ_BYTES, length - start)
        parts.append(source.read_at(place.host_offset + start, wanted))
    data = b"".join(parts)
    entry_bytes = max(1, place.entry_bits // 8)
    return data[: len(data) // entry_bytes * entry_bytes]


@dataclass(frozen=True, slots=True)
class _Reader:
    """Makes the arrays of one table from its bytes."""

    work: TableWork
    place: TablePlace
    geometry: Geometry
    stored: StoredRefcounts | None
    token: CancelToken

    def pointers(self, data: bytes) -> EntryArrays:
        """An L1 table, or the refcount table."""
        words = parse_words(data)
        is_l1 = self.work.table.structure is StructureKey.L1
        hosts = words & np.uint64(geo.OFFSET_MASK) if is_l1 else refcount_block_offsets(words)
        inside = np.uint64(self.geometry.cluster_bytes - 1)
        kinds = np.where(hosts != 0, PointerKind.TABLE, PointerKind.NONE).astype(np.uint8)
        unusable = (hosts & inside != 0) | (hosts >= np.uint64(self.work.source.size_bytes))
        kinds[unusable | ((hosts == 0) & (words != 0))] = PointerKind.UNUSABLE
        refcounts = self._refcounts(hosts, hosts != 0)
        judge = self._judge(refcounts)
        hits = judge.l1(words, hosts) if is_l1 else judge.refcount_table(self.stored, hosts)
        guest_bytes = self.geometry.l1_coverage_bytes if is_l1 else 0
        return self._arrays(words, kinds, hosts, refcounts, hits, guest_bytes=guest_bytes)

    def l2(self, data: bytes) -> EntryArrays:
        """An L2 table."""
        words, bitmaps = parse_words(data), None
        if self.geometry.extended_l2:
            words, bitmaps = (np.ascontiguousarray(words[start::2]) for start in (0, 1))
        first = self.geometry.guest_offset(self.work.table.part or 0)
        header = self.work.report.header
        view = decode_l2(
            words,
            bitmaps,
            self.geometry,
            version=header.version,
            data_file_guest_offset=first if header.has_data_file else None,
        )
        hosts = view.host_offsets.astype(np.uint64)
        compressed = words & np.uint64(geo.COMPRESSED) != 0
        in_file = (hosts != 0) & (compressed | (not header.has_data_file))
        refcounts = self._refcounts(hosts, in_file)
        hits = self._judge(refcounts).l2(view, hosts, first)
        return self._l2_arrays(view, hosts, refcounts, hits, first)

    def _l2_arrays(
        self,
        view: L2View,
        hosts: npt.NDArray[np.uint64],
        refcounts: Refcounts,
        hits: tuple[Hit, ...],
        first: int,
    ) -> EntryArrays:
        return self._arrays(
            view.words,
            view.kinds,
            hosts,
            refcounts,
            hits,
            bitmaps=view.bitmaps,
            payload_bytes=view.payload_bytes,
            first_guest_offset=first,
            guest_bytes=self.geometry.cluster_bytes,
        )

    def bitmap_table(self, data: bytes) -> EntryArrays:
        """The table of a persistent bitmap."""
        words = parse_words(data)
        table = decode_bitmap_table(data, cluster_bits=self.geometry.cluster_bits)
        hosts = words & np.uint64(geo.OFFSET_MASK)
        refcounts = self._refcounts(hosts, hosts != 0)
        hits = self._judge(refcounts).bitmap_table(table, hosts)
        granularity = next(
            (
                bitmap.granularity_bytes
                for bitmap in self.work.report.bitmaps
                if bitmap.index == self.work.table.part
            ),
            None,
        )
        guest_bytes = 8 * self.geometry.cluster_bytes * (granularity or 0)
        return self._arrays(words, table.kind, hosts, refcounts, hits, guest_bytes=guest_bytes)

    def refcount_block(self, data: bytes) -> EntryArrays:
        """A refcount block."""
        order = self.geometry.refcount_order
        counts = unpack_refcounts(data, order).astype(_NARROW.get(order, np.uint64))
        first = (self.work.table.part or 0) * self.geometry.refcounts_per_block
        kinds = np.minimum(counts, CountKind.SEVERAL).astype(np.uint8)
        refcounts = Refcounts.of_block(counts, first, self.work.ownership)
        hits = self._judge(refcounts).refcount_block(first)
        return self._arrays(counts, kinds, None, refcounts, hits, first_cluster=first)

    def _refcounts(self, hosts: npt.NDArray[np.uint64], chosen: npt.NDArray[np.bool_]) -> Refcounts:
        self.token.raise_if_cancelled()
        clusters = np.where(chosen, hosts >> np.uint64(self.geometry.cluster_bits), 0)
        return look_up_refcounts(
            self.work.source,
            self.stored,
            self.work.ownership,
            clusters.astype(np.int64),
            chosen,
            self.token,
        )

    def _judge(self, refcounts: Refcounts) -> TableJudge:
        self.token.raise_if_cancelled()
        host = self.place.host_offset, self.place.end_offset
        table = replace(self.work.table.table, host=host)
        return TableJudge(self.work.report, table, self.work.ownership, refcounts)

    def _arrays(
        self,
        words: Unsigned,
        kinds: npt.NDArray[np.uint8],
        hosts: npt.NDArray[np.uint64] | None,
        refcounts: Refcounts,
        hits: tuple[Hit, ...],
        *,
        bitmaps: npt.NDArray[np.uint64] | None = None,
        payload_bytes: npt.NDArray[np.int32] | None = None,
        first_guest_offset: int = 0,
        guest_bytes: int = 0,
        first_cluster: int = 0,
    ) -> EntryArrays:
        flagged = np.zeros(len(kinds), dtype=np.bool_)
        for hit in hits:
            flagged[hit.indices] = True
        return EntryArrays(
            self.work.table.table,
            self.place,
            self.geometry,
            words,
            bitmaps,
            kinds,
            hosts,
            payload_bytes,
            first_guest_offset,
            guest_bytes,
            first_cluster,
            refcounts,
            refcounts.differences(self.geometry.refcount_max),
            hits,
            flagged,
        )
