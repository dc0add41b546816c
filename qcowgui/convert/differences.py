"""Where two images differ in what a guest reads: a cell for each unit of the disk.

`compare` answers whether; this tells where, and goes on behind the first difference. What can't be
read is neither the same nor different: it is unknown.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from qcowgui.convert.plan import Batch, iter_batches, iter_stored_ranges, merge_ranges
from qcowgui.engine.work import (
    CancelToken,
    Counter,
    Executor,
    SharedIterator,
    raise_outcome,
    run,
)
from qcowgui.image.layer import Piece
from qcowgui.image.reader import GuestImage
from qcowgui.units import ceil_div

_Flags = npt.NDArray[np.bool_]

MAX_UNITS: Final = 1 << 28
"""Cells that are kept, a byte each; of a larger disk the units are larger."""


class Difference(IntEnum):
    """How a unit of the guest's disk differs; the larger one wins where several share a cell."""

    OUTSIDE = 0
    SAME = 1
    UNKNOWN = 2
    """Some of it can't be read in one of the images."""
    LEFT_ONLY = 3
    """The right one reads as zeros."""
    RIGHT_ONLY = 4
    """The left one reads as zeros."""
    BOTH = 5
    """Both have data, and not the same."""


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """The answer of `find_differences`.

    Attributes:
        unit_bytes: Guest bytes of a cell.
        cells: uint8: a `Difference` of each unit, up to the end of the longer disk.
        left_bytes: Size of the left disk.
        right_bytes: Size of the right one; behind the end of the shorter one are zeros.
    """

    unit_bytes: int
    cells: npt.NDArray[np.uint8]
    left_bytes: int
    right_bytes: int

    @property
    def size_bytes(self) -> int:
        """Size of the longer disk."""
        return max(self.left_bytes, self.right_bytes)


def unit_for(cluster_bytes: int, size_bytes: int) -> int:
    """The unit for a disk: a cluster, or as few together as `MAX_UNITS` allows."""
    unit = cluster_bytes
    while ceil_div(size_bytes, unit) > MAX_UNITS:
        unit *= 2
    return unit


def find_differences(
    left: GuestImage,
    right: GuestImage,
    executor: Executor,
    *,
    unit_bytes: int,
    token: CancelToken,
    counter: Counter | None = None,
    tick: Callable[[], None] | None = None,
) -> Differences:
    """Compare all that a guest reads from two images.

    Args:
        left: One image; what it can't read is unknown if it salvages.
        right: The other, in the same way.
        executor: Where to work.
        unit_bytes: A power of two, see `unit_for`.
        token: Stops the comparison.
        counter: Gets guest bytes as they are compared: the longer size in all.
        tick: Called now and then in this thread.

    Raises:
        ImageError: When either can't be read, and does not salvage.
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
        ValueError: When there would be more than `MAX_UNITS`.
    """
    search = _Search(left, right, unit_bytes, token, counter or Counter())
    raise_outcome(run(executor, search.work, token, tick=tick))
    search.finish()
    return Differences(unit_bytes, search.cells, left.size_bytes, right.size_bytes)


class _Search:
    """The shared state of one run. Each batch has cells of its own, so workers need no lock."""

    def __init__(
        self,
        left: GuestImage,
        right: GuestImage,
        unit_bytes: int,
        token: CancelToken,
        counter: Counter,
    ) -> None:
        self._left = left
        self._right = right
        self._unit_bytes = unit_bytes
        self._token = token
        self._counter = counter
        self._size_bytes = max(left.size_bytes, right.size_bytes)
        self._batch_bytes = max(left.batch_bytes, right.batch_bytes, unit_bytes)
        self._planned = 0
        units = ceil_div(self._size_bytes, unit_bytes)
        if units > MAX_UNITS:
            raise ValueError(f"{units:,} units are more than {MAX_UNITS:,}")
        self.cells: npt.NDArray[np.uint8] = np.full(units, Difference.SAME, dtype=np.uint8)
        self._batches = SharedIterator(self._iter_batches())

    def _iter_batches(self) -> Iterator[Batch]:
        ranges = merge_ranges(
            iter_stored_ranges(self._left, self._token),
            iter_stored_ranges(self._right, self._token),
        )
        for batch in iter_batches(
            ranges, size_bytes=self._size_bytes, batch_bytes=self._batch_bytes
        ):
            self._counter.add(batch.skipped_bytes)
            self._planned = batch.end
            yield batch

    def work(self, _worker_index: int) -> None:
        left_context, right_context = self._left.context(), self._right.context()
        for batch in self._batches:
            self._token.raise_if_cancelled()
            left = self._left.read_pieces(batch.start, batch.end, left_context)
            right = self._right.read_pieces(batch.start, batch.end, right_context)
            first = batch.start // self._unit_bytes
            last = ceil_div(batch.end, self._unit_bytes)
            self.cells[first:last] = judge_units(
                left, right, first * self._unit_bytes, last - first, self._unit_bytes
            )
            self._counter.add(batch.end - batch.start)

    def finish(self) -> None:
        """Mark what could not be read, and count what lies behind the last batch: zeros."""
        for image in (self._left, self._right):
            for lost in image.losses.ranges() if image.losses is not None else ():
                first = lost.start // self._unit_bytes
                self.cells[first : ceil_div(lost.end, self._unit_bytes)] = Difference.UNKNOWN
        self._counter.add(self._size_bytes - self._planned)


def judge_units(
    left: Sequence[Piece], right: Sequence[Piece], start: int, units: int, unit_bytes: int
) -> npt.NDArray[np.uint8]:
    """uint8: SAME, LEFT_ONLY, RIGHT_ONLY or BOTH of each unit of a range.

    Args:
        left: What one image stores of the range, in order; the rest is zeros.
        right: The same of the other.
        start: First guest byte, at the start of a unit.
        units: How many.
        unit_bytes: Guest bytes of each.
    """
    cells = np.full(units, Difference.SAME, dtype=np.uint8)
    differs = np.zeros(units, dtype=np.bool_)
    for first, one, other in _iter_parts(left, right):
        if one is not None and other is not None and np.array_equal(one, other):
            continue
        mask = _nonzero(one, other) if one is None or other is None else one != other
        _mark(differs, mask, first - start, unit_bytes)
    if not differs.any():
        return cells
    has_left, has_right = (
        _units_with_data(side, start, units, unit_bytes) for side in (left, right)
    )
    cells[differs & has_left & has_right] = Difference.BOTH
    cells[differs & has_left & ~has_right] = Difference.LEFT_ONLY
    cells[differs & ~has_left] = Difference.RIGHT_ONLY
    return cells


_Bytes = npt.NDArray[np.uint8]


def _iter_parts(
    left: Sequence[Piece], right: Sequence[Piece]
) -> Iterator[tuple[int, _Bytes | None, _Bytes | None]]:
    """(first guest byte, left bytes, right bytes) of ranges in which each side is whole or None."""
    edges = sorted(
        {edge for piece in (*left, *right) for edge in (piece.start, piece.start + len(piece.data))}
    )
    sides = (_Side(left), _Side(right))
    for start, end in itertools.pairwise(edges):
        one, other = (side.part(start, end) for side in sides)
        if one is not None or other is not None:
            yield start, one, other


class _Side:
    """Gives the bytes of ascending ranges out of pieces."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = iter(pieces)
        self._piece = next(self._pieces, None)

    def part(self, start: int, end: int) -> _Bytes | None:
        """The bytes [start, end), all of them in one piece or in none: then None."""
        while self._piece is not None and self._piece.start + len(self._piece.data) <= start:
            self._piece = next(self._pieces, None)
        piece = self._piece
        if piece is None or piece.start >= end:
            return None
        data = np.frombuffer(piece.data, dtype=np.uint8)
        return data[start - piece.start : end - piece.start]


def _nonzero(one: _Bytes | None, other: _Bytes | None) -> _Flags:
    data = other if one is None else one
    return np.zeros(0, dtype=np.bool_) if data is None else data != 0


def _units_with_data(pieces: Sequence[Piece], start: int, units: int, unit_bytes: int) -> _Flags:
    """Which units have a byte that is not zero."""
    found = np.zeros(units, dtype=np.bool_)
    for piece in pieces:
        data = np.frombuffer(piece.data, dtype=np.uint8)
        _mark(found, data != 0, piece.start - start, unit_bytes)
    return found


def _mark(units: _Flags, mask: _Flags, offset: int, unit_bytes: int) -> None:
    """Set the units in which `mask` is set anywhere; its first byte is at `offset`."""
    if not len(mask):
        return
    first = offset // unit_bytes
    starts = np.arange(first + 1, (offset + len(mask) - 1) // unit_bytes + 1) * unit_bytes - offset
    starts = np.concatenate((np.zeros(1, dtype=np.int64), starts))
    units[first : first + len(starts)] |= np.logical_or.reduceat(mask, starts)
