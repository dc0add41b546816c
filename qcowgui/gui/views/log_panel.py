"""What happened in this window, in order: files opened, checked, changed, converted."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from qcowgui.gui.theme import SPACING, monospaced_font

MAX_LINES: Final = 5000


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line.

    Attributes:
        text: With the time of day in front, and a mark if it tells of a problem.
        problem: Whether it does.
    """

    text: str
    problem: bool


class LogPanel(QWidget):
    """Lines with their time, the latest below; they can be filtered, selected and copied."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines: deque[LogLine] = deque(maxlen=MAX_LINES)
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
        self.filter = QLineEdit()
        self.filter.setPlaceholderText(self.tr("Filter"))
        self.filter.setAccessibleName(self.tr("Only lines with these words"))
        self.filter.setClearButtonEnabled(True)
        self.problems = QCheckBox(self.tr("Problems only"))
        self.copy_button = QPushButton(self.tr("Copy"))
        self.copy_button.setAutoDefault(False)
        self.copy_button.setToolTip(self.tr("Copy the lines that are shown"))
        self.filter.textChanged.connect(self._show)
        self.problems.toggled.connect(self._show)
        self.copy_button.clicked.connect(self.copy)
        self._lay_out()

    @property
    def lines(self) -> tuple[LogLine, ...]:
        """Every line that is kept, the latest last."""
        return tuple(self._lines)

    def add(self, line: str, *, problem: bool = False) -> None:
        """Add a line with the time of day; what breaks it is made visible."""
        mark = "! " if problem else ""
        flat = line.strip().replace("\n", " ⏎ ")
        added = LogLine(f"{time.strftime('%H:%M:%S')}  {mark}{flat}", problem)
        self._lines.append(added)
        if self._is_shown(added):
            self.text.appendPlainText(added.text)

    def copy(self) -> None:
        """Put the lines that are shown on the clipboard."""
        QGuiApplication.clipboard().setText(self.text.toPlainText())

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(SPACING)
        row.addWidget(self.filter, 1)
        row.addWidget(self.problems)
        row.addWidget(self.copy_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACING // 2)
        layout.addLayout(row)
        layout.addWidget(self.text, 1)

    def _is_shown(self, line: LogLine) -> bool:
        words = self.filter.text().casefold().split()
        wanted = line.problem or not self.problems.isChecked()
        return wanted and all(word in line.text.casefold() for word in words)

    def _show(self) -> None:
        self.text.setPlainText("\n".join(line.text for line in self._lines if self._is_shown(line)))
        self.text.moveCursor(self.text.textCursor().MoveOperation.End)
