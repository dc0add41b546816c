"""What happened in this window, in order: files opened, checked, changed, converted."""

from __future__ import annotations

import time
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from qcowgui.gui.theme import monospaced_font

MAX_LINES: Final = 5000


class LogPanel(QWidget):
    """Lines with their time, the latest below; they can be selected and copied."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setMaximumBlockCount(MAX_LINES)
        self.text.setFont(monospaced_font())
        self.text.setAccessibleName(self.tr("Log"))
        self.text.setPlaceholderText(self.tr("Nothing has happened yet."))
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.text)

    def add(self, line: str) -> None:
        """Add a line with the time of day."""
        self.text.appendPlainText(f"{time.strftime('%H:%M:%S')}  {line}")
