"""Writes a qcow2 target: workers encode, one committer at a time places clusters in batch order.

Placing is quick and happens under a lock; the data itself is written outside of it. Because places
are given in batch order, the file has the same bytes whatever the number of workers.
"""

from __future__ import annotations

import threading
from typing import Final

import numpy as np

from qcowgui.codec.cluster import Buffer
from qcowgui.convert.encode import EncodedBatch
from qcowgui.convert.host_layout import HostLayout
from qcowgui.convert.options import DEFAULT_SPARSE_BYTES, ConvertOptions
from qcowgui.convert.output import OutputFile
from qcowgui.convert.qcow2_header import TablePlaces, build_first_cluster
from qcowgui.convert.raw_writer import RunWriter
from qcowgui.convert.zeros import is_zero
from qcowgui.engine.work import CancelToken
from qcowgui.format.geometry import COPIED, ENTRY_BYTES, READS_ZERO, SUBCLUSTERS, Geometry
from qcowgui.units import align_up

_POLL_SECONDS: Final = 0.1
_ALL_SUBCLUSTERS: Final = (1 << SUBCLUSTERS) - 1

_Writes = list[tuple[int, Buffer]]
"""(host offset, bytes) to write."""


class Qcow2Writer:
    """A qcow2 target."""

    def __init__(
        self, output: OutputFile, options: ConvertOptions, *, virtual_bytes: int, workers: int
    ) -> None:
        """Reserve the header and the L1 table at the front of the file.

        Args:
            output: A fresh file.
            options: Validated options with a qcow2 target.
            virtual_bytes: Size of the virtual disk.
            workers: How many threads call `write`; bounds the batches that wait for their turn.

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
        # Fails early when the name is too long; written again, with real places, at the end.
        build_first_cluster(
            options, self.geometry, virtual_bytes, TablePlaces(self._l1_offset, l1_size, 0, 1)
        )
        self._table_index = -1
        self._table = np.zeros(0, dtype=">u8")
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
            placed = self._place_ready()
        for writes in placed:
            self._write_data(writes)

    def _place_ready(self) -> list[_Writes]:
        placed = []
        while (ready := self._waiting.pop(self._next_batch, None)) is not None:
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
        for number, word, bitmap in entries:
            self._enter(number, word, bitmap)
        self._close_tables_before(batch.end_cluster >> self.geometry.l2_bits)
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

    def _enter(self, number: int, word: int, bitmap: int) -> None:
        table, index = number >> self.geometry.l2_bits, number & (self.geometry.l2_entries - 1)
        if table != self._table_index:
            self._close_tables_before(table)
            self._table_index = table
            self._table = np.zeros(self.geometry.cluster_bytes // ENTRY_BYTES, dtype=">u8")
        if self.geometry.extended_l2:
            self._table[2 * index] = word
            self._table[2 * index + 1] = bitmap
        else:
            self._table[index] = word

    def _close_tables_before(self, table: int) -> None:
        """Write the open L2 table when nothing more can belong to it."""
        if 0 <= self._table_index < table:
            offset = self._layout.allocate_clusters(1)
            self._output.write_at(offset, self._table.tobytes())
            self._l1[self._table_index] = COPIED | offset
            self._table_index = -1

    def _write_data(self, writes: _Writes) -> None:
        """Write payloads as they are, and plain clusters without their zeros: the file is fresh."""
        cluster_bytes = self.geometry.cluster_bytes
        payloads = RunWriter(self._output, 0)
        plain = RunWriter(self._output, DEFAULT_SPARSE_BYTES)
        for offset, data in writes:
            # A payload is always shorter than a cluster.
            (plain if len(data) == cluster_bytes else payloads).add(offset, data)
        payloads.flush()
        plain.flush()

    def finish(self) -> None:
        """Write the tables and, last, the header. All batches have been written.

        Raises:
            OutputError: When the file can't be written.
        """
        self._close_tables_before(len(self._l1))
        table_offset, table_clusters = self._layout.finish()
        self._output.write_at(self._l1_offset, self._l1.tobytes())
        places = TablePlaces(self._l1_offset, len(self._l1), table_offset, table_clusters)
        self._output.set_size(align_up(self._layout.end_offset, self.geometry.cluster_bytes))
        self._output.write_at(
            0, build_first_cluster(self._options, self.geometry, self._virtual_bytes, places)
        )


def _number(entry: tuple[int, Buffer]) -> int:
    return entry[0]
