"""A widget that keeps to itself what its content would have laid out anew around it."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget


class Boundary(QWidget):
    """Holds one widget, which always fills it.

    A label whose text changes asks for another layout, and Qt passes that on to every widget
    around it, up to the window; a QTabWidget on the way is repainted as a whole. With that, each
    selection repainted the window two to fourteen times (2026-11-30). Here it ends: a widget
    without a layout passes nothing on.
    """

    def __init__(self, content: QWidget | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._content: QWidget | None = None
        if content is not None:
            self.hold(content)

    def hold(self, content: QWidget) -> None:
        """Fill this widget with `content`."""
        self._content = content
        if content.parentWidget() is not self:
            content.setParent(self)
        self.setSizePolicy(content.sizePolicy())
        self.setFocusProxy(content)
        content.setGeometry(self.rect())

    def sizeHint(self) -> QSize:
        """As large as the content wants to be when somebody asks."""
        return super().sizeHint() if self._content is None else self._content.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """As small as the content may become."""
        if self._content is None:
            return super().minimumSizeHint()
        return self._content.minimumSizeHint().expandedTo(self._content.minimumSize())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The content stays as large."""
        super().resizeEvent(event)
        if self._content is not None:
            self._content.setGeometry(self.rect())
