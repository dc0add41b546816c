"""The findings below an image, as high as they need to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSplitter, QVBoxLayout, QWidget

from qcowgui.format.finding import Finding
from qcowgui.gui.formatters import findings_table
from qcowgui.gui.theme import SPACING, Theme, scaled_font
from qcowgui.gui.views.data_table import DataTable

_SPACING: Final = SPACING - 2
_LARGEST_SHARE: Final = 3
"""Findings take a third of the height at most, until a person decides otherwise."""


class FindingsPane(QWidget):
    """The findings; what was looked at, when there are none.

    Signals:
        chosen: A finding was double-clicked, or Enter pressed on it: its index.
    """

    chosen = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = QLabel()
        self.title.setFont(scaled_font(1.0, bold=True))
        self.table = DataTable(theme)
        self.table.setAccessibleName(self.tr("Findings"))
        self.table.row_activated.connect(self.chosen)
        self.nothing = QLabel()
        self.nothing.setWordWrap(True)
        self.nothing.setProperty("muted", True)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(_SPACING)
        layout.addWidget(self.title)
        layout.addWidget(self.table, 1)
        layout.addWidget(self.nothing, 1)

    def show_findings(self, findings: Sequence[Finding], looked_at: str) -> None:
        """Show `findings`; `looked_at` says what they can be about."""
        self.title.setText(self.tr("Findings  {count}").format(count=f"{len(findings):,}"))
        self.nothing.setText(self.tr("Nothing to report from opening the image.") + " " + looked_at)
        table = findings_table(findings)
        if table != self.table.table:  # or the selection would be lost for nothing
            self.table.set_table(table)
        self.table.setVisible(bool(findings))
        self.nothing.setVisible(not findings)

    def needed_height(self) -> int:
        """The height in pixels, at the pane's width, at which nothing has to be scrolled."""
        if self.table.isVisibleTo(self):
            content = self.table.needed_height()
        else:
            content = max(self.nothing.heightForWidth(self.width()), 0)
        return self.title.sizeHint().height() + _SPACING + content


class FindingsSplitter(QSplitter):
    """An image above its findings, which get the height they need; a person who drags decides."""

    def __init__(self, upper: QWidget, findings: FindingsPane) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self._findings = findings
        self._decided = False
        self.addWidget(upper)
        self.addWidget(findings)
        self.setStretchFactor(0, 1)
        self.setChildrenCollapsible(False)
        self.splitterMoved.connect(self._moved)

    def fit(self) -> None:
        """Give the findings the height they need now."""
        total = sum(self.sizes())
        if not self._decided and total:
            height = min(self._findings.needed_height(), total // _LARGEST_SHARE)
            self.setSizes([total - height, height])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit again: at another width, lines break elsewhere."""
        super().resizeEvent(event)
        self.fit()

    def _moved(self) -> None:
        self._decided = True
