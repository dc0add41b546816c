"""What `qcowgui salvage` prints of what it has found: for people, and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from qcowgui.cli import output
from qcowgui.units import format_count, format_offset, format_size

if TYPE_CHECKING:
    from qcowgui.image.layer import LostRange
    from qcowgui.salvage.candidates import Candidate, SalvageReport

SHOWN_RANGES: Final = 8
"""Ranges that are shown to people; the rest is counted."""


def report_lines(report: SalvageReport, image: str) -> Iterator[str]:
    """What was found, for people."""
    yield f"{report.name}: {format_size(report.file_bytes)}. {report.header_state}"
    if report.structures is not None:
        yield from _structure_lines(report)
    for candidate in report.candidates:
        yield ""
        yield from _candidate_lines(candidate)
    yield ""
    yield from _orphan_lines(report)
    yield from report.notes
    if report.candidates:
        yield f"To write candidate 1:  qcowgui salvage {image} -o OUT.qcow2"
    else:
        yield (
            "Nothing that could be an L1 or L2 table was found: this was no qcow2 image, or all of "
            "its tables are gone."
        )


def _structure_lines(report: SalvageReport) -> Iterator[str]:
    found = report.structures
    if found is None:
        return
    counts = [
        format_count(len(found.l1_tables), "L1 table"),
        format_count(found.l2_count, "cluster") + " shaped like an L2 table",
        format_count(len(found.snapshots), "snapshot"),
        "no refcount table"
        if found.refcounts is None
        else f"a refcount table at {format_offset(found.refcounts.table_offset)}",
    ]
    yield f"Found: {', '.join(counts)}."


def _candidate_lines(candidate: Candidate) -> Iterator[str]:
    geometry = candidate.geometry
    wide = ", extended L2 entries" if geometry.extended_l2 else ""
    yield f"Candidate {candidate.number}, score {candidate.score:.2f}: {candidate.title}"
    yield (
        f"  virtual size {format_size(candidate.virtual_bytes)} ({candidate.virtual_bytes} bytes), "
        f"clusters of {format_size(geometry.cluster_bytes)}{wide}, version {candidate.version}, "
        f"{candidate.compression_type.label}"
    )
    yield (
        f"  L2 tables: {candidate.whole_tables:,} whole, {candidate.damaged_tables:,} damaged, "
        f"{candidate.lost_tables:,} lost"
    )
    for reason in candidate.reasons:
        yield f"  + {reason}"
    for doubt in candidate.undecidable:
        yield f"  ? {doubt}"
    for sentence in candidate.unknown:
        yield f"  ? {sentence}"
    for lost in candidate.lost[:SHOWN_RANGES]:
        end = format_offset(lost.start + lost.length)
        yield f"  - guest {format_offset(lost.start)} to {end} is lost: {lost.reason}"
    more = len(candidate.lost) - SHOWN_RANGES
    if more > 0:
        yield f"  - and {more:,} more ranges"


def losses_text(candidate: Candidate, losses: Sequence[LostRange], listed: Path) -> str:
    """What is lost, and what nobody knows of what was written; "no losses" only when it is known.

    Args:
        candidate: What was written.
        losses: What could not be read of it.
        listed: The file that has the list.
    """
    parts = []
    if losses:
        parts.append(f"{format_size(sum(lost.length for lost in losses))} lost")
    if candidate.guessed:
        size = format_size(sum(part.length for part in candidate.guessed))
        parts.append(f"the places of {size} are a guess")
    if candidate.unowned_clusters:
        size = format_size(candidate.unowned_clusters << candidate.geometry.cluster_bits)
        parts.append(f"{size} of data that no table names left out")
    if not parts and not candidate.is_whole:
        parts.append("what is missing can't be known")
    if parts:
        return f"{', '.join(parts)}, listed in {listed}"
    return "no losses" if candidate.size_recorded else "no losses; the disk's size is a guess"


def _orphan_lines(report: SalvageReport) -> Iterator[str]:
    orphans = report.orphans
    if orphans.clusters and report.structures is not None:
        size = format_size(orphans.clusters << report.structures.geometry.cluster_bits)
        payloads = f"; {orphans.payloads:,} payloads seem to begin there" * bool(orphans.payloads)
        yield (
            f"Candidate 1 leaves {format_count(orphans.clusters, 'cluster')} with data ({size}) "
            f"unused{payloads}:"
        )
        for start, end in orphans.ranges[:SHOWN_RANGES]:
            yield f"  host {format_offset(start)} to {format_offset(end)}"
    if orphans.tables:
        yield f"Candidate 1 leaves {format_count(len(orphans.tables), 'L2 table')} unused."


def report_object(report: SalvageReport) -> dict[str, Any]:
    """What was found as JSON; offsets and sizes in bytes."""
    found = report.structures
    refcounts = None if found is None else found.refcounts
    return {
        "schema": output.SCHEMA,
        "filename": report.name,
        "file-bytes": report.file_bytes,
        "header": report.header_state,
        "geometries": [
            {
                "cluster-size": score.geometry.cluster_bytes,
                "extended-l2": score.geometry.extended_l2,
                "score": round(score.total, 3),
            }
            for score in report.geometry_scores[:SHOWN_RANGES]
        ],
        "l1-tables": []
        if found is None
        else [
            {
                "offset": table.host_offset,
                "entries": table.named,
                "found": table.found,
                "copied": table.copied,
            }
            for table in found.l1_tables
        ],
        "l2-tables": 0 if found is None else found.l2_count,
        "refcount-table": None
        if refcounts is None
        else {
            "offset": refcounts.table_offset,
            "refcount-bits": 1 << refcounts.refcount_order,
        },
        "refcount-block-sectors": report.scan.counts.sectors,
        "snapshots": []
        if found is None
        else [{"id": item.id, "name": item.name} for item in found.snapshots],
        "candidates": [candidate_object(candidate) for candidate in report.candidates],
        "orphans": {
            "l2-tables": list(report.orphans.tables),
            "clusters": report.orphans.clusters,
            "payloads": report.orphans.payloads,
            "ranges": [{"start": a, "end": b} for a, b in report.orphans.ranges],
        },
        "notes": list(report.notes),
    }


def candidate_object(candidate: Candidate) -> dict[str, Any]:
    """A candidate as JSON; offsets and sizes in bytes."""
    return {
        "number": candidate.number,
        "origin": candidate.origin.value,
        "title": candidate.title,
        "score": candidate.score,
        "virtual-size": candidate.virtual_bytes,
        "cluster-size": candidate.geometry.cluster_bytes,
        "extended-l2": candidate.geometry.extended_l2,
        "refcount-bits": candidate.geometry.refcount_bits,
        "version": candidate.version,
        "compression-type": candidate.compression_type.label,
        "tables": {
            "whole": candidate.whole_tables,
            "damaged": candidate.damaged_tables,
            "lost": candidate.lost_tables,
        },
        "reasons": list(candidate.reasons),
        "undecidable": list(candidate.undecidable),
        "losses": _ranges(candidate.lost),
        "guessed": _ranges(candidate.guessed),
        "unowned-clusters": candidate.unowned_clusters,
        "unknown": list(candidate.unknown),
    }


def _ranges(ranges: Sequence[LostRange]) -> list[dict[str, Any]]:
    return [{"start": part.start, "length": part.length, "reason": part.reason} for part in ranges]
