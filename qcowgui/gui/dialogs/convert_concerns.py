"""What a person should know before a conversion starts, the gravest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from qcowgui.convert.warnings import Concern
from qcowgui.gui.dialogs.plain_label import plain_label
from qcowgui.gui.formatters import Tone, without_options
from qcowgui.gui.theme import SPACING, Theme

_ICON_SIZE: Final = QSize(18, 18)
_MAX_SHOWN: Final = 12
_ORDER: Final = ("stop", "warning", "note")
_TONES: Final = {"stop": Tone.DANGER, "warning": Tone.WARNING, "note": Tone.NOTE}
_ICONS: Final = {"stop": "danger", "warning": "warning", "note": "note"}


class ConcernList(QWidget):
    """A line for each concern: how grave, what, and what can be done."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown: tuple[tuple[str, Concern], ...] = ()
        self._more = 0
        self._icons: list[tuple[QLabel, str]] = []
        self.setAccessibleName(self.tr("What to know before the start"))
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(SPACING)
        self._grid.setVerticalSpacing(SPACING)
        self._grid.setColumnStretch(1, 1)
        theme.changed.connect(self._paint)
        self.hide()

    @property
    def concerns(self) -> tuple[Concern, ...]:
        """What is shown."""
        return tuple(concern for _, concern in self._shown)

    def text(self) -> str:
        """All of it as text."""
        return "\n".join(_text(name, concern) for name, concern in self._shown)

    def set_concerns(self, found: Sequence[tuple[str, Concern]]) -> None:
        """Show concerns, each with the name of the image that it is about, or an empty string."""
        ordered = sorted(found, key=lambda item: _ORDER.index(item[1].level))
        shown, more = tuple(ordered[:_MAX_SHOWN]), max(0, len(ordered) - _MAX_SHOWN)
        if (shown, more) == (self._shown, self._more):
            return
        self._shown, self._more = shown, more
        self._icons.clear()
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for row, (name, concern) in enumerate(self._shown):
            icon = QLabel()
            icon.setFixedSize(_ICON_SIZE)
            self._icons.append((icon, concern.level))
            self._grid.addWidget(icon, row, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(_texts(name, concern), row, 1)
        if self._more:
            text = self.tr("and {count} more").format(count=f"{self._more:,}")
            self._grid.addWidget(plain_label(text), _MAX_SHOWN, 1)
        self._paint()
        self.setVisible(bool(self._shown))

    def _paint(self) -> None:
        for label, level in self._icons:
            colour = self._theme.tone_colour(_TONES[level])
            ratio = self.devicePixelRatioF()
            pixmap = self._theme.icon(_ICONS[level], colour).pixmap(_ICON_SIZE, ratio)
            label.setPixmap(pixmap)


def _text(name: str, concern: Concern) -> str:
    return "\n".join(filter(None, (_message(name, concern), _hint(concern))))


def _message(name: str, concern: Concern) -> str:
    return f"{name}: {concern.message}" if name else concern.message


def _hint(concern: Concern) -> str:
    """What can be done, without how the command line calls it, as a sentence of its own."""
    hint = without_options(concern.hint)
    return hint[:1].upper() + hint[1:]


def _texts(name: str, concern: Concern) -> QWidget:
    texts = QWidget()
    layout = QVBoxLayout(texts)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(2)
    layout.addWidget(plain_label(_message(name, concern)))
    hint = _hint(concern)
    if hint:
        layout.addWidget(plain_label(hint, muted=True))
    return texts
