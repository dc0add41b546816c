"""The inspector: follows the selection, leads to others, finds owners beside the window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from qcowgui.errors import SourceError
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.inspector_links import OwnersWork
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import Session
from qcowgui.gui.settings import ColourScheme
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.inspector import Inspector
from qcowgui.gui.views.rich_text import RichText
from tests.support.base_images import pattern
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.damage import get_l2_entry, set_l2_entry

KEY = StructureKey
CLUSTER = 65536


@pytest.fixture
def runner(qtbot: QtBot) -> Iterator[BackgroundRunner]:
    """A runner that has nothing left to do at the end of the test."""
    made = BackgroundRunner(interval_ms=5)
    yield made
    made.cancel_all()
    qtbot.waitUntil(lambda: not made.active)


def image() -> BuiltImage:
    builder = ImageBuilder(size=64 * CLUSTER)
    builder.write(2 * CLUSTER, pattern(3 * CLUSTER))
    builder.write_compressed(8, b"text " * 3000)
    builder.write_compressed(9, b"more " * 3000)
    builder.snapshot("a" * 900)
    return builder.build()


@pytest.fixture
def session(tmp_path: Path, qtbot: QtBot, runner: BackgroundRunner) -> Iterator[Session]:
    made = Session(image().write_to(tmp_path / "image.qcow2"), runner)
    made.load()
    qtbot.waitUntil(lambda: not runner.active)
    yield made
    made.abandon()


@pytest.fixture
def inspector(session: Session, theme: Theme, qtbot: QtBot) -> Iterator[Inspector]:
    made = Inspector(session, theme)
    qtbot.addWidget(made)
    made.resize(300, 900)
    made.show()
    yield made
    made.abandon()


def texts(inspector: Inspector) -> str:
    return "\n".join(found.toPlainText() for found in inspector.findChildren(RichText))


def select(inspector: Inspector, session: Session, qtbot: QtBot, selection: Selection) -> None:
    """Select something, and wait until the inspector knows all of it."""
    session.select(selection)

    def complete() -> None:
        assert inspector.inspection is not None
        assert inspector.inspection.described.complete
        assert inspector.inspection.selection.is_same_place(session.selection)
        assert "Looking through" not in inspector.owners.toPlainText()

    qtbot.waitUntil(complete)


def test_it_follows_the_selection(inspector: Inspector, session: Session, qtbot: QtBot) -> None:
    select(inspector, session, qtbot, Selection(KEY.L2, 2, 0))
    assert inspector.title.toPlainText() == "L2 table of L1[0] [2]"
    assert inspector.words[0].isVisible()
    assert not inspector.words[1].isVisible()
    assert inspector.words[0].number.text().startswith("0x")
    assert "guest 0x2_0000 by L1[0]/L2[2]" in inspector.owners.toPlainText()
    select(inspector, session, qtbot, Selection(KEY.HEADER))
    assert inspector.title.toPlainText() == "Header"
    assert not inspector.words[0].isVisible()
    assert not inspector.owners.isVisible()


def test_links_and_neighbours_select(inspector: Inspector, session: Session, qtbot: QtBot) -> None:
    select(inspector, session, qtbot, Selection(KEY.L2, 2, 0))
    inspector.next.click()
    assert session.selection.row == 3
    inspector.next.click()
    assert session.selection.row == 4
    inspector.previous.click()
    inspector.previous.click()
    assert session.selection.row == 2
    select(inspector, session, qtbot, session.selection)
    assert inspector.inspection is not None
    target = inspector.inspection.described.leads_to[0].selection
    inspector.details.anchorClicked.emit(QUrl("place:0"))
    assert session.selection == target
    assert session.selection.structure is KEY.CLUSTER
    session.go_back()
    assert session.selection.row == 2
    before = session.selection
    inspector.details.anchorClicked.emit(QUrl("place:999"))
    assert session.selection == before


def test_links_are_reached_by_the_keyboard(
    inspector: Inspector, session: Session, qtbot: QtBot
) -> None:
    select(inspector, session, qtbot, Selection(KEY.L1, 0))
    inspector.activateWindow()
    inspector.details.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(inspector.details, Qt.Key.Key_Tab)
    QTest.keyClick(inspector.details, Qt.Key.Key_Return)
    assert session.selection.structure is not KEY.L1


def test_owners_are_kept_and_forgotten_when_read_again(
    inspector: Inspector,
    session: Session,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searches: list[tuple[int, ...]] = []
    original = OwnersWork.__call__

    def counting(self: OwnersWork, token: object) -> object:
        searches.append(self.clusters)
        return original(self, token)  # type: ignore[arg-type]

    monkeypatch.setattr(OwnersWork, "__call__", counting)
    for row in (2, 3, 2):
        select(inspector, session, qtbot, Selection(KEY.L2, row, 0))
    assert len(searches) == 2
    session.load()
    qtbot.waitUntil(lambda: not session.runner.active)
    qtbot.waitUntil(lambda: len(searches) == 3)
    select(inspector, session, qtbot, session.selection)


def test_stepping_quickly_looks_for_one_owner_only(
    inspector: Inspector,
    session: Session,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searches: list[tuple[int, ...]] = []

    def noting(work: OwnersWork, _token: object) -> object:
        searches.append(work.clusters)
        return {work.clusters[0]: []}

    monkeypatch.setattr(OwnersWork, "__call__", noting)
    for row in range(40):
        session.select(Selection(KEY.CLUSTER, row))
    qtbot.waitUntil(lambda: "nothing" in inspector.owners.toPlainText())
    assert searches == [(39,)]


def test_owners_that_can_t_be_read_say_why(
    inspector: Inspector, session: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_work: OwnersWork, _token: object) -> object:
        raise SourceError("the disk has gone")

    monkeypatch.setattr(OwnersWork, "__call__", failing)
    session.select(Selection(KEY.CLUSTER, 3))
    qtbot.waitUntil(lambda: "the disk has gone" in inspector.owners.toPlainText())


def test_hidden_it_does_nothing_and_catches_up(inspector: Inspector, session: Session) -> None:
    inspector.hide()
    session.select(Selection(KEY.L1, 0))
    assert inspector.title.toPlainText() != "L1 table [0]"
    inspector.show()
    assert inspector.title.toPlainText() == "L1 table [0]"


def test_a_damaged_entry_is_marked(
    tmp_path: Path, theme: Theme, runner: BackgroundRunner, qtbot: QtBot
) -> None:
    damaged = image()
    damaged = set_l2_entry(damaged, 3, get_l2_entry(damaged, 3) | 0x100)
    session = Session(damaged.write_to(tmp_path / "damaged.qcow2"), runner)
    session.load()
    inspector = Inspector(session, theme)
    qtbot.addWidget(inspector)
    inspector.show()
    assert inspector.title.toPlainText() == "Nothing to inspect yet"
    qtbot.waitUntil(lambda: not runner.active)
    select(inspector, session, qtbot, Selection(KEY.L2, 3, 0))
    assert "wrong" in inspector.verdict.text()
    assert "has reserved bits 0x100 set" in inspector.intro.toPlainText()
    assert "8–1 reserved = 0x80" in inspector.words[0].explanation.toPlainText()
    inspector.abandon()
    session.abandon()


@pytest.mark.parametrize("width", [260, 300, 600])
def test_nothing_is_wider_than_the_panel(
    inspector: Inspector, session: Session, qtbot: QtBot, width: int
) -> None:
    inspector.resize(width, 700)
    for selection in (
        Selection(KEY.SNAPSHOTS, 0),  # whose name has 900 letters and no space
        Selection(KEY.L2, 8, 0),
        Selection(KEY.L1, 0, snapshot=0),
    ):
        select(inspector, session, qtbot, selection)
        qtbot.waitUntil(lambda: fits(inspector, width))


def fits(inspector: Inspector, width: int) -> bool:
    """Whether all texts are as tall as they need to be, and nothing is wider than the panel."""
    visible = [text for text in inspector.findChildren(RichText) if text.isVisible()]
    tall = all(text.document().size().height() <= text.height() + 1 for text in visible)
    body = inspector.area.widget()
    assert body is not None
    inside = body.width() <= inspector.area.viewport().width()
    return tall and inside and inspector.width() == width


def test_colours_follow_the_theme(
    inspector: Inspector, session: Session, qtbot: QtBot, theme: Theme
) -> None:
    select(inspector, session, qtbot, Selection(KEY.L2, 2, 0))
    before = inspector.details.toHtml()
    theme.choose(ColourScheme.DARK)
    assert theme.colours.accent in inspector.details.toHtml()
    assert inspector.details.toHtml() != before


def test_everything_is_copied(inspector: Inspector, session: Session, qtbot: QtBot) -> None:
    select(inspector, session, qtbot, Selection(KEY.L2, 2, 0))
    inspector.copy.click()
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith("L2 table of L1[0] [2]\n")
    assert "Used by: guest 0x2_0000 by L1[0]/L2[2]" in copied


def test_it_can_be_operated_by_name(inspector: Inspector) -> None:
    for widget in (inspector.previous, inspector.next, inspector.copy, inspector.details):
        assert widget.accessibleName()
    assert inspector.previous.focusPolicy() == Qt.FocusPolicy.StrongFocus


def test_a_file_that_is_no_image_leaves_it_empty(
    tmp_path: Path, theme: Theme, runner: BackgroundRunner, qtbot: QtBot
) -> None:
    path = tmp_path / "text.txt"
    path.write_text("no image")
    session = Session(path, runner)
    inspector = Inspector(session, theme)
    qtbot.addWidget(inspector)
    inspector.show()
    session.load()
    qtbot.waitUntil(lambda: not runner.active)
    assert inspector.inspection is None
    assert not texts(inspector).strip()
    session.abandon()
