"""Which 64-bit words could be table entries: the tests that tell tables from guest data.

An honest entry has its reserved bits clear and points into the file at a multiple of 512 bytes.
Guest data rarely looks like that for one word, and hardly ever for 64 of them in a row.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from qcowgui.format import geometry as geo
from qcowgui.format import limits
from qcowgui.format.geometry import Geometry
from qcowgui.format.tables import Words
from qcowgui.units import GIB

Mask: TypeAlias = npt.NDArray[np.bool_]

# The split of compressed descriptors with the largest clusters: every other one has more bits.
_FEWEST_OFFSET_BITS: Final = 62 - (limits.MAX_CLUSTER_BITS - 8)
_LOW_32: Final = np.uint64(0xFFFF_FFFF)
_SMALL_COUNTS_MASK: Final = np.uint64(0xFFF0_FFF0_FFF0_FFF0)


def offset_limit(file_bytes: int) -> int:
    """Above this no host offset is believed.

    Far above the file's length: a download that stopped early refers to what it does not have.
    """
    return max(16 * file_bytes, 64 * GIB)


def is_descriptor(words: Words, limit: int) -> Mask:
    """Which words could be L1 or L2 entries, zeros included, whatever the cluster size.

    Args:
        words: Entries of any shape.
        limit: Host offsets from here on are not believed.
    """
    kind_bits = words & np.uint64(geo.COMPRESSED | geo.COPIED)
    reserved = words & np.uint64(geo.L2_RESERVED_MASK | geo.COMPRESSED)
    offsets = words & np.uint64(geo.OFFSET_MASK)
    weakest = np.uint64((1 << _FEWEST_OFFSET_BITS) - 1)
    standard = (reserved == 0) & (offsets < limit)
    compressed = (kind_bits == geo.COMPRESSED) & ((words & weakest) < limit)
    result: Mask = standard | compressed
    return result


def is_bitmap(bitmaps: Words, descriptors: Words) -> Mask:
    """Which subcluster bitmaps go with their descriptors. Spec: 1.8"""
    allocated = bitmaps & _LOW_32
    zero = bitmaps >> np.uint64(32)
    has_cluster = (descriptors & np.uint64(geo.OFFSET_MASK)) != 0
    compressed = (descriptors & np.uint64(geo.COMPRESSED)) != 0
    consistent = ((allocated & zero) == 0) & ((allocated == 0) | has_cluster)
    result: Mask = np.where(compressed, bitmaps == 0, consistent)
    return result


def is_small_counts(words: Words) -> Mask:
    """Which words could be four refcounts of 16 bits, each below 16. Spec: 1.10"""
    result: Mask = (words & _SMALL_COUNTS_MASK) == 0
    return result


def fits_geometry(words: Words, geometry: Geometry, limit: int) -> Mask:
    """Which descriptors are right for this cluster size, zeros included. Spec: 1.7, 1.9"""
    offsets = words & np.uint64(geo.OFFSET_MASK)
    standard = (words & np.uint64(geo.L2_RESERVED_MASK | geo.COMPRESSED)) == 0
    standard &= (offsets & np.uint64(geometry.cluster_bytes - 1)) == 0
    standard &= offsets < limit
    if geometry.extended_l2:
        standard &= (words & np.uint64(geo.READS_ZERO)) == 0
    payloads = words & np.uint64(geometry.compressed_offset_mask)
    compressed = (words & np.uint64(geo.COMPRESSED | geo.COPIED)) == geo.COMPRESSED
    # A payload can't lie in the header, whose 72 bytes are the least.
    compressed &= (payloads < limit) & (payloads >= limits.V2_HEADER_BYTES)
    result: Mask = standard | compressed
    return result
