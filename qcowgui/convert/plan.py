"""Which guest ranges a conversion looks at: batches in guest order, and the bytes skipped."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from qcowgui.engine.work import CancelToken
from qcowgui.image.chain import ChainLayer, OpenedImage
from qcowgui.image.layer import Extent, ExtentKind
from qcowgui.image.reader import GuestImage
from qcowgui.units import GIB, align_up

_STORED: Final = (ExtentKind.DATA, ExtentKind.COMPRESSED)
_PART_BYTES: Final = 64 * GIB
"""Guest bytes between two looks at the token."""
_MAX_PARTS: Final = 4096


class Batch(NamedTuple):
    """A guest range that one worker handles at a time.

    Attributes:
        number: Its place in the order, without gaps.
        start: First guest byte.
        end: End (exclusive).
        skipped_bytes: Guest bytes before it, since the last batch, that need no work.
    """

    number: int
    start: int
    end: int
    skipped_bytes: int


def is_stored(extent: Extent) -> bool:
    """Whether an extent may hold something else than zeros."""
    return extent.kind in _STORED


def is_own(extent: Extent) -> bool:
    """Whether the image's own layer decides an extent, not its backing file."""
    return extent.depth == 0 and extent.kind is not ExtentKind.UNALLOCATED


def iter_stored_ranges(image: GuestImage, token: CancelToken) -> Iterator[tuple[int, int]]:
    """The guest ranges of an image that may hold something else than zeros, in order.

    Raises:
        Cancelled: When the token was set.
    """
    return _iter_ranges(image, is_stored, token)


def iter_own_ranges(image: GuestImage, token: CancelToken) -> Iterator[tuple[int, int]]:
    """The guest ranges that the image's own layer decides, in order.

    Raises:
        Cancelled: When the token was set.
    """
    return _iter_ranges(image, is_own, token)


def _iter_ranges(
    image: GuestImage, wanted: Callable[[Extent], bool], token: CancelToken
) -> Iterator[tuple[int, int]]:
    for extent in iter_all_extents(image, token):
        if wanted(extent):
            yield extent.start, extent.end


def iter_all_extents(image: GuestImage, token: CancelToken) -> Iterator[Extent]:
    """The whole disk as extents without host offsets, in order; some neighbours are not joined.

    Raises:
        Cancelled: When the token was set.
    """
    # In parts: a disk may have terabytes of tables that say "zeros" before the next extent.
    # Not too many of them for the exabytes that a sparse image may claim.
    part_bytes = max(_PART_BYTES, align_up(image.size_bytes // _MAX_PARTS, _PART_BYTES))
    for start in range(0, image.size_bytes, part_bytes):
        token.raise_if_cancelled()
        yield from image.iter_extents(start, start + part_bytes, with_hosts=False)


def iter_ranges_over(
    source: OpenedImage, base: OpenedImage | None, token: CancelToken
) -> Iterator[tuple[int, int]]:
    """The guest ranges of `source` that an image may need clusters for, in order of their starts.

    Args:
        source: What the image will hold.
        base: The backing file that it will have, or None.
        token: Stops the search.

    Raises:
        Cancelled: When the token was set.
    """
    if base is None:
        return iter_stored_ranges(source, token)
    if len(source.chain) > 1 and _same_image(source.chain[1], base.chain[0]):
        # The target keeps the source's own backing file: only what the overlay decides can differ.
        return iter_own_ranges(source, token)
    return merge_ranges(iter_stored_ranges(source, token), iter_stored_ranges(base, token))


def _same_image(left: ChainLayer, right: ChainLayer) -> bool:
    """Whether two layers are one file, read in one way."""
    return left.identity == right.identity and left.format == right.format


def merge_ranges(
    left: Iterator[tuple[int, int]], right: Iterator[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Both sequences of ranges as one, in order of their starts; the ranges may overlap."""
    yield from heapq.merge(left, right)


def iter_batches(
    ranges: Iterator[tuple[int, int]], *, size_bytes: int, batch_bytes: int
) -> Iterator[Batch]:
    """The cells of a grid of `batch_bytes` that `ranges` touch.

    Args:
        ranges: [start, end) in order of their starts.
        size_bytes: The disk's size: the last cell ends there.
        batch_bytes: A multiple of every cluster size concerned.

    `skipped_bytes` and the batches' lengths add up to the end of the last batch; what follows it is
    for the caller to count.
    """
    done = 0
    number = 0
    for start, end in ranges:
        cell = max(start - start % batch_bytes, done)
        stop = min(end, size_bytes)
        while cell < stop:
            cell_end = min((cell // batch_bytes + 1) * batch_bytes, size_bytes)
            yield Batch(number, cell, cell_end, cell - done)
            done = cell_end
            cell = cell_end
            number += 1
