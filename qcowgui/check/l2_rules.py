"""What is wrong with L2 entries: standard, extended and compressed ones.

QEMU's check goes on after most faults of an entry, so that several rules may count for one entry;
it stops at a compressed entry that may not exist (data file, subcluster bitmap). The rules that are
ours alone skip an entry for which another rule says more. Spec: 1.7 to 1.9, 2.2, 2.5
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from qcowgui.check.l1_rules import hits_of
from qcowgui.check.rule_context import Hit, RuleContext
from qcowgui.format import geometry as geo
from qcowgui.format.tables import L2View, Words

GuestStart = int | npt.NDArray[np.int64]
"""The guest offset of a view's first entry; or, when the view is a run of whole tables that need
not be neighbours, that of each table."""

_Flags = npt.NDArray[np.bool_]

_COMPRESSED: Final = np.uint64(geo.COMPRESSED)
_COPIED: Final = np.uint64(geo.COPIED)
_COPIED_ZERO: Final = np.uint64(geo.COPIED | geo.READS_ZERO)
_READS_ZERO: Final = np.uint64(geo.READS_ZERO)
_RESERVED: Final = np.uint64(geo.L2_RESERVED_MASK)
_LOW_32: Final = np.uint64(0xFFFF_FFFF)
_HIGH_OFFSET: Final = np.int64(~((1 << 56) - 1))


def judge_l2(view: L2View, context: RuleContext, *, first_guest_offset: GuestStart) -> list[Hit]:
    """The entries that break a rule, rule by rule. Spec: 2.2 (R1, R5 to R11), 2.5

    Args:
        view: The decoded entries.
        context: The image's.
        first_guest_offset: Where the view's entries lie in the guest's disk.

    A hit says nothing of COPIED against refcounts, nor of who else owns the host clusters.
    """
    if not len(view):
        return []
    compressed = (view.words & _COMPRESSED) != 0
    any_compressed = bool(compressed.any())
    standard = np.where(compressed, np.uint64(0), view.words) if any_compressed else view.words
    hits: list[Hit] = []
    guest_offsets = _guest_offsets(len(view), first_guest_offset, context)
    if not _standard_clean(view, standard, guest_offsets, context):
        hits += _judge_standard(view, compressed, guest_offsets, context)
    if any_compressed and not _compressed_clean(view, compressed, context):
        hits += _judge_compressed(view, compressed, context)
    return hits


def _standard_clean(
    view: L2View, standard: Words, guest_offsets: npt.NDArray[np.int64], context: RuleContext
) -> bool:
    """Whether nothing can be wrong with the entries that are not compressed; may err to False.

    `standard` has 0 in place of the compressed ones. A few reductions: 8,192 entries cost some
    20 µs (2026-11-30), the flags of all rules ten times that.
    """
    union = int(np.bitwise_or.reduce(standard))
    wrong_bits = geo.L2_RESERVED_MASK | context.geometry.cluster_bytes - 1 & geo.OFFSET_MASK
    if context.version < 3 or context.geometry.extended_l2:
        wrong_bits |= geo.READS_ZERO
    if union & wrong_bits:
        return False
    end = int(view.host_offsets.max()) + context.geometry.cluster_bytes
    if context.has_data_file:
        if context.data_file_bytes is not None and end > context.data_file_bytes:
            return False
        if ((standard > _READS_ZERO) & (view.host_offsets != guest_offsets)).any():
            return False
    # A payload may well begin in the file's last cluster; then the rules look closer.
    elif end > context.file_bytes or (union >= geo.COPIED and _has_stray_copied(standard, union)):
        return False
    if view.bitmaps is None:
        return True
    allocated = view.bitmaps & _LOW_32
    conflict = allocated & view.bitmaps >> np.uint64(32)
    homeless = (view.host_offsets == 0) & (allocated != 0)
    return not conflict.any() and not homeless.any()


def _has_stray_copied(standard: Words, union: int) -> bool:
    if union & geo.READS_ZERO and (standard == _COPIED_ZERO).any():
        return True
    return bool((standard == _COPIED).any())


@dataclass(frozen=True, slots=True)
class _Standard:
    """Flags per entry that several rules on standard entries need.

    Attributes:
        host_offsets: int64; of compressed entries 0.
        allocated: The entry has a host cluster (with a data file, maybe at offset 0).
        holds_data: Some of the cluster is to be read from the host.
        zero_flag: Bit 0 of an entry that is not compressed.
        copied: Bit 63 of an entry that is not compressed.
        unaligned: The host offset is no cluster's.
    """

    host_offsets: npt.NDArray[np.int64]
    allocated: _Flags
    holds_data: _Flags
    zero_flag: _Flags
    copied: _Flags
    unaligned: _Flags


def _standard_flags(view: L2View, compressed: _Flags, context: RuleContext) -> _Standard:
    zero_flag = ((view.words & _READS_ZERO) != 0) & ~compressed
    copied = ((view.words & _COPIED) != 0) & ~compressed
    host_offsets = np.where(compressed, 0, view.host_offsets)
    allocated = host_offsets != 0
    if context.has_data_file:
        # Only here may a cluster lie at offset 0. The zero flag, tested first, hides it.
        allocated |= copied & ~zero_flag if view.bitmaps is None else copied
    if view.bitmaps is None:
        holds_data = allocated & ~zero_flag
    else:
        holds_data = allocated & ((view.bitmaps & _LOW_32) != 0)
    unaligned = host_offsets & (context.geometry.cluster_bytes - 1) != 0
    return _Standard(host_offsets, allocated, holds_data, zero_flag, copied, unaligned)


def _judge_standard(
    view: L2View,
    compressed: _Flags,
    guest_offsets: npt.NDArray[np.int64],
    context: RuleContext,
) -> list[Hit]:
    entries = _standard_flags(view, compressed, context)
    nothing = np.zeros(len(view), dtype=np.bool_)
    reserved = ((view.words & _RESERVED) != 0) & ~compressed
    stray = entries.copied & (entries.host_offsets == 0) & ~entries.allocated
    conflict = homeless = nothing
    if view.bitmaps is None:
        at_header = stray & ~entries.zero_flag
        zero_in_v2 = entries.zero_flag if context.version < 3 else nothing
        zero_in_extended = nothing
    else:
        allocated = view.bitmaps & _LOW_32
        conflict = entries.allocated & ((allocated & view.bitmaps >> np.uint64(32)) != 0)
        homeless = ~entries.allocated & ~compressed & (allocated != 0)
        at_header, zero_in_v2 = nothing, nothing
        zero_in_extended = entries.zero_flag
    if context.has_data_file:
        # A writer that zeroes the guest's first cluster leaves COPIED: it has one, at offset 0.
        stray &= guest_offsets != 0
    return hits_of(
        ("l2-reserved-bits", reserved),
        ("subcluster-conflict", conflict),
        ("subclusters-without-cluster", homeless),
        ("zero-cluster-unaligned", entries.unaligned & ~entries.holds_data),
        ("data-cluster-unaligned", entries.unaligned & entries.holds_data),
        ("zero-flag-v2", zero_in_v2),
        ("extended-zero-flag", zero_in_extended),
        ("data-at-header", at_header),
        ("copied-without-cluster", stray & ~at_header & ~homeless),
        *_place_rules(entries, guest_offsets, view.bitmaps, context),
    )


def _place_rules(
    entries: _Standard,
    guest_offsets: npt.NDArray[np.int64],
    bitmaps: Words | None,
    context: RuleContext,
) -> list[tuple[str, _Flags]]:
    """The rules on where clusters lie: in the file, or in the data file."""
    aligned = entries.allocated & ~entries.unaligned
    needed = _needed_bytes(guest_offsets, context)
    if bitmaps is not None:
        needed = np.minimum(needed, _allocated_bytes(bitmaps, context))
    data_ends = entries.host_offsets + needed
    if not context.has_data_file:
        beyond = entries.allocated & (entries.host_offsets >= context.file_bytes)
        cut = aligned & entries.holds_data & ~beyond & (data_ends > context.file_bytes)
        return [("data-beyond-eof", beyond), ("data-truncated", cut)]
    elsewhere = aligned & (entries.host_offsets != guest_offsets)
    rules = [("data-file-offset", elsewhere)]
    if context.data_file_bytes is not None:
        short = aligned & entries.holds_data & ~elsewhere & (data_ends > context.data_file_bytes)
        rules.append(("data-file-short", short))
    return rules


def _guest_offsets(
    entries: int, first_guest_offset: GuestStart, context: RuleContext
) -> npt.NDArray[np.int64]:
    """The guest offset of each entry, int64."""
    steps = np.arange(entries, dtype=np.int64) * context.geometry.cluster_bytes
    if isinstance(first_guest_offset, int):
        return steps + first_guest_offset
    per_table = steps[: entries // len(first_guest_offset)]
    return (first_guest_offset[:, np.newaxis] + per_table).reshape(-1)


def _needed_bytes(
    guest_offsets: npt.NDArray[np.int64], context: RuleContext
) -> npt.NDArray[np.int64]:
    """How much of each host cluster can hold data: less than all where the disk ends inside it.

    What lies behind the disk (a snapshot's VM state) needs whole clusters.
    """
    needed = np.full(len(guest_offsets), context.geometry.cluster_bytes, dtype=np.int64)
    if context.virtual_bytes is not None:
        left = context.virtual_bytes - guest_offsets
        last = (left > 0) & (left < needed)
        needed[last] = left[last]
    return needed


def _allocated_bytes(bitmaps: Words, context: RuleContext) -> npt.NDArray[np.int64]:
    """Where the last subcluster with data ends in each cluster; 0 where none has any."""
    # The exponent of an exact float is the position behind the highest bit.
    _, ends = np.frexp((bitmaps & _LOW_32).astype(np.float64))
    return ends.astype(np.int64) * (context.geometry.cluster_bytes // 32)


def _compressed_clean(view: L2View, compressed: _Flags, context: RuleContext) -> bool:
    """Whether nothing can be wrong with the compressed entries, of which there are some.

    It looks at where all entries lie, which is quicker than picking some, and may err to False.
    """
    if context.has_data_file:
        return False
    if view.bitmaps is not None and (compressed & (view.bitmaps != 0)).any():
        return False
    return (
        int(view.host_offsets.max()) < context.file_bytes
        and int((view.host_offsets + view.payload_bytes).max()) <= context.file_end
        and not (compressed & (view.words >= _COPIED)).any()
    )


def _judge_compressed(view: L2View, compressed: _Flags, context: RuleContext) -> list[Hit]:
    copied = compressed & ((view.words & _COPIED) != 0)
    if context.has_data_file:
        return hits_of(("compressed-copied", copied), ("compressed-with-data-file", compressed))
    mapped = compressed
    with_bitmap = np.zeros(len(view), dtype=np.bool_)
    if view.bitmaps is not None:
        with_bitmap = compressed & (view.bitmaps != 0)
        mapped = compressed & ~with_bitmap
    ends = view.host_offsets + view.payload_bytes
    high = mapped & ((view.host_offsets & _HIGH_OFFSET) != 0)
    beyond = mapped & ~high & (ends - context.file_end >= context.geometry.cluster_bytes)
    mapped = mapped & ~high & ~beyond
    missing = mapped & (view.host_offsets >= context.file_bytes)
    return hits_of(
        ("compressed-copied", copied),
        ("compressed-subclusters", with_bitmap),
        ("compressed-offset-high", high),
        ("compressed-beyond-eof", beyond),
        ("compressed-missing", missing),
        ("compressed-truncated", mapped & ~missing & (ends > context.file_end)),
    )
