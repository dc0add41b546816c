"""Many sources at once: which files are images, how results are called, what is done already."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from qcowgui.convert.done_record import made_from
from qcowgui.convert.naming import TargetNames, name_key
from qcowgui.convert.part_file import debris_of, is_part_name, remove_debris
from qcowgui.errors import SourceError
from qcowgui.image.identify import FileKind, identify
from qcowgui.image.source import FileSource, Identity

if TYPE_CHECKING:
    from qcowgui.convert.options import ConvertOptions

__all__ = [
    "BatchPlan",
    "Found",
    "Refusal",
    "debris_of",
    "find_sources",
    "plan_batch",
    "remove_debris",
]

MAX_ENTRIES: Final = 200_000
"""Entries of folders that are looked at in one search: more is a mistake, such as naming /."""
MAX_DEPTH: Final = 64
_QCOW2_SUFFIXES: Final = (".qcow2", ".qcow")
_RAW_SUFFIXES: Final = (".raw", ".img", ".iso", ".bin", ".dd", ".disk")
"""In a folder, content that tells nothing is taken for a raw disk only under such a name."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A file or a folder that is not converted.

    Attributes:
        path: Which one.
        reason: Why, as the end of a sentence about it: "is a VMDK image".
        hint: What the user can do next, or an empty string.
        is_failure: Whether something that was asked for is missing: false for what only lay beside
            the images of a folder.
    """

    path: Path
    reason: str
    hint: str = ""
    is_failure: bool = True

    @property
    def sentence(self) -> str:
        """What and why."""
        return f"{self.path} {self.reason}"


@dataclass(frozen=True, slots=True)
class Found:
    """What `find_sources` found.

    Attributes:
        sources: Images, each file once, in the order of the paths and by name within a folder.
        refusals: What is none, or could not be looked at.
    """

    sources: tuple[Path, ...]
    refusals: tuple[Refusal, ...]


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """Conversions with a target each.

    Attributes:
        conversions: In the order of the sources.
        refusals: Sources that stand where the result of another one belongs.
    """

    conversions: tuple[ConvertOptions, ...]
    refusals: tuple[Refusal, ...]


def find_sources(
    paths: Sequence[Path], *, source_format: str | None = None, leave_out: Path | None = None
) -> Found:
    """The images among files and in folders, by their content.

    A folder is searched with all below it; links to folders in it are not followed, and what is
    hidden is left out. A file that is named itself is taken when it can be read as a disk at all.

    Args:
        paths: Files and folders.
        source_format: What the files are said to be, so that their content need not tell.
        leave_out: A folder that is not searched when it lies in another one: that of the results.
    """
    search = _Search(source_format, leave_out)
    for path in paths:
        search.add(path)
    return Found(tuple(search.sources), tuple(search.refusals))


class _Search:
    """One run of `find_sources`."""

    def __init__(self, source_format: str | None, leave_out: Path | None) -> None:
        self.sources: list[Path] = []
        self.refusals: list[Refusal] = []
        self._source_format = source_format
        self._seen: dict[Identity, Path] = {}
        self._left_out = _identity(leave_out) if leave_out is not None else None
        self._entries = 0

    def add(self, path: Path) -> None:
        """Add what the user named."""
        try:
            status = path.stat()
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            reason = error.strerror if isinstance(error, OSError) else error
            self._refuse(path, f"can't be opened: {reason}")
            return
        if not stat.S_ISDIR(status.st_mode):
            self._add_file(path, status, is_named=True)
            return
        before = len(self.sources)
        known = len(self.refusals)
        self._add_folder(path, status)
        if len(self.sources) == before and not any(
            refusal.is_failure for refusal in self.refusals[known:]
        ):
            self._refuse(path, "holds no image that can be converted")

    def _add_folder(self, top: Path, status: os.stat_result) -> None:
        """Search a folder, without recursion: the depth is the disk's choice."""
        waiting = [(top, status, 0)]
        while waiting:
            folder, status, depth = waiting.pop()
            if not self._is_new(folder, status, depth):
                continue
            if depth > MAX_DEPTH:
                self._refuse(folder, f"lies more than {MAX_DEPTH} folders deep, so it was left out")
                continue
            try:
                with os.scandir(folder) as entries:
                    listed = self._take(entries, folder)
            except OSError as error:
                self._refuse(folder, f"can't be searched: {error.strerror}")
                continue
            below: list[tuple[Path, os.stat_result, int]] = []
            for entry in listed:
                self._add_entry(folder / entry.name, entry, depth, below)
            waiting.extend(reversed(below))

    def _take(self, entries: Iterator[os.DirEntry[str]], folder: Path) -> list[os.DirEntry[str]]:
        """The entries of a folder by name; not more than are left of those to look at."""
        taken = []
        for entry in entries:
            if self._entries == MAX_ENTRIES:
                self._refuse(
                    folder,
                    f"is not searched to its end: {MAX_ENTRIES:,} entries have been looked at",
                    "name the folders with the images one by one",
                )
                break
            self._entries += 1
            taken.append(entry)
        return sorted(taken, key=lambda entry: entry.name)

    def _add_entry(
        self,
        path: Path,
        entry: os.DirEntry[str],
        depth: int,
        below: list[tuple[Path, os.stat_result, int]],
    ) -> None:
        """Add what a folder holds; folders go to `below`."""
        if is_part_name(entry.name):
            self._leave(path, "is the temporary file of a conversion")
            return
        if entry.name.startswith("."):
            self._leave(path, "is hidden", "name it itself to convert it")
            return
        try:
            status = path.stat()
        except OSError as error:
            self._leave(path, f"can't be opened: {error.strerror}")
            return
        if stat.S_ISREG(status.st_mode):
            self._add_file(path, status, is_named=False)
        elif not stat.S_ISDIR(status.st_mode):
            self._leave(path, "is neither a file nor a folder")
        elif entry.is_symlink():
            self._leave(path, "is a link to a folder", "name it itself to have it searched")
        else:
            below.append((path, status, depth + 1))

    def _add_file(self, path: Path, status: os.stat_result, *, is_named: bool) -> None:
        """Add a file if it is an image."""
        identity = status.st_dev, status.st_ino
        if identity in self._seen:
            if name_key(self._seen[identity]) != name_key(path):
                self._leave(path, f"is the same file as {self._seen[identity]}")
            return
        if is_named and is_part_name(path.name):
            self._refuse(path, "is the temporary file of a conversion")
            return
        try:
            refusal = self._judge(path, is_named=is_named)
        except SourceError as error:
            refusal = Refusal(path, f"can't be read: {error.message}", error.hint)
        if refusal is not None:
            self.refusals.append(refusal)
            return
        self._seen[identity] = path
        self.sources.append(path)

    def _judge(self, path: Path, *, is_named: bool) -> Refusal | None:
        """Why a file is no source, or None."""
        with FileSource(path) as source:
            if self._source_format is not None and is_named:
                return None
            found = identify(source, name=os.fspath(path))
        if found.kind is FileKind.QCOW2:
            return None
        if not found.kind.reads_as_raw:
            # Under such a name an image was expected.
            promised = path.name.lower().endswith(_QCOW2_SUFFIXES)
            is_failure = is_named or promised
            return Refusal(path, f"is {found.title}", found.hint, is_failure=is_failure)
        tells = found.kind in (FileKind.RAW, FileKind.ISO)
        if is_named or tells or path.name.lower().endswith(_RAW_SUFFIXES):
            return None
        return Refusal(
            path,
            f"is {found.title}",
            "name it itself to convert it as a raw disk",
            is_failure=path.name.lower().endswith(_QCOW2_SUFFIXES),
        )

    def _is_new(self, folder: Path, status: os.stat_result, depth: int) -> bool:
        """Whether a folder is not that of the results, and was not searched yet (a bind mount)."""
        identity = status.st_dev, status.st_ino
        if identity in self._seen:
            return False
        if depth and identity == self._left_out:
            self._leave(folder, "is the folder of the results")
            return False
        self._seen[identity] = folder
        return True

    def _leave(self, path: Path, reason: str, hint: str = "") -> None:
        self.refusals.append(Refusal(path, reason, hint, is_failure=False))

    def _refuse(self, path: Path, reason: str, hint: str = "") -> None:
        self.refusals.append(Refusal(path, reason, hint))


def _identity(path: Path) -> Identity | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def plan_batch(wanted: Sequence[ConvertOptions], folder: Path) -> BatchPlan:
    """Give each conversion a target of its own in `folder`.

    The names depend on the sources alone, never on what exists: the same batch once more has the
    same targets, so that what is done can be found and skipped. A result of this batch is no source
    of it: not what a note says was made from another source, and, as after an interrupted run,
    nothing that stands where a result belongs.

    Args:
        wanted: The conversions, each with its source; their targets don't matter.
        folder: Where all results go.
    """
    sources = {name_key(options.source): options.source for options in wanted}
    results = _known_results(sources, folder)
    for options in wanted:
        # The name it has when it is alone, whatever else there is.
        place = name_key(_target(TargetNames(), options, folder))
        if place in sources:
            results.setdefault(place, _place_of(sources[place], options.source))
    while more := _results_among(wanted, folder, sources, results):
        results |= more
    blocked = sources.keys() - results.keys()
    names = TargetNames()
    conversions, refusals = [], []
    for options in wanted:
        refusal = results.get(name_key(options.source))
        if refusal is not None:
            refusals.append(refusal)
            continue
        target = _target(names, options, folder, blocked=blocked)
        # What was named as a source is never replaced, not even where replacing is allowed.
        overwrite = options.overwrite and name_key(target) not in sources
        conversions.append(replace(options, target=target, overwrite=overwrite))
    return BatchPlan(tuple(conversions), tuple(refusals))


def _place_of(path: Path, origin: Path) -> Refusal:
    return Refusal(
        path,
        f"is where the result of {origin} belongs, so it is no source of this batch",
        "choose another folder for the results if it is an image of its own",
        is_failure=False,
    )


def _known_results(sources: Mapping[str, Path], folder: Path) -> dict[str, Refusal]:
    """By key, the sources in `folder` of which a note says that they were made from others."""
    real = {os.path.realpath(path): path for path in sources.values()}
    in_folder = name_key(folder)
    known = {}
    for key, path in sources.items():
        made = made_from(path) if name_key(path.parent) == in_folder else None
        origin = real.get(os.fspath(made)) if made is not None else None
        if origin is not None and origin != path:
            reason = f"was made from {origin}, which is a source of this batch itself"
            known[key] = Refusal(path, reason, "convert it alone", is_failure=False)
    return known


def _results_among(
    wanted: Sequence[ConvertOptions],
    folder: Path,
    sources: Mapping[str, Path],
    results: Mapping[str, Refusal],
) -> dict[str, Refusal]:
    """The sources that stand where results go when nothing but other results has the names.

    Args:
        wanted: The conversions.
        folder: Where all results go.
        sources: All sources by their keys.
        results: Those that are known as results already, and so have none of their own.
    """
    names = TargetNames()
    found: dict[str, Refusal] = {}
    for options in wanted:
        if name_key(options.source) not in results:
            key = name_key(_target(names, options, folder))
            if key in sources and key not in results:
                found[key] = _place_of(sources[key], options.source)
    return found


def _target(
    names: TargetNames,
    options: ConvertOptions,
    folder: Path,
    *,
    blocked: Collection[str] = (),
) -> Path:
    """A name for the result that none of the `blocked` keys belongs to."""
    return names.pick(
        options.source,
        options.target_format,
        options.compression,
        folder=folder,
        is_free=lambda path: name_key(path) not in blocked,
    )
