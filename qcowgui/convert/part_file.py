"""Temporary files of targets: made with a lock, so that those of dead writers can be told.

A part file is called `.NAME.XXXXXXXX.part`, stands beside its target and is locked (flock) by the
program that writes it. The lock ends with the program, whatever ends that: kill -9, a crash, a
power failure. So a part file that nobody has locked is debris.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

if sys.platform != "win32":
    import fcntl

_MAX_STEM_BYTES: Final = 235
"""Of the target's name in the part file's, which is 20 bytes longer and may have 255."""
_PART_NAME: Final = re.compile(r"\.(.*)\.[0-9a-f]{8}\.part", re.DOTALL)
_MAX_TRIES: Final = 16


def create_part(target: Path, mode: int) -> tuple[Path, int]:
    """Make and lock a part file beside `target`.

    Args:
        target: A path without symbolic links.
        mode: Permissions of the new file, before the process's mask.

    Returns:
        Its path, and its descriptor for reading and writing, which holds the lock. Where the file
        system knows no such locks there is none, and nobody ever takes the file for debris.

    Raises:
        OSError: When the system refuses it.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
    flags |= getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    stem = _part_stem(target)
    for _ in range(_MAX_TRIES):
        path = target.with_name(f".{stem}.{os.urandom(4).hex()}.part")
        fd = os.open(path, flags, mode)
        if _lock_new(fd, path):
            return path, fd
        # Who clears up came between the making and the locking, and took it for debris.
        os.close(fd)
        with contextlib.suppress(OSError):
            path.unlink()
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))


def is_part_name(name: str) -> bool:
    """Whether a file of this name is, or looks like, a part file."""
    return _PART_NAME.fullmatch(name) is not None


def debris_of(*targets: Path) -> list[Path]:
    """The part files of `targets` whose writers are dead. Symbolic links are followed."""
    found = []
    for path in _iter_parts(targets):
        with _if_dead(path) as is_dead:
            if is_dead:
                found.append(path)
    return found


def remove_debris(*targets: Path) -> list[Path]:
    """Remove what `debris_of` finds; those that are gone now. What can't be removed stays."""
    return [path for path in _iter_parts(targets) if _remove_if_dead(path)]


def remove_all_debris(folder: Path) -> None:
    """Remove the part files of dead writers in a folder that is this program's alone."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if is_part_name(path.name):
                _remove_if_dead(path)


def _remove_if_dead(path: Path) -> bool:
    """Whether a part file's writer was dead and the file is gone now."""
    with _if_dead(path) as is_dead, contextlib.suppress(OSError):
        if is_dead:
            path.unlink()
            return True
    return False


def _part_stem(target: Path) -> str:
    # A character that is cut in half goes, and bytes that are no text as well.
    return os.fsencode(target.name)[:_MAX_STEM_BYTES].decode(errors="ignore")


def _iter_parts(targets: tuple[Path, ...]) -> Iterator[Path]:
    """Files with names of part files of `targets`; each folder is listed once."""
    stems: dict[Path, set[str]] = {}
    for target in targets:
        with contextlib.suppress(OSError, ValueError):  # ValueError: a NUL in the name
            real = Path(os.path.realpath(target))
            stems.setdefault(real.parent, set()).add(_part_stem(real))
    for folder, wanted in stems.items():
        try:
            names = [path.name for path in folder.iterdir()]
        except OSError:
            continue
        for name in sorted(names):
            match = _PART_NAME.fullmatch(name)
            if match is not None and match[1] in wanted:
                yield folder / name


if sys.platform == "win32":

    def _lock_new(_fd: int, _path: Path) -> bool:
        """True: an open file can't be removed here, so that being open is the lock."""
        return True

    @contextlib.contextmanager
    def _if_dead(path: Path) -> Iterator[bool]:
        """Whether nobody has the file open: it could not be renamed then."""
        try:
            path.rename(path)
        except OSError:
            yield False
        else:
            yield True

else:

    def _lock_new(fd: int, path: Path) -> bool:
        """Lock a file that was just made; whether it is ours and still there."""
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # no such locks on this file system
            return True
        return _is_still(fd, path)

    @contextlib.contextmanager
    def _if_dead(path: Path) -> Iterator[bool]:
        """Whether the writer is dead; while the body runs, nobody else finds that out."""
        flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            fd = os.open(path, flags)
        except OSError:
            yield False
            return
        try:
            yield _lock_left(fd, path)
        finally:
            os.close(fd)

    def _lock_left(fd: int, path: Path) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # somebody has it, or nobody can tell
            return False
        return stat.S_ISREG(os.fstat(fd).st_mode) and _is_still(fd, path)

    def _is_still(fd: int, path: Path) -> bool:
        """Whether `path` still leads to the open file `fd`."""
        try:
            return os.path.samestat(os.fstat(fd), path.lstat())
        except OSError:
            return False
