"""One line below the map: the way to a guest byte, or what the map answers to."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from qcowgui.gui.theme import SPACING


class Trail(QLabel):
    """Sentences in one line, all of them in its tooltip. Always there, so that nothing moves."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sentences: tuple[str, ...] = ()
        self.setContentsMargins(SPACING, 0, SPACING, SPACING // 2)
        # A line of its own width would keep the window wide.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setProperty("muted", True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAccessibleName(self.tr("The way to the selected guest byte"))
        self._show()

    def show_way(self, sentences: Sequence[str]) -> None:
        """Show the steps of a way; without any, what the pointer and the keys do."""
        self._sentences = tuple(sentences)
        self._show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """There is another room for the line."""
        super().resizeEvent(event)
        self._show()

    def _show(self) -> None:
        hint = self.tr(
            "Wheel: zoom   Drag: move   Shift and drag: a range   Arrows: step   N P: the next"
            " and the previous of its state"
        )
        text = "   ".join(self._sentences) or hint
        room = self.width() - 2 * SPACING
        self.setText(self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room))
        self.setToolTip("\n".join(self._sentences))
        self.setAccessibleDescription(text)
