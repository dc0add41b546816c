"""Is a file without the qcow2 magic an image whose first cluster was overwritten?

Writers put the refcount table, its first block and the L1 table right behind the header, each at a
place that depends on the cluster size alone. Where all three look right, it is such an image.

Spec: 1.1, 1.7, 1.10
"""

from __future__ import annotations

from typing import Final

import numpy as np

from qcowgui.check.hints import Hint
from qcowgui.errors import NotQcow2Error
from qcowgui.format import geometry as geo
from qcowgui.format import limits
from qcowgui.format.geometry import ENTRY_BYTES
from qcowgui.format.header import MAGIC_BYTES
from qcowgui.format.tables import Words, parse_words
from qcowgui.image.signatures import ReadableAt
from qcowgui.units import KIB, format_size

_TABLE_CLUSTER: Final = 1
_BLOCK_CLUSTER: Final = 2
_L1_CLUSTER: Final = 3
_L1_SAMPLE_BYTES: Final = 64 * KIB


def wiped_first_cluster(source: ReadableAt) -> Hint | None:
    """What probably became of a file that has lost its header, or None when nothing shows that.

    It recognises the layout of a fresh image, with 16-bit refcounts and more than its metadata in
    it; `qcowgui salvage` looks for any other.

    Raises:
        SourceError: When the operating system refuses a read.
    """
    if source.read_at(0, len(MAGIC_BYTES)) == MAGIC_BYTES:
        return None
    for cluster_bits in range(limits.MIN_CLUSTER_BITS, limits.MAX_CLUSTER_BITS + 1):
        if _is_layout(source, 1 << cluster_bits):
            size = format_size(1 << cluster_bits)
            return Hint(
                "wiped-first-cluster",
                f"This is no qcow2 image, but what follows the first {size} is laid out as one "
                f"with clusters of {size}: its first cluster was probably overwritten.",
                "Do not write to it, and do not create an image over it. `qcowgui salvage IMAGE` "
                "rebuilds what stood there from the tables, which are still in the file.",
            )
    return None


def explain_not_qcow2(source: ReadableAt, error: NotQcow2Error) -> NotQcow2Error:
    """`error`, or one that says more where the file is an image that has lost its first cluster.

    Args:
        source: The file.
        error: What opening it came to.

    Raises:
        SourceError: When the operating system refuses a read.
    """
    found = wiped_first_cluster(source)
    if found is None:
        return error
    return NotQcow2Error(
        found.sentence.rstrip("."),
        path=error.path,
        detected=error.detected,
        hint=found.advice.rstrip("."),
    )


def _is_layout(source: ReadableAt, cluster_bytes: int) -> bool:
    """Whether refcount table, first refcount block and L1 table are where a writer puts them."""
    table = source.read_at(_TABLE_CLUSTER * cluster_bytes, ENTRY_BYTES)
    if int.from_bytes(table, "big") != _BLOCK_CLUSTER * cluster_bytes:
        return False
    # The header, the table, the block and the L1 table have one reference each.
    block = source.read_at(_BLOCK_CLUSTER * cluster_bytes, 8)
    if block != b"\0\1" * 4:
        return False
    sample = source.read_at(_L1_CLUSTER * cluster_bytes, min(cluster_bytes, _L1_SAMPLE_BYTES))
    return _is_l1(parse_words(sample), cluster_bytes, source.size_bytes)


def _is_l1(words: Words, cluster_bytes: int, file_bytes: int) -> bool:
    """Whether `words` name some L2 table, and nothing that is none."""
    used = words[words != 0]
    offsets = used & np.uint64(geo.OFFSET_MASK)
    unsound = (used & np.uint64(geo.L1_RESERVED_MASK)) != 0
    unsound |= offsets & np.uint64(cluster_bytes - 1) != 0
    unsound |= (offsets <= _L1_CLUSTER * cluster_bytes) | (offsets >= file_bytes)
    return len(used) > 0 and not unsound.any()
