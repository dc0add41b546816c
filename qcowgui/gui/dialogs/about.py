"""Help: what the program is, and its keys."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QIcon, QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QVBoxLayout, QWidget

from qcowgui import __version__
from qcowgui.gui.formatters import Column, Row, Table
from qcowgui.gui.theme import SPACING, Theme, scaled_font
from qcowgui.gui.views.data_table import DataTable
from qcowgui.gui.views.inspector import COPY_KEY, NEXT_KEY, PREVIOUS_KEY


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
        self.table.set_table(self._keys(actions))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[SPACING * 2] * 4)
        layout.addWidget(self.table)
        layout.addWidget(_close_button(self))
        self.resize(460, 480)

    def _keys(self, actions: Sequence[QAction]) -> Table:
        rows = []
        for action in actions:
            # The others are the same on keyboards with keys of their own for it.
            key = _native(action.shortcut())
            if key:
                rows.append(Row((action.text().replace("&", ""), key.replace("Backtab", "Tab"))))
        rows += [Row(row) for row in self._keys_of_views()]
        columns = Column(self.tr("Command"), wide=True), Column(self.tr("Keys"))
        return Table(columns, tuple(rows))

    def _keys_of_views(self) -> list[tuple[str, str]]:
        step, find = f"{_native(PREVIOUS_KEY)}, {_native(NEXT_KEY)}", QKeySequence.StandardKey.Find
        return [
            (self.tr("Inspector: previous or next entry"), step),
            (self.tr("Inspector: copy everything it says"), _native(COPY_KEY)),
            (self.tr("Map: zoom in or out"), self.tr("+, −")),
            (self.tr("Map: everything, or single cells"), self.tr("0, 1")),
            (self.tr("Map: next or previous of the selected state"), self.tr("N, P")),
            (self.tr("Map: move by a cell"), self.tr("Arrow keys")),
            (self.tr("Map: select a range"), self.tr("Shift+Arrow keys")),
            (self.tr("Legend: only this state, or hide it"), self.tr("Space, Delete")),
            (self.tr("Bytes: search, again, backwards"), f"{_native(find)}, F3, Shift+F3"),
            (self.tr("Go to what a finding is about"), self.tr("Return")),
            (self.tr("Remove a recent file from the list"), self.tr("Delete")),
        ]


def _native(key: QKeySequence | QKeySequence.StandardKey | str) -> str:
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)


def _close_button(dialog: QDialog) -> QDialogButtonBox:
    box = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    box.rejected.connect(dialog.reject)
    return box
