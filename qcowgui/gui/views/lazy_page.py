"""A page that is made when it is first seen, or asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

W = TypeVar("W", bound=QWidget)


class LazyPage(QWidget, Generic[W]):
    """Holds one widget. Most people look at few of an image's pages, and all wait for its tab."""

    def __init__(self, make: Callable[[QWidget], W], parent: QWidget | None = None) -> None:
        """A page without its content.

        Args:
            make: Makes the content; is given its parent.
            parent: Of the page.
        """
        super().__init__(parent)
        self._make = make
        self.made: W | None = None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)

    @property
    def content(self) -> W:
        """What it holds; made now if it was not yet."""
        if self.made is None:
            self.made = self._make(self)
            layout = self.layout()
            if layout is not None:
                layout.addWidget(self.made)
            self.setFocusProxy(self.made)
        return self.made

    def showEvent(self, event: QShowEvent) -> None:
        """Somebody looks at it."""
        super().showEvent(event)
        self.content.show()
