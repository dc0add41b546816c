"""Which of many byte ranges hold a byte: for thousands of them, at the speed of a moving mouse."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Generic, NamedTuple, TypeVar

import numpy as np

T = TypeVar("T")

_MAX: Final = (1 << 64) - 1


class NamedRange(NamedTuple, Generic[T]):
    """The bytes [start, end), and what they are."""

    start: int
    end: int
    thing: T


class ByteRanges(Generic[T]):
    """Ranges of bytes that may lie inside each other; empty ones are left out. Immutable."""

    def __init__(self, ranges: Iterable[NamedRange[T]]) -> None:
        kept = [found for found in ranges if 0 <= found.start < min(found.end, _MAX)]
        # A file may claim any offset of 64 bits.
        self._starts = np.array([found.start for found in kept], dtype=np.uint64)
        self._ends = np.array([min(found.end, _MAX) for found in kept], dtype=np.uint64)
        self._things = [found.thing for found in kept]

    def smallest_at(self, offset: int) -> T | None:
        """What the smallest range that holds the byte at `offset` is; of equal ones the first."""
        if not 0 <= offset < _MAX:
            return None
        wanted = np.uint64(offset)
        hits = np.flatnonzero((self._starts <= wanted) & (wanted < self._ends))
        if not len(hits):
            return None
        sizes = self._ends[hits] - self._starts[hits]
        return self._things[int(hits[np.argmin(sizes)])]
