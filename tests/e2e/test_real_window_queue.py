"""The queue in a real window: a dropped folder, a power failure, and the way on from there."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_real_window import display, wait_for
from tests.e2e.test_real_window_inspector import Desk, drop
from tests.support.base_images import pattern
from tests.support.builder import ImageBuilder

__all__ = ["display"]

MIB = 1 << 20
IMAGES = 10
IMAGE_BYTES = 32 * MIB
DONE_BEFORE = 3
"""So many are finished when the power fails."""


@pytest.fixture
def queue_desk(display: str, tmp_path: Path) -> Iterator[Desk]:
    """A desk of somebody whose folders are all new."""
    made = Desk(display, tmp_path)
    made.environment["XDG_STATE_HOME"] = str(tmp_path / "state")
    made.environment["OBSERVED_WRITE_SECONDS"] = "0.04"
    yield made
    made.end()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with ten images, whose names are as people give them, and something else."""
    made = tmp_path / "My VMs %20 ü"
    made.mkdir()
    for number in range(IMAGES):
        builder = ImageBuilder(size=IMAGE_BYTES)
        builder.write(0, pattern(IMAGE_BYTES, seed=number))
        builder.build().write_to(made / f"größe {number}.qcow2")
    (made / "notes.txt").write_text("no image")
    return made


def states(state: dict[str, Any]) -> list[str]:
    """The states of the jobs, from the first to the last."""
    return [name for _, name, _ in state.get("jobs", [])]


def is_in_the_middle(state: dict[str, Any]) -> bool:
    """Whether some are done and one is half way."""
    done = states(state).count("DONE")
    return done >= DONE_BEFORE and any(
        name == "RUNNING" and 0.2 < fraction < 0.7 for _, name, fraction in state["jobs"]
    )


def window_of(desk: Desk) -> str:
    """The window, with the keyboard."""
    found = wait_for(lambda: desk.x("search", "--onlyvisible", "--name", "^qcowgui$"))
    window = found.splitlines()[0]
    desk.x("windowfocus", "--sync", window)
    return window


@pytest.mark.slow
@pytest.mark.realwindow
@pytest.mark.timeout(400)
def test_a_dropped_folder_survives_a_power_failure(
    queue_desk: Desk, folder: Path, tmp_path: Path
) -> None:
    desk, state_file = queue_desk, tmp_path / "state.json"
    sources = sorted(folder.glob("*.qcow2"))
    before = {path: path.read_bytes() for path in sources}
    known = set(folder.iterdir())

    # a folder, dropped where the window says that it converts
    program = desk.start("tests.e2e.observed_queue", state_file, log=tmp_path / "first.log")
    window_of(desk)
    shown = desk.wait_for_state(lambda state: bool(state["convert_zone"]))
    drop(desk, folder, shown["convert_zone"], tmp_path / "source.log")
    desk.wait_for_state(lambda state: state["dialogs"] == ["Convert"] and state["start"])
    form = wait_for(lambda: desk.x("search", "--onlyvisible", "--name", "^Convert"))
    desk.x("windowfocus", "--sync", form.splitlines()[0])
    desk.click(desk.state()["start"])
    desk.wait_for_state(lambda state: len(state["jobs"]) == IMAGES)

    # the power fails in the middle
    desk.wait_for_state(is_in_the_middle)
    program.send_signal(signal.SIGKILL)
    program.wait()
    assert (tmp_path / "first.log").read_text() == ""
    assert len(list(folder.glob(".*.part"))) == 1
    made = [path for path in set(folder.iterdir()) - known if path.name[0] != "."]
    finished = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in made}
    assert len(finished) >= DONE_BEFORE
    state_file.unlink()

    # the next start: what was not finished is there, and what it left is not
    program = desk.start("tests.e2e.observed_queue", state_file, log=tmp_path / "second.log")
    window_of(desk)
    shown = desk.wait_for_state(lambda state: bool(state["resume_all"]))
    assert set(states(shown)) == {"INTERRUPTED"}
    assert len(shown["jobs"]) in (IMAGES - len(finished), IMAGES - len(finished) + 1)
    assert not list(folder.glob(".*"))
    desk.click(shown["resume_all"])
    desk.wait_for_state(
        lambda state: bool(state["jobs"]) and set(states(state)) <= {"RUNNING", "WAITING", "DONE"}
    )
    for _ in range(4):  # wait_for_state alone would not wait as long as a slow machine takes
        try:
            desk.wait_for_state(lambda state: set(states(state)) == {"DONE"})
        except AssertionError:
            continue
        break
    assert set(states(desk.state())) == {"DONE"}
    window = window_of(desk)
    desk.x("windowfocus", "--sync", window)
    desk.x("key", "ctrl+q")
    assert program.wait(timeout=20) == 0
    assert (tmp_path / "second.log").read_text() == ""

    # ten verified files, and not one byte beside them
    made = sorted(set(folder.iterdir()) - known)
    assert len(made) == IMAGES, made
    for path, (inode, mtime_ns) in finished.items():  # not made a second time
        assert (path.stat().st_ino, path.stat().st_mtime_ns) == (inode, mtime_ns)
    for source in sources:
        assert source.read_bytes() == before[source]
    for target in made:
        number = target.stem.split()[1].split("-")[0]
        qemu("compare", folder / f"größe {number}.qcow2", target)
        if target.suffix == ".qcow2":
            qemu("check", target)


def qemu(command: str, *arguments: str | Path) -> None:
    """qemu-img, which must be content."""
    run = subprocess.run(
        ["qemu-img", command, *arguments], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.slow
@pytest.mark.realwindow
def test_a_file_goes_in_and_its_result_out(queue_desk: Desk, tmp_path: Path) -> None:
    """Dropped on the left it is shown, on the right converted; the result is dragged out again."""
    desk = queue_desk
    builder = ImageBuilder(size=MIB)
    builder.write(0, pattern(1 << 19))
    image = builder.build().write_to(tmp_path / "a %20 ü.qcow2")
    log = tmp_path / "program.log"
    program = desk.start("tests.e2e.observed_queue", tmp_path / "state.json", log=log)
    window = window_of(desk)
    shown = desk.wait_for_state(lambda state: bool(state["convert_zone"]))
    drop(desk, image, shown["inspect_zone"], tmp_path / "source.log")
    desk.wait_for_state(lambda state: state["tabs"] == [image.name])
    assert "Drop to inspect" in desk.state()["drop_texts_seen"]
    assert desk.state()["jobs"] == []

    drag_on(desk, desk.state()["convert_zone"])
    desk.wait_for_state(lambda state: state["dialogs"] == ["Convert"] and state["start"])
    assert "Drop to convert" in desk.state()["drop_texts_seen"]
    desk.click(desk.state()["start"])
    shown = desk.wait_for_state(
        lambda state: states(state) == ["DONE"] and bool(state["row_icons"][0])
    )
    target = shown["jobs"][0][0]
    drag(desk, shown["row_icons"][0], shown["inspect_zone"])
    desk.wait_for_state(lambda state: state["tabs"] == [image.name, target])
    desk.x("windowfocus", "--sync", window)
    desk.x("key", "ctrl+q")
    assert program.wait(timeout=20) == 0
    assert log.read_text() == ""


def drag_on(desk: Desk, target: tuple[int, int]) -> None:
    """Drag the file once more from the window that `drop` has opened."""
    source = desk.x("search", "--onlyvisible", "--name", "^drag source$").splitlines()[0]
    place = desk.x("getwindowgeometry", "--shell", source).splitlines()
    corner = dict(line.split("=", 1) for line in place)
    drag(desk, (int(corner["X"]) + 60, int(corner["Y"]) + 60), target)


def drag(desk: Desk, start: tuple[int, int], target: tuple[int, int]) -> None:
    """Press the button at `start`, move on, and let go at `target`."""
    desk.x("mousemove", *start)
    desk.x("mousedown", 1)
    for step in range(1, 11):
        left, down = (
            first + (last - first) * step // 10 for first, last in zip(start, target, strict=True)
        )
        desk.x("mousemove", left, down)
        time.sleep(0.1)  # a hand; the windows below are asked at each step
    desk.x("mouseup", 1)
