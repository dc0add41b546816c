"""Whether a file that is there could be the result of a conversion: by its content and shape."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from qcowgui.convert.carried_bitmaps import BitmapSource
from qcowgui.convert.compare import first_difference
from qcowgui.convert.kept_backing import gate_with_backing, with_named_backing
from qcowgui.engine.work import CancelToken, Counter, Executor
from qcowgui.errors import ImageError, ReferencedFileError
from qcowgui.format.features import Compatible
from qcowgui.image.chain import OpenedImage, open_image
from qcowgui.image.layer import ExtentKind, LostRange
from qcowgui.image.references import Gate
from qcowgui.units import SECTOR_BYTES, format_offset

if TYPE_CHECKING:
    from qcowgui.convert.options import ConvertOptions
    from qcowgui.image.inspect import ImageReport


class Likeness(NamedTuple):
    """What a comparison has found.

    Attributes:
        difference: Why the file is not the result, as the end of a sentence about it; empty when it
            could be the result.
        losses: With salvage: what could not be read of the source.
    """

    difference: str
    losses: tuple[LostRange, ...] = ()


def opened_source(options: ConvertOptions, gate: Gate) -> OpenedImage:
    """The source of a conversion, as the conversion opens it.

    Raises:
        QcowError: When it can't be opened.
    """
    return open_image(
        options.source,
        format=options.source_format,
        gate=gate_with_backing(options, gate),
        snapshot=options.snapshot,
        salvage=options.salvage,
    )


def compare_result(
    options: ConvertOptions,
    gate: Gate,
    executor: Executor,
    token: CancelToken,
    *,
    counter: Counter | None = None,
    tick: Callable[[], None] | None = None,
) -> Likeness:
    """Compare a conversion's target with what the conversion would make.

    The level and the window of a compression and the holes of a raw file don't tell, nor whether
    space was set aside with zeros or without: a file that is as the result may have been made with
    others.

    Args:
        options: The conversion.
        gate: Decides whether backing and data files may be opened.
        executor: Where to compare.
        token: Stops the comparison.
        counter: Gets guest bytes as they are compared.
        tick: Called now and then in this thread.

    Raises:
        QcowError: When one of the two can't be read.
        OSError: When the target has gone.
        Cancelled: When the token was set.
    """
    with ExitStack() as files:
        source = files.enter_context(opened_source(options, gate))
        named = with_named_backing(options, source)
        try:
            written = files.enter_context(
                open_image(
                    options.target,
                    format=options.target_format,
                    gate=gate_with_backing(named, gate),
                )
            )
        except ReferencedFileError as error:
            if error.reason == "denied":  # what the result refers to is allowed
                return Likeness("refers to another file than the result would")
            return Likeness(f"can't be read: {error.message}")
        except ImageError as error:
            return Likeness(f"is not its result: {error.message}")
        difference = (
            _size_difference(source, written)
            or _shape_difference(named, written, token)
            or _preallocation_difference(named, written)
        )
        if not difference:
            difference = _content_difference(source, written, executor, token, counter, tick)
        if not difference:
            difference = _bitmap_difference(named, source, written, token)
        source.require_unchanged()
        written.require_unchanged()
        losses = tuple(source.losses.ranges()) if source.losses is not None else ()
    return Likeness(difference, losses)


def _size_difference(source: OpenedImage, written: OpenedImage) -> str:
    if written.chain[0].identity in source.identities:
        return "is a file that the source is read from"
    if written.size_bytes != source.size_bytes:
        return f"is a disk of {written.size_bytes:,} bytes, the source of {source.size_bytes:,}"
    return ""


def _content_difference(
    source: OpenedImage,
    written: OpenedImage,
    executor: Executor,
    token: CancelToken,
    counter: Counter | None,
    tick: Callable[[], None] | None,
) -> str:
    target = str(written.chain[0].path)
    try:
        found = first_difference(source, written, executor, token=token, counter=counter, tick=tick)
    except ImageError as error:
        if error.path != target:
            raise
        return f"is damaged: {error.message}"
    return (
        "" if found is None else f"differs from the source at guest offset {format_offset(found)}"
    )


def _shape_difference(named: ConvertOptions, written: OpenedImage, token: CancelToken) -> str:
    """How the file's structure is other than asked for.

    Args:
        named: The options, whose backing file is a name, if the result has one.
        written: The file.
        token: Stops the walk over its extents.
    """
    report = written.report
    if report is None:
        return ""
    if report.refusals:
        return f"is damaged: {report.refusals[0].message}"
    if report.header.nb_snapshots:
        return "has internal snapshots"
    backing = named.backing_file
    if report.backing_name_raw != (b"" if backing is None else os.fsencode(backing)):
        return "has another backing file" if report.backing_name_raw else "has no backing file"
    if report.backing_format != named.backing_format:
        return "has a backing file of another format"
    return _geometry_difference(named, report) or _compression_difference(named, written, token)


def _geometry_difference(options: ConvertOptions, report: ImageReport) -> str:
    header = report.header
    lazy = bool(header.compatible_features & Compatible.LAZY_REFCOUNTS)
    facts = {
        "compat level": (header.compat, options.compat),
        "cluster size": (header.cluster_bits, options.cluster_bits),
        "width of refcounts": (header.refcount_order, options.refcount_order),
        "kind of L2 entries": (header.extended_l2, options.extended_l2),
        "setting for lazy refcounts": (lazy, options.lazy_refcounts),
    }
    others = [name for name, (there, asked) in facts.items() if there != asked]
    return f"has another {others[0]}" if others else ""


def _compression_difference(
    options: ConvertOptions, written: OpenedImage, token: CancelToken
) -> str:
    """Whether data is compressed as asked; what does not compress is stored as it is."""
    kinds = set()
    for extent in written.iter_extents(with_hosts=False):
        token.raise_if_cancelled()
        if extent.depth == 0:  # the backing file's are not of this conversion
            kinds.add(extent.kind)
    asked, report = options.compression, written.report
    if asked == "none":
        return "is compressed" if ExtentKind.COMPRESSED in kinds else ""
    if report is not None and report.header.compression_name != asked:
        return f"is not compressed with {asked}"
    is_plain = ExtentKind.COMPRESSED not in kinds and ExtentKind.DATA in kinds
    return "is not compressed" if is_plain else ""


def _preallocation_difference(options: ConvertOptions, written: OpenedImage) -> str:
    """Whether what should be set aside is; more than asked for is no difference."""
    if options.preallocation == "off":
        return ""
    if options.target_format == "qcow2":
        extents = written.iter_extents(with_hosts=False)
        if any(extent.kind is not ExtentKind.DATA for extent in extents):
            return "has no place for each of its clusters"
    if options.preallocation == "metadata":
        return ""
    status = options.target.stat()
    blocks = getattr(status, "st_blocks", None)  # in 512 bytes; Windows does not tell
    if blocks is None or blocks * SECTOR_BYTES < status.st_size:
        return "takes less space than it is long"
    return ""


def _bitmap_difference(
    options: ConvertOptions, source: OpenedImage, written: OpenedImage, token: CancelToken
) -> str:
    there = bool(written.report is not None and written.report.bitmaps)
    report, layer = source.report, source.chain[0]
    if not options.bitmaps or report is None or not report.bitmaps:
        return "has bitmaps" if there else ""
    with BitmapSource(layer.path, layer.identity, report, token) as bitmaps:
        lost = bitmaps.first_difference(options.target)
    return "" if lost is None else f"has not the bitmap {lost!r} as the source has it"
