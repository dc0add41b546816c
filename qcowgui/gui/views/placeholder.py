"""A quiet sentence where there is nothing else to show."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QProgressBar, QVBoxLayout, QWidget

_BAR_WIDTH = 280


class Placeholder(QWidget):
    """A sentence in the middle, with a bar below it while something is on its way."""

    def __init__(self, text: str, parent: QWidget | None = None, *, busy: bool = False) -> None:
        super().__init__(parent)
        self.label = QLabel(text)
        self.label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.label.setWordWrap(True)
        self.label.setProperty("muted", True)
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(_BAR_WIDTH)
        layout = QVBoxLayout(self)
        layout.addStretch(1)
        layout.addWidget(self.label)
        layout.addWidget(self.bar, 0, Qt.AlignmentFlag.AlignCenter)
        layout.addStretch(1)
        # Not before it has a parent: it would be a window for a moment.
        self.bar.setVisible(busy)
