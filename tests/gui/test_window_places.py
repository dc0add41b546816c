"""Where the window puts the views of an image, and what it does not forget when it closes."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from qcowgui.gui.dialogs.repair import RepairDialog
from qcowgui.gui.heatmap.layers import ColourMode, Order
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import CheckState, MappingState, Session
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.views.chain_panel import ChainPanel
from qcowgui.gui.views.compare_view import CompareView
from qcowgui.gui.views.hex_space import Space
from qcowgui.gui.views.image_view import ImageView
from tests.gui.support import button, open_image, open_question
from tests.gui.test_repair_dialog import HeldCheck, broken_image
from tests.support.base_images import pattern
from tests.support.builder import ImageBuilder


def opened(window: MainWindow, qtbot: QtBot, path: Path) -> ImageView:
    open_image(window, qtbot, path)
    view = window.current_view()
    assert view is not None
    return view


# -------------------------------------------------------------------------------- places


def test_nothing_is_said_where_there_is_no_hint(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    view = opened(window, qtbot, data_image)
    assert view.session.check is not None
    assert view.session.check.hints == ()
    assert view.hints.isHidden()


def test_the_legend_is_there_with_the_map_and_goes_with_it(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    view = opened(window, qtbot, data_image)
    assert view.map.side.isVisible()
    view.show_table()
    assert not view.map.side.isVisible()
    assert view.inspector.isVisible()
    view.show_map()
    assert view.map.side.isVisible()


@pytest.mark.parametrize("height", [800, 1000])
def test_the_map_is_the_largest_thing(
    window: MainWindow, qtbot: QtBot, data_image: Path, height: int
) -> None:
    window.resize(1280, height)
    view = opened(window, qtbot, data_image)
    canvas = view.map.host.canvas
    area = canvas.width() * canvas.height()
    others = [view.tree, view.map.side, view.inspector, view.findings]
    assert all(area > other.width() * other.height() for other in others if other.isVisible())
    assert canvas.width() > 1280 / 2


def test_a_chain_is_offered_where_there_is_one(
    window: MainWindow, qtbot: QtBot, data_image: Path, rich_image: Path
) -> None:
    plain = opened(window, qtbot, data_image)
    assert not plain.centre.isTabVisible(plain.centre.indexOf(plain.chain))
    view = opened(window, qtbot, rich_image)
    assert view.centre.isTabVisible(view.centre.indexOf(view.chain))
    assert view.chain.made is None  # nobody has looked at it
    view.centre.setCurrentWidget(view.chain)
    panel = view.findChild(ChainPanel)
    assert isinstance(panel, ChainPanel)
    qtbot.waitUntil(lambda: len(panel.links) == 2)


def test_the_tree_leads_to_the_chain(window: MainWindow, qtbot: QtBot, rich_image: Path) -> None:
    view = opened(window, qtbot, rich_image)
    view.tree.chosen.emit(Selection(StructureKey.BACKING_CHAIN))
    assert view.centre.currentWidget() is view.chain
    view.tree.chosen.emit(Selection(StructureKey.HEADER))
    assert view.centre.currentWidget() is view.structure
    qtbot.waitUntil(lambda: not window.loader.active)


def test_compare_with_asks_for_an_image(
    window: MainWindow, qtbot: QtBot, data_image: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.qcow2"
    other.write_bytes(data_image.read_bytes())
    view = opened(window, qtbot, data_image)
    window.actions_.compare.trigger()
    assert view.centre.currentWidget() is view.compare
    compare = view.compare.content
    assert isinstance(compare, CompareView)
    dialogs = compare.findChildren(QFileDialog)
    assert len(dialogs) == 1
    dialogs[0].fileSelected.emit(str(other))
    dialogs[0].close()
    qtbot.waitUntil(lambda: compare.loader.overlay is not None)
    qtbot.waitUntil(lambda: not window.loader.active)


def test_a_report_is_exported_from_the_menu(
    window: MainWindow, qtbot: QtBot, data_image: Path, tmp_path: Path
) -> None:
    assert not window.actions_.export_report.isEnabled()
    view = opened(window, qtbot, data_image)
    assert window.actions_.export_report.isEnabled()
    page = tmp_path / "report.html"
    view.report.export(page, None)
    qtbot.waitUntil(lambda: page.exists() and not window.loader.active)
    assert str(page) in window.statusBar().currentMessage()


def test_a_report_that_cannot_be_written_is_said(
    window: MainWindow, qtbot: QtBot, data_image: Path, tmp_path: Path
) -> None:
    view = opened(window, qtbot, data_image)
    view.report.export(tmp_path / "nowhere" / "report.html", None)
    qtbot.waitUntil(window.notice.isVisible)
    assert window.notice.title == "The report could not be written"


def test_a_legend_of_differences_takes_the_place_of_the_maps(
    window: MainWindow, qtbot: QtBot, data_image: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.qcow2"
    other.write_bytes(data_image.read_bytes())
    view = opened(window, qtbot, data_image)
    compare = view.show_compare()
    assert view.legends.isHidden()
    compare.compare_with(other)
    qtbot.waitUntil(lambda: compare.loader.overlay is not None)
    assert compare.side.isVisible()
    assert view.right.isAncestorOf(compare.side)
    assert compare.canvas.width() > compare.width() - 10
    view.show_map()
    assert view.map.side.isVisible()
    assert not compare.side.isVisible()


def test_both_divisions_of_a_tab_are_kept(
    window: MainWindow, qtbot: QtBot, data_image: Path, rich_image: Path
) -> None:
    view = opened(window, qtbot, data_image)
    view.split.setSizes([180, 600, 400])
    view.right.setSizes([300, 150])
    sizes = view.split.sizes(), view.right.sizes()
    window.actions_.close_tab.trigger()
    again = opened(window, qtbot, rich_image)
    assert (again.split.sizes(), again.right.sizes()) == sizes
    window.actions_.reset_layout.trigger()
    assert (again.split.sizes(), again.right.sizes()) != sizes


def test_copy_is_about_what_has_the_keyboard(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    view = opened(window, qtbot, data_image)
    view.session.select(Selection(StructureKey.CLUSTER, 1))
    view.show_map()
    window.actions_.copy.trigger()
    assert QGuiApplication.clipboard().text().startswith("host 0x1_0000 · ")
    window.actions_.copy_table.trigger()
    assert QGuiApplication.clipboard().text().startswith("State\tClusters\tBytes\n")
    window.actions_.copy_rows.trigger()
    assert QGuiApplication.clipboard().text().startswith("host 0x1_0000\t")
    view.show_table()
    assert view.focused_table() is view.structure.shown_table()


# -------------------------------------------------------------------------------- permissions


def test_the_bytes_of_the_guest_follow_what_is_allowed(
    window: MainWindow, qtbot: QtBot, rich_image: Path
) -> None:
    view = opened(window, qtbot, rich_image)
    window.docks.raise_dock(window.docks.hex)
    view.hex.show_guest()
    qtbot.waitUntil(lambda: view.hex.view.pages is not None)
    before = view.hex.view.pages
    assert view.hex.space is Space.GUEST
    view.session.permissions.allow([rich_image.parent / "base.raw"])
    qtbot.waitUntil(lambda: view.hex.view.pages not in (None, before))
    pages = view.hex.view.pages
    assert pages is not None
    found: list[bytes] = []
    base = (rich_image.parent / "base.raw").read_bytes()

    def stored_in_base() -> bool:
        assert pages is not None
        content = pages.read(0, 1 << 16)
        found[:] = [] if content is None else [content]
        return content is not None

    qtbot.waitUntil(stored_in_base)
    blocks = range(0, 1 << 16, 4096)
    assert any(found[0][at : at + 4096] == base[at : at + 4096] for at in blocks)


@pytest.fixture
def moved_base(tmp_path: Path) -> tuple[Path, Path]:
    """An overlay with one cluster of its own, and where its backing file is by now."""
    builder = ImageBuilder(size=1 << 20, backing_file="/nowhere/base.raw", backing_format="raw")
    builder.write(0, pattern(1 << 16))
    base = tmp_path / "elsewhere" / "base.raw"
    base.parent.mkdir()
    base.write_bytes(pattern(1 << 20, seed=5))
    return builder.build().write_to(tmp_path / "top.qcow2"), base


def test_the_whole_tab_reads_a_file_where_a_person_has_located_it(
    window: MainWindow, qtbot: QtBot, moved_base: tuple[Path, Path], tmp_path: Path
) -> None:
    top, base = moved_base
    same = tmp_path / "same.raw"
    same.write_bytes(pattern(1 << 16) + base.read_bytes()[1 << 16 :])
    view = opened(window, qtbot, top)
    view.hex.show_guest()
    view.map.show_orders(Order.GUEST)
    view.map.set_mode(ColourMode.CHAIN)
    qtbot.waitUntil(lambda: view.map.guest.message.isVisibleTo(view))
    open_question().reject()
    view.map.set_mode(ColourMode.CHAIN)
    qtbot.waitUntil(lambda: not window.loader.active)
    open_question().close()
    chain = view.chain.content
    qtbot.waitUntil(lambda: len(chain.links) == 2)
    chain.locate_at(chain.links[1], base)
    view.map.set_mode(ColourMode.CHAIN)
    qtbot.waitUntil(lambda: not window.loader.active)
    assert view.map.guest.layer is not None
    names = [key.name for key, _ in view.map.side.legend.rows()]
    assert names == ["layer 1", "this image"]
    pages = view.hex.view.pages
    assert pages is not None
    qtbot.waitUntil(lambda: pages.read(1 << 19, 512) is not None)
    assert pages.read(1 << 19, 512) == base.read_bytes()[1 << 19 : (1 << 19) + 512]
    compare = view.compare.content
    compare.compare_with(same)
    qtbot.waitUntil(lambda: compare.loader.overlay is not None)
    assert compare.loader.overlay is not None
    assert compare.loader.overlay.sentence == "A guest reads the same from both."


# -------------------------------------------------------------------------------- order


def test_the_map_comes_before_the_sums(window: MainWindow, qtbot: QtBot, data_image: Path) -> None:
    window.open_paths([data_image])
    view = window.current_view()
    assert view is not None
    seen: list[tuple[CheckState, MappingState]] = []
    session = view.session

    def note() -> None:
        seen.append((session.check_state, session.mapping_state))

    session.check_changed.connect(note)
    session.mapping_changed.connect(note)
    qtbot.waitUntil(lambda: not window.loader.active)
    assert (CheckState.DONE, MappingState.READING) in seen
    assert seen[-1] == (CheckState.DONE, MappingState.READ)
    assert session.index is not None


@pytest.mark.parametrize("command", ["cancel_check", "deep"])
def test_a_check_that_is_stopped_or_replaced_holds_up_nothing(
    window: MainWindow, qtbot: QtBot, data_image: Path, command: str
) -> None:
    session = Session(data_image, window.loader, window)
    checks: list[CheckState] = []
    session.check_changed.connect(lambda: checks.append(session.check_state))

    def interfere() -> None:
        if session.check_state is CheckState.RUNNING and len(checks) == 1:
            if command == "deep":
                session.start_check(deep=True)
            else:
                session.cancel_check()

    session.check_changed.connect(interfere)
    session.load()
    qtbot.waitUntil(lambda: session.index is not None)
    qtbot.waitUntil(lambda: not window.loader.active)
    assert session.mapping_state is MappingState.READ
    assert len(session.guest_states) == 16
    assert checks[-1] is (CheckState.DONE if command == "deep" else CheckState.CANCELLED)


# -------------------------------------------------------------------------------- closing


def writing(
    window: MainWindow, qtbot: QtBot, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> RepairDialog:
    """A repair whose copy is written, and not finished before it is cancelled."""
    view = opened(window, qtbot, broken_image().write_to(folder / "broken.qcow2"))
    window.actions_.repair.trigger()
    dialog = view.findChild(RepairDialog)
    assert isinstance(dialog, RepairDialog)
    qtbot.waitUntil(lambda: dialog.planned is not None)
    held = HeldCheck(monkeypatch)
    dialog.write()
    qtbot.waitUntil(lambda: held.began)
    assert dialog.writing
    return dialog


def test_closing_while_a_copy_is_written_asks_once(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog = writing(window, qtbot, tmp_path, monkeypatch)
    assert not window.close()
    assert not window.close()
    question = open_question()
    assert question.text() == "1 copy is being written."
    button(question, "Keep the window open").click()
    assert window.isVisible()
    assert dialog.writing
    window.close()
    button(open_question(), "Cancel and close").click()
    assert not window.isVisible()
    qtbot.waitUntil(lambda: not window.loader.active)
    assert [path.name for path in tmp_path.iterdir()] == ["broken.qcow2"]


def test_a_tab_stays_while_its_copy_is_written(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog = writing(window, qtbot, tmp_path, monkeypatch)
    window.actions_.close_tab.trigger()
    assert len(window.views()) == 1
    assert dialog.writing
    dialog.reject()
    qtbot.waitUntil(lambda: not window.loader.active)
    window.actions_.close_tab.trigger()
    assert window.views() == []
