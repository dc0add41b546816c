"""How a built image is made, apart from its content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30
TIB = 1 << 40


@dataclass(kw_only=True)
class ImageOptions:
    """The keywords of `ImageBuilder`.

    Attributes:
        cluster_bits: Binary logarithm of the cluster size.
        size: The virtual size in bytes.
        header_length: Version 3 only; 112 and the length of `header_tail` if not given.
        header_tail: Unknown header bytes, from byte 112 on.
        data_file: The name of an external data file; guest data goes there.
        crypt_method: 1 for the legacy AES; 2 follows from a `luks` call.
        incompatible: Bits that are or-ed to those that the other options imply; so are the other
            two classes.
        feature_table: The feature name table; by default as QEMU does, in version 3 with clusters
            over 4 KiB.
        extensions: Further (type, data) extensions, before the end marker.
        l1_size: Entries of the active L1; by default what the size and the content need.
        refcount_table_clusters: At least so many.
        placement: Host offsets of structures that shall not be at their usual place, under the
            names "refcount_table", "refcount_block[i]", "l1", "l2[i]", "snapshot_table",
            "bitmap_directory" and "luks".
        short_last_cluster: End the file with its last used byte, not with a whole cluster.
    """

    cluster_bits: int = 16
    size: int = 64 * MIB
    version: int = 3
    refcount_order: int = 4
    extended_l2: bool = False
    compression_type: int = 0
    header_length: int | None = None
    header_tail: bytes = b""
    backing_file: str | None = None
    backing_format: str | None = None
    data_file: str | None = None
    data_file_raw: bool = False
    crypt_method: int = 0
    incompatible: int = 0
    compatible: int = 0
    autoclear: int = 0
    feature_table: bool | None = None
    extensions: Sequence[tuple[int, bytes]] = ()
    end_extension: bool = True
    l1_size: int | None = None
    refcount_table_clusters: int = 1
    placement: Mapping[str, int] = field(default_factory=dict)
    short_last_cluster: bool = False

    @property
    def cluster_bytes(self) -> int:
        """The cluster size."""
        return 1 << self.cluster_bits

    @property
    def l2_entries(self) -> int:
        """Descriptors per L2 table."""
        return self.cluster_bytes // (16 if self.extended_l2 else 8)


class OptionKeywords(TypedDict, total=False):
    """The fields of `ImageOptions` as keywords that a function passes on."""

    cluster_bits: int
    size: int
    version: int
    refcount_order: int
    extended_l2: bool
    compression_type: int
    header_length: int | None
    header_tail: bytes
    backing_file: str | None
    backing_format: str | None
    data_file: str | None
    data_file_raw: bool
    crypt_method: int
    incompatible: int
    compatible: int
    autoclear: int
    feature_table: bool | None
    extensions: Sequence[tuple[int, bytes]]
    end_extension: bool
    l1_size: int | None
    refcount_table_clusters: int
    placement: Mapping[str, int]
    short_last_cluster: bool
