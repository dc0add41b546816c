"""The guest's side of an image under construction: clusters, L2 tables, disks."""

from __future__ import annotations

from dataclasses import dataclass, field

SUBCLUSTERS = 32
ALL_SUBCLUSTERS = (1 << SUBCLUSTERS) - 1


class OpaqueEntryError(ValueError):
    """A raw L2 entry was read: the builder can't know what it means."""


@dataclass(eq=False)
class HostCluster:
    """One cluster of guest data; the tables that share the object share the host cluster.

    Attributes:
        content: One cluster of bytes.
        at: The host offset to put it at, or None for the next free cluster.
    """

    content: bytes
    at: int | None = None


@dataclass(eq=False)
class Payload:
    """The compressed bytes of one cluster.

    Attributes:
        stream: What is stored.
        content: One cluster of bytes, what a reader must get.
        extra_sectors: Added to the sectors that the descriptor needs; may be negative.
        align: The alignment of the start, in bytes.
        at: The host byte offset to put it at, or None for right after the last payload.
    """

    stream: bytes
    content: bytes
    extra_sectors: int = 0
    align: int = 1
    at: int | None = None


@dataclass(frozen=True)
class StandardEntry:
    """A descriptor that names a host cluster, or none (reads as zero, or from the backing file).

    Attributes:
        alloc_mask: Bit i: subcluster i has data. Without extended L2 all or nothing.
        zero_mask: Bit i: subcluster i reads as zero.
    """

    host: HostCluster | None
    alloc_mask: int = ALL_SUBCLUSTERS
    zero_mask: int = 0


@dataclass(frozen=True)
class CompressedEntry:
    """A descriptor of a compressed cluster."""

    payload: Payload


@dataclass(frozen=True)
class RawEntry:
    """A descriptor that is stored as it is and counted nowhere."""

    word: int
    bitmap: int


Entry = StandardEntry | CompressedEntry | RawEntry


@dataclass(eq=False)
class L2Table:
    """An L2 table; `frozen` once a snapshot holds it, and then copied before a change."""

    entries: dict[int, Entry] = field(default_factory=dict)
    frozen: bool = False


def content_of(entry: Entry | None, backing: bytes) -> bytes:
    """Return the cluster that a guest reads; `backing` is the same cluster below it.

    Raises:
        OpaqueEntryError: The entry is raw.
    """
    if entry is None:
        return backing
    if isinstance(entry, RawEntry):
        raise OpaqueEntryError("a raw L2 entry has no modelled content")
    if isinstance(entry, CompressedEntry):
        return entry.payload.content
    if entry.zero_mask == ALL_SUBCLUSTERS:
        return bytes(len(backing))
    if entry.alloc_mask == ALL_SUBCLUSTERS and entry.host is not None:
        return entry.host.content
    content = bytearray(backing)
    step = len(backing) // SUBCLUSTERS
    for index in range(SUBCLUSTERS):
        part = slice(index * step, (index + 1) * step)
        if entry.zero_mask >> index & 1:
            content[part] = bytes(step)
        elif entry.alloc_mask >> index & 1 and entry.host is not None:
            content[part] = entry.host.content[part]
    return bytes(content)


@dataclass
class GuestDisk:
    """A virtual disk: its L2 tables by L1 index.

    Attributes:
        size: The virtual size in bytes.
        l2_entries: Descriptors per L2 table.
    """

    size: int
    cluster_bytes: int
    l2_entries: int
    tables: dict[int, L2Table] = field(default_factory=dict)

    @property
    def l1_coverage_bytes(self) -> int:
        """The guest bytes that one L1 entry stands for."""
        return self.cluster_bytes * self.l2_entries

    def l1_entries_for(self, size: int) -> int:
        """Return how many L1 entries `size` guest bytes need."""
        return -(-size // self.l1_coverage_bytes)

    def entry(self, guest_cluster_index: int) -> Entry | None:
        """Return the descriptor of a guest cluster, None if it was never set."""
        l1_index, l2_index = divmod(guest_cluster_index, self.l2_entries)
        table = self.tables.get(l1_index)
        return None if table is None else table.entries.get(l2_index)

    def set_entry(self, guest_cluster_index: int, entry: Entry | None) -> None:
        """Set the descriptor of a guest cluster; a table that a snapshot holds is copied first."""
        l1_index, l2_index = divmod(guest_cluster_index, self.l2_entries)
        table = self.tables.setdefault(l1_index, L2Table())
        if table.frozen:
            table = self.tables[l1_index] = L2Table(dict(table.entries))
        if entry is None:
            table.entries.pop(l2_index, None)
        else:
            table.entries[l2_index] = entry

    def frozen_copy(self, size: int) -> GuestDisk:
        """Return a disk of `size` bytes that shares the tables, which are frozen from now on."""
        for table in self.tables.values():
            table.frozen = True
        return GuestDisk(size, self.cluster_bytes, self.l2_entries, dict(self.tables))

    def read(self, guest_offset: int, length: int, backing: bytes = b"") -> bytes:
        """Return guest bytes; `backing` is the whole content of the backing file.

        Raises:
            OpaqueEntryError: The range holds a raw entry.
        """
        end = min(guest_offset + length, self.size)
        first = guest_offset // self.cluster_bytes
        parts: list[bytes] = []
        for index in range(first, -(-end // self.cluster_bytes)):
            start = index * self.cluster_bytes
            below = backing[start : start + self.cluster_bytes].ljust(self.cluster_bytes, b"\0")
            parts.append(content_of(self.entry(index), below))
        skip = guest_offset - first * self.cluster_bytes
        return b"".join(parts)[skip : skip + end - guest_offset]
