"""The inspector in a real window: mouse, keyboard and a drop, all of them from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_real_window import PROJECT, display, wait_for
from tests.support.base_images import pattern
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage

__all__ = ["display"]

CLUSTER = 1 << 16
GUEST_CLUSTER = 3


class Desk:
    """A display, the program on it, and the hands of whoever uses it."""

    def __init__(self, display: str, folder: Path) -> None:
        self.environment = {
            **os.environ,
            "DISPLAY": display,
            "QT_QPA_PLATFORM": "xcb",
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder / "config"),
        }
        self._state = folder / "state.json"
        self._programs: list[subprocess.Popen[bytes]] = []

    def start(
        self, module: str, *arguments: str | Path | int, log: Path
    ) -> subprocess.Popen[bytes]:
        """Start a program of the tests."""
        with log.open("wb") as output:
            program = subprocess.Popen(
                [sys.executable, "-m", module, *map(str, arguments)],
                cwd=PROJECT,
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self._programs.append(program)
        return program

    def x(self, *arguments: str | int) -> str:
        """Run xdotool; what it prints."""
        run = subprocess.run(
            ["xdotool", *map(str, arguments)],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return run.stdout.strip()

    def state(self) -> dict[str, Any]:
        """What the window shows now; empty before it shows anything."""
        return dict(json.loads(self._state.read_text())) if self._state.exists() else {}

    def wait_for_state(self, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """What the window shows once `condition` holds."""
        found: dict[str, Any] = {}

        def look() -> str:
            found.clear()
            found.update(self.state())
            return "yes" if found and condition(found) else ""

        try:
            wait_for(look)
        except AssertionError:
            shown = {key: value for key, value in found.items() if key != "cells"}
            raise AssertionError(f"the window shows {shown}") from None
        return found

    def click(self, place: tuple[int, int]) -> None:
        """Click with the left button."""
        self.x("mousemove", *place)
        self.x("click", 1)

    def end(self) -> None:
        """End what still runs."""
        for program in self._programs:
            if program.poll() is None:
                program.kill()
                program.wait()


@pytest.fixture
def desk(display: str, tmp_path: Path) -> Iterator[Desk]:
    """A desk that is tidied up."""
    made = Desk(display, tmp_path)
    yield made
    made.end()


def image() -> BuiltImage:
    """Eight guest clusters of data."""
    builder = ImageBuilder(size=1 << 20)
    builder.write(0, pattern(1 << 19))
    return builder.build()


@pytest.mark.slow
@pytest.mark.realwindow
def test_a_cell_an_offset_and_a_drop(desk: Desk, tmp_path: Path) -> None:
    built = image()
    path = built.write_to(tmp_path / "first.qcow2")
    second = built.write_to(tmp_path / "second image.qcow2")
    before = path.read_bytes()
    l1_table_offset = int.from_bytes(before[40:48], "big")
    l2_table_offset = read_pointer(before, l1_table_offset)
    host_offset = read_pointer(before, l2_table_offset + 8 * GUEST_CLUSTER)
    host_cluster = host_offset // CLUSTER
    log = tmp_path / "program.log"
    program = desk.start("tests.e2e.observed", tmp_path / "state.json", path, log=log)
    window = wait_for(lambda: desk.x("search", "--onlyvisible", "--name", "^first.qcow2 "))
    window = window.splitlines()[0]
    shown = desk.wait_for_state(
        lambda state: (
            state.get("check") == "DONE"
            and state["indexed"]
            and str(host_cluster) in state["cells"]
        )
    )
    desk.x("windowfocus", "--sync", window)

    # a cell of the map: the row of the entry that maps it, and the cluster's bytes
    desk.click(shown["cells"][str(host_cluster)])
    desk.wait_for_state(lambda state: state["host"] == [host_offset, host_offset + CLUSTER])
    desk.x("key", "ctrl+2")  # the table follows when somebody looks at it
    shown = desk.wait_for_state(lambda state: state["row"] == GUEST_CLUSTER)
    assert shown["table"] == "L2 table of L1[0]"
    desk.x("key", "ctrl+4")
    desk.wait_for_state(
        lambda state: state["bytes_seen"] and state["bytes"] == [host_offset, host_offset + CLUSTER]
    )

    # an offset: the sixth entry of the same table
    desk.x("key", "ctrl+g")
    desk.wait_for_state(lambda state: "Go to" in state["dialogs"])
    dialog = wait_for(lambda: desk.x("search", "--onlyvisible", "--name", "^Go to"))
    desk.x("windowfocus", "--sync", dialog.splitlines()[0])
    desk.x("type", f"{l2_table_offset + 8 * 5:#x}")
    desk.x("key", "Return")
    wanted = [l2_table_offset + 40, l2_table_offset + 48]
    shown = desk.wait_for_state(lambda state: state["bytes"] == wanted and state["row"] == 5)
    assert shown["host"] == wanted

    # a file, dropped
    drop(desk, second, shown["middle"], tmp_path / "source.log")
    desk.wait_for_state(lambda state: state["tabs"] == ["first.qcow2", "second image.qcow2"])

    desk.x("windowfocus", "--sync", window)
    desk.x("key", "ctrl+q")
    assert program.wait(timeout=20) == 0
    assert log.read_text() == ""
    assert path.read_bytes() == before


def drop(desk: Desk, file: Path, target: tuple[int, int], log: Path) -> None:
    """Drag a file from a window of another program, and let it go at `target`."""
    desk.start("tests.e2e.drag_source", file, 0, 0, log=log)
    source = wait_for(lambda: desk.x("search", "--onlyvisible", "--name", "^drag source$"))
    place = desk.x("getwindowgeometry", "--shell", source.splitlines()[0]).splitlines()
    corner = dict(line.split("=", 1) for line in place)
    x, y = int(corner["X"]) + 60, int(corner["Y"]) + 60
    desk.x("mousemove", x, y)
    desk.x("mousedown", 1)
    for step in range(1, 11):
        left = x + (target[0] - x) * step // 10
        down = y + (target[1] - y) * step // 10
        desk.x("mousemove", left, down)
        time.sleep(0.1)  # a hand; the windows below are asked at each step
    desk.x("mouseup", 1)


def read_pointer(data: bytes, offset: int) -> int:
    """The host offset in the table entry at `offset`."""
    return int.from_bytes(data[offset : offset + 8], "big") & 0x00FF_FFFF_FFFF_FE00
