"""What is wrong with the entries of an L1 table, the active one's or a snapshot's.

Spec: 1.7, 2.2 (R1, R3, R4)
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from qcowgui.check.rule_context import Hit, RuleContext
from qcowgui.format import geometry as geo
from qcowgui.format.tables import Words

_OFFSET_MASK: Final = np.uint64(geo.OFFSET_MASK)
_RESERVED_MASK: Final = np.uint64(geo.L1_RESERVED_MASK)


def judge_l1(words: Words, context: RuleContext) -> list[Hit]:
    """The entries that break a rule, rule by rule; an entry may break several. Spec: 2.2

    Args:
        words: Entries in native byte order, in table order.
        context: The image's.

    A hit says nothing of COPIED, which needs refcounts.
    """
    if not len(words):
        return []
    offsets = words & _OFFSET_MASK
    if _all_clean(words, offsets, context):
        return []
    inside = np.uint64(context.geometry.cluster_bytes - 1)
    file_bytes = np.uint64(context.file_bytes)
    beyond = (offsets != 0) & (offsets >= file_bytes)
    unaligned = (offsets & inside) != 0
    cut = offsets + np.uint64(context.geometry.cluster_bytes) > file_bytes
    return hits_of(
        ("l1-reserved-bits", (words & _RESERVED_MASK) != 0),
        ("l1-flags-only", (words != 0) & (offsets == 0)),
        ("l2-offset-unaligned", unaligned),
        ("l2-table-beyond-eof", beyond),
        ("l2-truncated", (offsets != 0) & cut & ~beyond),
    )


def _all_clean(words: Words, offsets: Words, context: RuleContext) -> bool:
    """Whether nothing can be wrong, by a few reductions over the whole table."""
    wrong_bits = geo.L1_RESERVED_MASK | context.geometry.cluster_bytes - 1
    return (
        not int(np.bitwise_or.reduce(words)) & wrong_bits
        and int(offsets.max()) + context.geometry.cluster_bytes <= context.file_bytes
        and not (words == np.uint64(geo.COPIED)).any()
    )


def hits_of(*rules: tuple[str, npt.NDArray[np.bool_]]) -> list[Hit]:
    """A hit for each (code, flag per entry) where a flag is set."""
    found = ((code, np.flatnonzero(flags)) for code, flags in rules)
    return [Hit(code, indices) for code, indices in found if len(indices)]
