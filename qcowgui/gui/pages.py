"""Pages of a file or of a guest's disk, read beside the window and kept while they are of use.

The window never waits for a disk: what is not here yet is asked for, and announced when it comes.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from PySide6.QtCore import QObject, Signal

from qcowgui.engine.work import CancelToken, Failed, Outcome
from qcowgui.errors import QcowError
from qcowgui.gui.background import BackgroundRunner
from qcowgui.units import KIB, MIB, SECTOR_BYTES, align_down, ceil_div

PAGE_BYTES: Final = 64 * KIB
MAX_READ_BYTES: Final = 4 * MIB
"""What `PageCache.read` gives at most; who wants more reads it in work of their own."""

_KEPT_BYTES: Final = 32 * MIB
_MAX_WAITING: Final = MAX_READ_BYTES // PAGE_BYTES + 2
"""Pages asked for and not read yet; of more, the oldest are out of sight by now."""


class Readable(Protocol):
    """What pages can be read from: the part of `image.source.ByteSource` that is needed."""

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    @property
    def size_bytes(self) -> int:
        """How many bytes there are."""
        ...

    def read_at(self, offset: int, length: int) -> bytes:
        """The bytes from `offset` on: `length` of them, fewer only where the source ends.

        Raises:
            QcowError: When they can't be read.
        """
        ...


class LostBytes(NamedTuple):
    """A range that can't be read.

    Attributes:
        start: First byte.
        end: End (exclusive).
        reason: Why, as a sentence.
    """

    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True)
class Page:
    """The bytes of one page.

    Attributes:
        data: As many as the source has there; zeros stand in for what can't be read.
        lost: What can't be read, in the source's addresses, in order, not touching the next page.
    """

    data: bytes
    lost: tuple[LostBytes, ...] = ()


ReadPage = Callable[[int, int], Page]
"""Reads `length` bytes from an offset on, all of them inside the source. Called in a worker."""


def page_reader(source: Readable) -> ReadPage:
    """Reads pages of `source`; what can't be read is marked."""

    def read_page(offset: int, length: int) -> Page:
        data = source.read_at(offset, length)
        if len(data) == length:
            return Page(data)
        start, end = offset + len(data), offset + length
        lost = LostBytes(start, end, f"{source.name} was cut short since it was opened")
        return Page(data + bytes(end - start), (lost,))

    return lambda offset, length: read_marked(read_page, offset, length)


def read_marked(read_page: ReadPage, offset: int, length: int) -> Page:
    """What `read_page` gives, with what it can't read marked instead of raised.

    Where a read fails, halves are tried, down to a sector: a bad spot costs no more than itself.
    """
    pages = list(_iter_parts(read_page, offset, length))
    if len(pages) == 1:
        return pages[0]
    lost = [found for page in pages for found in page.lost]
    return Page(b"".join(page.data for page in pages), tuple(_joined(lost)))


def _iter_parts(read_page: ReadPage, offset: int, length: int) -> Iterator[Page]:
    try:
        page = read_page(offset, length)
    except QcowError as error:
        if length <= SECTOR_BYTES:
            lost = LostBytes(offset, offset + length, error.message)
            yield Page(bytes(length), (lost,))
            return
        half = max(SECTOR_BYTES, align_down(length // 2, SECTOR_BYTES))
        yield from _iter_parts(read_page, offset, half)
        yield from _iter_parts(read_page, offset + half, length - half)
        return
    yield page


def _joined(lost: list[LostBytes]) -> Iterator[LostBytes]:
    """Neighbours as one; the reason of the first stands for both, as it names the first byte."""
    current: LostBytes | None = None
    for found in lost:
        if current is not None and current.end == found.start:
            current = current._replace(end=found.end)
            continue
        if current is not None:
            yield current
        current = found
    if current is not None:
        yield current


class _Requests:
    """What the GUI's thread asks for and a worker gives. Refers to nothing of Qt."""

    def __init__(self, read_page: ReadPage, size_bytes: int) -> None:
        self._read_page = read_page
        self._size_bytes = size_bytes
        self._lock = threading.Lock()
        self._waiting: list[int] = []
        self._read: list[tuple[int, Page]] = []
        self._in_hand: int | None = None

    def ask(self, index: int) -> None:
        """Want a page. The latest is read first: that is where somebody looks now."""
        with self._lock:
            if index == self._in_hand or any(index == found for found, _ in self._read):
                return
            if index in self._waiting:
                self._waiting.remove(index)
            self._waiting.append(index)
            del self._waiting[:-_MAX_WAITING]

    @property
    def waiting(self) -> bool:
        """Whether anything is wanted that no worker has in hand."""
        return bool(self._waiting)

    def take(self) -> list[tuple[int, Page]]:
        """What was read since the last call."""
        with self._lock:
            read, self._read = self._read, []
        return read

    def __call__(self, token: CancelToken) -> None:
        """The worker: reads until nothing is wanted."""
        while (index := self._next()) is not None:
            token.raise_if_cancelled()
            offset = index * PAGE_BYTES
            page = self._read_page(offset, min(PAGE_BYTES, self._size_bytes - offset))
            with self._lock:
                self._read.append((index, page))
                self._in_hand = None

    def _next(self) -> int | None:
        with self._lock:
            self._in_hand = self._waiting.pop() if self._waiting else None
            return self._in_hand


class PageCache(QObject):
    """The pages of one source, the least recently used ones forgotten. Of the GUI's thread.

    Offsets are those of the source: of the file, or of the guest's disk. The source should be one
    that is closed by the last who refers to it, as workers do: see `opening.HeldSource`.

    Signals:
        loaded: A page that was asked for is there: its index. It may have gaps; see `lost`.
        failed: Something in that page can't be read: its index and the first reason. Follows
            `loaded`.
    """

    loaded = Signal(object)
    failed = Signal(object, str)

    def __init__(
        self,
        source: Readable,
        runner: BackgroundRunner,
        parent: QObject | None = None,
        *,
        read_page: ReadPage | None = None,
    ) -> None:
        """A cache over an opened source.

        Args:
            source: What is read.
            runner: Runs the reading; must live as long as any of it.
            parent: The Qt parent.
            read_page: How a page is read; by default with `page_reader`.
        """
        super().__init__(parent)
        self.size_bytes: Final = source.size_bytes
        self._requests = _Requests(read_page or page_reader(source), self.size_bytes)
        self._pages: OrderedDict[int, Page] = OrderedDict()
        self._runner = runner
        self._token = CancelToken()
        self._reading = False
        self._closed = False
        runner.pulled.connect(self._pull)

    @property
    def page_bytes(self) -> int:
        """The size of every page but the last one."""
        return PAGE_BYTES

    @property
    def page_count(self) -> int:
        """How many pages there are."""
        return ceil_div(self.size_bytes, PAGE_BYTES)

    @property
    def active(self) -> bool:
        """Whether a page that was asked for is still to come."""
        return self._reading

    def get(self, index: int) -> bytes | None:
        """A page; None when it is not here: `loaded` will tell, once.

        Zeros stand in for what can't be read: whoever gives the bytes a meaning asks `lost`.

        Raises:
            IndexError: When the source has no such page.
        """
        page = self._page(index)
        return None if page is None else page.data

    def read(self, offset: int, length: int) -> bytes | None:
        """Bytes, fewer only at the end; None while a page of them is not here. See `get`.

        Raises:
            ValueError: For more than MAX_READ_BYTES, or an offset below 0.
        """
        if offset < 0 or length > MAX_READ_BYTES:
            raise ValueError(f"{length} bytes at {offset} can't be read at once")
        end = min(offset + length, self.size_bytes)
        if offset >= end:
            return b""
        # All of them, so that those which are missing are read in one go.
        pages = [self.get(i) for i in range(offset // PAGE_BYTES, ceil_div(end, PAGE_BYTES))]
        if len(pages) == 1:
            only = pages[0]
            start = offset % PAGE_BYTES
            return None if only is None else only[start : start + end - offset]
        parts = [page for page in pages if page is not None]
        if len(parts) < len(pages):
            return None
        start = offset % PAGE_BYTES
        return b"".join(parts)[start : start + end - offset]

    def lost(self, offset: int, length: int) -> tuple[LostBytes, ...]:
        """What can't be read of a range, as far as its pages are here; parts inside the range."""
        end = min(offset + length, self.size_bytes)
        return tuple(
            LostBytes(max(found.start, offset), min(found.end, end), found.reason)
            for index in range(offset // PAGE_BYTES, ceil_div(max(end, 0), PAGE_BYTES))
            if (page := self._pages.get(index)) is not None
            for found in page.lost
            if found.start < end and offset < found.end
        )

    def prefetch(self, index: int) -> None:
        """Ask for a page that will be wanted soon, if there is such a page."""
        if 0 <= index < self.page_count and index not in self._pages:
            self._ask(index)

    def close(self) -> None:
        """Ask for no more and announce no more; what is here stays.

        A worker may still be reading its last page: it keeps the source, so nobody closes that.
        """
        self._closed = True
        self._token.cancel()

    def _page(self, index: int) -> Page | None:
        page = self._pages.get(index)
        if page is not None:
            self._pages.move_to_end(index)
            return page
        if not 0 <= index < self.page_count:
            raise IndexError(f"page {index} of {self.page_count}")
        self._ask(index)
        return None

    def _ask(self, index: int) -> None:
        if self._closed:
            return
        self._requests.ask(index)
        self._start()

    def _start(self) -> None:
        if not self._reading and self._requests.waiting:
            self._reading = True
            self._runner.submit(self._requests, self._finished, token=self._token)

    def _pull(self) -> None:
        if not self._reading or self._closed:
            return
        for index, page in self._requests.take():
            self._pages[index] = page
            while len(self._pages) * PAGE_BYTES > _KEPT_BYTES:
                self._pages.popitem(last=False)
            self.loaded.emit(index)
            if page.lost:
                self.failed.emit(index, page.lost[0].reason)

    def _finished(self, outcome: Outcome, _: object) -> None:
        self._pull()
        self._reading = False
        if self._closed:
            return
        if isinstance(outcome, Failed):
            # `read_page` marks what can't be read: anything else is this program's mistake.
            self._closed = True
            raise outcome.error
        # Something may have been asked for while the worker was on its way out.
        self._start()
