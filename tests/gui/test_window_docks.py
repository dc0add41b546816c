"""The docks, the layout that is kept, the samples, and steps through selections and findings."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QPushButton
from pytestqt.qtbot import QtBot

from qcowgui.errors import OutputError
from qcowgui.gui.dialogs.go_to import GoToDialog
from qcowgui.gui.dialogs.repair import RepairDialog
from qcowgui.gui.dialogs.salvage import SalvageDialog
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.samples import Sample
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import CheckState, SessionState
from qcowgui.gui.settings import Settings
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.image_view import ImageView
from tests.gui.support import open_image


def shown(window: MainWindow) -> ImageView:
    view = window.current_view()
    assert view is not None
    return view


def closed(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not window.loader.active)
    window.close()
    window.deleteLater()


def test_the_start_page_has_no_docks_and_an_image_has(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    assert not any(dock.isVisible() for dock in window.docks.all)
    open_image(window, qtbot, data_image)
    assert window.docks.findings.isVisible()
    assert not any(dock.isHidden() for dock in window.docks.all)
    window.actions_.close_tab.trigger()
    assert not any(dock.isVisible() for dock in window.docks.all)


def test_the_docks_show_the_image_in_front(
    window: MainWindow, qtbot: QtBot, data_image: Path, rich_image: Path
) -> None:
    open_image(window, qtbot, data_image)
    first = shown(window)
    open_image(window, qtbot, rich_image)
    second = shown(window)
    assert second.findings.isVisible()
    assert not first.findings.isVisible()
    window.actions_.previous_tab.trigger()
    assert first.findings.isVisible()
    window.actions_.show_hex.trigger()
    qtbot.waitUntil(first.hex.isVisible)
    assert not second.hex.isVisible()


def test_a_dock_among_tabs_has_no_second_title(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    open_image(window, qtbot, data_image)
    log = window.docks.log
    assert log.titleBarWidget() is not None
    log.setFloating(True)
    assert log.titleBarWidget() is None
    window.actions_.reset_layout.trigger()
    assert not log.isFloating()
    assert log.titleBarWidget() is not None


def test_the_layout_is_kept_and_can_be_reset(
    qtbot: QtBot, theme: Theme, settings: Settings, data_image: Path
) -> None:
    first = MainWindow(theme, settings)
    first.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    first.show()
    open_image(first, qtbot, data_image)
    first.docks.log.hide()
    first.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, first.docks.hex)
    shown(first).split.setSizes([400, 400, 200])
    sizes = shown(first).split.sizes()
    closed(first, qtbot)
    second = MainWindow(theme, settings)
    second.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    second.show()
    open_image(second, qtbot, data_image)
    right = Qt.DockWidgetArea.RightDockWidgetArea
    assert second.docks.log.isHidden()
    assert second.dockWidgetArea(second.docks.hex) == right
    assert abs(shown(second).split.sizes()[0] - sizes[0]) < 40
    second.actions_.reset_layout.trigger()
    assert not second.docks.log.isHidden()
    assert second.dockWidgetArea(second.docks.hex) != right
    closed(second, qtbot)


def test_a_broken_layout_stops_nothing(
    qtbot: QtBot, theme: Theme, settings: Settings, data_image: Path
) -> None:
    from PySide6.QtCore import QByteArray

    for name in ("geometry", "state", "image"):
        settings.set_layout(name, QByteArray(b"\xff\x00nonsense"))
    window = MainWindow(theme, settings)
    window.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    window.show()
    open_image(window, qtbot, data_image)
    assert window.docks.findings.isVisible()
    assert all(size > 0 for size in shown(window).split.sizes()[:2])
    closed(window, qtbot)


def test_what_is_no_image_shows_its_bytes(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "disk.vmdk"
    path.write_bytes(b"KDMV" + (1).to_bytes(4, "little") + bytes(8192))
    open_image(window, qtbot, path)
    qtbot.waitUntil(shown(window).hex.isVisible)
    assert not window.actions_.check.isEnabled()
    assert window.actions_.salvage.isEnabled()


def test_the_log_says_what_happened(
    window: MainWindow, qtbot: QtBot, data_image: Path, tmp_path: Path
) -> None:
    open_image(window, qtbot, data_image, tmp_path / "missing.qcow2")
    lines = window.log.text.toPlainText().splitlines()
    assert any(line.endswith(f"{data_image}: read") for line in lines)
    assert any(line.endswith("data.qcow2: metadata consistent") for line in lines)
    assert any("missing.qcow2 can't be opened" in line for line in lines)


def test_back_and_forward_by_keyboard(window: MainWindow, qtbot: QtBot, rich_image: Path) -> None:
    open_image(window, qtbot, rich_image)
    session = shown(window).session
    assert not window.actions_.back.isEnabled()
    session.select(Selection(StructureKey.SNAPSHOTS, 1))
    session.select(Selection(StructureKey.BITMAPS, 0))
    alt = Qt.KeyboardModifier.AltModifier
    with qtbot.waitActive(window):
        window.activateWindow()
    QTest.keyClick(window, Qt.Key.Key_Left, alt)
    assert session.selection.is_same_place(Selection(StructureKey.SNAPSHOTS, 1))
    assert window.actions_.forward.isEnabled()
    QTest.keyClick(window, Qt.Key.Key_Right, alt)
    assert session.selection.is_same_place(Selection(StructureKey.BITMAPS, 0))
    assert not window.actions_.forward.isEnabled()


def test_a_check_can_be_asked_for_and_stopped(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    open_image(window, qtbot, data_image)
    session = shown(window).session
    assert not window.actions_.cancel_check.isEnabled()
    window.actions_.deep_check.trigger()
    assert session.check_state is CheckState.RUNNING
    assert window.actions_.cancel_check.isEnabled()
    qtbot.waitUntil(lambda: not window.loader.active)
    assert session.check is not None
    assert session.check.deep is not None


@pytest.mark.parametrize("sample", list(Sample))
def test_a_sample_is_made_and_opened(
    window: MainWindow, qtbot: QtBot, settings: Settings, sample: Sample
) -> None:
    window.start_page.samples[sample].click()
    assert not window.start_page.samples[sample].isEnabled()
    qtbot.waitUntil(lambda: bool(window.views()), timeout=60_000)
    qtbot.waitUntil(lambda: not window.loader.active, timeout=30_000)
    view = shown(window)
    folder = view.session.path.parent
    assert view.session.path.name == sample.value
    assert view.session.state is SessionState.READY
    assert (view.banner.isVisible() or "consistent" not in view.summary.badge.text()) is (
        sample is Sample.DAMAGED
    )
    assert settings.recent_files == []  # it is gone with the window
    window.close()
    assert not folder.exists()


def test_samples_that_cannot_be_made_say_so(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OutputError("the disk is full")

    monkeypatch.setattr("qcowgui.gui.samples.make_samples", fail)
    window.start_page.samples[Sample.HEALTHY].click()
    qtbot.waitUntil(window.notice.isVisible)
    assert window.notice.text == "the disk is full"
    assert window.start_page.samples[Sample.HEALTHY].isEnabled()


def test_the_dialogs_of_an_image_are_shown_once_and_go_with_its_tab(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    open_image(window, qtbot, data_image)
    view = shown(window)
    kinds: tuple[type[QDialog], ...] = (RepairDialog, SalvageDialog, GoToDialog)
    for _ in range(2):
        window.actions_.repair.trigger()
        window.actions_.salvage.trigger()
        window.actions_.go_to.trigger()
    dialogs = [dialog for kind in kinds for dialog in view.findChildren(kind)]
    assert [dialog.isVisible() for dialog in dialogs] == [True] * 3
    window.actions_.close_tab.trigger()
    assert not any(dialog.isVisible() for dialog in dialogs)
    qtbot.waitUntil(lambda: not window.loader.active)


def test_what_a_dialog_wrote_can_be_opened(
    window: MainWindow, qtbot: QtBot, data_image: Path, rich_image: Path
) -> None:
    open_image(window, qtbot, data_image)
    window.actions_.repair.trigger()
    (dialog,) = shown(window).findChildren(RepairDialog)
    qtbot.waitUntil(lambda: not window.loader.active)
    dialog.open_requested.emit(rich_image)
    qtbot.waitUntil(lambda: not window.loader.active)
    assert shown(window).session.path == rich_image


def test_a_repair_that_should_wait_leads_to_salvage(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    open_image(window, qtbot, data_image)
    window.actions_.repair.trigger()
    view = shown(window)
    (repair,) = view.findChildren(RepairDialog)
    repair.salvage_requested.emit()
    (salvage,) = view.findChildren(SalvageDialog)
    assert salvage.isVisible()
    qtbot.waitUntil(lambda: not window.loader.active)


def test_banners_lead_to_the_dialogs(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "noise.img"
    path.write_bytes(bytes(1 << 16))
    open_image(window, qtbot, path)
    view = shown(window)
    (button,) = [b for b in view.banner.findChildren(QPushButton) if b.text() == "Salvage…"]
    button.click()
    (dialog,) = view.findChildren(SalvageDialog)
    assert dialog.isVisible()
    dialog.reject()
    qtbot.waitUntil(lambda: not window.loader.active)
