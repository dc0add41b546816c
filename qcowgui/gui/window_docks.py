"""The docks at the bottom of the window; those of an image show the one that is in front."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QDockWidget,
    QMainWindow,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from qcowgui.gui.theme import SPACING
from qcowgui.gui.views.placeholder import Placeholder

_HEIGHT: Final = 190
_LEAST_SIZE: Final = QSize(240, 80)
"""Smaller than what the panels want: on a small screen they are cut, not the window."""
_MARGINS: Final = (SPACING + 2, SPACING // 2, SPACING + 2, SPACING // 2)


class ImageDock(QDockWidget):
    """A dock with a panel for each open image, of which it shows one."""

    def __init__(self, name: str, title: str, nothing: str, parent: QWidget | None = None) -> None:
        """A dock without panels.

        Args:
            name: By which a saved layout knows it.
            title: On its tab.
            nothing: What it says while no image is shown.
            parent: The window.
        """
        super().__init__(title, parent)
        self.setObjectName(name)
        self._nothing = Placeholder(nothing)
        self._title = title
        self._stack = QStackedWidget()
        self._stack.addWidget(self._nothing)
        self._stack.setContentsMargins(*_MARGINS)
        self._stack.setMinimumSize(_LEAST_SIZE)
        self.setWidget(self._stack)

    def set_count(self, count: int | None) -> None:
        """Say in the title how many there are of what it shows; None: no number."""
        self.setWindowTitle(self._title if not count else f"{self._title}  {count:,}")

    def add_panel(self, panel: QWidget) -> None:
        """Take a panel; it is shown when it is asked for."""
        self._stack.addWidget(panel)

    def remove_panel(self, panel: QWidget) -> None:
        """Give up a panel, and delete it."""
        self._stack.removeWidget(panel)
        panel.deleteLater()

    def show_panel(self, panel: QWidget | None) -> None:
        """Show one of the panels, or that there is none."""
        self._stack.setCurrentWidget(panel or self._nothing)


class WindowDocks(QObject):
    """Findings, Hex, Conversions and Log, as tabs at the bottom until somebody moves them.

    Signals:
        shown: A dock came to the front: itself.
    """

    shown = Signal(object)

    def __init__(self, window: QMainWindow, conversions: QWidget, log: QWidget) -> None:
        super().__init__(window)
        self._window = window
        nothing = self.tr("No image is open.")
        self.findings = ImageDock("findings", self.tr("Findings"), nothing, window)
        self.hex = ImageDock("hex", self.tr("Hex"), nothing, window)
        self.conversions = _fixed("conversions", self.tr("Conversions"), conversions, window)
        self.log = _fixed("log", self.tr("Log"), log, window)
        # Tabs can be dragged out one by one.
        window.setDockOptions(
            QMainWindow.DockOption.AllowTabbedDocks
            | QMainWindow.DockOption.AllowNestedDocks
            | QMainWindow.DockOption.GroupedDragging
        )
        top = QTabWidget.TabPosition.North
        window.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, top)
        for dock in self.all:
            dock.topLevelChanged.connect(self._show_titles)
            dock.dockLocationChanged.connect(self._show_titles)
            dock.visibilityChanged.connect(self._show_titles)
        self.arrange()
        self.set_visible(False)

    @property
    def all(self) -> tuple[QDockWidget, ...]:
        """The docks in their order."""
        return self.findings, self.hex, self.conversions, self.log

    def toggle_actions(self) -> list[QAction]:
        """The actions that show and hide each of them."""
        return [dock.toggleViewAction() for dock in self.all]

    def arrange(self) -> None:
        """Put them back to where they belong."""
        area = Qt.DockWidgetArea.BottomDockWidgetArea
        for dock in self.all:
            dock.setFloating(False)
            self._window.addDockWidget(area, dock)
            dock.show()
        for left, right in zip(self.all, self.all[1:], strict=False):
            self._window.tabifyDockWidget(left, right)
        self.findings.raise_()
        self._window.resizeDocks([self.findings], [_HEIGHT], Qt.Orientation.Vertical)

    def set_visible(self, visible: bool) -> None:
        """Show or hide all of them."""
        for dock in self.all:
            dock.setVisible(visible)

    def raise_dock(self, dock: QDockWidget) -> None:
        """Bring a dock to the front, wherever it is."""
        dock.show()
        dock.raise_()
        self.shown.emit(dock)

    def _show_titles(self) -> None:
        """Let a dock have a title of its own only where no tab says it already."""
        if not isValid(self._window):
            return  # docks are hidden while their window is being destroyed
        for dock in self.all:
            among_tabs = bool(self._window.tabifiedDockWidgets(dock)) and not dock.isFloating()
            replaced: QWidget | None = dock.titleBarWidget()
            if among_tabs and replaced is None:
                dock.setTitleBarWidget(QWidget(dock))
            elif not among_tabs and replaced is not None:
                # None stands for Qt's own title bar, which the stubs don't know (6.11.3).
                dock.setTitleBarWidget(None)  # type: ignore[arg-type]
                replaced.deleteLater()


def _fixed(name: str, title: str, widget: QWidget, window: QMainWindow) -> QDockWidget:
    dock = QDockWidget(title, window)
    dock.setObjectName(name)
    frame = QWidget()
    layout = QVBoxLayout(frame)
    layout.setContentsMargins(*_MARGINS)
    layout.addWidget(widget)
    frame.setMinimumSize(_LEAST_SIZE)
    dock.setWidget(frame)
    return dock
