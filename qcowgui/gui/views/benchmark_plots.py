"""The figures of a benchmark as pictures; the tables beside them say the same."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

import numpy as np
import pyqtgraph
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QWheelEvent
from PySide6.QtWidgets import QApplication, QLabel, QVBoxLayout, QWidget

from qcowgui.gui.benchmark_lines import Line, Point
from qcowgui.gui.theme import SPACING, Theme
from qcowgui.gui.views.graph_axes import SecondsAxis, SizeAxis
from qcowgui.report.palette import Colour
from qcowgui.resources import resource_path
from qcowgui.units import KIB, MIB

_SYMBOL_SIZE: Final = 8
_MARGIN: Final = 0.1
"""Of the values' span is left free at each side."""
_LEAST_SIZE: Final = (200, 150)
_TICK_HEIGHT: Final = 22
_TICK_WIDTH: Final = 76
_SYMBOLS: Final = {
    "zstd": ("o", "●"),
    "libdeflate": ("s", "■"),
    "zlib": ("t1", "▲"),
    "zlib-ng": ("d", "◆"),
    "isal": ("star", "★"),
    "none": ("t", "▼"),
}
"""By series, what pyqtgraph draws and how that looks in a text."""


@cache
def _colours() -> dict[str, Colour]:
    content = json.loads(resource_path("colours.json").read_text("utf-8"))
    return {name: Colour(pair["light"], pair["dark"]) for name, pair in content["series"].items()}


def series_colour(series: str, theme: Theme) -> str:
    """The colour of a backend, as #rrggbb."""
    return _colours()[series].of(dark=theme.dark)


class DecadeAxis(SecondsAxis):
    """An axis whose values are decimal logarithms, with plain numbers at its ticks."""

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        """Ticks as those of seconds; powers of ten alone where `size` pixels have no room."""
        levels = super().tickValues(low, high, size)
        if len(levels[0][1]) * _TICK_HEIGHT <= size:
            return levels
        return [(1.0, [float(value) for value in range(math.ceil(low), math.floor(high) + 1)])]

    def tickStrings(self, values: Sequence[float], _scale: float, _spacing: float) -> list[str]:
        """The numbers that the logarithms stand for."""
        return [f"{float(f'{10**value:.2g}'):,g}" for value in values]


class SparseSizeAxis(SizeAxis):
    """An axis of bytes whose ticks have room for their texts, however narrow it is."""

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        """Every second or third of the usual ticks, where `size` pixels have no room for all."""
        spacing, values = super().tickValues(low, high, size)[0]
        step = max(1, math.ceil(len(values) * _TICK_WIDTH / max(size, 1.0)))
        return [(spacing * step, values[::step])]


# pyqtgraph has no types.
class LinePlot(pyqtgraph.PlotWidget):  # type: ignore[misc]
    """Draws lines with their deviations. It does not zoom, and takes no focus."""

    def __init__(
        self,
        theme: Theme,
        name: str,
        *,
        bottom: pyqtgraph.AxisItem | None = None,
        decades: bool = False,
        show_tick: Callable[[float], str] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """A plot without lines.

        Args:
            theme: Whose colours it takes.
            name: What a screen reader calls it.
            bottom: The axis across, where its ticks are not the values that there are.
            decades: Whether the axis upwards is logarithmic; else it begins at 0.
            show_tick: With no `bottom`: a value across as text.
            parent: The widget that it lies in.
        """
        axes = {"left": DecadeAxis("left") if decades else pyqtgraph.AxisItem("left")}
        if bottom is not None:
            axes["bottom"] = bottom
        super().__init__(parent, axisItems=axes)
        self._theme = theme
        self._decades = decades
        self._show_tick = show_tick
        self.lines: Sequence[Line] = ()
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(name)
        self.setFrameShape(self.Shape.NoFrame)
        self.setMinimumSize(*_LEAST_SIZE)
        plot = self.getPlotItem()
        plot.setMenuEnabled(False)
        plot.hideButtons()
        plot.setMouseEnabled(False, False)
        plot.showGrid(y=True, alpha=0.12)
        plot.getAxis("left").enableAutoSIPrefix(False)
        theme.changed.connect(self._draw)
        self._draw()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to what the plot lies in."""
        event.ignore()

    def set_lines(self, lines: Sequence[Line]) -> None:
        """Draw other lines."""
        if lines != self.lines:
            self.lines = lines
            self._draw()

    def _draw(self) -> None:
        plot, colours = self.getPlotItem(), self._theme.colours
        plot.clear()
        self.setBackground(colours.panel)
        for side in ("left", "bottom"):
            axis = plot.getAxis(side)
            axis.setPen(colours.line)
            axis.setTextPen(colours.muted)
            axis.setTickFont(QApplication.font())
            axis.setStyle(tickLength=4)
        if not self.lines:
            return
        for line in self.lines:
            self._draw_line(line)
        self._fit()

    def _draw_line(self, line: Line) -> None:
        colour = QColor(series_colour(line.series, self._theme))
        faint = QColor(colour)
        faint.setAlpha(130)
        x = np.array([point.x for point in line.points])
        y = np.array([self._up(point.y) for point in line.points])
        style = Qt.PenStyle.DashLine if line.dashed else Qt.PenStyle.SolidLine
        pen = pyqtgraph.mkPen(faint, width=1.4, style=style)
        self.addItem(pyqtgraph.PlotDataItem(x, y, pen=pen, antialias=True))
        low, high = np.array([self._range(point) for point in line.points]).T
        self.addItem(
            pyqtgraph.ErrorBarItem(
                x=x, y=y, top=high - y, bottom=y - low, pen=pyqtgraph.mkPen(faint, width=1)
            )
        )
        self.addItem(
            pyqtgraph.ScatterPlotItem(
                x,
                y,
                symbol=_SYMBOLS[line.series][0],
                size=_SYMBOL_SIZE,
                pen=pyqtgraph.mkPen(colour, width=1.4),
                brush=QColor(self._theme.colours.panel) if line.dashed else colour,
                antialias=True,
            )
        )
        for point in line.points:
            if point.label:
                label = pyqtgraph.TextItem(
                    point.label, color=self._theme.colours.muted, anchor=(-0.3, 0.9)
                )
                label.setPos(point.x, self._up(point.y))
                self.addItem(label)

    def _up(self, value: float) -> float:
        return math.log10(max(value, 1e-9)) if self._decades else value

    def _range(self, point: Point) -> tuple[float, float]:
        """From one deviation below the point to one above; a logarithm may not reach to zero."""
        least = point.y / 10 if self._decades else 0.0
        return self._up(max(point.y - point.deviation, least)), self._up(point.y + point.deviation)

    def _fit(self) -> None:
        points = [point for line in self.lines for point in line.points]
        across = [point.x for point in points]
        upwards = [end for point in points for end in self._range(point)]
        box = self.getPlotItem().getViewBox()
        box.setXRange(*_widened(min(across), max(across)), padding=0)
        low, high = _widened(min(upwards), max(upwards))
        box.setYRange(low if self._decades else 0.0, high, padding=0)
        if self._show_tick is not None:
            ticks = [(value, self._show_tick(value)) for value in sorted(set(across))]
            self.getPlotItem().getAxis("bottom").setTicks([ticks])


def _widened(low: float, high: float) -> tuple[float, float]:
    margin = (high - low) * _MARGIN or max(abs(high) * _MARGIN, 0.5)
    return low - margin, high + margin


class TitledPlot(QWidget):
    """A plot with its title above it, and below that what its marks mean."""

    def __init__(self, plot: LinePlot, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.plot = plot
        self.title = QLabel()
        self.legend = QLabel()
        for label in (self.title, self.legend):
            label.setTextFormat(Qt.TextFormat.RichText)
            label.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACING // 2)
        layout.addWidget(self.title)
        layout.addWidget(self.legend)
        layout.addWidget(plot, 1)

    def show_lines(
        self, title: str, lines: Sequence[Line], theme: Theme, *, dashed: str = ""
    ) -> None:
        """Draw lines.

        Args:
            title: What stands above them; plain text.
            lines: What to draw.
            theme: Whose colours the legend takes.
            dashed: What dashed lines show; plain text.
        """
        self.title.setText(f"<b>{title}</b>")
        legend = legend_html(lines, theme)
        self.legend.setText(f"{legend} &nbsp; <i>○&nbsp;{dashed}</i>" if dashed else legend)
        self.plot.set_lines(lines)
        self.plot.setAccessibleDescription(_description(lines))


def legend_html(lines: Sequence[Line], theme: Theme) -> str:
    """What the marks mean, in their colours; that of a dashed line is the same, but hollow."""
    parts = [
        f'<span style="color: {series_colour(line.series, theme)}">'
        f"{_SYMBOLS[line.series][1]}</span>&nbsp;{line.name.replace(' ', '&nbsp;')}"
        for line in lines
        if not line.dashed
    ]
    return " &nbsp; ".join(parts)


def _description(lines: Sequence[Line]) -> str:
    return "; ".join(
        f"{line.name}: " + ", ".join(f"{point.y:,.0f}" for point in line.points) for line in lines
    )


def speed_plot(theme: Theme, name: str) -> LinePlot:
    """A plot of speeds against sizes in bytes."""
    return LinePlot(theme, name, bottom=SparseSizeAxis("bottom"), decades=True)


def read_plot(theme: Theme, name: str) -> LinePlot:
    """A plot of microseconds against binary logarithms of cluster sizes."""
    return LinePlot(theme, name, decades=True, show_tick=lambda x: short_size(round(2**x)))


def short_size(size_bytes: int) -> str:
    """A cluster size as options take it: "64k", "2M"."""
    for unit, letter in ((MIB, "M"), (KIB, "k")):
        if size_bytes >= unit:
            return f"{size_bytes // unit}{letter}"
    return f"{size_bytes}"


def thread_plot(theme: Theme, name: str) -> LinePlot:
    """A plot of speeds against numbers of threads."""
    return LinePlot(theme, name, show_tick=lambda x: f"{x:.0f}")
