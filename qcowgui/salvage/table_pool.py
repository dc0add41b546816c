"""The clusters that are believed to be L2 tables, and which of them something names."""

from __future__ import annotations

from typing import Final

import numpy as np

from qcowgui.engine.work import CancelToken
from qcowgui.format.geometry import COMPRESSED, OFFSET_MASK
from qcowgui.image.source import ByteSource
from qcowgui.salvage.found_snapshots import load_l1
from qcowgui.salvage.scan import Indices
from qcowgui.salvage.structures import Structures
from qcowgui.salvage.tables import Flags, iter_loaded

_MAX_CLAIMING: Final = 1 << 16
"""ours: tables whose data is searched for others: 4 GiB of 64 KiB clusters."""


class TablePool:
    """L2 tables that are believed in, whatever names them.

    Attributes:
        offsets: Their host offsets, ascending.
        shared: Host offsets, ascending, of tables that look like those of a snapshot that was lost:
            without COPIED flags, since what they name has more owners.
        snapshot_places: Place in the set of tables → L1 index, for what snapshots name.
    """

    def __init__(self, source: ByteSource, structures: Structures, token: CancelToken) -> None:
        """Sort the clusters that are shaped like tables.

        Raises:
            Cancelled: When the token was set.
            SourceError: When the operating system refuses a read.
        """
        self._source = source
        self._structures = structures
        self._token = token
        self.snapshot_places = self._places_in_snapshots()
        self.shared = np.zeros(0, dtype=np.int64)
        self.offsets = structures.l2_tables.offsets[self._believable()]

    def _places_in_snapshots(self) -> dict[int, int]:
        found: dict[int, int] = {}
        for snapshot in self._structures.snapshots:
            words = load_l1(self._source, snapshot.l1_table_offset, snapshot.l1_size)
            offsets = (words & np.uint64(OFFSET_MASK)).astype(np.int64)
            places = self._structures.l2_tables.index_of(offsets)
            for index in np.flatnonzero(places >= 0).tolist():
                found.setdefault(int(places[index]), index)
        return found

    def _believable(self) -> Flags:
        """Which clusters shaped like L2 tables are some, by all that is known."""
        structures, tables = self._structures, self._structures.l2_tables
        other = np.array(sorted(structures.not_l2), dtype=np.int64)
        good: Flags = (tables.entries > 0) & ~np.isin(tables.offsets, other)
        if structures.refcounts is not None:
            good &= structures.refcounts.at(self._source, tables.clusters) > 0
        elif not structures.snapshots:
            # Without snapshots, everything that a live table names is its own.
            good &= tables.copied * 2 >= tables.standard
        # A bitmap's table has no flags; what a live table shares is named by a snapshot as well.
        flagged = (tables.copied > 0) | (tables.compressed > 0)
        flagged[np.array(sorted(self.snapshot_places), dtype=np.int64)] = True
        if tables.copied.any():  # some writers never set them
            self.shared = tables.offsets[good & ~flagged & self._has_shared_data()]
            good &= flagged
        return good & ~self._claimed(good)

    def _has_shared_data(self) -> Flags:
        """Which tables begin with a cluster that is counted more than once."""
        tables, refcounts = self._structures.l2_tables, self._structures.refcounts
        if refcounts is None:
            return np.zeros(len(tables), dtype=np.bool_)
        firsts = tables.first_target >> tables.geometry.cluster_bits
        result: Flags = (tables.first_target > 0) & (refcounts.at(self._source, firsts) > 1)
        return result

    def _claimed(self, good: Flags) -> Flags:
        """Which of them another one names as data: a disk with qcow2 files in it."""
        tables = self._structures.l2_tables
        claimed = np.zeros(len(tables), dtype=np.bool_)
        claiming = np.flatnonzero(good & (tables.to_tables > 0))[:_MAX_CLAIMING]
        chosen = tables.clusters[claiming]
        for where, words, _ in iter_loaded(self._source, chosen, tables.geometry, self._token):
            plain = words[(words & np.uint64(COMPRESSED)) == 0]
            targets = np.unique((plain & np.uint64(OFFSET_MASK)).astype(np.int64))
            places = tables.index_of(targets)
            places = places[(places >= 0) & ~np.isin(places, claiming[where])]
            claimed[places] = True
        return claimed

    def unused_by(self, l1: Indices) -> Indices:
        """Host offsets of believable tables that neither `l1` nor a snapshot names."""
        tables = self._structures.l2_tables
        of_snapshots = tables.offsets[np.array(sorted(self.snapshot_places), dtype=np.int64)]
        return np.setdiff1d(np.setdiff1d(self.offsets, l1), of_snapshots)

    def used_guest_bytes(self, l1: Indices) -> int:
        """Where the last guest cluster ends that the tables of `l1` say anything of.

        Raises:
            SourceError: When the operating system refuses a read.
        """
        geometry = self._structures.geometry
        tables = self._structures.l2_tables
        places = tables.index_of(l1)
        for index in np.flatnonzero(places >= 0)[::-1].tolist():
            cluster = tables.clusters[places[index] : places[index] + 1]
            for _, words, bitmaps in iter_loaded(self._source, cluster, geometry, self._token):
                used = words[0] if bitmaps is None else words[0] | bitmaps[0]
                last = np.flatnonzero(used)
                if len(last):
                    return geometry.guest_offset(index, int(last[-1]) + 1)
        return 0
