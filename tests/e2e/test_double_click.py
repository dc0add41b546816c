"""The program as the desktop starts it: by a double-click, whatever file manager does it.

With QCOWGUI_INSTALLED set it is the one that a package has put into the system: so
packaging/desktop-trial runs these tests. QCOWGUI_PICTURE names a file for a picture of the window.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from qcowgui.desktop import integration
from qcowgui.desktop.places import desktop_files
from tests.e2e.desktop import Desktop, desktop
from tests.e2e.test_real_window import PROJECT, display
from tests.support import oracle
from tests.support.base_images import pattern

__all__ = ["display"]

pytestmark = [pytest.mark.slow, pytest.mark.realwindow]


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Desktop]:
    """A desktop into which this tree is integrated as an installation from elsewhere would be."""
    # A window manager wants a display for itself.
    monkeypatch.delenv("DISPLAY", raising=False)
    with desktop(request.getfixturevalue("display"), tmp_path) as made:
        if not os.environ.get("QCOWGUI_INSTALLED"):
            for name in ("XDG_DATA_HOME", "XDG_STATE_HOME"):
                monkeypatch.delenv(name, raising=False)
            monkeypatch.setenv("HOME", str(made.home))
            program = make_program(tmp_path / "programs")
            integration.integrate(desktop_files([str(program)], {}, thumbnails=False))
        yield made


def make_program(folder: Path) -> Path:
    """This tree as a command, as an installation would make one."""
    folder.mkdir()
    program = folder / "qcowgui"
    program.write_text(
        f"#!/bin/sh\nPYTHONPATH={shlex.quote(str(PROJECT))} "
        f'exec {shlex.quote(sys.executable)} -m qcowgui "$@"\n'
    )
    program.chmod(0o755)
    return program


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """A compressed image with a name that shells would stumble over."""
    raw = tmp_path / "disk.raw"
    raw.write_bytes(pattern(4 << 20))
    path = tmp_path / "images" / "my $disk; it's 100% (1).qcow2"
    path.parent.mkdir()
    oracle.convert(raw, path, "-c", source_format="raw", target_format="qcow2")
    return path


@pytest.mark.parametrize("opener", [["gio", "open"], ["xdg-open"]], ids=["gio", "xdg-open"])
def test_a_double_click_opens_the_image(desk: Desktop, image: Path, opener: list[str]) -> None:
    before = image.read_bytes()
    desk.open(*opener, image)
    window = desk.window(r"my \$disk; it's 100% \(1\)\.qcow2 ")
    assert desk.x("getwindowname", window) == f"{image.name} – qcowgui"
    # By its class a desktop finds the entry, and with it the icon, of a window.
    assert window in desk.x("search", "--onlyvisible", "--class", "^qcowgui$").splitlines()
    desk.close(window)
    assert image.read_bytes() == before


def test_a_drop_converts(desk: Desktop, image: Path, tmp_path: Path) -> None:
    desk.open("gio", "open", image)
    window = desk.window(r"my \$disk")
    target = desk.convert_by_drop(window, image)
    desk.picture(window, Path(os.environ.get("QCOWGUI_PICTURE") or tmp_path / "window.png"))
    desk.close(window)
    assert target.read_bytes() == (tmp_path / "disk.raw").read_bytes()


def test_after_removal_nothing_opens_it(desk: Desktop) -> None:
    assert opening_with(desk) == "qcowgui.desktop"
    integration.remove()
    assert opening_with(desk) == ""


def opening_with(desk: Desktop) -> str:
    """The entry that qcow2 images open with."""
    done = subprocess.run(
        ["xdg-mime", "query", "default", "application/x-qemu-disk"],
        env=desk.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()
