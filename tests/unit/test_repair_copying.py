"""Copies keep holes, take the cheapest way there is, and are complete or an error."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from qcowgui.convert.output import OutputFile
from qcowgui.engine.work import CancelToken, Counter
from qcowgui.errors import Cancelled, OutputError, SourceError
from qcowgui.image.source import FileSource
from qcowgui.repair import copying
from qcowgui.repair.copying import CopyMethod, copy_file, keep_private
from tests.support.base_images import pattern
from tests.support.options import KIB, MIB

SIZE = 24 * MIB


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A sparse file with data at three places, the last at its odd end."""
    path = tmp_path / "source"
    with path.open("wb") as file:
        for place, length in ((0, 100), (9 * MIB, 6 * MIB), (SIZE - 1000, 1003)):
            file.seek(place)
            file.write(pattern(length, place))
    return path


def copy(source: Path, target: Path, counter: Counter | None = None) -> CopyMethod:
    with FileSource(source) as opened, OutputFile(target, overwrite=False) as output:
        method = copy_file(opened, output, token=CancelToken(), counter=counter)
        output.commit()
    return method


def refuse(number: int) -> Callable[..., int]:
    def call(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    return call


def test_a_copy_is_equal_and_sparse(source: Path, tmp_path: Path) -> None:
    target, counter = tmp_path / "target", Counter()
    assert copy(source, target, counter) in {CopyMethod.CLONE, CopyMethod.KERNEL}
    assert target.read_bytes() == source.read_bytes()
    assert target.stat().st_blocks * 512 < 8 * MIB
    assert counter.value == source.stat().st_size


@pytest.mark.parametrize("number", [errno.EXDEV, errno.EINVAL, errno.EOPNOTSUPP, errno.EIO])
def test_without_help_of_the_kernel(
    number: int, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fcntl, "ioctl", refuse(number))
    monkeypatch.setattr(os, "copy_file_range", refuse(number))
    target, counter = tmp_path / "target", Counter()
    assert copy(source, target, counter) is CopyMethod.READ_WRITE
    assert target.read_bytes() == source.read_bytes()
    assert target.stat().st_blocks * 512 < 8 * MIB
    assert counter.value == source.stat().st_size


@pytest.mark.parametrize("ending", ["error", "nothing copied"])
def test_the_kernel_gives_up_in_the_middle(
    ending: str, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = os.copy_file_range, []

    def some(source_fd: int, target_fd: int, length: int, start: int, to: int) -> int:
        calls.append(start)
        if len(calls) < 3:
            return real(source_fd, target_fd, min(length, 50 * KIB + 1), start, to)
        if ending == "error":
            raise OSError(errno.EIO, "bad block")
        return 0

    monkeypatch.setattr(fcntl, "ioctl", refuse(errno.EOPNOTSUPP))
    monkeypatch.setattr(os, "copy_file_range", some)
    target, counter = tmp_path / "target", Counter()
    assert copy(source, target, counter) is CopyMethod.READ_WRITE
    assert len(calls) == 3
    assert target.read_bytes() == source.read_bytes()
    assert counter.value == source.stat().st_size


def test_a_clone_is_taken_when_there_is_one(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def clone(target_fd: int, request: int, source_fd: int) -> int:
        assert request == 0x40049409  # FICLONE in linux/fs.h
        os.pwrite(target_fd, os.pread(source_fd, SIZE + MIB, 0), 0)
        return 0

    monkeypatch.setattr(fcntl, "ioctl", clone)
    monkeypatch.setattr(os, "copy_file_range", refuse(errno.EIO))
    counter = Counter()
    assert copy(source, tmp_path / "target", counter) is CopyMethod.CLONE
    assert (tmp_path / "target").read_bytes() == source.read_bytes()
    assert counter.value == source.stat().st_size


def test_allocated_zeros_become_holes_when_bytes_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fcntl, "ioctl", refuse(errno.EXDEV))
    monkeypatch.setattr(os, "copy_file_range", refuse(errno.EXDEV))
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(bytes(8 * MIB) + b"end")
    copy(source, target)
    assert target.read_bytes() == source.read_bytes()
    assert target.stat().st_blocks * 512 <= 64 * KIB


def test_an_empty_file(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.touch()
    copy(source, target)
    assert target.read_bytes() == b""


def test_cancelled(source: Path, tmp_path: Path) -> None:
    token = CancelToken()
    token.cancel()
    with (
        FileSource(source) as opened,
        OutputFile(tmp_path / "target", overwrite=False) as output,
        pytest.raises(Cancelled),
    ):
        copy_file(opened, output, token=token)


def test_the_source_was_replaced(source: Path, tmp_path: Path) -> None:
    with FileSource(source) as opened, OutputFile(tmp_path / "t", overwrite=False) as output:
        (tmp_path / "other").write_bytes(b"other")
        (tmp_path / "other").replace(source)
        with pytest.raises(SourceError, match="was replaced"):
            copy_file(opened, output, token=CancelToken())
        source.unlink()
        with pytest.raises(SourceError, match="can't be opened again"):
            copy_file(opened, output, token=CancelToken())


def test_the_source_was_cut(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fcntl, "ioctl", refuse(errno.EXDEV))
    monkeypatch.setattr(copying, "_copy_in_kernel", lambda *_: 0)
    with FileSource(source) as opened, OutputFile(tmp_path / "t", overwrite=False) as output:
        os.truncate(source, 10 * MIB)
        with pytest.raises(SourceError, match="was cut"):
            copy_file(opened, output, token=CancelToken())


def test_no_room(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fcntl, "ioctl", refuse(errno.EOPNOTSUPP))
    monkeypatch.setattr(os, "copy_file_range", refuse(errno.ENOSPC))
    monkeypatch.setattr(os, "pwritev", refuse(errno.ENOSPC))
    with pytest.raises(OutputError, match="No space left"):
        copy(source, tmp_path / "target")
    assert not (tmp_path / "target").exists()


def test_a_private_image_stays_private(tmp_path: Path) -> None:
    with OutputFile(tmp_path / "target", overwrite=False) as output:
        keep_private(output, 0o400)
        assert output.path.stat().st_mode & 0o777 == 0o600
    with OutputFile(tmp_path / "target", overwrite=False) as output:
        before = output.path.stat().st_mode
        keep_private(output, 0o777)
        assert output.path.stat().st_mode == before
