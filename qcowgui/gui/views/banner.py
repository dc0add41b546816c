"""A strip with an icon and a sentence: how the window says what it would rather not."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from qcowgui.gui.formatters import Tone
from qcowgui.gui.theme import SPACING, Theme, scaled_font

_ICON_SIZE = QSize(22, 22)
_TONE_ICONS = {
    Tone.NORMAL: "note",
    Tone.MUTED: "note",
    Tone.NOTE: "note",
    Tone.WARNING: "warning",
    Tone.DANGER: "danger",
}


class Banner(QFrame):
    """A title, a text and buttons, in the colours of a tone. Hidden until it has something to say.

    Signals:
        dismissed: Its close button was used.
    """

    dismissed = Signal()

    def __init__(
        self, theme: Theme, parent: QWidget | None = None, *, dismissible: bool = False
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._tone = Tone.NOTE
        self._icon = QLabel()
        self._title = QLabel()
        self._text = QLabel()
        self._title.setFont(scaled_font(1.0, bold=True))
        for label in (self._title, self._text):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse
                | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self._title)
        texts.addWidget(self._text)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(SPACING)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(SPACING * 2, SPACING + 2, SPACING * 2, SPACING + 2)
        layout.setSpacing(SPACING + 4)
        layout.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(texts, 1)
        layout.addLayout(self._buttons)
        self._close = QPushButton()
        self._close.setProperty("flat", True)
        self._close.setAccessibleName(self.tr("Dismiss"))
        self._close.setToolTip(self.tr("Dismiss"))
        self._close.clicked.connect(self._dismiss)
        self._close.setVisible(dismissible)
        layout.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        theme.changed.connect(self._paint)
        self.hide()

    @property
    def title(self) -> str:
        """The first line."""
        return self._title.text()

    @property
    def text(self) -> str:
        """The lines below it."""
        return self._text.text()

    def say(self, title: str, text: str = "", *, tone: Tone = Tone.NOTE) -> None:
        """Show a sentence and what follows from it; earlier buttons go."""
        self._tone = tone
        self._title.setText(title)
        self._text.setText(text)
        self._text.setVisible(bool(text))
        self.setAccessibleName(f"{title} {text}".strip())
        while (item := self._buttons.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        self._paint()
        self.show()

    def add_button(self, text: str, clicked: Callable[[], object]) -> QPushButton:
        """Add a button beside the text."""
        button = QPushButton(text)
        button.clicked.connect(lambda _checked=False: clicked())
        self._buttons.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        return button

    def add_copy_button(self, details: str) -> None:
        """Add a button that puts `details` on the clipboard."""
        clipboard = QGuiApplication.clipboard()
        self.add_button(self.tr("Copy details"), lambda: clipboard.setText(details))

    def _dismiss(self) -> None:
        self.hide()
        self.dismissed.emit()

    def _paint(self) -> None:
        theme, tone = self._theme, self._tone
        colour = theme.tone_colour(tone)
        self._icon.setPixmap(theme.icon(_TONE_ICONS[tone], colour).pixmap(_ICON_SIZE))
        self._close.setIcon(theme.icon("close"))
        # For this frame alone: a rule without a selector would reach the labels in it.
        self.setObjectName("banner")
        self.setStyleSheet(
            f"#banner {{ background: {theme.tone_back(tone)}; border-radius: 8px; }}"
        )
