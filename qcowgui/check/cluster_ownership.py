"""Who owns each host cluster: the references counted, table by table, in one pass. Spec: 1.10

The numbers are those of `qemu-img check`: what lies beyond the end of the file adds no reference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from qcowgui.check.reference_counts import Clusters, Counts, ReferenceCounts
from qcowgui.check.roles import (
    EXCLUSIVE_BITS,
    METADATA_BITS,
    WHOLE_CLUSTER_BITS,
    Role,
    Uses,
    conflict_of_uses,
    role_of_uses,
)
from qcowgui.check.snapshot_list import SnapshotList

_NO_CLUSTERS: Final[Clusters] = np.zeros(0, dtype=np.int64)


class Region(NamedTuple):
    """A region of metadata that something refers to.

    Attributes:
        role: What it is said to be.
        host_offset: Where it starts.
        length_bytes: How long it is.
        references: How often it is referred to.
    """

    role: Role
    host_offset: int
    length_bytes: int
    references: int = 1


class _Part(NamedTuple):
    """The clusters [first, last): most of them have the uses `usual`, mostly.

    `others` are the positions, from `first` on, of those that have not, and `other_uses` theirs.
    Looking up these alone takes half the time of looking up all (2026-11-30).
    """

    first: int
    last: int
    usual: int
    others: npt.NDArray[np.intp]
    other_uses: Uses


@dataclass
class Ownership:
    """References and uses of every host cluster of a file.

    Attributes:
        cluster_bytes: Size of a cluster.
        clusters: How many there are, the last one maybe cut short, or even behind the file's end
            where a reference reaches there.
        complete: False when the image was not walked to its end: it has too many clusters, or its
            tables lie upon each other so often that they can't be sound.
        regions_beyond: Regions that end a cluster or more behind the file's end; not counted.
        conflicts: int64, ascending: clusters with owners that exclude each other.
        shared: int64, ascending: clusters that hold the data of several guest clusters, though the
            tables of snapshots don't explain it.
        blocks_shared: int64: entries of the refcount table whose block has another reference.
        bitmap_clusters_beyond: References to bitmap clusters that lie behind the file's end.
        bitmaps_refused: Whether QEMU's check gives up at a bitmap's table.
        snapshots: The snapshot table; whose tables were walked, too.
        unusable_snapshots: How many snapshots have an L1 table that can't be walked.
    """

    cluster_bytes: int
    references: ReferenceCounts
    clusters: int
    complete: bool = True
    regions_beyond: list[Region] = field(default_factory=list)
    conflicts: Clusters = field(default_factory=_NO_CLUSTERS.copy)
    shared: Clusters = field(default_factory=_NO_CLUSTERS.copy)
    blocks_shared: npt.NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    bitmap_clusters_beyond: int = 0
    bitmaps_refused: bool = False
    snapshots: SnapshotList = field(default_factory=SnapshotList)
    unusable_snapshots: int = 0

    @classmethod
    def empty(cls, cluster_bytes: int = 0) -> Ownership:
        """That of an image of which nothing can be walked."""
        return cls(cluster_bytes, ReferenceCounts(0), 0, complete=False)

    @property
    def computed(self) -> Counts:
        """uint16 or uint32, saturating: references to each cluster."""
        return self.references.counts[: self.clusters]

    @property
    def uses(self) -> Uses:
        """Sets of uses (`roles.use_bit`) of each cluster."""
        return self.references.uses[: self.clusters]

    @cached_property
    def roles(self) -> npt.NDArray[np.uint8]:
        """A `Role` each: the most important use of the cluster."""
        roles = np.zeros(self.clusters, dtype=np.uint8)
        table = role_of_uses()
        for part in self._iter_parts():
            roles[part.first : part.last] = table[part.usual]
            roles[part.first + part.others] = table[part.other_uses]
        if self.clusters:
            roles[0] = Role.HEADER
        return roles

    def role_clusters(self) -> dict[Role, int]:
        """How many clusters have each role; roles without any are left out."""
        counts = np.zeros(max(Role) + 1, dtype=np.int64)
        table = role_of_uses()
        for part in self._iter_parts():
            counts[table[part.usual]] += part.last - part.first - len(part.others)
            counts += np.bincount(table[part.other_uses], minlength=len(counts))
        if self.clusters:
            counts[Role.HEADER] += 1
            counts[table[self.uses[0]]] -= 1
        counts[Role.FREE] = self.clusters - int(counts[Role.FREE + 1 :].sum())
        return {role: int(counts[role]) for role in Role if counts[role]}

    def excess_references(self, refcount_max: int) -> int:
        """How many references can't be counted for want of room in a refcount. Spec: 2.2 (R2)"""
        excess = 0
        for first, last in self.references.iter_parts(0, self.clusters):
            counts = self.computed[first:last]
            if int(counts.max()) > refcount_max:
                over = counts[counts > refcount_max].astype(np.int64)
                excess += int((over - refcount_max).sum())
        return excess

    def iter_above(self, refcount_max: int) -> Iterator[Clusters]:
        """The clusters with more references than a refcount can count, part by part."""
        for first, last in self.references.iter_parts(0, self.clusters):
            counts = self.computed[first:last]
            if int(counts.max()) > refcount_max:
                yield first + np.flatnonzero(counts > refcount_max)

    def find_conflicts(self, displaced_tables: Clusters, shared: Clusters) -> None:
        """Set `conflicts` and `shared` from the references so far.

        Args:
            displaced_tables: L2 tables that map two different guest ranges.
            shared: Clusters already known to hold the data of several guest clusters.
        """
        conflict_table = conflict_of_uses()
        conflicts, doubles = [displaced_tables], [shared]
        for part in self._iter_parts():
            if conflict_table[part.usual]:
                usual = self.uses[part.first : part.last] == part.usual
                conflicts.append(part.first + np.flatnonzero(usual))
            conflicts.append(part.first + part.others[conflict_table[part.other_uses]])
            counts = self.computed[part.first : part.last]
            if int(counts.max()) > 1:
                several = part.first + np.flatnonzero(counts > 1)
                uses = self.uses[several]
                conflicts.append(several[(uses & EXCLUSIVE_BITS) != 0])
                if not self.snapshots.snapshots:
                    whole = ((uses & WHOLE_CLUSTER_BITS) != 0) & ((uses & METADATA_BITS) == 0)
                    doubles.append(several[whole])
        if self.clusters and self.uses[0]:
            conflicts.append(np.zeros(1, dtype=np.int64))
        self.conflicts = np.unique(np.concatenate(conflicts))
        shared = np.unique(np.concatenate(doubles))
        self.shared = shared[~np.isin(shared, self.conflicts)]

    def _iter_parts(self) -> Iterator[_Part]:
        for first, last in self.references.iter_parts(0, self.clusters):
            uses = self.uses[first:last]
            usual = uses[len(uses) // 2]
            others = np.flatnonzero(uses != usual)
            yield _Part(first, last, int(usual), others, uses[others])
