"""`qcowgui forecast`: sizes and times of compressed conversions, before any is started."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import click

from qcowgui.cli import interrupts, output, parameters, progress
from qcowgui.cli.collector import paused
from qcowgui.errors import OptionsError
from qcowgui.units import format_count, format_size

if TYPE_CHECKING:
    from qcowgui.codec.registry import CompressionType
    from qcowgui.convert.forecast import (
        Candidate,
        CandidateForecast,
        Estimate,
        Forecast,
        ForecastJob,
    )
    from qcowgui.convert.options import Compression
    from qcowgui.image.references import Gate

_HELP: Final = """Show how large and how quick a conversion of IMAGE to qcow2 would be.

Cells spread over the stored part of the disk are compressed in every way asked for; nothing is
converted. Sizes and times come with the range in which they lie with 95 % confidence. The time is
that of this machine as busy as it is now, from the start to the verified target.
"""
_DEFAULT_CLUSTER_SIZES: Final = ("64k", "2M")


@click.command("forecast", cls=parameters.GatedCommand, help=_HELP)
@parameters.image_argument
@parameters.format_option
@click.option("-l", "snapshot", metavar="SNAP", help="Look at this snapshot, by name or id.")
@click.option(
    "--compress",
    "compressions",
    type=click.Choice(["zlib", "zstd", "none"]),
    multiple=True,
    help="Try this type (repeatable); by default zlib and zstd.",
)
@click.option(
    "--level",
    "levels",
    type=int,
    multiple=True,
    metavar="N",
    help="Try this level (repeatable) of each type that has it; by default several.",
)
@click.option(
    "--cluster-size",
    "cluster_sizes",
    multiple=True,
    metavar="SIZE",
    default=_DEFAULT_CLUSTER_SIZES,
    help="Try this cluster size (repeatable); by default 64k and 2M.",
)
@click.option(
    "--target-dir",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where the target would be: 32 MiB are written there, and removed, to see how quickly. "
    "By default IMAGE's folder, or that for temporary files where it can't be written.",
)
@click.option("--seed", type=int, default=1, metavar="N", help="Of the sample; by default 1.")
@click.option(
    "-m", "--threads", type=int, metavar="N", help="Threads to work with; by default one a core."
)
@click.option("--verify/--no-verify", default=True, help="Whether the time includes verifying.")
@click.option("-p", "show_progress", is_flag=True, help="Show progress, not only on a terminal.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@parameters.output_options
@parameters.allow_backing_option
@parameters.share_option
@click.pass_context
def command(context: click.Context, /, **_: object) -> None:
    """Forecast conversions of IMAGE; see `_HELP`."""
    given = context.params
    parameters.check_format(given["image_format"], given["image"])
    threads: int | None = given["threads"]
    if threads is not None and not 1 <= threads <= 256:
        raise OptionsError(f"{threads} threads are not possible; 1 to 256 are")
    with interrupts.held_back(), paused():
        from qcowgui.convert.forecast import ForecastJob  # noqa: F401  signals wait meanwhile
        from qcowgui.engine.qpool import QPoolExecutor  # noqa: F401
    candidates = _candidates(given["compressions"], given["levels"], given["cluster_sizes"])
    forecast = _run(given, candidates, parameters.gate_for(given["allow_backing"]))
    if given["output"] == "json":
        output.print_json(forecast_object(given["image"], forecast))
    else:
        _print_text(forecast)


def _candidates(
    compressions: Sequence[str], levels: Sequence[int], cluster_sizes: Sequence[str]
) -> list[Candidate]:
    """What to try: every type with each of its levels in every cluster size.

    Raises:
        OptionsError: When one does not exist.
    """
    from qcowgui.codec.registry import CompressionType
    from qcowgui.convert.forecast import DEFAULT_CANDIDATES, Candidate

    types = {kind.label: kind for kind in CompressionType}
    pairs: dict[tuple[str, int | None], None] = {}
    for name in compressions or types:
        if name == "none":
            pairs[name, None] = None
        elif levels:
            pairs |= dict.fromkeys((name, level) for level in levels if _has(types[name], level))
        else:
            defaults = [item for item in DEFAULT_CANDIDATES if item.compression == name]
            pairs |= dict.fromkeys((name, item.level) for item in defaults)
    for level in levels:
        if all(level != chosen for _, chosen in pairs):
            raise OptionsError(f"no type that is tried has a level {level}")
    try:
        sizes = [parameters.parse_number(text) for text in cluster_sizes]
    except ValueError as error:
        raise OptionsError(f"--cluster-size: {error}") from error
    return [
        Candidate(cast("Compression", name), level, size) for size in sizes for name, level in pairs
    ]


def _has(kind: CompressionType, level: int) -> bool:
    from qcowgui.codec.registry import level_range

    levels = level_range(kind)
    return levels.lowest <= level <= levels.highest


def _run(given: dict[str, Any], candidates: Sequence[Candidate], gate: Gate) -> Forecast:
    """Forecast on the engine's threads, with a progress line if wanted."""
    from qcowgui.convert.forecast import ForecastJob
    from qcowgui.engine.qpool import QPoolExecutor
    from qcowgui.image.chain import open_image

    image = given["image"]
    with closing(
        open_image(image, format=given["image_format"], gate=gate, snapshot=given["snapshot"])
    ) as source:
        job = ForecastJob(
            source,
            candidates,
            target_folder=given["target_dir"] or _target_folder(Path(image)),
            verify=given["verify"],
            seed=given["seed"],
        )
        with interrupts.cancelling(job.token), QPoolExecutor(given["threads"]) as executor:
            if not progress.wanted(forced=given["show_progress"], quiet=given["quiet"]):
                return job.run(executor)
            line = progress.ProgressLine(lambda: _state(job))
            try:
                return job.run(executor, tick=line.tick)
            finally:
                line.close()


def _target_folder(image: Path) -> Path:
    folder = image.absolute().parent
    return folder if os.access(folder, os.W_OK) else Path(tempfile.gettempdir())


def _state(job: ForecastJob) -> progress.State:
    return progress.State("forecasting", *job.progress())


def forecast_object(image: str, forecast: Forecast) -> dict[str, Any]:
    """A forecast as JSON; sizes in bytes."""
    return {
        "schema": output.SCHEMA,
        "filename": image,
        "virtual-size": forecast.virtual_bytes,
        "stored-bytes": forecast.stored_bytes,
        "sampled-bytes": forecast.sampled_bytes,
        "confidence": forecast.confidence,
        "threads": forecast.threads,
        "verify": forecast.verify,
        "write-measured": forecast.write_measured,
        "candidates": [_candidate_object(item) for item in forecast.candidates],
    }


def _candidate_object(item: CandidateForecast) -> dict[str, Any]:
    candidate, size, seconds = item.candidate, item.size, item.seconds
    return {
        "compression_type": candidate.compression,
        "level": candidate.level,
        "cluster_size": candidate.cluster_bytes,
        "size": {"low": int(size.low), "expected": int(size.expected), "high": int(size.high)},
        "seconds": {
            "low": round(seconds.low, 3),
            "expected": round(seconds.expected, 3),
            "high": round(seconds.high, 3),
        },
        "ratio": round(item.ratio, 3),
        "compatibility": item.compatibility,
    }


def _print_text(forecast: Forecast) -> None:
    """Print a table of the candidates, the recommended one first, and why it is."""
    columns = (
        output.Column("compression_type", "type"),
        output.Column("level", "level", right=True),
        output.Column("cluster_size", "cluster", right=True),
        output.Column("size", "size", right=True),
        output.Column("size_range", "between", right=True),
        output.Column("seconds", "time", right=True),
        output.Column("seconds_range", "between", right=True),
        output.Column("ratio", "ratio", right=True),
    )
    rows = [_row(item) for item in forecast.candidates]
    stored = f"{format_size(forecast.stored_bytes)} of {format_size(forecast.virtual_bytes)}"
    title = f"Forecast ({stored} stored)"
    output.print_table(output.Table("candidates", title, columns, rows))
    output.print_line()
    best = forecast.recommended
    output.print_line(f"Recommended: {_name(best.candidate)}. {best.compatibility}", style="bold")
    output.print_line(
        f"Ranges: {forecast.confidence:.0%} confidence. Ratio: stored bytes to file size. "
        f"Time: {format_count(forecast.threads, 'thread')}, {_time_includes(forecast)}."
    )


def _time_includes(forecast: Forecast) -> str:
    verifying = "with verifying" if forecast.verify else "without verifying"
    return verifying if forecast.write_measured else f"{verifying}, without writing"


def _row(item: CandidateForecast) -> tuple[output.Cell, ...]:
    candidate = item.candidate
    return (
        candidate.compression,
        candidate.level,
        format_size(candidate.cluster_bytes),
        format_size(int(item.size.expected)),
        _range(item.size, lambda value: format_size(int(value))),
        progress.format_seconds(item.seconds.expected),
        _range(item.seconds, progress.format_seconds),
        f"{item.ratio:.2f}" if item.ratio else "–",  # of nothing that is stored there is none
    )


def _range(estimate: Estimate, show: Callable[[float], str]) -> str:
    return f"{show(estimate.low)} – {show(estimate.high)}"


def _name(candidate: Candidate) -> str:
    size = format_size(candidate.cluster_bytes)
    if candidate.level is None:
        return f"no compression, clusters of {size}"
    return f"{candidate.compression} at level {candidate.level}, clusters of {size}"
