"""What the command line imports: start-up time, and working where Qt can't be loaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

QT = ("PySide6", "shiboken6", "pyqtgraph", "qtawesome", "qtpy")
QT_WINDOWS = ("PySide6.QtGui", "PySide6.QtWidgets", "pyqtgraph", "qtawesome", "qtpy")


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A zlib-compressed image with a little content."""
    folder = tmp_path_factory.mktemp("start-up")
    raw = folder / "content.raw"
    raw.write_bytes(b"content " * 32768)
    path = folder / "image.qcow2"
    subprocess.run(["qemu-img", "convert", "-f", "raw", "-O", "qcow2", "-c", raw, path], check=True)
    return str(path)


def imported_by(*arguments: str) -> set[str]:
    """The modules that `qcowgui` with these arguments imports until it ends well."""
    run = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "qcowgui", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    lines = [line for line in run.stderr.splitlines() if line.startswith("import time:")]
    names = {line.rpartition("|")[2].strip() for line in lines}
    assert "qcowgui.cli.main" in names
    return names


def among(names: set[str], packages: tuple[str, ...]) -> list[str]:
    """Those of the modules that are one of the packages or lie inside one."""
    return sorted(n for n in names if any(n == p or n.startswith(f"{p}.") for p in packages))


@pytest.mark.parametrize("command", ["info", "map", "check"])
def test_looking_at_an_image_imports_no_qt(command: str, image: str) -> None:
    assert among(imported_by(command, image), QT) == []


def test_planning_a_repair_imports_no_qt(image: str) -> None:
    assert among(imported_by("repair", "--plan", image), QT) == []


def test_comparing_imports_no_qt(image: str) -> None:
    assert among(imported_by("compare", image, image), QT) == []


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("convert", "--help")])
def test_asking_for_help_imports_no_qt(arguments: tuple[str, ...]) -> None:
    assert among(imported_by(*arguments), QT) == []


def test_converting_imports_no_windows(image: str, tmp_path: Path) -> None:
    target = tmp_path / "target.raw"
    names = imported_by("convert", "-O", "raw", image, str(target))
    assert target.read_bytes() == b"content " * 32768
    assert among(names, QT_WINDOWS) == []
