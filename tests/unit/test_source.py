"""Positional reads of files and of bytes in memory."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from qcowgui.errors import SourceError
from qcowgui.image.source import ByteSource, BytesSource, FileSource

DATA = bytes(range(256)) * 16


@pytest.fixture(params=["memory", "file"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ByteSource]:
    path = tmp_path / "x.img"
    path.write_bytes(DATA)
    found = BytesSource(DATA) if request.param == "memory" else FileSource(path)
    yield found
    found.close()


def test_reads(source: ByteSource) -> None:
    assert source.size_bytes == 4096
    assert source.read_at(0, 4) == b"\0\1\2\3"
    assert source.read_at(4090, 100) == DATA[4090:]
    assert source.read_at(4096, 1) == b""
    assert source.read_at(1 << 62, 1 << 62) == b""
    assert source.read_at(-1, 5) == b""
    assert source.read_at(5, 0) == b""


def test_reads_into_a_buffer(source: ByteSource) -> None:
    buffer = bytearray(8)
    assert source.read_into(4092, memoryview(buffer)) == 4
    assert buffer == DATA[4092:] + bytes(4)
    assert source.read_into(10, memoryview(buffer)) == 8
    assert buffer == DATA[10:18]
    assert source.read_into(4096, memoryview(buffer)) == 0
    assert source.read_into(-1, memoryview(buffer)) == 0


def test_data_ranges_without_holes(source: ByteSource) -> None:
    assert list(source.iter_data_ranges(0, 4096)) == [(0, 4096)]
    assert list(source.iter_data_ranges(100, 1 << 50)) == [(100, 4096)]
    assert list(source.iter_data_ranges(4096, 5000)) == []


def test_any_number_of_threads_may_read(source: ByteSource) -> None:
    with ThreadPoolExecutor(8) as pool:
        parts = list(pool.map(lambda index: source.read_at(index * 16, 16), range(256)))
    assert b"".join(parts) == DATA


def test_memory_has_no_file() -> None:
    source = BytesSource(b"x", "label")
    assert (source.name, source.disk_bytes, source.identity) == ("label", None, None)
    source.close()


def test_facts_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x.img"
    with path.open("wb") as file:
        file.write(DATA)
        file.flush()
        os.fsync(file.fileno())  # a file system may allocate blocks late
    with FileSource(path) as source, FileSource(path.parent / "." / "x.img") as same:
        assert source.name == str(path)
        assert source.path == path
        assert source.identity == same.identity == (path.stat().st_dev, path.stat().st_ino)
        assert source.disk_bytes == path.stat().st_blocks * 512
        assert not source.is_block_device


def test_closing_twice_is_harmless(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"1")
    source = FileSource(path)
    source.close()
    source.close()
    with pytest.raises(SourceError, match="can't be read at offset 0x0"):
        source.read_at(0, 1)
    with pytest.raises(SourceError, match="can't be read at offset 0x0"):
        source.read_into(0, memoryview(bytearray(1)))


def test_holes_of_a_sparse_file(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.seek(1 << 20)
        file.write(b"x" * 4096)
        file.truncate(4 << 20)
    with FileSource(path) as source:
        ranges = list(source.iter_data_ranges(0, 4 << 20))
        assert ranges == [(1 << 20, (1 << 20) + 4096)]
        assert list(source.iter_data_ranges(0, 1 << 20)) == []
        assert list(source.iter_data_ranges((1 << 20) + 512, 4 << 20)) == [
            ((1 << 20) + 512, (1 << 20) + 4096)
        ]
        assert list(source.iter_data_ranges(2 << 20, 4 << 20)) == []


@pytest.mark.parametrize("failure", [OSError(errno.EINVAL, "no map"), AttributeError("SEEK_DATA")])
def test_without_a_map_of_holes_everything_is_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    path = tmp_path / "x"
    path.write_bytes(bytes(8192))

    def refuse(*_: object) -> int:
        raise failure

    with FileSource(path) as source:
        monkeypatch.setattr(os, "lseek", refuse)
        assert list(source.iter_data_ranges(512, 8192)) == [(512, 8192)]


def test_a_system_without_positional_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows: seek and read under a lock."""
    path = tmp_path / "x"
    path.write_bytes(DATA)
    monkeypatch.delattr(os, "pread")
    monkeypatch.delattr(os, "preadv")
    with FileSource(path) as source:
        assert source.read_at(100, 8) == DATA[100:108]
        buffer = bytearray(8)
        assert source.read_into(200, memoryview(buffer)) == 8
        assert buffer == DATA[200:208]


def test_short_reads_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    path.write_bytes(DATA)
    pread, preadv = os.pread, os.preadv
    monkeypatch.setattr(os, "pread", lambda fd, length, offset: pread(fd, min(length, 7), offset))
    monkeypatch.setattr(
        os, "preadv", lambda fd, buffers, offset: preadv(fd, [buffers[0][:7]], offset)
    )
    with FileSource(path) as source:
        assert source.read_at(0, 4096) == DATA
        buffer = bytearray(4096)
        assert source.read_into(0, memoryview(buffer)) == 4096
        assert buffer == DATA


def test_a_file_that_shrank_after_it_was_opened(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(DATA)
    with FileSource(path) as source:
        os.truncate(path, 100)
        assert source.read_at(96, 200) == DATA[96:100]
        assert source.read_into(96, memoryview(bytearray(200))) == 4


def test_a_file_that_grew_after_it_was_opened(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(DATA)
    with FileSource(path) as source:
        os.truncate(path, 8192)
        assert len(source.read_at(4000, 200)) == 96
        assert source.read_into(4000, memoryview(bytearray(200))) == 96


def test_a_read_that_the_system_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    path.write_bytes(DATA)

    def refuse(*_: object) -> int:
        raise OSError(errno.EIO, "Input/output error")

    with FileSource(path) as source:
        monkeypatch.setattr(os, "pread", refuse)
        with pytest.raises(SourceError, match="at offset 0x200: Input/output error") as caught:
            source.read_at(0x200, 1)
    assert (caught.value.errno, caught.value.path) == (errno.EIO, str(path))


def test_what_can_not_be_opened(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="can't be opened: No such file") as caught:
        FileSource(tmp_path / "missing")
    assert caught.value.errno == errno.ENOENT
    with pytest.raises(SourceError, match="is a folder") as caught:
        FileSource(tmp_path)
    assert caught.value.errno == errno.EISDIR
    with pytest.raises(SourceError, match="is no file name"):
        FileSource("a\0b")


def test_special_files_are_refused_at_once(tmp_path: Path) -> None:
    """BL-O59: a FIFO without a writer must not block."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (fifo, Path("/dev/zero")):
        with pytest.raises(SourceError, match="neither a file nor a block device"):
            FileSource(path)


def test_no_descriptor_is_left_behind(tmp_path: Path) -> None:
    descriptors = Path("/proc/self/fd")
    before = len(list(descriptors.iterdir()))
    for _ in range(5):
        with pytest.raises(SourceError):
            FileSource(tmp_path)
    assert len(list(descriptors.iterdir())) == before


class _BlockDevice:
    """What fstat says of a block device, with the size that seeking finds."""

    st_mode = 0o060660
    st_size = 0
    st_dev, st_ino = 1, 2


def test_a_block_device_is_measured_by_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    path.write_bytes(DATA)
    monkeypatch.setattr(os, "fstat", lambda _: _BlockDevice())
    with FileSource(path) as source:
        assert source.size_bytes == 4096
        assert source.is_block_device
        assert source.disk_bytes is None

    def refuse(*_: object) -> int:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "lseek", refuse)
    with pytest.raises(SourceError, match="has no readable size"):
        FileSource(path)


def test_a_source_that_is_cut_after_it_was_opened_has_no_hole_there(tmp_path: Path) -> None:
    """The system says "no data behind this" for a hole as for the end: only one is zeros."""
    path = tmp_path / "sparse.raw"
    with path.open("wb") as file:
        file.write(DATA)
        file.truncate(1 << 20)
    with FileSource(path) as source:
        source.require_unchanged()
        assert list(source.iter_data_ranges(8192, 1 << 20)) == []
    with FileSource(path) as source:
        os.truncate(path, 8192)
        with pytest.raises(SourceError, match="was cut from 1,048,576 to 8,192 bytes"):
            list(source.iter_data_ranges(8192, 1 << 20))


def test_a_source_that_changes_after_it_was_opened(tmp_path: Path) -> None:
    path = tmp_path / "x.raw"
    path.write_bytes(DATA)
    os.utime(path, ns=(0, 10**18))
    with FileSource(path) as source:
        source.require_unchanged()
        path.write_bytes(DATA)
        with pytest.raises(SourceError, match="was changed while it was read") as caught:
            source.require_unchanged()
    assert "still writing" in caught.value.hint
    BytesSource(DATA).require_unchanged()
