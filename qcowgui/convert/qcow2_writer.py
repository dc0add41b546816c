"""Writes a qcow2 target: workers encode, one committer at a time places clusters in batch order.

Placing is quick and happens under a lock; the data itself is written outside of it. Because places
are given in batch order, the file has the same bytes whatever the number of workers.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from qcowgui.codec.cluster import Buffer
from qcowgui.convert.encode import EncodedBatch
from qcowgui.convert.host_layout import HostLayout
from qcowgui.convert.options import DEFAULT_SPARSE_BYTES, ConvertOptions
from qcowgui.convert.output import OutputFile
from qcowgui.convert.qcow2_header import DirectoryPlace, TablePlaces, build_first_cluster
from qcowgui.convert.raw_writer import RunWriter
from qcowgui.convert.zeros import is_zero
from qcowgui.engine.work import CancelToken
from qcowgui.format.geometry import COPIED, ENTRY_BYTES, READS_ZERO, SUBCLUSTERS, Geometry
from qcowgui.units import align_up

if TYPE_CHECKING:
    from qcowgui.convert.carried_bitmaps import BitmapSource

_POLL_SECONDS: Final = 0.1
_ALL_SUBCLUSTERS: Final = (1 << SUBCLUSTERS) - 1

_Writes = list[tuple[int, Buffer]]
"""(host offset, bytes) to write."""


class Qcow2Writer:
    """A qcow2 target."""

    def __init__(
        self,
        output: OutputFile,
        options: ConvertOptions,
        *,
        virtual_bytes: int,
        workers: int,
        bitmaps: BitmapSource | None = None,
    ) -> None:
        """Reserve the header and the L1 table at the front of the file.

        Args:
            output: A fresh file.
            options: Validated options with a qcow2 target.
            virtual_bytes: Size of the virtual disk.
            workers: How many threads call `write`; bounds the batches that wait for their turn.
            bitmaps: The persistent bitmaps that the file gets.

        Raises:
            OptionsError: When the backing file's name does not fit.
        """
        self._output = output
        self._options = options
        self._virtual_bytes = virtual_bytes
        self.geometry = Geometry(options.cluster_bits, options.extended_l2, options.refcount_order)
        self._version_2 = options.compat == "0.10"
        self._layout = HostLayout(self.geometry, output.write_at)
        self._layout.allocate_clusters(1)
        l1_size = max(1, self.geometry.l1_entries_needed(virtual_bytes))
        self._l1 = np.zeros(l1_size, dtype=">u8")
        self._l1_offset = self._layout.allocate_clusters(
            self.geometry.clusters(l1_size * ENTRY_BYTES)
        )
        self._bitmaps = bitmaps if bitmaps is not None and bitmaps.carried.kept else None
        # Fails early when the name is too long; written again, with real places, at the end.
        self._first_cluster(0, 1, DirectoryPlace(0, 0, 0) if self._bitmaps is not None else None)
        # With preallocation: the guest clusters that have their places.
        self._preallocates = options.preallocation != "off"
        self._placed_clusters = 0
        self._table_index = -1
        self._open_words(0)
        self._next_batch = 0
        self._waiting: dict[int, EncodedBatch] = {}
        self._max_waiting = 2 * workers
        self._turn = threading.Condition()

    def write(self, batch: EncodedBatch, token: CancelToken) -> None:
        """Place and write a batch; batches may come in any order, each once. Thread-safe.

        Blocks while too many batches wait for an earlier one, so that memory stays bounded.

        Raises:
            Cancelled: When the token was set while waiting.
            OutputError: When the file can't be written.
        """
        with self._turn:
            first = batch.number == self._next_batch
        if not first:
            batch.detach()
        with self._turn:
            while batch.number > self._next_batch + self._max_waiting:
                self._turn.wait(_POLL_SECONDS)
                token.raise_if_cancelled()
            self._waiting[batch.number] = batch
            placed = self._place_ready(token)
        for writes in placed:
            self._write_data(writes)

    def _place_ready(self, token: CancelToken) -> list[_Writes]:
        placed = []
        while (ready := self._waiting.pop(self._next_batch, None)) is not None:
            if self._preallocates:
                placed.append(self._place_all(ready.end_cluster, ready.plain, token))
            else:
                placed.append(self._place(ready))
            self._next_batch += 1
            self._turn.notify_all()
        return placed

    def _place(self, batch: EncodedBatch) -> _Writes:
        """Give every cluster of a batch its place, and enter it in the tables."""
        writes: _Writes = []
        entries: list[tuple[int, int, int]] = []
        for number, payload in batch.compressed:
            offset = self._layout.allocate_payload(len(payload))
            writes.append((offset, payload))
            word = self.geometry.compressed_descriptor(offset, len(payload))
            entries.append((number, word, 0))
        zero_in_place = self._version_2
        plain = batch.plain
        if batch.zero and zero_in_place:
            # Version 2 has no zero flag: over a backing file, zeros are stored as data.
            zeros = bytes(self.geometry.cluster_bytes)
            plain = sorted(plain + [(number, zeros) for number in batch.zero], key=_number)
        else:
            entries += [(number, *self._zero_entry()) for number in batch.zero]
        if plain:
            offset = self._layout.allocate_clusters(len(plain))
            for number, data in plain:
                writes.append((offset, data))
                entries.append((number, COPIED | offset, self._subclusters(data)))
                offset += self.geometry.cluster_bytes
        entries.sort()
        self._enter(entries)
        self._close_tables_before(batch.end_cluster >> self.geometry.l2_bits)
        self._layout.write_final_blocks()
        return writes

    def _place_all(
        self, end_cluster: int, plain: Sequence[tuple[int, Buffer]], token: CancelToken
    ) -> _Writes:
        """Give every guest cluster before `end_cluster` a place, whether anything is stored or not.

        Args:
            end_cluster: The first guest cluster that is not concerned.
            plain: Those with content, by their numbers.
            token: Stops it.
        """
        writes: _Writes = []
        stored = iter(sorted(plain, key=_number))
        number, data = next(stored, (end_cluster, b""))
        size, per_table = self.geometry.cluster_bytes, self.geometry.l2_entries
        words_per_entry = self.geometry.l2_entry_bytes // ENTRY_BYTES
        while (first := self._placed_clusters) < end_cluster:
            token.raise_if_cancelled()
            last = min(end_cluster, first - first % per_table + per_table)
            self._open_table(first >> self.geometry.l2_bits)
            offset = self._layout.allocate_clusters(last - first)
            places = np.arange(last - first, dtype=np.uint64) * np.uint64(size)
            start = first % per_table * words_per_entry
            stop = start + (last - first) * words_per_entry
            self._table[start:stop:words_per_entry] = places + np.uint64(COPIED | offset)
            while number < last:
                writes.append((offset + (number - first) * size, data))
                if self.geometry.extended_l2:
                    # Without content, no subcluster is: a place alone.
                    self._table[number % per_table * 2 + 1] = self._subclusters(data)
                number, data = next(stored, (end_cluster, b""))
            self._placed_clusters = last
            self._close_tables_before(last >> self.geometry.l2_bits)
            self._layout.write_final_blocks()
        return writes

    def _zero_entry(self) -> tuple[int, int]:
        if self.geometry.extended_l2:
            return 0, _ALL_SUBCLUSTERS << SUBCLUSTERS
        return READS_ZERO, 0

    def _subclusters(self, data: Buffer) -> int:
        """The subcluster bitmap of a plain cluster: all-zero ones need no data. Spec: 1.8"""
        if not self.geometry.extended_l2:
            return 0
        size = self.geometry.subcluster_bytes
        view = memoryview(data)
        allocated = sum(
            1 << index
            for index in range(SUBCLUSTERS)
            if not is_zero(view[index * size : (index + 1) * size])
        )
        if self._options.backing_file is None:
            return allocated
        return allocated | (allocated ^ _ALL_SUBCLUSTERS) << SUBCLUSTERS

    def _enter(self, entries: Sequence[tuple[int, int, int]]) -> None:
        """Enter (guest cluster, word, subcluster bitmap) in the tables, in the guest's order."""
        l2_bits, index_mask = self.geometry.l2_bits, self.geometry.l2_entries - 1
        extended = self.geometry.extended_l2
        for number, word, bitmap in entries:
            if number >> l2_bits != self._table_index:
                self._open_table(number >> l2_bits)
            index = number & index_mask
            if extended:
                self._cells[2 * index] = word
                self._cells[2 * index + 1] = bitmap
            else:
                self._cells[index] = word

    def _open_table(self, table: int) -> None:
        """Begin an L2 table, unless it is the open one."""
        if table != self._table_index:
            self._close_tables_before(table)
            self._table_index = table
            self._open_words(self.geometry.cluster_bytes // ENTRY_BYTES)

    def _open_words(self, count: int) -> None:
        # In the machine's byte order as long as it is filled: then one entry is quickly set.
        self._table = np.zeros(count, dtype=np.uint64)
        self._cells = self._table.data

    def _close_tables_before(self, table: int) -> None:
        """Write the open L2 table when nothing more can belong to it."""
        if 0 <= self._table_index < table:
            offset = self._layout.allocate_clusters(1)
            self._output.write_at(offset, self._table.astype(">u8").tobytes())
            self._l1[self._table_index] = COPIED | offset
            self._table_index = -1

    def _write_data(self, writes: _Writes) -> None:
        """Write payloads as they are, and plain clusters without their zeros: the file is fresh."""
        cluster_bytes = self.geometry.cluster_bytes
        payloads = RunWriter(self._output, 0)
        plain = RunWriter(self._output, DEFAULT_SPARSE_BYTES)  # preallocated space is zeros, too
        for offset, data in writes:
            # A payload is always shorter than a cluster.
            (plain if len(data) == cluster_bytes else payloads).add(offset, data)
        payloads.flush()
        plain.flush()

    def finish(self, token: CancelToken | None = None) -> None:
        """Write the tables and, last, the header. All batches have been written.

        Args:
            token: Stops it: preallocation may have most of its work left.

        Raises:
            OutputError: When the file can't be written.
            SourceError: When the source's bitmaps can't be read.
            Cancelled: When the token was set.
        """
        if self._preallocates:
            self._place_all(self.geometry.clusters(self._virtual_bytes), (), token or CancelToken())
        self._close_tables_before(len(self._l1))
        directory = self._write_bitmaps()
        table_offset, table_clusters = self._layout.finish()
        self._output.write_at(self._l1_offset, self._l1.tobytes())
        self._output.set_size(align_up(self._layout.end_offset, self.geometry.cluster_bytes))
        self._output.write_at(0, self._first_cluster(table_offset, table_clusters, directory))

    def _write_bitmaps(self) -> DirectoryPlace | None:
        if self._bitmaps is None:
            return None
        from qcowgui.convert.bitmap_writer import write_bitmaps

        return write_bitmaps(self._bitmaps, self.geometry, self._layout, self._output.write_at)

    def _first_cluster(
        self, table_offset: int, table_clusters: int, directory: DirectoryPlace | None
    ) -> bytes:
        places = TablePlaces(
            self._l1_offset, len(self._l1), table_offset, table_clusters, directory
        )
        return build_first_cluster(self._options, self.geometry, self._virtual_bytes, places)


def _number(entry: tuple[int, Buffer]) -> int:
    return entry[0]
