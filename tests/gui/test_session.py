"""A session: opening, checking, turning the tables round, reading again, ending."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from qcowgui.check.checker import check_image
from qcowgui.check.clustermap import ClusterState
from qcowgui.check.guestmap import GuestState
from qcowgui.engine.work import CancelToken
from qcowgui.errors import NotQcow2Error, SourceError
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.health import health_of
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import CheckState, Session, SessionState
from qcowgui.gui.structures import StructureKey
from tests.support.base_images import pattern, rich
from tests.support.builder import ImageBuilder
from tests.support.damages import DAMAGES

CLUSTER = 65536


@pytest.fixture
def runner(qtbot: QtBot) -> Iterator[BackgroundRunner]:
    """A runner that has nothing left to do at the end of the test."""
    made = BackgroundRunner(interval_ms=5)
    yield made
    made.cancel_all()
    qtbot.waitUntil(lambda: not made.active)


def settled(qtbot: QtBot, runner: BackgroundRunner) -> None:
    qtbot.waitUntil(lambda: not runner.active, timeout=20_000)


def opened(path: Path, qtbot: QtBot, runner: BackgroundRunner) -> Session:
    session = Session(path, runner)
    session.load()
    settled(qtbot, runner)
    return session


def check_state(session: Session) -> CheckState:
    """The state now: a type checker takes an attribute that was looked at for unchanged."""
    return session.check_state


class Held:
    """A check that lasts until it is cancelled or let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tokens: list[CancelToken] = []
        self.released = False
        monkeypatch.setattr("qcowgui.gui.opening.check_image", self._wait)

    def _wait(self, *args: object, token: CancelToken, **options: object) -> object:
        self.tokens.append(token)
        while not (token.cancelled or self.released):
            time.sleep(0.005)
        token.raise_if_cancelled()
        return check_image(*args, token=token, **options)  # type: ignore[arg-type]


def test_an_image_is_opened_checked_and_turned_round(
    qtbot: QtBot, runner: BackgroundRunner, data_image: Path
) -> None:
    session = Session(data_image, runner)
    order: list[str] = []
    session.changed.connect(lambda: order.append(session.state.name))
    session.check_changed.connect(lambda: order.append(f"check {session.check_state.name}"))
    session.index_changed.connect(lambda: order.append("index"))
    session.load()
    settled(qtbot, runner)
    assert order[:3] == ["LOADING", "READY", "check RUNNING"]
    assert sorted(order[3:]) == ["check DONE", "index", "index"]
    assert session.check is not None
    assert session.check.complete
    clusters = data_image.stat().st_size // CLUSTER
    assert len(session.states) == clusters
    assert session.states[0] == ClusterState.HEADER
    assert np.count_nonzero(session.states == ClusterState.DATA) == 8
    assert session.guest_states.tolist() == [GuestState.DATA] * 8 + [GuestState.UNALLOCATED] * 8
    assert session.check_progress is None
    assert health_of(session).text == "Metadata consistent"


def test_the_source_lives_as_long_as_the_session_shows_it(
    qtbot: QtBot, runner: BackgroundRunner, data_image: Path
) -> None:
    session = opened(data_image, qtbot, runner)
    first = session.source
    assert first is not None
    session.load()
    settled(qtbot, runner)
    assert session.source is not first
    assert first.read_at(0, 4) == b"QFI\xfb"  # somebody may still be reading it
    assert session.pages is not None
    with qtbot.waitSignal(session.bytes_loaded):
        session.pages.get(0)
    assert session.pages.read(0, 4) == b"QFI\xfb"


def test_the_badge_of_a_damaged_image_has_the_checks_numbers(
    qtbot: QtBot, runner: BackgroundRunner, tmp_path: Path
) -> None:
    builder = ImageBuilder(size=1 << 20)
    builder.write(0, pattern(CLUSTER))
    builder.leak(3)
    session = opened(builder.build().write_to(tmp_path / "leaks.qcow2"), qtbot, runner)
    assert np.count_nonzero(session.states == ClusterState.LEAKED) == 3
    health = health_of(session)
    assert health.text == "3 leaks"
    assert "referred to by nothing" in health.detail
    assert [finding.code for finding in session.findings].count("leak") == 3


def test_selecting_fills_in_where_the_bytes_are(
    qtbot: QtBot, runner: BackgroundRunner, data_image: Path
) -> None:
    session = opened(data_image, qtbot, runner)
    session.select(Selection(StructureKey.L2, 3, 0))
    assert session.selection.guest == (3 * CLUSTER, 4 * CLUSTER)
    qtbot.waitUntil(lambda: session.selection.host is not None)  # its table had to be read
    session.select(Selection(StructureKey.HEADER, 1))
    assert session.selection.host == (4, 8)
    session.go_back()
    assert session.selection.is_same_place(Selection(StructureKey.L2, 3, 0))
    session.go_forward()
    assert session.selection == Selection(StructureKey.HEADER, 1, host=(4, 8))


def test_selecting_the_same_again_says_nothing(
    qtbot: QtBot, runner: BackgroundRunner, data_image: Path
) -> None:
    session = opened(data_image, qtbot, runner)
    session.select(Selection(StructureKey.HEADER, 1))
    with qtbot.assertNotEmitted(session.selection_changed):
        session.select(Selection(StructureKey.HEADER, 1))


def test_reading_again_keeps_the_selection(
    qtbot: QtBot, runner: BackgroundRunner, data_image: Path
) -> None:
    session = opened(data_image, qtbot, runner)
    assert session.locator is not None
    session.select(session.locator.parse_go_to("L1[0]/L2[3]"))
    session.load()
    settled(qtbot, runner)
    assert session.selection.is_same_place(Selection(StructureKey.L2, 3, 0))
    assert session.selection.guest == (3 * CLUSTER, 4 * CLUSTER)


def test_reading_again_while_checking(
    qtbot: QtBot, runner: BackgroundRunner, data_image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(monkeypatch)
    session = Session(data_image, runner)
    session.load()
    qtbot.waitUntil(lambda: len(held.tokens) == 1)
    session.load()
    qtbot.waitUntil(lambda: len(held.tokens) == 2)
    assert [token.cancelled for token in held.tokens] == [True, False]
    held.released = True
    settled(qtbot, runner)
    assert session.check_state is CheckState.DONE
    assert session.index is not None


def test_a_check_can_be_stopped_and_begun_again(
    qtbot: QtBot, runner: BackgroundRunner, data_image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(monkeypatch)
    session = Session(data_image, runner)
    session.load()
    qtbot.waitUntil(lambda: len(held.tokens) == 1)
    assert session.check_progress is not None
    session.cancel_check()
    assert check_state(session) is CheckState.CANCELLED
    settled(qtbot, runner)
    assert session.check is None
    assert session.index is not None  # the tables can be turned round without it
    assert health_of(session).text == "Not checked"
    held.released = True
    session.start_check(deep=False)
    settled(qtbot, runner)
    assert check_state(session) is CheckState.DONE


def test_a_deep_check_decodes_and_keeps_what_was_found_before_until_it_is_done(
    qtbot: QtBot, runner: BackgroundRunner, tmp_path: Path
) -> None:
    builder = ImageBuilder(size=1 << 20)
    builder.write_compressed(0, b"text " * 1000)
    session = opened(builder.build().write_to(tmp_path / "packed.qcow2"), qtbot, runner)
    before = session.check
    assert before is not None
    assert before.deep is None
    session.start_check(deep=True)
    assert session.check is before
    settled(qtbot, runner)
    assert session.check is not None
    assert session.check.deep is not None


def test_a_check_that_fails_says_why(
    qtbot: QtBot, runner: BackgroundRunner, data_image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise SourceError("the disk says: Input/output error")

    monkeypatch.setattr("qcowgui.gui.opening.check_image", fail)
    session = opened(data_image, qtbot, runner)
    assert session.check_state is CheckState.FAILED
    health = health_of(session)
    assert "check failed" in health.text
    assert "Input/output error" in health.detail


def test_a_mistake_of_the_program_is_not_swallowed(
    qtbot: QtBot, runner: BackgroundRunner, data_image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("qcowgui.gui.opening.check_image", broken)
    with qtbot.captureExceptions() as caught:
        session = opened(data_image, qtbot, runner)
    assert [kind for kind, _, _ in caught] == [ZeroDivisionError]
    assert session.check_state is CheckState.FAILED


def test_a_closed_tab_takes_no_more_results(
    qtbot: QtBot, runner: BackgroundRunner, data_image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(monkeypatch)
    session = Session(data_image, runner)
    session.load()
    qtbot.waitUntil(lambda: len(held.tokens) == 1)
    session.abandon()
    assert held.tokens[0].cancelled
    with qtbot.assertNotEmitted(session.check_changed, wait=20):
        settled(qtbot, runner)
    assert session.index is None


def test_what_is_no_image_has_bytes_all_the_same(
    qtbot: QtBot, runner: BackgroundRunner, tmp_path: Path
) -> None:
    path = tmp_path / "disk.vmdk"
    path.write_bytes(b"KDMV" + (1).to_bytes(4, "little") + bytes(8192))
    session = opened(path, qtbot, runner)
    assert session.state is SessionState.FAILED
    assert isinstance(session.error, NotQcow2Error)
    assert session.locator is None
    assert session.check_state is CheckState.NONE
    assert session.pages is not None
    with qtbot.waitSignal(session.bytes_loaded):
        session.pages.get(0)
    assert session.pages.read(0, 4) == b"KDMV"


def test_a_file_that_is_not_there_has_nothing(
    qtbot: QtBot, runner: BackgroundRunner, tmp_path: Path
) -> None:
    session = opened(tmp_path / "nothing.qcow2", qtbot, runner)
    assert session.state is SessionState.FAILED
    assert session.source is None
    assert session.pages is None
    session.start_check(deep=True)
    assert session.check_state is CheckState.NONE


@pytest.mark.parametrize("name", sorted(DAMAGES)[::3])
def test_damages_get_a_map_or_a_reason(
    name: str, qtbot: QtBot, runner: BackgroundRunner, tmp_path: Path
) -> None:
    path = DAMAGES[name].apply(rich()).write_to(tmp_path / "damaged.qcow2")
    session = opened(path, qtbot, runner)
    if session.inspected is None:
        assert isinstance(session.error, NotQcow2Error)
        return
    assert session.check_state is CheckState.DONE
    if session.inspected.report.header.geometry is not None:
        assert len(session.states)
        assert session.index is not None
    assert health_of(session).text
