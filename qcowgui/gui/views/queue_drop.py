"""What a drop would do, said over the window while files are held above it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from qcowgui.gui.theme import SPACING, Theme, scaled_font

translate = QCoreApplication.translate

_ICON_SIZE: Final = QSize(40, 40)
_VEIL_ALPHA: Final = 225


@dataclass(frozen=True, slots=True)
class Zone:
    """A place to drop files on.

    Attributes:
        key: What its owner calls it.
        icon: The theme's name of its icon.
        title: What a drop does.
        text: How, in a sentence.
        weight: How wide it is, beside the others.
    """

    key: str
    icon: str
    title: str
    text: str
    weight: int = 1


def inspect_zone() -> Zone:
    """The one that opens files; on a window, dropping mostly means that."""
    return Zone(
        "inspect",
        "image",
        translate("drops", "Drop to inspect"),
        translate("drops", "Opens each file in a tab."),
        weight=2,
    )


def convert_zone() -> Zone:
    """The one that puts files into the queue."""
    return Zone(
        "convert",
        "convert",
        translate("drops", "Drop to convert"),
        translate("drops", "Files and folders; nothing starts before you say so."),
    )


class DropZones(QWidget):
    """Lies over a widget while files are held above it; the pointer never meets it."""

    def __init__(self, zones: Sequence[Zone], theme: Theme, over: QWidget) -> None:
        super().__init__(over)
        self._theme = theme
        self._over = over
        self._zones = tuple(zones)
        self._icons: list[QLabel] = []
        self._frames: list[QFrame] = []
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(*[SPACING * 2] * 4)
        layout.setSpacing(SPACING * 2)
        for zone in self._zones:
            layout.addWidget(self._make_frame(zone), zone.weight)
        over.installEventFilter(self)
        theme.changed.connect(self._paint)
        self._paint()
        self.hide()

    def hold(self, place: QPoint) -> None:
        """Show the zones; the one at `place` (of the widget below) is where files would go."""
        self.setGeometry(self._over.rect())
        wanted = self.zone_at(place)
        for zone, frame in zip(self._zones, self._frames, strict=True):
            hot = zone.key == wanted
            if frame.property("hot") is not hot:
                frame.setProperty("hot", hot)
                frame.style().unpolish(frame)
                frame.style().polish(frame)
        if not self.isVisible():
            self.raise_()
            self.show()

    def zone_at(self, place: QPoint) -> str:
        """The key of the zone at a place of the widget below; the first one's left of all."""
        share = place.x() / max(1, self._over.width()) * sum(zone.weight for zone in self._zones)
        ends = itertools.accumulate(zone.weight for zone in self._zones)
        found = (zone.key for zone, end in zip(self._zones, ends, strict=True) if share < end)
        return next(found, self._zones[-1].key)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay as large as the widget below."""
        if event.type() is QEvent.Type.Resize and self.isVisible():
            self.setGeometry(self._over.rect())
        return super().eventFilter(watched, event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Let what is below step back."""
        painter = QPainter(self)
        veil = QColor(self._theme.colours.window)
        veil.setAlpha(_VEIL_ALPHA)
        painter.fillRect(self.rect(), veil)
        painter.end()

    def _make_frame(self, zone: Zone) -> QFrame:
        frame = QFrame()
        frame.setProperty("dropTarget", True)
        icon = QLabel()
        title = QLabel(zone.title)
        title.setFont(scaled_font(1.4, bold=True))
        text = QLabel(zone.text)
        text.setProperty("muted", True)
        text.setWordWrap(True)
        column = QVBoxLayout(frame)
        column.setSpacing(SPACING // 2)
        column.addStretch(1)
        for label in (icon, title, text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            column.addWidget(label)
        column.addStretch(1)
        self._icons.append(icon)
        self._frames.append(frame)
        return frame

    def _paint(self) -> None:
        for zone, label in zip(self._zones, self._icons, strict=True):
            icon = self._theme.icon(zone.icon, self._theme.colours.accent)
            label.setPixmap(icon.pixmap(_ICON_SIZE))
