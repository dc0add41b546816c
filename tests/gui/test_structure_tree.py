"""The structure tree: every table that an image names, made when looked at; badges; selection."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from qcowgui.check.checker import check_image
from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled, NotQcow2Error, SourceError
from qcowgui.format.finding import Severity
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.models.structure_tree import BADGE_ROLE, NOTE_ROLE, StructureTreeModel
from qcowgui.gui.models.tree_badges import Badge, Badges
from qcowgui.gui.models.tree_nodes import Node, Pointers, PointersWork
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import Session, SessionState
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.structure_tree_view import StructureTreeView
from qcowgui.image.inspect import inspect_source
from qcowgui.image.source import BytesSource, FileSource
from tests.support.base_images import rich, s0_builder
from tests.support.damage import set_l1_entry, set_l2_entry, set_refcount
from tests.support.damages import DAMAGES

KEY = StructureKey
COPIED = 1 << 63
MANY_TABLES = 5000


@pytest.fixture
def runner(qtbot: QtBot) -> Iterator[BackgroundRunner]:
    """A runner that has nothing left to do at the end of the test."""
    made = BackgroundRunner(interval_ms=5)
    yield made
    made.cancel_all()
    qtbot.waitUntil(lambda: not made.active)


class Tree:
    """An open image, its tree's model and the view over it."""

    def __init__(self, path: Path, qtbot: QtBot, runner: BackgroundRunner, theme: Theme) -> None:
        self.qtbot, self.runner = qtbot, runner
        self.session = Session(path, runner)
        self.view = StructureTreeView(self.session, theme)
        qtbot.addWidget(self.view)
        self.model: StructureTreeModel = self.view.structures
        self.view.resize(300, 600)
        self.view.show()
        self.session.load()
        self.settle()

    def settle(self) -> None:
        self.qtbot.waitUntil(lambda: not self.runner.active, timeout=20_000)

    def child(self, title: str, parent: QModelIndex | None = None) -> QModelIndex:
        """The child with a title."""
        above = QModelIndex() if parent is None else parent
        for row in range(self.model.rowCount(above)):
            index = self.model.index(row, 0, above)
            if index.data() == title:
                return index
        raise LookupError(f"{title!r} is not among {self.titles(above)}")

    def titles(self, parent: QModelIndex | None = None) -> list[str]:
        """What is below an item."""
        above = QModelIndex() if parent is None else parent
        return [
            str(self.model.index(row, 0, above).data()) for row in range(self.model.rowCount(above))
        ]

    def open(self, index: QModelIndex) -> None:
        """Look into an item."""
        self.view.expand(index)
        QApplication.processEvents()  # the view may do it with its next layout only
        self.settle()

    def badge(self, selection: Selection) -> str:
        """The badge of what stands for `selection`."""
        index = self.model.find(selection)
        assert self.model.selection_at(index) == selection
        badge = index.data(BADGE_ROLE)
        return badge.text if isinstance(badge, Badge) else ""


@pytest.fixture
def tree(tmp_path: Path, qtbot: QtBot, runner: BackgroundRunner, theme: Theme) -> Iterator[Tree]:
    """The rich image."""
    made = Tree(rich().write_to(tmp_path / "rich.qcow2"), qtbot, runner, theme)
    yield made
    made.view.abandon()
    made.session.abandon()


def many(path: Path) -> Path:
    """An image with thousands of L2 tables, every other entry of its L1."""
    builder = s0_builder(size=(2 * MANY_TABLES + 10) << 15)
    for index in range(MANY_TABLES):
        builder.raw_l1_entry(2 * index + 1, (index + 100) * 512)
    return builder.build().write_to(path)


@pytest.fixture
def large(tmp_path: Path, qtbot: QtBot, runner: BackgroundRunner, theme: Theme) -> Iterator[Tree]:
    """The image with thousands of tables."""
    made = Tree(many(tmp_path / "many.qcow2"), qtbot, runner, theme)
    yield made
    made.view.abandon()
    made.session.abandon()


def test_the_structures_of_an_image(tree: Tree) -> None:
    assert tree.titles() == [
        "Header",
        "Features",
        "Extensions",
        "L1 table",
        "Refcount table",
        "Snapshots",
        "Bitmaps",
        "Backing chain",
    ]
    assert tree.child("L1 table").data(NOTE_ROLE) == "2 entries"
    assert not tree.model.hasChildren(tree.child("Header"))


def test_qt_finds_nothing_wrong_with_the_model(tree: Tree) -> None:
    """Qt's tester looks into everything: what it objects to is a warning, which fails the test."""
    mode = QAbstractItemModelTester.FailureReportingMode.Warning
    tester = QAbstractItemModelTester(tree.model, mode)
    tree.settle()
    for name in ("L1 table", "Snapshots", "Bitmaps", "Refcount table"):
        tree.open(tree.child(name))
    assert tree.titles(tree.child("L1 table")) == ["L1[0] → L2", "L1[1] → L2"]
    tester.deleteLater()


def test_tables_are_read_when_they_are_looked_into(tree: Tree) -> None:
    l1 = tree.child("L1 table")
    assert tree.model.rowCount(l1) == 0
    assert tree.model.hasChildren(l1)
    tree.open(l1)
    assert tree.titles(l1) == ["L1[0] → L2", "L1[1] → L2"]
    assert tree.model.index(1, 0, l1).data(NOTE_ROLE) == "0x5000"
    blocks = tree.child("Refcount table")
    tree.open(blocks)
    assert tree.titles(blocks) == ["Block 0"]


def test_snapshots_and_bitmaps_have_their_tables(tree: Tree) -> None:
    snapshots = tree.child("Snapshots")
    tree.open(snapshots)
    assert tree.titles(snapshots) == ["L1 of “first”", "L1 of “second”"]
    first = tree.child("L1 of “first”", snapshots)
    tree.open(first)
    assert tree.titles(first) == ["L1[0] → L2", "L1[2] → L2"]
    below = tree.model.selection_at(tree.model.index(1, 0, first))
    assert below == Selection(KEY.L2, None, 2, 0)
    bitmaps = tree.child("Bitmaps")
    tree.open(bitmaps)
    found = tree.model.selection_at(tree.child("Table of “fine”", bitmaps))
    assert found == Selection(KEY.BITMAP_TABLE, None, 1)


def test_many_tables_are_put_into_groups(large: Tree) -> None:
    l1 = large.child("L1 table")
    large.open(l1)
    titles = large.titles(l1)
    assert len(titles) == 5
    # Entry 0 is the builder's own table.
    assert titles[0] == "L1[0 … 2045]"
    assert titles[-1].endswith(f"… {2 * MANY_TABLES - 1}]")
    group = large.model.index(1, 0, l1)
    assert large.model.selection_at(group) is None
    assert group.data(NOTE_ROLE) == "1,024"
    assert large.model.rowCount(group) == 0
    large.open(group)
    assert large.model.rowCount(group) == 1024
    assert large.titles(group)[0] == "L1[2047] → L2"


def test_only_what_is_looked_at_becomes_nodes(large: Tree) -> None:
    large.session.select(Selection(KEY.L2, 5, 7001))
    large.settle()
    current = large.view.currentIndex()
    assert current.data() == "L1[7001] → L2"
    assert large.view.visualRect(current).isValid()
    group = current.parent()
    siblings = [large.model.rowCount(group.siblingAtRow(row)) for row in range(5)]
    assert sorted(siblings) == [0, 0, 0, 0, 1024]


def test_the_selection_leads_to_its_table(tree: Tree) -> None:
    expected = [
        (Selection(KEY.HEADER, 3), "Header"),
        (Selection(KEY.L1, 1), "L1 table"),
        (Selection(KEY.L2, 9, 0), "L1[0] → L2"),
        (Selection(KEY.REFCOUNT_BLOCK, 7, 0), "Block 0"),
        (Selection(KEY.L1, 0, None, 1), "L1 of “second”"),
        (Selection(KEY.L2, 0, 0, 1), "L1[0] → L2"),
        (Selection(KEY.BITMAP_TABLE, 0, 1), "Table of “fine”"),
        (Selection(KEY.SNAPSHOTS, 1), "Snapshots"),
    ]
    for selection, title in expected:
        tree.session.select(selection)
        tree.settle()
        assert tree.view.currentIndex().data() == title
        assert tree.session.selection.is_same_place(selection), "looking changes nothing"
    assert tree.view.currentIndex().parent() == QModelIndex()


def test_a_table_that_no_entry_names_leads_to_the_one_above(tree: Tree) -> None:
    tree.session.select(Selection(KEY.REFCOUNT_BLOCK, 0, 100))
    tree.settle()
    assert tree.view.currentIndex().data() == "Refcount table"


def test_an_item_that_is_chosen_is_selected_everywhere(tree: Tree) -> None:
    chosen: list[Selection] = []
    tree.view.chosen.connect(chosen.append)
    l1 = tree.child("L1 table")
    tree.open(l1)
    place = tree.view.visualRect(tree.child("L1[1] → L2", l1)).center()
    QTest.mouseClick(tree.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert tree.session.selection.table == Selection(KEY.L2, None, 1)
    tree.settle()
    assert tree.session.selection.host == (0x5000, 0x6000)
    QTest.keyClick(tree.view, Qt.Key.Key_Up)
    QTest.keyClick(tree.view, Qt.Key.Key_Up)
    assert [found.structure for found in chosen] == [KEY.L2, KEY.L2, KEY.L1]


def test_typing_looks_at_the_items_in_view(tree: Tree) -> None:
    tree.view.setCurrentIndex(tree.child("Header"))
    tree.view.keyboardSearch("sna")
    assert tree.view.currentIndex().data() == "Snapshots"
    tree.view.keyboardSearch("nothing")
    assert tree.view.currentIndex().data() == "Snapshots"


def test_badges_count_what_a_check_finds(
    tmp_path: Path, qtbot: QtBot, runner: BackgroundRunner, theme: Theme
) -> None:
    image = set_l2_entry(rich(), 30, 2)
    image = set_l2_entry(image, 31, 2)
    image = set_refcount(image, 15, 1)
    tree = Tree(image.write_to(tmp_path / "broken.qcow2"), qtbot, runner, theme)
    for name in ("L1 table", "Refcount table", "Snapshots"):
        tree.open(tree.child(name))
    assert tree.badge(Selection(KEY.L2, None, 0)) == "2"
    assert tree.badge(Selection(KEY.L2, None, 1)) == ""
    assert tree.badge(Selection(KEY.L1)) == "2"
    assert tree.badge(Selection(KEY.REFCOUNT_BLOCK, None, 0)) == "1"
    assert tree.badge(Selection(KEY.REFCOUNT_TABLE)) == "1"
    assert tree.badge(Selection(KEY.SNAPSHOTS)) == ""
    assert tree.badge(Selection(KEY.HEADER)) == ""
    index = tree.model.find(Selection(KEY.L2, None, 0))
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "L1[0] → L2, 0x4000, 2 findings"
    tree.session.abandon()


def badges_of(name: str) -> tuple[Badges, int]:
    """The badges of a damaged image, and how many findings but notes it has."""
    source = BytesSource(DAMAGES[name].apply(rich()).to_bytes(), name)
    report = inspect_source(source)
    check = check_image(source, report, token=CancelToken())
    badges = Badges.of_groups(check.groups, report.header.geometry)
    total = sum(group.count for group in check.groups if group.severity is not Severity.INFO)
    return badges, total


@pytest.mark.parametrize("name", sorted(DAMAGES))
def test_no_badge_counts_more_than_there_is(name: str) -> None:
    try:
        badges, total = badges_of(name)
    except NotQcow2Error:
        return
    tops = (*(key for key in KEY if not key.is_entry_table), KEY.L1, KEY.REFCOUNT_TABLE)
    found = [badges.of(Node("", selection=Selection(key))) for key in tops]
    counted = sum(badge.count for badge in found if badge is not None)
    assert 0 <= counted <= total
    if name in ("l2_garbage", "header_l1_size_zero"):
        assert counted


def test_findings_that_were_not_kept_count_above(large: Tree) -> None:
    """5,000 bad L1 entries: 64 of them are kept, all are counted."""
    l1 = large.child("L1 table")
    badge = l1.data(BADGE_ROLE)
    assert isinstance(badge, Badge)
    assert badge.count >= MANY_TABLES
    assert badge.severity is Severity.CORRUPTION


def test_badges_before_a_check_are_those_of_an_open() -> None:
    source = BytesSource(DAMAGES["header_l1_unaligned"].apply(rich()).to_bytes(), "x")
    report = inspect_source(source)
    badges = Badges.of_findings(report.findings, report.header.geometry)
    found = badges.of(Node("", selection=Selection(KEY.HEADER)))
    assert found is not None
    assert found.exact


def test_a_damaged_table_has_only_sound_nodes(
    tmp_path: Path, qtbot: QtBot, runner: BackgroundRunner, theme: Theme
) -> None:
    image = set_l1_entry(rich(), 0, COPIED | (1 << 55) | 0x200)
    tree = Tree(image.write_to(tmp_path / "far.qcow2"), qtbot, runner, theme)
    l1 = tree.child("L1 table")
    tree.open(l1)
    assert tree.model.index(0, 0, l1).data(NOTE_ROLE) == "0x80_0000_0000_0200"
    tree.session.abandon()


def test_a_table_that_cannot_be_read_says_so(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: FileSource, offset: int, length: int) -> bytes:
        raise SourceError(f"{self.name}: {length} bytes at {offset} are lost", path="x")

    with monkeypatch.context() as patch:
        patch.setattr(FileSource, "read_at", fail)
        tree.open(tree.child("L1 table"))
    l1 = tree.child("L1 table")
    assert l1.data(NOTE_ROLE) == "unreadable"
    assert "are lost" in str(l1.data(Qt.ItemDataRole.ToolTipRole))
    assert not tree.model.canFetchMore(l1)


def test_reading_again_makes_a_new_tree(tree: Tree) -> None:
    tree.session.select(Selection(KEY.L2, 3, 1))
    tree.settle()
    tree.session.load()
    tree.settle()
    assert tree.session.state is SessionState.READY
    assert tree.view.currentIndex().data() == "L1[1] → L2"
    tree.session.path.write_bytes(b"nothing of the kind")
    tree.session.load()
    tree.settle()
    assert tree.titles() == []


def test_an_l1_of_the_largest_size_is_listed_quickly() -> None:
    """4,194,304 entries, all of them tables: 4,096 groups and no more."""
    entries = np.arange(1 << 22, dtype=np.int32)
    pointers = Pointers(Selection(KEY.L1), entries, entries.astype(np.uint64) << np.uint64(16))
    start = time.thread_time()
    node = Node.over(Node("L1", selection=Selection(KEY.L1)), pointers)
    node.make_children()
    found = node.child_with(Selection(KEY.L2, None, 3_000_000))
    assert found is not None
    found.make_children()
    table = found.child_with(Selection(KEY.L2, None, 3_000_000))
    assert table is not None
    assert time.thread_time() - start < 0.3
    assert table.title == "L1[3000000] → L2"
    assert node.child_count == 4096


def test_reading_a_table_can_be_cancelled(tree: Tree) -> None:
    assert tree.session.source is not None
    assert tree.session.inspected is not None
    token = CancelToken()
    token.cancel()
    work = PointersWork(tree.session.source, tree.session.inspected.report, Selection(KEY.L1))
    with pytest.raises(Cancelled):
        work(token)
