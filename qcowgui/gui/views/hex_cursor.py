"""The cursor of a hex view and the bytes selected with it. No Qt."""

from __future__ import annotations

from enum import Enum, auto

from qcowgui.gui.hex_text import GROUP_BYTES


class Move(Enum):
    """A way for a cursor to go."""

    BYTE_BACK = auto()
    BYTE_ON = auto()
    WORD_BACK = auto()
    WORD_ON = auto()
    ROW_BACK = auto()
    ROW_ON = auto()
    PAGE_BACK = auto()
    PAGE_ON = auto()
    ROW_START = auto()
    ROW_END = auto()
    START = auto()
    END = auto()


class ByteCursor:
    """A byte, and the range from another one to it. Both ends of the range are inside it.

    Attributes:
        size_bytes: How many bytes there are; with none, the cursor stays at 0.
        position: The byte of the cursor.
        anchor: The other end of the range.
    """

    def __init__(self, size_bytes: int = 0) -> None:
        self.size_bytes = size_bytes
        self.position = 0
        self.anchor = 0

    @property
    def start(self) -> int:
        """First byte of the range."""
        return min(self.position, self.anchor)

    @property
    def end(self) -> int:
        """End (exclusive) of the range."""
        return min(max(self.position, self.anchor) + 1, self.size_bytes)

    def place(self, offset: int, *, extend: bool = False) -> None:
        """Go to `offset`, or to the nearest byte; `extend` keeps the other end of the range."""
        self.position = min(max(offset, 0), max(0, self.size_bytes - 1))
        if not extend:
            self.anchor = self.position

    def select(self, start: int, end: int) -> None:
        """Select the bytes [start, end), the cursor on the first one."""
        self.place(end - 1)
        anchor = self.anchor
        self.place(start)
        self.anchor = max(anchor, self.position)

    def select_block(self, size_bytes: int) -> None:
        """Select the whole block of that many bytes, aligned to them, that holds the cursor."""
        start = self.position - self.position % size_bytes
        self.select(start, start + size_bytes)

    def select_word(self) -> None:
        """Select the eight bytes, aligned, that hold the cursor: an entry of most tables."""
        self.select_block(GROUP_BYTES)

    def target(self, move: Move, row_bytes: int, page_rows: int) -> int:
        """The offset to which `move` leads, inside the source or beside it.

        Args:
            move: The way to go.
            row_bytes: Bytes in a row.
            page_rows: Rows in a page. Rows are moved in whole, so that the column stays.
        """
        here = self.position
        line = here - here % row_bytes
        word = here // GROUP_BYTES * GROUP_BYTES
        rows_before = line // row_bytes
        rows_behind = max(0, self.size_bytes - 1 - here) // row_bytes
        return {
            Move.BYTE_BACK: here - 1,
            Move.BYTE_ON: here + 1,
            Move.WORD_BACK: word if word < here else here - GROUP_BYTES,
            Move.WORD_ON: word + GROUP_BYTES,
            Move.ROW_BACK: here - min(1, rows_before) * row_bytes,
            Move.ROW_ON: here + min(1, rows_behind) * row_bytes,
            Move.PAGE_BACK: here - min(page_rows, rows_before) * row_bytes,
            Move.PAGE_ON: here + min(page_rows, rows_behind) * row_bytes,
            Move.ROW_START: line,
            Move.ROW_END: line + row_bytes - 1,
            Move.START: 0,
            Move.END: self.size_bytes - 1,
        }[move]
