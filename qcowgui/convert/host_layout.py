"""Where things go in a new qcow2 file, and how often each host cluster is referenced.

Host space is handed out from the front to the back. Refcount blocks are written as soon as the
clusters they count are final, so that memory stays bounded whatever the image's size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from qcowgui.format.geometry import ENTRY_BYTES, Geometry
from qcowgui.format.refcounts import pack_refcounts, refcount_metadata_clusters
from qcowgui.units import align_up, ceil_div

_GROWTH_CLUSTERS: Final = 1 << 16

Write = Callable[[int, bytes], None]
"""Writes bytes at a host offset."""


class HostLayout:
    """Allocates host clusters and payload bytes, counts references, writes refcount structures.

    Not thread-safe: the committer alone uses it, in batch order, which makes the result the same
    for any number of workers.
    """

    def __init__(self, geometry: Geometry, write: Write) -> None:
        """An empty file.

        Args:
            geometry: The target's geometry.
            write: Called for each refcount block and for the refcount table.
        """
        self._geometry = geometry
        self._cluster_bits = geometry.cluster_bits
        self._in_cluster_mask = geometry.cluster_bytes - 1
        self._refcount_max = geometry.refcount_max
        self._write = write
        self._next_cluster = 0
        # Counts of the host clusters from _counts_base on; those before _counted are in blocks.
        self._counts = np.zeros(_GROWTH_CLUSTERS, dtype=np.uint64)
        # The same memory: one count costs a third of the time that numpy takes for it.
        self._cells = self._counts.data
        self._counts_base = 0
        self._counted = 0
        self._block_offsets: list[int] = []
        # The open cluster: payloads are packed behind one another up to its end.
        self._payload_end = 0
        self._payload_limit = 0

    @property
    def end_offset(self) -> int:
        """Host offset of the first cluster that is not handed out: the file's length."""
        return self._next_cluster << self._geometry.cluster_bits

    def allocate_clusters(self, count: int) -> int:
        """Host offset of `count` fresh neighbouring clusters, each with one reference."""
        first = self._next_cluster
        self._next_cluster += count
        self._reserve()
        base = self._counts_base
        self._counts[first - base : self._next_cluster - base] += np.uint64(1)
        return first << self._geometry.cluster_bits

    def allocate_payload(self, length: int) -> int:
        """Host offset for a compressed payload of `length` bytes, packed as tightly as possible.

        It starts where the last one ended when the rest of that cluster is large enough, or when
        the next cluster is free too; each host cluster it touches gets one more reference.
        """
        offset = self._payload_end
        last = offset + length
        if last > self._payload_limit or not self._may_share(offset):
            contiguous = self._payload_limit == self.end_offset and self._may_share(offset)
            if not contiguous:
                offset = self.end_offset
                last = offset + length
            self._next_cluster = ceil_div(last, self._geometry.cluster_bytes)
            self._payload_limit = self.end_offset
            self._reserve()
        self._payload_end = last
        bits = self._cluster_bits
        first_cell = (offset >> bits) - self._counts_base
        last_cell = ((last - 1) >> bits) - self._counts_base
        self._cells[first_cell] += 1
        if last_cell != first_cell:  # a payload is shorter than a cluster
            self._cells[last_cell] += 1
        return offset

    def _may_share(self, offset: int) -> bool:
        """Whether the cluster that holds `offset`, the end of the last payload, may be shared."""
        if not offset & self._in_cluster_mask:
            return True  # the last payload filled its cluster
        return self._cells[(offset >> self._cluster_bits) - self._counts_base] < self._refcount_max

    def _reserve(self) -> None:
        """Make room for counts up to the next free cluster."""
        needed = self._next_cluster - self._counts_base
        if needed <= len(self._counts):
            return
        kept = self._counts[self._counted - self._counts_base :]
        needed = self._next_cluster - self._counted
        size = align_up(max(needed, len(kept)) + _GROWTH_CLUSTERS, _GROWTH_CLUSTERS)
        self._counts = np.zeros(size, dtype=np.uint64)
        self._counts[: len(kept)] = kept
        self._cells = self._counts.data
        self._counts_base = self._counted

    def write_final_blocks(self) -> None:
        """Write the refcount blocks whose clusters will get no more references.

        Called between batches; each block takes a cluster from the front of the free space.
        """
        per_block = self._geometry.refcounts_per_block
        while self._final_clusters() - self._counted >= per_block:
            self._write_block(self.allocate_clusters(1))

    def _final_clusters(self) -> int:
        """Host clusters, counted from the front, whose counts can't change any more."""
        if self._payload_end == self._payload_limit:
            return self._next_cluster
        open_cluster = self._payload_end >> self._geometry.cluster_bits
        if self._next_cluster - open_cluster > self._geometry.refcounts_per_block:
            # Plain clusters followed for long: give up the rest of that cluster, not the bound.
            self._payload_end = self._payload_limit
            return self._next_cluster
        return open_cluster

    def _write_block(self, offset: int) -> None:
        per_block = self._geometry.refcounts_per_block
        first = self._counted - self._counts_base
        counts = self._counts[first : first + per_block]
        if len(counts) < per_block:
            counts = np.concatenate([counts, np.zeros(per_block - len(counts), dtype=np.uint64)])
        self._write(offset, pack_refcounts(counts, self._geometry.refcount_order))
        self._block_offsets.append(offset)
        self._counted += per_block

    def finish(self) -> tuple[int, int]:
        """Write the remaining refcount blocks and the refcount table at the end of the file.

        Returns:
            (host offset of the refcount table, its clusters).
        """
        geometry = self._geometry
        per_table_cluster = geometry.cluster_bytes // ENTRY_BYTES
        written = len(self._block_offsets)
        blocks, table = refcount_metadata_clusters(
            self._next_cluster - written, geometry.cluster_bits, geometry.refcount_order
        )
        blocks -= written
        block_offset = self.allocate_clusters(blocks)
        table_offset = self.allocate_clusters(table)
        for index in range(blocks):
            self._write_block(block_offset + index * geometry.cluster_bytes)
        words = np.zeros(table * per_table_cluster, dtype=">u8")
        words[: len(self._block_offsets)] = self._block_offsets
        self._write(table_offset, words.tobytes())
        return table_offset, table
