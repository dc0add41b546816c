"""Copying bytes out of a file or a guest's disk as text. Runs in a worker; knows no widgets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from qcowgui.engine.work import CancelToken
from qcowgui.gui.hex_text import CopyFormat, copy_text
from qcowgui.gui.pages import PAGE_BYTES, ReadPage
from qcowgui.units import MIB

MAX_COPY_BYTES: Final = 4 * MIB
"""More would be tens of megabytes of text, which brings clipboards and editors to a stop."""


class CopiedText(NamedTuple):
    """What goes to the clipboard.

    Attributes:
        text: The text.
        lost_bytes: How many bytes of it are zeros because they can't be read.
    """

    text: str
    lost_bytes: int


@dataclass(frozen=True, slots=True)
class CopyWork:
    """Reads and formats the bytes [start, end). Refers to nothing of Qt.

    Attributes:
        read_page: Reads them.
        start: First byte.
        end: End (exclusive), inside the source.
        form: As what.
    """

    read_page: ReadPage
    start: int
    end: int
    form: CopyFormat

    def __call__(self, token: CancelToken) -> CopiedText:
        """The text.

        Raises:
            Cancelled: When the token was set.
        """
        parts = []
        lost_bytes = 0
        for offset in range(self.start, self.end, PAGE_BYTES):
            token.raise_if_cancelled()
            page = self.read_page(offset, min(PAGE_BYTES, self.end - offset))
            parts.append(page.data)
            lost_bytes += sum(lost.end - lost.start for lost in page.lost)
        return CopiedText(copy_text(b"".join(parts), self.form, offset=self.start), lost_bytes)
