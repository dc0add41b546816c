"""The images of a conversion form: a line for one, a list for several."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import QCoreApplication, QItemSelection, QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from qcowgui.errors import OptionsError
from qcowgui.gui.dialogs.convert_entries import Entry
from qcowgui.gui.dialogs.convert_form import settings_text, source_text
from qcowgui.gui.dialogs.plain_label import plain_label
from qcowgui.gui.formatters import NOTHING, Column, Row, Table, Tone
from qcowgui.gui.theme import SPACING, Theme
from qcowgui.gui.views.data_table import DataTable

translate = QCoreApplication.translate

_LIST_HEIGHT: Final = 132


class SourceSection(QWidget):
    """Shows the images, and takes others.

    Signals:
        typed: Another name stands in the line, which is for one image.
        added: Files or folders were chosen: a list of Path.
        removed: The selected images shall go.
        selected: Other images are selected: a list of indices.
        allow_requested: A person is ready to decide about referenced files.
    """

    typed = Signal(str)
    added = Signal(object)
    removed = Signal()
    selected = Signal(object)
    allow_requested = Signal()

    def __init__(self, theme: Theme, folder: str = "", parent: QWidget | None = None) -> None:
        """An empty section.

        Args:
            theme: The colours.
            folder: Where files are looked for first.
            parent: The form.
        """
        super().__init__(parent)
        self._folder = folder
        self.line = QLineEdit()
        self.line.setAccessibleName(self.tr("Source"))
        self.line.setPlaceholderText(self.tr("The image to read; it is not changed"))
        self.line.setAcceptDrops(False)  # a file that is dropped is the form's to take
        self.table = DataTable(theme)
        self.table.setAccessibleName(self.tr("Images to convert"))
        self.count = plain_label()
        self.about = plain_label(muted=True)
        self.references = plain_label()
        self.files_button = QPushButton(self.tr("Choose files…"))
        self.folder_button = QPushButton(self.tr("Folder…"))
        self.remove_button = QPushButton(self.tr("Remove"))
        self.remove_button.setToolTip(self.tr("Take the selected images off this list"))
        self.allow_button = QPushButton(self.tr("Allow…"))
        for button in (
            self.files_button,
            self.folder_button,
            self.remove_button,
            self.allow_button,
        ):
            button.setAutoDefault(False)
        self._lay_out()
        self._connect()
        self.show_entries([], [])

    def show_entries(self, entries: Sequence[Entry], selected: Sequence[int]) -> None:
        """Show the images, and which of them the settings are for."""
        several = len(entries) > 1
        self.table.setVisible(several)
        self.remove_button.setVisible(several)
        self.count.setVisible(several)
        self.line.setVisible(not several)
        self.files_button.setText(self.tr("Add files…") if several else self.tr("Choose files…"))
        if several:
            self._fill(entries, selected)
            self.count.setText(self._count_text(len(entries), len(selected)))
            self.about.clear()
        else:
            entry = entries[0] if entries else None
            name = str(entry.source) if entry is not None else ""
            typed = self.line.text().strip()  # perhaps as a relative name
            if typed != name and (not typed or Path(typed).absolute() != Path(name)):
                self.line.setText(name)
            looked = entry.looked if entry is not None else None
            self.about.setText(source_text(looked) if looked is not None else "")
        self.about.setVisible(bool(self.about.text()))
        self._show_references([entries[index] for index in selected])

    def set_fixed(self) -> None:
        """Take no other images from now on."""
        self.line.setReadOnly(True)
        self.files_button.hide()
        self.folder_button.hide()

    def _count_text(self, entries: int, selected: int) -> str:
        if entries == selected:
            return self.tr("The settings are for all {count} images.").format(count=f"{entries:,}")
        words = (
            self.tr("The settings are for the selected image alone, of {all}.")
            if selected == 1
            else self.tr("The settings are for the {count} selected images of {all}.")
        )
        return words.format(count=f"{selected:,}", all=f"{entries:,}")

    def _fill(self, entries: Sequence[Entry], selected: Sequence[int]) -> None:
        table = entries_table(entries)
        model = self.table.selectionModel()
        model.blockSignals(True)  # this selection is the form's own
        if table != self.table.table:
            self.table.set_table(table)
            self.table.setFixedHeight(min(self.table.needed_height(), _LIST_HEIGHT))
        chosen = QItemSelection()
        for index in selected:
            first = self.table.model().index(index, 0)
            last = self.table.model().index(index, len(table.columns) - 1)
            chosen.select(first, last)
        model.select(chosen, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        model.blockSignals(False)
        self.table.viewport().update()

    def _show_references(self, entries: Sequence[Entry]) -> None:
        left = [found for entry in entries for found in entry.open_references()]
        allowed = [path for entry in entries for path in entry.consent.allowed]
        if left:
            names = ", ".join(dict.fromkeys(found.name for found in left))
            text = self.tr("Refers to {names}: read only if you allow it.").format(names=names)
        elif allowed:
            names = ", ".join(dict.fromkeys(path.name for path in allowed))
            text = self.tr("Also reads {names}, as you allowed.").format(names=names)
        else:
            text = ""
        self.references.setText(text)
        self.references.setVisible(bool(text))
        self.allow_button.setVisible(bool(left))

    # ---------------------------------------------------------------- building

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(SPACING)
        row.addWidget(self.line, 1)
        row.addWidget(self.count, 1)
        for button in (self.files_button, self.folder_button, self.remove_button):
            row.addWidget(button)
        below = QHBoxLayout()
        below.setSpacing(SPACING)
        below.addWidget(self.references, 1)
        below.addWidget(self.allow_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACING - 2)
        layout.addWidget(self.table)
        layout.addLayout(row)
        layout.addWidget(self.about)
        layout.addLayout(below)

    def _connect(self) -> None:
        self.line.textEdited.connect(self.typed)
        self.files_button.clicked.connect(self._choose_files)
        self.folder_button.clicked.connect(self._choose_folder)
        self.remove_button.clicked.connect(self.removed)
        self.allow_button.clicked.connect(self.allow_requested)
        self.table.selectionModel().selectionChanged.connect(self._selection_changed)
        delete = QShortcut(QKeySequence.StandardKey.Delete, self.table)
        delete.setContext(Qt.ShortcutContext.WidgetShortcut)
        delete.activated.connect(self.removed)

    # ---------------------------------------------------------------- what a person does

    def _selection_changed(self) -> None:
        rows = sorted({index.row() for index in self.table.selectedIndexes()})
        self.selected.emit(rows)

    def _choose_files(self) -> None:
        dialog = QFileDialog(self, self.tr("Images to convert"), self._start_folder())
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(self._emit_added)
        dialog.open()

    def _choose_folder(self) -> None:
        dialog = QFileDialog(self, self.tr("Folder with images"), self._start_folder())
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(self._emit_added)
        dialog.open()

    def _emit_added(self, names: list[str]) -> None:
        self.added.emit([Path(name) for name in names])

    def _start_folder(self) -> str:
        name = self.line.text()
        return str(Path(name).absolute().parent) if name else self._folder


def entries_table(entries: Sequence[Entry]) -> Table:
    """The images as rows: what each is, what becomes of it, and how."""
    return Table(
        (
            Column(translate("convert", "Image")),
            Column(translate("convert", "Becomes"), wide=True),
            Column(translate("convert", "Settings"), quiet=True),
        ),
        tuple(_row(entry) for entry in entries),
    )


def _row(entry: Entry) -> Row:
    try:
        entry.options()
    except OptionsError as error:
        problem = error.message
    else:
        problem = ""
    detail = [str(entry.source), f"→ {entry.target}" if entry.target is not None else "", problem]
    return Row(
        (
            entry.source.name,
            entry.target.name if entry.target is not None else NOTHING,
            problem or settings_text(entry.values),
        ),
        tone=Tone.DANGER if problem else Tone.NORMAL,
        detail="\n".join(filter(None, detail)),
    )
