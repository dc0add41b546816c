"""The guest's disk beside another image, a snapshot, a bitmap: what is shown and what is asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from qcowgui.convert.differences import Difference
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.comparison import OverlayLoader, OverlayState
from qcowgui.gui.overlays import OverlayKind, next_run
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import Session
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.compare_view import CompareView
from qcowgui.image.bitmap_bits import Mark
from qcowgui.image.snapshot_sharing import Sharing
from tests.gui.support import button, open_question
from tests.support import oracle
from tests.support.base_images import pattern
from tests.support.builder import ImageBuilder

CLUSTER = 65536


@pytest.fixture
def runner(qtbot: QtBot) -> Iterator[BackgroundRunner]:
    made = BackgroundRunner(interval_ms=5)
    yield made
    made.cancel_all()
    qtbot.waitUntil(lambda: not made.active)


def opened(path: Path, qtbot: QtBot, runner: BackgroundRunner) -> Session:
    session = Session(path, runner)
    session.load()
    qtbot.waitUntil(lambda: not runner.active, timeout=20_000)
    return session


def view_of(session: Session, theme: Theme, qtbot: QtBot) -> CompareView:
    view = CompareView(session, theme)
    qtbot.addWidget(view)
    view.resize(1000, 600)
    view.show()
    return view


def wait(view: CompareView, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: view.loader.state is not OverlayState.RUNNING, timeout=20_000)
    qtbot.waitUntil(lambda: not view.side.busy)


def cells_of(loader: OverlayLoader) -> list[int]:
    assert loader.overlay is not None
    return [int(cell) for cell in loader.overlay.layer.cells]


def has_overlay(view: CompareView) -> bool:
    """Now: a type checker takes an attribute that was looked at for unchanged."""
    return view.loader.overlay is not None


@pytest.fixture
def other_image(tmp_path: Path) -> Path:
    """`data_image` with guest clusters 3 and 10 changed."""
    builder = ImageBuilder(size=1 << 20)
    builder.write(0, pattern(1 << 19))
    builder.write(3 * CLUSTER + 7, b"changed")
    builder.write(10 * CLUSTER, b"new")
    return builder.build().write_to(tmp_path / "other.qcow2")


def test_another_image(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, data_image: Path, other_image: Path
) -> None:
    session = opened(data_image, qtbot, runner)
    view = view_of(session, theme, qtbot)
    view.compare_with(other_image)
    wait(view, qtbot)
    wanted = [int(Difference.SAME)] * 16
    wanted[3], wanted[10] = Difference.BOTH, Difference.RIGHT_ONLY
    assert cells_of(view.loader) == wanted
    assert view.canvas.layer is not None
    assert "2 clusters (128 KiB) differ" in view.sentence.text()
    assert view.subjects.currentText() == "other.qcow2"
    view.next.click()
    assert session.selection.guest == (3 * CLUSTER, 4 * CLUSTER)
    view.next.click()
    assert session.selection.row == 10
    said: list[str] = []
    view.readout.connect(said.append)
    view.next.click()
    assert session.selection.row == 10
    assert "No further" in said[-1]
    view.previous.click()
    assert session.selection.row == 3
    view.abandon()


def test_a_converted_copy_reads_the_same(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, data_image: Path, tmp_path: Path
) -> None:
    copy = oracle.convert(data_image, tmp_path / "copy.raw")
    view = view_of(opened(data_image, qtbot, runner), theme, qtbot)
    view.compare_with(copy)
    wait(view, qtbot)
    assert view.sentence.text() == "A guest reads the same from both."
    assert set(cells_of(view.loader)) == {Difference.SAME}
    view.step(1)
    assert view.canvas.selected is None


def test_what_the_session_selects_is_pointed_out(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, data_image: Path, other_image: Path
) -> None:
    session = opened(data_image, qtbot, runner)
    view = view_of(session, theme, qtbot)
    view.compare_with(other_image)
    wait(view, qtbot)
    session.select(Selection(StructureKey.GUEST, guest=(5 * CLUSTER, 7 * CLUSTER)))
    mark = view.canvas.selected
    assert mark is not None
    assert (mark.first, mark.last) == (5, 7)
    session.select(Selection(StructureKey.HEADER))
    assert view.canvas.selected is None


def test_snapshots_and_bitmaps(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, rich_image: Path
) -> None:
    session = opened(rich_image, qtbot, runner)
    view = view_of(session, theme, qtbot)
    texts = [view.subjects.itemText(row) for row in range(view.subjects.count())]
    assert texts == [
        "Another image…",
        "Snapshot “first”",
        "Snapshot “second”",
        "Bitmap “dirty”",
        "Bitmap “fine”",
    ]
    view.subjects.setCurrentIndex(1)
    view.subjects.activated.emit(1)
    wait(view, qtbot)
    assert view.loader.overlay is not None
    assert view.loader.overlay.kind is OverlayKind.SNAPSHOT
    assert cells_of(view.loader)[:3] == [Sharing.SAME, Sharing.ONLY_HERE, Sharing.KEPT_ELSEWHERE]
    assert "Snapshot “first”" in view.sentence.text()
    view.show_bitmap(0)
    wait(view, qtbot)
    assert view.subjects.currentText() == "Bitmap “dirty”"
    cells = cells_of(view.loader)
    assert cells.count(Mark.DIRTY) == 32  # of two bits, each of which stands for 64 KiB
    assert "32 clusters (128 KiB)" in view.sentence.text()
    view.side.setCurrentWidget(view.side.ranges)
    wait(view, qtbot)
    assert view.side.ranges.model().rowCount() == 4


def test_nothing_is_followed_unasked(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, rich_image: Path
) -> None:
    view = view_of(opened(rich_image, qtbot, runner), theme, qtbot)
    view.compare_with(rich_image)
    wait(view, qtbot)
    assert view.loader.state is OverlayState.FAILED
    assert [found.name for found in view.loader.refused] == ["base.raw"]
    assert "needs files" in view.banner.title
    view.ask_to_allow()
    button(open_question(), "Allow").click()
    wait(view, qtbot)
    assert view.sentence.text() == "A guest reads the same from both."
    assert view.banner.isHidden()


def test_a_missing_file_is_told(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, data_image: Path, tmp_path: Path
) -> None:
    view = view_of(opened(data_image, qtbot, runner), theme, qtbot)
    view.compare_with(tmp_path / "gone.qcow2")
    wait(view, qtbot)
    assert view.banner.isVisibleTo(view)
    assert "can’t be compared" in view.banner.title
    assert "gone.qcow2" in view.banner.text


def test_stop_and_a_new_load(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, data_image: Path, other_image: Path
) -> None:
    session = opened(data_image, qtbot, runner)
    view = view_of(session, theme, qtbot)
    view.compare_with(other_image)
    view.stop.click()
    assert view.loader.state is OverlayState.CANCELLED
    qtbot.waitUntil(lambda: not runner.active)
    assert not has_overlay(view)
    view.compare_with(other_image)
    wait(view, qtbot)
    assert has_overlay(view)
    session.load()
    qtbot.waitUntil(lambda: not runner.active, timeout=20_000)
    assert not has_overlay(view)  # it was made of the file as it was


def test_keys_step_and_hovering_explains(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, data_image: Path, other_image: Path
) -> None:
    session = opened(data_image, qtbot, runner)
    view = view_of(session, theme, qtbot)
    view.compare_with(other_image)
    wait(view, qtbot)
    said: list[str] = []
    view.readout.connect(said.append)
    view.canvas.hovered.emit(3)
    assert said[-1] == "guest 0x3_0000 · different · Both have data here, and not the same."
    view.canvas.hovered.emit(None)
    assert said[-1] == ""
    view.next.click()
    QTest.keyClick(view.canvas, Qt.Key.Key_N)
    assert session.selection.row == 10


def test_a_snapshot_that_is_larger_than_the_disk(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, tmp_path: Path
) -> None:
    builder = ImageBuilder(size=1 << 20)
    builder.write(15 * CLUSTER, pattern(CLUSTER))
    builder.snapshot("large")
    builder.resize(1 << 19)
    session = opened(builder.build().write_to(tmp_path / "cut.qcow2"), qtbot, runner)
    view = view_of(session, theme, qtbot)
    view.show_snapshot(0)
    wait(view, qtbot)
    assert len(cells_of(view.loader)) == 16
    view.next.click()
    mark = view.canvas.selected
    assert mark is not None
    assert mark.first == 15


def test_a_flood_of_bitmaps_is_listed_in_part(
    qtbot: QtBot,
    theme: Theme,
    runner: BackgroundRunner,
    rich_image: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("qcowgui.gui.views.compare_view.MAX_LISTED", 1)
    view = view_of(opened(rich_image, qtbot, runner), theme, qtbot)
    assert view.subjects.count() == 3
    view.show_bitmap(1)  # not listed, but still to be had
    wait(view, qtbot)
    assert "“fine”" in view.sentence.text()


def test_a_view_of_no_image(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, tmp_path: Path
) -> None:
    path = tmp_path / "text.txt"
    path.write_text("no image")
    view = view_of(opened(path, qtbot, runner), theme, qtbot)
    view.compare_with(path)
    assert view.loader.state is OverlayState.NONE
    assert view.subjects.count() >= 1


# -------------------------------------------------------------------- stepping


@given(
    st.lists(st.integers(0, 3), max_size=40),
    st.one_of(st.none(), st.integers(0, 39)),
    st.sampled_from([1, -1]),
)
def test_the_next_run(values: list[int], position: int | None, step: int) -> None:
    cells = np.array(values, dtype=np.uint8)
    if position is not None and position >= len(values):
        position = None
    starts = [i for i, v in enumerate(values) if v > 1 and (i == 0 or values[i - 1] <= 1)]
    expected: int | None = None
    if position is None:
        if starts:
            expected = starts[0 if step > 0 else -1]
    elif step > 0:
        expected = next((start for start in starts if start > position), None)
    else:
        own = position
        while values[position] > 1 and own > 0 and values[own - 1] > 1:
            own -= 1
        expected = next((start for start in reversed(starts) if start < own), None)
    assert next_run(cells, position, {2, 3}, step) == expected
