"""The name of a file to write: a line, a Browse button, and the question before it is replaced."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QWidget,
)

from qcowgui.gui.dialogs.replace_box import ReplaceBox
from qcowgui.gui.theme import SPACING

_MAX_TRIES: Final = 1000
_KNOWN_SUFFIXES: Final = (".qcow2", ".qcow", ".raw", ".img")


def suggest_beside(source: Path, word: str, suffix: str) -> Path:
    """A name beside `source` with `word` behind its stem, that no file has yet."""
    stem = source.name
    for known in _KNOWN_SUFFIXES:
        if stem.lower().endswith(known) and len(stem) > len(known):
            stem = stem[: -len(known)]
            break
    for number in range(1, _MAX_TRIES):
        name = f"{stem}-{word}{suffix}" if number == 1 else f"{stem}-{word}-{number}{suffix}"
        if not os.path.lexists(source.with_name(name)):
            return source.with_name(name)
    return source.with_name(f"{stem}-{word}-{os.getpid()}{suffix}")


class TargetField(QWidget):
    """Where to write, or with `existing` what to read; whether an existing file may be replaced.

    Signals:
        changed: Another name.
    """

    changed = Signal()

    def __init__(
        self, name: str, placeholder: str, parent: QWidget | None = None, *, existing: bool = False
    ) -> None:
        """An empty field.

        Args:
            name: What the field is called, also on the file dialog.
            placeholder: What it says while it is empty.
            parent: The dialog.
            existing: Whether a file is chosen that is there, to be read.
        """
        super().__init__(parent)
        self._name = name
        self._existing = existing
        self._confirmed: Path | None = None
        self._edited = False
        self.line = QLineEdit()
        self.line.setAccessibleName(name)
        self.line.setPlaceholderText(placeholder)
        self.browse = QPushButton(self.tr("Browse…"))
        self.browse.setAutoDefault(False)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACING)
        layout.addWidget(self.line, 1)
        layout.addWidget(self.browse)
        self.setFocusProxy(self.line)
        self.line.textChanged.connect(self.changed)
        self.line.textEdited.connect(self._note_edit)
        self.browse.clicked.connect(self._browse)

    @property
    def path(self) -> Path | None:
        """The file, absolute; None while the line is empty."""
        text = self.line.text().strip()
        return Path(text).absolute() if text else None

    @property
    def may_replace(self) -> bool:
        """Whether a person has agreed to replace the file of this name."""
        return self._confirmed is not None and self._confirmed == self.path

    def suggest(self, path: Path) -> None:
        """Fill in a name, unless a person has chosen one."""
        if not self._edited:
            self.line.setText(str(path))

    @property
    def chosen(self) -> bool:
        """Whether a person has given the name."""
        return self._edited

    def show_path(self, path: Path | None, *, chosen: bool, may_replace: bool) -> None:
        """Show a name, with what is known of how it came about."""
        self._edited = chosen
        self._confirmed = path if may_replace else None
        self.line.setText("" if path is None else str(path))

    def choose(self, path: str) -> None:
        """Take a name from the file dialog, which has asked when the file exists."""
        self._edited = True
        self._confirmed = Path(path).absolute() if os.path.lexists(path) else None
        self.line.setText(path)

    def when_clear(self, go_on: Callable[[], None]) -> None:
        """Call `go_on` once nothing is in the way: at once, or when a person agrees to replace."""
        path = self.path
        if path is None:
            return
        if not os.path.lexists(path) or self.may_replace:
            go_on()
            return
        box = ReplaceBox([path], self)

        def agreed(_paths: list[Path]) -> None:
            self._confirmed = path
            go_on()

        box.agreed.connect(agreed)
        box.open()

    def _note_edit(self) -> None:
        self._edited = bool(self.line.text())

    def _browse(self) -> None:
        current = self.path
        dialog = QFileDialog(self, self._name, str(current.parent) if current else "")
        if self._existing:
            dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        else:
            dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
            dialog.setFileMode(QFileDialog.FileMode.AnyFile)
            if current is not None:
                dialog.selectFile(current.name)
        dialog.fileSelected.connect(self.choose)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
