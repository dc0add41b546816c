"""Lets the map of a guest's disk fill while the image is converted."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from qcowgui.convert.job import Phase
from qcowgui.gui.heatmap.canvas import MapCanvas
from qcowgui.gui.heatmap.painting import rect_of
from qcowgui.gui.image_tabs import ImageTabs
from qcowgui.gui.jobs import Job, JobController
from qcowgui.gui.theme import Theme
from qcowgui.units import ceil_div

_VEIL_ALPHA: Final = {Phase.CONVERTING: 205, Phase.VERIFYING: 110}
"""How much of the clusters that are not dealt with yet is hidden, of 255."""


class GuestVeil(QWidget):
    """Lies over a canvas of the guest's disk, and hides what is not converted yet.

    Attributes:
        canvas: What it lies over.
        done_clusters: So many clusters from the start are left free.
    """

    def __init__(self, canvas: MapCanvas, theme: Theme) -> None:
        super().__init__(canvas)
        self.canvas = canvas
        self._theme = theme
        self._phase = Phase.CONVERTING
        self.done_clusters = 0
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        canvas.installEventFilter(self)
        self.setGeometry(canvas.rect())
        self.show()

    def show_progress(self, phase: Phase, done_bytes: int) -> None:
        """Show how far the job is; it deals with the disk from its start to its end."""
        layer = self.canvas.layer
        if layer is None:
            return
        done = ceil_div(done_bytes, layer.cluster_bytes)
        if (phase, done) != (self._phase, self.done_clusters):
            self._phase, self.done_clusters = phase, done
            self.update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay as large as the canvas."""
        if event.type() is QEvent.Type.Resize:
            self.setGeometry(self.canvas.rect())
        return super().eventFilter(watched, event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Cover the clusters from the first that is not done to the last."""
        scene, view, alpha = self.canvas.scene, self.canvas.view, _VEIL_ALPHA.get(self._phase)
        if scene is None or view is None or alpha is None:
            return
        colour = QColor(self._theme.colours.panel)
        colour.setAlpha(alpha)
        painter = QPainter(self)
        for square in scene.squares(self.done_clusters, scene.layer.last):
            rect = rect_of(square, view, self.canvas.ratio)
            if rect.intersects(event.rect().toRectF()):
                painter.fillRect(rect, colour)
        painter.end()


class QueueMap(QObject):
    """Shows the running conversion on the tab of its source, if that is open."""

    def __init__(self, controller: JobController, tabs: ImageTabs, theme: Theme) -> None:
        super().__init__(tabs)
        self._controller = controller
        self._tabs = tabs
        self._theme = theme
        self._veil: GuestVeil | None = None
        controller.job_changed.connect(self._follow)

    @property
    def veil(self) -> GuestVeil | None:
        """What lies over a map now; it goes with the tab that it is in."""
        return self._veil if self._veil is not None and isValid(self._veil) else None

    def _follow(self) -> None:
        job, veil = self._controller.running, self.veil
        canvas = None if job is None else self._canvas_of(job)
        if veil is not None and veil.canvas is not canvas:
            veil.hide()
            veil.deleteLater()
            veil = self._veil = None
        if job is None or canvas is None or job.progress is None:
            return
        if veil is None:
            veil = self._veil = GuestVeil(canvas, self._theme)
        veil.show_progress(job.progress.phase, job.progress.done_bytes)

    def _canvas_of(self, job: Job) -> MapCanvas | None:
        """The map that shows what the job reads: no map shows the disk of a snapshot."""
        view = self._tabs.view_of(job.options.source.absolute())
        return None if view is None or job.options.snapshot else view.map.guest.canvas
