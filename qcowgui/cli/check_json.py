"""`qcowgui check --json`: qemu-img's keys in an object of their own, and every finding as one.

Everything of ours has dashes in its keys, as `qcowgui info --json`. Findings can be written while
they are found: a million of them need no memory.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from qcowgui.check.verdict import verdict_of
from qcowgui.cli.info_json import finding_object
from qcowgui.cli.output import SCHEMA, print_text
from qcowgui.format.finding import Finding, Severity

if TYPE_CHECKING:  # the deep check brings the codecs, which are not needed without it
    from qcowgui.check.checker import CheckReport
    from qcowgui.check.collector import FindingGroup
    from qcowgui.check.deep import DeepSummary
    from qcowgui.check.ranges import Ranges
    from qcowgui.check.totals import QemuTotals

_ENCODE: Final = json.JSONEncoder().encode


class FindingStream:
    """Writes a JSON object that begins with findings, each as it comes; `close` adds the rest."""

    def __init__(self, filename: str) -> None:
        """Write the beginning.

        Args:
            filename: The image, as it was named.
        """
        print_text(f'{{"schema": {SCHEMA},\n"filename": {_ENCODE(filename)},\n"findings": [')
        self._separator = "\n"

    def add(self, finding: Finding) -> None:
        """Write a finding."""
        print_text(self._separator + _ENCODE(check_finding_object(finding)))
        self._separator = ",\n"

    def close(self, report: CheckReport) -> None:
        """Write what the check came to, and the end."""
        print_text("]")
        for key, value in summary_object(report).items():
            print_text(f",\n{_ENCODE(key)}: {_ENCODE(value)}")
        print_text("}\n")


def check_finding_object(finding: Finding) -> dict[str, Any]:
    """A finding as JSON, with the repair that removes it."""
    fields = finding_object(finding)
    if finding.snapshot is not None:
        fields["snapshot"] = finding.snapshot
    fields["repair"] = finding.repair.name.lower()
    return fields


def report_object(report: CheckReport) -> dict[str, Any]:
    """What a check came to; of each kind the first findings."""
    return {
        "schema": SCHEMA,
        "filename": report.image.name,
        "findings": [
            check_finding_object(finding) for group in report.groups for finding in group.first
        ],
        **summary_object(report),
    }


def summary_object(report: CheckReport) -> dict[str, Any]:
    """What a check came to, without the findings themselves."""
    return {
        "qemu": qemu_object(report.image.name, report.totals),
        "qemu-refusal": report.totals.refusal or None,
        "verdict": verdict_of(report.counts, complete=report.complete).value,
        "complete": report.complete,
        "counts": {
            severity.name.lower(): report.counts[severity]
            for severity in sorted(Severity, reverse=True)
        },
        "groups": [_group(group) for group in report.groups],
        "hints": [
            {"code": hint.code, "sentence": hint.sentence, "advice": hint.advice}
            for hint in report.hints
        ],
        "clusters": _clusters(report),
        "deep": None if report.deep is None else _deep(report.deep),
    }


def qemu_object(filename: str, totals: QemuTotals) -> dict[str, Any] | None:
    """What `qemu-img check --output=json` prints: of the numbers only check-errors may be 0.

    None where it prints nothing.
    """
    if totals.refusal:
        return None
    numbers = {
        "image-end-offset": totals.image_end_offset,
        "total-clusters": totals.total_clusters,
        "corruptions": totals.corruptions,
        "leaks": totals.leaks,
        "allocated-clusters": totals.allocated_clusters,
        "fragmented-clusters": totals.fragmented_clusters,
        "compressed-clusters": totals.compressed_clusters,
    }
    return {
        "filename": filename,
        "format": "qcow2",
        "check-errors": totals.check_errors,
        **{key: number for key, number in numbers.items() if number},
    }


def _group(group: FindingGroup) -> dict[str, Any]:
    return {
        "code": group.code,
        "severity": Severity(group.severity).name.lower(),
        "count": group.count,
        "repair": group.repair.name.lower(),
        "snapshot": group.snapshot,
        "guest-ranges": _ranges(group.guest_ranges),
        "host-ranges": _ranges(group.host_ranges),
    }


def _ranges(ranges: Ranges) -> dict[str, Any]:
    return {"ranges": [list(span) for span in ranges.spans], "complete": ranges.complete}


def _clusters(report: CheckReport) -> dict[str, Any]:
    """Host clusters by what they are used for."""
    return {
        "cluster-size": report.ownership.cluster_bytes,
        "considered": report.ownership.clusters,
        "leaked": report.leaked_clusters,
        "free": report.free_clusters,
        "roles": {
            role.name.lower().replace("_", "-"): count
            for role, count in report.role_clusters.items()
        },
    }


def _deep(deep: DeepSummary) -> dict[str, Any]:
    return {
        "clusters": deep.clusters,
        "payload-bytes": deep.payload_bytes,
        "bad": deep.bad,
        "unreadable": deep.unreadable,
        "kinds": {
            kind.name.lower().replace("_", "-"): count for kind, count in sorted(deep.kinds.items())
        },
        "beyond-file": deep.beyond_file,
        "refusal": deep.refusal or None,
    }
