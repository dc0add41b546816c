"""What the window's tests share: opening, waiting, answering questions."""

from __future__ import annotations

import random
from pathlib import Path

from PySide6.QtWidgets import QAbstractButton, QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from qcowgui.convert.options import ConvertOptions
from qcowgui.gui.jobs import Job, JobController, JobState
from qcowgui.gui.main_window import MainWindow


def open_image(window: MainWindow, qtbot: QtBot, *paths: Path) -> None:
    """Open images and wait until they are there."""
    window.open_paths(paths)
    qtbot.waitUntil(lambda: not window.loader.active)


def state_of(job: Job) -> JobState:
    """The state now: a type checker takes an attribute that was looked at for unchanged."""
    return job.state


def wait_for(qtbot: QtBot, controller: JobController, job: Job) -> None:
    """Wait until a job has ended and the controller has noticed."""
    qtbot.waitUntil(lambda: job.state.ended, timeout=20_000)
    qtbot.waitUntil(lambda: not controller.active, timeout=20_000)


def begin(qtbot: QtBot, controller: JobController, options: ConvertOptions) -> Job:
    """A Job that has begun to convert."""
    job = controller.start(options)
    qtbot.waitUntil(
        lambda: job.progress is not None and job.progress.done_bytes > 0, timeout=20_000
    )
    return job


def open_question() -> QMessageBox:
    """The question that waits for a person."""
    boxes = [
        widget
        for widget in QApplication.topLevelWidgets()
        if isinstance(widget, QMessageBox) and widget.isVisible()
    ]
    assert len(boxes) == 1, boxes
    return boxes[0]


def button(box: QMessageBox, text: str) -> QAbstractButton:
    """The button of `box` with this text."""
    found = [found for found in box.buttons() if found.text().replace("&", "") == text]
    assert len(found) == 1, [found.text() for found in box.buttons()]
    return found[0]


def slow_source(folder: Path) -> Path:
    """A raw disk that takes seconds to compress with zlib and no time to make."""
    path = folder / "slow.raw"
    # Two random bits a byte: deflate has no harder work, while noise it soon gives up on.
    block = bytes(byte & 3 for byte in random.Random(1).randbytes(1 << 20))
    with path.open("wb") as file:
        for _ in range(96):
            file.write(block)
    return path
