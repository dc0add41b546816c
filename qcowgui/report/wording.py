"""The sentences of a report that neither an open nor a check has words for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from qcowgui.check.collector import OTHER_SNAPSHOTS, FindingGroup
from qcowgui.check.roles import ROLE_NAMES
from qcowgui.check.verdict import Verdict, verdict_of
from qcowgui.format import describe
from qcowgui.format.finding import Repair, Severity
from qcowgui.report.inspected import Qcow2File
from qcowgui.units import format_count, format_offset, format_size

if TYPE_CHECKING:  # the deep check brings the codecs, which are not needed without it
    from qcowgui.check.checker import CheckReport

_MAX_SPANS: Final = 4
_TONES: Final = {
    Verdict.CONSISTENT: "good",
    Verdict.UNUSUAL: "note",
    Verdict.LEAKS: "warning",
    Verdict.INCOMPLETE: "warning",
    Verdict.CORRUPT: "danger",
    Verdict.FATAL: "danger",
}
_REPAIR_WORDS: Final = {
    Repair.LEAKS: "Repairable: the wasted space is given back; no guest byte changes.",
    Repair.ALL: "Repairable: metadata is made consistent; no guest byte reads differently.",
    Repair.SALVAGE: "Salvage only: a new image from what can still be read; data may be lost.",
}


def verdict_tone(report: CheckReport) -> str:
    """How a verdict looks: "good", "note", "warning" or "danger"."""
    return _TONES[verdict_of(report.counts, complete=report.complete)]


def scope_text(report: CheckReport | None) -> str:
    """What was not looked at, so that nobody takes consistent metadata for sound data."""
    if report is None:
        return "Refcounts and guest data were not looked at."
    if report.deep is not None and not report.deep.refusal:
        return (
            "Compressed clusters were decoded. Whether data is what the guest wrote, no check can "
            "tell."
        )
    return "Guest data was not looked at: consistent metadata does not mean intact data."


def repair_text(group: FindingGroup) -> str:
    """Whether findings of a kind can be repaired, and what that means; empty for mere notes."""
    if group.repair in _REPAIR_WORDS:
        return _REPAIR_WORDS[group.repair]
    return "No repair is known." if group.severity >= Severity.CORRUPTION else ""


def places_text(group: FindingGroup) -> str:
    """Where findings of a kind are: the place of the only one, or what they affect together."""
    first = group.first[0]
    if group.count == 1:
        return describe.place_text(first)
    parts = [first.structure]
    if group.snapshot == OTHER_SNAPSHOTS:
        parts.append("of further snapshots")
    elif group.snapshot is not None:
        parts.append(f"of snapshot {group.snapshot}")
    for name, ranges in (("host", group.host_ranges), ("guest", group.guest_ranges)):
        spans = [f"{format_offset(a)}–{format_offset(b - 1)}" for a, b in ranges.spans[:_MAX_SPANS]]
        more = len(ranges.spans) > _MAX_SPANS or not ranges.complete
        if spans:
            parts.append(f"{name} {', '.join(spans)}{', …' if more else ''}")
    return " · ".join(parts)


def iter_identity(image: Qcow2File) -> Iterator[tuple[str, str]]:
    """What an image is, as names and values."""
    report, header = image.report, image.report.header
    yield "Format", f"qcow2, version {describe.version_text(header.version)}"
    yield "Virtual size", describe.size_text(report.virtual_bytes)
    yield "File length", describe.size_text(report.file_bytes)
    if report.disk_bytes is not None:
        yield "Blocks used", f"{describe.size_text(report.disk_bytes)} of the file system"
    if header.geometry is not None:
        yield "Cluster size", describe.size_text(header.geometry.cluster_bytes)
    yield "Compression type", header.compression_name
    yield "Encryption", describe.crypt_method_text(header.crypt_method)
    if image.summary is not None:
        stored, total = image.summary.stored_clusters, image.summary.total_clusters
        share = describe.share_text(stored, total)
        yield "Stored", f"{stored:,} of {format_count(total, 'cluster')} ({share})"
        yield "Compressed", format_count(image.summary.compressed_clusters, "cluster")
    yield "QEMU opens it", "yes" if report.readable else f"no: {report.refusals[0].message}"


def iter_totals(report: CheckReport) -> Iterator[tuple[str, str, str]]:
    """What was counted, our number, and that of qemu-img check ("–" where it says none)."""
    counts, totals = report.counts, report.totals

    def theirs(number: int) -> str:
        return "–" if totals.refusal else f"{number:,}"

    corruptions = counts[Severity.FATAL] + counts[Severity.CORRUPTION]
    yield "Corruptions", f"{corruptions:,}", theirs(totals.corruptions)
    yield "Leaks", f"{counts[Severity.LEAK]:,}", theirs(totals.leaks)
    yield "Could not be checked", "–", theirs(totals.check_errors)
    yield "Suspicious", f"{counts[Severity.SUSPICIOUS]:,}", "–"
    yield "Notes", f"{counts[Severity.INFO]:,}", "–"


def iter_roles(report: CheckReport) -> Iterator[tuple[str, str, str]]:
    """What host clusters are used for, how many, and their size."""
    size = report.ownership.cluster_bytes
    for role, count in report.role_clusters.items():
        yield ROLE_NAMES[role], f"{count:,}", format_size(count * size)
    if report.leaked_clusters:
        count = report.leaked_clusters
        yield "nothing, but counted as used (leaked)", f"{count:,}", format_size(count * size)
