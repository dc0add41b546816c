"""What a user should know of a conversion: what is not carried over, who can't read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from qcowgui.units import format_count, format_size

if TYPE_CHECKING:
    from qcowgui.convert.options import ConvertOptions
    from qcowgui.image.chain import OpenedImage
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
        if report.snapshots:
            names = [snapshot.name or snapshot.id for snapshot in report.snapshots]
            yield f"Internal snapshots are not carried over: {_names(names)}."
        if report.bitmaps:
            yield f"Bitmaps are not carried over: {_names([item.name for item in report.bitmaps])}."
        if report.refusals:
            yield (
                "QEMU would refuse to open the source: "
                + " ".join(found.message for found in report.refusals)
            )
        if report.header.corrupt:
            yield "The source is marked as corrupt: check it before you trust the result."
    for layer in source.chain[1:]:
        if layer.format_guessed:
            yield (
                f"The format of the backing file {layer.path} is not recorded; "
                f"it was read as {layer.format}, as its content shows."
            )
    if options.target_format == "qcow2" and options.compression == "zstd":
        yield "The result needs QEMU 5.1 or newer; several other programs can't read zstd clusters."


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MAX_NAMES])
    more = len(names) - _MAX_NAMES
    return f"{shown} and {more} more" if more > 0 else shown
