"""Axes and places of the small plots: what is drawn is told in words beside each of them, too.

Painted here and not by a plotting library, whose import would hold the window up for half a second
just when a conversion has begun to run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from qcowgui.gui.theme import Colours

_TICK_LENGTH: Final = 4.0
_GAP: Final = 4.0
_LEAST_TICKS: Final = 3


@dataclass(frozen=True, slots=True)
class Axis:
    """A range of values, and the ones that are named.

    Attributes:
        low: Where the axis begins.
        high: Where it ends; more than `low`.
        ticks: Values with their texts, within the range.
    """

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...] = ()

    def part(self, value: float) -> float:
        """Where a value lies: 0 at the beginning, 1 at the end."""
        return (value - self.low) / (self.high - self.low)


def even_axis(low: float, high: float, text: Callable[[float], str], *, unit: float = 1.0) -> Axis:
    """An axis with three to eight ticks at multiples of 1, 2 or 5 times a power of ten of `unit`.

    A `high` that is not above `low` is widened.
    """
    high = max(high, low + 1e-9 * unit)
    return Axis(low, high, tuple((value, text(value)) for value in even_ticks(low, high, unit)))


def even_ticks(low: float, high: float, unit: float) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten of `unit`, from `low` to `high`."""
    span = max(high - low, 1e-9) / unit
    step = 10.0 ** math.floor(math.log10(span / _LEAST_TICKS))
    step *= next((factor for factor in (5, 2) if span / (step * factor) >= _LEAST_TICKS), 1)
    first = math.ceil(low / unit / step)
    last = math.floor(high / unit / step)
    return [number * step * unit for number in range(first, last + 1)]


class PlotFrame:
    """Two axes in a rectangle of device-independent pixels: places of values, and the painting.

    Attributes:
        area: What the values are drawn in; the texts of the axes stand left of it and below it.
    """

    def __init__(self, rect: QRectF, across: Axis, up: Axis, font: QFont) -> None:
        self._across = across
        self._up = up
        self._font = font
        self._metrics = QFontMetricsF(font)
        widths = [self._metrics.horizontalAdvance(text) for _, text in up.ticks]
        last = self._metrics.horizontalAdvance(across.ticks[-1][1]) if across.ticks else 0.0
        height = self._metrics.height()
        self.area = rect.adjusted(
            max(widths, default=0.0) + _TICK_LENGTH + _GAP,
            height / 2,
            -max(last / 2, _GAP),
            -(height + _TICK_LENGTH + _GAP),
        )

    def point(self, across: float, up: float) -> QPointF:
        """Where a pair of values lies."""
        return QPointF(
            self.area.left() + self._across.part(across) * self.area.width(),
            self.area.bottom() - self._up.part(up) * self.area.height(),
        )

    def line(self, across: Iterable[float], up: Iterable[float]) -> QPolygonF:
        """The line through pairs of values."""
        return QPolygonF([self.point(*pair) for pair in zip(across, up, strict=True)])

    def draw_axes(self, painter: QPainter, colours: Colours) -> None:
        """Draw the axes with their texts, and faint lines across the area at the upright ticks."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setFont(self._font)
        area, line = self.area, QPen(QColor(colours.line), 1)
        for value, text in self._up.ticks:
            y = self.point(self._across.low, value).y()
            painter.setPen(line)
            painter.drawLine(QLineF(area.left() - _TICK_LENGTH, y, area.right(), y))
            painter.setPen(QColor(colours.muted))
            half = self._metrics.height() / 2
            right = area.left() - _TICK_LENGTH - _GAP
            place = QRectF(right - area.left(), y - half, area.left(), 2 * half)
            painter.drawText(place, _RIGHT, text)
        for value, text in self.readable():
            x = self.point(value, self._up.low).x()
            painter.setPen(line)
            painter.drawLine(QLineF(x, area.bottom(), x, area.bottom() + _TICK_LENGTH))
            half = self._metrics.horizontalAdvance(text) / 2 + 1
            painter.setPen(QColor(colours.muted))
            top = area.bottom() + _TICK_LENGTH
            painter.drawText(
                QRectF(x - half, top, 2 * half, self._metrics.height() + _GAP), _CENTRE, text
            )
        painter.setPen(line)
        painter.drawLine(area.bottomLeft(), area.topLeft())
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        painter.restore()

    def readable(self) -> tuple[tuple[float, str], ...]:
        """The ticks across: every one, or every second, third… where the texts would touch."""
        ticks = self._across.ticks
        widths = [self._metrics.horizontalAdvance(text) for _, text in ticks]
        places = [self.point(value, self._up.low).x() for value, _ in ticks]
        for step in range(1, len(ticks)):
            kept = range(0, len(ticks), step)
            if all(
                places[right] - places[left] >= (widths[left] + widths[right]) / 2 + 2 * _GAP
                for left, right in pairwise(kept)
            ):
                return ticks[::step]
        return ticks[:1]


_RIGHT: Final = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_CENTRE: Final = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom
