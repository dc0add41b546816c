"""The unfinished conversions on disk, so that they outlive their window, even one that was killed.

Each process has a file of its own, which it locks; what a process that is gone has left is taken
over. Whatever such a file holds, reading gives what is usable of it.
"""

from __future__ import annotations

import contextlib
import json
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, Literal

from PySide6.QtCore import QLockFile

from qcowgui.convert.losses import losses_path
from qcowgui.convert.options import ConvertOptions
from qcowgui.convert.output import OutputFile, refused
from qcowgui.convert.part_file import remove_debris
from qcowgui.engine.work import CancelToken
from qcowgui.errors import OptionsError, OutputError
from qcowgui.gui.consent import NOTHING_ALLOWED, Consent
from qcowgui.image.references import Place
from qcowgui.units import MIB

MAX_PROCESSES: Final = 16
"""So many windows keep their queues at the same time; those of more are forgotten."""

_VERSION: Final = 1
_MAX_BYTES: Final = 32 * MIB


@dataclass(frozen=True, slots=True)
class SavedJob:
    """What is kept of a conversion.

    Attributes:
        options: What was asked for.
        consent: Which referenced files a person has agreed to open for it, and where they are.
    """

    options: ConvertOptions
    consent: Consent = NOTHING_ALLOWED


class QueueStore:
    """A file with the unfinished conversions of this process.

    It waits for a disk: call it beside the window, one call at a time.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock: QLockFile | None = None
        self._path: Path | None = None

    def open(self, token: CancelToken | None = None) -> tuple[SavedJob, ...]:
        """Take a file, and what processes that are gone have left unfinished.

        What their conversions have left beside their targets is removed.

        Raises:
            Cancelled: When the token was set.
            OutputError: When there can be no such file.
        """
        saved: list[SavedJob] = []
        others: list[tuple[Path, QLockFile]] = []
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refused(self._folder, "can't be made", error.errno, error.strerror) from error
        for number in range(1, MAX_PROCESSES + 1):
            path = self._folder / f"queue-{number}.json"
            if self._path is not None and not path.exists():
                continue
            lock = _try_lock(path)
            if lock is None:
                continue
            remove_debris(path)
            saved += read_jobs(path)
            if self._path is None:
                self._path, self._lock = path, lock
            else:
                others.append((path, lock))
        saved = list(dict.fromkeys(saved))
        if token is not None:
            token.raise_if_cancelled()
        targets = [job.options.target for job in saved]
        remove_debris(*targets, *map(losses_path, targets))
        # What can't be taken over, on a full disk, stays where it is; the next `write` tells why.
        with contextlib.suppress(OutputError):
            self.write(saved)
            for path, _ in others:
                with contextlib.suppress(OSError):
                    path.unlink()
        for _, lock in others:
            lock.unlock()
        return tuple(saved)

    def write(self, jobs: Sequence[SavedJob]) -> None:
        """Keep `jobs` in place of what was kept; whole or not at all.

        Raises:
            OutputError: When the file can't be written.
        """
        if self._path is None:
            return
        text = json.dumps({"version": _VERSION, "jobs": [_as_json(job) for job in jobs]}, indent=1)
        with OutputFile(self._path, overwrite=True) as output:
            output.write_at(0, text.encode("ascii"))  # json.dumps escapes all else
            output.commit()

    def close(self) -> None:
        """Leave the file to the next process."""
        if self._lock is not None:
            self._lock.unlock()
        self._lock = self._path = None


def read_jobs(path: Path) -> list[SavedJob]:
    """What a file holds; nothing when there is none, or when it holds something else."""
    try:
        with path.open("rb") as file:
            content = json.loads(file.read(_MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return []
    jobs = content.get("jobs") if isinstance(content, dict) else None
    if not isinstance(jobs, list) or content.get("version") != _VERSION:
        return []
    return [job for entry in jobs if (job := _job_of(entry)) is not None]


def _try_lock(path: Path) -> QLockFile | None:
    lock = QLockFile(f"{path}.lock")
    lock.setStaleLockTime(0)  # only a process that is gone loses its lock
    return lock if lock.tryLock(0) else None


def _as_json(job: SavedJob) -> dict[str, Any]:
    options = {
        field.name: str(value.absolute()) if isinstance(value, Path) else value
        for field in fields(job.options)
        if (value := getattr(job.options, field.name)) != field.default
    }
    consent = job.consent
    return {
        "options": options,
        "allowed": [str(path.absolute()) for path in consent.allowed],
        "located": [
            {"image": str(image.absolute()), "name": name, "path": str(path.absolute())}
            for (image, name), path in consent.located.items()
        ],
    }


def _job_of(entry: object) -> SavedJob | None:
    """An entry as a job; None when it is none, or when its options contradict each other."""
    if not isinstance(entry, dict) or not isinstance(entry.get("options"), dict):
        return None
    given: Mapping[str, object] = entry["options"]
    kinds = typing.get_type_hints(ConvertOptions)
    values: dict[str, Any] = {}
    for field in fields(ConvertOptions):
        if field.name not in given:
            continue
        value, kind = given[field.name], kinds[field.name]
        if kind is Path and _is_path(value):
            values[field.name] = Path(str(value))
        elif _fits(value, kind):
            values[field.name] = value
        else:
            return None
    consent = _consent_of(entry)
    if consent is None:
        return None
    try:
        options = ConvertOptions(**values)
    except (OptionsError, TypeError):  # TypeError: without a source or a target
        return None
    if not options.source.is_absolute() or not options.target.is_absolute():
        return None
    return SavedJob(options, consent)


def _consent_of(entry: Mapping[str, object]) -> Consent | None:
    """What an entry says was agreed to; None when it says something else."""
    allowed, located = entry.get("allowed", []), entry.get("located", [])
    if not isinstance(allowed, list) or not isinstance(located, list):
        return None
    places: dict[Place, Path] = {}
    for item in located:
        if not isinstance(item, dict):
            return None
        image, name, path = item.get("image"), item.get("name"), item.get("path")
        if not (_is_path(image) and isinstance(name, str) and _is_path(path)):
            return None
        places[Path(str(image)), name] = Path(str(path))
    return Consent(tuple(Path(name) for name in allowed if _is_path(name)), places)


def _is_path(value: object) -> bool:
    return isinstance(value, str) and bool(value) and "\0" not in value


def _fits(value: object, kind: object) -> bool:
    """Whether a JSON value is one of a type that the options have: plain, a choice, or a union."""
    origin = typing.get_origin(kind)
    if origin is Literal:
        return value in typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return any(_fits(value, part) for part in typing.get_args(kind))
    if kind is int and isinstance(value, bool):
        return False
    return isinstance(kind, type) and isinstance(value, kind)
