"""How large a target may become, without reading guest data: the figures of `qemu-img measure`.

Intended differences from qemu-img, the complete list:

- A snapshot from before a resize counts with its own size, which is what a conversion of it writes;
  qemu-img measures every snapshot with the active disk's.
- A source that is too large for the target's clusters is refused, as its conversion would be.
- Clusters of a preallocated qcow2 source that are holes of its file count as data; qemu-img asks
  the file system when the file has far fewer blocks than counted clusters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qcowgui.convert.plan import iter_stored_ranges
from qcowgui.convert.qcow2_header import check_virtual_size
from qcowgui.engine.work import CancelToken
from qcowgui.errors import OptionsError
from qcowgui.format import fields
from qcowgui.format.bitmaps import bitmap_table_entries_needed
from qcowgui.format.features import Autoclear
from qcowgui.format.geometry import ENTRY_BYTES, Geometry
from qcowgui.format.refcounts import refcount_metadata_clusters
from qcowgui.units import SECTOR_BYTES, align_up, ceil_div

if TYPE_CHECKING:
    from qcowgui.convert.options import ConvertOptions
    from qcowgui.format.bitmaps import BitmapEntry
    from qcowgui.image.chain import OpenedImage
    from qcowgui.image.inspect import ImageReport

MAX_DISK_BYTES = (1 << 63) - SECTOR_BYTES
"""QEMU: sizes are signed 64-bit numbers, and disks whole sectors."""

_DIRECTORY_ENTRY_BYTES = fields.BITMAP_DIRECTORY_FIELDS[-1].end


@dataclass(frozen=True, slots=True)
class Measurement:
    """Sizes in bytes of an uncompressed target.

    Attributes:
        required_bytes: Enough for what the source stores now, with the metadata of a full image;
            where space is set aside for every cluster, that.
        fully_allocated_bytes: Enough when a guest has written every cluster.
        bitmaps_bytes: What the source's persistent bitmaps would add; None where source or target
            can't have any.
    """

    required_bytes: int
    fully_allocated_bytes: int
    bitmaps_bytes: int | None = None


def measure_new(options: ConvertOptions, virtual_bytes: int) -> Measurement:
    """The size of a new, empty image of `virtual_bytes`, rounded up to whole sectors.

    Raises:
        OptionsError: When such a disk is not possible.
    """
    if not 0 <= virtual_bytes <= MAX_DISK_BYTES:
        raise OptionsError(f"A disk of {virtual_bytes:,} bytes is not possible")
    if options.target_format == "raw":
        size = align_up(virtual_bytes, SECTOR_BYTES)
        return Measurement(size, size)
    geometry = _geometry(options)
    metadata = _metadata_bytes(geometry, virtual_bytes)
    full = metadata + align_up(virtual_bytes, geometry.cluster_bytes)
    return Measurement(full if _sets_aside(options) else metadata, full)


def measure_source(
    options: ConvertOptions, source: OpenedImage, token: CancelToken | None = None
) -> Measurement:
    """The size of `source` as the target that the options describe, before any compression.

    With a backing file that the target keeps, everything counts as required: nothing is known of
    what the two have in common.

    Raises:
        OptionsError: When the disk is too large for the target's clusters.
        ImageError: When the source's mapping can't be used.
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
    """
    size = source.size_bytes
    if options.target_format == "raw":
        return Measurement(size, size)
    geometry = _geometry(options)
    cluster_bytes = geometry.cluster_bytes
    metadata = _metadata_bytes(geometry, size)
    data = align_up(size, cluster_bytes)
    stored = data
    if options.backing_file is None and not _sets_aside(options):
        ranges = iter_stored_ranges(source, token or CancelToken())
        stored = sum(last - first for first, last in iter_cluster_runs(ranges, cluster_bytes))
        stored *= cluster_bytes
    bitmaps = None
    if options.compat != "0.10" and source.report is not None and source.report.header.version >= 3:
        bitmaps = _bitmaps_bytes(source.report, cluster_bytes)
    return Measurement(metadata + stored, metadata + data, bitmaps)


def iter_cluster_runs(
    ranges: Iterable[tuple[int, int]], cluster_bytes: int
) -> Iterator[tuple[int, int]]:
    """The clusters [first, last) that guest ranges touch, each in one run only.

    Args:
        ranges: [start, end) in guest bytes, in order of their starts, none empty.
        cluster_bytes: Of the target.
    """
    done = 0
    for start, end in ranges:
        first = max(start // cluster_bytes, done)
        last = ceil_div(end, cluster_bytes)
        if first < last:
            yield first, last
            done = last


def _sets_aside(options: ConvertOptions) -> bool:
    """Whether the target takes the space of the whole disk from the start."""
    return options.preallocation in ("falloc", "full")


def _geometry(options: ConvertOptions) -> Geometry:
    return Geometry(options.cluster_bits, options.extended_l2, options.refcount_order)


def _metadata_bytes(geometry: Geometry, virtual_bytes: int) -> int:
    """Header, tables and refcounts of a full image; its data are counted, but left out."""
    check_virtual_size(geometry, virtual_bytes)
    l2_tables = geometry.l1_entries_needed(virtual_bytes)
    mapping = 1 + geometry.clusters(l2_tables * ENTRY_BYTES) + l2_tables
    blocks, table = refcount_metadata_clusters(
        mapping + geometry.clusters(virtual_bytes), geometry.cluster_bits, geometry.refcount_order
    )
    return (mapping + blocks + table) * geometry.cluster_bytes


def _bitmaps_bytes(report: ImageReport, cluster_bytes: int) -> int:
    """Directory, tables and data of the bitmaps, those in use as well, as QEMU. Spec: 1.12"""
    total = directory = 0
    if report.header.autoclear_features & Autoclear.BITMAPS:  # else nobody may believe them
        for entry in report.bitmaps:
            if entry.granularity_bytes is not None:
                total += _bitmap_bytes(entry, report.virtual_bytes, cluster_bytes)
                name_end = _DIRECTORY_ENTRY_BYTES + len(entry.name_raw)
                directory += align_up(name_end, ENTRY_BYTES)
    return total + align_up(directory, cluster_bytes)


def _bitmap_bytes(entry: BitmapEntry, virtual_bytes: int, cluster_bytes: int) -> int:
    """A bitmap's clusters and those of its table; every bit may be set."""
    cluster_bits = cluster_bytes.bit_length() - 1
    clusters = bitmap_table_entries_needed(virtual_bytes, entry.granularity_bits, cluster_bits)
    return clusters * cluster_bytes + align_up(clusters * ENTRY_BYTES, cluster_bytes)
