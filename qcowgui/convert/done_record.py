"""Which results are done: told by a note in the user's state folder, or by comparing contents.

A note says that one target was made and verified from one state of one source with certain options.
It holds names, sizes, times and inodes, no content. Without it (another machine, another user, a
power failure in the wrong moment) the target is read and compared with its source.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from qcowgui.convert.compare import first_difference
from qcowgui.convert.kept_backing import gate_with_backing
from qcowgui.convert.output import OutputFile
from qcowgui.convert.part_file import remove_all_debris
from qcowgui.engine.work import CancelToken, Counter, Executor, SerialExecutor
from qcowgui.errors import QcowError
from qcowgui.format.features import Compatible
from qcowgui.image.chain import OpenedImage, open_image
from qcowgui.image.layer import ExtentKind
from qcowgui.image.references import DENY, Gate, data_file_reference, locate

if TYPE_CHECKING:
    from qcowgui.convert.options import ConvertOptions
    from qcowgui.image.inspect import ImageReport

_SCHEMA: Final = 1
_MAX_NOTE_BYTES: Final = 1 << 20
_MAX_NOTES: Final = 20_000
_NOT_COMPARED: Final = frozenset(
    {"source", "target", "threads", "verify", "overwrite", "snapshots_kept"}
)
"""Options that don't show in the result, or are noted in another way."""

Facts = dict[str, Any]
"""A part of a note: what JSON can hold."""


@dataclass(frozen=True, slots=True)
class Done:
    """Why a target counts as done.

    Attributes:
        how: "record": a note says so. "content": it reads as the source does.
    """

    how: Literal["record", "content"]


def is_done(
    options: ConvertOptions,
    executor: Executor | None = None,
    *,
    gate: Gate = DENY,
    token: CancelToken | None = None,
    counter: Counter | None = None,
    tick: Callable[[], None] | None = None,
) -> Done | None:
    """Whether the target of a conversion is its complete and verified result already.

    With a note that is quick. Without one both are read, which leaves a note when they are equal;
    the level of compression can't be told then, and with a kept backing file, bitmaps or
    preallocation the answer is None. A source that can't be read gives None as well: converting it
    says why.

    Args:
        options: The conversion.
        executor: Where to compare; None: in this thread.
        gate: Decides whether the source's backing and data files may be opened.
        token: Stops a comparison.
        counter: Gets guest bytes as they are compared.
        tick: Called now and then in this thread.

    Raises:
        Cancelled: When the token was set.
    """
    target = _file_facts(options.target)
    if target is None:
        return None
    try:
        before = source_facts(options, gate)
        if before and _load(options.target) == _note(options, target, before):
            return Done("record")
        search = _Comparison(options, gate, executor or SerialExecutor(), token or CancelToken())
        if not search.run(counter, tick):
            return None
    except (QcowError, OSError):
        return None
    note_done(options, before, gate)  # the next time is quick
    return Done("content")


def source_facts(options: ConvertOptions, gate: Gate = DENY) -> list[Facts]:
    """What tells the present state of the source's files from others.

    Empty when nothing does: it can't be opened, or is a block device, which has neither a length
    nor a time of change.
    """
    found = []
    try:
        with _open_source(options, gate) as source:
            for path in _paths(source, gate):
                facts = _file_facts(path)
                if facts is None:
                    return []
                found.append(facts)
    except QcowError:
        return []
    return found


def note_done(options: ConvertOptions, before: list[Facts], gate: Gate = DENY) -> bool:
    """Note that the target was made and verified from the source; whether that was possible.

    Without the note nothing is lost but time: the next `is_done` compares contents. So what the
    system refuses is no error.

    Args:
        options: The conversion, whose result was found to be equal to its source.
        before: `source_facts` from before it began.
        gate: As for the conversion.
    """
    target = _file_facts(options.target)
    try:
        if target is None or not before or source_facts(options, gate) != before:
            return False
        path = _note_path(options.target)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        remove_all_debris(path.parent)
        _drop_oldest(path.parent)
        data = json.dumps(_note(options, target, before), indent=1).encode()
        with OutputFile(path, overwrite=True) as output:
            output.write_at(0, data)
            output.commit()
    except (QcowError, OSError, RuntimeError):  # RuntimeError: there is no home folder
        return False
    return True


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


def _load(target: Path) -> object:
    """The note about a target, or None. What it holds is believed only if it is as expected."""
    try:
        with _note_path(target).open("rb") as file:
            return json.loads(file.read(_MAX_NOTE_BYTES))
    except (OSError, ValueError, RecursionError, RuntimeError):
        return None


def _note(options: ConvertOptions, target: Facts, sources: list[Facts]) -> Facts:
    chosen = {
        field.name: getattr(options, field.name)
        for field in fields(options)
        if field.name not in _NOT_COMPARED
    }
    return {"schema": _SCHEMA, "target": target, "sources": sources, "options": chosen}


def _file_facts(path: Path) -> Facts | None:
    """What tells this state of a regular file from others; None when it is none.

    Not the device's number: that may be another one after the next start of the machine.
    """
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return {
        "path": os.path.realpath(path),
        "inode": status.st_ino,
        "size": status.st_size,
        "mtime_ns": status.st_mtime_ns,
    }


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


def _open_source(options: ConvertOptions, gate: Gate) -> OpenedImage:
    return open_image(
        options.source,
        format=options.source_format,
        gate=gate_with_backing(options, gate),
        snapshot=options.snapshot,
        salvage=options.salvage,
    )


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


class _Comparison:
    """Whether a file that exists could be the result of a conversion."""

    def __init__(
        self, options: ConvertOptions, gate: Gate, executor: Executor, token: CancelToken
    ) -> None:
        self._options = options
        self._gate = gate
        self._executor = executor
        self._token = token

    def run(self, counter: Counter | None, tick: Callable[[], None] | None) -> bool:
        """Compare; QcowErrors of both sides pass through."""
        options = self._options
        if options.backing_file is not None or options.keep_backing or options.bitmaps:
            return False
        if options.preallocation != "off":
            return False
        with (
            _open_source(options, self._gate) as source,
            open_image(options.target, format=options.target_format) as written,
        ):
            if not source.identities.isdisjoint(written.identities):
                return False
            if written.size_bytes != source.size_bytes or not self._is_made_so(written):
                return False
            found = first_difference(
                source, written, self._executor, token=self._token, counter=counter, tick=tick
            )
            source.require_unchanged()
            written.require_unchanged()
            return found is None

    def _is_made_so(self, written: OpenedImage) -> bool:
        """Whether the file's structure is what the options ask for."""
        report = written.report
        if report is None:
            return True
        if report.refusals or report.header.nb_snapshots or report.backing_name is not None:
            return False
        return self._has_geometry(report) and self._has_compression(report, written)

    def _has_geometry(self, report: ImageReport) -> bool:
        options, header = self._options, report.header
        lazy = bool(header.compatible_features & Compatible.LAZY_REFCOUNTS)
        return (
            header.compat == options.compat
            and header.cluster_bits == options.cluster_bits
            and header.refcount_order == options.refcount_order
            and header.extended_l2 == options.extended_l2
            and lazy == options.lazy_refcounts
        )

    def _has_compression(self, report: ImageReport, written: OpenedImage) -> bool:
        """Whether data is compressed as asked; what does not compress is stored as it is."""
        kinds = set()
        for extent in written.iter_extents(with_hosts=False):
            self._token.raise_if_cancelled()
            kinds.add(extent.kind)
        if self._options.compression == "none":
            return ExtentKind.COMPRESSED not in kinds
        if report.header.compression_name != self._options.compression:
            return False
        return ExtentKind.COMPRESSED in kinds or ExtentKind.DATA not in kinds
