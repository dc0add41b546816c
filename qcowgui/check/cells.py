"""Cells: one byte for the state of each cluster, host or guest, and how much there is of each."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

Cells = npt.NDArray[np.uint8]
"""States, each by its rank: 0 where there is nothing; the larger, the worse."""

MAX_CELLS: Final = 1 << 28
"""What is judged and drawn in one piece; a larger image by range."""

_CHUNK_CELLS: Final = 1 << 20
"""Cells counted at a time: numpy makes 8 bytes of each."""


class Description(NamedTuple):
    """How a state is called, and a sentence that says what it means and what follows from it."""

    name: str
    meaning: str


class Tally(NamedTuple):
    """How much of something there is."""

    clusters: int
    bytes: int


def tally(cells: Cells, cluster_bytes: int, end_bytes: int, first: int = 0) -> dict[int, Tally]:
    """The clusters and bytes of each state that occurs, in the order of the states.

    Args:
        cells: States of neighbouring clusters, host or guest.
        cluster_bytes: Bytes in a cluster.
        end_bytes: End of the file or of the disk: bytes behind it don't count.
        first: The cluster of the first cell.
    """
    counts = _count(cells)
    sizes = counts * cluster_bytes
    whole = min(len(cells), max(0, end_bytes // cluster_bytes - first))
    if whole < len(cells):
        sizes -= _count(cells[whole:]) * cluster_bytes
        if (first + whole) * cluster_bytes < end_bytes:
            sizes[cells[whole]] += end_bytes % cluster_bytes
    return {
        int(state): Tally(int(counts[state]), int(sizes[state])) for state in np.flatnonzero(counts)
    }


def _count(cells: Cells) -> npt.NDArray[np.int64]:
    counts = np.zeros(256, dtype=np.int64)
    for start in range(0, len(cells), _CHUNK_CELLS):
        counts += np.bincount(cells[start : start + _CHUNK_CELLS], minlength=256)
    return counts
