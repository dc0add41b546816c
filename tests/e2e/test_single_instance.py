"""Starts that meet: real processes, a real window, a window manager."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.desktop import Desktop, desktop
from tests.e2e.test_real_window import PROJECT, display, wait_for
from tests.support.base_images import pattern
from tests.support.builder import ImageBuilder

__all__ = ["display"]

pytestmark = [pytest.mark.slow, pytest.mark.realwindow]

ANY = r".*qcowgui$"


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Desktop]:
    """A desktop whose user has a home and a runtime folder."""
    monkeypatch.delenv("DISPLAY", raising=False)  # a window manager wants one for itself
    with desktop(request.getfixturevalue("display"), tmp_path) as made:
        yield made


@pytest.fixture
def images(tmp_path: Path) -> list[Path]:
    """Three images; desktops take the last one for a raw disk by its name."""
    builder = ImageBuilder(size=1 << 20)
    builder.write(0, pattern(1 << 16))
    built = builder.build()
    return [built.write_to(tmp_path / name) for name in ("one.qcow2", "zwei ü.qcow2", "disk.img")]


def start(desk: Desktop, *words: str | Path) -> subprocess.Popen[bytes]:
    """Start the program as a desktop does, in a folder of its own."""
    program = subprocess.Popen(
        [sys.executable, "-m", "qcowgui", *map(str, words)],
        cwd=desk.home,
        env={**desk.environment, "PYTHONPATH": str(PROJECT)},
        stdin=subprocess.DEVNULL,
    )
    desk._programs.append(program)
    return program


def windows(desk: Desktop) -> list[str]:
    """The titles of the program's windows."""
    found = desk.x("search", "--onlyvisible", "--name", ANY).split()
    return [desk.x("getwindowname", window) for window in found]


def test_a_second_start_hands_over_and_ends(desk: Desktop, images: list[Path]) -> None:
    first = start(desk, images[0])
    window = desk.window("one.qcow2")
    desk.x("windowminimize", "--sync", window)
    # A relative name means the folder of the start that it was given to.
    second = start(desk, os.path.relpath(images[1], desk.home))
    assert second.wait(timeout=30) == 0
    wait_for(lambda: desk.x("search", "--onlyvisible", "--name", "^zwei ü"))
    assert windows(desk) == ["zwei ü.qcow2 – qcowgui"]
    assert desk.process_of(window) == first.pid
    wait_for(lambda: "yes" if desk.x("getactivewindow") == window else "")
    # Without files a start only brings the window to the front.
    assert start(desk).wait(timeout=30) == 0
    # A qcow2 image is one, whatever it is called.
    assert start(desk, images[2]).wait(timeout=30) == 0
    wait_for(lambda: desk.x("search", "--onlyvisible", "--name", "^disk.img"))
    assert first.poll() is None
    desk.x("windowactivate", "--sync", window)
    desk.x("key", "ctrl+q")
    assert first.wait(timeout=30) == 0


def test_a_new_window_is_one_when_it_is_asked_for(desk: Desktop, images: list[Path]) -> None:
    start(desk, images[0])
    desk.window("one.qcow2")
    second = start(desk, images[1], "--new-window")
    assert desk.process_of(desk.window("zwei ü.qcow2")) == second.pid
    assert sorted(windows(desk)) == ["one.qcow2 – qcowgui", "zwei ü.qcow2 – qcowgui"]


def test_after_a_kill_the_next_start_is_the_first(desk: Desktop, images: list[Path]) -> None:
    killed = start(desk, images[0])
    desk.window("one.qcow2")
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    first = start(desk, images[1])
    assert desk.process_of(desk.window("zwei ü.qcow2")) == first.pid
    assert start(desk, images[2]).wait(timeout=30) == 0
    desk.window("disk.img")


def test_a_window_that_hangs_holds_no_start_up(desk: Desktop, images: list[Path]) -> None:
    hanging = start(desk, images[0])
    desk.window("one.qcow2")
    hanging.send_signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        second = start(desk, images[1])
        found = wait_for(lambda: desk.x("search", "--onlyvisible", "--name", "^zwei ü"))
        assert time.monotonic() - began < 20
        assert desk.process_of(found.splitlines()[-1]) == second.pid
    finally:
        hanging.send_signal(signal.SIGCONT)
    # What was not handed over is not opened later.
    time.sleep(1)
    assert sorted(windows(desk)) == ["one.qcow2 – qcowgui", "zwei ü.qcow2 – qcowgui"]
