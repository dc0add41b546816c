"""Whole L1 and L2 tables against a classification written entry by entry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.format.entries import ClusterKind, L2Entry
from qcowgui.format.geometry import Geometry
from qcowgui.format.tables import L2View, Words, decode_l2, l2_table_offsets, parse_words

G16 = Geometry(16)
X16 = Geometry(16, extended_l2=True)
COPIED = 1 << 63
COMPRESSED = 1 << 62


def words(*values: int) -> Words:
    return np.array(values, dtype=np.uint64)


def kinds(view: L2View) -> list[ClusterKind]:
    return [ClusterKind(kind) for kind in view.kinds.tolist()]


def test_parse_words_drops_an_incomplete_one() -> None:
    data = bytes.fromhex("0000000000000001 8000000000000002 ffff")
    assert parse_words(data).tolist() == [1, 0x8000_0000_0000_0002]
    assert parse_words(memoryview(data)).dtype == np.uint64
    assert parse_words(bytearray(b"\0" * 7)).tolist() == []


def test_l2_table_offsets() -> None:
    offsets = l2_table_offsets(words(0xFFFF_FFFF_FFFF_FFFF, 0x8000_0000_0004_0000, 0))
    assert offsets.tolist() == [0x00FF_FFFF_FFFF_FE00, 0x40000, 0]
    assert offsets.dtype == np.int64


@pytest.mark.parametrize(
    ("word", "kind", "kind_v2"),
    [
        (0, ClusterKind.UNALLOCATED, ClusterKind.UNALLOCATED),
        (1, ClusterKind.ZERO_PLAIN, ClusterKind.INVALID),
        (0x50000 | 1, ClusterKind.ZERO_ALLOC, ClusterKind.INVALID),
        (COPIED | 0x50000 | 1, ClusterKind.ZERO_ALLOC, ClusterKind.INVALID),
        (COPIED | 1, ClusterKind.ZERO_PLAIN, ClusterKind.INVALID),
        (COPIED | 0x50000, ClusterKind.NORMAL, ClusterKind.NORMAL),
        (0x50000, ClusterKind.NORMAL, ClusterKind.NORMAL),
        (0x50200, ClusterKind.INVALID, ClusterKind.INVALID),
        (0x50200 | 1, ClusterKind.INVALID, ClusterKind.INVALID),
        # Data at offset 0 would be the header (BL-O47).
        (COPIED, ClusterKind.INVALID, ClusterKind.INVALID),
        # Reserved bits do not stop a read.
        (0x50000 | 1 << 57 | 1 << 3, ClusterKind.NORMAL, ClusterKind.NORMAL),
        (COMPRESSED | 0x50201, ClusterKind.COMPRESSED, ClusterKind.COMPRESSED),
        (COMPRESSED | COPIED | 0x50201, ClusterKind.COMPRESSED, ClusterKind.COMPRESSED),
    ],
)
def test_standard_entries(word: int, kind: ClusterKind, kind_v2: ClusterKind) -> None:
    assert kinds(decode_l2(words(word), None, G16, version=3)) == [kind]
    assert kinds(decode_l2(words(word), None, G16, version=2)) == [kind_v2]


@pytest.mark.parametrize(
    ("word", "index", "kind"),
    [
        (COPIED, 0, ClusterKind.NORMAL),
        (COPIED, 1, ClusterKind.INVALID),
        (0, 0, ClusterKind.UNALLOCATED),
        (COPIED | 0x30000, 3, ClusterKind.NORMAL),
        (COPIED | 0x30000, 2, ClusterKind.INVALID),
        (0x30000 | 1, 3, ClusterKind.ZERO_ALLOC),
        (1, 3, ClusterKind.ZERO_PLAIN),
        (COPIED | 1, 3, ClusterKind.ZERO_PLAIN),
        (COMPRESSED | 0x30000, 3, ClusterKind.INVALID),
    ],
)
def test_entries_with_a_data_file(word: int, index: int, kind: ClusterKind) -> None:
    """Guest data lies at its own guest offset, which may be 0."""
    view = decode_l2(words(word), None, G16, version=3, data_file_guest_offset=index << 16)
    assert kinds(view) == [kind]


ALL = (1 << 32) - 1


@pytest.mark.parametrize(
    ("word", "bitmap", "kind"),
    [
        (0, 0, ClusterKind.UNALLOCATED),
        (COPIED, 0, ClusterKind.UNALLOCATED),
        (0x50000, 0, ClusterKind.UNALLOCATED),
        (0, ALL << 32, ClusterKind.ZERO_PLAIN),
        (0x50000, ALL << 32, ClusterKind.ZERO_ALLOC),
        (0x50000, ALL, ClusterKind.NORMAL),
        # Bit 0 has no meaning in an extended entry.
        (0x50001, ALL, ClusterKind.NORMAL),
        (0x50000, 1, ClusterKind.MIXED),
        (0, 1 << 32, ClusterKind.MIXED),
        (0x50000, 1 | 1 << 32, ClusterKind.INVALID),
        (0, 1, ClusterKind.INVALID),
        (COPIED, 1, ClusterKind.INVALID),
        (0x50200, ALL, ClusterKind.INVALID),
        (COMPRESSED | 0x50201, 0, ClusterKind.COMPRESSED),
    ],
)
def test_extended_entries(word: int, bitmap: int, kind: ClusterKind) -> None:
    view = decode_l2(words(word), words(bitmap), X16, version=3)
    assert kinds(view) == [kind]
    assert view.bitmaps is not None


def test_extended_entries_with_a_data_file() -> None:
    view = decode_l2(
        words(COPIED, COPIED), words(ALL, ALL), X16, version=3, data_file_guest_offset=0
    )
    assert kinds(view) == [ClusterKind.NORMAL, ClusterKind.INVALID]


@given(
    st.integers(9, 21),
    st.lists(st.integers(0, 2**64 - 1).map(lambda word: word | COMPRESSED), max_size=40),
    st.booleans(),
)
def test_payload_places_are_those_of_single_entries(
    cluster_bits: int, values: list[int], with_others: bool
) -> None:
    geometry = Geometry(cluster_bits)
    if with_others:
        values = [word for value in values for word in (value, 0)]
    view = decode_l2(words(*values), None, geometry, version=3)
    assert len(view) == len(values)
    for index, value in enumerate(values):
        if not value:
            assert (view.host_offsets[index], view.payload_bytes[index]) == (0, 0)
            continue
        descriptor = L2Entry(value, 0, geometry).compressed
        assert view.host_offsets[index] == descriptor.host_offset
        assert view.payload_bytes[index] == descriptor.max_payload_bytes
