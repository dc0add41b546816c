"""The internal snapshots of an image as images of their own: each whole, or as a chain."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from qcowgui.convert.naming import name_key
from qcowgui.errors import OptionsError, OutputError
from qcowgui.format.snapshots import check_snapshot_l1
from qcowgui.units import format_size

if TYPE_CHECKING:
    from qcowgui.convert.options import ConvertOptions
    from qcowgui.format.snapshots import Snapshot
    from qcowgui.image.inspect import ImageReport

SnapshotMode = Literal["files", "chain"]
"""files: each snapshot whole. chain: the oldest whole, each later one with what differs from the
one before, the active disk on top."""

_UNFIT: Final = re.compile(r'[\x00-\x1f\x7f-\x9f/\\:*?"<>|\ud800-\udfff]')
"""What one file system or another has no place for in a name."""
_MAX_PART_BYTES: Final = 80
"""Of a file's name, for the snapshot's."""
_MAX_NAME_BYTES: Final = 255
_MAX_SENTENCES: Final = 32
_ROOM_BYTES: Final = 8
"""For a number that tells two names apart."""


class Step(NamedTuple):
    """One conversion of a plan.

    Attributes:
        options: What to do.
        allowed: Files that it may open besides: those made by the steps before it.
    """

    options: ConvertOptions
    allowed: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class SnapshotPlan:
    """Conversions of all disks that an image holds.

    Attributes:
        steps: To be run in this order; in a chain, each needs all before it. The active disk is
            the last one.
        left_out: What is not carried, in whole sentences.
    """

    steps: tuple[Step, ...]
    left_out: tuple[str, ...]


def plan_snapshots(
    options: ConvertOptions, report: ImageReport | None, mode: SnapshotMode
) -> SnapshotPlan:
    """The conversions that carry an image's internal snapshots along with its active disk.

    A snapshot's image stands beside the target, with the snapshot's name in its own. Names depend
    on the image alone, so that the same plan once more has the same targets.

    Args:
        options: The conversion of the active disk.
        report: What inspecting the source found; None for a raw file, which has no snapshots.
        mode: What the images are.

    Raises:
        OptionsError: When the options already choose a snapshot, or when a chain would be raw.
    """
    if options.snapshot is not None:
        raise OptionsError(
            f"Either the snapshot {options.snapshot!r} is converted or all of them",
            hint="leave out one of the two",
        )
    if mode == "chain" and options.target_format != "qcow2":
        raise OptionsError("A raw file can't be part of a chain", hint="choose qcow2, or files")
    found = _Snapshots(report)
    names = _names(options, found.usable)
    steps: list[Step] = []
    for snapshot, target in zip(found.usable, names, strict=True):
        part = replace(
            options,
            target=target,
            snapshot=found.selector(snapshot),
            snapshots_kept=True,
            bitmaps=False,  # they say what has changed on the active disk
        )
        steps.append(_step(part, steps, mode))
    steps.append(_step(replace(options, snapshots_kept=True), steps, mode))
    return SnapshotPlan(tuple(steps), tuple(found.iter_left_out()))


def without_base(options: ConvertOptions, base: Path) -> OutputError:
    """The error of a step of a chain when the file that it stands on was not made.

    On what an earlier run has left there it would be right until that is made after all.
    """
    return OutputError(
        f"{options.target} was not made: its backing file {base} was not",
        path=str(options.target),
        hint="see to that one first, then try again",
    )


def _step(options: ConvertOptions, before: Sequence[Step], mode: SnapshotMode) -> Step:
    """A conversion behind those in `before`: in a chain, on top of the last one."""
    if mode != "chain" or not before:
        return Step(options, ())
    name = before[-1].options.target.name
    on_top = replace(
        options,
        keep_backing=False,  # the first one keeps it for all
        # QEMU takes what stands before a colon for a protocol, unless a slash comes first.
        backing_file=f"./{name}" if ":" in name else name,
        backing_format="qcow2",
    )
    return Step(on_top, tuple(step.options.target for step in before))


class _Snapshots:
    """The snapshots of an image, divided into those that can be converted and the others."""

    def __init__(self, report: ImageReport | None) -> None:
        self._report = report
        self._all: Sequence[Snapshot] = report.snapshots if report is not None else ()
        self._ids = Counter(item.id for item in self._all)
        self._same_names = Counter(item.name for item in self._all)
        self._problems = {item.index: self._problem(item) for item in self._all}
        # By their dates. Where a guest's clock was wrong, a chain is larger, not wrong.
        self.usable = sorted(
            (item for item in self._all if not self._problems[item.index]),
            key=lambda item: (item.date_seconds, item.date_nanoseconds, item.index),
        )

    def selector(self, snapshot: Snapshot) -> str:
        """What makes `open_image` take just this one; empty when nothing does."""
        if self._ids[snapshot.id] == 1:
            return f"snapshot.id={snapshot.id}"
        if self._same_names[snapshot.name] == 1:
            return f"snapshot.name={snapshot.name}"
        return ""

    def _problem(self, snapshot: Snapshot) -> str:
        """Why a snapshot can't be converted; empty when nothing is known against it."""
        report = self._report
        geometry = report.header.geometry if report is not None else None
        if report is None or geometry is None:
            return "the header allows no mapping"
        finding = check_snapshot_l1(
            snapshot,
            geometry,
            virtual_bytes=report.header.size,
            file_bytes=report.file_bytes,
        )
        if finding is not None:
            return finding.message.rstrip(".")
        return "" if self.selector(snapshot) else "another snapshot has the same id and name"

    def iter_left_out(self) -> Iterator[str]:
        """What is not carried, as sentences."""
        if self._report is None or not self._report.header.nb_snapshots:
            yield "The source has no internal snapshots."
            return
        sentences = self._iter_losses()
        yield from islice(sentences, _MAX_SENTENCES)
        if more := sum(1 for _ in sentences):
            yield f"{more:,} more snapshots are not carried over, or not with all that they hold."
        unlisted = self._report.header.nb_snapshots - len(self._all)
        if unlisted > 0:
            yield f"{unlisted:,} more snapshots are in a part of the table that can't be read."

    def _iter_losses(self) -> Iterator[str]:
        for snapshot in self._all:
            name = snapshot.name or snapshot.id
            if problem := self._problems[snapshot.index]:
                yield f"The snapshot {name!r} is not carried over: {problem}."
            elif snapshot.vm_state_bytes:
                state = format_size(snapshot.vm_state_bytes)
                yield (
                    f"The state of the running machine in the snapshot {name!r} ({state}) is not "
                    "carried over; its disk is."
                )


def _names(options: ConvertOptions, snapshots: Sequence[Snapshot]) -> list[Path]:
    """A name beside the target for each snapshot; no two that a file system may take for one."""
    target = options.target
    taken = {name_key(target), name_key(options.source)}
    numbers: Counter[str] = Counter()
    names = []
    for snapshot in snapshots:
        text = _fit(snapshot.name) or f"snapshot-{_fit(snapshot.id) or snapshot.index + 1}"
        first = name_key(_path(target, text, 1))
        while True:
            numbers[first] += 1
            path = _path(target, text, numbers[first])
            if name_key(path) not in taken:
                break
        taken.add(name_key(path))
        names.append(path)
    return names


def _path(target: Path, text: str, number: int) -> Path:
    """`NAME.SNAP.qcow2` beside NAME.qcow2, from the second one on with its number."""
    suffix = f".{text}-{number}{target.suffix}" if number > 1 else f".{text}{target.suffix}"
    room = _MAX_NAME_BYTES - _ROOM_BYTES - len(os.fsencode(f".{text}{target.suffix}"))
    return target.with_name(_cut(target.stem, room) + suffix)


def _fit(name: str) -> str:
    """A snapshot's name as a part of a file's name, or an empty string."""
    return _cut(_UNFIT.sub("_", name).strip(" ."), _MAX_PART_BYTES).rstrip(" .")


def _cut(text: str, room_bytes: int) -> str:
    """As much of a text as has room, in whole characters."""
    if len(os.fsencode(text)) <= room_bytes:
        return text
    return os.fsencode(text)[: max(1, room_bytes)].decode(errors="ignore")
