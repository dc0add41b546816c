"""The forecast as a picture: the size of each candidate against its time, with ranges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyqtgraph
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QPen, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget

from qcowgui.convert.forecast import CandidateForecast, Forecast
from qcowgui.gui.formatters import short_duration_text
from qcowgui.gui.theme import Theme
from qcowgui.units import format_size

_LEAST_SECONDS: Final = 0.01
_SYMBOL_SIZE: Final = 9
_CHOSEN_SIZE: Final = 18
_LEAST_TICKS: Final = 3
_WHOLE_RANGE: Final = 0.12
"""Of the values' span is left free at each side: labels stand beside their points."""
_MARKS: Final = {"zstd": "o", "zlib": "s", "none": "t"}
_GLYPHS: Final = {"zstd": ("●", "○"), "zlib": ("■", "□"), "none": ("▲", "△")}


@dataclass(frozen=True, slots=True)
class Series:
    """Candidates of one type and cluster size: what a line joins, in the order of the levels."""

    compression: str
    cluster_bytes: int
    first_of_type: bool
    points: tuple[CandidateForecast, ...]


def series_of(forecast: Forecast) -> list[Series]:
    """The lines of the chart; of each type that with the smallest clusters comes first."""
    groups: dict[tuple[str, int], list[CandidateForecast]] = {}
    for item in forecast.candidates:
        tried = item.candidate
        groups.setdefault((tried.compression, tried.cluster_bytes), []).append(item)
    found: list[Series] = []
    for compression, cluster_bytes in sorted(groups):
        points = sorted(
            groups[compression, cluster_bytes], key=lambda item: item.candidate.level or 0
        )
        first = not found or found[-1].compression != compression
        found.append(Series(compression, cluster_bytes, first, tuple(points)))
    return found


# pyqtgraph has no types.
class SizeAxis(pyqtgraph.AxisItem):  # type: ignore[misc]
    """An axis of bytes, with round numbers of binary units."""

    def tickValues(self, low: float, high: float, _size: float) -> list[tuple[float, list[float]]]:
        """Some three to eight ticks."""
        unit = 1024 ** max(0, int(math.log(max(high, 1.0), 1024)))
        return [_even_ticks(low, high, unit)]

    def tickStrings(self, values: Sequence[float], _scale: float, _spacing: float) -> list[str]:
        """Sizes as everywhere."""
        return [format_size(max(0, round(value))) for value in values]


class SecondsAxis(pyqtgraph.AxisItem):  # type: ignore[misc]
    """An axis of time; its values are decimal logarithms of seconds."""

    def tickValues(self, low: float, high: float, _size: float) -> list[tuple[float, list[float]]]:
        """Ticks at 1, 2 and 5 of each decade; evenly where that would be too few."""
        exponents = range(math.floor(low), math.ceil(high) + 1)
        ticks = [
            found
            for exponent in exponents
            for found in (exponent + math.log10(step) for step in (1, 2, 5))
            if low <= found <= high
        ]
        if len(ticks) < _LEAST_TICKS:
            spacing, seconds = _even_ticks(10**low, 10**high, 1)
            return [(spacing, [math.log10(value) for value in seconds if value > 0])]
        return [(1.0, ticks)]

    def tickStrings(self, values: Sequence[float], _scale: float, _spacing: float) -> list[str]:
        """Times as everywhere."""
        return [_tick_seconds(10**value) for value in values]


def _tick_seconds(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 1 else short_duration_text(seconds).replace(".0 ", " ")


def _even_ticks(low: float, high: float, unit: float) -> tuple[float, list[float]]:
    """Multiples of 1, 2 or 5 times a power of ten of `unit`, and their distance."""
    span = max(high - low, 1e-9) / unit
    step = 10.0 ** math.floor(math.log10(span / _LEAST_TICKS))
    step *= next((factor for factor in (5, 2) if span / (step * factor) >= _LEAST_TICKS), 1)
    first = math.ceil(low / unit / step)
    last = math.floor(high / unit / step)
    return step * unit, [number * step * unit for number in range(first, last + 1)]


class ForecastChart(pyqtgraph.PlotWidget):  # type: ignore[misc]
    """Draws a forecast; the table beside it says the same in words, so it takes no focus.

    Signals:
        chosen: A point was clicked: its CandidateForecast.
    """

    chosen = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(
            parent,
            axisItems={"left": SizeAxis("left"), "bottom": SecondsAxis("bottom")},
        )
        self._theme = theme
        self._forecast: Forecast | None = None
        self._current: CandidateForecast | None = None
        self._ring: Any = None
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(self.tr("Forecast: size against time"))
        self.setFrameShape(self.Shape.NoFrame)
        plot = self.getPlotItem()
        plot.setMenuEnabled(False)
        plot.hideButtons()
        plot.setMouseEnabled(False, False)
        theme.changed.connect(self._draw)
        self._draw()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to what the chart lies in: it does not zoom."""
        event.ignore()

    def set_forecast(self, forecast: Forecast | None) -> None:
        """Draw another forecast."""
        self._forecast, self._current = forecast, None
        self._draw()

    def set_current(self, item: CandidateForecast | None) -> None:
        """Mark a candidate."""
        self._current = item
        self._draw_ring()

    def legend_html(self) -> str:
        """What the marks mean, in the colours of the marks."""
        if self._forecast is None:
            return ""
        parts = []
        for series in series_of(self._forecast):
            glyph = _GLYPHS[series.compression][0 if series.first_of_type else 1]
            name = self.tr("not compressed") if series.compression == "none" else series.compression
            colour = self._colour(series)
            parts.append(
                f'<span style="color: {colour}">{glyph}</span>&nbsp;'
                f"{name}&nbsp;{format_size(series.cluster_bytes).replace(' ', '&nbsp;')}"
            )
        return " &nbsp; ".join(parts)

    def _colour(self, series: Series) -> str:
        colours = self._theme.colours
        return {"zstd": colours.accent, "zlib": colours.warning}.get(
            series.compression, colours.muted
        )

    def _draw(self) -> None:
        plot = self.getPlotItem()
        plot.clear()
        self._ring = None
        colours = self._theme.colours
        self.setBackground(colours.panel)
        for name in ("left", "bottom"):
            axis = plot.getAxis(name)
            axis.setPen(colours.line)
            axis.setTextPen(colours.muted)
            axis.setTickFont(QApplication.font())
            axis.setStyle(tickLength=4)
        if self._forecast is None:
            return
        for series in series_of(self._forecast):
            self._draw_series(series)
        self._fit()
        self._draw_ring()

    def _draw_series(self, series: Series) -> None:
        colour = QColor(self._colour(series))
        faint = QColor(colour)
        faint.setAlpha(110)
        x, y = _places(series.points)
        style = Qt.PenStyle.SolidLine if series.first_of_type else Qt.PenStyle.DashLine
        self.addItem(
            pyqtgraph.PlotDataItem(
                x, y, pen=pyqtgraph.mkPen(faint, width=1.2, style=style), antialias=True
            )
        )
        self.addItem(_bars(series.points, pyqtgraph.mkPen(faint, width=1)))
        scatter = pyqtgraph.ScatterPlotItem(
            x,
            y,
            data=list(series.points),
            symbol=_MARKS[series.compression],
            size=_SYMBOL_SIZE,
            pen=pyqtgraph.mkPen(colour, width=1.5),
            brush=colour if series.first_of_type else QColor(self._theme.colours.panel),
            antialias=True,
        )
        scatter.sigClicked.connect(self._clicked)
        self.addItem(scatter)
        for item, place in zip(series.points, zip(x, y, strict=True), strict=True):
            if item.candidate.level is not None:
                label = pyqtgraph.TextItem(
                    f"{item.candidate.level}", color=self._theme.colours.muted, anchor=(-0.4, 0.9)
                )
                label.setPos(*place)
                self.addItem(label)

    def _fit(self) -> None:
        """Show every range. pyqtgraph's own fitting jumps when the labels' sizes become known."""
        if self._forecast is None:
            return
        items = self._forecast.candidates
        seconds = [_log(part) for item in items for part in (item.seconds.low, item.seconds.high)]
        sizes = [part for item in items for part in (item.size.low, item.size.high)]
        box = self.getPlotItem().getViewBox()
        box.setXRange(*_widened(min(seconds), max(seconds)), padding=0)
        box.setYRange(*_widened(min(sizes), max(sizes)), padding=0)

    def _draw_ring(self) -> None:
        if self._ring is not None:
            self.removeItem(self._ring)
            self._ring = None
        if self._current is None:
            return
        x, y = _places([self._current])
        self._ring = pyqtgraph.ScatterPlotItem(
            x,
            y,
            symbol="o",
            size=_CHOSEN_SIZE,
            pen=pyqtgraph.mkPen(self._theme.colours.text, width=1.6),
            brush=None,
            antialias=True,
        )
        self.addItem(self._ring)

    def _clicked(self, _scatter: object, points: Sequence[pyqtgraph.SpotItem]) -> None:
        if len(points):  # an array
            self.chosen.emit(points[0].data())


def _log(seconds: float) -> float:
    return math.log10(max(seconds, _LEAST_SECONDS))


def _places(
    items: Sequence[CandidateForecast],
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """float64: logarithms of the expected seconds, and the expected sizes."""
    return (
        np.array([_log(item.seconds.expected) for item in items]),
        np.array([float(item.size.expected) for item in items]),
    )


def _bars(items: Sequence[CandidateForecast], pen: QPen) -> pyqtgraph.ErrorBarItem:
    """The ranges, as bars from the expected values."""
    x, y = _places(items)
    return pyqtgraph.ErrorBarItem(
        x=x,
        y=y,
        left=x - np.array([_log(item.seconds.low) for item in items]),
        right=np.array([_log(item.seconds.high) for item in items]) - x,
        bottom=y - np.array([item.size.low for item in items]),
        top=np.array([item.size.high for item in items]) - y,
        pen=pen,
    )


def _widened(low: float, high: float) -> tuple[float, float]:
    margin = (high - low) * _WHOLE_RANGE or abs(high) * _WHOLE_RANGE or 1.0
    return low - margin, high + margin
