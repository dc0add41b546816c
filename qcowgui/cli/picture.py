"""`qcowgui picture`: the cluster map as a PNG file; also what thumbnails are made by."""

from __future__ import annotations

from pathlib import Path

import click

from qcowgui.cli import interrupts, parameters
from qcowgui.cli.collector import paused
from qcowgui.image.source import FileSource


@click.command("picture")
@parameters.image_argument
@click.option(
    "-o", "--output", "target", type=click.Path(path_type=Path), metavar="OUT", required=True,
    help="The PNG file to write.",
)  # fmt: skip
@click.option(
    "--size",
    "side",
    type=click.IntRange(16, 8192),
    metavar="PIXELS",
    default=512,
    show_default=True,
    help="The most it may be wide and high.",
)
@click.option("--dark", is_flag=True, help="For a dark background.")
@click.option("--force", is_flag=True, help="Replace an existing OUT, once all went well.")
@parameters.share_option
def command(image: str, target: Path, side: int, dark: bool, force: bool) -> None:
    """Draw IMAGE's cluster map: a cell for each cluster of the file, or for the worst of several.

    The colours are those of the window, where a legend explains them. Only metadata is read, and no
    file that IMAGE refers to.
    """
    with interrupts.held_back(), paused():
        from qcowgui.convert.output import OutputFile, check_target
        from qcowgui.desktop.picture import cluster_picture

    check_target(target, overwrite=force)
    with FileSource(image) as source:
        png = cluster_picture(source, side, dark=dark)
    with OutputFile(target, overwrite=force) as output:
        output.write_at(0, png)
        output.commit()
