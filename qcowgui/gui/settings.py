"""What the window remembers. Whatever the settings file holds, reading gives something usable."""

from __future__ import annotations

import os
from enum import Enum
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QByteArray, QCoreApplication, QObject, QSettings, Signal

MAX_RECENT_FILES: Final = 12
MAX_THREADS: Final = 256

_RECENT: Final = "recent_files"
_SCHEME: Final = "colour_scheme"
_FOLDER: Final = "last_folder"
_TARGET_FOLDER: Final = "convert/target_folder"
_PRESET: Final = "convert/preset"
_CHOSEN: Final = "chosen"
"""The group of what somebody chose in the dialog; the rest is what the window noticed by itself."""
_CHOSEN_THREADS: Final = f"{_CHOSEN}/threads"
_CHOSEN_VERIFY: Final = f"{_CHOSEN}/verify"
_CHOSEN_PRESET: Final = f"{_CHOSEN}/preset"
_CHOSEN_TARGET_FOLDER: Final = f"{_CHOSEN}/target_folder"
_CHOSEN_IMAGE_FOLDER: Final = f"{_CHOSEN}/image_folder"
_CHOSEN_PALETTE: Final = f"{_CHOSEN}/palette"
_CHOSEN_LANGUAGE: Final = f"{_CHOSEN}/language"

translate = QCoreApplication.translate


class ColourScheme(Enum):
    """Which colours the user wants."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class MapPalette(Enum):
    """How the states of clusters are coloured."""

    FULL = "full"
    PROBLEMS = "problems"


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

    What somebody chose wins over what was used last, and holds until it is chosen otherwise.

    Signals:
        recent_files_changed: The list of recent files is another.
        chosen: Something was chosen, or all of it was reset.
    """

    recent_files_changed = Signal()
    chosen = Signal()

    def __init__(self, parent: QObject | None = None, *, remember: bool = True) -> None:
        super().__init__(parent)
        self._store: QSettings | _Forgetful = (
            QSettings("qcowgui", "qcowgui") if remember else _Forgetful()
        )

    @property
    def problem(self) -> str:
        """A sentence about a settings file that can't be read or written; empty when it can."""
        store = self._store
        if isinstance(store, _Forgetful):
            return ""
        if store.status() is QSettings.Status.FormatError:
            text = translate(
                "Settings",
                "The settings in {path} are damaged: what can’t be read of them has its default.",
            )
        elif store.status() is QSettings.Status.AccessError or not store.isWritable():
            text = translate("Settings", "The settings can’t be kept: {path} can’t be written.")
        else:
            return ""
        return text.format(path=store.fileName())

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
        """Where to look for images: the chosen folder, else that of the last one, or nothing."""
        return self._text(_CHOSEN_IMAGE_FOLDER) or self._text(_FOLDER)

    @last_folder.setter
    def last_folder(self, folder: str) -> None:
        self._store.setValue(_FOLDER, folder)

    @property
    def target_folder(self) -> str:
        """Where results go: the chosen folder, else the last one; nothing: beside their sources."""
        return self._text(_CHOSEN_TARGET_FOLDER) or self._text(_TARGET_FOLDER)

    @target_folder.setter
    def target_folder(self, folder: str) -> None:
        self._store.setValue(_TARGET_FOLDER, folder)

    @property
    def preset(self) -> str:
        """The key of the chosen preset, else of the last one, or nothing; it may be gone by now."""
        return self._text(_CHOSEN_PRESET) or self._text(_PRESET)

    @preset.setter
    def preset(self, key: str) -> None:
        self._store.setValue(_PRESET, key)

    # ---------------------------------------------------------------- what is chosen

    @property
    def threads(self) -> int:
        """How many threads a conversion gets that asks for no number; 0: one for each core."""
        return self._number(_CHOSEN_THREADS, 0, MAX_THREADS)

    @threads.setter
    def threads(self, count: int) -> None:
        self._choose(_CHOSEN_THREADS, count)

    @property
    def verify(self) -> bool:
        """Whether a conversion reads its result again and compares it, unless told otherwise."""
        return self._number(_CHOSEN_VERIFY, 1, 1) == 1

    @verify.setter
    def verify(self, wanted: bool) -> None:
        self._choose(_CHOSEN_VERIFY, int(wanted))

    @property
    def conversion_defaults(self) -> dict[str, Any]:
        """The fields of ConvertOptions that are chosen for every new conversion."""
        return {"threads": self.threads or None, "verify": self.verify}

    @property
    def chosen_preset(self) -> str:
        """The key of the preset that every form begins with; nothing: the one used last."""
        return self._text(_CHOSEN_PRESET)

    @chosen_preset.setter
    def chosen_preset(self, key: str) -> None:
        self._choose(_CHOSEN_PRESET, key)

    @property
    def chosen_target_folder(self) -> str:
        """Where results always go; nothing: as the last time."""
        return self._text(_CHOSEN_TARGET_FOLDER)

    @chosen_target_folder.setter
    def chosen_target_folder(self, folder: str) -> None:
        self._choose(_CHOSEN_TARGET_FOLDER, folder)

    @property
    def chosen_image_folder(self) -> str:
        """Where images are always looked for; nothing: where the last one was."""
        return self._text(_CHOSEN_IMAGE_FOLDER)

    @chosen_image_folder.setter
    def chosen_image_folder(self, folder: str) -> None:
        self._choose(_CHOSEN_IMAGE_FOLDER, folder)

    @property
    def map_palette(self) -> MapPalette:
        """How the states of clusters are coloured."""
        try:
            return MapPalette(self._store.value(_CHOSEN_PALETTE))
        except ValueError:
            return MapPalette.FULL

    @map_palette.setter
    def map_palette(self, palette: MapPalette) -> None:
        self._choose(_CHOSEN_PALETTE, palette.value)

    @property
    def language(self) -> str:
        """The code of the window's language, as "de"; nothing: the system's."""
        return self._text(_CHOSEN_LANGUAGE)

    @language.setter
    def language(self, code: str) -> None:
        self._choose(_CHOSEN_LANGUAGE, code)

    def reset(self) -> None:
        """Choose nothing any more. Recent files and layouts stay, and what was used last."""
        self._store.remove(_CHOSEN)
        self._store.remove(_SCHEME)
        self.chosen.emit()

    # ---------------------------------------------------------------- the window's arrangement

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

    def _choose(self, key: str, value: object) -> None:
        if value != self._store.value(key):
            self._store.setValue(key, value)
            self.chosen.emit()

    def _text(self, key: str) -> str:
        value = self._store.value(key)
        return value if isinstance(value, str) else ""

    def _number(self, key: str, default: int, highest: int) -> int:
        """A number from 0 on; numbers come back from an INI file as text."""
        value = self._store.value(key)
        text = str(value) if isinstance(value, (int, str)) else ""
        fits = text.isascii() and text.isdigit() and len(text) < 6
        return int(text) if fits and int(text) <= highest else default

    def _set_recent(self, paths: list[str]) -> None:
        self._store.setValue(_RECENT, paths)
        self.recent_files_changed.emit()
