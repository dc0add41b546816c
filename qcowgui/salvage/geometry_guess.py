"""The cluster size and the kind of L2 entry, from the tables themselves.

Under a cluster size that is too large, entries are not aligned and tables have foreign bytes in
them; under one that is too small, an L1 table reaches only the first part of each L2 table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from qcowgui.engine.work import CancelToken
from qcowgui.format import limits
from qcowgui.format.geometry import COMPRESSED, OFFSET_MASK, Geometry
from qcowgui.image.source import ByteSource
from qcowgui.salvage.found_snapshots import load_l1
from qcowgui.salvage.scan import Indices, Scan, SectorRuns
from qcowgui.salvage.structures import Structures, find_structures
from qcowgui.salvage.tables import iter_loaded
from qcowgui.salvage.words import fits_geometry
from qcowgui.units import MIB

_SAMPLE_SECTORS: Final = 1 << 15
"""ours: 16 MiB of table sectors, from the front and from the back of the file, are judged by."""
_SAMPLE_BYTES: Final = 32 * MIB
"""ours: clusters of this size in all are looked at for each geometry; 21 of them are tried."""
_SAMPLE_ENTRIES: Final = 1 << 15
_SAMPLE_TRIALS: Final = 64
_EVEN_TABLES: Final = 64
_FEWEST_PAYLOADS: Final = 8
_SECTOR_BITS: Final = 9


@dataclass(frozen=True, slots=True)
class GeometryScore:
    """How well one geometry explains the sectors that look like tables.

    Attributes:
        geometry: The geometry judged.
        shaped: Share of the sectors that lie in clusters shaped like tables.
        reached: Share of them in L1 tables, in refcount tables and in what L1 tables name.
        counted: Share of the file that a refcount block found under it counts as used.
    """

    geometry: Geometry
    shaped: float
    reached: float
    counted: float

    @property
    def total(self) -> float:
        """One number, the larger the better; at most 4."""
        return round(self.shaped, 2) + 2 * round(self.reached, 2) + round(self.counted, 1)


def guess_geometry(
    source: ByteSource, scan: Scan, token: CancelToken, *, cluster_bits: int | None = None
) -> tuple[GeometryScore, ...]:
    """The geometries that explain anything, the best first.

    Args:
        source: The damaged image.
        scan: What its scan has shown.
        token: Stops the work.
        cluster_bits: The cluster size when it is known; then only the kind of entry is open.

    Raises:
        Cancelled: When the token was set.
        SourceError: When the operating system refuses a read.
    """
    sample = replace(scan, standard=_sample(scan.standard), extended=_sample(scan.extended))
    sectors = np.union1d(_sectors(sample.standard), _sectors(sample.extended))
    scores = []
    for geometry in _geometries(cluster_bits):
        score = _judge(source, sample, sectors, geometry, token)
        if score.shaped:
            scores.append(score)
    # A larger cluster can't fit by chance as often as a smaller one, and 16-byte entries are only
    # believed when every second word says so.
    scores.sort(key=lambda s: (-s.total, -s.geometry.cluster_bits, not s.geometry.extended_l2))
    return tuple(scores)


def _geometries(cluster_bits: int | None) -> list[Geometry]:
    every = range(limits.MIN_CLUSTER_BITS, limits.MAX_CLUSTER_BITS + 1)
    chosen = every if cluster_bits is None else (cluster_bits,)
    plain = [Geometry(bits) for bits in chosen]
    extended = [
        Geometry(bits, extended_l2=True)
        for bits in chosen
        if bits >= limits.MIN_EXTENDED_L2_CLUSTER_BITS
    ]
    return plain + extended


def _sample(runs: SectorRuns) -> SectorRuns:
    """Runs from both ends of the file with about `_SAMPLE_SECTORS` sectors."""
    lengths = runs.ends - runs.starts
    if int(lengths.sum()) <= _SAMPLE_SECTORS:
        return runs
    before = np.cumsum(lengths) - lengths
    after = int(lengths.sum()) - before
    kept = (before < _SAMPLE_SECTORS * 3 // 4) | (after <= _SAMPLE_SECTORS // 4)
    # One run may be longer than all that is wanted.
    starts = runs.starts[kept]
    return SectorRuns(starts, np.minimum(runs.ends[kept], starts + _SAMPLE_SECTORS))


def _sectors(runs: SectorRuns) -> Indices:
    """The numbers of all sectors in `runs`."""
    lengths = runs.ends - runs.starts
    steps = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    result: Indices = np.repeat(runs.starts, lengths) + steps
    return result


def _judge(
    source: ByteSource, scan: Scan, sectors: Indices, geometry: Geometry, token: CancelToken
) -> GeometryScore:
    found = find_structures(
        source,
        scan,
        geometry,
        token,
        most=_SAMPLE_BYTES >> geometry.cluster_bits,
        most_trials=_SAMPLE_TRIALS,
    )
    numbers = sectors >> (geometry.cluster_bits - _SECTOR_BITS)
    shaped = np.union1d(found.l2_tables.clusters, found.word_tables.clusters)
    reached = _reached_clusters(source, found)
    counted = 0.0
    if found.refcounts is not None:
        clusters = np.arange(min(-(-scan.file_bytes >> geometry.cluster_bits), _SAMPLE_ENTRIES))
        counts = found.refcounts.at(source, clusters)
        counted = float(np.count_nonzero(counts) / max(1, len(clusters)))
    if geometry.extended_l2 and not _has_wide_entries(source, scan, found, token):
        shaped = reached = np.zeros(0, dtype=np.int64)
    total = max(1, len(numbers))
    return GeometryScore(
        found.geometry,
        float(np.count_nonzero(np.isin(numbers, shaped)) / total),
        float(np.count_nonzero(np.isin(numbers, reached)) / total),
        counted,
    )


def _reached_clusters(source: ByteSource, found: Structures) -> Indices:
    """L1 tables, snapshots' too, the refcount table, and the L2 tables that L1 tables name."""
    geometry = found.geometry
    roots = [(table.host_offset, len(table.words)) for table in found.l1_tables]
    roots += [(snapshot.l1_table_offset, snapshot.l1_size) for snapshot in found.snapshots]
    parts: list[Indices] = []
    for offset, entries in roots:
        words = load_l1(source, offset, min(entries, _SAMPLE_ENTRIES))
        targets = (words & np.uint64(OFFSET_MASK)).astype(np.int64)
        places = found.l2_tables.index_of(targets[targets != 0])
        parts.append(found.l2_tables.clusters[places[places >= 0]])
        first = offset >> geometry.cluster_bits
        parts.append(np.arange(first, first + geometry.clusters(max(1, len(words) * 8))))
    if found.refcounts is not None:
        first = found.refcounts.table_offset >> geometry.cluster_bits
        parts.append(np.arange(first, first + found.refcounts.table_clusters))
    return np.unique(np.concatenate(parts)) if parts else np.zeros(0, dtype=np.int64)


def _has_wide_entries(
    source: ByteSource, scan: Scan, found: Structures, token: CancelToken
) -> bool:
    """Whether every second word of the supposed L2 tables is a bitmap and no descriptor.

    Compressed clusters have no bitmap: then it is the zeros between them that tell.
    """
    tables = found.l2_tables
    descriptors = compressed = others = wrong = 0
    order = np.argsort(-tables.entries, kind="stable")[:_EVEN_TABLES]
    for _, words, bitmaps in iter_loaded(source, tables.clusters[order], tables.geometry, token):
        if bitmaps is None:
            return False
        descriptors += int(np.count_nonzero(words))
        compressed += int(np.count_nonzero(words & np.uint64(COMPRESSED)))
        others += int(np.count_nonzero(bitmaps))
        hosts = bitmaps & np.uint64(OFFSET_MASK)
        fits = fits_geometry(bitmaps, tables.geometry, scan.file_bytes)
        fits |= (bitmaps & np.uint64(COMPRESSED)) != 0
        wrong += int(np.count_nonzero(fits & (hosts != 0)))
    if others:
        return wrong * 2 <= others
    return compressed >= _FEWEST_PAYLOADS and compressed * 2 >= descriptors
