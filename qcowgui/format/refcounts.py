"""Refcount blocks of all seven widths, and the refcount table. Spec: 1.10"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from qcowgui.format import geometry as geo
from qcowgui.format.tables import Words
from qcowgui.units import ceil_div

Counts = npt.NDArray[np.uint64]
"""One refcount an element, in cluster order."""


def unpack_refcounts(block: bytes | bytearray | memoryview, refcount_order: int) -> Counts:
    """The refcounts in a block, whatever their width.

    Entries narrower than a byte start at its least significant end. Spec: 1.10
    """
    if refcount_order >= 3:
        width = 1 << (refcount_order - 3)
        usable = len(block) - len(block) % width
        return np.frombuffer(block, dtype=f">u{width}", count=usable // width).astype(np.uint64)
    bits = 1 << refcount_order
    packed = np.frombuffer(block, dtype=np.uint8)
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    mask = np.uint8((1 << bits) - 1)
    return ((packed[:, np.newaxis] >> shifts) & mask).reshape(-1).astype(np.uint64)


def pack_refcounts(counts: npt.NDArray[np.unsignedinteger], refcount_order: int) -> bytes:
    """The bytes of `counts`, the opposite of `unpack_refcounts`.

    The caller has made sure that each count fits, and that a narrow block ends on a whole byte.
    """
    if refcount_order >= 3:
        return counts.astype(f">u{1 << (refcount_order - 3)}").tobytes()
    bits = 1 << refcount_order
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    parts = counts.astype(np.uint8).reshape(-1, 8 // bits) << shifts
    packed: npt.NDArray[np.uint8] = np.bitwise_or.reduce(parts, axis=1)
    return packed.tobytes()


def refcount_block_offsets(table_words: Words) -> Words:
    """The host offset of each refcount block, 0 where there is none. Spec: 1.10"""
    return table_words & np.uint64(geo.REFCOUNT_OFFSET_MASK)


def refcount_metadata_clusters(
    other_clusters: int, cluster_bits: int, refcount_order: int
) -> tuple[int, int]:
    """How many refcount blocks and table clusters an image needs, themselves included.

    Args:
        other_clusters: All clusters of the file that are neither blocks nor table.
        cluster_bits: The image's cluster size.
        refcount_order: The width of its refcounts.

    Returns:
        (blocks, table clusters), the least fixed point. Spec: 1.10
    """
    per_block = (1 << cluster_bits) * 8 >> refcount_order
    per_table_cluster = (1 << cluster_bits) // geo.ENTRY_BYTES
    blocks, table = 0, 1
    while True:
        new_blocks = ceil_div(other_clusters + table + blocks, per_block)
        new_table = max(1, ceil_div(new_blocks, per_table_cluster))
        if (new_blocks, new_table) == (blocks, table):
            return blocks, table
        blocks, table = new_blocks, new_table
