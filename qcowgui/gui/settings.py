"""What the window remembers. Whatever is in the settings file, reading it gives something usable."""

from __future__ import annotations

import os
from enum import Enum
from typing import Final

from PySide6.QtCore import QByteArray, QObject, QSettings, Signal

MAX_RECENT_FILES: Final = 12

_RECENT: Final = "recent_files"
_SCHEME: Final = "colour_scheme"
_FOLDER: Final = "last_folder"


class ColourScheme(Enum):
    """Which colours the user wants."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class Settings(QObject):
    """The user's settings, typed.

    Signals:
        recent_files_changed: The list of recent files is another.
    """

    recent_files_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = QSettings("qcowgui", "qcowgui")

    @property
    def recent_files(self) -> list[str]:
        """Absolute paths, the latest first; some may be gone by now."""
        value = self._store.value(_RECENT)
        # A list of one comes back from an INI file as a string.
        items = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        return [item for item in items if isinstance(item, str) and item][:MAX_RECENT_FILES]

    def add_recent_file(self, path: str | os.PathLike[str]) -> None:
        """Put `path` at the front of the recent files."""
        absolute = os.path.abspath(path)
        others = [item for item in self.recent_files if item != absolute]
        self._set_recent([absolute, *others][:MAX_RECENT_FILES])

    def remove_recent_file(self, path: str) -> None:
        """Forget one recent file."""
        self._set_recent([item for item in self.recent_files if item != path])

    def clear_recent_files(self) -> None:
        """Forget all recent files."""
        self._set_recent([])

    @property
    def colour_scheme(self) -> ColourScheme:
        """The colours the user chose; the system's by default."""
        value = self._store.value(_SCHEME)
        try:
            return ColourScheme(value)
        except ValueError:
            return ColourScheme.SYSTEM

    @colour_scheme.setter
    def colour_scheme(self, scheme: ColourScheme) -> None:
        self._store.setValue(_SCHEME, scheme.value)

    @property
    def last_folder(self) -> str:
        """Where the last file was chosen, or an empty string."""
        value = self._store.value(_FOLDER)
        return value if isinstance(value, str) else ""

    @last_folder.setter
    def last_folder(self, folder: str) -> None:
        self._store.setValue(_FOLDER, folder)

    def layout(self, name: str) -> QByteArray | None:
        """A saved layout, or None."""
        value = self._store.value(f"layout/{name}")
        return value if isinstance(value, QByteArray) and not value.isEmpty() else None

    def set_layout(self, name: str, state: QByteArray) -> None:
        """Save a layout."""
        self._store.setValue(f"layout/{name}", state)

    def forget_layout(self) -> None:
        """Forget every saved layout."""
        self._store.remove("layout")

    def _set_recent(self, paths: list[str]) -> None:
        self._store.setValue(_RECENT, paths)
        self.recent_files_changed.emit()
