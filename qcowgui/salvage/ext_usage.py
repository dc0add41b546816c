"""Which clusters of a disk an ext file system calls used: the shape of the L2 table that maps them.

Block bitmaps say which blocks hold something, and an L2 table which clusters do. For the right part
of the disk the two agree nearly everywhere, for a wrong one hardly ever.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from qcowgui.format.geometry import Geometry
from qcowgui.salvage.guest_hints import Read
from qcowgui.salvage.tables import Flags

_DESCRIPTOR_BYTES: Final = 32
_UNINITIALISED: Final = 2
"""Flag of a group whose block bitmap was never written: nothing in it is used."""
_64BIT: Final = 0x80
_META_BG: Final = 0x10
_BIGALLOC: Final = 0x200
_MAX_BLOCKS_PER_GROUP: Final = 1 << 19


class ExtUsage:
    """The block bitmaps of one ext2, ext3 or ext4 file system, read where they are needed."""

    def __init__(self, superblock: bytes, start: int, read: Read) -> None:
        """A file system that begins at guest offset `start`.

        Args:
            superblock: Its 1024 bytes.
            start: Guest offset of the volume.
            read: Reads guest bytes, fewer than asked for where nothing is known.
        """
        self._superblock = superblock
        self._start = start
        self._read = read
        self._block_bytes = 1024 << self._number(24, 4)
        self._first_block = self._number(20, 4)
        self._per_group = self._number(32, 4)
        wide = bool(self._number(0x60, 4) & _64BIT)
        self._descriptor_bytes = self._number(0xFE, 2) if wide else _DESCRIPTOR_BYTES
        self._blocks = self._number(4, 4) | (self._number(0x150, 4) << 32 if wide else 0)
        self._groups: dict[int, Flags | None] = {}

    def _number(self, offset: int, width: int) -> int:
        return int.from_bytes(self._superblock[offset : offset + width], "little")

    @property
    def readable(self) -> bool:
        """Whether its bitmaps are where this class looks for them."""
        return (
            0 < self._per_group <= _MAX_BLOCKS_PER_GROUP
            and self._per_group % 8 == 0
            and self._per_group <= self._block_bytes * 8
            and self._descriptor_bytes in (32, 64)
            and not self._number(0x60, 4) & _META_BG
            and not self._number(0x64, 4) & _BIGALLOC
        )

    def used_clusters(self, l1_index: int, geometry: Geometry) -> Flags | None:
        """Which guest clusters of an L1 entry's range hold blocks in use; None: not known.

        Only for ranges that begin inside the volume, or just before it.
        """
        coverage, bits = geometry.l1_coverage_bytes, geometry.cluster_bits
        low = l1_index * coverage - self._start
        high = min(low + coverage, self._blocks * self._block_bytes)
        used = np.zeros(geometry.l2_entries, dtype=np.bool_)
        if high <= 0 or low >= high:
            return None
        first = max(self._first_block, max(0, low) // self._block_bytes)
        last = -(-high // self._block_bytes)
        block = first
        while block < last:
            group, inside = divmod(block - self._first_block, self._per_group)
            flags = self._group(group)
            if flags is None:
                return None
            count = min(self._per_group - inside, last - block)
            chosen = block + np.flatnonzero(flags[inside : inside + count])
            starts = chosen * self._block_bytes - low
            # A block may touch several clusters, when they are smaller or differently aligned.
            for step in range(0, self._block_bytes + geometry.cluster_bytes, 1 << bits):
                places = np.minimum(starts + step, starts + self._block_bytes - 1) >> bits
                used[places[(places >= 0) & (places < len(used))]] = True
            block += count
        return used

    def ends_before(self, l1_index: int, geometry: Geometry) -> bool:
        """Whether the volume ends before the range of an L1 entry."""
        end = self._start + self._blocks * self._block_bytes
        return l1_index * geometry.l1_coverage_bytes >= end

    def _group(self, group: int) -> Flags | None:
        """One flag for each block of a group, or None when its bitmap can't be read."""
        if group not in self._groups:
            self._groups[group] = self._load_group(group)
            if self._groups[group] is None:
                # Where it lies may become known later.
                return self._groups.pop(group)
        return self._groups[group]

    def _load_group(self, group: int) -> Flags | None:
        table = self._start + (self._first_block + 1) * self._block_bytes
        size = self._descriptor_bytes
        descriptor = self._read(table + group * size, size)
        if len(descriptor) < size or not any(descriptor):
            return None
        if int.from_bytes(descriptor[18:20], "little") & _UNINITIALISED:
            return np.zeros(self._per_group, dtype=np.bool_)
        block = int.from_bytes(descriptor[:4], "little")
        if size == 64:
            block |= int.from_bytes(descriptor[32:36], "little") << 32
        wanted = self._per_group // 8
        data = self._read(self._start + block * self._block_bytes, wanted)
        if not 0 < block < self._blocks or len(data) < wanted:
            return None
        bits = np.unpackbits(np.frombuffer(data, dtype=np.uint8), bitorder="little")
        return np.asarray(bits != 0)
