"""What was dropped on the window: files to open, and reasons against the rest."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QUrl

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


def sort_urls(urls: Sequence[QUrl]) -> Dropped:
    """Which of `urls` are files that can be opened. A missing file counts: opening it tells why."""
    paths: list[Path] = []
    refusals: list[str] = []
    for url in urls:
        if not url.isLocalFile():
            refusals.append(
                translate(
                    "drops", "{url} is not on this computer: save it first, then open the file."
                ).format(url=url.toDisplayString())
            )
            continue
        path = Path(url.toLocalFile())
        refusal = _refusal(path)
        if refusal:
            refusals.append(refusal)
        elif path not in paths:
            paths.append(path)
    return Dropped(tuple(paths), tuple(refusals))


def _refusal(path: Path) -> str:
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return ""
    if stat.S_ISDIR(mode):
        return translate("drops", "{name} is a folder: drop the image files in it.").format(
            name=path.name or path
        )
    return ""
