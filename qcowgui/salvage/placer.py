"""Finds the places of L2 tables by everything that an image and what it maps can tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from qcowgui.engine.work import CancelToken
from qcowgui.format.geometry import COMPRESSED, OFFSET_MASK, READS_ZERO
from qcowgui.image.source import ByteSource
from qcowgui.salvage.assemble import SalvagedImage
from qcowgui.salvage.ordering import Placement, match_versions, place_tables
from qcowgui.salvage.scan import Indices
from qcowgui.salvage.structures import Structures
from qcowgui.salvage.table_pool import TablePool
from qcowgui.salvage.tables import Flags, iter_loaded

_MAX_PATTERN_ENTRIES: Final = 1 << 24
"""ours: entries of tables that are compared with what file systems use: 16 MiB of flags."""


class TablePlacer:
    """Places the L2 tables of one damaged image."""

    def __init__(
        self,
        source: ByteSource,
        structures: Structures,
        pool: TablePool,
        token: CancelToken,
        open_tables: Callable[[Indices], SalvagedImage],
    ) -> None:
        """A placer for what `structures` holds.

        Args:
            source: The damaged image.
            structures: Its tables.
            pool: Those that are believed to be L2 tables.
            token: Stops the work.
            open_tables: Gives a disk that the tables at some host offsets map, one behind the
                other.
        """
        self._source = source
        self._structures = structures
        self._geometry = structures.geometry
        self._pool = pool
        self._token = token
        self._open_tables = open_tables

    def in_data_order(self, offsets: Indices) -> Indices:
        """Tables in the order of the data they name: a table is moved more often than its data."""
        tables = self._structures.l2_tables
        firsts = tables.first_target[tables.index_of(offsets)]
        return offsets[np.lexsort((offsets, firsts))]

    def known_places(self, offsets: Indices) -> dict[int, int]:
        """L1 index → host offset of its table, from what L1 tables of snapshots name."""
        tables = self._structures.l2_tables
        named = self._pool.snapshot_places
        places = dict(zip(tables.index_of(offsets).tolist(), offsets.tolist(), strict=True))
        result = {index: places[place] for place, index in named.items() if place in places}
        unplaced = np.array([place for place in places if place not in named], dtype=np.int64)
        if len(named) and len(unplaced):
            newer = match_versions(self._source, tables, unplaced, named, self._token)
            # A version that only the active disk has comes before the one that the snapshot keeps.
            result |= {index: places[place] for place, index in newer.items()}
        return result

    def place(self, offsets: Indices, fixed: dict[int, int], slots: int | None) -> Placement:
        """Find where the tables at `offsets` belong, by what they map."""
        coverage = self._geometry.l1_coverage_bytes
        with self._open_tables(offsets) as image:

            def read(table: int, offset: int, length: int) -> bytes:
                return image.read(table * coverage + offset, length)

            return place_tables(
                len(offsets),
                read,
                self._geometry,
                fixed=fixed,
                slots=slots,
                token=self._token,
                patterns=self._patterns(offsets),
            )

    def _patterns(self, offsets: Indices) -> Flags | None:
        """Which entries of the tables at `offsets` hold data; None when there are too many."""
        tables = self._structures.l2_tables
        if len(offsets) * self._geometry.l2_entries > _MAX_PATTERN_ENTRIES:
            return None
        patterns = np.zeros((len(offsets), self._geometry.l2_entries), dtype=np.bool_)
        chosen = tables.clusters[tables.index_of(offsets)]
        for where, words, _ in iter_loaded(self._source, chosen, tables.geometry, self._token):
            compressed = (words & np.uint64(COMPRESSED)) != 0
            stored = ((words & np.uint64(OFFSET_MASK)) != 0) & (
                (words & np.uint64(READS_ZERO)) == 0
            )
            patterns[where] = compressed | stored
        return patterns


def l1_of(placement: Placement, offsets: Indices) -> Indices:
    """The L1 table that a placement of the tables at `offsets` makes, up to the last of them."""
    used = np.flatnonzero(placement.l1 >= 0)
    if not len(used):
        return np.zeros(0, dtype=np.int64)
    # A size that was overwritten may ask for 4 million entries, of which ten name a table.
    places = placement.l1[: int(used[-1]) + 1]
    return np.where(places >= 0, offsets[np.maximum(places, 0)], 0)
