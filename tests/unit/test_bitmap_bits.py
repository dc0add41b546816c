"""What dirty bitmaps mark: bits of the builder's and of QEMU's own bitmaps, damaged ones too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled, LimitError
from qcowgui.format.bitmaps import BitmapEntry
from qcowgui.format.geometry import Geometry
from qcowgui.image.bitmap_bits import (
    Mark,
    cluster_marks,
    iter_bit_runs,
    iter_dirty_ranges,
)
from qcowgui.image.inspect import ImageReport, inspect_source
from qcowgui.image.source import BytesSource, FileSource
from tests.support import oracle
from tests.support.builder import ImageBuilder
from tests.support.options import KIB, MIB


def geometry_of(report: ImageReport) -> Geometry:
    geometry = report.header.geometry
    assert geometry is not None
    return geometry


def opened(
    builder: ImageBuilder, change: tuple[int, bytes] | None = None
) -> tuple[BytesSource, ImageReport, BitmapEntry]:
    data = bytearray(builder.build().to_bytes())
    if change is not None:
        data[change[0] : change[0] + len(change[1])] = change[1]
    source = BytesSource(bytes(data))
    report = inspect_source(source)
    return source, report, report.bitmaps[0]


def marks_of(
    source: BytesSource, report: ImageReport, bitmap: BitmapEntry, first: int, last: int
) -> list[int]:
    marks = cluster_marks(
        source,
        bitmap,
        geometry_of(report),
        report.virtual_bytes,
        first=first,
        last=last,
        token=CancelToken(),
    )
    return [int(mark) for mark in marks]


@given(
    cluster_bits=st.sampled_from([9, 12]),
    granularity_bits=st.integers(9, 16),
    sectors=st.lists(st.tuples(st.integers(0, 2047), st.integers(1, 300)), max_size=6),
)
def test_marks_are_the_bits_that_were_set(
    cluster_bits: int, granularity_bits: int, sectors: list[tuple[int, int]]
) -> None:
    ranges = [(a * 512, min(b * 512, MIB - a * 512)) for a, b in sectors]
    builder = ImageBuilder(cluster_bits=cluster_bits, size=MIB)
    builder.bitmap("b", granularity_bits=granularity_bits, set_ranges=ranges)
    source, report, bitmap = opened(builder)
    step = 1 << granularity_bits
    expected = np.zeros(MIB, dtype=bool)
    for start, length in ranges:
        expected[start // step * step : -(-(start + length) // step) * step] = True
    found = np.zeros(MIB, dtype=bool)
    ends = [-1]
    for start, end in iter_dirty_ranges(source, bitmap, geometry_of(report), MIB):
        assert start > ends[-1]  # joined, and in order
        found[start:end] = True
        ends.append(end)
    assert np.array_equal(found, expected)
    clusters = np.any(expected.reshape(-1, 1 << cluster_bits), axis=1).tolist()
    wanted = [Mark.DIRTY if dirty else Mark.CLEAN for dirty in clusters]
    assert marks_of(source, report, bitmap, 0, len(wanted)) == wanted
    middle = len(wanted) // 3
    assert marks_of(source, report, bitmap, middle, len(wanted) - 5) == wanted[middle:-5]


def test_runs_cover_the_disk_without_gaps() -> None:
    builder = ImageBuilder(cluster_bits=9, size=8 * MIB)
    builder.bitmap("b", granularity_bits=9, set_ranges=[(3 * MIB, 512)])
    source, report, bitmap = opened(builder)
    runs = list(iter_bit_runs(source, bitmap, geometry_of(report), 8 * MIB))
    assert [run.first for run in runs] == [0, 4096, 8192, 12288]
    assert [run.last for run in runs] == [4096, 8192, 12288, 16384]
    assert [run.mark for run in runs] == [Mark.CLEAN, None, Mark.CLEAN, Mark.CLEAN]


def test_qemu_s_own_bitmap(tmp_path: Path) -> None:
    path = oracle.create(tmp_path / "q.qcow2", 64 * MIB)
    oracle.qemu_img("bitmap", "--add", "-g", "64k", path, "b0")
    for offset, length in ((0, 512), (MIB + 100 * KIB, 64 * KIB), (64 * MIB - 4 * KIB, 4 * KIB)):
        oracle.qemu_io(path, f"write -P 7 {offset} {length}")
    with FileSource(path) as source:
        report = inspect_source(source)
        found = list(iter_dirty_ranges(source, report.bitmaps[0], geometry_of(report), 64 * MIB))
    assert found == [
        (0, 64 * KIB),
        (MIB + 64 * KIB, MIB + 192 * KIB),
        (64 * MIB - 64 * KIB, 64 * MIB),
    ]


def test_an_entry_of_ones_marks_all_that_it_covers() -> None:
    builder = ImageBuilder(cluster_bits=9, size=8 * MIB)
    builder.bitmap("b", granularity_bits=9, set_ranges=[(0, 512)])
    source, report, bitmap = opened(builder)
    table = bitmap.bitmap_table_offset
    source, report, bitmap = opened(builder, (table + 8, (1).to_bytes(8, "big")))
    found = list(iter_dirty_ranges(source, bitmap, geometry_of(report), 8 * MIB))
    assert found == [(0, 512), (2 * MIB, 4 * MIB)]


@pytest.mark.parametrize("word", [1 << 1, 1 << 60, (1 << 40) | 512, 513])
def test_bits_that_can_not_be_read_are_unknown(word: int) -> None:
    builder = ImageBuilder(cluster_bits=9, size=8 * MIB)
    builder.bitmap("b", granularity_bits=9, set_ranges=[(0, 512), (5 * MIB, 512)])
    _, _, bitmap = opened(builder)
    change = bitmap.bitmap_table_offset, word.to_bytes(8, "big")
    source, report, bitmap = opened(builder, change)
    marks = marks_of(source, report, bitmap, 0, 16384)
    assert set(marks[:4096]) == {Mark.UNKNOWN}
    assert marks[10240] == Mark.DIRTY
    assert set(marks[4096:10240]) == {Mark.CLEAN}
    found = list(iter_dirty_ranges(source, bitmap, geometry_of(report), 8 * MIB))
    assert found == [(5 * MIB, 5 * MIB + 512)]


def test_one_bit_for_many_clusters_costs_no_more_than_is_asked_for() -> None:
    builder = ImageBuilder(cluster_bits=9, size=1 << 33)
    builder.bitmap("b", granularity_bits=31, set_ranges=[(1 << 32, 512)])
    source, report, bitmap = opened(builder)
    edge = (1 << 32) >> 9
    assert marks_of(source, report, bitmap, edge - 2, edge + 2) == [
        Mark.CLEAN,
        Mark.CLEAN,
        Mark.DIRTY,
        Mark.DIRTY,
    ]


def test_a_bitmap_without_bounds_is_refused() -> None:
    builder = ImageBuilder(cluster_bits=9, size=MIB)
    builder.bitmap("b", granularity_bits=9, set_ranges=[])
    source, report, bitmap = opened(builder)
    with pytest.raises(LimitError, match="bytes"):
        list(iter_bit_runs(source, bitmap, geometry_of(report), 1 << 62))
    for bits in (8, 32, 200):
        changed = BitmapEntry(
            bitmap.index, 0, 1, 0, 1, bits, b"", "b", b"b", bitmap.entry_offset, 32
        )
        with pytest.raises(LimitError, match="granularity"):
            list(iter_bit_runs(source, changed, geometry_of(report), MIB))


def test_a_table_that_is_too_short_leaves_the_rest_unknown() -> None:
    builder = ImageBuilder(cluster_bits=9, size=8 * MIB)
    builder.bitmap("b", granularity_bits=9, set_ranges=[(0, 512)])
    source, report, bitmap = opened(builder)
    short = BitmapEntry(
        bitmap.index,
        bitmap.bitmap_table_offset,
        1,
        0,
        1,
        9,
        b"",
        "b",
        b"b",
        bitmap.entry_offset,
        bitmap.entry_bytes,
    )
    marks = marks_of(source, report, short, 0, 16384)
    assert marks[:2] == [Mark.DIRTY, Mark.CLEAN]
    assert set(marks[4096:]) == {Mark.UNKNOWN}


def test_it_can_be_cancelled() -> None:
    builder = ImageBuilder(cluster_bits=9, size=MIB)
    builder.bitmap("b", granularity_bits=9, set_ranges=[(0, 512)])
    source, report, bitmap = opened(builder)
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        cluster_marks(source, bitmap, geometry_of(report), MIB, first=0, last=16, token=token)
