"""The guest → host mapping of one L1 table, decoded window by window.

A window is a run of L2 entries that are loaded and classified together: one whole L2 table, or,
where tables are small, as many neighbours as make 8,192 entries (2026-11-30: with 512-byte clusters
a table has 64 entries and costs as much to set up as one of 8,192).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from qcowgui.errors import CorruptError, ImageError, TruncatedError
from qcowgui.format import limits
from qcowgui.format.entries import ClusterKind, L1Entry, L2Entry
from qcowgui.format.geometry import ENTRY_BYTES, OFFSET_MASK, Geometry
from qcowgui.format.tables import (
    L2View,
    decode_l2,
    l2_table_offsets,
    parse_words,
)
from qcowgui.image.source import ByteSource
from qcowgui.units import align_down, ceil_div, format_offset

_WINDOW_ENTRIES: Final = 8192
_L1_STEP_ENTRIES: Final = 1 << 16
_CACHED_ENTRIES: Final = 8 * _WINDOW_ENTRIES
"""Decoded entries kept, 21 bytes each; but two windows at the least, however large they are."""


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a guest range that lies in one window, or in a run of windows with nothing.

    Attributes:
        start: First guest byte.
        end: End (exclusive).
        view: The entries of exactly the clusters that [start, end) touches; None: unallocated.
        first_cluster: The guest cluster of the view's first entry.
        missing: Whether the L1 table's own entries for it lie beyond the end of the file.
    """

    start: int
    end: int
    view: L2View | None
    first_cluster: int
    missing: bool = False


class GuestMapping:
    """Answers which host bytes hold which guest bytes, for one L1 table of one image.

    Thread-safe. Memory: the L1 table (at most 32 MiB) and a few windows.
    """

    def __init__(
        self,
        source: ByteSource,
        geometry: Geometry,
        *,
        version: int,
        l1_table_offset: int,
        l1_size: int,
        virtual_bytes: int,
        has_data_file: bool = False,
    ) -> None:
        """Load the L1 table.

        Args:
            source: The image file.
            geometry: Its geometry.
            version: 2 or 3.
            l1_table_offset: Host offset of the L1 table.
            l1_size: Its entries; only those that `virtual_bytes` needs are loaded.
            virtual_bytes: Size of the guest's disk.
            has_data_file: Whether host offsets are those of an external data file.
        """
        self.geometry = geometry
        self.virtual_bytes = virtual_bytes
        self._source = source
        self._version = version
        self._has_data_file = has_data_file
        self._l1_table_offset = l1_table_offset
        self.l1_entries_needed = geometry.l1_entries_needed(virtual_bytes)
        loaded = min(l1_size, self.l1_entries_needed, limits.MAX_L1_BYTES // ENTRY_BYTES)
        # Read in place: 4 million entries, copied on the way, are more memory than all the rest.
        stored_bytes = max(0, source.size_bytes - l1_table_offset)
        buffer = bytearray(min(loaded * ENTRY_BYTES, stored_bytes))
        found = source.read_into(l1_table_offset, memoryview(buffer))
        self.l1_words = parse_words(memoryview(buffer)[:found])
        self._tables_per_window = max(1, _WINDOW_ENTRIES // geometry.l2_entries)
        self.window_clusters = self._tables_per_window * geometry.l2_entries
        self.window_bytes = self.window_clusters * geometry.cluster_bytes
        self._cached_windows = max(2, _CACHED_ENTRIES // self.window_clusters)
        self._used_windows = self._find_used_windows()
        # Behind this the L1 table itself is missing, if anywhere.
        self._mapped_bytes = min(len(self.l1_words) * geometry.l1_coverage_bytes, virtual_bytes)
        self._cache: OrderedDict[int, L2View] = OrderedDict()
        self._lock = threading.Lock()

    def _find_used_windows(self) -> bytes:
        """One byte a window: 1 where an L1 entry names a table. An L1 table may have 4 million."""
        per_window = self._tables_per_window
        used = bytearray(ceil_div(len(self.l1_words), per_window))
        step = per_window * max(1, _L1_STEP_ENTRIES // per_window)
        for first in range(0, len(self.l1_words), step):
            words = self.l1_words[first : first + step]
            has_table = (words & np.uint64(OFFSET_MASK)) != 0
            starts = np.arange(0, len(words), per_window)
            flags = np.logical_or.reduceat(has_table, starts).astype(np.uint8)
            used[first // per_window : first // per_window + len(flags)] = flags.tobytes()
        return bytes(used)

    @property
    def l2_table_count(self) -> int:
        """How many L2 tables the L1 table names, each reference counted."""
        return int(np.count_nonzero(l2_table_offsets(self.l1_words)))

    def iter_spans(self, start: int, end: int) -> Iterator[Span]:
        """The guest range [start, end) in pieces, in order; `end` is at most `virtual_bytes`.

        Windows without any L2 table are joined to one span without a view, and so is all that the
        missing part of the L1 table would map.
        """
        end = min(end, self.virtual_bytes)
        mapped_end = min(end, self._mapped_bytes)
        while start < mapped_end:
            window = start // self.window_bytes
            next_used = self._next_used_window(window, mapped_end)
            if next_used != window:
                stop = min(mapped_end, next_used * self.window_bytes)
                yield Span(start, stop, None, start // self.geometry.cluster_bytes)
                start = stop
                continue
            stop = min(mapped_end, (window + 1) * self.window_bytes)
            yield self._span(window, start, stop)
            start = stop
        if start < end:
            first_cluster = start // self.geometry.cluster_bytes
            yield Span(start, end, None, first_cluster, missing=True)

    def _next_used_window(self, window: int, end: int) -> int:
        """The first window from `window` on with an L2 table, or the one behind guest byte `end`.

        It looks no further: who asks for one piece of a huge empty disk after the other would
        search all that is behind it each time.
        """
        last = ceil_div(end, self.window_bytes)
        found = self._used_windows.find(1, window, last)
        return found if found >= 0 else last

    def _span(self, window: int, start: int, end: int) -> Span:
        cluster_bytes = self.geometry.cluster_bytes
        base = window * self.window_clusters
        first = start // cluster_bytes - base
        last = ceil_div(end, cluster_bytes) - base
        view = self._window(window)
        part = slice(first, last)
        if first or last != len(view):
            view = L2View(
                view.kinds[part],
                view.host_offsets[part],
                view.payload_bytes[part],
                view.words[part],
                None if view.bitmaps is None else view.bitmaps[part],
            )
        return Span(start, end, view, base + first)

    def _window(self, window: int) -> L2View:
        with self._lock:
            view = self._cache.get(window)
            if view is not None:
                self._cache.move_to_end(window)
                return view
        # Loaded outside the lock: two threads may do it twice, none waits for the other's disk.
        view = self._load_window(window)
        with self._lock:
            self._cache[window] = view
            while len(self._cache) > self._cached_windows:
                self._cache.popitem(last=False)
        return view

    def _load_window(self, window: int) -> L2View:
        geometry = self.geometry
        first_table = window * self._tables_per_window
        last_table = min(first_table + self._tables_per_window, len(self.l1_words))
        tables = last_table - first_table
        table_bytes = geometry.cluster_bytes
        data = bytearray(tables * table_bytes)
        available = self._read_tables(first_table, tables, memoryview(data))
        words = parse_words(data)
        bitmaps = None
        if geometry.extended_l2:
            words, bitmaps = np.ascontiguousarray(words[0::2]), np.ascontiguousarray(words[1::2])
        view = decode_l2(
            words,
            bitmaps,
            geometry,
            version=self._version,
            data_file_guest_offset=(
                first_table * geometry.l1_coverage_bytes if self._has_data_file else None
            ),
        )
        entries = geometry.l2_entries
        for table, found_bytes in available:
            first_missing = table * entries + found_bytes // geometry.l2_entry_bytes
            view.kinds[first_missing : (table + 1) * entries] = ClusterKind.MISSING
        return view

    def _read_tables(
        self, first_table: int, tables: int, buffer: memoryview
    ) -> list[tuple[int, int]]:
        """Read L2 tables into `buffer`; (table, bytes found) of those that are not whole."""
        table_bytes = self.geometry.cluster_bytes
        incomplete = []
        for table in range(tables):
            index = first_table + table
            offset = L1Entry(int(self.l1_words[index])).l2_table_offset
            if not offset:
                continue
            if not self.geometry.is_aligned(offset):
                incomplete.append((table, 0))
                continue
            part = buffer[table * table_bytes : (table + 1) * table_bytes]
            found = self._source.read_into(offset, part)
            if found < table_bytes:
                incomplete.append((table, found))
        return incomplete

    def l1_entry(self, l1_index: int) -> L1Entry | None:
        """An L1 entry, or None when it lies beyond the end of the file or of the table."""
        if l1_index >= len(self.l1_words):
            return None
        return L1Entry(int(self.l1_words[l1_index]))

    def l2_entry(self, guest_offset: int) -> L2Entry:
        """The L2 entry that maps `guest_offset`; all zero where no table exists."""
        span = next(self.iter_spans(guest_offset, guest_offset + 1))
        if span.view is None:
            return L2Entry(0, 0, self.geometry)
        bitmap = 0 if span.view.bitmaps is None else int(span.view.bitmaps[0])
        return L2Entry(int(span.view.words[0]), bitmap, self.geometry)

    def error_at(self, guest_offset: int) -> ImageError:
        """Why the entry that maps `guest_offset` can't be used: its kind is INVALID or MISSING."""
        geometry = self.geometry
        guest_offset = align_down(guest_offset, geometry.cluster_bytes)
        index = geometry.l1_index(guest_offset)
        name = self._source.name
        where = f"guest offset {format_offset(guest_offset)}"
        l1_entry = self.l1_entry(index)
        if l1_entry is None:
            return self._truncated(
                where,
                f"L1[{index}]",
                guest_offset,
                self._l1_table_offset + index * ENTRY_BYTES,
                ENTRY_BYTES,
            )
        if not geometry.is_aligned(l1_entry.l2_table_offset):
            return CorruptError(
                f"{where} can't be read: L1[{index}] points to an L2 table at "
                f"{format_offset(l1_entry.l2_table_offset)}, which is no cluster boundary",
                path=name,
                guest_offset=guest_offset,
            )
        l2_index = geometry.l2_index(guest_offset)
        label = f"L1[{index}]/L2[{l2_index}]"
        offset = l1_entry.l2_table_offset + l2_index * geometry.l2_entry_bytes
        if offset + geometry.l2_entry_bytes > self._source.size_bytes:
            return self._truncated(where, label, guest_offset, offset, geometry.l2_entry_bytes)
        entry = self.l2_entry(guest_offset)
        why = self._why_invalid(entry, guest_offset)
        return CorruptError(
            f"{where} can't be read: {label} is {entry.word:#018x}, {why}",
            path=name,
            guest_offset=guest_offset,
        )

    def _truncated(
        self, where: str, entry: str, guest_offset: int, offset: int, entry_bytes: int
    ) -> TruncatedError:
        file_bytes = self._source.size_bytes
        return TruncatedError(
            f"{where} can't be read: {entry} lies beyond the end of the file "
            f"({format_offset(file_bytes)}), at {format_offset(offset)}",
            path=self._source.name,
            guest_offset=guest_offset,
            needed_offset=offset + entry_bytes,
            file_bytes=file_bytes,
            hint="the file is cut short; salvage reads what is there and zeros for the rest",
        )

    def _why_invalid(self, entry: L2Entry, guest_offset: int) -> str:
        if entry.is_compressed:
            return "a compressed cluster in an image with an external data file"
        if self._version < 3 and entry.reads_zero:
            return "with the zero flag, which version 2 does not have"
        if not self.geometry.is_aligned(entry.host_offset):
            return f"whose host offset {format_offset(entry.host_offset)} is no cluster boundary"
        if self._has_data_file and entry.host_offset != guest_offset:
            return "whose host offset differs from the guest offset, as none may in a data file"
        if self.geometry.extended_l2 and (entry.bitmap or entry.host_offset):
            return f"with the impossible subcluster bitmap {entry.bitmap:#018x}"
        return "an allocated cluster at offset 0, where the header is"
