"""Images in use are recognised, and ours is seen by QEMU."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from qcowgui.errors import SourceError
from qcowgui.image.locks import ImageLock, Usage, probe, probe_path
from tests.support import oracle
from tests.support.options import MIB

PATIENCE_SECONDS = 20


@pytest.fixture
def image(tmp_path: Path) -> Path:
    return oracle.create(tmp_path / "disk.qcow2", MIB)


@contextlib.contextmanager
def qemu_io(image: Path, *options: str) -> Iterator[None]:
    """A qemu-io that has the image open and waits for commands."""
    command = [oracle.tool("qemu-io"), "-f", "qcow2", *options, str(image)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("length\n")
        process.stdin.flush()
        while "MiB" not in process.stdout.readline():
            assert process.poll() is None
        yield
        process.stdin.close()
        process.stdout.read()


@contextlib.contextmanager
def locked(image: Path) -> Iterator[int]:
    """A descriptor of the image that holds our lock."""
    fd = os.open(image, os.O_RDWR)
    try:
        assert ImageLock(fd).acquire().usage is Usage.FREE
        yield fd
    finally:
        os.close(fd)


def usable(image: Path, *options: str) -> bool:
    command = [oracle.tool("qemu-io"), "-f", "qcow2", *options, "-c", "quit", str(image)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "lock" in done.stderr
    return done.returncode == 0


def test_nobody_uses_it(image: Path) -> None:
    assert probe_path(image).usage is Usage.FREE


def test_a_writer_of_qemu(image: Path) -> None:
    with qemu_io(image):
        state = probe_path(image)
        assert state.usage is Usage.WRITTEN
        assert "open for writing" in state.reason
    assert probe_path(image).usage is Usage.FREE


def test_a_reader_of_qemu(image: Path) -> None:
    with qemu_io(image, "-r"):
        state = probe_path(image)
        assert state.usage is Usage.READ
        assert "reads it" in state.reason


def test_a_reader_that_shares_everything_is_seen(image: Path) -> None:
    with qemu_io(image, "-r", "-U"):
        assert probe_path(image).usage is Usage.READ


def test_a_backing_file_in_use_is_read(image: Path, tmp_path: Path) -> None:
    overlay = oracle.create(tmp_path / "top.qcow2", None, "-b", image, "-F", "qcow2")
    with qemu_io(overlay):
        assert probe_path(overlay).usage is Usage.WRITTEN
        assert probe_path(image).usage is Usage.READ


def test_qemu_nbd_serves_it(image: Path, tmp_path: Path) -> None:
    socket = tmp_path / "socket"
    command = [oracle.tool("qemu-nbd"), "-f", "qcow2", "-k", str(socket), "-t", str(image)]
    with subprocess.Popen(command) as process:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not socket.exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert probe_path(image).usage is Usage.WRITTEN
        process.terminate()
    assert probe_path(image).usage is Usage.FREE


def test_qemu_respects_our_lock(image: Path) -> None:
    assert usable(image)
    with locked(image):
        assert not usable(image)
        assert not usable(image, "-r")
        assert not usable(image, "-r", "-U")
        assert probe_path(image).usage is Usage.WRITTEN
    assert usable(image)
    assert probe_path(image).usage is Usage.FREE


def test_our_own_lock_does_not_count(image: Path) -> None:
    with locked(image) as fd:
        assert probe(fd).usage is Usage.FREE


def test_only_one_of_us(image: Path) -> None:
    with locked(image) as first:
        second = os.open(image, os.O_RDWR)
        try:
            assert ImageLock(second).acquire().usage is Usage.WRITTEN
            # The refused one holds nothing.
            assert probe(first).usage is Usage.FREE
            ImageLock(first).release()
            ImageLock(first).release()
            assert ImageLock(second).acquire().usage is Usage.FREE
        finally:
            os.close(second)


@pytest.mark.parametrize("options", [(), ("-r",)])
def test_no_lock_while_qemu_has_it(options: tuple[str, ...], image: Path) -> None:
    fd = os.open(image, os.O_RDWR)
    try:
        with qemu_io(image, *options):
            assert ImageLock(fd).acquire().usage > Usage.UNKNOWN
        # Nothing of the attempt stays.
        assert probe_path(image).usage is Usage.FREE
    finally:
        os.close(fd)


def test_a_flock(image: Path) -> None:
    fd, other = os.open(image, os.O_RDWR), os.open(image, os.O_RDWR)
    try:
        fcntl.flock(other, fcntl.LOCK_EX)
        for state in (probe_path(image), ImageLock(fd).acquire()):
            assert state.usage is Usage.LOCKED
            assert "flock" in state.reason
    finally:
        os.close(fd)
        os.close(other)


@pytest.mark.parametrize("kind", ["LOCK_SH", "LOCK_EX"])
def test_a_lock_of_another_process(kind: str, image: Path) -> None:
    program = (
        "import fcntl, sys\n"
        f"file = open({str(image)!r}, 'r+b')\n"
        f"fcntl.lockf(file, fcntl.{kind}, 10, 3)\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n"
    )
    fd = os.open(image, os.O_RDWR)
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        for state in (probe_path(image), ImageLock(fd).acquire()):
            assert state.usage is Usage.LOCKED
            assert f"(process {process.pid})" in state.reason
        process.stdin.close()
    os.close(fd)


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOLCK, errno.EACCES])
def test_a_file_system_without_locks(
    number: int, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> bytes:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "fcntl", refuse)
    fd = os.open(image, os.O_RDWR)
    try:
        for state in (probe(fd), ImageLock(fd).acquire()):
            assert state.usage is Usage.UNKNOWN
            assert os.strerror(number) in state.reason
    finally:
        os.close(fd)


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_another_system(platform: str, image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    fd = os.open(image, os.O_RDWR)
    try:
        assert probe(fd).usage is Usage.UNKNOWN
        assert ImageLock(fd).acquire().usage is Usage.UNKNOWN
        ImageLock(fd).release()
    finally:
        os.close(fd)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="can't be opened"):
        probe_path(tmp_path / "none")
