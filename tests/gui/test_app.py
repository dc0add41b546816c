"""Starting: arguments, file events, pictures, and what happens to errors nobody expected."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from qcowgui.gui.app import describe_application, screenshot
from tests.gui.support import slow_source

PROJECT = Path(__file__).parents[2]


def run_program(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process of its own, without a display."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *arguments],
        cwd=PROJECT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


QUIT_WHEN_SHOWN = """
    import sys
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication
    from qcowgui.gui import app, main_window

    def look():
        (window,) = [w for w in QApplication.topLevelWidgets() if hasattr(w, "loader")]
        if window.loader.active:
            QTimer.singleShot(20, look)
            return
        for view in window.views():
            print(view.session.path, view.session.state.name)
        {extra}
        window.close()

    class Started(app.Application):
        def __init__(self, arguments):
            super().__init__(arguments)
            {at_start}
            QTimer.singleShot(0, look)

    app.Application = Started
    sys.exit(app.main(sys.argv[1:]))
"""


def program(extra: str = "pass", at_start: str = "pass") -> str:
    return textwrap.dedent(QUIT_WHEN_SHOWN).format(extra=extra, at_start=at_start)


@pytest.mark.slow
def test_the_program_opens_its_arguments(data_image: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing.qcow2"
    url = data_image.with_name("two words.qcow2")
    url.write_bytes(data_image.read_bytes())
    run = run_program(program(), str(data_image), "--", str(missing), url.as_uri())
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [
        f"{data_image} READY",
        f"{missing} FAILED",
        f"{url} READY",
    ]


@pytest.mark.slow
def test_an_event_before_the_window_exists_is_not_lost(data_image: Path) -> None:
    event = f"self.event(__import__('PySide6.QtGui').QtGui.QFileOpenEvent({str(data_image)!r}))"
    run = run_program(program(at_start=event))
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [f"{data_image} READY"]


@pytest.mark.slow
def test_an_error_in_a_slot_is_shown_and_the_window_goes_on(
    data_image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    extra = (
        "sys.excepthook(*(lambda e: (type(e), e, None))(KeyError('odd')));"
        " QApplication.processEvents();"
        " print(window.notice.title, '|', window.notice.text.splitlines()[0])"
    )
    run = run_program(program(extra=extra), str(data_image))
    assert run.returncode == 0, run.stderr
    assert "KeyError: 'odd'" in run.stderr
    title, text = run.stdout.splitlines()[-1].split(" | ")
    assert title.startswith("Something went wrong")
    assert text == "KeyError: 'odd'"
    (report,) = (tmp_path / "qcowgui" / "reports").glob("report-*.txt")
    assert "KeyError: 'odd'" in report.read_text()
    assert report.stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_ctrl_c_in_the_terminal_closes_the_window() -> None:
    extra = "import os, signal; os.kill(os.getpid(), signal.SIGINT); return"
    run = run_program(program(extra=extra))
    assert (run.returncode, run.stdout) == (0, ""), run.stderr


@pytest.mark.slow
def test_closing_while_converting_ends_the_program(tmp_path: Path) -> None:
    source = slow_source(tmp_path)
    extra = (
        f"from qcowgui.convert.options import ConvertOptions; from pathlib import Path;"
        f" source = Path({str(source)!r});"
        " window._start_conversion(ConvertOptions(source, source.with_name('t.qcow2'), 'qcow2',"
        " compression='zlib', level=6), []);"
        " window.close();"
        " buttons = QApplication.activeModalWidget().buttons();"
        " [b.click() for b in buttons if b.text() == 'Cancel and close'];"
        " print(window.isVisible()); return"
    )
    run = run_program(program(extra=extra))
    assert run.returncode == 0, run.stderr
    assert run.stdout == "False\n"
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.slow
def test_events_open_files_while_running(data_image: Path) -> None:
    path = data_image.with_name("ü %20.qcow2")
    path.write_bytes(data_image.read_bytes())
    extra = (
        "from PySide6.QtGui import QFileOpenEvent;"
        f" QApplication.sendEvent(QApplication.instance(), QFileOpenEvent({str(path)!r}));"
        " print(*(view.session.path for view in window.views()))"
    )
    run = run_program(program(extra=extra))
    assert (run.returncode, run.stdout) == (0, f"{path}\n"), run.stderr


def test_the_application_has_a_name_and_an_icon(qapp: QApplication) -> None:
    describe_application(qapp)
    assert qapp.applicationName() == "qcowgui"
    assert not qapp.windowIcon().isNull()
    assert {16, 256} <= {size.width() for size in qapp.windowIcon().availableSizes()}


@pytest.mark.parametrize("dark", [False, True])
def test_a_picture_shows_the_image(
    qapp: QApplication, tmp_path: Path, rich_image: Path, dark: bool
) -> None:
    describe_application(qapp)
    picture = tmp_path / "picture.png"
    screenshot([rich_image], picture, dark=dark, size=(900, 600))
    image = QImage(str(picture))
    assert (image.width(), image.height()) == (900, 600)
    assert (image.pixelColor(5, 300).lightness() < 100) is dark
    colours = {image.pixelColor(x, y).name() for x in range(0, 900, 7) for y in range(0, 600, 7)}
    assert len(colours) > 20
    left = [w for w in QApplication.topLevelWidgets() if w.isVisible()]
    assert left == []


@pytest.mark.usefixtures("qapp")
def test_a_picture_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="can't be written"):
        screenshot([], tmp_path / "no" / "picture.png")


@pytest.mark.slow
def test_a_picture_needs_neither_display_nor_application(tmp_path: Path, data_image: Path) -> None:
    picture = tmp_path / "picture.png"
    run = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from qcowgui.gui.app import screenshot; screenshot(*eval(sys.argv[1]))",
            repr(([str(data_image)], str(picture))),
        ],
        cwd=PROJECT,
        env={
            name: value
            for name, value in os.environ.items()
            if name not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout + run.stderr == ""
    assert QImage(str(picture)).width() == 1280
