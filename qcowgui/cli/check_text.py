"""`qcowgui check` for people: the verdict first, then what happened, how much, and the findings."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Final

from qcowgui.check.collector import OTHER_SNAPSHOTS, FindingGroup
from qcowgui.check.verdict import Verdict, verdict_of, verdict_text
from qcowgui.check.wording import guest_ranges_text
from qcowgui.cli.output import Column, Table, facts, print_facts, print_line, print_table
from qcowgui.format import describe
from qcowgui.format.finding import Finding, Repair, Severity
from qcowgui.repair.remains import TABLES_LOST_HINTS
from qcowgui.units import format_count, format_offset, format_size

if TYPE_CHECKING:  # the deep check brings the codecs, which are not needed without it
    from qcowgui.check.checker import CheckReport
    from qcowgui.check.deep import DeepSummary
    from qcowgui.check.hints import Hint

MAX_GROUPS: Final = 6
"""Kinds of findings that are shown, the gravest: a screen of 40 lines has no room for more."""

_VERDICT_STYLES: Final = {
    Verdict.CONSISTENT: "bold green",
    Verdict.UNUSUAL: "bold yellow",
    Verdict.LEAKS: "bold cyan",
    Verdict.INCOMPLETE: "bold yellow",
    Verdict.CORRUPT: "bold red",
    Verdict.FATAL: "bold red",
}
_SEVERITY_STYLES: Final = {
    Severity.FATAL: "bold red",
    Severity.CORRUPTION: "red",
    Severity.SUSPICIOUS: "yellow",
    Severity.LEAK: "cyan",
    Severity.INFO: "",
}
_REPAIRS: Final = {
    Repair.LEAKS: "repair --leaks",
    Repair.ALL: "repair --all",
    Repair.SALVAGE: "salvage",
}
"""The sub-command, and its tier, that deals with a finding."""

_KIND_WORDS: Final = {
    "OK": "good",
    "SECTORS_LONG": "too many sectors",
    "UNENDED": "without a proper end",
    "PRERELEASE": "pre-release layout",
    "SECTORS_SHORT": "too few sectors",
    "OTHER_TYPE": "of another type",
    "SHORT": "too short",
    "TRUNCATED": "cut by the file's end",
    "DAMAGED": "damaged",
}
"""`PayloadKind`, by name → what it is called."""


def print_finding(finding: Finding) -> None:
    """Print one finding as a line."""
    word = describe.SEVERITY_WORDS[finding.severity]
    place = f"{finding.code} · {describe.place_text(finding)}"
    print_line(
        f"{word}: {describe.finding_text(finding)} [{place}]",
        style=_SEVERITY_STYLES[finding.severity],
    )


def print_report(report: CheckReport, *, with_findings: bool) -> None:
    """Print what a check came to.

    Args:
        report: Its result.
        with_findings: Whether the kinds of findings are listed; else they were printed before.
    """
    _print_verdict(report)
    if report.hints:
        print_line()
        _print_hints(report.hints)
    print_line()
    print_table(_totals_table(report))
    if report.totals.refusal:
        print_line(f"  {report.totals.refusal}")
    if report.image.header.geometry is not None:
        print_line()
        print_facts(facts("clusters", "Clusters", _iter_clusters(report)))
    if report.deep is not None:
        print_line()
        print_facts(facts("deep", "Compressed clusters", _iter_deep(report.deep)))
    if with_findings and report.groups:
        print_line()
        lost = any(hint.code in TABLES_LOST_HINTS for hint in report.hints)
        _print_groups(report.groups, leaks_are_kept=lost)
    _print_next_step(report)


def _print_verdict(report: CheckReport) -> None:
    verdict = verdict_of(report.counts, complete=report.complete)
    sentence = verdict_text(report.counts, complete=report.complete)
    print_line(f"{report.image.name}: {sentence}", style=_VERDICT_STYLES[verdict])
    print_line(_scope(report))


def _scope(report: CheckReport) -> str:
    """What was not looked at, so that nobody takes consistent metadata for sound data."""
    if report.deep is not None:
        return (
            "Compressed clusters were decoded; whether data is what the guest wrote, none can tell."
        )
    if report.mapped.compressed:
        return "Guest data was not looked at; --deep decodes the compressed clusters."
    return "Guest data was not looked at."


def _print_hints(hints: Iterable[Hint]) -> None:
    print_line("What probably happened", style="bold")
    for hint in hints:
        print_line(f"  ! {hint.sentence}", style="bold yellow")
        print_line(f"    {hint.advice}")


def _totals_table(report: CheckReport) -> Table:
    columns = (
        Column("what", "found"),
        Column("here", "here", right=True),
        Column("qemu", "qemu-img check", right=True),
    )
    counts, totals = report.counts, report.totals
    rows: list[tuple[str, int | None, int | str | None]] = [
        ("corruptions", counts[Severity.FATAL] + counts[Severity.CORRUPTION], totals.corruptions),
        ("leaks", counts[Severity.LEAK], totals.leaks),
        ("what could not be checked", None, totals.check_errors),
        ("suspicious", counts[Severity.SUSPICIOUS], None),
        ("notes", counts[Severity.INFO], None),
    ]
    if totals.refusal:  # it says nothing but that
        rows = [(what, here, None if qemu is None else "–") for what, here, qemu in rows]
    return Table("totals", "Totals", columns, rows)


def _iter_clusters(report: CheckReport) -> Iterator[tuple[str, str]]:
    totals, mapped = report.totals, report.mapped
    # Tables may map more than the disk has, behind its end.
    total = totals.total_clusters
    allocated = min(mapped.allocated, total)
    share = describe.share_text(allocated, total)
    yield "guest", f"{allocated:,} of {format_count(total, 'cluster')} allocated ({share})"
    for name, clusters in (
        ("compressed", min(mapped.compressed, allocated)),
        ("fragmented", min(mapped.fragmented, allocated)),
    ):
        if clusters:
            yield name, f"{clusters:,} ({describe.share_text(clusters, allocated)} of those)"
    if totals.image_end_offset:
        file_end = format_offset(report.image.file_bytes)
        yield "image end", f"{format_offset(totals.image_end_offset)}; file end {file_end}"
    for name, clusters in (("leaked", report.leaked_clusters), ("free", report.free_clusters)):
        if clusters:
            size = format_size(clusters * report.ownership.cluster_bytes)
            yield name, f"{format_count(clusters, 'cluster')} inside the file ({size})"


def _iter_deep(deep: DeepSummary) -> Iterator[tuple[str, str]]:
    if deep.refusal:
        yield "decoded", f"none: {deep.refusal}"
        return
    yield (
        "decoded",
        f"{format_count(deep.clusters, 'cluster')} ({format_size(deep.payload_bytes)} of payloads)",
    )
    for kind, count in sorted(deep.kinds.items(), reverse=True):
        yield _KIND_WORDS[kind.name], f"{count:,}"
    if deep.beyond_file:
        yield "beyond the file", f"{deep.beyond_file:,}"


def _print_groups(groups: tuple[FindingGroup, ...], *, leaks_are_kept: bool) -> None:
    shown = groups[:MAX_GROUPS]
    for severity, alike in groupby(shown, key=lambda group: group.severity):
        title = describe.SEVERITY_WORDS[severity].capitalize()
        print_line(title, style=_SEVERITY_STYLES[severity])
        for group in alike:
            for line in _group_lines(group, leaks_are_kept=leaks_are_kept):
                print_line(line)
    left_out = len(groups) - len(shown)
    if left_out:
        kinds = format_count(left_out, "more kind of findings", "more kinds of findings")
        print_line(f"… and {kinds}; --all shows every finding")


def _group_lines(group: FindingGroup, *, leaks_are_kept: bool) -> Iterator[str]:
    first = group.first[0]
    times = f" (×{group.count:,})" if group.count > 1 else ""
    yield f"  {first.message}{times}"
    step = repair_text(group.severity, group.repair)
    if leaks_are_kept and group.repair is Repair.LEAKS:
        step = "a repair keeps it, see above"
    notes = [f"{group.code} · {_places(group)}", step]
    yield "      " + "; ".join(filter(None, notes))


def _places(group: FindingGroup) -> str:
    """Where findings of a kind are: the place of the only one, or what they affect together."""
    first = group.first[0]
    if group.count == 1:
        return describe.place_text(first)
    parts = [first.structure]
    if group.snapshot == OTHER_SNAPSHOTS:
        parts.append("of further snapshots")
    if group.host_ranges.spans:
        parts.append(f"from host {format_offset(group.host_ranges.spans[0][0])} on")
    if group.guest_ranges.spans:
        parts.append(guest_ranges_text(group.guest_ranges))
    return " · ".join(parts)


def repair_text(severity: Severity, repair: Repair) -> str:
    """Which command deals with a finding; empty where nothing needs to be repaired."""
    if repair in _REPAIRS:
        return f"see qcowgui {_REPAIRS[repair]}"
    return "no repair is known" if severity >= Severity.CORRUPTION else ""


def _print_next_step(report: CheckReport) -> None:
    """Say which command shows what can be done, unless a hint has better advice."""
    if report.hints:
        return
    repairs = {group.repair for group in report.groups}
    steps = []
    if repairs & {Repair.LEAKS, Repair.ALL}:
        steps.append(("To see what a repair would change", "repair --plan"))
    if Repair.SALVAGE in repairs:
        steps.append(("To see what can be brought back", "salvage"))
    if steps:
        print_line()
    for purpose, command in steps:
        print_line(f"{purpose}: qcowgui {command} {shlex.quote(report.image.name)}")
