"""Per host cluster: how many references there are, and by which uses. Arrays as long as the file.

The arrays start as untouched zero pages, which cost no memory. What was touched is noted in parts
of 65,536 clusters, so that nothing later looks at the holes of a sparse file of terabytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from qcowgui.check.roles import Uses
from qcowgui.units import ceil_div

Clusters = npt.NDArray[np.int64]
"""Indices of host clusters."""
Counts = npt.NDArray[np.unsignedinteger]
"""References a cluster: uint16, or uint32 once one has more than 65,535; these saturate."""

PART_BITS: Final = 16
PART_CLUSTERS: Final = 1 << PART_BITS
"""Clusters in a part."""

_NARROW_MAX: Final = (1 << 16) - 1
_WIDE_MAX: Final = (1 << 32) - 1


class ReferenceCounts:
    """Counts references to the clusters of a file. For one thread."""

    def __init__(self, clusters: int) -> None:
        """Counters for `clusters` clusters, all zero.

        Raises:
            MemoryError: When the system has no address space left for them.
        """
        self.counts: Counts = np.zeros(clusters, dtype=np.uint16)
        self.uses: Uses = np.zeros(clusters, dtype=np.uint16)
        self.touched = np.zeros(ceil_div(clusters, PART_CLUSTERS), dtype=np.bool_)
        self._limit = _NARROW_MAX
        self.referenced_end = 0
        """The cluster behind the last one that has a reference."""

    def add_run(self, first: int, last: int, bits: int, weight: int = 1) -> None:
        """Add `weight` references, with the uses `bits`, to each cluster in [first, last)."""
        if first >= last or not weight:
            return
        self._touch(first, last)
        most = int(self.counts[first:last].max()) + weight
        self._make_room(most)
        part = self.counts[first:last]
        if most > self._limit:
            part[:] = np.minimum(part.astype(np.uint64) + np.uint64(weight), self._limit)
        else:
            part += part.dtype.type(weight)
        if bits:
            self.uses[first:last] |= np.uint16(bits)

    def add_each(self, clusters: Clusters, bits: int, weight: int = 1) -> None:
        """Add `weight` references, with the uses `bits`, for each element of `clusters`.

        A cluster may occur several times, in any order.
        """
        if not len(clusters) or not weight:
            return
        first, last = int(clusters.min()), int(clusters.max()) + 1
        if last - first <= PART_CLUSTERS:
            self._touch(first, last)
        else:
            self.touched[clusters >> PART_BITS] = True
            self.referenced_end = max(self.referenced_end, last)
        # In any order and with repetitions, `np.add.at` takes some 20 µs for 8,192 clusters; what
        # makes sure that no counter wraps must not cost more (2026-11-30).
        if int(self.counts[clusters].max()) + len(clusters) * weight > self._limit:
            self._add_many(clusters, weight)
        else:
            np.add.at(self.counts, clusters, self.counts.dtype.type(weight))
        if bits:
            self.uses[clusters] |= np.uint16(bits)

    def _add_many(self, clusters: Clusters, weight: int) -> None:
        """Add where a counter may become too small, or saturate."""
        different, times = np.unique(clusters, return_counts=True)
        total = self.counts[different].astype(np.float64) + times * float(weight)
        self._make_room(int(total.max()))
        self.counts[different] = np.minimum(total, self._limit).astype(self.counts.dtype)

    def _make_room(self, count: int) -> None:
        """Widen the counters when `count` does not fit, as long as they can be widened."""
        if count <= self._limit or self._limit == _WIDE_MAX:
            return
        wider = np.zeros(len(self.counts), dtype=np.uint32)
        for first, last in self.iter_parts():
            wider[first:last] = self.counts[first:last]
        self.counts, self._limit = wider, _WIDE_MAX

    def _touch(self, first: int, last: int) -> None:
        self.touched[first >> PART_BITS : (last - 1 >> PART_BITS) + 1] = True
        self.referenced_end = max(self.referenced_end, last)

    def iter_parts(self, first: int = 0, last: int | None = None) -> Iterator[tuple[int, int]]:
        """The pieces [a, b) of [first, last) in which some cluster may have references, in order.

        Each lies in one part of `PART_CLUSTERS`.
        """
        last = len(self.counts) if last is None else min(last, len(self.counts))
        if first >= last:
            return
        first_part = first >> PART_BITS
        for part in np.flatnonzero(self.touched[first_part : (last - 1 >> PART_BITS) + 1]):
            start = (first_part + int(part)) << PART_BITS
            yield max(first, start), min(last, start + PART_CLUSTERS)
