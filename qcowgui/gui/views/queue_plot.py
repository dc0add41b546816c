"""How fast a conversion reads and writes, over its time."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from qcowgui.gui.formatters import rate_text
from qcowgui.gui.jobs import Job
from qcowgui.gui.plot_frame import PlotFrame, even_axis
from qcowgui.gui.theme import SPACING, Theme
from qcowgui.gui.throughput import Throughput

_LEAST_WIDTH: Final = 220
_ENOUGH_SAMPLES: Final = 3
_LINE_WIDTH: Final = 2
_MEGABYTE: Final = 1e6
_HEADROOM: Final = 1.08


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
        self.title = QLabel()
        self.title.setTextFormat(Qt.TextFormat.RichText)
        self.title.setToolTip(self.tr("MB/s over seconds; right of the dashed line it verifies"))
        self.lines = SpeedLines(theme)
        self.setMinimumWidth(_LEAST_WIDTH)
        self.setAccessibleName(self.tr("Speed of the conversion over time"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, SPACING // 2, SPACING + 2, SPACING)
        column.setSpacing(SPACING // 2)
        column.addWidget(self.title)
        column.addWidget(self.lines, 1)
        theme.changed.connect(self._show_title)
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
        self.lines.show_history(history)
        self._show_title()
        self.show()

    def forget_job(self, job: Job) -> None:
        """Show nothing if it is this job that is shown."""
        if job is self.job:
            self.job = None
            self.hide()

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
                for colour, text in zip(line_colours(self._theme), texts, strict=True)
            )
        )
        self.setAccessibleDescription(", ".join(texts))


class SpeedLines(QWidget):
    """Two speeds over time."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._history = Throughput()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)

    def show_history(self, history: Throughput) -> None:
        """Show these speeds as they are now."""
        self._history = history
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the axes, where verifying begins, and the lines."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), QColor(self._theme.colours.panel))
        history = self._history
        if len(history.seconds) < _ENOUGH_SAMPLES:
            return
        highest = max(*history.read, *history.written, _MEGABYTE)
        frame = PlotFrame(
            QRectF(self.rect()),
            even_axis(0.0, history.seconds[-1], lambda seconds: f"{seconds:g}"),
            even_axis(0.0, highest / _MEGABYTE * _HEADROOM, lambda rate: f"{rate:g}"),
            self.font(),
        )
        frame.draw_axes(painter, self._theme.colours)
        if history.verifying_from is not None:
            x = frame.point(history.verifying_from, 0).x()
            painter.setPen(QPen(QColor(self._theme.colours.muted), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QLineF(x, frame.area.top(), x, frame.area.bottom()))
        for colour, rates in zip(
            line_colours(self._theme), (history.read, history.written), strict=True
        ):
            painter.setPen(QPen(QColor(colour), _LINE_WIDTH))
            painter.drawPolyline(frame.line(history.seconds, [rate / _MEGABYTE for rate in rates]))


def line_colours(theme: Theme) -> tuple[str, str]:
    """The colours of what is read and of what is written."""
    return theme.colours.accent, theme.colours.warning
