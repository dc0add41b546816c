"""The map of a session: linked with everything else, explained, listed, saved."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from qcowgui.check.clustermap import ClusterState
from qcowgui.check.guestmap import GuestState
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.heatmap import map_pane
from qcowgui.gui.heatmap.layers import ColourMode, Order, Shown
from qcowgui.gui.heatmap.map_view import MapView
from qcowgui.gui.heatmap.scene import Arrangement
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import CheckState, Session
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.theme import Theme
from tests.gui.support import button, open_question
from tests.support.base_images import pattern, rich
from tests.support.builder import ImageBuilder
from tests.support.damage import poke, set_refcount

MIB = 1 << 20
NO_KEY = Qt.KeyboardModifier.NoModifier

Open = Callable[[Path], MapView]


@pytest.fixture
def open_map(qtbot: QtBot, theme: Theme) -> Iterator[Open]:
    runner = BackgroundRunner(interval_ms=5)
    opened: list[tuple[Session, MapView]] = []

    def open_session(path: Path) -> MapView:
        session = Session(path, runner)
        view = MapView(session, theme)
        qtbot.addWidget(view)
        view.resize(1000, 600)
        view.show()
        opened.append((session, view))
        session.load()
        qtbot.waitUntil(lambda: session.index is not None and not runner.active)
        return view

    yield open_session
    for session, view in opened:
        session.abandon()
        view.abandon()
    qtbot.waitUntil(lambda: not runner.active)


def session_of(view: MapView) -> Session:
    return view._session


def settle(qtbot: QtBot, view: MapView) -> None:
    runner = session_of(view).runner
    qtbot.waitUntil(lambda: not runner.active and not view.host.busy and not view.guest.busy)


def is_busy(view: MapView) -> bool:
    """The state now: a type checker takes an attribute that was looked at for unchanged."""
    return view.host.busy


def selected(view: MapView) -> StructureKey:
    """What is selected now."""
    return session_of(view).selection.structure


def click(view: MapView, order: Order, cluster: int) -> None:
    canvas = (view.host if order is Order.HOST else view.guest).canvas
    rect = canvas.rect_of_cluster(cluster)
    assert rect is not None
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, NO_KEY, rect.center())


def double_click(widget: QWidget, at: QPoint) -> None:
    """Send what a window system sends: a click comes first. QTest leaves that out."""
    button = Qt.MouseButton.LeftButton
    kind = QEvent.Type
    for event_type, held in (
        (kind.MouseButtonPress, button),
        (kind.MouseButtonRelease, Qt.MouseButton.NoButton),
        (kind.MouseButtonDblClick, button),
        (kind.MouseButtonRelease, Qt.MouseButton.NoButton),
    ):
        place = QPointF(at), widget.mapToGlobal(QPointF(at))
        QApplication.sendEvent(widget, QMouseEvent(event_type, *place, button, held, NO_KEY))


def test_both_orders_show_the_states(open_map: Open, rich_image: Path) -> None:
    view = open_map(rich_image)
    session = session_of(view)
    assert view.host.layer is not None
    assert view.guest.layer is not None
    assert view.host.layer.cells is session.states
    assert len(view.guest.layer) == 1024
    assert view.guest.layer.value_of(0) == GuestState.DATA
    assert view.guest.layer.value_of(50) == GuestState.BACKING
    assert "31 clusters of 4 KiB" in view.host.title.text()


def test_the_legend_counts_what_there_is(open_map: Open, rich_image: Path) -> None:
    view = open_map(rich_image)
    check = session_of(view).check
    assert check is not None
    rows = {key.name: amount.clusters for key, amount in view.side.legend.rows()}
    assert rows["L2 table"] == 2
    assert rows["free"] == 2
    assert sum(rows.values()) == len(session_of(view).states)
    item = view.side.legend.topLevelItem(0)
    assert item is not None
    assert item.text(0) == "header"
    assert item.text(2) == "4 KiB"
    assert item.toolTip(0).startswith("The first cluster")


def test_a_host_cell_selects_everywhere(open_map: Open, rich_image: Path) -> None:
    view = open_map(rich_image)
    session = session_of(view)
    data = int((session.states == ClusterState.DATA).argmax())
    click(view, Order.HOST, data)
    assert selected(view) is StructureKey.CLUSTER
    assert session.selection.row == data
    assert session.selection.guest is not None
    guest = session.selection.guest[0] // 4096
    assert view.guest.canvas.selected is not None
    assert view.guest.canvas.selected.first == guest
    table = int((session.states == ClusterState.ACTIVE_L2).argmax())
    click(view, Order.HOST, table)
    assert selected(view) is StructureKey.L2
    assert view.host.canvas.current == table


def test_a_guest_cell_lights_each_step(open_map: Open, rich_image: Path, qtbot: QtBot) -> None:
    view = open_map(rich_image)
    session = session_of(view)
    view.show_orders(*Order)
    click(view, Order.GUEST, 1)
    assert selected(view) is StructureKey.GUEST
    qtbot.waitUntil(lambda: view.lights.complete)
    steps = view.host.canvas.marks
    assert [mark.label for mark in steps] == ["1", "2", "3"]
    states = [ClusterState(session.states[mark.first]) for mark in steps]
    assert states == [ClusterState.ACTIVE_L1, ClusterState.ACTIVE_L2, ClusterState.DATA]
    assert view.host.canvas.current == steps[2].first
    assert view.trail.text().startswith("guest 0x1000:")
    assert "host cluster lies in the bytes" in view.trail.toolTip()
    assert view.trail.accessibleDescription().count("   ") == 3
    view.copy_cells()
    assert QGuiApplication.clipboard().text().startswith("guest 0x1000 · 4 KiB · guest cluster 1")


def test_what_is_selected_elsewhere_is_shown(open_map: Open, rich_image: Path) -> None:
    view = open_map(rich_image)
    session = session_of(view)
    assert session.locator is not None
    session.select(session.locator.parse_go_to("0x3000"))
    assert view.host.canvas.current == 3
    session.select(Selection(StructureKey.GUEST, guest=(0x4000, 0x8000)))
    assert view.guest.canvas.selected is not None
    selected = view.guest.canvas.selected
    assert (selected.first, selected.last) == (4, 8)


def test_ranges_become_a_selection_of_bytes(open_map: Open, rich_image: Path, qtbot: QtBot) -> None:
    view = open_map(rich_image)
    with qtbot.waitSignal(view.readout) as signal:
        view.host.canvas.range_chosen.emit(2, 5)
    assert session_of(view).selection == Selection(StructureKey.CLUSTER, host=(0x2000, 0x5000))
    assert signal.args == ["3 clusters · 12 KiB · 0x2000 – 0x4fff"]
    assert view.host.canvas.selected is not None
    assert view.host.canvas.selected.last == 5


def test_the_readout_says_what_is_known(open_map: Open, rich_image: Path) -> None:
    view = open_map(rich_image)
    session = session_of(view)
    told: list[str] = []
    view.readout.connect(told.append)
    data = int((session.states == ClusterState.DATA).argmax())
    view.host.canvas.hovered.emit(data)
    assert told[0].startswith(f"host 0x{data * 4096:_x} · cluster {data} · data · guest ")
    assert "L1[" in told[0]
    view.host.canvas.hovered.emit(None)
    assert told[1] == ""
    view.guest.canvas.hovered.emit(8)
    assert told[2].startswith("guest 0x8000 · 32 KiB · guest cluster 8 · compressed · L1[0] L2[8]")


def test_the_readout_names_a_wrong_refcount(open_map: Open, tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "base.raw").write_bytes(pattern(MIB, seed=9))
    image = rich()
    cluster = image.layout.data[768].offset // 4096
    view = open_map(set_refcount(image, cluster, 9).write_to(tmp_path / "rich.qcow2"))
    told: list[str] = []
    view.readout.connect(told.append)

    def says_both() -> bool:  # the refcount block has to be read first
        view.host.canvas.hovered.emit(cluster)
        return "refcount 9, but " in told[-1]

    qtbot.waitUntil(says_both)
    assert "refcount too high" in told[-1]


def test_n_and_p_step_through_a_state(open_map: Open, rich_image: Path) -> None:
    view = open_map(rich_image)
    session = session_of(view)
    states = session.states
    first = int((states == ClusterState.ACTIVE_L2).argmax())
    assert session.locator is not None
    session.select(session.locator.at_host(0))
    told: list[str] = []
    view.readout.connect(told.append)
    QTest.keyClicks(view.host.canvas, "n")
    assert told[-1] == "No other cluster: header"
    data = [index for index, state in enumerate(states) if state == ClusterState.DATA]
    starts = [index for index in data if index - 1 not in data]
    assert len(starts) > 1
    session.select(session.locator.at_host(starts[0] * 4096))
    QTest.keyClicks(view.host.canvas, "n")
    assert view.host.canvas.current == starts[1]
    QTest.keyClicks(view.host.canvas, "p")
    assert view.host.canvas.current in data
    assert first > 0


def test_clicks_in_the_legend_isolate_and_hide(open_map: Open, rich_image: Path) -> None:
    view = open_map(rich_image)
    legend = view.side.legend
    item = legend.findItems("data", Qt.MatchFlag.MatchExactly)[0]
    at = legend.visualItemRect(item).center()
    value = int(ClusterState.DATA)
    viewport = legend.viewport()
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, NO_KEY, at)
    assert view.host.shown == Shown(isolated=value)
    assert item.font(0).bold()
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, NO_KEY, at)
    assert view.host.shown == Shown()
    for shown in (Shown(hidden=frozenset({value})), Shown()):
        double_click(viewport, at)
        assert view.host.shown == shown
    legend.setCurrentItem(item)
    QTest.keyClick(legend, Qt.Key.Key_Space)
    assert view.host.shown.isolated == value
    QTest.keyClick(legend, Qt.Key.Key_Delete)
    assert view.host.shown == Shown(hidden=frozenset({value}))
    assert item.font(0).strikeOut()
    QTest.keyClick(legend, Qt.Key.Key_Space)
    assert view.host.shown == Shown()


def test_the_ranges_are_the_map(open_map: Open, rich_image: Path, qtbot: QtBot) -> None:
    view = open_map(rich_image)
    session = session_of(view)
    table = view.side.ranges
    assert table.ranges.rowCount() == 0, "looked for when they are wanted"
    view.side.setCurrentWidget(table)
    settle(qtbot, view)
    total = 0
    for row in range(table.ranges.rowCount()):
        run = table.run_of(row)
        assert run is not None
        assert set(session.states[run.first : run.last].tolist()) == {run.value}
        total += run.last - run.first
    assert total == len(session.states)
    table.selectRow(1)
    assert session.selection.host is not None
    assert session.selection.host[0] == 0x1000
    table.copy_rows()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0] == "State\tOffset\tFirst cluster\tClusters\tSize"
    assert lines[1] == "refcount table\t0x1000\t1\t1\t4 KiB"
    view.side.legend.isolate(int(ClusterState.ACTIVE_L2))
    names = {table.ranges.cells(row)[0] for row in range(table.ranges.rowCount())}
    assert names == {"L2 table"}


def test_the_current_range_follows_the_selection(
    open_map: Open, rich_image: Path, qtbot: QtBot
) -> None:
    view = open_map(rich_image)
    view.side.setCurrentWidget(view.side.ranges)
    settle(qtbot, view)
    click(view, Order.HOST, 3)
    run = view.side.ranges.run_of(view.side.ranges.currentIndex().row())
    assert run is not None
    assert run.first <= 3 < run.last
    assert selected(view) is StructureKey.L1


@pytest.mark.parametrize("mode", [mode for mode in ColourMode if mode is not ColourMode.CHAIN])
def test_colour_modes(open_map: Open, rich_image: Path, qtbot: QtBot, mode: ColourMode) -> None:
    view = open_map(rich_image)
    view.show_orders(*Order)
    view.set_mode(mode)
    settle(qtbot, view)
    assert view.host.layer is not None
    assert view.guest.layer is not None
    assert view.host.layer.mode is mode
    assert view.guest.layer.mode is (mode if Order.GUEST in mode.orders else ColourMode.STATE)
    assert view.tools.modes.currentData() is mode
    assert not view.host.message.isVisible()
    assert view.side.legend.topLevelItemCount() > 0
    view.set_mode(ColourMode.STATE)
    assert view.host.layer.cells is session_of(view).states


def test_the_list_offers_what_the_order_has(open_map: Open, rich_image: Path) -> None:
    view = open_map(rich_image)
    modes = view.tools.modes
    offered = {modes.itemData(index) for index in range(modes.count())}
    assert offered == {mode for mode in ColourMode if Order.HOST in mode.orders}
    view.show_orders(Order.GUEST)
    offered = {modes.itemData(index) for index in range(modes.count())}
    assert offered == {mode for mode in ColourMode if Order.GUEST in mode.orders}
    modes.setCurrentIndex(modes.findData(ColourMode.FRAGMENTATION))
    assert view.guest.mode is ColourMode.FRAGMENTATION


def test_files_of_the_chain_are_opened_when_a_person_agrees(
    open_map: Open, rich_image: Path, qtbot: QtBot
) -> None:
    view = open_map(rich_image)
    view.show_orders(Order.GUEST)
    view.set_mode(ColourMode.CHAIN)
    settle(qtbot, view)
    box = open_question()
    button(box, "Allow").click()
    settle(qtbot, view)
    assert view.guest.layer is not None
    assert view.guest.layer.mode is ColourMode.CHAIN
    names = [key.name for key, _ in view.side.legend.rows()]
    assert names == ["layer 1", "this image", "nowhere"]


def test_files_of_the_chain_are_not_opened_otherwise(
    open_map: Open, rich_image: Path, qtbot: QtBot
) -> None:
    view = open_map(rich_image)
    view.show_orders(Order.GUEST)
    view.set_mode(ColourMode.CHAIN)
    settle(qtbot, view)
    box: QMessageBox = open_question()
    button(box, "Don’t read them").click()
    settle(qtbot, view)
    assert view.guest.mode is ColourMode.STATE
    assert view.tools.modes.currentData() is ColourMode.STATE


def test_work_can_be_stopped(open_map: Open, tmp_path: Path, qtbot: QtBot) -> None:
    builder = ImageBuilder(size=4 * MIB)
    builder.write(0, pattern(MIB))
    view = open_map(builder.build().write_to(tmp_path / "a.qcow2"))
    before = view.host.layer
    view.set_mode(ColourMode.ENTROPY)
    assert is_busy(view)
    assert view.host.stop.isVisible()
    view.host.stop.click()
    assert not is_busy(view)
    settle(qtbot, view)
    assert view.host.layer is before


def test_a_mode_that_was_left_is_not_shown(open_map: Open, rich_image: Path, qtbot: QtBot) -> None:
    view = open_map(rich_image)
    view.set_mode(ColourMode.ENTROPY)
    view.set_mode(ColourMode.STATE)
    settle(qtbot, view)
    assert view.host.layer is not None
    assert view.host.layer.mode is ColourMode.STATE


def test_huge_images_are_shown_by_parts(
    open_map: Open, rich_image: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(map_pane, "MAX_CELLS", 10)
    view = open_map(rich_image)
    session = session_of(view)
    pane = view.host
    assert pane.parts.isVisible()
    assert [pane.parts.itemText(index) for index in range(4)] == [
        f"Part {number} of 4" for number in range(1, 5)
    ]
    pane.parts.setCurrentIndex(2)
    settle(qtbot, view)
    assert pane.layer is not None
    assert (pane.layer.first, pane.layer.last) == (20, 30)
    assert pane.layer.cells.tolist() == session.states[20:30].tolist()
    # What is selected elsewhere brings its part to the front.
    assert session.locator is not None
    session.select(session.locator.at_host(12 * 4096))
    settle(qtbot, view)
    assert pane.layer is not None
    assert pane.layer.first == 10


def test_the_context_menu_copies(open_map: Open, rich_image: Path) -> None:
    view = open_map(rich_image)
    menu = view.context_menu(view.host, 1)
    actions = {action.text(): action for action in menu.actions()}
    clipboard = QGuiApplication.clipboard()
    actions["Copy cluster"].trigger()
    assert clipboard.text().startswith("host 0x1000 · cluster 1 · refcount table")
    actions["Copy as a row"].trigger()
    assert clipboard.text().startswith("host 0x1000\tcluster 1\trefcount table")
    actions["Copy legend"].trigger()
    assert clipboard.text().splitlines()[1] == "header\t1\t4096"
    actions["Only this state"].trigger()
    assert view.host.shown.isolated == ClusterState.REFCOUNT_TABLE
    menu.close()
    menu = view.context_menu(view.host, None)
    everything = next(action for action in menu.actions() if action.text() == "All states")
    everything.trigger()
    assert view.host.shown.is_everything
    menu.close()


def test_arrangements_and_zoom_buttons(open_map: Open, rich_image: Path) -> None:
    view = open_map(rich_image)
    canvas = view.host.canvas
    actions = {action.text(): action for action in view.tools.actions() if action.text()}
    actions["Hilbert"].trigger()
    assert canvas.scene is not None
    assert canvas.scene.arrangement is Arrangement.HILBERT
    assert canvas.view is not None
    scale = canvas.view.scale
    actions["Zoom in (+)"].trigger()
    assert canvas.view.scale > scale
    actions["Show everything (0)"].trigger()
    assert canvas.view.scale == scale
    actions["Guest"].trigger()
    assert view.guest.isVisible()
    assert not view.host.isVisible()
    assert view.canvas is view.guest.canvas
    actions["Both"].trigger()
    assert view.host.isVisible()


def test_pictures_carry_legend_and_name(open_map: Open, rich_image: Path, tmp_path: Path) -> None:
    view = open_map(rich_image)
    picture = view.host.canvas.picture()
    assert picture is not None
    view.save_picture(str(tmp_path / "map.png"))
    image = QImage(str(tmp_path / "map.png"))
    assert image.width() > picture.width() + 300
    rect = view.host.canvas.rect_of_cluster(3)
    assert rect is not None
    at = rect.center() + QPoint(16, 64)
    assert image.pixelColor(at) == picture.pixelColor(rect.center())
    view.save_picture(str(tmp_path / "map.svg"))
    root = ET.parse(tmp_path / "map.svg").getroot()
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert texts[0] == "rich.qcow2"
    assert "header" in texts
    assert "31 clusters" in str(texts[1])
    assert sum(element.tag.endswith("image") for element in root.iter()) == 1


def test_a_picture_that_can_not_be_saved_is_said(
    open_map: Open, rich_image: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    view = open_map(rich_image)
    with qtbot.waitSignal(view.readout) as signal:
        view.save_picture(str(tmp_path / "absent" / "map.png"))
    assert "can't be written" in str(signal.args)


def test_the_dialog_proposes_a_name(open_map: Open, rich_image: Path, qtbot: QtBot) -> None:
    view = open_map(rich_image)
    view.choose_file()
    dialog = view.findChild(QFileDialog)
    assert dialog is not None
    assert Path(dialog.selectedFiles()[0]).name == "rich.qcow2-map.png"
    dialog.reject()
    qtbot.waitUntil(lambda: view.findChild(QFileDialog) is None)


def test_an_image_that_can_not_be_mapped_says_so(
    tmp_path: Path, qtbot: QtBot, theme: Theme
) -> None:
    path = tmp_path / "bad.qcow2"
    image = rich()
    image = poke(image, 20, (40).to_bytes(4, "big"))  # cluster_bits
    image.write_to(path)
    runner = BackgroundRunner(interval_ms=5)
    session = Session(path, runner)
    view = MapView(session, theme)
    qtbot.addWidget(view)
    view.show()
    session.load()
    qtbot.waitUntil(lambda: session.check_state is CheckState.DONE and not runner.active)
    assert view.host.layer is None
    assert view.host.waiting.isVisible()
    assert "can’t be mapped" in view.host.waiting.label.text()
    view.canvas.zoom(2)
    view.save_picture(str(tmp_path / "nothing.png"))
    assert not (tmp_path / "nothing.png").exists()
    session.abandon()
    view.abandon()


def test_reading_the_file_again_keeps_the_map_until_there_is_a_newer(
    open_map: Open, rich_image: Path, qtbot: QtBot
) -> None:
    view = open_map(rich_image)
    session = session_of(view)
    before = view.host.layer
    session.load()
    assert view.host.layer is before
    qtbot.waitUntil(lambda: session.index is not None and not session.runner.active)
    assert view.host.layer is not None
    assert view.host.layer is not before
    assert view.host.layer.cells is session.states
