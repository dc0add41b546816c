"""The first cluster of a new qcow2 file: header, extensions, backing file name. Spec: 1.2 to 1.4"""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from qcowgui.convert.options import ConvertOptions
from qcowgui.errors import OptionsError
from qcowgui.format import fields, limits
from qcowgui.format.extensions import ExtensionType
from qcowgui.format.features import FEATURES, Autoclear, Compatible, Incompatible
from qcowgui.format.geometry import ENTRY_BYTES, Geometry
from qcowgui.format.header import MAGIC
from qcowgui.units import KIB, align_up, format_size

_BITMAPS: Final = struct.Struct(">IIQQ")
"""The bitmaps extension: bitmaps, zero, length of the directory, its host offset. Spec: 1.4"""


class DirectoryPlace(NamedTuple):
    """Where a bitmap directory is.

    Attributes:
        offset: Its host offset.
        size_bytes: Its length.
        nb_bitmaps: Its entries.
    """

    offset: int
    size_bytes: int
    nb_bitmaps: int


@dataclass(frozen=True, slots=True)
class TablePlaces:
    """Where the tables of the new file are.

    Attributes:
        l1_table_offset: Host offset of the L1 table.
        l1_size: Its entries.
        refcount_table_offset: Host offset of the refcount table.
        refcount_table_clusters: Its clusters.
        bitmap_directory: The bitmaps' directory, or None.
    """

    l1_table_offset: int
    l1_size: int
    refcount_table_offset: int
    refcount_table_clusters: int
    bitmap_directory: DirectoryPlace | None = None


def check_virtual_size(geometry: Geometry, virtual_bytes: int) -> None:
    """Refuse a disk whose L1 table would be larger than QEMU reads.

    Raises:
        OptionsError: When a larger cluster size is needed.
    """
    most_bytes = limits.MAX_L1_BYTES // ENTRY_BYTES * geometry.l1_coverage_bytes
    if virtual_bytes > most_bytes:
        raise OptionsError(
            f"A disk of {format_size(virtual_bytes)} is too large for clusters of "
            f"{format_size(geometry.cluster_bytes)}, which reach {format_size(most_bytes)}",
            hint="choose a larger cluster size, or raw as the target format",
        )


def build_first_cluster(
    options: ConvertOptions, geometry: Geometry, virtual_bytes: int, places: TablePlaces
) -> bytes:
    """The bytes of the first cluster, cut behind the last one in use.

    Raises:
        OptionsError: When the backing file's name does not fit, or when the file has become longer
            than the largest refcount table that QEMU reads can count.
    """
    if places.refcount_table_clusters * geometry.cluster_bytes > limits.MAX_REFCOUNT_TABLE_BYTES:
        raise OptionsError(
            f"The image needs more refcounts than clusters of {format_size(geometry.cluster_bytes)}"
            f" with refcounts of {geometry.refcount_bits} bits can have",
            hint="choose a larger cluster size or narrower refcounts",
        )
    directory = places.bitmap_directory
    version = 2 if options.compat == "0.10" else 3
    header_bytes = limits.V2_HEADER_BYTES if version == 2 else limits.KNOWN_HEADER_BYTES
    extensions = _build_extensions(options, version, geometry.cluster_bytes, directory)
    name = os.fsencode(options.backing_file) if options.backing_file is not None else b""
    name_offset = header_bytes + len(extensions) if name else 0
    if header_bytes + len(extensions) + len(name) > geometry.cluster_bytes:
        raise OptionsError(
            f"The backing file's name has {len(name)} bytes and does not fit into the first "
            f"cluster of {geometry.cluster_bytes} bytes",
            hint="choose a larger cluster size or a shorter (relative) name",
        )
    incompatible = 0
    if options.compression == "zstd":
        incompatible |= Incompatible.COMPRESSION_TYPE
    if options.extended_l2:
        incompatible |= Incompatible.EXTENDED_L2
    values = {
        "magic": MAGIC,
        "version": version,
        "backing_file_offset": name_offset,
        "backing_file_size": len(name),
        "cluster_bits": geometry.cluster_bits,
        "size": virtual_bytes,
        "l1_size": places.l1_size,
        "l1_table_offset": places.l1_table_offset,
        "refcount_table_offset": places.refcount_table_offset,
        "refcount_table_clusters": places.refcount_table_clusters,
        "incompatible_features": incompatible,
        "compatible_features": Compatible.LAZY_REFCOUNTS if options.lazy_refcounts else 0,
        "autoclear_features": Autoclear.BITMAPS if directory is not None else 0,
        "refcount_order": geometry.refcount_order,
        "header_length": header_bytes,
        "compression_type": 1 if options.compression == "zstd" else 0,
    }
    return build_header(values, header_bytes) + extensions + name


def build_header(values: Mapping[str, int], header_bytes: int) -> bytes:
    """A header from its fields by name; those not given are zero."""
    header = bytearray(header_bytes)
    for field in fields.HEADER_FIELDS:
        if field.end <= header_bytes:
            number = values.get(field.name, 0)
            header[field.offset : field.end] = number.to_bytes(field.width_bytes, "big")
    return bytes(header)


def build_extensions(extensions: Sequence[tuple[int, bytes]]) -> bytes:
    """Header extensions, each padded to 8 bytes, and the end marker. Spec: 1.4"""
    parts = [
        struct.pack(">II", kind, len(data)) + data.ljust(align_up(len(data), 8), b"\0")
        for kind, data in (*extensions, (ExtensionType.END, b""))
    ]
    return b"".join(parts)


def _build_extensions(
    options: ConvertOptions, version: int, cluster_bytes: int, directory: DirectoryPlace | None
) -> bytes:
    extensions: list[tuple[int, bytes]] = []
    if options.backing_format is not None:
        extensions.append((ExtensionType.BACKING_FORMAT, options.backing_format.encode()))
    # As QEMU: the names fill most of a smaller first cluster.
    if version >= 3 and cluster_bytes > 4 * KIB:
        names = b"".join(
            struct.pack(">BB46s", feature_class, bit, name.encode())
            for (feature_class, bit), (name, _) in FEATURES.items()
        )
        extensions.append((ExtensionType.FEATURE_NAMES, names))
    if directory is not None:
        data = _BITMAPS.pack(directory.nb_bitmaps, 0, directory.size_bytes, directory.offset)
        extensions.append((ExtensionType.BITMAPS, data))
    return build_extensions(extensions)
