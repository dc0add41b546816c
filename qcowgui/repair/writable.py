"""An image that is opened to be changed in place, and locked against everybody else meanwhile."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final, Self

from qcowgui.codec.cluster import Buffer
from qcowgui.errors import OutputError
from qcowgui.image.locks import ImageLock, Usage
from qcowgui.repair.edits import Fingerprint

_COPY_HINT: Final = "write a repaired copy instead (-o), or change what forbids it"
_HINTS: Final = {
    errno.EACCES: _COPY_HINT,
    errno.EPERM: _COPY_HINT,
    errno.EROFS: _COPY_HINT,
    errno.EBUSY: "it is mounted, or part of a volume group or another device",
    errno.ENOSPC: "make room on its file system, or write a repaired copy elsewhere (-o)",
    errno.EDQUOT: "the quota is used up; write a repaired copy elsewhere (-o)",
    errno.EIO: "the disk below may be failing: copy the image to another one first",
}


class WritableImage:
    """A regular file or a block device, opened for writing and locked.

    Not thread-safe: changes in place have an order.

    Attributes:
        path: As given.
        is_block_device: Whether it can't grow.
    """

    def __init__(self, path: Path, *, allow_unknown_locks: bool = False) -> None:
        """Open and lock the image.

        Args:
            path: The image; symbolic links are followed.
            allow_unknown_locks: Go on where the system can't tell whether somebody uses it.

        Raises:
            OutputError: When it can't be written, is read-only, or is in use.
        """
        self.path = path
        try:
            mode = path.stat().st_mode
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            raise self._refused("can't be opened", error) from error
        self.is_block_device = stat.S_ISBLK(mode)
        if not self.is_block_device and not stat.S_ISREG(mode):
            raise OutputError(f"{path} is neither a file nor a block device", path=str(path))
        if not self.is_block_device and not mode & 0o222:
            # The system would let the superuser pass.
            raise OutputError(f"{path} is read-only", path=str(path), hint=_COPY_HINT)
        flags = os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        flags |= getattr(os, "O_NONBLOCK", 0)  # had it become a FIFO, this would not wait
        if self.is_block_device:
            flags |= os.O_EXCL  # Linux: nobody has mounted it
        try:
            self._fd = os.open(path, flags)
        except OSError as error:
            raise self._refused("can't be opened for writing", error) from error
        try:
            self._lock = ImageLock(self._fd)
            state = self._lock.acquire()
        except BaseException:
            os.close(self._fd)
            raise
        if state.usage is Usage.FREE or (state.usage is Usage.UNKNOWN and allow_unknown_locks):
            return
        os.close(self._fd)
        raise OutputError(
            f"{path} {state.reason}",
            path=str(path),
            errno=errno.EBUSY,
            hint="shut down what uses it, or write a repaired copy (-o) of what it is now",
        )

    @property
    def mode(self) -> int:
        """The permissions of the file."""
        return stat.S_IMODE(os.fstat(self._fd).st_mode)

    def fingerprint(self) -> Fingerprint:
        """What it is at this moment.

        Raises:
            OutputError: When the system does not tell.
        """
        try:
            status = os.fstat(self._fd)
            size_bytes = os.lseek(self._fd, 0, os.SEEK_END)
        except OSError as error:
            raise self._refused("can't be measured", error) from error
        return Fingerprint.of_status(status, size_bytes, is_block_device=self.is_block_device)

    def read_at(self, offset: int, length: int) -> bytes:
        """`length` bytes from `offset` on, fewer only where the file ends.

        Raises:
            OutputError: When the system refuses the read.
        """
        parts = []
        try:
            os.lseek(self._fd, offset, os.SEEK_SET)
            while length and (part := os.read(self._fd, length)):
                parts.append(part)
                length -= len(part)
        except OSError as error:
            raise self._refused(f"can't be read at offset {offset:#x}", error) from error
        return b"".join(parts)

    def write_at(self, offset: int, data: Buffer) -> None:
        """Write all of `data` at `offset`; the file grows when it ends before.

        Raises:
            OutputError: When the system refuses it, perhaps with a part written.
        """
        rest = memoryview(data)
        try:
            os.lseek(self._fd, offset, os.SEEK_SET)
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        except OSError as error:
            raise self._refused(f"can't be written at offset {offset:#x}", error) from error

    def set_size(self, size_bytes: int) -> None:
        """Make the file `size_bytes` long; a device keeps its size.

        Raises:
            OutputError: When the system refuses it.
        """
        if self.is_block_device:
            return
        try:
            os.ftruncate(self._fd, size_bytes)
        except OSError as error:
            raise self._refused(f"can't be made {size_bytes:,} bytes long", error) from error

    def sync(self) -> None:
        """Return when everything written is on the disk.

        Raises:
            OutputError: When it can't be brought there.
        """
        try:
            os.fsync(self._fd)
        except OSError as error:
            raise self._refused("can't be brought to the disk", error) from error

    def close(self) -> None:
        """Release the lock and close the file; safe to call again."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _refused(self, what: str, error: OSError | ValueError) -> OutputError:
        number = error.errno if isinstance(error, OSError) else None
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return OutputError(
            f"{self.path} {what}: {reason}",
            path=str(self.path),
            errno=number,
            hint=_HINTS.get(number or 0, ""),
        )
