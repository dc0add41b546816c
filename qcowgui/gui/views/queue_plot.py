"""How fast a conversion reads and writes, over its time."""

from __future__ import annotations

from typing import Any, Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from qcowgui.gui.formatters import rate_text
from qcowgui.gui.jobs import Job
from qcowgui.gui.theme import SPACING, Theme

_LEAST_WIDTH: Final = 220
_ENOUGH_SAMPLES: Final = 3
_LINE_WIDTH: Final = 2


class ThroughputPlot(QWidget):
    """Shows one job at a time; it is hidden until there is one to show.

    Attributes:
        job: What it shows.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._has_room = True
        self.job: Job | None = None
        self._plot: Any = None  # pyqtgraph ships no types
        self._curves: list[Any] = []
        self._border: Any = None
        self.title = QLabel()
        self.title.setTextFormat(Qt.TextFormat.RichText)
        self.setMinimumWidth(_LEAST_WIDTH)
        self.setAccessibleName(self.tr("Speed of the conversion over time"))
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, SPACING // 2, SPACING + 2, SPACING)
        self._column.setSpacing(SPACING // 2)
        self._column.addWidget(self.title)
        theme.changed.connect(self._paint)
        self.hide()

    def set_room(self, has_room: bool) -> None:
        """Say whether there is room for it beside the rows."""
        if has_room is not self._has_room:
            self._has_room = has_room
            if self.job is not None:
                self.show_job(self.job)

    def show_job(self, job: Job) -> None:
        """Show how fast a job has been so far."""
        self.job = job
        history = job.throughput
        if not self._has_room or len(history.seconds) < _ENOUGH_SAMPLES:
            self.hide()
            return
        if self._plot is None:
            self._make_plot()
        for curve, rates in zip(self._curves, (history.read, history.written), strict=True):
            curve.setData(history.seconds, [rate / 1e6 for rate in rates])
        if history.verifying_from is not None:
            self._border.setValue(history.verifying_from)
        self._border.setVisible(history.verifying_from is not None)
        self._show_title()
        self.show()

    def forget_job(self, job: Job) -> None:
        """Show nothing if it is this job that is shown."""
        if job is self.job:
            self.job = None
            self.hide()

    def _make_plot(self) -> None:
        # Loading it takes a while, and most windows never convert anything.
        import pyqtgraph

        plot = pyqtgraph.PlotWidget(self)
        plot.setMenuEnabled(False)
        plot.setMouseEnabled(x=False, y=False)
        plot.hideButtons()
        plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        plot.getViewBox().setDefaultPadding(0.02)
        plot.getPlotItem().setContentsMargins(0, SPACING, SPACING, 0)  # half a label's height
        plot.setLimits(xMin=0, yMin=0)
        for side in ("left", "bottom"):
            plot.getAxis(side).enableAutoSIPrefix(False)
        self._border = pyqtgraph.InfiniteLine(angle=90, movable=False)
        plot.addItem(self._border, ignoreBounds=True)
        self._plot = plot
        self._curves = [plot.plot(antialias=True), plot.plot(antialias=True)]
        self._column.addWidget(plot, 1)
        self._paint()

    def _line_colours(self) -> tuple[str, str]:
        colours = self._theme.colours
        return colours.accent, colours.warning

    def _paint(self) -> None:
        if self._plot is None:
            return
        colours = self._theme.colours
        self._plot.setBackground(colours.panel)
        for side in ("left", "bottom"):
            axis = self._plot.getAxis(side)
            axis.setPen(QColor(colours.line))
            axis.setTextPen(QColor(colours.muted))
        for curve, colour in zip(self._curves, self._line_colours(), strict=True):
            pen = QPen(QColor(colour), _LINE_WIDTH)
            pen.setCosmetic(True)
            curve.setPen(pen)
        border = QPen(QColor(colours.muted), 1, Qt.PenStyle.DashLine)
        border.setCosmetic(True)
        self._border.setPen(border)
        self._show_title()

    def _show_title(self) -> None:
        job = self.job
        if job is None or not job.throughput.seconds:
            return
        names = (self.tr("in"), self.tr("out"))
        rates = (job.throughput.read[-1], job.throughput.written[-1])
        texts = [f"{name} {rate_text(rate)}" for name, rate in zip(names, rates, strict=True)]
        self.title.setText(
            "&nbsp;&nbsp;".join(
                f'<span style="color: {colour}">■</span> {text}'
                for colour, text in zip(self._line_colours(), texts, strict=True)
            )
        )
        self.title.setToolTip(self.tr("MB/s over seconds; right of the dashed line it verifies"))
        self.setAccessibleDescription(", ".join(texts))
