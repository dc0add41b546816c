"""Single table entries, bit by bit."""

from __future__ import annotations

import pytest

from qcowgui.format.entries import CompressedDescriptor, L1Entry, L2Entry, SubclusterKind
from qcowgui.format.geometry import Geometry

G16 = Geometry(16)


def test_l1_entry() -> None:
    entry = L1Entry(0x8000_0000_0004_0000)
    assert (entry.l2_table_offset, entry.copied, entry.reserved) == (0x40000, True, 0)
    assert L1Entry(0x00FF_FFFF_FFFF_FE00).l2_table_offset == 0x00FF_FFFF_FFFF_FE00


@pytest.mark.parametrize("bit", range(64))
def test_each_bit_of_an_l1_entry(bit: int) -> None:
    entry = L1Entry(1 << bit)
    assert entry.copied == (bit == 63)
    assert bool(entry.l2_table_offset) == (9 <= bit <= 55)
    assert entry.reserved == (1 << bit if bit < 9 or 56 <= bit < 63 else 0)


@pytest.mark.parametrize("bit", [bit for bit in range(64) if bit != 62])
def test_each_bit_of_a_standard_l2_entry(bit: int) -> None:
    entry = L2Entry(1 << bit, 0, G16)
    assert not entry.is_compressed
    assert entry.copied == (bit == 63)
    assert entry.reads_zero == (bit == 0)
    assert bool(entry.host_offset) == (9 <= bit <= 55)
    assert entry.reserved == (1 << bit if 1 <= bit < 9 or 56 <= bit < 62 else 0)


@pytest.mark.parametrize(
    ("cluster_bits", "shift"), [(9, 61), (12, 58), (14, 56), (16, 54), (21, 49)]
)
def test_compressed_entry(cluster_bits: int, shift: int) -> None:
    entry = L2Entry(1 << 62 | 1 << shift | 0x1_2345, 0, Geometry(cluster_bits))
    assert entry.is_compressed
    assert entry.host_offset == 0x1_2345
    # Bit 0 belongs to the address, and there are no reserved bits.
    assert not entry.reads_zero
    assert entry.reserved == 0
    assert entry.compressed == CompressedDescriptor(0x1_2345, 2)


def test_length_of_a_payload() -> None:
    descriptor = CompressedDescriptor(0x1_2345, 2)
    assert descriptor.max_payload_bytes == 2 * 512 - 0x145
    assert descriptor.end == 0x1_2600
    assert CompressedDescriptor(512, 1).max_payload_bytes == 512


def test_longest_payload_touches_two_clusters_of_sectors() -> None:
    word = 1 << 62 | ((1 << 61) - 1) & ~((1 << 54) - 1) | 1 << 61
    assert L2Entry(word, 0, G16).compressed.sectors == 256


def test_subclusters() -> None:
    geometry = Geometry(16, extended_l2=True)
    bitmap = 1 << 0 | 1 << 1 | 1 << (32 + 1) | 1 << (32 + 31)
    kinds = L2Entry(0x50000, bitmap, geometry).subclusters()
    assert len(kinds) == 32
    assert kinds[0] is SubclusterKind.NORMAL
    assert kinds[1] is SubclusterKind.INVALID
    assert kinds[2] is SubclusterKind.UNALLOCATED
    assert kinds[31] is SubclusterKind.ZERO


def test_subclusters_without_a_host_cluster() -> None:
    kinds = L2Entry(0, 1 | 2 << 32, Geometry(16, extended_l2=True)).subclusters()
    assert kinds[:3] == [SubclusterKind.INVALID, SubclusterKind.ZERO, SubclusterKind.UNALLOCATED]
