"""The question whether files that an image names may be read: only a person can answer it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMessageBox, QWidget

from qcowgui.image.references import Reference


class AllowBox(QMessageBox):
    """Names the files and asks. The safe answer is the default.

    Signals:
        allowed: The person agreed: the list of paths.
    """

    allowed = Signal(object)

    def __init__(self, references: Sequence[Reference], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        paths = [reference.path for reference in references if reference.path is not None]
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setIcon(QMessageBox.Icon.Question)
        self.setWindowTitle(self.tr("Read other files?"))
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(self.tr("The image refers to other files. Read them too?"))
        lines = [f"{reference.kind}: {reference.path}" for reference in references]
        outside = [reference for reference in references if not reference.in_folder]
        if outside:
            lines.append("")
            lines.append(
                self.tr(
                    "Not all of them lie in the image’s own folder. An image from a stranger may"
                    " name any file of yours, and the result would hold a copy of it."
                )
            )
        self.setInformativeText("\n".join(lines))
        allow = self.addButton(self.tr("Allow"), QMessageBox.ButtonRole.AcceptRole)
        refuse = self.addButton(self.tr("Don’t read them"), QMessageBox.ButtonRole.RejectRole)
        self.setDefaultButton(refuse)
        self.setEscapeButton(refuse)
        allow.clicked.connect(lambda: self.allowed.emit(paths))
