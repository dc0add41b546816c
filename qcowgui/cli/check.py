"""`qcowgui check`: whether an image's metadata is consistent, what is wrong, and what to do.

The exit status means what qemu-img's does: 0 consistent, 1 the check could not finish, 2 corrupt,
3 leaks only, 63 no qcow2 image. Nothing is ever written; `qcowgui repair` is a command of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING, Final

import click

from qcowgui.check.verdict import Verdict, verdict_of
from qcowgui.cli import interrupts, output, parameters, progress
from qcowgui.cli.collector import paused
from qcowgui.cli.progress import State
from qcowgui.engine.work import CancelToken, Counter, Executor, SerialExecutor, default_threads
from qcowgui.errors import ExitCode, NotQcow2Error, QcowError, UnsupportedError, UsageError
from qcowgui.image.inspect import ImageReport, inspect_source
from qcowgui.image.references import Gate, data_file_reference, open_reference
from qcowgui.image.source import FileSource
from qcowgui.units import MIB, format_size

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from qcowgui.check.checker import CheckReport
    from qcowgui.cli.check_json import FindingStream
    from qcowgui.format.finding import Finding

_SERIAL_BYTES: Final = 32 * MIB
"""Of a file up to this size every payload is decoded sooner than Qt and its threads would start."""

_STATUSES: Final = {
    Verdict.CONSISTENT: ExitCode.GOOD,
    Verdict.UNUSUAL: ExitCode.GOOD,
    Verdict.LEAKS: ExitCode.LEAKS,
    Verdict.INCOMPLETE: ExitCode.FAILED,
    Verdict.CORRUPT: ExitCode.CORRUPT,
    Verdict.FATAL: ExitCode.CORRUPT,
}
_WORSE: Final = (ExitCode.GOOD, ExitCode.LEAKS, ExitCode.FAILED, ExitCode.CORRUPT)


@click.command("check", cls=parameters.GatedCommand)
@parameters.image_argument
@click.option("-f", "image_format", metavar="FMT", help="The image's format: qcow2.")
@parameters.output_options
@click.option("--deep", is_flag=True, help="Decode every compressed cluster, too.")
@click.option("--all", "show_all", is_flag=True, help="Show every finding, as it is found.")
@click.option(
    "-m",
    "--threads",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Threads for --deep; by default one a core.",
)
@click.option("-r", "repair", metavar="TIER", help="Refused: see qcowgui repair.")
@click.option("-p", "show_progress", is_flag=True, help="Show progress, not only on a terminal.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
@parameters.allow_backing_option
@parameters.share_option
def command(
    image: str,
    image_format: str | None,
    output: str,
    deep: bool,
    show_all: bool,
    threads: int | None,
    repair: str | None,
    show_progress: bool,
    quiet: bool,
    allow_backing: tuple[str, ...],
) -> int:
    """Check whether IMAGE's metadata is consistent, and say what is wrong and what to do.

    It finds what qemu-img check finds and more; its numbers stand beside ours. Nothing is written.
    Of an external data file only the length is looked at, and only with --allow-backing.

    Exit status: 0 consistent, 1 the check could not finish (or bad usage), 2 corrupt, 3 leaks
    only, 63 not a qcow2 image. Intended difference from qemu-img: what only this program finds
    counts, too.
    """
    _refuse_repair(repair)
    _check_format(image_format, image)
    gate = parameters.gate_for(allow_backing)
    with FileSource(image) as source, ExitStack() as stack:
        report = _inspect(source)
        with interrupts.held_back(), paused():
            from qcowgui.check.checker import check_image
        presenter = Presenter(image, as_json=output == "json", every=show_all, quiet=quiet)
        counter = Counter()
        executor = stack.enter_context(_executor(source, threads)) if deep else None
        # Between findings on a terminal a progress line would only be in the way.
        if progress.wanted(forced=show_progress, quiet=quiet or (show_all and not show_progress)):
            stack.enter_context(progress.shown(lambda: _state(counter.value)))
        checked = check_image(
            source,
            report,
            token=CancelToken(),
            counter=counter,
            executor=executor,
            deep=deep,
            data_file_bytes=_data_file_bytes(report, gate),
            on_finding=presenter.on_finding,
        )
    presenter.finish(checked)
    return exit_status(checked)


def exit_status(report: CheckReport) -> ExitCode:
    """What qemu-img would return; or worse, where it misses what this program finds."""
    theirs = report.exit_code
    if theirs is ExitCode.FAILED:
        return theirs
    ours = _STATUSES[verdict_of(report.counts, complete=report.complete)]
    return max(theirs, ours, key=_WORSE.index)


def _state(decoded_bytes: int) -> State:
    decoded = f", {format_size(decoded_bytes)} decoded" if decoded_bytes else ""
    return State(f"checking{decoded}", 0, 0)


def _refuse_repair(tier: str | None) -> None:
    if tier is not None:
        raise UsageError(
            f"-r {tier}: check writes nothing",
            hint="qcowgui repair IMAGE -o REPAIRED writes a repaired copy, with --leaks or --all; "
            "with --plan it only shows the changes",
        )


def _check_format(image_format: str | None, path: str) -> None:
    parameters.check_format(image_format, path)
    if image_format == "raw":
        raise UnsupportedError("a raw disk has no metadata to check", path=path)


def _inspect(source: FileSource) -> ImageReport:
    """What the header and its structures say.

    Raises:
        NotQcow2Error: When the magic is missing; it says so when the rest looks like an image.
        SourceError: When the operating system refuses a read.
    """
    try:
        return inspect_source(source)
    except NotQcow2Error as error:
        from qcowgui.check.wiped_header import explain_not_qcow2

        raise explain_not_qcow2(source, error) from error


class Presenter:
    """Shows a check: its findings while they are found, if at all, and what it came to."""

    def __init__(self, image: str, *, as_json: bool, every: bool, quiet: bool) -> None:
        """A presenter that has shown nothing but, perhaps, the beginning of a JSON object.

        Args:
            image: The image, as it was named.
            as_json: For programs.
            every: Whether each finding is shown, and not only each kind.
            quiet: Whether nothing is.
        """
        self._as_json = as_json
        self._every = every
        self._quiet = quiet
        self._stream: FindingStream | None = None
        self.on_finding: Callable[[Finding], None] | None = None
        """What `check_image` calls for each finding."""
        if every and not quiet:
            self._begin(image)

    def _begin(self, image: str) -> None:
        if self._as_json:
            from qcowgui.cli.check_json import FindingStream

            self._stream = FindingStream(image)
            self.on_finding = self._stream.add
        else:
            from qcowgui.cli.check_text import print_finding

            self.on_finding = print_finding

    def finish(self, report: CheckReport) -> None:
        """Show the result."""
        if self._quiet:
            return
        if self._stream is not None:
            self._stream.close(report)
        elif self._as_json:
            from qcowgui.report.check_object import report_object

            output.print_json(report_object(report))
        else:
            from qcowgui.cli.check_text import print_report

            print_report(report, with_findings=not self._every)


def _executor(source: FileSource, threads: int | None) -> AbstractContextManager[Executor]:
    """What decodes: unless told otherwise, a thread a core if the file is worth starting them."""
    if threads is None:
        threads = 1 if source.size_bytes <= _SERIAL_BYTES else default_threads()
    if threads == 1:
        return nullcontext(SerialExecutor())
    with interrupts.held_back(), paused():
        from qcowgui.engine.qpool import QPoolExecutor

    return QPoolExecutor(threads)


def _data_file_bytes(report: ImageReport, gate: Gate) -> int | None:
    """The length of the external data file; None without one, or where it may not be opened.

    One that may be opened and can't be does not stop the check.
    """
    reference = data_file_reference(report)
    if reference is None or reference.path is None or not gate.permit(reference):
        return None
    try:
        with open_reference(reference, gate) as data_file:
            return data_file.size_bytes
    except QcowError as error:
        output.warn(f"the data file was not looked at: {output.error_sentence(error)}")
        return None
