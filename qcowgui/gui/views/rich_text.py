"""Rich text that is as tall as its content: to be selected, copied, and followed by its links."""

from __future__ import annotations

from math import ceil
from typing import Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QTextDocument, QWheelEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QWidget

_STYLE: Final = "p { margin: 0 0 4px 0; }"


class RichText(QTextBrowser):
    """Text that wraps anywhere if it must, never scrolls, and opens no links by itself."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._html = ""
        self._heights: dict[int, int] = {}
        """By width: a layout asks for the same one many times."""
        self._measure = QTextDocument(self)
        self.setAccessibleName(name)
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.viewport().setAutoFillBackground(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextBrowserInteraction
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.document().setDocumentMargin(0)
        self._measure.setDocumentMargin(0)
        self._measure.setDefaultTextOption(self.document().defaultTextOption())
        for document in (self.document(), self._measure):
            document.setDefaultStyleSheet(_STYLE)
        self.hide()  # until it has something to say

    def show_html(self, html: str) -> None:
        """Show `html`; hidden while it is empty. The same text keeps what is selected in it."""
        if html == self._html:
            return
        self._html = html
        self._heights.clear()
        if self._measure.defaultFont() != self.font():
            self._measure.setDefaultFont(self.font())
        self.setHtml(html)
        self._measure.setHtml(html)
        self.setVisible(bool(html))
        self.updateGeometry()

    def hasHeightForWidth(self) -> bool:
        """It wraps."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height of the text in `width`."""
        if width not in self._heights:
            self._measure.setTextWidth(width)
            self._heights[width] = ceil(self._measure.size().height())
        return self._heights[width]

    def sizeHint(self) -> QSize:
        """As tall as the text is in the present width."""
        width = max(self.width(), self.minimumSizeHint().width())
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """Some words; the height follows from the width."""
        return QSize(self.fontMetrics().averageCharWidth() * 12, 0)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave scrolling to what it lies in."""
        event.ignore()
