"""What holds for every test: no display, no settings of the user's, nothing left running."""

from __future__ import annotations

import gc
import logging
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeVar

import hypothesis
import pytest
from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    QObject,
    QSettings,
    QThread,
    QThreadPool,
    QTimer,
)
from shiboken6 import isValid

# Read when the QApplication is made; a process has one, so those of real windows are others.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

Q = TypeVar("Q", bound=QObject)

GRACE_SECONDS: Final = 2.0
"""How long a thread may take to end after its test."""

_CONFIG_VARIABLES: Final = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")

# A deadline measures the machine's load. The examples of a CI run must not depend on luck.
hypothesis.settings.register_profile(
    "qcowgui", deadline=None, derandomize="CI" in os.environ, print_blob=True
)
hypothesis.settings.load_profile("qcowgui")


@pytest.fixture(scope="session", autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Point this process and those it starts at configuration folders that are nobody's."""
    with pytest.MonkeyPatch.context() as patch:
        for variable in _CONFIG_VARIABLES:
            patch.setenv(variable, str(tmp_path_factory.mktemp(variable.lower())))
        yield


@pytest.fixture(autouse=True)
def _own_settings(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Give each test with a QApplication settings of its own, empty at its start."""
    if "qapp" in request.fixturenames:
        folder = str(tmp_path_factory.mktemp("settings"))
        for settings_format in (QSettings.Format.NativeFormat, QSettings.Format.IniFormat):
            QSettings.setPath(settings_format, QSettings.Scope.UserScope, folder)


@pytest.fixture(scope="session")
def _display(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of an X server's display that this process, out of several, has for itself."""
    log = tmp_path_factory.mktemp("display") / "log"
    command = ["Xvfb", "-displayfd", "1", "-screen", "0", "1600x1000x24", "-nolisten", "tcp"]
    with (
        log.open("w") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as server,
    ):
        assert server.stdout is not None
        number = server.stdout.readline().strip()
        assert number, f"Xvfb does not start: {log.read_text()}"
        yield f":{number}"
        server.terminate()


@pytest.fixture(autouse=True)
def _real_windows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the processes that a test marked realwindow starts show their windows."""
    if request.node.get_closest_marker("realwindow") is None:
        return
    assert "qapp" not in request.fixturenames, "this process's own windows are offscreen"
    monkeypatch.setenv("DISPLAY", request.getfixturevalue("_display"))
    monkeypatch.setenv("QT_QPA_PLATFORM", "xcb")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)


class _LogLines(logging.Handler):
    """Keeps what it is given as text."""

    def __init__(self, level: int) -> None:
        super().__init__(level)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one line. Any thread may call."""
        self.lines.append(f"{record.name}: {record.getMessage()}")


@pytest.fixture(autouse=True)
def _no_log_surprises(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test during which something logged a warning, unless it looks at the log itself."""
    if "caplog" in request.fixturenames:
        yield
        return
    handler = _LogLines(logging.WARNING)
    logging.getLogger().addHandler(handler)
    yield
    logging.getLogger().removeHandler(handler)
    if handler.lines:
        pytest.fail("unexpected log lines: " + "; ".join(handler.lines), pytrace=False)


@pytest.fixture(autouse=True)
def _nothing_left_running(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves a thread, a timer or work on a thread pool behind.

    It is set up before `qtbot`, so it looks after `qtbot` has closed its widgets.
    """
    threads_before = set(threading.enumerate())
    os_threads_before = _os_thread_count()
    uses_qt = "qapp" in request.fixturenames
    timers_before = {id(timer) for timer in _running_timers()} if uses_qt else set()
    yield
    if uses_qt:
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    deadline = time.monotonic() + GRACE_SECONDS
    left = _threads_left(threads_before, deadline)
    # Looking through every object costs some 20 ms: only where there is a reason to.
    if uses_qt or _os_thread_count() != os_threads_before:
        left += _qt_work_left(deadline)
    if uses_qt:
        left += [repr(timer) for timer in _running_timers() if id(timer) not in timers_before]
    if left:
        pytest.fail("left running: " + ", ".join(left), pytrace=False)


def _os_thread_count() -> int:
    """The number of threads the operating system sees, Qt's included; -1 where it does not say."""
    try:
        return sum(1 for _ in Path("/proc/self/task").iterdir())
    except OSError:
        return -1


def _threads_left(before: set[threading.Thread], deadline: float) -> list[str]:
    """Python threads that are not in `before` and don't end until `deadline`.

    A thread of Qt's that has run Python code leaves a _DummyThread behind, which never ends.
    """
    left = []
    for thread in set(threading.enumerate()) - before:
        if isinstance(thread, threading._DummyThread):
            continue
        thread.join(max(0.0, deadline - time.monotonic()))
        if thread.is_alive():
            left.append(repr(thread))
    return left


def _qt_work_left(deadline: float) -> list[str]:
    """Pools with active work and running QThreads, once `deadline` has passed for them."""
    left = [
        f"{pool!r} with {pool.activeThreadCount()} active workers"
        for pool in (QThreadPool.globalInstance(), *_alive(QThreadPool))
        if not pool.waitForDone(_milliseconds_until(deadline))
    ]
    left += [
        repr(thread)
        for thread in _alive(QThread)
        if thread is not QThread.currentThread() and not thread.wait(_milliseconds_until(deadline))
    ]
    return left


def _running_timers() -> list[QTimer]:
    """The active timers that Python code knows."""
    return [timer for timer in _alive(QTimer) if timer.isActive()]


def _alive(kind: type[Q]) -> list[Q]:
    """Every object of a Qt class that has a Python side and whose C++ side still lives."""
    # type() and not isinstance(): a proxy's __class__ may run code.
    return [o for o in gc.get_objects() if issubclass(type(o), kind) and isValid(o)]


def _milliseconds_until(deadline: float) -> int:
    """What is left until a moment of time.monotonic(), not below 0."""
    return max(0, int((deadline - time.monotonic()) * 1000))
