"""Edits that make the refcounts right, whatever state their table and blocks are in.

What is sound stays where it is, and only wrong counts in it are edited. Anything else (unaligned,
shared, behind the end of the file, missing) is made anew in free clusters, and the header is
switched to a new table when the old one can't stay. Old structures count as free then.
Spec: 1.10, 2.2 (R2, R17 to R23)
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from qcowgui.check.reference_counts import Clusters
from qcowgui.check.stored import StoredRefcounts
from qcowgui.format import limits
from qcowgui.format.geometry import ENTRY_BYTES, Geometry
from qcowgui.format.header import Header
from qcowgui.image.patched import Edit
from qcowgui.image.source import ByteSource
from qcowgui.repair.free_space import FreeSpace
from qcowgui.repair.refcount_blocks import BlockWriter
from qcowgui.repair.refcount_targets import SoundStructures, Targets
from qcowgui.units import ceil_div, format_count

_TABLE_FIELDS_OFFSET: Final = 48
"""refcount_table_offset (8 bytes) and refcount_table_clusters (4): switched by one edit."""
_ORDER_FIELD_OFFSET: Final = 96


class RefcountError(Exception):
    """The refcounts can't be made right; the text says why."""


@dataclass(frozen=True, slots=True)
class RefcountEdits:
    """What makes the refcounts right.

    Attributes:
        edits: By no particular order.
        changed: How many refcounts and entries of the table change, by the code of what was wrong.
        new_blocks: How many blocks were made anew.
        new_table: Whether the table was.
        refcount_order: The width of refcounts afterwards.
    """

    edits: list[Edit]
    changed: dict[str, int]
    new_blocks: int
    new_table: bool
    refcount_order: int


def lower_counts(
    source: ByteSource,
    stored: StoredRefcounts,
    sound: SoundStructures,
    targets: Targets,
    header: Header,
) -> RefcountEdits:
    """The edits that lower counts which are too high, and nothing else.

    Args:
        source: The image.
        stored: Its refcounts.
        sound: What of the structures is to be believed.
        targets: The refcounts to be, without those of table and blocks.
        header: The image's, which says where the table is.

    Raises:
        SourceError: When the operating system refuses a read.
    """
    # References of the structures themselves, sound or not: nothing is moved here.
    counted = _with_structures(targets, stored, header.refcount_table_offset)
    writer = BlockWriter(source, stored.geometry, counted, only_lower=True)
    for entry in np.flatnonzero(sound.blocks).tolist():
        writer.edit_block(entry, int(sound.blocks[entry]))
    return RefcountEdits(writer.edits, writer.changed, 0, False, stored.geometry.refcount_order)


def _with_structures(targets: Targets, stored: StoredRefcounts, table_offset: int) -> Targets:
    geometry = stored.geometry
    counts = targets.counts.copy()
    if stored.usable and len(stored.table_words):
        first = table_offset >> geometry.cluster_bits
        _count(
            counts,
            np.arange(first, first + geometry.clusters(len(stored.table_words) * ENTRY_BYTES)),
        )
    named = (stored.block_offsets != 0) & ~stored.unaligned_entries & ~stored.reserved_entries
    offsets = stored.block_offsets[named]
    offsets = offsets[offsets < np.uint64(len(counts) << geometry.cluster_bits)]
    _count(counts, (offsets >> np.uint64(geometry.cluster_bits)).astype(np.int64))
    return Targets(counts)


def _count(counts: npt.NDArray[np.unsignedinteger], clusters: Clusters) -> None:
    clusters = clusters[clusters < len(counts)]
    clusters = clusters[counts[clusters] < np.iinfo(counts.dtype).max]
    np.add.at(counts, clusters, counts.dtype.type(1))


def rebuild(
    source: ByteSource,
    stored: StoredRefcounts,
    sound: SoundStructures,
    targets: Targets,
    space: FreeSpace,
    header: Header,
) -> RefcountEdits:
    """The edits that make every refcount what `targets` says.

    Args:
        source: The image.
        stored: Its refcounts.
        sound: What of the structures is to be believed.
        targets: The refcounts to be, without those of table and blocks, which are added to it.
        space: Gives clusters to new blocks and a new table.
        header: The image's, which says where the table is.

    Raises:
        RefcountError: When a refcount or the table would not fit.
        NoSpaceError: When there is no place for what is new.
        SourceError: When the operating system refuses a read.
    """
    geometry = _wide_enough(stored.geometry, targets, header.version)
    if geometry != stored.geometry:
        sound = replace(sound, table=False, blocks=np.zeros_like(sound.blocks))
    plan = _StructurePlan(geometry, sound, targets, space, stored, header)
    plan.place()
    writer = BlockWriter(source, geometry, targets)
    edits = plan.table_edits(source)
    changed = Tally(edit.code for edit in edits[plan.new_table is not None :])
    for entry, cluster in sorted(plan.blocks.items()):
        if entry in plan.new_blocks:
            edits.append(writer.new_block(entry, cluster, plan.code_of(entry)))
        else:
            writer.edit_block(entry, cluster)
    if geometry != stored.geometry:
        edits.append(_order_edit(source, geometry))
    return RefcountEdits(
        edits + writer.edits,
        dict(changed + Tally(writer.changed)),
        len(plan.new_blocks),
        plan.new_table is not None,
        geometry.refcount_order,
    )


def _wide_enough(geometry: Geometry, targets: Targets, version: int) -> Geometry:
    """The geometry with refcounts that can hold every target."""
    most = int(targets.counts.max(initial=0))
    order = geometry.refcount_order
    while (1 << (1 << order)) - 1 < most:
        order += 1
    if order == geometry.refcount_order:
        return geometry
    if version < 3:
        raise RefcountError(
            f"a cluster has {most:,} references, and refcounts of version 2 have 16 bits"
        )
    return Geometry(geometry.cluster_bits, geometry.extended_l2, order)


def _order_edit(source: ByteSource, geometry: Geometry) -> Edit:
    return Edit(
        _ORDER_FIELD_OFFSET,
        source.read_at(_ORDER_FIELD_OFFSET, 4),
        geometry.refcount_order.to_bytes(4, "big"),
        f"Refcounts get {geometry.refcount_bits} bits, so that every reference can be counted.",
        "references-above-maximum",
    )


class _StructurePlan:
    """Decides where table and blocks are to be, and counts them in the targets."""

    def __init__(
        self,
        geometry: Geometry,
        sound: SoundStructures,
        targets: Targets,
        space: FreeSpace,
        stored: StoredRefcounts,
        header: Header,
    ) -> None:
        self._geometry = geometry
        self._targets = targets
        self._space = space
        self._stored = stored
        self._header = header
        self._table_offset = header.refcount_table_offset
        kept = np.flatnonzero(sound.blocks)
        self.blocks: dict[int, int] = {int(entry): int(sound.blocks[entry]) for entry in kept}
        """Entry of the table → cluster of its block."""
        self.new_blocks: set[int] = set()
        self._keeps_table = sound.table
        self.new_table: tuple[int, int] | None = None
        """First cluster and number of clusters of a new table."""
        for cluster in self.blocks.values():
            targets.use(cluster, 1)
        if sound.table:
            first = self._table_offset >> geometry.cluster_bits
            targets.use(first, geometry.clusters(len(stored.table_words) * ENTRY_BYTES))

    def place(self) -> None:
        """Take clusters until every cluster in use has a block, and the table has room for all."""
        per_block = self._geometry.refcounts_per_block
        while True:
            used = self._targets.used_blocks(per_block).tolist()
            missing = [entry for entry in used if entry not in self.blocks]
            if missing:
                for entry in missing:
                    self.blocks[entry] = self._take(1)
                    self.new_blocks.add(entry)
                continue
            if self._has_room():
                return
            self._move_table()

    def _entries(self) -> int:
        if self.new_table is not None:
            return self.new_table[1] * self._geometry.cluster_bytes // ENTRY_BYTES
        return len(self._stored.table_words) if self._keeps_table else 0

    def _has_room(self) -> bool:
        return max(self.blocks, default=-1) < self._entries()

    def _move_table(self) -> None:
        geometry = self._geometry
        if self._keeps_table:
            # Its clusters stay counted no longer.
            first = self._table_offset >> geometry.cluster_bits
            last = first + geometry.clusters(len(self._stored.table_words) * ENTRY_BYTES)
            self._targets.counts[first:last] = 0
            self._keeps_table = False
        if self.new_table is not None:
            first, clusters = self.new_table
            self._targets.counts[first : first + clusters] = 0
        # The blocks for the table itself may need another entry.
        entries = max(self.blocks, default=0) + 2
        clusters = ceil_div(entries * ENTRY_BYTES, geometry.cluster_bytes)
        if clusters * geometry.cluster_bytes > limits.MAX_REFCOUNT_TABLE_BYTES:
            raise RefcountError(
                f"the refcount table would have {clusters:,} clusters, more than QEMU accepts"
            )
        self.new_table = self._take(clusters), clusters

    def _take(self, clusters: int) -> int:
        first = self._space.take(clusters)
        self._targets.use(first, clusters)
        return first

    def table_edits(self, source: ByteSource) -> list[Edit]:
        """The edits of the table, and of the header when there is a new one."""
        words = np.zeros(self._entries(), dtype=np.uint64)
        for entry, cluster in self.blocks.items():
            words[entry] = cluster << self._geometry.cluster_bits
        after = words.astype(">u8").tobytes()
        if self.new_table is not None:
            first, clusters = self.new_table
            offset = first << self._geometry.cluster_bits
            fields = offset.to_bytes(8, "big") + clusters.to_bytes(4, "big")
            blocks = format_count(len(self.blocks), "block")
            return [
                Edit(
                    offset,
                    source.read_at(offset, len(after)),
                    after,
                    f"A new refcount table with {blocks}.",
                    self._table_code(),
                ),
                Edit(
                    _TABLE_FIELDS_OFFSET,
                    source.read_at(_TABLE_FIELDS_OFFSET, len(fields)),
                    fields,
                    "The header names the new refcount table.",
                    self._table_code(),
                ),
            ]
        return list(self._entry_edits(words, after))

    def _entry_edits(self, words: npt.NDArray[np.uint64], after: bytes) -> Iterator[Edit]:
        stored = self._stored.table_words
        for entry in np.flatnonzero(words != stored).tolist():
            before = int(stored[entry])
            part = slice(entry * ENTRY_BYTES, (entry + 1) * ENTRY_BYTES)
            yield Edit(
                self._table_offset + entry * ENTRY_BYTES,
                before.to_bytes(ENTRY_BYTES, "big"),
                after[part],
                f"Entry {entry} of the refcount table names "
                + ("a new block." if words[entry] else "no block: it covers nothing in use."),
                self.code_of(entry),
            )

    def _table_code(self) -> str:
        """What was wrong with the table that does not stay."""
        header = self._header
        if self._geometry != self._stored.geometry:
            return "references-above-maximum"
        if not header.refcount_table_offset or not header.refcount_table_clusters:
            return "refcount-table-missing"
        table_bytes = header.refcount_table_clusters << header.cluster_bits
        if table_bytes > limits.MAX_REFCOUNT_TABLE_BYTES:
            return "refcount-table-too-large"
        if not self._stored.usable:
            return "refcount-table-offset"
        if header.refcount_table_offset + table_bytes > self._stored.file_bytes:
            return "refcount-table-truncated"
        return "refcount-zero"

    def code_of(self, entry: int) -> str:
        """What was wrong with an entry of the table, or its block."""
        stored = self._stored
        if entry >= len(stored.table_words):
            return self._table_code()
        if stored.reserved_entries[entry]:
            return "refcount-table-reserved-bits"
        if stored.unaligned_entries[entry]:
            return "refcount-block-unaligned"
        if not stored.table_words[entry]:
            return "refcount-zero"
        if int(stored.block_offsets[entry]) >= stored.file_bytes:
            return "refcount-block-beyond-eof"
        return "refcount-block-shared"
