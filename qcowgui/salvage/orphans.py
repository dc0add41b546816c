"""Stored bytes that a candidate leaves unused: what may be missing from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from qcowgui.engine.work import CancelToken
from qcowgui.format import geometry as geo
from qcowgui.image.source import ByteSource
from qcowgui.salvage.candidates import Candidate, Orphans
from qcowgui.salvage.found_snapshots import load_l1
from qcowgui.salvage.payloads import count_payload_starts
from qcowgui.salvage.scan import Indices
from qcowgui.salvage.structures import Structures
from qcowgui.salvage.table_pool import TablePool
from qcowgui.salvage.tables import Flags, iter_loaded
from qcowgui.units import MIB, SECTOR_BYTES, align_down, align_up

_MAX_CLUSTERS: Final = 1 << 26
"""ours: 64 MiB of flags; 4 TiB of 64 KiB clusters."""
_MAX_RANGES: Final = 64
_CHUNK_BYTES: Final = 4 * MIB
_MAX_PAYLOAD_BYTES: Final = 16 * MIB
"""ours: what is searched for the starts of payloads."""


def count_orphans(
    source: ByteSource, structures: Structures, candidate: Candidate, token: CancelToken
) -> Orphans:
    """What the file holds and neither the candidate nor a snapshot uses.

    Raises:
        Cancelled: When the token was set.
        SourceError: When the operating system refuses a read.
    """
    pool = TablePool(source, structures, token)
    tables = tuple(pool.unused_by(candidate.l1).tolist())
    clusters = structures.geometry.clusters(source.size_bytes)
    if clusters > _MAX_CLUSTERS:
        return Orphans(tables, None, 0, ())
    used = np.zeros(clusters, dtype=np.bool_)
    _mark_metadata(source, structures, used)
    named = structures.l2_tables.index_of(np.unique(candidate.l1))
    of_snapshots = np.array(sorted(pool.snapshot_places), dtype=np.int64)
    places = np.union1d(named[named >= 0], of_snapshots)
    _mark_tables(source, structures, places, used, token)
    return _collect(source, structures, candidate, tables, used, token)


def _mark(used: Flags, cluster_bits: int, start: int, length: int) -> None:
    """Mark the clusters that the host range touches."""
    if length > 0:
        used[start >> cluster_bits : ((start + length - 1) >> cluster_bits) + 1] = True


def _mark_metadata(source: ByteSource, structures: Structures, used: Flags) -> None:
    """Mark the header, refcount structures, L1 tables and the snapshot table."""
    bits = structures.geometry.cluster_bits
    used[:1] = True
    refcounts = structures.refcounts
    if refcounts is not None:
        _mark(used, bits, refcounts.table_offset, refcounts.table_clusters << bits)
        blocks = (refcounts.block_offsets >> np.uint64(bits)).astype(np.int64)
        used[blocks[(blocks > 0) & (blocks < len(used))]] = True
    for table in structures.l1_tables:
        _mark(used, bits, table.host_offset, len(table.words) * 8)
    for snapshot in structures.snapshots:
        _mark(used, bits, snapshot.entry_offset, snapshot.entry_bytes)
        words = load_l1(source, snapshot.l1_table_offset, snapshot.l1_size)
        _mark(used, bits, snapshot.l1_table_offset, len(words) * 8)


def _mark_tables(
    source: ByteSource, structures: Structures, places: Indices, used: Flags, token: CancelToken
) -> None:
    """Mark L2 tables and every cluster that they name."""
    geometry, tables = structures.l2_tables.geometry, structures.l2_tables
    chosen = tables.clusters[places]
    used[chosen[chosen < len(used)]] = True
    for _, words, _ in iter_loaded(source, chosen, geometry, token):
        is_compressed = (words & np.uint64(geo.COMPRESSED)) != 0
        hosts = words[~is_compressed] & np.uint64(geo.OFFSET_MASK)
        numbers = (hosts >> np.uint64(geometry.cluster_bits)).astype(np.int64)
        used[numbers[numbers < len(used)]] = True
        packed = words[is_compressed]
        starts = (packed & np.uint64(geometry.compressed_offset_mask)).astype(np.int64)
        sectors = (packed >> np.uint64(geometry.compressed_shift)) & np.uint64(
            geometry.compressed_sectors_mask
        )
        ends = (starts // SECTOR_BYTES + sectors.astype(np.int64)) * SECTOR_BYTES
        # A payload of at most two clusters touches three at the most.
        for step in range(3):
            numbers = (starts >> geometry.cluster_bits) + step
            numbers = numbers[(numbers <= ends >> geometry.cluster_bits) & (numbers < len(used))]
            used[numbers] = True


def _collect(
    source: ByteSource,
    structures: Structures,
    candidate: Candidate,
    tables: tuple[int, ...],
    used: Flags,
    token: CancelToken,
) -> Orphans:
    """Read what is not marked, and count the clusters that are not zeros."""
    geometry = structures.geometry
    bits = geometry.cluster_bits
    flags = np.concatenate(([True], used, [True])).astype(np.int8)
    edges = np.flatnonzero(np.diff(flags))
    count = payloads = searched = 0
    ranges: list[tuple[int, int]] = []
    wants_payloads = bool(structures.l2_tables.compressed.any())
    for first, last in edges.reshape(-1, 2).tolist():
        for start, data in _iter_data(
            source, first << bits, last << bits, geometry.cluster_bytes, token
        ):
            padded = data.ljust(geometry.clusters(len(data)) << bits, b"\0")
            filled = np.frombuffer(padded, dtype=np.uint64).reshape(-1, 1 << bits >> 3).any(axis=1)
            count += int(np.count_nonzero(filled))
            if filled.any():
                ranges = _longest([*ranges, (start, start + len(data))])
            if wants_payloads and searched < _MAX_PAYLOAD_BYTES:
                payloads += count_payload_starts(data, geometry, candidate.compression_type)
                searched += len(data)
    ranges.sort(key=lambda part: part[0] - part[1])
    return Orphans(tables, count, payloads, tuple(sorted(ranges[:_MAX_RANGES])))


def _iter_data(
    source: ByteSource, start: int, end: int, cluster_bytes: int, token: CancelToken
) -> Iterator[tuple[int, bytes]]:
    """(host offset, bytes) of [start, end) without the file's holes, in whole clusters."""
    position = start
    for first, last in source.iter_data_ranges(start, end):
        position = max(position, align_down(first, cluster_bytes))
        while position < last:
            token.raise_if_cancelled()
            data = source.read_at(
                position, min(_CHUNK_BYTES, align_up(last, cluster_bytes) - position)
            )
            if not data:
                return
            yield position, data
            position += align_up(len(data), cluster_bytes)


def _longest(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest of some ranges, those that touch joined."""
    if len(ranges) > 1 and ranges[-2][1] == ranges[-1][0]:
        ranges = [*ranges[:-2], (ranges[-2][0], ranges[-1][1])]
    if len(ranges) > 2 * _MAX_RANGES:
        last = ranges[-1]
        best = sorted(ranges[:-1], key=lambda part: part[0] - part[1])[:_MAX_RANGES]
        ranges = [*sorted(best), last]
    return ranges
