"""A word with its number, its bits, and an explanation of the part that is pointed at."""

from __future__ import annotations

from html import escape
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from qcowgui.gui.bit_layout import BitWord
from qcowgui.gui.theme import SPACING, Theme, monospaced_font, scaled_font
from qcowgui.gui.views.bit_grid import BitGrid, explanation
from qcowgui.gui.views.rich_text import RichText

_ONE_LINE_BITS: Final = 32
"""Both notations of numbers up to here fit side by side."""


class BitFields(QWidget):
    """A word: its number in both notations, its bits, and what the current part means."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = QLabel()
        self.title.setProperty("muted", True)
        self.title.setFont(scaled_font(1.0, bold=True))
        self.number = QLabel()
        self.number.setTextFormat(Qt.TextFormat.PlainText)
        self.number.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.number.setFont(monospaced_font())
        self.grid = BitGrid(theme)
        self.explanation = RichText(self.tr("What these bits mean"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACING // 2)
        for widget in (self.title, self.number, self.grid, self.explanation):
            layout.addWidget(widget)
        self._theme = theme
        self.grid.current_changed.connect(self._explain)
        theme.changed.connect(self._explain)

    def show_word(self, word: BitWord) -> None:
        """Show a word."""
        self.title.setText(word.title)
        between = "\n" if word.width_bits > _ONE_LINE_BITS else " = "
        self.number.setText(f"{word.hex_text}{between}{word.decimal_text}")
        self.grid.show_word(word)

    def _explain(self) -> None:
        current = self.grid.current
        hint = self.tr("Point at a part, or step with the arrow keys, to have it explained.")
        text = escape(hint if current is None else explanation(current))
        colour = self._theme.colours.muted
        self.explanation.show_html(f'<p style="color: {colour}">{text}</p>')
