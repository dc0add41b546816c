"""Writes a raw target: workers write at their own offsets and leave holes for zeros."""

from __future__ import annotations

from collections.abc import Sequence

from qcowgui.codec.cluster import Buffer
from qcowgui.convert.output import OutputFile
from qcowgui.convert.zeros import zero_blocks
from qcowgui.image.layer import Piece


class RunWriter:
    """Writes buffers at positions, joining neighbours to one call and leaving out zeros.

    One for each thread; `flush` before the buffers change.
    """

    def __init__(self, output: OutputFile, sparse_bytes: int) -> None:
        """A writer on `output`.

        Args:
            output: A fresh file: what is not written reads as zeros.
            sparse_bytes: Aligned blocks of this size that are all zero are left out; 0: none.
        """
        self._output = output
        self._sparse_bytes = sparse_bytes
        self._buffers: list[Buffer] = []
        self._start = 0
        self._end = 0

    def add(self, offset: int, data: Buffer) -> None:
        """Take `data` for `offset`; it is written at the latest by `flush`."""
        blocks = zero_blocks(data, self._sparse_bytes, phase=offset) if self._sparse_bytes else None
        if not blocks:
            self._append(offset, data)
            return
        start = 0
        view = memoryview(data)
        for first, last in (*blocks, (len(data), len(data))):
            if start < first:
                self._append(offset + start, view[start:first])
            start = last

    def _append(self, offset: int, data: Buffer) -> None:
        if offset != self._end:
            self.flush()
            self._start = offset
        self._buffers.append(data)
        self._end = offset + len(data)

    def flush(self) -> None:
        """Write what was taken."""
        if self._buffers:
            self._output.write_many(self._start, self._buffers)
            self._buffers = []
        self._start = self._end = 0


class RawWriter:
    """A raw target."""

    def __init__(self, output: OutputFile, *, size_bytes: int, sparse_bytes: int) -> None:
        """Make the file as long as the disk.

        Raises:
            OutputError: When the file system can't hold such a file, or, with `sparse_bytes` 0, has
                not enough space for all of it.
        """
        self._output = output
        self._sparse_bytes = sparse_bytes
        output.set_size(size_bytes)
        if not sparse_bytes:
            output.allocate(size_bytes)

    def write(self, pieces: Sequence[Piece]) -> None:
        """Write the stored bytes of a batch. Thread-safe."""
        runs = RunWriter(self._output, self._sparse_bytes)
        for piece in pieces:
            runs.add(piece.start, piece.data)
        runs.flush()
