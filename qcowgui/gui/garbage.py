"""Python's cyclic garbage collector, kept in the GUI's thread.

By default it runs in whichever thread happens to allocate. In a worker's thread it could then
destroy a widget that was dropped in a reference cycle, and Qt aborts or corrupts its memory.
"""

from __future__ import annotations

import gc
from typing import Final

from PySide6.QtCore import QObject, QTimer

_INTERVAL_MS: Final = 500


class GuiThreadCollector(QObject):
    """While started, cycles are collected by a timer of this thread and by nothing else.

    Its timer also gives Python a moment to handle signals such as Ctrl-C in a terminal.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._timer = QTimer(self)
        self._timer.setInterval(_INTERVAL_MS)
        self._timer.timeout.connect(self._collect)

    def start(self) -> None:
        """Take over from the automatic collector, and leave alone what is there by now.

        Modules and the window itself stay until the end; to look through them again at each full
        collection took 33 to 45 ms, in which the window did not answer (2026-11-30).
        """
        gc.disable()
        gc.freeze()
        self._timer.start()

    def stop(self) -> None:
        """Give it back."""
        self._timer.stop()
        gc.unfreeze()
        gc.enable()

    @staticmethod
    def _collect() -> None:
        counts, thresholds = gc.get_count(), gc.get_threshold()
        for generation in (2, 1, 0):
            if thresholds[generation] and counts[generation] > thresholds[generation]:
                gc.collect(generation)
                return
