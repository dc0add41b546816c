"""Without a mouse: from the start of the window to a finished conversion, and back out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialog,
    QLineEdit,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from qcowgui.gui.dialogs.convert import ConvertDialog
from qcowgui.gui.dialogs.convert_cards import PresetCard
from qcowgui.gui.dialogs.manual import ManualDialog
from qcowgui.gui.jobs import JobState
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.session import CheckState
from qcowgui.gui.structures import StructureKey
from tests.gui.scenes import visible_children
from tests.gui.support import open_image

W = TypeVar("W", bound=QWidget)

_MOST_STEPS = 80
_CTRL = Qt.KeyboardModifier.ControlModifier


def focused() -> QWidget:
    """Who gets a key: what has the focus, or else the window that is in front."""
    if QApplication.activeWindow() is None:
        # What a window manager does when a window has gone; offscreen there is none.
        windows = [found for found in QApplication.topLevelWidgets() if found.isVisible()]
        windows.sort(key=lambda found: isinstance(found, QDialog))
        windows[-1].activateWindow()
        QApplication.processEvents()
    widget = QApplication.focusWidget() or QApplication.activeWindow()
    assert widget is not None, "nothing has the keyboard"
    return widget


def in_front(qtbot: QtBot, kind: type[W]) -> W:
    """The window that comes to the front."""
    qtbot.waitUntil(lambda: isinstance(QApplication.activeWindow(), kind))
    window = QApplication.activeWindow()
    assert isinstance(window, kind)
    return window


def press(
    key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier, times: int = 1
) -> None:
    for _ in range(times):
        QTest.keyClick(focused(), key, modifier)


def tab_to(wanted: Callable[[QWidget], bool], *, backwards: bool = False) -> QWidget:
    """Press Tab until the keyboard is where it is wanted."""
    key = Qt.Key.Key_Backtab if backwards else Qt.Key.Key_Tab
    passed = [focused()]
    for _ in range(_MOST_STEPS):
        if wanted(focused()):
            return focused()
        press(key)
        passed.append(focused())
    raise AssertionError(f"Tab does not lead there: {[type(step).__name__ for step in passed]}")


def is_button(text: str) -> Callable[[QWidget], bool]:
    return lambda widget: isinstance(widget, QAbstractButton) and widget.text() == text


@pytest.fixture
def ready(window: MainWindow, qtbot: QtBot) -> MainWindow:
    window.activateWindow()
    in_front(qtbot, MainWindow)
    return window


def test_from_the_start_to_a_finished_conversion(
    ready: MainWindow, qtbot: QtBot, data_image: Path, tmp_path: Path
) -> None:
    press(Qt.Key.Key_E, _CTRL)
    dialog = in_front(qtbot, ConvertDialog)
    tab_to(lambda widget: widget is dialog.sources.line)
    QTest.keyClicks(focused(), str(data_image))
    press(Qt.Key.Key_Tab)
    qtbot.waitUntil(lambda: not ready.loader.active)
    tab_to(lambda widget: isinstance(widget, PresetCard))
    card = focused()  # the cards are one stop; arrows move between them
    assert isinstance(card, PresetCard)
    keys = [card.key]
    while keys[-1] != "fastest":
        press(Qt.Key.Key_Right)
        here = focused()
        assert isinstance(here, PresetCard)
        assert here.key not in keys, keys
        keys.append(here.key)
    press(Qt.Key.Key_Space)
    tab_to(lambda widget: isinstance(widget, QLineEdit) and widget.accessibleName() == "Target")
    press(Qt.Key.Key_A, _CTRL)
    target = tmp_path / "by keyboard.qcow2"
    QTest.keyClicks(focused(), str(target))
    tab_to(lambda widget: widget is dialog.ending.start_button)
    qtbot.waitUntil(dialog.ending.start_button.isEnabled)
    press(Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: [job.state for job in ready.controller.jobs] == [JobState.DONE])
    assert target.stat().st_size > 0

    # And the result is opened from its row.
    press(Qt.Key.Key_5, _CTRL)
    tab_to(is_button("Inspect result"))
    press(Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: not ready.loader.active)
    view = ready.current_view()
    assert view is not None
    assert view.session.path == target


def test_a_whole_check_and_its_findings(ready: MainWindow, qtbot: QtBot, rich_image: Path) -> None:
    open_image(ready, qtbot, rich_image)
    view = ready.current_view()
    assert view is not None
    press(Qt.Key.Key_K, _CTRL)
    qtbot.waitUntil(lambda: view.session.check_state is CheckState.DONE, timeout=20_000)
    press(Qt.Key.Key_3, _CTRL)
    tab_to(lambda widget: widget is view.findings.table)
    press(Qt.Key.Key_Home, _CTRL)
    press(Qt.Key.Key_Return)
    assert view.session.selection.structure is StructureKey.EXTENSIONS
    assert view.session.selection.host is not None
    press(Qt.Key.Key_F1)  # and what does it mean?
    manual = in_front(qtbot, ManualDialog)
    assert manual.address == "findings/extensions.md#extension-unknown"
    press(Qt.Key.Key_Escape)


@pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
def test_tab_goes_round_and_misses_nothing(
    ready: MainWindow, qtbot: QtBot, rich_image: Path, *, backwards: bool
) -> None:
    """Every control that takes the keyboard by Tab is met before the first one comes again."""
    open_image(ready, qtbot, rich_image)
    qtbot.waitUntil(lambda: ready.docks.log.visibleRegion().isEmpty())  # behind the others
    key = Qt.Key.Key_Backtab if backwards else Qt.Key.Key_Tab
    met = [focused()]
    for _ in range(_MOST_STEPS):
        press(key)
        if focused() is met[0]:
            break
        assert focused() not in met, "Tab is caught in a part of the window"
        met.append(focused())
    assert focused() is met[0]
    missed = [
        widget for widget in visible_children(ready) if takes_tab(widget) and widget not in met
    ]
    assert [f"{type(w).__name__} {w.accessibleName()!r}" for w in missed] == []


def takes_tab(widget: QWidget) -> bool:
    """Whether Tab has to lead to it; a group of choices is one stop, and its arrows do the rest."""
    if not widget.isEnabled() or widget.focusProxy() is not None or isinstance(widget, QTabBar):
        return False
    if isinstance(widget, QAbstractButton) and widget.autoExclusive() and not widget.isChecked():
        return False
    return bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)


def test_the_manual_opens_and_closes(ready: MainWindow, qtbot: QtBot) -> None:
    press(Qt.Key.Key_F1)
    manual = in_front(qtbot, ManualDialog)
    QTest.keyClicks(focused(), "leak")
    press(Qt.Key.Key_Return)
    assert manual.address.endswith("#leak")
    press(Qt.Key.Key_Escape)
    press(Qt.Key.Key_Escape)
    assert focused().window() is ready


@pytest.mark.parametrize("name", ["go_to", "repair", "salvage", "convert", "settings", "about"])
def test_escape_leaves_every_dialog(
    name: str, ready: MainWindow, qtbot: QtBot, rich_image: Path
) -> None:
    open_image(ready, qtbot, rich_image)
    getattr(ready.actions_, name).trigger()
    in_front(qtbot, QDialog)
    qtbot.waitUntil(lambda: not ready.loader.active, timeout=20_000)
    press(Qt.Key.Key_Escape)
    assert focused().window() is ready
