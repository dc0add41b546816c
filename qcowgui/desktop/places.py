"""What a desktop needs to know of the program, and where it looks for it, below a data folder.

The same list serves a user's own folder (~/.local/share) and a package's (/usr/share).

Specs: XDG Base Directory, Desktop Entry, Icon Theme, AppStream. Completions: the shells' manuals.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from qcowgui.desktop.entry import with_command
from qcowgui.resources import resource_path

ENTRY: Final = "qcowgui.desktop"
MIME_TYPE: Final = "application/x-qemu-disk"
"""The freedesktop.org database's type of qcow2 files: nothing needs to be added to it."""

THUMBNAILER: Final = PurePosixPath("thumbnailers/qcowgui.thumbnailer")


@dataclass(frozen=True, slots=True)
class DesktopFile:
    """One file to put in place.

    Attributes:
        place: Where, below a data folder.
        content: What it holds.
    """

    place: PurePosixPath
    content: bytes


def data_home() -> Path:
    """The user's data folder, which need not be there yet.

    Raises:
        RuntimeError: When the user has no home folder.
    """
    named = Path(os.environ.get("XDG_DATA_HOME", ""))
    # The specification wants names that are not absolute to be ignored.
    return named if named.is_absolute() else Path.home() / ".local" / "share"


def desktop_files(
    command: Sequence[str], texts: Mapping[str, str], *, thumbnails: bool
) -> list[DesktopFile]:
    """Every file that a desktop, a shell and `man` look for.

    Args:
        command: What starts the program.
        texts: Texts that are made from the command line itself, by their place.
        thumbnails: Whether file managers are to draw cluster maps as thumbnails.

    Raises:
        FileNotFoundError: When the program came without its resources.
    """
    entry = resource_path("desktop", ENTRY).read_text("utf-8")
    metainfo = resource_path("desktop", "qcowgui.metainfo.xml").read_bytes()
    files = [
        DesktopFile(PurePosixPath("applications", ENTRY), with_command(entry, command).encode()),
        DesktopFile(PurePosixPath("metainfo/qcowgui.metainfo.xml"), metainfo),
        *_icons(),
        *(DesktopFile(PurePosixPath(place), text.encode()) for place, text in texts.items()),
    ]
    if thumbnails:
        text = resource_path("desktop", "qcowgui.thumbnailer").read_text("utf-8")
        files.append(DesktopFile(THUMBNAILER, with_command(text, command).encode()))
    return files


def _icons() -> Iterator[DesktopFile]:
    theme = PurePosixPath("icons/hicolor")
    for path in sorted(resource_path("icons").iterdir()):
        if path.suffix == ".svg":
            yield DesktopFile(theme / "scalable/apps" / path.name, path.read_bytes())
        elif path.suffix == ".png":
            side = path.stem.removeprefix("qcowgui-")
            yield DesktopFile(theme / f"{side}x{side}/apps/qcowgui.png", path.read_bytes())
