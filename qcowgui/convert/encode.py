"""Guest bytes of a batch → target clusters: which are zero, stored plain, or compressed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from qcowgui.codec.cluster import Buffer, ClusterEncoder
from qcowgui.convert.zeros import is_zero
from qcowgui.image.layer import Piece


@dataclass(slots=True)
class EncodedBatch:
    """The clusters of one batch that need something written, by target cluster number.

    Attributes:
        number: The batch's place in the order.
        end_cluster: The first target cluster behind the batch.
        zero: Clusters that must read as zeros although the backing file may not.
        plain: Clusters stored as they are, with their full content.
        compressed: Clusters with their payload.
    """

    number: int
    end_cluster: int
    zero: list[int] = field(default_factory=list)
    plain: list[tuple[int, Buffer]] = field(default_factory=list)
    compressed: list[tuple[int, Buffer]] = field(default_factory=list)

    def detach(self) -> None:
        """Copy what points into a worker's buffers, so that the worker may go on."""
        self.plain = [
            (cluster, bytes(data) if isinstance(data, memoryview) else data)
            for cluster, data in self.plain
        ]


def iter_clusters(
    pieces: Sequence[Piece], start: int, end: int, cluster_bytes: int
) -> Iterator[tuple[int, Buffer | None]]:
    """The clusters of [start, end), in order: (number, content), or None where nothing is stored.

    Args:
        pieces: Guest bytes, in order, not overlapping.
        start: First guest byte, a multiple of `cluster_bytes`.
        end: End; when it lies inside a cluster, that one is filled up with zeros.
        cluster_bytes: The target's cluster size.
    """
    position = -1
    piece_start = piece_end = start
    data: Buffer = b""
    for offset in range(start, end, cluster_bytes):
        stop = offset + cluster_bytes
        while piece_end <= offset and position < len(pieces):
            position += 1
            if position < len(pieces):
                piece = pieces[position]
                piece_start, piece_end = piece.start, _end(piece)
                data = piece.data
        number = offset // cluster_bytes
        if position == len(pieces) or piece_start >= stop:
            yield number, None
        elif piece_start == offset and piece_end == stop:
            yield number, data
        elif piece_start <= offset and piece_end >= stop:
            yield number, memoryview(data)[offset - piece_start : stop - piece_start]
        else:
            yield number, _gather(pieces, position, offset, cluster_bytes)


def _end(piece: Piece) -> int:
    return piece.start + len(piece.data)


def _gather(pieces: Sequence[Piece], position: int, offset: int, cluster_bytes: int) -> bytearray:
    """The cluster at `offset` from several pieces, zeros between them."""
    cluster = bytearray(cluster_bytes)
    stop = offset + cluster_bytes
    while position < len(pieces) and pieces[position].start < stop:
        piece = pieces[position]
        first, last = max(piece.start, offset), min(_end(piece), stop)
        part = memoryview(piece.data)[first - piece.start : last - piece.start]
        cluster[first - offset : last - offset] = part
        position += 1
    return cluster


def encode_batch(
    number: int,
    start: int,
    end: int,
    pieces: Sequence[Piece],
    cluster_bytes: int,
    encoder: ClusterEncoder | None,
    base: Sequence[Piece] | None = None,
) -> EncodedBatch:
    """Sort the clusters of a batch by how they are stored, compressing them on the way.

    Args:
        number: The batch's place in the order.
        start: First guest byte, cluster-aligned.
        end: End (exclusive).
        pieces: The source's bytes.
        cluster_bytes: The target's cluster size.
        encoder: This thread's encoder, or None to store everything plain.
        base: With a backing file that is kept: its bytes in the same range. Clusters that equal
            it are left to it.
    """
    batch = EncodedBatch(number, -(-end // cluster_bytes))
    clusters = iter_clusters(pieces, start, end, cluster_bytes)
    if base is None:
        for cluster, data in clusters:
            if data is not None and not is_zero(data):
                _add(batch, cluster, data, encoder)
        return batch
    below = iter_clusters(base, start, end, cluster_bytes)
    for (cluster, data), (_, base_data) in zip(clusters, below, strict=True):
        zero = data is None or is_zero(data)
        base_zero = base_data is None or is_zero(base_data)
        if zero:
            if not base_zero:
                batch.zero.append(cluster)
        elif data is not None and (base_data is None or memoryview(data) != memoryview(base_data)):
            _add(batch, cluster, data, encoder)
    return batch


def _add(batch: EncodedBatch, cluster: int, data: Buffer, encoder: ClusterEncoder | None) -> None:
    payload = encoder.encode(data) if encoder is not None else None
    if payload is None:
        batch.plain.append((cluster, data))
    else:
        batch.compressed.append((cluster, payload))
