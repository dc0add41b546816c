"""Paints the rows of a table of entries: a screen full in some milliseconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter

from qcowgui.gui.formatters import Tone
from qcowgui.gui.models.entry_models import EntryModel
from qcowgui.gui.theme import Theme, monospaced_font

_PADDING: Final = 11


class Band(NamedTuple):
    """Where a row is painted.

    Attributes:
        top: Its upper edge in the viewport, in device-independent pixels.
        height: Its height.
    """

    top: int
    height: int


class GridPainter:
    """Knows fonts and colours of the cells; `begin` comes before the rows of a paint event."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._fonts = (QFont(), monospaced_font())
        self._metrics = tuple(QFontMetrics(font) for font in self._fonts)
        self._digit_width = 0
        self._tones: dict[Tone, QColor] = {}
        self._selected = self._on_selected = self._focus = QColor()

    def begin(self, painter: QPainter, font: QFont) -> None:
        """Take over the fonts and colours of now."""
        colours = self._theme.colours
        self._fonts = font, monospaced_font()
        self._metrics = tuple(QFontMetrics(found, painter.device()) for found in self._fonts)
        self._digit_width = self._metrics[1].horizontalAdvance("0")
        self._tones = {tone: QColor(self._theme.tone_colour(tone)) for tone in Tone}
        self._selected, self._on_selected = QColor(colours.selected), QColor(colours.on_selected)
        self._focus = QColor(colours.on_selected)

    def paint_row(
        self,
        painter: QPainter,
        model: EntryModel,
        row: int,
        band: Band,
        sections: Sequence[tuple[int, int, int]],
        chosen: set[int],
        focus: int,
    ) -> None:
        """Paint one row.

        Args:
            painter: Of the viewport.
            model: Has the texts.
            row: Of the model.
            band: Where it is.
            sections: (section, left edge, width) of each column that is not hidden.
            chosen: The sections that are selected.
            focus: The section with the keyboard, or -1.
        """
        texts = model.row_at(row)
        for section, left, width in sections:
            column = model.columns[section]
            colour = self._tones[model.cell_tone(texts, section)]
            if section in chosen:
                painter.fillRect(left, band.top, width, band.height, self._selected)
                colour = self._on_selected
            text = texts.cells[section]
            if text:
                painter.setPen(colour)
                self._paint_text(
                    painter, text, band, left, width, fixed=column.monospaced, right=column.right
                )
            if section == focus:
                painter.setPen(self._focus if section in chosen else self._tones[Tone.NORMAL])
                frame = QRectF(left + 0.5, band.top + 0.5, width - 1, band.height - 1)
                painter.drawRect(frame)

    def _paint_text(
        self,
        painter: QPainter,
        text: str,
        band: Band,
        left: int,
        width: int,
        *,
        fixed: bool,
        right: bool,
    ) -> None:
        metrics, room = self._metrics[fixed], width - 2 * _PADDING
        needed = len(text) * self._digit_width if fixed else metrics.horizontalAdvance(text)
        if needed > room:
            text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
            needed = metrics.horizontalAdvance(text)
        start = left + width - _PADDING - needed if right else left + _PADDING
        # One line for both fonts, whose heights may differ by a pixel.
        plain = self._metrics[0]
        baseline = band.top + (band.height + plain.ascent() - plain.descent()) // 2
        painter.setFont(self._fonts[fixed])
        painter.drawText(start, baseline, text)
