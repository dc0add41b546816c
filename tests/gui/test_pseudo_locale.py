"""A language that nobody speaks: longer than English, and easily told from it.

What stays as it was in the source was forgotten by `tr`; what does not fit would be cut in a
language with longer words.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from PySide6.QtCore import QTranslator
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.settings import Settings
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.summary import ElidedLabel
from qcowgui.resources import resource_path
from tests.gui.scenes import SCENES, scene, texts_of, visible_children

_PARTS = re.compile(r"(\{[^}]*\}|\*\.\w+|&(?!&))")
_LETTERS = str.maketrans("AEIOUaeiouyncs", "ÅÉÎÖÛåéîöûýñçš")
_LONGER = 0.3
_MARKED = re.compile(r"⟦[^⟦⟧]*(?:⟦[^⟦⟧]*⟧[^⟦⟧]*)*⟧")
_WORD = re.compile(r"[A-Za-z]{3,}")
_SAME_EVERYWHERE = re.compile(
    # Names of formats, programs, languages and units; what the image calls things; numbers; what
    # can be typed.
    r"\b(?:0x[0-9a-f_]+|[KMGT]iB|MB|bytes|QEMU|qcowgui|qemu-img|qcow2?|raw|zstd|zlib|compat|JSON|"
    r"UTF|rich|base|first|second|repaired|English|Deutsch|Ctrl|Shift|Alt|Esc|guest:5G|cluster 17)\b"
    # Values, and the sentences of the rooms below, are English in every language.
    r"|\((?:Ctrl|Shift|Alt)\+\w+\)|/\S+|L[12]\[\S*|The header can be read: [^.]*\."
)


@cache
def contexts() -> frozenset[str]:
    """Those of the window's texts, and of the buttons that Qt itself names."""
    root = ET.parse(resource_path("translations", "qcowgui_de.ts")).getroot()
    ours = {context.findtext("name", "") for context in root.iter("context")}
    return frozenset(ours | {"QPlatformTheme"})


class PseudoTranslator(QTranslator):
    """Marks every text, and makes it longer; placeholders, patterns and keys stay what they are."""

    def translate(
        self, context: str, source: str, disambiguation: str | None = None, n: int = -1
    ) -> str:
        if context not in contexts() or not source.strip():
            return None  # type: ignore[return-value]  # Qt's own, which stays what it is
        parts = _PARTS.split(source)
        parts[::2] = [part.translate(_LETTERS) for part in parts[::2]]
        longer = "~" * round(len(source) * _LONGER)
        return f"⟦{''.join(parts)}{longer}⟧"

    def isEmpty(self) -> bool:  # noqa: N802  as Qt calls it
        return False


@pytest.fixture
def pseudo(qapp: QApplication) -> Iterator[None]:
    translator = PseudoTranslator()
    qapp.installTranslator(translator)
    yield
    qapp.removeTranslator(translator)


@pytest.fixture
def window(qtbot: QtBot, pseudo: None, qapp: QApplication) -> Iterator[MainWindow]:  # noqa: ARG001
    settings = Settings(remember=False)
    made = MainWindow(Theme(qapp, settings, settings), settings)
    made.show()
    yield made
    qtbot.waitUntil(lambda: not made.loader.active)
    made.close()
    made.deleteLater()


def untranslated(text: str) -> list[str]:
    """The words of `text` that no translator has seen."""
    rest = _SAME_EVERYWHERE.sub("", _MARKED.sub("", text))
    return _WORD.findall(rest)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("⟦Öpéñ~~⟧", []),
        ("Open", ["Open"]),
        ("⟦Ślöw {0} ⟦îññéŕ⟧⟧ · rest", ["rest"]),
        ("4 KiB at 0x1_0000", []),
        ("/tmp/some/file.raw", []),
    ],
)
def test_words_without_translation_are_found(text: str, words: list[str]) -> None:
    assert untranslated(text) == words


@pytest.mark.parametrize("name", SCENES)
def test_everything_is_translated(
    name: str, window: MainWindow, qtbot: QtBot, rich_image: Path
) -> None:
    with scene(name, window, qtbot, rich_image) as root:
        said = list(texts_of(root))
        assert sum("⟦" in text.text for text in said) >= 2
        forgotten = {text.place: text.text for text in said if untranslated(text.text)}
    assert forgotten == {}


@pytest.mark.parametrize("name", SCENES)
def test_longer_words_have_room(
    name: str, window: MainWindow, qtbot: QtBot, rich_image: Path
) -> None:
    with scene(name, window, qtbot, rich_image) as root:
        cut = {
            f"{type(widget).__name__} {text}": missing
            for widget in visible_children(root)
            if (text := _text_of(widget)) and (missing := _missing(widget)) is not None
        }
    assert not cut, "\n".join(f"{text}: lacks {missing}" for text, missing in cut.items())


def _text_of(widget: QWidget) -> str:
    """What of a label or a button was translated; data has no language."""
    text = widget.text() if isinstance(widget, QLabel | QAbstractButton) else ""
    return text if "⟦" in text else ""


def _missing(widget: QWidget) -> tuple[int, int] | None:
    """Width and height that a label's or a button's text lacks; None when it has room."""
    if isinstance(widget, ElidedLabel):
        return None  # it has a tool tip for what it leaves out
    if isinstance(widget, QLabel) and widget.wordWrap():
        lacks = 0, widget.heightForWidth(widget.width()) - widget.height()
    elif isinstance(widget, QToolButton) and not widget.text():
        return None
    else:
        wanted = widget.sizeHint()
        lacks = wanted.width() - widget.width(), wanted.height() - widget.height()
    return lacks if max(lacks) > 1 else None
