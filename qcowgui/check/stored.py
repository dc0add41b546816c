"""The refcounts as the image stores them, read piece by piece; and what is wrong with their table.

Spec: 1.10, 2.2 (R17 to R21)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from qcowgui.check.overwritten import EntryBounds, overwritten_refcount_table
from qcowgui.check.reference_counts import PART_BITS, PART_CLUSTERS, Clusters
from qcowgui.format import geometry as geo
from qcowgui.format import limits
from qcowgui.format.geometry import ENTRY_BYTES, Geometry
from qcowgui.format.refcounts import Counts, refcount_block_offsets, unpack_refcounts
from qcowgui.format.tables import Words, parse_words
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.units import align_up, ceil_div

_MAX_READ_OFFSET: Final = limits.MAX_OFFSET - limits.MAX_OFFSET % (1 << 30)
"""QEMU refuses to read behind this."""
_NARROW_MAX: Final = np.uint64((1 << 16) - 1)


class StoredPiece(NamedTuple):
    """The stored refcounts of the clusters [first, last).

    Attributes:
        first: Index of the first cluster.
        last: Index behind the last one.
        counts: uint64, one element a cluster; None where they are zero for want of a block.
        readable: False where the table's entry leads to no block that could be read.
    """

    first: int
    last: int
    counts: Counts | None
    readable: bool = True


class StoredRefcounts:
    """The refcount table of an image, and its blocks on demand. For one thread."""

    def __init__(self, source: ByteSource, report: ImageReport) -> None:
        """Load the refcount table, at most 8 MiB.

        Raises:
            SourceError: When the operating system refuses the read.
            ValueError: The header allows no geometry.
        """
        geometry = report.header.geometry
        if geometry is None:
            raise ValueError("an image without a geometry has no refcounts")
        self.geometry: Geometry = geometry
        self.file_bytes = source.size_bytes
        self._source = source
        header = report.header
        table_bytes = header.refcount_table_clusters * geometry.cluster_bytes
        offset = header.refcount_table_offset
        self.usable = (
            table_bytes <= limits.MAX_REFCOUNT_TABLE_BYTES
            and geometry.is_aligned(offset)
            and offset <= limits.MAX_OFFSET - table_bytes
        )
        """Whether QEMU could load the table; if not, every refcount is unreadable."""
        data = source.read_at(offset, table_bytes) if self.usable else b""
        self.table_words: Words = parse_words(data.ljust(align_up(len(data), ENTRY_BYTES), b"\0"))
        """The entries as far as the file holds them; QEMU takes the others for zeros."""
        self.block_offsets: Words = refcount_block_offsets(self.table_words)
        """uint64, of each entry: the host offset of its block, as found; 0 for none."""
        inside = np.uint64(geometry.cluster_bytes - 1)
        self.reserved_entries = (self.table_words & np.uint64(geo.REFCOUNT_RESERVED_MASK)) != 0
        """bool, of each entry: reserved bits are set. Spec: 2.2 (R17)"""
        self.unaligned_entries = (self.block_offsets & inside) != 0
        """bool, of each entry: it names no cluster. Spec: 2.2 (R18)"""
        self.overwritten_entries = overwritten_refcount_table(
            self.table_words, EntryBounds.of(report, geometry)
        )
        """bool, of each entry: it is none, as something else was written there; None for none."""

    @property
    def unreadable_entries(self) -> npt.NDArray[np.bool_]:
        """bool, of each entry: a count in its block can't be read at all. Spec: 2.2 (R21)"""
        last_offset = np.uint64(_MAX_READ_OFFSET - self.geometry.cluster_bytes)
        unreadable: npt.NDArray[np.bool_] = self.unaligned_entries | (
            self.block_offsets > last_offset
        )
        return unreadable

    def iter_pieces(self, clusters: int) -> Iterator[StoredPiece]:
        """The refcounts of the first `clusters` clusters, in order, without a gap.

        Pieces with counts have at most 65,536 of them; those without may be of any length.

        Raises:
            SourceError: When the operating system refuses a read.
        """
        per_block = self.geometry.refcounts_per_block
        if not self.usable:
            yield StoredPiece(0, clusters, None, readable=False)
            return
        entries = min(len(self.block_offsets), ceil_div(clusters, per_block))
        unreadable = self.unreadable_entries[:entries]
        present = (self.block_offsets[:entries] != 0) & ~unreadable
        done = 0
        for entry in np.flatnonzero(present | unreadable).tolist():
            first, last = entry * per_block, min((entry + 1) * per_block, clusters)
            if done < first:
                yield StoredPiece(done, first, None)
            if unreadable[entry]:
                yield StoredPiece(first, last, None, readable=False)
            else:
                yield from self._iter_block(int(self.block_offsets[entry]), first, last)
            done = last
        if done < clusters:
            yield StoredPiece(done, clusters, None)

    def iter_blocks(self, clusters: int) -> Iterator[tuple[int, Counts]]:
        """(first cluster, counts) of the pieces of `iter_pieces` that have counts.

        Raises:
            SourceError: When the operating system refuses a read.
        """
        for piece in self.iter_pieces(clusters):
            if piece.counts is not None:
                yield piece.first, piece.counts

    def _iter_block(self, offset: int, first: int, last: int) -> Iterator[StoredPiece]:
        step_bytes = PART_CLUSTERS * self.geometry.refcount_bits // 8
        for start in range(first, last, PART_CLUSTERS):
            end = min(start + PART_CLUSTERS, last)
            wanted = min(step_bytes, self.geometry.cluster_bytes)
            data = self._source.read_at(offset, wanted).ljust(wanted, b"\0")
            counts = unpack_refcounts(data, self.geometry.refcount_order)[: end - start]
            yield StoredPiece(start, end, counts)
            offset += step_bytes

    def at(self, cluster: int) -> int | None:
        """The refcount of one cluster, wherever it lies; None when it can't be read.

        Raises:
            SourceError: When the operating system refuses the read.
        """
        counts, readable = self.at_each(np.array([cluster], dtype=np.int64))
        return int(counts[0]) if readable[0] else None

    def at_each(self, clusters: Clusters) -> tuple[Counts, npt.NDArray[np.bool_]]:
        """The refcounts of clusters anywhere, also beyond the file; one read for each.

        Returns:
            uint64 counts, and whether each could be read.

        Raises:
            SourceError: When the operating system refuses a read.
        """
        counts = np.zeros(len(clusters), dtype=np.uint64)
        if not self.usable:
            return counts, np.zeros(len(clusters), dtype=np.bool_)
        readable = np.ones(len(clusters), dtype=np.bool_)
        entries = clusters // self.geometry.refcounts_per_block
        inside = np.flatnonzero((entries >= 0) & (entries < len(self.block_offsets)))
        entries = entries[inside]
        readable[inside] = ~self.unreadable_entries[entries]
        named = readable[inside] & (self.block_offsets[entries] != 0)
        for position, entry in zip(inside[named].tolist(), entries[named].tolist(), strict=True):
            counts[position] = self._at(int(clusters[position]), entry)
        return counts, readable

    def _at(self, cluster: int, entry: int) -> int:
        bits = self.geometry.refcount_bits
        index = cluster % self.geometry.refcounts_per_block
        byte, shift = divmod(index * bits, 8)
        width = max(1, bits // 8)
        data = self._source.read_at(int(self.block_offsets[entry]) + byte, width)
        counts = unpack_refcounts(data.ljust(width, b"\0"), self.geometry.refcount_order)
        return int(counts[shift // bits])


class NarrowRefcounts:
    """The stored refcounts of a file's clusters, in memory; those above 65,535 as 65,535.

    Attributes:
        counts: uint16, one element a cluster.
        unreadable: bool, one element a cluster; None when all could be read.
        counted: bool, one element for each `PART_CLUSTERS` clusters: some have a refcount.
    """

    def __init__(self, stored: StoredRefcounts, clusters: int) -> None:
        """Load the refcounts of `clusters` clusters: 2 bytes each, but for holes.

        Raises:
            SourceError: When the operating system refuses a read.
        """
        self._stored = stored
        self.cluster_bits = stored.geometry.cluster_bits
        self.counts = np.zeros(clusters, dtype=np.uint16)
        self.counted = np.zeros(ceil_div(clusters, PART_CLUSTERS), dtype=np.bool_)
        self.unreadable: npt.NDArray[np.bool_] | None = None
        for piece in stored.iter_pieces(clusters) if stored.usable else ():
            if not piece.readable:
                if self.unreadable is None:
                    self.unreadable = np.zeros(clusters, dtype=np.bool_)
                self.unreadable[piece.first : piece.last] = True
            elif piece.counts is not None and piece.counts.any():
                counts = piece.counts
                if not self.is_exact:
                    counts = np.minimum(counts, _NARROW_MAX)
                self.counts[piece.first : piece.last] = counts
                self.counted[piece.first >> PART_BITS] = True

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def refcount_max(self) -> int:
        """The largest number a refcount of the image can hold."""
        return self._stored.geometry.refcount_max

    @property
    def is_exact(self) -> bool:
        """Whether the image's refcounts are none too wide for `counts`."""
        return self._stored.geometry.refcount_bits <= 16

    def of(
        self, clusters: Clusters
    ) -> tuple[npt.NDArray[np.unsignedinteger], npt.NDArray[np.bool_] | None]:
        """The refcount of each of `clusters`, which may lie anywhere, and which could be read.

        None in place of the second stands for all.

        Raises:
            SourceError: When the operating system refuses a read.
        """
        inside = clusters < len(self.counts)
        if inside.all():
            readable = None if self.unreadable is None else ~self.unreadable[clusters]
            return self.counts[clusters], readable
        counts = np.zeros(len(clusters), dtype=np.uint64)
        readable = np.ones(len(clusters), dtype=np.bool_)
        near = clusters[inside]
        counts[inside] = self.counts[near]
        if self.unreadable is not None:
            readable[inside] = ~self.unreadable[near]
        counts[~inside], readable[~inside] = self._stored.at_each(clusters[~inside])
        return counts, readable
