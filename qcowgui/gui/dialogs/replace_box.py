"""The question whether existing files may be replaced: only a person can answer it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMessageBox, QWidget

_MAX_NAMES: Final = 8


class ReplaceBox(QMessageBox):
    """Names the files and asks. The safe answer is the default.

    Signals:
        agreed: The person agreed: the list of paths.
    """

    agreed = Signal(object)

    def __init__(self, targets: Sequence[Path], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        paths = list(targets)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setIcon(QMessageBox.Icon.Warning)
        if len(paths) == 1:
            self.setWindowTitle(self.tr("Replace the file?"))
            text = self.tr("{name} exists. Replace it once the new one is complete?")
            self.setText(text.format(name=paths[0].name))
            after = self.tr("Until then, and when writing fails, it stays as it is.")
        else:
            self.setWindowTitle(self.tr("Replace the files?"))
            text = self.tr("{count} files exist. Replace each once the new one is complete?")
            self.setText(text.format(count=f"{len(paths):,}"))
            after = self.tr("Until then, and when writing fails, they stay as they are.")
            names = [path.name for path in paths[:_MAX_NAMES]]
            if len(paths) > _MAX_NAMES:
                names.append("…")
            after = "\n".join([*names, "", after])
        self.setInformativeText(after)
        replace = self.addButton(self.tr("Replace"), QMessageBox.ButtonRole.AcceptRole)
        cancel = self.addButton(QMessageBox.StandardButton.Cancel)
        self.setDefaultButton(cancel)
        self.setEscapeButton(cancel)
        replace.clicked.connect(lambda: self.agreed.emit(paths))
