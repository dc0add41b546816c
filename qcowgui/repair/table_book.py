"""The fixes of all L1 and L2 tables of an image, and the byte edits that they come to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from qcowgui.format.geometry import ENTRY_BYTES, Geometry
from qcowgui.format.tables import Words, parse_words
from qcowgui.image.patched import Content, Deferred, Edit
from qcowgui.image.source import ByteSource
from qcowgui.repair.entry_fixes import (
    Fix,
    Fixes,
    TableFixes,
    fixed_bitmaps,
    fixed_words,
    reasons_for,
)

MAX_RUNS: Final = 64
"""Edits of one table. Where more would be needed, one edit spans them all: a hostile image may have
every second entry broken, in thousands of tables."""
_KEPT_BYTES: Final = 4096
"""Longer edits are made from the source when they are asked for."""


class TablePlace(NamedTuple):
    """Which table it is.

    Attributes:
        host_offset: Where it lies.
        is_l1: Whether it is an L1 table.
        snapshot: Index of the snapshot whose table it is; None for the active disk.
        l1_index: Of an L2 table, the first L1 entry that names it; else 0.
    """

    host_offset: int
    is_l1: bool
    snapshot: int | None
    l1_index: int


class GuestRange(NamedTuple):
    """Guest bytes that edited entries map.

    Attributes:
        snapshot: Index of the snapshot, or None for the active disk.
        start: First byte.
        end: End (exclusive).
    """

    snapshot: int | None
    start: int
    end: int


class TableBook:
    """Collects the fixes of one image's tables. For one thread."""

    def __init__(self, source: ByteSource, geometry: Geometry) -> None:
        """A book without fixes.

        Args:
            source: The image as it is, which the edits are made from.
            geometry: Its geometry.
        """
        self._source = source
        self._geometry = geometry
        self._tables: dict[int, TableFixes] = {}

    def __len__(self) -> int:
        """How many tables have fixes."""
        return len(self._tables)

    def add(self, place: TablePlace, fixes: Fixes) -> None:
        """Add fixes, one element an entry, to those that the table has already."""
        known = self._tables.get(place.host_offset)
        if known is None:
            self._tables[place.host_offset] = TableFixes(*place, fixes.copy(), {})
        else:
            known.fixes[: len(fixes)] |= fixes

    def add_sectors(self, place: TablePlace, index: int, word: int) -> None:
        """Give a compressed entry the descriptor `word`, which differs in the sector count only."""
        if place.host_offset not in self._tables:
            entries = self._geometry.l2_entries
            self.add(place, np.zeros(entries, dtype=np.uint16))
        table = self._tables[place.host_offset]
        table.fixes[index] |= np.uint16(Fix.SECTORS)
        table.sector_words[index] = word

    def counts(self) -> dict[str, int]:
        """How many entries are edited for each finding code; an entry may count for several."""
        counts: dict[str, int] = {}
        for table in self._tables.values():
            content = _TableContent(self._source, self._geometry, table)
            changed = content.changed
            words, fixed = content.words, content.fixed
            keys = table.fixes[changed]
            for key in np.unique(keys).tolist():
                alike = changed[keys == key]
                first = int(alike[0])
                # Entries with the same fixes may still differ in the code (compressed or not).
                for reason in reasons_for(key, table, int(words[first]), int(fixed[first])):
                    counts[reason.code] = counts.get(reason.code, 0) + len(alike)
        return counts

    def guest_ranges(self) -> list[GuestRange]:
        """What the edited entries map: for each table one range, from the first to the last."""
        geometry = self._geometry
        ranges = []
        for table in self._tables.values():
            changed = table.changed
            if not len(changed):
                continue
            first, last = int(changed[0]), int(changed[-1])
            if table.is_l1:
                start, end = geometry.guest_offset(first), geometry.guest_offset(last + 1)
            else:
                start = geometry.guest_offset(table.l1_index, first)
                end = geometry.guest_offset(table.l1_index, last) + geometry.cluster_bytes
            ranges.append(GuestRange(table.snapshot, start, end))
        return ranges

    def payload_ranges(self) -> list[GuestRange]:
        """The compressed clusters whose descriptor gets another sector count."""
        geometry = self._geometry
        ranges = []
        for table in self._tables.values():
            for index in table.sector_words:
                start = geometry.guest_offset(table.l1_index, index)
                ranges.append(GuestRange(table.snapshot, start, start + geometry.cluster_bytes))
        return ranges

    def has(self, fix: Fix) -> bool:
        """Whether some entry has a fix."""
        return any((table.fixes & np.uint16(fix)).any() for table in self._tables.values())

    def iter_edits(self) -> Iterator[Edit]:
        """The edits, by ascending offset.

        Raises:
            SourceError: When the operating system refuses a read.
        """
        for offset in sorted(self._tables):
            content = _TableContent(self._source, self._geometry, self._tables[offset])
            yield from content.iter_edits()


class _TableContent:
    """The entries of one table before and after."""

    def __init__(self, source: ByteSource, geometry: Geometry, table: TableFixes) -> None:
        self._source = source
        self._geometry = geometry
        self._table = table
        self._entry_bytes = ENTRY_BYTES if table.is_l1 else geometry.l2_entry_bytes
        self._before = source.read_at(table.host_offset, len(table.fixes) * self._entry_bytes)
        whole = len(self._before) - len(self._before) % self._entry_bytes
        self._before = self._before[:whole]
        self._after = _fixed_bytes(self._before, table, 0, geometry)

    @property
    def words(self) -> Words:
        """The first (or only) words as they are."""
        return parse_words(self._before)[:: self._entry_bytes // ENTRY_BYTES]

    @property
    def fixed(self) -> Words:
        """What they become."""
        return parse_words(self._after)[:: self._entry_bytes // ENTRY_BYTES]

    @property
    def changed(self) -> npt.NDArray[np.intp]:
        """The indices of the entries that become something else."""
        shape = (-1, self._entry_bytes)
        before = np.frombuffer(self._before, np.uint8).reshape(shape)
        after = np.frombuffer(self._after, np.uint8).reshape(shape)
        return np.flatnonzero((before != after).any(axis=1))

    def iter_edits(self) -> Iterator[Edit]:
        changed = self.changed
        if not len(changed):
            return
        keys = self._table.fixes[changed]
        breaks = np.flatnonzero((np.diff(changed) != 1) | (np.diff(keys) != 0)) + 1
        if len(breaks) >= MAX_RUNS:
            yield self._edit(int(changed[0]), int(changed[-1]) + 1, len(changed))
            return
        for run in np.split(changed, breaks):
            yield self._edit(int(run[0]), int(run[-1]) + 1, len(run))

    def _edit(self, first: int, last: int, changed: int) -> Edit:
        """The edit of the entries [first, last), of which `changed` become something else."""
        start, end = first * self._entry_bytes, last * self._entry_bytes
        if self._entry_bytes > ENTRY_BYTES:
            # Of an extended entry often one of the two words stays as it is.
            if self._same(start):
                start += ENTRY_BYTES
            if self._same(end - ENTRY_BYTES):
                end -= ENTRY_BYTES
        code, why = self._reason(first, last, changed)
        offset = self._table.host_offset + start
        before: Content = self._before[start:end]
        after: Content = self._after[start:end]
        if end - start > _KEPT_BYTES:
            before = Deferred.of_source(self._source, offset, end - start)
            after = Deferred(end - start, self._maker(start))
        return Edit(offset, before, after, why, code)

    def _same(self, start: int) -> bool:
        part = slice(start, start + ENTRY_BYTES)
        return self._before[part] == self._after[part]

    def _maker(self, start: int) -> Callable[[int, int], bytes]:
        """Make parts of what stands from byte `start` of the table on, without keeping it."""
        source, table, geometry = self._source, self._table, self._geometry
        entry_bytes = self._entry_bytes

        def make(offset: int, length: int) -> bytes:
            first = (start + offset) // entry_bytes
            last = -(-(start + offset + length) // entry_bytes)
            before = source.read_at(
                table.host_offset + first * entry_bytes, (last - first) * entry_bytes
            )
            skipped = start + offset - first * entry_bytes
            return _fixed_bytes(before, table, first, geometry)[skipped : skipped + length]

        return make

    def _reason(self, first: int, last: int, changed: int) -> tuple[str, str]:
        """The finding code of an edit, and its sentence."""
        table = self._table
        part = table.fixes[first:last]
        fixes = int(np.bitwise_or.reduce(part))
        shown = first + int(np.flatnonzero(part)[0])
        word, fixed_word = int(self.words[shown]), int(self.fixed[shown])
        reasons = reasons_for(fixes, table, word, fixed_word)
        name = f"L1[{first}]" if table.is_l1 else f"L1[{table.l1_index}]/L2[{first}]"
        if last - first > 1:
            kind = "L1" if table.is_l1 else "L2"
            name += f" to {kind}[{last - 1}] ({changed:,} entries)"
        owner = "" if table.snapshot is None else f" of snapshot {table.snapshot}"
        what = "; ".join(reason.text for reason in reasons)
        return reasons[0].code, f"{name}{owner}: {what}."


def _fixed_bytes(before: bytes, table: TableFixes, first: int, geometry: Geometry) -> bytes:
    """What the entries in `before`, from entry `first` of the table on, become."""
    words = parse_words(before)
    if table.is_l1 or not geometry.extended_l2:
        return fixed_words(words, table, first, geometry).astype(">u8").tobytes()
    fixed = np.empty_like(words)
    fixed[0::2] = fixed_words(words[0::2], table, first, geometry)
    fixed[1::2] = fixed_bitmaps(words[1::2], table, first)
    return fixed.astype(">u8").tobytes()
