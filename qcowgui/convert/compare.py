"""Whether two images give a guest the same bytes, and where they first differ."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from qcowgui.codec.cluster import Buffer
from qcowgui.convert.plan import Batch, iter_batches, iter_stored_ranges, merge_ranges
from qcowgui.convert.zeros import is_zero
from qcowgui.engine.work import (
    CancelToken,
    Counter,
    Executor,
    SharedIterator,
    raise_outcome,
    run,
)
from qcowgui.image.layer import Extent, ExtentKind, Piece
from qcowgui.image.reader import GuestImage
from qcowgui.units import format_offset


@dataclass(frozen=True, slots=True)
class Comparison:
    """The answer of `compare_images`.

    Attributes:
        equal: Whether a guest can't tell the two apart.
        first_difference: The first guest byte that differs, or None.
        message: The answer as a sentence.
    """

    equal: bool
    first_difference: int | None
    message: str


def compare_images(
    left: GuestImage,
    right: GuestImage,
    executor: Executor,
    *,
    strict: bool = False,
    token: CancelToken | None = None,
    counter: Counter | None = None,
    tick: Callable[[], None] | None = None,
) -> Comparison:
    """Compare two images as `qemu-img compare` does.

    Args:
        left: One image.
        right: The other.
        executor: Where to work.
        strict: Whether different sizes, or ranges that only one of the two allocates, count as a
            difference. Otherwise the longer one's tail must read as zeros.
        token: Stops the comparison.
        counter: Gets guest bytes as they are compared: the longer size in all.
        tick: Called now and then in this thread.

    Raises:
        ImageError: When either can't be read.
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
    """
    if strict and left.size_bytes != right.size_bytes:
        return Comparison(
            False,
            None,
            f"The sizes differ: {left.size_bytes:,} and {right.size_bytes:,} bytes.",
        )
    if strict:
        differing = _first_allocation_difference(left, right)
        if differing is not None:
            return Comparison(
                False,
                differing,
                f"Only one image has a cluster at guest offset {differing} "
                f"({format_offset(differing)}).",
            )
    found = first_difference(left, right, executor, token=token, counter=counter, tick=tick)
    if found is not None:
        return Comparison(
            False, found, f"Content differs at guest offset {found} ({format_offset(found)})."
        )
    if left.size_bytes != right.size_bytes:
        return Comparison(True, None, "Images are equal; the longer one ends with zeros.")
    return Comparison(True, None, "Images are equal.")


def first_difference(
    left: GuestImage,
    right: GuestImage,
    executor: Executor,
    *,
    token: CancelToken | None = None,
    counter: Counter | None = None,
    tick: Callable[[], None] | None = None,
) -> int | None:
    """The first guest byte at which the images differ, or None; a shorter one ends with zeros.

    Arguments and errors are those of `compare_images`.
    """
    token = token or CancelToken()
    search = _Search(left, right, token, counter or Counter())
    raise_outcome(run(executor, search.work, token, tick=tick))
    search.count_rest()
    return search.found


class _Search:
    """The shared state of one comparison."""

    def __init__(
        self, left: GuestImage, right: GuestImage, token: CancelToken, counter: Counter
    ) -> None:
        self._left = left
        self._right = right
        self._token = token
        self._counter = counter
        self._size_bytes = max(left.size_bytes, right.size_bytes)
        self._planned = 0
        self._batch_bytes = max(left.batch_bytes, right.batch_bytes)
        self._lock = threading.Lock()
        self.found: int | None = None
        self._batches = SharedIterator(self._iter_batches())

    def _iter_batches(self) -> Iterator[Batch]:
        ranges = merge_ranges(
            iter_stored_ranges(self._left, self._token),
            iter_stored_ranges(self._right, self._token),
        )
        for batch in iter_batches(
            ranges, size_bytes=self._size_bytes, batch_bytes=self._batch_bytes
        ):
            # Batches come in order: once one differs, only those already handed out can be earlier.
            if self.found is not None:
                return
            self._counter.add(batch.skipped_bytes)
            self._planned = batch.end
            yield batch

    def work(self, _worker_index: int) -> None:
        left_context, right_context = self._left.context(), self._right.context()
        for batch in self._batches:
            self._token.raise_if_cancelled()
            left = self._left.read_pieces(batch.start, batch.end, left_context)
            right = self._right.read_pieces(batch.start, batch.end, right_context)
            found = compare_pieces(left, right)
            if found is not None:
                with self._lock:
                    self.found = found if self.found is None else min(self.found, found)
            self._counter.add(batch.end - batch.start)

    def count_rest(self) -> None:
        """Count what lies behind the last batch: zeros on both sides."""
        if self.found is None:
            self._counter.add(self._size_bytes - self._planned)


def compare_pieces(left: Sequence[Piece], right: Sequence[Piece]) -> int | None:
    """The first guest byte at which two reads of one range differ, or None."""
    edges = sorted(
        {edge for piece in (*left, *right) for edge in (piece.start, piece.start + len(piece.data))}
    )
    lefts, rights = iter(left), iter(right)
    one, other = next(lefts, None), next(rights, None)
    for start, end in itertools.pairwise(edges):
        while one is not None and one.start + len(one.data) <= start:
            one = next(lefts, None)
        while other is not None and other.start + len(other.data) <= start:
            other = next(rights, None)
        found = _compare_part(_part(one, start, end), _part(other, start, end))
        if found is not None:
            return start + found
    return None


def _part(piece: Piece | None, start: int, end: int) -> Buffer | None:
    """The bytes [start, end) of a piece, or None when it has none of them."""
    if piece is None or piece.start >= end:
        return None
    if piece.start == start and len(piece.data) == end - start:
        return piece.data
    return memoryview(piece.data)[start - piece.start : end - piece.start]


def _compare_part(left: Buffer | None, right: Buffer | None) -> int | None:
    if left is None or right is None:
        data = right if left is None else left
        if data is None or is_zero(data):
            return None
        return int(np.flatnonzero(np.frombuffer(data, dtype=np.uint8))[0])
    one, other = np.frombuffer(left, dtype=np.uint8), np.frombuffer(right, dtype=np.uint8)
    if np.array_equal(one, other):
        return None
    return int(np.flatnonzero(one != other)[0])


def _first_allocation_difference(left: GuestImage, right: GuestImage) -> int | None:
    """The first guest byte that one image allocates and the other does not."""
    lefts = left.iter_extents(with_hosts=False)
    rights = right.iter_extents(with_hosts=False)
    one, other = next(lefts, None), next(rights, None)
    while one is not None and other is not None:
        if _allocated(one) != _allocated(other):
            return max(one.start, other.start)
        if one.end <= other.end:
            next_one = next(lefts, None)
            other = next(rights, None) if one.end == other.end else other
            one = next_one
        else:
            other = next(rights, None)
    return None


def _allocated(extent: Extent) -> bool:
    return extent.kind is not ExtentKind.UNALLOCATED
