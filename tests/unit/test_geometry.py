"""Address arithmetic against literals and an independent formula."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.format import geometry as geo
from qcowgui.format import limits
from qcowgui.format.geometry import Geometry, cluster_bits_valid

geometries = st.builds(Geometry, st.integers(9, 21), st.booleans(), st.integers(0, 6)).filter(
    lambda found: not found.extended_l2 or found.cluster_bits >= 14
)


def test_masks_are_the_specifications() -> None:
    masks = {
        geo.COPIED: [63],
        geo.COMPRESSED: [62],
        geo.READS_ZERO: [0],
        geo.OFFSET_MASK: range(9, 56),
        geo.L1_RESERVED_MASK: [*range(9), *range(56, 63)],
        geo.L2_RESERVED_MASK: [*range(1, 9), *range(56, 62)],
        geo.REFCOUNT_OFFSET_MASK: range(9, 64),
        geo.REFCOUNT_RESERVED_MASK: range(9),
        geo.BITMAP_RESERVED_MASK: [*range(1, 9), *range(56, 64)],
    }
    for mask, bits in masks.items():
        assert mask == sum(1 << bit for bit in bits), hex(mask)
    assert (geo.SUBCLUSTERS, geo.ENTRY_BYTES) == (32, 8)


@pytest.mark.parametrize(
    ("cluster_bits", "shift"),
    [
        (9, 61),
        (10, 60),
        (11, 59),
        (12, 58),
        (13, 57),
        (14, 56),
        (15, 55),
        (16, 54),
        (17, 53),
        (18, 52),
        (19, 51),
        (20, 50),
        (21, 49),
    ],
)
def test_compressed_split(cluster_bits: int, shift: int) -> None:
    geometry = Geometry(cluster_bits)
    assert geometry.compressed_shift == shift
    assert geometry.compressed_offset_mask == 2**shift - 1
    # The two parts and the two flags fill the word.
    assert geometry.compressed_sectors_mask << shift | geometry.compressed_offset_mask == 2**62 - 1
    assert geometry.max_compressed_offset() == min(2**shift, 2**56) - 1


@pytest.mark.parametrize(
    ("cluster_bits", "extended", "entries", "coverage", "max_size"),
    [
        (9, False, 64, 32 << 10, 128 << 30),
        (12, False, 512, 2 << 20, 8 << 40),
        (16, False, 8192, 512 << 20, 2 << 50),
        (21, False, 262_144, 512 << 30, 2 << 60),
        (14, True, 1024, 16 << 20, 64 << 40),
        (16, True, 4096, 256 << 20, 1 << 50),
        (21, True, 131_072, 256 << 30, 1 << 60),
    ],
)
def test_coverage(
    cluster_bits: int, extended: bool, entries: int, coverage: int, max_size: int
) -> None:
    geometry = Geometry(cluster_bits, extended)
    assert geometry.l2_entries == entries
    assert geometry.l1_coverage_bytes == coverage
    assert geometry.l1_coverage_bytes * (limits.MAX_L1_BYTES // 8) == max_size
    assert geometry.l2_entry_bytes == (16 if extended else 8)
    assert geometry.l2_entries * geometry.l2_entry_bytes == geometry.cluster_bytes
    assert geometry.subcluster_bytes == geometry.cluster_bytes // (32 if extended else 1)


@pytest.mark.parametrize(
    ("order", "bits", "maximum", "per_block"),
    [
        (0, 1, 1, 524_288),
        (1, 2, 3, 262_144),
        (2, 4, 15, 131_072),
        (3, 8, 255, 65_536),
        (4, 16, 65_535, 32_768),
        (5, 32, 4_294_967_295, 16_384),
        (6, 64, 18_446_744_073_709_551_615, 8_192),
    ],
)
def test_refcount_widths(order: int, bits: int, maximum: int, per_block: int) -> None:
    geometry = Geometry(16, refcount_order=order)
    assert geometry.refcount_bits == bits
    assert geometry.refcount_max == maximum
    assert geometry.refcounts_per_block == per_block


@given(geometries, st.integers(0, 2**63 - 1))
def test_guest_addresses_come_back(geometry: Geometry, guest: int) -> None:
    l1, l2 = geometry.l1_index(guest), geometry.l2_index(guest)
    assert 0 <= l2 < geometry.l2_entries
    assert geometry.guest_offset(l1, l2) + geometry.offset_in_cluster(guest) == guest
    assert geometry.cluster_index(guest) == guest // geometry.cluster_bytes
    assert geometry.is_aligned(guest) == (guest % geometry.cluster_bytes == 0)


@given(geometries, st.integers(0, 2**40), st.data())
def test_compressed_descriptor(geometry: Geometry, host_offset: int, data: st.DataObject) -> None:
    payload_bytes = data.draw(st.integers(1, geometry.cluster_bytes))
    word = geometry.compressed_descriptor(host_offset, payload_bytes)
    assert word >> 62 == 1
    assert word & geometry.compressed_offset_mask == host_offset
    sectors = (word >> geometry.compressed_shift & geometry.compressed_sectors_mask) + 1
    # Exactly the sectors that the payload touches.
    assert sectors == (host_offset + payload_bytes - 1) // 512 - host_offset // 512 + 1


def test_counts_of_clusters_and_l1_entries() -> None:
    geometry = Geometry(16)
    assert geometry.clusters(0) == 0
    assert geometry.clusters(65_537) == 2
    assert geometry.l1_entries_needed(0) == 0
    assert geometry.l1_entries_needed(512 << 20) == 1
    assert geometry.l1_entries_needed((512 << 20) + 1) == 2


@pytest.mark.parametrize(
    ("cluster_bits", "valid"),
    [(0, False), (8, False), (9, True), (21, True), (22, False), (63, False), (2**32 - 1, False)],
)
def test_cluster_bits_valid(cluster_bits: int, valid: bool) -> None:
    assert cluster_bits_valid(cluster_bits) == valid
