"""The writers: holes where zeros are, and the same bytes in whatever order batches come."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from qcowgui.codec.cluster import Buffer
from qcowgui.codec.registry import CompressionType, encoder
from qcowgui.convert.encode import encode_batch
from qcowgui.convert.options import ConvertOptions
from qcowgui.convert.output import OutputFile
from qcowgui.convert.qcow2_writer import Qcow2Writer
from qcowgui.convert.raw_writer import RawWriter, RunWriter
from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled
from qcowgui.image.layer import Piece
from tests.converting import mixed_disk
from tests.support.base_images import pattern
from tests.support.options import KIB, MIB


class Calls(OutputFile):
    """An output that notes its write calls."""

    def __init__(self, target: Path) -> None:
        super().__init__(target, overwrite=True)
        self.calls: list[tuple[int, int]] = []

    def write_many(self, offset: int, buffers: Sequence[Buffer]) -> None:
        self.calls.append((offset, sum(map(len, buffers))))
        super().write_many(offset, buffers)


@pytest.fixture
def output(tmp_path: Path) -> Iterator[Calls]:
    with Calls(tmp_path / "target") as output:
        yield output


def test_neighbours_are_one_call(output: Calls) -> None:
    runs = RunWriter(output, 512)
    runs.add(0, pattern(1024))
    runs.add(1024, pattern(512))
    runs.add(4096, pattern(512))
    assert output.calls == [(0, 1536)]
    runs.flush()
    runs.flush()
    assert output.calls == [(0, 1536), (4096, 512)]


def test_aligned_zeros_are_left_out(output: Calls) -> None:
    runs = RunWriter(output, 512)
    runs.add(256, bytes(256) + pattern(100) + bytes(924) + pattern(1))
    runs.flush()
    assert output.calls == [(512, 512), (1536, 1)]


def test_a_threshold_of_0_writes_zeros(output: Calls) -> None:
    runs = RunWriter(output, 0)
    runs.add(0, bytes(4096))
    runs.flush()
    assert output.calls == [(0, 4096)]


def test_a_raw_target_is_as_long_as_the_disk(output: Calls) -> None:
    writer = RawWriter(output, size_bytes=MIB, sparse_bytes=4096)
    writer.write([Piece(8192, pattern(100)), Piece(65536, bytes(4096)), Piece(99840, b"\1" * 512)])
    output.commit()
    expected = bytearray(MIB)
    expected[8192:8292] = pattern(100)
    expected[99840:100352] = b"\1" * 512
    assert output.target.read_bytes() == expected
    assert output.target.stat().st_blocks * 512 <= 16 * KIB


def test_a_raw_target_without_holes(output: Calls) -> None:
    RawWriter(output, size_bytes=MIB, sparse_bytes=0)
    output.commit()
    assert output.target.stat().st_blocks * 512 >= MIB
    assert not any(output.target.read_bytes())


BATCH = 64 * KIB


def qcow2_bytes(path: Path, order: Sequence[int], *, workers: int, threads: bool = False) -> bytes:
    """Write `mixed_disk` with batches handed over in `order`, perhaps each by its own thread."""
    disk = mixed_disk()
    options = ConvertOptions(
        path, path, target_format="qcow2", compression="zlib", cluster_bytes=4 * KIB
    )
    token = CancelToken()
    with OutputFile(path, overwrite=True) as output:
        writer = Qcow2Writer(output, options, virtual_bytes=len(disk), workers=workers)

        def hand_over(number: int) -> None:
            start, end = number * BATCH, min((number + 1) * BATCH, len(disk))
            coder = encoder(CompressionType.ZLIB, 4 * KIB)
            pieces = [Piece(start, memoryview(disk)[start:end])]
            writer.write(encode_batch(number, start, end, pieces, 4 * KIB, coder), token)

        if threads:
            all_threads = [threading.Thread(target=hand_over, args=(n,)) for n in order]
            for thread in all_threads:
                thread.start()
            for thread in all_threads:
                thread.join()
        else:
            for number in order:
                hand_over(number)
        writer.finish()
        output.commit()
    return path.read_bytes()


def test_the_order_of_the_batches_does_not_matter(tmp_path: Path) -> None:
    count = -(-len(mixed_disk()) // BATCH)
    in_order = list(range(count))
    expected = qcow2_bytes(tmp_path / "a", in_order, workers=1)
    shuffled = list(in_order)
    random.Random(5).shuffle(shuffled)
    # So many workers that no batch has to wait for its turn.
    assert qcow2_bytes(tmp_path / "b", in_order[::-1], workers=count) == expected
    assert qcow2_bytes(tmp_path / "c", shuffled, workers=count) == expected
    # So few that most have to.
    assert qcow2_bytes(tmp_path / "d", shuffled, workers=1, threads=True) == expected


def test_waiting_for_a_batch_that_never_comes_ends_with_the_token(tmp_path: Path) -> None:
    options = ConvertOptions(tmp_path, tmp_path, target_format="qcow2")
    token = CancelToken()
    with OutputFile(tmp_path / "target", overwrite=True) as output:
        writer = Qcow2Writer(output, options, virtual_bytes=MIB, workers=1)
        late = encode_batch(9, 9 * BATCH, 10 * BATCH, [], 64 * KIB, None)
        timer = threading.Timer(0.1, token.cancel)
        timer.start()
        with pytest.raises(Cancelled):
            writer.write(late, token)
        timer.join()
