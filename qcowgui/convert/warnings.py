"""What a user should know of a conversion: what is not carried over, who can't read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from qcowgui.units import format_count, format_size

if TYPE_CHECKING:
    from qcowgui.convert.options import ConvertOptions
    from qcowgui.image.chain import OpenedImage
    from qcowgui.image.inspect import ImageReport
    from qcowgui.image.layer import LostRange

_MAX_NAMES = 8


def source_warnings(
    options: ConvertOptions, source: OpenedImage, losses: Sequence[LostRange] = ()
) -> Iterator[str]:
    """Warnings as whole sentences, the gravest first.

    Args:
        options: The conversion.
        source: The opened source.
        losses: What salvage could not read.
    """
    if losses:
        total = sum(lost.length for lost in losses)
        yield (
            f"{format_size(total)} in {format_count(len(losses), 'range')} could not be read and "
            "are zeros in the result."
        )
    report = source.report
    if report is not None:
        yield from _left_behind(report)
        if report.refusals:
            yield (
                "QEMU would refuse to open the source: "
                + " ".join(found.message for found in report.refusals)
            )
        if report.header.corrupt:
            yield "The source is marked as corrupt: check it before you trust the result."
    if source.prerelease_seen:
        yield (
            "The source's zstd clusters have the layout from before QEMU 5.1 was released; "
            "released versions of QEMU can't read them."
        )
    for layer in source.chain[1:]:
        if layer.format_guessed:
            yield (
                f"The recorded format of the backing file {layer.path} is missing or not one that "
                f"this program knows; it was read as {layer.format}, as its content shows."
            )
    if options.target_format == "qcow2" and options.compression == "zstd":
        yield "The result needs QEMU 5.1 or newer; several other programs can't read zstd clusters."


def _left_behind(report: ImageReport) -> Iterator[str]:
    """What the source has and a converted image does not."""
    snapshots = [
        _quoted(snapshot.name) + ("" if snapshot.name else f" (id {_quoted(snapshot.id)})")
        for snapshot in report.snapshots
    ]
    extension = report.bitmaps_extension
    bitmaps = [_quoted(bitmap.name) for bitmap in report.bitmaps]
    for what, names, claimed in (
        ("Internal snapshots", snapshots, report.header.nb_snapshots),
        ("Bitmaps", bitmaps, extension.nb_bitmaps if extension is not None else 0),
    ):
        if names:
            # Those behind a damaged entry have no name, but count.
            yield f"{what} are not carried over: {_names(names, max(claimed, len(names)))}."
        elif claimed:
            yield f"{what} are not carried over: {claimed:,}, in a table that can't be read."


def _quoted(name: str) -> str:
    """A name between quotes, so that an empty one is seen and a comma in one divides nothing."""
    escaped = name.replace('"', '\\"')
    return f'"{escaped}"'


def _names(names: Sequence[str], count: int) -> str:
    """The first few names, and how many of `count` were left out."""
    shown = names[:_MAX_NAMES]
    more = count - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")
