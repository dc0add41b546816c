"""The declarative field table: what lies where in each fixed structure, and inside each word.

Parsing, `dump`, the window's tables and the tests are all driven by it, so that a field is
described once. Offsets are relative to the structure's first byte; every number is big-endian.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from qcowgui.format import geometry, limits


class FieldKind(Enum):
    """How a field's number is shown."""

    NUMBER = auto()
    HEX = auto()
    OFFSET = auto()
    """A host offset; 0 means that the thing is absent."""
    BYTES = auto()
    """A size in bytes."""
    FLAGS = auto()
    """A set of bits."""
    PADDING = auto()


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a fixed structure.

    Attributes:
        name: The format's own name.
        offset: First byte, relative to the structure.
        width_bytes: Length in bytes.
        since: The version of the format that introduced it.
        kind: How to show it.
        meaning: What it says, in one sentence.
        spec: Section of the format description.
    """

    name: str
    offset: int
    width_bytes: int
    since: int
    kind: FieldKind
    meaning: str
    spec: str = "1.2"

    @property
    def end(self) -> int:
        """The first byte after the field, relative to the structure."""
        return self.offset + self.width_bytes


@dataclass(frozen=True, slots=True)
class FieldValue:
    """A field as found in a file.

    Attributes:
        field: The table's row.
        host_offset: Where the field starts in the file.
        raw: Its bytes; shorter than the field when the file ends inside it.
        value: Its number, or None when the field is absent or cut.
    """

    field: Field
    host_offset: int
    raw: bytes
    value: int | None


@dataclass(frozen=True, slots=True)
class BitField:
    """Some neighbouring bits of a 64-bit word.

    Attributes:
        name: The format's name for them.
        low: The least significant bit, 0 to 63.
        high: The most significant bit, inclusive.
        meaning: What they say.
        reserved: Whether they must be zero.
    """

    name: str
    low: int
    high: int
    meaning: str
    reserved: bool = False

    def extract(self, word: int) -> int:
        """The bits' number in `word`, shifted down."""
        return (word >> self.low) & ((1 << (self.high - self.low + 1)) - 1)


HEADER_FIELDS: Final[tuple[Field, ...]] = (
    Field("magic", 0, 4, 2, FieldKind.HEX, "identifies the file: QFI and 0xfb"),
    Field("version", 4, 4, 2, FieldKind.NUMBER, "version of the format: 2 or 3"),
    Field("backing_file_offset", 8, 8, 2, FieldKind.OFFSET, "where the backing file's name starts"),
    Field("backing_file_size", 16, 4, 2, FieldKind.BYTES, "length of the backing file's name"),
    Field("cluster_bits", 20, 4, 2, FieldKind.NUMBER, "a cluster has 2 to this power bytes"),
    Field("size", 24, 8, 2, FieldKind.BYTES, "size of the virtual disk"),
    Field("crypt_method", 32, 4, 2, FieldKind.NUMBER, "encryption: 0 none, 1 AES, 2 LUKS"),
    Field("l1_size", 36, 4, 2, FieldKind.NUMBER, "entries in the active L1 table"),
    Field("l1_table_offset", 40, 8, 2, FieldKind.OFFSET, "where the active L1 table starts"),
    Field("refcount_table_offset", 48, 8, 2, FieldKind.OFFSET, "where the refcount table starts"),
    Field("refcount_table_clusters", 56, 4, 2, FieldKind.NUMBER, "clusters in the refcount table"),
    Field("nb_snapshots", 60, 4, 2, FieldKind.NUMBER, "internal snapshots in the image"),
    Field("snapshots_offset", 64, 8, 2, FieldKind.OFFSET, "where the snapshot table starts"),
    Field(
        "incompatible_features",
        72,
        8,
        3,
        FieldKind.FLAGS,
        "features a reader must know, or refuse the image",
        "1.3",
    ),
    Field(
        "compatible_features",
        80,
        8,
        3,
        FieldKind.FLAGS,
        "features a reader may ignore",
        "1.3",
    ),
    Field(
        "autoclear_features",
        88,
        8,
        3,
        FieldKind.FLAGS,
        "features a writer that does not know them must clear",
        "1.3",
    ),
    Field("refcount_order", 96, 4, 3, FieldKind.NUMBER, "a refcount has 2 to this power bits"),
    Field("header_length", 100, 4, 3, FieldKind.BYTES, "length of the header"),
    Field("compression_type", 104, 1, 3, FieldKind.NUMBER, "compression: 0 deflate, 1 Zstandard"),
    Field("padding", 105, 7, 3, FieldKind.PADDING, "zero"),
)
"""The header. Spec: 1.2"""

SNAPSHOT_FIELDS: Final[tuple[Field, ...]] = (
    Field("l1_table_offset", 0, 8, 2, FieldKind.OFFSET, "where its L1 table starts", "1.11"),
    Field("l1_size", 8, 4, 2, FieldKind.NUMBER, "entries in its L1 table", "1.11"),
    Field("id_str_size", 12, 2, 2, FieldKind.BYTES, "length of the id", "1.11"),
    Field("name_size", 14, 2, 2, FieldKind.BYTES, "length of the name", "1.11"),
    Field("date_sec", 16, 4, 2, FieldKind.NUMBER, "taken at: seconds since 1970", "1.11"),
    Field("date_nsec", 20, 4, 2, FieldKind.NUMBER, "taken at: nanoseconds", "1.11"),
    Field("vm_clock_nsec", 24, 8, 2, FieldKind.NUMBER, "guest's running time in ns", "1.11"),
    Field("vm_state_size", 32, 4, 2, FieldKind.BYTES, "VM state (32 bits)", "1.11"),
    Field("extra_data_size", 36, 4, 2, FieldKind.BYTES, "length of the extra data", "1.11"),
)
"""The fixed part of a snapshot table entry. Spec: 1.11"""

SNAPSHOT_EXTRA_FIELDS: Final[tuple[Field, ...]] = (
    Field("vm_state_size_large", 0, 8, 3, FieldKind.BYTES, "VM state (64 bits)", "1.11"),
    Field("disk_size", 8, 8, 3, FieldKind.BYTES, "virtual size at that time", "1.11"),
    Field("icount", 16, 8, 3, FieldKind.NUMBER, "instructions run, all ones: none", "1.11"),
)
"""A snapshot's extra data, as far as it is known. Spec: 1.11"""

BITMAPS_EXTENSION_FIELDS: Final[tuple[Field, ...]] = (
    Field("nb_bitmaps", 0, 4, 3, FieldKind.NUMBER, "bitmaps in the directory", "1.4"),
    Field("reserved", 4, 4, 3, FieldKind.PADDING, "zero", "1.4"),
    Field("bitmap_directory_size", 8, 8, 3, FieldKind.BYTES, "length of the directory", "1.4"),
    Field("bitmap_directory_offset", 16, 8, 3, FieldKind.OFFSET, "where it starts", "1.4"),
)
"""The bitmaps header extension. Spec: 1.4"""

BITMAP_DIRECTORY_FIELDS: Final[tuple[Field, ...]] = (
    Field("bitmap_table_offset", 0, 8, 3, FieldKind.OFFSET, "where its table starts", "1.12"),
    Field("bitmap_table_size", 8, 4, 3, FieldKind.NUMBER, "entries in its table", "1.12"),
    Field("flags", 12, 4, 3, FieldKind.FLAGS, "in_use, auto, extra_data_compatible", "1.12"),
    Field("type", 16, 1, 3, FieldKind.NUMBER, "1: dirty tracking bitmap", "1.12"),
    Field("granularity_bits", 17, 1, 3, FieldKind.NUMBER, "a bit covers 2 to this power", "1.12"),
    Field("name_size", 18, 2, 3, FieldKind.BYTES, "length of the name", "1.12"),
    Field("extra_data_size", 20, 4, 3, FieldKind.BYTES, "length of the extra data", "1.12"),
)
"""The fixed part of a bitmap directory entry. Spec: 1.12"""

ENCRYPTION_EXTENSION_FIELDS: Final[tuple[Field, ...]] = (
    Field("offset", 0, 8, 3, FieldKind.OFFSET, "where the LUKS header starts", "1.4"),
    Field("length", 8, 8, 3, FieldKind.BYTES, "length of the LUKS header area", "1.4"),
)
"""The full disk encryption header extension. Spec: 1.4"""

L1_BITS: Final[tuple[BitField, ...]] = (
    BitField("reserved", 0, 8, "must be zero", reserved=True),
    BitField("l2_table_offset", 9, 55, "host offset of the L2 table, in units of 512 bytes"),
    BitField("reserved", 56, 62, "must be zero", reserved=True),
    BitField("copied", 63, 63, "the L2 table's refcount is exactly one"),
)
"""An L1 entry. Spec: 1.7"""

L2_STANDARD_BITS: Final[tuple[BitField, ...]] = (
    BitField("reads_zero", 0, 0, "the cluster reads as zeros (version 3)"),
    BitField("reserved", 1, 8, "must be zero", reserved=True),
    BitField("host_cluster_offset", 9, 55, "host offset of the cluster, in units of 512 bytes"),
    BitField("reserved", 56, 61, "must be zero", reserved=True),
    BitField("compressed", 62, 62, "zero: a standard cluster"),
    BitField("copied", 63, 63, "the cluster's refcount is exactly one"),
)
"""A standard L2 entry. Spec: 1.7"""

SUBCLUSTER_BITS: Final[tuple[BitField, ...]] = (
    BitField("allocated", 0, 31, "one bit a subcluster: it has data in the host cluster"),
    BitField("reads_zero", 32, 63, "one bit a subcluster: it reads as zeros"),
)
"""The subcluster bitmap of an extended L2 entry. Spec: 1.8"""

REFCOUNT_TABLE_BITS: Final[tuple[BitField, ...]] = (
    BitField("reserved", 0, 8, "must be zero", reserved=True),
    BitField("refcount_block_offset", 9, 63, "host offset of the block, in units of 512 bytes"),
)
"""A refcount table entry. Spec: 1.10"""

BITMAP_TABLE_BITS: Final[tuple[BitField, ...]] = (
    BitField("all_ones", 0, 0, "with offset 0: every bit of this part is one"),
    BitField("reserved", 1, 8, "must be zero", reserved=True),
    BitField("bitmap_cluster_offset", 9, 55, "host offset of the part, in units of 512 bytes"),
    BitField("reserved", 56, 63, "must be zero", reserved=True),
)
"""A bitmap table entry. Spec: 1.12"""


def compressed_bits(cluster_bits: int) -> tuple[BitField, ...]:
    """The bit fields of a compressed cluster descriptor, by the cluster size. Spec: 1.9"""
    shift = geometry.Geometry(cluster_bits).compressed_shift
    return (
        BitField("host_offset", 0, shift - 1, "byte address of the payload"),
        BitField("additional_sectors", shift, 61, "512-byte sectors after the first one"),
        BitField("compressed", 62, 62, "one: a compressed cluster"),
        BitField("copied", 63, 63, "must be zero for a compressed cluster"),
    )


def iter_field_values(
    fields: Sequence[Field], data: bytes, *, base_offset: int = 0, end: int | None = None
) -> Iterator[FieldValue]:
    """The fields of a structure as found in `data`, in the table's order.

    Args:
        fields: A table of this module.
        data: The structure's bytes from its first one on; it may be cut short.
        base_offset: The structure's host offset.
        end: The structure's own length where it says so; a field that ends beyond it is absent.
    """
    for field in fields:
        raw = data[field.offset : field.end]
        absent = len(raw) < field.width_bytes or (end is not None and field.end > end)
        value = None if absent else int.from_bytes(raw, "big")
        yield FieldValue(field, base_offset + field.offset, raw, value)


def parse_fields(fields: Sequence[Field], data: bytes, *, end: int | None = None) -> dict[str, int]:
    """The numbers of all fields by name; absent and cut ones count as 0. Spec: 1.2

    `data` and `end` are as in `iter_field_values`.
    """
    return {
        found.field.name: found.value or 0 for found in iter_field_values(fields, data, end=end)
    }


def field_named(fields: Sequence[Field], name: str) -> Field:
    """The row of `fields` called `name`.

    Raises:
        KeyError: When there is none.
    """
    by_name: Mapping[str, Field] = {field.name: field for field in fields}
    return by_name[name]


def header_end(version: int, header_length: int) -> int:
    """Where the header ends: extensions start there. Spec: 1.2"""
    return header_length if version >= 3 else limits.V2_HEADER_BYTES
