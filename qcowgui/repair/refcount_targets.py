"""What every refcount should be, and which refcount blocks and table can stay. Spec: 1.10, 2.2"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from qcowgui.check.cluster_ownership import Ownership
from qcowgui.check.overwritten import CountStretches
from qcowgui.check.refcount_rules import kept_leak_count
from qcowgui.check.reference_counts import Clusters, Counts
from qcowgui.check.stored import StoredRefcounts
from qcowgui.format import limits
from qcowgui.format.geometry import ENTRY_BYTES
from qcowgui.format.header import Header
from qcowgui.format.refcounts import unpack_refcounts
from qcowgui.image.source import ByteSource
from qcowgui.units import ceil_div


@dataclass
class Targets:
    """The refcounts to be, one a cluster of the file; grows when clusters are added.

    Attributes:
        counts: uint16 or uint32, as many as there are clusters.
        kept_leaks: Clusters that nothing refers to and that stay counted as used.
        kept_high: Clusters with references that stay counted more often than there are.
        marked: int64, ascending: kept leaks whose refcount becomes the mark of such.
    """

    counts: Counts
    kept_leaks: int = 0
    kept_high: int = 0
    marked: Clusters = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def use(self, first: int, clusters: int) -> None:
        """Count one reference to each of some clusters that had none."""
        end = first + clusters
        if end > len(self.counts):
            grown = np.zeros(end, dtype=self.counts.dtype)
            grown[: len(self.counts)] = self.counts
            self.counts = grown
        self.counts[first:end] = 1

    def slice(self, first: int, length: int) -> npt.NDArray[np.uint64]:
        """The counts of `length` clusters from `first` on; zeros behind the last one."""
        part = np.zeros(length, dtype=np.uint64)
        known = self.counts[first : first + length]
        part[: len(known)] = known
        return part

    def used_blocks(self, per_block: int) -> npt.NDArray[np.intp]:
        """The indices of the blocks that have a count above zero."""
        blocks = ceil_div(len(self.counts), per_block)
        if not blocks:
            return np.zeros(0, dtype=np.intp)
        starts = np.arange(blocks) * per_block
        return np.flatnonzero(np.maximum.reduceat(self.counts, starts))


@dataclass(frozen=True, slots=True)
class SoundStructures:
    """What of the refcount structures can stay where it is.

    Attributes:
        table: Whether the table can.
        first_table_cluster: Where the table is.
        blocks: Of each entry of the table, the cluster of its block, or 0 where that can't stay.
        contested_blocks: The same of blocks that can't stay because something else names their
            cluster, too: what they count may still be right.
    """

    table: bool
    first_table_cluster: int
    blocks: Clusters
    contested_blocks: Clusters


def find_sound(
    stored: StoredRefcounts, ownership: Ownership, header: Header, file_bytes: int
) -> SoundStructures:
    """What of the refcount structures is whole, in the file, and has no other owner.

    Args:
        stored: The refcounts as they are.
        ownership: The references, those of refcount table and blocks left out.
        header: The image's, which says where the table is.
        file_bytes: Length of the file.
    """
    geometry = stored.geometry
    whole = min(file_bytes >> geometry.cluster_bits, ownership.clusters)
    first = header.refcount_table_offset >> geometry.cluster_bits
    table_bytes = len(stored.table_words) * ENTRY_BYTES
    last = first + geometry.clusters(table_bytes)
    free = ownership.computed == 0
    table = (
        stored.usable
        and table_bytes == header.refcount_table_clusters << geometry.cluster_bits
        and first > 0
        and first < last <= whole
        and table_bytes <= limits.MAX_REFCOUNT_TABLE_BYTES
        and bool(free[first:last].all())
    )
    offsets = stored.block_offsets
    sound = (offsets != 0) & ~stored.reserved_entries & ~stored.unaligned_entries
    sound &= offsets < np.uint64(whole << geometry.cluster_bits)
    clusters = np.zeros(len(offsets), dtype=np.int64)
    entries = np.flatnonzero(sound)
    found = (offsets[entries] >> np.uint64(geometry.cluster_bits)).astype(np.int64)
    kept = free[found]
    if table:
        kept &= (found < first) | (found >= last)
    _, index, times = np.unique(found, return_index=True, return_counts=True)
    once = np.zeros(len(found), dtype=np.bool_)
    once[index[times == 1]] = True
    kept &= once
    clusters[entries[kept]] = found[kept]
    contested = np.zeros_like(clusters)
    named_once = once & ~free[found]
    contested[entries[named_once]] = found[named_once]
    return SoundStructures(table, first, clusters, contested)


def targets_of(ownership: Ownership) -> Targets:
    """The refcounts that the references to each cluster ask for.

    Args:
        ownership: The references, those of refcount table and blocks left out.
    """
    return Targets(ownership.computed.copy())


def keep_high_counts(
    targets: Targets,
    source: ByteSource,
    stored: StoredRefcounts,
    sound: SoundStructures,
    abandoned: Clusters,
    overwritten: CountStretches,
    *,
    mark: bool,
) -> None:
    """Let no count fall: for what is counted too often, somebody may exist who is not found.

    Args:
        targets: Are changed; `kept_leaks` and `kept_high` count what is kept.
        source: The image.
        stored: The refcounts as they are.
        sound: The blocks that are to be believed.
        abandoned: Clusters whose only owner the repair has moved: they become free.
        overwritten: Which counts are none: their clusters count as used once.
        mark: Whether leaks that are kept are marked as such, where a refcount is wide enough.

    Raises:
        SourceError: When the operating system refuses a read.
    """
    geometry, per_block = stored.geometry, stored.geometry.refcounts_per_block
    most = np.uint64(np.iinfo(targets.counts.dtype).max)
    structures = np.concatenate([_structure_clusters(stored, sound), abandoned])
    blocks = sound.blocks + sound.contested_blocks
    for entry in np.flatnonzero(blocks).tolist():
        offset = int(blocks[entry]) << geometry.cluster_bits
        block = source.read_at(offset, geometry.cluster_bytes)
        first = entry * per_block
        part = targets.counts[first : first + per_block]
        counts = unpack_refcounts(block, geometry.refcount_order)[: len(part)]
        if sound.contested_blocks[entry]:
            # It may be guest data, whose numbers are none; but used is what they say.
            counts[:] = np.where(part == 0, np.minimum(counts, 1), 0)
        if overwritten.stretches:
            counts[overwritten.cover(np.arange(first, first + len(part)))] = 1
        # Table and blocks are counted elsewhere, whether they stay or not.
        inside = structures[(structures >= first) & (structures < first + len(part))]
        counts[inside - first] = 0
        leaks = np.flatnonzero((part == 0) & (counts > 0))
        targets.kept_leaks += len(leaks)
        mark_count = kept_leak_count(geometry) if mark else None
        if mark_count is not None:
            counts[leaks] = mark_count
            targets.marked = np.concatenate([targets.marked, first + leaks])
        targets.kept_high += int(np.count_nonzero((part > 0) & (counts > part)))
        part[:] = np.maximum(part, np.minimum(counts, most).astype(part.dtype))


def _structure_clusters(stored: StoredRefcounts, sound: SoundStructures) -> Clusters:
    """The clusters of the table and of all sound blocks."""
    blocks: Clusters = sound.blocks[sound.blocks != 0]
    if not sound.table:
        return blocks
    clusters = stored.geometry.clusters(len(stored.table_words) * ENTRY_BYTES)
    return np.concatenate([blocks, sound.first_table_cluster + np.arange(clusters)])


def named_structure_clusters(stored: StoredRefcounts, header: Header) -> set[int]:
    """The clusters that the header and the table name as table and blocks, sound or not."""
    geometry = stored.geometry
    offsets = stored.block_offsets[stored.block_offsets < np.uint64(stored.file_bytes)]
    clusters = set((offsets >> np.uint64(geometry.cluster_bits)).tolist())
    first = header.refcount_table_offset >> geometry.cluster_bits
    return clusters.union(range(first, first + geometry.clusters(stored.table_words.nbytes)))
