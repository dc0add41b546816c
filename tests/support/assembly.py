"""From a recipe to bytes: encode every structure at its place."""

from __future__ import annotations

import copy
import struct
from collections.abc import Iterable, Sequence

from tests.support.built import BuiltImage
from tests.support.guest import (
    ALL_SUBCLUSTERS,
    CompressedEntry,
    Entry,
    HostCluster,
    L2Table,
    Payload,
    RawEntry,
)
from tests.support.host_space import refcount_blocks
from tests.support.layout import V2_HEADER_BYTES, Layout, Span
from tests.support.placement import Placement, payload_sectors, settle
from tests.support.preamble import (
    AUTOCLEAR_BITMAPS,
    AUTOCLEAR_RAW_DATA_FILE,
    EXT_BACKING_FORMAT,
    EXT_BITMAPS,
    EXT_DATA_FILE,
    EXT_ENCRYPTION,
    EXT_FEATURE_NAMES,
    INCOMPATIBLE_COMPRESSION,
    INCOMPATIBLE_DATA_FILE,
    INCOMPATIBLE_EXTENDED_L2,
    MAGIC,
    ExtensionArea,
    extension_area,
    feature_table,
    header_bytes,
)
from tests.support.recipe import Gap, Leak, Recipe, host_object
from tests.support.sparse import SparseBytes

COPIED = 1 << 63
COMPRESSED = 1 << 62
ZERO = 1 << 0
SECTOR_BYTES = 512


def assemble(recipe: Recipe) -> BuiltImage:
    """Return the image of a recipe."""
    placement = settle(recipe)
    encoder = _Encoder(recipe, placement)
    encoder.write_metadata()
    encoder.write_guest_data()
    encoder.write_preamble()
    encoder.finish_length()
    # The builder may go on: its tables and disks must not change under the finished image.
    disks = copy.deepcopy((recipe.disk, [s.disk for s in recipe.snapshots]))
    return BuiltImage(
        file=encoder.file,
        layout=encoder.layout,
        disk=disks[0],
        snapshot_disks=dict(zip((s.name for s in recipe.snapshots), disks[1], strict=True)),
        data_file=encoder.data_file,
        data_file_name=recipe.options.data_file,
    )


class _Encoder:
    """Writes the structures of a placement and notes them in a `Layout`."""

    def __init__(self, recipe: Recipe, placement: Placement) -> None:
        options = recipe.options
        self._recipe = recipe
        self._placement = placement
        self._options = options
        self.file = SparseBytes()
        self.data_file = SparseBytes(options.size) if options.data_file is not None else None
        self.layout = Layout(
            version=options.version,
            cluster_bits=options.cluster_bits,
            refcount_order=options.refcount_order,
            extended_l2=options.extended_l2,
            header=Span(0, self._header_length()),
            l1=placement.l1,
            refcount_table=placement.refcount_table,
            refcount_blocks=placement.refcount_blocks,
            snapshot_table=placement.snapshot_table,
            snapshot_l1=placement.snapshot_l1,
            bitmap_directory=placement.bitmap_directory,
            bitmap_tables=placement.bitmap_tables,
            bitmap_data=placement.bitmap_data,
            luks=placement.luks,
        )

    def write_metadata(self) -> None:
        """Write refcounts, L1 and L2 tables, snapshots, bitmaps, encryption area."""
        self._write_refcounts()
        self._write_active_tables()
        self._write_snapshots()
        self._write_bitmaps()
        if self._recipe.luks_area is not None and self._placement.luks is not None:
            self.file.write(self._placement.luks.offset, self._recipe.luks_area)

    def write_guest_data(self) -> None:
        """Write guest clusters and payloads, into the data file where there is one."""
        objects = self._placement.objects
        for item in self._recipe.sequence:
            span = objects.get(id(item))
            if isinstance(item, Leak) and span is not None:
                self.layout.leaks.append(span)
            elif isinstance(item, Gap) and span is not None:
                self.layout.gaps.append(span)
            elif isinstance(item, HostCluster) and span is not None:
                self.file.write(span.offset, item.content)
            elif isinstance(item, Payload) and span is not None:
                self.file.write(span.offset, item.stream)
        disk = self._recipe.disk
        for l1_index, table in disk.tables.items():
            for l2_index, entry in table.entries.items():
                self._note_guest_cluster(l1_index * disk.l2_entries + l2_index, entry)

    def write_preamble(self) -> None:
        """Write header, extensions and backing file name.

        Raises:
            ValueError: They are longer than a cluster.
        """
        area = self._extension_area()
        header = header_bytes(
            self._header_fields(area),
            version=self._options.version,
            header_length=self._header_length(),
            tail=self._options.header_tail,
        )
        if len(header) + len(area.data) > self._options.cluster_bytes:
            raise ValueError("header, extensions and backing file name exceed one cluster")
        self.file.write(0, header + area.data)
        self.layout.extensions = area.spans
        self.layout.backing_name = area.backing_name

    def finish_length(self) -> None:
        """Bring the file to whole clusters, unless its end shall be short."""
        if not self._options.short_last_cluster:
            clusters = self._placement.space.end_clusters
            self.file.resize(max(len(self.file), clusters * self._options.cluster_bytes))

    def _header_length(self) -> int:
        if self._options.version < 3:
            return V2_HEADER_BYTES
        if self._options.header_length is None:
            return 112 + len(self._options.header_tail)
        return self._options.header_length

    def _header_fields(self, area: ExtensionArea) -> dict[str, int]:
        options, placement = self._options, self._placement
        implied_incompatible = (
            (INCOMPATIBLE_DATA_FILE if options.data_file is not None else 0)
            | (INCOMPATIBLE_COMPRESSION if options.compression_type else 0)
            | (INCOMPATIBLE_EXTENDED_L2 if options.extended_l2 else 0)
        )
        implied_autoclear = (AUTOCLEAR_BITMAPS if self._recipe.bitmaps else 0) | (
            AUTOCLEAR_RAW_DATA_FILE if options.data_file_raw else 0
        )
        fields = {
            "magic": MAGIC,
            "version": options.version,
            "backing_file_offset": area.backing_name.offset if area.backing_name else 0,
            "backing_file_size": area.backing_name.length if area.backing_name else 0,
            "cluster_bits": options.cluster_bits,
            "size": options.size,
            "crypt_method": options.crypt_method,
            "l1_size": self._recipe.l1_entries,
            "l1_table_offset": placement.l1.offset,
            "refcount_table_offset": placement.refcount_table.offset,
            "refcount_table_clusters": placement.refcount_table.length // options.cluster_bytes,
            "nb_snapshots": len(self._recipe.snapshots),
            "snapshots_offset": placement.snapshot_table.offset if placement.snapshot_table else 0,
            "incompatible_features": options.incompatible | implied_incompatible,
            "compatible_features": options.compatible,
            "autoclear_features": options.autoclear | implied_autoclear,
            "compression_type": options.compression_type,
        }
        if options.version >= 3:
            fields |= {
                "refcount_order": options.refcount_order,
                "header_length": self._header_length(),
            }
        elif options.refcount_order != 4:
            raise ValueError("version 2 has 16-bit refcounts")
        return fields

    def _extension_area(self) -> ExtensionArea:
        options, placement = self._options, self._placement
        extensions: list[tuple[int, bytes]] = []
        if options.backing_format is not None:
            extensions.append((EXT_BACKING_FORMAT, options.backing_format.encode()))
        if options.data_file is not None:
            extensions.append((EXT_DATA_FILE, options.data_file.encode()))
        if placement.luks is not None:
            extensions.append((EXT_ENCRYPTION, struct.pack(">QQ", *placement.luks)))
        as_qemu = options.version >= 3 and options.cluster_bytes > 4096
        if as_qemu if options.feature_table is None else options.feature_table:
            extensions.append((EXT_FEATURE_NAMES, feature_table()))
        if placement.bitmap_directory is not None:
            offset, length = placement.bitmap_directory
            record = struct.pack(">IIQQ", len(self._recipe.bitmaps), 0, length, offset)
            extensions.append((EXT_BITMAPS, record))
        name = options.backing_file
        return extension_area(
            self._header_length(),
            (*extensions, *options.extensions),
            end_extension=options.end_extension,
            backing_file=None if name is None else name.encode(),
        )

    def _write_refcounts(self) -> None:
        options, placement = self._options, self._placement
        blocks = refcount_blocks(
            placement.space.references, options.cluster_bits, options.refcount_order
        )
        table = bytearray(placement.refcount_table.length)
        for index, span in placement.refcount_blocks.items():
            struct.pack_into(">Q", table, 8 * index, span.offset)
            self.file.write(span.offset, blocks.get(index, bytes(options.cluster_bytes)))
        self.file.write(placement.refcount_table.offset, bytes(table))

    def _write_active_tables(self) -> None:
        disk, placement = self._recipe.disk, self._placement
        words = [0] * self._recipe.l1_entries
        for l1_index, table in sorted(disk.tables.items()):
            span = placement.tables[id(table)]
            if l1_index >= len(words):
                raise ValueError(f"l1_size {len(words)} has no room for L1 entry {l1_index}")
            words[l1_index] = span.offset | self._copied(span)
            self.layout.l2[l1_index] = span
            self.file.write(span.offset, self._l2_bytes(table, l1_index, active=True))
        for l1_index, word in self._recipe.raw_l1.items():
            words[l1_index] = word
        self.file.write(placement.l1.offset, _words(words))

    def _write_snapshots(self) -> None:
        placement = self._placement
        active = {id(table) for table in self._recipe.disk.tables.values()}
        records: list[bytes] = []
        for index, snapshot in enumerate(self._recipe.snapshots):
            l1_span = placement.snapshot_l1[index]
            words = [0] * snapshot.l1_entries
            for l1_index, table in snapshot.disk.tables.items():
                span = placement.tables[id(table)]
                words[l1_index] = span.offset
                self.layout.snapshot_l2[index, l1_index] = span
                if id(table) not in active:
                    self.file.write(span.offset, self._l2_bytes(table, l1_index, active=False))
            self.file.write(l1_span.offset, _words(words))
            records.append(snapshot.encode(l1_span.offset))
        if placement.snapshot_table is not None:
            self.layout.snapshot_entries = self._write_records(placement.snapshot_table, records)

    def _write_bitmaps(self) -> None:
        placement = self._placement
        records: list[bytes] = []
        for index, bitmap in enumerate(self._recipe.bitmaps):
            words: list[int] = []
            for entry_index, item in enumerate(bitmap.table):
                if isinstance(item, int):
                    words.append(item)
                else:
                    span = placement.bitmap_data[index, entry_index]
                    self.file.write(span.offset, item)
                    words.append(span.offset)
            table_span = placement.bitmap_tables[index]
            self.file.write(table_span.offset, _words(words))
            records.append(bitmap.encode(table_span.offset))
        if placement.bitmap_directory is not None:
            directory = placement.bitmap_directory
            self.layout.bitmap_entries = self._write_records(directory, records)

    def _write_records(self, table: Span, records: Iterable[bytes]) -> list[Span]:
        spans: list[Span] = []
        offset = table.offset
        for record in records:
            self.file.write(offset, record)
            spans.append(Span(offset, len(record)))
            offset += len(record)
        return spans

    def _copied(self, span: Span) -> int:
        cluster_index = span.offset >> self._options.cluster_bits
        return COPIED if self._placement.space.references[cluster_index] == 1 else 0

    def _l2_bytes(self, table: L2Table, l1_index: int, *, active: bool) -> bytes:
        entry_bytes = 16 if self._options.extended_l2 else 8
        encoded = bytearray(self._options.cluster_bytes)
        for l2_index, entry in table.entries.items():
            guest_cluster_index = l1_index * self._options.l2_entries + l2_index
            word, bitmap = self._descriptor(entry, guest_cluster_index, active=active)
            struct.pack_into(">Q", encoded, entry_bytes * l2_index, word)
            if self._options.extended_l2:
                struct.pack_into(">Q", encoded, entry_bytes * l2_index + 8, bitmap)
        return bytes(encoded)

    def _descriptor(
        self, entry: Entry, guest_cluster_index: int, *, active: bool
    ) -> tuple[int, int]:
        """Return the word and the subcluster bitmap of an entry."""
        if isinstance(entry, RawEntry):
            return entry.word, entry.bitmap
        if isinstance(entry, CompressedEntry):
            return self._compressed_word(entry.payload), 0
        word = 0
        if entry.host is not None and self.data_file is not None:
            word = guest_cluster_index << self._options.cluster_bits | COPIED
        elif entry.host is not None:
            span = self._placement.objects[id(entry.host)]
            word = span.offset | (self._copied(span) if active else 0)
        if self._options.extended_l2:
            return word, entry.zero_mask << 32 | entry.alloc_mask
        return word | (ZERO if entry.zero_mask == ALL_SUBCLUSTERS else 0), 0

    def _compressed_word(self, payload: Payload) -> int:
        offset = self._placement.objects[id(payload)].offset
        offset_bits = 62 - (self._options.cluster_bits - 8)
        stored_sectors = payload_sectors(payload, offset) - 1
        if offset >> offset_bits or not 0 <= stored_sectors < 1 << 62 - offset_bits:
            raise ValueError(f"a compressed cluster at {offset:#x} does not fit its descriptor")
        return COMPRESSED | stored_sectors << offset_bits | offset

    def _note_guest_cluster(self, guest_cluster_index: int, entry: Entry) -> None:
        host = host_object(entry)
        if isinstance(host, HostCluster) and self.data_file is not None:
            offset = guest_cluster_index << self._options.cluster_bits
            self.data_file.write(offset, host.content[: self._options.size - offset])
            self.layout.data[guest_cluster_index] = Span(offset, len(host.content))
        elif isinstance(host, HostCluster):
            self.layout.data[guest_cluster_index] = self._placement.objects[id(host)]
        elif isinstance(host, Payload):
            self.layout.payloads[guest_cluster_index] = self._placement.objects[id(host)]


def _words(words: Sequence[int]) -> bytes:
    return struct.pack(f">{len(words)}Q", *words)
