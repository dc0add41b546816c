"""`qcowgui bench`: how fast every way to compress is on an image, and how fast it is then read."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from qcowgui.cli import interrupts, output, parameters, progress
from qcowgui.cli.collector import paused
from qcowgui.errors import OptionsError
from qcowgui.units import format_count, format_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcowgui.convert.benchmark import BenchmarkJob
    from qcowgui.convert.benchmark_plan import BenchmarkPlan
    from qcowgui.convert.benchmark_result import (
        Benchmark,
        CodecFigures,
        PeerFigures,
        ReadFigures,
    )

_HELP: Final = """Measure codecs, cluster sizes and threads on what IMAGE holds.

A sample of the disk is compressed and decompressed in every way asked for, each several times; then
it is written as images, from which 4 KiB are read at random places. Every figure is a mean ± the
standard deviation of a run. IMAGE is only read; the temporary files are gone at the end.

\b
Backends: libdeflate and zstd, which conversions use; zlib, as -o window=4k and
QEMU write it; zlib-ng and isal with pip install 'qcowgui[bench]'.
"""


@click.command("bench", cls=parameters.GatedCommand, help=_HELP)
@parameters.image_argument
@parameters.format_option
@click.option("-l", "snapshot", metavar="SNAP", help="Look at this snapshot, by name or id.")
@click.option(
    "--cluster-size",
    "cluster_sizes",
    multiple=True,
    metavar="SIZE",
    help="Try this cluster size (repeatable); by default 4k, 64k, 512k and 2M.",
)
@click.option(
    "--compress",
    "compressions",
    type=click.Choice(["zlib", "zstd"]),
    multiple=True,
    help="Try this type (repeatable); by default both.",
)
@click.option(
    "--level",
    "levels",
    type=int,
    multiple=True,
    metavar="N",
    help="Try this level (repeatable) of each backend that has it; by default some of each.",
)
@click.option(
    "--backend",
    "backends",
    multiple=True,
    metavar="NAME",
    help="Try this backend (repeatable); by default all that are installed.",
)
@click.option(
    "-m",
    "--threads",
    type=int,
    multiple=True,
    metavar="N",
    help="Try this number of threads (repeatable); by default 1, 2, 4 … and one a core.",
)
@click.option("--runs", type=int, default=3, metavar="N", help="Measure N times; by default 3.")
@click.option(
    "--sample",
    "sample_bytes",
    metavar="SIZE",
    callback=parameters.parse_size_option,
    help="Draw so much of the disk; by default 16 MiB a thread, at least 32 MiB, with "
    "--peers 128 MiB.",
)
@click.option("--all", "everything", is_flag=True, help="Take all that the disk stores.")
@click.option("--seed", type=int, default=1, metavar="N", help="Of the sample; by default 1.")
@click.option(
    "--reads",
    type=int,
    default=500,
    metavar="N",
    help="Random reads a run and image; by default 500, 0 leaves them out.",
)
@click.option(
    "--peers",
    is_flag=True,
    help="Let qemu-img, and nbdkit with nbdcopy, convert the sample too, where they are found.",
)
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where the temporary files are: some two to three times the sample's size.",
)
@click.option("-p", "show_progress", is_flag=True, help="Show progress, not only on a terminal.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@click.option(
    "--output",
    "output",
    type=click.Choice(["human", "json", "csv"]),
    default="human",
    help="For people (the default) or for programs.",
)
@click.option("--json", "output", flag_value="json", help="The same as --output=json.")
@click.option("--csv", "output", flag_value="csv", help="The same as --output=csv.")
@parameters.allow_backing_option
@parameters.share_option
@click.pass_context
def command(context: click.Context, /, **_: object) -> None:
    """Measure IMAGE; see `_HELP`."""
    given = context.params
    parameters.check_format(given["image_format"], given["image"])
    with interrupts.held_back(), paused():
        from qcowgui.convert.benchmark import BenchmarkJob  # noqa: F401  signals wait meanwhile
        from qcowgui.convert.benchmark_records import benchmark_object, csv_text
        from qcowgui.engine.qpool import QPoolExecutor  # noqa: F401
    benchmark = _run(given, _plan(given))
    if given["output"] == "json":
        found = benchmark_object(benchmark)
        output.print_json({"schema": output.SCHEMA, "filename": given["image"], **found})
    elif given["output"] == "csv":
        output.print_text(csv_text(benchmark))
    else:
        _print_text(benchmark)


def _plan(given: dict[str, Any]) -> BenchmarkPlan:
    """What to measure.

    Raises:
        OptionsError: When the options contradict each other, or ask for what there is not.
    """
    from qcowgui.codec.registry import CompressionType
    from qcowgui.convert.benchmark_plan import (
        DEFAULT_CLUSTER_SIZES,
        BenchmarkPlan,
        choose_methods,
        default_sample_bytes,
        thread_counts,
    )

    if given["everything"] and given["sample_bytes"] is not None:
        raise OptionsError("--all and --sample exclude each other")
    types = {kind.label: kind for kind in CompressionType}
    kinds = [types[name] for name in dict.fromkeys(given["compressions"])]
    try:
        sizes = [parameters.parse_number(text) for text in given["cluster_sizes"]]
    except ValueError as error:
        raise OptionsError(f"--cluster-size: {error}") from error
    threads = tuple(dict.fromkeys(given["threads"])) or thread_counts()
    sample_bytes = None if given["everything"] else given["sample_bytes"]
    if not given["everything"] and sample_bytes is None:
        sample_bytes = default_sample_bytes(threads, peers=given["peers"])
    return BenchmarkPlan(
        methods=choose_methods(kinds, given["levels"], given["backends"]),
        cluster_sizes=tuple(dict.fromkeys(sizes)) or DEFAULT_CLUSTER_SIZES,
        threads=threads,
        runs=given["runs"],
        sample_bytes=sample_bytes,
        seed=given["seed"],
        reads=given["reads"],
        peers=given["peers"],
        folder=given["folder"],
    )


def _run(given: dict[str, Any], plan: BenchmarkPlan) -> Benchmark:
    """Measure on the engine's threads, with a progress line if wanted."""
    from qcowgui.convert.benchmark import BenchmarkJob
    from qcowgui.engine.qpool import QPoolExecutor
    from qcowgui.image.chain import open_image

    with closing(
        open_image(
            given["image"],
            format=given["image_format"],
            gate=parameters.gate_for(given["allow_backing"]),
            snapshot=given["snapshot"],
        )
    ) as source:
        job = BenchmarkJob(source, plan)
        with interrupts.cancelling(job.token):
            if not progress.wanted(forced=given["show_progress"], quiet=given["quiet"]):
                return job.run(QPoolExecutor)
            line = progress.ProgressLine(lambda: _state(job))
            try:
                return job.run(QPoolExecutor, tick=line.tick)
            finally:
                line.close()


def _state(job: BenchmarkJob) -> progress.State:
    from qcowgui.convert.benchmark import Stage

    stage, done, total = job.progress()
    if stage in {Stage.SAMPLING, Stage.CODECS}:
        return progress.State(stage.value, done, total)
    return progress.State(f"{stage.value} ({done:,} of {total:,})", 0, 0)


# -------------------------------------------------------------------- text


def _print_text(benchmark: Benchmark) -> None:
    """Print a table for each kind of figure, and what they hold for."""
    machine = benchmark.machine
    sampled, stored = format_size(benchmark.sample_bytes), format_size(benchmark.frame_bytes)
    title = f"Codecs, MB/s ({sampled} of {stored} tried)"
    output.print_table(output.Table("codecs", title, _CODEC_COLUMNS, map(_row, benchmark.codecs)))
    if benchmark.reads:
        output.print_line()
        title = "Random reads of 4 KiB, µs"
        rows = map(_read_row, benchmark.reads)
        output.print_table(output.Table("random-reads", title, _READ_COLUMNS, rows))
    if benchmark.peers:
        output.print_line()
        _print_peers(benchmark.peers)
    output.print_line()
    runs = format_count(benchmark.plan.runs, "run")
    output.print_line(f"Mean ± standard deviation of {runs}; {_versions(benchmark)}.")
    output.print_line(f"{machine.system}, {format_count(machine.cores, 'core')}.")
    if benchmark.was_disturbed:
        output.warn(
            f"the machine was busy: a thread had {benchmark.core_share:.0%} of a core, so the "
            "figures are lower than they could be"
        )


def _versions(benchmark: Benchmark) -> str:
    return ", ".join(
        text if text.startswith(name) else f"{name} {text}"
        for name, text in benchmark.machine.versions
    )


_CODEC_COLUMNS: Final = (
    output.Column("cluster_size", "cluster", right=True),
    output.Column("compression_type", "type"),
    output.Column("backend", "backend"),
    output.Column("level", "level", right=True),
    output.Column("threads", "threads", right=True),
    output.Column("size", "size", right=True),
    output.Column("ratio", "ratio", right=True),
    output.Column("compress", "compress", right=True),
    output.Column("decompress", "decompress", right=True),
)
_READ_COLUMNS: Final = (
    output.Column("cluster_size", "cluster", right=True),
    output.Column("compression_type", "type"),
    output.Column("file_size", "file", right=True),
    output.Column("p50", "p50", right=True),
    output.Column("p99", "p99", right=True),
)


def _row(item: CodecFigures) -> tuple[output.Cell, ...]:
    size, method, threads = item.setting
    return (
        format_size(size),
        method.compression_type.label,
        method.backend,
        method.level,
        threads,
        format_size(item.stored_bytes),
        f"{item.ratio:.2f}",
        item.compress.text(1e-6),
        item.decompress.text(1e-6) if item.decompress else "–",
    )


def _read_row(item: ReadFigures) -> tuple[output.Cell, ...]:
    return (
        format_size(item.cluster_bytes),
        item.compression,
        format_size(item.file_bytes),
        item.p50.text(1e6),
        item.p99.text(1e6),
    )


def _print_peers(peers: Sequence[PeerFigures]) -> None:
    """Print a column for each program, and below what those that failed said."""
    names = list(dict.fromkeys(item.program for item in peers))
    columns = [
        output.Column("cluster_size", "cluster", right=True),
        output.Column("compression_type", "type"),
        output.Column("direction", "direction", whole=True),
        *(output.Column(name, name, right=True) for name in names),
    ]
    cells: dict[tuple[str, ...], dict[str, str]] = {}
    for item in peers:
        way = "raw → qcow2" if item.writes_qcow2 else "qcow2 → raw"
        key = format_size(item.cluster_bytes), item.compression, way
        text = "failed" if item.seconds is None else item.seconds.text(1, digits=2)
        cells.setdefault(key, {})[item.program] = text
    rows = [(*key, *(found.get(name, "–") for name in names)) for key, found in cells.items()]
    title = "Whole conversions of the sample, seconds with the program's start"
    output.print_table(output.Table("programs", title, columns, rows))
    for failure in dict.fromkeys(
        f"{item.program} failed: {item.failure}" for item in peers if item.failure
    ):
        output.print_line(failure)
