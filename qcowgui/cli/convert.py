"""`qcowgui convert`: raw and qcow2, each to each."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from qcowgui.cli import interrupts, output, parameters, progress
from qcowgui.cli.carry_options import carry_options
from qcowgui.cli.collector import paused
from qcowgui.cli.convert_text import result_object, summary, warnings_of
from qcowgui.cli.json_progress import JsonProgress
from qcowgui.cli.progress import State
from qcowgui.cli.target_options import conversion_options, needs_source_facts, option_fields
from qcowgui.errors import Cancelled, ExitCode, NotQcow2Error, OptionsError, QcowError
from qcowgui.image.source import FileSource

if TYPE_CHECKING:
    from qcowgui.convert.job import ConvertJob, ConvertResult
    from qcowgui.convert.options import ConvertOptions
    from qcowgui.engine.work import Executor
    from qcowgui.image.inspect import ImageReport
    from qcowgui.image.references import Gate

_ARGUMENTS: Final = ("SOURCE", "TARGET")
_HELP: Final = """Convert SOURCE to TARGET, which appears whole or not at all; or, with --out-dir,
every image among PATHS and in the folders among them.

\b
-o keys: compression_type=zlib|zstd, cluster_size=SIZE,
  compat=0.10|1.1 (or v2|v3), refcount_bits=N, extended_l2=on|off,
  lazy_refcounts=on|off, backing_file=FILE, backing_fmt=FMT,
  preallocation=off|metadata|falloc|full (raw: off, falloc, full)

With --out-dir the same command once more skips what is done and verified, goes on with the rest,
and removes what a killed run has left; --force does all again. One that fails stops no other.
Exit status: 0 when all is done; that of the failures, or 1 when they differ.

\b
--json-progress writes one JSON object a line on standard error:
  {"type", "job", "phase", "current", "total", "message", "finished", …}
  type: job (begins), progress, warning, left-out, finished (one job),
    summary (the run)
  job: its number from 1 on, null for the whole run
  phase: waiting, comparing, preparing, converting, verifying, finishing;
    at the end done, skipped, failed, cancelled
  current, total: guest bytes of the phase, jobs in a summary; total is 0
    while it is not known
  finished: whether nothing more comes of the job, or of the run
A wrong command line is told in plain text.

Intended differences from qemu-img: without -O the target's name decides; an existing target is
replaced only with --force; the result is verified; a backing file is opened only with
--allow-backing; data that can't be read is an error. As with qemu-img, -o compression_type alone
compresses nothing: add -c, or use --compress.
"""


class _Command(parameters.GatedCommand):
    """`convert`, whose two usages differ in their arguments."""

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """What stands behind the command's name in its usage line."""
        del ctx
        return ["[OPTIONS]", "SOURCE TARGET | --out-dir FOLDER PATH..."]


@click.command("convert", cls=_Command, help=_HELP)
@click.argument("paths", nargs=-1, type=click.Path())
@click.option(
    "--out-dir",
    metavar="FOLDER",
    help="Convert every image among PATHS into this folder, which is made if it is missing.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    metavar="N",
    help="With --out-dir: how many at a time; they share the threads. Default 1.",
)
@conversion_options
@carry_options
@click.option("-n", "no_create", is_flag=True, hidden=True)
@click.option("-W", "out_of_order", is_flag=True, expose_value=False, help="Accepted; no matter.")
@click.option("-p", "show_progress", is_flag=True, help="Show progress, not only on a terminal.")
@click.option(
    "--json-progress", is_flag=True, help="Tell progress, warnings and errors as lines of JSON."
)
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
@click.option("--json", "as_json", is_flag=True, help="Print the result for programs.")
@parameters.allow_backing_option
@parameters.share_option
@click.pass_context
def command(context: click.Context, /, **_: object) -> int:
    """Convert; see `_HELP`."""
    given = context.params
    if given["no_create"]:
        raise OptionsError(
            "-n, writing into an existing target, is not possible: the target appears whole",
            hint="leave -n out; --force replaces an existing file",
        )
    gate = parameters.gate_for(given["allow_backing"])
    if given["out_dir"] is not None:
        with interrupts.held_back(), paused():
            from qcowgui.cli import convert_batch
        return convert_batch.run(given, gate)
    if given["jobs"] is not None:
        raise OptionsError("--jobs belongs to --out-dir, and there is none")
    with interrupts.held_back():
        options = convert_options(given)
    if given["snapshots"] is not None:
        with interrupts.held_back(), paused():
            from qcowgui.cli import convert_batch
        return convert_batch.run_snapshots(given, gate, options)
    report = _Report(options, given)
    return _run(options, gate, report)


class _Report:
    """Tells of a conversion: what is known before the work, how far it is, what came of it."""

    def __init__(self, options: ConvertOptions, given: Mapping[str, Any]) -> None:
        self._options = options
        self._quiet: bool = given["quiet"]
        self._as_json: bool = given["as_json"]
        self._told: set[str] = set()
        self.stream = JsonProgress() if given["json_progress"] else None
        self.wants_line = self.stream is None and progress.wanted(
            forced=given["show_progress"], quiet=self._quiet
        )

    def begin(self) -> None:
        """Tell programs that the work begins."""
        if self.stream is not None:
            self.stream.begin(1, self._options.source, self._options.target)

    def warn(self, warning: str) -> None:
        """Print a warning that was not printed yet."""
        if warning in self._told:
            return
        self._told.add(warning)
        if self.stream is not None:
            self.stream.tell("warning", job=1, message=warning)
        elif not self._quiet:
            output.warn(warning)

    def finish(self, result: ConvertResult) -> None:
        """Print the result.

        Raises:
            QcowError: When standard output can't be written; it says that the target is in place.
        """
        for warning in warnings_of(result):
            self.warn(warning)
        if self.stream is not None:
            self.stream.done(
                1, summary(self._options, result), result_object(self._options, result)
            )
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
    """The options of a single conversion, from the values of the command line.

    Raises:
        UsageError: When there are not two names.
        OptionsError: When the values contradict each other.
    """
    from qcowgui.convert.options import ConvertOptions

    paths: tuple[str, ...] = given["paths"]
    if len(paths) != len(_ARGUMENTS):
        missing = _ARGUMENTS[len(paths) :]
        raise click.UsageError(
            f"Missing argument '{missing[0]}'"
            if missing
            else f"Got unexpected extra arguments ({' '.join(paths[2:])}); several sources need "
            "--out-dir",
            click.get_current_context(),
        )
    for name, path in zip(_ARGUMENTS, paths, strict=True):
        if not path:  # it would mean the current folder
            raise OptionsError(f"the {name.lower()}'s name is empty")
    source, target = paths
    if needs_source_facts(given):
        fields = fields_for_source(given, target, Path(source))
    else:
        fields = option_fields(given, target)
    return ConvertOptions(source=Path(source), target=Path(target), **fields)


def fields_for_source(given: Mapping[str, Any], target: str | None, source: Path) -> dict[str, Any]:
    """`option_fields` where they depend on what the source is.

    Raises:
        OptionsError: When the values contradict each other.
        QcowError: When the source can't be read.
    """
    from qcowgui.convert.presets import facts_of

    facts = facts_of(read_report(source))
    with FileSource(source) as file:
        # A block device has no blocks of its own.
        stored_bytes = file.disk_bytes or file.size_bytes
    return option_fields(given, target, facts, stored_bytes=stored_bytes)


def read_report(source: Path) -> ImageReport | None:
    """What inspecting a source finds, or None when it is no qcow2 image.

    Raises:
        QcowError: When it can't be read.
    """
    from qcowgui.image.inspect import inspect

    try:
        return inspect(source)
    except NotQcow2Error:
        return None


def _run(options: ConvertOptions, gate: Gate, report: _Report) -> int:
    """Run the conversion on the engine's threads; the exit status.

    Raises:
        QcowError: When it fails and that was not told as JSON; likewise Cancelled.
    """
    with interrupts.held_back(), paused():
        from qcowgui.convert.job import ConvertJob
        from qcowgui.convert.losses import losses_path
        from qcowgui.convert.part_file import remove_debris
        from qcowgui.engine.qpool import QPoolExecutor

    if options.target.name:  # the root has none, and is no target either
        remove_debris(options.target, losses_path(options.target))
    job = ConvertJob(options, gate)
    stream = report.stream
    # The report as well: once the target is in place, Ctrl-C must not say that it was cancelled.
    with interrupts.cancelling(job.token):
        report.begin()
        try:
            with QPoolExecutor(options.threads) as executor:
                result = _convert(job, executor, report)
        except Cancelled:
            if stream is None:
                raise
            stream.finished(1, "cancelled", message="cancelled")
            stream.summarise(ExitCode.CANCELLED, cancelled=1)
            return ExitCode.CANCELLED
        except (QcowError, OSError, MemoryError) as error:
            if stream is None:
                raise
            status = stream.failed(1, error)
            stream.summarise(status, failed=1)
            return status
        report.finish(result)
        if stream is not None:
            stream.summarise(ExitCode.GOOD, done=1)
    return ExitCode.GOOD


def _convert(job: ConvertJob, executor: Executor, report: _Report) -> ConvertResult:
    """Run the conversion, and show how far it is in the way that is wanted."""
    stream = report.stream
    if stream is not None:
        return job.run(executor, tick=lambda: stream.progress(1, job.progress()), warn=report.warn)
    if not report.wants_line:
        return job.run(executor, warn=report.warn)
    line = progress.ProgressLine(lambda: _state(job))
    try:
        return job.run(executor, tick=line.tick, warn=report.warn)
    finally:
        line.close()


def _state(job: ConvertJob) -> State:
    now = job.progress()
    return State(now.phase.value, now.done_bytes, now.total_bytes)
