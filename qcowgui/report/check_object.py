"""The JSON object of a check, for `qcowgui check --json` and reports.

qemu-img's keys are in an object of their own; everything of ours has dashes in its keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qcowgui.check.verdict import verdict_of
from qcowgui.format.finding import Finding, Severity
from qcowgui.report.info_object import finding_object
from qcowgui.report.schema import SCHEMA

if TYPE_CHECKING:  # the deep check brings the codecs, which are not needed without it
    from qcowgui.check.checker import CheckReport
    from qcowgui.check.collector import FindingGroup
    from qcowgui.check.deep import DeepSummary
    from qcowgui.check.ranges import Ranges
    from qcowgui.check.totals import QemuTotals


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
