"""The column of a conversion form that says what becomes of an image: its name first, all else."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QStyle, QToolButton, QVBoxLayout, QWidget

from qcowgui.gui.dialogs.convert_concerns import ConcernList
from qcowgui.gui.dialogs.convert_fields import TargetFields
from qcowgui.gui.dialogs.convert_target import TargetSection
from qcowgui.gui.theme import SPACING, Theme

_LEAST_WIDTH: Final = 430


class SettingsColumn(QScrollArea):
    """The target, what is to be known of it, and every setting behind a button.

    Attributes:
        target: Where the results go.
        concerns: What is to be known before the start.
        fields: Every setting; hidden until somebody wants them.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.target = TargetSection()
        self.concerns = ConcernList(theme)
        self.fields = TargetFields()
        self.more_button = QToolButton()
        self.more_button.setText(self.tr("More settings"))
        self.more_button.setCheckable(True)
        self.more_button.setAutoRaise(True)
        self.more_button.setArrowType(Qt.ArrowType.RightArrow)
        self.more_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.more_button.toggled.connect(self._show_more)
        column = QWidget()
        layout = QVBoxLayout(column)
        layout.setContentsMargins(0, 0, SPACING, 0)
        layout.setSpacing(SPACING + 2)
        layout.addWidget(self.target)
        layout.addWidget(self.concerns)
        layout.addWidget(self.more_button, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self.fields)
        layout.addStretch(1)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Measured with all the fields, so that none is cut at the side when they appear.
        bar = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
        self.setMinimumWidth(max(_LEAST_WIDTH, column.minimumSizeHint().width() + bar + SPACING))
        self.setWidget(column)
        self.fields.hide()

    def _show_more(self, shown: bool) -> None:
        self.more_button.setArrowType(Qt.ArrowType.DownArrow if shown else Qt.ArrowType.RightArrow)
        self.fields.setVisible(shown)
