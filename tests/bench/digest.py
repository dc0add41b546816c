"""A SHA-256 of a raw image's content that costs only the data, not the holes."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Final

from qcowgui.units import KIB, MIB, align_down

_BLOCK_BYTES: Final = 64 * KIB
_SEGMENT_BYTES: Final = 64 * MIB
_ZEROS: Final = bytes(_BLOCK_BYTES)


def _iter_data_blocks(fd: int, start_offset: int, end_offset: int) -> Iterator[int]:
    """The offset of each block of [start, end) that touches data, ascending."""
    offset = start_offset
    while offset < end_offset:
        try:
            data_offset = os.lseek(fd, offset, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # only a hole follows
                return
            raise
        hole_offset = min(os.lseek(fd, data_offset, os.SEEK_HOLE), end_offset)
        offset = max(offset, align_down(data_offset, _BLOCK_BYTES))
        while offset < hole_offset:
            yield offset
            offset += _BLOCK_BYTES


def _segment_digest(path: Path, start_offset: int, end_offset: int) -> bytes:
    # A file descriptor of its own: lseek moves a position that threads would share.
    digest = sha256()
    fd = os.open(path, os.O_RDONLY)
    try:
        for offset in _iter_data_blocks(fd, start_offset, end_offset):
            block = os.pread(fd, _BLOCK_BYTES, offset)
            if block != _ZEROS[: len(block)]:
                digest.update(offset.to_bytes(8, "big"))
                digest.update(block)
    finally:
        os.close(fd)
    return digest.digest()


def guest_digest(path: Path) -> str:
    """SHA-256, as hexadecimal text, over the length and the non-zero blocks of the file at `path`.

    A hole and written zeros count the same, so two files of equal bytes agree however sparse each
    of them is. It is not the digest that `sha256sum` prints: 64 MiB segments are hashed on all
    cores, and their digests hashed again.
    """
    length_bytes = path.stat().st_size
    starts = range(0, length_bytes, _SEGMENT_BYTES)
    ends = [min(start + _SEGMENT_BYTES, length_bytes) for start in starts]
    total = sha256(length_bytes.to_bytes(8, "big"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for digest in pool.map(_segment_digest, [path] * len(ends), starts, ends):
            total.update(digest)
    return total.hexdigest()
