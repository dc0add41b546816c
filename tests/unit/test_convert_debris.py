"""Part files: told apart by the life of their writers, and removed only when those are dead."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from qcowgui.convert import part_file
from qcowgui.convert.batch import debris_of, remove_debris
from qcowgui.convert.output import OutputFile
from qcowgui.errors import OutputError
from tests.converting import names_in

WRITER = """
import sys
from pathlib import Path
from qcowgui.convert.output import OutputFile
with OutputFile(Path(sys.argv[1]), overwrite=True) as output:
    output.write_at(0, b"half")
    print("ready", flush=True)
    sys.stdin.read()
"""


@contextmanager
def writer(target: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that has a part file of `target` open."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, target], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        try:
            yield process
        finally:
            process.kill()


def leave_part(target: Path, number: str = "0123abcd") -> Path:
    path = target.with_name(f".{target.name}.{number}.part")
    path.write_bytes(b"left")
    return path


def test_a_living_writer_keeps_its_file_and_a_killed_one_leaves_debris(tmp_path: Path) -> None:
    target = tmp_path / "disk.qcow2"
    with writer(target) as process:
        [part] = names_in(tmp_path)
        assert debris_of(target) == []
        assert remove_debris(target) == []
        process.send_signal(signal.SIGKILL)
        process.wait(10)
    assert debris_of(target) == [tmp_path / part]
    assert remove_debris(target) == [tmp_path / part]
    assert names_in(tmp_path) == set()


def test_a_writer_of_this_process_is_alive(tmp_path: Path) -> None:
    target = tmp_path / "disk.raw"
    with OutputFile(target, overwrite=False) as output:
        assert remove_debris(target) == []
        output.write_at(0, b"whole")
        output.commit(before_move=lambda: check_none(target))
    assert target.read_bytes() == b"whole"
    assert names_in(tmp_path) == {"disk.raw"}


def check_none(target: Path) -> None:
    """From the close to the move the lock is held, too."""
    assert remove_debris(target) == []


@pytest.mark.parametrize(
    "name",
    ["a b", "über 100 %.qcow2", "-x", "two\nlines", "\udcff\udcfe.raw", "\udcff", "x" * 255],
)
def test_every_name_finds_its_debris_and_no_other(name: str, tmp_path: Path) -> None:
    other = leave_part(tmp_path / "other")
    target = tmp_path / name
    with writer(target) as process:
        process.kill()
        process.wait(10)
    assert len(remove_debris(target)) == 1
    assert names_in(tmp_path) == {other.name}


def test_files_that_only_look_alike_stay(tmp_path: Path) -> None:
    target = tmp_path / "disk"
    stay = [".disk.0123abc.part", ".disk.0123ABCD.part", "disk.0123abcd.part", ".disk.part"]
    stay += [".disk.0123abcd.part2", ".disk2.0123abcd.part"]
    for name in stay:
        (tmp_path / name).touch()
    (tmp_path / ".disk.00000000.part").mkdir()
    (tmp_path / ".disk.00000001.part").symlink_to(tmp_path / stay[0])
    os.mkfifo(tmp_path / ".disk.00000002.part")
    before = names_in(tmp_path)
    assert remove_debris(target) == []
    assert names_in(tmp_path) == before


def test_several_targets_and_folders(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("a", "b")]
    for folder in folders:
        folder.mkdir()
    targets = [folder / name for folder in folders for name in ("x.raw", "y.raw")]
    left = [leave_part(target) for target in targets]
    assert debris_of(*targets) == left
    assert remove_debris(*targets, tmp_path / "missing" / "z", Path("\0")) == left


def test_the_target_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    left = leave_part(tmp_path / "real" / "disk.raw")
    (tmp_path / "link.raw").symlink_to(tmp_path / "real" / "disk.raw")
    assert remove_debris(tmp_path / "link.raw") == [left]


def test_what_can_not_be_removed_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = leave_part(tmp_path / "disk")
    monkeypatch.setattr(Path, "unlink", refuse)
    assert remove_debris(tmp_path / "disk") == []
    assert left.exists()


def refuse(*_: object, **__: object) -> None:
    raise PermissionError(errno.EPERM, "Operation not permitted")


def test_without_locks_nothing_counts_as_debris(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(_fd: int, _operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    target = tmp_path / "disk"
    with OutputFile(target, overwrite=False) as output:
        assert remove_debris(target) == []
        output.commit()
    leave_part(target)
    assert debris_of(target) == []


def test_one_who_clears_up_between_making_and_locking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new file is not locked for a moment: who takes it for debris then does no harm."""
    target = tmp_path / "disk"
    real = os.open
    cleared: list[os.PathLike[str]] = []

    def open_and_clear(path: os.PathLike[str], flags: int, *mode: int) -> int:
        fd = real(path, flags, *mode)
        if flags & os.O_CREAT and not cleared:
            cleared.append(path)
            assert remove_debris(target) == cleared
        return fd

    monkeypatch.setattr(os, "open", open_and_clear)
    with OutputFile(target, overwrite=False) as output:
        output.write_at(0, b"whole")
        output.commit()
    assert target.read_bytes() == b"whole"
    assert names_in(tmp_path) == {"disk"}


def test_somebody_who_locks_every_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_file, "_lock_new", lambda _fd, _path: False)
    with pytest.raises(OutputError, match="can't be created"):
        OutputFile(tmp_path / "disk", overwrite=False)
    assert names_in(tmp_path) == set()


def test_killed_between_the_link_and_the_removal_of_the_part(tmp_path: Path) -> None:
    target = tmp_path / "disk"
    target.write_bytes(b"whole")
    part = tmp_path / ".disk.00000000.part"
    os.link(target, part)
    assert remove_debris(target) == [part]
    assert target.read_bytes() == b"whole"
