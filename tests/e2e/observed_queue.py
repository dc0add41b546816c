"""Starts the program as its users do, and writes down what its queue shows, for a test outside.

python -m tests.e2e.observed_queue STATE-FILE [IMAGE…]

With OBSERVED_WRITE_SECONDS in its environment each write to a raw target takes so long: on a quick
machine nothing would ever be half way.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QPoint, QTimer
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from qcowgui.convert.raw_writer import RawWriter
from qcowgui.gui import app, main_window
from qcowgui.gui.dialogs.convert import ConvertDialog
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.settings import Settings
from qcowgui.gui.theme import Theme
from qcowgui.image.layer import Piece
from tests.e2e.observed import place_of


class ObservedQueue(MainWindow):
    """The window, its queue written down twenty times a second."""

    def __init__(self, theme: Theme, settings: Settings) -> None:
        super().__init__(theme, settings)
        self._texts_seen: set[str] = set()
        self._timer = QTimer(self)
        self._timer.setInterval(50)
        self._timer.timeout.connect(self._write)
        self._timer.start()

    def _write(self) -> None:
        central, rows = self._central, self.conversions.rows
        middle = central.height() // 2
        dialogs = [
            widget
            for widget in QApplication.topLevelWidgets()
            if isinstance(widget, QDialog) and widget.isVisible()
        ]
        starts = [
            _middle(dialog.ending.start_button)
            for dialog in dialogs
            if isinstance(dialog, ConvertDialog) and dialog.ending.start_button.isEnabled()
        ]
        if self._zones.isVisible():
            for zone, frame in zip(self._zones._zones, self._zones._frames, strict=True):
                if frame.property("hot"):
                    self._texts_seen.add(zone.title)
        state = {
            "tabs": [view.session.path.name for view in self.views()],
            "dialogs": [dialog.windowTitle() for dialog in dialogs],
            "start": starts[0] if starts else None,
            "jobs": [
                [job.options.target.name, job.state.name, job.fraction]
                for job in self.controller.jobs
            ],
            "inspect_zone": place_of(central, QPoint(central.width() // 4, middle)),
            "convert_zone": place_of(central, QPoint(central.width() * 5 // 6, middle)),
            "resume_all": _middle(self.conversions.bar.resume),
            "row_icons": [_middle(row._icon) for row in rows.values()],
            "drop_texts_seen": sorted(self._texts_seen),
        }
        target = Path(sys.argv[1])
        beside = target.with_suffix(".new")
        beside.write_text(json.dumps(state))
        beside.replace(target)


def _middle(widget: QWidget) -> tuple[int, int] | None:
    return place_of(widget, widget.rect().center()) if widget.isVisible() else None


def slow_down(seconds: float) -> None:
    """Let each write of a batch take this long at least."""
    write = RawWriter.write

    def slow(self: RawWriter, pieces: Sequence[Piece]) -> None:
        time.sleep(seconds)
        write(self, pieces)

    RawWriter.write = slow  # type: ignore[method-assign]


if __name__ == "__main__":
    slow_down(float(os.environ.get("OBSERVED_WRITE_SECONDS", "0")))
    setattr(main_window, "MainWindow", ObservedQueue)  # noqa: B010  a plain one is no type to assign to
    sys.exit(app.main(sys.argv[2:]))
