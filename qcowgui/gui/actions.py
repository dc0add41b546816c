"""Every command of the window: its text, its key, its icon and its place in a menu."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from qcowgui.gui.settings import ColourScheme
from qcowgui.gui.theme import Theme

_Key = QKeySequence.StandardKey


@dataclass(frozen=True, slots=True)
class Commands:
    """What the actions call: all of them in the GUI's thread, none of them blocking."""

    open: Callable[[], object]
    convert: Callable[[], object]
    reload: Callable[[], object]
    close_tab: Callable[[], object]
    quit: Callable[[], object]
    copy: Callable[[], object]
    copy_rows: Callable[[], object]
    copy_table: Callable[[], object]
    next_tab: Callable[[], object]
    previous_tab: Callable[[], object]
    choose_scheme: Callable[[ColourScheme], object]
    reset_layout: Callable[[], object]
    keyboard: Callable[[], object]
    about: Callable[[], object]


class Actions(QObject):
    """The actions as attributes; `fill_menus` puts each of them into a menu."""

    def __init__(
        self, window: QMainWindow, commands: Commands, theme: Theme, scheme: ColourScheme
    ) -> None:
        super().__init__(window)
        self._window = window
        self._theme = theme
        self._icons: dict[QAction, str] = {}
        make = self._make
        self.open = make(self.tr("&Open…"), commands.open, _Key.Open, icon="open")
        self.convert = make(self.tr("&Convert…"), commands.convert, "Ctrl+E", icon="convert")
        self.reload = make(self.tr("&Read again"), commands.reload, _Key.Refresh, icon="reload")
        self.close_tab = make(self.tr("Close &tab"), commands.close_tab, _Key.Close)
        self.quit = make(self.tr("&Quit"), commands.quit, _Key.Quit)
        self.quit.setMenuRole(QAction.MenuRole.QuitRole)
        self.copy = make(self.tr("&Copy"), commands.copy, _Key.Copy, icon="copy")
        self.copy_rows = make(self.tr("Copy &rows"), commands.copy_rows, "Ctrl+Shift+C")
        self.copy_table = make(self.tr("Copy &table"), commands.copy_table, "Ctrl+Alt+C")
        self.next_tab = make(self.tr("&Next tab"), commands.next_tab, _Key.NextChild)
        self.previous_tab = make(
            self.tr("&Previous tab"), commands.previous_tab, _Key.PreviousChild
        )
        self.reset_layout = make(self.tr("&Reset layout"), commands.reset_layout)
        self.keyboard = make(self.tr("&Keyboard"), commands.keyboard, _Key.HelpContents)
        self.about = make(self.tr("&About qcowgui"), commands.about)
        self.about.setMenuRole(QAction.MenuRole.AboutRole)
        self._schemes = QActionGroup(self)
        self.schemes = {
            wanted: self._make_scheme(text, wanted, commands, checked=wanted is scheme)
            for wanted, text in (
                (ColourScheme.SYSTEM, self.tr("As the &system")),
                (ColourScheme.LIGHT, self.tr("&Light")),
                (ColourScheme.DARK, self.tr("&Dark")),
            )
        }
        theme.changed.connect(self._paint)
        self._paint()

    def fill_menus(self, recent: QMenu, panels: list[QAction]) -> None:
        """Make the menu bar.

        Args:
            recent: The menu of recent files.
            panels: The actions that show and hide the window's panels.
        """
        bar = self._window.menuBar()
        file_menu = bar.addMenu(self.tr("&File"))
        file_menu.addAction(self.open)
        file_menu.addMenu(recent)
        file_menu.addAction(self.reload)
        file_menu.addSeparator()
        file_menu.addAction(self.convert)
        file_menu.addSeparator()
        file_menu.addActions([self.close_tab, self.quit])
        bar.addMenu(self.tr("&Edit")).addActions([self.copy, self.copy_rows, self.copy_table])
        view_menu = bar.addMenu(self.tr("&View"))
        view_menu.addActions(panels)
        view_menu.addSeparator()
        colours = view_menu.addMenu(self.tr("&Colours"))
        colours.addActions(list(self.schemes.values()))
        view_menu.addSeparator()
        view_menu.addActions([self.next_tab, self.previous_tab])
        view_menu.addSeparator()
        view_menu.addAction(self.reset_layout)
        bar.addMenu(self.tr("&Help")).addActions([self.keyboard, self.about])

    def all(self) -> list[QAction]:
        """Every action, in the order of the menus."""
        return [action for action in self.children() if isinstance(action, QAction)]

    def enable_for(self, *, image: bool, tabs: int) -> None:
        """Enable what makes sense: with an image that is shown, with so many tabs."""
        for action in (self.copy, self.copy_rows, self.copy_table):
            action.setEnabled(image)
        for action in (self.reload, self.close_tab):
            action.setEnabled(tabs > 0)
        for action in (self.next_tab, self.previous_tab):
            action.setEnabled(tabs > 1)

    def _make(
        self,
        text: str,
        call: Callable[[], object],
        key: QKeySequence.StandardKey | str | None = None,
        *,
        icon: str = "",
    ) -> QAction:
        action = QAction(text, self)
        action.triggered.connect(lambda _checked=False: call())
        if isinstance(key, str):
            action.setShortcut(QKeySequence(key))
        elif key is not None:
            action.setShortcuts(key)
        if icon:
            self._icons[action] = icon
        return action

    def _make_scheme(
        self, text: str, scheme: ColourScheme, commands: Commands, *, checked: bool
    ) -> QAction:
        action = self._make(text, lambda: commands.choose_scheme(scheme))
        action.setCheckable(True)
        action.setChecked(checked)
        self._schemes.addAction(action)
        return action

    def _paint(self) -> None:
        for action, name in self._icons.items():
            action.setIcon(self._theme.icon(name))
