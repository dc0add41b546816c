"""What `qcowgui repair` tells people: what was wrong, what was changed, what is left and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qcowgui.check.verdict import verdict_text
from qcowgui.cli.output import SCHEMA, Column, Table, print_line, print_table, print_text
from qcowgui.format.finding import CODES, Repair
from qcowgui.repair.listing import iter_plan_json, iter_plan_text
from qcowgui.report.check_object import summary_object
from qcowgui.units import format_count, format_size

if TYPE_CHECKING:
    from qcowgui.check.checker import CheckReport
    from qcowgui.repair.planner import ProvenPlan


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a plan.

    Attributes:
        target: The repaired image; None when nothing was to be changed.
        undo_path: The undo file of a repair in place, or None.
        written_bytes: How many bytes the edits wrote.
        checked: What a check of the repaired image found.
    """

    target: Path | None
    undo_path: Path | None
    written_bytes: int
    checked: CheckReport


def print_plan(proven: ProvenPlan, *, as_json: bool) -> None:
    """Print a plan that is not carried out: for people with what a check says before and after."""
    if as_json:
        for line in iter_plan_json(proven.plan):
            print_text(line + "\n")
        return
    for line in iter_plan_text(proven.plan):
        print_line(line)
    print_line()
    print_line(f"Now: {_verdict(proven.before)}")
    print_line(f"Afterwards: {_verdict(proven.after)}")


def print_outcome(image: str, proven: ProvenPlan, outcome: Outcome) -> None:
    """Print what was wrong, what was changed, what is left, and what a check says of the result."""
    print_line(f"{image}: {_verdict(proven.before)}")
    print_line()
    if outcome.target is None:
        print_line("Nothing was changed, and nothing was written.")
    else:
        print_table(_changes_table(proven))
    for title, sentences in (
        ("Notes", proven.plan.notes),
        ("Left as it is", proven.plan.refused),
    ):
        if sentences:
            print_line()
            print_line(title, style="bold")
            for sentence in sentences:
                print_line(f"  {sentence}")
    if outcome.target is None:
        return
    print_line()
    for line in _ending(outcome):
        print_line(line)


def _ending(outcome: Outcome) -> Iterator[str]:
    written = format_count(outcome.written_bytes, "byte")
    yield f"{outcome.target}: {_verdict(outcome.checked)} (checked again; {written} written)"
    if outcome.undo_path is not None:
        yield f"To put it back as it was: qcowgui repair --undo {outcome.undo_path}"


def _verdict(checked: CheckReport) -> str:
    return verdict_text(checked.counts, complete=checked.complete)


def _changes_table(proven: ProvenPlan) -> Table:
    columns = (
        Column("code", "repaired", whole=True),
        Column("count", "edited", right=True),
        Column("meaning", "what was wrong"),
    )
    rows = [(code, count, CODES[code]) for code, count in sorted(proven.changes.items())]
    edits = format_count(len(proven.plan.edits), "edit")
    growth = proven.plan.growth_bytes
    longer = f", the file grew by {format_size(growth)}" if growth else ""
    return Table("changes", f"Repaired by {edits}{longer}", columns, rows)


def outcome_object(image: str, proven: ProvenPlan, outcome: Outcome) -> dict[str, Any]:
    """The same as JSON; sizes in bytes."""
    plan = proven.plan
    return {
        "schema": SCHEMA,
        "image": image,
        "target": None if outcome.target is None else str(outcome.target),
        "undo-file": None if outcome.undo_path is None else str(outcome.undo_path),
        "tier": Repair(plan.tier).name.lower(),
        "edits": len(plan.edits),
        "written-bytes": outcome.written_bytes,
        "growth-bytes": plan.growth_bytes,
        "changes": proven.changes,
        "notes": list(plan.notes),
        "refused": list(plan.refused),
        "before": summary_object(proven.before),
        "after": summary_object(outcome.checked),
    }
