"""What reading the mapping tables adds to an open image, and that it delays nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from qcowgui.engine.work import CancelToken
from qcowgui.errors import SourceError
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import MappingState, Session, SessionState
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.views.image_view import ImageView
from qcowgui.gui.views.summary import summary_items
from tests.gui.support import open_image
from tests.support.base_images import pattern, rich
from tests.support.builder import ImageBuilder
from tests.support.damage import truncate_at
from tests.support.damages import DAMAGES

CLUSTER = 65536
LEFT = Qt.MouseButton.LeftButton
NO_KEY = Qt.KeyboardModifier.NoModifier


@pytest.fixture(autouse=True)
def _unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """No check follows: this is about the step before it."""
    monkeypatch.setattr(Session, "start_check", lambda _session, deep: None)  # noqa: ARG005


def shown(window: MainWindow) -> ImageView:
    view = window.current_view()
    assert view is not None
    return view


def item(session: Session, title: str) -> tuple[str, str]:
    """Value and detail of an item of the strip."""
    ((_, value, detail),) = [found for found in summary_items(session) if found[0] == title]
    return value, detail


def mapping_state(session: Session) -> MappingState:
    """The state now: a type checker takes an attribute that was looked at for unchanged."""
    return session.mapping_state


def codes(session: Session) -> list[str]:
    return [finding.code for finding in session.findings]


def two_thirds_compressed(folder: Path) -> Path:
    builder = ImageBuilder(size=8 * CLUSTER)
    builder.write(0, pattern(CLUSTER))
    builder.write_compressed(1, b"text " * 100)
    builder.write_compressed(2, b"more " * 100)
    builder.zero(3)
    return builder.build().write_to(folder / "image.qcow2")


def huge(folder: Path) -> Path:
    """8 MiB whose L1 table names one L2 table a million times: 64 GiB to read."""
    image = ImageBuilder(size=1 << 49)
    image.write(0, b"x" * CLUSTER)
    path = image.build().write_to(folder / "huge.qcow2")
    with path.open("r+b") as file:
        head = file.read(104)
        l1_size, l1_offset = int.from_bytes(head[36:40], "big"), int.from_bytes(head[40:48], "big")
        file.seek(l1_offset)
        first = int.from_bytes(file.read(8), "big")
        file.seek(l1_offset)
        file.write(np.full(l1_size, first, dtype=">u8").tobytes())
    return path


@contextmanager
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[CancelToken]]:
    """Reading the mapping tables lasts until it is cancelled; gives the tokens it was given."""
    tokens: list[CancelToken] = []

    def wait(*_: object, token: CancelToken) -> None:
        tokens.append(token)
        while not token.cancelled:
            time.sleep(0.005)
        token.raise_if_cancelled()

    monkeypatch.setattr("qcowgui.gui.opening.summarise_mapping", wait)
    yield tokens
    for token in tokens:
        token.cancel()


def test_the_strip_tells_how_clusters_are_stored(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    open_image(window, qtbot, two_thirds_compressed(tmp_path))
    session = shown(window).session
    assert session.mapping_state is MappingState.READ
    value, detail = item(session, "Allocated")
    assert value == "37.5%"
    assert detail == (
        "3 of 8 clusters of the virtual disk are stored\n1 cluster that reads as zeros"
    )
    assert item(session, "Compressed") == ("66.7%", "2 of 3 clusters that are stored")
    names = [child.accessibleName() for child in shown(window).summary.findChildren(QWidget)]
    assert "Allocated: 37.5%" in names
    assert "Compressed: 66.7%" in names


def test_a_download_that_was_cut_says_so_on_open(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    """BL-O32: from metadata alone, in the list and in the badge."""
    builder = ImageBuilder()
    builder.write(0, pattern(30 * CLUSTER))
    image = builder.build()
    path = truncate_at(image, len(image.file) * 7 // 10).write_to(tmp_path / "image.qcow2")
    open_image(window, qtbot, path)
    view = shown(window)
    assert codes(view.session) == ["file-shorter-than-image"]
    assert view.findings.count == 1
    assert view.findings.table.isVisible()
    assert view.session.findings[0].message.startswith("The file is cut short: at least ")
    assert "stored clusters (" in view.session.findings[0].message
    assert view.summary.badge.text() == "1 corruption · not checked"
    view.findings.step(1)
    assert view.session.selection.structure is StructureKey.CLUSTER
    assert view.session.selection.row == len(image.file) * 7 // 10 // CLUSTER


def test_a_download_that_ends_in_the_l2_table(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    """BL-O32: how much more is lost can't be told, and that is said."""
    builder = ImageBuilder()
    builder.write(0, pattern(30 * CLUSTER))
    image = builder.build()
    path = truncate_at(image, image.layout.l2[0].offset + 80).write_to(tmp_path / "image.qcow2")
    open_image(window, qtbot, path)
    assert {"file-shorter-than-image", "l2-truncated"} <= set(codes(shown(window).session))


def test_findings_of_both_steps_are_sorted_by_how_bad_they_are(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    image = rich()
    path = truncate_at(image, len(image.file) - 8192).write_to(tmp_path / "image.qcow2")
    open_image(window, qtbot, path)
    session = shown(window).session
    assert "extension-unknown" in codes(session)
    severities = [finding.severity for finding in session.findings]
    assert severities == sorted(severities, reverse=True)
    assert shown(window).findings.count == sum(finding.count for finding in session.findings)


def test_while_the_tables_are_read_nothing_is_claimed(
    window: MainWindow, qtbot: QtBot, data_image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held(monkeypatch) as tokens:
        window.open_paths([data_image])
        view = shown(window)
        session = view.session
        qtbot.waitUntil(lambda: bool(tokens))
        qtbot.waitUntil(lambda: session.state is SessionState.READY)
        assert mapping_state(session) is MappingState.READING
        assert view.centre.isVisible()  # the rest is there
        assert item(session, "Allocated")[0] == "…"
        assert view.summary.badge.text() == "Not checked"
        assert "the mapping tables are being read" in view.findings.nothing.text()
        session.select(Selection(StructureKey.EXTENSIONS))
    qtbot.waitUntil(lambda: not window.loader.active)
    assert mapping_state(session) is MappingState.UNREAD
    assert item(session, "Allocated")[0] == "–"
    assert "the mapping tables, refcounts and guest data were not" in view.findings.nothing.text()
    assert session.selection == Selection(StructureKey.EXTENSIONS)
    assert view.summary.badge.text() == "Not checked"


def test_what_was_looked_at_is_said(window: MainWindow, qtbot: QtBot, data_image: Path) -> None:
    open_image(window, qtbot, data_image)
    view = shown(window)
    text = view.findings.nothing.text()
    assert "the active mapping tables were looked at; refcounts and guest data were not." in text
    assert view.summary.badge.toolTip() == view.session.looked_at()


@pytest.mark.parametrize("how", ["close the tab", "read again", "close the window"])
def test_reading_stops_when_nobody_waits_for_it(
    how: str,
    window: MainWindow,
    qtbot: QtBot,
    data_image: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with held(monkeypatch) as tokens:
        window.open_paths([data_image])
        qtbot.waitUntil(lambda: bool(tokens))
        first = tokens[0]
        if how == "close the tab":
            window.actions_.close_tab.trigger()
        elif how == "read again":
            window.actions_.reload.trigger()
            qtbot.waitUntil(lambda: len(tokens) == 2)
            assert not tokens[1].cancelled
        else:
            window.close()
        assert first.cancelled
    qtbot.waitUntil(lambda: not window.loader.active)


def test_a_window_that_closes_starts_no_second_step(
    window: MainWindow, qtbot: QtBot, data_image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held(monkeypatch) as tokens:
        window.open_paths([data_image])
        window.close()
        qtbot.waitUntil(lambda: not window.loader.active)
        assert tokens == []


def test_a_huge_table_delays_neither_the_window_nor_its_end(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window.open_paths([huge(tmp_path)])
    session = shown(window).session
    qtbot.waitUntil(lambda: session.state is SessionState.READY)
    assert session.mapping_state is MappingState.READING
    start = time.monotonic()
    window.close()
    qtbot.waitUntil(lambda: not window.loader.active)
    assert time.monotonic() - start < 5  # all of it takes many times as long


def test_without_a_mapping_nothing_is_read(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = DAMAGES["feature_incompatible_40"].apply(rich())
    path = damaged.write_to(tmp_path / "damaged.qcow2")
    with held(monkeypatch) as tokens:
        open_image(window, qtbot, path)
        assert tokens == []
    session = shown(window).session
    assert session.mapping_state is MappingState.UNREAD
    assert item(session, "Compressed")[0] == "–"
    assert "the mapping tables, refcounts and guest data were not" in session.looked_at()


def test_tables_that_cannot_be_read_are_said(
    window: MainWindow, qtbot: QtBot, data_image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise SourceError("the disk says: Input/output error", path=str(data_image))

    monkeypatch.setattr("qcowgui.gui.opening.summarise_mapping", fail)
    open_image(window, qtbot, data_image)
    view = shown(window)
    assert view.session.mapping_state is MappingState.FAILED
    assert view.session.state is SessionState.READY
    text = view.findings.nothing.text()
    assert text.endswith("Reading the mapping tables failed: the disk says: Input/output error.")
    monkeypatch.undo()
    window.actions_.reload.trigger()
    qtbot.waitUntil(lambda: not window.loader.active)
    assert mapping_state(view.session) is MappingState.READ
    assert "failed" not in view.findings.nothing.text()


def test_an_error_that_nobody_expected_is_not_swallowed(
    window: MainWindow, qtbot: QtBot, data_image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("qcowgui.gui.opening.summarise_mapping", broken)
    with qtbot.captureExceptions() as caught:
        open_image(window, qtbot, data_image)
    assert [kind for kind, _, _ in caught] == [ZeroDivisionError]
    assert shown(window).session.mapping_state is MappingState.FAILED


def test_the_second_step_keeps_the_selected_finding(
    window: MainWindow, qtbot: QtBot, rich_image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held(monkeypatch) as tokens:
        window.open_paths([rich_image])
        qtbot.waitUntil(lambda: bool(tokens))
        view = shown(window)
        qtbot.waitUntil(lambda: view.findings.count > 0)
        view.findings.table.select_row(0)
    qtbot.waitUntil(lambda: not window.loader.active)
    assert view.findings.table.current_row() == 0
