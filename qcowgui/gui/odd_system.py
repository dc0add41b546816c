"""What a system lacks that the window would like to have, in sentences: it starts all the same."""

from __future__ import annotations

import codecs
import os
import sys
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QFontMetrics, QGuiApplication

from qcowgui.gui.settings import Settings

translate = QCoreApplication.translate


@dataclass(frozen=True, slots=True)
class Lack:
    """Something that is missing.

    Attributes:
        text: What, what follows from it, and what helps.
        matters: Whether somebody should be told who did not ask; the rest stands in the log.
        readable: Whether the window can say it; else the terminal has to.
    """

    text: str
    matters: bool = True
    readable: bool = True


def has_fonts() -> bool:
    """Whether text can be shown. To be asked before icons bring fonts of their own along."""
    # Without fonts Qt lists generic names all the same.
    return QFontMetrics(QGuiApplication.font()).inFontUcs4(ord("a"))


def find_lacks(settings: Settings, *, fonts: bool) -> list[Lack]:
    """All that is missing here. Looks at no disk but for the settings.

    Args:
        settings: Whose file may be unusable.
        fonts: What `has_fonts` said.
    """
    found = []
    if settings.problem:
        found.append(Lack(settings.problem))
    encoding = sys.getfilesystemencoding()
    if codecs.lookup(encoding).name != "utf-8":
        text = translate(
            "Lack",
            "The locale’s encoding is {encoding}: files whose names have other characters may not"
            " be found. Start with a UTF-8 locale, as with LC_ALL=C.UTF-8.",
        )
        found.append(Lack(text.format(encoding=encoding)))
    if not fonts:
        text = translate(
            "Lack",
            "No fonts are installed: no text can be shown. Install one, such as DejaVu Sans.",
        )
        found.append(Lack(text, readable=False))
    if sys.platform.startswith("linux") and not _has_session_bus():
        text = translate(
            "Lack", "There is no session bus: the window can’t follow the desktop’s colours."
        )
        found.append(Lack(text, matters=False))
    return found


def _has_session_bus() -> bool:
    if os.environ.get("DBUS_SESSION_BUS_ADDRESS"):
        return True
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    return bool(runtime) and os.path.lexists(os.path.join(runtime, "bus"))  # noqa: PTH118
