"""What the selected bytes are: their place, and what they mean as numbers."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from qcowgui.gui.hex_text import GROUP_BYTES, range_text, readings
from qcowgui.gui.pages import PageCache
from qcowgui.gui.theme import SPACING, monospaced_font
from qcowgui.gui.views.hex_cursor import ByteCursor


class HexFooter(QWidget):
    """One line of facts about a cursor's bytes.

    Attributes:
        numbers: The first bytes as numbers, or why they can't be read.
        place: Where the bytes are.
        order: Whether numbers are little-endian.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cursor = ByteCursor()
        self._pages: PageCache | None = None
        self.order = QToolButton()
        self.order.setCheckable(True)
        self.order.setToolTip(
            self.tr("The order of bytes in numbers; qcow2’s own are big-endian throughout")
        )
        self.numbers, self.place = QLabel(), QLabel()
        self.numbers.setFont(monospaced_font())
        self.numbers.setAccessibleName(self.tr("The first selected bytes as numbers"))
        # It gives way: a long line must not keep the window wide.
        self.numbers.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.place.setProperty("muted", True)
        self.place.setAccessibleName(self.tr("Selected bytes"))
        for label in (self.numbers, self.place):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACING)
        layout.addWidget(self.order)
        layout.addWidget(self.numbers, 1)
        layout.addWidget(self.place)
        self.order.toggled.connect(self._show)
        self._show()

    def show_bytes(self, cursor: ByteCursor, pages: PageCache | None) -> None:
        """Say what the bytes at `cursor` are."""
        self._cursor, self._pages = cursor, pages
        self._show()

    def _show(self) -> None:
        little_endian = self.order.isChecked()
        self.order.setText(self.tr("Little-endian") if little_endian else self.tr("Big-endian"))
        start, end = self._cursor.start, self._cursor.end
        if self._pages is None or start >= end:
            self.numbers.clear()
            self.place.clear()
            return
        self.place.setText(range_text(start, end))
        data = self._pages.read(start, GROUP_BYTES)
        if data is None:
            return
        lost = self._pages.lost(start, GROUP_BYTES)
        if lost and lost[0].start == start:
            text = self.tr("Can’t be read: {reason}").format(reason=lost[0].reason)
        else:
            known = data[: lost[0].start - start] if lost else data
            found = readings(known, little_endian=little_endian)
            text = "   ".join(f"{name} {value}" for name, value in found)
        self.numbers.setText(text)
        self.numbers.setToolTip(text)
