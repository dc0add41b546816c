"""What to tell before a conversion starts: what it will lose, who can't read it, where it fails."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from qcowgui.convert.cut_short import find_cut
from qcowgui.convert.expected_size import ExpectedSize, expect_size
from qcowgui.convert.file_system import FileSystem, file_system_of
from qcowgui.convert.kept_backing import backing_of
from qcowgui.convert.output import check_room, check_target, refuse_same_file
from qcowgui.convert.qcow2_header import check_virtual_size
from qcowgui.convert.warnings import Concern, gravest_first, iter_source_concerns
from qcowgui.engine.work import CancelToken
from qcowgui.errors import ImageError, OptionsError, OutputError, QcowError, SourceError
from qcowgui.format.features import Compatible
from qcowgui.format.geometry import Geometry
from qcowgui.image.locks import Usage, probe_path
from qcowgui.units import MIB, format_count, format_size

if TYPE_CHECKING:
    from qcowgui.convert.forecast import Forecast
    from qcowgui.convert.options import ConvertOptions
    from qcowgui.image.chain import OpenedImage

__all__ = ["Concern", "outlook"]

_GROWTH: Final = 1.05
"""A target that is larger by less is none that has grown."""
_LEAST_GROWTH_BYTES: Final = MIB
_WORTH_NAMING: Final = 0.01
"""A part below this does not explain why a target grows."""


def outlook(
    options: ConvertOptions,
    source: OpenedImage,
    *,
    forecast: Forecast | None = None,
    token: CancelToken | None = None,
) -> tuple[Concern, ...]:
    """What there is to tell of a conversion, the gravest first; nothing is written.

    Looks through the tables of the source once, which takes seconds for terabytes: not for the
    window's thread. Only where the system does not name its file systems (macOS), a file without a
    name is made in the target's folder for a moment.

    Args:
        options: The conversion.
        source: The source, opened as the conversion would: with its snapshot.
        forecast: A forecast of this source, if there is one: it tells what compression saves.
        token: Stops it.

    Raises:
        Cancelled: When the token was set.
    """
    return gravest_first(_iter_concerns(options, source, forecast, token or CancelToken()))


def _iter_concerns(
    options: ConvertOptions,
    source: OpenedImage,
    forecast: Forecast | None,
    token: CancelToken,
) -> Iterator[Concern]:
    yield from _about_target(options, source)
    yield from _about_use(source)
    yield from iter_source_concerns(options, source)
    yield from _about_form(options, source)
    try:
        _check_size(options, source)
        expected = expect_size(options, source, token, forecast)
        cut = None if options.salvage else find_cut(source, token)
        if cut is not None:
            raise cut
    except OptionsError as error:
        yield Concern("disk-too-large", "stop", error.message, error.hint)
        return
    except ImageError as error:
        hint = "salvaging continues with zeros and lists the losses"
        yield Concern("source-damaged", "stop", str(error), hint)
        return
    except SourceError as error:
        yield Concern("source-unreadable", "stop", error.message, error.hint)
        return
    yield from _about_growth(options, source, expected)
    folder = Path(os.path.realpath(options.target)).parent
    if folder.is_dir():
        yield from _about_space(options, expected, file_system_of(folder))


def _about_target(options: ConvertOptions, source: OpenedImage) -> Iterator[Concern]:
    """Whether the target may be written at all."""
    try:
        refuse_same_file(options.target, source.identities)
        base = backing_of(options)
        if base is not None and base.path is not None and _same_file(base.path, options.target):
            message = f"{options.target} is the backing file that it would keep itself"
            yield Concern("target-is-source", "stop", message, "choose another target")
            return
    except OutputError as error:
        yield Concern("target-is-source", "stop", error.message, error.hint)
        return
    try:
        real = check_target(options.target, overwrite=options.overwrite)
    except OutputError as error:
        code = "target-exists" if error.errno == errno.EEXIST else "target-unusable"
        yield Concern(code, "stop", error.message, error.hint)
        return
    if not os.access(real.parent, os.W_OK | os.X_OK):
        message = f"The folder {real.parent} is not writable for you"
        yield Concern("target-unusable", "stop", message, "choose another place")


def _check_size(options: ConvertOptions, source: OpenedImage) -> None:
    """Raise OptionsError when the disk is too large for the target's clusters."""
    if options.target_format == "qcow2":
        geometry = Geometry(options.cluster_bits, options.extended_l2, options.refcount_order)
        check_virtual_size(geometry, source.size_bytes)


def _same_file(left: Path, right: Path) -> bool:
    try:
        return left.samefile(right)
    except OSError:  # one of them does not exist
        return False


def _about_use(source: OpenedImage) -> Iterator[Concern]:
    """Which of the source's files may change while they are read."""
    for layer in source.chain:
        try:
            state = probe_path(layer.path)
        except QcowError:  # it is open already: that it can't be opened again says nothing
            continue
        if state.usage >= Usage.LOCKED:
            yield Concern(
                "source-in-use",
                "warning",
                f"{layer.path} {state.reason}. If it changes meanwhile, the conversion fails.",
                "shut the machine down first, or let QEMU make the copy (drive-backup)",
            )


def _about_form(options: ConvertOptions, source: OpenedImage) -> Iterator[Concern]:
    """What the form of the target changes, apart from what is lost."""
    report = source.report
    qcow2 = options.target_format == "qcow2"
    if qcow2 and options.extended_l2:
        yield Concern(
            "extended-l2-readers",
            "note",
            "Extended L2 entries need QEMU 5.2 or newer; most other programs can't read them.",
        )
    if len(source.chain) > 1 and not options.keep_backing and options.backing_file is None:
        count = format_count(len(source.chain) - 1, "backing file")
        hint = "a qcow2 image can go on needing its backing file (--keep-backing)" if qcow2 else ""
        message = f"The result holds the whole disk, and no longer needs the source's {count}."
        yield Concern("backing-flattened", "note", message, hint)
    if report is None:
        return
    if report.header.has_data_file:
        message = "The data of the source's external data file become part of the result."
        yield Concern("data-file-merged", "note", message)
    lazy = report.header.compatible_features & Compatible.LAZY_REFCOUNTS
    if qcow2 and lazy and not options.lazy_refcounts:
        message = "The source has lazy refcounts; the result has none."
        hint = "choose them, if you want them kept (-o lazy_refcounts=on)"
        yield Concern("lazy-refcounts-lost", "note", message, hint)


def _about_growth(
    options: ConvertOptions, source: OpenedImage, expected: ExpectedSize
) -> Iterator[Concern]:
    size = expected.expected_bytes
    now = _space_of(source)
    if size is None or size <= now * _GROWTH or size < now + _LEAST_GROWTH_BYTES:
        return
    stored = max(1, expected.stored_bytes)
    told = f"expect {format_size(size)} instead of {format_size(now)}"
    packed = expected.compressed_bytes / stored
    below = expected.by_base_bytes / stored
    if options.compression == "none" and packed >= _WORTH_NAMING:
        message = (
            f"{packed:.0%} of what the source stores is compressed; without compression {told}."
        )
        hint = "" if options.target_format == "raw" else "choose zlib or zstd"
    elif below >= _WORTH_NAMING:
        message = f"{below:.0%} of the disk's data lies in backing files: {told}."
        hint = "" if options.target_format == "raw" else "keep the backing file (--keep-backing)"
    else:
        message = f"The result will be larger than the source: {told}."
        hint = ""
    yield Concern("grows", "warning", message, hint)


def _space_of(source: OpenedImage) -> int:
    """What the source itself takes: holes in its file take nothing."""
    layer = source.chain[0]
    try:
        blocks = getattr(layer.path.stat(), "st_blocks", None)
    except OSError:
        return layer.file_bytes
    return layer.file_bytes if blocks is None else min(layer.file_bytes, blocks * 512)


def _about_space(
    options: ConvertOptions, expected: ExpectedSize, place: FileSystem
) -> Iterator[Concern]:
    """Whether the target fits into its file system."""
    length = expected.length_bytes
    called = f"The file system there ({place.name})" if place.name else "The file system there"
    taken = expected.reserved_bytes
    if length is not None and place.has_holes is False:
        taken = length
    if length is not None and place.has_holes is False and expected.most_bytes < length:
        yield Concern(
            "no-holes",
            "warning",
            f"{called} has no holes: the result will take all of its {format_size(length)}, "
            f"although the source stores only {format_size(expected.stored_bytes)}.",
            "a qcow2 image without preallocation takes no space for what is empty",
        )
    yield from _about_length(expected, place, called)
    if place.free_bytes is None:
        return
    if taken > place.free_bytes:
        message = f"The result takes {format_size(taken)}, and {_free(place)}."
        yield Concern("too-little-space", "stop", message, "choose a place with more")
    elif not taken:
        yield from _about_room(expected, place)
        yield from _about_holes(options, expected)


def _about_length(expected: ExpectedSize, place: FileSystem, called: str) -> Iterator[Concern]:
    """Whether the file would be too long for the file system."""
    most = place.max_file_bytes
    if most is None:
        return
    message = f"{called} takes no file of {format_size(most + 1)} or more"
    hint = "choose a place with another file system, such as exFAT"
    if expected.length_bytes is not None:
        if expected.length_bytes > most:
            size = format_size(expected.length_bytes)
            yield Concern("file-too-long", "stop", f"{message}; the result has {size}.", hint)
        return
    found = expected.forecast
    if found is not None and found.low > most:
        size = format_size(round(found.expected))
        yield Concern("file-too-long", "stop", f"{message}; expect about {size}.", hint)
    elif (found.high if found is not None else expected.most_bytes) > most:
        size = format_size(round(found.high) if found is not None else expected.most_bytes)
        yield Concern(
            "file-too-long", "warning", f"{message}; the result may have up to {size}.", hint
        )


def _about_room(expected: ExpectedSize, place: FileSystem) -> Iterator[Concern]:
    """Whether a target whose size is not known for sure may not fit."""
    if place.free_bytes is None:
        return
    found = expected.forecast
    most = round(found.high) if found is not None else expected.most_bytes
    if most <= place.free_bytes:
        return
    # Without a forecast nobody knows what compression will save.
    known = expected.expected_bytes is not None
    saved = "" if known else " before compression"
    yield Concern(
        "too-little-space",
        "warning" if known else "note",
        f"The result may take up to {format_size(most)}{saved}, and {_free(place)}.",
        "choose a place with more" if known else "a forecast tells more",
    )


def _about_holes(options: ConvertOptions, expected: ExpectedSize) -> Iterator[Concern]:
    if expected.length_bytes is None:
        return
    # It refuses nothing here: zeros become holes.
    message = check_room(options.target, expected.length_bytes, sparse=True)
    if message:
        yield Concern("fits-with-holes-only", "note", message)


def _free(place: FileSystem) -> str:
    return f"{format_size(place.free_bytes or 0)} are free"
