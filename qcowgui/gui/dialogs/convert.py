"""The conversion form. It blocks nothing: it stands beside the window until Start or Cancel."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from qcowgui.convert.options import ConvertOptions
from qcowgui.errors import OptionsError
from qcowgui.gui.dialogs.allow import AllowBox
from qcowgui.gui.dialogs.convert_fields import TargetFields, add_row, make_form
from qcowgui.gui.dialogs.convert_form import notes, suggest_target
from qcowgui.gui.opening import Inspected
from qcowgui.gui.theme import SPACING
from qcowgui.image.references import Reference

_WIDTH: Final = 620


class ConvertDialog(QDialog):
    """Asks what to convert into what.

    Signals:
        start_requested: Start was clicked and everything is clear: ConvertOptions, and the list of
            referenced files that the user allowed.
    """

    start_requested = Signal(object, object)

    def __init__(
        self,
        source: Path | None = None,
        inspected: Inspected | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """The form, filled in as far as it can be.

        Args:
            source: The image to convert.
            inspected: What is known of it, if anything: its snapshots and the files it names.
            parent: The window it stands beside.
        """
        super().__init__(parent)
        self.setWindowTitle(self.tr("Convert"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._inspected = inspected
        self._inspected_path = str(source) if source and inspected else None
        self._allowed: list[Path] = []
        self._target_is_suggested = True
        self._replace_confirmed: str | None = None
        self.source = _line(self.tr("Source"), self.tr("The image to read; it is not changed"))
        self.target = _line(self.tr("Target"), self.tr("The file to make"))
        self.fields = TargetFields()
        self._make_messages()
        self._lay_out()
        self.source.setText(str(source) if source else "")
        self.fields.choose("raw" if inspected or not source else "qcow2", "zlib")
        self.fields.set_snapshots(inspected.report.snapshots if inspected else ())
        self._suggest()
        self._check()
        self._connect()
        self.resize(_WIDTH, self.sizeHint().height())

    def options(self) -> ConvertOptions:
        """The options as the form has them.

        Raises:
            OptionsError: When something is missing or contradicts something else.
        """
        source, target = self.source.text().strip(), self.target.text().strip()
        if not source:
            raise OptionsError(self.tr("Choose the image to convert"))
        if not target:
            raise OptionsError(self.tr("Choose a name for the target"))
        return self.fields.options(
            Path(source), Path(target), overwrite=self._replace_confirmed == target
        )

    def open_references(self) -> list[Reference]:
        """The files that the source refers to and that the user has not allowed yet."""
        if self._inspected is None:
            return []
        return [
            state.reference
            for state in self._inspected.references
            if state.reference.path is not None and state.reference.path not in self._allowed
        ]

    # ---------------------------------------------------------------- building

    def _make_messages(self) -> None:
        self.note = QLabel()
        self.note.setWordWrap(True)
        self.note.setProperty("muted", True)
        self.error = QLabel()
        self.error.setWordWrap(True)
        self.error.setProperty("tone", "danger")
        self.error.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.references = QLabel()
        self.references.setWordWrap(True)
        self.references.setTextFormat(Qt.TextFormat.PlainText)
        self.allow_button = QPushButton(self.tr("Allow…"))
        self.allow_button.setAutoDefault(False)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.start_button = self.buttons.addButton(
            self.tr("Start"), QDialogButtonBox.ButtonRole.AcceptRole
        )
        self.start_button.setProperty("primary", True)
        self.start_button.setDefault(True)

    def _lay_out(self) -> None:
        self._reference_row = QWidget()
        row = QHBoxLayout(self._reference_row)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.references, 1)
        row.addWidget(self.allow_button)
        self._files = make_form()
        add_row(self._files, self.tr("Source"), self._with_browse(self.source, self._browse_source))
        add_row(self._files, "", self._reference_row)
        add_row(self._files, self.tr("Target"), self._with_browse(self.target, self._browse_target))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[SPACING * 2] * 4)
        layout.setSpacing(SPACING + 2)
        layout.addLayout(self._files)
        layout.addWidget(self.fields)
        layout.addStretch(1)
        layout.addWidget(self.note)
        layout.addWidget(self.error)
        layout.addWidget(self.buttons)

    def _with_browse(self, field: QLineEdit, browse: Callable[[], None]) -> QWidget:
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACING)
        button = QPushButton(self.tr("Browse…"))
        button.setAutoDefault(False)
        button.clicked.connect(browse)
        layout.addWidget(field, 1)
        layout.addWidget(button)
        return row

    def _connect(self) -> None:
        self.source.textChanged.connect(self._source_changed)
        self.target.textEdited.connect(self._target_edited)
        self.target.textChanged.connect(self._check)
        self.fields.kind_changed.connect(self._suggest)
        self.fields.edited.connect(self._check)
        self.allow_button.clicked.connect(self._ask_to_allow)
        self.buttons.rejected.connect(self.reject)
        self.start_button.clicked.connect(self._start)

    # ---------------------------------------------------------------- reactions

    def _source_changed(self) -> None:
        if self._inspected_path is not None and self.source.text() != self._inspected_path:
            # What is known of the image that the form was opened for says nothing of another one.
            self._inspected = self._inspected_path = None
            self._allowed.clear()
            self.fields.set_snapshots(())
        self._suggest()
        self._check()

    def _target_edited(self) -> None:
        self._target_is_suggested = not self.target.text()

    def _suggest(self) -> None:
        source = self.source.text().strip()
        if source and self._target_is_suggested:
            suggested = suggest_target(
                Path(source), self.fields.target_format, self.fields.chosen_compression
            )
            self.target.setText(str(suggested))

    def _check(self) -> None:
        """Say at once what is wrong, and offer Start when nothing is."""
        message = note = ""
        try:
            options = self.options()
        except OptionsError as error:
            message = f"{error.message} – {error.hint}" if error.hint else error.message
        else:
            note = " ".join(notes(options))
        self.error.setText(message)
        self.error.setVisible(bool(message))
        self.note.setText(note)
        self.note.setVisible(bool(note))
        self.start_button.setEnabled(not message)
        self._show_references()

    def _show_references(self) -> None:
        left = self.open_references()
        if left:
            names = ", ".join(reference.name for reference in left)
            text = self.tr("Refers to {names}: read only if you allow it.").format(names=names)
        elif self._allowed:
            names = ", ".join(path.name for path in self._allowed)
            text = self.tr("Also reads {names}, as you allowed.").format(names=names)
        else:
            text = ""
        self.references.setText(text)
        self.allow_button.setVisible(bool(left))
        self._files.setRowVisible(self._reference_row, bool(text))

    def _start(self) -> None:
        options = self.options()
        target = self.target.text().strip()
        if os.path.lexists(options.target) and not options.overwrite:
            self._ask_to_replace(target)
            return
        self.start_requested.emit(options, list(self._allowed))
        self.accept()

    # ---------------------------------------------------------------- questions to a person

    def _browse_source(self) -> None:
        dialog = QFileDialog(self, self.tr("Image to convert"), _folder_of(self.source.text()))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.source.setText)
        dialog.open()

    def _browse_target(self) -> None:
        current = self.target.text()
        dialog = QFileDialog(self, self.tr("Target"), _folder_of(current))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setFileMode(QFileDialog.FileMode.AnyFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.selectFile(Path(current).name)
        dialog.fileSelected.connect(self.choose_target)
        dialog.open()

    def choose_target(self, path: str) -> None:
        """Take a name from the file dialog, which has asked when the file exists."""
        self._target_is_suggested = False
        self._replace_confirmed = path if os.path.lexists(path) else None
        self.target.setText(path)

    def _ask_to_allow(self) -> None:
        box = AllowBox(self.open_references(), self)
        box.allowed.connect(self._allow)
        box.open()

    def _allow(self, paths: list[Path]) -> None:
        self._allowed += paths
        self._check()

    def _ask_to_replace(self, target: str) -> None:
        box = QMessageBox(
            QMessageBox.Icon.Warning,
            self.tr("Replace the file?"),
            self.tr("{name} exists. Replace it once the conversion is complete?").format(
                name=Path(target).name
            ),
            QMessageBox.StandardButton.Cancel,
            self,
        )
        box.setInformativeText(
            self.tr("Until then, and when the conversion fails, it stays as it is.")
        )
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        replace = box.addButton(self.tr("Replace"), QMessageBox.ButtonRole.AcceptRole)
        replace.clicked.connect(lambda: self._replace(target))
        box.open()

    def _replace(self, target: str) -> None:
        self._replace_confirmed = target
        self._start()


def _line(accessible_name: str, placeholder: str) -> QLineEdit:
    line = QLineEdit()
    line.setAccessibleName(accessible_name)
    line.setPlaceholderText(placeholder)
    return line


def _folder_of(path: str) -> str:
    return str(Path(path).absolute().parent) if path else ""
