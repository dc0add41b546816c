"""Mistakes are caught, told once, and reported without anything that a file holds."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import qWarning
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from qcowgui import __version__
from qcowgui.gui import diagnostics as module
from qcowgui.gui.crash_reports import (
    MAX_REPORTS,
    CrashReports,
    Report,
    exception_text,
    report_text,
)
from qcowgui.gui.diagnostics import MAX_SAVED, MAX_TOLD, Diagnostics
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.log_panel import LogPanel
from qcowgui.gui.window_notices import WindowNotices

PROJECT = Path(__file__).parents[2]


def raised(error: Exception) -> Exception:
    """An exception with a trace."""
    try:
        raise error
    except type(error) as found:
        return found


@pytest.fixture
def watching(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Diagnostics]:
    """Installed diagnostics that report into the test's folder, and are quiet in the terminal."""
    del qtbot
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "excepthook", lambda *_: None)
    monkeypatch.setattr(threading, "excepthook", lambda *_: None)
    made = Diagnostics()
    made.install()
    yield made
    made.remove()


def reports_in(folder: Path) -> list[Path]:
    return sorted((folder / "qcowgui" / "reports").glob("report-*.txt"))


def test_an_exception_is_told_and_saved(
    watching: Diagnostics, tmp_path: Path, qtbot: QtBot
) -> None:
    error = raised(ValueError("odd"))
    with qtbot.waitSignal(watching.failed) as told:
        sys.excepthook(ValueError, error, error.__traceback__)
    assert told.args is not None
    report = told.args[0]
    assert report.summary == "ValueError: odd"
    assert report.path == reports_in(tmp_path)[0]
    text = report.path.read_text("utf-8")
    assert text == report.text
    assert f"qcowgui {__version__}" in text
    assert "test_diagnostics.py" in text
    assert "numpy" in text
    assert "Qt platform: offscreen" in text
    assert report.path.stat().st_mode & 0o777 == 0o600


def test_each_mistake_is_told_once_and_not_without_end(
    watching: Diagnostics, tmp_path: Path
) -> None:
    told: list[Report] = []
    watching.failed.connect(told.append)
    for number in range(MAX_TOLD + 10):
        for _ in range(2):
            error = raised(ValueError(str(number)))
            sys.excepthook(ValueError, error, error.__traceback__)
    assert len(told) == MAX_TOLD
    assert len(reports_in(tmp_path)) == MAX_SAVED
    assert [report.path is not None for report in told[:7]] == [True] * 5 + [False] * 2


def test_an_exception_in_a_thread_is_told_too(watching: Diagnostics, qtbot: QtBot) -> None:
    def fail() -> None:
        raise KeyError("deep")

    thread = threading.Thread(target=fail)
    with qtbot.waitSignal(watching.failed) as told:
        thread.start()
    thread.join()
    assert told.args is not None
    assert told.args[0].summary == "KeyError: 'deep'"


def test_ctrl_c_is_no_mistake(watching: Diagnostics) -> None:
    told: list[Report] = []
    watching.failed.connect(told.append)
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert told == []


def test_a_report_holds_nothing_of_a_file() -> None:
    secret = b"password=hunter2'\"\\"
    for error in (
        KeyError(secret),
        ValueError(f"bad entry {secret!r} here"),
        ValueError(f"bad entry {bytearray(secret)!r}"),
    ):
        text = exception_text(raised(error))
        assert "hunter2" not in text.rsplit("\n", 1)[-1]
        assert "b'…'" in text


def test_what_libraries_and_qt_say_goes_into_the_log(
    watching: Diagnostics, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    lines: list[tuple[str, bool]] = []
    watching.noted.connect(lambda text, problem: lines.append((text, problem)))
    qWarning("from Qt")
    logging.getLogger("some.library").warning("from %s", "Python")
    logging.getLogger("some.library").info("nothing")
    assert lines == [("from Qt", True), ("some.library: from Python", True)]
    assert capsys.readouterr().err == "from Qt\n"
    assert caplog.records


def test_everything_is_as_it_was_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    before = sys.excepthook, threading.excepthook, list(logging.getLogger().handlers)
    watching = Diagnostics()
    watching.install()
    assert sys.excepthook != before[0]
    watching.remove()
    assert (sys.excepthook, threading.excepthook, logging.getLogger().handlers) == before
    assert list((tmp_path / "qcowgui" / "reports").iterdir()) == []


def test_without_a_home_mistakes_are_told_all_the_same(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_home() -> Path:
        raise RuntimeError("there is no home")

    monkeypatch.setattr(module, "state_folder", no_home)
    monkeypatch.setattr(sys, "excepthook", lambda *_: None)
    watching = Diagnostics()
    watching.install()
    error = raised(ValueError("odd"))
    with qtbot.waitSignal(watching.failed) as told:
        sys.excepthook(ValueError, error, error.__traceback__)
    watching.remove()
    assert told.args is not None
    assert told.args[0].path is None
    assert watching.tell_of_last_time() == []


def test_only_the_latest_reports_are_kept(tmp_path: Path) -> None:
    reports = CrashReports(tmp_path)
    for number in range(MAX_REPORTS + 3):
        path = reports.save(f"{number}")
        assert path is not None
        os.utime(path, (number, number))
    kept = sorted(int(path.read_text()) for path in tmp_path.iterdir())
    assert kept == list(range(3, MAX_REPORTS + 3))


def test_a_name_that_is_no_text_can_be_reported(tmp_path: Path) -> None:
    path = CrashReports(tmp_path).save("in /a/\udcff.qcow2")
    assert path is not None
    assert path.read_text("utf-8") == r"in /a/\udcff.qcow2"


def test_where_nothing_can_be_written_there_is_no_report(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    reports = CrashReports(tmp_path / "file")
    assert reports.save("text") is None
    assert reports.open_trace() is None
    assert reports.take_left() == []
    reports.close_trace()


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL])
def test_a_crash_is_reported_at_the_next_start(tmp_path: Path, number: signal.Signals) -> None:
    code = (
        "import faulthandler, os, sys; from pathlib import Path\n"
        "from qcowgui.gui.crash_reports import CrashReports\n"
        "trace = CrashReports(Path(sys.argv[1])).open_trace()\n"
        "faulthandler.enable(trace)\n"
        "def deep(): os.kill(os.getpid(), int(sys.argv[2]))\n"
        "deep()\n"
    )
    reports = CrashReports(tmp_path)
    own = reports.open_trace()  # of a process that lives
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), str(int(number))],
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert run.returncode == -number, run.stderr
    left = reports.take_left()
    if number is signal.SIGKILL:  # from outside: there is nothing to say
        assert left == []
    else:
        (report,) = left
        assert report.summary.startswith("Fatal Python error: ")
        assert "in deep" in report.text
        assert report.path is not None
        assert report.path.read_text() == report.text
    assert reports.take_left() == []
    assert own is not None
    assert not own.closed
    reports.close_trace()
    assert [path.suffix for path in tmp_path.iterdir() if path.name.startswith("running")] == []


def test_the_banner_offers_the_report(qtbot: QtBot, theme: Theme, tmp_path: Path) -> None:
    notices = WindowNotices(theme)
    qtbot.addWidget(notices.banner)
    path = tmp_path / "report-1.txt"
    text = report_text("ValueError: odd")
    notices.tell_of_crashes([])
    assert not notices.banner.isVisible()
    notices.tell_of_crashes([Report("older", "older", None), Report("odd", text, path)])
    assert "ended unexpectedly" in notices.banner.title
    assert str(path) in notices.banner.text
    buttons = {found.text(): found for found in notices.banner.findChildren(QPushButton)}
    buttons["Copy details"].click()
    assert QGuiApplication.clipboard().text() == text
    assert "Show in its folder" in buttons


def test_what_is_missing_is_told_together(qtbot: QtBot, theme: Theme) -> None:
    notices = WindowNotices(theme)
    qtbot.addWidget(notices.banner)
    for sentence in ("No fonts.", "No home.", "No fonts."):
        notices.tell_of_lack(sentence)
    assert notices.banner.text == "No fonts.\nNo home."


def test_the_log_is_filtered_and_copied(qtbot: QtBot) -> None:
    panel = LogPanel()
    qtbot.addWidget(panel)
    panel.add("disk.qcow2: read")
    panel.add("other.qcow2: lost\nin two lines", problem=True)
    shown = panel.text.toPlainText().splitlines()
    assert [line[10:] for line in shown] == [
        "disk.qcow2: read",
        "! other.qcow2: lost ⏎ in two lines",
    ]
    panel.problems.setChecked(True)
    assert panel.text.toPlainText() == shown[1]
    panel.add("disk.qcow2: read again")
    panel.copy_button.click()
    assert QGuiApplication.clipboard().text() == shown[1]
    panel.problems.setChecked(False)
    panel.filter.setText("AGAIN disk")
    assert panel.text.toPlainText().endswith("disk.qcow2: read again")
    assert len(panel.text.toPlainText().splitlines()) == 1
    panel.filter.clear()
    assert len(panel.text.toPlainText().splitlines()) == 3


def test_diagnostics_can_be_copied(window: MainWindow) -> None:
    window.note("something odd", problem=True)
    window.actions_.copy_diagnostics.trigger()
    text = QGuiApplication.clipboard().text()
    assert "! something odd" in text
    assert f"qcowgui {__version__}" in text
    assert "Qt platform: offscreen" in text
