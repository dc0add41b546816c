"""Clusters for new metadata: behind the end of the file, or where surely nothing is.

Appending may be impossible. An entry that names a cluster behind the end of the file (because the
file was cut, for instance) would find there what we put; and a file that grows past it would make
up zeros for what is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from qcowgui.check.cluster_ownership import Ownership
from qcowgui.check.l1_tables import L1Table
from qcowgui.check.l2_references import EntryReferences, Run
from qcowgui.check.l2_tables import L2Table
from qcowgui.convert.zeros import is_zero
from qcowgui.format import geometry as geo
from qcowgui.format import limits
from qcowgui.format.geometry import Geometry
from qcowgui.image.source import ByteSource
from qcowgui.units import MIB, SECTOR_BYTES, align_up

_MAX_SEARCH_BYTES: Final = 256 * MIB
"""What is read to find clusters of zeros."""

_Offsets = npt.NDArray[np.int64]


class NoSpaceError(Exception):
    """There is no place for new metadata that nothing else may claim; the text says why."""


class DanglingReferences:
    """Finds the first byte behind the end of the file that something refers to.

    Its methods are callbacks for `check.ownership.build`.

    Attributes:
        first_offset: That byte's offset, or None.
    """

    def __init__(self, geometry: Geometry, file_bytes: int, virtual_bytes: int) -> None:
        """A search in an image of this geometry, file and disk."""
        self._geometry = geometry
        self._file_bytes = file_bytes
        self._virtual_bytes = min(virtual_bytes, limits.MAX_OFFSET)
        self.first_offset: int | None = None

    def on_l1(self, l1: L1Table) -> None:
        """Look at the L2 tables that an L1 table names, and at itself."""
        if l1.entries_missing:
            self._note(self._file_bytes)
        offsets = (l1.words & np.uint64(geo.OFFSET_MASK)).view(np.int64)
        offsets = offsets[offsets != 0]
        self._note_ranges(offsets, offsets + self._geometry.cluster_bytes)

    def on_l2(self, table: L2Table, found: Run | EntryReferences) -> None:
        """Look at the clusters that an L2 table names."""
        if isinstance(found, Run) or table.has_data_file:
            return
        starts = found.standard_offsets
        lengths = np.full(len(starts), self._geometry.cluster_bytes, dtype=np.int64)
        # No byte of a cluster that reads as zeros is missed, but its place is taken.
        lengths[found.zero] = 1
        if table.owner.snapshot is None:
            left = self._virtual_bytes - table.guest_offsets(found.standard)
            last = (left > 0) & (left < lengths)
            lengths[last] = left[last]
        self._note_ranges(starts, starts + lengths)
        # The last sector of a payload is mostly cut.
        ends = np.where(
            found.payload_ends <= align_up(self._file_bytes, SECTOR_BYTES),
            found.payload_offsets,
            found.payload_ends,
        )
        self._note_ranges(found.payload_offsets, ends)

    def look_at_regions(self, ownership: Ownership) -> None:
        """Look at the regions of metadata that are not in the file."""
        for region in ownership.regions_beyond:
            self._note(max(region.host_offset, self._file_bytes))
        if ownership.bitmap_clusters_beyond:
            self._note(self._file_bytes)

    def _note_ranges(self, starts: _Offsets, ends: _Offsets) -> None:
        beyond = ends > self._file_bytes
        if beyond.any():
            self._note(max(int(starts[beyond].min()), self._file_bytes))

    def _note(self, offset: int) -> None:
        self.first_offset = offset if self.first_offset is None else min(self.first_offset, offset)


class FreeSpace:
    """Gives clusters to new metadata, each of them once."""

    def __init__(
        self,
        source: ByteSource,
        ownership: Ownership,
        cluster_bits: int,
        first_dangling: int | None,
    ) -> None:
        """The space of an image.

        Args:
            source: The image.
            ownership: Who owns each cluster; what nothing refers to counts as free.
            cluster_bits: Of the image.
            first_dangling: See `DanglingReferences.first_offset`.
        """
        self._source = source
        self._cluster_bits = cluster_bits
        self._cluster_bytes = 1 << cluster_bits
        self._computed = ownership.computed
        self._end = max(align_up(source.size_bytes, self._cluster_bytes) >> cluster_bits, 1)
        self._end = max(self._end, ownership.references.referenced_end)
        self._limit = None if first_dangling is None else first_dangling >> cluster_bits
        self._excluded: set[int] = set()
        self._inside: list[int] | None = None
        self.appended = 0
        """How many clusters were taken behind the end of the file."""

    @property
    def new_file_bytes(self) -> int:
        """The file's length with all that was taken."""
        if not self.appended:
            return self._source.size_bytes
        return self._end << self._cluster_bits

    def exclude(self, clusters: Iterable[int]) -> None:
        """Never give these: something is there that the references do not tell of."""
        self._excluded.update(clusters)

    def take(self, clusters: int) -> int:
        """The first of so many neighbouring clusters that are free, and taken now.

        Raises:
            NoSpaceError: When there are none.
            SourceError: When the operating system refuses a read.
        """
        if self._limit is None or self._end + clusters <= self._limit:
            first = self._end
            self._end += clusters
            self.appended += clusters
            return first
        return self._take_inside(clusters)

    def _take_inside(self, clusters: int) -> int:
        if self._inside is None:
            self._inside = list(self._iter_zero_clusters())
        run = 0
        for position, cluster in enumerate(self._inside):
            follows = position and cluster == self._inside[position - 1] + 1
            run = run + 1 if follows else 1
            if run == clusters:
                del self._inside[position - clusters + 1 : position + 1]
                return cluster - clusters + 1
        raise NoSpaceError(
            "entries name clusters behind the end of the file, so that nothing can be put there, "
            "and no place inside the file is surely free"
        )

    def _iter_zero_clusters(self) -> Iterator[int]:
        """Clusters inside the file that nothing refers to and that hold nothing but zeros."""
        whole = min(self._source.size_bytes >> self._cluster_bits, len(self._computed))
        budget_bytes = _MAX_SEARCH_BYTES
        for cluster in np.flatnonzero(self._computed[1:whole] == 0).tolist():
            offset = (cluster + 1) << self._cluster_bits
            if cluster + 1 in self._excluded:
                continue
            if is_zero(self._source.read_at(offset, self._cluster_bytes)):
                yield cluster + 1
            budget_bytes -= self._cluster_bytes
            if budget_bytes <= 0:
                return
