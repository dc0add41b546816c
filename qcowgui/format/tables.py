"""Whole tables at once: L1 and L2 entries as numpy arrays, classified without a Python loop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from qcowgui.format import geometry as geo
from qcowgui.format.entries import ClusterKind
from qcowgui.format.geometry import Geometry
from qcowgui.units import SECTOR_BYTES

Words = npt.NDArray[np.uint64]
"""Entries in native byte order, one 64-bit word each."""

_LOW_32 = np.uint64(0xFFFF_FFFF)


def parse_words(data: bytes | bytearray | memoryview) -> Words:
    """The 64-bit words in `data` in native byte order; an incomplete last one is dropped."""
    usable = len(data) - len(data) % geo.ENTRY_BYTES
    return np.frombuffer(data, dtype=">u8", count=usable // geo.ENTRY_BYTES).astype(np.uint64)


def l2_table_offsets(l1_words: Words) -> npt.NDArray[np.int64]:
    """The host offset of the L2 table of each L1 entry, 0 where there is none. Spec: 1.7"""
    return (l1_words & np.uint64(geo.OFFSET_MASK)).astype(np.int64)


@dataclass(frozen=True, slots=True)
class L2View:
    """A run of L2 entries, decoded.

    All arrays have one element an entry, in guest order.

    Attributes:
        kinds: uint8, a `ClusterKind` each.
        host_offsets: int64, bytes: the host cluster, or the first byte of the payload; 0 for none.
        payload_bytes: int32, upper bound of a compressed payload's length, 0 for other kinds.
        words: The raw words.
        bitmaps: The subcluster bitmaps of extended entries, or None.
    """

    kinds: npt.NDArray[np.uint8]
    host_offsets: npt.NDArray[np.int64]
    payload_bytes: npt.NDArray[np.int32]
    words: Words
    bitmaps: Words | None

    def __len__(self) -> int:
        return len(self.kinds)


def decode_l2(
    words: Words,
    bitmaps: Words | None,
    geometry: Geometry,
    *,
    version: int,
    data_file_guest_offset: int | None = None,
) -> L2View:
    """What a run of L2 entries says, in QEMU's order of tests. Spec: 1.7 to 1.9

    Args:
        words: The entries' first (or only) words.
        bitmaps: Their subcluster bitmaps with extended L2 entries, else None.
        geometry: The image's geometry.
        version: 2 or 3; version 2 has no zero flag.
        data_file_guest_offset: With an external data file, the guest offset of the first entry:
            host offsets must equal guest offsets. None without one.
    """
    offsets = words & np.uint64(geo.OFFSET_MASK)
    compressed = (words & np.uint64(geo.COMPRESSED)) != 0
    zero_flag = (words & np.uint64(geo.READS_ZERO)) != 0
    copied = (words & np.uint64(geo.COPIED)) != 0
    has_offset = offsets != 0
    unaligned = (offsets & np.uint64(geometry.cluster_bytes - 1)) != 0

    # An allocated cluster at host offset 0 would be the header; only a data file starts with data.
    # Entries that hold no data (zero flag, subclusters) may well have a stray COPIED.
    at_zero = ~has_offset & copied
    if bitmaps is None:
        at_zero &= ~zero_flag
    if data_file_guest_offset is None:
        present = has_offset
        wrong = at_zero if bitmaps is None else np.zeros_like(at_zero)
    else:
        guest = np.uint64(data_file_guest_offset) + np.arange(
            len(words), dtype=np.uint64
        ) * np.uint64(geometry.cluster_bytes)
        present = has_offset | at_zero
        wrong = (present & (offsets != guest)) | compressed
    kinds = np.where(present, ClusterKind.NORMAL, ClusterKind.UNALLOCATED).astype(np.uint8)
    if bitmaps is None:
        kinds[zero_flag & ~present] = ClusterKind.ZERO_PLAIN
        kinds[zero_flag & present] = ClusterKind.ZERO_ALLOC
        if version < 3:
            wrong = wrong | zero_flag
    else:
        _apply_subclusters(kinds, bitmaps, present)
    kinds[wrong | unaligned] = ClusterKind.INVALID
    kinds[compressed] = (
        ClusterKind.COMPRESSED if data_file_guest_offset is None else ClusterKind.INVALID
    )

    host_offsets = offsets.astype(np.int64)
    payload_bytes = np.zeros(len(words), dtype=np.int32)
    if compressed.any():
        _decode_compressed(words, compressed, geometry, host_offsets, payload_bytes)
    return L2View(kinds, host_offsets, payload_bytes, words, bitmaps)


def _apply_subclusters(
    kinds: npt.NDArray[np.uint8], bitmaps: Words, present: npt.NDArray[np.bool_]
) -> None:
    """Refine `kinds` in place by the subcluster bitmaps of extended entries. Spec: 1.8"""
    allocated = bitmaps & _LOW_32
    zero = bitmaps >> np.uint64(32)
    kinds[:] = ClusterKind.MIXED
    kinds[(allocated == 0) & (zero == 0)] = ClusterKind.UNALLOCATED
    kinds[(allocated == 0) & (zero == _LOW_32)] = ClusterKind.ZERO_PLAIN
    kinds[(allocated == 0) & (zero == _LOW_32) & present] = ClusterKind.ZERO_ALLOC
    kinds[(allocated == _LOW_32) & (zero == 0)] = ClusterKind.NORMAL
    kinds[((allocated & zero) != 0) | ((allocated != 0) & ~present)] = ClusterKind.INVALID


def _decode_compressed(
    words: Words,
    compressed: npt.NDArray[np.bool_],
    geometry: Geometry,
    host_offsets: npt.NDArray[np.int64],
    payload_bytes: npt.NDArray[np.int32],
) -> None:
    """Fill in where the payloads of compressed entries lie, in place. Spec: 1.9"""
    chosen = words[compressed]
    offsets = (chosen & np.uint64(geometry.compressed_offset_mask)).astype(np.int64)
    sectors = (chosen >> np.uint64(geometry.compressed_shift)) & np.uint64(
        geometry.compressed_sectors_mask
    )
    host_offsets[compressed] = offsets
    lengths = (sectors.astype(np.int64) + 1) * SECTOR_BYTES - (offsets & (SECTOR_BYTES - 1))
    payload_bytes[compressed] = lengths.astype(np.int32)
