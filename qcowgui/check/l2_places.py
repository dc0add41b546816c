"""Which L2 tables the L1 tables of an image name, and how often; each once. Spec: 1.7, 1.11"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from qcowgui.check.l1_tables import L1Table
from qcowgui.format import geometry as geo
from qcowgui.format.geometry import Geometry

_Int64s = npt.NDArray[np.int64]

_BATCH_ROWS: Final = 1 << 18
"""L1 entries gathered before they are merged: thousands of snapshots with few tables each."""
_ACTIVE_OWNER: Final = -1
_MAX_UNSOUND: Final = 64
"""How many tables that are no clusters a check reads all the same, as QEMU does: each costs a
cluster to read, and a crafted L1 may name thousands inside every cluster."""


@dataclass(frozen=True, slots=True)
class L2Places:
    """L2 tables, each host offset once; one element of every array a table.

    Attributes:
        host_offsets: int64; may be unaligned, 0, or beyond the end of the file.
        l1_indices: int64: the first L1 entry that names the table.
        owners: int64: -1 when the active L1 names it, else the first snapshot that does.
        references: int64: L1 entries that name it, those of all disks together.
        active_references: int64: those of them in the active L1.
        displaced: bool: two of these entries map different guest addresses.
        believed: bool: some entry that names the table is one, and nothing written over an L1.
        geometry: The image's.
    """

    host_offsets: _Int64s
    l1_indices: _Int64s
    owners: _Int64s
    references: _Int64s
    active_references: _Int64s
    displaced: npt.NDArray[np.bool_]
    believed: npt.NDArray[np.bool_]
    geometry: Geometry

    def __len__(self) -> int:
        return len(self.host_offsets)

    def select(self, chosen: npt.NDArray[np.bool_] | npt.NDArray[np.intp] | slice) -> L2Places:
        """The chosen tables, in the order of the choice."""
        return L2Places(
            self.host_offsets[chosen],
            self.l1_indices[chosen],
            self.owners[chosen],
            self.references[chosen],
            self.active_references[chosen],
            self.displaced[chosen],
            self.believed[chosen],
            self.geometry,
        )

    @property
    def _are_clusters(self) -> npt.NDArray[np.bool_]:
        inside = self.geometry.cluster_bytes - 1
        clusters: npt.NDArray[np.bool_] = self.host_offsets & inside == 0
        clusters &= self.host_offsets != 0
        return clusters

    @property
    def are_sound(self) -> npt.NDArray[np.bool_]:
        """bool: the table is at a cluster boundary other than the header's, and believed."""
        return self._are_clusters & self.believed

    @property
    def sound(self) -> L2Places:
        """The tables that are sound."""
        sound = self.are_sound
        return self if sound.all() else self.select(sound)

    @property
    def disbelieved(self) -> L2Places:
        """Clusters that only something written over an L1 table names."""
        return self.select(self._are_clusters & ~self.believed)

    @property
    def unsound(self) -> L2Places:
        """Some of those that are no clusters: no tables, but QEMU reads them as such."""
        return self.select(np.flatnonzero(~self._are_clusters)[:_MAX_UNSOUND])


@dataclass
class PlaceCollector:
    """Gathers the tables that one L1 table after another names.

    Attributes:
        geometry: The image's.
        end_offset: Tables from this host offset on are left out: nothing can be read of them. An
            overwritten L1 table names millions of such.
        sound_only: Whether those are left out, too, that are not sound.
    """

    geometry: Geometry
    end_offset: int = np.iinfo(np.int64).max
    sound_only: bool = False
    _known: L2Places | None = None
    _batch: list[L2Places] = field(default_factory=list)
    _batch_rows: int = 0

    def add(self, l1: L1Table) -> None:
        """Note the tables that `l1` names; the active L1 comes before those of snapshots."""
        for first in range(0, len(l1.words), _BATCH_ROWS):
            self._add_part(l1, first)

    def _add_part(self, l1: L1Table, first: int) -> None:
        """Note what the entries from `first` on name: a crafted table has four million."""
        words = l1.words[first : first + _BATCH_ROWS]
        indices = np.flatnonzero(words)
        offsets = (words[indices] & np.uint64(geo.OFFSET_MASK)).view(np.int64)
        indices += first
        believed = np.ones(len(indices), dtype=np.bool_)
        if l1.overwritten is not None:
            believed = ~l1.overwritten[indices]
        kept = offsets < self.end_offset
        if self.sound_only:
            kept &= (offsets & (self.geometry.cluster_bytes - 1) == 0) & (offsets != 0) & believed
        if not kept.all():
            indices, offsets, believed = indices[kept], offsets[kept], believed[kept]
        if not len(indices):
            return
        snapshot = l1.owner.snapshot
        shape = len(indices)
        self._batch.append(
            L2Places(
                offsets,
                indices,
                np.full(shape, _ACTIVE_OWNER if snapshot is None else snapshot, dtype=np.int64),
                np.full(shape, l1.references, dtype=np.int64),
                np.full(shape, snapshot is None, dtype=np.int64),
                np.zeros(shape, dtype=np.bool_),
                believed,
                self.geometry,
            )
        )
        self._batch_rows += shape
        if self._batch_rows >= _BATCH_ROWS:
            self._merge()

    def places(self) -> L2Places:
        """All tables so far: those of the active L1 in its order, then those of snapshots only."""
        self._merge()
        known = self._known
        if known is None:
            nothing = np.zeros(0, dtype=np.int64)
            flags = np.zeros(0, dtype=np.bool_)
            return L2Places(
                nothing, nothing, nothing, nothing, nothing, flags, flags, self.geometry
            )
        return known.select(np.lexsort((known.l1_indices, known.owners)))

    def _merge(self) -> None:
        parts = ([] if self._known is None else [self._known]) + self._batch
        self._batch, self._batch_rows = [], 0
        if not parts:
            return
        rows = _concatenated(parts)
        # Stable: of several entries that name a table, the first one to be believed is in front.
        rows = rows.select(
            np.argsort(rows.host_offsets, kind="stable")
            if rows.believed.all()
            else np.lexsort((~rows.believed, rows.host_offsets))
        )
        is_first = np.ones(len(rows), dtype=np.bool_)
        is_first[1:] = rows.host_offsets[1:] != rows.host_offsets[:-1]
        if is_first.all():
            self._known = rows
            return
        starts = np.flatnonzero(is_first)
        first_index = rows.l1_indices[starts][np.cumsum(is_first) - 1]
        displaced = rows.displaced | ((rows.l1_indices != first_index) & rows.believed)
        self._known = L2Places(
            rows.host_offsets[starts],
            rows.l1_indices[starts],
            rows.owners[starts],
            np.add.reduceat(rows.references, starts),
            np.add.reduceat(rows.active_references, starts),
            np.logical_or.reduceat(displaced, starts),
            np.logical_or.reduceat(rows.believed, starts),
            self.geometry,
        )


def _concatenated(parts: list[L2Places]) -> L2Places:
    if len(parts) == 1:
        return parts[0]
    return L2Places(
        np.concatenate([part.host_offsets for part in parts]),
        np.concatenate([part.l1_indices for part in parts]),
        np.concatenate([part.owners for part in parts]),
        np.concatenate([part.references for part in parts]),
        np.concatenate([part.active_references for part in parts]),
        np.concatenate([part.displaced for part in parts]),
        np.concatenate([part.believed for part in parts]),
        parts[0].geometry,
    )
