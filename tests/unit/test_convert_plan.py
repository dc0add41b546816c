"""Batches cover what may hold data, in order, without overlap; the rest is counted as skipped."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from qcowgui.convert.plan import (
    Batch,
    is_own,
    is_stored,
    iter_batches,
    iter_own_ranges,
    iter_stored_ranges,
    merge_ranges,
)
from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled
from qcowgui.image.chain import open_image
from qcowgui.image.layer import Extent, ExtentKind
from tests.converting import ALLOW
from tests.support.base_images import pattern, text
from tests.support.builder import ImageBuilder
from tests.support.options import GIB, KIB, MIB, TIB

Ranges = list[tuple[int, int]]


def batches(ranges: Ranges, size_bytes: int) -> list[Batch]:
    return list(iter_batches(iter(ranges), size_bytes=size_bytes, batch_bytes=100))


@pytest.mark.parametrize(
    ("ranges", "size_bytes", "expected"),
    [
        ([], 1000, []),
        ([(0, 1)], 1000, [(0, 100, 0)]),
        ([(0, 100)], 1000, [(0, 100, 0)]),
        ([(0, 101)], 1000, [(0, 100, 0), (100, 200, 0)]),
        ([(250, 260)], 1000, [(200, 300, 200)]),
        ([(10, 20), (30, 40)], 1000, [(0, 100, 0)]),
        ([(10, 20), (130, 140)], 1000, [(0, 100, 0), (100, 200, 0)]),
        ([(10, 20), (950, 960)], 955, [(0, 100, 0), (900, 955, 800)]),
        ([(0, 500), (50, 60), (480, 510)], 505, [*((n, n + 100, 0) for n in range(0, 500, 100)),
                                               (500, 505, 0)]),
        ([(0, 10), (600, 900)], 500, [(0, 100, 0)]),
        ([(400, 900)], 450, [(400, 450, 400)]),
    ],
)  # fmt: skip
def test_batches(ranges: Ranges, size_bytes: int, expected: list[tuple[int, int, int]]) -> None:
    found = batches(ranges, size_bytes)
    assert [(batch.start, batch.end, batch.skipped_bytes) for batch in found] == expected
    assert [batch.number for batch in found] == list(range(len(found)))


def test_merged_ranges_are_in_order_of_their_starts() -> None:
    merged = list(merge_ranges(iter([(0, 5), (20, 30)]), iter([(3, 25), (40, 41)])))
    assert merged == [(0, 5), (3, 25), (20, 30), (40, 41)]


def extent(kind: ExtentKind, depth: int = 0) -> Extent:
    return Extent(0, 1, kind, depth, None)


def test_what_is_stored_and_what_is_the_images_own() -> None:
    kinds = ExtentKind
    assert [is_stored(extent(kind)) for kind in kinds] == [False, False, True, True]
    assert [is_own(extent(kind)) for kind in kinds] == [False, True, True, True]
    assert not any(is_own(extent(kind, depth=1)) for kind in kinds)


@pytest.fixture
def overlay(tmp_path: Path) -> Path:
    base = ImageBuilder(cluster_bits=12, size=MIB)
    base.write(0, pattern(64 * KIB))
    base.build().write_to(tmp_path / "base.qcow2")
    top = ImageBuilder(cluster_bits=12, size=MIB, backing_file="base.qcow2", backing_format="qcow2")
    top.write(8 * KIB, pattern(4 * KIB, 2))
    top.zero(5)
    top.write_compressed(200, text(4 * KIB))
    return top.build().write_to(tmp_path / "top.qcow2")


def test_stored_and_own_ranges(overlay: Path) -> None:
    with open_image(overlay, gate=ALLOW) as image:
        stored = _joined(list(iter_stored_ranges(image, CancelToken())))
        own = _joined(list(iter_own_ranges(image, CancelToken())))
    page = 4 * KIB
    assert stored == [(0, 5 * page), (6 * page, 16 * page), (200 * page, 201 * page)]
    assert own == [(2 * page, 3 * page), (5 * page, 6 * page), (200 * page, 201 * page)]


def _joined(ranges: Ranges) -> Ranges:
    joined: Ranges = []
    for start, end in ranges:
        if joined and joined[-1][1] == start:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined


def test_ranges_far_apart(tmp_path: Path) -> None:
    builder = ImageBuilder(cluster_bits=16, size=3 * TIB)
    places = [0, 64 * GIB - 64 * KIB, 64 * GIB, 3 * TIB - 64 * KIB]
    for index, place in enumerate(places):
        builder.write(place, pattern(64 * KIB, index))
    with open_image(builder.build().write_to(tmp_path / "far.qcow2")) as image:
        found = list(iter_stored_ranges(image, CancelToken()))
    assert found == [(place, place + 64 * KIB) for place in places]


def test_a_set_token_stops_the_search(overlay: Path) -> None:
    token = CancelToken()
    token.cancel()
    with open_image(overlay, gate=ALLOW) as image:
        for ranges in (iter_stored_ranges, iter_own_ranges):
            with pytest.raises(Cancelled):
                next(ranges(image, token))


def test_the_token_is_looked_at_between_parts_of_the_disk(tmp_path: Path) -> None:
    """Tables that say "zeros" hold no batch at which a worker would look at it."""
    builder = ImageBuilder(cluster_bits=16, size=200 * GIB)
    builder.write(0, pattern(64 * KIB))
    builder.write(130 * GIB, pattern(64 * KIB))
    token = CancelToken()
    with open_image(builder.build().write_to(tmp_path / "far.qcow2")) as image:
        ranges = iter_stored_ranges(image, token)
        assert next(ranges) == (0, 64 * KIB)
        token.cancel()
        with pytest.raises(Cancelled):
            next(ranges)


def test_a_disk_of_exabytes_is_searched_quickly(tmp_path: Path) -> None:
    builder = ImageBuilder(cluster_bits=21, size=1 << 61)
    builder.write(0, pattern(MIB))
    with open_image(builder.build().write_to(tmp_path / "huge.qcow2")) as image:
        began = time.monotonic()
        assert list(iter_stored_ranges(image, CancelToken())) == [(0, 2 * MIB)]
    assert time.monotonic() - began < 5
