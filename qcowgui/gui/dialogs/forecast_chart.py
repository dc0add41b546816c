"""The forecast as a picture: the size of each candidate against its time, with ranges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from qcowgui.convert.forecast import CandidateForecast, Forecast
from qcowgui.gui.formatters import short_duration_text
from qcowgui.gui.plot_frame import Axis, PlotFrame, even_axis
from qcowgui.gui.theme import Theme
from qcowgui.units import format_size

_LEAST_SECONDS: Final = 0.01
_HALF_MARK: Final = 4.5
_HALF_RING: Final = 9.0
_REACH: Final = 12.0
"""So near to a point, a click means it."""
_LABEL_SHIFT: Final = QPointF(6, -5)
_LEAST_TICKS: Final = 3
_WHOLE_RANGE: Final = 0.12
"""Of the values' span is left free at each side: labels stand beside their points."""
_FAINT: Final = 110
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


# -------------------------------------------------------------------- axes


def size_axis(low: float, high: float) -> Axis:
    """An axis of bytes, with round numbers of binary units."""
    unit = 1024 ** max(0, int(math.log(max(high, 1.0), 1024)))
    return even_axis(low, high, lambda value: format_size(max(0, round(value))), unit=unit)


def seconds_axis(low: float, high: float) -> Axis:
    """An axis of time, whose values are decimal logarithms of seconds.

    Its ticks are at 1, 2 and 5 of each decade; evenly where that would be too few.
    """
    exponents = range(math.floor(low), math.ceil(high) + 1)
    ticks = [exponent + math.log10(step) for exponent in exponents for step in (1, 2, 5)]
    ticks = [tick for tick in ticks if low <= tick <= high]
    if len(ticks) < _LEAST_TICKS:
        seconds = even_axis(10**low, 10**high, str).ticks
        ticks = [math.log10(value) for value, _ in seconds if value > 0]
    return Axis(low, high, tuple((tick, seconds_text(10**tick)) for tick in ticks))


def seconds_text(seconds: float) -> str:
    """A time at a tick, as short as it can be."""
    return f"{seconds:.2g} s" if seconds < 1 else short_duration_text(seconds).replace(".0 ", " ")


def _log(seconds: float) -> float:
    return math.log10(max(seconds, _LEAST_SECONDS))


def _widened(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    margin = (high - low) * _WHOLE_RANGE or abs(high) * _WHOLE_RANGE or 1.0
    return low - margin, high + margin


# -------------------------------------------------------------------- the chart


class ForecastChart(QWidget):
    """Draws a forecast; the table beside it says the same in words, so it takes no focus.

    Signals:
        chosen: A point was clicked: its CandidateForecast.
    """

    chosen = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._forecast: Forecast | None = None
        self._current: CandidateForecast | None = None
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(self.tr("Forecast: size against time"))
        theme.changed.connect(self.update)

    def set_forecast(self, forecast: Forecast | None) -> None:
        """Draw another forecast."""
        self._forecast, self._current = forecast, None
        self.update()

    def set_current(self, item: CandidateForecast | None) -> None:
        """Mark a candidate."""
        self._current = item
        self.update()

    def place_of(self, item: CandidateForecast) -> QPointF:
        """Where a candidate's point is, in the chart's coordinates.

        Raises:
            ValueError: When there is no forecast.
        """
        if self._forecast is None:
            raise ValueError("only a candidate of a forecast has a place")
        return _place(self._frame(self._forecast), item)

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

    # ---------------------------------------------------------------- for Qt

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the axes, the ranges, the lines, the points and the ring, in this order."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), QColor(self._theme.colours.panel))
        if self._forecast is None:
            return
        frame = self._frame(self._forecast)
        frame.draw_axes(painter, self._theme.colours)
        for series in series_of(self._forecast):
            self._draw_series(painter, frame, series)
        if self._current is not None:
            painter.setPen(QPen(QColor(self._theme.colours.text), 1.6))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(_place(frame, self._current), _HALF_RING, _HALF_RING)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the point that lies nearest, within reach."""
        if self._forecast is None or event.button() is not Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
            return
        frame = self._frame(self._forecast)
        distances = [
            (QLineF(event.position(), _place(frame, item)).length(), index)
            for index, item in enumerate(self._forecast.candidates)
        ]
        distance, index = min(distances)
        if distance <= _REACH:
            self.chosen.emit(self._forecast.candidates[index])

    # ---------------------------------------------------------------- drawing

    def _frame(self, forecast: Forecast) -> PlotFrame:
        """Axes that show every range."""
        items = forecast.candidates
        seconds = [_log(part) for item in items for part in (item.seconds.low, item.seconds.high)]
        sizes = [part for item in items for part in (item.size.low, item.size.high)]
        return PlotFrame(
            QRectF(self.rect()),
            seconds_axis(*_widened(seconds)),
            size_axis(*_widened(sizes)),
            self.font(),
        )

    def _colour(self, series: Series) -> str:
        colours = self._theme.colours
        return {"zstd": colours.accent, "zlib": colours.warning}.get(
            series.compression, colours.muted
        )

    def _draw_series(self, painter: QPainter, frame: PlotFrame, series: Series) -> None:
        colour = QColor(self._colour(series))
        faint = QColor(colour)
        faint.setAlpha(_FAINT)
        places = [_place(frame, item) for item in series.points]
        style = Qt.PenStyle.SolidLine if series.first_of_type else Qt.PenStyle.DashLine
        painter.setPen(QPen(faint, 1.2, style))
        painter.drawPolyline(QPolygonF(places))
        painter.setPen(QPen(faint, 1))
        for item in series.points:
            x, y = _log(item.seconds.expected), item.size.expected
            for start, end in (
                ((_log(item.seconds.low), y), (_log(item.seconds.high), y)),
                ((x, item.size.low), (x, item.size.high)),
            ):
                painter.drawLine(frame.point(*start), frame.point(*end))
        filled = colour if series.first_of_type else QColor(self._theme.colours.panel)
        height = QFontMetricsF(self.font()).height()
        for item, place in zip(series.points, places, strict=True):
            painter.setPen(QPen(colour, 1.5))
            painter.setBrush(filled)
            _draw_mark(painter, series.compression, place)
            if item.candidate.level is not None:
                painter.setPen(QColor(self._theme.colours.muted))
                corner = place + _LABEL_SHIFT - QPointF(0, height)
                box = QRectF(corner.x(), corner.y(), 4 * height, height)
                painter.drawText(box, Qt.AlignmentFlag.AlignBottom, f"{item.candidate.level}")


def _place(frame: PlotFrame, item: CandidateForecast) -> QPointF:
    return frame.point(_log(item.seconds.expected), item.size.expected)


def _draw_mark(painter: QPainter, compression: str, place: QPointF) -> None:
    """Marks differ in shape, not in colour alone: those of `_GLYPHS`."""
    half = _HALF_MARK
    match compression:
        case "zstd":
            painter.drawEllipse(place, half, half)
        case "zlib":
            painter.drawRect(QRectF(place.x() - half, place.y() - half, 2 * half, 2 * half))
        case _:
            corners = (QPointF(0, -half), QPointF(half, half), QPointF(-half, half))
            painter.drawPolygon(QPolygonF([place + corner for corner in corners]))
