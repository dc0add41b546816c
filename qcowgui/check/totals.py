"""The numbers that `qemu-img check` prints for the same image. Spec: 2.1, 2.2"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from qcowgui.check.cluster_ownership import Ownership
from qcowgui.check.l2_references import EntryReferences, Run
from qcowgui.check.l2_tables import L2Table
from qcowgui.check.rule_context import QEMU_WEIGHT, Hit
from qcowgui.check.stored import StoredRefcounts
from qcowgui.errors import ExitCode
from qcowgui.format import limits
from qcowgui.format.finding import Finding
from qcowgui.image.inspect import ImageReport

_TREATED_BY_CHECK: Final = frozenset(
    {
        "refcount-table-missing",
        "snapshot-count",
        "snapshot-extra-data",
        "snapshot-table-offset",
        "snapshot-table-too-large",
        "snapshot-table-truncated",
    }
)
"""What makes QEMU refuse an image in general, but not when it opens it for a check. Spec: 1.5"""


class MappedClusters(NamedTuple):
    """What the L2 tables of the active disk map, in guest clusters.

    Attributes:
        allocated: Those with a host cluster or a payload.
        compressed: Of those, the compressed ones.
        fragmented: Of those, the ones that don't follow the one before; all compressed ones.
    """

    allocated: int = 0
    compressed: int = 0
    fragmented: int = 0

    def without(self, others: MappedClusters) -> MappedClusters:
        """What is left without `others`, which are among these."""
        return MappedClusters(
            self.allocated - others.allocated,
            self.compressed - others.compressed,
            self.fragmented - others.fragmented,
        )

    def also(self, others: MappedClusters) -> MappedClusters:
        """These and `others`."""
        return MappedClusters(
            self.allocated + others.allocated,
            self.compressed + others.compressed,
            self.fragmented + others.fragmented,
        )


def mapped_by_nobody(table: L2Table, found: Run | EntryReferences) -> MappedClusters:
    """What QEMU counts as mapped by a table, though it is none, or something was written over it.

    Args:
        table: The table.
        found: What its entries refer to.
    """
    if not table.is_sound:
        return _mapped(table, found)
    if isinstance(found, Run) or found.overwritten is None:
        return MappedClusters()
    return _mapped(table, found).without(_mapped(table, found.believed))


def _mapped(table: L2Table, found: Run | EntryReferences) -> MappedClusters:
    geometry, times = table.geometry, table.active_references
    if not times:
        return MappedClusters()
    if isinstance(found, Run):
        return MappedClusters(found.clusters * times)
    payloads = len(found.payloads)
    fragmented = found.fragmented_clusters(geometry.l2_entries, geometry.cluster_bytes)
    return MappedClusters(
        (len(found.standard) + payloads) * times, payloads * times, fragmented * times
    )


@dataclass(slots=True)
class QemuTotals:
    """What `qemu-img check --output=json` says. Where it says nothing, `refusal` has the reason.

    Attributes:
        corruptions: Errors of the image.
        leaks: Clusters that count as used more often than they are.
        check_errors: What prevented parts of the check.
        total_clusters: Clusters of the virtual disk.
        allocated_clusters: Of those, the ones with a host cluster or a payload.
        fragmented_clusters: Allocated ones that don't follow the one before; all compressed ones.
        compressed_clusters: Compressed ones.
        image_end_offset: End (exclusive) of the last cluster in use, host bytes.
        refusal: Why qemu-img prints no totals at all, one sentence; empty when it does.
    """

    corruptions: int = 0
    leaks: int = 0
    check_errors: int = 0
    total_clusters: int = 0
    allocated_clusters: int = 0
    fragmented_clusters: int = 0
    compressed_clusters: int = 0
    image_end_offset: int = 0
    refusal: str = ""

    @property
    def mapped(self) -> MappedClusters:
        """The guest clusters that are counted as mapped."""
        return MappedClusters(
            self.allocated_clusters, self.compressed_clusters, self.fragmented_clusters
        )

    @property
    def exit_code(self) -> ExitCode:
        """What qemu-img returns: 1 could not check, 2 corruptions, 3 leaks only, 0 clean."""
        if self.refusal or self.check_errors:
            return ExitCode.FAILED
        if self.corruptions:
            return ExitCode.CORRUPT
        return ExitCode.LEAKS if self.leaks else ExitCode.GOOD

    def count_hits(self, hits: Iterable[Hit], references: int) -> None:
        """Count the broken entries of a table; QEMU judges it anew for each reference to it."""
        for code, indices in hits:
            self.corruptions += QEMU_WEIGHT.get(code, 0) * len(indices) * references

    def count_run(self, table: L2Table, run: Run) -> None:
        """Count the guest clusters of a table without gaps; only the active disk's count."""
        self.allocated_clusters += run.clusters * table.active_references

    def count_entries(self, table: L2Table, found: EntryReferences) -> None:
        """Count the guest clusters of a table; only the active disk's count."""
        counted = _mapped(table, found)
        self.allocated_clusters += counted.allocated
        self.compressed_clusters += counted.compressed
        self.fragmented_clusters += counted.fragmented

    def count_structures(self, report: ImageReport, ownership: Ownership) -> None:
        """Count what is wrong outside the mapping tables and the refcounts."""
        geometry, header = report.header.geometry, report.header
        if geometry is None:
            return
        self.total_clusters = geometry.clusters(report.virtual_bytes)
        snapshots = ownership.snapshots
        if header.version >= 3:
            self.corruptions += snapshots.incomplete_entries
        self.corruptions += ownership.unusable_snapshots
        self.corruptions += bool(header.has_data_file and snapshots.entries)
        self.corruptions += sum(region.references for region in ownership.regions_beyond)
        self.corruptions += ownership.bitmap_clusters_beyond
        self.corruptions += ownership.excess_references(geometry.refcount_max)


def refusal_of(report: ImageReport, ownership: Ownership, stored: StoredRefcounts | None) -> str:
    """Why `qemu-img check` prints no totals, one sentence; empty when it does. Spec: 1.5, 2.1"""
    refused = _open_refusal(report.refusals)
    if refused is not None:
        return f"qemu-img can't open the image: {refused.message}"
    if report.header.geometry is None:
        return "qemu-img can't open the image."
    if stored is not None and not stored.usable:
        return "qemu-img can't open the image: the refcount table's offset is not usable."
    if ownership.snapshots.refused:
        return "qemu-img gives up at the snapshot table."
    if not ownership.clusters:
        return "The file has more clusters than can be counted, so there are no totals."
    if any(region.host_offset > limits.MAX_OFFSET for region in ownership.regions_beyond):
        return "qemu-img runs out of memory at an offset above the largest one there can be."
    if ownership.bitmaps_refused:
        return "qemu-img gives up at a bitmap's table."
    return ""


def _open_refusal(refusals: Iterable[Finding]) -> Finding | None:
    for finding in refusals:
        if finding.code not in _TREATED_BY_CHECK:
            return finding
    return None
