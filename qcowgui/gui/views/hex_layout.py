"""Where things are in a hex view: columns, rows, hits, and the scale of its scroll bar. No Qt.

Lengths are device-independent pixels, rows count from the start of the source.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from qcowgui.gui.hex_text import GROUP_BYTES, hex_column, offset_digits
from qcowgui.units import ceil_div

ROW_SIZES: Final = (32, 16, 8)
"""Bytes in a row, the widest that fits first. They divide a sector: a row has one owner."""

_BAR_RANGE: Final = 1 << 30  # Qt's scroll bars count in 32 bits, with some room for sums
_NOTE_COLUMNS: Final = 30
_GAP_COLUMNS: Final = 2


class Part(Enum):
    """A column of the view."""

    OFFSET = auto()
    HEX = auto()
    TEXT = auto()


@dataclass(frozen=True, slots=True)
class HexLayout:
    """The columns at one font and width.

    Attributes:
        row_bytes: Bytes in a row.
        digits: Digits of an offset.
        column: Width of a character.
        row_height: Height of a row; the heading has as much.
        margin: What is left free on the left.
    """

    row_bytes: int
    digits: int
    column: float
    row_height: int
    margin: float

    @classmethod
    def fitting(
        cls, *, width: float, column: float, row_height: int, margin: float, size_bytes: int
    ) -> HexLayout:
        """The layout with the longest rows that `width` has room for, the shortest at least.

        The longest leave room for notes beside them, too.
        """
        digits = offset_digits(size_bytes)
        layouts = [cls(size, digits, column, row_height, margin) for size in ROW_SIZES]
        for layout in layouts:
            notes = _NOTE_COLUMNS * column if layout.row_bytes == ROW_SIZES[0] else 0
            if layout.width + notes <= width:
                return layout
        return layouts[-1]

    @property
    def hex_x(self) -> float:
        """Where the digits begin."""
        offset_columns = self.digits + (self.digits - 1) // 4
        return self.margin + (offset_columns + _GAP_COLUMNS) * self.column

    @property
    def text_x(self) -> float:
        """Where the characters begin."""
        return self.hex_x + (hex_column(self.row_bytes) + _GAP_COLUMNS - 1) * self.column

    @property
    def note_x(self) -> float:
        """Where the notes beside the rows begin."""
        return self.text_x + (self.row_bytes + _GAP_COLUMNS + 1) * self.column

    @property
    def width(self) -> float:
        """What the bytes need, without notes."""
        return self.text_x + (self.row_bytes + 1) * self.column

    def hex_span(self, first: int, last: int) -> tuple[float, float]:
        """Left and right of the digits of bytes [first, last) of a row."""
        left = self.hex_x + hex_column(first) * self.column
        right = self.hex_x + (hex_column(last - 1) + 2) * self.column
        return left - self.column / 2, right + self.column / 2

    def text_span(self, first: int, last: int) -> tuple[float, float]:
        """Left and right of the characters of bytes [first, last) of a row."""
        return self.text_x + first * self.column, self.text_x + last * self.column

    def hit(self, x: float) -> tuple[Part, int]:
        """The column at `x`, and the byte of the row that is nearest in it."""
        last = self.row_bytes - 1
        if x >= self.text_x - self.column:
            return Part.TEXT, min(max(int((x - self.text_x) / self.column), 0), last)
        if x < self.hex_x - self.column:
            return Part.OFFSET, 0
        place = (x - self.hex_x) / self.column + 0.5
        # Half of the gap between groups belongs to each of them.
        group, inside = divmod(place, 3 * GROUP_BYTES + 1)
        byte = int(group) * GROUP_BYTES + min(int(inside / 3), GROUP_BYTES - 1)
        return Part.HEX, min(max(byte, 0), last)

    def visible_rows(self, height: float) -> int:
        """How many whole rows fit below the heading, one at least."""
        return max(1, int(height - self.row_height) // self.row_height)

    def row_count(self, size_bytes: int) -> int:
        """How many rows the source has; an empty one has one."""
        return max(1, ceil_div(size_bytes, self.row_bytes))


@dataclass(frozen=True, slots=True)
class ScrollScale:
    """Between the first visible row, any number, and a scroll bar's value of 32 bits.

    Attributes:
        max_top: The last row that may be the first visible one.
    """

    max_top: int

    @property
    def bar_maximum(self) -> int:
        """The largest value of the scroll bar; the smallest is 0."""
        return min(self.max_top, _BAR_RANGE)

    def value(self, top: int) -> int:
        """The bar's value for a first visible row."""
        return top * self.bar_maximum // self.max_top if self.max_top else 0

    def top(self, value: int) -> int:
        """The first visible row that a person who drags the bar to `value` means."""
        return value * self.max_top // self.bar_maximum if self.bar_maximum else 0
