"""The end of the conversion form: what is wrong, the commands to copy, Start and Cancel."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialogButtonBox,
    QHBoxLayout,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from qcowgui.gui.dialogs.convert_form import Wanted, qcowgui_text, qemu_img_text
from qcowgui.gui.dialogs.plain_label import plain_label
from qcowgui.gui.theme import SPACING


class Ending(QWidget):
    """Says what speaks against starting, and offers the commands that do the same."""

    def __init__(self, wanted: Callable[[], list[Wanted]], parent: QWidget | None = None) -> None:
        """The end of a form.

        Args:
            wanted: What the form asks for; asked when nothing is wrong.
            parent: The form.
        """
        super().__init__(parent)
        self._wanted = wanted
        self.note = plain_label(muted=True)
        self.error = plain_label(tone="danger")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.start_button = self.buttons.addButton(
            self.tr("Start"), QDialogButtonBox.ButtonRole.AcceptRole
        )
        self.start_button.setProperty("primary", True)
        self.start_button.setDefault(True)
        self.copy_button = QPushButton(self.tr("Copy command"))
        self.copy_button.setAutoDefault(False)
        menu = QMenu(self.copy_button)
        self.copy_qcowgui = menu.addAction(self.tr("Copy as qcowgui command"))
        self.copy_qemu_img = menu.addAction(self.tr("Copy as qemu-img command"))
        self.copy_button.setMenu(menu)
        self.copy_qcowgui.triggered.connect(self._copy_qcowgui)
        self.copy_qemu_img.triggered.connect(self._copy_qemu_img)
        row = QHBoxLayout()
        row.addWidget(self.copy_button)
        row.addWidget(self.buttons, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACING)
        layout.addWidget(self.note)
        layout.addWidget(self.error)
        layout.addLayout(row)
        self.say("")
        self.refuse("", quiet=True)

    def say(self, text: str) -> None:
        """Tell something in passing."""
        self.note.setText(text)
        self.note.setVisible(bool(text))

    def refuse(self, error: str, *, stopped: bool = False, quiet: bool = False) -> None:
        """Offer to start, unless something is wrong.

        Args:
            error: What contradicts what, or an empty string.
            stopped: Whether something else, that is said elsewhere, would make it fail.
            quiet: Whether the error need not be said yet.
        """
        self.error.setText(error)
        self.error.setVisible(bool(error) and not quiet)
        self.start_button.setEnabled(not error and not stopped)
        self.copy_button.setEnabled(not error)

    def _copy_qcowgui(self) -> None:
        self._copy(qcowgui_text(self._wanted()), ())

    def _copy_qemu_img(self) -> None:
        text, left_out = qemu_img_text(options for options, _ in self._wanted())
        self._copy(text, left_out)

    def _copy(self, text: str, left_out: Sequence[str]) -> None:
        QGuiApplication.clipboard().setText(text)
        if not left_out:
            self.say(self.tr("Copied."))
            return
        said = self.tr("Copied. qemu-img can’t be told, or does in another way:")
        self.say(said + "".join(f"\n•  {sentence}" for sentence in left_out))
