"""`qcowgui info`: what an image is, from its metadata alone.

It answers for any file that has the magic, however damaged, and for raw disks; the exit status is
good whenever it could. What is in another format is named, with exit status 63.
"""

from __future__ import annotations

from collections.abc import Iterator

import click

from qcowgui.cli import output, parameters
from qcowgui.cli.layers import inspect_file, iter_chain
from qcowgui.errors import QcowError
from qcowgui.image.references import Gate
from qcowgui.image.source import FileSource
from qcowgui.report.inspected import Inspected


@click.command("info", cls=parameters.GatedCommand)
@parameters.image_argument
@parameters.format_option
@parameters.output_options
@click.option("--backing-chain", is_flag=True, help="Show the backing files too, top to bottom.")
@click.option("--count", is_flag=True, help="Count stored clusters however large the tables are.")
@parameters.allow_backing_option
@parameters.share_option
def command(
    image: str,
    image_format: str | None,
    output: str,
    backing_chain: bool,
    count: bool,
    allow_backing: tuple[str, ...],
) -> None:
    """Show what IMAGE is: sizes, features, snapshots, bitmaps, encryption, findings.

    The JSON has qemu-img's keys, and ours under "qcowgui". Intended differences from qemu-img:
    damaged images are shown too; a backing file is opened only with --allow-backing; of an image
    with a data file actual-size counts the image alone.
    """
    parameters.check_format(image_format, image)
    gate = parameters.gate_for(allow_backing)
    show = _show_json if output == "json" else _show_text
    if not backing_chain:
        with FileSource(image) as source:
            found = inspect_file(source, image_format, count=count)
        show([found], gate, chain=False)
        return
    layers, error = _collect_chain(iter_chain(image, image_format, gate, count=count))
    show(layers, gate, chain=True)
    if error is not None:
        raise error


def _collect_chain(
    chain: Iterator[Inspected],
) -> tuple[list[Inspected], QcowError | None]:
    """The layers that can be looked at, and why there are no more if the chain goes on.

    Raises:
        QcowError: When not even the image itself can be looked at.
    """
    layers: list[Inspected] = []
    try:
        for layer in chain:
            layers.append(layer)  # noqa: PERF402  those before an error are kept
    except QcowError as error:
        if not layers:
            raise
        return layers, error
    return layers, None


def _show_json(layers: list[Inspected], gate: Gate, *, chain: bool) -> None:
    from qcowgui.report.info_object import image_info

    del gate
    found = [image_info(layer) for layer in layers]
    output.print_json(found if chain else found[0])


def _show_text(layers: list[Inspected], gate: Gate, *, chain: bool) -> None:
    from qcowgui.cli.info_text import print_info

    for depth, layer in enumerate(layers):
        if depth:
            output.print_line()
        print_info(layer, gate, depth=depth if chain else None)
