"""Axes of the plotting library with our own ticks: importing this imports the library."""

from __future__ import annotations

from collections.abc import Sequence

import pyqtgraph

from qcowgui.gui.dialogs.forecast_chart import seconds_axis, seconds_text, size_axis
from qcowgui.units import format_size

Ticks = list[tuple[float, list[float]]]
"""As the library wants them: levels, each with the distance of its ticks."""


# pyqtgraph has no types.
class SizeAxis(pyqtgraph.AxisItem):  # type: ignore[misc]
    """An axis of bytes, with round numbers of binary units."""

    def tickValues(self, low: float, high: float, _size: float) -> Ticks:
        """Some three to eight ticks."""
        return _one_level([value for value, _ in size_axis(low, high).ticks])

    def tickStrings(self, values: Sequence[float], _scale: float, _spacing: float) -> list[str]:
        """Sizes as everywhere."""
        return [format_size(max(0, round(value))) for value in values]


class SecondsAxis(pyqtgraph.AxisItem):  # type: ignore[misc]
    """An axis of time; its values are decimal logarithms of seconds."""

    def tickValues(self, low: float, high: float, _size: float) -> Ticks:
        """Ticks at 1, 2 and 5 of each decade; evenly where that would be too few."""
        return _one_level([value for value, _ in seconds_axis(low, high).ticks])

    def tickStrings(self, values: Sequence[float], _scale: float, _spacing: float) -> list[str]:
        """Times as everywhere."""
        return [seconds_text(10**value) for value in values]


def _one_level(values: list[float]) -> Ticks:
    return [(values[1] - values[0] if len(values) > 1 else 1.0, values)]
