"""`qcowgui convert`: raw and qcow2, each to each."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import click

from qcowgui.cli import interrupts, output, parameters, progress
from qcowgui.cli.collector import paused
from qcowgui.cli.progress import State, format_seconds
from qcowgui.cli.target_options import (
    choose_backing,
    choose_compression,
    choose_format,
    parse_key_values,
)
from qcowgui.errors import OptionsError, QcowError
from qcowgui.units import format_offset, format_size

if TYPE_CHECKING:
    from qcowgui.convert.job import ConvertJob, ConvertResult
    from qcowgui.convert.options import Compression, ConvertOptions, TargetFormat
    from qcowgui.image.references import Gate

_SAME_NAMES: Final = (
    "source_format",
    "level",
    "window",
    "sparse_bytes",
    "snapshot",
    "threads",
    "verify",
    "salvage",
)
"""Parameters that `ConvertOptions` has under the same name."""
_DIRECT_KEYS: Final = frozenset(
    {"cluster_size", "compat", "refcount_bits", "extended_l2", "lazy_refcounts"}
)
"""Keys of `-o` that are one option of `ConvertOptions` each."""
_HELP: Final = """Convert SOURCE to TARGET, which appears whole or not at all.

\b
-o keys: compression_type=zlib|zstd, cluster_size=SIZE,
  compat=0.10|1.1 (or v2|v3), refcount_bits=N, extended_l2=on|off,
  lazy_refcounts=on|off, backing_file=FILE, backing_fmt=FMT

Intended differences from qemu-img: without -O the target's name decides; an existing target is
replaced only with --force; the result is verified; a backing file is opened only with
--allow-backing; data that can't be read is an error. As with qemu-img, -o compression_type alone
compresses nothing: add -c, or use --compress.
"""


@click.command("convert", cls=parameters.GatedCommand, help=_HELP)
@click.argument("source", type=click.Path(), metavar="SOURCE")
@click.argument("target", type=click.Path(), metavar="TARGET")
@click.option("-f", "source_format", metavar="FMT", help="The source's format: qcow2 or raw.")
@click.option(
    "-O",
    "target_format",
    metavar="FMT",
    help="The target's format: qcow2 or raw. Without, its name decides: .qcow2 and .qcow are "
    "qcow2, anything else is raw.",
)
@click.option("-c", "compress_flag", is_flag=True, help="Compress, by default with zlib.")
@click.option(
    "--compress", type=click.Choice(["zlib", "zstd"]), help="Compress with this type; implies -c."
)
@click.option("--level", type=int, metavar="N", help="Compression level: zlib 0–12, zstd 1–22.")
@click.option(
    "--window",
    type=click.Choice(["4k", "32k"]),
    default="32k",
    help="Deflate's history: 32k (smaller), or 4k as qemu-img writes it.",
)
@click.option("-o", "key_values", multiple=True, metavar="KEY=VALUE,…", help="See above.")
@click.option(
    "-S",
    "sparse_bytes",
    metavar="SIZE",
    default="4k",
    callback=parameters.parse_size_option,
    help="Zeros of this length become holes in a raw target; 0: none do. Default 4k.",
)
@click.option("-l", "snapshot", metavar="SNAP", help="Convert this snapshot, by name or id.")
@click.option("-B", "backing_file", metavar="FILE", help="The backing file that the target keeps.")
@click.option("-F", "backing_format", metavar="FMT", help="The format of that backing file.")
@click.option(
    "-m", "--threads", type=int, metavar="N", help="Threads to work with; by default one a core."
)
@click.option("--verify/--no-verify", default=True, help="Read the result again and compare.")
@click.option("--salvage", is_flag=True, help="Write zeros for what can't be read, and list it.")
@click.option("--force", is_flag=True, help="Replace an existing target, once all went well.")
@click.option("-n", "no_create", is_flag=True, hidden=True)
@click.option("-W", "out_of_order", is_flag=True, expose_value=False, help="Accepted; no matter.")
@click.option("-p", "show_progress", is_flag=True, help="Show progress, not only on a terminal.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
@click.option("--json", "as_json", is_flag=True, help="Print the result for programs.")
@parameters.allow_backing_option
@parameters.share_option
@click.pass_context
def command(context: click.Context, /, **_: object) -> None:
    """Convert SOURCE to TARGET; see `_HELP`."""
    given = context.params
    quiet: bool = given["quiet"]
    if given["no_create"]:
        raise OptionsError(
            "-n, writing into an existing target, is not possible: the target appears whole",
            hint="leave -n out; --force replaces an existing file",
        )
    with interrupts.held_back():
        options = convert_options(given)
    gate = parameters.gate_for(given["allow_backing"])
    wants_progress = progress.wanted(forced=given["show_progress"], quiet=quiet)
    report = _Report(options, quiet=quiet, as_json=given["as_json"])
    _run(options, gate, report, wants_progress=wants_progress)


class _Report:
    """Tells of a conversion: what is known before the work, and what came of it."""

    def __init__(self, options: ConvertOptions, *, quiet: bool, as_json: bool) -> None:
        self._options = options
        self._quiet = quiet
        self._as_json = as_json
        self._told: set[str] = set()

    def warn(self, warning: str) -> None:
        """Print a warning that was not printed yet."""
        if not self._quiet and warning not in self._told:
            self._told.add(warning)
            output.warn(warning)

    def finish(self, result: ConvertResult) -> None:
        """Print the result.

        Raises:
            QcowError: When standard output can't be written; it says that the target is in place.
        """
        for warning in result.warnings:
            self.warn(warning)
        for lost in result.losses:
            end = lost.start + lost.length
            where = f"{format_offset(lost.start)} to {format_offset(end)}"
            self.warn(f"lost: guest bytes {where}: {lost.reason}")
        try:
            if self._as_json:
                output.print_json(result_object(self._options, result))
            elif not self._quiet:
                output.print_line(summary(self._options, result))
            sys.stdout.flush()
        except OSError as error:
            raise QcowError(
                f"{self._options.target} is complete and in place, but standard output can't be "
                f"written: {error.strerror}"
            ) from error


def convert_options(given: Mapping[str, Any]) -> ConvertOptions:
    """The options of a conversion, from the values of the command line by their parameters' names.

    Raises:
        OptionsError: When they contradict each other.
    """
    from qcowgui.convert.options import ConvertOptions

    for name in ("source", "target"):
        if not given[name]:  # it would mean the current folder
            raise OptionsError(f"the {name}'s name is empty")
    keys = parse_key_values(given["key_values"])
    target_format = choose_format(given["target_format"], given["target"])
    compression = choose_compression(
        flag=given["compress_flag"],
        compress=given["compress"],
        keys=keys,
        target_format=target_format,
    )
    if keys and target_format == "raw":
        raise OptionsError(
            f"A raw target has no options, but -o {', '.join(keys)} was given",
            hint="-O qcow2 makes a qcow2 image",
        )
    if compression == "none":
        _refuse_idle_compression(keys, given["level"])
    backing_file, backing_format = choose_backing(
        given["backing_file"], given["backing_format"], keys
    )
    renamed = {"cluster_size": "cluster_bytes"}
    return ConvertOptions(
        source=Path(given["source"]),
        target=Path(given["target"]),
        # Neither is what its type says until ConvertOptions has tested it.
        target_format=cast("TargetFormat", target_format),
        compression=cast("Compression", compression),
        backing_file=backing_file,
        backing_format=backing_format,
        overwrite=given["force"],
        **{name: given[name] for name in _SAME_NAMES},
        **{renamed.get(key, key): value for key, value in keys.items() if key in _DIRECT_KEYS},
    )


def _refuse_idle_compression(keys: Mapping[str, Any], level: int | None) -> None:
    """Say that nothing will be compressed where the other options let one expect it.

    Raises:
        OptionsError: When a level was given, which only makes sense with compression.
    """
    if level is not None:
        raise OptionsError(
            f"--level {level} was given, but no compression",
            hint="add -c, or use --compress zlib or --compress zstd",
        )
    if "compression_type" in keys:
        kind = keys["compression_type"]
        output.warn(
            f"-o compression_type={kind} alone compresses nothing, as with qemu-img: "
            f"add -c, or use --compress {kind}"
        )


def _run(options: ConvertOptions, gate: Gate, report: _Report, *, wants_progress: bool) -> None:
    """Run the conversion on the engine's threads, with a progress line if wanted."""
    with interrupts.held_back(), paused():
        from qcowgui.convert.job import ConvertJob
        from qcowgui.engine.qpool import QPoolExecutor

    job = ConvertJob(options, gate)
    # The report as well: once the target is in place, Ctrl-C must not say that it was cancelled.
    with interrupts.cancelling(job.token):
        with QPoolExecutor(options.threads) as executor:
            if wants_progress:
                line = progress.ProgressLine(lambda: _state(job))
                try:
                    result = job.run(executor, tick=line.tick, warn=report.warn)
                finally:
                    line.close()
            else:
                result = job.run(executor, warn=report.warn)
        report.finish(result)


def _state(job: ConvertJob) -> State:
    now = job.progress()
    return State(now.phase.value, now.done_bytes, now.total_bytes)


def summary(options: ConvertOptions, result: ConvertResult) -> str:
    """The result of a conversion in one line."""
    compression = "" if options.compression == "none" else f", {options.compression}"
    kind = f"{options.target_format}{compression}"
    used = result.target_disk_bytes
    blocks = (
        f", {format_size(used)} used" if used is not None and used < result.target_bytes else ""
    )
    sizes = f"{format_size(result.source_bytes)} → {format_size(result.target_bytes)}"
    # A raw file is as long as the disk: its length says nothing about the conversion.
    if options.target_format == "qcow2" and result.source_bytes:
        sizes += f" ({result.target_bytes / result.source_bytes:.1%})"
    return "; ".join(
        [
            f"{options.target}: {kind}, virtual size {format_size(result.virtual_bytes)}",
            f"file {sizes}{blocks}",
            format_seconds(result.seconds),
            "verified" if result.verified else "not verified",
        ]
    )


def result_object(options: ConvertOptions, result: ConvertResult) -> dict[str, Any]:
    """The result of a conversion as JSON; sizes in bytes."""
    return {
        "schema": output.SCHEMA,
        "source": os.fspath(options.source),
        "target": os.fspath(options.target),
        "format": options.target_format,
        "compression": options.compression,
        "virtual-size": result.virtual_bytes,
        "source-bytes": result.source_bytes,
        "target-bytes": result.target_bytes,
        "target-disk-bytes": result.target_disk_bytes,
        "seconds": round(result.seconds, 3),
        "verified": result.verified,
        "losses": [
            {"start": lost.start, "length": lost.length, "reason": lost.reason}
            for lost in result.losses
        ],
        "warnings": list(result.warnings),
    }
