"""Runs of neighbouring cells with one value: the map as a list. Knows no widgets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from qcowgui.engine.work import CancelToken
from qcowgui.gui.heatmap.layers import NOTHING, MapLayer

_CHUNK_CELLS: Final = 1 << 20

_Starts = npt.NDArray[np.uint32]


class Run(NamedTuple):
    """Neighbouring clusters with one value.

    Attributes:
        value: Which.
        first: The first cluster.
        last: End (exclusive).
    """

    value: int
    first: int
    last: int


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """All runs of a layer, in order; some of them chosen.

    Attributes:
        layer: The layer.
        starts: uint32: the first cell of each run, and the number of cells at the end.
        chosen: The indices of the runs that are listed.
    """

    layer: MapLayer
    starts: _Starts
    chosen: npt.NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.chosen)

    def __getitem__(self, index: int) -> Run:
        """A run of those that are listed.

        Raises:
            IndexError: When there is none.
        """
        run = int(self.chosen[index])
        start, end = int(self.starts[run]), int(self.starts[run + 1])
        first = self.layer.first
        return Run(int(self.layer.cells[start]), start + first, end + first)

    def only(self, value: int | None) -> Runs:
        """The runs of one value; None: all that are no gaps."""
        values = self.layer.cells[self.starts[:-1]]
        keep = values != NOTHING if value is None else values == value
        return Runs(self.layer, self.starts, np.flatnonzero(keep))

    def index_of(self, cluster: int) -> int | None:
        """The listed run that a cluster is in, or None."""
        cell = cluster - self.layer.first
        run = int(np.searchsorted(self.starts, cell, side="right")) - 1
        index = int(np.searchsorted(self.chosen, run))
        if index == len(self.chosen) or int(self.chosen[index]) != run:
            return None
        return index


def find_runs(layer: MapLayer, token: CancelToken) -> Runs:
    """The runs of a layer, gaps left out. Memory: 12 bytes a run.

    Raises:
        Cancelled: When the token was set.
    """
    cells = layer.cells
    parts = [np.zeros(min(1, len(cells)), dtype=np.uint32)]
    for start in range(1, len(cells), _CHUNK_CELLS):
        token.raise_if_cancelled()
        end = min(start + _CHUNK_CELLS, len(cells))
        changes = np.flatnonzero(cells[start:end] != cells[start - 1 : end - 1])
        parts.append((changes + start).astype(np.uint32))
    parts.append(np.array([len(cells)], dtype=np.uint32))
    starts = np.concatenate(parts)
    return Runs(layer, starts, np.arange(len(starts) - 1)).only(None)
