"""One table entry at a time: a raw word, kept apart from what it means.

For a person who looks at one entry (dump, inspector). Whole tables are decoded by `tables`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from qcowgui.format import geometry
from qcowgui.format.geometry import COMPRESSED, COPIED, OFFSET_MASK, READS_ZERO, Geometry
from qcowgui.units import SECTOR_BYTES


class ClusterKind(IntEnum):
    """What an L2 entry says of its guest cluster; the values are those in `tables` arrays."""

    UNALLOCATED = 0
    """Reads from the backing file, or as zeros. Spec: 1.7"""
    ZERO_PLAIN = 1
    """Reads as zeros, no host cluster. Spec: 1.7"""
    ZERO_ALLOC = 2
    """Reads as zeros, with a host cluster kept for later. Spec: 1.7"""
    NORMAL = 3
    """A host cluster holds the data. Spec: 1.7"""
    COMPRESSED = 4
    """A compressed payload holds the data. Spec: 1.9"""
    MIXED = 5
    """Extended L2: the subclusters differ. Spec: 1.8"""
    INVALID = 6
    """The entry contradicts the format; reading it is an error. Spec: 1.7, 2.3"""
    MISSING = 7
    """The entry itself can't be read: its L2 table lies (partly) beyond the file or unaligned."""


class SubclusterKind(IntEnum):
    """What the bitmap of an extended L2 entry says of one subcluster. Spec: 1.8"""

    UNALLOCATED = 0
    ZERO = 1
    NORMAL = 2
    INVALID = 3


@dataclass(frozen=True, slots=True)
class L1Entry:
    """An L1 entry. Spec: 1.7"""

    word: int

    @property
    def l2_table_offset(self) -> int:
        """Host offset of the L2 table; 0 means that none exists."""
        return self.word & OFFSET_MASK

    @property
    def copied(self) -> bool:
        """Whether the L2 table's refcount is said to be exactly one."""
        return bool(self.word & COPIED)

    @property
    def reserved(self) -> int:
        """The reserved bits that are set."""
        return self.word & geometry.L1_RESERVED_MASK


@dataclass(frozen=True, slots=True)
class CompressedDescriptor:
    """Where a compressed payload lies. Spec: 1.9

    Attributes:
        host_offset: First byte, at any alignment.
        sectors: 512-byte sectors touched, the first one included.
    """

    host_offset: int
    sectors: int

    @property
    def max_payload_bytes(self) -> int:
        """Upper bound of the payload's length; it may end sooner."""
        return self.sectors * SECTOR_BYTES - (self.host_offset & (SECTOR_BYTES - 1))

    @property
    def end(self) -> int:
        """Host offset (exclusive) of the last byte that the payload may have."""
        return self.host_offset + self.max_payload_bytes


@dataclass(frozen=True, slots=True)
class L2Entry:
    """An L2 entry, standard, extended or compressed. Spec: 1.7 to 1.9

    Attributes:
        word: The first 64 bits.
        bitmap: The subcluster bitmap of an extended entry, else 0.
        geometry: The image's geometry; it decides how the word splits.
    """

    word: int
    bitmap: int
    geometry: Geometry

    @property
    def is_compressed(self) -> bool:
        """Whether the word is a compressed cluster descriptor."""
        return bool(self.word & COMPRESSED)

    @property
    def copied(self) -> bool:
        """Whether the host cluster's refcount is said to be exactly one."""
        return bool(self.word & COPIED)

    @property
    def reads_zero(self) -> bool:
        """The zero flag; it has a meaning in standard entries of version 3 only."""
        return bool(self.word & READS_ZERO) and not self.is_compressed

    @property
    def host_offset(self) -> int:
        """Host offset of the cluster or the payload; 0 means that there is none."""
        if self.is_compressed:
            return self.word & self.geometry.compressed_offset_mask
        return self.word & OFFSET_MASK

    @property
    def reserved(self) -> int:
        """The reserved bits of a standard entry that are set; 0 for a compressed one."""
        return 0 if self.is_compressed else self.word & geometry.L2_RESERVED_MASK

    @property
    def compressed(self) -> CompressedDescriptor:
        """The word as a compressed cluster descriptor, whatever bit 62 says."""
        sectors = (
            self.word >> self.geometry.compressed_shift
        ) & self.geometry.compressed_sectors_mask
        return CompressedDescriptor(
            self.word & self.geometry.compressed_offset_mask,
            sectors + 1,
        )

    def subclusters(self) -> list[SubclusterKind]:
        """What each of the 32 subclusters of an extended, not compressed entry is. Spec: 1.8"""
        kinds = []
        for index in range(geometry.SUBCLUSTERS):
            allocated = self.bitmap >> index & 1
            zero = self.bitmap >> (index + geometry.SUBCLUSTERS) & 1
            if allocated and (zero or not self.host_offset):
                kinds.append(SubclusterKind.INVALID)
            elif allocated:
                kinds.append(SubclusterKind.NORMAL)
            else:
                kinds.append(SubclusterKind.ZERO if zero else SubclusterKind.UNALLOCATED)
        return kinds
