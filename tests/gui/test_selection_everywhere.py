"""Selection is one thing: whatever is chosen anywhere is chosen in every view."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.selection import Selection
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.views.image_view import ImageView
from tests.gui.support import open_image
from tests.support.base_images import pattern
from tests.support.builder import ImageBuilder

CLUSTER = 65536
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def view(window: MainWindow, qtbot: QtBot, data_image: Path) -> ImageView:
    """An image whose guest cluster 3 is data; what was selected has been seen everywhere."""
    open_image(window, qtbot, data_image)
    found = window.current_view()
    assert found is not None
    return found


def host_of(view: ImageView, guest_cluster: int, qtbot: QtBot) -> int:
    """The host cluster of a guest cluster, once its tables have been read."""
    locator = view.session.locator
    assert locator is not None
    qtbot.waitUntil(lambda: locator.at_guest(guest_cluster * CLUSTER).complete)
    host = locator.at_guest(guest_cluster * CLUSTER).steps[-1].selection.host
    assert host is not None
    return host[0] // CLUSTER


def all_show_guest_cluster(view: ImageView, guest_cluster: int, qtbot: QtBot) -> None:
    """Table, tree, hex view and map show the L2 entry or the cluster of a guest cluster.

    The table does so when it is looked at.
    """
    view.show_table()
    grid = view.structure.entries.grid
    qtbot.waitUntil(lambda: grid.current_entry() == guest_cluster)
    assert view.centre.tabText(1) == "L2 table of L1[0]"
    assert view.tree.currentIndex().data() == "L1[0] → L2"
    qtbot.waitUntil(lambda: view.hex.view.mark == view.session.selection.host)
    assert view.map.guest.canvas.selected is not None
    assert view.map.guest.canvas.selected.first == guest_cluster


def test_a_cell_of_the_map(view: ImageView, qtbot: QtBot) -> None:
    cluster = host_of(view, 3, qtbot)
    canvas = view.map.host.canvas
    qtbot.waitUntil(lambda: canvas.rect_of_cluster(cluster) is not None)
    rect = canvas.rect_of_cluster(cluster)
    assert rect is not None
    QTest.mouseClick(canvas, LEFT, Qt.KeyboardModifier.NoModifier, rect.center())
    selection = view.session.selection
    assert (selection.structure, selection.row) == (StructureKey.CLUSTER, cluster)
    assert selection.guest == (3 * CLUSTER, 4 * CLUSTER)
    all_show_guest_cluster(view, 3, qtbot)


def test_a_row_of_a_table(view: ImageView, qtbot: QtBot) -> None:
    view.show_table()
    view.session.select(Selection(StructureKey.L2, 0, 0))
    grid = view.structure.entries.grid
    qtbot.waitUntil(lambda: grid.current_entry() == 0)
    for _ in range(3):
        QTest.keyClick(grid, Qt.Key.Key_Down)
    assert view.session.selection.is_same_place(Selection(StructureKey.L2, 3, 0))
    qtbot.waitUntil(lambda: view.session.selection.host is not None)
    all_show_guest_cluster(view, 3, qtbot)


def test_a_byte_of_the_file(view: ImageView, qtbot: QtBot) -> None:
    cluster = host_of(view, 3, qtbot)
    assert view.session.locator is not None
    view.session.select(view.session.locator.at_host(cluster * CLUSTER + 5))
    all_show_guest_cluster(view, 3, qtbot)


def test_a_node_of_the_tree(view: ImageView, qtbot: QtBot) -> None:
    assert view.centre.currentWidget() is view.map
    view.tree.setFocus()
    view.tree.setCurrentIndex(view.tree.structures.find(Selection(StructureKey.L1)))
    assert view.session.selection.table == Selection(StructureKey.L1)
    assert view.centre.currentWidget() is view.structure
    qtbot.waitUntil(view.structure.entries.grid.isVisible)
    assert view.centre.tabText(1) == "L1 table"


def test_a_finding(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    builder = ImageBuilder(size=1 << 20)
    builder.write(0, pattern(CLUSTER))
    builder.raw_l2_entry(12, 1 << 58)
    open_image(window, qtbot, builder.build().write_to(tmp_path / "damaged.qcow2"))
    view = window.current_view()
    assert view is not None
    view.show_table()
    (finding,) = [f for f in view.session.findings if f.code == "l2-reserved-bits"]
    assert view.session.select_finding(finding)
    selection = view.session.selection
    assert (selection.structure, selection.part, selection.row) == (StructureKey.L2, 0, 12)
    qtbot.waitUntil(lambda: view.structure.entries.grid.current_entry() == 12)
    qtbot.waitUntil(lambda: view.session.selection.host is not None)
    qtbot.waitUntil(lambda: view.hex.view.mark == view.session.selection.host)


def test_go_to_leads_to_every_view(window: MainWindow, view: ImageView, qtbot: QtBot) -> None:
    assert view.session.locator is not None
    view.session.select(view.session.locator.parse_go_to("L1[0]/L2[3]"))
    qtbot.waitUntil(lambda: view.session.selection.host is not None)
    all_show_guest_cluster(view, 3, qtbot)
    window.actions_.back.trigger()
    assert view.session.selection.structure is StructureKey.HEADER
    assert view.tree.currentIndex().data() == "Header"
