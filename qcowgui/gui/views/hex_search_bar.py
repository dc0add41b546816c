"""The search field of the hex dock."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QToolButton, QWidget

from qcowgui.gui.hex_search import PatternKind
from qcowgui.gui.theme import Theme

_ICON_SIZE: Final = QSize(16, 16)
_EDIT_WIDTH: Final = 180


class _SearchEdit(QLineEdit):
    """A line that also searches backward, and that gives up."""

    backward_requested = Signal()
    cancelled = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Shift+Enter searches backward, Esc gives up."""
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.backward_requested.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.cancelled.emit()
        else:
            super().keyPressEvent(event)


class HexSearchBar(QWidget):
    """What to look for, and in which direction.

    Signals:
        requested: Search: True for forward.
        cancelled: Give up: stop a search, or go back to the bytes.
    """

    requested = Signal(bool)
    cancelled = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.kind = QComboBox()
        self.kind.setAccessibleName(self.tr("Search for"))
        for text, kind in (
            (self.tr("Hex"), PatternKind.HEX),
            (self.tr("Text, UTF-8"), PatternKind.UTF8),
            (self.tr("Text, UTF-16"), PatternKind.UTF16),
        ):
            self.kind.addItem(text, kind)
        self.edit = _SearchEdit()
        self.edit.setAccessibleName(self.tr("Search bytes or text"))
        self.edit.setMinimumWidth(_EDIT_WIDTH)
        self.edit.setClearButtonEnabled(True)
        self.previous = self._make_button(self.tr("Find previous (Shift+F3)"))
        self.next = self._make_button(self.tr("Find next (F3)"))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        for widget in (self.kind, self.edit, self.previous, self.next):
            layout.addWidget(widget)
        self.edit.returnPressed.connect(lambda: self.requested.emit(True))
        self.edit.backward_requested.connect(lambda: self.requested.emit(False))
        self.edit.cancelled.connect(self.cancelled)
        self.next.clicked.connect(lambda: self.requested.emit(True))
        self.previous.clicked.connect(lambda: self.requested.emit(False))
        self.kind.currentIndexChanged.connect(self._show_example)
        self._show_example()
        theme.changed.connect(self._paint)
        self._paint()

    @property
    def pattern_kind(self) -> PatternKind:
        """How the text is meant."""
        kind: PatternKind = self.kind.currentData()
        return kind

    def focus(self) -> None:
        """Type here next."""
        self.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.edit.selectAll()

    def _make_button(self, text: str) -> QToolButton:
        button = QToolButton()
        button.setToolTip(text)
        button.setAccessibleName(text)
        button.setIconSize(_ICON_SIZE)
        button.setAutoRaise(True)
        return button

    def _show_example(self) -> None:
        self.edit.setPlaceholderText(
            self.tr("Search: 51 46 ?? fb")
            if self.pattern_kind is PatternKind.HEX
            else self.tr("Search text")
        )

    def _paint(self) -> None:
        self.previous.setIcon(self._theme.icon("previous"))
        self.next.setIcon(self._theme.icon("next"))
