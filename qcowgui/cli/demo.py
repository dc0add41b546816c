"""`qcowgui demo`: sample images made by this program's own converter, inspected and converted."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from qcowgui.cli import interrupts, output, window
from qcowgui.cli.info_text import print_info
from qcowgui.cli.layers import inspect_file
from qcowgui.cli.output import Column, Table
from qcowgui.cli.progress import format_seconds
from qcowgui.errors import OutputError
from qcowgui.image.references import DENY
from qcowgui.image.source import FileSource
from qcowgui.report.info_object import image_info
from qcowgui.report.inspected import Inspected
from qcowgui.units import format_size

if TYPE_CHECKING:
    from qcowgui.convert.samples import SampleStep

_FILES: Final = (
    "sample.raw",
    "healthy.qcow2",
    "zlib.qcow2",
    "zstd.qcow2",
    "damaged.qcow2",
    "report.json",
    "window.png",
)


@click.command("demo")
@click.option(
    "--out",
    "folder",
    type=click.Path(path_type=Path),
    help="The folder to make the files in; by default a new one for temporary files.",
)
@click.option("--force", is_flag=True, help="Replace the files of an earlier demo in that folder.")
@click.option(
    "--no-window", is_flag=True, help="Draw the window into a file instead of opening it."
)
def command(folder: Path | None, force: bool, no_window: bool) -> int | None:
    """Make sample images, inspect one, convert zlib to zstd, and show the window.

    The images: healthy, zlib- and zstd-compressed, and a damaged one. Where no display is, a
    report and a picture of the window are written beside them.
    """
    with interrupts.held_back():
        from qcowgui.convert.samples import make_samples
        from qcowgui.engine.qpool import QPoolExecutor

    folder = _prepare(folder, force=force)
    output.print_line(f"Sample images in {folder}", style="bold")
    with QPoolExecutor() as executor:
        steps = make_samples(folder, executor)
    output.print_line()
    print_info(_look(folder / "zlib.qcow2"), DENY)
    output.print_line()
    output.print_table(_figures(steps))
    images = [folder / name for name in _FILES if name.endswith(".qcow2")]
    if window.has_visible_display() and not no_window:
        return window.open_window([str(image) for image in images])
    _write_report(folder, images)
    window.screenshot(images, folder / "window.png")
    output.print_line(f"No window was opened: see {folder / 'report.json'} and window.png there")
    return None


def _prepare(folder: Path | None, *, force: bool) -> Path:
    """The folder for the files, made if needed; files of an earlier demo are removed on request.

    Raises:
        OutputError: When it can't be made, or holds such files and they may not be replaced.
    """
    if folder is None:
        return Path(tempfile.mkdtemp(prefix="qcowgui-demo-"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in _FILES:
            if (folder / name).exists() and not force:
                raise OutputError(
                    f"{folder / name} exists already",
                    path=str(folder / name),
                    hint="choose another folder, or replace the files with --force",
                )
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(
            f"{folder} can't be used: {error.strerror}", path=str(folder), errno=error.errno
        ) from error
    return folder


def _look(path: Path) -> Inspected:
    with FileSource(path) as source:
        return inspect_file(source, None)


def _figures(steps: Sequence[SampleStep]) -> Table:
    columns = (
        Column("source", "from"),
        Column("target", "to"),
        Column("source-bytes", "file before", right=True),
        Column("target-bytes", "file after", right=True),
        Column("time", "time", right=True),
        Column("verified", "verified"),
    )
    rows = [
        (
            step.source,
            step.target,
            format_size(step.result.source_bytes),
            format_size(step.result.target_bytes),
            format_seconds(step.result.seconds),
            step.result.verified,
        )
        for step in steps
    ]
    return Table("conversions", "Conversions", columns, rows)


def _write_report(folder: Path, images: Sequence[Path]) -> None:
    report: list[dict[str, Any]] = [image_info(_look(image)) for image in images]
    (folder / "report.json").write_text(output.json_text(report), encoding="ascii")
