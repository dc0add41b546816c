"""Whole clusters that are shaped like tables, described by numbers: all at once, a part at a time.

What kind of table one is follows from where its entries lead: those of an L1 table lead to tables,
those of an L2 table to anything else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from qcowgui.engine.work import CancelToken
from qcowgui.format import geometry as geo
from qcowgui.format.geometry import Geometry
from qcowgui.format.tables import Words, parse_words
from qcowgui.image.source import ByteSource
from qcowgui.salvage.scan import Indices, Scan, SectorRuns
from qcowgui.salvage.words import fits_geometry, is_bitmap, offset_limit
from qcowgui.units import MIB, SECTOR_BYTES

Flags = npt.NDArray[np.bool_]

_READ_BYTES: Final = 2 * MIB
MAX_TABLES: Final = 1 << 20
"""ours: tables that are described, some 60 bytes each; 2 TiB of 4 KiB clusters have as many."""
_REPEATED: Final = 4
_TOLERATED: Final = 16
"""One entry in so many may be wrong in what still counts as a table: a damaged one."""


@dataclass(frozen=True, slots=True)
class TableSet:
    """Clusters shaped like tables under one geometry; all arrays have one element a cluster.

    Attributes:
        geometry: The geometry under which they were judged.
        clusters: Host cluster numbers, ascending.
        standard: Entries with a host offset that are not compressed.
        copied: Those of them with the COPIED flag.
        compressed: Compressed entries.
        flagged: Standard entries with bit 0, "reads as zeros".
        inside: Standard entries that lead to a whole cluster inside the file.
        to_tables: Standard entries that lead to a cluster which could be an L2 table.
        first_target: The lowest host offset that an entry leads to, 0 for none.
        complete: False when there were more than `MAX_TABLES` clusters.
    """

    geometry: Geometry
    clusters: Indices
    standard: Indices
    copied: Indices
    compressed: Indices
    flagged: Indices
    inside: Indices
    to_tables: Indices
    first_target: Indices
    complete: bool

    def __len__(self) -> int:
        return len(self.clusters)

    @property
    def entries(self) -> Indices:
        """Entries that say anything."""
        return self.standard + self.compressed

    @property
    def offsets(self) -> Indices:
        """Host offsets of the clusters."""
        return self.clusters << self.geometry.cluster_bits

    def without(self, excluded: Flags) -> TableSet:
        """The same without some clusters; what was counted of the others stays."""
        kept = ~excluded
        return TableSet(
            self.geometry,
            self.clusters[kept],
            self.standard[kept],
            self.copied[kept],
            self.compressed[kept],
            self.flagged[kept],
            self.inside[kept],
            self.to_tables[kept],
            self.first_target[kept],
            self.complete,
        )

    def index_of(self, offsets: Indices) -> Indices:
        """Where in this set the clusters at these host offsets are; -1 for those that are not."""
        wanted = offsets >> self.geometry.cluster_bits
        if not len(self.clusters):
            return np.full(len(wanted), -1, dtype=np.int64)
        places = np.minimum(np.searchsorted(self.clusters, wanted), len(self.clusters) - 1)
        good = (self.clusters[places] == wanted) & (offsets % self.geometry.cluster_bytes == 0)
        return np.where(good, places, -1)


def clusters_touched(runs: SectorRuns, cluster_bits: int, most: int) -> tuple[Indices, bool]:
    """Numbers of the host clusters that have a sector in `runs`; False when there are too many."""
    shift = cluster_bits - SECTOR_BYTES.bit_length() + 1
    firsts, lasts = runs.starts >> shift, (runs.ends - 1) >> shift
    lengths = lasts - firsts + 1
    kept = int(np.searchsorted(np.cumsum(lengths), most, side="right"))
    complete = kept == len(lengths)
    if not complete:
        firsts, lasts, lengths = firsts[:kept], lasts[:kept], lengths[:kept]
    if not kept:
        return np.zeros(0, dtype=np.int64), complete
    steps = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.unique(np.repeat(firsts, lengths) + steps), complete


def iter_loaded(
    source: ByteSource, clusters: Indices, geometry: Geometry, token: CancelToken
) -> Iterator[tuple[slice, Words, Words | None]]:
    """The words of clusters, some MiB at a time; what lies beyond the file's end is zeros.

    Yields:
        (positions in `clusters`, descriptors, subcluster bitmaps or None): one row a cluster.

    Raises:
        Cancelled: When the token was set.
        SourceError: When the operating system refuses a read.
    """
    cluster_bytes = geometry.cluster_bytes
    per_part = max(1, _READ_BYTES // cluster_bytes)
    for first in range(0, len(clusters), per_part):
        token.raise_if_cancelled()
        part = clusters[first : first + per_part]
        data = bytearray(len(part) * cluster_bytes)
        view = memoryview(data)
        breaks = np.flatnonzero(np.diff(part) != 1) + 1
        for run in np.split(np.arange(len(part)), breaks):
            place = slice(int(run[0]) * cluster_bytes, (int(run[-1]) + 1) * cluster_bytes)
            source.read_into(int(part[run[0]]) * cluster_bytes, view[place])
        words = parse_words(data).reshape(len(part), -1)
        where = slice(first, first + len(part))
        if geometry.extended_l2:
            yield where, words[:, 0::2], words[:, 1::2]
        else:
            yield where, words, None


def describe_tables(
    source: ByteSource,
    scan: Scan,
    geometry: Geometry,
    token: CancelToken,
    *,
    among: Indices | None = None,
    most: int = MAX_TABLES,
) -> TableSet:
    """The clusters of a file that are shaped like tables under `geometry`.

    Args:
        source: The damaged image.
        scan: What its scan has shown.
        geometry: The cluster size and the kind of L2 entry to judge by.
        token: Stops the work.
        among: Host clusters, ascending, that could be L2 tables; None: those found here.
        most: Clusters that are looked at.

    Raises:
        Cancelled: When the token was set.
        SourceError: When the operating system refuses a read.
    """
    runs = scan.extended if geometry.extended_l2 else scan.standard
    clusters, complete = clusters_touched(runs, geometry.cluster_bits, most)
    shaped = np.zeros(len(clusters), dtype=np.bool_)
    limit = offset_limit(scan.file_bytes)
    for where, words, bitmaps in iter_loaded(source, clusters, geometry, token):
        shaped[where] = _is_shaped(words, bitmaps, geometry, limit)
    clusters = clusters[shaped]
    columns = np.zeros((7, len(clusters)), dtype=np.int64)
    for where, words, _ in iter_loaded(source, clusters, geometry, token):
        columns[:, where] = _count_entries(
            words, clusters if among is None else among, clusters[where], geometry, scan
        )
    standard, copied, compressed, flagged, inside, to_tables, first = columns
    return TableSet(
        geometry,
        clusters,
        standard,
        copied,
        compressed,
        flagged,
        inside,
        to_tables,
        first,
        complete,
    )


def _is_shaped(words: Words, bitmaps: Words | None, geometry: Geometry, limit: int) -> Flags:
    """Which rows are tables but for a few entries."""
    good = fits_geometry(words, geometry, limit)
    if bitmaps is not None:
        good &= is_bitmap(bitmaps, words)
    used = np.count_nonzero(words, axis=1)
    wrong = words.shape[1] - np.count_nonzero(good, axis=1)
    result: Flags = (used > 0) & (wrong * _TOLERATED <= used)
    # An entry names what no other one does, but for zeros and the rare shared cluster.
    chosen = np.flatnonzero(result)
    ordered = np.sort(words[chosen] & ~np.uint64(geo.COPIED), axis=1)
    same = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] > geo.READS_ZERO)
    result[chosen] = np.count_nonzero(same, axis=1) * _REPEATED <= used[chosen]
    return result


def _count_entries(
    words: Words, tables: Indices, own: Indices, geometry: Geometry, scan: Scan
) -> npt.NDArray[np.int64]:
    """The columns of a TableSet for some rows. See there."""
    is_compressed = (words & np.uint64(geo.COMPRESSED)) != 0
    hosts = (words & np.uint64(geo.OFFSET_MASK)).astype(np.int64)
    is_standard = ~is_compressed & (hosts != 0)
    copied = is_standard & ((words & np.uint64(geo.COPIED)) != 0)
    flagged = ~is_compressed & ((words & np.uint64(geo.READS_ZERO)) != 0)
    inside = is_standard & (hosts < scan.file_bytes)
    numbers = hosts >> geometry.cluster_bits
    to_tables = is_standard & (numbers != own[:, np.newaxis])
    if len(tables):
        places = np.minimum(np.searchsorted(tables, numbers), len(tables) - 1)
        to_tables &= tables[places] == numbers
    payloads = (words & np.uint64(geometry.compressed_offset_mask)).astype(np.int64)
    targets = np.where(is_compressed, payloads, np.where(is_standard, hosts, 0))
    lowest = np.where(targets == 0, np.iinfo(np.int64).max, targets).min(axis=1)
    flags = (is_standard, copied, is_compressed, flagged, inside, to_tables)
    counts = [np.count_nonzero(flag, axis=1) for flag in flags]
    counts.append(np.where(targets.any(axis=1), lowest, 0))
    return np.array(counts, dtype=np.int64)
