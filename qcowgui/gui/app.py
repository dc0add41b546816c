"""Starting the window: the entry point, the application, and its picture for `demo`."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Final

from PySide6.QtCore import QEvent, QEventLoop, QLoggingCategory, QSize, QUrl, Signal
from PySide6.QtGui import QFileOpenEvent, QIcon
from PySide6.QtWidgets import QApplication

from qcowgui import __version__
from qcowgui.gui.garbage import GuiThreadCollector
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.settings import ColourScheme, Settings
from qcowgui.gui.theme import Theme
from qcowgui.resources import resource_path

SCREENSHOT_SIZE: Final = (1280, 800)

_SWITCH_SECONDS: Final = 0.001
"""How long a worker may keep Python to itself while the window waits. With Python's own 5 ms, and
two workers in the tables of 1 TiB, the window's longest pause was 60 to 74 ms; so it was 37 to 41,
and the workers were as fast (two cores, 2026-11-30)."""


class Application(QApplication):
    """The application. On macOS files to open arrive as events, maybe before there is a window.

    Signals:
        file_requested: The system asks to open a file: its path.
    """

    file_requested = Signal(str)

    def __init__(self, arguments: Sequence[str]) -> None:
        super().__init__(list(arguments))
        self._early: list[str] = []
        self._ready = False

    def event(self, event: QEvent) -> bool:
        """Keep or pass on a request to open a file; the rest is Qt's."""
        if isinstance(event, QFileOpenEvent):
            path = event.file() or event.url().toLocalFile()
            if path and self._ready:
                self.file_requested.emit(path)
            elif path:
                self._early.append(path)
            return True
        return super().event(event)

    def take_early_files(self) -> list[str]:
        """The files asked for so far; from now on `file_requested` tells of others."""
        self._ready = True
        early, self._early = self._early, []
        return early


def main(argv: Sequence[str] | None = None) -> int:
    """Open the window with the files of `argv` (by default the command line's) until it is closed.

    Returns:
        The exit code.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    return open_window([_local_path(text) for text in arguments if text != "--"])


def open_window(paths: Sequence[str | os.PathLike[str]]) -> int:
    """Show a window with `paths` opened, run the event loop, return the exit code."""
    if sys.stderr is not None:  # a start without a console has none
        with contextlib.suppress(OSError, ValueError):
            faulthandler.enable()
    app = Application(["qcowgui"])
    describe_application(app)
    answer_quickly()
    settings = Settings(app)
    theme = Theme(app, settings, app)
    window = MainWindow(theme, settings)
    # Qt quits after the last visible window; one that waits for its work to end is hidden.
    window.destroyed.connect(app.quit)
    collector = GuiThreadCollector(app)
    app.file_requested.connect(lambda path: window.open_paths([path]))
    with _problems_shown_in(window), _interrupt_closes(app):
        collector.start()
        window.show()
        window.queue.remember()
        window.open_paths([*paths, *app.take_early_files()])
        try:
            return app.exec()
        finally:
            collector.stop()


def screenshot(
    paths: Sequence[str | os.PathLike[str]],
    out_png: str | os.PathLike[str],
    *,
    dark: bool = False,
    size: tuple[int, int] = SCREENSHOT_SIZE,
) -> None:
    """Draw the window with `paths` opened into a PNG file; needs no display.

    Args:
        paths: Images to open; none shows the start page.
        out_png: The file to write.
        dark: Whether to use the dark colours.
        size: Width and height in device-independent pixels.

    Raises:
        OSError: When the picture can't be written.
    """
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        app = Application(["qcowgui"])
        describe_application(app)
    settings = Settings(remember=False)
    settings.colour_scheme = ColourScheme.DARK if dark else ColourScheme.LIGHT
    window = MainWindow(Theme(app, settings, settings), settings)
    window.resize(QSize(*size))
    window.open_paths(paths)
    # Without a screen Qt says of every window that it can't hint its size.
    QLoggingCategory.setFilterRules("default.warning=false")
    window.show()
    QLoggingCategory.setFilterRules("")
    while window.loader.active:
        app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
    app.processEvents()
    saved = window.grab().save(os.fspath(out_png), "PNG")
    window.close()
    app.processEvents()
    if not saved:
        raise OSError(f"the picture {os.fspath(out_png)} can't be written")


def answer_quickly() -> None:
    """Let the window's thread have Python sooner than the interpreter would by itself."""
    sys.setswitchinterval(_SWITCH_SECONDS)


def describe_application(app: QApplication) -> None:
    """Give the application its name, version and icon."""
    app.setApplicationName("qcowgui")
    app.setApplicationDisplayName("qcowgui")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("qcowgui")
    icon = QIcon()
    for path in sorted(resource_path("icons").iterdir()):
        if path.suffix == ".png":
            icon.addFile(str(path))
    app.setWindowIcon(icon)


def _local_path(text: str) -> str:
    """An argument as a path; file managers pass file: URLs to programs now and then."""
    return QUrl(text).toLocalFile() if text.startswith("file://") else text


@contextlib.contextmanager
def _problems_shown_in(window: MainWindow) -> Iterator[None]:
    """An exception that no one expected is printed and shown; the window goes on."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        previous(kind, error, trace)
        details = "".join(traceback.format_exception(kind, error, trace))
        window.show_problem(
            window.tr("Something went wrong that should not have; your files are as they were."),
            details,
        )

    previous = sys.excepthook
    sys.excepthook = hook
    try:
        yield
    finally:
        sys.excepthook = previous


@contextlib.contextmanager
def _interrupt_closes(app: QApplication) -> Iterator[None]:
    """Ctrl-C in the terminal closes the windows, as a click would."""
    previous = signal.signal(signal.SIGINT, lambda *_: app.closeAllWindows())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
