"""The picture of a map: draws a scene, and turns pointer and keys into clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QEnterEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.heatmap.flags import Flag
from qcowgui.gui.heatmap.layers import MapLayer
from qcowgui.gui.heatmap.painting import Mark, MarkPainter, cells_image, rect_of
from qcowgui.gui.heatmap.scene import Scene, Square
from qcowgui.gui.heatmap.stage import Stage
from qcowgui.gui.heatmap.viewport import Viewport
from qcowgui.gui.theme import Theme

_WHEEL_STEP: Final = 120
ZOOM_STEP: Final = 2**0.5
_MIN_SIZE: Final = (160, 120)


class MapCanvas(QWidget):
    """Shows the cells of a layer. Zooms at the pointer, pans, selects cells and ranges.

    Attributes:
        stage: What it looks at.

    Signals:
        chosen: A cluster was clicked, or reached with a key: its number.
        range_chosen: Several clusters were dragged over: the first, and the end (exclusive).
        hovered: The pointer is on a cluster: its number; None when it has left all of them.
        step_requested: The next (1) or previous (-1) cluster of the selected one's state is wanted.
    """

    chosen = Signal(object)
    range_chosen = Signal(object, object)
    hovered = Signal(object)
    step_requested = Signal(int)

    def __init__(
        self, runner: BackgroundRunner, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self.stage = Stage(runner, self)
        self._image: QImage | None = None
        self._selected: Mark | None = None
        self._marks: tuple[Mark, ...] = ()
        self._flags: tuple[Flag, ...] = ()
        self._hovered: int | None = None
        self._pressed: QPoint | None = None
        self._dragged = False
        self._range_from: int | None = None
        self._wheel = 0
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(*_MIN_SIZE)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.stage.changed.connect(self._repaint_cells)
        theme.changed.connect(self._repaint_cells)

    # ---------------------------------------------------------------- what is shown

    @property
    def layer(self) -> MapLayer | None:
        """What is shown."""
        return self.stage.layer

    @property
    def view(self) -> Viewport | None:
        """Which part of it; None while there is nothing."""
        self._measure()
        return self.stage.view

    @property
    def scene(self) -> Scene | None:
        """The cells in the plane; None while there is nothing."""
        self._measure()
        return self.stage.scene

    @property
    def selected(self) -> Mark | None:
        """The selected clusters."""
        return self._selected

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The clusters that are pointed out."""
        return self._marks

    @property
    def current(self) -> int | None:
        """The selected cluster that keys start from."""
        return None if self._selected is None else self._selected.first

    @property
    def ratio(self) -> float:
        """Device pixels of a device-independent one."""
        return self.devicePixelRatioF()

    def set_selected(self, mark: Mark | None, marks: Sequence[Mark] = ()) -> None:
        """Point out what is selected, and what belongs to it."""
        self._selected, self._marks = mark, tuple(marks)
        self.update()

    @property
    def flags(self) -> tuple[Flag, ...]:
        """The clusters with findings that their states don't show."""
        return self._flags

    def set_flags(self, flags: Sequence[Flag]) -> None:
        """Mark the corners of clusters."""
        if tuple(flags) != self._flags:
            self._flags = tuple(flags)
            self.update()

    def show_cluster(self, cluster: int) -> None:
        """Scroll as little as needed to show a cluster."""
        self._measure()
        self.stage.show_cluster(cluster)

    def fit(self) -> None:
        """Show all cells, in as many columns as fill the canvas."""
        self.stage.fit()

    def show_single_cells(self) -> None:
        """Zoom so that each cell can be told from its neighbours, around the selected one."""
        self._measure()
        self.stage.show_single_cells(self.current)

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Zoom; what is at `at` (by default the middle) stays where it is."""
        self._measure()
        self.stage.zoom(factor, None if at is None else at * self.ratio)

    def _measure(self) -> None:
        ratio = self.ratio
        self.stage.set_size(round(self.width() * ratio), round(self.height() * ratio), ratio)

    # ---------------------------------------------------------------- drawing

    def _repaint_cells(self) -> None:
        self._image = None
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the cells, then what is selected."""
        scene, view = self.scene, self.view
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(self._theme.colours.panel))
        if scene is not None and view is not None:
            if self._image is None:
                self._image = cells_image(scene, view, self._theme, self.ratio)
            painter.drawImage(QPointF(0, 0), self._image)
            self._draw_marks(painter, scene, view)
        if self.hasFocus():
            painter.setPen(QPen(QColor(self._theme.colours.accent), 1))
            painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))
        painter.end()

    def _draw_marks(self, painter: QPainter, scene: Scene, view: Viewport) -> None:
        marks = MarkPainter(painter, scene, view, self.ratio, self._theme.colours)
        for flag in self._flags:
            if self.stage.has(flag.cluster):
                marks.flag(flag.cluster, self._theme.tone_colour(flag.tone))
        for mark in self._marks:
            marks.draw(mark, self._theme.colours.warning)
        if self._selected is not None:
            marks.draw(self._selected, self._theme.colours.accent)

    def picture(self) -> QImage | None:
        """The visible cells without marks; None while there are none."""
        scene, view = self.scene, self.view
        if scene is None or view is None:
            return None
        return cells_image(scene, view, self._theme, self.ratio)

    def rect_of_cluster(self, cluster: int) -> QRect | None:
        """Where a cluster is drawn, in device-independent pixels; None when it is not shown."""
        scene, view = self.scene, self.view
        if scene is None or view is None or not self.stage.has(cluster):
            return None
        square = Square(*scene.place(cluster), 1, 1)
        return rect_of(square, view, self.ratio).toAlignedRect()

    # ---------------------------------------------------------------- pointer

    def cluster_at(self, position: QPointF) -> int | None:
        """The cluster at a position in device-independent pixels, or None."""
        scene, view = self.scene, self.view
        if scene is None or view is None:
            return None
        x, y = int(position.x() * self.ratio), int(position.y() * self.ratio)
        return scene.hit(view, x, y)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a click, a drag or, with Shift, a range."""
        if event.button() is not Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
            return
        self._pressed, self._dragged = event.position().toPoint(), False
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._range_from = self.cluster_at(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Pan, extend the range, or tell what is below the pointer."""
        position = event.position()
        self._hover(self.cluster_at(position))
        if self._pressed is None:
            return
        moved = position.toPoint() - self._pressed
        if self._range_from is not None:
            self._dragged = True
            self._mark_range(self.cluster_at(position))
        elif self._dragged or moved.manhattanLength() > 4:
            self._dragged = True
            self._pressed = position.toPoint()
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            self.stage.pan(round(moved.x() * self.ratio), round(moved.y() * self.ratio))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End what was begun: select, unless it was a pan."""
        if event.button() is not Qt.MouseButton.LeftButton or self._pressed is None:
            super().mouseReleaseEvent(event)
            return
        cluster = self.cluster_at(event.position())
        range_from, dragged = self._range_from, self._dragged
        self._pressed = self._range_from = None
        self._dragged = False
        self.unsetCursor()
        if range_from is not None and dragged:
            if self._selected is not None:
                self.range_chosen.emit(self._selected.first, self._selected.last)
        elif range_from is None and not dragged and cluster is not None:
            self.chosen.emit(cluster)
        elif range_from is not None and cluster is not None and self._selected is not None:
            self._extend_to(cluster)

    def _mark_range(self, cluster: int | None) -> None:
        if cluster is not None and self._range_from is not None:
            first, last = sorted((self._range_from, cluster))
            self.set_selected(Mark(first, last + 1))

    def _extend_to(self, cluster: int) -> None:
        """Select from the present selection to `cluster`."""
        if self._selected is None:
            self.chosen.emit(cluster)
            return
        first = min(self._selected.first, cluster)
        last = max(self._selected.last, cluster + 1)
        self.set_selected(Mark(first, last), self._marks)
        self.range_chosen.emit(first, last)

    def _hover(self, cluster: int | None) -> None:
        if cluster != self._hovered:
            self._hovered = cluster
            self.hovered.emit(cluster)

    def leaveEvent(self, event: QEvent) -> None:
        """The pointer points at nothing."""
        self._hover(None)
        super().leaveEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:
        """Tell at once what is below the pointer."""
        self._hover(self.cluster_at(event.position()))
        super().enterEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the pointer."""
        self._wheel += event.angleDelta().y()
        steps = int(self._wheel / _WHEEL_STEP)
        if steps:
            self._wheel -= steps * _WHEEL_STEP
            self.zoom(ZOOM_STEP**steps, event.position())
        event.accept()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The cells are arranged anew when they are drawn."""
        self._image = None
        super().resizeEvent(event)

    # ---------------------------------------------------------------- keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Zoom, move, and step through what looks alike."""
        key, text = event.key(), event.text()
        with_shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        plain = not event.modifiers() & (
            Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
        )
        if plain and text in ("+", "="):
            self.zoom(ZOOM_STEP)
        elif plain and text == "-":
            self.zoom(1 / ZOOM_STEP)
        elif plain and text == "0":
            self.fit()
        elif plain and text == "1":
            self.show_single_cells()
        elif plain and key in (Qt.Key.Key_N, Qt.Key.Key_P):
            self.step_requested.emit(1 if key == Qt.Key.Key_N else -1)
        elif not (plain and self._move(key, extend=with_shift)):
            super().keyPressEvent(event)

    def _move(self, key: int, *, extend: bool) -> bool:
        scene, layer = self.scene, self.layer
        if scene is None or layer is None:
            return False
        target = self._target_of(key, scene, layer)
        if target is None:
            return key in _ARROWS
        if extend and self._selected is not None:
            self._extend_to(target)
        else:
            self.chosen.emit(target)
        self.show_cluster(target)
        return True

    def _target_of(self, key: int, scene: Scene, layer: MapLayer) -> int | None:
        """The cluster that a key leads to; None when it leads nowhere."""
        if key == Qt.Key.Key_Home:
            return layer.first
        if key == Qt.Key.Key_End:
            return layer.last - 1
        if key not in _ARROWS:
            return None
        current = self.current
        if current is None or not self.stage.has(current):
            return layer.first
        return scene.neighbour(current, *_ARROWS[key])


_ARROWS: Final[dict[int, tuple[int, int]]] = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}
