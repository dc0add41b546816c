"""An open file that changes on disk: read again, or said."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import SessionState
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.views.image_view import ImageView
from qcowgui.image.locks import LockState, Usage
from tests.gui.support import open_image
from tests.support.base_images import pattern
from tests.support.builder import ImageBuilder


def opened(window: MainWindow, qtbot: QtBot, path: Path) -> ImageView:
    open_image(window, qtbot, path)
    view = window.current_view()
    assert view is not None
    return view


def state_of(view: ImageView) -> SessionState:
    """The state now: a type checker takes an attribute that was looked at for unchanged."""
    return view.session.state


def another(path: Path) -> Path:
    """Another image: without data, and thus shorter."""
    ImageBuilder(size=2 << 20).build().write_to(path)
    return path


def press(view: ImageView, text: str) -> None:
    (button,) = [b for b in view.live.banner.findChildren(QPushButton) if b.text() == text]
    button.click()


def written(_: object) -> LockState:
    return LockState(Usage.WRITTEN, "is in use: a virtual machine has it open for writing")


def test_a_changed_file_is_read_again_and_the_selection_kept(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    view = opened(window, qtbot, data_image)
    view.session.select(Selection(StructureKey.HEADER, 5))
    with data_image.open("r+b") as file:
        file.seek(24)
        file.write((4 << 20).to_bytes(8, "big"))
    qtbot.waitUntil(view.live.banner.isVisible, timeout=10_000)
    qtbot.waitUntil(lambda: not window.loader.active)
    assert view.live.banner.title.startswith("The file was changed on disk and read again at ")
    inspected = view.session.inspected
    assert inspected is not None
    assert inspected.report.header.size == 4 << 20
    assert view.session.selection.is_same_place(Selection(StructureKey.HEADER, 5))


def test_a_file_that_is_replaced_is_read_again_each_time(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, data_image: Path
) -> None:
    view = opened(window, qtbot, data_image)
    for size in (2 << 20, 3 << 20):
        ImageBuilder(size=size).build().write_to(tmp_path / "new.qcow2").replace(data_image)

        def seen(wanted: int = size) -> bool:
            inspected = view.session.inspected
            return inspected is not None and inspected.report.header.size == wanted

        qtbot.waitUntil(seen, timeout=10_000)
        qtbot.waitUntil(lambda: not window.loader.active)


def test_a_file_in_use_is_labelled_and_not_read_again_by_itself(
    window: MainWindow, qtbot: QtBot, data_image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qcowgui.gui.opening.probe_path", written)
    view = opened(window, qtbot, data_image)
    assert view.summary.usage.isVisible()
    assert view.summary.usage.text() == "in use, may be inconsistent"
    assert "virtual machine" in view.summary.usage.toolTip()
    before = view.session.inspected
    data_image.write_bytes(another(data_image.with_name("other")).read_bytes())
    qtbot.waitUntil(view.live.banner.isVisible, timeout=10_000)
    assert view.live.banner.title == "The file was cut short on disk"
    assert view.session.inspected is before
    press(view, "Read again")
    qtbot.waitUntil(lambda: not window.loader.active)
    assert view.session.inspected is not before
    assert not view.live.banner.isVisible()


def test_a_file_that_is_gone_stays_shown(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    view = opened(window, qtbot, data_image)
    data = data_image.read_bytes()
    data_image.unlink()
    qtbot.waitUntil(view.live.banner.isVisible, timeout=10_000)
    assert view.live.banner.title == "The file is no longer there"
    assert state_of(view) is SessionState.READY
    assert view.session.pages is not None
    with qtbot.waitSignal(view.session.pages.loaded):
        view.session.pages.get(7)  # the open file still has its bytes
    press(view, "Read again")
    qtbot.waitUntil(lambda: state_of(view) is SessionState.FAILED)
    assert view.banner.title == "data.qcow2 can't be shown"
    data_image.write_bytes(data)
    qtbot.waitUntil(lambda: state_of(view) is SessionState.READY, timeout=10_000)
    qtbot.waitUntil(lambda: not window.loader.active)


def test_a_file_that_may_not_be_looked_at_any_more(
    window: MainWindow, qtbot: QtBot, data_image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = opened(window, qtbot, data_image)

    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("qcowgui.gui.file_watch.signature_of", refuse)
    view.live.look()
    qtbot.waitUntil(view.live.banner.isVisible)
    assert view.live.banner.title == "The file can’t be looked at any more"


def test_touching_a_file_without_changing_it_says_nothing(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    view = opened(window, qtbot, data_image)
    before = view.session.inspected
    status = data_image.stat()
    data_image.chmod(0o640)
    os.utime(data_image, ns=(status.st_atime_ns, status.st_mtime_ns))
    view.live.look()
    qtbot.waitUntil(lambda: not window.loader.active)
    assert not view.live.banner.isVisible()
    assert view.session.inspected is before


def test_a_cut_file_shows_what_is_left(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    builder = ImageBuilder(size=1 << 20)
    builder.write(0, pattern(1 << 19))
    path = builder.build().write_to(tmp_path / "cut.qcow2")
    view = opened(window, qtbot, path)
    os.truncate(path, path.stat().st_size - 100_000)
    qtbot.waitUntil(view.live.banner.isVisible, timeout=10_000)
    qtbot.waitUntil(lambda: not window.loader.active)
    codes = {finding.code for finding in view.session.findings}
    assert codes & {"data-truncated", "data-beyond-eof"}


def test_closing_a_tab_stops_watching(window: MainWindow, qtbot: QtBot, data_image: Path) -> None:
    view = opened(window, qtbot, data_image)
    live = view.live
    window.actions_.close_tab.trigger()
    assert live._watch._watcher.files() == []
    os.truncate(data_image, 512)
    qtbot.wait(20)
    assert not window.loader.active
