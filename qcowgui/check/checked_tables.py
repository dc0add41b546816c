"""Judging mapping tables while the sweep passes by: entries, COPIED flags, QEMU's statistics."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from qcowgui.check.collector import FindingCollector, TableRef, TableRun
from qcowgui.check.l1_rules import judge_l1
from qcowgui.check.l1_tables import L1Table
from qcowgui.check.l2_references import EntryReferences, Run
from qcowgui.check.l2_rules import judge_l2
from qcowgui.check.l2_tables import L2Table
from qcowgui.check.overwritten import Flags
from qcowgui.check.overwritten_wording import OverwrittenTables, l1_overwritten
from qcowgui.check.refcount_rules import CopiedHit, CopiedRules
from qcowgui.check.rule_context import Hit, RuleContext
from qcowgui.check.told_entries import copied_to_tell, hits_to_tell
from qcowgui.check.totals import MappedClusters, QemuTotals, mapped_by_nobody
from qcowgui.format import geometry as geo
from qcowgui.format import limits
from qcowgui.format.geometry import ENTRY_BYTES
from qcowgui.image.inspect import ImageReport

_L1_PART_ENTRIES: Final = 1 << 16
"""Judged at a time: a crafted table has four million, each of them wrong."""


class TableChecker:
    """Takes each L1 and L2 table of an image once. For one thread."""

    def __init__(
        self,
        context: RuleContext,
        report: ImageReport,
        collector: FindingCollector,
        totals: QemuTotals,
        copied: CopiedRules | None,
    ) -> None:
        """A checker of the tables of one image.

        Args:
            context: Of the active disk.
            report: The image's.
            collector: Takes the findings.
            totals: Are added to.
            copied: Judges COPIED flags; None where no refcounts can be read.
        """
        self._context = _bounded(context)
        self._collector = collector
        self._totals = totals
        self._copied = copied
        self._snapshots = {snapshot.index: snapshot for snapshot in report.snapshots}
        self.mapped_by_nobody = MappedClusters()
        """What the totals count as mapped by entries that are none."""

    def judge_l1(self, l1: L1Table) -> None:
        """Judge an L1 table."""
        context = self._context_of(l1.owner.snapshot)
        if l1.overwritten is not None:
            self._collector.add(l1_overwritten(l1, l1.overwritten, context))
        for first in range(0, len(l1.words), _L1_PART_ENTRIES):
            part = slice(first, first + _L1_PART_ENTRIES)
            overwritten = None if l1.overwritten is None else l1.overwritten[part]
            words = replace(l1, words=l1.words[part], overwritten=overwritten)
            self._judge_l1_part(words, first, context)

    def _judge_l1_part(self, l1: L1Table, first: int, context: RuleContext) -> None:
        """Judge the entries from `first` on, which are all that `l1` has."""
        coverage = context.geometry.l1_coverage_bytes
        table = TableRef(
            "L1 table",
            l1.host_offset + first * ENTRY_BYTES,
            first,
            ENTRY_BYTES,
            l1.owner.snapshot,
            first * coverage,
            coverage,
        )
        hits = judge_l1(l1.words, context)
        self._totals.count_hits(hits, l1.references)
        told = hits_to_tell(hits, l1.overwritten)
        self._collector.add_entries(told, table, l1.words, context=context)
        copied = self._copied.judge_l1(l1) if self._copied else None
        if copied is None:
            return
        if l1.owner.snapshot is None:
            self._totals.corruptions += len(copied.hit.indices)
        self._collector.add_entries(
            copied_to_tell(copied, told, l1.overwritten),
            table,
            l1.words,
            context=context,
            refcounts=copied.refcounts,
        )

    def judge_l2(self, table: L2Table, found: Run | EntryReferences) -> None:
        """Judge an L2 table, of which the sweep knows already what its entries refer to."""
        told: list[Hit] = []
        overwritten = None
        by_nobody = mapped_by_nobody(table, found)
        self.mapped_by_nobody = self.mapped_by_nobody.also(by_nobody)
        if isinstance(found, Run):
            # Clusters of the file in a row: no rule on entries can be broken.
            self._totals.count_run(table, found)
            copied = self._copied.judge_run(table, found) if self._copied else None
        else:
            self._totals.count_entries(table, found)
            overwritten = found.overwritten
            if overwritten is not None:
                self._add_overwritten(table, overwritten)
            if not self._is_plainly_clean(table, found):
                told = self._judge_entries(table, overwritten)
            copied = self._copied.judge_entries(table, found) if self._copied else None
        if copied is not None:
            self._add_copied(table, copied, told, overwritten)

    def _judge_entries(self, table: L2Table, overwritten: Flags | None) -> list[Hit]:
        """Judge the entries one by one; returns what is told of them."""
        context = self._context_of(table.owner.snapshot)
        hits = judge_l2(table.decoded(), context, first_guest_offset=table.first_guest_offsets)
        self._totals.count_hits(hits, table.references)
        # What QEMU finds in something that is no table counts, but helps nobody.
        if not table.is_sound:
            return []
        told = hits_to_tell(hits, overwritten)
        self._collector.add_entries(
            told, _run_of(table), table.words, context=context, bitmaps=table.bitmaps
        )
        return told

    def _add_overwritten(self, table: L2Table, overwritten: Flags) -> None:
        if table.is_sound:
            context = self._context_of(table.owner.snapshot)
            found = OverwrittenTables(table, overwritten, context)
            self._collector.add_stretches(found, found.guest_starts, found.guest_ends)

    def _add_copied(
        self, table: L2Table, copied: CopiedHit, told: list[Hit], overwritten: Flags | None
    ) -> None:
        if not table.host_offset:
            return  # the header, which QEMU reads as a table once, but not this time
        self._totals.corruptions += copied.counted * table.active_references
        if table.is_sound:
            self._collector.add_entries(
                copied_to_tell(copied, told, overwritten),
                _run_of(table),
                table.words,
                context=self._context_of(table.owner.snapshot),
                bitmaps=table.bitmaps,
                refcounts=copied.refcounts,
            )

    def _is_plainly_clean(self, table: L2Table, found: EntryReferences) -> bool:
        """Whether no rule can be broken, told without decoding the table; may err to False.

        Most tables of an image without compressed clusters or subclusters pass. It takes 11 µs;
        decoding and judging a table takes 170 µs (2026-11-30).
        """
        if table.bitmaps is not None or table.has_data_file or len(found.payloads):
            return False
        cluster_bytes = table.geometry.cluster_bytes
        allowed = geo.COPIED | geo.OFFSET_MASK & ~(cluster_bytes - 1)
        if table.version >= 3:
            allowed |= geo.READS_ZERO
        if int(np.bitwise_or.reduce(table.words)) & ~allowed:
            return False
        if not len(found.standard):
            return not (table.words >= np.uint64(geo.COPIED)).any()
        if int(found.standard_offsets.max()) + cluster_bytes > self._context.file_bytes:
            return False
        flagged = np.count_nonzero(table.words >= np.uint64(geo.COPIED))
        return bool(flagged == np.count_nonzero(found.copied))

    def _context_of(self, snapshot_index: int | None) -> RuleContext:
        snapshot = None if snapshot_index is None else self._snapshots.get(snapshot_index)
        if snapshot is None:
            return self._context
        return _bounded(self._context.for_snapshot(snapshot))


def _bounded(context: RuleContext) -> RuleContext:
    """`context` with a disk that ends where signed offsets do: no entry maps what is behind."""
    if context.virtual_bytes is None or context.virtual_bytes <= limits.MAX_OFFSET:
        return context
    return replace(context, virtual_bytes=limits.MAX_OFFSET)


def _run_of(table: L2Table) -> TableRun:
    geometry = table.geometry
    return TableRun(
        table.host_offsets,
        table.l1_indices,
        geometry.l2_entries,
        geometry.l2_entry_bytes,
        geometry.cluster_bytes,
        table.owner.snapshot,
    )
