"""`qcowgui map`: the extents of the guest's disk, printed as they are found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Final

import click

from qcowgui.cli import output, parameters
from qcowgui.image.chain import OpenedImage, open_image
from qcowgui.image.layer import Extent, ExtentKind

_STORED: Final = frozenset({ExtentKind.DATA, ExtentKind.COMPRESSED})
_TRUTH: Final = {
    ExtentKind.UNALLOCATED: '"present": false, "zero": true, "data": false',
    ExtentKind.ZERO: '"present": true, "zero": true, "data": false',
    ExtentKind.DATA: '"present": true, "zero": false, "data": true',
    ExtentKind.COMPRESSED: '"present": true, "zero": false, "data": true',
}
"""What qemu-img says of each kind."""


@click.command("map", cls=parameters.GatedCommand)
@parameters.image_argument
@parameters.format_option
@parameters.output_options
@click.option(
    "-s",
    "--start-offset",
    "start",
    metavar="SIZE",
    default="0",
    callback=parameters.parse_size_option,
    help="First guest byte to show.",
)
@click.option(
    "-l",
    "--max-length",
    "length",
    metavar="SIZE",
    callback=parameters.parse_size_option,
    help="Guest bytes to show; by default all.",
)
@click.option("--snapshot", metavar="SNAP", help="Show this internal snapshot, by name or id.")
@click.option(
    "--no-backing",
    is_flag=True,
    help="Show the image's own layer alone; what it leaves to its backing file counts as absent.",
)
@parameters.allow_backing_option
@parameters.share_option
def command(
    image: str,
    image_format: str | None,
    output: str,
    start: int,
    length: int | None,
    snapshot: str | None,
    no_backing: bool,
    allow_backing: tuple[str, ...],
) -> None:
    """Show which ranges of IMAGE's guest disk hold data, zeros or nothing.

    The JSON is that of qemu-img 8.2 and later. For people only stored ranges are listed, the
    compressed ones too, which qemu-img refuses to list.
    """
    with closing(
        open_image(
            image,
            format=image_format,
            gate=parameters.gate_for(allow_backing),
            snapshot=snapshot,
            follow=not no_backing,
        )
    ) as opened:
        end = None if length is None else start + length
        extents = opened.iter_extents(start, end) if start < opened.size_bytes else iter(())
        if output == "json":
            _print_json(extents)
        else:
            _print_text(opened, extents)


def extent_json(extent: Extent) -> str:
    """An extent as `qemu-img map --output=json` describes it; offsets and lengths in bytes.

    Put together by hand: an encoder call takes as long as finding the extent (2026-11-30).
    """
    start, length, kind, depth, host_offset = extent
    compressed = kind is ExtentKind.COMPRESSED
    at = "" if host_offset is None or compressed else f', "offset": {host_offset}'
    return (
        f'{{"start": {start}, "length": {length}, "depth": {depth}, {_TRUTH[kind]}, '
        f'"compressed": {"true" if compressed else "false"}{at}}}'
    )


def _print_json(extents: Iterator[Extent]) -> None:
    output.print_json_stream(map(extent_json, extents))
    output.print_text("\n")


def _print_text(opened: OpenedImage, extents: Iterator[Extent]) -> None:
    """Print qemu-img's four columns, each line as soon as its extent is known."""
    names = [output.printable(layer.name) for layer in opened.layers]
    output.print_text(f"{'Offset':<16}{'Length':<16}{'Mapped to':<16}File\n")
    for extent in extents:
        if extent.kind in _STORED:
            host = _host_text(extent)
            start, length = f"{extent.start:#x}", f"{extent.length:#x}"
            output.print_text(f"{start:<16}{length:<16}{host:<16}{names[extent.depth]}\n")


def _host_text(extent: Extent) -> str:
    if extent.kind is ExtentKind.COMPRESSED:
        return "compressed"
    return "several places" if extent.host_offset is None else f"{extent.host_offset:#x}"
