"""The base images of the real cases, B0 and S0, and a rich one that has every structure."""

from __future__ import annotations

import hashlib
from typing import Unpack

from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.options import KIB, MIB, OptionKeywords

S0_CLUSTER_BITS = 9
S0_SIZE = MIB


def pattern(length: int, seed: int = 0) -> bytes:
    """Return `length` bytes that do not compress and have no zero run; the same for one seed."""
    return hashlib.shake_256(b"pattern %d" % seed).digest(length)


def text(length: int, seed: int = 0) -> bytes:
    """Return `length` bytes that compress to about a third, never to the same stream twice."""
    words = hashlib.shake_256(b"text %d" % seed).hexdigest(-(-length // 3))
    return (words + words)[:length].encode()


def b0_builder(**options: Unpack[OptionKeywords]) -> ImageBuilder:
    """Return the builder of B0: 64 MiB, 64 KiB clusters; guest cluster 0 has data.

    Header 0, refcount table 0x10000, refcount block 0x20000, L1 0x30000, L2 0x40000, data 0x50000.
    `options` are those of `ImageOptions`.
    """
    builder = ImageBuilder(**options)
    builder.write(0, pattern(builder.cluster_bytes))
    return builder


def b0(**options: Unpack[OptionKeywords]) -> BuiltImage:
    """Return B0, 0x60000 bytes long."""
    return b0_builder(**options).build()


def s0_builder(**options: Unpack[OptionKeywords]) -> ImageBuilder:
    """Return the builder of S0: B0 with 512-byte clusters and 1 MiB; all offsets are B0's / 128."""
    options.setdefault("cluster_bits", S0_CLUSTER_BITS)
    options.setdefault("size", S0_SIZE)
    return b0_builder(**options)


def s0(**options: Unpack[OptionKeywords]) -> BuiltImage:
    """Return S0, 0xC00 bytes long."""
    return s0_builder(**options).build()


def rich_builder(**options: Unpack[OptionKeywords]) -> ImageBuilder:
    """Return the builder of a small image with every structure that goes with the others.

    4 KiB clusters: standard, zero (both kinds) and compressed clusters, a backing file name and
    its format, two snapshots (one with VM state), two bitmaps, a feature name table, an unknown
    extension, a leak-free gap. `options` replace the defaults.
    """
    defaults: OptionKeywords = {
        "cluster_bits": 12,
        "size": 4 * MIB,
        "feature_table": True,
        "backing_file": "base.raw",
        "backing_format": "raw",
        "extensions": [(0x12345678, b"unknown, to be kept")],
    }
    merged: OptionKeywords = {**defaults, **options}
    builder = ImageBuilder(**merged)
    cluster = builder.cluster_bytes
    builder.write(0, pattern(3 * cluster, 1))
    for index in range(8, 14):
        builder.write_compressed(index, text(cluster, index))
    builder.zero(20)
    builder.zero(21, allocated=True)
    builder.snapshot("first", vm_state=pattern(3 * KIB, 2))
    builder.write(cluster, pattern(cluster, 3))
    builder.gap(2)
    builder.write(3 * MIB, pattern(2 * cluster, 4))
    builder.snapshot("second")
    builder.write(2 * cluster, pattern(cluster, 5))
    builder.bitmap("dirty", set_ranges=[(0, 3 * cluster), (3 * MIB, cluster)])
    builder.bitmap("fine", granularity_bits=9, flags=2, set_ranges=[(cluster, 512)])
    return builder


def rich(**options: Unpack[OptionKeywords]) -> BuiltImage:
    """Return the rich image."""
    return rich_builder(**options).build()
