"""The guest → host mapping: spans, windows, and why an entry can't be used."""

from __future__ import annotations

import itertools
import threading
import time
import tracemalloc

import pytest

from qcowgui.errors import CorruptError, TruncatedError
from qcowgui.format.entries import ClusterKind
from qcowgui.format.geometry import Geometry
from qcowgui.format.tables import L2View
from qcowgui.image.mapping import GuestMapping, Span
from qcowgui.image.source import BytesSource
from qcowgui.units import format_offset
from tests.support.base_images import b0, pattern
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.damage import (
    poke,
    set_field,
    set_l1_entry,
    set_l2_entry,
    truncate_at,
)
from tests.support.options import KIB, MIB

COPIED = 1 << 63
ZERO = 1


class SparseSource(BytesSource):
    """A long file of which only some runs are stored, and the reads of it."""

    def __init__(self, size_bytes: int, runs: dict[int, bytes]) -> None:
        super().__init__(b"", "sparse.qcow2")
        self._size_bytes = size_bytes
        self._runs = runs
        self.reads: list[tuple[int, int]] = []

    @property
    def size_bytes(self) -> int:
        return self._size_bytes

    def read_at(self, offset: int, length: int) -> bytes:
        self.reads.append((offset, length))
        result = bytearray(max(0, min(length, self._size_bytes - offset)))
        for start, data in self._runs.items():
            first, last = max(start, offset), min(start + len(data), offset + len(result))
            if first < last:
                result[first - offset : last - offset] = data[first - start : last - start]
        return bytes(result)


def mapping_of(
    image: BuiltImage, *, l1_size: int | None = None, virtual_bytes: int | None = None
) -> GuestMapping:
    layout = image.layout
    return GuestMapping(
        BytesSource(image.to_bytes(), "image.qcow2"),
        Geometry(layout.cluster_bits, extended_l2=layout.extended_l2),
        version=layout.version,
        l1_table_offset=layout.l1.offset,
        l1_size=layout.l1.length // 8 if l1_size is None else l1_size,
        virtual_bytes=image.disk.size if virtual_bytes is None else virtual_bytes,
        has_data_file=image.data_file_name is not None,
    )


def spans(mapping: GuestMapping, start: int, end: int) -> list[Span]:
    found = list(mapping.iter_spans(start, end))
    for left, right in itertools.pairwise(found):
        assert left.end == right.start
    return found


def small_tables(size: int = 8 * MIB) -> BuiltImage:
    """512-byte clusters: an L2 table has 64 entries (32 KiB), a window 128 tables (4 MiB)."""
    builder = ImageBuilder(cluster_bits=9, size=size)
    builder.write(512, pattern(512, 1))
    builder.write(200 * KIB, pattern(512, 2))
    builder.write(size - 512, pattern(512, 3))
    return builder.build()


def test_spans_cover_exactly_the_clusters_that_a_range_touches() -> None:
    mapping = mapping_of(small_tables())
    (span,) = spans(mapping, 700, 1100)
    assert span.view is not None
    assert (span.start, span.end, span.first_cluster) == (700, 1100, 1)
    assert span.view.kinds.tolist() == [ClusterKind.NORMAL, ClusterKind.UNALLOCATED]


def test_many_small_tables_make_one_window() -> None:
    mapping = mapping_of(small_tables())
    assert mapping.window_bytes == 4 * MIB
    found = spans(mapping, 0, 8 * MIB)
    assert [(span.start, span.end) for span in found] == [(0, 4 * MIB), (4 * MIB, 8 * MIB)]
    first, last = found
    assert first.view is not None
    assert first.view.kinds.nonzero()[0].tolist() == [1, 400]
    assert last.view is not None
    assert last.view.kinds.nonzero()[0].tolist() == [8191]


def test_windows_without_tables_are_one_span() -> None:
    image = small_tables(64 * MIB)
    mapping = mapping_of(image)
    found = spans(mapping, 0, 64 * MIB)
    assert [(span.start // MIB, span.end // MIB, span.view is None) for span in found] == [
        (0, 4, False),
        (4, 60, True),
        (60, 64, False),
    ]
    assert found[1].first_cluster == 4 * MIB // 512


def test_a_range_behind_the_disk_is_empty() -> None:
    mapping = mapping_of(small_tables())
    assert spans(mapping, 8 * MIB, 9 * MIB) == []
    assert spans(mapping, 5, 5) == []
    assert spans(mapping, 8 * MIB - 100, 1 << 60)[-1].end == 8 * MIB


def test_an_l1_larger_than_needed_is_read_as_far_as_needed() -> None:
    image = b0(l1_size=4096)
    mapping = mapping_of(image)
    assert mapping.l1_entries_needed == len(mapping.l1_words) == 1
    assert mapping.l2_table_count == 1
    assert mapping.l1_entry(1) is None


def test_shared_l2_tables_count_by_reference() -> None:
    image = small_tables()
    shared = set_l1_entry(image, 3, COPIED | image.layout.l2[0].offset)
    assert mapping_of(shared).l2_table_count == mapping_of(image).l2_table_count + 1


def test_entries() -> None:
    image = b0()
    mapping = mapping_of(image)
    entry = mapping.l1_entry(0)
    assert entry is not None
    assert entry.l2_table_offset == 0x40000
    assert mapping.l2_entry(100).host_offset == 0x50000
    assert mapping.l2_entry(65536).word == 0
    empty = mapping_of(set_l1_entry(image, 0, 0))
    assert empty.l2_entry(100).word == 0


def test_extended_entries_have_their_bitmap() -> None:
    builder = ImageBuilder(cluster_bits=14, size=MIB, extended_l2=True)
    builder.subclusters(3, 0xFF, 0xF00, pattern(16 * KIB))
    mapping = mapping_of(builder.build())
    assert mapping.l2_entry(3 * 16 * KIB + 5).bitmap == 0xF00 << 32 | 0xFF


@pytest.mark.parametrize(
    ("word", "text"),
    [
        (0x50200, "0x5_0200 is no cluster boundary"),
        (COPIED, "at offset 0, where the header is"),
        (COPIED | 0x50001FF & ~1 | 0x200, "no cluster boundary"),
    ],
)
def test_why_a_standard_entry_is_invalid(word: int, text: str) -> None:
    mapping = mapping_of(set_l2_entry(b0(), 1, word))
    error = mapping.error_at(65536 + 77)
    assert isinstance(error, CorruptError)
    assert text in error.message
    assert f"{word:#018x}" in error.message
    assert (error.guest_offset, error.path) == (65536, "image.qcow2")


def test_why_a_zero_flag_is_invalid_in_version_2() -> None:
    mapping = mapping_of(set_l2_entry(b0(version=2), 1, ZERO))
    assert "version 2 does not have" in mapping.error_at(65536).message


@pytest.mark.parametrize("bitmap", [1, 0xFFFF_FFFF, 1 << 32 | 1])
def test_why_a_bitmap_is_invalid(bitmap: int) -> None:
    builder = ImageBuilder(cluster_bits=14, size=MIB, extended_l2=True)
    builder.raw_l2_entry(3, 0 if bitmap < 1 << 32 else 0x10000, bitmap)
    error = mapping_of(builder.build()).error_at(3 * 16 * KIB)
    assert f"impossible subcluster bitmap {bitmap:#018x}" in error.message


@pytest.mark.parametrize(
    ("word", "text"),
    [
        (COPIED | 0x30000, "differs from the guest offset"),
        (1 << 62, "compressed cluster in an image with an external data file"),
    ],
)
def test_why_an_entry_is_invalid_with_a_data_file(word: int, text: str) -> None:
    image = b0(data_file="guest.data")
    assert text in mapping_of(set_l2_entry(image, 2, word)).error_at(2 * 65536).message


def test_a_bad_bitmap_with_a_data_file_is_not_blamed_on_its_offset() -> None:
    builder = ImageBuilder(cluster_bits=14, size=MIB, extended_l2=True, data_file="guest.data")
    builder.raw_l2_entry(3, COPIED | 3 * 16 * KIB, 1 << 32 | 1)
    assert "bitmap" in mapping_of(builder.build()).error_at(3 * 16 * KIB).message


def test_an_unaligned_l2_table_is_missing_and_named() -> None:
    mapping = mapping_of(set_l1_entry(b0(), 0, COPIED | 0x40200))
    (span,) = spans(mapping, 0, 65536)
    assert span.view is not None
    assert span.view.kinds.tolist() == [ClusterKind.MISSING]
    error = mapping.error_at(10)
    assert isinstance(error, CorruptError)
    assert "L1[0] points to an L2 table at 0x4_0200" in error.message


@pytest.mark.parametrize("extended_l2", [False, True])
def test_a_cut_l2_table_keeps_its_whole_entries(extended_l2: bool) -> None:
    builder = ImageBuilder(cluster_bits=14, size=4 * MIB, extended_l2=extended_l2)
    builder.write(0, pattern(16 * KIB))
    image = builder.build()
    entry_bytes = 16 if extended_l2 else 8
    cut = truncate_at(image, image.layout.l2[0].offset + 3 * entry_bytes + 5)
    mapping = mapping_of(cut)
    (span,) = spans(mapping, 0, 4 * MIB)
    assert span.view is not None
    kinds = span.view.kinds.tolist()
    assert kinds[:4] == [
        ClusterKind.NORMAL,
        ClusterKind.UNALLOCATED,
        ClusterKind.UNALLOCATED,
        ClusterKind.MISSING,
    ]
    assert set(kinds[4:]) == {ClusterKind.MISSING}
    error = mapping.error_at(3 * 16 * KIB)
    assert isinstance(error, TruncatedError)
    assert error.file_bytes == len(cut.file)
    assert error.needed_offset == image.layout.l2[0].offset + 4 * entry_bytes
    assert f"at {format_offset(image.layout.l2[0].offset + 3 * entry_bytes)}" in error.message
    assert "L1[0]/L2[3]" in error.message


def test_an_l2_table_far_behind_the_file_is_missing() -> None:
    mapping = mapping_of(set_l1_entry(b0(), 0, COPIED | 1 << 40))
    assert isinstance(mapping.error_at(0), TruncatedError)
    (span,) = spans(mapping, 0, 65536)
    assert span.view is not None
    assert span.view.kinds.tolist() == [ClusterKind.MISSING]


@pytest.mark.parametrize("entries", [1, 5, 128, 200])
def test_an_l1_that_ends_early_makes_the_rest_missing(entries: int) -> None:
    """Whether the table or the file is too short: never a disk that reads as zeros."""
    image = small_tables(16 * MIB)
    mapping = mapping_of(image, l1_size=entries)
    kinds = [
        kind
        for span in spans(mapping, 0, 16 * MIB)
        for kind in (
            [ClusterKind.MISSING if span.missing else ClusterKind.UNALLOCATED]
            * ((span.end - span.start) // 512)
            if span.view is None
            else span.view.kinds.tolist()
        )
    ]
    assert len(kinds) == 16 * MIB // 512
    assert ClusterKind.MISSING not in kinds[: entries * 64]
    assert set(kinds[entries * 64 :]) == {ClusterKind.MISSING}
    error = mapping.error_at(entries * 32 * KIB)
    assert isinstance(error, TruncatedError)
    assert f"L1[{entries}]" in error.message
    assert error.needed_offset == image.layout.l1.offset + (entries + 1) * 8


def test_few_windows_are_kept_and_loaded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    image = small_tables(64 * MIB)
    for table in range(0, 64 * MIB // (32 * KIB), 16):
        image = set_l1_entry(image, table, COPIED | image.layout.l2[6].offset) if table else image
    mapping = mapping_of(image)
    loads: list[int] = []
    load = mapping._load_window

    def load_noted(window: int) -> L2View:
        loads.append(window)
        return load(window)

    monkeypatch.setattr(mapping, "_load_window", load_noted)
    for _ in range(2):
        list(mapping.iter_spans(0, 64 * MIB))
    assert loads == list(range(16)) * 2
    assert len(mapping._cache) == mapping._cached_windows == 8
    loads.clear()
    list(mapping.iter_spans(60 * MIB, 64 * MIB))
    assert loads == []


def test_two_windows_of_the_largest_tables_are_kept() -> None:
    builder = ImageBuilder(cluster_bits=21, size=4 * MIB)
    builder.write(0, b"x")
    assert mapping_of(builder.build())._cached_windows == 2


def test_threads_agree() -> None:
    mapping = mapping_of(small_tables(64 * MIB))
    expected = [span.view is None for span in spans(mapping, 0, 64 * MIB)]
    wrong: list[object] = []

    def look() -> None:
        for _ in range(20):
            found = [span.view is None for span in mapping.iter_spans(0, 64 * MIB)]
            if found != expected:
                wrong.append(found)

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


class _CountedFlags(bytes):
    """Bytes that note how much of them is searched."""

    searched = 0

    def find(self, *args: int) -> int:  # type: ignore[override]
        _, start, end = args
        _CountedFlags.searched += end - start
        return super().find(*args)


def test_a_huge_empty_disk_asked_piece_by_piece_is_searched_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_CountedFlags, "searched", 0)
    mapping = mapping_of(b0(), l1_size=1)
    mapping.virtual_bytes = 1 << 51
    mapping._mapped_bytes = 1 << 51
    windows = mapping.virtual_bytes // mapping.window_bytes
    mapping._used_windows = _CountedFlags(windows)
    pieces = 1 << 10
    step = mapping.virtual_bytes // pieces
    for start in range(0, mapping.virtual_bytes, step):
        assert [
            (span.start, span.end, span.view) for span in spans(mapping, start, start + step)
        ] == [(start, start + step, None)]
    assert 0 < _CountedFlags.searched <= windows + pieces


@pytest.mark.parametrize(
    ("cluster_bits", "virtual_bytes"),
    [(21, 1 << 61), (16, 1 << 44), (16, 1 << 51), (9, 1 << 37)],
)
def test_huge_sparse_disks(cluster_bits: int, virtual_bytes: int) -> None:
    """2 EiB at 2 MiB clusters is 4 Mi L1 entries, the most that QEMU allows."""
    geometry = Geometry(cluster_bits)
    l1_entries = geometry.l1_entries_needed(virtual_bytes)
    table = 1 << 40
    l1_offset = 4 << cluster_bits
    runs = {
        l1_offset + 8 * (l1_entries - 1): (COPIED | table).to_bytes(8, "big"),
        table + geometry.cluster_bytes - 8: (COPIED | table + geometry.cluster_bytes).to_bytes(
            8, "big"
        ),
    }
    source = SparseSource(1 << 62, runs)
    tracemalloc.start()
    began = time.process_time()
    mapping = GuestMapping(
        source,
        geometry,
        version=3,
        l1_table_offset=l1_offset,
        l1_size=l1_entries,
        virtual_bytes=virtual_bytes,
    )
    found = spans(mapping, 0, virtual_bytes)
    seconds = time.process_time() - began
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert seconds < 1.0
    assert peak < 160 * MIB
    assert found[-1].view is not None
    assert found[-1].view.kinds[-1] == ClusterKind.NORMAL
    assert sum(span.view is not None for span in found) == 1


def test_an_impossible_disk_size_costs_nothing() -> None:
    """A snapshot of a damaged table may claim any size: nothing is allocated in proportion."""
    image = set_field(poke(b0(), 24, b"\x7f"), "l1_size", 7)
    mapping = mapping_of(image, virtual_bytes=(1 << 63) - 512)
    (span,) = mapping.iter_spans(1 << 62, (1 << 62) + 5)
    assert (span.missing, span.view) == (True, None)
