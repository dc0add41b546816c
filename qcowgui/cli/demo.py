"""`qcowgui demo`: sample images made by this program's own converter, inspected and converted."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from qcowgui.cli import interrupts, output, window
from qcowgui.cli.info_json import image_info
from qcowgui.cli.info_text import print_info
from qcowgui.cli.layers import Inspected, inspect_file
from qcowgui.cli.output import Column, Table
from qcowgui.cli.progress import format_seconds
from qcowgui.errors import OutputError
from qcowgui.format.features import Incompatible
from qcowgui.format.fields import HEADER_FIELDS, field_named
from qcowgui.image.inspect import inspect
from qcowgui.image.references import DENY
from qcowgui.image.source import FileSource
from qcowgui.units import KIB, MIB, format_size

if TYPE_CHECKING:
    from qcowgui.convert.job import ConvertResult
    from qcowgui.engine.work import Executor

_DISK_BYTES: Final = 64 * MIB
_TEXT_BYTES: Final = 12 * MIB
_NOISE_BYTES: Final = 6 * MIB
_WORDS: Final = (
    "cluster guest host table entry snapshot offset refcount block header image layer backing "
    "bitmap extension descriptor payload sector virtual disk"
)
_FILES: Final = (
    "sample.raw",
    "healthy.qcow2",
    "zlib.qcow2",
    "zstd.qcow2",
    "damaged.qcow2",
    "report.json",
    "window.png",
)


@dataclass(frozen=True, slots=True)
class _Step:
    """A conversion that was done: from which file to which, and what came of it."""

    source: str
    target: str
    result: ConvertResult


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
        from qcowgui.engine.qpool import QPoolExecutor

    folder = _prepare(folder, force=force)
    output.print_line(f"Sample images in {folder}", style="bold")
    with QPoolExecutor() as executor:
        steps = _make_images(folder, executor)
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


def _make_images(folder: Path, executor: Executor) -> list[_Step]:
    """Make the sample files; what each conversion took, the last one zlib → zstd."""
    try:
        write_sample(folder / "sample.raw")
        steps = [
            _convert(folder, "sample.raw", "healthy.qcow2", "none", executor),
            _convert(folder, "sample.raw", "zlib.qcow2", "zlib", executor),
            _convert(folder, "zlib.qcow2", "zstd.qcow2", "zstd", executor),
        ]
        damage(folder / "healthy.qcow2", folder / "damaged.qcow2")
    except OSError as error:
        raise OutputError(
            f"the samples can't be written to {folder}: {error.strerror}",
            path=str(folder),
            errno=error.errno,
        ) from error
    return steps


def write_sample(path: Path) -> None:
    """Write a raw disk of 64 MiB: text, then noise, with holes between and behind them.

    The same bytes each time.
    """
    chance = random.Random(2)  # noqa: S311  sample data
    with path.open("wb") as file:
        file.truncate(_DISK_BYTES)
        file.seek(MIB)
        for part in _iter_text(chance, _TEXT_BYTES):
            file.write(part)
        file.seek(_DISK_BYTES // 2)
        file.write(chance.randbytes(_NOISE_BYTES))


def _iter_text(chance: random.Random, size_bytes: int) -> Iterator[bytes]:
    """`size_bytes` of words in random order, in parts."""
    words = _WORDS.split()
    left = size_bytes
    while left:
        part = " ".join(chance.choices(words, k=16 * KIB)).encode()[:left]
        left -= len(part)
        yield part


def _convert(folder: Path, source: str, target: str, compression: str, executor: Executor) -> _Step:
    with interrupts.held_back():
        from qcowgui.convert.job import ConvertJob
        from qcowgui.convert.options import ConvertOptions

    options = ConvertOptions(
        folder / source,
        folder / target,
        target_format="qcow2",
        compression=compression,  # type: ignore[arg-type]
    )
    return _Step(source, target, ConvertJob(options).run(executor))


def damage(healthy: Path, damaged: Path) -> None:
    """Copy an image, mark it corrupt and let its refcount table start where its L1 table is."""
    shutil.copyfile(healthy, damaged)
    header = inspect(healthy).header
    edits = {
        "refcount_table_offset": header.l1_table_offset,
        "incompatible_features": header.incompatible_features | Incompatible.CORRUPT,
    }
    with damaged.open("r+b") as file:
        for name, value in edits.items():
            field = field_named(HEADER_FIELDS, name)
            file.seek(field.offset)
            file.write(value.to_bytes(field.width_bytes, "big"))


def _look(path: Path) -> Inspected:
    with FileSource(path) as source:
        return inspect_file(source, None)


def _figures(steps: Sequence[_Step]) -> Table:
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
