"""The bar above a table of entries: what is shown of it, and the way to one entry."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLabel, QLineEdit, QWidget

from qcowgui.gui.models.entry_filter import EntryFilter
from qcowgui.gui.models.entry_rows import kind_words
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.theme import SPACING
from qcowgui.gui.translation import count_text

_TYPING_MS: Final = 200
_ENTRY_WIDTH: Final = 110


class EntryFilterBar(QWidget):
    """Fields for an `EntryFilter`, how many entries it leaves, and a field for an entry's number.

    Signals:
        changed: `wanted` is another.
        entry_requested: Somebody wants to see an entry: its number.
        refused: What was entered as an entry's number leads nowhere: why.
        left: Down or Enter was pressed in the filter: the keyboard belongs to the table.
    """

    changed = Signal()
    entry_requested = Signal(object)
    refused = Signal(str)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = QLineEdit()
        self.text.setPlaceholderText(self.tr("Filter: word, digits or 0x…"))
        self.text.setClearButtonEnabled(True)
        self.text.setAccessibleName(self.tr("Filter"))
        self.text.setToolTip(
            self.tr(
                "Words of the kind, the flags, the use or a finding; hexadecimal digits of raw\n"
                "words and offsets, with 0x their first ones; or the number of an entry."
            )
        )
        self.kind = QComboBox()
        self.kind.setAccessibleName(self.tr("Kind of entries shown"))
        self.kind.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.allocated = QCheckBox(self.tr("Allocated"))
        self.allocated.setToolTip(self.tr("Only entries that name a cluster, or count one in use"))
        self.findings = QCheckBox(self.tr("With findings"))
        self.findings.setToolTip(self.tr("Only entries of which something is wrong"))
        self.count = QLabel()
        self.count.setProperty("muted", True)
        self.entry = QLineEdit()
        self.entry.setPlaceholderText(self.tr("Go to entry"))
        self.entry.setAccessibleName(self.tr("Go to entry"))
        self.entry.setToolTip(self.tr("The number of an entry, decimal or with 0x"))
        self.entry.setFixedWidth(_ENTRY_WIDTH)
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(_TYPING_MS)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, SPACING, 0, SPACING)
        layout.setSpacing(SPACING)
        layout.addWidget(self.text, 1)
        for widget in (self.kind, self.allocated, self.findings, self.count, self.entry):
            layout.addWidget(widget)
        self._connect()

    @property
    def wanted(self) -> EntryFilter:
        """What the fields say."""
        kind = self.kind.currentData()
        return EntryFilter(
            kind if isinstance(kind, int) else None,
            self.text.text(),
            self.allocated.isChecked(),
            self.findings.isChecked(),
        )

    def show_filter(self, key: StructureKey, wanted: EntryFilter) -> None:
        """Offer the kinds of the table `key`, and show `wanted`; `changed` says nothing of it."""
        self._typing.stop()
        with QSignalBlocker(self):
            self.kind.clear()
            self.kind.addItem(self.tr("Any kind"))
            for kind, word in enumerate(kind_words(key)):
                self.kind.addItem(word, kind)
            self.kind.setCurrentIndex(0 if wanted.kind is None else wanted.kind + 1)
            if self.text.text() != wanted.text:
                self.text.setText(wanted.text)
            self.allocated.setChecked(wanted.only_allocated)
            self.findings.setChecked(wanted.only_findings)
        self._typing.stop()

    def show_count(self, shown: int, total: int, *, busy: bool) -> None:
        """Say how many entries of all are shown."""
        text = count_text(total, "entry", "entries")
        if shown != total:
            text = self.tr("{shown} of {total}").format(shown=f"{shown:,}", total=text)
        self.count.setText(self.tr("{count} …").format(count=text) if busy else text)

    def refuse_entry(self, reason: str) -> None:
        """Say why the entry asked for is not shown."""
        self.entry.selectAll()
        self.refused.emit(reason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Down leads from the filter to the table; Escape clears it."""
        if event.key() == Qt.Key.Key_Down and self.text.hasFocus():
            self.left.emit()
        elif event.key() == Qt.Key.Key_Escape and self.text.text():
            self.text.clear()
        else:
            super().keyPressEvent(event)

    def _connect(self) -> None:
        self.text.textChanged.connect(self._typing.start)
        self.text.returnPressed.connect(self._text_entered)
        self._typing.timeout.connect(self.changed)
        self.kind.currentIndexChanged.connect(self.changed)
        self.allocated.toggled.connect(self.changed)
        self.findings.toggled.connect(self.changed)
        self.entry.returnPressed.connect(self._entry_entered)

    def _text_entered(self) -> None:
        self._typing.stop()
        self.changed.emit()
        self.left.emit()

    def _entry_entered(self) -> None:
        text = self.entry.text().strip().replace(",", "").replace("_", "")
        try:
            number = int(text, 16) if text[:2].lower() == "0x" else int(text)
        except ValueError:
            self.refuse_entry(self.tr("This is no number."))
            return
        self.entry_requested.emit(number)
