"""Records of the snapshot table and the bitmap directory."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.support.guest import GuestDisk

NO_ICOUNT = (1 << 64) - 1
BITMAP_ALL_ONES = 1
BITMAP_DIRTY_TRACKING = 1

_SNAPSHOT = struct.Struct(">QIHHIIQII")
_BITMAP = struct.Struct(">QIIBBHI")


def padded(data: bytes, multiple: int = 8) -> bytes:
    """Return `data` with zeros up to the next multiple."""
    return data + bytes(-len(data) % multiple)


@dataclass(frozen=True)
class Snapshot:
    """An internal snapshot; `disk` holds its VM state too, after the disk's own clusters.

    Attributes:
        l1_entries: The size of its L1 table.
        vm_state_field: The value of the 32-bit VM state size.
        extra: The extra data as stored.
        date_nanoseconds: Seconds are in `date_seconds`; both since 1970 in UTC.
    """

    name: str
    id: str
    disk: GuestDisk
    l1_entries: int
    date_seconds: int
    date_nanoseconds: int
    vm_clock_nanoseconds: int
    vm_state_field: int
    extra: bytes

    def encode(self, l1_table_offset: int) -> bytes:
        """Return the table entry, padded to 8 bytes."""
        name, identifier = self.name.encode(), self.id.encode()
        fixed = _SNAPSHOT.pack(
            l1_table_offset,
            self.l1_entries,
            len(identifier),
            len(name),
            self.date_seconds,
            self.date_nanoseconds,
            self.vm_clock_nanoseconds,
            self.vm_state_field,
            len(self.extra),
        )
        return padded(fixed + self.extra + identifier + name)


def snapshot_extra(version: int, vm_state_bytes: int, disk_bytes: int, icount: int | None) -> bytes:
    """Return the extra data that QEMU would store: none in version 2, 24 bytes in version 3."""
    if version < 3:
        return b""
    return struct.pack(">QQQ", vm_state_bytes, disk_bytes, NO_ICOUNT if icount is None else icount)


@dataclass(frozen=True)
class Bitmap:
    """A persistent dirty bitmap.

    Attributes:
        table: Per table entry the cluster to store, or the word of an entry without a cluster.
        type: 1 is the only one that the format defines.
    """

    name: str
    granularity_bits: int
    flags: int
    type: int
    extra: bytes
    table: Sequence[bytes | int]

    def encode(self, table_offset: int) -> bytes:
        """Return the directory entry, padded to 8 bytes."""
        name = self.name.encode()
        fixed = _BITMAP.pack(
            table_offset,
            len(self.table),
            self.flags,
            self.type,
            self.granularity_bits,
            len(name),
            len(self.extra),
        )
        return padded(fixed + self.extra + name)


def bitmap_table(
    *,
    disk_bytes: int,
    granularity_bits: int,
    cluster_bytes: int,
    set_ranges: Iterable[tuple[int, int]],
    store_uniform: bool,
) -> list[bytes | int]:
    """Return the serialised bitmap, one item a cluster of it.

    Args:
        disk_bytes: The virtual size that the bitmap covers.
        granularity_bits: Binary logarithm of the guest bytes that a bit stands for.
        cluster_bytes: The image's cluster size.
        set_ranges: Guest ranges (offset, length); each bit that one touches is set.
        store_uniform: Also give a cluster to parts that are all ones or all zeros.
    """
    total_bits = disk_bytes + (1 << granularity_bits) - 1 >> granularity_bits
    cluster_bits = cluster_bytes * 8
    masks = [0] * max(1, -(-total_bits // cluster_bits))
    for offset, length in set_ranges:
        first = offset >> granularity_bits
        stop = min(total_bits, (offset + length - 1 >> granularity_bits) + 1)
        for index in range(first // cluster_bits, -(-stop // cluster_bits)):
            low = max(0, first - index * cluster_bits)
            high = min(cluster_bits, stop - index * cluster_bits)
            masks[index] |= (1 << high) - (1 << low)
    table: list[bytes | int] = []
    for index, mask in enumerate(masks):
        used_bits = min(cluster_bits, total_bits - index * cluster_bits)
        if not store_uniform and mask == 0:
            table.append(0)
        elif not store_uniform and mask == (1 << used_bits) - 1:
            table.append(BITMAP_ALL_ONES)
        else:
            table.append(mask.to_bytes(cluster_bytes, "little"))
    return table
