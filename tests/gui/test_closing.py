"""Closing a window in which something runs."""

from __future__ import annotations

import time
from pathlib import Path

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from qcowgui.convert.options import ConvertOptions
from qcowgui.gui.jobs import JobState
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.queue_store import QueueStore, SavedJob, read_jobs
from tests.gui.support import begin, button, open_question, state_of


def test_closing_while_converting_asks_once(
    window: MainWindow, qtbot: QtBot, slow_options: ConvertOptions
) -> None:
    job = begin(qtbot, window.controller, slow_options)
    assert not window.close()
    assert not window.close()
    question = open_question()
    assert question.text() == "1 conversion is not finished yet."
    assert question.informativeText() == "What is cancelled leaves nothing behind."
    button(question, "Keep the window open").click()
    assert window.isVisible()
    assert state_of(job) is JobState.RUNNING
    window.close()
    began = time.monotonic()
    button(open_question(), "Cancel and close").click()
    assert time.monotonic() - began < 0.2  # it waits in the event loop, not here
    assert not window.isVisible()
    qtbot.waitUntil(lambda: not window.controller.active)
    assert state_of(job) is JobState.CANCELLED
    assert list(slow_options.source.parent.iterdir()) == [slow_options.source]
    assert not [w for w in QApplication.topLevelWidgets() if w.isVisible()]


def test_closing_with_a_paused_conversion_cancels_it(
    window: MainWindow, qtbot: QtBot, slow_options: ConvertOptions
) -> None:
    job = begin(qtbot, window.controller, slow_options)
    window.controller.pause(job)
    window.close()
    button(open_question(), "Cancel and close").click()
    qtbot.waitUntil(lambda: not window.controller.active, timeout=5_000)
    assert state_of(job) is JobState.CANCELLED
    assert list(slow_options.source.parent.iterdir()) == [slow_options.source]


def test_what_is_cancelled_by_closing_comes_back(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, slow_options: ConvertOptions
) -> None:
    window.controller.remember_in(QueueStore(tmp_path / "state"))
    qtbot.waitUntil(lambda: not window.controller.active)
    job = begin(qtbot, window.controller, slow_options)
    other = ConvertOptions(slow_options.source, tmp_path / "other.raw")
    window.controller.start(other)
    window.close()
    question = open_question()
    assert question.text() == "2 conversions are not finished yet."
    assert "resumed at the next start" in question.informativeText()
    button(question, "Cancel and close").click()
    qtbot.waitUntil(lambda: not window.controller.active)
    assert state_of(job) is JobState.CANCELLED
    assert not list(tmp_path.glob(".*.part"))
    kept = read_jobs(tmp_path / "state" / "queue-1.json")
    assert kept == [SavedJob(slow_options), SavedJob(other)]


def test_interrupted_conversions_ask_nothing(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, data_image: Path
) -> None:
    store = QueueStore(tmp_path / "state")
    store.open()
    kept = [SavedJob(ConvertOptions(data_image, data_image.with_name("x.raw")))]
    store.write(kept)
    store.close()
    window.controller.remember_in(QueueStore(tmp_path / "state"))
    qtbot.waitUntil(lambda: len(window.controller.jobs) == 1)
    qtbot.waitUntil(lambda: not window.controller.active)
    assert window.close()
    assert read_jobs(tmp_path / "state" / "queue-1.json") == kept


def test_closing_at_once_waits_until_the_queue_is_read(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window.controller.remember_in(QueueStore(tmp_path / "state"))
    assert not window.close()
    assert not window.isVisible()
    qtbot.waitUntil(lambda: not window.controller.active)
    assert window.close()


def test_closing_while_a_file_is_read_waits_for_it(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    window.open_paths([data_image])
    assert not window.close()
    assert not window.isVisible()
    qtbot.waitUntil(lambda: not window.loader.active)
    assert window.close()
