"""Carry out a repair plan: on a copy, or in place with an undo file."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from qcowgui.check.checker import CheckReport
from qcowgui.convert.output import OutputFile, refuse_same_file
from qcowgui.engine.work import CancelToken, Counter
from qcowgui.errors import OutputError, QcowError, SourceError
from qcowgui.image.patched import read_content
from qcowgui.image.source import FileSource
from qcowgui.repair.copying import CopyMethod, copy_file, keep_private
from qcowgui.repair.edits import Fingerprint, RepairPlan, take_fingerprint
from qcowgui.repair.undo import restore
from qcowgui.repair.undo_file import (
    MAX_RECORD_BYTES,
    Record,
    UndoFile,
    UndoState,
    write_undo_file,
)
from qcowgui.repair.writable import WritableImage

HEADER_BYTES: Final = 512
"""What is below this offset is written last. Here the header names all structures, and says
whether the image is dirty or corrupt; the smallest cluster has room for no other structure."""

_REPLAN_HINT: Final = "check it again, and repair it by a new plan"


@dataclass(frozen=True, slots=True)
class CopyResult:
    """What a repair on a copy made.

    Attributes:
        target: The repaired image; symbolic links are followed.
        method: How the unchanged bytes came there.
        written_bytes: How many bytes the edits wrote.
    """

    target: Path
    method: CopyMethod
    written_bytes: int


@dataclass(frozen=True, slots=True)
class InPlaceResult:
    """What a repair in place did.

    Attributes:
        undo_path: The undo file, or None when there was nothing to change.
        written_bytes: How many bytes were written.
    """

    undo_path: Path | None
    written_bytes: int


def apply_to_copy(
    plan: RepairPlan,
    source: FileSource,
    target: Path,
    *,
    overwrite: bool = False,
    token: CancelToken,
    counter: Counter | None = None,
    before_move: Callable[[Path], None] | None = None,
) -> CopyResult:
    """Write a repaired copy of `source`, which appears at `target` complete or not at all.

    Args:
        plan: What to change.
        source: The image, which is never written.
        target: Where the copy will be.
        overwrite: Whether an existing file may be replaced.
        token: Looked at before each chunk and each edit.
        counter: Is given the source's length and the bytes of the edits, in parts.
        before_move: Called with the path of the finished copy before it takes its name, to check
            it; what this raises leaves nothing behind.

    Raises:
        SourceError: When the source can't be read, or is not as it was when the plan was made.
        OutputError: When the target can't be written.
        Cancelled: When the token is set.
    """
    refuse_same_file(target, frozenset({source.identity}))
    _require_planned(plan, take_fingerprint(source), source.name)

    with OutputFile(target, overwrite=overwrite) as output:
        keep_private(output, _mode_of(source))
        method = copy_file(source, output, token=token, counter=counter)
        output.set_size(plan.new_file_bytes)
        written = 0
        for record in _iter_records(plan, source.name, source.read_at):
            token.raise_if_cancelled()
            output.write_at(record.offset, record.after)
            written += len(record.after)
            if counter is not None:
                counter.add(len(record.after))

        def examine() -> None:
            source.require_unchanged()
            if before_move is not None:
                before_move(output.path)

        output.commit(before_move=examine)
    return CopyResult(output.target, method, written)


def require_as_planned(planned: CheckReport, written: CheckReport, path: Path) -> None:
    """Return when a written copy is what the plan promised.

    Raises:
        OutputError: When it is not: the storage gave back something else.
    """
    if planned.totals != written.totals:
        raise OutputError(
            "the copy is not what was planned: it was not written as it should have been",
            path=os.fspath(path),
            hint="the disk below may be failing; nothing was kept of the copy",
        )


def apply_in_place(
    plan: RepairPlan,
    path: Path,
    undo_path: Path,
    *,
    token: CancelToken,
    counter: Counter | None = None,
    allow_unknown_locks: bool = False,
) -> InPlaceResult:
    """Change the image itself, after everything that changes was saved to an undo file.

    When it fails or is cancelled in the middle, the image is put back as it was. When the process
    or the machine dies, `undo_repair` does that.

    Args:
        plan: What to change.
        path: The image. Nobody else may use it; it is locked meanwhile.
        undo_path: Where the undo file will be; nothing may be there yet.
        token: Looked at before each edit.
        counter: Is given the bytes of the edits twice: for the undo file and for the image.
        allow_unknown_locks: Go on where the system can't tell whether somebody uses the image.

    Raises:
        SourceError: When the image is not as it was when the plan was made.
        OutputError: When the image is in use, read-only, or a device that is too small; when it or
            the undo file can't be written.
        Cancelled: When the token is set.
    """
    with WritableImage(path, allow_unknown_locks=allow_unknown_locks) as image:
        _require_room(plan, image)
        _require_planned(plan, image.fingerprint(), str(path))
        if plan.is_empty:
            return InPlaceResult(None, 0)
        records = _iter_records(plan, str(path), image.read_at)
        write_undo_file(
            undo_path,
            path,
            plan.fingerprint,
            plan.new_file_bytes,
            _watched(records, token, counter),
            mode=image.mode,
            # Locks are advice; who does not ask for them may have written meanwhile.
            before_move=lambda: _require_planned(plan, image.fingerprint(), str(path)),
        )
        with UndoFile(undo_path) as undo:
            _change(image, undo, token, counter)
    return InPlaceResult(undo_path, plan.written_bytes)


def _mode_of(source: FileSource) -> int:
    """The permissions of the image; those of a private one when its name has gone."""
    try:
        return source.path.stat().st_mode
    except OSError:
        return stat.S_IRUSR | stat.S_IWUSR


def _change(
    image: WritableImage, undo: UndoFile, token: CancelToken, counter: Counter | None
) -> None:
    """Write all records of an undo file, or none."""
    try:
        # The bytes come from the undo file and not from the plan: those of an edit may be read
        # from where another edit has already written.
        _write_all(image, undo, token, counter)
        undo.note_state(UndoState.APPLIED, image.fingerprint())
    except QcowError as error:
        _put_back(image, undo)
        raise OutputError(
            f"{error.message}; the image was put back as it was",
            path=str(image.path),
            errno=getattr(error, "errno", None),
            hint=error.hint,
        ) from error
    except BaseException:
        _put_back(image, undo)
        raise


def _write_all(
    image: WritableImage, undo: UndoFile, token: CancelToken, counter: Counter | None
) -> None:
    """Write the records in three groups, each of them durable before the next.

    First what lies behind the old end: nothing refers to it yet, and if space runs out, it does so
    here. Then what stands elsewhere; at last the header.
    """
    old_end = max(undo.fingerprint.size_bytes, HEADER_BYTES)
    image.set_size(undo.new_file_bytes)
    for start, end in ((old_end, undo.new_file_bytes), (HEADER_BYTES, old_end), (0, HEADER_BYTES)):
        for record in _watched(undo.iter_records(start, end), token, counter):
            image.write_at(record.offset, record.after)
        image.sync()


def _put_back(image: WritableImage, undo: UndoFile) -> None:
    try:
        restore(image, undo)
    except QcowError as error:
        raise OutputError(
            f"{image.path} is half repaired, and can't be put back: {error.message}",
            path=str(image.path),
            errno=getattr(error, "errno", None),
            hint=f"use `qcowgui repair --undo {undo.path}` once the cause is gone",
        ) from error


def _iter_records(
    plan: RepairPlan, name: str, read_at: Callable[[int, int], bytes]
) -> Iterator[Record]:
    """The edits in pieces, each compared with what stands there now.

    Raises:
        SourceError: When that is not what the plan says.
    """
    for edit in plan.edits:
        for start in range(0, edit.length_bytes, MAX_RECORD_BYTES):
            after = read_content(edit.after, start, MAX_RECORD_BYTES)
            before = read_content(edit.before, start, len(after))
            if read_at(edit.offset + start, len(after)) != before:
                raise _changed(name)
            yield Record(edit.offset + start, before, after)


def _watched(
    records: Iterator[Record], token: CancelToken, counter: Counter | None
) -> Iterator[Record]:
    for record in records:
        token.raise_if_cancelled()
        yield record
        if counter is not None:
            counter.add(len(record.after))


def _require_planned(plan: RepairPlan, found: Fingerprint, name: str) -> None:
    """Raise unless `found` is the file that the plan was made for, unchanged since."""
    if found != plan.fingerprint:
        raise _changed(name)


def _changed(name: str) -> SourceError:
    return SourceError(
        f"{name} was changed since the plan was made, or is another file",
        path=name,
        hint=_REPLAN_HINT,
    )


def _require_room(plan: RepairPlan, image: WritableImage) -> None:
    size_bytes = image.fingerprint().size_bytes
    if image.is_block_device and size_bytes < plan.new_file_bytes:
        raise OutputError(
            f"{image.path} has {size_bytes:,} bytes, and the repair needs "
            f"{plan.new_file_bytes:,}: a device can't grow by itself",
            path=str(image.path),
            hint="enlarge the device, or write a repaired copy to a file (-o)",
        )
