"""Put an image back as it was before a repair in place, from the repair's undo file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from qcowgui.convert.zeros import is_zero
from qcowgui.errors import OutputError
from qcowgui.repair.undo_file import Record, UndoFile, UndoState
from qcowgui.repair.writable import WritableImage
from qcowgui.units import MIB

_PIECE_BYTES: Final = MIB


@dataclass(frozen=True, slots=True)
class UndoResult:
    """What an undo did.

    Attributes:
        image_path: The image.
        restored_bytes: How many bytes were not as before, and are now. 0: a repair was broken off
            before it had changed anything, or an undo after it had put everything back.
    """

    image_path: Path
    restored_bytes: int


def undo_repair(
    undo_path: Path,
    image_path: Path | None = None,
    *,
    allow_unknown_locks: bool = False,
    even_if_changed: bool = False,
) -> UndoResult:
    """Put back what a repair in place has changed; broken off in the middle, it can be repeated.

    Before anything is written, every byte concerned must be as the repair found it or as it left
    it. The image may have been moved or copied since; its content decides.

    Args:
        undo_path: The undo file.
        image_path: The image, by default where it was.
        allow_unknown_locks: Go on where the system can't tell whether somebody uses the image.
        even_if_changed: Go on when the image was changed after the repair, as long as that left
            alone every byte that the repair had written.

    Raises:
        SourceError: When the undo file can't be read or is damaged.
        OutputError: When the undo file was used already, or the image is in use, can't be written,
            or is not as the repair has left it.
    """
    with UndoFile(undo_path) as undo:
        if undo.state is UndoState.UNDONE:
            raise OutputError(
                f"{undo_path} was used already: the image was put back as it was before the repair",
                path=str(undo_path),
                hint="an undo can't be undone; to have the repair again, repair again",
            )
        path = undo.image_path if image_path is None else image_path
        with WritableImage(path, allow_unknown_locks=allow_unknown_locks) as image:
            _require_as_left(image, undo, even_if_changed=even_if_changed)
            _require_ours(image, undo)
            return UndoResult(path, restore(image, undo))


def restore(image: WritableImage, undo: UndoFile) -> int:
    """Write back all bytes that are not as before, and cut what was added.

    Nothing is asked: the caller knows that the image is the one, and in a state of the repair's.

    Returns:
        The number of bytes written or cut.

    Raises:
        OutputError: When the image or the undo file can't be written. The undo file is still good.
        SourceError: When the undo file can't be read.
    """
    undo.note_state(UndoState.UNDOING, image.fingerprint())
    restored = 0
    for record in undo.iter_records():
        restored += _put_back(image, record)
    image.sync()
    old_bytes = undo.fingerprint.size_bytes
    growth = image.fingerprint().size_bytes - old_bytes
    if growth > 0:
        image.set_size(old_bytes)
        image.sync()
        restored += growth
    undo.note_state(UndoState.UNDONE, image.fingerprint())
    return restored


def _put_back(image: WritableImage, record: Record) -> int:
    """Write the part of a record that is not as before; how many bytes that is.

    No more than that: where nothing was written because the disk is full, there is no room for
    zeros either.
    """
    found = image.read_at(record.offset, len(record.before))
    if found == record.before:
        return 0
    if len(found) < len(record.before):
        raise _not_ours(image, record.offset + len(found), "was cut")
    differs = np.flatnonzero(
        np.frombuffer(found, np.uint8) != np.frombuffer(record.before, np.uint8)
    )
    start, end = int(differs[0]), int(differs[-1]) + 1
    image.write_at(record.offset + start, record.before[start:end])
    return end - start


def _require_as_left(image: WritableImage, undo: UndoFile, *, even_if_changed: bool) -> None:
    """Raise when somebody else has changed the image since the repair."""
    now = image.fingerprint()
    low, high = undo.fingerprint.size_bytes, undo.new_file_bytes
    if undo.state is UndoState.APPLIED:
        low = high
    if not low <= now.size_bytes <= high:
        raise OutputError(
            f"{image.path} has {now.size_bytes:,} bytes, and the repair left {high:,}: it is "
            "another image, or was changed since",
            path=str(image.path),
            hint="nothing was put back",
        )
    left = undo.left_as
    if (
        undo.state is UndoState.APPLIED
        and left is not None
        and now.modified_ns != left.modified_ns
        and not even_if_changed
    ):
        raise OutputError(
            f"{image.path} was changed after the repair, or is a copy: to put back old metadata "
            "under newer data would damage it",
            path=str(image.path),
            hint="only if it is a copy, or what was written since is guest data that needed no new "
            "cluster, may it be put back all the same (--even-if-changed)",
        )


def _require_ours(image: WritableImage, undo: UndoFile) -> None:
    """Raise unless each byte that the repair writes is as before it or as after it.

    A crash can leave any mixture. What lies behind the old end, and is not the repair's, must not
    exist or be zero: it is cut.
    """
    position = undo.fingerprint.size_bytes
    for record in undo.iter_records():
        _require_zeros(image, position, record.offset)
        position = max(position, record.end_offset)
        data = image.read_at(record.offset, len(record.after))
        if data in (record.after, record.before):
            continue
        found = np.frombuffer(data, np.uint8)
        after = np.frombuffer(record.after, np.uint8)[: len(found)]
        before = np.zeros(len(record.after), np.uint8)
        before[: len(record.before)] = np.frombuffer(record.before, np.uint8)
        foreign = np.flatnonzero((found != after) & (found != before[: len(found)]))
        if len(foreign):
            raise _not_ours(
                image,
                record.offset + int(foreign[0]),
                "is neither as the repair found it nor as it left it",
            )
    _require_zeros(image, position, undo.new_file_bytes)


def _require_zeros(image: WritableImage, start: int, end: int) -> None:
    for offset in range(start, end, _PIECE_BYTES):
        found = image.read_at(offset, min(end - offset, _PIECE_BYTES))
        if not is_zero(found):
            raise _not_ours(image, offset, "was written behind the repair's back")


def _not_ours(image: WritableImage, offset: int, what: str) -> OutputError:
    return OutputError(
        f"{image.path} at offset {offset:#x} {what}: it is another image, or was changed since",
        path=str(image.path),
        hint="nothing was put back",
    )
