"""The deep check: every compressed cluster of an image decoded, and its sector count verified.

Spec: 1.9, 2.5 (1)
"""

from __future__ import annotations

import threading
from collections import Counter as Tally
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from qcowgui.check.collector import FindingCollector
from qcowgui.check.entry_facts import EntryPlace
from qcowgui.check.payload_batches import PayloadBatch, PayloadBatches
from qcowgui.check.payload_wording import PayloadWording
from qcowgui.check.payloads import PayloadJudge, PayloadKind
from qcowgui.check.snapshot_list import SnapshotList
from qcowgui.codec.registry import CompressionType
from qcowgui.engine.work import (
    CancelToken,
    Counter,
    Executor,
    SharedIterator,
    raise_outcome,
    run,
)
from qcowgui.format.entries import L2Entry
from qcowgui.format.finding import Finding
from qcowgui.format.geometry import Geometry
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.units import SECTOR_BYTES

_STRUCTURE: Final = "L2 table"


@dataclass(frozen=True, slots=True)
class DeepSummary:
    """What a deep check went through.

    Attributes:
        clusters: Payloads decoded, each once, however many disks share it.
        payload_bytes: What their descriptors span, all together.
        kinds: How many of them are of each kind; kinds without any are left out.
        beyond_file: Payloads that begin behind the end of the file: there is nothing to decode.
        refusal: Why nothing was decoded, a sentence; empty when it was.
    """

    clusters: int = 0
    payload_bytes: int = 0
    kinds: Mapping[PayloadKind, int] = field(default_factory=dict)
    beyond_file: int = 0
    refusal: str = ""

    @property
    def unreadable(self) -> int:
        """Payloads that QEMU can't read a cluster from."""
        return sum(count for kind, count in self.kinds.items() if kind >= PayloadKind.PRERELEASE)

    @property
    def bad(self) -> int:
        """Payloads that something is wrong with, readable or not."""
        return self.clusters - self.kinds.get(PayloadKind.OK, 0)


def deep_check(
    source: ByteSource,
    report: ImageReport,
    executor: Executor,
    token: CancelToken,
    collector: FindingCollector,
    *,
    snapshots: SnapshotList | None = None,
    counter: Counter | None = None,
    tick: Callable[[], None] | None = None,
) -> DeepSummary:
    """Decode every compressed cluster of the active disk and of all snapshots.

    What is found goes to `collector` in an order that does not depend on the number of threads;
    it is called from the executor's threads, by one at a time. Memory is bounded by the threads and
    some MiB of payloads each.

    Args:
        source: The image.
        report: What `inspect` found about it.
        executor: Where the payloads are decoded.
        token: Stops the work within some hundredths of a second.
        collector: Takes the findings.
        snapshots: The snapshot table, when that is loaded already.
        counter: Counts the payload bytes that were judged.
        tick: Called in the calling thread now and then; see `engine.work.run`.

    Raises:
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
    """
    header = report.header
    geometry = header.geometry
    if geometry is None:
        return DeepSummary(refusal="The header does not say how large a cluster is.")
    try:
        compression_type = CompressionType(header.compression_type)
    except ValueError:
        return DeepSummary(
            refusal=f"Compression type {header.compression_type} is not known, so no payload can "
            "be decoded."
        )
    batches = PayloadBatches(source, report, geometry, snapshots)
    results = _Results(collector)
    shared = SharedIterator(batches)

    def work(_: int) -> None:
        worker = _Worker(source, report, geometry, compression_type, token)
        for batch in shared:
            token.raise_if_cancelled()
            results.put(batch, worker.judge(batch))
            if counter is not None:
                counter.add(batch.payload_bytes)

    raise_outcome(run(executor, work, token, tick=tick))
    return results.summary(batches.beyond_file)


class _Bad(NamedTuple):
    """A payload that is not OK."""

    kind: PayloadKind
    finding: Finding


class _Results:
    """Hands the findings of the batches to the collector, in the batches' order. Thread-safe."""

    def __init__(self, collector: FindingCollector) -> None:
        self._collector = collector
        self._lock = threading.Lock()
        self._waiting: dict[int, list[_Bad]] = {}
        self._next_number = 0
        self._clusters = 0
        self._payload_bytes = 0
        self._bad: Tally[PayloadKind] = Tally()

    def put(self, batch: PayloadBatch, bad: list[_Bad]) -> None:
        """Take what is wrong in one batch; the payloads that are not in `bad` are OK."""
        with self._lock:
            self._clusters += len(batch.entries)
            self._payload_bytes += batch.payload_bytes
            self._waiting[batch.number] = bad
            while (ready := self._waiting.pop(self._next_number, None)) is not None:
                self._next_number += 1
                for kind, finding in ready:
                    self._bad[kind] += 1
                    self._collector.add(finding)

    def summary(self, beyond_file: int) -> DeepSummary:
        """What all batches amount to."""
        kinds = {PayloadKind.OK: self._clusters - self._bad.total(), **self._bad}
        return DeepSummary(
            self._clusters,
            self._payload_bytes,
            {kind: kinds[kind] for kind in PayloadKind if kinds.get(kind)},
            beyond_file,
        )


class _Worker:
    """Judges batches on one thread, with a buffer and codecs of its own."""

    def __init__(
        self,
        source: ByteSource,
        report: ImageReport,
        geometry: Geometry,
        compression_type: CompressionType,
        token: CancelToken,
    ) -> None:
        self._source = source
        self._token = token
        self._geometry = geometry
        self._judge = PayloadJudge(compression_type, geometry.cluster_bytes)
        self._wording = PayloadWording(compression_type, geometry, report.virtual_bytes)
        self._buffer = bytearray()

    def judge(self, batch: PayloadBatch) -> list[_Bad]:
        """What is wrong with the payloads of `batch`, in their order."""
        base, end = int(batch.starts[0]), int(batch.ends.max())
        if len(self._buffer) < end - base:
            self._buffer = bytearray(end - base)
        area = memoryview(self._buffer)[: end - base]
        area = area[: self._source.read_into(base, area)]
        starts = batch.starts - base
        lengths = np.minimum(batch.ends - base, len(area)) - starts
        # A file that shrank since it was opened.
        lengths = np.maximum(lengths, 0)
        segments = np.stack([starts, lengths], axis=1).astype(np.uint64)
        cuts = (batch.ends - batch.starts - SECTOR_BYTES).tolist()
        bad = []
        for index in self._judge.suspects(area, segments, cuts):
            self._token.raise_if_cancelled()
            found = self._judge_one(batch, index)
            if found is not None:
                bad.append(found)
        return bad

    def _judge_one(self, batch: PayloadBatch, index: int) -> _Bad | None:
        entry = int(batch.entries[index])
        table = batch.table
        word = L2Entry(int(table.words[entry]), 0, self._geometry)
        descriptor = word.compressed
        window = self._source.read_at(descriptor.host_offset, 2 * self._geometry.cluster_bytes)
        verdict = self._judge.judge(window, descriptor)
        if verdict.kind is PayloadKind.OK:
            return None
        place = EntryPlace(
            _STRUCTURE,
            table.entry_offset(entry),
            entry % self._geometry.l2_entries,
            int(table.l1_indices[entry // self._geometry.l2_entries]),
            snapshot=table.owner.snapshot,
        )
        guest = int(table.guest_offsets(np.array([entry]))[0])
        return _Bad(verdict.kind, self._wording.finding(place, guest, word, verdict))
