"""What host clusters are used for: one role each, and the set of uses it is made from.

A cluster may be used several times, rightly (a table that a snapshot shares) or not. So the sweep
over an image collects a set of uses per cluster, as bits, in any order; the role shown and the
verdict on the set follow from two tables with an entry for every possible set.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

Uses = npt.NDArray[np.uint16]
"""Sets of uses, a bit each (`use_bit`); one element a cluster."""


class Role(IntEnum):
    """What a host cluster is used for; the smaller one wins where several hold, but for FREE."""

    FREE = 0
    """Nothing refers to it."""
    HEADER = 1
    """The first cluster: header, extensions, backing file name."""
    ACTIVE_L1 = 2
    ACTIVE_L2 = 3
    """An L2 table that the active L1 names (a snapshot may share it)."""
    SNAPSHOT_L1 = 4
    SNAPSHOT_L2 = 5
    """An L2 table that only snapshots name."""
    REFCOUNT_TABLE = 6
    REFCOUNT_BLOCK = 7
    SNAPSHOT_TABLE = 8
    BITMAP_DIRECTORY = 9
    BITMAP_TABLE = 10
    BITMAP_DATA = 11
    ENCRYPTION_HEADER = 12
    DATA = 13
    """A standard cluster of the active disk."""
    COMPRESSED = 14
    """Payloads of compressed clusters of the active disk."""
    ZERO_ALLOC = 15
    """Kept for a cluster of the active disk that reads as zeros."""
    SNAPSHOT_DATA = 16
    """Data or payloads that only snapshots hold."""


DATA_ROLES: Final = frozenset({Role.DATA, Role.COMPRESSED, Role.ZERO_ALLOC, Role.SNAPSHOT_DATA})
"""What holds guest data, or is kept for it."""
METADATA: Final = frozenset(Role) - DATA_ROLES - {Role.FREE}
"""What must not share its cluster with anything of another role."""
EXCLUSIVE: Final = METADATA - {Role.ACTIVE_L2, Role.SNAPSHOT_L2}
"""What has exactly one reference in a sound image; L2 tables may be shared by snapshots."""

ROLE_NAMES: Final[dict[Role, str]] = {
    Role.FREE: "nothing",
    Role.HEADER: "header",
    Role.ACTIVE_L1: "active L1 table",
    Role.ACTIVE_L2: "active L2 table",
    Role.SNAPSHOT_L1: "snapshot's L1 table",
    Role.SNAPSHOT_L2: "snapshot's L2 table",
    Role.REFCOUNT_TABLE: "refcount table",
    Role.REFCOUNT_BLOCK: "refcount block",
    Role.SNAPSHOT_TABLE: "snapshot table",
    Role.BITMAP_DIRECTORY: "bitmap directory",
    Role.BITMAP_TABLE: "bitmap table",
    Role.BITMAP_DATA: "bitmap data",
    Role.ENCRYPTION_HEADER: "encryption header",
    Role.DATA: "guest data",
    Role.COMPRESSED: "compressed guest data",
    Role.ZERO_ALLOC: "allocated zero cluster",
    Role.SNAPSHOT_DATA: "snapshot data",
}
"""What people call each role, without an article."""

SNAPSHOT_PAYLOAD_BIT: Final = 1 << 15
"""The use for payloads of snapshots. It has no role of its own, but shares its cluster with other
payloads only, as SNAPSHOT_DATA does not."""


def use_bit(role: Role) -> int:
    """The bit of a role in a set of uses.

    FREE is the empty set. HEADER has no bit either: it is the first cluster and no other, whatever
    else refers to that.
    """
    return 0 if role <= Role.HEADER else 1 << (role - Role.ACTIVE_L1)


def bits_of(roles: frozenset[Role]) -> int:
    """The bits of several roles in a set of uses."""
    bits = 0
    for role in roles:
        bits |= use_bit(role)
    return bits


EXCLUSIVE_BITS: Final = bits_of(EXCLUSIVE)
L2_BITS: Final = bits_of(frozenset({Role.ACTIVE_L2, Role.SNAPSHOT_L2}))
METADATA_BITS: Final = EXCLUSIVE_BITS | L2_BITS
WHOLE_CLUSTER_BITS: Final = bits_of(frozenset({Role.DATA, Role.ZERO_ALLOC, Role.SNAPSHOT_DATA}))
"""Uses by one guest cluster as a whole."""
PAYLOAD_BITS: Final = use_bit(Role.COMPRESSED) | SNAPSHOT_PAYLOAD_BIT
"""Uses by payloads, which may have the cluster in common."""
_SETS: Final = 1 << 16


@cache
def role_of_uses() -> npt.NDArray[np.uint8]:
    """The role of each of the 65,536 sets of uses: that of their lowest bit."""
    roles = np.zeros(_SETS, dtype=np.uint8)
    sets = np.arange(_SETS, dtype=np.uint32)
    roles[sets >= SNAPSHOT_PAYLOAD_BIT] = Role.SNAPSHOT_DATA
    for role in sorted(Role, reverse=True):
        if use_bit(role):
            roles[(sets & use_bit(role)) != 0] = role
    return roles


@cache
def conflict_of_uses() -> npt.NDArray[np.bool_]:
    """Whether each of the 65,536 sets holds uses that exclude each other.

    Metadata excludes all else, but for L2 tables that active disk and snapshot share; a cluster
    used as a whole excludes payloads.
    """
    sets = np.arange(_SETS, dtype=np.uint32)
    metadata = sets & METADATA_BITS
    single = (metadata & (metadata - np.uint32(1))) == 0  # at most one bit; 0 - 1 wraps, & 0 is 0
    shared_table = metadata == L2_BITS
    others = (sets & (WHOLE_CLUSTER_BITS | PAYLOAD_BITS)) != 0
    both = ((sets & WHOLE_CLUSTER_BITS) != 0) & ((sets & PAYLOAD_BITS) != 0)
    conflict: npt.NDArray[np.bool_] = ~(single | shared_table) | both
    conflict |= (metadata != 0) & others
    return conflict
