"""What the conversion form says, as values: suggestions and options, without a widget."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PySide6.QtCore import QCoreApplication

from qcowgui.codec.registry import LEVELS, CompressionType
from qcowgui.convert.options import Compression, ConvertOptions, TargetFormat

translate = QCoreApplication.translate

ZLIB_4K_HIGHEST: Final = 9
"""The highest level with zlib's small window, which another library writes."""

_MAX_TRIES: Final = 1000


@dataclass(frozen=True, slots=True)
class LevelRange:
    """The compression levels that can be chosen, both ends included, and the default one."""

    lowest: int
    highest: int
    default: int


def level_range(compression: Compression, *, small_window: bool) -> LevelRange | None:
    """The levels of a compression type, or None when there is nothing to choose."""
    if compression == "none":
        return None
    kind = CompressionType.ZSTD if compression == "zstd" else CompressionType.ZLIB
    levels = LEVELS[kind]
    if kind is CompressionType.ZLIB and small_window:
        return LevelRange(levels.lowest, ZLIB_4K_HIGHEST, 6)
    return LevelRange(levels.lowest, levels.highest, levels.default)


def suggest_target(source: Path, target_format: TargetFormat, compression: Compression) -> Path:
    """A name beside `source` that says what it will be, and that no file has yet."""
    suffix = ".raw" if target_format == "raw" else ".qcow2"
    stem = source.name
    for known in (".qcow2", ".qcow", ".raw", ".img", ".iso"):
        if stem.lower().endswith(known) and len(stem) > len(known):
            stem = stem[: -len(known)]
            break
    if target_format == "qcow2" and compression != "none":
        stem += f"-{compression}"
    for number in range(1, _MAX_TRIES):
        name = f"{stem}{suffix}" if number == 1 else f"{stem}-{number}{suffix}"
        candidate = source.with_name(name)
        if candidate != source and not os.path.lexists(candidate):
            return candidate
    return source.with_name(f"{stem}-{os.getpid()}{suffix}")


def notes(options: ConvertOptions) -> list[str]:
    """What a user should know of a target with these options: who can read it."""
    found = []
    if options.target_format == "qcow2":
        if options.compression == "zstd":
            found.append(translate("convert", "zstd needs QEMU ≥ 5.1; 7-Zip can't read it."))
        if options.extended_l2:
            found.append(translate("convert", "Extended L2 entries need QEMU ≥ 5.2."))
    return found
