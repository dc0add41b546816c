"""The conversion form. It blocks nothing: it stands beside the window until Start or Cancel."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QSpinBox,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from qcowgui.convert.options import (
    CLUSTER_SIZES,
    DEFAULT_CLUSTER_BYTES,
    DEFAULT_SPARSE_BYTES,
    MAX_SPARSE_BYTES,
    REFCOUNT_BITS,
    Compat,
    Compression,
    ConvertOptions,
    TargetFormat,
)
from qcowgui.engine.work import default_threads
from qcowgui.errors import OptionsError
from qcowgui.gui.dialogs.allow import AllowBox
from qcowgui.gui.dialogs.convert_form import level_range, notes, suggest_target
from qcowgui.gui.session import Inspected
from qcowgui.gui.theme import SPACING
from qcowgui.image.references import Reference
from qcowgui.units import SECTOR_BYTES, format_size

_MAX_THREADS: Final = 256
_WIDTH: Final = 600


class ConvertDialog(QDialog):
    """Asks what to convert into what.

    Signals:
        start_requested: Start was clicked and everything is clear: ConvertOptions, and the list of
            referenced files that the user allowed.
    """

    start_requested = Signal(object, object)

    def __init__(
        self, source: Path | None = None, inspected: Inspected | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Convert"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._inspected = inspected
        self._inspected_path = source if inspected else None
        self._allowed: list[Path] = []
        self._target_is_suggested = True
        self._replace_confirmed: str | None = None
        self._make_fields()
        self._make_more()
        self._make_messages()
        self._lay_out()
        self.source.setText(str(source) if source else "")
        self._choose_first_format()
        self._connect()
        self._show_snapshots()
        self._format_changed()

    # ---------------------------------------------------------------- building

    def _make_fields(self) -> None:
        self.source = QLineEdit()
        self.source.setPlaceholderText(self.tr("The image to read; it is not changed"))
        self.source.setAccessibleName(self.tr("Source"))
        self.target = QLineEdit()
        self.target.setPlaceholderText(self.tr("The file to make"))
        self.target.setAccessibleName(self.tr("Target"))
        self.format = QComboBox()
        self.format.addItem(self.tr("raw – a plain disk image"), "raw")
        self.format.addItem(self.tr("qcow2 – QEMU’s image format"), "qcow2")
        self.compression = QComboBox()
        self.compression.addItem(self.tr("none"), "none")
        self.compression.addItem(self.tr("zlib – every reader knows it"), "zlib")
        self.compression.addItem(self.tr("zstd – faster, usually smaller"), "zstd")
        self.level = QSpinBox()
        self.cluster_size = QComboBox()
        for size in CLUSTER_SIZES:
            self.cluster_size.addItem(format_size(size), size)
        self.cluster_size.setCurrentIndex(self.cluster_size.findData(DEFAULT_CLUSTER_BYTES))
        self.threads = QSpinBox()
        self.threads.setRange(0, _MAX_THREADS)
        self.threads.setSpecialValueText(
            self.tr("one for each core ({count})").format(count=default_threads())
        )
        self.verify = QCheckBox(self.tr("Verify: read the result again and compare it"))
        self.verify.setChecked(True)

    def _make_more(self) -> None:
        self.compat = QComboBox()
        self.compat.addItem(self.tr("1.1 – version 3"), "1.1")
        self.compat.addItem(self.tr("0.10 – version 2, for QEMU before 1.1"), "0.10")
        self.refcount_bits = QComboBox()
        for bits in REFCOUNT_BITS:
            self.refcount_bits.addItem(f"{bits}", bits)
        self.refcount_bits.setCurrentIndex(self.refcount_bits.findData(16))
        self.window = QComboBox()
        self.window.addItem(self.tr("32 KiB – smaller, for common readers"), "32k")
        self.window.addItem(self.tr("4 KiB – as qemu-img writes, for strict readers"), "4k")
        self.extended_l2 = QCheckBox(self.tr("Extended L2 entries (32 subclusters a cluster)"))
        self.lazy_refcounts = QCheckBox(self.tr("Lazy refcounts"))
        self.sparse = QComboBox()
        self.sparse.addItem(self.tr("write every zero"), 0)
        size = SECTOR_BYTES
        while size <= MAX_SPARSE_BYTES:
            self.sparse.addItem(format_size(size), size)
            size *= 2
        self.sparse.setCurrentIndex(self.sparse.findData(DEFAULT_SPARSE_BYTES))
        self.snapshot = QComboBox()
        self.salvage = QCheckBox(
            self.tr("Salvage: write zeros where the source can't be read, and list the ranges")
        )
        self.more_button = QToolButton()
        self.more_button.setText(self.tr("More"))
        self.more_button.setCheckable(True)
        self.more_button.setAutoRaise(True)
        self.more_button.setArrowType(Qt.ArrowType.RightArrow)
        self.more_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)

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
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.start_button = self.buttons.addButton(
            self.tr("Start"), QDialogButtonBox.ButtonRole.AcceptRole
        )
        self.start_button.setProperty("primary", True)
        self.start_button.setDefault(True)

    def _lay_out(self) -> None:
        form = _form()
        form.addRow(self.tr("Source"), _with_button(self.source, self._browse_source, self))
        self._reference_row = QWidget()
        reference_layout = QHBoxLayout(self._reference_row)
        reference_layout.setContentsMargins(0, 0, 0, 0)
        reference_layout.addWidget(self.references, 1)
        reference_layout.addWidget(self.allow_button)
        form.addRow("", self._reference_row)
        form.addRow(self.tr("Target"), _with_button(self.target, self._browse_target, self))
        form.addRow(self.tr("Format"), self.format)
        form.addRow(self.tr("Compression"), self.compression)
        form.addRow(self.tr("Level"), self.level)
        form.addRow(self.tr("Cluster size"), self.cluster_size)
        form.addRow(self.tr("Threads"), self.threads)
        form.addRow("", self.verify)
        self._form = form
        self._more = QWidget()
        more = _form()
        self._more.setLayout(more)
        more.setContentsMargins(0, 0, 0, 0)
        more.addRow(self.tr("Snapshot"), self.snapshot)
        more.addRow(self.tr("Compat"), self.compat)
        more.addRow(self.tr("Refcount bits"), self.refcount_bits)
        more.addRow(self.tr("zlib window"), self.window)
        more.addRow(self.tr("Sparse from"), self.sparse)
        more.addRow("", self.extended_l2)
        more.addRow("", self.lazy_refcounts)
        more.addRow("", self.salvage)
        self._more_form = more
        self._more.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[SPACING * 2] * 4)
        layout.setSpacing(SPACING + 2)
        layout.setSizeConstraint(QLayout.SizeConstraint.SetMinimumSize)
        layout.addLayout(form)
        layout.addWidget(self.more_button, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self._more)
        layout.addStretch(1)
        layout.addWidget(self.note)
        layout.addWidget(self.error)
        layout.addWidget(self.buttons)
        self.resize(_WIDTH, self.sizeHint().height())

    def _connect(self) -> None:
        self.source.textChanged.connect(self._source_changed)
        self.target.textEdited.connect(self._target_edited)
        self.target.textChanged.connect(self._check)
        self.format.currentIndexChanged.connect(self._format_changed)
        self.compression.currentIndexChanged.connect(self._compression_changed)
        self.window.currentIndexChanged.connect(self._compression_changed)
        for combo in (self.cluster_size, self.compat, self.refcount_bits, self.sparse):
            combo.currentIndexChanged.connect(self._check)
        for spin in (self.level, self.threads):
            spin.valueChanged.connect(self._check)
        for box in (self.extended_l2, self.lazy_refcounts, self.salvage, self.verify):
            box.toggled.connect(self._check)
        self.more_button.toggled.connect(self._show_more)
        self.allow_button.clicked.connect(self._ask_to_allow)
        self.buttons.rejected.connect(self.reject)
        self.start_button.clicked.connect(self._start)

    # ---------------------------------------------------------------- what the form says

    def options(self) -> ConvertOptions:
        """The options as the form has them.

        Raises:
            OptionsError: When they contradict each other or the format.
        """
        source, target = self.source.text().strip(), self.target.text().strip()
        if not source:
            raise OptionsError(self.tr("Choose the image to convert."))
        if not target:
            raise OptionsError(self.tr("Choose a name for the target."))
        target_format = cast(TargetFormat, self.format.currentData())
        to_qcow2 = target_format == "qcow2"
        compression = cast(Compression, self.compression.currentData()) if to_qcow2 else "none"
        level = None
        if compression != "none" and self.level.value() != self.level.minimum():
            level = self.level.value()
        return ConvertOptions(
            source=Path(source),
            target=Path(target),
            target_format=target_format,
            compression=compression,
            level=level,
            window=self.window.currentData() if compression == "zlib" else "32k",
            cluster_bytes=self.cluster_size.currentData() if to_qcow2 else DEFAULT_CLUSTER_BYTES,
            compat=cast(Compat, self.compat.currentData()) if to_qcow2 else "1.1",
            refcount_bits=self.refcount_bits.currentData() if to_qcow2 else 16,
            extended_l2=to_qcow2 and self.extended_l2.isChecked(),
            lazy_refcounts=to_qcow2 and self.lazy_refcounts.isChecked(),
            snapshot=self.snapshot.currentData(),
            sparse_bytes=self.sparse.currentData(),
            threads=self.threads.value() or None,
            verify=self.verify.isChecked(),
            salvage=self.salvage.isChecked(),
            overwrite=self._replace_confirmed == target,
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

    # ---------------------------------------------------------------- reactions

    def _choose_first_format(self) -> None:
        """Start with the format that the source does not have."""
        other = "raw" if self._inspected is not None else "qcow2"
        if not self.source.text():
            other = "raw"
        self.format.setCurrentIndex(self.format.findData(other))
        self.compression.setCurrentIndex(self.compression.findData("zlib"))

    def _source_changed(self) -> None:
        if self._inspected_path is not None and self.source.text() != str(self._inspected_path):
            # What is known of the image that the form was opened for says nothing of another one.
            self._inspected = self._inspected_path = None
            self._allowed.clear()
            self._show_snapshots()
        self._suggest()
        self._check()

    def _target_edited(self) -> None:
        self._target_is_suggested = not self.target.text()

    def _format_changed(self) -> None:
        to_qcow2 = self.format.currentData() == "qcow2"
        for field in (self.compression, self.level, self.cluster_size):
            self._form.setRowVisible(field, to_qcow2)
        for field in (
            self.compat,
            self.refcount_bits,
            self.window,
            self.extended_l2,
            self.lazy_refcounts,
        ):
            self._more_form.setRowVisible(field, to_qcow2)
        self._more_form.setRowVisible(self.sparse, not to_qcow2)
        self._compression_changed()

    def _compression_changed(self) -> None:
        compression = cast(Compression, self.compression.currentData())
        is_zlib = compression == "zlib"
        small_window = is_zlib and self.window.currentData() == "4k"
        levels = level_range(compression, small_window=small_window)
        self.level.setEnabled(levels is not None)
        self.window.setEnabled(is_zlib)
        if levels is None:
            self.level.setRange(0, 0)
            self.level.setSpecialValueText(self.tr("no compression"))
        else:
            # The value below the lowest stands for "default".
            self.level.setRange(levels.lowest - 1, levels.highest)
            self.level.setValue(levels.lowest - 1)
            self.level.setSpecialValueText(
                self.tr("default ({level} of {lowest} – {highest})").format(
                    level=levels.default, lowest=levels.lowest, highest=levels.highest
                )
            )
        self._suggest()
        self._check()

    def _suggest(self) -> None:
        source = self.source.text().strip()
        if source and self._target_is_suggested:
            suggested = suggest_target(
                Path(source),
                cast(TargetFormat, self.format.currentData()),
                cast(Compression, self.compression.currentData()),
            )
            self.target.setText(str(suggested))

    def _show_more(self, shown: bool) -> None:
        self.more_button.setArrowType(
            Qt.ArrowType.DownArrow if shown else Qt.ArrowType.RightArrow
        )
        self._more.setVisible(shown)
        self.adjustSize()
        self.resize(max(_WIDTH, self.width()), self.height())

    def _show_snapshots(self) -> None:
        self.snapshot.clear()
        self.snapshot.addItem(self.tr("the active disk"), None)
        if self._inspected is not None:
            for found in self._inspected.report.snapshots:
                self.snapshot.addItem(f"{found.id} – {found.name}", f"snapshot.id={found.id}")
        self.snapshot.setEnabled(self.snapshot.count() > 1)

    def _check(self) -> None:
        """Say at once what is wrong, and offer Start when nothing is."""
        message, found_notes = "", list[str]()
        try:
            options = self.options()
        except OptionsError as error:
            message = f"{error.message} – {error.hint}" if error.hint else error.message
        else:
            found_notes = notes(options)
        self.error.setText(message)
        self.error.setVisible(bool(message))
        self.note.setText(" ".join(found_notes))
        self.note.setVisible(bool(found_notes))
        self.start_button.setEnabled(not message)
        self._show_references()

    def _show_references(self) -> None:
        left = self.open_references()
        if left:
            names = ", ".join(f"{reference.name}" for reference in left)
            text = self.tr("Also reads {names}, if you allow it.").format(names=names)
        elif self._allowed:
            text = self.tr("Also reads {names}: allowed.").format(
                names=", ".join(path.name for path in self._allowed)
            )
        else:
            text = ""
        self.references.setText(text)
        self.allow_button.setVisible(bool(left))
        self._form.setRowVisible(self._reference_row, bool(text))

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
        dialog.selectFile(os.path.basename(current))
        dialog.fileSelected.connect(self._target_chosen)
        dialog.open()

    def _target_chosen(self, path: str) -> None:
        self._target_is_suggested = False
        if os.path.lexists(path):
            self._replace_confirmed = path  # the file dialog has asked
        self.target.setText(path)

    def _ask_to_allow(self) -> None:
        box = AllowBox(self.open_references(), self)
        box.allowed.connect(self._allow)
        box.open()

    def _allow(self, paths: list[Path]) -> None:
        self._allowed += paths
        self._check()

    def _start(self) -> None:
        options = self.options()
        target = self.target.text().strip()
        if os.path.lexists(options.target) and not options.overwrite:
            self._ask_to_replace(target)
            return
        self.start_requested.emit(options, list(self._allowed))
        self.accept()

    def _ask_to_replace(self, target: str) -> None:
        box = QMessageBox(
            QMessageBox.Icon.Warning,
            self.tr("Replace the file?"),
            self.tr("{name} exists. Replace it once the conversion is complete?").format(
                name=os.path.basename(target)
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


def _form() -> QFormLayout:
    form = QFormLayout()
    form.setLabelAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    form.setHorizontalSpacing(SPACING * 2)
    form.setVerticalSpacing(SPACING)
    return form


def _with_button(field: QLineEdit, clicked: object, owner: ConvertDialog) -> QWidget:
    row = QWidget()
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(SPACING)
    button = QPushButton(owner.tr("Browse…"))
    button.setAutoDefault(False)
    button.clicked.connect(clicked)
    layout.addWidget(field, 1)
    layout.addWidget(button)
    return row


def _folder_of(path: str) -> str:
    return os.path.dirname(os.path.abspath(path)) if path else ""
