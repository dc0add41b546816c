"""The refcounts and the references of the clusters to which a table's entries point. Spec: 1.10"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from qcowgui.check.cluster_ownership import Ownership
from qcowgui.check.roles import Uses
from qcowgui.check.stored import StoredRefcounts
from qcowgui.engine.work import CancelToken
from qcowgui.errors import SourceError
from qcowgui.format.geometry import Geometry
from qcowgui.format.refcounts import unpack_refcounts
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.units import MIB, ceil_div

_MAX_READ_BYTES: Final = 128 * MIB
"""ours: of refcount blocks for one table. More need only entries that point anywhere at random."""

_Unsigned = npt.NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Refcounts:
    """Of each entry of a table, what is known of the one cluster that it is about.

    Attributes:
        about: bool: the entry is about a cluster of the file.
        stored: The refcount; 0 where `known` is False.
        known: bool: so it is, and that cluster's refcount could be read.
        found: How many references a check has counted; None without one.
        uses: Sets of uses (`roles.use_bit`), as far as a check knows them; None without one.
    """

    about: npt.NDArray[np.bool_]
    stored: _Unsigned
    known: npt.NDArray[np.bool_]
    found: _Unsigned | None = None
    uses: Uses | None = None

    @classmethod
    def of_block(cls, counts: _Unsigned, first: int, ownership: Ownership | None) -> Refcounts:
        """Those of a refcount block whose first entry counts host cluster `first`."""
        known = np.ones(len(counts), dtype=np.bool_)
        if ownership is None:
            return cls(known, counts, known)
        last = min(first + len(counts), ownership.clusters)
        found = np.zeros(len(counts), dtype=ownership.computed.dtype)
        uses = np.zeros(len(counts), dtype=np.uint16)
        if first < last:
            found[: last - first] = ownership.computed[first:last]
            uses[: last - first] = ownership.uses[first:last]
        return cls(known, counts, known, found, uses)

    def differences(self, refcount_max: int) -> npt.NDArray[np.int64] | None:
        """int64: stored less counted references, 0 where one is not known; None without a check.

        References above `refcount_max` can't be counted: they are no difference.
        """
        if self.found is None:
            return None
        stored = np.minimum(self.stored, np.uint64(1 << 62)).astype(np.int64)
        most = min(refcount_max, 1 << 62)
        found = np.minimum(self.found.astype(np.int64), most)
        return np.where(self.known, stored - found, 0)


def load_refcount_table(source: ByteSource, report: ImageReport) -> StoredRefcounts | None:
    """The refcount table; None when the disk does not give it: other tables may be fine."""
    try:
        return StoredRefcounts(source, report)
    except SourceError:
        return None


def look_up_refcounts(
    source: ByteSource,
    stored: StoredRefcounts | None,
    ownership: Ownership | None,
    clusters: npt.NDArray[np.int64],
    chosen: npt.NDArray[np.bool_],
    token: CancelToken,
) -> Refcounts:
    """The refcounts of host clusters, block by block; unknown where a block can't be read.

    Args:
        source: The image.
        stored: Its refcount table, when there is one.
        ownership: The references to each cluster, once a check was done.
        clusters: One an entry.
        chosen: Which of them count.
        token: Looked at for each block.

    Raises:
        Cancelled: When the token asks for it.
    """
    rows = np.flatnonzero(chosen)
    wanted = clusters[rows]
    known = np.zeros(len(clusters), dtype=np.bool_)
    counts: _Unsigned = np.zeros(len(clusters), dtype=np.uint16)
    if stored is not None:
        values, readable = _read_counts(source, stored, wanted, token)
        counts = counts.astype(_narrowest(values))
        counts[rows], known[rows] = values, readable
    if ownership is None:
        return Refcounts(chosen, counts, known)
    inside = wanted < ownership.clusters
    found = np.zeros(len(clusters), dtype=ownership.computed.dtype)
    uses = np.zeros(len(clusters), dtype=np.uint16)
    found[rows[inside]] = ownership.computed[wanted[inside]]
    uses[rows[inside]] = ownership.uses[wanted[inside]]
    return Refcounts(chosen, counts, known, found, uses)


def _narrowest(values: npt.NDArray[np.uint64]) -> npt.DTypeLike:
    return np.uint16 if not len(values) or int(values.max()) < 1 << 16 else np.uint64


def _read_counts(
    source: ByteSource,
    stored: StoredRefcounts,
    clusters: npt.NDArray[np.int64],
    token: CancelToken,
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    """The stored refcount of each of `clusters`, and whether it could be read."""
    counts = np.zeros(len(clusters), dtype=np.uint64)
    readable = np.zeros(len(clusters), dtype=np.bool_)
    if not stored.usable or not len(clusters):
        return counts, readable
    geometry = stored.geometry
    order = np.argsort(clusters, kind="stable")
    ordered = clusters[order]
    entries = ordered // geometry.refcounts_per_block
    unreadable = stored.unreadable_entries
    starts = np.concatenate(([0], np.flatnonzero(np.diff(entries)) + 1, [len(entries)]))
    left_bytes = _MAX_READ_BYTES
    for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        token.raise_if_cancelled()
        entry, places = int(entries[first]), order[first:last]
        offset = int(stored.block_offsets[entry]) if entry < len(stored.block_offsets) else 0
        if not offset:
            readable[places] = True  # a cluster without a block has refcount 0
        elif not unreadable[entry] and left_bytes > 0:
            indices = ordered[first:last] % geometry.refcounts_per_block
            try:
                found, read_bytes = _read_span(source, geometry, offset, indices)
            except SourceError:
                continue
            left_bytes -= read_bytes
            counts[places], readable[places] = found, True
    return counts, readable


def _read_span(
    source: ByteSource, geometry: Geometry, offset: int, indices: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.uint64], int]:
    """The refcounts at ascending `indices` of the block at `offset`; and the bytes it took."""
    bits = geometry.refcount_bits
    per_byte = max(1, 8 // bits)
    first = int(indices[0]) // per_byte * per_byte
    start, end = first * bits // 8, ceil_div((int(indices[-1]) + 1) * bits, 8)
    data = source.read_at(offset + start, end - start).ljust(end - start, b"\0")
    return unpack_refcounts(data, geometry.refcount_order)[indices - first], end - start
