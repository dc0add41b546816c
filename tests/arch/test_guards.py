"""The guards in conftest.py: a test that leaves something behind fails, a tidy one does not."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

CONFTEST: Final = Path(__file__).parents[1] / "conftest.py"

UNTIDY: Final = """
import logging, threading, warnings
from PySide6.QtCore import QRunnable, QThreadPool, QTimer, qWarning

kept = []
release = threading.Event()

class Work(QRunnable):
    def run(self):
        release.wait(20)

def test_thread():
    threading.Thread(target=release.wait, args=(20,), daemon=True).start()

def test_pool():
    pool = QThreadPool()
    kept.append(pool)
    pool.start(Work())

def test_global_pool():
    QThreadPool.globalInstance().start(Work())

def test_timer(qapp):
    timer = QTimer()
    kept.append(timer)
    timer.start(100000)

def test_log_line():
    logging.getLogger("x").warning("odd")

def test_warning():
    warnings.warn("odd")

def test_qt_warning(qapp):
    qWarning("odd")

def teardown_module():
    release.set()
    QThreadPool.globalInstance().waitForDone()
    [thing.waitForDone() for thing in kept if isinstance(thing, QThreadPool)]
    kept.clear()
"""

TIDY: Final = """
import logging, os, subprocess, threading, time
import pytest
from PySide6.QtCore import QRunnable, QSettings, QThreadPool, QTimer

class Work(QRunnable):
    def run(self):
        time.sleep(0.05)

def test_thread_that_ends():
    threading.Thread(target=time.sleep, args=(0.05,)).start()

def test_pool_that_ends():
    pool = QThreadPool()
    pool.start(Work())
    assert pool.waitForDone(5000)

def test_timer_of_a_closed_widget(qtbot):
    from PySide6.QtWidgets import QWidget
    widget = QWidget()
    qtbot.addWidget(widget)
    QTimer(widget).start(100000)

def test_log_line_that_is_looked_at(caplog):
    logging.getLogger("x").warning("odd")
    assert caplog.messages == ["odd"]

@pytest.mark.realwindow
def test_display_for_real_windows():
    size = subprocess.check_output(["xdotool", "getdisplaygeometry"], text=True)
    assert size.split() == ["1600", "1000"]
    assert os.environ["QT_QPA_PLATFORM"] == "xcb"

def test_no_display_for_others():
    assert os.environ["QT_QPA_PLATFORM"] == "offscreen"

def test_settings_one(qapp):
    QSettings("qcowgui", "guards").setValue("seen", 1)

def test_settings_two(qapp, tmp_path_factory):
    settings = QSettings("qcowgui", "guards")
    assert settings.value("seen") is None
    base = str(tmp_path_factory.getbasetemp())
    assert settings.fileName().startswith(base)
    assert os.environ["XDG_CONFIG_HOME"].startswith(base)
"""


def run_suite(folder: Path, source: str) -> dict[str, set[str]]:
    """The outcomes of a test module beside a copy of conftest.py: outcome to test names.

    A guard speaks when its test is torn down, so its complaint counts as an error, not a failure.
    """
    shutil.copy(CONFTEST, folder)
    (folder / "test_sample.py").write_text(source)
    (folder / "pytest.ini").write_text(
        "[pytest]\nfilterwarnings = error\nqt_api = pyside6\nqt_log_level_fail = WARNING\n"
        "markers = realwindow\n"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", "-c", "pytest.ini"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    outcomes: dict[str, set[str]] = {"PASSED": set(), "FAILED": set(), "ERROR": set()}
    for outcome, name in re.findall(
        r"^(PASSED|FAILED|ERROR) test_sample\.py::(\w+)", run.stdout, re.MULTILINE
    ):
        outcomes[outcome].add(name)
    assert any(outcomes.values()), run.stdout + run.stderr
    return outcomes


@pytest.mark.slow
def test_untidy_tests_fail(tmp_path: Path) -> None:
    outcomes = run_suite(tmp_path, UNTIDY)
    assert outcomes["FAILED"] == {"test_warning", "test_qt_warning"}
    # pytest-qt says it once more when the test is torn down.
    assert outcomes["ERROR"] - {"test_qt_warning"} == {
        "test_thread",
        "test_pool",
        "test_global_pool",
        "test_timer",
        "test_log_line",
    }


def test_tidy_tests_pass(tmp_path: Path) -> None:
    outcomes = run_suite(tmp_path, TIDY)
    assert outcomes["ERROR"] == outcomes["FAILED"] == set()
    assert len(outcomes["PASSED"]) == TIDY.count("\ndef test_")
