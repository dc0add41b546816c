"""The dialogs that are about the program and no image: settings, keys, what it is."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from qcowgui.gui.dialogs.about import AboutDialog, KeyboardDialog
from qcowgui.gui.dialogs.settings import SettingsDialog
from qcowgui.gui.settings import Settings
from qcowgui.gui.theme import Theme


class WindowDialogs(QObject):
    """Shows them beside a window, to which they belong."""

    def __init__(self, window: QWidget, theme: Theme, settings: Settings) -> None:
        super().__init__(window)
        self._window = window
        self._theme = theme
        self._settings = settings
        self._dialog: SettingsDialog | None = None

    @property
    def settings_dialog(self) -> SettingsDialog | None:
        """The settings, while they are shown."""
        dialog = self._dialog
        return dialog if dialog is not None and isValid(dialog) and dialog.isVisible() else None

    def show_settings(self) -> None:
        """Show the settings, or bring them to the front."""
        dialog = self.settings_dialog
        if dialog is None:
            dialog = self._dialog = SettingsDialog(self._settings, self._theme, self._window)
        dialog.show()
        dialog.raise_()
        dialog.activateWindow()

    def show_keys(self, actions: Sequence[QAction]) -> None:
        """Show the commands that have keys."""
        KeyboardDialog(actions, self._theme, self._window).show()

    def show_about(self) -> None:
        """Say what the program is."""
        AboutDialog(self._window.windowIcon(), self._window).show()
