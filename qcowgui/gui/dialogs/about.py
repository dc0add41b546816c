"""Help: what the program is, and its keys."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QIcon
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QVBoxLayout, QWidget

from qcowgui import __version__
from qcowgui.gui.key_list import key_table
from qcowgui.gui.theme import SPACING, Theme, scaled_font
from qcowgui.gui.views.data_table import DataTable


class AboutDialog(QDialog):
    """Name, version, purpose."""

    def __init__(self, icon: QIcon, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("About qcowgui"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        picture = QLabel()
        picture.setPixmap(icon.pixmap(QSize(96, 96)))
        name = QLabel(f"qcowgui {__version__}")
        name.setFont(scaled_font(1.5, bold=True))
        name.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        text = QLabel(
            self.tr(
                "See inside qcow2 disk images, and convert them.\n"
                "Free software under the MIT licence."
            )
        )
        text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[SPACING * 3] * 4)
        layout.setSpacing(SPACING)
        layout.addWidget(picture, 0, Qt.AlignmentFlag.AlignCenter)
        layout.addWidget(name, 0, Qt.AlignmentFlag.AlignCenter)
        layout.addWidget(text)
        layout.addWidget(_close_button(self))


class KeyboardDialog(QDialog):
    """Every command that has a key, then the keys of single views."""

    def __init__(
        self, actions: Sequence[QAction], theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Keyboard"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.table = DataTable(theme)
        self.table.setAccessibleName(self.tr("Keys"))
        self.table.set_table(key_table(actions))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[SPACING * 2] * 4)
        layout.addWidget(self.table)
        layout.addWidget(_close_button(self))
        self.resize(460, 480)


def _close_button(dialog: QDialog) -> QDialogButtonBox:
    box = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    box.rejected.connect(dialog.reject)
    return box
