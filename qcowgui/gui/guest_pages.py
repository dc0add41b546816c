"""The guest's disk as pages: decoded, with what can't be read marked. Knows no widgets.

It is read strictly: nothing is made up. Where a read would fail, the page says so.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from qcowgui.engine.work import CancelToken
from qcowgui.gui.pages import LostBytes, Page, read_marked
from qcowgui.image.chain import open_image
from qcowgui.image.layer import ExtentKind, LossLog, ReadContext
from qcowgui.image.reader import GuestImage
from qcowgui.image.references import DENY, Gate

_STORED: Final = frozenset({ExtentKind.DATA, ExtentKind.COMPRESSED})


class GuestPages:
    """Reads an opened guest image. Any thread may call; each call reads by itself.

    It is closed when nobody refers to it any more: whoever closed it could take it from a worker
    that reads, and the number of its descriptor may be another file's by then.
    """

    def __init__(self, image: GuestImage) -> None:
        """Pages of `image`, which must salvage and belongs to this object from now on."""
        self._image = image
        self._contexts: list[ReadContext] = []
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The image's path."""
        return self._image.layers[0].name

    @property
    def size_bytes(self) -> int:
        """Size of the guest's disk."""
        return self._image.size_bytes

    def read_page(self, offset: int, length: int) -> Page:
        """`length` bytes from `offset` on; what a strict read would refuse is marked as lost."""
        return read_marked(self._read, offset, length)

    def read_at(self, offset: int, length: int) -> bytes:
        """As `read_page`, but zeros alone stand for what a damaged image has lost.

        Raises:
            SourceError: When the operating system refuses a read.
        """
        return self._read(offset, length).data

    def iter_data_ranges(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The parts [a, b) of [start, end) that the image stores, in order."""
        self._image.losses = LossLog()  # nobody asks for it, and it would grow with each search
        for extent in self._image.iter_extents(start, end, with_hosts=False):
            if extent.kind in _STORED:
                yield extent.start, extent.end

    def __del__(self) -> None:
        self._image.close()

    def _read(self, offset: int, length: int) -> Page:
        with self._lock:
            context = self._contexts.pop() if self._contexts else self._image.context()
        log = context.salvage = LossLog()
        data = self._image.read(offset, length, context)
        with self._lock:
            self._contexts.append(context)
        end = offset + length
        lost = [
            LostBytes(max(found.start, offset), min(found.end, end), found.reason)
            for found in log.ranges()
            if found.start < end and offset < found.end
        ]
        return Page(data, tuple(lost))


@dataclass(frozen=True, slots=True)
class OpenGuest:
    """The work that opens an image for `GuestPages`. Refers to nothing of Qt.

    Attributes:
        path: The image.
        snapshot_id: Of the internal snapshot whose disk is wanted; None: the active disk.
        gate: Decides which referenced files may be opened.
        follow: Whether the backing file may be one of them; what is left to one that is not opened
            counts as lost.
    """

    path: str | os.PathLike[str]
    snapshot_id: str | None = None
    gate: Gate = DENY
    follow: bool = False

    def __call__(self, token: CancelToken) -> GuestPages:
        """The opened image.

        Raises:
            ImageError: When its guest data can't be read at all.
            ReferencedFileError: When it needs a file that the gate does not allow.
            SourceError: When the operating system refuses a file.
        """
        token.raise_if_cancelled()
        snapshot = None if self.snapshot_id is None else f"snapshot.id={self.snapshot_id}"
        image = open_image(
            self.path, gate=self.gate, snapshot=snapshot, salvage=True, follow=self.follow
        )
        return GuestPages(image)
