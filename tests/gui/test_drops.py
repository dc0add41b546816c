"""What may be dropped on the window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from qcowgui.gui.dialogs.convert import ConvertDialog
from qcowgui.gui.drops import sort_urls
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.views.queue_drop import DropZones
from tests.support.builder import ImageBuilder

NAMES = ["two words.qcow2", "a%20b.qcow2", "Größe ü.qcow2", "a 'b' #1 %20 & co.qcow2", "-x.qcow2"]


CORNER = QPoint(50, 50)
ACTION, BUTTON, KEY = (
    Qt.DropAction.CopyAction,
    Qt.MouseButton.LeftButton,
    Qt.KeyboardModifier.NoModifier,
)


def hold(widget: QWidget, place: QPoint, data: QMimeData) -> bool:
    """Hold something above a widget; whether it is welcome."""
    enter = QDragEnterEvent(place, ACTION, data, BUTTON, KEY)
    enter.ignore()
    QApplication.sendEvent(widget, enter)
    return enter.isAccepted()


def drop(widget: QWidget, urls: list[QUrl], place: QPoint = CORNER) -> None:
    """Hold files above a widget, and let them go."""
    data = QMimeData()
    data.setUrls(urls)
    assert hold(widget, place, data)
    move = QDragMoveEvent(place, ACTION, data, BUTTON, KEY)
    QApplication.sendEvent(widget, move)
    assert move.isAccepted()
    event = QDropEvent(QPointF(place), ACTION, data, BUTTON, KEY)
    QApplication.sendEvent(widget, event)
    assert event.isAccepted()


def right_half(window: MainWindow) -> QPoint:
    """A place in the window where a drop converts."""
    central = window._central
    return central.mapTo(window, QPoint(central.width() * 3 // 4, central.height() // 2))


def forms(window: MainWindow) -> list[ConvertDialog]:
    """The conversion forms that are shown."""
    return [form for form in window.findChildren(ConvertDialog) if form.isVisible()]


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
    assert folder.startswith(f"{tmp_path.name} is a folder: drop the image files in it")
    assert link.startswith("https://example.org/disk.qcow2 is not on this computer")


def test_text_is_not_accepted(window: MainWindow) -> None:
    data = QMimeData()
    data.setText("file:///etc/passwd")
    assert not hold(window, CORNER, data)
    assert not hold(window.conversions, QPoint(5, 5), data)
    assert not window._zones.isVisible()


def hot_zone(zones: DropZones) -> list[str]:
    """The zones that are lit, while they are shown."""
    if not zones.isVisible():
        return []
    pairs = zip(zones._zones, zones._frames, strict=True)
    return [zone.title for zone, frame in pairs if frame.property("hot")]


def test_the_window_says_what_a_drop_does(window: MainWindow) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/x")])
    assert hold(window, CORNER, data)
    assert hot_zone(window._zones) == ["Drop to inspect"]
    assert hold(window, right_half(window), data)
    assert hot_zone(window._zones) == ["Drop to convert"]
    assert hold(window, QPoint(window.width() - 2, window.height() - 2), data)
    assert hot_zone(window._zones) == ["Drop to inspect"]  # beside the middle
    QApplication.sendEvent(window, QDragLeaveEvent())
    assert hot_zone(window._zones) == []


def test_the_zones_are_as_large_as_the_middle(window: MainWindow, qtbot: QtBot) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/x")])
    hold(window, CORNER, data)
    window.resize(900, 700)
    qtbot.waitUntil(lambda: window.width() == 900)
    assert window._zones.geometry() == window._central.rect()
    QApplication.sendEvent(window, QDragLeaveEvent())


def test_the_queue_says_that_it_converts(window: MainWindow, qtbot: QtBot) -> None:
    window.docks.raise_dock(window.docks.conversions)
    qtbot.waitUntil(window.conversions.isVisible)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/x")])
    assert hold(window.conversions, QPoint(5, 5), data)
    assert hot_zone(window.conversions._zones) == ["Drop to convert"]
    QApplication.sendEvent(window.conversions, QDragLeaveEvent())
    assert hot_zone(window.conversions._zones) == []


@pytest.mark.parametrize("on_queue", [True, False])
def test_a_folder_with_images_is_offered_for_converting(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, on_queue: bool
) -> None:
    folder = tmp_path / "My VMs %20 ü"
    folder.mkdir()
    for name in ("a b.qcow2", "größe.qcow2"):
        ImageBuilder(size=1 << 20).build().write_to(folder / name)
    (folder / "notes.txt").write_text("no image")
    urls = [QUrl.fromLocalFile(str(folder)), QUrl("https://example.org/disk.qcow2")]
    if on_queue:
        drop(window.conversions, urls, QPoint(5, 5))
    else:
        drop(window, urls, right_half(window))
    qtbot.waitUntil(lambda: bool(forms(window)))
    (form,) = forms(window)
    assert window.views() == []
    assert window.controller.jobs == ()
    assert "is not on this computer" in window.notice.text
    form.close()
    qtbot.waitUntil(lambda: not window.loader.active)


def test_each_file_counts_once_and_missing_ones_count(tmp_path: Path) -> None:
    url = QUrl.fromLocalFile(str(tmp_path / "missing.qcow2"))
    dropped = sort_urls([url, url])
    assert dropped.paths == (tmp_path / "missing.qcow2",)
    assert dropped.refusals == ()


def test_what_has_no_address_is_refused_in_a_whole_sentence() -> None:
    (refusal,) = sort_urls([QUrl()]).refusals
    assert refusal == "What was dropped has no address: save it as a file first."
