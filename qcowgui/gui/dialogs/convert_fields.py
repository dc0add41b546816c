"""Every option of a conversion as a field; they know no source and no name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, cast

from PySide6.QtCore import Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from qcowgui.codec.cluster import LevelRange
from qcowgui.codec.registry import CompressionType, Window, level_range
from qcowgui.convert.options import (
    CLUSTER_SIZES,
    MAX_SPARSE_BYTES,
    REFCOUNT_BITS,
    Compression,
    TargetFormat,
)
from qcowgui.convert.snapshots import SnapshotMode
from qcowgui.engine.work import default_threads
from qcowgui.format.snapshots import Snapshot
from qcowgui.gui.dialogs.convert_form import COMPRESSION_TYPES, DEFAULTS, Values, fitting
from qcowgui.gui.dialogs.convert_mixed import MixedMarks
from qcowgui.gui.dialogs.form_rows import add_row, combo_of, make_form
from qcowgui.gui.theme import SPACING
from qcowgui.units import SECTOR_BYTES, format_size

__all__ = ["TargetFields", "add_row", "make_form"]

_MAX_THREADS: Final = 256
_FLATTEN: Final = "flatten"
_KEEP: Final = "keep"
_NAMED: Final = "named"
_QCOW2_METADATA: Final = "metadata"
"""A preallocation that a raw file can't have."""
_SHOWN_OTHERWISE: Final = ("level", "threads", "keep_backing", "backing_file", "backing_format")


class TargetFields(QWidget):
    """What the target shall be. A field that does not apply is hidden and counts as its default.

    Signals:
        edited: A field is another, whoever changed it.
        kind_changed: The format or the compression is another.
    """

    edited = Signal()
    kind_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._setting = False
        self._kind: tuple[TargetFormat, Compression] | None = None
        self._unshown: Values = {}
        self._told: tuple[Values, SnapshotMode | None] = {}, None
        self._levels: tuple[CompressionType, LevelRange] | None = None
        self._make_kind()
        self._make_layout_fields()
        self._make_content_fields()
        self._lay_out()
        self._connect()
        self.set_snapshots(())
        self.set_values({})

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

    @property
    def chosen_window(self) -> Window:
        """The deflate window; the default where there is nothing to choose."""
        if self.chosen_compression != "zlib":
            return "32k"
        return cast(Window, self.deflate_window.currentData())

    def values(self) -> Values:
        """Fields of ConvertOptions by name, all but source, target and whether to overwrite."""
        level = self.level.value()
        named = self.backing.currentData() == _NAMED
        found = dict(self._unshown)
        found |= {key: combo.currentData() for combo, key in self._combos.items()}
        found |= {key: box.isChecked() for box, key in self._boxes.items()}
        found |= {
            "level": None if level == self.level.minimum() else level,
            "threads": self.threads.value() or None,
            "keep_backing": self.backing.currentData() == _KEEP,
            "backing_file": self.backing_name.text() if named else None,
            "backing_format": self.backing_format.currentData() if named else None,
        }
        return fitting(found)

    @property
    def snapshot_mode(self) -> SnapshotMode | None:
        """How the internal snapshots are carried along; None: not at all."""
        return cast("SnapshotMode | None", self.carried.currentData())

    def changed_values(self) -> Values:
        """What is another than `set_mixed` found, and mixed settings that were chosen anew."""
        told, settled = DEFAULTS | self._told[0], self._marks.settled
        values = self.values()
        return {key: values[key] for key in values if key in settled or told[key] != values[key]}

    @property
    def snapshots_changed(self) -> bool:
        """Whether `snapshot_mode` is another than `set_mixed` found."""
        return self.snapshot_mode != self._told[1]

    def set_mixed(self, mixed: frozenset[str]) -> None:
        """Take what the fields say as the settings of an image, and mark those of others' own."""
        self._told = self.values(), self.snapshot_mode
        self._marks.set_mixed(mixed)

    def set_values(self, values: Mapping[str, Any], snapshots: SnapshotMode | None = None) -> None:
        """Show these fields of ConvertOptions; those that are not named get their defaults.

        A snapshot that is not known is offered under the name that it has here.
        """
        wanted = DEFAULTS | dict(values)
        shown = {*self._combos.values(), *self._boxes.values(), *_SHOWN_OTHERWISE}
        self._unshown = {key: value for key, value in wanted.items() if key not in shown}
        snapshot = wanted["snapshot"]
        with self._quiet():
            self.carried.setCurrentIndex(self.carried.findData(snapshots))
            if self.snapshot.findData(snapshot) < 0:
                self.snapshot.addItem(snapshot, snapshot)
            for combo, key in self._combos.items():
                combo.setCurrentIndex(max(0, combo.findData(wanted[key])))
            for box, key in self._boxes.items():
                box.setChecked(wanted[key])
            self.threads.setValue(wanted["threads"] or 0)
            backing = _KEEP if wanted["keep_backing"] else _FLATTEN
            if wanted["backing_file"] is not None:
                backing = _NAMED
                self.backing_name.setText(wanted["backing_file"])
                index = self.backing_format.findData(wanted["backing_format"])
                self.backing_format.setCurrentIndex(max(0, index))
            self.backing.setCurrentIndex(self.backing.findData(backing))
            self._show_fields()
            level = wanted["level"]
            self.level.setValue(self.level.minimum() if level is None else level)

    def choose(self, target_format: TargetFormat, compression: Compression) -> None:
        """Set format and compression as if the user had."""
        with self._quiet():
            self.compression.setCurrentIndex(self.compression.findData(compression))
            self.format.setCurrentIndex(self.format.findData(target_format))

    def set_snapshots(self, snapshots: Sequence[Snapshot], *, some: bool = False) -> None:
        """Offer the internal snapshots of the source; one that is chosen and still there stays.

        Args:
            snapshots: Those that can be chosen one by one: of a single source.
            some: Whether any source has snapshots that could be carried along.
        """
        chosen = self.snapshot.currentData()
        with self._quiet():
            self.snapshot.clear()
            self.snapshot.addItem(self.tr("the active disk"), None)
            for found in snapshots:
                self.snapshot.addItem(f"{found.id} – {found.name}", f"snapshot.id={found.id}")
            self.snapshot.setCurrentIndex(max(0, self.snapshot.findData(chosen)))
        self.snapshot.setEnabled(bool(snapshots))
        self.carried.setEnabled(some)

    # ---------------------------------------------------------------- building

    def _make_kind(self) -> None:
        self.format = combo_of(
            (self.tr("raw – a plain disk image"), "raw"),
            (self.tr("qcow2 – QEMU’s image format"), "qcow2"),
        )
        self.compression = combo_of(
            (self.tr("none"), "none"),
            (self.tr("zlib – every reader knows it"), "zlib"),
            (self.tr("zstd – faster, usually smaller"), "zstd"),
        )
        self.level = QSpinBox()
        self.cluster_size = combo_of(*((format_size(size), size) for size in CLUSTER_SIZES))
        self.deflate_window = combo_of(
            (self.tr("32 KiB – smaller, for common readers"), "32k"),
            (self.tr("4 KiB – as qemu-img writes, for strict readers"), "4k"),
        )
        self.threads = QSpinBox()
        self.threads.setRange(0, _MAX_THREADS)
        self.threads.setSpecialValueText(
            self.tr("one for each core ({count})").format(count=default_threads())
        )

    def _make_layout_fields(self) -> None:
        self.compat = combo_of(
            (self.tr("1.1 – version 3"), "1.1"),
            (self.tr("0.10 – version 2, for QEMU before 1.1"), "0.10"),
        )
        self.refcount_bits = combo_of(*((f"{bits}", bits) for bits in REFCOUNT_BITS))
        sizes = [SECTOR_BYTES]
        while sizes[-1] < MAX_SPARSE_BYTES:
            sizes.append(sizes[-1] * 2)
        self.sparse = combo_of(
            (self.tr("none: write every zero"), 0), *((format_size(size), size) for size in sizes)
        )
        self.preallocation = combo_of(
            (self.tr("nothing"), "off"),
            (self.tr("a place in the file for each cluster"), "metadata"),
            (self.tr("the space of the whole disk"), "falloc"),
            (self.tr("the whole disk, written with zeros"), "full"),
        )
        self.extended_l2 = QCheckBox(self.tr("Extended L2 entries (32 subclusters a cluster)"))
        self.lazy_refcounts = QCheckBox(self.tr("Lazy refcounts"))

    def _make_content_fields(self) -> None:
        self.source_format = combo_of(
            (self.tr("as its content shows"), None), ("qcow2", "qcow2"), ("raw", "raw")
        )
        self.snapshot = QComboBox()
        self.carried = combo_of(
            (self.tr("are left behind"), None),
            (self.tr("become an image each"), "files"),
            (self.tr("become a chain, the active disk on top"), "chain"),
        )
        self.backing = combo_of(
            (self.tr("flatten: one file with everything"), _FLATTEN),
            (self.tr("keep the source’s own backing file"), _KEEP),
            (self.tr("keep this backing file:"), _NAMED),
        )
        self.backing_name = QLineEdit()
        self.backing_name.setAccessibleName(self.tr("Name of the backing file"))
        self.backing_name.setPlaceholderText(self.tr("as it will be stored, seen from the target"))
        self.backing_format = combo_of(("qcow2", "qcow2"), ("raw", "raw"))
        self.backing_format.setAccessibleName(self.tr("Format of the backing file"))
        self.named_backing = QWidget()
        row = QHBoxLayout(self.named_backing)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACING)
        row.addWidget(self.backing_name, 1)
        row.addWidget(self.backing_format)
        self.bitmaps = QCheckBox(self.tr("Copy the persistent bitmaps"))
        self.verify = QCheckBox(self.tr("Verify: read the result again and compare it"))
        self.salvage = QCheckBox(self.tr("Salvage: zeros for what can't be read, and a list"))

    def _lay_out(self) -> None:
        self._form = make_form()
        for text, field in (
            (self.tr("Format"), self.format),
            (self.tr("Compression"), self.compression),
            (self.tr("Level"), self.level),
            (self.tr("Cluster size"), self.cluster_size),
            ("", self.verify),
            (self.tr("zlib window"), self.deflate_window),
            (self.tr("Holes from"), self.sparse),
            (self.tr("Set aside"), self.preallocation),
            (self.tr("Source is"), self.source_format),
            (self.tr("Disk"), self.snapshot),
            (self.tr("Snapshots"), self.carried),
            (self.tr("Backing file"), self.backing),
            ("", self.named_backing),
            (self.tr("Compat"), self.compat),
            (self.tr("Refcount bits"), self.refcount_bits),
            ("", self.extended_l2),
            ("", self.lazy_refcounts),
            ("", self.bitmaps),
            (self.tr("Threads"), self.threads),
            ("", self.salvage),
        ):
            add_row(self._form, text, field)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(self._form)

    def _connect(self) -> None:
        self._combos: dict[QComboBox, str] = {
            self.source_format: "source_format",
            self.format: "target_format",
            self.compression: "compression",
            self.cluster_size: "cluster_bytes",
            self.deflate_window: "window",
            self.compat: "compat",
            self.refcount_bits: "refcount_bits",
            self.sparse: "sparse_bytes",
            self.preallocation: "preallocation",
            self.snapshot: "snapshot",
        }
        self._boxes: dict[QCheckBox, str] = {
            self.extended_l2: "extended_l2",
            self.lazy_refcounts: "lazy_refcounts",
            self.bitmaps: "bitmaps",
            self.verify: "verify",
            self.salvage: "salvage",
        }
        for combo in (*self._combos, self.carried, self.backing, self.backing_format):
            combo.currentIndexChanged.connect(self._changed)
        for box in self._boxes:
            box.toggled.connect(self._changed)
        for spin in (self.level, self.threads):
            spin.valueChanged.connect(self._changed)
        self.backing_name.textChanged.connect(self._changed)

        numbers = ((self.level, "level"), (self.threads, "threads"))
        marked = (*self._combos.items(), *self._boxes.items(), *numbers)
        self._marks = MixedMarks(self._form, marked, self)
        self._marks.chosen.connect(self._changed)

    # ---------------------------------------------------------------- reactions

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        """Let several fields change, and tell of it once."""
        nested, self._setting = self._setting, True
        try:
            yield
        finally:
            self._setting = nested
        self._changed()

    def _changed(self) -> None:
        if self._setting:
            return
        kind = self.target_format, self.chosen_compression
        self._setting = True
        self._show_fields()
        self._setting = False
        if kind != self._kind:
            self._kind = kind
            self.kind_changed.emit()
        self.edited.emit()

    def _show_fields(self) -> None:
        to_qcow2 = self.target_format == "qcow2"
        for field in (
            self.compression,
            self.level,
            self.cluster_size,
            self.backing,
            self.compat,
            self.refcount_bits,
            self.extended_l2,
            self.lazy_refcounts,
            self.bitmaps,
        ):
            self._form.setRowVisible(field, to_qcow2)
        self._form.setRowVisible(self.sparse, not to_qcow2)
        flat = not to_qcow2 or self.backing.currentData() == _FLATTEN
        plain = self.chosen_compression == "none"
        self._form.setRowVisible(self.preallocation, flat and plain)
        if not to_qcow2 and self.preallocation.currentData() == _QCOW2_METADATA:
            self.preallocation.setCurrentIndex(0)
        self._offer(self.preallocation, _QCOW2_METADATA, to_qcow2)
        self._form.setRowVisible(self.deflate_window, self.chosen_compression == "zlib")
        named = to_qcow2 and self.backing.currentData() == _NAMED
        self._form.setRowVisible(self.named_backing, named)
        self._show_levels()

    @staticmethod
    def _offer(combo: QComboBox, value: str, offered: bool) -> None:
        """Let one item of a combo box be chosen, or not."""
        model = combo.model()
        if isinstance(model, QStandardItemModel):
            model.item(combo.findData(value)).setEnabled(offered)

    def _show_levels(self) -> None:
        kind = COMPRESSION_TYPES.get(self.chosen_compression)
        self.level.setEnabled(kind is not None)
        if kind is None:
            self.level.setRange(0, 0)
            self.level.setSpecialValueText(self.tr("no compression"))
            self._levels = None
            return
        levels = level_range(kind, self.chosen_window)
        if (kind, levels) == self._levels:
            return
        self._levels = kind, levels
        # The value below the lowest stands for "default".
        self.level.setRange(levels.lowest - 1, levels.highest)
        self.level.setValue(levels.lowest - 1)
        self.level.setSpecialValueText(
            self.tr("default: {level}  ({lowest} – {highest})").format(
                level=levels.default, lowest=levels.lowest, highest=levels.highest
            )
        )
