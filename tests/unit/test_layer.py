"""The raw layer, what a read leaves behind, and how losses are written down."""

from __future__ import annotations

from pathlib import Path

import pytest

from qcowgui.codec.registry import CompressionType
from qcowgui.errors import CorruptError, TruncatedError
from qcowgui.image.layer import (
    BATCH_BYTES,
    Extent,
    ExtentKind,
    LossLog,
    LostRange,
    Piece,
    PieceSink,
    RawLayer,
    ReadContext,
    lost_range,
    read_plain,
)
from qcowgui.image.source import BytesSource, FileSource
from tests.support.base_images import pattern
from tests.support.options import KIB, MIB


class ShrunkSource(BytesSource):
    """A file that lost its end after it was opened: its size is what it was."""

    def __init__(self, data: bytes, size_bytes: int) -> None:
        super().__init__(data, "shrunk.raw")
        self._size_bytes = size_bytes

    @property
    def size_bytes(self) -> int:
        return self._size_bytes


@pytest.fixture
def sparse(tmp_path: Path) -> Path:
    """Data, a hole of 1 MiB, data: 2 MiB and 100 bytes."""
    path = tmp_path / "sparse.raw"
    with path.open("wb") as file:
        file.write(pattern(512 * KIB, 1))
        file.seek(2 * MIB - 512 * KIB)
        file.write(pattern(512 * KIB + 100, 2))
    return path


def read(layer: RawLayer, start: int, end: int) -> list[Piece]:
    sink = PieceSink(ReadContext())
    pending: list[tuple[int, int]] = []
    layer.read(start, end, sink, pending)
    assert pending == []
    return [Piece(piece.start, bytes(piece.data)) for piece in sink.pieces]


def test_raw_extents_follow_the_holes(sparse: Path) -> None:
    with FileSource(sparse) as source:
        layer = RawLayer(source)
        assert (layer.name, layer.size_bytes) == (str(sparse), 2 * MIB + 512)
        found = list(layer.iter_extents(0, layer.size_bytes, 3, with_hosts=True, losses=None))
        assert found == [
            Extent(0, 512 * KIB, ExtentKind.DATA, 3, 0),
            Extent(512 * KIB, MIB, ExtentKind.ZERO, 3, 512 * KIB),
            Extent(3 * 512 * KIB, 512 * KIB + 100, ExtentKind.DATA, 3, 3 * 512 * KIB),
            Extent(2 * MIB + 100, 412, ExtentKind.ZERO, 3, 2 * MIB + 100),
        ]
        (part,) = layer.iter_extents(600 * KIB, MIB, 0, with_hosts=False, losses=None)
        assert part == Extent(600 * KIB, 424 * KIB, ExtentKind.ZERO, 0, None)


def test_raw_reads_skip_holes(sparse: Path) -> None:
    content = sparse.read_bytes()
    with FileSource(sparse) as source:
        pieces = read(RawLayer(source), 100, 2 * MIB + 512)
        assert [piece.start for piece in pieces] == [100, 3 * 512 * KIB]
        assert pieces[0].data == content[100 : 512 * KIB]
        assert pieces[1].data == content[3 * 512 * KIB :]
        assert read(RawLayer(source), 600 * KIB, MIB) == []


def test_plain_read_of_what_the_file_lost() -> None:
    source = BytesSource(pattern(1000), "cut.qcow2")
    with pytest.raises(TruncatedError) as caught:
        read_plain(source, 600, 7000, 512, PieceSink(ReadContext()))
    error = caught.value
    assert (error.guest_offset, error.needed_offset, error.file_bytes) == (7400, 1112, 1000)
    assert error.path == "cut.qcow2"
    assert "salvage" in error.hint


def test_salvage_keeps_what_is_there_and_notes_the_rest() -> None:
    log = LossLog()
    sink = PieceSink(ReadContext(log))
    read_plain(BytesSource(pattern(1000)), 600, 7000, 512, sink)
    (piece,) = sink.pieces
    assert (piece.start, bytes(piece.data)) == (7000, pattern(1000)[600:])
    (lost,) = log.ranges()
    assert (lost.start, lost.length) == (7400, 112)
    assert "0x3e8" in lost.reason


def test_salvage_of_a_range_wholly_behind_the_end() -> None:
    log = LossLog()
    sink = PieceSink(ReadContext(log))
    read_plain(BytesSource(bytes(100)), 1 << 40, 0, MIB, sink)
    assert sink.pieces == []
    assert [(lost.start, lost.length) for lost in log.ranges()] == [(0, MIB)]


def test_a_file_that_shrinks_while_it_is_read_is_a_loss() -> None:
    """The size is that of the opening; the bytes must be there when they are read, too."""
    source = ShrunkSource(pattern(700), 2000)
    with pytest.raises(TruncatedError) as caught:
        read_plain(source, 0, 0, 1500, PieceSink(ReadContext()))
    assert caught.value.guest_offset == 700


def test_long_plain_reads_leave_out_holes(sparse: Path) -> None:
    with FileSource(sparse) as source:
        sink = PieceSink(ReadContext())
        read_plain(source, 0, MIB, 2 * MIB, sink)
        assert [(piece.start, len(piece.data)) for piece in sink.pieces] == [
            (MIB, 512 * KIB),
            (MIB + 3 * 512 * KIB, 512 * KIB),
        ]


def test_losses_come_in_guest_order_joined_and_once() -> None:
    log = LossLog()
    for start, length, reason in (
        (300, 50, "a"),
        (0, 100, "a"),
        (100, 200, "a"),
        (0, 100, "a"),
        (350, 10, "b"),
    ):
        log.add(LostRange(start, length, reason))
    assert log.ranges() == [LostRange(0, 350, "a"), LostRange(350, 10, "b")]


def test_losses_of_one_cause_are_one_range_and_contained_ones_are_not_repeated() -> None:
    log = LossLog()
    log.add(lost_range(0, 100, TruncatedError("at 0")))
    log.add(lost_range(100, 300, TruncatedError("at 100")))
    log.add(lost_range(150, 200, CorruptError("inside")))
    log.add(lost_range(300, 310, CorruptError("at 300")))
    assert log.ranges() == [
        LostRange(0, 300, "at 0", "TruncatedError"),
        LostRange(300, 10, "at 300", "CorruptError"),
    ]


def test_a_strict_context_raises_the_loss() -> None:
    error = CorruptError("broken", guest_offset=5)
    with pytest.raises(CorruptError) as caught:
        ReadContext().lose(0, 1, error)
    assert caught.value is error


def test_buffers_are_used_again_and_never_overlap() -> None:
    context = ReadContext()
    first, second = context.buffer(1000), context.buffer(2000)
    first[:] = b"a" * 1000
    second[:] = b"b" * 2000
    large = context.buffer(BATCH_BYTES)
    large[:] = b"c" * BATCH_BYTES
    assert (bytes(first), bytes(second)) == (b"a" * 1000, b"b" * 2000)
    context.begin()
    again = context.buffer(1)
    again[:] = b"z"
    assert bytes(first[:1]) == b"z"


def test_payload_area_grows() -> None:
    context = ReadContext()
    assert len(context.payload_area(100)) == 100
    assert len(context.payload_area(5000)) == 5000
    assert len(context.payload_area(10)) == 10


def test_decoders_are_made_once_for_each_kind() -> None:
    context = ReadContext()
    first = context.decoder(CompressionType.ZSTD, 65536)
    assert context.decoder(CompressionType.ZSTD, 65536) is first
    assert context.decoder(CompressionType.ZSTD, 4096) is not first
    assert context.decoder(CompressionType.ZLIB, 65536) is not first
    assert len(context.made_decoders) == 3


def test_a_sink_hands_on_what_makes_a_batch_and_frees_its_buffers() -> None:
    context = ReadContext()
    seen: list[list[Piece]] = []
    sink = PieceSink(context, seen.append)
    first = context.buffer(BATCH_BYTES - 1)
    sink.add(0, first)
    assert seen == []
    sink.add(BATCH_BYTES, b"x")
    assert [[piece.start for piece in pieces] for pieces in seen] == [[0, BATCH_BYTES]]
    again = context.buffer(BATCH_BYTES - 1)
    again[:] = b"y" * (BATCH_BYTES - 1)
    assert first[0] == again[0], "the buffer is used again"
    sink.add(3 * BATCH_BYTES, b"z")
    sink.flush()
    sink.flush()
    assert [piece.start for piece in seen[-1]] == [3 * BATCH_BYTES]
    assert len(seen) == 2


def test_long_plain_reads_go_a_batch_at_a_time() -> None:
    source = BytesSource(pattern(3 * BATCH_BYTES + 5))
    lengths: list[int] = []
    sink = PieceSink(
        ReadContext(), lambda pieces: lengths.extend(len(piece.data) for piece in pieces)
    )
    read_plain(source, 0, 0, source.size_bytes, sink)
    sink.flush()
    assert lengths == [BATCH_BYTES] * 3 + [5]
