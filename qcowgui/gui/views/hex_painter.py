"""Draws the rows of a hex view."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPen

from qcowgui.gui.hex_text import RowText, hex_column, offset_text, row_text
from qcowgui.gui.pages import PageCache
from qcowgui.gui.theme import Colours
from qcowgui.gui.views.hex_layout import HexLayout
from qcowgui.gui.views.hex_tints import OwnerMap

_STRIP_WIDTH: Final = 4.0
_STRIP_X: Final = 4.0
TINT: Final = 0.11
"""How much of an owner's colour lies behind its bytes: text keeps its contrast."""
MARK_FILL: Final = 0.16
"""How much of the accent's colour lies over marked bytes."""
_MARK_WIDTH: Final = 1.5
_LEAST_NOTE_COLUMNS: Final = 10


@dataclass(frozen=True, slots=True)
class Shown:
    """What is to be drawn.

    Attributes:
        pages: The bytes.
        layout: Where they go.
        top_row: The first row.
        row_count: How many rows are to be drawn, the last one perhaps in part.
        selected: Bytes [start, end) that are selected.
        cursor: The byte with the cursor.
        mark: Bytes [start, end) of what is selected elsewhere, or None.
        owners: Who owns each byte, or None while that is not known.
        dark: Whether the colours are those on a dark background.
        focused: Whether keys go to the view.
    """

    pages: PageCache
    layout: HexLayout
    top_row: int
    row_count: int
    selected: tuple[int, int]
    cursor: int
    mark: tuple[int, int] | None
    owners: OwnerMap | None
    dark: bool
    focused: bool


class HexPainter:
    """Draws one picture of a hex view with `painter`, which the caller ends."""

    def __init__(
        self, painter: QPainter, shown: Shown, colours: Colours, font: QFont, width: float
    ) -> None:
        self._painter = painter
        self._shown = shown
        self._layout = shown.layout
        self._colours = colours
        self._width = width
        self._metrics = QFontMetricsF(font)
        ascent, descent = self._metrics.ascent(), self._metrics.descent()
        self._baseline = (self._layout.row_height + ascent - descent) / 2
        painter.setFont(font)

    def draw(self) -> None:
        """Draw the heading and all rows."""
        rows = list(self._iter_rows())
        for row, y, start, _ in rows:
            self._draw_owner(row, y, start)
        if self._shown.mark is not None:
            self._draw_mark(self._shown.mark)
        for _, y, start, end in rows:
            self._draw_row(y, start, end)
        self._draw_cursor()
        self._draw_heading()

    def _iter_rows(self) -> Iterator[tuple[int, float, int, int]]:
        """Each row: its number on the screen, its y, its first byte and the end of its bytes."""
        size = self._layout.row_bytes
        for row in range(self._shown.row_count):
            start = (self._shown.top_row + row) * size
            if start >= self._shown.pages.size_bytes:
                return
            end = min(start + size, self._shown.pages.size_bytes)
            yield row, self._y(row), start, end

    def _y(self, row: int) -> float:
        return (row + 1) * self._layout.row_height

    # ---------------------------------------------------------------- owners

    def _draw_owner(self, row: int, y: float, start: int) -> None:
        """The tint, the strip on the left, and where a cluster begins a line and its name."""
        owners = self._shown.owners
        owner = None if owners is None else owners.at(start)
        if owners is None or owner is None:
            return
        colour = QColor(owner.colour.of(dark=self._shown.dark))
        height = self._layout.row_height
        tint = QColor(colour)
        tint.setAlphaF(TINT)
        right = self._layout.text_span(0, self._layout.row_bytes)[1] + self._layout.column
        left = _STRIP_X + _STRIP_WIDTH
        self._painter.fillRect(QRectF(left, y, right - left, height), tint)
        self._painter.fillRect(QRectF(_STRIP_X, y, _STRIP_WIDTH, height), colour)
        begins = owners.starts_cluster(start, self._layout.row_bytes)
        if begins and row:
            line = QColor(colour)
            line.setAlphaF(0.6)
            self._painter.fillRect(QRectF(left, y, right - left, 1), line)
        if begins or row == 0:
            text = QCoreApplication.translate("HexPainter", "{name} · cluster {index}").format(
                name=owner.name, index=f"{owner.cluster_index:,}"
            )
            self._draw_note(y, text, colour)

    def _draw_note(self, y: float, text: str, colour: QColor) -> None:
        x = self._layout.note_x
        room = self._width - x - self._layout.row_height
        if room < _LEAST_NOTE_COLUMNS * self._layout.column:
            return
        side = self._layout.row_height * 0.5
        square = QRectF(x, y + (self._layout.row_height - side) / 2, side, side)
        self._painter.fillRect(square, colour)
        self._painter.setPen(QColor(self._colours.muted))
        shown = self._metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
        self._text(x + side + self._layout.column, y, shown)

    # ---------------------------------------------------------------- bytes

    def _draw_row(self, y: float, start: int, end: int) -> None:
        layout, colours = self._layout, self._colours
        self._painter.setPen(QColor(colours.muted))
        self._text(layout.margin, y, offset_text(start, layout.digits))
        data = self._shown.pages.read(start, end - start)
        if data is None:
            return
        lost = self._shown.pages.lost(start, end - start)
        readable = (
            [
                not any(found.start <= offset < found.end for found in lost)
                for offset in range(start, end)
            ]
            if lost
            else None
        )
        text = row_text(data, readable)
        self._draw_bytes(y, text, colours.text, colours.muted)
        for found in lost:
            self._highlight(
                y, start, (found.start, found.end), text, colours.danger, self._lost_brush()
            )
        selected = self._shown.selected
        if selected[0] < end and start < selected[1]:
            back = QBrush(QColor(colours.selected))
            self._highlight(y, start, selected, text, colours.on_selected, back)

    def _draw_bytes(self, y: float, text: RowText, strong: str, quiet: str) -> None:
        layout = self._layout
        for colour, digits, letters in (
            (strong, text.digits, text.letters),
            (quiet, text.zeros, text.dots),
        ):
            self._painter.setPen(QColor(colour))
            self._text(layout.hex_x, y, digits)
            self._text(layout.text_x, y, letters)

    def _lost_brush(self) -> QBrush:
        return QBrush(QColor(self._colours.danger_back))

    def _highlight(
        self,
        y: float,
        row_start: int,
        wanted: tuple[int, int],
        text: RowText,
        colour: str,
        back: QBrush,
    ) -> None:
        """Draw some bytes of a row again, on another background."""
        first = max(wanted[0] - row_start, 0)
        last = min(wanted[1] - row_start, len(text.letters))
        painter = self._painter
        for left, right in (
            self._layout.hex_span(first, last),
            self._layout.text_span(first, last),
        ):
            area = QRectF(left, y, right - left, self._layout.row_height)
            painter.fillRect(area, back)
            painter.save()
            painter.setClipRect(area)
            self._draw_bytes(y, text, colour, colour)
            painter.restore()

    def _text(self, x: float, y: float, text: str) -> None:
        if text and not text.isspace():
            self._painter.drawText(QPointF(x, y + self._baseline), text)

    # ---------------------------------------------------------------- cursor and mark

    def _draw_cursor(self) -> None:
        """A frame around the cursor's byte in both columns."""
        rect = self._byte_rects(self._shown.cursor, self._shown.cursor + 1)
        colour = self._colours.accent if self._shown.focused else self._colours.muted
        self._painter.setPen(QPen(QColor(colour), _MARK_WIDTH))
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        for area in rect:
            self._painter.drawRect(area.adjusted(0.5, 0.5, -0.5, -0.5))

    def _draw_mark(self, mark: tuple[int, int]) -> None:
        """What is selected elsewhere: filled lightly, with a line where it begins and ends."""
        fill = QColor(self._colours.accent)
        fill.setAlphaF(MARK_FILL)
        size = self._layout.row_bytes
        top = self._shown.top_row
        for row in range(self._shown.row_count):
            start = (top + row) * size
            first, last = max(mark[0], start), min(mark[1], start + size)
            if first >= last:
                continue
            for area in self._byte_rects(first, last):
                self._painter.fillRect(area, fill)
                self._draw_mark_edges(area, mark, first, last, size)

    def _draw_mark_edges(
        self, area: QRectF, mark: tuple[int, int], first: int, last: int, size: int
    ) -> None:
        """The frame of one row of the mark, open where the row above or below goes on."""
        self._painter.setPen(QPen(QColor(self._colours.accent), _MARK_WIDTH))
        left, right = area.topLeft(), area.topRight()
        low_left, low_right = area.bottomLeft(), area.bottomRight()
        self._painter.drawLine(left, low_left)
        self._painter.drawLine(right, low_right)
        if first - size < mark[0]:
            self._painter.drawLine(left, right)
        if last + size > mark[1]:
            self._painter.drawLine(low_left, low_right)

    def _byte_rects(self, first: int, last: int) -> list[QRectF]:
        """Where bytes [first, last) of one row are, in both columns; nothing out of sight."""
        layout = self._layout
        row = first // layout.row_bytes - self._shown.top_row
        if not 0 <= row < self._shown.row_count:
            return []
        start = first - first % layout.row_bytes
        spans = (
            layout.hex_span(first - start, last - start),
            layout.text_span(first - start, last - start),
        )
        return [
            QRectF(left, self._y(row), right - left, layout.row_height) for left, right in spans
        ]

    # ---------------------------------------------------------------- heading

    def _draw_heading(self) -> None:
        layout, colours = self._layout, self._colours
        height = layout.row_height
        self._painter.fillRect(QRectF(0, 0, self._width, height), QColor(colours.panel))
        self._painter.fillRect(QRectF(0, height - 1, self._width, 1), QColor(colours.line))
        current = self._shown.cursor % layout.row_bytes
        self._painter.setPen(QColor(colours.muted))
        self._text(layout.margin, 0, QCoreApplication.translate("HexPainter", "Offset"))
        self._text(layout.text_x, 0, QCoreApplication.translate("HexPainter", "Text"))
        for index in range(layout.row_bytes):
            self._painter.setPen(QColor(colours.accent if index == current else colours.muted))
            self._text(layout.hex_x + hex_column(index) * layout.column, 0, f"{index:02x}")
