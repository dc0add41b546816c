"""What is said of a table that something else was written over: one finding for each table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np

from qcowgui.check.l1_tables import L1Table
from qcowgui.check.l2_tables import L2Table
from qcowgui.check.overwritten import CountStretches, Flags
from qcowgui.check.rule_context import RuleContext
from qcowgui.check.stored import StoredRefcounts
from qcowgui.format.finding import Finding, Severity
from qcowgui.format.geometry import ENTRY_BYTES
from qcowgui.units import format_count, format_offset


def l1_overwritten(l1: L1Table, overwritten: Flags, context: RuleContext) -> Finding:
    """That an L1 table was overwritten.

    Args:
        l1: The table.
        overwritten: Which of its entries are none; at least one.
        context: That of its disk.
    """
    entries = np.flatnonzero(overwritten)
    first, last = int(entries[0]), int(entries[-1])
    coverage = context.geometry.l1_coverage_bytes
    guest = _guest_range(first * coverage, (last + 1) * coverage, l1.owner.snapshot, context)
    whose = "" if l1.owner.snapshot is None else f" of snapshot {l1.owner.snapshot}"
    return Finding(
        "l1-overwritten",
        Severity.CORRUPTION,
        f"The L1 table{whose} at {format_offset(l1.host_offset)} was overwritten: L1[{first}] to "
        f"L1[{last}] hold {format_count(len(entries), 'word')} that are no L1 entries. "
        f"{_guest_text(guest)}",
        "L1 table",
        host_offset=l1.host_offset + first * ENTRY_BYTES,
        guest_start=guest[0] if guest else None,
        guest_end=guest[1] if guest else None,
        expected="L1 entries",
        spec="1.7",
        snapshot=l1.owner.snapshot,
    )


class OverwrittenTables(Sequence[Finding]):
    """A finding for each overwritten table of a run, made when it is asked for.

    Attributes:
        guest_starts: int64, of each: the first guest byte that a lost entry mapped.
        guest_ends: int64, of each: the end (exclusive) of what the lost entries mapped.
    """

    def __init__(self, table: L2Table, overwritten: Flags, context: RuleContext) -> None:
        """The findings.

        Args:
            table: The run.
            overwritten: Which of its entries are none.
            context: That of its disk.
        """
        geometry = context.geometry
        flags = overwritten.reshape(table.tables, geometry.l2_entries)
        self._tables = np.flatnonzero(flags.any(axis=1))
        flags = flags[self._tables]
        self._words = np.count_nonzero(flags, axis=1)
        self._first = flags.argmax(axis=1)
        self._last = geometry.l2_entries - 1 - flags[:, ::-1].argmax(axis=1)
        self._table = table
        self._context = context
        starts = table.first_guest_offsets[self._tables]
        ends = starts + (self._last + 1 << geometry.cluster_bits)
        if table.owner.snapshot is None and context.virtual_bytes is not None:
            ends = np.minimum(ends, context.virtual_bytes)
        self.guest_starts = starts + (self._first << geometry.cluster_bits)
        self.guest_ends = ends

    def __len__(self) -> int:
        return len(self._tables)

    @overload
    def __getitem__(self, index: int) -> Finding: ...

    @overload
    def __getitem__(self, index: slice) -> list[Finding]: ...

    def __getitem__(self, index: int | slice) -> Finding | list[Finding]:
        if isinstance(index, slice):
            return [self._finding(each) for each in range(*index.indices(len(self)))]
        return self._finding(index)

    def _finding(self, index: int) -> Finding:
        table, number = self._table, int(self._tables[index])
        first, last = int(self._first[index]), int(self._last[index])
        host_offset = int(table.host_offsets[number])
        guest = int(self.guest_starts[index]), int(self.guest_ends[index])
        has_guest = guest[0] < guest[1]
        whose = "" if table.owner.snapshot is None else f" of snapshot {table.owner.snapshot}"
        return Finding(
            "l2-overwritten",
            Severity.CORRUPTION,
            f"The L2 table of L1[{int(table.l1_indices[number])}]{whose} at "
            f"{format_offset(host_offset)} was overwritten, or something else is there: "
            f"L2[{first}] to L2[{last}] hold "
            f"{format_count(int(self._words[index]), 'word')} that are no L2 entries. "
            f"{_guest_text(guest if has_guest else None)}",
            "L2 table",
            host_offset=host_offset + first * self._context.geometry.l2_entry_bytes,
            guest_start=guest[0] if has_guest else None,
            guest_end=guest[1] if has_guest else None,
            expected="L2 entries",
            spec="1.7",
            snapshot=table.owner.snapshot,
        )


def refcount_table_overwritten(stored: StoredRefcounts, table_offset: int) -> Finding | None:
    """That the refcount table was overwritten, or None.

    Args:
        stored: The refcount table.
        table_offset: Where it lies in the file.
    """
    if stored.overwritten_entries is None:
        return None
    entries = np.flatnonzero(stored.overwritten_entries)
    first, last = int(entries[0]), int(entries[-1])
    return Finding(
        "refcount-table-overwritten",
        Severity.CORRUPTION,
        f"The refcount table at {format_offset(table_offset)} was overwritten: its entries "
        f"{first:,} to {last:,} hold {format_count(len(entries), 'word')} that name no refcount "
        "block. No guest data is affected: refcounts can be counted anew.",
        "refcount table",
        host_offset=table_offset + first * ENTRY_BYTES,
        expected="offsets of refcount blocks",
        spec="1.10",
    )


def iter_blocks_overwritten(
    stored: StoredRefcounts, stretches: CountStretches
) -> Iterator[Finding]:
    """A finding for each overwritten stretch of a refcount block."""
    geometry = stored.geometry
    for stretch in stretches.stretches:
        entry, inside = divmod(stretch.first, geometry.refcounts_per_block)
        block_offset = int(stored.block_offsets[entry])
        yield Finding(
            "refcount-block-overwritten",
            Severity.CORRUPTION,
            f"Refcount block {entry:,} at {format_offset(block_offset)} was overwritten, or "
            "something else is there: for "
            f"{format_count(stretch.impossible, 'cluster')} from cluster {stretch.first:,} on it "
            "has numbers that no refcount reaches. No guest data is affected: refcounts can be "
            "counted anew.",
            "refcount block",
            host_offset=block_offset + inside * geometry.refcount_bits // 8,
            entry=entry,
            expected="refcounts",
            spec="1.10",
        )


def _guest_range(
    start: int, end: int, snapshot: int | None, context: RuleContext
) -> tuple[int, int] | None:
    """A guest range without what is behind the end of the active disk; None when that is all."""
    if snapshot is None and context.virtual_bytes is not None:
        end = min(end, context.virtual_bytes)
    return (start, end) if start < end else None


def _guest_text(guest: tuple[int, int] | None) -> str:
    if guest is None:
        return "No guest data is affected."
    start, end = guest
    return f"Where guest {format_offset(start)} to {format_offset(end)} lies is lost with it."
