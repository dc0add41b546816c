"""The target appears whole or not at all, and nothing is replaced by accident."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from qcowgui.codec.cluster import Buffer
from qcowgui.convert.output import OutputFile, check_room, check_target, refuse_same_file
from qcowgui.errors import OutputError
from tests.converting import names_in
from tests.support.options import GIB, MIB, TIB

OLD = b"what was there before"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "target.raw"


@pytest.fixture
def existing(target: Path) -> Path:
    target.write_bytes(OLD)
    return target


def write(target: Path, data: bytes, *, overwrite: bool = False) -> os.stat_result:
    with OutputFile(target, overwrite=overwrite) as output:
        output.write_at(0, data)
        return output.commit()


def test_the_target_appears_at_commit(target: Path) -> None:
    with OutputFile(target, overwrite=False) as output:
        output.write_at(3, b"abc")
        output.write_many(6, [b"d", bytearray(b"e"), memoryview(b"f")])
        assert output.written_bytes == 6
        assert not target.exists()
        assert output.path.parent == target.parent
        status = output.commit()
    assert target.read_bytes() == b"\0\0\0abcdef"
    assert status.st_size == 9
    assert status.st_ino == target.stat().st_ino
    assert names_in(target.parent) == {target.name}


def test_without_commit_nothing_is_left(target: Path) -> None:
    with OutputFile(target, overwrite=False) as output:
        output.write_at(0, b"abc")
    output.discard()
    assert names_in(target.parent) == set()


def test_an_exception_leaves_the_old_target(existing: Path) -> None:
    def fail(output: OutputFile) -> None:
        with output:
            output.write_at(0, b"abc")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail(OutputFile(existing, overwrite=True))
    assert existing.read_bytes() == OLD
    assert names_in(existing.parent) == {existing.name}


def test_overwriting_replaces(existing: Path) -> None:
    write(existing, b"new", overwrite=True)
    assert existing.read_bytes() == b"new"
    assert names_in(existing.parent) == {existing.name}


def test_an_existing_target_needs_permission(existing: Path) -> None:
    with pytest.raises(OutputError, match="exists already") as caught:
        OutputFile(existing, overwrite=False)
    assert caught.value.errno == errno.EEXIST
    assert "--force" in caught.value.hint
    assert existing.read_bytes() == OLD


def test_what_is_raised_before_the_move_leaves_the_target(existing: Path) -> None:
    def stop() -> None:
        raise ZeroDivisionError

    with OutputFile(existing, overwrite=True) as output:
        output.write_at(0, b"abc")
        with pytest.raises(ZeroDivisionError):
            output.commit(before_move=stop)
    assert existing.read_bytes() == OLD
    assert names_in(existing.parent) == {existing.name}


@pytest.mark.parametrize("links", [True, False])
def test_a_target_that_appears_meanwhile_stays(
    links: bool, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not links:
        monkeypatch.setattr(os, "link", _failing(errno.EPERM))
    with OutputFile(target, overwrite=False) as output:
        target.write_bytes(OLD)
        with pytest.raises(OutputError, match="was made by somebody else meanwhile") as caught:
            output.commit()
    assert "--force" in caught.value.hint
    assert caught.value.errno == errno.EEXIST
    assert target.read_bytes() == OLD
    assert names_in(target.parent) == {target.name}


def test_a_file_system_without_hard_links(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", _failing(errno.EOPNOTSUPP))
    write(target, b"new")
    assert target.read_bytes() == b"new"
    assert names_in(target.parent) == {target.name}


def _failing(number: int) -> Callable[..., int]:
    def fail(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number))

    return fail


def test_short_writes_are_finished(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.pwritev

    def at_most_three(fd: int, buffers: Sequence[Buffer], offset: int) -> int:
        return real(fd, [b"".join(buffers)[:3]], offset)

    monkeypatch.setattr(os, "pwritev", at_most_three)
    with OutputFile(target, overwrite=False) as output:
        output.write_many(1, [b"0123", b"", b"456789"])
        output.commit()
    assert target.read_bytes() == b"\x000123456789"


def test_more_buffers_than_one_call_takes(target: Path) -> None:
    parts = [b"%04d" % index for index in range(2500)]
    with OutputFile(target, overwrite=False) as output:
        output.write_many(0, parts)
        output.commit()
    assert target.read_bytes() == b"".join(parts)


def test_a_system_that_writes_nothing(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "pwritev", lambda *_: 0)
    with (
        pytest.raises(OutputError, match="the system wrote nothing"),
        OutputFile(target, overwrite=False) as output,
    ):
        output.write_at(0, b"abc")
    assert names_in(target.parent) == set()


def test_a_system_without_positional_writes(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pwritev")
    with OutputFile(target, overwrite=False) as output:
        output.write_at(4, b"efg")
        output.write_many(0, [b"ab", b"cd"])
        output.commit()
    assert target.read_bytes() == b"abcdefg"


def allocate_and_write(target: Path) -> None:
    with OutputFile(target, overwrite=True) as output:
        output.set_size(9)
        output.allocate(9)
        output.write_at(0, b"abc")
        output.commit()


@pytest.mark.parametrize(
    ("function", "number", "message"),
    [
        ("pwritev", errno.ENOSPC, "no space left"),
        ("pwritev", errno.EDQUOT, "quota"),
        ("pwritev", errno.EFBIG, "too large"),
        ("fsync", errno.EIO, "can't be put in place"),
        ("truncate", errno.EFBIG, "can't be made 9 bytes long"),
        ("posix_fallocate", errno.ENOSPC, "can't get 9 bytes of space"),
    ],
)
def test_what_the_system_refuses(
    function: str, number: int, message: str, existing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, function, _failing(number))
    with pytest.raises(OutputError) as caught:
        allocate_and_write(existing)
    assert message in str(caught.value)
    assert caught.value.errno == number
    assert caught.value.path == str(existing)
    assert existing.read_bytes() == OLD
    assert names_in(existing.parent) == {existing.name}


def test_a_failing_close_closes_once(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[int] = []
    real = os.close

    def close(fd: int) -> None:
        closed.append(fd)
        real(fd)
        raise OSError(errno.EIO, "Input/output error")

    output = OutputFile(target, overwrite=False)
    monkeypatch.setattr(os, "close", close)
    with pytest.raises(OutputError, match="can't be put in place"):
        output.commit()
    output.discard()
    monkeypatch.undo()
    # The file, and the descriptor that holds its lock until the move.
    assert len(closed) == len(set(closed)) == 2
    assert names_in(target.parent) == set()


def test_a_folder_that_can_not_be_made_durable(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def sync_files_only(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(errno.EIO, "Input/output error")
        real(fd)

    monkeypatch.setattr(os, "fsync", sync_files_only)
    with pytest.raises(OutputError, match="is complete and in place, but a power failure"):
        write(target, b"new")
    assert target.read_bytes() == b"new"
    assert names_in(target.parent) == {target.name}


def test_a_folder_that_can_be_written_but_not_read(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def open_files_only(path: Path, flags: int, mode: int = 0o777) -> int:
        if Path(path).is_dir():
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path, flags, mode)

    monkeypatch.setattr(os, "open", open_files_only)
    write(target, b"new")
    assert target.read_bytes() == b"new"


def test_a_file_system_that_can_not_sync_folders(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def sync_files_only(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(fd)

    monkeypatch.setattr(os, "fsync", sync_files_only)
    write(target, b"new")
    assert target.read_bytes() == b"new"


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (errno.EROFS, "choose another place"),
        (errno.EACCES, "choose another place"),
        (errno.EMFILE, "ulimit -n"),
        (errno.ENFILE, "close other programs"),
    ],
)
def test_a_file_that_can_not_be_made(
    number: int, hint: str, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "open", _failing(number))
    with pytest.raises(OutputError, match="can't be created") as caught:
        OutputFile(target, overwrite=False)
    assert hint in caught.value.hint


def test_a_folder_that_takes_no_files() -> None:
    with pytest.raises(OutputError, match="can't be created"):
        OutputFile(Path("/proc/target.raw"), overwrite=False)


@pytest.mark.parametrize("exists", [True, False])
def test_allocating_where_the_system_can_not(
    exists: bool, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if exists:
        monkeypatch.setattr(os, "posix_fallocate", _failing(errno.EOPNOTSUPP))
    else:
        monkeypatch.delattr(os, "posix_fallocate")
    with OutputFile(target, overwrite=False) as output:
        output.allocate(MIB + 5)
        output.allocate(0)
        output.commit()
    status = target.stat()
    assert status.st_size == MIB + 5
    assert status.st_blocks * 512 >= MIB + 5


def test_a_new_file_has_the_usual_permissions(target: Path) -> None:
    other = target.with_name("other")
    other.touch()
    write(target, b"new")
    assert target.stat().st_mode == other.stat().st_mode


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o444, 0o000])
def test_a_replaced_file_keeps_its_permissions(mode: int, existing: Path) -> None:
    existing.chmod(mode)
    with OutputFile(existing, overwrite=True) as output:
        early = stat.S_IMODE(output.path.stat().st_mode)
        assert early & ~(mode | 0o600) == 0
        output.commit()
    assert stat.S_IMODE(existing.stat().st_mode) == mode


def test_a_replaced_file_keeps_its_owner(existing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = existing.stat()
    given: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "fchown", lambda _fd, user, group: given.append((user, group)))
    write(existing, b"new", overwrite=True)
    assert given == [(owner.st_uid, owner.st_gid)]


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP, None])
def test_where_files_can_not_be_given_away(
    number: int | None, existing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("fchown", "fchmod"):
        if number is None:
            monkeypatch.delattr(os, name)
        else:
            monkeypatch.setattr(os, name, _failing(number))
    write(existing, b"new", overwrite=True)
    assert existing.read_bytes() == b"new"


@pytest.mark.parametrize("name", ["x" * 255, "ü" * 127 + "x", "a" + "ü" * 127])
def test_names_of_255_bytes(name: str, tmp_path: Path) -> None:
    assert len(os.fsencode(name)) == 255
    write(tmp_path / name, b"new")
    assert names_in(tmp_path) == {name}


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.raw")
    write(tmp_path / name, b"new")
    assert names_in(tmp_path) == {name}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x" * 256, "File name too long"),
        ("nul\0", "null"),
        ("missing/target", "the folder"),
        ("file/target", "Not a directory"),
    ],
)
def test_impossible_names(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(OLD)
    with pytest.raises(OutputError) as caught:
        check_target(tmp_path / name, overwrite=True)
    assert message in str(caught.value)


def test_a_loop_of_links(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OutputError, match="symbolic links"):
        check_target(tmp_path / "a", overwrite=True)


def test_a_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    file, link = folder / "file.raw", tmp_path / "link.raw"
    file.write_bytes(OLD)
    link.symlink_to("elsewhere/file.raw")
    with OutputFile(link, overwrite=True) as output:
        assert output.path.parent == folder
        output.write_at(0, b"new")
        output.commit()
    assert link.is_symlink()
    assert file.read_bytes() == b"new"
    assert names_in(folder) == {"file.raw"}


def test_a_link_to_nothing_yet(tmp_path: Path) -> None:
    link = tmp_path / "link.raw"
    link.symlink_to("file.raw")
    write(link, b"new")
    assert link.is_symlink()
    assert (tmp_path / "file.raw").read_bytes() == b"new"


@pytest.fixture
def special(tmp_path: Path) -> Iterator[dict[str, Path]]:
    """A target of each kind that is no regular file."""
    folder, pipe = tmp_path / "folder", tmp_path / "pipe"
    folder.mkdir()
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(tmp_path / "s"))
        yield {
            "folder": folder,
            "pipe": pipe,
            "socket": tmp_path / "s",
            "device": Path("/dev/null"),
            "full": Path("/dev/full"),
        }


@pytest.mark.parametrize("kind", ["folder", "pipe", "socket", "device", "full"])
def test_targets_that_are_no_files(kind: str, special: dict[str, Path]) -> None:
    with pytest.raises(OutputError) as caught:
        OutputFile(special[kind], overwrite=True)
    expected = "is a folder" if kind == "folder" else "a target is written at many places"
    assert expected in str(caught.value)


def test_standard_output_as_a_pipe() -> None:
    script = (
        "from pathlib import Path; from qcowgui.convert.output import check_target\n"
        "try: check_target(Path('/dev/stdout'), overwrite=True)\n"
        "except Exception as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert "/dev/stdout is no regular file" in done.stdout


def test_the_source_by_any_path(existing: Path, tmp_path: Path) -> None:
    status = existing.stat()
    sources = frozenset({(status.st_dev, status.st_ino)})
    hard, soft, other = tmp_path / "hard", tmp_path / "soft", tmp_path / "other"
    hard.hardlink_to(existing)
    soft.symlink_to(existing)
    other.write_bytes(OLD)
    for path in (existing, hard, soft, tmp_path / "." / existing.name):
        with pytest.raises(OutputError, match="is the source itself"):
            refuse_same_file(path, sources)
    refuse_same_file(other, sources)
    refuse_same_file(tmp_path / "missing", sources)


def with_usage(monkeypatch: pytest.MonkeyPatch, total: int, free: int) -> None:
    usage = shutil._ntuple_diskusage(total, total - free, free)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)


@pytest.mark.parametrize(
    ("size", "warned"), [(GIB, False), (GIB + 512, True), (100 * GIB, True), (152 * TIB, True)]
)
def test_a_sparse_file_larger_than_its_file_system_is_warned_of_only(
    size: int, warned: bool, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BL-O60, and BL-O68: it may well fit, whatever its length."""
    with_usage(monkeypatch, GIB, 10 * MIB)
    warning = check_room(target, size, sparse=True)
    assert bool(warning) == warned
    assert not warned or "its whole file system has 1 GiB" in warning


@pytest.mark.parametrize(("size", "fits"), [(10 * MIB, True), (10 * MIB + 512, False)])
def test_a_full_file_needs_its_length(
    size: int, fits: bool, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_usage(monkeypatch, GIB, 10 * MIB)
    if fits:
        assert check_room(target, size, sparse=False) == ""
        return
    with pytest.raises(OutputError, match="and 10 MiB are free") as caught:
        check_room(target, size, sparse=False)
    assert caught.value.errno == errno.ENOSPC


@pytest.mark.parametrize("sparse", [True, False])
def test_a_file_system_that_does_not_know_its_room(
    sparse: bool, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_usage(monkeypatch, 0, 0)
    assert check_room(target, GIB, sparse=sparse) == ""
    monkeypatch.setattr(shutil, "disk_usage", _failing(errno.EIO))
    assert check_room(target, GIB, sparse=sparse) == ""


def test_the_room_is_that_of_the_place_a_link_leads_to(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []

    def note(folder: Path) -> object:
        asked.append(folder)
        return shutil._ntuple_diskusage(GIB, 0, GIB)

    monkeypatch.setattr(shutil, "disk_usage", note)
    elsewhere = target.with_name("elsewhere")
    elsewhere.mkdir()
    target.symlink_to(elsewhere / "file.raw")
    check_room(target, MIB, sparse=True)
    assert asked == [elsewhere]
