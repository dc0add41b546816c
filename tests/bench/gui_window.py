"""A window to measure, with a clock that notices when its thread does not answer."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from PySide6.QtCore import QEventLoop, QObject, QSize, Qt, QTimer

from qcowgui.gui.app import Application, answer_quickly, describe_application
from qcowgui.gui.garbage import GuiThreadCollector
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.settings import Settings
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.image_view import ImageView
from tests.bench.measure import BenchError

SIZE: Final = QSize(1280, 800)
_BEAT_MS: Final = 1
_PATIENCE_SECONDS: Final = 300.0
_SCHEDSTAT: Final = Path("/proc/thread-self/schedstat")
_MAXRSS_UNIT_BYTES: Final = 1 if sys.platform == "darwin" else 1024


def waited_seconds() -> float | None:
    """How long this thread was ready and had no core since it began; None: not told here."""
    try:
        return int(_SCHEDSTAT.read_text().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return None


def peak_rss_bytes() -> int:
    """The largest resident set of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _MAXRSS_UNIT_BYTES


class StallMeter(QObject):
    """A timer of the GUI's thread that should beat at each millisecond.

    Attributes:
        worst_seconds: The longest time between two beats.
        waited_seconds: How much of it the thread had no core; None where that is not told.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(_BEAT_MS)
        self._timer.timeout.connect(self._beat)
        self.restart()

    def restart(self) -> None:
        """Forget what was, and beat from now on."""
        self.worst_seconds = 0.0
        self.waited_seconds: float | None = None
        self._last, self._waited = time.perf_counter(), waited_seconds()
        self._timer.start()

    def _beat(self) -> None:
        now, waited = time.perf_counter(), waited_seconds()
        if now - self._last > self.worst_seconds:
            self.worst_seconds = now - self._last
            if waited is not None and self._waited is not None:
                self.waited_seconds = waited - self._waited
        self._last, self._waited = now, waited


class BenchWindow:
    """The program's own window, handled by a benchmark.

    Attributes:
        app: The application.
        window: The window, shown.
        stalls: Its meter.
    """

    def __init__(self) -> None:
        self.app = Application(["qcowgui"])
        describe_application(self.app)
        answer_quickly()
        settings = Settings(remember=False)
        self.window = MainWindow(Theme(self.app, settings, settings), settings)
        self.window.resize(SIZE)
        self._collector = GuiThreadCollector(self.app)
        self._collector.start()
        self.stalls = StallMeter(self.app)
        self.window.show()
        self.run_for(0.3)

    def open(self, path: Path) -> ImageView:
        """Open an image, as a click does; its view is not filled yet."""
        self.window.open_paths([path])
        view = self.window.current_view()
        if view is None:
            raise BenchError(f"{path} was not opened")
        return view

    def wait_for(self, condition: Callable[[], bool]) -> float:
        """Run the event loop until `condition` holds; how many seconds that took.

        Raises:
            BenchError: When it takes minutes.
        """
        began = time.perf_counter()
        while not condition():
            self.app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
            if time.perf_counter() - began > _PATIENCE_SECONDS:
                raise BenchError("the window did not come to an end")
        return time.perf_counter() - began

    def run_for(self, seconds: float) -> None:
        """Run the event loop for some time."""
        end = time.perf_counter() + seconds
        self.wait_for(lambda: time.perf_counter() >= end)

    def settle(self) -> None:
        """Wait until nothing is read or worked out any more."""
        self.wait_for(lambda: not self.window.loader.active and not self.window.controller.active)
        self.run_for(0.2)

    def close(self) -> None:
        """Close the window and wait for its end."""
        self._collector.stop()
        gone: list[bool] = []
        self.window.destroyed.connect(lambda: gone.append(True))
        self.window.close()
        self.wait_for(lambda: bool(gone))


@contextmanager
def opened_window() -> Iterator[BenchWindow]:
    """A window that is closed again, whatever happens."""
    window = BenchWindow()
    try:
        yield window
    finally:
        window.close()
