"""The guest's view of a whole chain: extents, bytes, threads, and what is left unknown."""

from __future__ import annotations

import itertools
import random
import threading
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from qcowgui.errors import CorruptError, ImageError
from qcowgui.image.chain import OpenedImage, open_image
from qcowgui.image.layer import Extent, ExtentKind, Piece, RawLayer
from qcowgui.image.reader import GuestImage
from qcowgui.image.references import AllowGate
from qcowgui.image.source import BytesSource
from tests.support.base_images import pattern, text
from tests.support.builder import ImageBuilder
from tests.support.damage import set_l2_entry
from tests.support.options import GIB, KIB, MIB, TIB

CLUSTER = 64 * KIB
U, Z, D, C = ExtentKind.UNALLOCATED, ExtentKind.ZERO, ExtentKind.DATA, ExtentKind.COMPRESSED


@pytest.fixture
def chain(tmp_path: Path) -> Iterator[tuple[OpenedImage, bytes]]:
    """Top of 8 clusters, a middle of 6 with 4 KiB clusters, a raw base of 3.5; and the content."""
    base = pattern(3 * CLUSTER + CLUSTER // 2, 1)
    (tmp_path / "base.raw").write_bytes(base)
    middle = ImageBuilder(
        cluster_bits=12, size=6 * CLUSTER, backing_file="base.raw", backing_format="raw"
    )
    middle.write(CLUSTER + 4 * KIB, pattern(8 * KIB, 2))
    middle.write_compressed(16 * 3 + 2, text(4 * KIB, 3))
    middle.zero(16 * 2)
    middle_image = middle.build()
    middle_image.write_to(tmp_path / "middle.qcow2")
    top = ImageBuilder(size=8 * CLUSTER, backing_file="middle.qcow2", backing_format="qcow2")
    top.write(0, pattern(CLUSTER, 4))
    top.write_compressed(6, text(CLUSTER, 5))
    top_image = top.build()
    path = top_image.write_to(tmp_path / "top.qcow2")
    content = top_image.guest_bytes(backing=middle_image.guest_bytes(backing=base))
    with open_image(path, gate=AllowGate()) as image:
        yield image, content


def test_bytes_through_the_chain(chain: tuple[OpenedImage, bytes]) -> None:
    image, content = chain
    assert image.read(0, image.size_bytes) == content
    context = image.context()
    generator = random.Random(7)
    for _ in range(300):
        start = generator.randrange(len(content))
        length = generator.randrange(1, 3 * CLUSTER)
        assert image.read(start, length, context) == content[start : start + length]


def test_extents_through_the_chain(chain: tuple[OpenedImage, bytes]) -> None:
    image, _ = chain
    found = [(e.start, e.length, e.kind, e.depth) for e in image.iter_extents(with_hosts=False)]
    page = 4 * KIB
    assert found == [
        (0, CLUSTER, D, 0),
        (CLUSTER, page, D, 2),
        (CLUSTER + page, 2 * page, D, 1),
        (CLUSTER + 3 * page, CLUSTER - 3 * page, D, 2),
        (2 * CLUSTER, page, Z, 1),
        (2 * CLUSTER + page, 17 * page, D, 2),
        (3 * CLUSTER + 2 * page, page, C, 1),
        (3 * CLUSTER + 3 * page, 5 * page, D, 2),
        (3 * CLUSTER + CLUSTER // 2, 2 * CLUSTER + CLUSTER // 2, U, 1),
        (6 * CLUSTER, CLUSTER, C, 0),
        (7 * CLUSTER, CLUSTER, U, 0),
    ]


def test_any_part_of_the_extents_is_cut_from_the_whole(chain: tuple[OpenedImage, bytes]) -> None:
    image, _ = chain
    whole = list(image.iter_extents())
    for start, end in ((1, 2), (5000, CLUSTER + 1), (CLUSTER - 1, 5 * CLUSTER), (400_000, 1 << 40)):
        expected = [cut for extent in whole if (cut := clipped(extent, start, end)) is not None]
        assert list(image.iter_extents(start, end)) == expected
    assert list(image.iter_extents(image.size_bytes)) == []


def clipped(extent: Extent, start: int, end: int) -> Extent | None:
    first, last = max(start, extent.start), min(end, extent.end)
    if first >= last:
        return None
    host = extent.host_offset
    moved = None if host is None else host + first - extent.start
    return Extent(first, last - first, extent.kind, extent.depth, moved)


def test_joined_extents_differ_from_their_neighbours(chain: tuple[OpenedImage, bytes]) -> None:
    image, _ = chain
    found = list(image.iter_extents())
    for left, right in itertools.pairwise(found):
        assert left.end == right.start
        same = (left.kind, left.depth) == (right.kind, right.depth)
        if same and left.host_offset is not None:
            assert left.host_offset + left.length != right.host_offset


def test_pieces_are_ordered_and_leave_out_zeros(chain: tuple[OpenedImage, bytes]) -> None:
    image, content = chain
    pieces = image.read_pieces(100, 8 * CLUSTER - 100, image.context())
    ends = [piece.start + len(piece.data) for piece in pieces]
    starts = [piece.start for piece in pieces]
    assert all(end <= start for end, start in zip(ends, starts[1:], strict=False))
    assert all(
        bytes(piece.data) == content[piece.start : piece.start + len(piece.data)]
        for piece in pieces
    )
    assert all(piece.start + len(piece.data) <= 7 * CLUSTER for piece in pieces)


def test_streamed_pieces_are_those_of_a_read(chain: tuple[OpenedImage, bytes]) -> None:
    image, content = chain
    streamed: dict[int, bytes] = {}

    def consume(pieces: list[Piece]) -> None:
        starts = [piece.start for piece in pieces]
        assert starts == sorted(starts)
        streamed.update((piece.start, bytes(piece.data)) for piece in pieces)

    image.stream_pieces(0, image.size_bytes, image.context(), consume)
    read = image.read_pieces(0, image.size_bytes, image.context())
    assert streamed == {piece.start: bytes(piece.data) for piece in read}
    assert any(content[start : start + len(data)] == data for start, data in streamed.items())


def test_many_threads_agree(chain: tuple[OpenedImage, bytes]) -> None:
    image, content = chain
    wrong: list[int] = []

    def look(seed: int) -> None:
        generator = random.Random(seed)
        context = image.context() if seed % 2 else None
        for _ in range(60):
            start = generator.randrange(len(content))
            length = generator.randrange(1, 2 * CLUSTER)
            if image.read(start, length, context) != content[start : start + length]:
                wrong.append(start)

    threads = [threading.Thread(target=look, args=(seed,)) for seed in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_reads_without_a_context_share_one(chain: tuple[OpenedImage, bytes]) -> None:
    """A context has megabytes of buffers: one for each small read would cost more than it."""
    image, content = chain
    for start in range(0, 4 * CLUSTER, 10_000):
        assert image.read(start, 100) == content[start : start + 100]
    assert len(image._idle_contexts) == 1
    assert len(image._decoders) <= 2


def test_a_failed_read_gives_its_error_again(tmp_path: Path) -> None:
    builder = ImageBuilder(size=4 * CLUSTER)
    builder.write(0, pattern(CLUSTER))
    path = set_l2_entry(builder.build(), 1, 0x200).write_to(tmp_path / "image.qcow2")
    with open_image(path) as image:
        for _ in range(2):
            with pytest.raises(CorruptError):
                image.read(0, 2 * CLUSTER)
            assert image.read(0, CLUSTER) == pattern(CLUSTER)


# A layer alone


@pytest.fixture
def overlay(tmp_path: Path) -> Path:
    builder = ImageBuilder(size=8 * CLUSTER, backing_file="gone.qcow2", backing_format="qcow2")
    builder.write(CLUSTER, pattern(CLUSTER))
    builder.zero(2)
    return builder.build().write_to(tmp_path / "overlay.qcow2")


def test_a_layer_alone_never_takes_the_unknown_for_zeros(overlay: Path) -> None:
    with open_image(overlay, follow=False) as image:
        assert image.missing is not None
        assert image.missing.name == "gone.qcow2"
        assert [(e.start, e.kind) for e in image.iter_extents()] == [
            (0, U),
            (CLUSTER, D),
            (2 * CLUSTER, Z),
            (3 * CLUSTER, U),
        ]
        assert image.read(CLUSTER, 2 * CLUSTER) == pattern(CLUSTER) + bytes(CLUSTER)
        with pytest.raises(ImageError) as caught:
            image.read(CLUSTER, 2 * CLUSTER + 1)
        assert caught.value.guest_offset == 3 * CLUSTER
        assert "'gone.qcow2', which was not opened" in caught.value.message


def test_salvage_of_a_layer_alone_lists_the_unknown(overlay: Path) -> None:
    with open_image(overlay, follow=False, salvage=True) as image:
        kinds = [(e.start, e.kind) for e in image.iter_extents(with_hosts=False)]
        assert kinds == [(0, D), (2 * CLUSTER, Z), (3 * CLUSTER, D)]
        data = image.read(0, image.size_bytes)
        assert data == bytes(CLUSTER) + pattern(CLUSTER) + bytes(6 * CLUSTER)
        assert image.losses is not None
        ranges = [(lost.start, lost.length) for lost in image.losses.ranges()]
        assert ranges == [(0, CLUSTER), (3 * CLUSTER, 5 * CLUSTER)]


def test_an_image_without_backing_file_misses_nothing(tmp_path: Path) -> None:
    path = ImageBuilder(size=CLUSTER).build().write_to(tmp_path / "image.qcow2")
    with open_image(path, follow=False) as image:
        assert image.missing is None
        assert image.read(0, CLUSTER) == bytes(CLUSTER)


# Sizes


@pytest.mark.parametrize(("cluster_bits", "size"), [(21, 1 << 61), (16, 16 * TIB), (16, 1 << 51)])
def test_huge_sparse_disks_answer_at_once(cluster_bits: int, size: int, tmp_path: Path) -> None:
    cluster = 1 << cluster_bits
    builder = ImageBuilder(cluster_bits=cluster_bits, size=size)
    small = min(cluster, 64 * KIB)
    for place in (0, size // 2 // cluster * cluster, size - cluster):
        builder.write(place, pattern(small, place % 97))
    path = builder.build().write_to(tmp_path / "huge.qcow2")
    tracemalloc.start()
    began = time.process_time()
    with open_image(path) as image:
        found = [e for e in image.iter_extents() if e.kind is D]
        assert image.read(size // 2 // cluster * cluster, 100) == pattern(100, size // 2 % 97)
        assert image.read(size - cluster - 10, 20)[10:] == pattern(10, (size - cluster) % 97)
    seconds = time.process_time() - began
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [extent.start for extent in found] == [0, size // 2, size - cluster]
    assert seconds < 1.0
    assert peak < 200 * MIB


def test_a_chain_of_raw_layers_by_hand() -> None:
    """GuestImage needs no files: a layer is anything with extents and bytes."""
    source = BytesSource(b"a" * 1000)
    with GuestImage([RawLayer(source)], sources=[source]) as image:
        assert image.size_bytes == 1024
        assert image.read(990, 100) == b"a" * 10 + bytes(24)
        assert image.identities == frozenset()
        assert list(image.iter_extents()) == [
            Extent(0, 1000, D, 0, 0),
            Extent(1000, 24, Z, 0, 1000),
        ]


def test_holes_of_a_large_raw_file_cost_nothing(tmp_path: Path) -> None:
    path = tmp_path / "large.raw"
    with path.open("wb") as file:
        file.truncate(64 * GIB)
        file.seek(32 * GIB)
        file.write(b"x")
    with open_image(path) as image:
        assert image.format == "raw"
        (data,) = [e for e in image.iter_extents() if e.kind is D]
        assert data.start <= 32 * GIB < data.end
        pieces = image.read_pieces(0, 64 * GIB, image.context())
        assert sum(len(piece.data) for piece in pieces) == data.length
