"""A qcow2 file as a layer: guest extents and bytes of one mapping, active or a snapshot's."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from qcowgui.codec.cluster import ClusterDecoder, CodecError, DecodedClusters, Segments
from qcowgui.codec.registry import CompressionType
from qcowgui.errors import CorruptError, ImageError, TruncatedError
from qcowgui.format.entries import ClusterKind, L2Entry, SubclusterKind
from qcowgui.format.geometry import SUBCLUSTERS
from qcowgui.format.tables import L2View
from qcowgui.image.layer import (
    Extent,
    ExtentKind,
    LossLog,
    PieceSink,
    lost_range,
    read_plain,
)
from qcowgui.image.mapping import GuestMapping, Span
from qcowgui.image.source import ByteSource
from qcowgui.units import KIB, MIB, format_offset

_MAX_READ_BYTES: Final = 8 * MIB
"""Payloads are read in one go up to this: twice what a batch of the largest clusters can need."""

_GAP_BYTES: Final = 64 * KIB
"""Between payloads, this much is read along: it costs less than one more system call and group."""
_JOINED_BYTES: Final = 16 * KIB
"""Clusters up to this size are joined to runs when decoded: copying costs less than each apart."""

_DECODED_BYTES: Final = 512 * KIB
"""Guest bytes that are decoded together: with their payloads they stay in a core's cache.

2026-11-30, 64 KiB zstd clusters that qemu-img -W had placed in no order, to raw, 2 threads, means
of 8 alternating runs: each payload group in the file's order 2.88 s, in the guest's order by 1 MiB
2.78 s, by 512 KiB 2.70 s (qemu-img 3.06 s).
"""

_EXTENT_KINDS: Final = (
    ExtentKind.UNALLOCATED,
    ExtentKind.ZERO,
    ExtentKind.ZERO,
    ExtentKind.DATA,
    ExtentKind.COMPRESSED,
)
"""By ClusterKind, for those that are the same in the whole cluster."""
_SUBCLUSTER_EXTENTS: Final = {
    SubclusterKind.UNALLOCATED: ExtentKind.UNALLOCATED,
    SubclusterKind.ZERO: ExtentKind.ZERO,
    SubclusterKind.NORMAL: ExtentKind.DATA,
}


class _Run(NamedTuple):
    """Neighbouring entries of one kind in a span.

    Attributes:
        kind: A ClusterKind's number: looking up the enum would cost as much as the rest.
        start: First guest byte, inside the span.
        end: End (exclusive), inside the span.
        host: Host offset of `start`, or None where entries of this kind have no cluster.
        first: Index of the first entry in the span's view.
        last: End (exclusive) of the entries.
    """

    kind: int
    start: int
    end: int
    host: int | None
    first: int
    last: int


class _Payloads(NamedTuple):
    """Payloads that were read in one go, in the guest's order of their clusters.

    Attributes:
        base: Host offset of the area's first byte.
        area: The bytes read; they may end early.
        clusters: Guest offset of each cluster.
        starts: Host offset of each payload.
        ends: End (exclusive) of each payload.
    """

    base: int
    area: memoryview
    clusters: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]

    def part(self, first: int, last: int) -> _Payloads:
        """The payloads [first, last)."""
        part = slice(first, last)
        return self._replace(
            clusters=self.clusters[part], starts=self.starts[part], ends=self.ends[part]
        )

    def segments(self) -> Segments:
        """Where they lie in the area."""
        segments = np.empty((len(self.starts), 2), dtype=np.uint64)
        segments[:, 0] = self.starts - self.base
        segments[:, 1] = self.ends - self.starts
        return segments


class Qcow2Layer:
    """Guest extents and bytes through one mapping. See `Layer`."""

    def __init__(
        self,
        source: ByteSource,
        data_source: ByteSource,
        mapping: GuestMapping,
        *,
        compression_type: CompressionType,
    ) -> None:
        """A layer over opened files.

        Args:
            source: The qcow2 file.
            data_source: Where host clusters lie: the same, or the external data file.
            mapping: The guest → host mapping to use.
            compression_type: The header's, for compressed clusters.
        """
        self._source = source
        self._data_source = data_source
        self._mapping = mapping
        self._compression_type = compression_type
        self._cluster_bytes = mapping.geometry.cluster_bytes

    @property
    def name(self) -> str:
        """The path of the file that holds the data clusters."""
        return self._data_source.name

    @property
    def mapping(self) -> GuestMapping:
        """The mapping in use."""
        return self._mapping

    @property
    def size_bytes(self) -> int:
        """Size of the guest's disk in whole sectors."""
        return self._mapping.virtual_bytes

    @property
    def cluster_bytes(self) -> int:
        """The image's cluster size."""
        return self._cluster_bytes

    def iter_extents(
        self, start: int, end: int, depth: int, *, with_hosts: bool, losses: LossLog | None
    ) -> Iterator[Extent]:
        """As `Layer.iter_extents`."""
        for span in self._mapping.iter_spans(start, end):
            if span.missing:
                yield self._lose(span.start, span.end, depth, losses)
            elif span.view is None:
                yield _extent(span.start, span.end, ExtentKind.UNALLOCATED, depth)
            else:
                yield from self._iter_span(span, span.view, depth, with_hosts, losses)

    def _iter_span(
        self, span: Span, view: L2View, depth: int, with_hosts: bool, losses: LossLog | None
    ) -> Iterator[Extent]:
        for run in _iter_runs(span, view, self._cluster_bytes, split_hosts=with_hosts):
            kind, start, end, host, _, _ = run
            if kind < ClusterKind.MIXED:
                host = host if with_hosts else None
                yield Extent(start, end - start, _EXTENT_KINDS[kind], depth, host)
            elif kind == ClusterKind.MIXED:
                for first, last, part, place in self._iter_subclusters(span, view, run):
                    host = place if with_hosts else None
                    yield _extent(first, last, _SUBCLUSTER_EXTENTS[part], depth, host)
            else:
                yield self._lose(start, end, depth, losses)

    def _lose(self, start: int, end: int, depth: int, losses: LossLog | None) -> Extent:
        """A range whose entries can't be used: it counts as zeros when the loss can be noted."""
        error = self._mapping.error_at(start)
        if losses is None:
            raise error
        losses.add(lost_range(start, end, error))
        return _extent(start, end, ExtentKind.ZERO, depth)

    def read(
        self,
        start: int,
        end: int,
        sink: PieceSink,
        pending: list[tuple[int, int]],
    ) -> None:
        """As `Layer.read`."""
        for span in self._mapping.iter_spans(start, end):
            if span.missing:
                lost_bytes = span.end - span.start
                sink.context.lose(span.start, lost_bytes, self._mapping.error_at(span.start))
                continue
            if span.view is None:
                pending.append((span.start, span.end))
                continue
            compressed = span.view.kinds == ClusterKind.COMPRESSED
            if compressed.any():
                self._read_compressed(span, span.view, np.flatnonzero(compressed), sink)
                if compressed.all():
                    continue
            for run in _iter_runs(span, span.view, self._cluster_bytes, split_hosts=True):
                self._read_run(span, span.view, run, sink, pending)

    def _read_run(
        self,
        span: Span,
        view: L2View,
        run: _Run,
        sink: PieceSink,
        pending: list[tuple[int, int]],
    ) -> None:
        kind, start, end, host, _, _ = run
        if kind == ClusterKind.UNALLOCATED:
            pending.append((start, end))
        elif kind == ClusterKind.NORMAL and host is not None:
            read_plain(self._data_source, host, start, end - start, sink)
        elif kind == ClusterKind.MIXED:
            for first, last, part, part_host in self._iter_subclusters(span, view, run):
                if part is SubclusterKind.UNALLOCATED:
                    pending.append((first, last))
                elif part is SubclusterKind.NORMAL and part_host is not None:
                    read_plain(self._data_source, part_host, first, last - first, sink)
        elif kind > ClusterKind.MIXED:
            sink.context.lose(start, end - start, self._mapping.error_at(start))

    def _iter_subclusters(
        self, span: Span, view: L2View, run: _Run
    ) -> Iterator[tuple[int, int, SubclusterKind, int | None]]:
        """(start, end, kind, host offset or None) of the parts of MIXED clusters, in order."""
        part_bytes = self._cluster_bytes // SUBCLUSTERS
        for index in range(run.first, run.last):
            entry = L2Entry(int(view.words[index]), 0, self._mapping.geometry)
            base = (span.first_cluster + index) * self._cluster_bytes
            kinds = _subcluster_kinds(0 if view.bitmaps is None else int(view.bitmaps[index]))
            part = 0
            while part < SUBCLUSTERS:
                stop = part + 1
                while stop < SUBCLUSTERS and kinds[stop] is kinds[part]:
                    stop += 1
                start = max(base + part * part_bytes, span.start)
                end = min(base + stop * part_bytes, span.end)
                if start < end:
                    # A data file's first cluster lies at offset 0.
                    placed = entry.host_offset or entry.copied
                    host = entry.host_offset + (start - base) if placed else None
                    yield start, end, kinds[part], host
                part = stop

    def _read_compressed(
        self, span: Span, view: L2View, chosen: npt.NDArray[np.intp], sink: PieceSink
    ) -> None:
        """Decode compressed clusters: payloads that lie close together are read in one go."""
        offsets = view.host_offsets[chosen]
        order = np.argsort(offsets, kind="stable")
        starts = offsets[order]
        ends = starts + view.payload_bytes[chosen][order]
        clusters = (chosen[order] + span.first_cluster) * self._cluster_bytes
        gap_bytes = max(self._cluster_bytes, _GAP_BYTES)
        for first, last in _iter_groups(starts, ends, gap_bytes):
            # In the guest's order from here on: writers that compress on several threads place
            # neighbours anyhow, and neighbours that are decoded together are one piece.
            group = first + np.argsort(clusters[first:last])
            base = int(starts[first])
            area = sink.context.payload_area(int(ends[group].max()) - base)
            area = area[: self._source.read_into(base, area)]
            payloads = _Payloads(base, area, clusters[group], starts[group], ends[group])
            self._decode_group(span, payloads, sink)

    def _decode_group(self, span: Span, payloads: _Payloads, sink: PieceSink) -> None:
        """Decode what was read, by as much as stays in a core's cache until it is used."""
        decoder = sink.context.decoder(self._compression_type, self._cluster_bytes)
        clusters = payloads.clusters
        whole = span.start <= clusters[0] and clusters[-1] + self._cluster_bytes <= span.end
        step = max(1, _DECODED_BYTES // self._cluster_bytes)
        for first in range(0, len(clusters), step):
            part = payloads.part(first, first + step)
            decoded = decoder.decode_many(part.area, part.segments()) if whole else None
            if decoded is not None:
                self._give(part.clusters, decoded, sink)
            else:
                self._decode_each(span, part, decoder, sink)

    def _decode_each(
        self, span: Span, payloads: _Payloads, decoder: ClusterDecoder, sink: PieceSink
    ) -> None:
        """Decode cluster by cluster: where the span cuts some, or where some can't be decoded."""
        base = payloads.base
        for cluster, start, end in zip(
            payloads.clusters.tolist(),
            payloads.starts.tolist(),
            payloads.ends.tolist(),
            strict=True,
        ):
            first = max(span.start, cluster)
            last = min(span.end, cluster + self._cluster_bytes)
            try:
                data = decoder.decode(payloads.area[start - base : end - base])
            except CodecError as error:
                lost = self._payload_error(error, cluster, start, end)
                sink.context.lose(first, last - first, lost)
                continue
            sink.add(first, memoryview(data)[first - cluster : last - cluster])

    def _give(
        self, clusters: npt.NDArray[np.int64], decoded: DecodedClusters, sink: PieceSink
    ) -> None:
        """Give whole clusters to `sink`, neighbours joined where that costs less than it saves.

        Each piece costs its own time, in here and where it is written.
        """
        cluster_bytes, parts = self._cluster_bytes, decoded.parts
        if len(parts) < len(clusters):
            position = 0
            for part in parts:
                count = len(part) // cluster_bytes
                here = clusters[position : position + count]
                for first, last in _consecutive(here, cluster_bytes):
                    sink.add(int(here[first]), part[first * cluster_bytes : last * cluster_bytes])
                position += count
        elif cluster_bytes > _JOINED_BYTES:
            for cluster, data in zip(clusters.tolist(), parts, strict=True):
                sink.add(cluster, data)
        else:
            order = np.argsort(clusters)
            ordered = clusters[order]
            indices = order.tolist()
            for first, last in _consecutive(ordered, cluster_bytes):
                run = [parts[index] for index in indices[first:last]]
                sink.add(int(ordered[first]), b"".join(run))

    def _payload_error(self, error: CodecError, cluster: int, start: int, end: int) -> ImageError:
        where = (
            f"guest offset {format_offset(cluster)} can't be read: the compressed cluster at host "
            f"offset {format_offset(start)}"
        )
        file_bytes = self._source.size_bytes
        if end > file_bytes:
            return TruncatedError(
                f"{where} reaches beyond the end of the file ({format_offset(file_bytes)})",
                path=self._source.name,
                guest_offset=cluster,
                needed_offset=end,
                file_bytes=file_bytes,
                hint="the file is cut short; salvage reads what is there and zeros for the rest",
            )
        return CorruptError(
            f"{where} can't be decoded: {error}",
            path=self._source.name,
            guest_offset=cluster,
            hint="salvage reads what is intact and zeros for the rest",
        )


def _consecutive(clusters: npt.NDArray[np.int64], cluster_bytes: int) -> Iterator[tuple[int, int]]:
    """Index ranges [a, b) of guest offsets that follow one another cluster by cluster."""
    breaks = np.flatnonzero(clusters[1:] - clusters[:-1] != cluster_bytes) + 1
    return itertools.pairwise([0, *breaks.tolist(), len(clusters)])


def _subcluster_kinds(bitmap: int) -> list[SubclusterKind]:
    """What the subclusters of a MIXED entry are: decoding has shown that none is INVALID.

    `L2Entry.subclusters` can't tell: an entry at host offset 0 is one with data in a data file.
    """
    return [
        SubclusterKind.NORMAL
        if bitmap >> index & 1
        else SubclusterKind.ZERO
        if bitmap >> (index + SUBCLUSTERS) & 1
        else SubclusterKind.UNALLOCATED
        for index in range(SUBCLUSTERS)
    ]


def _extent(start: int, end: int, kind: ExtentKind, depth: int, host: int | None = None) -> Extent:
    return Extent(start, end - start, kind, depth, host)


def _iter_runs(
    span: Span, view: L2View, cluster_bytes: int, *, split_hosts: bool
) -> Iterator[_Run]:
    """Maximal runs of one kind; with `split_hosts`, host clusters of a run are consecutive too."""
    kinds, hosts = view.kinds, view.host_offsets
    breaks = kinds[1:] != kinds[:-1]
    if split_hosts:
        has_host = (hosts != 0) & (kinds != ClusterKind.COMPRESSED)
        breaks = breaks | (has_host[:-1] & (hosts[1:] - hosts[:-1] != cluster_bytes))
        breaks = breaks | (has_host[1:] & ~has_host[:-1])
    edges = np.concatenate(([0], np.flatnonzero(breaks) + 1, [len(kinds)]))
    firsts = edges[:-1]
    bounds = ((edges + span.first_cluster) * cluster_bytes).tolist()
    # The span may begin or end inside a cluster.
    skipped_bytes = max(0, span.start - bounds[0])
    bounds[0], bounds[-1] = max(bounds[0], span.start), min(bounds[-1], span.end)
    run_kinds, run_hosts = kinds[firsts].tolist(), hosts[firsts].tolist()
    indices = edges.tolist()
    for number, (kind, host) in enumerate(zip(run_kinds, run_hosts, strict=True)):
        # NORMAL at 0 exists in an external data file only.
        placed = kind != ClusterKind.COMPRESSED and (host or kind == ClusterKind.NORMAL)
        yield _Run(
            kind,
            bounds[number],
            bounds[number + 1],
            host + (0 if number else skipped_bytes) if placed else None,
            indices[number],
            indices[number + 1],
        )


def _iter_groups(
    starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64], max_gap_bytes: int
) -> Iterator[tuple[int, int]]:
    """Index ranges [a, b) of payloads, sorted by start, that one read covers well.

    Gaps of up to `max_gap_bytes` are read along: the bytes cost less than one more system call.
    """
    reach = np.maximum.accumulate(ends)
    breaks = np.flatnonzero(starts[1:] - reach[:-1] > max_gap_bytes) + 1
    for first, last in itertools.pairwise([0, *breaks.tolist(), len(starts)]):
        while first < last:
            limit = int(starts[first]) + _MAX_READ_BYTES
            within = int(np.searchsorted(reach[first:last], limit, side="right"))
            stop = first + max(1, within)
            yield first, stop
            first = stop  # noqa: PLW2901  the rest of this group
