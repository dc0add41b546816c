"""`qcowgui measure`: how large a target may become, in qemu-img's figures."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import click

from qcowgui.cli import output, parameters
from qcowgui.cli.target_options import CONVERT_PARSERS, choose_backing, parse_key_values
from qcowgui.errors import OptionsError
from qcowgui.units import format_size

if TYPE_CHECKING:
    from qcowgui.convert.measure import Measurement
    from qcowgui.convert.options import ConvertOptions, TargetFormat

_HELP: Final = """Show how large IMAGE, or a new image of --size, may become as an -O target.

"Required" is enough for what is stored now, "fully allocated" for a disk whose guest has written
every cluster. Compression is left out, as with qemu-img: "forecast" tells of compressed sizes.

\b
-o keys: cluster_size=SIZE, compat=0.10|1.1 (or v2|v3), refcount_bits=N,
  extended_l2=on|off, lazy_refcounts=on|off, compression_type=zlib|zstd,
  backing_file=FILE, backing_fmt=FMT (not opened),
  preallocation=off|metadata|falloc|full (the only one of a raw target)
"""
_DIRECT_KEYS: Final = (
    "compat",
    "refcount_bits",
    "extended_l2",
    "lazy_refcounts",
    "preallocation",
)


@click.command("measure", cls=parameters.GatedCommand, help=_HELP)
@click.argument("image", required=False, type=click.Path())
@parameters.format_option
@click.option(
    "-O", "target_format", metavar="FMT", default="raw", help="raw (the default) or qcow2."
)
@click.option("-o", "key_values", multiple=True, metavar="KEY=VALUE,…", help="See above.")
@click.option("-l", "snapshot", metavar="SNAP", help="Measure this snapshot, by name or id.")
@click.option(
    "--size",
    "size_bytes",
    metavar="SIZE",
    callback=parameters.parse_size_option,
    help="Measure a new image of this size instead.",
)
@parameters.output_options
@parameters.allow_backing_option
@parameters.share_option
def command(
    image: str | None,
    image_format: str | None,
    target_format: str,
    key_values: tuple[str, ...],
    snapshot: str | None,
    size_bytes: int | None,
    output: str,
    allow_backing: tuple[str, ...],
) -> None:
    """Show what a target may take; see `_HELP`."""
    from qcowgui.convert.measure import measure_new, measure_source
    from qcowgui.image.chain import open_image

    if (image is None) == (size_bytes is None):
        raise OptionsError("Either an IMAGE or --size is needed, and not both")
    options = _options(image, target_format, parse_key_values(key_values, CONVERT_PARSERS))
    if image is None:
        if snapshot is not None or image_format is not None:
            raise OptionsError("-l and -f belong to an IMAGE, and --size was given")
        measured = measure_new(options, cast("int", size_bytes))
    else:
        parameters.check_format(image_format, image)
        gate = parameters.gate_for(allow_backing)
        with closing(
            # A raw target is as long as the disk, whatever any file stores.
            open_image(
                image,
                format=image_format,
                gate=gate,
                snapshot=snapshot,
                follow=options.target_format != "raw",
            )
        ) as source:
            measured = measure_source(options, source)
    _show(measured, as_json=output == "json")


def _options(image: str | None, target_format: str, keys: dict[str, Any]) -> ConvertOptions:
    """The target as the options of a conversion, whose rules it shares; it is never made.

    Raises:
        OptionsError: When the options contradict each other or the format.
    """
    from qcowgui.convert.options import DEFAULT_CLUSTER_BYTES, ConvertOptions

    if target_format == "raw" and (others := [key for key in keys if key != "preallocation"]):
        raise OptionsError(
            f"A raw target has no options but preallocation, and -o {', '.join(others)} was given",
            hint="-O qcow2 measures a qcow2 image",
        )
    backing_file, backing_format = choose_backing(None, None, keys)
    if backing_file is not None:
        # qemu-img measure asks for none, and the figures don't depend on it.
        backing_format = backing_format or "raw"
    return ConvertOptions(
        source=Path(image or ""),
        target=Path(),
        target_format=cast("TargetFormat", target_format),
        backing_file=backing_file,
        backing_format=backing_format,
        cluster_bytes=keys.get("cluster_size", DEFAULT_CLUSTER_BYTES),
        **{key: keys[key] for key in _DIRECT_KEYS if key in keys},
    )


def _show(measured: Measurement, *, as_json: bool) -> None:
    """Print the figures under qemu-img's names."""
    bitmaps = measured.bitmaps_bytes
    if as_json:
        sizes = {} if bitmaps is None else {"bitmaps": bitmaps}
        sizes["required"] = measured.required_bytes
        sizes["fully-allocated"] = measured.fully_allocated_bytes
        output.print_json(sizes)
        return
    rows = [
        ("required size", measured.required_bytes),
        ("fully allocated size", measured.fully_allocated_bytes),
    ]
    if bitmaps is not None:
        rows.append(("bitmaps size", bitmaps))
    for name, size in rows:
        output.print_line(f"{name}: {size} ({format_size(size)})")
