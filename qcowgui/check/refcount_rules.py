"""Stored refcounts against the references counted, and the COPIED flags against them.

Spec: 1.10, 2.2 (R17 to R25)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from qcowgui.check.cluster_ownership import Ownership
from qcowgui.check.l1_tables import L1Table
from qcowgui.check.l2_references import EntryReferences, Run
from qcowgui.check.l2_tables import L2Table
from qcowgui.check.overwritten import CountStretches
from qcowgui.check.reference_counts import PART_BITS, PART_CLUSTERS, Clusters
from qcowgui.check.rule_context import Hit
from qcowgui.check.stored import NarrowRefcounts, StoredRefcounts
from qcowgui.engine.work import CancelToken
from qcowgui.format import geometry as geo
from qcowgui.format.geometry import Geometry
from qcowgui.units import SECTOR_BYTES, align_up

_Indices = npt.NDArray[np.intp]
_Flags = npt.NDArray[np.bool_]
_Counts64 = npt.NDArray[np.uint64]

_KEPT_LEAK_COUNT: Final = 61
"""What a repair counts for a cluster that it keeps though nothing refers to it, when it takes away
what told it to do so: the next one keeps it, too. Rare enough in an image that no repair was made
of, and too low to look like something written over a refcount block."""

_CODES: Final = ("refcount-zero", "refcount-too-low", "refcount-too-high", "leak")


class Mismatch(NamedTuple):
    """Clusters whose stored refcount differs from the references, in the same way.

    Attributes:
        code: Of `finding.CODES`.
        clusters: int64, ascending.
        stored: uint64, the refcount of each.
        computed: uint64, the references to each; not above what a refcount can hold.
    """

    code: str
    clusters: Clusters
    stored: _Counts64
    computed: _Counts64


@dataclass
class RefcountSummary:
    """What comparing all refcounts came to.

    Attributes:
        too_low: Clusters whose refcount is too low, or zero though they are in use.
        too_high: Clusters whose refcount is too high; QEMU calls them all leaks.
        leaked: Of those, the ones that nothing refers to.
        unreadable: Clusters whose refcount can't be read.
        used: Clusters with a refcount or a reference.
        end: The cluster behind the last of those, at least 1.
        marked: Of the leaked ones, those that an earlier repair kept and marked.
        overwritten: Where something else was written over refcounts.
        untold: Of the leaked ones, those that only what was written there makes leaked.
    """

    too_low: int = 0
    too_high: int = 0
    leaked: int = 0
    unreadable: int = 0
    used: int = 0
    end: int = 1
    marked: int = 0
    overwritten: CountStretches = field(default_factory=CountStretches)
    untold: int = 0

    def count_used(self, first: int, counts: npt.NDArray[np.unsignedinteger]) -> None:
        """Take the clusters from `first` on, by what they are counted or referred to."""
        used = int(np.count_nonzero(counts))
        self.used += used
        if used:
            last = len(counts) - 1 if counts[-1] else int(np.flatnonzero(counts)[-1])
            self.end = first + last + 1

    @property
    def free_inside(self) -> int:
        """Clusters before `end` that nobody uses, and that count as free."""
        return max(0, self.end - self.used - self.unreadable)


def kept_leak_count(geometry: Geometry) -> int | None:
    """The refcount that marks a leak which a repair kept; None where refcounts are too narrow."""
    count = min(_KEPT_LEAK_COUNT, geometry.refcount_max)
    return count if count > 2 else None


def iter_mismatches(
    stored: StoredRefcounts,
    ownership: Ownership,
    summary: RefcountSummary,
    token: CancelToken,
    known: NarrowRefcounts | None = None,
) -> Iterator[Mismatch]:
    """The clusters whose refcount is wrong, by ascending cluster, at most 65,536 at a time.

    Args:
        stored: The image's refcounts.
        ownership: The references, all counted.
        summary: Is added to.
        token: Looked at for every piece of the refcounts.
        known: The refcounts, when they are loaded already.

    Raises:
        SourceError: When the operating system refuses a read.
        Cancelled: When the token asks for it.
    """
    most = stored.geometry.refcount_max
    if known is not None and _is_enough(known, ownership):
        yield from _compare_known(known, ownership, summary, token)
        return
    for piece in stored.iter_pieces(ownership.clusters):
        token.raise_if_cancelled()
        if not piece.readable:
            summary.unreadable += piece.last - piece.first
        elif piece.counts is None:
            for first, last in ownership.references.iter_parts(piece.first, piece.last):
                computed = _computed(ownership, first, last, most)
                yield from _compare(first, np.zeros_like(computed), computed, summary)
        else:
            computed = _computed(ownership, piece.first, piece.last, most)
            yield from _compare(piece.first, piece.counts, computed, summary)


def _is_enough(known: NarrowRefcounts, ownership: Ownership) -> bool:
    return known.is_exact and known.unreadable is None and len(known) >= ownership.clusters


def _compare_known(
    known: NarrowRefcounts, ownership: Ownership, summary: RefcountSummary, token: CancelToken
) -> Iterator[Mismatch]:
    """The same without reading."""
    touched = ownership.references.touched
    parts = known.counted[: len(touched)] | touched[: len(known.counted)]
    for part in np.flatnonzero(parts).tolist():
        token.raise_if_cancelled()
        first = part << PART_BITS
        last = min(first + PART_CLUSTERS, ownership.clusters)
        if first >= last:
            return
        stored, computed = known.counts[first:last], ownership.computed[first:last]
        if np.array_equal(stored, computed):
            summary.count_used(first, stored)
        else:
            computed64 = _computed(ownership, first, last, known.refcount_max)
            yield from _compare(first, stored.astype(np.uint64), computed64, summary)


def _computed(ownership: Ownership, first: int, last: int, most: int) -> _Counts64:
    computed = ownership.computed[first:last]
    if int(computed.max()) > most:
        computed = np.minimum(computed, computed.dtype.type(most))
    return computed.astype(np.uint64)


def _compare(
    first: int, stored: _Counts64, computed: _Counts64, summary: RefcountSummary
) -> Iterator[Mismatch]:
    if np.array_equal(stored, computed):
        summary.count_used(first, stored)
        return
    summary.count_used(first, stored | computed)
    low, high = stored < computed, stored > computed
    zero, none = low & (stored == 0), high & (computed == 0)
    summary.too_low += int(np.count_nonzero(low))
    summary.too_high += int(np.count_nonzero(high))
    summary.leaked += int(np.count_nonzero(none))
    for code, flags in zip(_CODES, (zero, low & ~zero, high & ~none, none), strict=True):
        indices = np.flatnonzero(flags)
        if len(indices):
            yield Mismatch(code, first + indices, stored[indices], computed[indices])


def judge_refcount_table(stored: StoredRefcounts, ownership: Ownership) -> list[Hit]:
    """What is wrong with the entries of the refcount table. Spec: 2.2 (R17 to R21)

    QEMU counts a corruption for each hit, but for "refcount-unreadable": that is a check error for
    each cluster concerned.
    """
    file_end = np.uint64(align_up(stored.file_bytes, SECTOR_BYTES))
    reserved = stored.reserved_entries
    unaligned = stored.unaligned_entries & ~reserved
    beyond = (stored.block_offsets >= file_end) & ~unaligned & ~reserved
    covered = np.arange(len(reserved)) * stored.geometry.refcounts_per_block < ownership.clusters
    unreadable = stored.unreadable_entries & covered & ~unaligned
    shared = np.zeros_like(reserved)
    shared[ownership.blocks_shared] = True
    found = (
        ("refcount-table-reserved-bits", reserved),
        ("refcount-block-unaligned", unaligned),
        ("refcount-block-beyond-eof", beyond),
        ("refcount-block-shared", shared),
        ("refcount-unreadable", unreadable),
    )
    hits = [Hit(code, np.flatnonzero(flags)) for code, flags in found]
    return [hit for hit in hits if len(hit.indices)]


class CopiedHit(NamedTuple):
    """Entries of one table whose COPIED flag contradicts the refcount of what they name.

    Attributes:
        hit: The code and the positions of the entries.
        refcounts: uint64, of each entry of the table: the refcount, where it is in the hit.
        counted: How many of the entries QEMU looks at: it skips tables whose own refcount it can't
            read.
        untold: bool, of each entry of the table: its refcount is none, as something else was
            written over the block; None where all may be some.
    """

    hit: Hit
    refcounts: _Counts64
    counted: int
    untold: _Flags | None = None


class CopiedRules:
    """Judges COPIED flags by the stored refcounts. For one thread.

    In tables of the active disk the flag must say whether the refcount is 1. In those of snapshots
    it may be clear in any case; QEMU itself sets it there, rightly, when it deletes a snapshot.
    """

    def __init__(
        self, refcounts: NarrowRefcounts, overwritten: CountStretches | None = None
    ) -> None:
        """A judge that knows the refcounts of the file's clusters.

        Args:
            refcounts: The counts.
            overwritten: Which of them are none.
        """
        self._known = refcounts
        self._overwritten = overwritten or CountStretches()

    def judge_l1(self, l1: L1Table) -> CopiedHit | None:
        """The entries of an L1 table with a wrong flag. Spec: 2.2 (R24)"""
        entries = np.flatnonzero(l1.words & np.uint64(geo.OFFSET_MASK))
        words = l1.words[entries]
        offsets = (words & np.uint64(geo.OFFSET_MASK)).view(np.int64)
        active = l1.owner.snapshot is None
        code = "l1-copied" if active else "snapshot-copied"
        return self._judge(
            code, entries, offsets, words >= np.uint64(geo.COPIED), len(l1.words), active=active
        )

    def judge_run(self, table: L2Table, run: Run) -> CopiedHit | None:
        """The entries of a run with a wrong flag. Spec: 2.2 (R25)"""
        first = run.host_offset >> table.geometry.cluster_bits
        last = first + run.clusters
        if not run.copied and not table.active_references:
            return None
        if last <= len(self._known) and self._known.unreadable is None:
            is_one = self._known.counts[first:last] == 1
            if is_one.all() if run.copied else not is_one.any():
                return None
        entries = np.arange(run.clusters)
        offsets = run.host_offset + entries * table.geometry.cluster_bytes
        copied = np.full(run.clusters, run.copied)
        return self._judge_l2(table, entries, offsets, copied)

    def judge_entries(self, table: L2Table, found: EntryReferences) -> CopiedHit | None:
        """The entries of an L2 table with a wrong flag. Spec: 2.2 (R25)"""
        return self._judge_l2(table, found.standard, found.standard_offsets, found.copied)

    def _judge_l2(
        self, table: L2Table, entries: _Indices, offsets: Clusters, copied: _Flags
    ) -> CopiedHit | None:
        active = bool(table.active_references)
        if table.has_data_file:
            # QEMU takes every cluster of a data file for one with refcount 1.
            wrong = np.flatnonzero(~copied)
            if not active or not len(wrong):
                return None
            ones = np.ones(len(table.words), dtype=np.uint64)
            found = CopiedHit(Hit("l2-copied", entries[wrong]), ones, len(wrong))
        else:
            code = "l2-copied" if active else "snapshot-copied"
            judged = self._judge(code, entries, offsets, copied, len(table.words), active=active)
            if judged is None:
                return None
            found = judged
        _, readable = self._known.of(table.host_offsets >> table.geometry.cluster_bits)
        if readable is None or readable.all():
            return found
        counted = readable[found.hit.indices // table.geometry.l2_entries]
        return found._replace(counted=int(np.count_nonzero(counted)))

    def _judge(
        self,
        code: str,
        entries: _Indices,
        offsets: Clusters,
        copied: _Flags,
        table_entries: int,
        *,
        active: bool,
    ) -> CopiedHit | None:
        if not len(entries):
            return None
        clusters = offsets >> self._known.cluster_bits
        counts, readable = self._known.of(clusters)
        wrong = (counts == 1) != copied
        if not active:
            wrong &= copied
        if readable is not None:
            wrong &= readable
        if not wrong.any():
            return None
        refcounts = np.zeros(table_entries, dtype=np.uint64)
        refcounts[entries] = counts
        untold = None
        if self._overwritten.stretches:
            untold = np.zeros(table_entries, dtype=np.bool_)
            untold[entries] = self._overwritten.cover(clusters)
        return CopiedHit(Hit(code, entries[wrong]), refcounts, int(np.count_nonzero(wrong)), untold)
