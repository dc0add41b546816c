"""The images that damages are done to: one content, in every geometry that makes a difference."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from types import MappingProxyType
from typing import Unpack

from tests.support.base_images import pattern, text
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.options import MIB, ImageOptions, OptionKeywords
from tests.support.payload import ZSTD

# Guest clusters of the standard content.
SHARED = 0
"""Data; snapshots, where there are any, refer to its host cluster too."""
OWNED = 1
"""Data that the active disk alone refers to."""
COMPRESSED = 4
COMPRESSED_NEIGHBOUR = 5
ZERO_PLAIN = 6
ZERO_ALLOCATED = 7
SUBCLUSTERS = 8
"""Half data, four subclusters of zeros, the rest unallocated."""
UNUSED = 12
"""The first of many clusters that were never written."""

SUBCLUSTERS_ALLOC_MASK = 0x0000FFFF
SUBCLUSTERS_ZERO_MASK = 0x00F00000


class Has(Enum):
    """What an image has, and a damage may need."""

    V2 = auto()
    V3 = auto()
    COMPRESSED = auto()
    PACKED = auto()
    """Two payloads side by side."""
    DEFLATE = auto()
    ZSTD = auto()
    EXTENDED_L2 = auto()
    STANDARD_L2 = auto()
    SNAPSHOTS = auto()
    BITMAP = auto()
    DATA_FILE = auto()
    DATA_INSIDE = auto()
    ALIGNMENT = auto()
    """Clusters over 512 bytes: an offset in a table can be unaligned."""
    SECOND_L1_ENTRY = auto()
    """The active L1 has entries without a table."""
    COUNT_OF_2 = auto()
    """Refcounts wider than one bit."""
    LUKS = auto()


@dataclass(frozen=True)
class Geometry:
    """One way to lay out the standard content.

    Attributes:
        options: Keywords of `ImageBuilder`.
    """

    name: str
    options: OptionKeywords
    with_snapshots: bool = False
    with_bitmap: bool = False
    with_luks: bool = False

    @property
    def cluster_bits(self) -> int:
        """Binary logarithm of the cluster size."""
        return self.options["cluster_bits"]

    @property
    def cluster_bytes(self) -> int:
        """The cluster size."""
        return 1 << self.cluster_bits

    @property
    def refcount_order(self) -> int:
        """Binary logarithm of the refcount width."""
        return self.options.get("refcount_order", 4)

    @property
    def has(self) -> frozenset[Has]:
        """What the standard image of this geometry has."""
        options = ImageOptions(**self.options)
        outside = options.data_file is not None
        coverage = options.cluster_bytes * options.l2_entries
        found = {
            Has.V2 if options.version == 2 else Has.V3,
            Has.EXTENDED_L2 if options.extended_l2 else Has.STANDARD_L2,
            Has.DATA_FILE if outside else Has.DATA_INSIDE,
        }
        optional = {
            Has.COMPRESSED: not outside,
            Has.PACKED: not outside and options.refcount_order > 0,
            Has.DEFLATE: not outside and options.compression_type != ZSTD,
            Has.ZSTD: options.compression_type == ZSTD,
            Has.SNAPSHOTS: self.with_snapshots,
            Has.BITMAP: self.with_bitmap,
            Has.LUKS: self.with_luks,
            Has.ALIGNMENT: options.cluster_bits > 9,
            Has.SECOND_L1_ENTRY: options.size > coverage,
            Has.COUNT_OF_2: options.refcount_order > 0,
        }
        return frozenset(found | {what for what, is_there in optional.items() if is_there})

    def builder(self, **options: Unpack[OptionKeywords]) -> ImageBuilder:
        """Return a builder that holds the standard content; `options` replace the geometry's."""
        merged: OptionKeywords = {**self.options, **options}
        builder = ImageBuilder(**merged)
        # A sector of each cluster is enough to tell them apart, and keeps large ones sparse.
        for index in (SHARED, OWNED, 2):
            builder.write(index * builder.cluster_bytes, pattern(512, index))
        if builder.data_file is None:
            last = COMPRESSED_NEIGHBOUR if builder.refcount_order > 0 else COMPRESSED
            for index in range(COMPRESSED, last + 1):
                # Under 4 KiB, so that the payloads of large clusters are neighbours in one, too.
                builder.write_compressed(index, text(min(builder.cluster_bytes, 3000), index))
        if builder.version >= 3:
            builder.zero(ZERO_PLAIN)
            builder.zero(ZERO_ALLOCATED, allocated=True)
        if builder.extended_l2:
            data = pattern(builder.cluster_bytes // 2, SUBCLUSTERS)
            builder.subclusters(SUBCLUSTERS, SUBCLUSTERS_ALLOC_MASK, SUBCLUSTERS_ZERO_MASK, data)
        if self.with_snapshots:
            builder.snapshot("first", vm_state=pattern(300, 90))
            builder.snapshot("second")
            builder.write(OWNED * builder.cluster_bytes, pattern(512, 91))
        if self.with_bitmap:
            builder.bitmap("dirty", granularity_bits=12, set_ranges=[(0, 3 * MIB // 2)])
        if self.with_luks:
            builder.luks()
        return builder

    def image(self) -> BuiltImage:
        """Return the healthy standard image."""
        return _image(self.name)


@functools.cache
def _image(name: str) -> BuiltImage:
    return GEOMETRIES[name].builder().build()


def _sized(bits: int, **options: Unpack[OptionKeywords]) -> OptionKeywords:
    """Options for clusters of 1 << `bits` bytes, and a disk of as many as tests need."""
    sizes = {9: 2 * MIB, 12: 4 * MIB, 14: 16 * MIB, 16: 32 * MIB, 21: 64 * MIB}
    sized: OptionKeywords = {"cluster_bits": bits, "size": sizes[bits]}
    return sized | options


def _geometries() -> Mapping[str, Geometry]:
    plain = {
        "v3-512": _sized(9),
        "v3-4k": _sized(12),
        "v3-64k": _sized(16),
        "v3-2m": _sized(21),
        "v2-512": _sized(9, version=2),
        "v2-64k": _sized(16, version=2),
        "extended-16k": _sized(14, extended_l2=True),
        "extended-64k": _sized(16, extended_l2=True),
        "zstd-512": _sized(9, compression_type=ZSTD),
        "zstd-64k": _sized(16, compression_type=ZSTD),
        "data-file-4k": _sized(12, data_file="guest.data"),
        "data-file-64k": _sized(16, data_file="guest.data"),
    } | {f"order-{order}": _sized(12, refcount_order=order) for order in (0, 1, 2, 3, 5, 6)}
    geometries = [Geometry(name, options) for name, options in plain.items()]
    geometries += [
        Geometry("snapshots-512", _sized(9), with_snapshots=True),
        Geometry("snapshots-64k", _sized(16), with_snapshots=True),
        Geometry("snapshots-v2-4k", _sized(12, version=2), with_snapshots=True),
        Geometry("snapshots-extended-16k", _sized(14, extended_l2=True), with_snapshots=True),
        Geometry("snapshots-order-2", _sized(12, refcount_order=2), with_snapshots=True),
        Geometry("bitmap-512", _sized(9), with_bitmap=True),
        Geometry("bitmap-64k", _sized(16), with_bitmap=True),
        Geometry("luks-64k", _sized(16), with_luks=True),
    ]
    return MappingProxyType({geometry.name: geometry for geometry in geometries})


GEOMETRIES = _geometries()
