"""The dialogs' label for sentences: plain text that wraps and can be copied."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel


def plain_label(text: str = "", *, muted: bool = False, tone: str = "") -> QLabel:
    """A label for text that may come from a file: nothing in it is taken for markup.

    Args:
        text: What it says.
        muted: Whether it steps back.
        tone: "danger", "warning", or an empty string.
    """
    label = QLabel(text)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse
        | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    label.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # the Tab key goes from field to field
    if muted:
        label.setProperty("muted", True)
    if tone:
        label.setProperty("tone", tone)
    return label
