"""The state of each host cluster: what it is used for, and what is wrong with that.

One uint8 a cluster, whose value is its rank: in a `Pyramid` the worst state wins. Calm below, then
metadata, then what is wrong from wasted space to lost data.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Final

import numpy as np

from qcowgui.check.cells import MAX_CELLS, Cells, Description
from qcowgui.check.cluster_ownership import Ownership
from qcowgui.check.reference_counts import PART_CLUSTERS, Counts
from qcowgui.check.roles import Role
from qcowgui.check.stored import StoredRefcounts
from qcowgui.engine.work import CancelToken
from qcowgui.format.refcounts import Counts as StoredCounts
from qcowgui.units import ceil_div


class ClusterState(IntEnum):
    """What a host cluster is, by rising rank; the larger one wins where several share a cell."""

    OUTSIDE = 0
    FREE = 1
    DATA = 2
    ZERO_ALLOC = 3
    COMPRESSED = 4
    SNAPSHOT_DATA = 5
    BITMAP_DATA = 6
    BITMAP_METADATA = 7
    ENCRYPTION_HEADER = 8
    SNAPSHOT_TABLE = 9
    SNAPSHOT_L2 = 10
    SNAPSHOT_L1 = 11
    ACTIVE_L2 = 12
    ACTIVE_L1 = 13
    REFCOUNT_BLOCK = 14
    REFCOUNT_TABLE = 15
    HEADER = 16
    LEAKED = 17
    REFCOUNT_HIGH = 18
    REFCOUNT_LOW = 19
    COUNTED_FREE = 20
    BEYOND_EOF = 21
    CONTESTED = 22

    @property
    def is_fault(self) -> bool:
        """Whether the state says that something is wrong."""
        return self >= ClusterState.LEAKED


DESCRIPTIONS: Final = {
    ClusterState.OUTSIDE: Description("outside", "No cluster of this file: it ends before."),
    ClusterState.FREE: Description(
        "free", "Inside the file, but nothing uses it; the next write may."
    ),
    ClusterState.DATA: Description("data", "Holds one cluster of the guest's disk as it is."),
    ClusterState.ZERO_ALLOC: Description(
        "zero, allocated", "Kept for a guest cluster that reads as zeros; its bytes don't count."
    ),
    ClusterState.COMPRESSED: Description(
        "compressed data", "Holds compressed guest clusters, often several of them."
    ),
    ClusterState.SNAPSHOT_DATA: Description(
        "snapshot data", "Only internal snapshots use it; deleting them would set it free."
    ),
    ClusterState.BITMAP_DATA: Description(
        "bitmap data", "Bits of a persistent bitmap: what changed since a backup."
    ),
    ClusterState.BITMAP_METADATA: Description(
        "bitmap metadata", "The bitmap directory, or the table of one bitmap."
    ),
    ClusterState.ENCRYPTION_HEADER: Description(
        "encryption header", "The LUKS header; without it no passphrase opens the image."
    ),
    ClusterState.SNAPSHOT_TABLE: Description(
        "snapshot table", "The list of internal snapshots and where their L1 tables lie."
    ),
    ClusterState.SNAPSHOT_L2: Description(
        "snapshot L2 table", "Says where guest clusters of a snapshot lie; no active table is here."
    ),
    ClusterState.SNAPSHOT_L1: Description(
        "snapshot L1 table", "Says where the L2 tables of a snapshot lie."
    ),
    ClusterState.ACTIVE_L2: Description(
        "L2 table", "Says where guest clusters lie; losing it loses the way to all of them."
    ),
    ClusterState.ACTIVE_L1: Description(
        "L1 table", "Says where the L2 tables lie; losing it loses the way to the whole disk."
    ),
    ClusterState.REFCOUNT_BLOCK: Description(
        "refcount block", "Counts how often clusters are used; it can be rebuilt."
    ),
    ClusterState.REFCOUNT_TABLE: Description(
        "refcount table", "Says where the refcount blocks lie; it can be rebuilt."
    ),
    ClusterState.HEADER: Description(
        "header", "The first cluster: sizes, features and where the tables lie."
    ),
    ClusterState.LEAKED: Description(
        "leaked", "Counted as used, but nothing refers to it: wasted space, or a lost table's data."
    ),
    ClusterState.REFCOUNT_HIGH: Description(
        "refcount too high", "Used less often than counted: it would never be set free."
    ),
    ClusterState.REFCOUNT_LOW: Description(
        "refcount too low", "Used more often than counted: it may be set free while still in use."
    ),
    ClusterState.COUNTED_FREE: Description(
        "used but counted free", "In use, but counted as free: the next write may overwrite it."
    ),
    ClusterState.BEYOND_EOF: Description(
        "beyond the end of the file", "Referred to, but the file ends before: its bytes are gone."
    ),
    ClusterState.CONTESTED: Description(
        "contested", "Two owners that exclude each other use it: at least one of them is damaged."
    ),
}
"""Every state's name and meaning."""

_ROLE_STATES: Final = {
    Role.FREE: ClusterState.FREE,
    Role.HEADER: ClusterState.HEADER,
    Role.ACTIVE_L1: ClusterState.ACTIVE_L1,
    Role.ACTIVE_L2: ClusterState.ACTIVE_L2,
    Role.SNAPSHOT_L1: ClusterState.SNAPSHOT_L1,
    Role.SNAPSHOT_L2: ClusterState.SNAPSHOT_L2,
    Role.REFCOUNT_TABLE: ClusterState.REFCOUNT_TABLE,
    Role.REFCOUNT_BLOCK: ClusterState.REFCOUNT_BLOCK,
    Role.SNAPSHOT_TABLE: ClusterState.SNAPSHOT_TABLE,
    Role.BITMAP_DIRECTORY: ClusterState.BITMAP_METADATA,
    Role.BITMAP_TABLE: ClusterState.BITMAP_METADATA,
    Role.BITMAP_DATA: ClusterState.BITMAP_DATA,
    Role.ENCRYPTION_HEADER: ClusterState.ENCRYPTION_HEADER,
    Role.DATA: ClusterState.DATA,
    Role.COMPRESSED: ClusterState.COMPRESSED,
    Role.ZERO_ALLOC: ClusterState.ZERO_ALLOC,
    Role.SNAPSHOT_DATA: ClusterState.SNAPSHOT_DATA,
}


def _role_table() -> Cells:
    table = np.zeros(max(Role) + 1, dtype=np.uint8)
    for role, state in _ROLE_STATES.items():
        table[role] = state
    return table


_STATE_OF_ROLE: Final = _role_table()


def states_of(
    ownership: Ownership,
    stored: StoredRefcounts | None,
    *,
    file_bytes: int,
    first: int = 0,
    last: int | None = None,
    token: CancelToken | None = None,
) -> Cells:
    """The states of host clusters [first, last).

    Args:
        ownership: Who refers to them.
        stored: The image's refcounts; None leaves them out, and tells the roles alone.
        file_bytes: Length of the file.
        first: The first cluster.
        last: End (exclusive); by default that of what `ownership` knows. Clusters behind that are
            OUTSIDE.
        token: Stops the work.

    Raises:
        ValueError: When there are more than `cells.MAX_CELLS`.
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
    """
    last = ownership.clusters if last is None else last
    if last - first > MAX_CELLS:
        raise ValueError(f"{last - first:,} clusters are more than {MAX_CELLS:,}: use a range")
    states: Cells = np.zeros(max(0, last - first), dtype=np.uint8)
    known = min(last, ownership.clusters)
    for start, end, counts in _iter_counts(stored, known):
        if token is not None:
            token.raise_if_cancelled()
        begin = max(start, first)
        if begin < end:
            states[begin - first : end - first] = judge_states(
                ownership.roles[begin:end],
                ownership.computed[begin:end],
                None if counts is None else counts[begin - start :],
                refcount_max=0 if stored is None else stored.geometry.refcount_max,
            )
    in_file = max(first, ceil_div(file_bytes, max(1, ownership.cluster_bytes)))
    if in_file < known:
        referred = ownership.computed[in_file:known] > 0
        beyond = np.where(referred, ClusterState.BEYOND_EOF, ClusterState.OUTSIDE)
        states[in_file - first : known - first] = beyond
    conflicts = ownership.conflicts
    conflicts = conflicts[(conflicts >= first) & (conflicts < known)]
    states[conflicts - first] = ClusterState.CONTESTED
    return states


def _iter_counts(
    stored: StoredRefcounts | None, clusters: int
) -> Iterator[tuple[int, int, StoredCounts | None]]:
    """(first, last, refcounts) of runs of the first `clusters`; None where none can be read."""
    if stored is None:
        yield 0, clusters, None
        return
    for piece in stored.iter_pieces(clusters):
        if piece.counts is not None or not piece.readable:
            yield piece.first, piece.last, piece.counts
            continue
        # Without a block all are zero, and there may be any number of them.
        zeros = np.zeros(min(PART_CLUSTERS, piece.last - piece.first), dtype=np.uint64)
        for start in range(piece.first, piece.last, PART_CLUSTERS):
            end = min(start + PART_CLUSTERS, piece.last)
            yield start, end, zeros[: end - start]


def judge_states(
    roles: Cells, computed: Counts, stored: StoredCounts | None, *, refcount_max: int
) -> Cells:
    """The states of clusters inside the file, by their roles and both counts.

    Args:
        roles: A `Role` for each.
        computed: The references to each that were found.
        stored: The refcount of each; None leaves refcounts out of the judgement.
        refcount_max: The largest number that a refcount can hold: more references than that are
            not its fault.
    """
    states: Cells = _STATE_OF_ROLE[roles]
    if stored is None:
        return states
    differs = np.flatnonzero(stored != computed)
    if len(differs):
        expected = np.minimum(computed[differs].astype(np.uint64), np.uint64(refcount_max))
        found = stored[differs]
        too_high = np.where(expected > 0, ClusterState.REFCOUNT_HIGH, ClusterState.LEAKED)
        too_low = np.where(found > 0, ClusterState.REFCOUNT_LOW, ClusterState.COUNTED_FREE)
        judged = np.where(found > expected, too_high, too_low)
        states[differs] = np.where(found == expected, states[differs], judged)
    return states
