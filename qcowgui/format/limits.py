"""Every bound on a number that a file gives, and where the bound comes from.

"spec" bounds follow from the format; "QEMU" bounds are the ones QEMU enforces; "ours" protect this
program where neither says anything. Nothing is allocated or walked before its bound was tested.
"""

from __future__ import annotations

from typing import Final

from qcowgui.units import KIB, MIB

MIN_CLUSTER_BITS: Final = 9
"""spec: 512-byte clusters are the smallest."""
MAX_CLUSTER_BITS: Final = 21
"""QEMU: 2 MiB clusters are the largest (the spec names no upper bound)."""
MIN_EXTENDED_L2_CLUSTER_BITS: Final = 14
"""QEMU: 32 subclusters of at least 512 bytes."""
MAX_REFCOUNT_ORDER: Final = 6
"""spec: refcounts have at most 64 bits."""

V2_HEADER_BYTES: Final = 72
"""spec: the length of a version 2 header."""
V2_REFCOUNT_ORDER: Final = 4
"""spec: version 2 has refcounts of 16 bits."""
V3_MIN_HEADER_BYTES: Final = 104
"""spec: the least header_length of a version 3 image."""
KNOWN_HEADER_BYTES: Final = 112
"""spec: the end of the fields known today, compression_type and its padding included."""

MAX_BACKING_NAME_BYTES: Final = 1023
"""spec: backing_file_size must not exceed this."""
MAX_BACKING_FORMAT_BYTES: Final = 15
"""QEMU: longer backing format names are refused."""
MAX_EXTENSIONS: Final = 4096
"""ours: 2 MiB clusters have room for 262,144 empty extensions; nobody writes that many."""
FEATURE_NAME_ENTRY_BYTES: Final = 48
"""spec: size of one entry of the feature name table."""

MAX_L1_BYTES: Final = 32 * MIB
"""QEMU: 4,194,304 entries."""
MAX_REFCOUNT_TABLE_BYTES: Final = 8 * MIB
"""QEMU: 1,048,576 entries."""
MAX_OFFSET: Final = (1 << 63) - 1
"""QEMU: file offsets are signed 64-bit numbers."""
MAX_L1_ENTRIES: Final = (1 << 31) - 1
"""QEMU: the number of L1 entries that a virtual size needs must fit in a C int."""

MAX_SNAPSHOTS: Final = 65536
"""QEMU: more are refused."""
MAX_SNAPSHOT_EXTRA_BYTES: Final = 1024
"""QEMU: extra data of one snapshot entry."""
MAX_SNAPSHOT_TABLE_BYTES: Final = 64 * MIB
"""QEMU: 65,536 entries of 1,024 bytes."""
MIN_V3_SNAPSHOT_EXTRA_BYTES: Final = 16
"""spec: a version 3 snapshot carries its 64-bit VM state size and its disk size."""

MAX_BITMAPS: Final = 65535
"""QEMU: entries of the bitmap directory."""
MAX_BITMAP_DIRECTORY_BYTES: Final = 1024 * MAX_BITMAPS
"""QEMU: size of the bitmap directory, 64 MiB - 1 KiB."""
MAX_BITMAP_NAME_BYTES: Final = 1023
"""QEMU: length of a bitmap's name."""
MIN_BITMAP_GRANULARITY_BITS: Final = 9
"""QEMU: the format itself allows 0."""
MAX_BITMAP_GRANULARITY_BITS: Final = 31
"""QEMU: the format allows up to 63."""
MAX_BITMAP_TABLE_ENTRIES: Final = 0x8000000
"""QEMU: entries of one bitmap table."""
MAX_BITMAP_BYTES: Final = 512 * MIB
"""QEMU: one bitmap, serialised."""

MAX_BITMAP_TABLES_READ_BYTES: Final = 32 * MIB
"""ours: what an open reads of bitmap tables; a disk of 1 PiB at 64 KiB granularity needs 4 MiB."""
MAX_FINDINGS_OF_A_KIND: Final = 64
"""ours: more findings of one code tell a reader nothing new."""
MAX_CHAIN_LAYERS: Final = 256
"""ours: an honest chain is far shorter; QEMU itself has no bound but the stack."""
FIRST_READ_BYTES: Final = 64 * KIB
"""ours: what an open reads before it knows the cluster size."""
