"""Which clusters of a damaged file hold something, and which of them a candidate leaves unowned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from qcowgui.engine.work import CancelToken
from qcowgui.format import geometry as geo
from qcowgui.format import limits
from qcowgui.format.bitmaps import decode_bitmap_table
from qcowgui.format.geometry import ENTRY_BYTES
from qcowgui.image.source import ByteSource
from qcowgui.salvage.candidates import Candidate
from qcowgui.salvage.found_snapshots import load_l1
from qcowgui.salvage.scan import Indices, Scan
from qcowgui.salvage.structures import Structures
from qcowgui.salvage.table_pool import TablePool
from qcowgui.salvage.tables import Flags, clusters_touched, iter_loaded
from qcowgui.salvage.words import fits_geometry, offset_limit
from qcowgui.units import MIB, SECTOR_BYTES, align_down, align_up, ceil_div

if TYPE_CHECKING:
    from qcowgui.image.inspect import ImageReport

_MAX_CLUSTERS: Final = 1 << 26
"""ours: 64 MiB of flags; 4 TiB of 64 KiB clusters."""
_CHUNK_BYTES: Final = 4 * MIB
_ASKED_CLUSTERS: Final = 1 << 20
"""ours: refcounts that are looked up at a time."""


class Census:
    """Every cluster of one damaged file: known structure, named by a table, or left over.

    Attributes:
        pool: The clusters that are believed to be L2 tables.
        known: Clusters that are structures, or that a snapshot names; one flag a cluster.
    """

    def __init__(
        self,
        source: ByteSource,
        scan: Scan,
        structures: Structures,
        report: ImageReport | None,
        token: CancelToken,
    ) -> None:
        """Mark what is known whatever the candidate.

        Raises:
            Cancelled: When the token was set.
            SourceError: When the operating system refuses a read.
        """
        self._source = source
        self._scan = scan
        self._structures = structures
        self._bits = structures.geometry.cluster_bits
        self._token = token
        self.pool = TablePool(source, structures, token)
        clusters = structures.geometry.clusters(source.size_bytes) if self.possible else 0
        self.known: Flags = np.zeros(clusters, dtype=np.bool_)
        self._stored: Flags = np.zeros(clusters, dtype=np.bool_)
        self._allocated: Flags = np.zeros(clusters, dtype=np.bool_)
        if not self.possible:
            return
        self._mark_structures()
        if report is not None:
            self._mark_of_header(report)
        of_snapshots = np.array(sorted(self.pool.snapshot_places), dtype=np.int64)
        self._mark_tables(structures.l2_tables.clusters[of_snapshots], self.known)

    @property
    def possible(self) -> bool:
        """Whether there are few enough clusters to be counted."""
        return self._structures.geometry.clusters(self._source.size_bytes) <= _MAX_CLUSTERS

    def named_by(self, candidate: Candidate) -> Flags:
        """The L2 tables of a candidate, and every cluster that they name."""
        named = np.zeros(len(self.known), dtype=np.bool_)
        offsets = np.unique(candidate.l1[candidate.l1 > 0])
        offsets = offsets[offsets % (1 << self._bits) == 0] >> self._bits
        self._mark_tables(offsets[offsets < len(named)], named)
        return named

    def look(self, named: Flags) -> None:
        """Read what `named`, which a candidate names, leaves over; the rest counts as filled."""
        stored: Flags = named.copy()
        for first, last in iter_runs(~(named | self.known)):
            for start, data in self._iter_data(first << self._bits, last << self._bits):
                padded = data.ljust(align_up(len(data), 1 << self._bits), b"\0")
                words = np.frombuffer(padded, dtype=np.uint64).reshape(-1, 1 << self._bits >> 3)
                filled: Flags = np.asarray(words.any(axis=1))
                place = start >> self._bits
                stored[place : place + len(filled)] |= filled
        self._stored = stored
        self._allocated = self._in_use(stored)

    def left_over(self, named: Flags) -> Flags:
        """Clusters with data that neither `named` nor anything known has; free ones included.

        Call `look` first.
        """
        left: Flags = self._stored & ~named & ~self.known
        return left

    def count_owned(self, named: Flags) -> tuple[int, int]:
        """(clusters with data in use that `named` has, those that nothing has); `look` first."""
        left = self._allocated & ~named & ~self.known
        return int(np.count_nonzero(self._allocated & named)), int(np.count_nonzero(left))

    def _in_use(self, stored: Flags) -> Flags:
        """Those of the stored clusters that are in use; all, where no refcounts are left."""
        refcounts = self._structures.refcounts
        result: Flags = stored.copy()
        if refcounts is None:
            result[self._lost_blocks(stored)] = False
            return result
        chosen = np.flatnonzero(stored)
        counted = np.zeros(len(chosen), dtype=np.bool_)
        for start in range(0, len(chosen), _ASKED_CLUSTERS):
            self._token.raise_if_cancelled()
            part = slice(start, start + _ASKED_CLUSTERS)
            counted[part] = refcounts.at(self._source, chosen[part]) > 0
        # A block that counts none of the data in its range tells nothing: it is overwritten.
        blocks = chosen // ((1 << self._bits) * 8 >> refcounts.refcount_order)
        told = np.bincount(blocks, weights=counted) > 0
        result[chosen] = counted | ~told[blocks]
        return result

    def _lost_blocks(self, stored: Flags) -> Indices:
        """Left-over clusters that look like refcount blocks, as many as there must have been.

        Their table is lost, and they are no guest data. Spec: 1.10
        """
        shaped, _ = clusters_touched(self._scan.counts, self._bits, _ASKED_CLUSTERS)
        shaped = shaped[shaped < len(stored)]
        per_block = (1 << self._bits) * 8 >> limits.V2_REFCOUNT_ORDER
        return shaped[stored[shaped]][: ceil_div(len(stored), per_block)]

    def _mark(self, start: int, length: int) -> None:
        """Mark the clusters that the host range touches as known."""
        if length > 0 and start >= 0:
            self.known[start >> self._bits : ((start + length - 1) >> self._bits) + 1] = True

    def _mark_structures(self) -> None:
        """Mark the header, refcount structures, L1 tables and the snapshot table."""
        structures = self._structures
        self.known[:1] = True
        refcounts = structures.refcounts
        if refcounts is not None:
            self._mark(refcounts.table_offset, refcounts.table_clusters << self._bits)
            blocks = (refcounts.block_offsets >> np.uint64(self._bits)).astype(np.int64)
            self.known[blocks[(blocks > 0) & (blocks < len(self.known))]] = True
        for table in structures.l1_tables:
            self._mark(table.host_offset, len(table.words) * ENTRY_BYTES)
        for snapshot in structures.snapshots:
            self._mark(snapshot.entry_offset, snapshot.entry_bytes)
            words = load_l1(self._source, snapshot.l1_table_offset, snapshot.l1_size)
            self._mark(snapshot.l1_table_offset, len(words) * ENTRY_BYTES)

    def _mark_of_header(self, report: ImageReport) -> None:
        """Mark what the header names: L1 table, bitmaps, encryption header."""
        header = report.header
        l1_bytes = min(header.l1_size * ENTRY_BYTES, limits.MAX_L1_BYTES)
        self._mark(header.l1_table_offset, l1_bytes)
        table_bytes = header.refcount_table_clusters << self._bits
        self._mark(header.refcount_table_offset, min(table_bytes, limits.MAX_REFCOUNT_TABLE_BYTES))
        directory = report.bitmaps_extension
        if directory is not None:
            self._mark(directory.bitmap_directory_offset, directory.bitmap_directory_size)
        for bitmap in report.bitmaps:
            table_bytes = min(bitmap.bitmap_table_size * ENTRY_BYTES, limits.MAX_BITMAP_BYTES)
            self._mark(bitmap.bitmap_table_offset, table_bytes)
            data = self._source.read_at(bitmap.bitmap_table_offset, table_bytes)
            table = decode_bitmap_table(data, cluster_bits=self._bits)
            clusters = (table.cluster_offset >> np.uint64(self._bits)).astype(np.int64)
            self.known[clusters[clusters < len(self.known)]] = True

    def _mark_tables(self, clusters: Indices, flags: Flags) -> None:
        """Mark L2 tables and every cluster that their believable entries name."""
        geometry = self._structures.l2_tables.geometry
        chosen = clusters[clusters < len(flags)]
        flags[chosen] = True
        limit = offset_limit(self._source.size_bytes)
        for _, words, _ in iter_loaded(self._source, chosen, geometry, self._token):
            believed = words[fits_geometry(words, geometry, limit)]
            is_compressed = (believed & np.uint64(geo.COMPRESSED)) != 0
            hosts = believed[~is_compressed] & np.uint64(geo.OFFSET_MASK)
            numbers = (hosts >> np.uint64(self._bits)).astype(np.int64)
            flags[numbers[numbers < len(flags)]] = True
            packed = believed[is_compressed]
            starts = (packed & np.uint64(geometry.compressed_offset_mask)).astype(np.int64)
            sectors = (packed >> np.uint64(geometry.compressed_shift)) & np.uint64(
                geometry.compressed_sectors_mask
            )
            ends = (starts // SECTOR_BYTES + sectors.astype(np.int64)) * SECTOR_BYTES
            # A payload of at most two clusters touches three at the most.
            for step in range(3):
                numbers = (starts >> self._bits) + step
                numbers = numbers[(numbers <= ends >> self._bits) & (numbers < len(flags))]
                flags[numbers] = True

    def _iter_data(self, start: int, end: int) -> Iterator[tuple[int, bytes]]:
        """(host offset, bytes) of [start, end) without the file's holes, in whole clusters."""
        position, cluster_bytes = start, 1 << self._bits
        for first, last in self._source.iter_data_ranges(start, end):
            position = max(position, align_down(first, cluster_bytes))
            while position < last:
                self._token.raise_if_cancelled()
                length = min(_CHUNK_BYTES, align_up(last, cluster_bytes) - position)
                data = self._source.read_at(position, length)
                if not data:
                    return
                yield position, data
                position += align_up(len(data), cluster_bytes)


def iter_runs(flags: Flags) -> Iterator[tuple[int, int]]:
    """[first, last) of each run of set flags."""
    padded = np.concatenate(([False], flags, [False])).astype(np.int8)
    edges = np.flatnonzero(np.diff(padded))
    yield from zip(edges[0::2].tolist(), edges[1::2].tolist(), strict=True)
