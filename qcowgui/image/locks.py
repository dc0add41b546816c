"""Is an image in use, by QEMU or by somebody else who locks it; and our own lock against them.

QEMU marks what it does with an image by shared locks of single bytes, which belong to its open
file. Byte 100 + n is held while it uses permission n, byte 200 + n while it lets nobody else have
permission n. Permissions: 0 consistent read, 1 write, 2 write unchanged, 3 resize.
"""

from __future__ import annotations

import contextlib
import os
import struct
import sys
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple

from qcowgui.errors import SourceError

if sys.platform != "win32":
    import fcntl

USED_BASE: Final = 100
UNSHARED_BASE: Final = 200
_READ, _WRITE, _WRITE_UNCHANGED, _RESIZE = range(4)
_MODIFYING: Final = (_WRITE, _WRITE_UNCHANGED, _RESIZE)
_WE_USE: Final = (_READ, _WRITE, _RESIZE)
_WE_DONT_SHARE: Final = (_READ, _WRITE, _WRITE_UNCHANGED, _RESIZE)
"""While an image is repaired in place, nobody else can read it sensibly either."""

# struct flock: type, whence, start, length, pid, with the compiler's padding.
_FLOCK: Final = struct.Struct("@hhqqi0q")


class Usage(IntEnum):
    """What the locks of an image say; a larger value is a stronger reason to leave it alone."""

    FREE = 0
    """Nobody holds a lock."""
    UNKNOWN = 1
    """Locks can't be asked for here."""
    READ = 2
    """Somebody reads it, and counts on its staying as it is."""
    LOCKED = 3
    """Somebody has locked it in another way than QEMU does."""
    WRITTEN = 4
    """Somebody may write it: most likely a virtual machine is running."""


@dataclass(frozen=True, slots=True)
class LockState:
    """The answer to "is this image in use?".

    Attributes:
        usage: What the locks say.
        reason: What the user should know of it, as the end of a sentence about the image.
    """

    usage: Usage
    reason: str


class _Lock(NamedTuple):
    start: int
    pid: int


_FREE: Final = LockState(Usage.FREE, "is not locked by anybody")


def probe_path(path: str | os.PathLike[str]) -> LockState:
    """Whether somebody uses the image at `path`, as far as locks tell.

    Raises:
        SourceError: When the path can't be opened.
    """
    name = os.fspath(path)
    try:
        # Non-blocking, so that a FIFO under a hostile name can't hold the program up.
        fd = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError as error:
        raise SourceError(
            f"{name} can't be opened: {error.strerror}", path=name, errno=error.errno
        ) from error
    try:
        return probe(fd)
    finally:
        os.close(fd)


def probe(fd: int) -> LockState:
    """Whether somebody uses the open file `fd`; its own locks don't count.

    For a moment it holds a shared lock (flock) of the file, unless it has one already.
    """
    if sys.platform == "win32":
        return LockState(Usage.UNKNOWN, "may be in use: this system does not tell")
    held = _ask(fd)
    if held.usage not in (Usage.FREE, Usage.UNKNOWN):
        return held
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return LockState(Usage.LOCKED, "is locked by another program (flock)")
    except OSError as error:
        return _unknown(error)
    fcntl.flock(fd, fcntl.LOCK_UN)
    return held


def _ask(fd: int) -> LockState:
    """As `probe`, for locks of byte ranges alone."""
    if sys.platform != "linux":
        return LockState(Usage.UNKNOWN, "may be in use: this system does not tell")
    try:
        first = _conflict(fd, 0, 0)
        if first is None:
            return _FREE
        for permission in _MODIFYING:
            if lock := _conflict(fd, USED_BASE + permission, 1):
                return LockState(
                    Usage.WRITTEN,
                    "is in use: a virtual machine or a tool of QEMU's has it open for writing"
                    + _holder(lock),
                )
        for permission in _WE_USE:
            for base in (USED_BASE, UNSHARED_BASE):
                if lock := _conflict(fd, base + permission, 1):
                    return LockState(
                        Usage.READ,
                        "is in use: a virtual machine or a tool of QEMU's reads it" + _holder(lock),
                    )
    except OSError as error:
        return _unknown(error)
    return LockState(Usage.LOCKED, f"is locked by another program{_holder(first)}")


def _conflict(fd: int, start: int, length: int) -> _Lock | None:
    """The first lock of somebody else in a byte range (length 0: to the end), or None."""
    request = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
    answer = fcntl.fcntl(fd, fcntl.F_OFD_GETLK, request)
    kind, _, start, _, pid = _FLOCK.unpack(answer)
    return None if kind == fcntl.F_UNLCK else _Lock(start, pid)


def _holder(lock: _Lock) -> str:
    """Who holds it: locks that belong to an open file, as QEMU's do, name no process."""
    return f" (process {lock.pid})" if lock.pid > 0 else ""


def _unknown(error: OSError) -> LockState:
    return LockState(
        Usage.UNKNOWN,
        f"may be in use: locks can't be asked for on its file system ({error.strerror})",
    )


class ImageLock:
    """Our own lock on an image, of the kind that QEMU respects; held until `release`.

    It belongs to the open file, so that closing it releases the lock as well.
    """

    def __init__(self, fd: int) -> None:
        """Make a lock that is not held yet.

        Args:
            fd: The image, opened for reading at least. It stays the caller's.
        """
        self._fd = fd

    def acquire(self) -> LockState:
        """Take the lock if nobody else uses the image.

        Ours is set before the others' are asked for, so that of two who do this at the same time
        at most one goes on.

        Returns:
            What was found. The lock is held if and only if that is FREE.
        """
        if sys.platform != "linux":
            return probe(self._fd)
        try:
            for permission in _WE_USE:
                self._set(fcntl.F_RDLCK, USED_BASE + permission, 1)
            for permission in _WE_DONT_SHARE:
                self._set(fcntl.F_RDLCK, UNSHARED_BASE + permission, 1)
        except BlockingIOError:  # somebody's exclusive lock, which asking finds as well
            state = probe(self._fd)
        except OSError as error:
            state = _unknown(error)
        else:
            state = self._probe_and_hold()
        if state.usage is not Usage.FREE:
            self.release()
        return state

    def _probe_and_hold(self) -> LockState:
        state = probe(self._fd)
        if state.usage is Usage.FREE:
            try:
                # Shared: where flock is made of byte range locks (NFS), an exclusive one would
                # meet our own.
                fcntl.flock(self._fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return LockState(Usage.LOCKED, "is locked by another program (flock)")
        return state

    def release(self) -> None:
        """Give up every lock of this open file; safe to call again."""
        if sys.platform != "linux":
            return
        # Where locks are unknown there is none to give up.
        with contextlib.suppress(OSError):
            self._set(fcntl.F_UNLCK, 0, 0)
        with contextlib.suppress(OSError):
            fcntl.flock(self._fd, fcntl.LOCK_UN)

    def _set(self, kind: int, start: int, length: int) -> None:
        request = _FLOCK.pack(kind, os.SEEK_SET, start, length, 0)
        fcntl.fcntl(self._fd, fcntl.F_OFD_SETLK, request)
