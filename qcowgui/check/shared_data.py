"""Finding host clusters that hold the data of several guest clusters, in images with snapshots.

Without snapshots the number of references tells. With them a cluster may rightly have thousands,
as long as all come from the same guest address.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from qcowgui.check.reference_counts import Clusters

_MIN_CLUSTER_BITS: Final = np.uint64(9)
_MODULUS: Final = np.uint64((1 << 32) - 1)


class SharedData:
    """Remembers the guest address of each host cluster's first owner."""

    def __init__(self, clusters: int) -> None:
        """A memory for `clusters` host clusters: 4 bytes each, once touched."""
        # 0 stands for no owner yet, else the address in sectors, as far as 32 bits tell it apart.
        self._keys = np.zeros(clusters, dtype=np.uint32)
        self._shared: list[Clusters] = []

    def note(self, clusters: Clusters, guest_offsets: npt.NDArray[np.int64]) -> None:
        """Note that `clusters` hold the data at `guest_offsets`, element by element."""
        if not len(clusters):
            return
        numbers = guest_offsets.view(np.uint64) >> _MIN_CLUSTER_BITS
        keys = (numbers % _MODULUS).astype(np.uint32) + np.uint32(1)
        known = self._keys[clusters]
        fresh = known == 0
        self._keys[clusters[fresh]] = keys[fresh]
        # Read again: of two new ones on the same cluster, one has overwritten the other.
        differs = self._keys[clusters] != keys
        if differs.any():
            self._shared.append(np.unique(clusters[differs]))

    def clusters(self) -> Clusters:
        """int64, ascending: the clusters with owners at different guest addresses."""
        if not self._shared:
            return np.zeros(0, dtype=np.int64)
        return np.unique(np.concatenate(self._shared))
