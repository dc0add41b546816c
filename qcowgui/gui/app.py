"""Starting the window: the entry point, the application, and its picture for `demo`.

The window's own modules are imported late: a start that hands its files over needs none of them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Final

from PySide6.QtCore import QEvent, QEventLoop, QLoggingCategory, QSize, QUrl, Signal
from PySide6.QtGui import QFileOpenEvent, QIcon
from PySide6.QtWidgets import QApplication

from qcowgui import __version__
from qcowgui.gui.diagnostics import Diagnostics
from qcowgui.gui.single_instance import Request, SingleInstance, meeting_folder
from qcowgui.resources import resource_path

NEW_WINDOW: Final = "--new-window"
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

    Before a "--", `--new-window` asks for a window of this process's own.

    Returns:
        The exit code.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    end = arguments.index("--") if "--" in arguments else len(arguments)
    front, rest = arguments[:end], arguments[end + 1 :]
    names = [*(word for word in front if word != NEW_WINDOW), *rest]
    return open_window([_local_path(name) for name in names], new_window=NEW_WINDOW in front)


def open_window(paths: Sequence[str | os.PathLike[str]], *, new_window: bool = False) -> int:
    """Show a window with `paths` opened, run the event loop, return the exit code.

    If this user has a window on this display already, that one opens them, unless `new_window`.
    """
    activation = os.environ.get("XDG_ACTIVATION_TOKEN", "")
    diagnostics = Diagnostics()
    diagnostics.install()
    try:
        app = Application(["qcowgui"])
        describe_application(app)
        with _interrupt_closes(app) as interrupt:
            instance = _meeting_place(app)
            request = Request(tuple(map(_absolute, paths)), activation)
            if instance is not None and not new_window and instance.hand_over(request):
                return 0
            return _run(app, paths, diagnostics, instance, interrupt)
    finally:
        diagnostics.remove()


def _run(
    app: Application,
    paths: Sequence[str | os.PathLike[str]],
    diagnostics: Diagnostics,
    instance: SingleInstance | None,
    interrupt: _Interrupt,
) -> int:
    """Make the window and run the event loop. To hand files over needs none of these imports."""
    from qcowgui.gui.garbage import GuiThreadCollector

    collector = GuiThreadCollector(app)
    collector.start()  # what the imports make is no garbage
    from qcowgui.gui.settings import Settings
    from qcowgui.gui.window_host import WindowHost

    answer_quickly()
    settings = Settings(app)
    host = WindowHost(app, settings, diagnostics)
    app.file_requested.connect(lambda path: host.window.open_paths([path]))
    if instance is not None:
        instance.claim()
        instance.received.connect(host.answer)
    host.show([*paths, *app.take_early_files()])
    if instance is not None:
        instance.serve(host.is_open)
    if interrupt.arrived:
        host.window.close()
    try:
        return app.exec()
    finally:
        collector.stop()
        if instance is not None:
            instance.close()


def _meeting_place(app: QApplication) -> SingleInstance | None:
    """Where starts find the first window; None where no person sees windows, or nobody may meet."""
    platform = app.platformName()
    folder = None if platform in ("offscreen", "minimal") else meeting_folder()
    if folder is None:
        return None
    display = [os.environ.get(name, "") for name in ("WAYLAND_DISPLAY", "DISPLAY")]
    return SingleInstance(folder, "\0".join([platform, *display]), app)


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
    from qcowgui.gui.main_window import MainWindow
    from qcowgui.gui.settings import ColourScheme, Settings
    from qcowgui.gui.theme import Theme

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
    app.setDesktopFileName(os.environ.get("FLATPAK_ID", "qcowgui"))
    icon = QIcon()
    for path in sorted(resource_path("icons").iterdir()):
        if path.suffix == ".png":
            icon.addFile(str(path))
    app.setWindowIcon(icon)


def _local_path(text: str) -> str:
    """An argument as a path; file managers pass file: URLs to programs now and then."""
    return QUrl(text).toLocalFile() if text.startswith("file://") else text


def _absolute(path: str | os.PathLike[str]) -> str:
    return os.path.abspath(path)  # noqa: PTH100  as Path's, and it removes ".."


class _Interrupt:
    """Whether Ctrl-C was pressed: during a start there is no window yet that it could close."""

    arrived = False


@contextlib.contextmanager
def _interrupt_closes(app: QApplication) -> Iterator[_Interrupt]:
    """Ctrl-C in the terminal closes the windows, as a click would."""
    interrupt = _Interrupt()

    def handle(_number: int, _frame: FrameType | None) -> None:
        interrupt.arrived = True
        app.closeAllWindows()

    previous = signal.signal(signal.SIGINT, handle)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, previous)
