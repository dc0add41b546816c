"""Whose bytes the hex dock shows: the file's or the guest's."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QMenu, QToolButton, QWidget


class Space(Enum):
    """Whose bytes are shown."""

    FILE = auto()
    GUEST = auto()


class SpaceSwitch(QWidget):
    """Two buttons, one of them down.

    Attributes:
        file_button: For the file's bytes.
        guest_button: For the guest's.

    Signals:
        file_chosen: A person chose the file.
        guest_chosen: A person chose a guest's disk: the index of a snapshot; None: the active one.
    """

    file_chosen = Signal()
    guest_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.file_button = QToolButton()
        self.file_button.setText(self.tr("File"))
        self.file_button.setToolTip(self.tr("The bytes of the image file"))
        self.guest_button = QToolButton()
        self.guest_button.setText(self.tr("Guest disk"))
        self.guest_button.setToolTip(self.tr("The bytes that the guest sees, decoded"))
        group = QButtonGroup(self)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for button in (self.file_button, self.guest_button):
            button.setCheckable(True)
            button.setProperty("segment", True)
            group.addButton(button)
            layout.addWidget(button)
        self.file_button.setChecked(True)
        self._disks = QMenu(self)
        self._disks.triggered.connect(lambda action: self.guest_chosen.emit(action.data()))
        self.file_button.clicked.connect(self.file_chosen)
        self.guest_button.clicked.connect(lambda: self.guest_chosen.emit(None))

    def show_space(self, space: Space, disk: str = "") -> None:
        """Press a button without saying that a person did.

        Args:
            space: Which one.
            disk: Whose disk, when it is not the active one.
        """
        (self.guest_button if space is Space.GUEST else self.file_button).setChecked(True)
        named = self.tr("Guest disk: {name}").format(name=disk) if disk else self.tr("Guest disk")
        self.guest_button.setText(named.replace("&", "&&"))

    def set_disks(self, *, has_guest: bool, snapshots: Sequence[tuple[int, str]]) -> None:
        """Say what there is to choose.

        Args:
            has_guest: Whether there is a guest's disk at all.
            snapshots: Index and name of those whose disks can be chosen, too.
        """
        self.guest_button.setEnabled(has_guest)
        self._disks.clear()
        self._disks.addAction(self.tr("Active disk"))
        for index, name in snapshots:
            self._disks.addAction(name.replace("&", "&&")).setData(index)
        mode = QToolButton.ToolButtonPopupMode
        # The stubs don't know that None takes the menu away.
        self.guest_button.setMenu(self._disks if snapshots else None)  # type: ignore[arg-type]
        self.guest_button.setPopupMode(mode.MenuButtonPopup if snapshots else mode.DelayedPopup)
