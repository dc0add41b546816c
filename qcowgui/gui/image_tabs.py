"""The open images as tabs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QStackedWidget, QTabBar, QTabWidget, QToolButton, QWidget

from qcowgui.gui.theme import Theme
from qcowgui.gui.views.image_view import ImageView

_CLOSE_ICON_SIZE: Final = QSize(14, 14)


class ImageTabs(QTabWidget):
    """A tab for each open image.

    Signals:
        close_requested: The button of a tab was used: its ImageView.
    """

    close_requested = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setDocumentMode(True)
        self.setMovable(True)
        self.setElideMode(Qt.TextElideMode.ElideMiddle)
        self.tabBar().setDrawBase(False)
        theme.changed.connect(self._paint)

    def views(self) -> list[ImageView]:
        """The open images, in the order of the tabs."""
        widgets = (self.widget(index) for index in range(self.count()))
        return [widget for widget in widgets if isinstance(widget, ImageView)]

    def current_view(self) -> ImageView | None:
        """The image that is shown, or None when none is open."""
        widget = self.currentWidget()
        return widget if isinstance(widget, ImageView) else None

    def view_of(self, path: Path) -> ImageView | None:
        """The tab of a file that is open."""
        return next((view for view in self.views() if view.session.path == path), None)

    @property
    def page_parent(self) -> QWidget:
        """What a new view is best made in: moved to it later, all of it would be styled again."""
        return self.findChild(QStackedWidget) or self

    def add_view(self, view: ImageView) -> None:
        """Show an image in a new tab, in front."""
        path = view.session.path
        index = self.addTab(view, self._theme.icon("image"), path.name.replace("&", "&&"))
        self.setTabToolTip(index, str(path))
        button = QToolButton()
        button.setIcon(self._theme.icon("close", self._theme.colours.muted))
        button.setIconSize(_CLOSE_ICON_SIZE)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # by keyboard it is Close tab
        button.setToolTip(self.tr("Close tab"))
        button.setAccessibleName(self.tr("Close {name}").format(name=path.name))
        button.clicked.connect(lambda _checked=False: self.close_requested.emit(view))
        self.tabBar().setTabButton(index, QTabBar.ButtonPosition.RightSide, button)
        self.setCurrentIndex(index)

    def step(self, step: int) -> None:
        """Show the next tab (1) or the one before (-1), round the end."""
        if self.count():
            self.setCurrentIndex((self.currentIndex() + step) % self.count())

    def _paint(self) -> None:
        for index in range(self.count()):
            self.setTabIcon(index, self._theme.icon("image"))
            button = self.tabBar().tabButton(index, QTabBar.ButtonPosition.RightSide)
            if isinstance(button, QToolButton):
                button.setIcon(self._theme.icon("close", self._theme.colours.muted))
