"""The strict reader: guest extents and guest bytes of an opened image, through its whole chain.

Strict means: what can't be read as the image says raises. Nothing is made up, unless the caller
asked for salvage and gets the list of what was lost.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Self

from qcowgui.codec.cluster import ClusterDecoder
from qcowgui.errors import ImageError
from qcowgui.image.layer import (
    BATCH_BYTES,
    Extent,
    ExtentKind,
    Layer,
    LossLog,
    Piece,
    PieceSink,
    ReadContext,
)
from qcowgui.image.references import Reference
from qcowgui.image.source import ByteSource, Identity
from qcowgui.units import format_offset


class GuestImage:
    """The virtual disk that a guest would see. Reads may come from any thread.

    Attributes:
        layers: From the image itself (depth 0) to the bottom of its backing chain.
        size_bytes: Size of the virtual disk.
        losses: What salvage could not read; None when reading is strict.
        missing: The backing file that should follow the last layer but was not opened, or None.
            What no layer holds is then unknown, not zeros: a strict read of it raises.
    """

    def __init__(
        self,
        layers: Sequence[Layer],
        *,
        sources: Sequence[ByteSource],
        salvage: bool = False,
        missing: Reference | None = None,
    ) -> None:
        """A guest's view of opened layers; `sources` are closed with it."""
        self.layers = tuple(layers)
        self.size_bytes = layers[0].size_bytes
        self.losses = LossLog() if salvage else None
        self.missing = missing
        self._sources = tuple(sources)
        self._decoders: list[ClusterDecoder] = []
        self._idle_contexts: list[ReadContext] = []
        self._lock = threading.Lock()

    @property
    def identities(self) -> frozenset[Identity]:
        """(device, inode) of every file this image reads from."""
        return frozenset(source.identity for source in self._sources if source.identity is not None)

    @property
    def batch_bytes(self) -> int:
        """How much to read at a time: never less than a cluster, so that none is decoded twice."""
        return max(BATCH_BYTES, *(layer.cluster_bytes for layer in self.layers))

    def context(self) -> ReadContext:
        """Buffers and codecs for one thread; hand it to that thread's reads."""
        return ReadContext(self.losses, self._decoders, self.batch_bytes)

    @property
    def prerelease_seen(self) -> int:
        """How many reads of a cluster so far found it in the layout before zstd's release."""
        return sum(decoder.prerelease_seen for decoder in self._decoders)

    def iter_extents(
        self, start: int = 0, end: int | None = None, *, with_hosts: bool = True
    ) -> Iterator[Extent]:
        """The guest range [start, end) as extents: in order, complete, neighbours joined.

        What a backing file that was not opened would decide is UNALLOCATED, and when salvaging
        DATA, as all that reading notes as lost.

        Args:
            start: First guest byte.
            end: End (exclusive); None: the end of the disk.
            with_hosts: Whether host offsets are wanted; without them extents are longer.

        Raises:
            ImageError: For a mapping that can't be used, when its place is reached. When this
                image salvages, it is noted as lost and counts as zeros.
            SourceError: When the operating system refuses a read.
        """
        end = self.size_bytes if end is None else min(end, self.size_bytes)
        current: Extent | None = None
        for extent in self._iter_chain(start, end, with_hosts=with_hosts):
            joined = _join(current, extent)
            if joined is None and current is not None:
                yield current
            current = joined or extent
        if current is not None:
            yield current

    def _iter_chain(self, start: int, end: int, *, with_hosts: bool) -> Iterator[Extent]:
        """Each layer's extents where all above it are unallocated: a stack, however deep."""
        if len(self.layers) == 1 and self.missing is None:
            yield from self.layers[0].iter_extents(
                start, end, 0, with_hosts=with_hosts, losses=self.losses
            )
            return
        sizes = [*(layer.size_bytes for layer in self.layers[1:]), 0]
        stack = [
            self.layers[0].iter_extents(start, end, 0, with_hosts=with_hosts, losses=self.losses)
        ]
        while stack:
            extent = next(stack[-1], None)
            if extent is None:
                stack.pop()
                continue
            below = sizes[extent.depth]
            if extent.kind is not ExtentKind.UNALLOCATED:
                yield extent
            elif extent.start >= below:
                yield self._left_over(extent)
            else:
                inside = min(extent.end, below)
                if inside < extent.end:
                    # Beyond a shorter layer's end, the answer of the layer above it stays.
                    stack.append(iter((_tail(extent, inside),)))
                deeper = extent.depth + 1
                stack.append(
                    self.layers[deeper].iter_extents(
                        extent.start, inside, deeper, with_hosts=with_hosts, losses=self.losses
                    )
                )

    def _left_over(self, extent: Extent) -> Extent:
        """What no layer holds: nothing, or, when salvaging, what the missing file would know."""
        if self.missing is not None and self.losses is not None:
            return extent._replace(kind=ExtentKind.DATA)
        return extent

    def read_pieces(self, start: int, end: int, context: ReadContext) -> list[Piece]:
        """The guest bytes [start, end) that are stored somewhere, in order; the rest are zeros.

        Pieces don't overlap. They are valid until the context's next read.

        Raises:
            ImageError: When something can't be read, unless this image salvages.
            SourceError: When the operating system refuses a read.
        """
        context.begin()
        sink = PieceSink(context)
        self._read_layers(start, end, sink)
        sink.pieces.sort(key=_piece_start)
        return sink.pieces

    def stream_pieces(
        self, start: int, end: int, context: ReadContext, consume: Callable[[list[Piece]], None]
    ) -> None:
        """Give the pieces of [start, end) to `consume`, about a batch at a time.

        Those of one call are in order, the calls are not. A piece is valid during its call.

        Raises:
            ImageError: When something can't be read, unless this image salvages.
            SourceError: When the operating system refuses a read.
        """

        def consume_sorted(pieces: list[Piece]) -> None:
            pieces.sort(key=_piece_start)
            consume(pieces)

        context.begin()
        sink = PieceSink(context, consume_sorted)
        self._read_layers(start, end, sink)
        sink.flush()

    def _read_layers(self, start: int, end: int, sink: PieceSink) -> None:
        wanted = [(start, min(end, self.size_bytes))]
        for layer in self.layers:
            pending: list[tuple[int, int]] = []
            for first, last in wanted:
                inside = min(last, layer.size_bytes)
                if first < inside:
                    layer.read(first, inside, sink, pending)
            wanted = pending
            if not wanted:
                break
        if self.missing is not None:
            for first, last in wanted:
                sink.context.lose(first, last - first, self._missing_error(self.missing, first))

    def _missing_error(self, missing: Reference, start: int) -> ImageError:
        return ImageError(
            f"data is left to the {missing.kind} {missing.shown}, which was not opened",
            path=self.layers[-1].name,
            guest_offset=start,
            hint=f"first at guest offset {format_offset(start)}",
        )

    def read(self, start: int, length: int, context: ReadContext | None = None) -> bytes:
        """`length` guest bytes from `start` on, zeros included; fewer at the end of the disk.

        Raises:
            ImageError: When something can't be read, unless this image salvages.
            SourceError: When the operating system refuses a read.
        """
        end = min(start + length, self.size_bytes)
        result = bytearray(max(0, end - start))
        if context is not None:
            self._fill(result, start, end, context)
            return bytes(result)
        context = self._borrow_context()
        self._fill(result, start, end, context)
        with self._lock:
            self._idle_contexts.append(context)
        return bytes(result)

    def _borrow_context(self) -> ReadContext:
        with self._lock:
            return self._idle_contexts.pop() if self._idle_contexts else self.context()

    def _fill(self, result: bytearray, start: int, end: int, context: ReadContext) -> None:
        for piece in self.read_pieces(start, end, context):
            offset = piece.start - start
            result[offset : offset + len(piece.data)] = piece.data

    def require_unchanged(self) -> None:
        """Return when no file of the chain has changed since it was opened.

        Raises:
            SourceError: When one was written or cut: what was read may never have been its content.
        """
        for source in self._sources:
            source.require_unchanged()

    def close(self) -> None:
        """Close every file of the chain."""
        for source in self._sources:
            source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _tail(extent: Extent, start: int) -> Extent:
    """The part of an extent from `start` on."""
    host = extent.host_offset
    return extent._replace(
        start=start,
        length=extent.end - start,
        host_offset=None if host is None else host + start - extent.start,
    )


def _piece_start(piece: Piece) -> int:
    return piece.start


def _join(left: Extent | None, right: Extent) -> Extent | None:
    """Both as one extent, or None when they differ in more than their place."""
    if left is None or left.kind != right.kind or left.depth != right.depth:
        return None
    if left.host_offset is None or right.host_offset is None:
        if left.host_offset is not right.host_offset:
            return None
    elif left.host_offset + left.length != right.host_offset:
        return None
    return left._replace(length=left.length + right.length)
