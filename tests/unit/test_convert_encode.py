"""Pieces become target clusters, each sorted by how it is stored."""

from __future__ import annotations

import itertools
import random

import pytest

from qcowgui.codec.cluster import Buffer
from qcowgui.codec.registry import CompressionType, encoder
from qcowgui.convert.encode import EncodedBatch, encode_batch, iter_clusters
from qcowgui.image.layer import Piece
from tests.support.base_images import pattern, text

CLUSTER = 4096


def pieces_of(disk: bytes, edges: list[int]) -> list[Piece]:
    """The parts of a disk between neighbouring edges, without those that are all zeros."""
    parts = [Piece(start, disk[start:end]) for start, end in itertools.pairwise(edges)]
    return [part for part in parts if any(part.data)]


def joined(clusters: list[tuple[int, Buffer | None]]) -> bytes:
    return b"".join(bytes(CLUSTER) if data is None else bytes(data) for _, data in clusters)


@pytest.mark.parametrize("seed", range(20))
def test_clusters_hold_what_the_pieces_hold(seed: int) -> None:
    chance = random.Random(seed)
    count = chance.randrange(1, 9)
    start = chance.randrange(5) * CLUSTER
    end = start + count * CLUSTER - chance.choice([0, 0, 512, 4095])
    edges = sorted({start, end, *(chance.randrange(start, end) for _ in range(10))})
    disk = bytearray(end)
    for first, last in itertools.pairwise(edges):
        if chance.random() < 0.5:
            disk[first:last] = chance.randbytes(last - first)
    clusters = list(iter_clusters(pieces_of(bytes(disk), edges), start, end, CLUSTER))
    assert [number for number, _ in clusters] == list(range(start // CLUSTER, -(-end // CLUSTER)))
    assert joined(clusters) == bytes(disk[start:]).ljust(count * CLUSTER, b"\0")


def test_a_cluster_without_a_piece_is_not_built() -> None:
    clusters = list(iter_clusters([Piece(CLUSTER, pattern(CLUSTER))], 0, 3 * CLUSTER, CLUSTER))
    assert [data is None for _, data in clusters] == [True, False, True]


def sorted_batch(disk: bytes, base: bytes | None = None, *, compress: bool = False) -> EncodedBatch:
    coder = encoder(CompressionType.ZLIB, CLUSTER) if compress else None
    pieces = [Piece(0, memoryview(disk))] if disk else []
    below = None if base is None else [Piece(0, base)] if base else []
    return encode_batch(3, 0, len(disk), pieces, CLUSTER, coder, below)


def test_zeros_are_left_out_and_data_is_plain() -> None:
    batch = sorted_batch(pattern(CLUSTER) + bytes(CLUSTER) + text(CLUSTER))
    assert (batch.number, batch.end_cluster) == (3, 3)
    assert [number for number, _ in batch.plain] == [0, 2]
    assert not batch.zero
    assert not batch.compressed


def test_what_does_not_shrink_is_plain() -> None:
    batch = sorted_batch(pattern(CLUSTER) + text(CLUSTER), compress=True)
    assert [number for number, _ in batch.plain] == [0]
    assert [number for number, _ in batch.compressed] == [1]
    assert len(batch.compressed[0][1]) < CLUSTER


def test_a_last_cluster_that_is_cut_is_filled_with_zeros() -> None:
    batch = sorted_batch(pattern(CLUSTER + 512))
    assert batch.end_cluster == 2
    assert bytes(batch.plain[1][1]) == pattern(CLUSTER + 512)[CLUSTER:].ljust(CLUSTER, b"\0")


def test_over_a_base_only_differences_remain() -> None:
    same, new, old = pattern(CLUSTER, 1), pattern(CLUSTER, 2), pattern(CLUSTER, 3)
    zeros = bytes(CLUSTER)
    #                    equal  changed  zeroed  zero on both  new over zeros
    batch = sorted_batch(same + new + zeros + zeros + new, same + old + old + zeros + zeros)
    assert [number for number, _ in batch.plain] == [1, 4]
    assert batch.zero == [2]


def test_over_a_base_that_ends_early() -> None:
    disk = pattern(CLUSTER, 1) + pattern(512, 2) + bytes(CLUSTER - 512) + bytes(CLUSTER)
    batch = sorted_batch(disk, pattern(CLUSTER, 1) + pattern(512, 2))
    assert not batch.plain
    assert not batch.zero


def test_over_an_empty_base() -> None:
    batch = sorted_batch(pattern(CLUSTER) + bytes(CLUSTER), b"")
    assert [number for number, _ in batch.plain] == [0]
    assert not batch.zero


def test_a_detached_batch_keeps_its_bytes() -> None:
    buffer = bytearray(pattern(CLUSTER))
    batch = encode_batch(0, 0, CLUSTER, [Piece(0, memoryview(buffer))], CLUSTER, None)
    batch.detach()
    buffer[:] = bytes(CLUSTER)
    assert bytes(batch.plain[0][1]) == pattern(CLUSTER)
