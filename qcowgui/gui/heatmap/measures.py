"""Cells for the colour modes that metadata alone can answer. Knows no widgets; any thread.

Each function gives one value a cluster of [first, last); see `scales` for what they stand for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from qcowgui.check.cells import Cells
from qcowgui.check.l2_references import find_references, find_run
from qcowgui.check.ownership import Ownership
from qcowgui.check.stored import StoredRefcounts
from qcowgui.check.walk import iter_distinct_l2_tables
from qcowgui.engine.work import CancelToken
from qcowgui.format.entries import ClusterKind
from qcowgui.gui.heatmap import scales
from qcowgui.image.inspect import ImageReport
from qcowgui.image.layer import ExtentKind
from qcowgui.image.mapping import GuestMapping
from qcowgui.image.reader import GuestImage
from qcowgui.image.source import ByteSource
from qcowgui.units import ceil_div

_Int64s = npt.NDArray[np.int64]

_CHUNK_CLUSTERS: Final = 1 << 20
_STORED_KINDS: Final = (ClusterKind.NORMAL, ClusterKind.MIXED, ClusterKind.ZERO_ALLOC)


def stored_refcounts(
    stored: StoredRefcounts, first: int, last: int, token: CancelToken
) -> Iterator[tuple[int, int, npt.NDArray[np.uint64] | None, bool]]:
    """(first, last, counts, readable) of pieces of [first, last); None stands for zeros."""
    for piece in stored.iter_pieces(last):
        token.raise_if_cancelled()
        start = max(piece.first, first)
        if start < piece.last:
            counts = None if piece.counts is None else piece.counts[start - piece.first :]
            yield start, piece.last, counts, piece.readable


def stored_cells(stored: StoredRefcounts, first: int, last: int, token: CancelToken) -> Cells:
    """The stored refcounts.

    Raises:
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
    """
    zero = scales.count_values(np.zeros(1, dtype=np.uint64))[0]
    cells = np.full(last - first, zero, dtype=np.uint8)
    for start, end, counts, readable in stored_refcounts(stored, first, last, token):
        part = slice(start - first, end - first)
        if not readable:
            cells[part] = scales.UNREADABLE
        elif counts is not None:
            cells[part] = scales.count_values(counts)
    return cells


def computed_cells(ownership: Ownership, first: int, last: int, token: CancelToken) -> Cells:
    """The references that were found.

    Raises:
        Cancelled: When the token was set.
    """
    cells = np.zeros(last - first, dtype=np.uint8)
    for start in range(first, last, _CHUNK_CLUSTERS):
        token.raise_if_cancelled()
        part = ownership.computed[start : min(start + _CHUNK_CLUSTERS, last)]
        cells[start - first : start - first + len(part)] = scales.count_values(part)
    return cells


def difference_cells(
    stored: StoredRefcounts, ownership: Ownership, first: int, last: int, token: CancelToken
) -> Cells:
    """The difference of both.

    Raises:
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
    """
    cells = np.zeros(last - first, dtype=np.uint8)
    limit = stored.geometry.refcount_max
    for start, end, counts, _ in stored_refcounts(stored, first, last, token):
        for begin in range(start, end, _CHUNK_CLUSTERS):
            finish = min(begin + _CHUNK_CLUSTERS, end)
            computed = ownership.computed[begin:finish]
            found = np.zeros(1, np.uint64) if counts is None else counts[begin - start :]
            found = np.broadcast_to(found[: finish - begin], computed.shape)
            values = scales.difference_values(found, computed, limit)
            cells[begin - first : finish - first] = values
    return cells


class _Piece(NamedTuple):
    """What the entries of an L2 table refer to, as host bytes.

    Attributes:
        starts: int64.
        ends: int64, exclusive.
        payloads: Whether these are compressed payloads.
        active: Whether the active disk refers to them.
        shared: Whether a snapshot does.
    """

    starts: _Int64s
    ends: _Int64s
    payloads: bool
    active: bool
    shared: bool


def _iter_data(source: ByteSource, report: ImageReport, token: CancelToken) -> Iterator[_Piece]:
    """All references to guest data in the image file."""
    if report.header.has_data_file:
        return
    for table in iter_distinct_l2_tables(source, report):
        token.raise_if_cancelled()
        size = table.geometry.cluster_bytes
        active = table.active_references > 0
        shared = table.references > table.active_references
        run = find_run(table, source.size_bytes)
        if run is not None:
            starts = run.host_offset + np.arange(run.clusters, dtype=np.int64) * size
            yield _Piece(starts, starts + size, False, active, shared)
            continue
        found = find_references(table).believed
        offsets = found.standard_offsets
        yield _Piece(offsets, offsets + size, False, active, shared)
        yield _Piece(found.payload_offsets, found.payload_ends, True, active, shared)


def compressed_cells(
    source: ByteSource, report: ImageReport, first: int, last: int, token: CancelToken
) -> Cells:
    """How much of each host cluster compressed payloads take.

    Descriptors count sectors: where one ends and the next begins in a sector, both claim it.

    Raises:
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
    """
    geometry = report.header.geometry
    if geometry is None:
        return np.zeros(0, dtype=np.uint8)
    size, bits = geometry.cluster_bytes, geometry.cluster_bits
    taken = np.zeros(last - first, dtype=np.int64)
    for piece in _iter_data(source, report, token):
        starts, ends = piece.starts, piece.ends
        if not piece.payloads:
            continue
        while len(starts):
            clusters = starts >> bits
            stops = np.minimum(ends, (clusters + 1) << bits)
            inside = (clusters >= first) & (clusters < last)
            np.add.at(taken, clusters[inside] - first, (stops - starts)[inside])
            more = stops < ends
            starts, ends = stops[more], ends[more]
    return scales.share_values(taken, size)


def sharing_cells(
    source: ByteSource, report: ImageReport, first: int, last: int, token: CancelToken
) -> Cells:
    """Whether the active disk, snapshots or both use a cluster's data.

    Raises:
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
    """
    geometry = report.header.geometry
    bits = 0 if geometry is None else geometry.cluster_bits
    users = np.zeros(last - first, dtype=np.uint8)
    for piece in _iter_data(source, report, token):
        mark = np.uint8(piece.active | piece.shared << 1)
        clusters, ends = piece.starts >> bits, (piece.ends - 1) >> bits
        while len(clusters):
            inside = (clusters >= first) & (clusters < last)
            users[clusters[inside] - first] |= mark
            more = clusters < ends
            clusters, ends = clusters[more] + 1, ends[more]
    values = np.array(
        [scales.EMPTY, scales.ACTIVE_ONLY, scales.SNAPSHOT_ONLY, scales.SHARED], dtype=np.uint8
    )
    return values[users]


class _Jumps:
    """How far each stored guest cluster lies from where the one before it ends."""

    def __init__(self, mapping: GuestMapping) -> None:
        self._mapping = mapping
        self._previous_end: int | None = None

    def iter_parts(
        self, first: int, last: int, token: CancelToken
    ) -> Iterator[tuple[_Int64s, _Int64s, _Int64s]]:
        """(guest clusters, host offsets, distances), window by window."""
        size = self._mapping.geometry.cluster_bytes
        for span in self._mapping.iter_spans(first * size, last * size):
            token.raise_if_cancelled()
            view = span.view
            if view is None:
                continue
            packed = view.kinds == ClusterKind.COMPRESSED
            stored = packed | np.isin(view.kinds, _STORED_KINDS) & (view.host_offsets > 0)
            chosen = np.flatnonzero(stored)
            if not len(chosen):
                continue
            starts = view.host_offsets[chosen].astype(np.int64)
            lengths = np.where(packed, view.payload_bytes, size)[chosen].astype(np.int64)
            distances = self._distances(starts, starts + lengths, packed[chosen])
            yield span.first_cluster + chosen.astype(np.int64), starts, distances

    def _distances(self, starts: _Int64s, ends: _Int64s, packed: npt.NDArray[np.bool_]) -> _Int64s:
        before = np.empty_like(ends)
        before[1:] = ends[:-1]
        before[0] = starts[0] if self._previous_end is None else self._previous_end
        self._previous_end = int(ends[-1])
        distances: _Int64s = np.abs(starts - before)
        # A payload's end is known by sectors: the next one may begin in its last.
        distances[packed & (distances < 512)] = 0
        return distances


def fragmentation_guest_cells(
    mapping: GuestMapping, first: int, last: int, token: CancelToken
) -> Cells:
    """The distance of each guest cluster from the one before.

    Raises:
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
    """
    cells = np.full(last - first, scales.EMPTY, dtype=np.uint8)
    for guests, _, distances in _Jumps(mapping).iter_parts(first, last, token):
        cells[guests - first] = scales.distance_values(distances)
    return cells


def fragmentation_host_cells(
    mapping: GuestMapping, first: int, last: int, token: CancelToken
) -> Cells:
    """The same by host clusters: of several guest clusters in one the farthest.

    Raises:
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
    """
    cells = np.full(last - first, scales.EMPTY, dtype=np.uint8)
    bits = mapping.geometry.cluster_bits
    end = ceil_div(mapping.virtual_bytes, mapping.geometry.cluster_bytes)
    for _, starts, distances in _Jumps(mapping).iter_parts(0, end, token):
        clusters = starts >> bits
        inside = (clusters >= first) & (clusters < last)
        np.maximum.at(cells, clusters[inside] - first, scales.distance_values(distances[inside]))
    return cells


def compressed_guest_cells(
    mapping: GuestMapping, first: int, last: int, token: CancelToken
) -> Cells:
    """How large each guest cluster is when compressed.

    Raises:
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
    """
    cells = np.full(last - first, scales.EMPTY, dtype=np.uint8)
    size = mapping.geometry.cluster_bytes
    for span in mapping.iter_spans(first * size, last * size):
        token.raise_if_cancelled()
        if span.view is None:
            continue
        packed = np.flatnonzero(span.view.kinds == ClusterKind.COMPRESSED)
        values = scales.share_values(span.view.payload_bytes[packed], size)
        cells[span.first_cluster - first + packed] = values
    return cells


def chain_cells(
    image: GuestImage, cluster_bytes: int, first: int, last: int, token: CancelToken
) -> Cells:
    """Which layer decides each guest cluster: where there are several, the deepest.

    Raises:
        ImageError: When a layer can't be read.
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
    """
    cells = np.full(last - first, scales.NOWHERE, dtype=np.uint8)
    end_bytes = min(last * cluster_bytes, image.size_bytes)
    for extent in image.iter_extents(first * cluster_bytes, end_bytes):
        token.raise_if_cancelled()
        if extent.kind is ExtentKind.UNALLOCATED:
            continue
        value = scales.NOWHERE + 1 + min(extent.depth, scales.MAX_DEPTH - 1)
        part = cells[
            extent.start // cluster_bytes - first : ceil_div(extent.end, cluster_bytes) - first
        ]
        np.maximum(part, np.uint8(value), out=part)
    return cells
