"""The undo file: everything that a repair in place changes, as it was and as it will be.

Numbers are big-endian. A header with the image's name, size and time of change; a record for each
run of bytes, by ascending offset; an end mark with the number of records and the SHA-256 of all
that stands before it. Up to there the file is complete and on the disk before the image's first
byte is changed, and is never written again. Behind it is room for states: repaired, being put
back, put back.

The bytes as they will be are kept, too: so it can be told, after a crash in the middle, which
bytes are ours to put back. A repair writes what stands here, so both agree whatever happens.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, Self

from qcowgui.convert.output import OutputFile, refused
from qcowgui.errors import OutputError, SourceError
from qcowgui.image.source import FileSource
from qcowgui.repair.copying import keep_private
from qcowgui.repair.edits import Fingerprint
from qcowgui.units import MIB

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAX_RECORD_BYTES: Final = MIB
"""A longer run has several records, so that no memory depends on what a file claims."""

_MAGIC: Final = b"QCOWUNDO"
_VERSION: Final = 1
_FLAG_BLOCK_DEVICE: Final = 1
# magic, version, flags, device, inode, old size, new size, time of change, length of the name
_HEADER: Final = struct.Struct(">8sIIQQQQqI")
# offset, length, length of what stands there before
_RECORD: Final = struct.Struct(">QII")
_END_OFFSET: Final = (1 << 64) - 1
# as a record without bytes; number of records
_END: Final = struct.Struct(">QIIQ")
# mark, size, time of change, CRC of these
_STATE: Final = struct.Struct(">8sQqI")
_STATES: Final = 3
"""Room for each state after the first, so that to note one needs no space on a full disk."""
_MAX_NAME_BYTES: Final = 1 << 16
_BUFFER_BYTES: Final = MIB


class Record(NamedTuple):
    """One run of bytes.

    Attributes:
        offset: Where it stands in the image.
        before: What was there; shorter than `after` where the file ended.
        after: What the repair writes; not empty.
    """

    offset: int
    before: bytes
    after: bytes

    @property
    def end_offset(self) -> int:
        """Offset behind its last byte."""
        return self.offset + len(self.after)


class UndoState(Enum):
    """How far things have come."""

    WRITTEN = b""
    """The undo file is complete; the image may have been changed, wholly or in part."""
    APPLIED = b"REPAIRED"
    """The repair is complete."""
    UNDOING = b"UNDOING\0"
    """The image is being put back, or was when something went wrong."""
    UNDONE = b"UNDONE\0\0"
    """The image was put back; the undo file has done its duty."""


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...
    def digest(self) -> bytes: ...


def write_undo_file(
    path: Path,
    image_path: Path,
    fingerprint: Fingerprint,
    new_file_bytes: int,
    records: Iterable[Record],
    *,
    mode: int = 0o666,
    before_move: Callable[[], None] | None = None,
) -> None:
    """Write an undo file; it appears at `path` complete and durable, or not at all.

    Args:
        path: Where it will be; nothing may be there yet.
        image_path: The image.
        fingerprint: Of the image before the repair.
        new_file_bytes: The image's length after the repair.
        records: By ascending offset, each of `MAX_RECORD_BYTES` at most.
        mode: The image's permissions: who may not read it may not read its bytes here.
        before_move: Called when everything is on the disk; what it raises leaves nothing behind.

    Raises:
        OutputError: When it can't be written, or something is at `path` already.
    """
    if os.path.lexists(path):
        raise OutputError(
            f"{path} exists already, and an undo file is never overwritten",
            path=str(path),
            hint="name another one (--undo-file)",
        )
    name = os.fsencode(image_path.absolute())
    device, inode = fingerprint.identity or (0, 0)
    flags = _FLAG_BLOCK_DEVICE if fingerprint.modified_ns is None else 0
    header = _HEADER.pack(
        _MAGIC,
        _VERSION,
        flags,
        device % (1 << 64),
        inode % (1 << 64),
        fingerprint.size_bytes,
        new_file_bytes,
        fingerprint.modified_ns or 0,
        len(name),
    )
    with OutputFile(path, overwrite=False) as output:
        keep_private(output, mode)
        writer = _Writer(output)
        writer.add(header, name)
        count = 0
        for offset, before, after in records:
            writer.add(_RECORD.pack(offset, len(after), len(before)), before, after)
            count += 1
        writer.add(_END.pack(_END_OFFSET, 0, 0, count))
        writer.add(writer.digest.digest(), bytes(_STATES * _STATE.size))
        writer.flush()
        output.commit(before_move=before_move)


class _Writer:
    """Appends to a new file in large pieces."""

    def __init__(self, output: OutputFile) -> None:
        self.digest = hashlib.sha256()
        self._output = output
        self._parts: list[bytes] = []
        self._waiting = 0
        self._position = 0

    def add(self, *parts: bytes) -> None:
        """Append `parts` and take them into the digest."""
        for part in parts:
            self.digest.update(part)
            self._waiting += len(part)
        self._parts += parts
        if self._waiting >= _BUFFER_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what was added."""
        self._output.write_at(self._position, b"".join(self._parts))
        self._position += self._waiting
        self._parts, self._waiting = [], 0


class UndoFile:
    """An undo file that was opened and found to be whole.

    Attributes:
        path: As given.
        image_path: The image that was repaired, as an absolute path.
        fingerprint: Of the image before the repair.
        new_file_bytes: The image's length after it.
        record_count: How many records there are.
        state: How far things have come.
        left_as: The image after the last state was reached, or None. Its identity is not known.
    """

    def __init__(self, path: Path) -> None:
        """Open an undo file and read it through once.

        Raises:
            SourceError: When it can't be read, is none, or is not whole.
        """
        self.path = path
        self._source = FileSource(path)
        self._stream = io.BufferedReader(_Stream(self._source), _BUFFER_BYTES)
        try:
            self._parse()
        except BaseException:
            self.close()
            raise

    def _parse(self) -> None:
        digest = hashlib.sha256()
        head = self._stream.read(_HEADER.size)
        if len(head) < _HEADER.size or not head.startswith(_MAGIC):
            raise SourceError(
                f"{self.path} is no undo file of a repair",
                path=str(self.path),
                errno=errno.EINVAL,
                hint="give the file that `repair --in-place` has named",
            )
        digest.update(head)
        _, version, flags, device, inode, size, new_size, modified, length = _HEADER.unpack(head)
        self.new_file_bytes: int = new_size
        if version != _VERSION:
            raise self._damaged(f"has the unknown version {version}")
        if length > _MAX_NAME_BYTES or new_size < size:
            raise self._damaged("has an impossible header")
        self.image_path = Path(os.fsdecode(self._take(length, digest)))
        is_block_device = bool(flags & _FLAG_BLOCK_DEVICE)
        self.fingerprint = Fingerprint((device, inode), size, None if is_block_device else modified)
        self._records_start = self._stream.tell()
        self._parse_records(digest)
        self._parse_states()

    def _parse_records(self, digest: _Digest) -> None:
        position = count = 0
        while True:
            head = self._take(_RECORD.size, digest)
            offset, length, before_length = _RECORD.unpack(head)
            if offset == _END_OFFSET:
                break
            self._require_sane(offset, length, before_length, position)
            self._take(before_length, digest)
            self._take(length, digest)
            position = offset + length
            count += 1
        self.record_count: int = int.from_bytes(self._take(8, digest), "big")
        found = digest.digest()
        if self.record_count != count or self._take(len(found)) != found:
            raise self._damaged("has a wrong checksum: it was changed since it was written")
        self._end_offset = self._stream.tell()

    def _require_sane(self, offset: int, length: int, before_length: int, position: int) -> None:
        there = max(0, min(length, self.fingerprint.size_bytes - offset))
        if (
            not 0 < length <= MAX_RECORD_BYTES
            or offset < position
            or offset + length > self.new_file_bytes
            or before_length != there
        ):
            raise self._damaged(f"has an impossible record for offset {offset:#x}")

    def _parse_states(self) -> None:
        self.state = UndoState.WRITTEN
        self.left_as: Fingerprint | None = None
        while len(data := self._stream.read(_STATE.size)) == _STATE.size:
            mark, size, modified, checksum = _STATE.unpack(data)
            # A crash can leave half of a state behind the others; it does not count.
            if checksum != zlib.crc32(data[:-4]) or mark not in {s.value for s in UndoState}:
                break
            self._set_state(UndoState(mark), size, modified)

    def _set_state(self, state: UndoState, size: int, modified_ns: int) -> None:
        self.state = state
        self._end_offset += _STATE.size
        is_block_device = self.fingerprint.modified_ns is None
        self.left_as = Fingerprint(None, size, None if is_block_device else modified_ns)

    def iter_records(self, start: int = 0, end: int = _END_OFFSET) -> Iterator[Record]:
        """The records whose offset lies in [start, end); one iteration at a time.

        Raises:
            SourceError: When the file can't be read any more.
        """
        position = self._records_start
        for _ in range(self.record_count):
            self._stream.seek(position)
            offset, length, before_length = _RECORD.unpack(self._take(_RECORD.size))
            position += _RECORD.size + before_length + length
            if offset >= end:
                return
            if offset >= start:
                yield Record(offset, self._take(before_length), self._take(length))

    def note_state(self, state: UndoState, image: Fingerprint) -> None:
        """Note durably that `state` was reached, with the image as it is then.

        States come in their order, each once; one that has been noted is not noted again.

        Raises:
            OutputError: When the undo file can't be written.
        """
        if state is self.state:
            return
        data = _STATE.pack(state.value, image.size_bytes, image.modified_ns or 0, 0)[:-4]
        data += zlib.crc32(data).to_bytes(4, "big")
        try:
            with self.path.open("r+b") as file:
                file.seek(self._end_offset)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise refused(self.path, "can't be written", error.errno, error.strerror) from error
        self._set_state(state, image.size_bytes, image.modified_ns or 0)

    def _take(self, length: int, digest: _Digest | None = None) -> bytes:
        data = self._stream.read(length)
        if len(data) < length:
            raise self._damaged("ends too early")
        if digest is not None:
            digest.update(data)
        return data

    def _damaged(self, what: str) -> SourceError:
        return SourceError(
            f"{self.path} {what}; nothing is put back from it",
            path=str(self.path),
            errno=errno.EINVAL,
        )

    def close(self) -> None:
        """Close the file; safe to call again."""
        self._source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Stream(io.RawIOBase):
    """A source as a raw stream; its errors stay SourceErrors."""

    def __init__(self, source: FileSource) -> None:
        super().__init__()
        self._from = source
        self._position = 0

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill `buffer` from the position on."""
        count = self._from.read_into(self._position, memoryview(buffer).cast("B"))
        self._position += count
        return count

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Set the position; as BufferedReader does, from the start or from where it is."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._from.size_bytes}
        self._position = base[whence] + offset
        return self._position


def propose_undo_path(image_path: Path) -> Path:
    """A name beside the image where nothing is yet: "disk.qcow2.undo", "disk.qcow2.undo.2"…"""
    first = image_path.with_name(f"{image_path.name}.undo")
    path, number = first, 1
    while os.path.lexists(path):
        number += 1
        path = first.with_name(f"{first.name}.{number}")
    return path
