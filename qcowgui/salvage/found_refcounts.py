"""Refcount structures found without a header: where the table is, how wide the counts are.

What a block counts must agree with what the file holds: that tells a refcount table from every
other table, and the width of the counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from qcowgui.engine.work import CancelToken
from qcowgui.format import limits
from qcowgui.format.geometry import ENTRY_BYTES
from qcowgui.format.refcounts import Counts, refcount_block_offsets, unpack_refcounts
from qcowgui.format.tables import Words, parse_words
from qcowgui.image.source import ByteSource
from qcowgui.salvage.scan import Indices
from qcowgui.salvage.tables import TableSet
from qcowgui.units import KIB, ceil_div

MAX_TRIALS: Final = 1024
"""ours: clusters that are tried as refcount table; an image has one, and it is near the front."""
_JUDGED_BYTES: Final = 64 * KIB
"""ours: what is looked at of the table and of its first block to tell whether they are that."""
_MOST_REFERENCES: Final = 64
"""A cluster with more references than this is rare enough not to count as evidence."""


@dataclass(frozen=True, slots=True)
class FoundRefcounts:
    """A refcount table that agrees with the file.

    Attributes:
        table_offset: Host offset of the table.
        table_clusters: Its clusters.
        refcount_order: The width of the counts: `1 << refcount_order` bits.
        block_offsets: Host offset of each block, 0 where there is none.
        cluster_bits: The image's cluster size.
    """

    table_offset: int
    table_clusters: int
    refcount_order: int
    block_offsets: Words
    cluster_bits: int

    def at(self, source: ByteSource, clusters: Indices) -> Counts:
        """The stored refcount of each of `clusters`; 0 where no block counts it.

        Raises:
            SourceError: When the operating system refuses a read.
        """
        per_block = (1 << self.cluster_bits) * 8 >> self.refcount_order
        counts = np.zeros(len(clusters), dtype=np.uint64)
        blocks = clusters // per_block
        for block in np.unique(blocks[blocks < len(self.block_offsets)]).tolist():
            offset = int(self.block_offsets[block])
            if not offset:
                continue
            chosen = np.flatnonzero(blocks == block)
            places = clusters[chosen] - block * per_block
            # Whole bytes from the first to the last count that is wanted, no more.
            first = int(places.min()) & ~7
            start, end = (n << self.refcount_order >> 3 for n in (first, int(places.max()) + 8))
            data = source.read_at(offset + start, min(end, 1 << self.cluster_bits) - start)
            stored = unpack_refcounts(data, self.refcount_order)
            there = places - first < len(stored)
            counts[chosen[there]] = stored[places[there] - first]
        return counts


def find_refcounts(
    source: ByteSource,
    tables: TableSet,
    token: CancelToken,
    *,
    most: int = MAX_TRIALS,
    said: tuple[int, int] | None = None,
) -> FoundRefcounts | None:
    """The refcount table among clusters that are shaped like tables, or None.

    Args:
        source: The damaged image.
        tables: Clusters that could be tables of 8-byte entries.
        token: Stops the work.
        most: Clusters that are tried.
        said: Host offset of the table and the width of its counts as the header says. They are
            taken when they agree with the file, whatever agrees better.

    Raises:
        Cancelled: When the token was set.
        SourceError: When the operating system refuses a read.
    """
    if said is not None and said[0] % tables.geometry.cluster_bytes == 0:
        orders = [order for order, _ in _agreements(source, said[0], tables.geometry.cluster_bits)]
        if said[1] in orders:
            return _load(source, said[0], said[1], tables)
    # Its entries have no flags at all, and blocks are handed out in order but for repairs.
    hopeful = (tables.copied == 0) & (tables.compressed == 0) & (tables.flagged == 0)
    hopeful &= tables.inside > 0
    best: tuple[float, int, int] | None = None
    for offset in tables.offsets[np.flatnonzero(hopeful)[:most]].tolist():
        token.raise_if_cancelled()
        for order, agreement in _agreements(source, offset, tables.geometry.cluster_bits):
            if best is None or agreement > best[0]:
                best = agreement, offset, order
    if best is None:
        return None
    _, offset, order = best
    return _load(source, offset, order, tables)


def _agreements(
    source: ByteSource, table_offset: int, cluster_bits: int
) -> Iterator[tuple[int, float]]:
    """The orders under which the first block agrees with the file, and how much it counts as used.

    The second number is the share of the file's clusters, of those looked at, with a count.
    """
    cluster_bytes = 1 << cluster_bits
    judged_bytes = min(cluster_bytes, _JUDGED_BYTES)
    words = refcount_block_offsets(parse_words(source.read_at(table_offset, judged_bytes)))
    index = int(np.flatnonzero(words)[0]) if words.any() else -1
    if index < 0 or int(words[index]) % cluster_bytes:
        return
    block_offset = int(words[index])
    data = source.read_at(block_offset, judged_bytes)
    if len(data) < judged_bytes:
        return
    file_clusters = ceil_div(source.size_bytes, cluster_bytes)
    # Those who must be counted: the header, the table, the block itself.
    owners = (0, table_offset >> cluster_bits, block_offset >> cluster_bits)
    for order in range(limits.MAX_REFCOUNT_ORDER + 1):
        counts = unpack_refcounts(data, order)
        first = index * (cluster_bytes * 8 >> order)
        inside = counts[: max(0, file_clusters - first)]
        covered = [owner - first for owner in owners if first <= owner < first + len(counts)]
        if not len(inside) or not counts[covered].all():
            continue
        if np.count_nonzero(counts > _MOST_REFERENCES) * 8 > np.count_nonzero(counts):
            continue
        used = np.count_nonzero(inside) / len(inside)
        if used:
            yield order, used


def _load(source: ByteSource, offset: int, order: int, tables: TableSet) -> FoundRefcounts:
    """The table at `offset` with the clusters behind it that continue it."""
    cluster_bits = tables.geometry.cluster_bits
    per_block = tables.geometry.cluster_bytes * 8 >> order
    needed = ceil_div(ceil_div(source.size_bytes, tables.geometry.cluster_bytes), per_block)
    clusters = max(1, ceil_div(needed * ENTRY_BYTES, tables.geometry.cluster_bytes))
    clusters = min(clusters, limits.MAX_REFCOUNT_TABLE_BYTES >> cluster_bits) or 1
    words = parse_words(source.read_at(offset, clusters << cluster_bits))
    blocks = refcount_block_offsets(words)
    blocks[blocks % np.uint64(tables.geometry.cluster_bytes) != 0] = 0
    blocks[blocks > limits.MAX_OFFSET] = 0
    return FoundRefcounts(offset, clusters, order, blocks, cluster_bits)
