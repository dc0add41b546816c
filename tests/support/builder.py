"""A builder of qcow2 images of any geometry, version and feature.

It knows the format from the specification alone and imports nothing of the product, so that it can
contradict the product. What it builds is healthy; damage is done to the result (`damage.py`), or by
the `raw_*` methods.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from tests.support.assembly import assemble
from tests.support.built import BuiltImage
from tests.support.guest import (
    ALL_SUBCLUSTERS,
    CompressedEntry,
    Entry,
    GuestDisk,
    HostCluster,
    Payload,
    RawEntry,
    StandardEntry,
    content_of,
)
from tests.support.luks import luks1_area
from tests.support.options import ImageOptions
from tests.support.payload import (
    ZSTD,
    LengthPrefix,
    deflate_stream,
    with_length_prefix,
    zstd_stream,
)
from tests.support.recipe import Gap, HostObject, Leak, Recipe
from tests.support.records import (
    BITMAP_DIRTY_TRACKING,
    Bitmap,
    Snapshot,
    bitmap_table,
    snapshot_extra,
)

# 2026-11-30 12:00:00 UTC: images must not depend on the day they are built on.
DEFAULT_DATE_SECONDS = 1_796_040_000


@dataclass(kw_only=True)
class ImageBuilder(ImageOptions):
    """Collects content in the order of the calls; `build` lays it out in the same order.

    The layout is that of a file which QEMU made and wrote once: header, refcount table, refcount
    blocks, L1, L2 tables, data; then what belongs to snapshots, bitmaps and encryption.
    Guest clusters are named by their index.
    """

    _disk: GuestDisk = field(init=False, repr=False)
    _sequence: list[HostObject] = field(init=False, repr=False, default_factory=list)
    _snapshots: list[Snapshot] = field(init=False, repr=False, default_factory=list)
    _bitmaps: list[Bitmap] = field(init=False, repr=False, default_factory=list)
    _raw_l1: dict[int, int] = field(init=False, repr=False, default_factory=dict)
    _luks_area: bytes | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        self._disk = GuestDisk(self.size, self.cluster_bytes, self.l2_entries)

    def write(self, guest_offset: int, data: bytes, *, at: int | None = None) -> None:
        """Write guest data into standard clusters; a part of a cluster keeps what else it held.

        Args:
            guest_offset: Any guest byte offset.
            data: What to write; what it leaves of an unallocated cluster becomes zeros.
            at: The host offset of the first cluster, the others follow it; by default free ones.
        """
        position = 0
        while position < len(data):
            index, start = divmod(guest_offset + position, self.cluster_bytes)
            chunk = data[position : position + self.cluster_bytes - start]
            content = bytearray(content_of(self._disk.entry(index), bytes(self.cluster_bytes)))
            content[start : start + len(chunk)] = chunk
            self._map(index, HostCluster(bytes(content), at))
            position += len(chunk)
            at = None if at is None else at + self.cluster_bytes

    def write_compressed(
        self,
        guest_cluster_index: int,
        data: bytes,
        *,
        level: int | None = None,
        wbits: int = -12,
        frames: int = 1,
        content_size: bool = True,
        payload: bytes | None = None,
        length_prefix: LengthPrefix | None = None,
        trailing: bytes = b"",
        extra_sectors: int = 0,
        align: int = 1,
        at: int | None = None,
    ) -> None:
        """Set a guest cluster to a compressed one, packed right behind the last payload.

        Args:
            guest_cluster_index: The cluster.
            data: Its content, padded with zeros to a whole cluster before it is compressed.
            level: Of the compressor; by default 6 for deflate and 3 for zstd.
            wbits: Deflate only: -12 for QEMU's 4 KiB window, -15 for 32 KiB.
            frames: Zstd only: how many frames share the cluster.
            content_size: Zstd only: whether the frame header says the size of its content.
            payload: The stored stream, instead of compressing `data`.
            length_prefix: The 4 bytes of the unreleased zstd patches, in this byte order.
            trailing: Bytes behind the stream that belong to no one.
            extra_sectors: Added to the sectors that the descriptor needs; may be negative.
            align: The alignment of the payload's start, in bytes.
            at: The host byte offset of the payload; by default packed.
        """
        content = data.ljust(self.cluster_bytes, b"\0")
        if payload is not None:
            stream = payload
        elif self.compression_type == ZSTD:
            stream = zstd_stream(content, level=level, frames=frames, content_size=content_size)
        else:
            stream = deflate_stream(content, level=level, wbits=wbits)
        if length_prefix is not None:
            stream = with_length_prefix(stream, length_prefix)
        stored = Payload(stream + trailing, content, extra_sectors, align, at)
        self._sequence.append(stored)
        self._disk.set_entry(guest_cluster_index, CompressedEntry(stored))

    def zero(self, guest_cluster_index: int, *, allocated: bool = False) -> None:
        """Make a guest cluster read as zeros, with (`allocated`) or without a host cluster.

        Raises:
            ValueError: Version 2 has no such clusters.
        """
        if self.version < 3:
            raise ValueError("version 2 has no zero clusters; use raw_l2_entry")
        host = HostCluster(bytes(self.cluster_bytes)) if allocated else None
        self._map(guest_cluster_index, host, alloc_mask=0, zero_mask=ALL_SUBCLUSTERS)

    def discard(self, guest_cluster_index: int) -> None:
        """Make a guest cluster unallocated again."""
        self._disk.set_entry(guest_cluster_index, None)

    def subclusters(
        self,
        guest_cluster_index: int,
        alloc_mask: int,
        zero_mask: int = 0,
        data: bytes = b"",
        *,
        allocated: bool = True,
    ) -> None:
        """Set a cluster with subclusters; bit i of a mask stands for subcluster i.

        Args:
            guest_cluster_index: The cluster.
            alloc_mask: Subclusters that have data.
            zero_mask: Subclusters that read as zeros.
            data: The host cluster's content, unused parts included.
            allocated: Whether there is a host cluster.

        Raises:
            ValueError: The image has no extended L2 entries.
        """
        if not self.extended_l2:
            raise ValueError("subclusters need extended_l2")
        host = HostCluster(data.ljust(self.cluster_bytes, b"\0")) if allocated else None
        self._map(guest_cluster_index, host, alloc_mask=alloc_mask, zero_mask=zero_mask)

    def share(self, guest_cluster_index: int, source_index: int) -> None:
        """Map a guest cluster to what another one is mapped to; the refcounts follow."""
        self._disk.set_entry(guest_cluster_index, self._disk.entry(source_index))

    def raw_l2_entry(self, guest_cluster_index: int, word: int, bitmap: int = 0) -> None:
        """Store a descriptor as it is; nothing that it names is counted as referenced."""
        self._disk.set_entry(guest_cluster_index, RawEntry(word, bitmap))

    def raw_l1_entry(self, l1_index: int, word: int) -> None:
        """Store an entry of the active L1 as it is; nothing that it names is counted."""
        self._raw_l1[l1_index] = word

    def leak(self, n_clusters: int) -> None:
        """Take clusters with refcount 1 that nothing refers to."""
        self._sequence.append(Leak(n_clusters))

    def gap(self, n_clusters: int) -> None:
        """Leave clusters inside the file free, with refcount 0."""
        self._sequence.append(Gap(n_clusters))

    def resize(self, size: int) -> None:
        """Change the virtual size; snapshots made before keep theirs."""
        self.size = self._disk.size = size

    def snapshot(
        self,
        name: str,
        *,
        id: str | None = None,
        date_seconds: int = DEFAULT_DATE_SECONDS,
        date_nanoseconds: int = 0,
        vm_clock_nanoseconds: int = 0,
        vm_state: bytes = b"",
        disk_size: int | None = None,
        extra: bytes | None = None,
        icount: int | None = None,
    ) -> None:
        """Freeze the active disk as an internal snapshot, whose clusters it shares from now on.

        Args:
            name: Not necessarily unique.
            id: By default the next number, as QEMU does.
            date_seconds: Since 1970, UTC.
            date_nanoseconds: Of that second.
            vm_clock_nanoseconds: The guest's clock.
            vm_state: Stored in the snapshot's own L2 tables, after the disk.
            disk_size: The size that the snapshot records; by default the present one.
            extra: The extra data as stored, instead of the usual (none in version 2).
            icount: The instruction count, None for none.
        """
        size = self.size if disk_size is None else disk_size
        disk = self._disk.frozen_copy(size)
        disk_l1_entries = max(disk.l1_entries_for(size), self.l1_size or 0)
        first_index = disk.l1_entries_for(size) * self.l2_entries
        for start in range(0, len(vm_state), self.cluster_bytes):
            chunk = vm_state[start : start + self.cluster_bytes].ljust(self.cluster_bytes, b"\0")
            host = HostCluster(chunk)
            self._sequence.append(host)
            disk.set_entry(first_index + start // self.cluster_bytes, StandardEntry(host))
        if extra is None:
            extra = snapshot_extra(self.version, len(vm_state), size, icount)
        self._snapshots.append(
            Snapshot(
                name=name,
                id=str(len(self._snapshots) + 1) if id is None else id,
                disk=disk,
                l1_entries=max(disk_l1_entries, max(disk.tables, default=-1) + 1),
                date_seconds=date_seconds,
                date_nanoseconds=date_nanoseconds,
                vm_clock_nanoseconds=vm_clock_nanoseconds,
                vm_state_field=len(vm_state),
                extra=extra,
            )
        )

    def bitmap(
        self,
        name: str,
        *,
        granularity_bits: int = 16,
        flags: int = 0,
        type: int = BITMAP_DIRTY_TRACKING,
        set_ranges: Iterable[tuple[int, int]] = (),
        extra: bytes = b"",
        store_uniform: bool = False,
    ) -> None:
        """Add a persistent bitmap of the present virtual size, and its autoclear bit.

        Args:
            name: Its name.
            granularity_bits: Binary logarithm of the guest bytes that a bit stands for.
            flags: 1 in use, 2 auto, 4 extra data compatible.
            type: 1, dirty tracking, is the only one defined.
            set_ranges: Guest ranges (offset, length) that are dirty.
            extra: Extra data of the directory entry.
            store_uniform: Also give a cluster to parts that are all ones or all zeros.
        """
        table = bitmap_table(
            disk_bytes=self.size,
            granularity_bits=granularity_bits,
            cluster_bytes=self.cluster_bytes,
            set_ranges=set_ranges,
            store_uniform=store_uniform,
        )
        self._bitmaps.append(Bitmap(name, granularity_bits, flags, type, extra, table))

    def luks(
        self,
        *,
        cipher_name: str = "aes",
        cipher_mode: str = "xts-plain64",
        hash_spec: str = "sha256",
        key_bytes: int = 64,
        uuid: str = "9f1c6f5e-53a3-4b4b-8d1d-0d6f3ad6f0c2",
        active_slots: Collection[int] = (0,),
    ) -> None:
        """Add a LUKS1 area and set crypt_method 2.

        No passphrase opens it, and guest data stays as it was written.
        """
        self.crypt_method = 2
        self._luks_area = luks1_area(
            cipher_name=cipher_name,
            cipher_mode=cipher_mode,
            hash_spec=hash_spec,
            key_bytes=key_bytes,
            uuid=uuid,
            active_slots=active_slots,
        )

    def build(self) -> BuiltImage:
        """Return the image; the builder can go on and build a later state of it.

        Raises:
            ValueError: The content contradicts the options, or a number does not fit its field.
        """
        return assemble(
            Recipe(
                options=self,
                disk=self._disk,
                sequence=tuple(self._sequence),
                snapshots=tuple(self._snapshots),
                bitmaps=tuple(self._bitmaps),
                raw_l1=dict(self._raw_l1),
                luks_area=self._luks_area,
            )
        )

    def _map(
        self,
        guest_cluster_index: int,
        host: HostCluster | None,
        *,
        alloc_mask: int = ALL_SUBCLUSTERS,
        zero_mask: int = 0,
    ) -> None:
        if host is not None:
            self._sequence.append(host)
        entry: Entry = StandardEntry(host, alloc_mask, zero_mask)
        self._disk.set_entry(guest_cluster_index, entry)
