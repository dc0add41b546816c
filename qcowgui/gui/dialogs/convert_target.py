"""Where the results of a conversion form go: a name for one image, a folder for several."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from qcowgui.gui.dialogs.convert_entries import Entry
from qcowgui.gui.dialogs.form_rows import add_row, make_form
from qcowgui.gui.dialogs.target_field import TargetField
from qcowgui.gui.theme import SPACING


class TargetSection(QWidget):
    """Shows one of the two, by how many images the settings are for.

    Signals:
        target_changed: The name of the one image's target is another.
        folder_changed: The folder for several is another.
    """

    target_changed = Signal()
    folder_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.target = TargetField(self.tr("Target"), self.tr("The file to make"))
        self._folder_row = QWidget()
        self.folder_line = QLineEdit()
        self.folder_line.setAccessibleName(self.tr("Folder for the results"))
        self.folder_line.setPlaceholderText(self.tr("beside the sources"))
        self.folder_line.setClearButtonEnabled(True)
        browse = QPushButton(self.tr("Browse…"))
        browse.setAutoDefault(False)
        row = QHBoxLayout(self._folder_row)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACING)
        row.addWidget(self.folder_line, 1)
        row.addWidget(browse)
        self._folder_row.setFocusProxy(self.folder_line)
        self._form = make_form()
        add_row(self._form, self.tr("Target"), self.target)
        add_row(self._form, self.tr("Folder"), self._folder_row)
        self.summary = QLabel()
        self.summary.setWordWrap(True)
        self.summary.setTextFormat(Qt.TextFormat.PlainText)
        add_row(self._form, self.tr("Settings"), self.summary)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(self._form)
        self.target.changed.connect(self.target_changed)
        self.folder_line.textChanged.connect(self.folder_changed)
        browse.clicked.connect(self._browse)

    @property
    def folder(self) -> Path | None:
        """The folder for several results; None: each beside its source."""
        text = self.folder_line.text().strip()
        return Path(text).absolute() if text else None

    def set_summary(self, text: str) -> None:
        """Say what the result will be."""
        self.summary.setText(text)

    def show_entries(self, chosen: Sequence[Entry], folder: Path | None) -> None:
        """Show where the results of the chosen images go."""
        several = len(chosen) > 1
        self._form.setRowVisible(self.target, not several)
        self._form.setRowVisible(self._folder_row, several)
        if several:
            if self.folder != folder:
                self.folder_line.setText("" if folder is None else str(folder))
            return
        entry = chosen[0] if chosen else None
        path = entry.target if entry is not None else None
        if self.target.path != path:
            self.target.show_path(
                path,
                chosen=entry is not None and entry.target_chosen,
                may_replace=entry is not None and path in entry.agreed,
            )

    def _browse(self) -> None:
        dialog = QFileDialog(self, self.tr("Folder for the results"), self.folder_line.text())
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.finished.connect(dialog.deleteLater)
        dialog.fileSelected.connect(self.folder_line.setText)
        dialog.open()
