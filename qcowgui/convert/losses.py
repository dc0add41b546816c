"""The list of what salvaging could not read, as a text file beside the target."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final

from qcowgui.convert.output import OutputFile
from qcowgui.engine.work import CancelToken
from qcowgui.format.text import decode_name
from qcowgui.units import format_count

if TYPE_CHECKING:
    from qcowgui.convert.options import ConvertOptions
    from qcowgui.image.layer import LostRange

_SUFFIX: Final = ".losses.txt"
_SOURCE: Final = "Source: "
_SNAPSHOT: Final = "Snapshot: "
_TARGET: Final = "Target: "
_LOST: Final = "could not be read; they are zeros in the target"
_NOTHING_LOST: Final = "Everything could be read."
_MAX_HEAD_BYTES: Final = 64 << 10
"""Of a list, for its first lines: two paths and a name."""


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
    listed = OutputFile(path, overwrite=may_replace_list(options))
    try:
        listed.write_at(0, losses_text(options, losses).encode(errors="backslashreplace"))
    except BaseException:
        listed.discard()
        raise
    return listed


def move_with_list(
    output: OutputFile, listed: OutputFile | None, token: CancelToken, ready: Callable[[], None]
) -> os.stat_result:
    """Move the list, if there is one, and then its image: no image is ever there without it.

    Args:
        output: The finished image.
        listed: The list of its losses, see `write_losses`.
        token: Looked at when the image is durable, which can take long; not any more after that.
        ready: Called when only the image's move is left.

    Returns:
        The status of the finished image.

    Raises:
        OutputError: When the system refuses it; all is as it was then.
        Cancelled: When the token was set; likewise.
    """

    def move_list() -> None:
        token.raise_if_cancelled()
        if listed is not None:
            listed.commit()
        ready()

    is_new = listed is not None and not os.path.lexists(listed.target)
    with listed or nullcontext():
        try:
            return output.commit(before_move=move_list)
        except BaseException:
            if listed is not None and is_new and listed.committed and not output.committed:
                with contextlib.suppress(OSError):
                    listed.target.unlink()
            raise


def list_losses(options: ConvertOptions, losses: Sequence[LostRange]) -> None:
    """See to it that the list of a target that is there says what was lost of its source.

    Raises:
        OutputError: When it can't be written, or something else has its name.
    """
    path = losses_path(options.target)
    text = losses_text(options, losses).encode(errors="backslashreplace")
    with contextlib.suppress(OSError):
        if path.stat().st_size == len(text) and path.read_bytes() == text:
            return
    listed = write_losses(options, losses)
    if listed is not None:
        with listed:
            listed.commit()


def may_replace_list(options: ConvertOptions) -> bool:
    """Whether a list that is there may be replaced: one of an earlier run about the same target.

    Such a run was ended after the list came to its place and before the target did.
    """
    return options.overwrite or _is_list_of(options.target)


def remove_stale_list(target: Path) -> None:
    """Remove the list of an image that `target` has replaced; other files of its name stay."""
    if _is_list_of(target):
        with contextlib.suppress(OSError):
            losses_path(target).unlink()


def _is_list_of(target: Path) -> bool:
    """Whether the file with the list's name is one that this program has written of `target`."""
    path = losses_path(target)
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return False
        with path.open("rb") as file:
            head = file.read(_MAX_HEAD_BYTES)
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return False
    lines = head.decode(errors="replace").splitlines()
    if len(lines) > 1 and lines[1].startswith(_SNAPSHOT):
        del lines[1]
    if len(lines) < len(("source", "target", "what was lost")):
        return False
    about = f"{_TARGET}{_shown(target)}".encode(errors="backslashreplace").decode()
    told = lines[2] == _NOTHING_LOST or _LOST in lines[2]
    return lines[0].startswith(_SOURCE) and lines[1] == about and told


def losses_text(options: ConvertOptions, losses: Sequence[LostRange]) -> str:
    """The list: a few sentences, then a line for each range, its columns divided by tabs."""
    return "\n".join(_iter_lines(options, losses)) + "\n"


def _iter_lines(options: ConvertOptions, losses: Sequence[LostRange]) -> Iterator[str]:
    total = sum(lost.length for lost in losses)
    yield f"{_SOURCE}{_shown(options.source)}"
    if options.snapshot is not None:
        yield f"{_SNAPSHOT}{decode_name(os.fsencode(options.snapshot))[0]}"
    yield f"{_TARGET}{_shown(options.target)}"
    if not losses:
        yield _NOTHING_LOST
        return
    ranges = format_count(len(losses), "range")
    yield (
        f"{total:,} bytes of the guest's disk in {ranges} {_LOST}"
        ". Offsets are bytes of the disk; the end is the first byte behind a range."
    )
    yield ""
    yield "start\tend\tbytes\treason"
    for lost in losses:
        yield f"{lost.start:#x}\t{lost.end:#x}\t{lost.length}\t{lost.reason}"


def _shown(path: Path) -> str:
    """A path on one line, whatever bytes it has."""
    return decode_name(os.fsencode(path.absolute()))[0]
