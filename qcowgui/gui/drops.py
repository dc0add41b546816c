"""Files that are dragged over the window: what is welcome, and what was dropped."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QUrl, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget

translate = QCoreApplication.translate


@dataclass(frozen=True, slots=True)
class Dropped:
    """URLs, sorted.

    Attributes:
        paths: Local files, in the order of the drop, each once.
        refusals: A sentence for each URL that can't be opened.
    """

    paths: tuple[Path, ...]
    refusals: tuple[str, ...]


class DropTarget(QObject):
    """Lets files be dropped on a widget, and tells where they are held.

    Signals:
        held: Files are above the widget: the place in it.
        left: They are no longer.
        dropped: They were let go: their URLs, and the place.
    """

    held = Signal(QPoint)
    left = Signal()
    dropped = Signal(object, QPoint)

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        widget.setAcceptDrops(True)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Accept files, and only those; some systems want it said at each move."""
        if isinstance(event, QDragEnterEvent | QDragMoveEvent):
            if event.mimeData().hasUrls():
                event.acceptProposedAction()
                self.held.emit(event.position().toPoint())
                return True
        elif event.type() is QEvent.Type.DragLeave:
            self.left.emit()
            return True
        elif isinstance(event, QDropEvent) and event.mimeData().hasUrls():
            event.acceptProposedAction()
            self.left.emit()
            self.dropped.emit(event.mimeData().urls(), event.position().toPoint())
            return True
        return super().eventFilter(watched, event)


def sort_urls(urls: Sequence[QUrl], *, folders: bool = False) -> Dropped:
    """Which of `urls` are files that can be opened. A missing file counts: opening it tells why.

    Args:
        urls: What was dropped.
        folders: Whether folders are welcome as well.
    """
    paths: list[Path] = []
    refusals: list[str] = []
    for url in urls:
        if not url.isLocalFile():
            refusals.append(_not_here(url))
            continue
        path = Path(url.toLocalFile())
        refusal = "" if folders else _refusal(path)
        if refusal:
            refusals.append(refusal)
        elif path not in paths:
            paths.append(path)
    return Dropped(tuple(paths), tuple(refusals))


def _not_here(url: QUrl) -> str:
    shown = url.toDisplayString()
    if not shown:
        return translate("drops", "What was dropped has no address: save it as a file first.")
    text = translate("drops", "{url} is not on this computer: save it first, then open the file.")
    return text.format(url=shown)


def _refusal(path: Path) -> str:
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return ""
    if stat.S_ISDIR(mode):
        return translate(
            "drops",
            "{name} is a folder: drop the image files in it, or drop it on “Convert”.",
        ).format(name=path.name or path)
    return ""
