"""The program in a real window, handled from outside as a user does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from tests.support.base_images import rich

PROJECT = Path(__file__).parents[2]
TITLE = "real window.qcow2 – qcowgui"


def wait_for(condition: Callable[[], str], *, seconds: float = 30) -> str:
    """What `condition` gives, once it gives something."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("nothing happened in time")


@pytest.fixture
def display(tmp_path: Path) -> Iterator[str]:
    """A display: the one that packaging/test started, else one of this test's own."""
    given = os.environ.get("DISPLAY")
    if given:
        yield given
        return
    number = tmp_path / "display"
    with number.open("wb") as file:
        server = subprocess.Popen(
            ["Xvfb", "-displayfd", "1", "-screen", "0", "1600x1000x24", "-nolisten", "tcp"],
            stdout=file,
            stderr=subprocess.DEVNULL,
        )
    try:
        yield ":" + wait_for(lambda: number.read_text().strip())
    finally:
        server.terminate()
        server.wait()


@pytest.mark.slow
@pytest.mark.realwindow
def test_a_window_opens_shows_the_image_and_closes_by_keyboard(
    display: str, tmp_path: Path
) -> None:
    (tmp_path / "base.raw").write_bytes(bytes(1 << 16))
    image = rich().write_to(tmp_path / "real window.qcow2")
    before = image.read_bytes()
    environment = {**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}

    def x(*arguments: str) -> str:
        run = subprocess.run(
            ["xdotool", *arguments], env=environment, capture_output=True, text=True, check=False
        )
        return run.stdout.strip()

    with (tmp_path / "program.log").open("wb") as log:
        program = subprocess.Popen(
            [sys.executable, "-m", "qcowgui", str(image)],
            cwd=PROJECT,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        window = wait_for(lambda: x("search", "--onlyvisible", "--name", f"^{TITLE}$"))
        window = window.splitlines()[0]
        assert x("getwindowname", window) == TITLE
        picture = tmp_path / "window.png"
        wait_for(lambda: take_picture(environment, window, picture))
        x("windowfocus", "--sync", window)
        x("key", "ctrl+q")
        assert program.wait(timeout=20) == 0
    finally:
        if program.poll() is None:
            program.kill()
            program.wait()
    assert (tmp_path / "program.log").read_text() == ""
    assert image.read_bytes() == before


def take_picture(environment: dict[str, str], window: str, target: Path) -> str:
    """Take a picture of the window; an empty text until it shows more than its background."""
    assert shutil.which("import"), "ImageMagick's import takes the picture"
    subprocess.run(
        ["import", "-window", window, str(target)],
        env=environment,
        check=True,
        capture_output=True,
    )
    image = QImage(str(target))
    colours = {
        image.pixelColor(x, y).name()
        for x in range(0, image.width(), 9)
        for y in range(0, image.height(), 9)
    }
    return str(target) if len(colours) > 20 else ""
