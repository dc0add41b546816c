"""A bounded set of joined ranges, against sets of bytes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.check.ranges import MAX_RANGES, Ranges, RangeSet
from qcowgui.format import limits

BATCHES = st.lists(
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 8)), max_size=120), max_size=5
)


def union(pairs: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The joined ranges, from the set of all bytes."""
    covered = {byte for start, end in pairs for byte in range(start, end)}
    starts = sorted(byte for byte in covered if byte - 1 not in covered)
    ends = sorted(byte + 1 for byte in covered if byte + 1 not in covered)
    return tuple(zip(starts, ends, strict=True))


def filled(batches: list[list[tuple[int, int]]]) -> Ranges:
    ranges = RangeSet()
    for batch in batches:
        starts = np.array([start for start, _ in batch], dtype=np.int64)
        ends = np.array([start + length for start, length in batch], dtype=np.int64)
        ranges.add_many(starts, ends)
    return ranges.ranges()


@given(BATCHES)
def test_batches_against_sets_of_bytes(batches: list[list[tuple[int, int]]]) -> None:
    pairs = [(start, start + length) for batch in batches for start, length in batch]
    found, everything = filled(batches), union(pairs)
    assert union(found.spans) == found.spans
    if found.complete:
        assert found.spans == everything
    else:
        assert len(found.spans) <= MAX_RANGES
        assert union([*found.spans, *everything]) == everything
    steps = [union(pairs[:count]) for count in range(1, len(pairs) + 1)]
    if all(len(step) <= MAX_RANGES for step in steps):
        assert found.complete


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 8)), max_size=120))
def test_one_by_one_against_sets_of_bytes(pairs: list[tuple[int, int]]) -> None:
    ranges = RangeSet()
    for start, length in pairs:
        ranges.add(start, start + length)
    found, everything = ranges.ranges(), union((start, start + size) for start, size in pairs)
    assert found.spans == everything if found.complete else len(found.spans) <= MAX_RANGES
    assert union([*found.spans, *everything]) == everything


def test_the_first_ranges_are_kept_and_still_grow() -> None:
    starts = np.arange(MAX_RANGES + 1, dtype=np.int64) * 10
    ranges = RangeSet()
    ranges.add_many(starts, starts + 2)
    spans, complete = ranges.ranges()
    assert not complete
    assert spans == tuple((start, start + 2) for start in starts[:-1].tolist())
    ranges.add(2, 10)
    assert ranges.ranges().spans[0] == (0, 12)


def test_exactly_as_many_as_fit() -> None:
    starts = np.arange(MAX_RANGES, dtype=np.int64) * 10
    ranges = RangeSet()
    ranges.add_many(starts, starts + 10 - 1)
    assert len(ranges.ranges().spans) == MAX_RANGES
    assert ranges.ranges().complete
    ranges.add_many(starts, starts + 10)
    assert ranges.ranges() == Ranges(((0, MAX_RANGES * 10),), complete=True)


def test_impossible_offsets_do_no_harm() -> None:
    ranges = RangeSet()
    ranges.add(1 << 64, (1 << 64) + 512)
    ranges.add(0, 1 << 64)
    ranges.add_many(np.array([5], dtype=np.int64), np.array([6], dtype=np.int64))
    assert ranges.ranges() == Ranges(((0, limits.MAX_OFFSET),), complete=True)
