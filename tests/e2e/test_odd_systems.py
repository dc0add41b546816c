"""Systems that lack something: the program starts, shows the image, and says what it misses."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.e2e.test_real_window import PROJECT
from tests.support.base_images import pattern
from tests.support.builder import ImageBuilder

pytestmark = pytest.mark.slow

OFFSCREEN = "This plugin does not support"
"""What Qt's platform without a screen says of every window."""

NOWHERE = "/proc/nowhere"
"""Not even the system's administrator can make anything there."""

TELL = """
    import sys
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication
    from qcowgui.gui import app

    def look():
        found = [w for w in QApplication.topLevelWidgets() if hasattr(w, "loader")]
        if not found or found[0].loader.active or found[0].controller.active:
            QTimer.singleShot(20, look)
            return
        window = found[0]
        print("platform:", QApplication.platformName())
        print("states:", *(view.session.state.name for view in window.views()))
        print("title:", window.notice.title)
        print("notice:", " | ".join(window.notice.text.splitlines()))
        print("log:", " | ".join(line.text[10:] for line in window.log.lines))
        sys.stdout.flush()
        {then}
        window.close()

    class Started(app.Application):
        def __init__(self, arguments):
            super().__init__(arguments)
            QTimer.singleShot(0, look)

    app.Application = Started
    sys.exit(app.main(sys.argv[1:]))
"""
"""The program; when the image is there, it prints what the window says, and closes."""


@pytest.fixture
def image(tmp_path: Path) -> Path:
    builder = ImageBuilder(size=1 << 20)
    builder.write(0, pattern(1 << 16))
    return builder.build().write_to(tmp_path / "disk.img")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A user who has a home of their own and nothing else; without a display."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("XDG_", "LC_", "QT_", "DBUS_", "LANG"))
        and name not in ("DISPLAY", "WAYLAND_DISPLAY", "PYTHONUTF8")
    }
    return kept | {
        "HOME": str(home),
        "PYTHONPATH": str(PROJECT),
        "QT_QPA_PLATFORM": "offscreen",
        "LC_ALL": "C.UTF-8",
        "PYTHONIOENCODING": "utf-8:backslashreplace",  # of what is told here
        "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere",
        # Without a folder for it Python would write none; here it must not write beside the source.
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def run(
    environment: dict[str, str], *words: str | Path, then: str = "pass"
) -> subprocess.CompletedProcess[str]:
    """Run the program and have it tell what it says."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(TELL).format(then=then), *map(str, words)],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=90,
        check=False,
    )


def told(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """What the window said, by kind."""
    assert done.returncode == 0, done.stderr
    lines = (line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line)
    found = {line[0]: line[1] for line in lines}
    assert found["states"] == "READY", done.stdout
    return found


def test_a_usual_system_lacks_nothing(environment: dict[str, str], image: Path) -> None:
    done = run(environment, image)
    found = told(done)
    assert found.get("title", "") == found.get("notice", "") == ""
    assert [line for line in done.stderr.splitlines() if OFFSCREEN not in line] == []


@pytest.mark.parametrize("content", [b"\0\xff\xfe garbage \x80" * 50, b"[General\nx", b"a b\n[=\n"])
def test_corrupt_settings(environment: dict[str, str], image: Path, content: bytes) -> None:
    path = Path(environment["HOME"]) / ".config" / "qcowgui" / "qcowgui.conf"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    found = told(run(environment, image))
    assert f"The settings in {path} are damaged" in found["notice"]
    assert "are damaged" in found["log"]
    # The next start has settings again.
    assert told(run(environment, image)).get("notice", "") == ""


def test_a_home_that_cannot_be_written(environment: dict[str, str], image: Path) -> None:
    done = run(environment | {"HOME": NOWHERE}, image)
    found = told(done)
    assert found["title"] == "Some things are missing on this system"
    assert "The settings can’t be kept" in found["notice"]
    assert "The queue of conversions can’t be kept" in found["notice"]
    assert "Traceback" not in done.stderr


def test_no_home_at_all(environment: dict[str, str], image: Path) -> None:
    del environment["HOME"]
    assert "Traceback" not in run(environment | {"XDG_CONFIG_HOME": NOWHERE}, image).stderr


def test_no_session_bus(environment: dict[str, str], image: Path) -> None:
    del environment["DBUS_SESSION_BUS_ADDRESS"]
    found = told(run(environment, image))
    assert found.get("notice", "") == ""  # nothing that anybody must know unasked
    assert "There is no session bus" in found["log"]


def test_no_fonts(environment: dict[str, str], image: Path, tmp_path: Path) -> None:
    config = tmp_path / "fonts.conf"
    config.write_text(
        '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">'
        f"<fontconfig><dir>{tmp_path}/none</dir><cachedir>{tmp_path}/fonts</cachedir></fontconfig>"
    )
    done = run(environment | {"FONTCONFIG_FILE": str(config)}, image)
    told(done)
    # Who can't read the window reads the terminal.
    assert "No fonts are installed" in done.stderr


@pytest.mark.parametrize("name", ["C", "POSIX", "en_US.ISO-8859-1", "xx_YY.nowhere"])
def test_a_locale_without_utf_8(
    environment: dict[str, str], image: Path, tmp_path: Path, name: str
) -> None:
    odd = tmp_path / "zwei ü 磁.qcow2"
    odd.write_bytes(image.read_bytes())
    done = run(environment | {"LC_ALL": name}, odd)
    told(done)
    assert "Traceback" not in done.stderr


def test_an_encoding_that_lacks_letters_is_named(environment: dict[str, str], image: Path) -> None:
    narrow = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    found = told(run(environment | narrow, image))
    assert "The locale’s encoding is ascii" in found["notice"]


def test_a_name_that_is_no_text(environment: dict[str, str], image: Path, tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/\xff\xfe.qcow2"
    Path(os.fsdecode(odd)).write_bytes(image.read_bytes())
    done = run(environment, os.fsdecode(odd))
    told(done)
    assert "Traceback" not in done.stderr


def test_a_crash_is_offered_at_the_next_start(environment: dict[str, str], image: Path) -> None:
    crash = "import os; os.kill(os.getpid(), __import__('signal').SIGSEGV)"
    assert run(environment, image, then=crash).returncode == -signal.SIGSEGV
    found = told(run(environment, image))
    assert found["title"] == "qcowgui ended unexpectedly the last time."
    folder = Path(environment["HOME"]) / ".local" / "state" / "qcowgui" / "reports"
    assert f"{folder / 'report-'}" in found["notice"]
    assert told(run(environment, image)).get("title", "") == ""


# -------------------------------------------------------------------- no display


def start(environment: dict[str, str], *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the program as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "qcowgui", *map(str, words)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


@pytest.mark.parametrize(
    "display", [{}, {"DISPLAY": ":4711"}, {"WAYLAND_DISPLAY": "wayland-4711"}], ids=str
)
def test_without_a_display_it_says_so(
    environment: dict[str, str], image: Path, display: dict[str, str]
) -> None:
    del environment["QT_QPA_PLATFORM"]
    environment |= display
    for words in ([], [image]):
        done = start(environment, *words)
        assert done.returncode == 1, done.stderr
        assert done.stdout == ""
        sentence, hint = done.stderr.splitlines()[-2:]
        assert sentence.startswith("qcowgui: the window ")
        assert hint.startswith("  hint: the command line works without: qcowgui info IMAGE")
        assert "core dumped" not in done.stderr
    assert "virtual" in start(environment, "info", image).stdout


@pytest.mark.realwindow
def test_no_gpu(environment: dict[str, str], image: Path) -> None:
    environment["DISPLAY"] = os.environ["DISPLAY"]
    environment |= {
        "QT_QPA_PLATFORM": "xcb",
        "QT_XCB_GL_INTEGRATION": "none",
        "LIBGL_DRIVERS_PATH": NOWHERE,
        "__EGL_VENDOR_LIBRARY_FILENAMES": NOWHERE,
    }
    done = run(environment, image)
    found = told(done)
    assert found["platform"] == "xcb"
    assert found.get("notice", "") == ""
    assert done.stderr == ""
