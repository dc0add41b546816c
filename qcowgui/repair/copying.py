"""A copy of an image's file, made in the cheapest way that the file system offers."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator
from enum import Enum
from typing import Final

from qcowgui.convert.output import OutputFile, refused
from qcowgui.convert.raw_writer import RunWriter
from qcowgui.engine.work import CancelToken, Counter
from qcowgui.errors import SourceError
from qcowgui.image.source import FileSource
from qcowgui.units import KIB, MIB

if sys.platform == "linux":
    import fcntl

_FICLONE: Final = 0x40049409
"""Linux's ioctl number (_IOW(0x94, 9, int)); where it is another, the system knows none of ours."""
_CHUNK_BYTES: Final = 32 * MIB
"""Copied by one call to the kernel: how long a request to cancel may wait."""
_PIECE_BYTES: Final = 4 * MIB
_SPARSE_BYTES: Final = 4 * KIB


class CopyMethod(Enum):
    """How a file was copied."""

    CLONE = "clone"
    """Both files share their blocks until one of them is written."""
    KERNEL = "kernel"
    """By the kernel, perhaps on the server or by sharing."""
    READ_WRITE = "read-write"
    """By reading and writing; blocks of zeros became holes."""


def copy_file(
    source: FileSource,
    output: OutputFile,
    *,
    token: CancelToken,
    counter: Counter | None = None,
) -> CopyMethod:
    """Make `output` hold what `source` holds, holes included.

    Args:
        source: The file or block device to copy.
        output: Nothing has been written to it yet.
        token: Looked at before each chunk.
        counter: Is given the source's length, in parts, holes included.

    Raises:
        SourceError: When the source can't be read, or its path leads to another file by now.
        OutputError: When the target can't be written.
        Cancelled: When the token is set.
    """
    progress = _Progress(token, counter)
    with _descriptors(source, output) as (source_fd, target_fd):
        if _clone(source_fd, target_fd):
            progress.reach(source.size_bytes)
            return CopyMethod.CLONE
        output.set_size(source.size_bytes)
        done = _copy_in_kernel(source, source_fd, target_fd, progress)
    if done == source.size_bytes:
        progress.reach(done)
        return CopyMethod.KERNEL
    _copy_by_reading(source, output, done, progress)
    progress.reach(source.size_bytes)
    return CopyMethod.READ_WRITE


def keep_private(output: OutputFile, source_mode: int) -> None:
    """Take from a new file's permissions those that the image it comes from does not grant.

    Call it before anything is written.
    """
    with contextlib.suppress(OSError):  # some file systems have no permissions
        mode = stat.S_IMODE(output.path.stat().st_mode)
        output.path.chmod(mode & (source_mode | stat.S_IRUSR | stat.S_IWUSR))


class _Progress:
    """Adds to a counter what was done since the last call."""

    def __init__(self, token: CancelToken, counter: Counter | None) -> None:
        self._token = token
        self._counter = counter
        self._reached = 0

    def reach(self, position: int) -> None:
        """Everything before `position` is done.

        Raises:
            Cancelled: When the token is set.
        """
        if self._counter is not None:
            self._counter.add(position - self._reached)
        self._reached = position
        self._token.raise_if_cancelled()


@contextlib.contextmanager
def _descriptors(source: FileSource, output: OutputFile) -> Iterator[tuple[int, int]]:
    """Descriptors of both files, for the calls that copy without us."""
    with contextlib.ExitStack() as stack:
        flags = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        try:
            source_fd = os.open(source.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | flags)
            stack.callback(os.close, source_fd)
            status = os.fstat(source_fd)
        except OSError as error:
            raise SourceError(
                f"{source.name} can't be opened again: {error.strerror}",
                path=source.name,
                errno=error.errno,
            ) from error
        if (status.st_dev, status.st_ino) != source.identity:
            raise SourceError(
                f"{source.name} was replaced by another file since it was opened", path=source.name
            )
        try:
            target_fd = os.open(output.path, os.O_RDWR | flags)
        except OSError as error:
            raise refused(
                output.target, "can't be opened again", error.errno, error.strerror
            ) from error
        stack.callback(os.close, target_fd)
        yield source_fd, target_fd


def _clone(source_fd: int, target_fd: int) -> bool:
    """Share all blocks of the source; False where the file system can't."""
    if sys.platform != "linux":
        return False
    try:
        fcntl.ioctl(target_fd, _FICLONE, source_fd)
    except OSError:
        return False
    return True


def _copy_in_kernel(source: FileSource, source_fd: int, target_fd: int, progress: _Progress) -> int:
    """Copy from the start on, as far as the kernel does it; the end of what is copied.

    No error is told from here: the plain way, which goes on, meets it again if it is one, and
    knows which of the two files it concerns.
    """
    if not hasattr(os, "copy_file_range"):
        return 0
    for start, end in source.iter_data_ranges(0, source.size_bytes):
        position = start
        while position < end:
            progress.reach(position)
            length = min(end - position, _CHUNK_BYTES)
            try:
                copied = os.copy_file_range(source_fd, target_fd, length, position, position)
            except OSError:
                return position
            if not copied:
                return position
            position += copied
    return source.size_bytes


def _copy_by_reading(
    source: FileSource, output: OutputFile, start: int, progress: _Progress
) -> None:
    """Copy what stands from `start` on; blocks of zeros become holes."""
    writer = RunWriter(output, _SPARSE_BYTES)
    buffer = memoryview(bytearray(_PIECE_BYTES))
    for first, last in source.iter_data_ranges(start, source.size_bytes):
        for position in range(first, last, _PIECE_BYTES):
            progress.reach(position)
            piece = buffer[: min(last - position, _PIECE_BYTES)]
            if source.read_into(position, piece) < len(piece):
                source.require_unchanged()
                raise SourceError(
                    f"{source.name} ends before offset {position + len(piece):#x}",
                    path=source.name,
                    hint="was it cut meanwhile?",
                )
            writer.add(position, piece)
            writer.flush()
