"""Drawing for the map: its cells as an image, and what is pointed out on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter, QPen, QPolygonF

from qcowgui.gui.heatmap.scene import Scene, Square
from qcowgui.gui.heatmap.viewport import Viewport
from qcowgui.gui.theme import Colours, Theme
from qcowgui.units import align_up

_SMALL: Final = 12
"""Device-independent pixels: smaller rectangles are outlined outside, to leave them visible."""
_FLAG_SHARE: Final = 0.45
_FLAG_LEAST: Final = 7.0
_FLAG_MOST: Final = 15.0
"""The sides of a flag: of its cell, and the least and most in device-independent pixels."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Clusters that are pointed out.

    Attributes:
        first: The first cluster.
        last: End (exclusive).
        label: A few characters, or an empty string.
    """

    first: int
    last: int
    label: str = ""


def cells_image(scene: Scene, view: Viewport, theme: Theme, ratio: float) -> QImage:
    """The cells of a viewport in the theme's colours, a pixel a device pixel."""
    pixels = scene.draw(view, ratio)
    # Qt wants lines that are a multiple of four bytes.
    padded = np.zeros((view.height, align_up(view.width, 4)), dtype=np.uint8)
    padded[:, : view.width] = pixels
    data = padded.tobytes()
    image = QImage(data, view.width, view.height, padded.shape[1], QImage.Format.Format_Indexed8)
    colours = theme.colours
    table = scene.shown.colours(scene.layer.keys, colours.panel, colours.raised, dark=theme.dark)
    image.setColorTable([QColor(colour).rgb() for colour in table])
    # An image refers to the bytes that it is made of; the converted one has its own.
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    return image


def rect_of(square: Square, view: Viewport, ratio: float) -> QRectF:
    """A rectangle of cells in device-independent pixels."""
    left, top, _, _ = view.square(square.x, square.y)
    _, _, right, bottom = view.square(square.x + square.width - 1, square.y + square.height - 1)
    return QRectF(left / ratio, top / ratio, (right - left) / ratio, (bottom - top) / ratio)


class MarkPainter:
    """Draws marks onto a canvas that shows the cells already."""

    def __init__(
        self, painter: QPainter, scene: Scene, view: Viewport, ratio: float, colours: Colours
    ) -> None:
        self._painter = painter
        self._scene = scene
        self._view = view
        self._ratio = ratio
        self._colours = colours
        self._canvas = QRectF(0, 0, view.width / ratio, view.height / ratio)

    def draw(self, mark: Mark, colour: str) -> None:
        """Outline the clusters of a mark; several are tinted, too."""
        single = mark.last - mark.first == 1
        for square in self._scene.squares(mark.first, mark.last):
            rect = rect_of(square, self._view, self._ratio)
            if not rect.intersects(self._canvas):
                continue
            if not single:
                fill = QColor(colour)
                fill.setAlpha(70)
                self._painter.fillRect(rect, fill)
            small = min(rect.width(), rect.height()) < _SMALL
            outline = rect.adjusted(-2, -2, 2, 2) if small else rect.adjusted(1, 1, -1, -1)
            # Two lines, one of which is seen on any colour.
            self._outline(outline, self._colours.panel, 4)
            self._outline(outline, colour, 2)
            if mark.label:
                self._draw_label(outline, mark.label, colour)

    def flag(self, cluster: int, colour: str) -> None:
        """Fill the upper right corner of a cluster; on a small one, as large as can be seen."""
        rect = rect_of(Square(*self._scene.place(cluster), 1, 1), self._view, self._ratio)
        if not rect.intersects(self._canvas):
            return
        side = min(max(min(rect.width(), rect.height()) * _FLAG_SHARE, _FLAG_LEAST), _FLAG_MOST)
        corner = rect.topRight()
        triangle = QPolygonF([corner, corner - QPointF(side, 0), corner + QPointF(0, side)])
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._painter.setPen(QPen(QColor(self._colours.panel), 1.5))
        self._painter.setBrush(QColor(colour))
        self._painter.drawPolygon(triangle)
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _outline(self, rect: QRectF, colour: str, width: int) -> None:
        pen = QPen(QColor(colour), width)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        self._painter.setPen(pen)
        self._painter.drawRect(rect)

    def _draw_label(self, rect: QRectF, text: str, colour: str) -> None:
        painter = self._painter
        font = QFont(painter.font())
        font.setBold(True)
        painter.setFont(font)
        size = painter.fontMetrics().size(0, text)
        box = QRectF(rect.right() + 3, rect.top() - 2, size.width() + 8, size.height() + 2)
        if box.right() > self._canvas.right():
            box.moveRight(rect.left() - 3)
        if box.bottom() > self._canvas.bottom():
            box.moveBottom(rect.bottom())
        box.moveTop(max(box.top(), 0.0))
        painter.fillRect(box, QColor(colour))
        painter.setPen(QColor(self._colours.panel))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
