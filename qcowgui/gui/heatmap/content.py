"""Cells for the colour modes that look at the bytes of clusters, by samples. Knows no widgets.

A sample is the first bytes of a cluster. Small clusters are read together, large ones one by one;
what nothing uses, and what lies behind the end of the file, is left out where it says nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from qcowgui.check.cells import Cells
from qcowgui.check.clustermap import ClusterState
from qcowgui.engine.work import CancelToken, Counter
from qcowgui.format.header import MAGIC_BYTES
from qcowgui.format.tables import parse_words
from qcowgui.gui.heatmap import scales
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.salvage.words import fits_geometry, is_small_counts, offset_limit
from qcowgui.units import KIB

SAMPLE_BYTES: Final = 4 * KIB
_BATCH_CLUSTERS: Final = 256
_LEAST_ENTRIES: Final = 4
"""Entries in use that a sample must have to look like a table."""

_LEAST_SHARE: Final = 0.75
"""Of entries that must be possible: a few damaged ones don't make a table something else."""

_Samples = npt.NDArray[np.uint8]
"""Shape (clusters, bytes)."""
_Flags = npt.NDArray[np.bool_]

Judge = Callable[[_Samples, Cells], Cells]
"""From samples and the states of their clusters to values."""

_TABLES: Final = (ClusterState.ACTIVE_L2, ClusterState.SNAPSHOT_L2)
_UNUSED: Final = (ClusterState.FREE, ClusterState.LEAKED)
_GUEST_DATA: Final = (ClusterState.DATA, ClusterState.SNAPSHOT_DATA)


def sampled_cells(
    source: ByteSource,
    states: Cells,
    cluster_bytes: int,
    judge: Judge,
    *,
    first: int,
    skip_free: bool,
    token: CancelToken,
    done: Counter,
) -> Cells:
    """The values of clusters by their samples; `scales.EMPTY` where none was read.

    Args:
        source: The image.
        states: A `ClusterState` of each cluster from `first` on.
        cluster_bytes: Size of a cluster.
        judge: Makes values of samples.
        first: The first cluster.
        skip_free: Whether clusters that nothing uses are left out.
        token: Stops the work.
        done: Counts clusters.

    Raises:
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
    """
    cells = np.full(len(states), scales.EMPTY, dtype=np.uint8)
    wanted = (states != ClusterState.OUTSIDE) & (states != ClusterState.BEYOND_EOF)
    if skip_free:
        wanted &= states != ClusterState.FREE
    for start in range(0, len(states), _BATCH_CLUSTERS):
        token.raise_if_cancelled()
        batch = slice(start, start + _BATCH_CLUSTERS)
        chosen = start + np.flatnonzero(wanted[batch])
        if len(chosen):
            samples = _read(source, chosen + first, cluster_bytes)
            cells[chosen] = judge(samples, states[chosen])
        done.add(len(states[batch]))
    return cells


def _read(source: ByteSource, clusters: npt.NDArray[np.intp], cluster_bytes: int) -> _Samples:
    length = min(cluster_bytes, SAMPLE_BYTES)
    samples = np.zeros((len(clusters), length), dtype=np.uint8)
    for row, begin, count in _runs(clusters, joined=cluster_bytes == length):
        data = source.read_at(begin * cluster_bytes, count * length)
        flat = samples[row : row + count].reshape(-1)
        flat[: len(data)] = np.frombuffer(data, dtype=np.uint8)
    return samples


def _runs(clusters: npt.NDArray[np.intp], *, joined: bool) -> Iterator[tuple[int, int, int]]:
    """(position, first cluster, clusters) of what is read at once."""
    if not joined:
        yield from ((row, int(cluster), 1) for row, cluster in enumerate(clusters.tolist()))
        return
    breaks = np.flatnonzero(np.diff(clusters) != 1) + 1
    edges = [0, *breaks.tolist(), len(clusters)]
    for row, end in itertools.pairwise(edges):
        yield row, int(clusters[row]), end - row


def entropy_values(samples: _Samples) -> Cells:
    """Bits that a byte says, by the frequencies of the sample's bytes."""
    rows = len(samples)
    keys = samples.astype(np.int64) + (np.arange(rows, dtype=np.int64) << 8)[:, None]
    counts = np.bincount(keys.reshape(-1), minlength=rows << 8).reshape(rows, 256)
    shares = counts / samples.shape[1]
    bits = -(shares * np.log2(np.where(counts > 0, shares, 1.0))).sum(axis=1)
    values: Cells = (np.minimum(bits.astype(np.int64), 7) + scales.EMPTY + 1).astype(np.uint8)
    return values


def zero_values(samples: _Samples) -> Cells:
    """Whether the sample has other bytes than zero."""
    return np.where(samples.any(axis=1), scales.HOLDS_BYTES, scales.SAYS_ZERO).astype(np.uint8)


def content_judge(report: ImageReport, file_bytes: int) -> Judge:
    """A judge of whether content contradicts the role of its cluster.

    Raises:
        ValueError: When the header allows no geometry.
    """
    geometry = report.header.geometry
    if geometry is None:
        raise ValueError("an image without a geometry has no roles")
    limit = offset_limit(file_bytes)

    def is_l2(samples: _Samples) -> tuple[_Flags, _Flags]:
        """Which may be one (most entries are possible), and which look like one (all are)."""
        words = parse_words(samples.tobytes()).reshape(len(samples), -1)
        if geometry.extended_l2:
            words = words[:, ::2]
        fitting = np.count_nonzero(fits_geometry(words, geometry, limit), axis=1)
        possible: _Flags = fitting >= _LEAST_SHARE * words.shape[1]
        used = np.count_nonzero(words, axis=1) >= _LEAST_ENTRIES
        likely: _Flags = (fitting == words.shape[1]) & used & ~_is_counts(samples)
        return possible, likely

    def judge(samples: _Samples, states: Cells) -> Cells:
        values = np.full(len(samples), scales.FITS, dtype=np.uint8)
        possible, likely = is_l2(samples)
        likely |= _has_magic(samples)
        unused = np.isin(states, _UNUSED)
        values[unused & samples.any(axis=1)] = scales.REMAINS
        values[unused & likely] = scales.LOST_TABLE
        values[np.isin(states, _GUEST_DATA) & likely] = scales.LIKE_TABLE
        values[np.isin(states, _TABLES) & (~possible | _is_counts(samples))] = scales.NO_TABLE
        if geometry.refcount_bits == 16:
            blocks = states == ClusterState.REFCOUNT_BLOCK
            values[blocks & likely] = scales.NO_TABLE
        return values

    return judge


def _is_counts(samples: _Samples) -> _Flags:
    """Which look like refcounts of 16 bits: small ones, and several of them."""
    words = parse_words(samples.tobytes()).reshape(len(samples), -1)
    small = is_small_counts(words).all(axis=1)
    result: _Flags = small & (np.count_nonzero(samples, axis=1) >= _LEAST_ENTRIES)
    return result


def _has_magic(samples: _Samples) -> _Flags:
    magic = np.frombuffer(MAGIC_BYTES, dtype=np.uint8)
    result: _Flags = (samples[:, : len(magic)] == magic).all(axis=1)
    return result
