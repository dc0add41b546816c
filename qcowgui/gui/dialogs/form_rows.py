"""Forms of the dialogs: rows of one look, labels of one width, and boxes to choose from."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QFormLayout, QLabel, QWidget

from qcowgui.gui.theme import SPACING

_LABEL_CHARACTERS: Final = 14


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


def combo_of(*items: tuple[str, str | int | None]) -> QComboBox:
    """A combo box of texts, each with the value it stands for.

    It is no wider than its form: a long text must not make the form wide.
    """
    combo = QComboBox()
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    for text, value in items:
        combo.addItem(text, value)
    return combo
