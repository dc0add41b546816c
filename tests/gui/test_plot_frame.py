"""The small plots: places of values, ticks that can be read, the lines of a speed."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFontMetricsF, QImage, QPainter
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from qcowgui.gui.plot_frame import Axis, PlotFrame, even_axis, even_ticks
from qcowgui.gui.theme import Theme
from qcowgui.gui.throughput import Throughput
from qcowgui.gui.views.queue_plot import SpeedLines

RECT = QRectF(0, 0, 400, 200)


def frame_of(across: Axis, up: Axis) -> PlotFrame:
    return PlotFrame(RECT, across, up, QApplication.font())


def colours_in(image: QImage) -> set[str]:
    return {
        image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())
    }


@pytest.mark.parametrize(
    ("low", "high", "unit", "expected"),
    [
        (0, 10, 1, [0, 2, 4, 6, 8, 10]),
        (0, 3, 1, [0, 1, 2, 3]),
        (1.1, 1.9, 1, [1.2, 1.4, 1.6, 1.8]),
        (0, 2048, 1024, [0, 512, 1024, 1536, 2048]),
    ],
)
def test_ticks_are_at_round_numbers(
    low: float, high: float, unit: float, expected: list[float]
) -> None:
    assert even_ticks(low, high, unit) == pytest.approx(expected)


@pytest.mark.usefixtures("qapp")
def test_values_lie_within_the_axes() -> None:
    frame = frame_of(Axis(0, 10), Axis(100, 200))
    assert frame.point(0, 100) == frame.area.bottomLeft()
    assert frame.point(10, 200) == frame.area.topRight()
    assert frame.line([0, 10], [100, 200]).at(1) == frame.point(10, 200)
    assert RECT.contains(frame.area)


@pytest.mark.usefixtures("qapp")
def test_an_axis_without_a_range_has_places_all_the_same() -> None:
    frame = frame_of(even_axis(5, 5, str), Axis(0, 1))
    assert frame.point(5, 0) == frame.area.bottomLeft()


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("count", [1, 2, 9, 200])
def test_texts_across_never_touch(count: int) -> None:
    ticks = tuple((float(number), f"tick {number}") for number in range(count))
    frame = frame_of(Axis(0, float(count), ticks), Axis(0, 1))
    shown = frame.readable()
    metrics = QFontMetricsF(QApplication.font())
    ends = [
        (frame.point(value, 0).x(), metrics.horizontalAdvance(text) / 2) for value, text in shown
    ]
    assert shown[0] == ticks[0]
    for (left, left_half), (right, right_half) in pairwise(ends):
        assert left + left_half < right - right_half
    steps = {after - before for (before, _), (after, _) in pairwise(shown)}
    assert len(steps) <= 1


def test_axes_are_drawn_in_their_colours(theme: Theme) -> None:
    image = QImage(RECT.size().toSize(), QImage.Format.Format_RGB32)
    image.fill(theme.colours.panel)
    painter = QPainter(image)
    frame = frame_of(even_axis(0, 5, str), even_axis(0, 5, str))
    frame.draw_axes(painter, theme.colours)
    painter.end()
    corner = frame.area.bottomLeft() + QPointF(20, 0)
    assert image.pixelColor(corner.toPoint()).name() == theme.colours.line


def test_both_speeds_and_the_start_of_verifying_are_painted(qtbot: QtBot, theme: Theme) -> None:
    history = Throughput()
    for second in range(10):
        history.add(second, 8e6, 2e6)
    lines = SpeedLines(theme)
    qtbot.addWidget(lines)
    lines.resize(300, 160)
    empty = colours_in(lines.grab().toImage())
    assert empty == {theme.colours.panel}
    lines.show_history(history)
    without = lines.grab().toImage()
    assert {theme.colours.accent, theme.colours.warning} <= colours_in(without)
    history.verifying_from = 7.0
    lines.show_history(history)
    assert lines.grab().toImage() != without
