"""Names for targets: what a result is called, so that it gets in no other file's way."""

from __future__ import annotations

import itertools
import os
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from qcowgui.convert.options import Compression, TargetFormat

SUFFIXES: Final = {"raw": ".raw", "qcow2": ".qcow2"}
"""Target format → how its files' names end."""
_SOURCE_SUFFIXES: Final = (".qcow2", ".qcow", ".raw", ".img", ".iso")
_MAX_NAME_BYTES: Final = 255


def suggest_target(
    source: Path,
    target_format: TargetFormat,
    compression: Compression,
    *,
    folder: Path | None = None,
    taken: Collection[Path] = (),
) -> Path:
    """A name that says what the result will be, and that no file has yet.

    Args:
        source: The image that will be converted.
        target_format: What it becomes.
        compression: Of a qcow2 target.
        folder: Where the result will be; None: beside the source.
        taken: Targets of other conversions, whose files need not exist yet.
    """
    names = TargetNames(taken)
    return names.pick(
        source,
        target_format,
        compression,
        folder=folder,
        is_free=lambda path: not os.path.lexists(path),
    )


class TargetNames:
    """Gives each source of a batch a target of its own.

    Two names are the same when any file system would take them for one: upper and lower case and
    the ways to write an accent do not tell them apart.
    """

    def __init__(self, taken: Iterable[Path] = ()) -> None:
        """Names, of which those in `taken` are not given any more."""
        self._taken = {name_key(path) for path in taken}
        self._next_numbers: dict[str, int] = {}

    def pick(
        self,
        source: Path,
        target_format: TargetFormat,
        compression: Compression,
        *,
        folder: Path | None = None,
        is_free: Callable[[Path], bool] = lambda _: True,
    ) -> Path:
        """A target for `source`, which is taken from now on and never the source itself.

        Args:
            source: The image that will be converted.
            target_format: What it becomes.
            compression: Of a qcow2 target.
            folder: Where the result will be; None: beside the source.
            is_free: Asked of each name that is not taken.
        """
        own = name_key(source)
        for name in self._names(source, target_format, compression, folder):
            candidate = source.with_name(name) if folder is None else folder / name
            key = name_key(candidate)
            if key != own and key not in self._taken and is_free(candidate):
                self._taken.add(key)
                return candidate
        raise AssertionError("there is always one more number")

    def _names(
        self,
        source: Path,
        target_format: TargetFormat,
        compression: Compression,
        folder: Path | None,
    ) -> Iterator[str]:
        """Names, the best first: the plain one, one with the source's folder, numbered ones."""
        stem, suffix = _stem(source.name), SUFFIXES[target_format]
        if target_format == "qcow2" and compression != "none":
            suffix = f"-{compression}{suffix}"
        plain = _fitting(stem, suffix)
        yield plain
        key = name_key((folder or source.parent) / plain)
        # Which of two sources of one name it is, their folders tell better than a number.
        origin = source.absolute().parent.name
        if key in self._taken and folder is not None and origin:
            yield _fitting(f"{stem}-{origin}", suffix)
        for number in itertools.count(self._next_numbers.get(key, 2)):
            self._next_numbers[key] = number
            yield _fitting(stem, f"-{number}{suffix}")


def name_key(path: Path) -> str:
    """A text that two paths have in common when a file system may take them for one file's."""
    return unicodedata.normalize("NFC", os.path.normpath(path.absolute())).casefold()


def _stem(name: str) -> str:
    """The name without the ending that says what the source was."""
    for known in _SOURCE_SUFFIXES:
        if name.lower().endswith(known) and len(name) > len(known):
            return name[: -len(known)]
    return name


def _fitting(stem: str, suffix: str) -> str:
    """Both together, with as much of the stem as a file's name has room for."""
    while len(os.fsencode(stem + suffix)) > _MAX_NAME_BYTES:
        stem = stem[:-1]
    return stem + suffix
