"""How many findings each table and structure of an image has: the badges of the structure tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from qcowgui.check.cluster_wording import cluster_codes
from qcowgui.check.collector import FindingGroup
from qcowgui.format.finding import Finding, Severity
from qcowgui.format.geometry import Geometry
from qcowgui.gui.models.tree_nodes import Node, Pointers, parent_of
from qcowgui.gui.selection import Selection
from qcowgui.gui.structures import StructureKey

_STRUCTURES: Final = {
    "header": StructureKey.HEADER,
    "header extension": StructureKey.EXTENSIONS,
    "feature name table": StructureKey.EXTENSIONS,
    "bitmaps extension": StructureKey.EXTENSIONS,
    "active L1 table": StructureKey.L1,
    "L1 table": StructureKey.L1,
    "refcount table": StructureKey.REFCOUNT_TABLE,
    "snapshot table": StructureKey.SNAPSHOTS,
    "bitmap directory": StructureKey.BITMAPS,
    "bitmap table": StructureKey.BITMAPS,
    "bitmap data": StructureKey.BITMAPS,
    "encryption header": StructureKey.ENCRYPTION,
    "LUKS header": StructureKey.ENCRYPTION,
}
_L2: Final = "L2 table"


def structure_of(finding: Finding) -> StructureKey | None:
    """The structure that a finding is about as a whole; None where it is one of many tables."""
    return _STRUCTURES.get(finding.structure)


@dataclass(frozen=True, slots=True)
class Badge:
    """What is wrong in a structure and all below it; notes don't count.

    Attributes:
        count: How many findings.
        severity: The worst of them.
        exact: Whether these are all; else there are more, of which it is not known where.
    """

    count: int
    severity: Severity
    exact: bool = True

    @property
    def text(self) -> str:
        """The number, with a + when it may be higher."""
        if not self.count:
            return "•"
        return f"{self.count:,}" if self.exact else f"{self.count:,}+"


class Badges:
    """The badges of one image."""

    def __init__(self, geometry: Geometry | None = None) -> None:
        """No findings."""
        self._geometry = geometry
        self._found: dict[Selection, Badge] = {}
        self._elsewhere: list[tuple[Severity, tuple[tuple[int, int], ...]]] = []

    @classmethod
    def of_groups(cls, groups: Iterable[FindingGroup], geometry: Geometry | None) -> Badges:
        """Those of a check's findings. Of many alike it keeps only the first ones."""
        badges = cls(geometry)
        for group in groups:
            if group.severity is Severity.INFO:
                continue
            kept = sum(finding.count for finding in group.first)
            for finding in group.first:
                badges._add(finding, exact=kept >= group.count)
            if kept < group.count and group.first:
                badges._add_rest(group, group.count - kept)
        return badges

    @classmethod
    def of_findings(cls, findings: Iterable[Finding], geometry: Geometry | None) -> Badges:
        """Those of single findings."""
        badges = cls(geometry)
        for finding in findings:
            if finding.severity is not Severity.INFO:
                badges._add(finding, exact=True)
        return badges

    def of(self, node: Node) -> Badge | None:
        """The badge of a node; None when nothing is wrong there, as far as that is known."""
        if node.selection is None:
            return self._of_group(node)
        found = self._found.get(node.selection)
        if found is None and node.selection.structure is StructureKey.L2:
            return self._marked(node)
        return found

    def _place(self, finding: Finding) -> Selection | None:
        """The table or structure that a finding is counted for."""
        geometry = self._geometry
        if finding.structure == _L2:
            if geometry is None or finding.guest_start is None:
                return Selection(StructureKey.L1, snapshot=finding.snapshot)
            part = geometry.l1_index(finding.guest_start)
            return Selection(StructureKey.L2, None, part, finding.snapshot)
        if finding.code in cluster_codes():
            if geometry is None or finding.host_offset is None:
                return None
            cluster = geometry.cluster_index(finding.host_offset)
            part = cluster // geometry.refcounts_per_block
            return Selection(StructureKey.REFCOUNT_BLOCK, None, part)
        key = structure_of(finding)
        if key is None:
            return None
        return Selection(key, snapshot=finding.snapshot if key is StructureKey.L1 else None)

    def _add(self, finding: Finding, *, exact: bool) -> None:
        place = self._place(finding)
        if place is None:
            return
        self._count(place, Badge(finding.count, finding.severity, exact))
        # Above, what was not kept is counted, too.
        self._count_above(place, Badge(finding.count, finding.severity))

    def _add_rest(self, group: FindingGroup, count: int) -> None:
        place = self._place(group.first[0])
        if place is None:
            return
        badge = Badge(count, group.severity)
        if place.part is None:
            self._count(place, badge)
        self._count_above(place, badge)
        if group.first[0].structure == _L2:
            self._elsewhere.append((group.severity, group.host_ranges.spans))

    def _count_above(self, place: Selection, badge: Badge) -> None:
        above = parent_of(place)
        while above is not None:
            self._count(above, badge)
            above = parent_of(above)

    def _count(self, place: Selection, badge: Badge) -> None:
        known = self._found.get(place)
        if known is None:
            self._found[place] = badge
            return
        self._found[place] = Badge(
            known.count + badge.count,
            max(known.severity, badge.severity),
            known.exact and badge.exact,
        )

    def _of_group(self, node: Node) -> Badge | None:
        """What is known of the tables in a group."""
        if not isinstance(node.source, Pointers):
            return None
        ends = int(node.source.entries[node.first]), int(node.source.entries[node.last - 1])
        names_l2 = node.source.table.structure is StructureKey.L1
        key = StructureKey.L2 if names_l2 else StructureKey.REFCOUNT_BLOCK
        total: Badge | None = None
        for place, badge in self._found.items():
            if place.structure is not key or place.snapshot != node.source.table.snapshot:
                continue
            if place.part is None or not ends[0] <= place.part <= ends[1]:
                continue
            if total is not None:
                severity = max(total.severity, badge.severity)
                badge = Badge(total.count + badge.count, severity, total.exact and badge.exact)  # noqa: PLW2901
            total = badge
        return total if total is None or self._complete(key) else replace(total, exact=False)

    def _complete(self, key: StructureKey) -> bool:
        return key is not StructureKey.L2 or not self._elsewhere

    def _marked(self, node: Node) -> Badge | None:
        """A badge without a number, where only the bytes of findings are known."""
        if node.host_offset is None or self._geometry is None:
            return None
        start, end = node.host_offset, node.host_offset + self._geometry.cluster_bytes
        severities = [
            severity
            for severity, spans in self._elsewhere
            if any(first < end and start < last for first, last in spans)
        ]
        return Badge(0, max(severities), exact=False) if severities else None
