"""What the window knows of its own mistakes: exceptions nobody expected, Qt's warnings, a crash.

Where a window is, it shows them; where it can't be, this says why in the terminal.
"""

from __future__ import annotations

import contextlib
import faulthandler
import locale
import logging
import os
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Final

from PySide6.QtCore import QMessageLogContext, QObject, QtMsgType, Signal, qInstallMessageHandler
from PySide6.QtGui import QGuiApplication

from qcowgui.convert.done_record import state_folder
from qcowgui.gui.crash_reports import CrashReports, Report, exception_text, report_text

MAX_SAVED: Final = 5
MAX_TOLD: Final = 50
"""A mistake in something that is drawn all the time must fill neither the disk nor the window."""

_PROBLEMS: Final = (QtMsgType.QtWarningMsg, QtMsgType.QtCriticalMsg, QtMsgType.QtFatalMsg)
_NO_PLATFORM: Final = "no Qt platform plugin could be initialized"


class Diagnostics(QObject):
    """Catches what nobody else does, for as long as it is installed.

    Signals:
        failed: Something went wrong that should not have: a Report. Each mistake once.
        noted: A line for the log; whether it tells of a problem.
    """

    failed = Signal(object)
    noted = Signal(str, bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.reports = _reports()
        self._told: set[str] = set()
        self._before: Callable[..., object] | None = None
        self._threads_before: Callable[..., object] | None = None
        self._handler = _LogLines(self)

    def install(self) -> None:
        """Listen to everything."""
        self._watch_crashes()
        self._before, sys.excepthook = sys.excepthook, self._unexpected
        self._threads_before, threading.excepthook = threading.excepthook, self._in_thread
        logging.getLogger().addHandler(self._handler)
        qInstallMessageHandler(self._qt_says)

    def remove(self) -> None:
        """Leave everything as it was."""
        qInstallMessageHandler(None)
        logging.getLogger().removeHandler(self._handler)
        if self._before is not None and self._threads_before is not None:
            sys.excepthook, threading.excepthook = self._before, self._threads_before
        self._before = self._threads_before = None
        if self.reports is not None:
            _enable_faulthandler()
            self.reports.close_trace()

    def tell_of_last_time(self) -> list[Report]:
        """Reports about earlier processes that were torn down."""
        return self.reports.take_left() if self.reports is not None else []

    def _watch_crashes(self) -> None:
        trace = self.reports.open_trace() if self.reports is not None else None
        if trace is not None:
            faulthandler.enable(trace)

    # ---------------------------------------------------------------- Python

    def _unexpected(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            self._before(kind, error, trace)
        if isinstance(error, Exception):
            self._report(error.with_traceback(trace))

    def _in_thread(self, arguments: threading.ExceptHookArgs) -> None:
        if self._threads_before is not None:
            self._threads_before(arguments)
        if isinstance(arguments.exc_value, Exception):
            self._report(arguments.exc_value)

    def _report(self, error: Exception) -> None:
        text = exception_text(error)
        if text in self._told or len(self._told) >= MAX_TOLD:
            return
        self._told.add(text)
        report = report_text(text, circumstances())
        saves = self.reports is not None and len(self._told) <= MAX_SAVED
        path = self.reports.save(report) if self.reports is not None and saves else None
        summary = text.rsplit("\n", 1)[-1]
        self.noted.emit(summary, True)
        self.failed.emit(Report(summary, report, path))

    # ---------------------------------------------------------------- Qt

    def _qt_says(self, kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
        del context
        if kind is QtMsgType.QtFatalMsg and _NO_PLATFORM in text:
            self._leave_without_window()
        tell_terminal(text)
        if kind in _PROBLEMS:
            self.noted.emit(text, True)

    def _leave_without_window(self) -> None:
        """Say it in our words and go; Qt would abort the process next."""
        tell_terminal(
            "qcowgui: the window can't be shown: the display does not answer, or a library that Qt "
            "needs for it is missing\n"
            "  hint: the command line works without: qcowgui info IMAGE, qcowgui --help"
        )
        if self.reports is not None:
            self.reports.close_trace()
        os._exit(1)


class _LogLines(logging.Handler):
    """Puts what libraries log as a warning into the window's log. Any thread may call."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        super().__init__(logging.WARNING)
        self._diagnostics = diagnostics

    def emit(self, record: logging.LogRecord) -> None:
        """Pass a line on."""
        self._diagnostics.noted.emit(f"{record.name}: {record.getMessage()}", True)


def tell_terminal(text: str) -> None:
    """Write a line to standard error, if there is one that can be written."""
    if sys.stderr is not None:  # a start without a console has none
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()


def circumstances() -> str:
    """What is known of the display and the locale, a line each."""
    lines = [f"locale: {locale.setlocale(locale.LC_CTYPE)}, {sys.getfilesystemencoding()}"]
    if isinstance(QGuiApplication.instance(), QGuiApplication):
        lines.append(f"Qt platform: {QGuiApplication.platformName()}")
        for screen in QGuiApplication.screens():
            size = screen.size()
            lines.append(f"screen: {size.width()} × {size.height()} at {screen.devicePixelRatio()}")
    return "\n".join(lines)


def _reports() -> CrashReports | None:
    try:
        return CrashReports(state_folder() / "reports")
    except RuntimeError:  # there is no home
        return None


def _enable_faulthandler() -> None:
    """Have a crash traced in the terminal, if there is one."""
    faulthandler.disable()
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            faulthandler.enable()
