"""What is wrong with each entry of one table: the rules of a check, over all entries at once.

A check keeps the first findings of a kind. Whoever looks at a table wants those of every entry, and
may have them before a check was done, as far as they need no other table. Spec: 2.2, 2.5
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from qcowgui.check.cluster_ownership import Ownership
from qcowgui.check.cluster_wording import cluster_codes, cluster_severity
from qcowgui.check.l1_rules import hits_of, judge_l1
from qcowgui.check.l2_rules import judge_l2
from qcowgui.check.refcount_rules import judge_refcount_table
from qcowgui.check.roles import Role, use_bit
from qcowgui.check.rule_context import Hit, RuleContext
from qcowgui.check.stored import StoredRefcounts
from qcowgui.check.told_entries import hits_to_tell, without_misplaced
from qcowgui.check.wording import entry_severity
from qcowgui.format import geometry as geo
from qcowgui.format.bitmaps import BitmapClusterKind, BitmapTable
from qcowgui.format.finding import Severity
from qcowgui.format.geometry import Geometry
from qcowgui.format.tables import L2View, Words
from qcowgui.gui.models.entry_refcounts import Refcounts
from qcowgui.gui.selection import Selection
from qcowgui.image.inspect import ImageReport
from qcowgui.units import align_up

_COPIED: Final = np.uint64(geo.COPIED)
_COMPRESSED: Final = np.uint64(geo.COMPRESSED)
_SEVERITIES: Final = {
    "bitmap-table": Severity.CORRUPTION,
    "bitmap-data-beyond-eof": Severity.CORRUPTION,
}
_NO_CLUSTER: Final = -1

_Flags = npt.NDArray[np.bool_]


def code_severity(code: str) -> Severity:
    """How bad it is when an entry breaks the rule `code`."""
    if code in _SEVERITIES:
        return _SEVERITIES[code]
    return cluster_severity(code) if code in cluster_codes() else entry_severity(code)


@dataclass(frozen=True, slots=True)
class TableJudge:
    """Judges the entries of one table.

    Attributes:
        report: What an open says of the image.
        table: Which table.
        ownership: Who refers to each cluster, once a check was done.
        refcounts: Of the clusters to which the entries point, or that they count.
    """

    report: ImageReport
    table: Selection
    ownership: Ownership | None
    refcounts: Refcounts

    def l1(self, words: Words, hosts: Words) -> tuple[Hit, ...]:
        """The faults of an L1 table's entries."""
        context = self._context()
        if context is None:
            return ()
        copied = self._copied_rule("l1-copied", hosts != 0, words >= _COPIED)
        told = hits_to_tell(judge_l1(words, context), None)
        return (*told, *without_misplaced(copied, told), *self._pointed(hosts))

    def l2(self, view: L2View, hosts: Words, first_guest_offset: int) -> tuple[Hit, ...]:
        """The faults of an L2 table's entries."""
        context = self._context()
        if context is None:
            return ()
        standard = (view.words & _COMPRESSED) == 0
        copied = self._copied_rule("l2-copied", standard & (hosts != 0), view.words >= _COPIED)
        told = hits_to_tell(judge_l2(view, context, first_guest_offset=first_guest_offset), None)
        return (*told, *without_misplaced(copied, told), *self._pointed(hosts))

    def refcount_table(self, stored: StoredRefcounts | None, hosts: Words) -> tuple[Hit, ...]:
        """The faults of the refcount table's entries."""
        known = self.ownership or Ownership.empty()
        if stored is None or not stored.usable:
            return ()
        rows = len(hosts)
        hits = [
            Hit(hit.code, hit.indices[hit.indices < rows])
            for hit in judge_refcount_table(stored, known)
        ]
        return (*(hit for hit in hits if len(hit.indices)), *self._pointed(hosts))

    def bitmap_table(self, table: BitmapTable, hosts: Words) -> tuple[Hit, ...]:
        """The faults of a bitmap table's entries."""
        geometry = self.report.header.geometry
        if geometry is None:
            return ()
        end = align_up(self.report.file_bytes, geometry.cluster_bytes)
        allocated = table.kind == BitmapClusterKind.ALLOCATED
        hits = hits_of(
            ("bitmap-table", table.kind == BitmapClusterKind.INVALID),
            ("bitmap-data-beyond-eof", allocated & (hosts >= np.uint64(end))),
        )
        return (*hits, *self._pointed(hosts))

    def refcount_block(self, first_cluster: int) -> tuple[Hit, ...]:
        """The faults of the clusters that a refcount block counts."""
        clusters = first_cluster + np.arange(len(self.refcounts.stored), dtype=np.int64)
        return self._cluster_hits(clusters)

    def _context(self) -> RuleContext | None:
        context = RuleContext.of(self.report)
        for snapshot in self.report.snapshots if context else ():
            if context is not None and snapshot.index == self.table.snapshot:
                return context.for_snapshot(snapshot)
        return context

    def _copied_rule(self, code: str, names: _Flags, copied: _Flags) -> list[Hit]:
        """The entries whose COPIED flag contradicts the refcount. Spec: 2.2 (R24, R25)"""
        active = self.table.snapshot is None or self._is_shared_with_active()
        if code == "l2-copied" and self.report.header.has_data_file:
            # QEMU takes every cluster of a data file for one with refcount 1.
            return hits_of((code, names & ~copied)) if active else []
        wrong = names & self.refcounts.known & ((self.refcounts.stored == 1) != copied)
        return hits_of((code, wrong) if active else ("snapshot-copied", wrong & copied))

    def _is_shared_with_active(self) -> bool:
        """Whether the active L1 names this L2 table of a snapshot, too."""
        if self.ownership is None or self.table.host is None or not self.ownership.cluster_bytes:
            return False
        cluster = self.table.host[0] // self.ownership.cluster_bytes
        if cluster >= self.ownership.clusters:
            return False
        return bool(int(self.ownership.uses[cluster]) & use_bit(Role.ACTIVE_L2))

    def _pointed(self, hosts: Words) -> tuple[Hit, ...]:
        """What is wrong with the clusters to which entries point."""
        geometry = self.report.header.geometry
        if geometry is None:
            return ()
        clusters = (hosts >> np.uint64(geometry.cluster_bits)).astype(np.int64)
        return self._cluster_hits(np.where(self.refcounts.about, clusters, _NO_CLUSTER))

    def _cluster_hits(self, clusters: npt.NDArray[np.int64]) -> tuple[Hit, ...]:
        """Refcounts that are wrong, and clusters with owners that exclude each other."""
        geometry, known = self.report.header.geometry, self.refcounts.known
        if geometry is None or self.ownership is None or self.refcounts.found is None:
            return ()
        differences = self.refcounts.differences(geometry.refcount_max)
        if differences is None:
            return ()
        low, high = differences < 0, differences > 0
        zero, none = self.refcounts.stored == 0, self.refcounts.found == 0
        # Behind what the check has walked nothing is known.
        inside = (clusters >= 0) & (clusters < self.ownership.clusters)
        walked = known & inside
        return tuple(
            hits_of(
                ("refcount-zero", walked & low & zero),
                ("refcount-too-low", walked & low & ~zero),
                ("refcount-too-high", walked & high & ~none),
                ("leak", walked & high & none),
                ("references-above-maximum", inside & self._counts_above(geometry)),
                ("owner-conflict", _are_in(clusters, self.ownership.conflicts)),
                ("shared-data", _are_in(clusters, self.ownership.shared)),
            )
        )

    def _counts_above(self, geometry: Geometry) -> _Flags:
        """Whether a cluster has more references than a refcount can count."""
        found = self.refcounts.found
        if found is None or geometry.refcount_max > np.iinfo(found.dtype).max:
            return np.zeros(len(self.refcounts.about), dtype=np.bool_)
        above: _Flags = found > geometry.refcount_max
        return above


def _are_in(clusters: npt.NDArray[np.int64], wanted: npt.NDArray[np.int64]) -> _Flags:
    if not len(wanted):
        return np.zeros(len(clusters), dtype=np.bool_)
    return np.isin(clusters, wanted)
