"""A repair plan: the byte edits that make an image whole, for the file as it was when planned."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import numpy as np

from qcowgui.codec.cluster import Buffer
from qcowgui.errors import SourceError
from qcowgui.format.finding import Repair
from qcowgui.image.patched import Edit, PatchedSource, content_bytes
from qcowgui.image.source import ByteSource, Identity

JOIN_BYTES: Final = 32
"""Differences with no more equal bytes between them become one edit: to describe a further one
takes about as much."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What shows whether a file is the one that a plan was made for, and unchanged since.

    Attributes:
        identity: (device, inode), or None for bytes in memory.
        size_bytes: Its length.
        modified_ns: Time of the last change in ns since 1970, or None where there is none that
            tells anything: block devices, bytes in memory.
    """

    identity: Identity | None
    size_bytes: int
    modified_ns: int | None

    @classmethod
    def of_status(cls, status: os.stat_result, size_bytes: int, *, is_block_device: bool) -> Self:
        """That of an open file, from its status."""
        modified_ns = None if is_block_device else status.st_mtime_ns
        return cls((status.st_dev, status.st_ino), size_bytes, modified_ns)


@dataclass(frozen=True, slots=True)
class RepairPlan:
    """What a repair will change; making one changes nothing.

    Attributes:
        source_name: The image, as the user named it.
        fingerprint: Of the file that the plan was made for.
        edits: By ascending offset, none overlapping another. Where there may be very many, a
            sequence that makes them when they are asked for.
        new_file_bytes: The file's length afterwards; never less than before.
        tier: What was asked to be repaired.
        notes: Sentences on what the plan means for the user.
        refused: Sentences on what it leaves alone, and why.
    """

    source_name: str
    fingerprint: Fingerprint
    edits: Sequence[Edit]
    new_file_bytes: int
    tier: Repair
    notes: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        old_bytes = self.fingerprint.size_bytes
        if self.new_file_bytes < old_bytes:
            raise ValueError(f"a repair would cut the file to {self.new_file_bytes} bytes")
        position = 0
        for edit in self.edits:
            if edit.offset < position:
                raise ValueError(f"the edits at {edit.offset:#x} overlap or are not in order")
            position = edit.end_offset
            there = max(0, min(edit.length_bytes, old_bytes - edit.offset))
            if content_bytes(edit.before) != there:
                raise ValueError(f"the edit at {edit.offset:#x} must know {there} bytes before")
        if position > self.new_file_bytes:
            raise ValueError(f"the last edit ends at {position:#x}, behind the file's new end")

    @property
    def is_empty(self) -> bool:
        """Whether the file would stay as it is."""
        return not self.edits and self.new_file_bytes == self.fingerprint.size_bytes

    @property
    def written_bytes(self) -> int:
        """How many bytes the edits write."""
        return sum(edit.length_bytes for edit in self.edits)

    @property
    def growth_bytes(self) -> int:
        """How much longer the file becomes."""
        return self.new_file_bytes - self.fingerprint.size_bytes

    def applied_to(self, source: ByteSource) -> PatchedSource:
        """The repaired image as a source over `source`, to prove the plan on it."""
        patches = (edit.patch for edit in self.edits)
        return PatchedSource(source, patches, size_bytes=self.new_file_bytes)


def take_fingerprint(source: ByteSource) -> Fingerprint:
    """The fingerprint of an open source.

    Raises:
        SourceError: When the file was changed since it was opened, or its path leads to another.
    """
    if source.identity is None:
        return Fingerprint(None, source.size_bytes, None)
    try:
        status = Path(source.name).stat()
    except OSError as error:
        raise SourceError(
            f"{source.name} is no longer there: {error.strerror}",
            path=source.name,
            errno=error.errno,
        ) from error
    if (status.st_dev, status.st_ino) != source.identity:
        raise SourceError(
            f"{source.name} was replaced by another file since it was opened", path=source.name
        )
    # After the status was taken: had it changed before, this would raise.
    source.require_unchanged()
    return Fingerprint.of_status(
        status, source.size_bytes, is_block_device=stat.S_ISBLK(status.st_mode)
    )


def edits_between(
    offset: int, before: Buffer, after: Buffer, why: str, code: str = ""
) -> list[Edit]:
    """The edits that turn `before`, which stands at `offset`, into `after`.

    Differences that are close together become one edit, up to `JOIN_BYTES` apart.

    Args:
        offset: File offset of both.
        before: What stands there. It may be shorter, where the file ends.
        after: What shall stand there.
        why: As `Edit.why`, for each of them.
        code: As `Edit.code`, for each of them.
    """
    old = np.frombuffer(before, np.uint8)
    new = np.frombuffer(after, np.uint8)
    if len(old) > len(new):
        raise ValueError(f"{len(old)} bytes can't become {len(new)}")
    places = np.flatnonzero(old != new[: len(old)])
    if len(old) < len(new):
        places = np.append(places, np.arange(len(old), len(new)))
    if not len(places):
        return []
    breaks = np.flatnonzero(np.diff(places) > JOIN_BYTES + 1)
    starts = places[np.append(0, breaks + 1)].tolist()
    ends = (places[np.append(breaks, len(places) - 1)] + 1).tolist()
    return [
        Edit(offset + a, old[a:b].tobytes(), new[a:b].tobytes(), why, code)
        for a, b in zip(starts, ends, strict=True)
    ]
