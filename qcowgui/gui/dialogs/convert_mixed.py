"""Marks the fields whose setting is not the same for all images that they are for."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QFormLayout, QLabel, QWidget


class MixedMarks(QObject):
    """A marked field shows the value of one image, and says so.

    Attributes:
        settled: Marked settings for which a person has chosen what the field shows.

    Signals:
        chosen: That has just happened.
    """

    chosen = Signal()

    def __init__(
        self, form: QFormLayout, fields: Iterable[tuple[QWidget, str]], parent: QWidget
    ) -> None:
        """Marks for the fields of a form.

        Args:
            form: Has the fields' labels.
            fields: Each with its setting.
            parent: The widget they are on.
        """
        super().__init__(parent)
        self._fields = dict(fields)
        self._mixed: frozenset[str] = frozenset()
        self.settled: set[str] = set()
        self._labels: dict[QWidget, tuple[QLabel, str]] = {}
        for field, key in self._fields.items():
            label = form.labelForField(field)
            if isinstance(label, QLabel) and label.text():
                self._labels[field] = label, label.text()
            if isinstance(field, QCheckBox):
                field.clicked.connect(lambda _checked=False, key=key: self._settle(key))
            elif isinstance(field, QComboBox):
                field.activated.connect(lambda _index=0, key=key: self._settle(key))

    def set_mixed(self, mixed: frozenset[str]) -> None:
        """Mark the fields of these settings, and no others."""
        self._mixed = mixed
        self.settled.clear()
        for field, key in self._fields.items():
            several = self.tr("several") if key in mixed else ""
            field.setAccessibleDescription(several)
            if field in self._labels:
                label, text = self._labels[field]
                label.setText(f"{text} ({several})" if several else text)
            if isinstance(field, QCheckBox):
                self._mark_box(field, partly=key in mixed)

    @staticmethod
    def _mark_box(box: QCheckBox, *, partly: bool) -> None:
        checked = Qt.CheckState.Checked if box.isChecked() else Qt.CheckState.Unchecked
        with QSignalBlocker(box):
            box.setTristate(partly)
            box.setCheckState(Qt.CheckState.PartiallyChecked if partly else checked)

    def _settle(self, key: str) -> None:
        if key in self._mixed:
            self.settled.add(key)
            self.chosen.emit()
