"""The list of what salvaging could not read, as a text file beside the target."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from qcowgui.convert.output import OutputFile
from qcowgui.errors import OutputError
from qcowgui.format.text import decode_name
from qcowgui.units import format_count

if TYPE_CHECKING:
    from qcowgui.convert.options import ConvertOptions
    from qcowgui.image.layer import LostRange

_SUFFIX: Final = ".losses.txt"


def losses_path(target: Path) -> Path:
    """Where the list goes: beside the target."""
    return target.with_name(target.name + _SUFFIX)


def write_losses(options: ConvertOptions, losses: Sequence[LostRange]) -> OutputFile | None:
    """Write the list, not yet in its place; None when there is nothing to list.

    An empty list is written over one from an earlier run: that would speak of another image.

    Raises:
        OutputError: When it can't be written, or exists and may not be replaced.
    """
    path = losses_path(options.target)
    if not losses and not os.path.lexists(path):
        return None
    listed = OutputFile(path, overwrite=options.overwrite)
    try:
        listed.write_at(0, losses_text(options, losses).encode(errors="backslashreplace"))
    except BaseException:
        listed.discard()
        raise
    return listed


def move_losses(listed: OutputFile, target: Path) -> None:
    """Put the list in its place, when `target` is in its own.

    Raises:
        OutputError: When the system refuses it; it says that the target is complete.
    """
    try:
        listed.commit()
    except OutputError as error:
        raise OutputError(
            f"{target} is complete and in place, but the list of its losses is not: "
            f"{error.message}",
            path=error.path,
            errno=error.errno,
            hint=error.hint,
        ) from error


def losses_text(options: ConvertOptions, losses: Sequence[LostRange]) -> str:
    """The list: a few sentences, then a line for each range, its columns divided by tabs."""
    return "\n".join(_iter_lines(options, losses)) + "\n"


def _iter_lines(options: ConvertOptions, losses: Sequence[LostRange]) -> Iterator[str]:
    total = sum(lost.length for lost in losses)
    yield f"Source: {_shown(options.source)}"
    if options.snapshot is not None:
        yield f"Snapshot: {decode_name(os.fsencode(options.snapshot))[0]}"
    yield f"Target: {_shown(options.target)}"
    if not losses:
        yield "Everything could be read."
        return
    ranges = format_count(len(losses), "range")
    yield (
        f"{total:,} bytes of the guest's disk in {ranges} could not be read; they are zeros in the "
        "target. Offsets are bytes of the disk; the end is the first byte behind a range."
    )
    yield ""
    yield "start\tend\tbytes\treason"
    for lost in losses:
        yield f"{lost.start:#x}\t{lost.end:#x}\t{lost.length}\t{lost.reason}"


def _shown(path: Path) -> str:
    """A path on one line, whatever bytes it has."""
    return decode_name(os.fsencode(path.absolute()))[0]
