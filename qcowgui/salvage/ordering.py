"""L2 tables without an L1 table: which part of the guest's disk each one maps.

Nothing in an L2 table says it. Exact are: an L1 table of a snapshot that names the table or an
earlier version of it, and file system structures that carry their own place. The rest is order:
tables are made in the order in which a guest first wrote, which for a converted or installed disk
is nearly that of the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from qcowgui.engine.work import CancelToken
from qcowgui.format.geometry import COPIED, Geometry
from qcowgui.format.tables import Words
from qcowgui.image.source import ByteSource
from qcowgui.salvage.ext_usage import ExtUsage
from qcowgui.salvage.guest_hints import (
    HEAD_BYTES,
    GuestMark,
    ext_hints,
    is_disk_start,
    read_hints,
    usual_ext_copies,
    volume_marks,
)
from qcowgui.salvage.scan import Indices
from qcowgui.salvage.tables import Flags, TableSet, iter_loaded
from qcowgui.units import format_count

ReadTable = Callable[[int, int, int], bytes]
"""Bytes that a table maps: its number, the offset in what it maps, the length."""

_MAX_PROBES: Final = 50_000
"""ours: reads of one structure at one place of one table; each may decode a cluster."""
_MAX_ROUNDS: Final = 8
_SAMPLED_ENTRIES: Final = 64
_MAX_COMPARED: Final = 1 << 24
"""ours: entries of tables, and of what may be in their places, that are compared at a time."""
_LEAST_COMPARED: Final = 16
_MAX_SLOTS: Final = 1 << 14
"""ours: places that a file system is asked about; 8 TiB of 64 KiB clusters."""
_LEAST_SHARE: Final = 0.5
_LEAST_MARGIN: Final = 0.1


@dataclass(frozen=True, slots=True)
class Placement:
    """Where tables belong.

    Attributes:
        l1: The number of the table at each L1 index; -1 for none.
        exact: How many were placed by evidence.
        guessed: How many were placed by their order alone.
        between: How many of the guessed ones fill the room between two exact ones exactly.
        by_usage: How many of the guessed ones fit what a file system calls used.
        guessed_at: The L1 indices of the guessed ones, ascending.
        left_over: Tables for which there was no room.
        notes: What was found, in sentences.
    """

    l1: Indices
    exact: int
    guessed: int
    between: int
    left_over: int
    notes: tuple[str, ...]
    by_usage: int = 0
    guessed_at: tuple[int, ...] = ()


def match_versions(
    source: ByteSource,
    tables: TableSet,
    unplaced: Indices,
    versions: Mapping[int, int],
    token: CancelToken,
) -> dict[int, int]:
    """Tables that are later versions of others: they name the same host clusters at the same place.

    Args:
        source: The damaged image.
        tables: The clusters that could be L2 tables.
        unplaced: Places in `tables` of those looked for.
        versions: Place in `tables` → L1 index, of tables that snapshots name.
        token: Stops the work.

    Returns:
        Place in `tables` → L1 index.

    Raises:
        Cancelled: When the token was set.
        SourceError: When the operating system refuses a read.
    """
    known = np.array(sorted(versions), dtype=np.int64)
    keys: list[Words] = []
    owners: list[Indices] = []
    for where, words, _ in iter_loaded(source, tables.clusters[known], tables.geometry, token):
        for place, row in zip(known[where].tolist(), words, strict=True):
            sampled = _keys(row, _SAMPLED_ENTRIES)
            keys.append(sampled)
            owners.append(np.full(len(sampled), versions[place], dtype=np.int64))
    if not keys:
        return {}
    all_keys, all_owners = np.concatenate(keys), np.concatenate(owners)
    order = np.argsort(all_keys, kind="stable")
    all_keys, all_owners = all_keys[order], all_owners[order]
    found: dict[int, int] = {}
    for where, words, _ in iter_loaded(source, tables.clusters[unplaced], tables.geometry, token):
        for place, row in zip(unplaced[where].tolist(), words, strict=True):
            wanted = _keys(row, len(row))
            spots = np.minimum(np.searchsorted(all_keys, wanted), len(all_keys) - 1)
            hits = all_owners[spots[all_keys[spots] == wanted]]
            if len(hits):
                values, counts = np.unique(hits, return_counts=True)
                found[place] = int(values[np.argmax(counts)])
    return found


def _keys(row: Words, most: int) -> Words:
    """Entries with their places folded in, up to `most` of them; equal for equal entries.

    A product and not a pair: it fits in a word, and two of them rarely meet by chance.
    """
    words = row & ~np.uint64(COPIED)
    used = np.flatnonzero(words > 1)
    used = used[:: max(1, len(used) // most)][:most]
    places = (used.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E37_79B9_7F4A_7C15)
    return words[used] ^ places


def best_matches(patterns: Flags, usages: Flags) -> list[tuple[int, int]]:
    """(row of `patterns`, row of `usages`) of those that fit each other best, and clearly.

    What counts is the share of clusters that both have, of those that either has.
    """
    left, right = patterns.astype(np.float32), usages.astype(np.float32)
    common = left @ right.T
    either = left.sum(axis=1)[:, np.newaxis] + right.sum(axis=1)[np.newaxis, :] - common
    scores = common / np.maximum(either, 1)
    found = []
    for row, column in enumerate(scores.argmax(axis=1).tolist()):
        score = scores[row, column]
        others = np.concatenate((np.delete(scores[row], column), np.delete(scores[:, column], row)))
        if score >= _LEAST_SHARE and score - max(others, default=0.0) >= _LEAST_MARGIN:
            found.append((row, column))
    return found


def place_tables(
    count: int,
    read: ReadTable,
    geometry: Geometry,
    *,
    fixed: Mapping[int, int],
    slots: int | None,
    token: CancelToken,
    patterns: Flags | None = None,
) -> Placement:
    """Give each of `count` tables, in the order in which a guest wrote them, an L1 index.

    Args:
        count: The tables.
        read: Reads what they map.
        geometry: The image's geometry.
        fixed: L1 index → table, where it is known.
        slots: L1 entries that the disk has, or None when that is not known.
        token: Stops the work.
        patterns: Which entries of each table hold data, one row a table; None: not known.

    Raises:
        Cancelled: When the token was set.
        SourceError: When the operating system refuses a read.
    """
    run = _Placing(count, read, geometry, dict(fixed), slots, token)
    run.find_start()
    for _ in range(_MAX_ROUNDS):
        found = run.find_marks()
        if patterns is not None:
            found |= run.match_usage(patterns)
        if not found:
            break
    return run.fill()


class _Placing:
    """One run of `place_tables`."""

    def __init__(
        self,
        count: int,
        read: ReadTable,
        geometry: Geometry,
        placed: dict[int, int],
        slots: int | None,
        token: CancelToken,
    ) -> None:
        self._count = count
        self._read = read
        self._geometry = geometry
        self._coverage = geometry.l1_coverage_bytes
        self._empty: set[int] = set()
        self._by_usage: set[int] = set()
        self._copy: tuple[int, bytes] | None = None
        self._placed = placed
        self._slots = slots
        self._token = token
        self._probes = 0
        self._tried: set[tuple[int, str]] = set()
        self._notes: list[str] = []
        self._labels: list[str] = []

    def _free_tables(self) -> list[int]:
        used = set(self._placed.values())
        return [table for table in range(self._count) if table not in used]

    def _probe(self, table: int, offset: int, length: int) -> bytes:
        """Bytes of a table, as long as there are not too many questions."""
        self._token.raise_if_cancelled()
        self._probes += 1
        return self._read(table, offset, length) if self._probes <= _MAX_PROBES else b""

    def find_start(self) -> None:
        """Find the table that maps guest offset 0."""
        if 0 in self._placed:
            return
        found = [
            table
            for table in self._free_tables()
            if is_disk_start(self._probe(table, 0, min(HEAD_BYTES, self._coverage)))
        ]
        if found:
            self._place(0, found[0], "the start of a disk")
        if len(found) > 1:
            self._notes.append(
                f"{len(found)} tables map something that looks like the start of a disk; the first "
                "in the file was taken, the others may be disks inside the disk."
            )

    def _place(self, index: int, table: int, label: str) -> None:
        self._placed[index] = table
        self._labels.append(label)

    def find_marks(self) -> bool:
        """Look for structures that the placed tables promise; whether any was found."""
        hints = read_hints(self._read_guest)
        marks = list(hints.marks)
        for start in hints.starts:
            marks += volume_marks(start)
        if 0 not in self._placed:
            marks += self._marks_without_start()
        found = False
        for mark in marks:
            index, offset = divmod(mark.guest_offset, self._coverage)
            key = mark.guest_offset, mark.label
            beyond = self._slots is not None and index >= self._slots
            if index in self._placed or beyond or key in self._tried:
                continue
            if self._probes > _MAX_PROBES:
                break
            self._tried.add(key)
            for table in self._free_tables():
                if mark.check(self._probe(table, offset, mark.length)):
                    self._place(index, table, mark.label)
                    found = True
                    break
        return found

    def _marks_without_start(self) -> list[GuestMark]:
        """What copies of a superblock promise, on a disk whose first table is lost."""
        for start, mark in usual_ext_copies():
            if self._copy is not None or self._probes > _MAX_PROBES:
                break
            index, offset = divmod(mark.guest_offset, self._coverage)
            if index in self._placed:
                data = self._read_guest(mark.guest_offset, mark.length)
                self._copy = (start, data) if mark.check(data) else None
                continue
            if self._slots is not None and index >= self._slots:
                continue
            for table in self._free_tables():
                data = self._probe(table, offset, mark.length)
                if mark.check(data):
                    self._copy = start, data
                    self._place(index, table, mark.label)
                    break
        return [] if self._copy is None else ext_hints(*self._copy).marks

    def match_usage(self, patterns: Flags) -> bool:
        """Compare tables with what a file system says is in use; whether any found its place."""
        free = self._free_tables()
        usages: dict[int, Flags] = {}
        for start, superblock in read_hints(self._read_guest).ext_volumes:
            usage = ExtUsage(superblock, start, self._read_guest)
            if usage.readable:
                usages |= self._usages(usage, len(free))
        self._empty = {index for index, used in usages.items() if not used.any()}
        wanted = [index for index in usages if index not in self._empty]
        if not free or not wanted:
            return False
        matches = best_matches(patterns[free], np.array([usages[index] for index in wanted]))
        for row, column in matches:
            self._placed[wanted[column]] = free[row]
            self._by_usage.add(wanted[column])
        return bool(matches)

    def _usages(self, usage: ExtUsage, tables: int) -> dict[int, Flags]:
        """What is in use in the ranges without a table, for as many as can be compared."""
        found: dict[int, Flags] = {}
        slots = self._slots if self._slots is not None else _MAX_SLOTS
        most = _MAX_COMPARED // (self._geometry.l2_entries * max(1, tables)) + 1
        for index in range(min(slots, _MAX_SLOTS)):
            self._token.raise_if_cancelled()
            if index in self._placed or len(found) >= max(most, _LEAST_COMPARED):
                continue
            used = usage.used_clusters(index, self._geometry)
            if used is not None:
                found[index] = used
            elif usage.ends_before(index, self._geometry):
                break
        return found

    def _read_guest(self, offset: int, length: int) -> bytes:
        """Guest bytes through the tables placed so far, up to the first that is not."""
        parts: list[bytes] = []
        while length > 0:
            index, inside = divmod(offset, self._coverage)
            table = self._placed.get(index)
            if table is None:
                break
            part = self._read(table, inside, min(length, self._coverage - inside))
            if not part:
                break
            parts.append(part)
            offset, length = offset + len(part), length - len(part)
        return b"".join(parts)

    def fill(self) -> Placement:
        """Put the tables that are left between those placed, by the order in the file."""
        exact = set(self._placed) - self._by_usage
        by_table = {table: index for index, table in self._placed.items()}
        between = sum(1 for _ in self._determined(by_table))
        index, left_over = -1, 0
        for table in range(self._count):
            if table in by_table:
                index = by_table[table]
                continue
            found = self._next_free(index + 1)
            if found < 0:
                found = self._next_free(0)
            if found < 0:
                self._empty = set()  # better there than nowhere
                found = self._next_free(0)
            if found < 0:
                left_over += 1
                continue
            index = found
            self._placed[index] = table
        size = max([*self._placed, (self._slots or 0) - 1], default=-1) + 1
        l1 = np.full(size, -1, dtype=np.int64)
        for place, table in self._placed.items():
            l1[place] = table
        if self._labels:
            shown = ", ".join(self._labels[:6]) + (" and more" if len(self._labels) > 6 else "")
            self._notes.append(
                f"{format_count(len(self._labels), 'table')} placed by what they map: {shown}."
            )
        if self._by_usage:
            self._notes.append(
                f"{format_count(len(self._by_usage), 'table')} placed by the blocks that the file "
                "system calls used: likely, but no proof."
            )
        if self._probes > _MAX_PROBES:
            self._notes.append("Not every table was tried at every place: there are too many.")
        return Placement(
            l1,
            len(exact),
            len(self._placed) - len(exact),
            between,
            left_over,
            tuple(self._notes),
            by_usage=len(self._by_usage),
            guessed_at=tuple(sorted(set(self._placed) - exact)),
        )

    def _next_free(self, start: int) -> int:
        """The first index from `start` on without a table, or -1."""
        index = start
        while index in self._placed or index in self._empty:
            index += 1
        return -1 if self._slots is not None and index >= self._slots else index

    def _determined(self, by_table: Mapping[int, int]) -> Iterator[int]:
        """Tables that fill the room between two placed ones exactly, if the order is the disk's."""
        edges = sorted(by_table)
        ends = [*edges, self._count] if self._slots is not None else edges
        for left, right in zip([-1, *edges], ends, strict=False):
            low = by_table[left] if left >= 0 else -1
            high = by_table.get(right, self._slots if self._slots is not None else -1)
            empty = sum(low < index < high for index in self._empty)
            if high - low - empty == right - left:
                yield from range(left + 1, right)
