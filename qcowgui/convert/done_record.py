"""Notes in the user's state folder of which results are done.

A note says that one target was made and verified from one state of one source with certain options.
It holds names, sizes, times and inodes, no content. Where there is none (another machine, another
user, a power failure in the wrong moment) `target_judge` compares contents.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import sys
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from qcowgui.convert.kept_backing import open_backing
from qcowgui.convert.losses import losses_path
from qcowgui.convert.output import OutputFile
from qcowgui.convert.part_file import remove_all_debris
from qcowgui.convert.result_comparison import opened_source
from qcowgui.errors import QcowError
from qcowgui.image.chain import OpenedImage
from qcowgui.image.references import DENY, Gate, data_file_reference, locate
from qcowgui.units import format_count

if TYPE_CHECKING:
    from qcowgui.convert.options import ConvertOptions
    from qcowgui.image.layer import LostRange

_SCHEMA: Final = 2
_MAX_NOTE_BYTES: Final = 1 << 20
_MAX_NOTES: Final = 20_000
_NOT_COMPARED: Final = frozenset(
    {"source", "target", "threads", "verify", "overwrite", "snapshots_kept"}
)
"""Options that don't show in the result, or are noted in another way."""
_UNDETECTABLE_NAMES: Final = {
    "level": "level",
    "window": "a window of",
    "sparse_bytes": "a sparse threshold of",
}
"""Options that a finished file does not tell, each as it reads before its value."""
_UNDETECTABLE: Final = frozenset(_UNDETECTABLE_NAMES)
_PREALLOCATION: Final = "preallocation"
_CHANGED: Final = "ctime_ns"

Facts = dict[str, Any]
"""A part of a note: what JSON can hold."""


@dataclass(frozen=True, slots=True)
class Done:
    """Why a target counts as done.

    Attributes:
        how: "record": a note says so. "content": it reads as the source does.
        lost_bytes: Of the source, could not be read and are zeros in the target.
        lost_ranges: Into how many ranges they fall.
    """

    how: Literal["record", "content"]
    lost_bytes: int = 0
    lost_ranges: int = 0

    def warning(self, target: Path) -> str:
        """What a person should know of the target although it is done; or an empty string."""
        if not self.lost_ranges:
            return ""
        ranges = format_count(self.lost_ranges, "range")
        return (
            f"{self.lost_bytes:,} bytes in {ranges} of the source could not be read and are zeros "
            f"in {target.name}; {losses_path(target).name} lists them"
        )


@dataclass(frozen=True, slots=True)
class Undone:
    """Why a target does not count as done.

    Attributes:
        reason: The end of a sentence about the file that is there; empty when it was not compared,
            because there is none or the source can't be read.
    """

    reason: str = ""


def source_facts(options: ConvertOptions, gate: Gate = DENY) -> list[Facts]:
    """What tells the present state of all files that a result stands on from others.

    Those are the source's, and those of the backing file that the result keeps. Empty when nothing
    tells them: one can't be opened, or is a block device, which has neither a length nor a time of
    change.
    """
    found = []
    try:
        with ExitStack() as files:
            images = [files.enter_context(opened_source(options, gate))]
            base = open_backing(options, gate)
            if base is not None:
                images.append(files.enter_context(base))
            for path in (path for image in images for path in _paths(image, gate)):
                facts = file_facts(path)
                if facts is None:
                    return []
                found.append(facts)
    except QcowError:
        return []
    return found


def note_intent(
    options: ConvertOptions, before: list[Facts], part: Path, losses: Sequence[LostRange]
) -> None:
    """Note that a finished and verified part file is about to become the target.

    Whatever ends the program from here to `note_done`, the target is recognised.

    Args:
        options: The conversion.
        before: `source_facts` from before it began.
        part: The file, which nobody writes any more.
        losses: What could not be read of the source; listed already.
    """
    facts = file_facts(part)
    if facts is None or not before:
        return
    if not options.overwrite and os.path.lexists(options.target):
        return  # somebody else's, whose note it would replace; the move will fail
    facts["path"] = os.path.realpath(options.target)
    facts.pop(_CHANGED, None)  # the move is a change
    _save(options.target, _note(options, facts, before, losses))


def note_done(
    options: ConvertOptions,
    before: list[Facts],
    gate: Gate = DENY,
    losses: Sequence[LostRange] = (),
    *,
    compared: bool = False,
) -> bool:
    """Note that the target was made and verified from the source; whether that was possible.

    Without the note nothing is lost but time: the next look compares contents. So what the
    system refuses is no error.

    Args:
        options: The conversion, whose result was found to be equal to its source.
        before: `source_facts` from before it began.
        gate: As for the conversion.
        losses: What could not be read of the source; listed already.
        compared: Whether the target was only found: how it was made is not known then.
    """
    target = file_facts(options.target)
    if target is None or not before or source_facts(options, gate) != before:
        return False
    return _save(options.target, _note(options, target, before, losses, compared=compared))


def made_from(path: Path) -> Path | None:
    """The source that a file was made from and has not changed since; None when no note says so."""
    facts, note = file_facts(path), _load(path)
    if facts is None or note is None or not _is_about(note, facts):
        return None
    sources = note.get("sources")
    first = sources[0] if isinstance(sources, list) and sources else None
    source = first.get("path") if isinstance(first, dict) else None
    return Path(source) if isinstance(source, str) else None


def state_folder() -> Path:
    """Where the system wants a program to keep its state for this user.

    Raises:
        RuntimeError: When the user has no home folder.
    """
    if sys.platform == "win32":
        named = os.environ.get("LOCALAPPDATA")
        base = Path(named) if named else Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_STATE_HOME", ""))
        if not base.is_absolute():
            base = Path.home() / ".local" / "state"
    return base / "qcowgui"


def _note_path(target: Path) -> Path:
    name = hashlib.sha256(os.fsencode(os.path.realpath(target))).hexdigest()
    return state_folder() / "converted" / f"{name}.json"


def _load(target: Path) -> Facts | None:
    """The note about a target, or None. What it holds is believed only if it is as expected."""
    try:
        with _note_path(target).open("rb") as file:
            note = json.loads(file.read(_MAX_NOTE_BYTES))
    except (OSError, ValueError, RecursionError, RuntimeError):
        return None
    return note if isinstance(note, dict) and note.get("schema") == _SCHEMA else None


def _save(target: Path, note: Facts) -> bool:
    """Write a note; whether that was possible."""
    try:
        path = _note_path(target)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        remove_all_debris(path.parent)
        _drop_oldest(path.parent)
        with OutputFile(path, overwrite=True) as output:
            output.write_at(0, json.dumps(note, indent=1).encode())
            output.commit()
    except (QcowError, OSError, RuntimeError):  # RuntimeError: there is no home folder
        return False
    return True


def _note(
    options: ConvertOptions,
    target: Facts,
    sources: list[Facts],
    losses: Sequence[LostRange],
    *,
    compared: bool = False,
) -> Facts:
    left_out = _NOT_COMPARED
    if compared:
        left_out |= _UNDETECTABLE
        if options.preallocation in ("falloc", "full"):  # the two look the same
            left_out |= {_PREALLOCATION}
    note: Facts = {
        "schema": _SCHEMA,
        "target": target,
        "sources": sources,
        "options": _chosen(options, left_out),
    }
    if losses:
        note["losses"] = {
            "bytes": sum(lost.length for lost in losses),
            "ranges": len(losses),
            "list": file_facts(losses_path(options.target)),
        }
    return note


def _chosen(options: ConvertOptions, left_out: AbstractSet[str]) -> Facts:
    return {
        field.name: getattr(options, field.name)
        for field in fields(options)
        if field.name not in left_out
    }


def _is_about(note: Facts, target: Facts) -> bool:
    """Whether a note is about this state of its target."""
    noted = note.get("target")
    if isinstance(noted, dict) and _CHANGED not in noted:  # of the part file, see `note_intent`
        target = {key: value for key, value in target.items() if key != _CHANGED}
    return noted == target


def recall(options: ConvertOptions, target: Facts, before: list[Facts]) -> Done | Undone | None:
    """What the note about a target says; None when nothing that can be relied on."""
    note = _load(options.target)
    if note is None or not before or note.get("sources") != before or not _is_about(note, target):
        return None
    noted = note.get("options")
    if not isinstance(noted, dict):
        return None
    asked = _chosen(options, _NOT_COMPARED)
    others = {key for key in asked if noted.get(key, asked[key]) != asked[key]}
    if options.target_format != "raw":
        others.discard("sparse_bytes")  # of no effect there
    if others - _UNDETECTABLE or asked.keys() - noted.keys() - _UNDETECTABLE - {_PREALLOCATION}:
        return None
    if others:
        made = ", ".join(_made_with(key, noted[key], asked[key]) for key in sorted(others))
        return Undone(f"was made with {made}")
    found = _noted_losses(options, note.get("losses"))
    if found is not None and _CHANGED in target and note.get("target") != target:
        _save(options.target, {**note, "target": target})
    return found


def _made_with(key: str, noted: object, asked: object) -> str:
    """How an option of the finished file reads beside the one that is asked for."""
    name = _UNDETECTABLE_NAMES[key]
    there = f"the default {name}" if noted is None else f"{name} {noted}"
    return f"{there}, not {'the default' if asked is None else asked}"


def _noted_losses(options: ConvertOptions, losses: object) -> Done | None:
    """A target as a note has it; None when the list of its losses is not as noted."""
    if losses is None:
        return Done("record")
    if not isinstance(losses, dict) or losses.get("list") is None:
        return None
    lost_bytes, lost_ranges = losses.get("bytes"), losses.get("ranges")
    if not isinstance(lost_bytes, int) or not isinstance(lost_ranges, int):
        return None
    if losses["list"] != file_facts(losses_path(options.target)):
        return None
    return Done("record", lost_bytes, lost_ranges)


def file_facts(path: Path) -> Facts | None:
    """What tells this state of a regular file from others; None when it is none.

    Not the device's number: that may be another one after the next start of the machine.
    """
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    facts = {
        "path": os.path.realpath(path),
        "inode": status.st_ino,
        "size": status.st_size,
        "mtime_ns": status.st_mtime_ns,
    }
    if os.name == "posix":  # elsewhere it is the time of creation
        # The time of modification can be set to what it was.
        facts[_CHANGED] = status.st_ctime_ns
    return facts


def _drop_oldest(folder: Path) -> None:
    """Keep the number of notes within bounds: half of them go when there are too many."""
    with os.scandir(folder) as entries:
        notes = [entry for entry in entries if entry.name.endswith(".json")]
    if len(notes) < _MAX_NOTES:
        return
    notes.sort(key=lambda entry: entry.stat().st_mtime_ns)
    for entry in notes[: _MAX_NOTES // 2]:
        with contextlib.suppress(OSError):
            Path(entry.path).unlink()


def _paths(source: OpenedImage, gate: Gate) -> list[Path]:
    """The paths of all files that an opened image reads from."""
    found = []
    for layer in source.chain:
        found.append(layer.path)
        report = layer.report
        if report is not None:
            reference = data_file_reference(report, trusted=not layer.format_guessed)
            path = locate(reference, gate).path if reference is not None else None
            if path is not None:
                found.append(path)
    return found
