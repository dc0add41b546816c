"""The dialogs about one image: at most one of each kind, and none after its tab is closed."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDialog

from qcowgui.gui.dialogs.go_to import GoToDialog
from qcowgui.gui.dialogs.repair import RepairDialog
from qcowgui.gui.dialogs.salvage import SalvageDialog
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.image_view import ImageView

D = TypeVar("D", bound=QDialog)


class ImageDialogs(QObject):
    """Shows them; they belong to the view of their image.

    Signals:
        open_requested: A dialog has written an image that somebody wants to see: its Path.
    """

    open_requested = Signal(object)

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def go_to(self, view: ImageView) -> None:
        """Ask where to go."""
        if not self._raise(view, GoToDialog):
            GoToDialog(view.session, view).show()

    def repair(self, view: ImageView) -> None:
        """Plan a repair, to be written as a copy."""
        if not self._raise(view, RepairDialog):
            dialog = RepairDialog(view.session, self._theme, view)
            dialog.open_requested.connect(self.open_requested)
            dialog.salvage_requested.connect(lambda: self.salvage(view))
            dialog.show()

    def salvage(self, view: ImageView) -> None:
        """Look for what is left of an image."""
        if not self._raise(view, SalvageDialog):
            dialog = SalvageDialog(view.session, self._theme, view)
            dialog.open_requested.connect(self.open_requested)
            dialog.show()

    @staticmethod
    def writing(view: ImageView) -> list[QDialog]:
        """The dialogs of a view that write a file now."""
        found: list[RepairDialog | SalvageDialog] = [
            *view.findChildren(RepairDialog),
            *view.findChildren(SalvageDialog),
        ]
        return [dialog for dialog in found if dialog.writing]

    @staticmethod
    def close_all(view: ImageView) -> None:
        """Close those of a view: what they run ends."""
        for dialog in view.findChildren(QDialog):
            dialog.reject()

    @staticmethod
    def _raise(view: ImageView, kind: type[D]) -> bool:
        for dialog in view.findChildren(kind):
            if dialog.isVisible():
                dialog.raise_()
                dialog.activateWindow()
                return True
        return False
