"""The fields of the conversion form that describe the target; they know no source and no name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QLabel,
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
from qcowgui.format.snapshots import Snapshot
from qcowgui.gui.dialogs.convert_form import level_range
from qcowgui.gui.theme import SPACING
from qcowgui.units import SECTOR_BYTES, format_size

_MAX_THREADS: Final = 256
_DEFAULT_REFCOUNT_BITS: Final = 16
_LABEL_CHARACTERS: Final = 14


class TargetFields(QWidget):
    """What the target shall be: the common fields first, the others behind "More".

    A field that does not apply to the target format is hidden, and counts as its default.

    Signals:
        edited: Any field is another.
        kind_changed: The format or the compression is another.
    """

    edited = Signal()
    kind_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.format = _combo(
            (self.tr("raw – a plain disk image"), "raw"),
            (self.tr("qcow2 – QEMU’s image format"), "qcow2"),
        )
        self.compression = _combo(
            (self.tr("none"), "none"),
            (self.tr("zlib – every reader knows it"), "zlib"),
            (self.tr("zstd – faster, usually smaller"), "zstd"),
        )
        self.level = QSpinBox()
        self.cluster_size = _combo(*((format_size(size), size) for size in CLUSTER_SIZES))
        self.threads = QSpinBox()
        self.threads.setRange(0, _MAX_THREADS)
        self.threads.setSpecialValueText(
            self.tr("one for each core ({count})").format(count=default_threads())
        )
        self.verify = QCheckBox(self.tr("Verify: read the result again and compare it"))
        self._make_more()
        self._set_defaults()
        self._lay_out()
        self._connect()
        self.set_snapshots(())
        self._format_changed()

    # ---------------------------------------------------------------- what the fields say

    @property
    def target_format(self) -> TargetFormat:
        """The chosen format."""
        return cast(TargetFormat, self.format.currentData())

    @property
    def chosen_compression(self) -> Compression:
        """The chosen compression; none for a target that can't have any."""
        if self.target_format == "raw":
            return "none"
        return cast(Compression, self.compression.currentData())

    def choose(self, target_format: TargetFormat, compression: Compression) -> None:
        """Set format and compression as if the user had."""
        self.compression.setCurrentIndex(self.compression.findData(compression))
        self.format.setCurrentIndex(self.format.findData(target_format))

    def set_snapshots(self, snapshots: Sequence[Snapshot]) -> None:
        """Offer the internal snapshots of the source."""
        self.snapshot.clear()
        self.snapshot.addItem(self.tr("the active disk"), None)
        for found in snapshots:
            self.snapshot.addItem(f"{found.id} – {found.name}", f"snapshot.id={found.id}")
        self.snapshot.setEnabled(bool(snapshots))

    def options(self, source: Path, target: Path, *, overwrite: bool) -> ConvertOptions:
        """The options as the fields have them.

        Raises:
            OptionsError: When they contradict each other or the format.
        """
        to_qcow2 = self.target_format == "qcow2"
        compression = self.chosen_compression
        level = self.level.value()
        bits = self.refcount_bits.currentData()
        return ConvertOptions(
            source=source,
            target=target,
            target_format=self.target_format,
            compression=compression,
            level=None if compression == "none" or level == self.level.minimum() else level,
            window=self.deflate_window.currentData() if compression == "zlib" else "32k",
            cluster_bytes=self.cluster_size.currentData() if to_qcow2 else DEFAULT_CLUSTER_BYTES,
            compat=cast(Compat, self.compat.currentData()) if to_qcow2 else "1.1",
            refcount_bits=bits if to_qcow2 else _DEFAULT_REFCOUNT_BITS,
            extended_l2=to_qcow2 and self.extended_l2.isChecked(),
            lazy_refcounts=to_qcow2 and self.lazy_refcounts.isChecked(),
            snapshot=self.snapshot.currentData(),
            sparse_bytes=DEFAULT_SPARSE_BYTES if to_qcow2 else self.sparse.currentData(),
            threads=self.threads.value() or None,
            verify=self.verify.isChecked(),
            salvage=self.salvage.isChecked(),
            overwrite=overwrite,
        )

    # ---------------------------------------------------------------- building

    def _make_more(self) -> None:
        self.more_button = QToolButton()
        self.more_button.setText(self.tr("More"))
        self.more_button.setCheckable(True)
        self.more_button.setAutoRaise(True)
        self.more_button.setArrowType(Qt.ArrowType.RightArrow)
        self.more_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.snapshot = QComboBox()
        self.compat = _combo(
            (self.tr("1.1 – version 3"), "1.1"),
            (self.tr("0.10 – version 2, for QEMU before 1.1"), "0.10"),
        )
        self.refcount_bits = _combo(*((f"{bits}", bits) for bits in REFCOUNT_BITS))
        self.deflate_window = _combo(
            (self.tr("32 KiB – smaller, for common readers"), "32k"),
            (self.tr("4 KiB – as qemu-img writes, for strict readers"), "4k"),
        )
        sizes = [SECTOR_BYTES]
        while sizes[-1] < MAX_SPARSE_BYTES:
            sizes.append(sizes[-1] * 2)
        self.sparse = _combo(
            (self.tr("none: write every zero"), 0), *((format_size(size), size) for size in sizes)
        )
        self.extended_l2 = QCheckBox(self.tr("Extended L2 entries (32 subclusters a cluster)"))
        self.lazy_refcounts = QCheckBox(self.tr("Lazy refcounts"))
        self.salvage = QCheckBox(
            self.tr("Salvage: zeros where the source can't be read, with a list of the ranges")
        )

    def _set_defaults(self) -> None:
        self.verify.setChecked(True)
        self.cluster_size.setCurrentIndex(self.cluster_size.findData(DEFAULT_CLUSTER_BYTES))
        self.refcount_bits.setCurrentIndex(self.refcount_bits.findData(_DEFAULT_REFCOUNT_BITS))
        self.sparse.setCurrentIndex(self.sparse.findData(DEFAULT_SPARSE_BYTES))

    def _lay_out(self) -> None:
        self._common = make_form()
        add_row(self._common, self.tr("Format"), self.format)
        add_row(self._common, self.tr("Compression"), self.compression)
        add_row(self._common, self.tr("Level"), self.level)
        add_row(self._common, self.tr("Cluster size"), self.cluster_size)
        add_row(self._common, self.tr("Threads"), self.threads)
        add_row(self._common, "", self.verify)
        self._rare = make_form()
        add_row(self._rare, self.tr("Snapshot"), self.snapshot)
        add_row(self._rare, self.tr("Compat"), self.compat)
        add_row(self._rare, self.tr("Refcount bits"), self.refcount_bits)
        add_row(self._rare, self.tr("zlib window"), self.deflate_window)
        add_row(self._rare, self.tr("Holes from"), self.sparse)
        add_row(self._rare, "", self.extended_l2)
        add_row(self._rare, "", self.lazy_refcounts)
        add_row(self._rare, "", self.salvage)
        self.more = QWidget()
        self.more.setLayout(self._rare)
        self.more.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACING)
        layout.addLayout(self._common)
        layout.addWidget(self.more_button, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self.more)

    def _connect(self) -> None:
        self.format.currentIndexChanged.connect(self._format_changed)
        self.compression.currentIndexChanged.connect(self._compression_changed)
        self.deflate_window.currentIndexChanged.connect(self._compression_changed)
        self.more_button.toggled.connect(self._show_more)
        for combo in (
            self.cluster_size,
            self.snapshot,
            self.compat,
            self.refcount_bits,
            self.sparse,
        ):
            combo.currentIndexChanged.connect(self.edited)
        for spin in (self.level, self.threads):
            spin.valueChanged.connect(self.edited)
        for box in (self.extended_l2, self.lazy_refcounts, self.salvage, self.verify):
            box.toggled.connect(self.edited)

    # ---------------------------------------------------------------- reactions

    def _format_changed(self) -> None:
        to_qcow2 = self.target_format == "qcow2"
        for field in (self.compression, self.level, self.cluster_size):
            self._common.setRowVisible(field, to_qcow2)
        for rare_field in (
            self.compat,
            self.refcount_bits,
            self.deflate_window,
            self.extended_l2,
            self.lazy_refcounts,
        ):
            self._rare.setRowVisible(rare_field, to_qcow2)
        self._rare.setRowVisible(self.sparse, not to_qcow2)
        self._compression_changed()

    def _compression_changed(self) -> None:
        compression = cast(Compression, self.compression.currentData())
        is_zlib = compression == "zlib"
        small_window = is_zlib and self.deflate_window.currentData() == "4k"
        levels = level_range(compression, small_window=small_window)
        self.level.setEnabled(levels is not None)
        self.deflate_window.setEnabled(is_zlib)
        if levels is None:
            self.level.setRange(0, 0)
            self.level.setSpecialValueText(self.tr("no compression"))
        else:
            # The value below the lowest stands for "default".
            self.level.setRange(levels.lowest - 1, levels.highest)
            self.level.setValue(levels.lowest - 1)
            self.level.setSpecialValueText(
                self.tr("default: {level}  ({lowest} – {highest})").format(
                    level=levels.default, lowest=levels.lowest, highest=levels.highest
                )
            )
        self.kind_changed.emit()
        self.edited.emit()

    def _show_more(self, shown: bool) -> None:
        self.more_button.setArrowType(Qt.ArrowType.DownArrow if shown else Qt.ArrowType.RightArrow)
        self.more.setVisible(shown)
        window = self.window()
        # The window grows and shrinks by what is shown; its width is the user's.
        window.resize(window.width(), window.sizeHint().height())


def make_form() -> QFormLayout:
    """A form with the dialogs' spacing and labels of one width."""
    form = QFormLayout()
    form.setContentsMargins(0, 0, 0, 0)
    form.setLabelAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    form.setHorizontalSpacing(SPACING * 2)
    form.setVerticalSpacing(SPACING)
    return form


def add_row(form: QFormLayout, text: str, field: QWidget) -> None:
    """Add a field with its label; the labels of all forms of the dialog are equally wide."""
    label = QLabel(text)
    label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    label.setMinimumWidth(label.fontMetrics().averageCharWidth() * _LABEL_CHARACTERS)
    label.setBuddy(field)
    if text:
        field.setAccessibleName(text)
    form.addRow(label, field)


def _combo(*items: tuple[str, str | int]) -> QComboBox:
    """A combo box of texts, each with the value it stands for."""
    combo = QComboBox()
    for text, value in items:
        combo.addItem(text, value)
    return combo
