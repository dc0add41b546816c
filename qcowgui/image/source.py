"""Where an image's bytes come from: a file, a block device, or bytes in memory. Read-only.

Every read names its position, so that any number of threads may read one source at a time.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Protocol, Self

from qcowgui.errors import SourceError

Identity = tuple[int, int]
"""(device, inode): equal for two paths exactly when they lead to the same file."""


class ByteSource(Protocol):
    """Positional, thread-safe access to a sequence of bytes of fixed length."""

    @property
    def name(self) -> str:
        """The path as the user gave it, or a label."""
        ...

    @property
    def size_bytes(self) -> int:
        """How many bytes there are."""
        ...

    @property
    def disk_bytes(self) -> int | None:
        """How many bytes the file system has set aside, or None where that has no meaning."""
        ...

    @property
    def identity(self) -> Identity | None:
        """What tells this file from others, or None for bytes in memory."""
        ...

    def read_at(self, offset: int, length: int) -> bytes:
        """The bytes from `offset` on: `length` of them, fewer only where the source ends.

        Raises:
            SourceError: When the operating system refuses the read.
        """
        ...

    def read_into(self, offset: int, buffer: memoryview) -> int:
        """Fill `buffer` from `offset` on; the number of bytes read, fewer only at the end.

        Raises:
            SourceError: When the operating system refuses the read.
        """
        ...

    def iter_data_ranges(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The parts [a, b) of [start, end) that may hold other bytes than zeros, in order."""
        ...

    def require_unchanged(self) -> None:
        """Return when the content is still that of the opening, as far as the system can tell.

        Raises:
            SourceError: When the file was written or cut since.
        """
        ...

    def close(self) -> None:
        """Let go of the file. Nothing may be read afterwards."""
        ...


class BytesSource:
    """Bytes in memory."""

    def __init__(self, data: bytes, name: str = "(memory)") -> None:
        self._data = data
        self._name = name

    @property
    def name(self) -> str:
        """The label given."""
        return self._name

    @property
    def size_bytes(self) -> int:
        """The number of bytes."""
        return len(self._data)

    @property
    def disk_bytes(self) -> int | None:
        """None: there is no file."""
        return None

    @property
    def identity(self) -> Identity | None:
        """None: there is no file."""
        return None

    def read_at(self, offset: int, length: int) -> bytes:
        """As `ByteSource.read_at`."""
        return self._data[offset : offset + length] if offset >= 0 else b""

    def read_into(self, offset: int, buffer: memoryview) -> int:
        """As `ByteSource.read_into`."""
        found = self.read_at(offset, len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def iter_data_ranges(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """As `ByteSource.iter_data_ranges`: memory has no holes."""
        end = min(end, len(self._data))
        if start < end:
            yield start, end

    def require_unchanged(self) -> None:
        """Bytes don't change."""

    def close(self) -> None:
        """Nothing to let go of."""


class FileSource:
    """A regular file or a block device, opened read-only.

    Raises:
        SourceError: When the path can't be opened, or is neither of the two.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._name = os.fspath(path)
        # Non-blocking, so that a FIFO under a hostile name can't hold the program up.
        flags = (
            os.O_RDONLY
            | getattr(os, "O_CLOEXEC", 0)
            | getattr(os, "O_NONBLOCK", 0)
            | getattr(os, "O_BINARY", 0)
        )
        try:
            self._fd = os.open(self._name, flags)
        except OSError as error:
            raise _source_error(self._name, "can't be opened", error) from error
        except ValueError as error:  # a NUL in the name
            raise SourceError(
                f"{self._name!r} is no file name: {error}", path=self._name
            ) from error
        try:
            self._status = os.fstat(self._fd)
            self._size_bytes = self._measure()
        except BaseException:
            os.close(self._fd)
            raise
        self._closed = False
        self._seek_lock = threading.Lock()
        self._known_data = (0, 0, 0)

    def _measure(self) -> int:
        mode = self._status.st_mode
        if stat.S_ISREG(mode):
            return self._status.st_size
        if stat.S_ISBLK(mode):
            try:
                return os.lseek(self._fd, 0, os.SEEK_END)
            except OSError as error:
                raise _source_error(self._name, "has no readable size", error) from error
        kind = "a folder" if stat.S_ISDIR(mode) else "neither a file nor a block device"
        raise SourceError(
            f"{self._name} is {kind}",
            path=self._name,
            errno=errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL,
            hint="give the path of a disk image",
        )

    @property
    def name(self) -> str:
        """The path as given."""
        return self._name

    @property
    def path(self) -> Path:
        """The path as given."""
        return Path(self._name)

    @property
    def size_bytes(self) -> int:
        """The length of the file, or the size of the block device, when it was opened."""
        return self._size_bytes

    @property
    def disk_bytes(self) -> int | None:
        """Blocks in use, in bytes; None where the system does not tell."""
        blocks = getattr(self._status, "st_blocks", None)
        return None if blocks is None else blocks * 512

    @property
    def is_block_device(self) -> bool:
        """Whether this is a block device."""
        return stat.S_ISBLK(self._status.st_mode)

    @property
    def identity(self) -> Identity:
        """(device, inode)."""
        return self._status.st_dev, self._status.st_ino

    def read_at(self, offset: int, length: int) -> bytes:
        """As `ByteSource.read_at`."""
        length = min(length, self._size_bytes - offset)
        if length <= 0 or offset < 0:
            return b""
        found = self._pread(offset, length)
        if len(found) == length:
            return found
        parts = [found]
        done = len(found)
        while done < length and parts[-1]:
            parts.append(self._pread(offset + done, length - done))
            done += len(parts[-1])
        return b"".join(parts)

    def read_into(self, offset: int, buffer: memoryview) -> int:
        """As `ByteSource.read_into`."""
        done = 0
        if offset < 0 or offset >= self._size_bytes:
            return 0
        buffer = buffer[: self._size_bytes - offset]
        while done < len(buffer):
            count = self._preadv(offset + done, buffer[done:])
            if not count:
                break
            done += count
        return done

    def _pread(self, offset: int, length: int) -> bytes:
        try:
            if hasattr(os, "pread"):
                return os.pread(self._fd, length, offset)
            with self._seek_lock:
                os.lseek(self._fd, offset, os.SEEK_SET)
                return os.read(self._fd, length)
        except OSError as error:
            raise _source_error(
                self._name, f"can't be read at offset {offset:#x}", error
            ) from error

    def _preadv(self, offset: int, buffer: memoryview) -> int:
        if not hasattr(os, "preadv"):
            found = self._pread(offset, len(buffer))
            buffer[: len(found)] = found
            return len(found)
        try:
            return os.preadv(self._fd, [buffer], offset)
        except OSError as error:
            raise _source_error(
                self._name, f"can't be read at offset {offset:#x}", error
            ) from error

    def iter_data_ranges(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """As `ByteSource.iter_data_ranges`, by the file system's own map of holes.

        Where the system has no such map, everything counts as data.
        """
        end = min(end, self._size_bytes)
        while start < end:
            data, hole = self._next_data(start)
            if data >= end:
                return
            yield data, min(hole, end)
            start = hole

    def _next_data(self, start: int) -> tuple[int, int]:
        """The first data at or behind `start`, as [a, b); both are the file's length when none is.

        The last answer is kept: finding the end of a long range costs a walk over all its pages
        (2026-11-30, tmpfs: 1.4 ms for each of a gigabyte's 4 MiB batches).
        """
        known_from, data, hole = self._known_data
        if known_from <= start < hole:
            return max(start, data), hole
        size = self._size_bytes
        try:
            data = os.lseek(self._fd, start, os.SEEK_DATA)
            hole = os.lseek(self._fd, data, os.SEEK_HOLE)
        except AttributeError:  # no such call on this system
            data, hole = start, size
        except OSError as error:
            if error.errno == errno.ENXIO:  # a hole up to the end, unless the end has moved
                self.require_unchanged()
                data = hole = size
            else:  # no map of holes here
                data, hole = start, size
        self._known_data = start, data, hole
        return data, hole

    def require_unchanged(self) -> None:
        """As `ByteSource.require_unchanged`, by length and time of the last change.

        A block device has neither; nothing is known of it.
        """
        if self.is_block_device:
            return
        now = os.fstat(self._fd)
        if now.st_size < self._size_bytes:
            what = f"was cut from {self._size_bytes:,} to {now.st_size:,} bytes"
        elif (now.st_size, now.st_mtime_ns) != (self._size_bytes, self._status.st_mtime_ns):
            what = "was changed"
        else:
            return
        raise SourceError(
            f"{self._name} {what} while it was read",
            path=self._name,
            hint="is a virtual machine, a download or another program still writing it?",
        )

    def close(self) -> None:
        """Close the file; safe to call again."""
        if not self._closed:
            self._closed = True
            os.close(self._fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_HINTS: Final = {
    errno.EMFILE: "this process may have no more files open; raise the limit (ulimit -n)",
    errno.ENFILE: "the system has no more files to open; close other programs",
}


def _source_error(name: str, what: str, error: OSError) -> SourceError:
    return SourceError(
        f"{name or repr(name)} {what}: {error.strerror}",
        path=name,
        errno=error.errno,
        hint=_HINTS.get(error.errno or 0, ""),
    )
