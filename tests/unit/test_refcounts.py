"""Refcount blocks of all widths, and the size of refcount structures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.format import refcounts
from qcowgui.format.tables import parse_words

BLOCK = bytes(range(1, 17))


def read_entry(block: bytes, order: int, index: int) -> int:
    """One refcount as the specification's table reads it."""
    if order == 0:
        return block[index >> 3] >> (index & 7) & 1
    if order == 1:
        return block[index >> 2] >> 2 * (index & 3) & 3
    if order == 2:
        return block[index >> 1] >> 4 * (index & 1) & 15
    width = 1 << order - 3
    return int.from_bytes(block[index * width : (index + 1) * width], "big")


@pytest.mark.parametrize("order", range(7))
@given(block=st.binary(min_size=8, max_size=64).map(lambda data: data[: len(data) & ~7]))
def test_unpack_reads_as_the_specification_does(order: int, block: bytes) -> None:
    counts = refcounts.unpack_refcounts(block, order)
    assert counts.dtype == np.uint64
    entries = len(block) * 8 >> order
    assert counts.tolist() == [read_entry(block, order, index) for index in range(entries)]
    assert refcounts.pack_refcounts(counts, order) == block


def test_literals() -> None:
    assert refcounts.unpack_refcounts(b"\x01\x80", 0).tolist() == [1] + [0] * 14 + [1]
    assert refcounts.unpack_refcounts(b"\xe4", 1).tolist() == [0, 1, 2, 3]
    assert refcounts.unpack_refcounts(b"\x21", 2).tolist() == [1, 2]
    assert refcounts.unpack_refcounts(b"\x07", 3).tolist() == [7]
    assert refcounts.unpack_refcounts(b"\x01\x02", 4).tolist() == [0x0102]
    assert refcounts.unpack_refcounts(b"\1\2\3\4", 5).tolist() == [0x0102_0304]
    assert refcounts.unpack_refcounts(b"\xff" * 8, 6).tolist() == [2**64 - 1]


@pytest.mark.parametrize(("order", "entries"), [(3, 13), (4, 6), (5, 3), (6, 1)])
def test_a_cut_block_drops_the_incomplete_entry(order: int, entries: int) -> None:
    assert len(refcounts.unpack_refcounts(BLOCK[:13], order)) == entries


@pytest.mark.parametrize("order", range(7))
def test_nothing_packs_to_nothing(order: int) -> None:
    counts = refcounts.unpack_refcounts(b"", order)
    assert len(counts) == 0
    assert refcounts.pack_refcounts(counts, order) == b""


def test_block_offsets_have_no_upper_bound_of_bits() -> None:
    words = parse_words(bytes.fromhex("ffffffffffff0001 00000000000201ff"))
    assert refcounts.refcount_block_offsets(words).tolist() == [0xFFFF_FFFF_FFFF_0000, 0x20000]


@given(st.integers(0, 1 << 24), st.integers(9, 21), st.integers(0, 6))
def test_refcount_structures_count_themselves(
    other_clusters: int, cluster_bits: int, order: int
) -> None:
    blocks, table = refcounts.refcount_metadata_clusters(other_clusters, cluster_bits, order)
    per_block = (8 << cluster_bits) >> order
    assert blocks * per_block >= other_clusters + blocks + table
    assert table * (1 << cluster_bits) // 8 >= blocks
    assert table >= 1
    # One block less would not cover the rest.
    assert (blocks - 1) * per_block < other_clusters + blocks + table


def test_refcount_structures_of_a_small_image() -> None:
    assert refcounts.refcount_metadata_clusters(0, 16, 4) == (1, 1)
    # 254 others, the table and one block are what 512-byte blocks of 256 entries hold.
    assert refcounts.refcount_metadata_clusters(254, 9, 4) == (1, 1)
    assert refcounts.refcount_metadata_clusters(255, 9, 4) == (2, 1)
