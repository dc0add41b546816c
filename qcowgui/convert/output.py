"""The file a conversion writes: it appears whole or not at all, and replaces none by accident."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Self

from qcowgui.codec.cluster import Buffer
from qcowgui.convert.part_file import create_part
from qcowgui.errors import OutputError
from qcowgui.image.source import Identity
from qcowgui.units import format_size

_MAX_VECTORS: Final = 1024
"""Buffers in one write call: Linux's IOV_MAX."""
_HINTS: Final = {
    errno.ENOSPC: "there is no space left; choose a place with more, or compress",
    errno.EDQUOT: "the quota is used up; choose another place",
    errno.EFBIG: "the file would be too large for this file system or for the set limit",
    errno.EROFS: "the file system is read-only; choose another place",
    errno.ENOENT: "the folder, or the file, was removed meanwhile",
    errno.EACCES: "the folder is not writable for you; choose another place",
    errno.EMFILE: "the limit of open files is reached: raise it (ulimit -n)",
    errno.ENFILE: "the whole system's limit of open files is reached: close other programs",
}
_EXISTS_HINT: Final = "choose another name, or allow overwriting (--force)"


class OutputFile:
    """A temporary file beside the target, moved over it when it is complete.

    Writes are positional and may come from any thread.

    Attributes:
        target: Where the result will be; symbolic links are followed.
        path: The temporary file.
        written_bytes: Bytes written so far.
    """

    def __init__(self, target: Path, *, overwrite: bool) -> None:
        """Create the temporary file.

        Args:
            target: The wanted path.
            overwrite: Whether an existing file may be replaced.

        Raises:
            OutputError: When the target exists and may not be replaced, is no regular file, or
                when its folder can't be written.
        """
        self._overwrite = overwrite
        self.target = check_target(target, overwrite=overwrite)
        self.written_bytes = 0
        self._lock = threading.Lock()
        self._committed = False
        mode = 0o666
        with contextlib.suppress(OSError):
            # Nobody may read the new file early who may not read the one it replaces.
            mode &= stat.S_IMODE(self.target.stat().st_mode) | stat.S_IRUSR | stat.S_IWUSR
        self._held_fd = -1
        try:
            self.path, self._fd = create_part(self.target, mode)
        except OSError as error:
            raise self._error("can't be created", error) from error

    @property
    def committed(self) -> bool:
        """Whether the file is in the target's place."""
        return self._committed

    def write_at(self, offset: int, data: Buffer) -> None:
        """Write all of `data` at `offset`.

        Raises:
            OutputError: When the operating system refuses it.
        """
        self.write_many(offset, (data,))

    def write_many(self, offset: int, buffers: Sequence[Buffer]) -> None:
        """Write `buffers`, one behind the other, from `offset` on.

        Raises:
            OutputError: When the operating system refuses it.
        """
        total = 0
        for first in range(0, len(buffers), _MAX_VECTORS):
            part = buffers[first : first + _MAX_VECTORS]
            wanted = sum(map(len, part))
            try:
                done = self._pwritev(part, offset + total)
                if done < wanted:
                    self._write_rest(memoryview(b"".join(part))[done:], offset + total + done)
            except OSError as error:
                raise self._error(f"can't be written at offset {offset:#x}", error) from error
            total += wanted
        with self._lock:
            self.written_bytes += total

    def _pwritev(self, buffers: Sequence[Buffer], offset: int) -> int:
        if hasattr(os, "pwritev"):
            return os.pwritev(self._fd, buffers, offset)
        with self._lock:
            os.lseek(self._fd, offset, os.SEEK_SET)
            return os.write(self._fd, b"".join(buffers))

    def _write_rest(self, rest: memoryview, offset: int) -> None:
        while rest:
            done = self._pwritev((rest,), offset)
            if not done:
                raise OSError(errno.EIO, "the system wrote nothing")
            rest, offset = rest[done:], offset + done

    def set_size(self, size_bytes: int) -> None:
        """Make the file `size_bytes` long; what was not written reads as zeros.

        Raises:
            OutputError: When the file system can't hold a file of that length.
        """
        try:
            os.truncate(self._fd, size_bytes)
        except OSError as error:
            raise self._error(f"can't be made {size_bytes:,} bytes long", error) from error

    def allocate(self, size_bytes: int) -> None:
        """Set space aside for the first `size_bytes`, as zeros.

        Raises:
            OutputError: When there is not enough space.
        """
        if not size_bytes:
            return
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self._fd, 0, size_bytes)
                return
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
                raise self._error(f"can't get {size_bytes:,} bytes of space", error) from error
        zeros = bytes(1 << 20)
        for offset in range(0, size_bytes, len(zeros)):
            self.write_at(offset, zeros[: size_bytes - offset])

    def commit(self, *, before_move: Callable[[], None] | None = None) -> os.stat_result:
        """Make the file durable and put it in the target's place, in one step.

        Args:
            before_move: Called when the file is durable, which can take long; what it raises leaves
                the target as it was.

        Returns:
            The status of the finished file.

        Raises:
            OutputError: When the system refuses it, or when a file has appeared at the target
                since, and may not be replaced.
        """
        try:
            if self._overwrite:
                self._take_over_owner()
            os.fsync(self._fd)
            status = os.fstat(self._fd)
            self._keep_lock()
            self._close()
            if before_move is not None:
                before_move()
            self._move()
        except FileExistsError as error:
            raise OutputError(
                f"{self.target} was made by somebody else meanwhile; it stays as it is",
                path=str(self.target),
                errno=error.errno,
                hint=_EXISTS_HINT,
            ) from error
        except OSError as error:
            raise self._error("can't be put in place", error) from error
        self._committed = True
        self._release_lock()
        try:
            self._sync_folder()
        except OSError as error:
            raise self._error(
                "is complete and in place, but a power failure now could undo that", error
            ) from error
        return status

    def _take_over_owner(self) -> None:
        """Give the new file the owner and the permissions of the one it replaces."""
        try:
            old = self.target.stat()
        except FileNotFoundError:
            return
        if not hasattr(os, "fchown"):
            return
        # Only root may give a file away, and not all file systems know owners; then it stays ours.
        with contextlib.suppress(OSError):
            os.fchown(self._fd, old.st_uid, old.st_gid)
        with contextlib.suppress(OSError):
            os.fchmod(self._fd, stat.S_IMODE(old.st_mode))

    def _move(self) -> None:
        if self._overwrite:
            self.path.replace(self.target)
            return
        try:
            # A link, unlike a rename, fails when somebody made the target in the meantime.
            os.link(self.path, self.target)
        except FileExistsError:
            raise
        except OSError:  # no hard links here (FAT, some network file systems)
            if os.path.lexists(self.target):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
            self.path.replace(self.target)
        else:
            self.path.unlink()

    def _sync_folder(self) -> None:
        if os.name != "posix":
            return
        try:
            folder = os.open(self.target.parent, os.O_RDONLY)
        except PermissionError:  # a folder may be writable and not readable
            return
        try:
            os.fsync(folder)
        except OSError as error:
            if error.errno != errno.EINVAL:  # some file systems can't sync a folder
                raise
        finally:
            os.close(folder)

    def _close(self) -> None:
        # Forgotten first: a close that fails has closed it all the same.
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def _keep_lock(self) -> None:
        """Keep the lock beyond the close: until it is moved, the file may not look like debris."""
        if os.name == "posix":  # elsewhere an open file can't be moved
            # No descriptors left: an unlocked file for a moment is better than none.
            with contextlib.suppress(OSError):
                self._held_fd = os.dup(self._fd)

    def _release_lock(self) -> None:
        fd, self._held_fd = self._held_fd, -1
        if fd >= 0:
            with contextlib.suppress(OSError):
                os.close(fd)

    def discard(self) -> None:
        """Remove the temporary file, unless it was committed. Safe to call again."""
        # What led here is the error to tell, not one of these.
        with contextlib.suppress(OSError):
            self._close()
        if not self._committed:
            with contextlib.suppress(OSError):
                self.path.unlink()
        self._release_lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    def _error(self, what: str, error: OSError) -> OutputError:
        return refused(self.target, what, error.errno, error.strerror)


def refused(target: Path, what: str, number: int | None, reason: str | None = None) -> OutputError:
    """The error to raise when the system has refused something with the target's file.

    Args:
        target: The target, as the user knows it.
        what: What can't be done: "can't be created".
        number: The system's error number.
        reason: The system's words; by default those for `number`.
    """
    if reason is None and number is not None:
        reason = os.strerror(number)
    return OutputError(
        f"{target} {what}: {reason}",
        path=str(target),
        errno=number,
        hint=_HINTS.get(number or 0, ""),
    )


def check_target(target: Path, *, overwrite: bool) -> Path:
    """The real path of a target that may be written; symbolic links are followed.

    Raises:
        OutputError: When it exists and may not be replaced, is no regular file, or has no folder.
    """
    try:
        # Not of the real path: that of /dev/stdout may be no path at all.
        mode = target.stat().st_mode
    except FileNotFoundError:
        real = Path(os.path.realpath(target))
        if not real.parent.is_dir():
            raise OutputError(
                f"{target}: the folder {real.parent} does not exist",
                path=str(target),
                hint="make it first",
            ) from None
        return real
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else error
        raise OutputError(
            f"{str(target)!r} can't be used: {reason}",
            path=str(target),
            errno=error.errno if isinstance(error, OSError) else None,
        ) from error
    if stat.S_ISDIR(mode):
        raise OutputError(f"{target} is a folder", path=str(target), hint="add a file name to it")
    if not stat.S_ISREG(mode):
        raise OutputError(
            f"{target} is no regular file: a target is written at many places, which a pipe or a "
            "device does not allow, and then moved into place",
            path=str(target),
            hint="for a block device or a pipe use qemu-img, or convert to a file first",
        )
    if not overwrite:
        raise OutputError(
            f"{target} exists already",
            path=str(target),
            errno=errno.EEXIST,
            hint=_EXISTS_HINT,
        )
    return Path(os.path.realpath(target))


def check_room(target: Path, size_bytes: int, *, sparse: bool) -> str:
    """What to warn of before a raw file of `size_bytes` is written to `target`, or nothing.

    A sparse file takes the room of its data, which nobody knows before it is read; so its length
    alone is never refused here. What the file system can't address, `OutputFile.set_size` tells.

    Args:
        target: Where the file will be.
        size_bytes: Its length.
        sparse: Whether zeros become holes.

    Raises:
        OutputError: When the file is not sparse, and there is less free space than it takes.
    """
    try:
        usage = shutil.disk_usage(Path(os.path.realpath(target)).parent)
    except OSError:  # making the file will say what is wrong
        return ""
    if not usage.total or size_bytes <= usage.free:  # some network file systems don't know
        return ""
    size = format_size(size_bytes)
    if not sparse:
        raise OutputError(
            f"{target} would take {size}, and {format_size(usage.free)} are free",
            path=str(target),
            errno=errno.ENOSPC,
            hint="choose a place with more, or let the file grow as it is written",
        )
    if size_bytes <= usage.total:
        return ""
    return (
        f"The result will be {size} long, but its whole file system has {format_size(usage.total)}:"
        " it fits only while its holes stay holes, and a copy that fills them will not."
    )


def refuse_same_file(target: Path, sources: frozenset[Identity]) -> None:
    """Raise when `target` is one of the files that are read, by whatever path.

    Raises:
        OutputError: When it is.
    """
    try:
        status = target.stat()
    except OSError:
        return
    if (status.st_dev, status.st_ino) in sources:
        raise OutputError(
            f"{target} is the source itself, or a file that the source refers to",
            path=str(target),
            hint="choose another target; sources are never written",
        )
