"""The window: opening, tabs, selection, banners, menus."""

from __future__ import annotations

import os
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QWidget
from pytestqt.qtbot import QtBot

from qcowgui.format.finding import Refusal
from qcowgui.gui.consent import NOTHING_ALLOWED
from qcowgui.gui.dialogs.about import AboutDialog, KeyboardDialog
from qcowgui.gui.dialogs.convert import ConvertDialog
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import SessionState
from qcowgui.gui.settings import Settings
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.views.image_view import ImageView
from tests.gui.support import open_image
from tests.support.base_images import rich
from tests.support.damages import DAMAGES


def shown(window: MainWindow) -> ImageView:
    view = window.current_view()
    assert view is not None
    return view


def damaged(name: str, folder: Path) -> Path:
    return DAMAGES[name].apply(rich()).write_to(folder / f"{name}.qcow2")


def test_an_empty_window_is_the_start_page(window: MainWindow) -> None:
    assert window.start_page.isVisible()
    assert window.windowTitle() == "qcowgui"
    assert not window.actions_.reload.isEnabled()
    assert not window.actions_.copy.isEnabled()


def test_opening_shows_the_image(window: MainWindow, qtbot: QtBot, rich_image: Path) -> None:
    window.open_paths([rich_image])
    view = shown(window)
    assert view.session.state is SessionState.LOADING  # it did not wait for the file
    assert window.windowTitle() == "rich.qcow2 – qcowgui"
    qtbot.waitUntil(lambda: view.session.state is SessionState.READY)
    inspected = view.session.inspected
    assert inspected is not None
    assert view.structure.table.table == inspected.structures[0].table
    assert view.tree.model().rowCount() >= len(inspected.structures)
    qtbot.waitUntil(lambda: not window.loader.active)
    count = sum(finding.count for finding in view.session.findings)
    assert window.docks.findings.windowTitle() == f"Findings  {count}"
    assert not view.banner.isVisible()
    assert window.actions_.copy.isEnabled()


def test_the_same_file_is_opened_once(
    window: MainWindow, qtbot: QtBot, rich_image: Path, data_image: Path
) -> None:
    open_image(window, qtbot, rich_image, data_image, rich_image)
    assert [view.session.path for view in window.views()] == [rich_image, data_image]
    assert shown(window).session.path == rich_image
    window.actions_.next_tab.trigger()
    assert shown(window).session.path == data_image
    window.actions_.next_tab.trigger()
    window.actions_.previous_tab.trigger()
    assert shown(window).session.path == data_image


def test_closing_the_last_tab_leads_back(
    window: MainWindow, qtbot: QtBot, rich_image: Path, settings: Settings
) -> None:
    open_image(window, qtbot, rich_image)
    window.actions_.close_tab.trigger()
    assert window.views() == []
    assert window.start_page.isVisible()
    assert settings.recent_files == [str(rich_image)]
    recent = window.start_page._recent
    assert recent.count() == 1
    recent.setCurrentRow(0)
    QTest.keyClick(recent, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not window.loader.active)
    assert shown(window).session.path == rich_image
    window.actions_.close_tab.trigger()
    recent.setCurrentRow(0)
    QTest.keyClick(recent, Qt.Key.Key_Delete)
    assert settings.recent_files == []
    assert not recent.isVisible()


def test_closing_a_tab_while_it_loads(window: MainWindow, qtbot: QtBot, rich_image: Path) -> None:
    window.open_paths([rich_image])
    session = shown(window).session
    window.actions_.close_tab.trigger()
    qtbot.waitUntil(lambda: not window.loader.active)
    assert window.views() == []
    del session


def test_selecting_a_structure_shows_its_table(
    window: MainWindow, qtbot: QtBot, rich_image: Path
) -> None:
    open_image(window, qtbot, rich_image)
    view = shown(window)
    view.tree.setCurrentIndex(view.tree.structures.find(Selection(StructureKey.EXTENSIONS)))
    assert view.session.selection == Selection(StructureKey.EXTENSIONS)
    structure = view.session.structure(StructureKey.EXTENSIONS)
    assert structure is not None
    assert view.structure.table.table == structure.table
    assert view.centre.tabText(1) == "Extensions"
    view.structure.table.select_row(1)
    assert view.session.selection.is_same_place(Selection(StructureKey.EXTENSIONS, 1))
    assert window.statusBar().currentMessage().startswith("Extensions   ·   data")


def test_a_finding_selects_what_it_is_about(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    open_image(window, qtbot, damaged("header_snapshots_unaligned", tmp_path))
    view = shown(window)
    view.session.select(Selection(StructureKey.EXTENSIONS))
    inspected = view.session.inspected
    assert inspected is not None
    view.findings.show_text("snapshot-table-offset")
    view.findings.step(1)
    row = view.structure.table.current_row()
    assert row is not None
    structure = view.session.structure(StructureKey.HEADER)
    assert structure is not None
    assert view.structure.table.table == structure.table
    assert structure.table.rows[row].cells[0] == "snapshots_offset"
    assert view.tree.currentIndex().data() == "Header"


def test_damaged_images_open(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    for name in sorted(DAMAGES)[::5]:  # test_structures has all of them
        open_image(window, qtbot, damaged(name, tmp_path))
        check_shown(shown(window), name)
        window.actions_.close_tab.trigger()


def check_shown(view: ImageView, name: str) -> None:
    """A view tells of its image, or why there is none; each structure and finding can be chosen."""
    inspected = view.session.inspected
    if inspected is None:
        assert view.session.state is SessionState.FAILED, name
        assert view.banner.isVisible(), name
        return
    report = inspected.report
    assert view.banner.isVisible() is bool(report.refusals), name
    if report.refusals:
        assert view.banner.title == "QEMU would refuse this image", name
        assert report.refusals[0].message in view.banner.text, name
        can_read = all(finding.refusal is not Refusal.READER for finding in report.refusals)
        assert ("can still read" in view.banner.text) is can_read, name
    for structure in inspected.structures:
        view.session.select(Selection(structure.key))
        assert view.structure.table.table == structure.table, name
    for finding in view.session.findings[:20]:
        view.session.select_finding(finding)


def test_a_file_that_is_something_else_is_named(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "disk.vmdk"
    path.write_bytes(b"KDMV" + (1).to_bytes(4, "little") + bytes(8192))
    open_image(window, qtbot, path)
    view = shown(window)
    assert view.banner.title == "disk.vmdk is not a qcow2 image"
    assert "VMDK" in view.banner.text
    assert "qemu-img" in view.banner.text
    buttons = [button.text() for button in view.banner.findChildren(type(view.banner._close))]
    assert "Convert to qcow2…" not in buttons


def test_a_raw_disk_offers_to_be_converted(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "disk.img"
    path.write_bytes(os.urandom(4096))
    open_image(window, qtbot, path)
    view = shown(window)
    buttons = {b.text(): b for b in view.banner.findChildren(type(view.banner._close))}
    with qtbot.waitSignal(view.convert_requested):
        buttons["Convert to qcow2…"].click()
    (dialog,) = window.findChildren(ConvertDialog)
    qtbot.waitUntil(lambda: bool(dialog.entries.items) and not window.loader.active)
    ((options, consent),) = dialog.wanted()
    assert (options.source, options.target_format, consent) == (path, "qcow2", NOTHING_ALLOWED)
    dialog.close()


def test_a_missing_file_says_so_and_can_be_tried_again(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, data_image: Path
) -> None:
    path = tmp_path / "later.qcow2"
    open_image(window, qtbot, path)
    view = shown(window)
    assert view.session.state is SessionState.FAILED
    assert view.banner.title == "later.qcow2 can't be shown"
    buttons = {b.text(): b for b in view.banner.findChildren(type(view.banner._close))}
    buttons["Copy details"].click()
    assert str(path) in QGuiApplication.clipboard().text()
    path.write_bytes(data_image.read_bytes())
    buttons["Try again"].click()
    qtbot.waitUntil(lambda: view.session.state is SessionState.READY)
    assert not view.banner.isVisible()


def test_a_fifo_blocks_nothing(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    open_image(window, qtbot, path)
    assert shown(window).session.state is SessionState.FAILED


def test_reading_again_shows_what_has_changed(
    window: MainWindow, qtbot: QtBot, rich_image: Path, data_image: Path
) -> None:
    open_image(window, qtbot, rich_image)
    view = shown(window)
    view.session.select(Selection(StructureKey.SNAPSHOTS, 0))
    rich_image.write_bytes(data_image.read_bytes())
    window.actions_.reload.trigger()
    assert view.centre.isVisible()  # no page that only says "Reading…"
    qtbot.waitUntil(lambda: not window.loader.active)
    assert view.session.selection == Selection(StructureKey.HEADER)
    assert view.session.structure(StructureKey.SNAPSHOTS) is None
    assert view.centre.tabText(1) == "Header"


def test_copying_goes_to_the_table_with_the_focus(
    window: MainWindow, qtbot: QtBot, rich_image: Path
) -> None:
    open_image(window, qtbot, rich_image)
    view = shown(window)
    view.structure.table.select_row(1)
    window.actions_.copy_rows.trigger()
    assert QGuiApplication.clipboard().text().startswith("version\t0x4\t00000003\t3 (compat 1.1)")
    window.actions_.copy_table.trigger()
    structure = view.session.structure(StructureKey.HEADER)
    assert structure is not None
    assert QGuiApplication.clipboard().text() == structure.table.as_tsv()


def test_every_action_is_in_a_menu_and_the_keys_are_listed(window: MainWindow) -> None:
    in_menus = set()
    menus = [cast(QMenu, action.menu()) for action in window.menuBar().actions()]
    while menus:
        for action in menus.pop().actions():
            if action.menu() is not None:
                menus.append(cast(QMenu, action.menu()))
            else:
                in_menus.add(action)
    assert set(window.actions_.all()) <= in_menus
    window.actions_.keyboard.trigger()
    (dialog,) = window.findChildren(KeyboardDialog)
    listed = {row.cells[0]: row.cells[1] for row in dialog.table.table.rows}
    assert listed["Open…"] == "Ctrl+O"
    for action in window.actions_.all():
        if not action.shortcut().isEmpty():
            assert action.text().replace("&", "") in listed
    keys = [action.shortcut().toString() for action in window.actions_.all()]
    used = [key for key in keys if key]
    assert len(used) == len(set(used))
    dialog.close()
    window.actions_.about.trigger()
    (about,) = window.findChildren(AboutDialog)
    about.close()


def test_what_takes_the_focus_has_a_name(
    window: MainWindow, qtbot: QtBot, rich_image: Path
) -> None:
    open_image(window, qtbot, rich_image)
    view = shown(window)
    tables: list[QWidget] = [view.structure.table, view.findings.table, view.tree]
    assert all(widget.accessibleName() for widget in tables)


def test_a_problem_is_shown_with_details_to_copy(window: MainWindow) -> None:
    window.show_problem("Something went wrong.", "Traceback\n  line\nValueError: bad")
    assert window.notice.isVisible()
    assert window.notice.text == "ValueError: bad"
    window.notice._close.click()
    assert not window.notice.isVisible()


def test_an_error_that_nobody_expected_is_not_swallowed(
    window: MainWindow, qtbot: QtBot, data_image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Path) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("qcowgui.gui.opening.inspect_source", broken)
    with qtbot.captureExceptions() as caught:
        open_image(window, qtbot, data_image)
    assert [kind for kind, _, _ in caught] == [ZeroDivisionError]
    assert shown(window).session.state is SessionState.FAILED
