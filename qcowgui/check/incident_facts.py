"""The numbers that tell an incident. `incident_search` gathers them, `hints` judges them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

# A last cluster that is cut inside is what many writers leave, so it is not among them.
GUEST_BEYOND_CODES: Final = (
    "data-beyond-eof",
    "compressed-missing",
)
"""Findings on guest data behind the end of the file."""
BEYOND_CODES: Final = (
    *GUEST_BEYOND_CODES,
    "l1-truncated",
    "l2-table-beyond-eof",
    "l2-truncated",
    "metadata-beyond-eof",
    "refcount-block-beyond-eof",
    "refcount-table-truncated",
    "bitmap-data-beyond-eof",
)
"""Findings on what lies, or should lie, behind the end of the file."""


class ZeroTail(NamedTuple):
    """The zeros at the end of the file, where something else should be.

    Attributes:
        start: Host offset of the first of them.
        data_clusters: Standard data clusters that lie in them.
        payload_clusters: Clusters with compressed payloads that lie in them.
        tables: L2 tables and refcount blocks that lie in them.
        leaked_clusters: Clusters in them that count as used though nothing refers to them.
    """

    start: int
    data_clusters: int = 0
    payload_clusters: int = 0
    tables: int = 0
    leaked_clusters: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentFacts:
    """What is known of an image after a check, as far as it tells of incidents.

    Attributes:
        file_bytes: The file's length.
        cluster_bytes: Size of a cluster.
        l2_entries: Entries of an L2 table.
        findings: How many findings there are of each code.
        dirty: Whether the dirty bit is set.
        lazy_refcounts: Whether the image allows refcounts to be written late.
        used_clusters: Host clusters with a reference.
        counted_clusters: Host clusters with a stored refcount above 0.
        one_too_high: Used clusters whose refcount is the number of references plus one.
        leaked_clusters: Clusters that count as used though nothing refers to them.
        leaks_first: The first of them; 0 when there are none.
        leaks_last: The last of them.
        shared_leaks: Leaked clusters with a refcount above 1: compressed data, or what snapshots
            had.
        marked_leaks: Leaked clusters that an earlier repair kept and marked.
        lost_tables: Leaked clusters that hold an L2 table which maps clusters that are leaked too,
            or counted more often than they are referred to.
        lost_entries: Entries of these tables that map such clusters.
        empty_tables: L2 tables of the active disk without any entry.
        empty_snapshot_tables: L1 tables of snapshots, and L2 tables that only they name, without
            any entry.
        l1_entries: Entries of the active L1 table that the disk needs.
        l1_used: Entries of it that are not zero.
        mapped_share: The part of the guest's clusters that have a host cluster, 0 to 1.
        counted_end: Host offset (exclusive) up to which refcounts say that clusters are in use,
            be it beyond the end of the file.
        zero_tail: The zeros at the end of the file, when they are in the place of something else.
        trailing_bytes: Bytes behind the last cluster in use that are not all zeros.
        tables_with_data: Clusters that are a table and guest data at once.
        payloads: Compressed clusters that a deep check decoded; 0 without one.
        payloads_of_other_type: Those of them that are whole, but of the other compression type.
        compression_type: The name of the one in the header.
    """

    file_bytes: int
    cluster_bytes: int
    l2_entries: int
    findings: Mapping[str, int] = field(default_factory=dict)
    dirty: bool = False
    lazy_refcounts: bool = False
    used_clusters: int = 0
    counted_clusters: int = 0
    one_too_high: int = 0
    leaked_clusters: int = 0
    leaks_first: int = 0
    leaks_last: int = 0
    shared_leaks: int = 0
    marked_leaks: int = 0
    lost_tables: int = 0
    lost_entries: int = 0
    empty_tables: int = 0
    empty_snapshot_tables: int = 0
    l1_entries: int = 0
    l1_used: int = 0
    mapped_share: float = 0.0
    counted_end: int = 0
    zero_tail: ZeroTail | None = None
    trailing_bytes: int = 0
    tables_with_data: int = 0
    payloads: int = 0
    payloads_of_other_type: int = 0
    compression_type: str = ""

    def count(self, *codes: str) -> int:
        """How many findings there are of these codes, all together."""
        return sum(self.findings.get(code, 0) for code in codes)

    @property
    def is_cut(self) -> bool:
        """Whether the file was cut, as opposed to a wrong offset here and there.

        Then refcounts tell of clusters beyond its end, unless the refcounts are lost with them.
        """
        if not self.count(*BEYOND_CODES):
            return False
        if self.counted_end - self.file_bytes >= self.cluster_bytes:
            return True
        return bool(self.count("l1-truncated") and self.count("refcount-table-truncated"))
