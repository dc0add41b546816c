"""Findings by the million in bounded memory: grouped by kind, with the first ones of each kept.

Rules hand over arrays of broken entries; of these only the first few become `Finding` objects,
unless somebody wants to be told of each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from qcowgui.check.cluster_wording import ClusterFacts, cluster_finding, cluster_severity
from qcowgui.check.entry_facts import EntryFacts, EntryPlace
from qcowgui.check.ranges import Offsets, Ranges, RangeSet
from qcowgui.check.rule_context import Hit, RuleContext
from qcowgui.check.wording import entry_finding, entry_severity
from qcowgui.format import limits
from qcowgui.format.finding import REPAIRS, Finding, Repair, Severity
from qcowgui.format.tables import Words

Indices = npt.NDArray[np.integer[Any]]

MAX_SNAPSHOT_GROUPS: Final = 16
"""ours: of one code, findings of further snapshots are grouped together."""
OTHER_SNAPSHOTS: Final = -1
"""`FindingGroup.snapshot` of the group for all those."""


class TableRef(NamedTuple):
    """A table, or a part of one, whose entries were judged.

    Attributes:
        structure: The format's name for it ("L1 table", "L2 table", "refcount table").
        host_offset: File offset of the first judged entry, in bytes.
        first_entry: Its index in the table.
        entry_bytes: Bytes per entry.
        owner: Index of the snapshot that owns the table; None for the active disk.
        first_guest_offset: What the first judged entry maps; None when entries map no guest data.
        guest_bytes_per_entry: Guest bytes that an entry maps.
        l1_index: Of an L2 table, the L1 entry that names it.
    """

    structure: str
    host_offset: int
    first_entry: int
    entry_bytes: int
    owner: int | None = None
    first_guest_offset: int | None = None
    guest_bytes_per_entry: int = 0
    l1_index: int | None = None

    def place(self, index: int) -> EntryPlace:
        """Where judged entry `index` is."""
        guest_start = guest_end = None
        if self.first_guest_offset is not None:
            guest_start = self.first_guest_offset + index * self.guest_bytes_per_entry
            guest_end = guest_start + self.guest_bytes_per_entry
        return EntryPlace(
            self.structure,
            self.host_offset + index * self.entry_bytes,
            self.first_entry + index,
            self.l1_index,
            guest_start,
            guest_end,
            self.owner,
        )

    def host_starts(self, indices: Indices) -> Offsets:
        """The file offsets of judged entries."""
        return self.host_offset + indices.astype(np.int64) * self.entry_bytes

    def guest_starts(self, indices: Indices) -> Offsets | None:
        """The guest offsets that they map, or None."""
        if self.first_guest_offset is None:
            return None
        return self.first_guest_offset + indices.astype(np.int64) * self.guest_bytes_per_entry


class TableRun(NamedTuple):
    """Several whole L2 tables of one mapping, judged as one array of entries.

    Attributes:
        table_offsets: int64, file offset of each table in bytes.
        l1_indices: The L1 entry that names each; they need not be neighbours.
        entries_per_table: Entries in one table.
        entry_bytes: Bytes per entry.
        guest_bytes_per_entry: Guest bytes that an entry maps.
        owner: Index of the snapshot that owns the tables; None for the active disk.
    """

    table_offsets: Offsets
    l1_indices: Indices
    entries_per_table: int
    entry_bytes: int
    guest_bytes_per_entry: int
    owner: int | None = None

    def place(self, index: int) -> EntryPlace:
        """Where judged entry `index` is, counted through all tables."""
        table, entry = divmod(index, self.entries_per_table)
        l1_index = int(self.l1_indices[table])
        guest_start = (l1_index * self.entries_per_table + entry) * self.guest_bytes_per_entry
        return EntryPlace(
            "L2 table",
            int(self.table_offsets[table]) + entry * self.entry_bytes,
            entry,
            l1_index,
            guest_start,
            guest_start + self.guest_bytes_per_entry,
            self.owner,
        )

    def host_starts(self, indices: Indices) -> Offsets:
        """The file offsets of judged entries."""
        tables, entries = np.divmod(indices.astype(np.int64), self.entries_per_table)
        starts: Offsets = self.table_offsets[tables] + entries * self.entry_bytes
        return starts

    def guest_starts(self, indices: Indices) -> Offsets:
        """The guest offsets that they map."""
        tables, entries = np.divmod(indices.astype(np.int64), self.entries_per_table)
        l1_indices = self.l1_indices[tables].astype(np.int64)
        starts: Offsets = l1_indices * self.entries_per_table + entries
        return starts * self.guest_bytes_per_entry


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """All findings of one kind: of one code, one severity and one disk.

    Attributes:
        code: Of `finding.CODES`.
        severity: How bad each is.
        snapshot: Index of the internal snapshot whose tables they concern; None for the active disk
            and for what belongs to no disk, `OTHER_SNAPSHOTS` for snapshots that were one too many.
        count: How many there are.
        first: The first of them, in the order they were found.
        guest_ranges: The guest bytes that they affect.
        host_ranges: Where they are: bytes of the entries, or of the host clusters.
    """

    code: str
    severity: Severity
    snapshot: int | None
    count: int
    first: tuple[Finding, ...]
    guest_ranges: Ranges
    host_ranges: Ranges

    @property
    def repair(self) -> Repair:
        """Which kind of repair removes them."""
        return REPAIRS.get(self.code, Repair.NONE)


class _Kind(NamedTuple):
    code: str
    severity: Severity
    snapshot: int | None


class _Group:
    """A group that still grows."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[Finding] = []
        self.guest = RangeSet()
        self.host = RangeSet()

    @property
    def room(self) -> int:
        """How many more findings are kept."""
        return limits.MAX_FINDINGS_OF_A_KIND - len(self.first)


class FindingCollector:
    """Takes findings one by one or by the array, and groups them. Not thread-safe.

    Memory: some 64 findings and 128 ranges for each group, and 16 groups of snapshots for a code.
    """

    def __init__(self, on_finding: Callable[[Finding], None] | None = None) -> None:
        """Start with nothing.

        Args:
            on_finding: Told of every single finding, in the order they are found. Then each costs
                the time of making it; memory stays bounded.
        """
        self._on_finding = on_finding
        self._groups: dict[_Kind, _Group] = {}
        self._snapshot_groups: Counter[tuple[str, Severity]] = Counter()

    def add(self, finding: Finding) -> None:
        """Take one finding, which may stand for `finding.count` alike."""
        group = self._group(finding.code, finding.severity, finding.snapshot)
        group.count += finding.count
        if finding.guest_start is not None and finding.guest_end is not None:
            group.guest.add(finding.guest_start, finding.guest_end)
        self._keep(group, finding)

    def add_entries(
        self,
        hits: Sequence[Hit],
        table: TableRef | TableRun,
        words: Words,
        *,
        context: RuleContext,
        bitmaps: Words | None = None,
        refcounts: npt.NDArray[np.unsignedinteger[Any]] | None = None,
        multiplicity: int = 1,
    ) -> None:
        """Take the broken entries of a table.

        Args:
            hits: What `judge_l1`, `judge_l2` or a rule of the caller's found.
            table: Where the judged entries are.
            words: All judged entries.
            context: What they were judged by.
            bitmaps: Their subcluster bitmaps, with extended L2 entries.
            refcounts: Of each judged entry, the stored refcount of what it names; only for the
                rules on COPIED.
            multiplicity: How many L1 entries name the table: each counts every hit again. The
                findings and ranges show the reference that `table` describes.
        """
        for code, indices in hits:
            group = self._group(code, entry_severity(code), table.owner)
            group.count += len(indices) * multiplicity
            starts = table.host_starts(indices)
            group.host.add_many(starts, starts + table.entry_bytes)
            self._add_guest_ranges(group, table, indices, context)
            wanted = len(indices) if self._on_finding else group.room
            for index in indices[:wanted].tolist():
                facts = EntryFacts(
                    _clipped(table.place(index), context),
                    int(words[index]),
                    context,
                    0 if bitmaps is None else int(bitmaps[index]),
                    None if refcounts is None else int(refcounts[index]),
                )
                self._keep(group, entry_finding(code, facts, count=multiplicity))

    def add_stretches(
        self, findings: Sequence[Finding], guest_starts: Offsets, guest_ends: Offsets
    ) -> None:
        """Take findings of one kind, each on a guest range of its own.

        Args:
            findings: Made when they are asked for, which the first few are, or all of them.
            guest_starts: Where the range of each starts.
            guest_ends: Where it ends (exclusive); not after the start for none.
        """
        if not findings:
            return
        group = self._group(findings[0].code, findings[0].severity, findings[0].snapshot)
        group.count += len(findings)
        group.guest.add_many(guest_starts, guest_ends)
        wanted = len(findings) if self._on_finding else min(group.room, len(findings))
        for index in range(wanted):
            self._keep(group, findings[index])

    def add_clusters(
        self,
        code: str,
        clusters: Indices,
        stored: npt.NDArray[np.integer[Any]],
        computed: npt.NDArray[np.integer[Any]],
        *,
        context: RuleContext,
        owners: Mapping[int, str] | None = None,
    ) -> None:
        """Take host clusters whose refcount or owners are wrong.

        Args:
            code: One of `cluster_wording.cluster_codes()`.
            clusters: Their indices in the file.
            stored: The refcount of each.
            computed: The references to each that were counted.
            context: The image's.
            owners: Cluster → who refers to it, in words, for those that were looked up.
        """
        if not len(clusters):
            return
        cluster_bytes = context.geometry.cluster_bytes
        group = self._group(code, cluster_severity(code), None)
        group.count += len(clusters)
        starts = clusters.astype(np.int64) * cluster_bytes
        group.host.add_many(starts, starts + cluster_bytes)
        wanted = len(clusters) if self._on_finding else group.room
        for index, cluster in enumerate(clusters[:wanted].tolist()):
            facts = ClusterFacts(
                cluster,
                int(stored[index]),
                int(computed[index]),
                cluster_bytes,
                context.geometry.refcount_max,
                (owners or {}).get(cluster, ""),
            )
            self._keep(group, cluster_finding(code, facts))

    def counts(self) -> dict[Severity, int]:
        """How many findings of each severity there are; every severity is a key."""
        counts = dict.fromkeys(Severity, 0)
        for kind, group in self._groups.items():
            counts[kind.severity] += group.count
        return counts

    def groups(self) -> tuple[FindingGroup, ...]:
        """The findings so far, the worst first, otherwise in the order they were found."""
        ordered = sorted(self._groups.items(), key=lambda item: -item[0].severity)
        return tuple(
            FindingGroup(
                kind.code,
                kind.severity,
                kind.snapshot,
                group.count,
                tuple(group.first),
                group.guest.ranges(),
                group.host.ranges(),
            )
            for kind, group in ordered
        )

    def _group(self, code: str, severity: Severity, snapshot: int | None) -> _Group:
        kind = _Kind(code, severity, snapshot)
        group = self._groups.get(kind)
        if group is not None:
            return group
        if snapshot is not None and snapshot != OTHER_SNAPSHOTS:
            if self._snapshot_groups[code, severity] >= MAX_SNAPSHOT_GROUPS:
                return self._group(code, severity, OTHER_SNAPSHOTS)
            self._snapshot_groups[code, severity] += 1
        return self._groups.setdefault(kind, _Group())

    def _keep(self, group: _Group, finding: Finding) -> None:
        if group.room > 0:
            group.first.append(finding)
        if self._on_finding:
            self._on_finding(finding)

    @staticmethod
    def _add_guest_ranges(
        group: _Group, table: TableRef | TableRun, indices: Indices, context: RuleContext
    ) -> None:
        starts = table.guest_starts(indices)
        if starts is None:
            return
        ends = starts + table.guest_bytes_per_entry
        if table.owner is None and context.virtual_bytes is not None:
            ends = np.minimum(ends, context.virtual_bytes)
        group.guest.add_many(starts, ends)


def _clipped(place: EntryPlace, context: RuleContext) -> EntryPlace:
    """`place` without guest bytes behind the end of the active disk: they are no data.

    Behind a snapshot's disk lies its VM state.
    """
    if place.guest_start is None or place.guest_end is None or place.snapshot is not None:
        return place
    if context.virtual_bytes is None or place.guest_end <= context.virtual_bytes:
        return place
    if place.guest_start >= context.virtual_bytes:
        return place._replace(guest_start=None, guest_end=None)
    return place._replace(guest_end=context.virtual_bytes)
