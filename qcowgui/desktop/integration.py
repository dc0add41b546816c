"""Putting the program into a user's menu and file manager, and taking it out again.

Twice is as once; whatever fails in between, a second run completes or removes it: the record is
written before the first file, and a file is moved into place whole.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from qcowgui.convert.output import OutputFile
from qcowgui.desktop.places import MIME_TYPE, DesktopFile, data_home
from qcowgui.desktop.record import Record, digest, record_path
from qcowgui.errors import QcowError

_TOOL_SECONDS: Final = 30
_MAX_OWN_BYTES: Final = 1 << 20
"""No file of ours is longer: what is, is another's, and is not read to the end."""


@dataclass(slots=True)
class Outcome:
    """What was done.

    Attributes:
        written: Files that were put in place, or replaced.
        unchanged: How many were there as they are wanted.
        removed: Files that were taken away.
        kept: Files that were ours, and which somebody changed since: left alone.
        problems: What does not work yet, and what to do about it: a sentence each.
    """

    written: list[Path] = field(default_factory=list)
    unchanged: int = 0
    removed: list[Path] = field(default_factory=list)
    kept: list[Path] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Whether any file was written or removed."""
        return bool(self.written or self.removed)


def integrate(files: Sequence[DesktopFile]) -> Outcome:
    """Have exactly `files` in the user's data folder, and tell the desktop.

    Files of an earlier run that are no longer wanted are removed.

    Raises:
        QcowError: When a file is in the way, when the record can't be read, or the system refuses;
            in the first two cases nothing was changed.
    """
    record = Record.load()
    wanted = {_data_home() / file.place: file.content for file in files}
    outcome = Outcome()
    missing = [path for path, content in wanted.items() if not _is_there(path, content, record)]
    outcome.unchanged = len(wanted) - len(missing)
    # A state folder of before is not ours to remove, even when it is empty.
    folders = _new_folders([*missing, record_path()])
    superseded = [path for path in record.files if path not in wanted]
    if missing or superseded or not wanted.keys() <= record.files.keys():
        record.folders |= folders
        for path, content in wanted.items():
            record.files.setdefault(path, set()).add(digest(content))
        with _refusals_told():
            record.save()
            for path in missing:
                _write(path, wanted[path])
                outcome.written.append(path)
            _remove(superseded, record, outcome)
            record.files = {path: {digest(content)} for path, content in wanted.items()}
            record.save()
    _tell_desktop(outcome)
    return outcome


def remove() -> Outcome:
    """Take away what `integrate` put in place, and the folders that it made and that are empty.

    Raises:
        QcowError: When the record can't be read, or the system refuses.
    """
    record = Record.load()
    outcome = Outcome()
    with _refusals_told():
        _remove(list(record.files), record, outcome)
        record.files.clear()
        if outcome.removed:
            _tell_desktop(outcome)
        _drop_empty_cache(_data_home() / "applications" / "mimeinfo.cache", record)
        folders, record.folders = record.folders, set()
        record.save()
        for folder in sorted(folders, key=lambda path: len(path.parts), reverse=True):
            with contextlib.suppress(OSError):  # others use it by now
                folder.rmdir()
    return outcome


def _data_home() -> Path:
    try:
        return data_home()
    except RuntimeError as error:
        raise QcowError(
            "there is no home folder to integrate into", hint="set HOME and try again"
        ) from error


def _is_there(path: Path, content: bytes, record: Record) -> bool:
    """Whether `path` holds `content` already; False when it may be written.

    Raises:
        QcowError: When something is there that is not ours to replace.
    """
    found = _content(path)
    if found == content:
        return True
    replaceable = not os.path.lexists(path) if found is None else record.owns(path, found)
    if replaceable:
        return False
    raise QcowError(
        f"{path} is there, and qcowgui did not write it", hint="move it away and try again"
    )


def _content(path: Path) -> bytes | None:
    """What a regular file that may be ours holds; None for anything else, and for none."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _MAX_OWN_BYTES:
            return None
        return path.read_bytes()
    except OSError:
        return None


def _new_folders(paths: Iterable[Path]) -> set[Path]:
    """The folders that must be made for `paths`."""
    return {folder for path in paths for folder in path.parents if not os.path.lexists(folder)}


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with OutputFile(path, overwrite=True) as output:
        output.write_at(0, content)
        output.commit()


def _remove(paths: Iterable[Path], record: Record, outcome: Outcome) -> None:
    """Remove those of our files at `paths` that are still as we wrote them."""
    for path in paths:
        if not os.path.lexists(path):
            continue
        found = _content(path)
        if found is not None and record.owns(path, found):
            path.unlink()
            outcome.removed.append(path)
        else:
            outcome.kept.append(path)


def _tell_desktop(outcome: Outcome) -> None:
    """Bring the desktop's caches up to date; what keeps it from noticing is a problem."""
    home = _data_home()
    applications = home / "applications"
    if applications.is_dir() and not _run("update-desktop-database", "-q", str(applications)):
        outcome.problems.append(
            "update-desktop-database did not run, and file managers may not offer qcowgui: install "
            "it (on Debian: desktop-file-utils) and repeat this"
        )
    theme = home / "icons" / "hicolor"
    if (theme / "icon-theme.cache").is_file():
        _run("gtk-update-icon-cache", "-q", "-t", "-f", str(theme))
    elif outcome.changed and theme.is_dir():
        # Without a cache, file managers look at the folder again when its time has changed.
        with contextlib.suppress(OSError):
            os.utime(theme)


def default_application() -> str:
    """The desktop entry that qcow2 files open with; empty when that can't be told."""
    found = _run("xdg-mime", "query", "default", MIME_TYPE)
    return found.stdout.strip() if found else ""


def _run(*command: str) -> subprocess.CompletedProcess[str] | None:
    """Run one of the desktop's tools; None when it isn't there or fails."""
    program = shutil.which(command[0])
    if program is None:
        return None
    try:
        return subprocess.run(  # noqa: S603  names that stand here
            [program, *command[1:]],
            check=True,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=_TOOL_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return None


def _drop_empty_cache(cache: Path, record: Record) -> None:
    """Remove update-desktop-database's cache from a folder that we made and nobody else uses."""
    folder = cache.parent
    if folder not in record.folders or not folder.is_dir():
        return
    if {path.name for path in folder.iterdir()} == {cache.name}:
        cache.unlink()


@contextlib.contextmanager
def _refusals_told() -> Iterator[None]:
    """What the system refuses, as an error that says what to do."""
    try:
        yield
    except OSError as error:
        raise QcowError(
            f"{error.filename or 'a file'} can't be changed: {error.strerror or error}",
            hint="nothing else is lost: repeat this, or undo it by qcowgui integrate --remove",
        ) from error
