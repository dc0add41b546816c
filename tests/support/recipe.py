"""All that an image is made of, before it has offsets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.support.guest import (
    CompressedEntry,
    Entry,
    GuestDisk,
    HostCluster,
    L2Table,
    Payload,
    StandardEntry,
)
from tests.support.options import ImageOptions
from tests.support.records import Bitmap, Snapshot


@dataclass(frozen=True, eq=False)
class Leak:
    """Clusters with refcount 1 and no owner."""

    n_clusters: int


@dataclass(frozen=True, eq=False)
class Gap:
    """Free clusters inside the file."""

    n_clusters: int


HostObject = HostCluster | Payload | Leak | Gap


@dataclass(frozen=True)
class Recipe:
    """All that an image is made of.

    Attributes:
        sequence: Guest data, leaks and gaps in the order of their host offsets.
        raw_l1: Words of the active L1 that are stored as they are.
    """

    options: ImageOptions
    disk: GuestDisk
    sequence: Sequence[HostObject]
    snapshots: Sequence[Snapshot]
    bitmaps: Sequence[Bitmap]
    raw_l1: Mapping[int, int]
    luks_area: bytes | None

    @property
    def disks(self) -> Iterator[GuestDisk]:
        """The active disk, then those of the snapshots."""
        yield self.disk
        for snapshot in self.snapshots:
            yield snapshot.disk

    @property
    def l1_entries(self) -> int:
        """The size of the active L1."""
        if self.options.l1_size is not None:
            return self.options.l1_size
        used = max((*self.disk.tables, *self.raw_l1), default=-1) + 1
        return max(self.disk.l1_entries_for(self.disk.size), used)

    def tables(self) -> list[L2Table]:
        """Every L2 table once: the active ones by L1 index, then those only snapshots have."""
        ordered: dict[int, L2Table] = {}
        for disk in self.disks:
            for _, table in sorted(disk.tables.items()):
                ordered.setdefault(id(table), table)
        return list(ordered.values())

    def referenced_objects(self) -> set[int]:
        """Return the identities of the objects to place: what was overwritten is not among them."""
        in_image = self.options.data_file is None
        found: set[int] = set()
        for table in self.tables():
            for entry in table.entries.values():
                host = host_object(entry)
                if host is not None and (in_image or isinstance(host, Payload)):
                    found.add(id(host))
        return found


def host_object(entry: Entry) -> HostCluster | Payload | None:
    """Return what the entry refers to in the image or data file."""
    if isinstance(entry, CompressedEntry):
        return entry.payload
    if isinstance(entry, StandardEntry):
        return entry.host
    return None
