"""The state of each guest cluster: where its content comes from, and whether it can be read.

The twin of `clustermap` in the order of the guest's disk: one uint8 a cluster, whose value is its
rank, fit for the same pyramid, planes and tally.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from qcowgui.check.cells import MAX_CELLS, Cells, Description
from qcowgui.engine.work import CancelToken
from qcowgui.format.entries import ClusterKind
from qcowgui.format.geometry import COPIED, Geometry
from qcowgui.format.tables import L2View
from qcowgui.image.mapping import GuestMapping
from qcowgui.units import SECTOR_BYTES, ceil_div


class GuestState(IntEnum):
    """What a guest cluster is, by rising rank; the larger one wins where several share a cell."""

    OUTSIDE = 0
    UNALLOCATED = 1
    BACKING = 2
    ZERO = 3
    ZERO_ALLOC = 4
    DATA = 5
    MIXED = 6
    COMPRESSED = 7
    BEYOND_EOF = 8
    MISSING = 9
    INVALID = 10

    @property
    def is_fault(self) -> bool:
        """Whether the state says that something is wrong."""
        return self >= GuestState.BEYOND_EOF


DESCRIPTIONS: Final = {
    GuestState.OUTSIDE: Description("outside", "Behind the end of the guest's disk."),
    GuestState.UNALLOCATED: Description(
        "not allocated", "Never written: reads as zeros and takes no space."
    ),
    GuestState.BACKING: Description(
        "from the backing file", "Not in this image: reads what the backing file has there."
    ),
    GuestState.ZERO: Description("zero", "Said to read as zeros; takes no space."),
    GuestState.ZERO_ALLOC: Description(
        "zero, allocated", "Reads as zeros; a host cluster is kept for the next write."
    ),
    GuestState.DATA: Description("data", "A host cluster holds it as it is."),
    GuestState.MIXED: Description(
        "mixed subclusters", "Part of it is stored; the rest is zeros or not allocated."
    ),
    GuestState.COMPRESSED: Description("compressed", "Stored compressed; a write unpacks it."),
    GuestState.BEYOND_EOF: Description(
        "beyond the end of the file",
        "The file ends before its bytes: they are gone, or were never copied.",
    ),
    GuestState.MISSING: Description(
        "table missing", "The table that would say where it is stored can't be read."
    ),
    GuestState.INVALID: Description(
        "invalid", "Its L2 entry contradicts the format: reading it is an error."
    ),
}
"""Every state's name and meaning."""

_KIND_STATES: Final = {
    ClusterKind.UNALLOCATED: GuestState.UNALLOCATED,
    ClusterKind.ZERO_PLAIN: GuestState.ZERO,
    ClusterKind.ZERO_ALLOC: GuestState.ZERO_ALLOC,
    ClusterKind.NORMAL: GuestState.DATA,
    ClusterKind.COMPRESSED: GuestState.COMPRESSED,
    ClusterKind.MIXED: GuestState.MIXED,
    ClusterKind.INVALID: GuestState.INVALID,
    ClusterKind.MISSING: GuestState.MISSING,
}


def _kind_table() -> Cells:
    table = np.zeros(len(ClusterKind), dtype=np.uint8)
    for kind, state in _KIND_STATES.items():
        table[kind] = state
    return table


_STATE_OF_KIND: Final = _kind_table()


def guest_states(
    mapping: GuestMapping,
    first: int,
    last: int,
    *,
    data_bytes: int | None,
    backing_bytes: int = 0,
    token: CancelToken | None = None,
) -> Cells:
    """The states of guest clusters [first, last).

    Args:
        mapping: Of the active disk or of a snapshot.
        first: The first guest cluster.
        last: End (exclusive); clusters behind the end of the disk are OUTSIDE.
        data_bytes: Length of the file that holds the clusters, the image or its data file; None
            when it is not known, and nothing is beyond its end.
        backing_bytes: Guest bytes that the backing file covers; 0 when there is none.
        token: Stops the work.

    Raises:
        ValueError: When there are more than `cells.MAX_CELLS`.
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
    """
    if last - first > MAX_CELLS:
        raise ValueError(f"{last - first:,} clusters are more than {MAX_CELLS:,}: use a range")
    cluster_bytes = mapping.geometry.cluster_bytes
    states: Cells = np.zeros(max(0, last - first), dtype=np.uint8)
    for span in mapping.iter_spans(first * cluster_bytes, last * cluster_bytes):
        if token is not None:
            token.raise_if_cancelled()
        part = states[span.first_cluster - first : ceil_div(span.end, cluster_bytes) - first]
        if span.view is None:
            part[:] = GuestState.MISSING if span.missing else GuestState.UNALLOCATED
        else:
            unused = (span.first_cluster + len(span.view)) * cluster_bytes - span.end
            part[:] = states_of_view(
                span.view, mapping.geometry, data_bytes=data_bytes, unused_bytes=unused
            )
    covered = states[: max(0, ceil_div(backing_bytes, cluster_bytes) - first)]
    covered[covered == GuestState.UNALLOCATED] = GuestState.BACKING
    return states


def states_of_view(
    view: L2View, geometry: Geometry, *, data_bytes: int | None, unused_bytes: int = 0
) -> Cells:
    """What L2 entries say of their guest clusters; backing files are left out of account.

    Args:
        view: The entries.
        geometry: Of the image.
        data_bytes: As for `guest_states`.
        unused_bytes: Of the last cluster, what lies behind the end of the disk.
    """
    states: Cells = _STATE_OF_KIND[view.kinds]
    if data_bytes is not None:
        states[_beyond(view, geometry, data_bytes, unused_bytes)] = GuestState.BEYOND_EOF
    return states


def _beyond(
    view: L2View, geometry: Geometry, data_bytes: int, unused_bytes: int
) -> npt.NDArray[np.bool_]:
    """Which stored clusters of a view the file does not hold in full.

    Of a payload only the last sector's first byte surely exists. Of the disk's last cluster, what
    lies behind the end of the disk need not.
    """
    # Without a host cluster a mixed one has no data; an external data file begins with data.
    placed = (view.host_offsets > 0) | ((view.words & np.uint64(COPIED)) != 0)
    ends = view.host_offsets + geometry.cluster_bytes
    ends[-1] -= unused_bytes
    packed = view.kinds == ClusterKind.COMPRESSED
    last_sectors = view.host_offsets + view.payload_bytes - SECTOR_BYTES
    ends[packed] = np.maximum(last_sectors, view.host_offsets)[packed] + 1
    stored = packed | (view.kinds == ClusterKind.NORMAL)
    stored |= (view.kinds == ClusterKind.MIXED) & placed
    beyond: npt.NDArray[np.bool_] = stored & (ends > data_bytes)
    return beyond
