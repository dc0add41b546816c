"""Edits of refcount blocks: wrong counts in those that stay, and whole blocks made anew.

Spec: 1.10
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from qcowgui.format.geometry import Geometry
from qcowgui.format.refcounts import pack_refcounts, unpack_refcounts
from qcowgui.image.patched import Deferred, Edit
from qcowgui.image.source import ByteSource
from qcowgui.repair.refcount_targets import Targets
from qcowgui.units import format_count

_JOIN_BYTES: Final = 32
_MAX_RUNS: Final = 64
"""Edits of one block; see `table_book.MAX_RUNS`."""


class BlockWriter:
    """Makes the edits of refcount blocks."""

    def __init__(
        self, source: ByteSource, geometry: Geometry, targets: Targets, *, only_lower: bool = False
    ) -> None:
        self._source = source
        self._geometry = geometry
        self._targets = targets
        self._only_lower = only_lower
        self.edits: list[Edit] = []
        self.changed: dict[str, int] = {}

    def new_block(self, entry: int, cluster: int, code: str) -> Edit:
        """A block made anew, whose bytes are packed when they are asked for."""
        geometry, targets = self._geometry, self._targets
        first = entry * geometry.refcounts_per_block
        offset = cluster << geometry.cluster_bits
        after = Deferred(geometry.cluster_bytes, _packer(geometry, targets, first))
        return Edit(
            offset,
            self._source.read_at(offset, geometry.cluster_bytes),
            after,
            f"A new refcount block for the clusters from {first:,} on.",
            code,
        )

    def edit_block(self, entry: int, cluster: int) -> None:
        """Edit the counts of a block that stays where it is."""
        geometry = self._geometry
        offset = cluster << geometry.cluster_bits
        before = self._source.read_at(offset, geometry.cluster_bytes)
        old = unpack_refcounts(before, geometry.refcount_order)
        first = entry * geometry.refcounts_per_block
        new = old.copy()
        # What is stored for clusters behind the end of the file may keep dangling entries' places.
        known = max(0, min(len(new), len(self._targets.counts) - first))
        new[:known] = self._targets.slice(first, known)
        if self._only_lower:
            new = np.minimum(new, old)
        changed = np.flatnonzero(old != new)
        if not len(changed):
            return
        after = pack_refcounts(new, geometry.refcount_order)
        for run in self._runs(changed, np.isin(first + changed, self._targets.marked)):
            self.edits.append(self._edit(first, offset, run, old, new, before, after))

    def _runs(
        self, changed: npt.NDArray[np.intp], marked: npt.NDArray[np.bool_]
    ) -> list[npt.NDArray[np.intp]]:
        joined = max(1, _JOIN_BYTES * 8 >> self._geometry.refcount_order)
        apart = np.diff(changed) > joined
        if self._geometry.refcount_bits >= 8:
            apart |= np.diff(marked)
        breaks = np.flatnonzero(apart) + 1
        # Counts that share a byte are edited together.
        return [changed] if len(breaks) >= _MAX_RUNS else np.split(changed, breaks)

    def _edit(
        self,
        first: int,
        offset: int,
        run: npt.NDArray[np.intp],
        old: npt.NDArray[np.uint64],
        new: npt.NDArray[np.uint64],
        before: bytes,
        after: bytes,
    ) -> Edit:
        bits = self._geometry.refcount_bits
        start, end = int(run[0]) * bits // 8, -(-(int(run[-1]) + 1) * bits // 8)
        kinds = self._kinds(old[run], new[run])
        low, high = first + int(run[0]), first + int(run[-1])
        marked = np.isin(first + run, self._targets.marked)
        # A mark puts nothing right.
        for code, times in self._kinds(old[run[~marked]], new[run[~marked]]).items():
            self.changed[code] = self.changed.get(code, 0) + times
        if len(run) == 1:
            change = f"{int(old[run[0]])} to {int(new[run[0]])}"
            why = f"The refcount of cluster {low:,} changes from {change}."
        else:
            become = f"become {int(new[run[0]])}" if marked.all() else "are counted anew"
            count = format_count(len(run), "refcount")
            why = f"{count} of the clusters {low:,} to {high:,} {become}."
        if marked.any():
            why += " Nothing refers to what is kept; this count tells the next repair to keep it."
        return Edit(offset + start, before[start:end], after[start:end], why, next(iter(kinds)))

    @staticmethod
    def _kinds(old: npt.NDArray[np.uint64], new: npt.NDArray[np.uint64]) -> dict[str, int]:
        """Code → how many, the gravest first."""
        kinds = {
            "refcount-zero": int(np.count_nonzero((old == 0) & (new > 0))),
            "refcount-too-low": int(np.count_nonzero((old > 0) & (new > old))),
            "refcount-too-high": int(np.count_nonzero((new > 0) & (new < old))),
            "leak": int(np.count_nonzero((new == 0) & (old > 0))),
        }
        return {code: count for code, count in kinds.items() if count}


def _packer(geometry: Geometry, targets: Targets, first: int) -> Callable[[int, int], bytes]:
    def make(start: int, length: int) -> bytes:
        counts = targets.slice(first, geometry.refcounts_per_block)
        return pack_refcounts(counts, geometry.refcount_order)[start : start + length]

    return make
