"""What is wrong with snapshots, bitmaps and the file's end that an open does not look at.

`inspect` has judged the header, the extensions, the snapshot table and the bitmap directory; its
findings are not repeated. Spec: 2.2 (R0, R1, R16), 2.5 (rows 7, 8, 12)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from qcowgui.check.bitmap_rules import iter_bitmap_findings
from qcowgui.engine.work import CancelToken
from qcowgui.format.finding import Finding, Severity
from qcowgui.format.geometry import Geometry
from qcowgui.format.snapshots import Snapshot
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.units import MIB, format_offset, format_size

MAX_CLUSTERS: Final = (1 << 31) - 1
"""QEMU: a check counts the file's clusters in a C int and gives up beyond that. Spec: 2.2 (R0)"""

_MAX_TAIL_BYTES: Final = 256 * MIB
"""ours: how much behind the last cluster in use is searched for something else than zeros."""
_WINDOW_BYTES: Final = MIB
_ZEROS: Final = bytes(_WINDOW_BYTES)


def iter_structure_findings(
    source: ByteSource, report: ImageReport, *, token: CancelToken
) -> Iterator[Finding]:
    """What `report.findings` does not say of snapshots and bitmaps.

    Reads the bitmap tables, in pieces of 1 MiB, and of each bitmap the last cluster of bits: at
    most some 128 MiB in all.

    Raises:
        Cancelled: When the token asks for it.
        SourceError: When the operating system refuses a read.
    """
    yield from _judge_snapshot_names(report.snapshots)
    yield from iter_bitmap_findings(source, report, token=token)


def judge_cluster_count(file_bytes: int, geometry: Geometry) -> Finding | None:
    """That the file has more clusters than QEMU's check counts, or None. Spec: 2.2 (R0)"""
    clusters = geometry.clusters(file_bytes)
    if clusters <= MAX_CLUSTERS:
        return None
    return Finding(
        "clusters-above-limit",
        Severity.CORRUPTION,
        f"The file has {clusters:,} clusters of {format_size(geometry.cluster_bytes)}; a check "
        f"counts {MAX_CLUSTERS:,} at most, so the refcounts were not checked.",
        "file",
        raw=clusters,
        expected=f"at most {MAX_CLUSTERS:,}",
        spec="2.2 R0",
    )


def judge_free_clusters(free_clusters: int, cluster_bytes: int) -> Finding | None:
    """That the file has free clusters inside, or None.

    Args:
        free_clusters: Clusters before the last one in use, with refcount 0 and no reference.
        cluster_bytes: Of the image.
    """
    if not free_clusters:
        return None
    free = "1 cluster is" if free_clusters == 1 else f"{free_clusters:,} clusters are"
    size = format_size(free_clusters * cluster_bytes)
    return Finding(
        "free-inside",
        Severity.INFO,
        f"{free} free inside the file ({size}): later writes use that space; a conversion leaves "
        "it out.",
        "file",
        raw=free_clusters,
        spec="1.10",
    )


def judge_tail(source: ByteSource, *, end_offset: int, token: CancelToken) -> Finding | None:
    """What lies behind the last cluster in use, or None when the file ends there.

    QEMU's check says nothing of it. Spec: 2.5

    Args:
        source: The image.
        end_offset: End (exclusive) of the last host cluster with a reference or a refcount.
        token: Looked at once a MiB.

    Raises:
        Cancelled: When the token asks for it.
        SourceError: When the operating system refuses a read.
    """
    tail_bytes = source.size_bytes - end_offset
    if tail_bytes <= 0:
        return None
    first, searched = _first_nonzero(source, end_offset, token)
    behind = f"{format_size(tail_bytes)} behind the last cluster in use, which ends at "
    behind += f"{format_offset(end_offset)},"
    if first is None:
        zeros = "are zeros" if searched else f"begin with {format_size(_MAX_TAIL_BYTES)} of zeros"
        return Finding(
            "trailing-space",
            Severity.INFO,
            f"The {behind} {zeros}: space for later writes, or an unfinished copy.",
            "file",
            host_offset=end_offset,
            raw=tail_bytes,
            spec="2.5",
        )
    return Finding(
        "trailing-data",
        Severity.SUSPICIOUS,
        f"The {behind} are not all zeros: there are other bytes from {format_offset(first)} on. "
        "Nothing refers to them. They may be what was on a block device before, or data whose "
        "tables are lost.",
        "file",
        host_offset=first,
        raw=tail_bytes,
        spec="2.5",
    )


def _first_nonzero(source: ByteSource, start: int, token: CancelToken) -> tuple[int | None, bool]:
    """The offset of the first byte from `start` on that is not zero; whether all was searched."""
    left = _MAX_TAIL_BYTES
    for first, end in source.iter_data_ranges(start, source.size_bytes):
        for offset in range(first, end, _WINDOW_BYTES):
            token.raise_if_cancelled()
            data = source.read_at(offset, min(_WINDOW_BYTES, end - offset))
            if data != _ZEROS[: len(data)]:
                return offset + len(data) - len(data.lstrip(b"\0")), False
            left -= len(data)
            if left <= 0:
                return None, offset + len(data) >= source.size_bytes
    return None, True


def _judge_snapshot_names(snapshots: tuple[Snapshot, ...]) -> Iterator[Finding]:
    """One finding for each name that occurs more than once, placed at its second entry."""
    counts = Counter(snapshot.name_raw for snapshot in snapshots)
    seen: Counter[bytes] = Counter()
    for snapshot in snapshots:
        seen[snapshot.name_raw] += 1
        if snapshot.name_raw and seen[snapshot.name_raw] == 2:
            yield Finding(
                "snapshot-name-duplicate",
                Severity.SUSPICIOUS,
                f"{counts[snapshot.name_raw]:,} snapshots are named “{snapshot.name[:40]}”; by "
                "that name only one of them can be reached, the others by their ids.",
                "snapshot table",
                host_offset=snapshot.entry_offset,
                entry=snapshot.index,
                expected="a unique name",
                spec="1.11",
                count=counts[snapshot.name_raw] - 1,
            )
