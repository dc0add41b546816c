"""Where the builder put every structure of an image."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

# Typed from the specification, on purpose not shared with the product's field table.
HEADER_FIELDS: dict[str, tuple[int, int]] = {
    "magic": (0, 4),
    "version": (4, 4),
    "backing_file_offset": (8, 8),
    "backing_file_size": (16, 4),
    "cluster_bits": (20, 4),
    "size": (24, 8),
    "crypt_method": (32, 4),
    "l1_size": (36, 4),
    "l1_table_offset": (40, 8),
    "refcount_table_offset": (48, 8),
    "refcount_table_clusters": (56, 4),
    "nb_snapshots": (60, 4),
    "snapshots_offset": (64, 8),
    "incompatible_features": (72, 8),
    "compatible_features": (80, 8),
    "autoclear_features": (88, 8),
    "refcount_order": (96, 4),
    "header_length": (100, 4),
    "compression_type": (104, 1),
}
V2_HEADER_BYTES = 72


class Span(NamedTuple):
    """The host bytes [offset, offset + length) of an image file."""

    offset: int
    length: int

    @property
    def end(self) -> int:
        """The first host byte after the span."""
        return self.offset + self.length


class ExtensionSpan(NamedTuple):
    """One header extension: `offset` is that of its type word, `length` that of its data."""

    type: int
    offset: int
    length: int

    @property
    def data_offset(self) -> int:
        """The host byte where the extension's data starts."""
        return self.offset + 8


class RefcountSlot(NamedTuple):
    """A stored refcount: `bits` bits at `shift` (from the least significant) of a byte run."""

    offset: int
    width: int
    shift: int
    bits: int


@dataclass(kw_only=True)
class Layout:
    """Offsets in the image file, all in bytes; guest addresses are cluster indexes.

    Attributes:
        l2: The active L2 tables by L1 index.
        snapshot_l2: By (snapshot index, L1 index); a table shared with the active disk is here too.
        data: The host cluster of each standard guest cluster of the active disk.
        payloads: The payload of each compressed guest cluster of the active disk, without the
            padding up to the sector that its descriptor names.
        bitmap_data: By (bitmap index, bitmap table index).
    """

    version: int
    cluster_bits: int
    refcount_order: int
    extended_l2: bool
    header: Span
    l1: Span
    refcount_table: Span
    refcount_blocks: dict[int, Span]
    l2: dict[int, Span] = field(default_factory=dict)
    extensions: list[ExtensionSpan] = field(default_factory=list)
    backing_name: Span | None = None
    snapshot_table: Span | None = None
    snapshot_entries: list[Span] = field(default_factory=list)
    snapshot_l1: list[Span] = field(default_factory=list)
    snapshot_l2: dict[tuple[int, int], Span] = field(default_factory=dict)
    bitmap_directory: Span | None = None
    bitmap_entries: list[Span] = field(default_factory=list)
    bitmap_tables: list[Span] = field(default_factory=list)
    bitmap_data: dict[tuple[int, int], Span] = field(default_factory=dict)
    luks: Span | None = None
    data: dict[int, Span] = field(default_factory=dict)
    payloads: dict[int, Span] = field(default_factory=dict)
    leaks: list[Span] = field(default_factory=list)
    gaps: list[Span] = field(default_factory=list)

    @property
    def cluster_bytes(self) -> int:
        """The cluster size."""
        return 1 << self.cluster_bits

    def header_field(self, name: str) -> tuple[int, int]:
        """Return (offset, width in bytes) of the header field with the specification's `name`.

        Raises:
            KeyError: No such field, or this header is too short to have it.
        """
        offset, width = HEADER_FIELDS[name]
        if offset + width > self.header.length:
            raise KeyError(f"{name} is beyond this header's {self.header.length} bytes")
        return offset, width

    def extension(self, extension_type: int) -> ExtensionSpan:
        """Return the first extension of that type; KeyError if there is none."""
        for span in self.extensions:
            if span.type == extension_type:
                return span
        raise KeyError(f"no extension {extension_type:#x}")

    def l1_entry_offset(self, l1_index: int) -> int:
        """Return the host offset of an entry of the active L1 table."""
        return self.l1.offset + 8 * l1_index

    def l2_entry_offset(self, guest_cluster_index: int) -> int:
        """Return the host offset of the descriptor of a guest cluster in the active L2 table.

        Raises:
            KeyError: The cluster's L2 table does not exist.
        """
        entry_bytes = 16 if self.extended_l2 else 8
        l1_index, l2_index = divmod(guest_cluster_index, self.cluster_bytes // entry_bytes)
        return self.l2[l1_index].offset + entry_bytes * l2_index

    def refcount_slot(self, host_cluster_index: int) -> RefcountSlot:
        """Return where the refcount of a host cluster is stored.

        Raises:
            KeyError: No refcount block covers it.
        """
        bits = 1 << self.refcount_order
        block_index, entry = divmod(host_cluster_index, self.cluster_bytes * 8 // bits)
        byte, shift = divmod(entry * bits, 8)
        offset = self.refcount_blocks[block_index].offset + byte
        return RefcountSlot(offset, max(1, bits // 8), shift, bits)

    def structures(self) -> Iterator[tuple[str, Span]]:
        """Yield every metadata structure under a printable name; guest data is left out."""
        yield "header", self.header
        for extension in self.extensions:
            yield f"extension[{extension.type:#x}]", Span(extension.offset, 8 + extension.length)
        singles = {
            "backing_name": self.backing_name,
            "l1": self.l1,
            "refcount_table": self.refcount_table,
            "snapshot_table": self.snapshot_table,
            "bitmap_directory": self.bitmap_directory,
            "luks": self.luks,
        }
        for name, span in singles.items():
            if span is not None and span.length:
                yield name, span
        for label, spans in (
            ("l2", self.l2),
            ("refcount_block", self.refcount_blocks),
            ("snapshot_l1", dict(enumerate(self.snapshot_l1))),
            ("bitmap_table", dict(enumerate(self.bitmap_tables))),
        ):
            for index, span in spans.items():
                if span.length:
                    yield f"{label}[{index}]", span
