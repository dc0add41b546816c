"""Findings on host clusters: owners that exclude each other, refcounts that are wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from qcowgui.check.cluster_ownership import Ownership
from qcowgui.check.collector import FindingCollector, TableRef
from qcowgui.check.overwritten import CountStretches
from qcowgui.check.overwritten_wording import (
    iter_blocks_overwritten,
    refcount_table_overwritten,
)
from qcowgui.check.owners import Owner, owners_of
from qcowgui.check.refcount_rules import (
    Mismatch,
    RefcountSummary,
    iter_mismatches,
    judge_refcount_table,
    kept_leak_count,
)
from qcowgui.check.reference_counts import Clusters
from qcowgui.check.rule_context import RuleContext
from qcowgui.check.stored import NarrowRefcounts, StoredRefcounts
from qcowgui.check.told_entries import hits_to_tell
from qcowgui.check.totals import QemuTotals
from qcowgui.engine.work import CancelToken
from qcowgui.format import limits
from qcowgui.format.geometry import ENTRY_BYTES
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource

_NAMED_OWNERS: Final = 3
_BATCH_CLUSTERS: Final = 1 << 16


class ClusterChecker:
    """Judges the clusters of an image whose references are all counted."""

    def __init__(
        self,
        source: ByteSource,
        report: ImageReport,
        context: RuleContext,
        ownership: Ownership,
        refcounts: NarrowRefcounts,
        overwritten: CountStretches,
        collector: FindingCollector,
        token: CancelToken,
    ) -> None:
        """A checker that hands its findings to `collector`; `overwritten` are no refcounts."""
        self._source = source
        self._report = report
        self._context = context
        self._ownership = ownership
        self._refcounts = refcounts
        self._overwritten = overwritten
        self._collector = collector
        self._token = token

    def judge_owners(self) -> None:
        """Find clusters with several owners, or with too many references. Spec: 2.2 (R2), 2.5"""
        ownership = self._ownership
        above = list(ownership.iter_above(self._context.geometry.refcount_max))
        found: tuple[tuple[str, list[Clusters]], ...] = (
            ("owner-conflict", [ownership.conflicts]),
            ("shared-data", [ownership.shared]),
            ("references-above-maximum", above),
        )
        samples = [_first_of(parts) for _, parts in found]
        owners = self._name_owners(samples)
        for code, parts in found:
            for clusters in parts:
                for start in range(0, len(clusters), _BATCH_CLUSTERS):
                    self._add(code, clusters[start : start + _BATCH_CLUSTERS], owners)

    def _add(self, code: str, clusters: Clusters, owners: dict[int, str]) -> None:
        counts, _ = self._refcounts.of(clusters)
        self._collector.add_clusters(
            code,
            clusters,
            counts,
            self._ownership.computed[clusters],
            context=self._context,
            owners=owners,
        )

    def judge_refcounts(self, stored: StoredRefcounts, totals: QemuTotals) -> RefcountSummary:
        """Find refcounts that are wrong, and wrong entries of their table. Spec: 2.2 (R17 to R23)

        Args:
            stored: The image's refcounts, whose table is usable.
            totals: Are added to.
        """
        self._judge_table(stored, totals)
        for finding in iter_blocks_overwritten(stored, self._overwritten):
            self._collector.add(finding)
        summary = RefcountSummary(overwritten=self._overwritten)
        samples: dict[str, list[Clusters]] = {}
        for mismatch in self._iter_told(stored, summary):
            parts = samples.setdefault(mismatch.code, [])
            if sum(map(len, parts)) < limits.MAX_FINDINGS_OF_A_KIND:
                parts.append(mismatch.clusters[: limits.MAX_FINDINGS_OF_A_KIND])
        totals.corruptions += summary.too_low
        totals.leaks += summary.too_high
        totals.check_errors += summary.unreadable
        totals.image_end_offset = summary.end * self._context.geometry.cluster_bytes
        if samples:
            owners = self._name_owners(
                _first_of(parts) for code, parts in samples.items() if code != "leak"
            )
            for mismatch in self._iter_told(stored, RefcountSummary()):
                self._collector.add_clusters(*mismatch, context=self._context, owners=owners)
        return summary

    def _iter_told(self, stored: StoredRefcounts, summary: RefcountSummary) -> Iterator[Mismatch]:
        """The wrong refcounts, without those where something else was written over a block."""
        mark = kept_leak_count(stored.geometry)
        for mismatch in iter_mismatches(
            stored, self._ownership, summary, self._token, self._refcounts
        ):
            told = ~self._overwritten.cover(mismatch.clusters)
            if mismatch.code == "leak":
                summary.untold += len(told) - int(np.count_nonzero(told))
                if mark is not None:
                    summary.marked += int(np.count_nonzero(mismatch.stored[told] == mark))
            if told.all():
                yield mismatch
            elif told.any():
                yield Mismatch(
                    mismatch.code,
                    mismatch.clusters[told],
                    mismatch.stored[told],
                    mismatch.computed[told],
                )

    def _judge_table(self, stored: StoredRefcounts, totals: QemuTotals) -> None:
        hits = judge_refcount_table(stored, self._ownership)
        totals.corruptions += sum(
            len(indices) for code, indices in hits if code != "refcount-unreadable"
        )
        offset = self._report.header.refcount_table_offset
        table = TableRef("refcount table", offset, 0, ENTRY_BYTES)
        told = hits_to_tell(hits, stored.overwritten_entries)
        self._collector.add_entries(told, table, stored.table_words, context=self._context)
        finding = refcount_table_overwritten(stored, offset)
        if finding is not None:
            self._collector.add(finding)

    def _name_owners(self, samples: Iterable[Clusters]) -> dict[int, str]:
        """Who refers to some clusters, in words."""
        wanted = sorted({int(cluster) for clusters in samples for cluster in clusters})
        if not wanted:
            return {}
        found = owners_of(
            self._source,
            self._report,
            wanted,
            token=self._token,
            snapshots=self._ownership.snapshots,
        )
        return {cluster: _in_words(owners) for cluster, owners in found.items() if owners}


def _first_of(parts: list[Clusters]) -> Clusters:
    if not parts:
        return np.zeros(0, dtype=np.int64)
    return np.concatenate(parts)[: limits.MAX_FINDINGS_OF_A_KIND]


def _in_words(owners: list[Owner]) -> str:
    named = [str(owner) for owner in owners[:_NAMED_OWNERS]]
    if len(owners) > _NAMED_OWNERS:
        named.append("others")
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
