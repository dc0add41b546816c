"""The backing chain: what is found unopened, what is opened when allowed, what is located."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.chain_layers import ChainLink, ChainWork, LinkState, rebase_command
from qcowgui.gui.consent import NOTHING_ALLOWED, Consent
from qcowgui.gui.session import Session
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.chain_panel import ChainPanel, chain_table
from qcowgui.image.inspect import inspect_source
from qcowgui.image.source import FileSource
from tests.gui.support import button, open_question
from tests.support import oracle
from tests.support.base_images import b0, b0_builder
from tests.support.options import MIB


@pytest.fixture
def runner(qtbot: QtBot) -> Iterator[BackgroundRunner]:
    made = BackgroundRunner(interval_ms=5)
    yield made
    made.cancel_all()
    qtbot.waitUntil(lambda: not made.active)


def overlay(path: Path, backing: str, backing_format: str | None = "qcow2") -> Path:
    builder = b0_builder(backing_file=backing, backing_format=backing_format)
    return builder.build().write_to(path)


def links_of(path: Path, *allowed: Path) -> tuple[ChainLink, ...]:
    with FileSource(path) as source:
        work = ChainWork(source, inspect_source(source), Consent(allowed).gate())
        return work(CancelToken())


def states_of(links: tuple[ChainLink, ...]) -> list[LinkState]:
    return [link.state for link in links]


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """top.qcow2 → middle.qcow2 → base.raw, all in one folder."""
    (tmp_path / "base.raw").write_bytes(b"x" * MIB)
    overlay(tmp_path / "middle.qcow2", "base.raw", "raw")
    return overlay(tmp_path / "top.qcow2", "middle.qcow2")


# -------------------------------------------------------------------- looking


def test_nothing_is_opened_without_permission(chain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    with FileSource(chain) as source:
        report = inspect_source(source)
        monkeypatch.setattr("qcowgui.image.references.FileSource", opened.append)
        links = ChainWork(source, report, NOTHING_ALLOWED.gate())(CancelToken())
    assert opened == []
    assert states_of(links) == [LinkState.OPENED, LinkState.NOT_ALLOWED]
    assert links[1].format == "qcow2"
    assert links[1].in_folder
    assert links[1].can_be_allowed


def test_each_permission_leads_one_file_further(chain: Path) -> None:
    folder = chain.parent
    links = links_of(chain, folder / "middle.qcow2")
    assert states_of(links) == [LinkState.OPENED, LinkState.OPENED, LinkState.NOT_ALLOWED]
    links = links_of(chain, folder)
    assert states_of(links) == [LinkState.OPENED] * 3
    assert [link.depth for link in links] == [0, 1, 2]
    assert [link.format for link in links] == ["qcow2", "qcow2", "raw"]
    assert links[2].virtual_bytes == MIB
    assert links[1].virtual_bytes == 64 * MIB


def test_a_missing_file_and_one_of_its_name_nearby(tmp_path: Path) -> None:
    (tmp_path / "base.raw").write_bytes(b"x")
    top = overlay(tmp_path / "top.qcow2", "/nowhere/base.raw", "raw")
    link = links_of(top)[1]
    assert link.state is LinkState.MISSING
    assert link.nearby == tmp_path / "base.raw"
    assert not link.in_folder
    assert link.can_be_located
    assert links_of(top, Path("/nowhere"))[1].state is LinkState.MISSING


def test_a_file_outside_the_folder(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "secret").write_bytes(b"x")
    link = links_of(overlay(tmp_path / "images" / "top.qcow2", "../secret", "raw"))[1]
    assert link.state is LinkState.NOT_ALLOWED
    assert not link.in_folder
    table = chain_table((link,))
    assert table.rows[0].cells[-1] == "exists, not opened, outside the image’s folder"


def test_a_loop_is_told(tmp_path: Path) -> None:
    overlay(tmp_path / "a.qcow2", "b.qcow2")
    overlay(tmp_path / "b.qcow2", "a.qcow2")
    links = links_of(tmp_path / "a.qcow2", tmp_path)
    assert states_of(links) == [LinkState.OPENED, LinkState.OPENED, LinkState.LOOP]
    assert "loop" in links[2].detail
    assert not links[2].can_be_located


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("nbd://host/disk", LinkState.NO_FILE_NAME),
        ('json:{"driver":"raw"}', LinkState.NO_FILE_NAME),
        ("folder", LinkState.SPECIAL),
        ("text.txt", LinkState.UNREADABLE),
    ],
)
def test_what_is_no_image(tmp_path: Path, name: str, state: LinkState) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text.txt").write_text("no image")
    link = links_of(overlay(tmp_path / "top.qcow2", name), tmp_path)[1]
    assert link.state is state
    assert link.detail


def test_a_format_that_is_not_recorded_is_guessed_and_said(tmp_path: Path) -> None:
    b0().write_to(tmp_path / "base.img")
    links = links_of(overlay(tmp_path / "top.qcow2", "base.img", None), tmp_path)
    assert links[1].format == "qcow2"
    assert links[1].format_guessed
    assert chain_table(links).rows[1].cells[2] == "qcow2, guessed"


def test_a_data_file_is_part_of_it(tmp_path: Path) -> None:
    path = oracle.create(tmp_path / "q.qcow2", MIB, "-o", "data_file=q.raw")
    links = links_of(path)
    assert states_of(links) == [LinkState.OPENED, LinkState.NOT_ALLOWED]
    assert links[1].is_data_file
    assert links_of(path, tmp_path)[1].file_bytes == MIB


def test_it_can_be_cancelled(chain: Path) -> None:
    token = CancelToken()
    token.cancel()
    with FileSource(chain) as source, pytest.raises(Cancelled):
        ChainWork(source, inspect_source(source), NOTHING_ALLOWED.gate())(token)


# -------------------------------------------------------------------- the panel


def panel_of(path: Path, qtbot: QtBot, theme: Theme, runner: BackgroundRunner) -> ChainPanel:
    session = Session(path, runner)
    panel = ChainPanel(session, theme)
    qtbot.addWidget(panel)
    session.setParent(panel)
    panel.show()
    session.load()
    settle(qtbot, runner)
    return panel


def settle(qtbot: QtBot, runner: BackgroundRunner) -> None:
    qtbot.waitUntil(lambda: not runner.active, timeout=20_000)


def test_allowing_asks_first(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, chain: Path
) -> None:
    panel = panel_of(chain, qtbot, theme, runner)
    assert panel.table.current_row() == 1  # what waits for a person
    assert panel.allow.isEnabled()
    assert not panel.locate.isEnabled()
    panel.allow.click()
    button(open_question(), "Don’t read them").click()
    settle(qtbot, runner)
    assert len(panel.links) == 2
    panel.allow.click()
    button(open_question(), "Allow").click()
    settle(qtbot, runner)
    assert states_of(panel.links) == [LinkState.OPENED, LinkState.OPENED, LinkState.NOT_ALLOWED]
    panel.table.select_row(1)
    assert not panel.allow.isEnabled()
    with qtbot.waitSignal(panel.open_requested) as wanted:
        panel.show_image.click()
    assert wanted.args == [chain.parent / "middle.qcow2"]


def test_locating_changes_no_image(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, tmp_path: Path
) -> None:
    (tmp_path / "moved").mkdir()
    moved = b0().write_to(tmp_path / "moved" / "base file.qcow2")
    top = overlay(tmp_path / "top.qcow2", "/nowhere/base.qcow2")
    before = top.read_bytes()
    panel = panel_of(top, qtbot, theme, runner)
    assert panel.locate.isEnabled()
    assert not panel.allow.isEnabled()
    dialog = panel.choose_file()
    assert dialog is not None
    dialog.fileSelected.emit(str(moved))
    dialog.close()
    settle(qtbot, runner)
    assert states_of(panel.links) == [LinkState.OPENED, LinkState.OPENED]
    assert panel.links[1].located
    assert panel.links[1].path == moved
    assert top.read_bytes() == before
    panel.table.select_row(1)
    assert panel.copy_command.isVisibleTo(panel)
    panel.copy_command.click()
    words = shlex.split(QGuiApplication.clipboard().text())
    oracle.qemu_img(*words[1:])
    assert oracle.info(top)["backing-filename"] == str(moved)


def test_a_hostile_name_is_shown_harmlessly(tmp_path: Path) -> None:
    link = links_of(overlay(tmp_path / "top.qcow2", "a\x1b[31mb\u202ec"))[1]
    shown = chain_table((link,)).rows[0]
    for text in (*shown.cells, *shown.detail.split("\n")):
        assert text.isprintable()


def test_no_command_for_what_was_not_located(chain: Path) -> None:
    assert [rebase_command(link) for link in links_of(chain, chain.parent)] == ["", "", ""]


def test_a_file_that_is_no_image_has_no_chain(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, tmp_path: Path
) -> None:
    path = tmp_path / "text.txt"
    path.write_text("no image")
    panel = panel_of(path, qtbot, theme, runner)
    assert panel.links == ()
    assert not panel.allow.isEnabled()
    assert panel.ask_to_allow() is None
    assert panel.choose_file() is None
