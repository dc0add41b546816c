"""Small squares in the colour of a state, with its pattern: for legends and lists."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap

from qcowgui.gui.heatmap.layers import Key
from qcowgui.report.palette import hatch_of

SIDE: Final = 14
"""Device-independent pixels."""
_RATIO: Final = 2


def swatch(key: Key, *, dark: bool, hidden: bool = False) -> QIcon:
    """The square of a key; only its outline while it is hidden."""
    pixmap = QPixmap(SIDE * _RATIO, SIDE * _RATIO)
    pixmap.setDevicePixelRatio(_RATIO)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    draw_swatch(painter, QRectF(1, 1, SIDE - 2, SIDE - 2), key, dark=dark, hidden=hidden)
    painter.end()
    return QIcon(pixmap)


def draw_swatch(
    painter: QPainter, rect: QRectF, key: Key, *, dark: bool, hidden: bool = False
) -> None:
    """Draw the square of a key: the colour, a thin outline, stripes for what is wrong."""
    colour = key.colour.of(dark=dark)
    hatch = QColor(hatch_of(colour))
    painter.save()
    if not hidden:
        painter.fillRect(rect, QColor(colour))
    if key.fault and not hidden:
        painter.setClipRect(rect)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(hatch, 1.4))
        step = 0.0
        while step < 2 * rect.width():
            painter.drawLine(rect.topLeft() + QPointF(step, 0), rect.topLeft() + QPointF(0, step))
            step += 4
        painter.setClipping(False)
    outline = QColor(hatch)
    outline.setAlpha(255 if key.fault or hidden else 90)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(QPen(outline, 1))
    painter.drawRect(rect)
    painter.restore()
