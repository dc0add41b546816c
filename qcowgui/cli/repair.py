"""`qcowgui repair`: plan what makes an image's metadata right, and write it to a copy or in place.

The exit status is that of a check of the result.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from qcowgui.cli import interrupts, output, progress
from qcowgui.cli.check import exit_status
from qcowgui.cli.collector import paused
from qcowgui.cli.progress import State
from qcowgui.engine.work import CancelToken, Counter, Executor, SerialExecutor, default_threads
from qcowgui.errors import ExitCode, NotQcow2Error, UsageError
from qcowgui.image.inspect import inspect_source
from qcowgui.image.source import FileSource
from qcowgui.units import MIB, format_count

if TYPE_CHECKING:
    from qcowgui.check.checker import CheckReport
    from qcowgui.cli.repair_text import Outcome
    from qcowgui.repair.planner import ProvenPlan

_SERIAL_BYTES: Final = 32 * MIB
"""Of a file up to this size every payload is decoded sooner than Qt and its threads would start."""
_HELP: Final = """Repair the metadata of IMAGE, in a copy unless told otherwise.

What is to be changed is planned first, and proven: the repaired image is checked in memory, and
the guest must read from it what it reads from IMAGE. Then the copy is written, and checked again.

\b
qcowgui repair IMAGE --plan            show every edit, write nothing
qcowgui repair IMAGE -o REPAIRED       write a repaired copy
qcowgui repair IMAGE --in-place        change IMAGE, after IMAGE.undo was written
qcowgui repair --undo IMAGE.undo       put that back as it was

Space that nothing refers to is given back only when no table is lost that may have named it;
qcowgui salvage looks for lost tables.

Exit status: that of a check of the result: 0 consistent, 1 it could not be checked (or bad usage),
2 corrupt, 3 leaks only, 63 not a qcow2 image.
"""


@click.command("repair", help=_HELP)
@click.argument("image", type=click.Path(), required=False)
@click.option("-o", "--output", "target", metavar="REPAIRED", help="Write a repaired copy.")
@click.option("--plan", "plan_only", is_flag=True, help="Show the edits; write nothing.")
@click.option("--in-place", is_flag=True, help="Change IMAGE itself, with an undo file.")
@click.option(
    "--leaks",
    "tier",
    flag_value="leaks",
    help="Only lower refcounts that are too high.",
)
@click.option("--all", "tier", flag_value="all", default="all", help="Repair all (the default).")
@click.option("--deep", is_flag=True, help="Decode compressed clusters; put sector counts right.")
@click.option("--free-unowned", is_flag=True, help="Give back space even if tables are lost.")
@click.option("--verify-all", is_flag=True, help="Compare every guest byte before writing.")
@click.option("--force", is_flag=True, help="Replace an existing REPAIRED, once all went well.")
@click.option("--yes", is_flag=True, help="Do not ask before changing IMAGE in place.")
@click.option(
    "--undo-file",
    metavar="FILE",
    help="The undo file; by default IMAGE.undo, or IMAGE.undo.2 and so on.",
)
@click.option("--undo", "undo_path", metavar="FILE", help="Put back what a repair has changed.")
@click.option(
    "--even-if-changed",
    is_flag=True,
    help="Undo, though IMAGE is a copy, or was changed elsewhere since.",
)
@click.option(
    "--ignore-locks", is_flag=True, help="Go on where it can't be told whether IMAGE is in use."
)
@click.option(
    "-m",
    "--threads",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Threads for --deep; by default one a core.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the plan or the result for programs.")
@click.option("-p", "show_progress", is_flag=True, help="Show progress, not only on a terminal.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
@click.pass_context
def command(context: click.Context, /, **_: object) -> int:
    """Repair IMAGE; see `_HELP`."""
    given = context.params
    _require_sense(given)
    if given["undo_path"] is not None:
        return _undo(given)
    return _Repair(given).run()


def _require_sense(given: dict[str, Any]) -> None:
    """Refuse options that contradict each other.

    Raises:
        UsageError: When they do.
    """
    ways = [name for name in ("target", "plan_only", "in_place", "undo_path") if given[name]]
    if given["target"] == "":
        raise UsageError("the name after -o is empty")
    if len(ways) > 1:
        raise UsageError("-o, --plan, --in-place and --undo exclude each other")
    if not ways:
        raise UsageError(
            "what to write was not said",
            hint="-o REPAIRED writes a repaired copy; --plan only shows the changes",
        )
    if not given["image"] and not given["undo_path"]:
        raise UsageError("which image is to be repaired was not said")
    if not given["in_place"] and (given["yes"] or given["undo_file"]):
        raise UsageError("--yes and --undo-file are for --in-place")
    if given["even_if_changed"] and not given["undo_path"]:
        raise UsageError("--even-if-changed is for --undo")
    if given["force"] and not given["target"]:
        raise UsageError(
            "--force is for -o: an undo file is never overwritten",
            hint="--undo-file FILE names another one" if given["in_place"] else "",
        )


def _undo(given: dict[str, Any]) -> int:
    """Put back what a repair in place has changed."""
    with interrupts.held_back(), paused():
        from qcowgui.repair.undo import undo_repair

    image = Path(given["image"]) if given["image"] else None
    result = undo_repair(
        Path(given["undo_path"]),
        image,
        allow_unknown_locks=given["ignore_locks"],
        even_if_changed=given["even_if_changed"],
    )
    restored = result.restored_bytes
    if given["as_json"]:
        output.print_json(
            {
                "schema": output.SCHEMA,
                "image": os.fspath(result.image_path),
                "restored-bytes": restored,
            }
        )
    elif not given["quiet"]:
        what = f"{format_count(restored, 'byte')} put back" if restored else "was as before already"
        output.print_line(f"{result.image_path}: {what}")
    return ExitCode.GOOD


class _Repair:
    """One run of the command, but for `--undo`."""

    def __init__(self, given: dict[str, Any]) -> None:
        self._given = given
        self._image: str = given["image"]
        self._token = CancelToken()
        self._counter = Counter()
        self._label = "planning"
        self._total = 0

    def run(self) -> int:
        given = self._given
        with interrupts.held_back(), paused():
            from qcowgui.cli.repair_text import print_plan
        with FileSource(self._image) as source:
            with self._working():
                proven = self._plan(source)
            if given["plan_only"]:
                if not given["quiet"]:
                    print_plan(proven, as_json=given["as_json"])
                return exit_status(proven.after)
            if given["in_place"] and not proven.plan.is_empty:
                self._ask(proven)
            with self._working():
                outcome = self._carry_out(proven, source)
        self._show(proven, outcome)
        return exit_status(outcome.checked)

    def _plan(self, source: FileSource) -> ProvenPlan:
        with interrupts.held_back(), paused():
            from qcowgui.format.finding import Repair
            from qcowgui.repair.planner import RepairRequest, plan_repair

        given = self._given
        request = RepairRequest(
            tier=Repair.LEAKS if given["tier"] == "leaks" else Repair.ALL,
            deep=given["deep"],
            free_unowned=given["free_unowned"],
            verify_all=given["verify_all"],
        )
        try:
            report = inspect_source(source)
        except NotQcow2Error as error:
            from qcowgui.check.wiped_header import explain_not_qcow2

            raise explain_not_qcow2(source, error) from error
        with _executor(source, given) as executor:
            return plan_repair(source, request, report=report, token=self._token, executor=executor)

    def _ask(self, proven: ProvenPlan) -> None:
        """Return when the user wants the image to be changed.

        Raises:
            UsageError: When nobody can be asked, and --yes was not given.
            click.Abort: When the user does not.
        """
        if self._given["yes"]:
            return
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise UsageError(
                "--in-place asks before it changes the image, and there is no terminal",
                hint="--yes answers; -o REPAIRED writes a copy instead",
            )
        edits = format_count(len(proven.plan.edits), "edit")
        click.confirm(
            f"Change {output.printable(self._image)} in place by {edits}?", abort=True, err=True
        )

    def _carry_out(self, proven: ProvenPlan, source: FileSource) -> Outcome:
        from qcowgui.cli.repair_text import Outcome

        if proven.plan.is_empty:
            return Outcome(None, None, 0, proven.after)
        with interrupts.held_back(), paused():
            from qcowgui.repair.apply import apply_in_place, apply_to_copy, require_as_planned
            from qcowgui.repair.undo_file import propose_undo_path
        given, plan = self._given, proven.plan
        if given["in_place"]:
            self._label, self._total = "repairing", 2 * plan.written_bytes
            undo_path = Path(given["undo_file"] or propose_undo_path(Path(self._image)))
            result = apply_in_place(
                plan,
                Path(self._image),
                undo_path,
                token=self._token,
                counter=self._counter,
                allow_unknown_locks=given["ignore_locks"],
            )
            checked = self._check_again(Path(self._image))
            return Outcome(Path(self._image), result.undo_path, result.written_bytes, checked)
        self._label, self._total = "copying", source.size_bytes + plan.written_bytes
        found: list[CheckReport] = []

        def examine(copy: Path) -> None:
            found.append(self._check_again(copy))
            require_as_planned(proven.after, found[0], copy)

        copied = apply_to_copy(
            plan,
            source,
            Path(given["target"]),
            overwrite=given["force"],
            token=self._token,
            counter=self._counter,
            before_move=examine,
        )
        return Outcome(copied.target, None, copied.written_bytes, found[0])

    def _check_again(self, path: Path) -> CheckReport:
        """What a check finds in what was written."""
        from qcowgui.check.checker import check_image

        self._label, self._total = "checking", 0
        with FileSource(path) as written:
            return check_image(written, token=CancelToken())

    def _show(self, proven: ProvenPlan, outcome: Outcome) -> None:
        from qcowgui.cli.repair_text import outcome_object, print_outcome

        if self._given["quiet"]:
            return
        if self._given["as_json"]:
            output.print_json(outcome_object(self._image, proven, outcome))
        else:
            print_outcome(self._image, proven, outcome)

    @contextmanager
    def _working(self) -> Iterator[None]:
        """Progress is shown, if wanted, and signals stop the work in an orderly way."""
        given = self._given
        line: AbstractContextManager[None] = nullcontext()
        if progress.wanted(forced=given["show_progress"], quiet=given["quiet"]):
            line = progress.shown(lambda: State(self._label, self._counter.value, self._total))
        with interrupts.cancelling(self._token), line:
            yield


def _executor(source: FileSource, given: dict[str, Any]) -> AbstractContextManager[Executor]:
    """What decodes: unless told otherwise, a thread a core if the file is worth starting them."""
    threads: int | None = given["threads"]
    if threads is None:
        worthwhile = given["deep"] and source.size_bytes > _SERIAL_BYTES
        threads = default_threads() if worthwhile else 1
    if threads == 1:
        return nullcontext(SerialExecutor())
    with interrupts.held_back(), paused():
        from qcowgui.engine.qpool import QPoolExecutor

    return QPoolExecutor(threads)
