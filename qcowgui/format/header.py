"""The header's numbers. Spec: 1.2"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from qcowgui.format import fields, limits
from qcowgui.format.features import Autoclear, Incompatible
from qcowgui.format.geometry import Geometry, cluster_bits_valid

MAGIC: Final = 0x514649FB
MAGIC_BYTES: Final = MAGIC.to_bytes(4, "big")
CRYPT_METHODS: Final = {0: "none", 1: "AES (legacy)", 2: "LUKS"}
COMPRESSION_TYPES: Final = {0: "zlib", 1: "zstd"}
"""compression_type → the name that qemu-img uses for it."""


@dataclass(frozen=True, slots=True)
class Header:
    """A header as found: every field of `fields.HEADER_FIELDS`, absent ones as their default.

    Attributes:
        raw: The first bytes of the file, up to the header's end or the end of the file.
        tail: Header bytes beyond the fields known today; kept when a header is rewritten.
    """

    raw: bytes
    tail: bytes
    magic: int
    version: int
    backing_file_offset: int
    backing_file_size: int
    cluster_bits: int
    size: int
    crypt_method: int
    l1_size: int
    l1_table_offset: int
    refcount_table_offset: int
    refcount_table_clusters: int
    nb_snapshots: int
    snapshots_offset: int
    incompatible_features: int
    compatible_features: int
    autoclear_features: int
    refcount_order: int
    header_length: int
    compression_type: int
    padding: int

    @property
    def geometry(self) -> Geometry | None:
        """The derived numbers, or None when cluster_bits or refcount_order is impossible."""
        if not cluster_bits_valid(self.cluster_bits):
            return None
        if self.refcount_order > limits.MAX_REFCOUNT_ORDER:
            return None
        return Geometry(self.cluster_bits, self.extended_l2, self.refcount_order)

    @property
    def end(self) -> int:
        """The first byte after the header, where extensions start."""
        return fields.header_end(self.version, self.header_length)

    @property
    def extended_l2(self) -> bool:
        """Whether L2 entries have 16 bytes."""
        return bool(self.incompatible_features & Incompatible.EXTENDED_L2)

    @property
    def has_data_file(self) -> bool:
        """Whether guest data lies in another file."""
        return bool(self.incompatible_features & Incompatible.EXTERNAL_DATA_FILE)

    @property
    def data_file_raw(self) -> bool:
        """Whether that other file alone is a valid raw image."""
        return bool(self.autoclear_features & Autoclear.RAW_EXTERNAL_DATA)

    @property
    def dirty(self) -> bool:
        """Whether the image was not closed cleanly."""
        return bool(self.incompatible_features & Incompatible.DIRTY)

    @property
    def corrupt(self) -> bool:
        """Whether a writer marked the image as damaged."""
        return bool(self.incompatible_features & Incompatible.CORRUPT)

    @property
    def compression_name(self) -> str:
        """The compression type's name, or its number when it is not known."""
        return COMPRESSION_TYPES.get(self.compression_type, str(self.compression_type))

    @property
    def compat(self) -> str:
        """The version as qemu-img names it."""
        return "0.10" if self.version == 2 else "1.1"

    def field_values(self) -> Iterator[fields.FieldValue]:
        """The header's fields as found; those a version 2 or short header lacks have no value."""
        return fields.iter_field_values(fields.HEADER_FIELDS, self.raw)


def parse_header(data: bytes) -> Header:
    """The header at the start of `data`, which may be cut anywhere.

    Missing fields count as zero; a version 2 header has refcount_order 4. A header_length that no
    cluster could hold is kept as a number, and nothing beyond the known fields is. Spec: 1.2
    """
    version = int.from_bytes(data[4:8], "big")
    if version < 3:
        end = limits.V2_HEADER_BYTES
        values = fields.parse_fields(fields.HEADER_FIELDS, data, end=end)
        values["refcount_order"] = limits.V2_REFCOUNT_ORDER
        values["header_length"] = end
        return Header(raw=data[:end], tail=b"", **values)
    # Whatever header_length says, version 3 has the fields up to its own.
    end = max(int.from_bytes(data[100:104], "big"), limits.V3_MIN_HEADER_BYTES)
    if end > 1 << limits.MAX_CLUSTER_BITS:
        end = limits.KNOWN_HEADER_BYTES
    values = fields.parse_fields(fields.HEADER_FIELDS, data, end=end)
    return Header(raw=data[:end], tail=data[limits.KNOWN_HEADER_BYTES : end], **values)
