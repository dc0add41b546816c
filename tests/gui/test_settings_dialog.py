"""The settings dialog: what is chosen holds at once, outlives the program, and can be reset."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt, QTranslator
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLineEdit, QSpinBox
from pytestqt.qtbot import QtBot

from qcowgui.convert.options import ConvertOptions
from qcowgui.gui import window_host
from qcowgui.gui.diagnostics import Diagnostics
from qcowgui.gui.dialogs.convert import ConvertDialog
from qcowgui.gui.dialogs.settings import SettingsDialog
from qcowgui.gui.heatmap.canvas import MapCanvas
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.settings import ColourScheme, MapPalette, Settings
from qcowgui.gui.theme import DARK, LIGHT, Theme
from qcowgui.gui.window_host import WindowHost
from qcowgui.report.palette import Colour, colour_only_faults, grey_of, luminance, named_colour
from tests.gui.support import begin, open_image, wait_for


@pytest.fixture
def dialog(qtbot: QtBot, settings: Settings, theme: Theme) -> Iterator[SettingsDialog]:
    made = SettingsDialog(settings, theme)
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(made)
    made.show()
    yield made
    colour_only_faults(False)


def choose(combo: QComboBox, value: object) -> None:
    """Choose as a person does."""
    index = combo.findData(value)
    assert index >= 0
    combo.setCurrentIndex(index)


def form_of(window: MainWindow, qtbot: QtBot, *paths: Path) -> ConvertDialog:
    form = window.queue.form(paths)
    qtbot.waitUntil(lambda: len(form.entries.items) == len(paths) and not window.loader.active)
    return form


def test_every_field_has_a_name_and_the_keyboard_reaches_it(dialog: SettingsDialog) -> None:
    fields = [
        field
        for kind in (QComboBox, QAbstractButton, QLineEdit, QSpinBox)
        for field in dialog.findChildren(kind)
        if field.isVisible() and not isinstance(field.parent(), QSpinBox)
    ]
    assert all(field.focusPolicy() & Qt.FocusPolicy.TabFocus for field in fields)
    for field in fields:
        text = field.text() if isinstance(field, QAbstractButton) else ""
        assert field.accessibleName() or text, field


def test_nothing_is_chosen_at_first(dialog: SettingsDialog, settings: Settings) -> None:
    assert dialog.scheme.currentData() is ColourScheme.SYSTEM
    assert dialog.palette_.currentData() is MapPalette.FULL
    assert dialog.language.currentData() == dialog.preset.currentData() == ""
    assert dialog.threads.value() == 0
    assert dialog.verify.isChecked()
    assert settings.conversion_defaults == {"threads": None, "verify": True}
    # Keeping nothing, the dialog has not written a value for each field.
    assert settings._store.value("chosen/threads") is None


def test_what_is_chosen_outlives_the_program_and_is_reset(
    dialog: SettingsDialog, settings: Settings, theme: Theme, tmp_path: Path
) -> None:
    choose(dialog.scheme, ColourScheme.DARK)
    choose(dialog.palette_, MapPalette.PROBLEMS)
    choose(dialog.language, "de")
    choose(dialog.preset, "smallest")
    dialog.threads.setValue(3)
    dialog.verify.setChecked(False)
    for field in (dialog.target_folder, dialog.image_folder):
        field.line.setText(str(tmp_path))
        field.line.editingFinished.emit()
    settings.last_folder = settings.target_folder = "/elsewhere"
    settings.preset = "raw"
    settings.add_recent_file("/a/b")
    settings._store.sync()  # type: ignore[union-attr]
    later = Settings()
    assert later.colour_scheme is ColourScheme.DARK
    assert later.map_palette is MapPalette.PROBLEMS
    assert (later.language, later.preset) == ("de", "smallest")
    assert later.conversion_defaults == {"threads": 3, "verify": False}
    assert later.last_folder == later.target_folder == str(tmp_path)
    assert theme.colours is DARK
    dialog.reset_button.click()
    assert theme.colours is LIGHT
    assert dialog.scheme.currentData() is ColourScheme.SYSTEM
    assert dialog.palette_.currentData() is MapPalette.FULL
    assert dialog.threads.value() == 0
    assert dialog.verify.isChecked()
    assert dialog.target_folder.line.text() == ""
    later = Settings()
    assert later.conversion_defaults == {"threads": None, "verify": True}
    assert later.language == ""
    # What was used last, and what was open, was never chosen here.
    assert (later.last_folder, later.preset) == ("/elsewhere", "raw")
    assert later.recent_files == ["/a/b"]


@pytest.mark.parametrize("value", ["-1", "257", "99999999999", "x", "²", "", ["1", "2"], 1.5])
def test_nonsense_in_the_file_is_the_default(settings: Settings, value: object) -> None:
    for name in ("threads", "verify", "palette", "language", "preset", "target_folder"):
        settings._store.setValue(f"chosen/{name}", value)
    assert settings.conversion_defaults == {"threads": None, "verify": True}
    assert settings.map_palette is MapPalette.FULL
    assert isinstance(settings.language, str)
    assert isinstance(settings.target_folder, str)


def test_a_folder_that_is_cleared_is_chosen_no_more(
    dialog: SettingsDialog, settings: Settings
) -> None:
    dialog.image_folder.line.setText("~/images")
    dialog.image_folder.line.editingFinished.emit()
    assert settings.last_folder == str(Path.home() / "images")
    dialog.image_folder.line.clear()
    assert settings.chosen_image_folder == settings.last_folder == ""


def test_the_menu_and_the_dialog_say_the_same(window: MainWindow) -> None:
    window.actions_.settings.trigger()
    dialog = window.own_dialogs.settings_dialog
    assert dialog is not None
    window.actions_.settings.trigger()
    assert window.own_dialogs.settings_dialog is dialog
    choose(dialog.scheme, ColourScheme.DARK)
    assert window.actions_.schemes[ColourScheme.DARK].isChecked()
    window.actions_.schemes[ColourScheme.LIGHT].trigger()
    assert dialog.scheme.currentData() is ColourScheme.LIGHT
    dialog.close()
    assert window.own_dialogs.settings_dialog is None


def test_the_next_form_begins_with_what_was_chosen(
    window: MainWindow, qtbot: QtBot, settings: Settings, data_image: Path, tmp_path: Path
) -> None:
    window.actions_.settings.trigger()
    dialog = window.own_dialogs.settings_dialog
    assert dialog is not None
    choose(dialog.preset, "compatible")
    dialog.threads.setValue(3)
    dialog.verify.setChecked(False)
    folder = tmp_path / "results"
    folder.mkdir()
    dialog.target_folder.line.setText(str(folder))
    dialog.target_folder.line.editingFinished.emit()
    form = form_of(window, qtbot, data_image)
    ((options, _),) = form.wanted()
    assert (options.compression, options.window) == ("zlib", "4k")
    assert (options.threads, options.verify) == (3, False)
    assert options.target.parent == folder
    form.close()
    settings.reset()
    form = form_of(window, qtbot, data_image)
    ((options, _),) = form.wanted()
    assert (options.threads, options.verify) == (None, True)
    assert options.target.parent == data_image.parent
    form.close()


# -------------------------------------------------------------------- colours


def test_greys_are_as_bright_as_their_colours() -> None:
    for colour in ("#000000", "#ffffff", "#1d5674", "#fe9f00", "#0b0b0b"):
        grey = grey_of(colour)
        assert grey[1:3] == grey[3:5] == grey[5:7]
        assert luminance(grey) == pytest.approx(luminance(colour), abs=0.005)


def test_only_faults_keep_their_colours(dialog: SettingsDialog) -> None:
    names = {"data": False, "active-l2": False, "leaked": True, "contested": True}
    before = {name: named_colour(name).of(dark=False) for name in names}
    choose(dialog.palette_, MapPalette.PROBLEMS)
    for name, kept in names.items():
        colour = named_colour(name).of(dark=False)
        assert (colour == before[name]) is kept
        assert QColor(colour).saturation() == 0 or kept
    assert Colour("#112233", "#445566").of(dark=True) == "#445566"  # no state's
    choose(dialog.palette_, MapPalette.FULL)
    assert {name: named_colour(name).of(dark=False) for name in names} == before


def saturated(image: QImage) -> int:
    """How many of some pixels have a strong colour."""
    return sum(
        image.pixelColor(x, y).saturation() > 90
        for x in range(0, image.width(), 3)
        for y in range(0, image.height(), 3)
    )


def test_the_map_is_painted_anew(
    window: MainWindow, qtbot: QtBot, settings: Settings, rich_image: Path
) -> None:
    open_image(window, qtbot, rich_image)
    canvas = next(found for found in window.findChildren(MapCanvas) if found.isVisible())
    qtbot.waitUntil(lambda: saturated(canvas.grab().toImage()) > 100)
    settings.map_palette = MapPalette.PROBLEMS
    qtbot.waitUntil(lambda: saturated(canvas.grab().toImage()) < 30)  # what is selected has a frame
    settings.map_palette = MapPalette.FULL
    qtbot.waitUntil(lambda: saturated(canvas.grab().toImage()) > 100)


# -------------------------------------------------------------------- language


class Marking(QTranslator):
    """A language that every text can be translated into."""

    def isEmpty(self) -> bool:  # noqa: N802  Qt’s name
        return False

    def translate(
        self,
        context: bytes | str,
        sourceText: bytes | str,  # noqa: N803  Qt's name
        disambiguation: bytes | str | None = None,
        n: int = -1,
    ) -> str:
        del context, disambiguation, n
        return f"[{sourceText if isinstance(sourceText, str) else sourceText.decode()}]"


@pytest.fixture
def host(
    qapp: QApplication, qtbot: QtBot, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[WindowHost]:
    """A window and what replaces it, where the only language beside English marks its texts."""
    marking = Marking()

    def install(app: QApplication, language: str) -> None:
        app.removeTranslator(marking)
        if language:
            app.installTranslator(marking)

    monkeypatch.setattr(window_host, "install_translations", install)
    made = WindowHost(qapp, settings, Diagnostics())
    made.show([])
    qtbot.waitUntil(lambda: not made.window.loader.active and not made.window.controller.active)
    yield made
    made.window.controller.cancel_all()
    qtbot.waitUntil(lambda: not made.window.loader.active and not made.window.controller.active)
    made.window.destroyed.disconnect(qapp.quit)
    made.window.close()
    install(qapp, "")
    made.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def test_another_language_holds_at_once(
    host: WindowHost, qtbot: QtBot, settings: Settings, data_image: Path, rich_image: Path
) -> None:
    open_image(host.window, qtbot, data_image, rich_image)
    host.window.tabs.setCurrentIndex(0)
    assert host.window.actions_.open.text() == "&Open…"
    host.window.actions_.settings.trigger()
    before = host.window
    settings.language = "de"
    qtbot.waitUntil(lambda: host.window is not before)
    qtbot.waitUntil(lambda: not host.window.loader.active)
    assert host.window.isVisible()
    assert host.window.actions_.open.text() == "[&Open…]"
    assert [view.session.path for view in host.window.views()] == [data_image, rich_image]
    view = host.window.current_view()
    assert view is not None
    assert view.session.path == data_image
    dialog = host.window.own_dialogs.settings_dialog
    assert dialog is not None
    assert dialog.language.currentData() == "de"
    qtbot.waitUntil(lambda: host.window.controller.remembers)
    before = host.window
    settings.reset()
    qtbot.waitUntil(lambda: host.window is not before)
    assert host.window.actions_.open.text() == "&Open…"


def test_a_conversion_is_not_disturbed_by_another_language(
    host: WindowHost, qtbot: QtBot, settings: Settings, slow_options: ConvertOptions
) -> None:
    before = host.window
    job = begin(qtbot, before.controller, slow_options)
    settings.language = "de"
    assert host.window is before
    assert "language changes when" in before.statusBar().currentMessage()
    assert not job.state.ended
    before.controller.cancel(job)
    wait_for(qtbot, before.controller, job)
    qtbot.waitUntil(lambda: host.window is not before)
    assert host.window.actions_.open.text() == "[&Open…]"
