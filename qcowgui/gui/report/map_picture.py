"""Pictures of the map for a report: all cells, the worst of each pixel's, in the light colours.

Knows no widgets; any thread.
"""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QCoreApplication

from qcowgui.gui.heatmap.layers import MapLayer, Order, Shown
from qcowgui.gui.heatmap.scene import Arrangement, Scene
from qcowgui.gui.heatmap.viewport import Viewport, fitting_columns
from qcowgui.report.content import LegendEntry, MapPicture
from qcowgui.report.png import indexed_png

translate = QCoreApplication.translate

_WIDTH: Final = 960
_HEIGHT: Final = 540
_LARGEST_CELL: Final = 24
_BACKGROUND: Final = "#ffffff"
_DIMMED: Final = "#e9edf1"


def map_picture(layer: MapLayer) -> MapPicture | None:
    """The picture of a layer with its legend; None when it has no cells."""
    if not len(layer):
        return None
    shown = Shown()
    columns, scale = fitting_columns(len(layer), _WIDTH, _HEIGHT, _LARGEST_CELL)
    scene = Scene(layer, shown, Arrangement.LINEAR, columns)
    width = min(_WIDTH, max(1, round(scene.columns * scale)))
    height = min(_HEIGHT, max(1, round(scene.rows * scale)))
    view = Viewport(scene.columns, scene.rows, width, height, scale)
    colours = shown.colours(layer.keys, _BACKGROUND, _DIMMED, dark=False)
    amounts = layer.tally()
    legend = tuple(
        LegendEntry(
            key.colour.light,
            key.name,
            key.meaning,
            amounts[key.value].clusters,
            amounts[key.value].bytes,
            key.fault,
        )
        for key in reversed(layer.keys)
        if key.value in amounts
    )
    png = indexed_png(scene.draw(view, 1.0), colours)
    return MapPicture(_title(layer), png, width, height, legend)


def _title(layer: MapLayer) -> str:
    if layer.order is Order.HOST:
        return translate("report", "the file’s clusters")
    return translate("report", "the guest’s disk")
