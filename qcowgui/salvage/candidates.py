"""What a salvaged image could be made of: candidates, each with its reasons and its doubts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from qcowgui.codec.registry import CompressionType
from qcowgui.format.geometry import Geometry
from qcowgui.format.snapshots import Snapshot
from qcowgui.image.layer import LostRange
from qcowgui.image.patched import Patch
from qcowgui.salvage.geometry_guess import GeometryScore
from qcowgui.salvage.scan import Indices, Scan
from qcowgui.salvage.structures import Structures
from qcowgui.units import format_count, format_offset, format_size


class Origin(Enum):
    """Where a candidate's L1 table comes from; the value is its name for programs."""

    HEADER = "header"
    """The header names it."""
    FOUND = "l1-table"
    """It was found by where its entries lead."""
    SNAPSHOT = "snapshot"
    """The snapshot table names it."""
    COMPLETED = "completed"
    """It was found, and L2 tables that nothing names were put where it has none."""
    ORDERED = "l2-tables"
    """It is gone: the L2 tables were put in order."""


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the user knows better than the file.

    Attributes:
        cluster_bits: The cluster size, or None.
        virtual_bytes: The disk's size, or None.
        compression_type: How compressed clusters are decoded, or None.
    """

    cluster_bits: int | None = None
    virtual_bytes: int | None = None
    compression_type: CompressionType | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to read the image.

    Attributes:
        number: From 1, the most plausible first.
        origin: Where the L1 table comes from.
        title: What it is, a noun phrase.
        geometry: Cluster size, kind of L2 entry, width of the refcounts.
        version: 2 or 3: the least that its tables need, or the header's.
        compression_type: How compressed clusters are decoded.
        virtual_bytes: The disk's size.
        l1: The host offset of each L1 entry's table; 0 for none, `LOST_TABLE` for a lost one. What
            it is shorter than the disk needs are entries without a table.
        patches: What to read instead of damaged parts of L2 tables.
        lost: Guest ranges that can't come back, as far as the tables tell.
        score: From 0 to 1: how much of what was found it explains and can read.
        reasons: Why it is plausible, in sentences.
        undecidable: What nothing in the file tells, in sentences.
        whole_tables: L2 tables that are whole.
        damaged_tables: L2 tables of which a part is left.
        lost_tables: L2 tables that are gone.
        keeps_header: Whether the image's own header is used, with what else it says.
        crypt_method: The header's.
        refcount_table_offset: Where the refcount table is; 0 when it was not found.
        refcount_table_clusters: Its clusters.
        guessed: Guest ranges that have data of which nothing proves that it belongs there.
        size_recorded: Whether the disk's size is recorded, or the user's word.
        unowned_clusters: Clusters of the file in use that neither it nor anything else names; None
            when they were not counted.
        of_snapshot: Whether it is a snapshot and not the active disk.
    """

    number: int
    origin: Origin
    title: str
    geometry: Geometry
    version: int
    compression_type: CompressionType
    virtual_bytes: int
    l1: Indices
    patches: tuple[Patch, ...]
    lost: tuple[LostRange, ...]
    score: float
    reasons: tuple[str, ...]
    undecidable: tuple[str, ...]
    whole_tables: int
    damaged_tables: int
    lost_tables: int
    keeps_header: bool = False
    crypt_method: int = 0
    refcount_table_offset: int = 0
    refcount_table_clusters: int = 0
    guessed: tuple[LostRange, ...] = ()
    size_recorded: bool = True
    unowned_clusters: int | None = 0
    of_snapshot: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether nothing tells that guest data is missing, or in a wrong place."""
        return not self.lost and not self.unknown

    @property
    def unknown(self) -> tuple[str, ...]:
        """Why nobody can say that what it gives is all there was, in sentences."""
        found = []
        if self.origin in (Origin.COMPLETED, Origin.ORDERED):
            found.append(
                "The L1 table was put together from what was found: a table that left no trace is "
                "missing without a word, and reads as zeros."
            )
        if self.guessed:
            size = format_size(sum(part.length for part in self.guessed))
            found.append(f"The places of {size} of the guest's data are a guess.")
        if self.unowned_clusters is None:
            found.append("Whether data is left over was not looked at: the file is too large.")
        elif self.unowned_clusters:
            count = format_count(self.unowned_clusters, "cluster")
            size = format_size(self.unowned_clusters << self.geometry.cluster_bits)
            found.append(
                f"Data in {count} in use ({size}) is named by no table: guest data may be lost."
            )
        return tuple(found)

    @property
    def l1_entries(self) -> int:
        """How many entries an L1 table for the whole disk has."""
        return max(len(self.l1), self.geometry.l1_entries_needed(self.virtual_bytes))


@dataclass(frozen=True, slots=True)
class Orphans:
    """Stored bytes that the best candidate does not use.

    Attributes:
        tables: Host offsets of L2 tables that no L1 table names.
        clusters: Clusters of the file that hold something and that no table names; None when they
            were not counted.
        payloads: Compressed payloads that seem to begin in them.
        ranges: The longest stretches of such clusters, [start, end) host offsets.
    """

    tables: tuple[int, ...]
    clusters: int | None
    payloads: int
    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class SalvageReport:
    """What a look at a damaged image has found.

    Attributes:
        name: The file.
        file_bytes: Its length.
        header_state: What became of the header, a sentence.
        scan: What the file's sectors look like.
        geometry_scores: The geometries that explain anything, the best first; empty when the
            header tells it.
        structures: The tables, or None when no geometry explains anything.
        candidates: The most plausible first.
        orphans: What the first candidate does not use.
        notes: What else the user should know, in sentences.
    """

    name: str
    file_bytes: int
    header_state: str
    scan: Scan
    geometry_scores: tuple[GeometryScore, ...]
    structures: Structures | None
    candidates: tuple[Candidate, ...]
    orphans: Orphans
    notes: tuple[str, ...]


def snapshot_title(snapshot: Snapshot) -> str:
    """The words for a snapshot's L1 table."""
    return f"snapshot {snapshot.id} ({snapshot.name})"


def l1_title(host_offset: int) -> str:
    """The words for an L1 table."""
    return f"the L1 table at {format_offset(host_offset)}"
