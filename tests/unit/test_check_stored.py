from __future__ import annotations

import numpy as np
import pytest

from qcowgui.check.reference_counts import PART_CLUSTERS
from qcowgui.check.stored import NarrowRefcounts, StoredPiece, StoredRefcounts
from qcowgui.image.inspect import inspect_source
from qcowgui.image.source import BytesSource
from tests.support.base_images import b0, pattern, rich
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.damage import (
    get_refcount,
    set_field,
    set_integer,
    set_refcount,
    truncate_at,
)
from tests.support.options import MIB


def stored_of(image: BuiltImage) -> StoredRefcounts:
    source = BytesSource(image.to_bytes())
    return StoredRefcounts(source, inspect_source(source))


def flat(pieces: list[StoredPiece]) -> list[int]:
    counts: list[int] = []
    for piece in pieces:
        assert piece.first == len(counts)
        here = [0] * (piece.last - piece.first) if piece.counts is None else piece.counts.tolist()
        assert len(here) == piece.last - piece.first
        counts += here
    return counts


def set_table_entry(image: BuiltImage, index: int, word: int) -> BuiltImage:
    return set_integer(image, image.layout.refcount_table.offset + 8 * index, 8, word)


@pytest.mark.parametrize("order", range(7))
def test_every_width(order: int) -> None:
    builder = ImageBuilder(size=MIB, cluster_bits=9, refcount_order=order)
    for index in range(0, 300, 2):
        builder.write(index * 512, pattern(512, index))
        builder.gap(1)
    image = builder.build()
    for cluster in range(9, 40, 3):
        wanted = (1 << (1 << order)) - 1 - cluster
        if 0 < wanted != get_refcount(image, cluster):
            image = set_refcount(image, cluster, wanted)
    stored = stored_of(image)
    clusters = len(image.file) // 512
    expected = [get_refcount(image, cluster) for cluster in range(clusters)]
    assert len(image.layout.refcount_blocks) > 1 or order < 4
    assert flat(list(stored.iter_pieces(clusters))) == expected
    counts, readable = stored.at_each(np.arange(clusters))
    assert counts.tolist() == expected
    assert readable.all()
    narrow = NarrowRefcounts(stored, clusters)
    assert narrow.counts.tolist() == [min(count, 65535) for count in expected]
    assert narrow.unreadable is None
    assert [stored.at(cluster) for cluster in (0, 9, 12)] == [expected[0], *expected[9:13:3]]


def test_pieces_are_bounded() -> None:
    image = b0(refcount_order=0, size=MIB)
    pieces = list(stored_of(image).iter_pieces(3 * PART_CLUSTERS + 5))
    assert [piece.last - piece.first for piece in pieces] == [*3 * [PART_CLUSTERS], 5]
    assert sum(flat(pieces)) == 6


def test_clusters_that_no_block_covers_have_none() -> None:
    stored = stored_of(b0(size=MIB))
    *_, last = stored.iter_pieces(40_000)
    assert last == StoredPiece(32_768, 40_000, None)
    assert stored.at(40_000) == 0
    assert stored.at(1 << 50) == 0


def test_a_missing_block_between_others() -> None:
    image = set_table_entry(rich(), 2, rich().layout.refcount_blocks[0].offset)
    pieces = list(stored_of(image).iter_pieces(3 * 2048))
    assert [piece.counts is None for piece in pieces] == [False, True, False]
    assert flat(pieces)[:31] == flat(pieces)[4096 : 4096 + 31]


def test_only_blocks_with_counts_are_iterated() -> None:
    image = set_table_entry(rich(), 2, rich().layout.refcount_blocks[0].offset)
    assert [first for first, _ in stored_of(image).iter_blocks(9000)] == [0, 4096]


@pytest.mark.parametrize("word", [0x2200, 0x8000_0000_0000_2000, 0xFFFF_FFFF_FFFF_F000])
def test_what_qemu_cannot_read_is_unreadable(word: int) -> None:
    stored = stored_of(set_table_entry(rich(), 0, word))
    assert list(stored.iter_pieces(31)) == [StoredPiece(0, 31, None, readable=False)]
    assert stored.at(3) is None
    assert stored.at(2048) == 0
    narrow = NarrowRefcounts(stored, 31)
    assert narrow.unreadable is not None
    assert narrow.unreadable.all()
    counts, readable = narrow.of(np.array([3, 40, 2048]))
    assert counts.tolist() == [0, 0, 0]
    assert readable is not None
    assert readable.tolist() == [False, False, True]
    _, near = narrow.of(np.array([3]))
    assert near is not None
    assert not near.any()


def test_a_block_behind_the_end_is_all_zeros() -> None:
    stored = stored_of(set_table_entry(rich(), 0, 1 << 40))
    assert flat(list(stored.iter_pieces(31))) == [0] * 31
    assert stored.at(3) == 0


def test_a_cut_block_goes_on_with_zeros() -> None:
    image = rich()
    cut = truncate_at(image, image.layout.refcount_blocks[0].offset + 11)
    expected = [get_refcount(image, cluster) for cluster in range(6)]
    # The sixth has only its upper byte, which is zero.
    assert flat(list(stored_of(cut).iter_pieces(8))) == [*expected[:5], 0, 0, 0]


def test_reserved_bits_do_not_hide_the_block() -> None:
    stored = stored_of(set_table_entry(rich(), 0, rich().layout.refcount_blocks[0].offset | 0x81))
    assert stored.reserved_entries.tolist()[:2] == [True, False]
    assert stored.at(0) == 1


def test_counts_far_outside_come_from_their_block() -> None:
    image = set_refcount(b0(size=MIB), 30_000, 7)
    narrow = NarrowRefcounts(stored_of(image), 6)
    counts, readable = narrow.of(np.array([0, 30_000, 1 << 45]))
    assert counts.tolist() == [1, 7, 0]
    assert readable is None or readable.all()


@pytest.mark.parametrize(
    ("field", "value"),
    [("refcount_table_offset", 0x1001), ("refcount_table_clusters", 0x20001)],
)
def test_a_table_that_qemu_refuses_is_not_used(field: str, value: int) -> None:
    stored = stored_of(set_field(rich(), field, value))
    assert not stored.usable
    assert list(stored.iter_pieces(9)) == [StoredPiece(0, 9, None, readable=False)]
    assert stored.at(0) is None
    assert not NarrowRefcounts(stored, 9).counts.any()


def test_no_table_counts_nothing() -> None:
    stored = stored_of(set_field(rich(), "refcount_table_clusters", 0))
    assert stored.usable
    assert list(stored.iter_pieces(31)) == [StoredPiece(0, 31, None)]


def test_without_geometry_there_are_no_refcounts() -> None:
    with pytest.raises(ValueError, match="geometry"):
        stored_of(set_field(rich(), "refcount_order", 7))
