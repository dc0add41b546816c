"""What the window remembers. Whatever the settings file holds, reading gives something usable."""

from __future__ import annotations

import os
from enum import Enum
from pathlib import Path
from typing import Final

from PySide6.QtCore import QByteArray, QObject, QSettings, Signal

MAX_RECENT_FILES: Final = 12

_RECENT: Final = "recent_files"
_SCHEME: Final = "colour_scheme"
_FOLDER: Final = "last_folder"
_TARGET_FOLDER: Final = "convert/target_folder"
_PRESET: Final = "convert/preset"


class ColourScheme(Enum):
    """Which colours the user wants."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class _Forgetful:
    """The part of QSettings that is used here, in memory."""

    def __init__(self) -> None:
        self._values: dict[str, object] = {}

    def value(self, key: str) -> object:
        """The value of `key`, or None."""
        return self._values.get(key)

    def setValue(self, key: str, value: object) -> None:
        """Keep `value`."""
        self._values[key] = value

    def remove(self, group: str) -> None:
        """Forget `group` and what is in it."""
        for key in [key for key in self._values if key.split("/")[0] == group]:
            del self._values[key]


class Settings(QObject):
    """The user's settings, typed; or, with `remember` off, settings that end with this object.

    Signals:
        recent_files_changed: The list of recent files is another.
    """

    recent_files_changed = Signal()

    def __init__(self, parent: QObject | None = None, *, remember: bool = True) -> None:
        super().__init__(parent)
        self._store: QSettings | _Forgetful = (
            QSettings("qcowgui", "qcowgui") if remember else _Forgetful()
        )

    @property
    def recent_files(self) -> list[str]:
        """Absolute paths, the latest first; some may be gone by now."""
        value = self._store.value(_RECENT)
        # A list of one comes back from an INI file as a string.
        items = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        return [item for item in items if isinstance(item, str) and item][:MAX_RECENT_FILES]

    def add_recent_file(self, path: str | os.PathLike[str]) -> None:
        """Put `path` at the front of the recent files."""
        absolute = str(Path(path).absolute())
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

    @property
    def target_folder(self) -> str:
        """Where results of conversions go; an empty string: beside their sources."""
        value = self._store.value(_TARGET_FOLDER)
        return value if isinstance(value, str) else ""

    @target_folder.setter
    def target_folder(self, folder: str) -> None:
        self._store.setValue(_TARGET_FOLDER, folder)

    @property
    def preset(self) -> str:
        """The key of the preset that was used last, or an empty string; it may be gone by now."""
        value = self._store.value(_PRESET)
        return value if isinstance(value, str) else ""

    @preset.setter
    def preset(self, key: str) -> None:
        self._store.setValue(_PRESET, key)

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
