"""The window of the process, and what reaches it from outside; a new language makes it anew."""

from __future__ import annotations

import os
from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication

from qcowgui.gui.diagnostics import Diagnostics, tell_terminal
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.odd_system import find_lacks, has_fonts
from qcowgui.gui.settings import Settings
from qcowgui.gui.single_instance import Request
from qcowgui.gui.theme import Theme
from qcowgui.gui.translation import install_translations


class WindowHost(QObject):
    """Makes the window, and passes on to it what others want of it.

    Attributes:
        window: The window.
    """

    def __init__(self, app: QApplication, settings: Settings, diagnostics: Diagnostics) -> None:
        super().__init__(app)
        self._app = app
        self._settings = settings
        self._diagnostics = diagnostics
        self._has_fonts = has_fonts()
        self._language = settings.language
        install_translations(app, self._language)
        self._theme = Theme(app, settings, app)
        self.window = self._make_window()
        settings.chosen.connect(self._follow_language)

    def is_open(self) -> bool:
        """Whether there is a window; it may be minimised."""
        return self.window.isVisible()

    def show(self, paths: Sequence[str | os.PathLike[str]]) -> None:
        """Show the window with `paths` opened, and what is to be said at a start."""
        window = self.window
        window.show()
        for lack in find_lacks(self._settings, fonts=self._has_fonts):
            window.note(lack.text, lack.matters)
            if not lack.readable:
                tell_terminal(f"qcowgui: {lack.text}")
            if lack.matters:
                window.notices.tell_of_lack(lack.text)
        window.notices.tell_of_crashes(self._diagnostics.tell_of_last_time())
        window.queue.remember()
        window.open_paths(paths)

    def answer(self, request: Request) -> None:
        """Do what a later start asks for, in front of all other windows."""
        window = self.window
        if request.activation:
            os.environ["XDG_ACTIVATION_TOKEN"] = request.activation  # Qt takes it from there
        window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
        window.raise_()
        window.activateWindow()
        window.open_paths(request.paths)

    def _make_window(self) -> MainWindow:
        window = MainWindow(self._theme, self._settings)
        # Qt quits after the last visible window; one that waits for its work to end is hidden.
        window.destroyed.connect(self._app.quit)
        # Any thread may have something to tell, also while the window is being drawn.
        queued = Qt.ConnectionType.QueuedConnection
        self._diagnostics.failed.connect(window.notices.tell_of_mistake, queued)
        self._diagnostics.noted.connect(window.note, queued)
        window.controller.idle.connect(self._follow_language, queued)
        window.loader.idle.connect(self._follow_language, queued)
        return window

    # ---------------------------------------------------------------- language

    def _follow_language(self) -> None:
        """Speak the language that is chosen: at once, or when everything that runs has ended."""
        language = self._settings.language
        if language == self._language or not self.is_open():
            return
        if self.window.controller.active or self.window.loader.active:
            self.window.statusBar().showMessage(
                self.tr("The language changes when everything that runs has ended.")
            )
            return
        self._language = language
        install_translations(self._app, language)
        self._replace_window()

    def _replace_window(self) -> None:
        """Put a new window with the same images into the place of the old one."""
        old = self.window
        view = old.current_view()
        paths = [found.session.path for found in old.views()]
        current = view.session.path if view is not None else None
        had_settings = old.own_dialogs.settings_dialog is not None
        old.destroyed.disconnect(self._app.quit)
        quits = self._app.quitOnLastWindowClosed()
        self._app.setQuitOnLastWindowClosed(False)
        old.close()
        self._app.setQuitOnLastWindowClosed(quits)
        self.window = window = self._make_window()
        window.show()
        window.open_paths(paths if current is None else [*paths, current])
        if had_settings:
            window.own_dialogs.show_settings()
        # The queue's file is free once the old window is gone.
        old.destroyed.connect(window.queue.remember, Qt.ConnectionType.QueuedConnection)
