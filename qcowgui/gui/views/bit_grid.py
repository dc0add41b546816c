"""The drawing of a word: its bits in lines, and below them a list of its parts."""

from __future__ import annotations

from typing import Final, NamedTuple

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from qcowgui.format import describe
from qcowgui.gui.bit_layout import BitPart, BitWord
from qcowgui.gui.theme import Theme, monospaced_font, scaled_font

_BYTE: Final = 8
_NIBBLE_GAP: Final = 2
_BYTE_GAP: Final = 5
_LINE_GAP: Final = 5
_BAR: Final = 3
"""Thickness of the bar below the bits of a part."""
_LEAST_CELL: Final = 11
_WIDEST_CELL: Final = 18
_PAD: Final = 6


class _Metrics(NamedTuple):
    """How a word is laid out at some width.

    Attributes:
        line_bits: Bits in a line.
        cell: Width of a bit.
        cell_height: Height of a bit.
        label_height: Height of the numbers above the bits.
        row_height: Height of a row of the list.
        lines: Lines of bits.
    """

    line_bits: int
    cell: int
    cell_height: int
    label_height: int
    row_height: int
    lines: int

    @property
    def line_height(self) -> int:
        """A line of bits, with its numbers above and bars below."""
        return self.label_height + self.cell_height + _BAR + 1 + _LINE_GAP

    @property
    def bits_height(self) -> int:
        """All lines of bits."""
        return self.lines * self.line_height


class BitGrid(QWidget):
    """Draws the bits of a word and the list of its parts.

    The part below the pointer, or the one chosen with the arrow keys, is the current one.

    Signals:
        current_changed: Another part is the current one.
    """

    current_changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._word: BitWord | None = None
        self._chosen: int | None = None
        self._hovered: int | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        theme.changed.connect(self.update)

    @property
    def word(self) -> BitWord | None:
        """What is drawn."""
        return self._word

    @property
    def current(self) -> BitPart | None:
        """The part that is pointed at, or chosen."""
        index = self._current_index
        return None if self._word is None or index is None else self._word.parts[index]

    @property
    def _current_index(self) -> int | None:
        return self._hovered if self._hovered is not None else self._chosen

    def show_word(self, word: BitWord) -> None:
        """Draw a word. A part stays chosen where the new word has the same parts."""
        same = self._word is not None and [part.field for part in self._word.parts] == [
            part.field for part in word.parts
        ]
        self._word = word
        if not same:
            self._chosen = self._hovered = None
        if word.marked is not None:
            self._chosen = word.marked
        elif self._chosen is None and word.wrong_mask:
            self._chosen = next(index for index, part in enumerate(word.parts) if part.wrong_mask)
        self.setAccessibleName(f"{word.title} {word.hex_text}")
        self.updateGeometry()
        self.update()
        self._tell()

    def choose(self, index: int | None) -> None:
        """Make a part the current one."""
        self._chosen = index
        self._tell()

    # ---------------------------------------------------------------- sizes

    def hasHeightForWidth(self) -> bool:
        """The bits take more lines where it is narrow."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height of the lines of bits, and of the list below."""
        if self._word is None:
            return 0
        metrics = self._metrics(width)
        return metrics.bits_height + metrics.row_height * len(self._word.parts)

    def sizeHint(self) -> QSize:
        """Two lines of 32 bits."""
        width = 32 * _LEAST_CELL + 8 * _BYTE_GAP
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """Lines of a byte."""
        return QSize(_BYTE * _LEAST_CELL + _NIBBLE_GAP, 0)

    def _metrics(self, width: int) -> _Metrics:
        font = QFontMetrics(monospaced_font())
        small = QFontMetrics(scaled_font(0.75))
        bits = 64 if self._word is None else self._word.width_bits
        line_bits = _BYTE
        for count in (64, 32, 16):
            if count * max(_LEAST_CELL, font.horizontalAdvance("0") + 3) + _gaps(count) <= width:
                line_bits = count
                break
        shown = min(line_bits, bits)
        cell = max(1, min(_WIDEST_CELL, (width - _gaps(shown)) // shown))
        return _Metrics(
            line_bits,
            cell,
            font.height() + 2,
            small.height(),
            font.height() + _PAD,
            -(-bits // line_bits),
        )

    def _bit_rect(self, bit: int, metrics: _Metrics) -> QRect:
        """Where a bit is drawn; the most significant one comes first."""
        bits = 64 if self._word is None else self._word.width_bits
        position = bits - 1 - bit
        line, column = divmod(position, metrics.line_bits)
        x = column * metrics.cell + column // 4 * _NIBBLE_GAP
        x += column // _BYTE * (_BYTE_GAP - _NIBBLE_GAP)
        y = line * metrics.line_height + metrics.label_height
        return QRect(x, y, metrics.cell, metrics.cell_height)

    def _row_rect(self, index: int, metrics: _Metrics) -> QRect:
        top = metrics.bits_height + index * metrics.row_height
        return QRect(0, top, self.width(), metrics.row_height)

    def part_at(self, point: QPoint) -> int | None:
        """The index of the part that is drawn at `point`, in the bits or in the list."""
        if self._word is None:
            return None
        metrics = self._metrics(self.width())
        if point.y() >= metrics.bits_height:
            index = (point.y() - metrics.bits_height) // metrics.row_height
            return index if 0 <= index < len(self._word.parts) else None
        for bit in range(self._word.width_bits):
            if self._bit_rect(bit, metrics).adjusted(0, 0, 1, _BAR + 1).contains(point):
                return self._word.part_at(bit)
        return None

    # ---------------------------------------------------------------- pointing

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Explain what the pointer is at."""
        self._hover(self.part_at(event.position().toPoint()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Keep the part below the pointer explained."""
        index = self.part_at(event.position().toPoint())
        if index is not None:
            self.choose(index)

    def leaveEvent(self, event: QEvent) -> None:
        """Go back to the part that was chosen."""
        self._hover(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Step through the parts; copy the current one."""
        count = len(self._word.parts) if self._word else 0
        index = self._chosen
        key = event.key()
        if event.matches(QKeySequence.StandardKey.Copy) and self.current is not None:
            QGuiApplication.clipboard().setText(explanation(self.current))
        elif not count:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Right, Qt.Key.Key_Down):
            self.choose(0 if index is None else min(count - 1, index + 1))
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Up):
            self.choose(count - 1 if index is None else max(0, index - 1))
        elif key == Qt.Key.Key_Home:
            self.choose(0)
        elif key == Qt.Key.Key_End:
            self.choose(count - 1)
        else:
            super().keyPressEvent(event)

    def _hover(self, index: int | None) -> None:
        if index != self._hovered:
            self._hovered = index
            self._tell()

    def _tell(self) -> None:
        current = self.current
        self.setAccessibleDescription("" if current is None else explanation(current))
        self.update()
        self.current_changed.emit()

    # ---------------------------------------------------------------- drawing

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the bits, then the list."""
        if self._word is None:
            return
        painter = QPainter(self)
        metrics = self._metrics(self.width())
        self._draw_bits(painter, self._word, metrics)
        for index in range(len(self._word.parts)):
            self._draw_row(painter, self._word, index, metrics)
        painter.end()

    def _draw_bits(self, painter: QPainter, word: BitWord, metrics: _Metrics) -> None:
        colours, centre = self._theme.colours, Qt.AlignmentFlag.AlignCenter
        wrong = word.wrong_mask
        small, digits = scaled_font(0.75), {on: _digit_font(is_set=on) for on in (False, True)}
        for bit in range(word.width_bits):
            rect, index = self._bit_rect(bit, metrics), word.part_at(bit)
            is_set, is_current = bool(word.value >> bit & 1), index == self._current_index
            if wrong >> bit & 1:
                painter.fillRect(rect, QColor(colours.danger_back))
            elif is_current:
                painter.fillRect(rect, QColor(colours.hover))
            if bit % _BYTE == _BYTE - 1 or bit == word.width_bits - 1:
                painter.setFont(small)
                painter.setPen(QColor(colours.muted))
                label = QRect(rect.left(), rect.top() - metrics.label_height, 40, rect.height())
                painter.drawText(label, Qt.AlignmentFlag.AlignLeft, f"{bit}")
            painter.setFont(digits[is_set])
            colour = colours.danger if wrong >> bit & 1 else colours.text
            painter.setPen(QColor(colour if is_set else colours.muted))
            painter.drawText(rect, centre, "1" if is_set else "0")
            self._draw_bar(painter, word.parts[index], bit, rect, is_current=is_current)

    def _draw_bar(
        self, painter: QPainter, part: BitPart, bit: int, rect: QRect, *, is_current: bool
    ) -> None:
        """The piece of its part's bar below a bit; the bar ends with the part."""
        left = rect.left() + (1 if bit == part.field.high else 0)
        right = rect.right() - (1 if bit == part.field.low else 0)
        bar = QRect(QPoint(left, rect.bottom() + 1), QPoint(right, rect.bottom() + _BAR))
        painter.fillRect(bar, QColor(self._part_colour(part, is_current=is_current)))

    def _part_colour(self, part: BitPart, *, is_current: bool) -> str:
        colours = self._theme.colours
        if part.wrong_mask:
            return colours.danger
        if is_current:
            return colours.accent
        return colours.line if part.field.reserved else colours.scroll

    def _draw_row(self, painter: QPainter, word: BitWord, index: int, metrics: _Metrics) -> None:
        colours, part = self._theme.colours, word.parts[index]
        rect = self._row_rect(index, metrics)
        if index == self._current_index:
            painter.fillRect(rect, QColor(colours.hover))
            painter.fillRect(
                QRect(rect.left(), rect.top() + 2, _BAR, rect.height() - 4),
                QColor(self._part_colour(part, is_current=True)),
            )
        if index == self._chosen and self.hasFocus():
            painter.setPen(QPen(QColor(colours.accent), 1))
            painter.drawRect(rect.adjusted(0, 0, -1, -1))
        quiet = part.field.reserved and not part.wrong_mask
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(monospaced_font())
        digits = painter.fontMetrics()
        span_width = digits.horizontalAdvance("63–56") + _PAD
        left = rect.left() + _BAR + _PAD
        painter.setPen(QColor(colours.muted))
        span = QRect(left, rect.top(), span_width, rect.height())
        painter.drawText(span, middle, describe.bit_span_text(part.field))
        painter.setFont(scaled_font(1.0))
        painter.setPen(QColor(colours.muted if quiet else colours.text))
        name_left = left + span_width
        name_width = min(
            painter.fontMetrics().horizontalAdvance(part.field.name),
            max(0, rect.right() - name_left) * 2 // 3,
        )
        name = QRect(name_left, rect.top(), name_width + 1, rect.height())
        painter.drawText(name, middle, _elided(painter, part.field.name, name.width()))
        value = QRect(name.right() + _PAD, rect.top(), 0, rect.height())
        value.setRight(rect.right() - _PAD)
        painter.setFont(monospaced_font())
        if part.wrong_mask:
            painter.setPen(QColor(colours.danger))
        text = _elided(painter, _short(part.text), value.width())
        painter.drawText(value, middle | Qt.AlignmentFlag.AlignRight, text)


def explanation(part: BitPart) -> str:
    """What a part of a word is, says and means, in one or two sentences."""
    field = part.field
    text = f"{describe.bit_span_text(field)} {field.name} = {part.text}: {field.meaning}."
    if part.reason and part.reason != field.meaning:
        text += f" {part.reason[:1].upper()}{part.reason[1:]}."
    return text


def _gaps(bits: int) -> int:
    """What the gaps between nibbles and bytes take in a line."""
    nibbles, whole = max(0, -(-bits // 4) - 1), max(0, -(-bits // _BYTE) - 1)
    return nibbles * _NIBBLE_GAP + whole * (_BYTE_GAP - _NIBBLE_GAP)


def _short(text: str) -> str:
    """A value without its decimal twin in brackets, which the explanation has."""
    return text.split(" (", 1)[0]


def _elided(painter: QPainter, text: str, width: int) -> str:
    return painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, width)


def _digit_font(*, is_set: bool) -> QFont:
    font = monospaced_font()
    font.setBold(is_set)
    return font
