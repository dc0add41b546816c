"""`qcowgui demo`: what it makes is what it says, and it replaces nothing unasked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from qcowgui.cli import window
from qcowgui.cli.main import run
from qcowgui.convert import samples
from qcowgui.errors import ExitCode, QcowError
from tests.support import oracle

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a demo that ran where no display is, and what it printed."""
    folder = tmp_path_factory.mktemp("demo") / "out"
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    environment.pop("DISPLAY", None)
    done = subprocess.run(
        [sys.executable, "-m", "qcowgui", "demo", "--out", str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_the_images_are_what_their_names_say(made: tuple[Path, str]) -> None:
    folder, _ = made
    raw = oracle.guest_sha256(folder / "sample.raw", image_format="raw")
    for name, kind in (("healthy", "zlib"), ("zlib", "zlib"), ("zstd", "zstd")):
        path = folder / f"{name}.qcow2"
        assert oracle.check(path).is_clean
        assert oracle.guest_sha256(path) == raw
        assert oracle.info(path)["format-specific"]["data"]["compression-type"] == kind
    assert not oracle.check(folder / "damaged.qcow2").is_clean
    assert (folder / "zlib.qcow2").stat().st_size < (folder / "healthy.qcow2").stat().st_size


def test_report_picture_and_figures(made: tuple[Path, str]) -> None:
    folder, printed = made
    report = {
        Path(item["filename"]).name: item
        for item in json.loads((folder / "report.json").read_text(encoding="ascii"))
    }
    codes = {item["code"] for item in report["damaged.qcow2"]["qcowgui"]["findings"]}
    assert {"corrupt", "structure-overlap"} <= codes
    assert report["healthy.qcow2"]["qcowgui"]["findings"] == []
    assert (folder / "window.png").read_bytes().startswith(b"\x89PNG\r\n")
    assert "zlib.qcow2  zstd.qcow2" in printed
    assert "No window was opened" in printed


def test_files_of_an_earlier_demo_are_kept(tmp_path: Path, capsys: Capture) -> None:
    kept = tmp_path / "zlib.qcow2"
    kept.write_bytes(b"precious")
    assert run(["demo", "--out", str(tmp_path)]) == ExitCode.FAILED
    assert "--force" in capsys.readouterr().err
    assert kept.read_bytes() == b"precious"


def test_a_folder_that_cannot_be_made(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "file").touch()
    assert run(["demo", "--out", str(tmp_path / "file" / "sub")]) == ExitCode.FAILED
    assert "can't be used: Not a directory" in capsys.readouterr().err


def test_the_sample_is_the_same_each_time(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    samples.write_sample(one)
    samples.write_sample(other)
    assert one.read_bytes() == other.read_bytes()
    assert one.stat().st_blocks * 512 < one.stat().st_size


def test_where_a_display_is_the_window_shows_the_images(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []

    def note(images: list[str]) -> int:
        shown.extend(Path(image).name for image in images)
        return 0

    monkeypatch.setattr(window, "has_visible_display", lambda: True)
    monkeypatch.setattr(window, "open_window", note)
    assert run(["demo", "--out", str(tmp_path)]) == 0
    assert shown == ["healthy.qcow2", "zlib.qcow2", "zstd.qcow2", "damaged.qcow2"]
    assert not (tmp_path / "window.png").exists()


@pytest.mark.parametrize(
    ("platform", "variables", "display", "visible"),
    [
        ("linux", {}, False, False),
        ("linux", {"DISPLAY": ":0"}, True, True),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, True, True),
        ("linux", {"QT_QPA_PLATFORM": "offscreen"}, True, False),
        ("linux", {"DISPLAY": ""}, False, False),
        ("win32", {}, True, True),
        ("darwin", {}, True, True),
    ],
)
def test_where_a_window_can_open(
    platform: str,
    variables: dict[str, str],
    display: bool,
    visible: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert window.has_display() is display
    assert window.has_visible_display() is visible


def test_qt_that_does_not_load_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "qcowgui.gui.app", None)
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    with pytest.raises(QcowError, match="the window can't be loaded"):
        window.open_window(())
    with pytest.raises(QcowError, match="the window can't be loaded"):
        window.screenshot([], Path("unused.png"))
