"""Cluster size, entry counts and address arithmetic: the one place with shifts and masks.

Guest offsets are bytes of the virtual disk, host offsets bytes of the image (or data) file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from qcowgui.format import limits
from qcowgui.units import SECTOR_BYTES, ceil_div

COPIED: Final = 1 << 63
"""L1 and L2 entries: the refcount of the thing pointed to is exactly 1. Spec: 1.7"""
COMPRESSED: Final = 1 << 62
"""L2 entries: the rest of the word is a compressed cluster descriptor. Spec: 1.7"""
READS_ZERO: Final = 1
"""Standard L2 entries of version 3: the cluster reads as zeros. Spec: 1.7"""
OFFSET_MASK: Final = 0x00FF_FFFF_FFFF_FE00
"""Bits 9 to 55: the host offset in L1, L2 and bitmap table entries. Spec: 1.7"""
L1_RESERVED_MASK: Final = 0x7F00_0000_0000_01FF
"""Bits of an L1 entry that must be zero. Spec: 1.7"""
L2_RESERVED_MASK: Final = 0x3F00_0000_0000_01FE
"""Bits of a standard L2 entry that must be zero. Spec: 1.7"""
REFCOUNT_OFFSET_MASK: Final = 0xFFFF_FFFF_FFFF_FE00
"""Bits 9 to 63: the host offset in a refcount table entry. Spec: 1.10"""
REFCOUNT_RESERVED_MASK: Final = 0x1FF
"""Bits of a refcount table entry that must be zero. Spec: 1.10"""
BITMAP_RESERVED_MASK: Final = 0xFF00_0000_0000_01FE
"""Bits of a bitmap table entry that must be zero. Spec: 1.12"""
SUBCLUSTERS: Final = 32
"""Subclusters in a cluster with extended L2 entries. Spec: 1.8"""
ENTRY_BYTES: Final = 8
"""Size of an L1, refcount table, bitmap table or standard L2 entry."""


@dataclass(frozen=True, slots=True)
class Geometry:
    """The numbers that follow from cluster_bits, refcount_order and the extended L2 bit.

    Attributes:
        cluster_bits: 9 to 21; the caller has tested the range.
        extended_l2: Whether L2 entries have 16 bytes with a subcluster bitmap.
        refcount_order: 0 to 6; refcounts have `1 << refcount_order` bits.
    """

    cluster_bits: int
    extended_l2: bool = False
    refcount_order: int = 4

    @property
    def cluster_bytes(self) -> int:
        """Bytes in a cluster."""
        return 1 << self.cluster_bits

    @property
    def l2_entry_bytes(self) -> int:
        """Bytes in one L2 entry: 8, or 16 when extended. Spec: 1.8"""
        return ENTRY_BYTES << self.extended_l2

    @property
    def l2_bits(self) -> int:
        """Binary logarithm of `l2_entries`. Spec: 1.7"""
        return self.cluster_bits - (4 if self.extended_l2 else 3)

    @property
    def l2_entries(self) -> int:
        """Entries in one L2 table, which fills one cluster."""
        return 1 << self.l2_bits

    @property
    def l1_coverage_bytes(self) -> int:
        """Guest bytes that one L1 entry maps."""
        return 1 << (self.l2_bits + self.cluster_bits)

    @property
    def subcluster_bytes(self) -> int:
        """Bytes in a subcluster, or in a cluster when entries are not extended. Spec: 1.8"""
        return self.cluster_bytes // SUBCLUSTERS if self.extended_l2 else self.cluster_bytes

    @property
    def refcount_bits(self) -> int:
        """Bits in one refcount."""
        return 1 << self.refcount_order

    @property
    def refcount_max(self) -> int:
        """The largest number a refcount can hold."""
        return (1 << self.refcount_bits) - 1

    @property
    def refcounts_per_block(self) -> int:
        """Refcounts in one refcount block, which fills one cluster. Spec: 1.10"""
        return self.cluster_bytes * 8 >> self.refcount_order

    @property
    def compressed_shift(self) -> int:
        """The first bit of the sector count in a compressed descriptor. Spec: 1.9"""
        return 62 - (self.cluster_bits - 8)

    @property
    def compressed_offset_mask(self) -> int:
        """The host offset's bits in a compressed descriptor. Spec: 1.9"""
        return (1 << self.compressed_shift) - 1

    @property
    def compressed_sectors_mask(self) -> int:
        """The sector count's bits, shifted down, in a compressed descriptor. Spec: 1.9"""
        return (1 << (self.cluster_bits - 8)) - 1

    def l1_index(self, guest_offset: int) -> int:
        """The L1 entry that maps `guest_offset`."""
        return guest_offset >> (self.l2_bits + self.cluster_bits)

    def l2_index(self, guest_offset: int) -> int:
        """The entry, inside its L2 table, that maps `guest_offset`."""
        return (guest_offset >> self.cluster_bits) & (self.l2_entries - 1)

    def guest_offset(self, l1_index: int, l2_index: int = 0) -> int:
        """The first guest byte that an L2 entry maps."""
        return ((l1_index << self.l2_bits) + l2_index) << self.cluster_bits

    def cluster_index(self, offset: int) -> int:
        """The cluster that holds a host or guest offset."""
        return offset >> self.cluster_bits

    def offset_in_cluster(self, offset: int) -> int:
        """The distance of a host or guest offset from the start of its cluster."""
        return offset & (self.cluster_bytes - 1)

    def is_aligned(self, offset: int) -> bool:
        """Whether a host or guest offset is the first byte of a cluster."""
        return not offset & (self.cluster_bytes - 1)

    def clusters(self, size_bytes: int) -> int:
        """How many clusters hold `size_bytes`."""
        return ceil_div(size_bytes, self.cluster_bytes)

    def l1_entries_needed(self, virtual_bytes: int) -> int:
        """How many L1 entries a disk of `virtual_bytes` needs. Spec: 1.5, reason 16"""
        return ceil_div(virtual_bytes, self.l1_coverage_bytes)

    def compressed_descriptor(self, host_offset: int, payload_bytes: int) -> int:
        """The L2 entry of a compressed cluster whose payload lies at `host_offset`. Spec: 1.9"""
        last_sector = (host_offset + payload_bytes - 1) // SECTOR_BYTES
        additional_sectors = last_sector - host_offset // SECTOR_BYTES
        return COMPRESSED | (additional_sectors << self.compressed_shift) | host_offset

    def max_compressed_offset(self) -> int:
        """The last host offset at which a writer may put a payload. Spec: 1.9"""
        return min(1 << self.compressed_shift, 1 << 56) - 1


def cluster_bits_valid(cluster_bits: int) -> bool:
    """Whether `cluster_bits` is inside the bounds. Spec: 1.2"""
    return limits.MIN_CLUSTER_BITS <= cluster_bits <= limits.MAX_CLUSTER_BITS
