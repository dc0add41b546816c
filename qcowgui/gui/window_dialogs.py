"""The dialogs that are about the program and no image: settings, manual, keys, what it is."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from qcowgui.gui.dialogs.about import AboutDialog, KeyboardDialog
from qcowgui.gui.dialogs.manual import ManualDialog
from qcowgui.gui.dialogs.settings import SettingsDialog
from qcowgui.gui.settings import Settings
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.image_view import ImageView


class WindowDialogs(QObject):
    """Shows them beside a window, to which they belong."""

    def __init__(self, window: QWidget, theme: Theme, settings: Settings) -> None:
        super().__init__(window)
        self._window = window
        self._theme = theme
        self._settings = settings
        self._dialog: SettingsDialog | None = None
        self._manual: ManualDialog | None = None

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

    def show_manual(self, actions: Sequence[QAction], view: ImageView | None) -> None:
        """Show the manual; in it the finding that the keyboard is on in `view`, if it is on one.

        Args:
            actions: Whose keys the manual lists.
            view: The image that is shown.
        """
        manual = self._manual
        if manual is None or not isValid(manual) or not manual.isVisible():
            manual = self._manual = ManualDialog(actions, self._theme, self._window)
        code = "" if view is None else view.findings.code_in_focus
        if code:
            manual.show_finding(code)
        manual.show()
        manual.raise_()
        manual.activateWindow()

    def show_keys(self, actions: Sequence[QAction]) -> None:
        """Show the commands that have keys."""
        KeyboardDialog(actions, self._theme, self._window).show()

    def show_about(self) -> None:
        """Say what the program is."""
        AboutDialog(self._window.windowIcon(), self._window).show()
