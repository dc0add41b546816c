"""Go to: one line that takes an offset, a cluster or an entry, and says at once what it means."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QLineEdit, QVBoxLayout, QWidget

from qcowgui.errors import UsageError
from qcowgui.gui.places import place_text
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import Session
from qcowgui.gui.theme import SPACING, monospaced_font

_WIDTH = 460


class GoToDialog(QDialog):
    """Selects what was typed, in one session. It closes with the place it went to."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._found: Selection | None = None
        self.setWindowTitle(self.tr("Go to"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.field = QLineEdit()
        self.field.setFont(monospaced_font())
        self.field.setAccessibleName(self.tr("Where to"))
        self.field.setPlaceholderText("0x30000 · guest:5G · cluster 17 · L1[3]/L2[17]")
        self.field.setClearButtonEnabled(True)
        self.answer = QLabel()
        self.answer.setWordWrap(True)
        self.answer.setTextFormat(Qt.TextFormat.PlainText)
        self.answer.setMinimumHeight(self.fontMetrics().lineSpacing() * 3)
        self.answer.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.box = QDialogButtonBox()
        self.button = self.box.addButton(self.tr("Go"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.box.addButton(QDialogButtonBox.StandardButton.Cancel)
        self.box.accepted.connect(self._go)
        self.box.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[SPACING * 2] * 4)
        layout.setSpacing(SPACING)
        layout.addWidget(self.field)
        layout.addWidget(self.answer)
        layout.addWidget(self.box)
        self.setMinimumWidth(_WIDTH)
        self.field.textChanged.connect(self._look)
        session.changed.connect(self._look)
        session.bytes_loaded.connect(self._look)
        self._look()

    def _look(self) -> None:
        """Say what the text means, or why it means nothing."""
        self._found, tone = None, ""
        locator = self._session.locator
        text = self.field.text()
        if locator is None:
            answer = self.tr("The image is not there.")
        else:
            try:
                self._found = locator.parse_go_to(text)
                answer = place_text(self._found, locator)
            except UsageError as error:
                answer = "\n".join(filter(None, (error.message, error.hint)))
                tone = "warning" if text.strip() else ""
        self.answer.setText(answer)
        self.answer.setProperty("tone", tone)
        self.answer.style().unpolish(self.answer)
        self.answer.style().polish(self.answer)
        self.button.setEnabled(self._found is not None)

    def _go(self) -> None:
        if self._found is not None:
            self._session.select(self._found)
            self.accept()
