"""Another source with some of its bytes replaced: what a file would read as, if it were written.

A plan is proven on it before anything is written, and lost structures are read through it.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Self, TypeAlias

from qcowgui.codec.cluster import Buffer
from qcowgui.errors import SourceError
from qcowgui.image.source import ByteSource, Identity
from qcowgui.units import format_offset


@dataclass(frozen=True, slots=True)
class Deferred:
    """Bytes that are made when they are read: a long run costs no memory before.

    Attributes:
        size_bytes: How many there are.
        make: From a start and a length, both inside the run, exactly those bytes. Any thread may
            call it, and it gives the same bytes each time.
    """

    size_bytes: int
    make: Callable[[int, int], bytes]

    @classmethod
    def of_buffer(cls, buffer: Buffer) -> Self:
        """The bytes of `buffer`, a numpy array's memory for instance, which is not copied."""
        view = memoryview(buffer).cast("B")
        return cls(len(view), lambda start, length: bytes(view[start : start + length]))

    @classmethod
    def of_source(cls, source: ByteSource, offset: int, size_bytes: int) -> Self:
        """What `source` holds from `offset` on, as it is when it is read."""

        def make(start: int, length: int) -> bytes:
            found = source.read_at(offset + start, length)
            if len(found) < length:
                raise SourceError(
                    f"{source.name} ends before offset {offset + start + length:#x}",
                    path=source.name,
                    hint="was it cut meanwhile?",
                )
            return found

        return cls(size_bytes, make)


Content: TypeAlias = bytes | Deferred
"""The bytes of a patch or of an edit."""

Patch: TypeAlias = tuple[int, Content]
"""An offset and what stands there instead."""


def content_bytes(content: Content) -> int:
    """How many bytes `content` has."""
    return content.size_bytes if isinstance(content, Deferred) else len(content)


def read_content(content: Content, start: int, length: int) -> bytes:
    """`length` bytes of `content` from `start` on, fewer only at its end."""
    if not isinstance(content, Deferred):
        return content[start : start + length]
    length = min(length, content.size_bytes - start)
    if length <= 0:
        return b""
    made = content.make(start, length)
    if len(made) != length:
        raise ValueError(f"{length} bytes were asked for, {len(made)} were made")
    return made


@dataclass(frozen=True, slots=True)
class Edit:
    """One contiguous run of bytes to be changed in an image.

    Attributes:
        offset: File offset of the first byte.
        before: What stands there now. It is shorter than `after` only where the file ends: bytes
            that don't exist yet have no value.
        after: What shall stand there; not empty.
        why: A sentence for the user.
        code: The code of the finding that the edit answers, or an empty string.
    """

    offset: int
    before: Content
    after: Content
    why: str
    code: str = ""

    def __post_init__(self) -> None:
        if self.offset < 0 or not self.length_bytes:
            raise ValueError(f"an edit of {self.length_bytes} bytes at {self.offset}")
        if content_bytes(self.before) > self.length_bytes:
            raise ValueError(f"the edit at {self.offset:#x} would remove bytes")

    @property
    def length_bytes(self) -> int:
        """How many bytes are written."""
        return content_bytes(self.after)

    @property
    def end_offset(self) -> int:
        """File offset behind the last byte."""
        return self.offset + self.length_bytes

    @property
    def patch(self) -> Patch:
        """What a `PatchedSource` needs of it."""
        return self.offset, self.after


class PatchedSource:
    """A ByteSource that shows `base` with patches applied; nothing is written anywhere.

    What a patch replaces is not read from `base`, so it may lie where reading fails.
    """

    def __init__(
        self,
        base: ByteSource,
        patches: Iterable[Patch],
        *,
        size_bytes: int | None = None,
        name: str | None = None,
    ) -> None:
        """Lay `patches` over `base`.

        Args:
            base: What is shown where there is no patch. It stays the caller's: to be kept open as
                long as this source is used, and to be closed by whoever opened it.
            patches: In any order, none of them overlapping another.
            size_bytes: The new length, by default that of `base` or the end of the last patch,
                whichever is larger. What neither `base` nor a patch has reads as zeros; where it
                is shorter than `base`, the rest is not shown.
            name: The name to show, by default that of `base`.

        Raises:
            ValueError: When patches overlap or reach beyond `size_bytes`.
        """
        self._base = base
        self._name = base.name if name is None else name
        # Neighbouring patches can meet in one read, so empty ones must not be found.
        kept = sorted((p for p in patches if content_bytes(p[1])), key=itemgetter(0))
        self._starts = [offset for offset, _ in kept]
        self._ends = [offset + content_bytes(content) for offset, content in kept]
        self._contents = [content for _, content in kept]
        if self._starts and self._starts[0] < 0:
            raise ValueError(f"a patch at {self._starts[0]}")
        for end, start in zip(self._ends, self._starts[1:], strict=False):
            if start < end:
                raise ValueError(f"two patches overlap at {format_offset(start)}")
        last_end = self._ends[-1] if self._ends else 0
        self._size_bytes = max(base.size_bytes, last_end) if size_bytes is None else size_bytes
        if last_end > self._size_bytes:
            raise ValueError(f"a patch ends at {last_end:#x}, the source at {self._size_bytes:#x}")

    @property
    def name(self) -> str:
        """The name given, or that of the base."""
        return self._name

    @property
    def size_bytes(self) -> int:
        """The new length."""
        return self._size_bytes

    @property
    def disk_bytes(self) -> int | None:
        """What the base takes: patches take no space anywhere."""
        return self._base.disk_bytes

    @property
    def identity(self) -> Identity | None:
        """That of the base: it is the same file, seen otherwise."""
        return self._base.identity

    def read_at(self, offset: int, length: int) -> bytes:
        """As `ByteSource.read_at`."""
        length = min(length, self._size_bytes - offset)
        if length <= 0 or offset < 0:
            return b""
        first, last = self._patches_in(offset, offset + length)
        if first == last and offset + length <= self._base.size_bytes:
            return self._base.read_at(offset, length)
        if last - first == 1 and self._starts[first] <= offset <= self._ends[first] - length:
            return read_content(self._contents[first], offset - self._starts[first], length)
        buffer = bytearray(length)
        return bytes(buffer[: self.read_into(offset, memoryview(buffer))])

    def read_into(self, offset: int, buffer: memoryview) -> int:
        """As `ByteSource.read_into`."""
        if offset < 0 or offset >= self._size_bytes:
            return 0
        buffer = buffer[: self._size_bytes - offset]
        end = offset + len(buffer)
        first, last = self._patches_in(offset, end)
        position = offset
        for index in range(first, last):
            start = max(self._starts[index], offset)
            stop = min(self._ends[index], end)
            if not self._fill(position, buffer[position - offset : start - offset]):
                return position - offset
            buffer[start - offset : stop - offset] = read_content(
                self._contents[index], start - self._starts[index], stop - start
            )
            position = stop
        if not self._fill(position, buffer[position - offset :]):
            return position - offset
        return len(buffer)

    def _fill(self, offset: int, buffer: memoryview) -> bool:
        """Fill `buffer` with what the base shows, and zeros behind its end.

        False when the base has become shorter than it was at its opening.
        """
        there = max(0, min(len(buffer), self._base.size_bytes - offset))
        if there and self._base.read_into(offset, buffer[:there]) < there:
            return False
        buffer[there:] = bytes(len(buffer) - there)
        return True

    def _patches_in(self, start: int, end: int) -> tuple[int, int]:
        """The indices [a, b) of the patches that have a byte in [start, end)."""
        return bisect_right(self._ends, start), bisect_left(self._starts, end)

    def iter_data_ranges(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """As `ByteSource.iter_data_ranges`; every patch counts as data."""
        end = min(end, self._size_bytes)
        if start >= end:
            return
        first, last = self._patches_in(start, end)
        patched = (
            (max(self._starts[index], start), min(self._ends[index], end))
            for index in range(first, last)
        )
        of_base = self._base.iter_data_ranges(start, min(end, self._base.size_bytes))
        joined: tuple[int, int] | None = None
        for a, b in heapq.merge(of_base, patched):
            if joined is None:
                joined = a, b
            elif a <= joined[1]:
                joined = joined[0], max(joined[1], b)
            else:
                yield joined
                joined = a, b
        if joined is not None:
            yield joined

    def require_unchanged(self) -> None:
        """As `ByteSource.require_unchanged`: of the base."""
        self._base.require_unchanged()

    def close(self) -> None:
        """Nothing to let go of: the base is closed by whoever opened it."""
