"""Everything that the window can show, one scene at a time, and what can be read in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QDialog,
    QDockWidget,
    QGroupBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QMenuBar,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.session import CheckState
from tests.gui.support import open_image

DIALOGS = ("about", "keyboard", "manual", "settings", "go_to", "repair", "salvage", "convert")
"""The actions of the window that open a dialog."""
SCENES = ("start", "image", *DIALOGS)


@contextmanager
def scene(name: str, window: MainWindow, qtbot: QtBot, image: Path) -> Iterator[QWidget]:
    """What the window shows under a name; all work of it has ended."""
    window.resize(1280, 800)
    if name != "start":
        open_image(window, qtbot, image)
        view = window.current_view()
        assert view is not None
        view.session.start_check(deep=False)
        qtbot.waitUntil(lambda: view.session.check_state is CheckState.DONE, timeout=20_000)
    if name not in DIALOGS:
        QApplication.processEvents()
        yield window
        return
    getattr(window.actions_, name).trigger()
    dialog = next(box for box in QApplication.topLevelWidgets() if _is_open(box))
    qtbot.waitUntil(lambda: not window.loader.active, timeout=20_000)
    # Qt gives a dialog two thirds of the screen at most, and that of the tests is small.
    dialog.resize(dialog.size().expandedTo(dialog.sizeHint()))
    QApplication.processEvents()
    yield dialog
    dialog.close()
    qtbot.waitUntil(lambda: not window.loader.active, timeout=20_000)


def _is_open(widget: QWidget) -> bool:
    return isinstance(widget, QDialog) and widget.isVisible()


def visible_children(root: QWidget) -> Iterator[QWidget]:
    """`root` and all that is seen in it; without what Qt makes for itself inside of a widget."""
    yield root
    for child in root.findChildren(QWidget):
        if child.isVisible() and child.width() > 1 and not _is_qts_own(child):
            yield child


def _is_qts_own(widget: QWidget) -> bool:
    here: QObject | None = widget
    while here is not None:
        if here.objectName().startswith("qt_"):
            return not isinstance(here, QTabBar | QMenuBar)
        here = here.parent() if here is widget else None
    return False


@dataclass(frozen=True, slots=True)
class Said:
    """A text that a person reads or hears.

    Attributes:
        text: It.
        place: Which widget says it, and where.
    """

    text: str
    place: str


def texts_of(root: QWidget) -> Iterator[Said]:
    """All the texts in `root` but for those of tables' cells."""
    for widget in visible_children(root):
        name = f"{type(widget).__name__}.{widget.objectName()}"
        for what, text in _widget_texts(widget):
            if text:
                yield Said(text, f"{name} {what}")
    for action in _actions(root):
        for what, text in (("text", action.text()), ("toolTip", action.toolTip())):
            if text and not action.isSeparator():
                yield Said(text, f"action {what}")


def _widget_texts(widget: QWidget) -> Iterator[tuple[str, str]]:
    yield "accessibleName", widget.accessibleName()
    yield "toolTip", widget.toolTip()
    if isinstance(widget, QDialog | QDockWidget):
        yield "windowTitle", widget.windowTitle()
    simple: list[tuple[type[QWidget], str]] = [
        (QLabel, "text"),
        (QAbstractButton, "text"),
        (QGroupBox, "title"),
        (QLineEdit, "placeholderText"),
    ]
    for kind, read in simple:
        if isinstance(widget, kind):
            yield read, str(getattr(widget, read)())
    if isinstance(widget, QComboBox):
        for index in range(widget.count()):
            yield f"item {index}", widget.itemText(index)
    if isinstance(widget, QTabBar):
        for index in range(widget.count()):
            yield f"tab {index}", widget.tabText(index)
    if isinstance(widget, QHeaderView) and widget.orientation() is Qt.Orientation.Horizontal:
        model = widget.model()
        for index in range(model.columnCount()):
            text = model.headerData(index, Qt.Orientation.Horizontal)
            yield f"heading {index}", text if isinstance(text, str) else ""


def _actions(root: QWidget) -> Iterator[QAction]:
    yield from (action for action in root.actions() if action.text())
    for menu in root.findChildren(QMenu):
        yield from menu.actions()


def every_menu(root: QWidget) -> list[QMenu]:
    """The menus of a window's bar, and the menus in them."""
    return [menu for menu in root.findChildren(QMenu) if menu.title()]
