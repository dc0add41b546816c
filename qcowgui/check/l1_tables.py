"""Where the L1 tables of an image lie, and loading them. Spec: 1.7, 1.11"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from qcowgui.check.overwritten import EntryBounds, Flags, overwritten_l1
from qcowgui.check.snapshot_list import SnapshotList
from qcowgui.format import limits
from qcowgui.format.geometry import ENTRY_BYTES
from qcowgui.format.tables import Words, parse_words
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.units import MIB, align_up

MAX_L1_ENTRIES: Final = limits.MAX_L1_BYTES // ENTRY_BYTES

_EXTRA_L1_BYTES: Final = 16 * MIB
"""L1 tables of a sound image don't overlap: together they are no longer than the file. What a
crafted snapshot table names beyond that and this allowance is not walked."""
_EXTRA_L1_TABLES: Final = 256
"""Nor do they share clusters, so that there are no more of them than clusters. Each costs about
a millisecond, however short it is (2026-11-30)."""


class MappingOwner(NamedTuple):
    """Whose L1 table it is.

    Attributes:
        snapshot: Index in the snapshot table, or None for the active disk.
    """

    snapshot: int | None

    def __str__(self) -> str:
        return "the active disk" if self.snapshot is None else f"snapshot {self.snapshot}"


ACTIVE: Final = MappingOwner(None)


@dataclass(frozen=True, slots=True)
class L1Place:
    """Where an L1 table lies. Several disks that name the very same table count as one.

    Attributes:
        owner: Whose it is; the first one's when several name it.
        host_offset: Where it lies.
        entries: How many it has.
        references: How many disks (active or snapshot) name it.
        bounds: Where what it names can lie.
    """

    owner: MappingOwner
    host_offset: int
    entries: int
    references: int
    bounds: EntryBounds

    @property
    def table_bytes(self) -> int:
        """Its length."""
        return self.entries * ENTRY_BYTES


@dataclass(frozen=True, slots=True)
class L1Table:
    """An L1 table.

    Attributes:
        owner: Whose it is; the first one's when several name it.
        host_offset: Where it lies.
        words: Its entries in native byte order, as far as the file holds them.
        entries_missing: How many more there should be, beyond the end of the file.
        references: How many disks (active or snapshot) name it.
        overwritten: Which entries are none, because something else was written there; None when
            all may be some.
    """

    owner: MappingOwner
    host_offset: int
    words: Words
    entries_missing: int
    references: int = 1
    overwritten: Flags | None = None


@dataclass(frozen=True, slots=True)
class L1Places:
    """All L1 tables that can be walked.

    Attributes:
        places: The active one first, if it is usable; then those of snapshots, in table order.
        unusable_snapshots: How many snapshots have an L1 table that is unaligned or too long.
        complete: False when tables were left out because they can't all be in the file.
    """

    places: tuple[L1Place, ...]
    unusable_snapshots: int
    complete: bool


def l1_places(report: ImageReport, snapshots: SnapshotList) -> L1Places:
    """Where the L1 tables of an image lie; none when its geometry is impossible."""
    header, geometry = report.header, report.header.geometry
    if geometry is None:
        return L1Places((), 0, complete=False)
    wanted: dict[tuple[int, int], list[MappingOwner]] = {}
    offset = header.l1_table_offset
    if geometry.is_aligned(offset) and offset <= limits.MAX_OFFSET - limits.MAX_L1_BYTES:
        wanted[offset, min(header.l1_size, MAX_L1_ENTRIES)] = [ACTIVE]
    unusable = 0
    inside = geometry.cluster_bytes - 1
    for snapshot in snapshots.snapshots:
        offset, entries = snapshot.l1_table_offset, snapshot.l1_size
        if offset & inside or entries > MAX_L1_ENTRIES:
            unusable += 1
        else:
            wanted.setdefault((offset, entries), []).append(MappingOwner(snapshot.index))
    budget_bytes = report.file_bytes + _EXTRA_L1_BYTES
    budget_tables = geometry.clusters(report.file_bytes) + _EXTRA_L1_TABLES
    bounds = EntryBounds.of(report, geometry)
    places: list[L1Place] = []
    for (offset, entries), owners in wanted.items():
        if not entries:
            continue
        budget_bytes -= max(0, min(entries * ENTRY_BYTES, report.file_bytes - offset))
        if budget_bytes < 0 or len(places) == budget_tables:
            return L1Places(tuple(places), unusable, complete=False)
        places.append(L1Place(owners[0], offset, entries, len(owners), bounds))
    return L1Places(tuple(places), unusable, complete=True)


def load_l1_table(source: ByteSource, place: L1Place) -> L1Table:
    """The L1 table at `place`. QEMU takes what lies beyond the end of the file for zeros.

    Raises:
        SourceError: When the operating system refuses a read.
    """
    data = source.read_at(place.host_offset, place.table_bytes)
    words = parse_words(data.ljust(align_up(len(data), ENTRY_BYTES), b"\0"))
    missing = place.entries - len(data) // ENTRY_BYTES
    overwritten = overwritten_l1(words, place.bounds)
    return L1Table(place.owner, place.host_offset, words, missing, place.references, overwritten)
