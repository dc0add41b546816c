"""`qcowgui salvage`: what can be made of an image that lost its tables, and making it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import click

from qcowgui.cli import interrupts, output, parameters, progress
from qcowgui.cli.collector import paused
from qcowgui.cli.progress import State, format_seconds
from qcowgui.cli.salvage_report import SHOWN_RANGES, losses_text, report_lines, report_object
from qcowgui.cli.target_options import choose_format
from qcowgui.errors import ExitCode, OptionsError, QcowError, UsageError
from qcowgui.units import format_count, format_offset, format_size

if TYPE_CHECKING:
    from qcowgui.convert.job import ConvertResult
    from qcowgui.convert.options import ConvertOptions, TargetFormat
    from qcowgui.image.source import FileSource
    from qcowgui.salvage.candidates import Candidate, Overrides, SalvageReport
    from qcowgui.salvage.write import SalvageJob

_NOT_OPENED: Final = "which was not opened"
"""How the reason of a loss ends which is a backing file that was not opened."""

_HELP: Final = """Find what is left of a damaged image, and write it as a new one.

Without -o nothing is written: the candidates are shown, each with what speaks for it and what
nothing in the file can tell. With -o the best one, or that of --candidate, is written to OUT; what
can't be read becomes zeros, and is listed on standard error and in OUT.losses.json, with what is
a guess. That OUT is verified means that it holds what was read, not that what was read is right.

The image itself is never written.

Exit status: 0 something can be salvaged, 2 nothing can, or guest data was lost, or what was written
is a guess in part; 1, 63 and 130 as everywhere.
"""


@click.command("salvage", cls=parameters.GatedCommand, help=_HELP)
@parameters.image_argument
@click.option("-o", "--output", "target", type=click.Path(), metavar="OUT", help="Write OUT.")
@click.option("--candidate", type=click.IntRange(min=1), metavar="N", help="Which one to write.")
@click.option(
    "--cluster-size",
    "cluster_bytes",
    metavar="SIZE",
    callback=parameters.parse_size_option,
    help="The damaged image's cluster size, where you know it.",
)
@click.option(
    "--size",
    "virtual_bytes",
    metavar="SIZE",
    callback=parameters.parse_size_option,
    help="The virtual disk's size, where you know it.",
)
@click.option(
    "--compression-type",
    type=click.Choice(["zlib", "zstd"]),
    help="How the damaged image's compressed clusters are decoded.",
)
@click.option(
    "-O",
    "target_format",
    metavar="FMT",
    help="OUT's format: qcow2 or raw. Without, its name decides.",
)
@click.option("--raw", "as_raw", is_flag=True, help="The same as -O raw.")
@click.option(
    "--compress", type=click.Choice(["zlib", "zstd"]), help="Compress OUT, a qcow2 image."
)
@click.option("-B", "backing", type=click.Path(), metavar="FILE", help="The lost backing file.")
@click.option("-F", "backing_format", metavar="FMT", help="The format of that backing file.")
@click.option("-m", "--threads", type=click.IntRange(1, 256), metavar="N", help="Threads.")
@click.option("--force", is_flag=True, help="Replace an existing OUT, once all went well.")
@click.option("-p", "show_progress", is_flag=True, help="Show progress, not only on a terminal.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
@click.option("--json", "as_json", is_flag=True, help="Print the result for programs.")
@parameters.allow_backing_option
@click.pass_context
def command(context: click.Context, /, **_: object) -> int:
    """Salvage IMAGE; see `_HELP`."""
    given = context.params
    with interrupts.held_back(), paused():
        from qcowgui.image.source import FileSource
    _check_usage(given)
    overrides = _overrides(given)
    options = _options(given) if given["target"] else None
    with FileSource(given["image"]) as source:
        report = _search(source, overrides, given)
        if options is None or not report.candidates:
            _show(report, given)
            return ExitCode.GOOD if report.candidates else ExitCode.CORRUPT
        chosen = _choose(report, given["candidate"])
        result = _write(source, chosen, options, given)
    _show_result(report, chosen, options, result, given)
    whole = chosen.is_whole and not result.losses and not _is_stand_in(chosen, given)
    return ExitCode.GOOD if whole else ExitCode.CORRUPT


def _check_usage(given: dict[str, Any]) -> None:
    """Refuse options that go together with others, or with none.

    Raises:
        UsageError: When they do.
    """
    if not given["image"]:
        raise UsageError("the image's name is empty")
    if given["target"] == "":
        raise UsageError("the name after -o is empty")
    if not given["target"]:
        for name, option in (
            ("candidate", "--candidate"),
            ("as_raw", "--raw"),
            ("force", "--force"),
            ("compress", "--compress"),
        ):
            if given[name]:
                raise UsageError(f"{option} says how to write, but -o OUT was not given")
    if given["as_raw"] and given["target_format"] not in (None, "raw"):
        raise UsageError("--raw and -O contradict each other")
    parameters.check_format(given["backing_format"], given["backing"] or "")


def _overrides(given: dict[str, Any]) -> Overrides:
    from qcowgui.codec.registry import CompressionType
    from qcowgui.convert.options import CLUSTER_SIZES
    from qcowgui.salvage.candidates import Overrides

    cluster_bytes, kind = given["cluster_bytes"], given["compression_type"]
    if cluster_bytes is not None and cluster_bytes not in CLUSTER_SIZES:
        raise OptionsError(
            f"A cluster size of {cluster_bytes} bytes is not possible; powers of two from "
            "512 bytes to 2 MiB are"
        )
    return Overrides(
        cluster_bits=None if cluster_bytes is None else cluster_bytes.bit_length() - 1,
        virtual_bytes=given["virtual_bytes"],
        compression_type=None if kind is None else CompressionType[kind.upper()],
    )


def _options(given: dict[str, Any]) -> ConvertOptions:
    from qcowgui.convert.options import ConvertOptions

    target_format = "raw" if given["as_raw"] else given["target_format"]
    return ConvertOptions(
        source=Path(given["image"]),
        target=Path(given["target"]),
        target_format=cast("TargetFormat", choose_format(target_format, given["target"])),
        compression=given["compress"] or "none",
        threads=given["threads"],
        salvage=True,
        overwrite=given["force"],
    )


def _search(source: FileSource, overrides: Overrides, given: dict[str, Any]) -> SalvageReport:
    """Search for candidates, with a progress line if wanted."""
    with interrupts.held_back(), paused():
        from qcowgui.engine.work import CancelToken, Counter
        from qcowgui.salvage.search import search_candidates

    token, counter = CancelToken(), Counter()
    shown = progress.wanted(forced=given["show_progress"], quiet=given["quiet"])
    state = State("scanning", 0, source.size_bytes)
    line = (
        progress.shown(lambda: state._replace(done_bytes=counter.value)) if shown else nullcontext()
    )
    with interrupts.cancelling(token), line:
        return search_candidates(source, token, counter=counter, overrides=overrides)


def _choose(report: SalvageReport, number: int | None) -> Candidate:
    """The candidate to write.

    Raises:
        UsageError: When there is none of that number.
    """
    if number is None:
        return report.candidates[0]
    if number > len(report.candidates):
        found = format_count(len(report.candidates), "candidate")
        raise UsageError(f"there is no candidate {number}; {found} can be chosen")
    return report.candidates[number - 1]


def _is_stand_in(chosen: Candidate, given: dict[str, Any]) -> bool:
    """Whether a snapshot was taken because next to nothing of the active disk is left."""
    return chosen.of_snapshot and given["candidate"] is None


def _write(
    source: FileSource, chosen: Candidate, options: ConvertOptions, given: dict[str, Any]
) -> ConvertResult:
    """Write the candidate on the engine's threads, with a progress line if wanted."""
    with interrupts.held_back(), paused():
        from qcowgui.engine.qpool import QPoolExecutor
        from qcowgui.salvage.write import SalvageJob

    backing = given["backing"]
    job = SalvageJob(
        options,
        source,
        chosen,
        gate=parameters.gate_for(given["allow_backing"]),
        backing=Path(backing) if backing else None,
        backing_format=given["backing_format"],
    )
    tick: Callable[[], None] | None = None
    line = None
    if progress.wanted(forced=given["show_progress"], quiet=given["quiet"]):
        line = progress.ProgressLine(lambda: _state(job))
        tick = line.tick
    with interrupts.cancelling(job.token), QPoolExecutor(options.threads) as executor:
        try:
            return job.run(executor, tick=tick)
        finally:
            if line is not None:
                line.close()


def _state(job: SalvageJob) -> State:
    now = job.progress()
    return State(now.phase.value, now.done_bytes, now.total_bytes)


def _show(report: SalvageReport, given: dict[str, Any]) -> None:
    """Print what was found."""
    if given["as_json"]:
        output.print_json(report_object(report))
    elif not given["quiet"]:
        for line in report_lines(report, given["image"]):
            output.print_line(line)


def _show_result(
    report: SalvageReport,
    chosen: Candidate,
    options: ConvertOptions,
    result: ConvertResult,
    given: dict[str, Any],
) -> None:
    """Print what was written and what was lost.

    Raises:
        QcowError: When standard output can't be written; it says that the target is in place.
    """
    from qcowgui.salvage.write import losses_path, needs_list

    listed = losses_path(options.target)
    if not given["quiet"]:
        if _is_stand_in(chosen, given):
            output.warn(f"What was written is {chosen.title}: the active disk is as good as lost.")
        for doubt in chosen.undecidable:
            output.warn(doubt)
        for warning in result.warnings:
            output.warn(warning)
        for lost in result.losses[:SHOWN_RANGES]:
            end = format_offset(lost.start + lost.length)
            output.warn(f"lost: guest bytes {format_offset(lost.start)} to {end}: {lost.reason}")
        if not given["backing"] and any(
            lost.reason.endswith(_NOT_OPENED) for lost in result.losses
        ):
            output.warn(
                "The backing file was not opened, and what it holds counts as lost: name it with "
                "-B, or permit the one that the header names with --allow-backing."
            )
        if len(result.losses) > SHOWN_RANGES:
            more = format_count(len(result.losses) - SHOWN_RANGES, "more range")
            output.warn(f"lost: {more}, listed in {listed}")
    try:
        if given["as_json"]:
            output.print_json(
                report_object(report)
                | {
                    "written": {
                        "candidate": chosen.number,
                        "target": os.fspath(options.target),
                        "format": options.target_format,
                        "virtual-size": result.virtual_bytes,
                        "target-bytes": result.target_bytes,
                        "verified": result.verified,
                        "seconds": round(result.seconds, 3),
                        "lost-bytes": sum(lost.length for lost in result.losses),
                        "guessed-bytes": sum(part.length for part in chosen.guessed),
                        "unowned-clusters": chosen.unowned_clusters,
                        "losses-file": os.fspath(listed)
                        if needs_list(chosen, result.losses)
                        else None,
                        "warnings": list(result.warnings),
                    }
                }
            )
        elif not given["quiet"]:
            output.print_line(
                f"{options.target}: candidate {chosen.number} written as {options.target_format}, "
                f"virtual size {format_size(result.virtual_bytes)}; "
                f"{losses_text(chosen, result.losses, listed)}; "
                f"{format_seconds(result.seconds)}; the copy was verified against what was read"
            )
        sys.stdout.flush()
    except OSError as error:
        raise QcowError(
            f"{options.target} is complete and in place, but standard output can't be written: "
            f"{error.strerror}"
        ) from error
