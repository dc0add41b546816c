"""Which broken rules people are told of: of one entry, the one that says most about its place.

QEMU counts every rule that an entry breaks. A person who reads that a cluster is unaligned, beyond
the end of the file, and contradicts its refcount reads three times that the offset is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from qcowgui.check.overwritten import Flags
from qcowgui.check.refcount_rules import CopiedHit
from qcowgui.check.rule_context import Hit

_UNALIGNED: Final = frozenset(
    {"l2-offset-unaligned", "data-cluster-unaligned", "zero-cluster-unaligned"}
)
_BEYOND: Final = frozenset({"l2-table-beyond-eof", "data-beyond-eof"})


def hits_to_tell(hits: Sequence[Hit], overwritten: Flags | None) -> list[Hit]:
    """The hits without entries that are none, and without a second hit on the same wrong place.

    Args:
        hits: What rules found in a table.
        overwritten: Of each entry, whether it is none because something else was written there.
    """
    hits = without_overwritten(hits, overwritten)
    unaligned = _indices(hits, _UNALIGNED)
    told = [
        Hit(code, np.setdiff1d(indices, unaligned, assume_unique=True))
        if code in _BEYOND and len(unaligned)
        else Hit(code, indices)
        for code, indices in hits
    ]
    return [hit for hit in told if len(hit.indices)]


def copied_to_tell(copied: CopiedHit, told: Sequence[Hit], overwritten: Flags | None) -> list[Hit]:
    """The wrong COPIED flags of entries whose place is not wrong already.

    Args:
        copied: The wrong flags.
        told: What is told of the table's entries.
        overwritten: See `hits_to_tell`.
    """
    hits = without_overwritten([copied.hit], overwritten)
    return without_misplaced(without_overwritten(hits, copied.untold), told)


def without_misplaced(hits: Sequence[Hit], told: Sequence[Hit]) -> list[Hit]:
    """The hits on entries of which it is not told that their place is wrong."""
    misplaced = _indices(told, _UNALIGNED | _BEYOND)
    if len(misplaced):
        hits = [Hit(code, np.setdiff1d(indices, misplaced)) for code, indices in hits]
    return [hit for hit in hits if len(hit.indices)]


def without_overwritten(hits: Sequence[Hit], overwritten: Flags | None) -> list[Hit]:
    """The hits on entries that may be some; arguments as of `hits_to_tell`."""
    if overwritten is None:
        return list(hits)
    kept = (Hit(code, indices[~overwritten[indices]]) for code, indices in hits)
    return [hit for hit in kept if len(hit.indices)]


def _indices(hits: Sequence[Hit], codes: frozenset[str]) -> npt.NDArray[np.intp]:
    """The entries that break a rule of `codes`, ascending."""
    parts = [indices for code, indices in hits if code in codes]
    return np.unique(np.concatenate(parts)) if parts else np.zeros(0, dtype=np.intp)
