"""What may be dropped on the window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from qcowgui.gui.drops import sort_urls
from qcowgui.gui.main_window import MainWindow
from tests.support.builder import ImageBuilder

NAMES = ["two words.qcow2", "a%20b.qcow2", "Größe ü.qcow2", "a 'b' #1 %20 & co.qcow2", "-x.qcow2"]


def drop(window: MainWindow, urls: list[QUrl]) -> QDropEvent:
    """Hold files above the window, and let them go."""
    data = QMimeData()
    data.setUrls(urls)
    action, button, key = (
        Qt.DropAction.CopyAction,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    enter = QDragEnterEvent(QPoint(50, 50), action, data, button, key)
    QApplication.sendEvent(window, enter)
    assert enter.isAccepted()
    event = QDropEvent(QPointF(50, 50), action, data, button, key)
    QApplication.sendEvent(window, event)
    assert event.isAccepted()
    return event


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_opened(window: MainWindow, qtbot: QtBot, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "My VMs & co"
    folder.mkdir()
    path = ImageBuilder(size=1 << 20).build().write_to(folder / name)
    drop(window, [QUrl.fromLocalFile(str(path))])
    qtbot.waitUntil(lambda: not window.loader.active)
    (view,) = window.views()
    assert view.session.inspected is not None
    assert view.session.path == path
    assert not window.notice.isVisible()


def test_several_files_a_folder_and_a_link(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    images = [
        ImageBuilder(size=1 << 20).build().write_to(tmp_path / f"{name}.qcow2") for name in "ab"
    ]
    urls = [QUrl.fromLocalFile(str(path)) for path in (images[0], tmp_path, *images)]
    drop(window, [*urls, QUrl("https://example.org/disk.qcow2")])
    qtbot.waitUntil(lambda: not window.loader.active)
    assert [view.session.path for view in window.views()] == images
    assert window.notice.isVisible()
    folder, link = window.notice.text.splitlines()
    assert folder == f"{tmp_path.name} is a folder: drop the image files in it."
    assert link.startswith("https://example.org/disk.qcow2 is not on this computer")


def test_text_is_not_accepted(window: MainWindow) -> None:
    data = QMimeData()
    data.setText("file:///etc/passwd")
    event = QDragEnterEvent(
        QPoint(50, 50),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    event.ignore()
    QApplication.sendEvent(window, event)
    assert not event.isAccepted()


def test_the_target_shows_that_a_drop_is_welcome(window: MainWindow) -> None:
    target = window.start_page._target
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/x")])
    event = QDragEnterEvent(
        QPoint(50, 50),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(window, event)
    assert target.property("hot")
    QApplication.sendEvent(window, QDragLeaveEvent())
    assert not target.property("hot")


def test_each_file_counts_once_and_missing_ones_count(tmp_path: Path) -> None:
    url = QUrl.fromLocalFile(str(tmp_path / "missing.qcow2"))
    dropped = sort_urls([url, url])
    assert dropped.paths == (tmp_path / "missing.qcow2",)
    assert dropped.refusals == ()
