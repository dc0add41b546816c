"""How a window is arranged, kept from one start to the next."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QMainWindow

from qcowgui.gui.image_tabs import ImageTabs
from qcowgui.gui.settings import Settings
from qcowgui.gui.window_docks import WindowDocks

DEFAULT_SIZE: Final = QSize(1280, 840)

_VERSION: Final = 2
"""Of saved states: another set of docks makes those from before useless."""


class WindowLayout:
    """Saves and restores the size of a window, its docks, and how its images are divided."""

    def __init__(
        self, window: QMainWindow, docks: WindowDocks, tabs: ImageTabs, settings: Settings
    ) -> None:
        self._window = window
        self._docks = docks
        self._tabs = tabs
        self._settings = settings
        self._docks_shown = False

    def restore(self) -> None:
        """Give a new window the size and place of the last one."""
        self._window.resize(DEFAULT_SIZE)
        geometry = self._settings.layout("geometry")
        if geometry is not None:
            self._window.restoreGeometry(geometry)

    def save(self) -> None:
        """Keep how everything is arranged now."""
        self._settings.set_layout("geometry", self._window.saveGeometry())
        if self._docks_shown:
            self._settings.set_layout("state", self._window.saveState(_VERSION))
        view = self._tabs.current_view()
        if view is not None:
            self._settings.set_layout("image", view.layout_state())

    def reset(self) -> None:
        """Arrange everything as at the very first start."""
        self._settings.forget_layout()
        self._window.resize(DEFAULT_SIZE)
        for view in self._tabs.views():
            view.restore_layout(None)
        if self._docks_shown:
            self._docks.arrange()

    def show_docks(self, wanted: bool, *, conversions: bool) -> None:
        """Show the docks as they were left, or hide them: on the start page they tell nothing.

        Args:
            wanted: Whether an image is shown.
            conversions: Whether there are conversions, which are no image's.
        """
        if wanted is self._docks_shown:
            return
        if wanted:
            state = self._settings.layout("state")
            if state is None or not self._window.restoreState(state, _VERSION):
                self._docks.arrange()
        else:
            self.save()
            self._docks.set_visible(False)
            self._docks.conversions.setVisible(conversions)
        self._docks_shown = wanted
