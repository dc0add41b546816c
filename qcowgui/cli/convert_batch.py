"""`qcowgui convert --out-dir`: which conversions a command line asks for, and where they go."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qcowgui.cli import interrupts
from qcowgui.cli.batch_report import BatchReport
from qcowgui.cli.batch_run import Batch
from qcowgui.cli.convert import fields_for_source, read_report
from qcowgui.cli.target_options import needs_source_facts, option_fields
from qcowgui.convert.batch import Found, Refusal, find_sources, plan_batch
from qcowgui.convert.naming import name_key
from qcowgui.convert.options import ConvertOptions
from qcowgui.convert.snapshots import SnapshotMode, Step, plan_snapshots
from qcowgui.engine.work import default_threads
from qcowgui.errors import OptionsError, OutputError, QcowError
from qcowgui.image.references import Gate

Group = Sequence[Step]
"""The conversions of one source, to be run in this order."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a command line asks for.

    Attributes:
        groups: The conversions by source.
        refusals: What is not converted.
        notes: What is not carried over, as sentences.
    """

    groups: list[Group] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def run(given: Mapping[str, Any], gate: Gate) -> int:
    """Convert all that the command line names; the exit status.

    Raises:
        OptionsError: When the values contradict each other.
        OutputError: When there is no folder for the results.
    """
    with interrupts.held_back():
        # Before any file is looked at: a wrong command line is wrong for all of them.
        common = None if needs_source_facts(given) else option_fields(given, None)
        if not given["paths"]:
            raise OptionsError("No source was given", hint="name files or folders")
        folder = _Folder(given["out_dir"])
    found = find_sources(
        [Path(path) for path in given["paths"]],
        source_format=given["source_format"],
        leave_out=folder.path,
    )
    plan = _plan(given, common, found, folder.path)
    with folder:
        return _run_plan(given, plan, gate)


def run_snapshots(given: Mapping[str, Any], gate: Gate, options: ConvertOptions) -> int:
    """Convert one source with its internal snapshots; the exit status.

    Raises:
        OptionsError: When the values contradict each other.
        QcowError: When the source can't be inspected.
    """
    plan = _Plan()
    _add_with_snapshots(plan, options, given["snapshots"])
    return _run_plan(given, plan, gate)


def _run_plan(given: Mapping[str, Any], plan: _Plan, gate: Gate) -> int:
    """Run the conversions and tell of them; the exit status."""
    jobs, threads = _shares(given)
    report = BatchReport(given)
    report.refuse(plan.refusals)
    for note in plan.notes:
        report.note(note)
    batch = Batch(plan.groups, gate, jobs=jobs, threads=threads)
    # The report as well: what is in place by then is not cancelled.
    with interrupts.cancelling(batch.token):
        report.begin(batch)
        try:
            batch.run(lambda: report.tick(batch))
        finally:
            report.close()
        return report.finish(batch)


def _shares(given: Mapping[str, Any]) -> tuple[int, int]:
    """How many sources are converted at a time, and with how many threads each."""
    jobs: int = given["jobs"] or 1
    total: int = given["threads"] or default_threads()
    return jobs, max(1, total // jobs)


def _plan(
    given: Mapping[str, Any], common: dict[str, Any] | None, found: Found, folder: Path
) -> _Plan:
    """The conversions of a batch.

    Args:
        given: The values of the command line.
        common: The fields of all conversions; None: each source has its own.
        found: The sources.
        folder: Where the results go.

    Raises:
        OptionsError: When the values contradict each other.
    """
    plan = _Plan(refusals=list(found.refusals))
    wanted = []
    for source in found.sources:
        try:
            fields = common or fields_for_source(given, None, source)
        except QcowError as error:
            plan.refusals.append(_unusable(source, error))
            continue
        wanted.append(ConvertOptions(source=source, target=folder / source.name, **fields))
    batch = plan_batch(wanted, folder)
    plan.refusals.extend(batch.refusals)
    if given["snapshots"] is None:
        plan.groups.extend([Step(options, ())] for options in batch.conversions)
        return plan
    # Not those that are results themselves: they may be these very images.
    taken = {name_key(options.source) for options in batch.conversions}
    taken |= {name_key(options.target) for options in batch.conversions}
    for options in batch.conversions:
        try:
            _add_with_snapshots(plan, options, given["snapshots"], taken)
        except QcowError as error:
            plan.refusals.append(_unusable(options.source, error))
    return plan


def _add_with_snapshots(
    plan: _Plan, options: ConvertOptions, mode: SnapshotMode, taken: AbstractSet[str] = frozenset()
) -> None:
    """Add the conversions of a source's active disk and of its snapshots.

    Args:
        plan: What is added to.
        options: The conversion of the active disk.
        mode: What the snapshots become.
        taken: Keys of the names that no snapshot's image may have: of sources and other targets.

    Raises:
        OptionsError: When a snapshot's image would have such a name.
        QcowError: When the source can't be inspected.
    """
    found = plan_snapshots(options, read_report(options.source), mode)
    for step in found.steps[:-1]:
        if name_key(step.options.target) in taken:
            raise OptionsError(
                f"the image of a snapshot would be called {step.options.target}, as another file "
                "of this batch",
                hint="convert it alone, or into another folder",
            )
    plan.groups.append(found.steps)
    plan.notes.extend(f"{options.source}: {sentence}" for sentence in found.left_out)


def _unusable(source: Path, error: QcowError) -> Refusal:
    return Refusal(source, f"is left out: {error.message}", error.hint)


class _Folder:
    """The folder of the results; made when it is missing, removed again if nothing came into it.

    Attributes:
        path: Where it is.
    """

    def __init__(self, name: str) -> None:
        """Test that results can go there.

        Raises:
            OptionsError: When the name is empty.
            OutputError: When they can't.
        """
        if not name:
            raise OptionsError("the name of --out-dir is empty")
        self.path = Path(name)
        self._is_ours = False
        if "\0" in name:
            raise OutputError(f"{name!r} is no name of a folder", path=name)
        is_there = os.path.lexists(self.path)
        if is_there and not self.path.is_dir():
            raise OutputError(
                f"{name} is no folder, and the results need one",
                path=name,
                hint="choose another --out-dir",
            )
        writable = self.path if is_there else self.path.absolute().parent
        if not writable.is_dir():
            raise OutputError(
                f"{name} can't be made: the folder {writable} does not exist",
                path=name,
                hint="make it first",
            )
        if not os.access(writable, os.W_OK | os.X_OK):
            raise OutputError(
                f"{writable} is not writable for you", path=name, hint="choose another --out-dir"
            )

    def __enter__(self) -> None:
        try:
            self.path.mkdir()
            self._is_ours = True
        except FileExistsError:
            pass
        except OSError as error:
            raise OutputError(
                f"{self.path} can't be made: {error.strerror}",
                path=str(self.path),
                errno=error.errno,
            ) from error

    def __exit__(self, *_: object) -> None:
        if self._is_ours:
            with contextlib.suppress(OSError):  # it has results in it
                self.path.rmdir()
