"""Starts the program as its users do, and writes down what it shows, for a test outside of it.

    python -m tests.e2e.observed STATE-FILE [IMAGE…]

Nobody is called and nothing is changed: a timer looks at the window and writes what is there.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, QTimer
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from qcowgui.gui import app, main_window
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.settings import Settings
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.image_view import ImageView


class ObservedWindow(MainWindow):
    """The window, written down ten times a second."""

    def __init__(self, theme: Theme, settings: Settings) -> None:
        super().__init__(theme, settings)
        self._timer = QTimer(self)
        self._timer.setInterval(100)
        self._timer.timeout.connect(self._write)
        self._timer.start()

    def _write(self) -> None:
        state: dict[str, Any] = {
            "tabs": [view.session.path.name for view in self.views()],
            "dialogs": [
                widget.windowTitle()
                for widget in QApplication.topLevelWidgets()
                if isinstance(widget, QDialog) and widget.isVisible()
            ],
            "middle": place_of(self, self.rect().center()),
        }
        view = self.current_view()
        if view is not None:
            state |= view_state(view)
        target = Path(sys.argv[1])
        beside = target.with_suffix(".new")
        beside.write_text(json.dumps(state))
        beside.replace(target)


def view_state(view: ImageView) -> dict[str, Any]:
    """What the views of an image show."""
    canvas, session = view.map.host.canvas, view.session
    layer = canvas.layer
    cells: dict[str, tuple[int, int]] = {}
    if layer is not None and canvas.isVisible():
        for cluster in range(layer.first, layer.last):
            rect = canvas.rect_of_cluster(cluster)
            if rect is not None:
                cells[str(cluster)] = place_of(canvas, rect.center())
    return {
        "check": session.check_state.name,
        "indexed": session.index is not None,
        "cells": cells,
        "row": view.structure.entries.grid.current_entry(),
        "table": view.centre.tabText(view.centre.indexOf(view.structure)),
        "bytes": view.hex.view.mark,
        "bytes_seen": view.hex.view.isVisible(),
        "host": session.selection.host,
    }


def place_of(widget: QWidget, point: QPoint) -> tuple[int, int]:
    """Where a point of a widget is on the screen."""
    place = widget.mapToGlobal(point)
    return place.x(), place.y()


if __name__ == "__main__":
    setattr(main_window, "MainWindow", ObservedWindow)  # noqa: B010  a plain one is no type to assign to
    sys.exit(app.main(sys.argv[2:]))
