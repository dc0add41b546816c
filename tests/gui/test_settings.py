"""Settings: typed, and usable whatever is in the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QSettings, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from qcowgui.convert.options import ConvertOptions
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.settings import MAX_RECENT_FILES, ColourScheme, Settings
from qcowgui.gui.theme import DARK, LIGHT, Theme
from tests.gui.support import wait_for


def settings_file() -> Path:
    return Path(QSettings("qcowgui", "qcowgui").fileName())


def test_recent_files_are_the_latest_first_each_once(settings: Settings, qtbot: QtBot) -> None:
    assert settings.recent_files == []
    with qtbot.waitSignal(settings.recent_files_changed):
        settings.add_recent_file("/a/one")
    assert Settings().recent_files == ["/a/one"]  # a list of one comes back as such
    for name in ("/a/two", "/a/one"):
        settings.add_recent_file(name)
    assert Settings().recent_files == ["/a/one", "/a/two"]
    settings.remove_recent_file("/a/one")
    assert settings.recent_files == ["/a/two"]
    for number in range(20):
        settings.add_recent_file(f"/a/{number}")
    assert len(settings.recent_files) == MAX_RECENT_FILES
    settings.clear_recent_files()
    assert Settings().recent_files == []


def test_names_survive(settings: Settings) -> None:
    names = ["/a/b, c.qcow2", "/a/ü %20;\"'.qcow2", "/a/=[x]\\y"]
    for name in reversed(names):
        settings.add_recent_file(name)
    settings._store.sync()  # type: ignore[union-attr]
    assert Settings().recent_files == names


@pytest.mark.parametrize(
    "content",
    [
        b"\0\xff\xfe garbage \x80" * 50,
        b"[General]\nrecent_files=@Rect(1 2 3 4)\ncolour_scheme=pink\n",
        (
            b"[General]\nrecent_files=@Invalid()\nlast_folder=@Size(1 2)\n"
            b"[layout]\nstate=7\ngeometry=@ByteArray(nonsense)\n"
        ),
        b"[General\nrecent_files",
    ],
)
def test_a_broken_file_never_stops_a_start(
    qtbot: QtBot, qapp: QApplication, content: bytes
) -> None:
    path = settings_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    settings = Settings()
    assert settings.colour_scheme is ColourScheme.SYSTEM
    assert all(isinstance(name, str) for name in settings.recent_files)
    assert isinstance(settings.last_folder, str)
    window = MainWindow(Theme(qapp, settings), settings)
    window.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(window)
    window.show()
    assert window.isVisible()


@pytest.mark.usefixtures("qapp")
def test_forgetful_settings_leave_no_trace() -> None:
    settings = Settings(remember=False)
    settings.colour_scheme = ColourScheme.DARK
    settings.add_recent_file("/a/b")
    settings.last_folder = "/a"
    settings.set_layout("state", QByteArray(b"x"))
    assert settings.colour_scheme is ColourScheme.DARK
    assert settings.recent_files == ["/a/b"]
    assert settings.layout("state") == QByteArray(b"x")
    settings.forget_layout()
    assert settings.layout("state") is None
    assert not settings_file().exists()


def test_the_layout_is_saved_and_reset(
    qtbot: QtBot, window: MainWindow, settings: Settings, theme: Theme
) -> None:
    window.resize(720, 600)
    window.close()
    assert settings.layout("geometry") is not None
    other = MainWindow(theme, Settings())
    other.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(other)
    assert (other.width(), other.height()) == (720, 600)
    other.actions_.reset_layout.trigger()
    assert (other.width(), other.height()) == (1280, 840)
    assert settings.layout("geometry") is None


def test_colours_follow_the_system_and_the_user(
    qapp: QApplication, theme: Theme, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = [False]  # the offscreen platform has no scheme to change
    monkeypatch.setattr(theme, "_system_is_dark", lambda: system[0])
    changed = qapp.styleHints().colorSchemeChanged
    system[0] = True
    with qtbot.waitSignal(theme.changed):
        changed.emit(Qt.ColorScheme.Dark)
    assert theme.colours is DARK
    assert qapp.palette().window().color().name() == DARK.window
    theme.choose(ColourScheme.LIGHT)
    assert theme.colours is LIGHT
    changed.emit(Qt.ColorScheme.Dark)
    assert theme.colours is LIGHT
    theme.choose(ColourScheme.SYSTEM)
    assert theme.dark
    assert Settings().colour_scheme is ColourScheme.SYSTEM


def test_a_window_repaints_in_other_colours(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    window.open_paths([data_image])
    qtbot.waitUntil(lambda: not window.loader.active)
    light = window.grab().toImage().pixelColor(3, window.height() // 2)
    window.actions_.schemes[ColourScheme.DARK].trigger()
    dark = window.grab().toImage().pixelColor(3, window.height() // 2)
    assert light.lightness() > 200
    assert dark.lightness() < 60
    assert window.actions_.schemes[ColourScheme.DARK].isChecked()
    window._start_conversion(ConvertOptions(data_image, data_image.with_name("x.raw")), [])
    (row,) = window.conversions.rows.values()
    wait_for(qtbot, window.controller, row.job)
    row.buttons["remove"].click()
    window.actions_.close_tab.trigger()
    qtbot.wait(10)  # what was removed is deleted
    window.actions_.schemes[ColourScheme.LIGHT].trigger()
    assert window.grab().toImage().pixelColor(3, window.height() // 2) == light
