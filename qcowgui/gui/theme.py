"""Colours, sizes and icons: light and dark, by the system's choice or the user's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import qtawesome
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory

from qcowgui.gui.formatters import Tone
from qcowgui.gui.settings import ColourScheme, MapPalette, Settings
from qcowgui.report.palette import colour_only_faults


@dataclass(frozen=True, slots=True)
class Colours:
    """One set of colours, as #rrggbb.

    Attributes:
        window: Behind everything.
        panel: Behind tables and lists.
        raised: Buttons, table headings.
        hover: A raised thing below the pointer.
        line: Borders.
        scroll: The handle of a scroll bar.
        text: Text.
        muted: Text that steps back; 4.5:1 on window and panel all the same.
        accent: What is selected or leads on.
        on_accent: Text on it.
        selected: Behind selected cells and items.
        on_selected: Text on it.
        note, warning, danger: Text of that tone, on `panel`.
        note_back, warning_back, danger_back: Behind text of that tone in a banner or a badge.
    """

    window: str
    panel: str
    raised: str
    hover: str
    line: str
    scroll: str
    text: str
    muted: str
    accent: str
    on_accent: str
    selected: str
    on_selected: str
    note: str
    warning: str
    danger: str
    note_back: str
    warning_back: str
    danger_back: str


LIGHT: Final = Colours(
    window="#f3f5f7",
    panel="#ffffff",
    raised="#ffffff",
    hover="#e9eef3",
    line="#d5dbe1",
    scroll="#c0c8d0",
    text="#1b2026",
    muted="#59636e",
    accent="#1769aa",
    on_accent="#ffffff",
    selected="#1769aa",
    on_selected="#ffffff",
    note="#3b6288",
    warning="#865600",
    danger="#b3261e",
    note_back="#e6eef6",
    warning_back="#fdf1d8",
    danger_back="#fde7e5",
)
DARK: Final = Colours(
    window="#16191d",
    panel="#1c2025",
    raised="#262b31",
    hover="#303740",
    line="#2f353c",
    scroll="#454d57",
    text="#e4e8ec",
    muted="#98a2ad",
    accent="#4a9eff",
    on_accent="#08121d",
    selected="#275a94",
    on_selected="#ffffff",
    note="#8ab8e6",
    warning="#e9b949",
    danger="#ff8a80",
    note_back="#1f2f40",
    warning_back="#3a2f14",
    danger_back="#471e20",
)

_ICONS: Final = {
    "open": "mdi6.folder-open-outline",
    "convert": "mdi6.swap-horizontal",
    "reload": "mdi6.refresh",
    "copy": "mdi6.content-copy",
    "drop": "mdi6.tray-arrow-down",
    "image": "mdi6.harddisk",
    "good": "mdi6.check-circle-outline",
    "note": "mdi6.information-outline",
    "warning": "mdi6.alert-outline",
    "danger": "mdi6.alert-octagon-outline",
    "cancelled": "mdi6.cancel",
    "running": "mdi6.progress-clock",
    "close": "mdi6.close",
    "paused": "mdi6.pause-circle-outline",
    "interrupted": "mdi6.power-plug-off-outline",
    "more": "mdi6.dots-horizontal",
    "waiting": "mdi6.clock-outline",
    "previous": "mdi6.chevron-up",
    "next": "mdi6.chevron-down",
    "collapsed": "mdi6.chevron-right",
    "expanded": "mdi6.chevron-down",
    "back": "mdi6.arrow-left",
    "forward": "mdi6.arrow-right",
    "go-to": "mdi6.crosshairs",
    "check": "mdi6.shield-search",
    "deep-check": "mdi6.shield-check-outline",
    "repair": "mdi6.wrench-outline",
    "zoom-in": "mdi6.magnify-plus-outline",
    "zoom-out": "mdi6.magnify-minus-outline",
    "zoom-fit": "mdi6.fit-to-page-outline",
    "zoom-cells": "mdi6.grid",
    "manual": "mdi6.book-open-variant",
    "export": "mdi6.image-outline",
}

_FUSION_OUTLINE_PERCENT: Final = 140

SPACING: Final = 8
"""The grid that margins and gaps are multiples of, in device-independent pixels."""


def monospaced_font() -> QFont:
    """The system's fixed-width font, as large as its other text."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPointSizeF(QApplication.font().pointSizeF())
    return font


def scaled_font(factor: float, *, bold: bool = False) -> QFont:
    """The application's font, `factor` times as large."""
    font = QApplication.font()
    font.setPointSizeF(font.pointSizeF() * factor)
    font.setBold(bold)
    return font


class Theme(QObject):
    """The colours in use. One for the application; belongs to the GUI's thread.

    Signals:
        changed: The colours are others: whoever made an icon or a colour makes it again.
    """

    changed = Signal()

    def __init__(
        self, app: QApplication, settings: Settings, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._app = app
        self._settings = settings
        self._colours = LIGHT
        self._palette = settings.map_palette
        app.setStyle(QStyleFactory.create("Fusion"))
        app.styleHints().colorSchemeChanged.connect(self._apply)
        settings.chosen.connect(self._follow)
        self._apply()

    @property
    def colours(self) -> Colours:
        """The colours in use."""
        return self._colours

    @property
    def dark(self) -> bool:
        """Whether they are the dark ones."""
        return self._colours is DARK

    @property
    def scheme(self) -> ColourScheme:
        """Which colours the user wants."""
        return self._settings.colour_scheme

    def choose(self, scheme: ColourScheme) -> None:
        """Use the colours of `scheme` from now on, and remember it."""
        self._settings.colour_scheme = scheme
        self._apply()

    def icon(self, name: str, colour: str = "") -> QIcon:
        """The icon called `name`, sharp at any size; by default in the colour of text.

        Raises:
            KeyError: When no icon is called so.
        """
        icon: QIcon = qtawesome.icon(
            _ICONS[name], color=colour or self._colours.text, color_disabled=self._colours.muted
        )
        return icon

    def tone_colour(self, tone: Tone) -> str:
        """The text colour of `tone` on a panel."""
        colours = self._colours
        return {
            Tone.NORMAL: colours.text,
            Tone.MUTED: colours.muted,
            Tone.NOTE: colours.note,
            Tone.WARNING: colours.warning,
            Tone.DANGER: colours.danger,
        }[tone]

    def tone_back(self, tone: Tone) -> str:
        """The colour behind text of `tone` in a banner or a badge."""
        colours = self._colours
        return {
            Tone.NORMAL: colours.note_back,
            Tone.MUTED: colours.raised,
            Tone.NOTE: colours.note_back,
            Tone.WARNING: colours.warning_back,
            Tone.DANGER: colours.danger_back,
        }[tone]

    def _system_is_dark(self) -> bool:
        return self._app.styleHints().colorScheme() == Qt.ColorScheme.Dark

    def _wanted_colours(self) -> Colours:
        chosen = self._settings.colour_scheme
        if chosen is ColourScheme.SYSTEM:
            return DARK if self._system_is_dark() else LIGHT
        return DARK if chosen is ColourScheme.DARK else LIGHT

    def _follow(self) -> None:
        """Something was chosen: it need not be about colours."""
        same = self._settings.map_palette is self._palette
        if not same or self._wanted_colours() is not self._colours:
            self._apply()

    def _apply(self) -> None:
        self._palette = self._settings.map_palette
        colour_only_faults(self._palette is MapPalette.PROBLEMS)
        self._colours = self._wanted_colours()
        palette = _palette(self._colours)
        self._app.setPalette(palette)
        # Fusion draws the outline of a field in a darker shade of the window's colour, which
        # on a dark window can't be seen. Fields don't paint that colour itself.
        outline = QColor(self._colours.scroll).lighter(_FUSION_OUTLINE_PERCENT)
        palette.setColor(QPalette.ColorRole.Window, outline)
        for kind in ("QCheckBox", "QLineEdit", "QAbstractSpinBox"):
            # The stubs want bytes, which the method itself refuses (6.11.3).
            self._app.setPalette(palette, kind)  # type: ignore[arg-type]
        self._app.setStyleSheet(_style_sheet(self._colours))
        self.changed.emit()


def _palette(colours: Colours) -> QPalette:
    role = QPalette.ColorRole
    palette = QPalette()
    for name, value in {
        role.Window: colours.window,
        role.WindowText: colours.text,
        role.Base: colours.panel,
        role.AlternateBase: colours.window,
        role.Text: colours.text,
        role.PlaceholderText: colours.muted,
        role.Button: colours.raised,
        role.ButtonText: colours.text,
        role.ToolTipBase: colours.raised,
        role.ToolTipText: colours.text,
        role.BrightText: colours.danger,
        role.Link: colours.accent,
        role.LinkVisited: colours.accent,
        role.Highlight: colours.selected,
        role.HighlightedText: colours.on_selected,
        role.Accent: colours.accent,
        role.Light: colours.hover,
        role.Midlight: colours.line,
        role.Mid: colours.line,
        role.Dark: colours.line,
        role.Shadow: colours.window,
    }.items():
        palette.setColor(name, QColor(value))
    for name in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, name, QColor(colours.muted))
    return palette


def _style_sheet(c: Colours) -> str:
    """What a palette can't say. Its px are device-independent; fonts are the system's."""
    return f"""
QToolBar {{ background: {c.window}; border: 0; padding: 2px 8px 6px 8px; spacing: 6px; }}
QToolBar QToolButton, QPushButton {{ background: {c.raised}; border: 1px solid {c.line};
    border-radius: 6px; padding: 5px 12px; }}
QToolBar QToolButton {{ padding: 4px 10px; }}
#mapTools {{ padding: 0; spacing: 4px; }}
#mapTools QToolButton {{ padding: 2px 6px; }}
QToolBar QToolButton:hover, QPushButton:hover {{ background: {c.hover}; }}
QToolBar QToolButton:checked {{ background: {c.selected}; color: {c.on_selected};
    border-color: {c.selected}; }}
QToolBar QToolButton:disabled, QPushButton:disabled {{ color: {c.muted}; background: {c.window}; }}
QToolBar QToolButton:focus, QPushButton:focus {{ border-color: {c.accent}; }}
QPushButton[primary="true"] {{ background: {c.accent}; color: {c.on_accent};
    border-color: {c.accent}; font-weight: 600; }}
QPushButton[primary="true"]:disabled {{ background: {c.raised}; color: {c.muted};
    border-color: {c.line}; }}
QPushButton[flat="true"] {{ background: transparent; border-color: transparent; color: {c.accent};
    padding: 5px 8px; }}
QPushButton[flat="true"]:hover, QPushButton[flat="true"]:focus {{ border-color: {c.line}; }}
QToolButton[segment="true"] {{ background: {c.raised}; border: 1px solid {c.line};
    padding: 3px 10px; }}
QToolButton[segment="true"][popupMode="1"] {{ padding-right: 24px; }}
QToolButton[segment="true"]::menu-button {{ border: 0; width: 18px; }}
QToolButton[segment="true"]:hover {{ background: {c.hover}; }}
QToolButton[segment="true"]:checked {{ background: {c.selected}; color: {c.on_selected};
    border-color: {c.selected}; }}
QToolButton[segment="true"]:disabled {{ color: {c.muted}; background: {c.window}; }}
QToolButton[segment="true"]:focus {{ border-color: {c.accent}; }}
QStatusBar {{ background: {c.window}; border-top: 1px solid {c.line}; color: {c.muted}; }}
QStatusBar::item {{ border: 0; }}
QTableView, QTreeView, QListView, QPlainTextEdit {{ background: {c.panel};
    border: 1px solid {c.line}; border-radius: 6px; outline: 0; }}
QTableView {{ gridline-color: transparent; selection-background-color: {c.selected};
    selection-color: {c.on_selected}; }}
QTableView::item {{ padding: 2px 8px; border: 0; }}
QTreeView::item, QListView::item {{ padding: 5px 6px; border: 0; }}
#legend::item {{ padding: 2px 6px; }}
QTreeView::item:selected, QListView::item:selected {{ background: {c.selected};
    color: {c.on_selected}; }}
QTreeView::item:hover:!selected, QListView::item:hover:!selected {{ background: {c.hover}; }}
QHeaderView {{ background: {c.panel}; border: 0; border-top-left-radius: 6px;
    border-top-right-radius: 6px; }}
QHeaderView::section {{ background: {c.panel}; color: {c.muted}; border: 0;
    border-bottom: 1px solid {c.line}; padding: 6px 11px; font-weight: 600; }}
QTabBar {{ background: {c.window}; }}
QTabBar::tab {{ background: transparent; color: {c.muted}; border: 0;
    border-bottom: 2px solid transparent; padding: 8px 14px; }}
QTabBar::tab:selected {{ color: {c.text}; border-bottom: 2px solid {c.accent}; }}
QTabBar::tab:hover:!selected {{ color: {c.text}; background: {c.hover}; }}
QTabWidget::pane {{ border: 0; border-top: 1px solid {c.line}; }}
QTabBar QToolButton {{ background: transparent; border: 0; border-radius: 4px; padding: 2px; }}
QTabBar QToolButton:hover, QTabBar QToolButton:focus {{ background: {c.hover}; }}
QScrollBar {{ background: transparent; border: 0; margin: 0; }}
QScrollBar:vertical {{ width: 12px; }}
QScrollBar:horizontal {{ height: 12px; }}
QScrollBar::handle {{ background: {c.scroll}; border-radius: 3px; margin: 3px; min-height: 28px;
    min-width: 28px; }}
QScrollBar::handle:hover {{ background: {c.muted}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QAbstractScrollArea::corner {{ background: transparent; border: 0; }}
QDockWidget {{ color: {c.muted}; font-weight: 600; }}
QDockWidget::title {{ background: {c.window}; border-top: 1px solid {c.line};
    padding: 6px 12px; text-align: left; }}
QSplitter::handle {{ background: transparent; }}
QSplitter::handle:horizontal {{ width: 9px; }}
QSplitter::handle:vertical {{ height: 9px; }}
QMenu {{ background: {c.raised}; border: 1px solid {c.line}; padding: 4px; }}
QMenu::item {{ padding: 5px 26px 5px 22px; border-radius: 4px; }}
QMenu::item:selected {{ background: {c.selected}; color: {c.on_selected}; }}
QMenu::item:disabled {{ color: {c.muted}; background: transparent; }}
QMenu::separator {{ height: 1px; background: {c.line}; margin: 4px 8px; }}
QMenuBar {{ background: {c.window}; padding: 2px 6px; }}
QMenuBar::item {{ padding: 4px 9px; border-radius: 4px; background: transparent; }}
QMenuBar::item:selected {{ background: {c.hover}; }}
QProgressBar {{ background: {c.hover}; border: 0; border-radius: 3px; max-height: 6px;
    min-height: 6px; }}
QProgressBar::chunk {{ background: {c.accent}; border-radius: 3px; }}
QLabel[muted="true"] {{ color: {c.muted}; }}
QLabel[tone="danger"] {{ color: {c.danger}; }}
QLabel[tone="warning"] {{ color: {c.warning}; }}
QToolTip {{ background: {c.raised}; color: {c.text}; border: 1px solid {c.line}; padding: 4px; }}
QFrame[card="true"] {{ background: {c.panel}; border: 1px solid {c.line}; border-radius: 8px; }}
QFrame[dropTarget="true"] {{ background: {c.panel}; border: 2px dashed {c.line};
    border-radius: 14px; }}
QFrame[dropTarget="true"][hot="true"] {{ border-color: {c.accent}; background: {c.note_back}; }}
"""
