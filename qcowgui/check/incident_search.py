"""The numbers that tell an incident, gathered from the result of a check and from the file.

A sound image costs one look at the end of the file. What reads more of it happens only when the
findings give a reason, and is bounded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from qcowgui.check.cluster_ownership import Ownership
from qcowgui.check.collector import FindingGroup
from qcowgui.check.empty_tables import EmptyTables, find_empty_tables
from qcowgui.check.incident_facts import BEYOND_CODES, IncidentFacts, ZeroTail
from qcowgui.check.overwritten import CountStretches
from qcowgui.check.refcount_rules import RefcountSummary
from qcowgui.check.reference_counts import Clusters
from qcowgui.check.roles import METADATA_BITS, PAYLOAD_BITS, Role, bits_of, use_bit
from qcowgui.check.stored import StoredRefcounts
from qcowgui.check.totals import QemuTotals
from qcowgui.engine.work import CancelToken
from qcowgui.format import geometry as geo
from qcowgui.format.features import Compatible
from qcowgui.format.geometry import ENTRY_BYTES, Geometry
from qcowgui.format.header import COMPRESSION_TYPES
from qcowgui.format.refcounts import unpack_refcounts
from qcowgui.format.tables import Words, parse_words
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.units import MIB, ceil_div

if TYPE_CHECKING:
    from qcowgui.check.deep import DeepSummary

_MAX_LEAKS_KEPT: Final = 1 << 20
_MAX_TABLE_SEARCH_BYTES: Final = 32 * MIB
"""Leaked clusters that are looked into for a lost L2 table, all together."""
_FIRST_OF_A_RUN: Final = 8
"""Of each run of leaked clusters: a writer puts a table right before the first data it maps."""
_MAX_TAIL_BYTES: Final = 256 * MIB
_TAIL_STEP_BYTES: Final = MIB
_MAX_BLOCKS_SEARCHED: Final = 64
_TABLE_BITS: Final = bits_of(frozenset({Role.ACTIVE_L2, Role.SNAPSHOT_L2, Role.REFCOUNT_BLOCK}))
_DATA_BITS: Final = use_bit(Role.DATA)
_NO_CLUSTERS: Final[Clusters] = np.zeros(0, dtype=np.int64)


def gather_facts(
    source: ByteSource,
    report: ImageReport,
    *,
    groups: Sequence[FindingGroup],
    totals: QemuTotals,
    ownership: Ownership,
    stored: StoredRefcounts | None,
    refcounts: RefcountSummary,
    deep: DeepSummary | None,
    token: CancelToken,
) -> IncidentFacts | None:
    """What `hints.incident_hints` wants to know; None when the header allows no geometry.

    Args:
        source: The image.
        report: What `inspect_source` says of it.
        groups: The findings.
        totals: The numbers of `qemu-img check`.
        ownership: Who owns each cluster.
        stored: The stored refcounts, if the table can be used.
        refcounts: What comparing them came to.
        deep: What decoding all compressed clusters came to, if that was done.
        token: Stops the work.

    Raises:
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
    """
    geometry = report.header.geometry
    if geometry is None:
        return None
    findings: Counter[str] = Counter()
    trailing_bytes = 0
    for group in groups:
        findings[group.code] += group.count
        if group.code == "trailing-data":
            trailing_bytes += group.first[0].raw or 0
    if stored is not None and not stored.usable:
        stored = None
    census = _Census(refcounts.used, refcounts.used)
    if stored is not None and (refcounts.too_low or refcounts.too_high):
        census = _take_census(stored, ownership, refcounts.overwritten, token)
    is_cut = any(findings[code] for code in BEYOND_CODES)
    tables = EmptyTables()
    lost = lost_entries = 0
    if len(census.missed):
        tables = find_empty_tables(source, report, geometry, ownership.snapshots, token)
        lost, lost_entries = _lost_tables(source, geometry, census, token)
    return IncidentFacts(
        file_bytes=source.size_bytes,
        cluster_bytes=geometry.cluster_bytes,
        l2_entries=geometry.l2_entries,
        findings=findings,
        dirty=report.header.dirty,
        lazy_refcounts=bool(report.header.compatible_features & Compatible.LAZY_REFCOUNTS),
        used_clusters=census.used,
        counted_clusters=census.counted,
        one_too_high=census.one_too_high,
        leaked_clusters=census.leaked_clusters,
        leaks_first=census.leaks_first,
        leaks_last=census.leaks_last,
        shared_leaks=census.shared_leaks,
        marked_leaks=refcounts.marked,
        lost_tables=lost,
        lost_entries=lost_entries,
        empty_tables=tables.active_l2,
        empty_snapshot_tables=tables.of_snapshots,
        l1_entries=min(report.header.l1_size, geometry.l1_entries_needed(report.virtual_bytes)),
        l1_used=tables.active_l1_used,
        mapped_share=totals.allocated_clusters / max(1, totals.total_clusters),
        counted_end=_counted_end(source, stored) if stored and is_cut else 0,
        zero_tail=_zero_tail(source, ownership, census.leaks, token),
        trailing_bytes=trailing_bytes,
        tables_with_data=_tables_with_data(ownership),
        payloads=0 if deep is None else deep.clusters,
        payloads_of_other_type=findings["payload-other-type"],
        compression_type=COMPRESSION_TYPES.get(report.header.compression_type, ""),
    )


@dataclass
class _Census:
    """Stored refcounts against references, in numbers.

    `leaks` has the first ones, ascending; `missed` these, and the first ones of the clusters that
    have references, but fewer than are counted.
    """

    used: int = 0
    counted: int = 0
    one_too_high: int = 0
    leaked_clusters: int = 0
    leaks_first: int = 0
    leaks_last: int = 0
    shared_leaks: int = 0
    leaks: Clusters = field(default_factory=_NO_CLUSTERS.copy)
    missed: Clusters = field(default_factory=_NO_CLUSTERS.copy)


def _take_census(
    stored: StoredRefcounts, ownership: Ownership, overwritten: CountStretches, token: CancelToken
) -> _Census:
    """The numbers, with the counts that were `overwritten` taken for right ones."""
    census = _Census()
    for first, last in ownership.references.iter_parts(0, ownership.clusters):
        census.used += int(np.count_nonzero(ownership.computed[first:last]))
    leaks_found = _FirstClusters()
    missed_found = _FirstClusters()
    for first, found in stored.iter_blocks(ownership.clusters):
        token.raise_if_cancelled()
        computed = ownership.computed[first : first + len(found)].astype(np.uint64)
        counts = found
        if overwritten.stretches:
            untold = overwritten.cover(np.arange(first, first + len(found)))
            counts = np.where(untold, computed, found)
        census.counted += int(np.count_nonzero(counts))
        higher = (computed != 0) & (counts == computed + np.uint64(1))
        census.one_too_high += int(np.count_nonzero(higher))
        missed = np.flatnonzero(counts > computed)
        missed_found.add(first + missed)
        leaks = missed[computed[missed] == 0]
        if not len(leaks):
            continue
        census.shared_leaks += int(np.count_nonzero(counts[leaks] > 1))
        leaks = first + leaks
        leaks_found.add(leaks)
        if not census.leaked_clusters:
            census.leaks_first = int(leaks[0])
        census.leaks_last = int(leaks[-1])
        census.leaked_clusters += len(leaks)
    census.leaks = leaks_found.clusters()
    census.missed = missed_found.clusters()
    return census


class _FirstClusters:
    """Keeps the first `_MAX_LEAKS_KEPT` clusters that it is given."""

    def __init__(self) -> None:
        self._parts: list[Clusters] = []
        self._left = _MAX_LEAKS_KEPT

    def add(self, clusters: Clusters) -> None:
        if len(clusters) and self._left:
            self._parts.append(clusters[: self._left])
            self._left -= len(self._parts[-1])

    def clusters(self) -> Clusters:
        return np.concatenate([_NO_CLUSTERS, *self._parts])


def _lost_tables(
    source: ByteSource, geometry: Geometry, census: _Census, token: CancelToken
) -> tuple[int, int]:
    """Leaked clusters that are L2 tables, and how many entries of theirs map missed references."""
    tables = entries = 0
    for cluster in _candidates(census.leaks, geometry.cluster_bytes):
        token.raise_if_cancelled()
        data = source.read_at(cluster * geometry.cluster_bytes, geometry.cluster_bytes)
        mapped = _missed_mapped(parse_words(data), census.missed, geometry)
        if mapped:
            tables += 1
            entries += mapped
    return tables, entries


def _candidates(leaks: Clusters, cluster_bytes: int) -> Iterator[int]:
    """Leaked clusters that may be L2 tables: the first ones of each run, and not too many."""
    starts = np.flatnonzero(np.diff(leaks, prepend=-2) != 1)
    lengths = np.diff(np.append(starts, len(leaks)))
    left = max(1, _MAX_TABLE_SEARCH_BYTES // cluster_bytes)
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        count = min(length, _FIRST_OF_A_RUN, left)
        yield from leaks[start : start + count].tolist()
        left -= count
        if not left:
            return


def _missed_mapped(words: Words, missed: Clusters, geometry: Geometry) -> int:
    """How many clusters of `missed` `words` map, if they look like an L2 table of such; else 0."""
    descriptors = words[:: geometry.l2_entry_bytes // ENTRY_BYTES]
    descriptors = descriptors[descriptors != 0]
    compressed = (descriptors & np.uint64(geo.COMPRESSED)) != 0
    offsets = descriptors & np.uint64(geo.OFFSET_MASK)
    unsound = (descriptors & np.uint64(geo.L2_RESERVED_MASK)) != 0
    unsound |= (offsets & np.uint64(geometry.cluster_bytes - 1)) != 0
    if len(descriptors) < 2 or (unsound & ~compressed).any():
        return 0
    offsets[compressed] = descriptors[compressed] & np.uint64(geometry.compressed_offset_mask)
    clusters = (offsets >> np.uint64(geometry.cluster_bits)).astype(np.int64)
    places = np.minimum(np.searchsorted(missed, clusters), len(missed) - 1)
    mapped = int(np.count_nonzero(missed[places] == clusters))
    return mapped if mapped * 2 >= int(np.count_nonzero(offsets)) else 0


def _counted_end(source: ByteSource, stored: StoredRefcounts) -> int:
    """Where the last cluster ends that has a refcount above 0, beyond the end of the file, too."""
    geometry = stored.geometry
    present = np.flatnonzero((stored.block_offsets != 0) & ~stored.unreadable_entries)
    for entry in present[: -_MAX_BLOCKS_SEARCHED - 1 : -1].tolist():
        offset = int(stored.block_offsets[entry])
        block = source.read_at(offset, geometry.cluster_bytes)
        counted = np.flatnonzero(unpack_refcounts(block, geometry.refcount_order))
        if len(counted):
            last: int = entry * geometry.refcounts_per_block + int(counted[-1])
            return (last + 1) * geometry.cluster_bytes
    return 0


def _zero_tail(
    source: ByteSource, ownership: Ownership, leaks: Clusters, token: CancelToken
) -> ZeroTail | None:
    if not ownership.clusters:
        return None
    start = _end_of_data(source, token)
    first = ceil_div(start, ownership.cluster_bytes)
    last = min(ownership.clusters, source.size_bytes // ownership.cluster_bytes)
    if first >= last:
        return None
    # Whole clusters only: the last one of a file is often short, and then padded by readers.
    tables = data = payloads = 0
    for begin, end in ownership.references.iter_parts(first, last):
        uses = ownership.uses[begin:end]
        tables += int(np.count_nonzero(uses & np.uint16(_TABLE_BITS)))
        payloads += int(np.count_nonzero(uses & np.uint16(PAYLOAD_BITS)))
        is_data = (uses & np.uint16(_DATA_BITS)) != 0
        data += int(np.count_nonzero(is_data & ((uses & np.uint16(METADATA_BITS)) == 0)))
    leaked = int(np.count_nonzero((leaks >= first) & (leaks < last)))
    return ZeroTail(first * ownership.cluster_bytes, data, payloads, tables, leaked)


def _end_of_data(source: ByteSource, token: CancelToken) -> int:
    """Where the zeros at the end of the file begin, as far as this is looked for."""
    end, step, left = source.size_bytes, _TAIL_STEP_BYTES, _MAX_TAIL_BYTES
    while end > 0 and left > 0:
        token.raise_if_cancelled()
        start = max(0, end - step)
        for first, last in reversed(list(source.iter_data_ranges(start, end))):
            for stop in range(last, first, -_TAIL_STEP_BYTES):
                begin = max(first, stop - _TAIL_STEP_BYTES)
                data = source.read_at(begin, stop - begin)
                used = len(data.rstrip(b"\0"))
                if used:
                    return begin + used
                left -= len(data)
                if left <= 0:
                    return begin
        end, step = start, min(2 * step, 1 << 30)
    return end


def _tables_with_data(ownership: Ownership) -> int:
    if not len(ownership.conflicts):
        return 0
    uses = ownership.uses[ownership.conflicts]
    tables = (uses & np.uint16(_TABLE_BITS)) != 0
    data = (uses & np.uint16(_DATA_BITS | PAYLOAD_BITS)) != 0
    return int(np.count_nonzero(tables & data))
