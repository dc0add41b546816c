"""Every command of the window: its text, its key, its icon and its place in a menu."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from qcowgui.gui.settings import ColourScheme
from qcowgui.gui.theme import Theme
from qcowgui.gui.translation import without_mnemonic

_Key = QKeySequence.StandardKey


@dataclass(frozen=True, slots=True)
class Commands:
    """What the actions call: all of them in the GUI's thread, none of them blocking."""

    open: Callable[[], object]
    convert: Callable[[], object]
    optimise: Callable[[], object]
    reload: Callable[[], object]
    export_report: Callable[[], object]
    close_tab: Callable[[], object]
    quit: Callable[[], object]
    settings: Callable[[], object]
    copy: Callable[[], object]
    copy_rows: Callable[[], object]
    copy_table: Callable[[], object]
    next_tab: Callable[[], object]
    previous_tab: Callable[[], object]
    back: Callable[[], object]
    forward: Callable[[], object]
    go_to: Callable[[], object]
    next_finding: Callable[[], object]
    previous_finding: Callable[[], object]
    show_map: Callable[[], object]
    show_table: Callable[[], object]
    show_hex: Callable[[], object]
    show_findings: Callable[[], object]
    show_conversions: Callable[[], object]
    check: Callable[[], object]
    deep_check: Callable[[], object]
    cancel_check: Callable[[], object]
    repair: Callable[[], object]
    salvage: Callable[[], object]
    compare: Callable[[], object]
    benchmark: Callable[[], object]
    choose_scheme: Callable[[ColourScheme], object]
    reset_layout: Callable[[], object]
    manual: Callable[[], object]
    keyboard: Callable[[], object]
    copy_diagnostics: Callable[[], object]
    about: Callable[[], object]


@dataclass(frozen=True, slots=True)
class Situation:
    """What decides which actions make sense.

    Attributes:
        image: Whether an image is shown.
        tabs: How many tabs there are.
        can_go_back: Whether something was selected before.
        can_go_forward: Whether somebody went back.
        checking: Whether a check of it runs.
    """

    image: bool = False
    tabs: int = 0
    can_go_back: bool = False
    can_go_forward: bool = False
    checking: bool = False


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
        self.reload = make(self.tr("Read a&gain"), commands.reload, _Key.Refresh, icon="reload")
        self.export_report = make(
            self.tr("E&xport report…"), commands.export_report, "Ctrl+Shift+E"
        )
        self.close_tab = make(self.tr("Close &tab"), commands.close_tab, _Key.Close)
        self.quit = make(self.tr("&Quit"), commands.quit, _Key.Quit)
        self.quit.setMenuRole(QAction.MenuRole.QuitRole)
        self.settings = make(self.tr("&Settings…"), commands.settings, _Key.Preferences)
        if not self.settings.shortcuts():  # outside of macOS and GNOME it has no usual one
            self.settings.setShortcut(QKeySequence("Ctrl+,"))
        self.settings.setMenuRole(QAction.MenuRole.PreferencesRole)
        self.copy = make(self.tr("&Copy"), commands.copy, _Key.Copy, icon="copy")
        self.copy_rows = make(self.tr("Copy &rows"), commands.copy_rows, "Ctrl+Shift+C")
        self.copy_table = make(self.tr("Copy &table"), commands.copy_table, "Ctrl+Alt+C")
        self.next_tab = make(self.tr("&Next tab"), commands.next_tab, _Key.NextChild)
        self.previous_tab = make(
            self.tr("&Previous tab"), commands.previous_tab, _Key.PreviousChild
        )
        self._make_navigation(commands)
        self._make_checking(commands)
        self.reset_layout = make(self.tr("&Reset layout"), commands.reset_layout)
        self.manual = make(self.tr("&Manual"), commands.manual, _Key.HelpContents, icon="manual")
        self.keyboard = make(self.tr("&Keyboard"), commands.keyboard, "Ctrl+F1")
        self.copy_diagnostics = make(self.tr("Copy &diagnostics"), commands.copy_diagnostics)
        self.copy_diagnostics.setToolTip(
            self.tr("Copy the versions of everything and what stands in the log")
        )
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

    def _make_navigation(self, commands: Commands) -> None:
        make = self._make
        self.back = make(self.tr("&Back"), commands.back, "Alt+Left", icon="back")
        self.forward = make(self.tr("&Forward"), commands.forward, "Alt+Right", icon="forward")
        self.go_to = make(self.tr("&Go to…"), commands.go_to, "Ctrl+G", icon="go-to")
        self.next_finding = make(self.tr("&Next finding"), commands.next_finding, "]")
        self.previous_finding = make(self.tr("&Previous finding"), commands.previous_finding, "[")
        self.show_map = make(self.tr("Show the &map"), commands.show_map, "Ctrl+1")
        self.show_table = make(self.tr("Show the &table"), commands.show_table, "Ctrl+2")
        self.show_findings = make(self.tr("Show the f&indings"), commands.show_findings, "Ctrl+3")
        self.show_hex = make(self.tr("Show the b&ytes"), commands.show_hex, "Ctrl+4")
        self.show_conversions = make(
            self.tr("Show the &conversions"), commands.show_conversions, "Ctrl+5"
        )

    def _make_checking(self, commands: Commands) -> None:
        make = self._make
        self.check = make(self.tr("Chec&k"), commands.check, "Ctrl+K", icon="check")
        self.deep_check = make(
            self.tr("&Deep check"), commands.deep_check, "Ctrl+Shift+K", icon="deep-check"
        )
        self.check.setToolTip(self.tr("Check all structures and refcounts"))
        self.deep_check.setToolTip(
            self.tr("Check all structures and refcounts, and decode every compressed cluster")
        )
        self.cancel_check = make(self.tr("Stop the &check"), commands.cancel_check)
        self.repair = make(self.tr("&Repair as a copy…"), commands.repair, icon="repair")
        self.salvage = make(self.tr("&Salvage…"), commands.salvage)
        self.optimise = make(self.tr("&Optimise as a copy…"), commands.optimise)
        self.compare = make(self.tr("Com&pare with…"), commands.compare, "Ctrl+D")
        self.benchmark = make(self.tr("&Benchmark"), commands.benchmark)
        self.benchmark.setToolTip(
            self.tr("Measure compression, threads and random reads on what the image holds")
        )

    @property
    def _of_an_image(self) -> tuple[QAction, ...]:
        """What needs an image that is shown."""
        return (
            self.copy,
            self.copy_rows,
            self.copy_table,
            self.go_to,
            self.next_finding,
            self.previous_finding,
            self.show_map,
            self.show_table,
            self.check,
            self.deep_check,
            self.repair,
            self.optimise,
            self.compare,
            self.benchmark,
            self.export_report,
        )

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
        file_menu.addActions([self.convert, self.export_report])
        file_menu.addSeparator()
        file_menu.addActions([self.close_tab, self.quit])
        edit_menu = bar.addMenu(self.tr("&Edit"))
        edit_menu.addActions([self.copy, self.copy_rows, self.copy_table])
        edit_menu.addSeparator()
        edit_menu.addAction(self.settings)
        go_menu = bar.addMenu(self.tr("&Go"))
        go_menu.addActions([self.back, self.forward, self.go_to])
        go_menu.addSeparator()
        go_menu.addActions([self.next_finding, self.previous_finding])
        go_menu.addSeparator()
        go_menu.addActions([self.show_map, self.show_table, self.show_findings, self.show_hex])
        go_menu.addAction(self.show_conversions)
        image_menu = bar.addMenu(self.tr("&Image"))
        image_menu.addActions([self.check, self.deep_check, self.cancel_check])
        image_menu.addSeparator()
        image_menu.addActions([self.repair, self.salvage, self.optimise])
        image_menu.addSeparator()
        image_menu.addActions([self.compare, self.benchmark])
        view_menu = bar.addMenu(self.tr("&View"))
        view_menu.addActions(panels)
        view_menu.addSeparator()
        colours = view_menu.addMenu(self.tr("&Colours"))
        colours.addActions(list(self.schemes.values()))
        view_menu.addSeparator()
        view_menu.addActions([self.next_tab, self.previous_tab])
        view_menu.addSeparator()
        view_menu.addAction(self.reset_layout)
        bar.addMenu(self.tr("&Help")).addActions(
            [self.manual, self.keyboard, self.copy_diagnostics, self.about]
        )

    def all(self) -> list[QAction]:
        """Every action, in the order of the menus."""
        return [action for action in self.children() if isinstance(action, QAction)]

    def enable_for(self, view: Situation) -> None:
        """Enable what makes sense."""
        for action in self._of_an_image:
            action.setEnabled(view.image)
        for action in (self.reload, self.close_tab, self.salvage):
            action.setEnabled(view.tabs > 0)
        for action in (self.next_tab, self.previous_tab):
            action.setEnabled(view.tabs > 1)
        for action in (self.show_findings, self.show_hex):
            action.setEnabled(view.tabs > 0)
        self.back.setEnabled(view.can_go_back)
        self.forward.setEnabled(view.can_go_forward)
        self.cancel_check.setEnabled(view.checking)

    def _make(
        self,
        text: str,
        call: Callable[[], object],
        key: QKeySequence.StandardKey | str | None = None,
        *,
        icon: str = "",
    ) -> QAction:
        action = QAction(text, self)
        action.setIconText(without_mnemonic(text).rstrip("… "))
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
        self.schemes[self._theme.scheme].setChecked(True)
        for action, name in self._icons.items():
            action.setIcon(self._theme.icon(name))
