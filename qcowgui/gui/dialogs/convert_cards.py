"""The presets as large choices: what each is for, and what a forecast expects of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from PySide6.QtCore import QCoreApplication, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from qcowgui.gui.theme import SPACING, Theme, scaled_font

translate = QCoreApplication.translate

_LEAST_WIDTH: Final = 150


class CardText(NamedTuple):
    """What a card says.

    Attributes:
        title: Two or three words.
        sentence: What it is good for.
    """

    title: str
    sentence: str


def card_text(key: str) -> CardText:
    """The words of the preset called `key`; the key itself where there are none."""
    known = {
        "raw": CardText(
            translate("presets", "Raw disk"),
            translate("presets", "A plain disk for any program; zeros take no space."),
        ),
        "smallest": CardText(
            translate("presets", "qcow2, smallest"),
            translate("presets", "To keep and to send. Takes the longest; QEMU 5.1 or newer."),
        ),
        "fastest": CardText(
            translate("presets", "qcow2, fastest"),
            translate("presets", "Done soonest, and still a good deal smaller."),
        ),
        "compatible": CardText(
            translate("presets", "qcow2, most compatible"),
            translate("presets", "Read by every program that knows compressed qcow2."),
        ),
        "optimise": CardText(
            translate("presets", "Optimise as a copy"),
            translate("presets", "As the source is, packed anew: no leaks, no gaps."),
        ),
    }
    return known.get(key, CardText(key, ""))


class PresetCard(QPushButton):
    """One preset.

    Signals:
        stepped: An arrow key asks for the card before (-1) or behind this one (1).
    """

    stepped = Signal(int)

    def __init__(self, key: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        words = card_text(key)
        self.key = key
        self.setCheckable(True)
        self.setAutoDefault(False)
        self.setProperty("presetCard", True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.setAccessibleName(words.title)
        self._sentence = words.sentence
        self._figure = QLabel()
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(SPACING + 4, SPACING + 2, SPACING + 4, SPACING + 2)
        self._layout.setSpacing(SPACING // 2)
        title, sentence = QLabel(words.title), QLabel(words.sentence)
        title.setFont(scaled_font(1.05, bold=True))
        sentence.setProperty("muted", True)
        self._figure.setProperty("figure", True)
        for label in (title, sentence, self._figure):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            self._layout.addWidget(label)
        self._layout.addStretch(1)
        self.set_figure("")

    @property
    def figure(self) -> str:
        """What is expected of it, or an empty string."""
        return self._figure.text()

    def set_figure(self, text: str) -> None:
        """Say what is expected of it."""
        self._figure.setText(text or " ")  # its line is there before there is something to say
        self.setAccessibleDescription(f"{self._sentence} {text}".strip())
        self.setToolTip(self._sentence)

    def sizeHint(self) -> QSize:
        """As large as the texts: a button's own hint knows only of its own text."""
        return QSize(
            _LEAST_WIDTH, self._layout.totalHeightForWidth(max(_LEAST_WIDTH, self.width()))
        )

    def minimumSizeHint(self) -> QSize:
        """As high as the texts are at this width."""
        return self.sizeHint()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go on to the next card with the arrow keys; choosing it is another key."""
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
        else:
            self.stepped.emit(step)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width breaks the sentence elsewhere."""
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.updateGeometry()


class PresetCards(QWidget):
    """A row of presets, at most one of them chosen.

    Signals:
        picked: A person chose one: its key.
    """

    picked = Signal(str)

    def __init__(self, keys: Iterable[str], theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("presetCards")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACING)
        self.cards: dict[str, PresetCard] = {}
        for key in keys:
            card = self.cards[key] = PresetCard(key)
            card.clicked.connect(lambda _checked=False, key=key: self._clicked(key))
            card.stepped.connect(lambda step, key=key: self._step(key, step))
            layout.addWidget(card, 1)
        self.setFocusProxy(next(iter(self.cards.values())))
        theme.changed.connect(self._paint)
        self._paint()

    def set_current(self, key: str | None) -> None:
        """Show which one the settings are; None: own settings.

        The focus goes with it, unless somebody has gone to another card with the keys.
        """
        before = [card for card in self.cards.values() if card.isChecked()]
        # Also while the window is not the active one.
        focus = self.window().focusWidget()
        focused = [card for card in self.cards.values() if card is focus]
        for card in self.cards.values():
            card.setChecked(card.key == key)
        if key is not None and focused and (not before or focused == before):
            self.cards[key].setFocus()

    def offer(self, key: str, *, offered: bool) -> None:
        """Show a preset, or hide one that makes no sense for the source."""
        self.cards[key].setVisible(offered)

    def _step(self, key: str, step: int) -> None:
        keys = [card.key for card in self.cards.values() if card.isVisible()]
        place = keys.index(key) + step
        if 0 <= place < len(keys):
            self.cards[keys[place]].setFocus()

    def _clicked(self, key: str) -> None:
        self.set_current(key)
        self.picked.emit(key)

    def _paint(self) -> None:
        c = self._theme.colours
        self.setStyleSheet(
            f"""
            QPushButton[presetCard="true"] {{ background: {c.panel}; border: 2px solid {c.line};
                border-radius: 8px; padding: 0; }}
            QPushButton[presetCard="true"]:hover {{ background: {c.hover}; }}
            QPushButton[presetCard="true"]:focus {{ border: 2px dashed {c.muted}; }}
            QPushButton[presetCard="true"]:checked {{ background: {c.note_back};
                border-color: {c.accent}; }}
            QPushButton[presetCard="true"]:checked:focus {{ border: 2px dashed {c.accent}; }}
            QLabel[figure="true"] {{ color: {c.note}; }}
            """
        )
