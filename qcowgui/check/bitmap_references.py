"""What persistent bitmaps refer to: the directory, each table, the clusters of bits. Spec: 1.12"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from qcowgui.check.cluster_ownership import Region
from qcowgui.check.reference_counts import Clusters
from qcowgui.check.roles import Role
from qcowgui.engine.work import CancelToken
from qcowgui.format.bitmaps import BitmapClusterKind, decode_bitmap_table
from qcowgui.format.features import Autoclear
from qcowgui.format.geometry import ENTRY_BYTES
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.units import MIB

_WINDOW_BYTES: Final = MIB
_EXTRA_TABLE_BYTES: Final = 64 * MIB
"""As with L1 tables: what bitmaps claim beyond the file's length and this is not walked."""


def iter_bitmap_clusters(
    source: ByteSource, report: ImageReport, wanted: Clusters
) -> Iterator[tuple[int, int, int]]:
    """(bitmap's index, host offset of the table's entry, cluster) of references to `wanted`.

    Args:
        source: The image.
        report: What `inspect_source` says of it.
        wanted: Clusters, ascending.

    Raises:
        SourceError: When the operating system refuses a read.
    """
    budget_bytes = source.size_bytes + _EXTRA_TABLE_BYTES
    for entry in report.bitmaps:
        offset = entry.bitmap_table_offset
        end = min(offset + entry.bitmap_table_size * ENTRY_BYTES, source.size_bytes)
        budget_bytes -= max(0, end - offset)
        if budget_bytes < 0:
            return
        for start in range(offset, end, _WINDOW_BYTES):
            data = source.read_at(start, min(_WINDOW_BYTES, end - start))
            table = decode_bitmap_table(data, cluster_bits=report.header.cluster_bits)
            allocated = table.kind == BitmapClusterKind.ALLOCATED
            clusters = (table.cluster_offset >> np.uint64(report.header.cluster_bits)).astype(
                np.int64
            )
            for index in np.flatnonzero(allocated & np.isin(clusters, wanted)).tolist():
                yield entry.index, start + index * ENTRY_BYTES, int(clusters[index])


class BitmapReferences:
    """The references of all bitmaps that QEMU knows: none where the autoclear bit is clear.

    Attributes:
        beyond: References to clusters of bits that lie behind the file's end.
        refused: Whether QEMU's check gives up because of an entry: it does so for bitmaps in use,
            and does not even open the image for others.
        complete: False when tables were left out because they can't all be in the file.
    """

    def __init__(self, source: ByteSource, report: ImageReport, token: CancelToken) -> None:
        """The references of the bitmaps that `report` lists."""
        self._source = source
        self._report = report
        self._token = token
        self.beyond = 0
        self.refused = False
        self.complete = True
        header = report.header
        known = header.version >= 3 and bool(header.autoclear_features & Autoclear.BITMAPS)
        self._pointer = report.bitmaps_extension if known else None
        self._tables: dict[tuple[int, int], int] = {}
        if self._pointer is not None:
            for entry in report.bitmaps:
                place = entry.bitmap_table_offset, entry.bitmap_table_size * ENTRY_BYTES
                self._tables[place] = self._tables.get(place, 0) + 1

    def iter_regions(self) -> Iterator[Region]:
        """The directory and the tables."""
        pointer = self._pointer
        if pointer is None:
            return
        offset, size = pointer.bitmap_directory_offset, pointer.bitmap_directory_size
        yield Region(Role.BITMAP_DIRECTORY, offset, size)
        for (offset, size), references in self._tables.items():
            yield Region(Role.BITMAP_TABLE, offset, size, references)

    def iter_data(self, file_end: int) -> Iterator[tuple[Clusters, int]]:
        """(clusters of bits inside the file, references to each), window by window.

        Raises:
            SourceError: When the operating system refuses a read.
            Cancelled: When the token asks for it.
        """
        budget_bytes = self._source.size_bytes + _EXTRA_TABLE_BYTES
        for (offset, table_bytes), references in self._tables.items():
            size = min(table_bytes, max(0, self._source.size_bytes - offset))
            budget_bytes -= size
            if budget_bytes < 0:
                self.complete = False
                return
            for start in range(offset, offset + size, _WINDOW_BYTES):
                self._token.raise_if_cancelled()
                wanted = min(_WINDOW_BYTES, offset + size - start)
                yield self._clusters(start, wanted, file_end, references), references

    def _clusters(self, start: int, wanted: int, file_end: int, references: int) -> Clusters:
        cluster_bits = self._report.header.cluster_bits
        data = self._source.read_at(start, wanted)
        table = decode_bitmap_table(data, cluster_bits=cluster_bits)
        if (table.kind == BitmapClusterKind.INVALID).any():
            self.refused = True
        offsets = table.cluster_offset[table.kind == BitmapClusterKind.ALLOCATED].astype(np.int64)
        inside = offsets < file_end
        self.beyond += int(np.count_nonzero(~inside)) * references
        clusters: Clusters = offsets[inside] >> cluster_bits
        return clusters
