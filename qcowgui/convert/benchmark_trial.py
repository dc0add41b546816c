"""Timing one cell of the matrix: compress clusters on some threads, then decompress them again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from time import perf_counter, thread_time
from typing import Final, NamedTuple

import numpy as np

from qcowgui.codec.cluster import DecodedClusters, Segments
from qcowgui.convert.benchmark_codecs import Codec, make_codec
from qcowgui.convert.benchmark_plan import Setting
from qcowgui.convert.encode import EncodedBatch, encode_batch
from qcowgui.engine.work import CancelToken, Executor, SharedIterator, raise_outcome, run
from qcowgui.errors import VerifyError
from qcowgui.image.layer import Piece
from qcowgui.units import KIB

Tick = Callable[[], None]

_CHUNK_BYTES: Final = 512 * KIB
"""What a thread takes at a time, as a conversion decodes it; one cluster where those are larger."""


class Timing(NamedTuple):
    """One run over one part of the sample.

    Attributes:
        stored_bytes: Payloads, and clusters that do not shrink.
        encoded_bytes: Guest bytes that were compressed: all but clusters of zeros.
        encode_seconds: From the first thread's start to the last one's end.
        decoded_bytes: Guest bytes of the clusters that had shrunk.
        decode_seconds: As `encode_seconds`.
        core_seconds: That all threads together had a core for, in both.
    """

    stored_bytes: int
    encoded_bytes: int
    encode_seconds: float
    decoded_bytes: int
    decode_seconds: float
    core_seconds: float

    def plus(self, other: Timing) -> Timing:
        """Both one behind the other."""
        return Timing(
            self.stored_bytes + other.stored_bytes,
            self.encoded_bytes + other.encoded_bytes,
            self.encode_seconds + other.encode_seconds,
            self.decoded_bytes + other.decoded_bytes,
            self.decode_seconds + other.decode_seconds,
            self.core_seconds + other.core_seconds,
        )


class _Clock:
    """How long threads work, from the first one's start to the last one's end."""

    def __init__(self) -> None:
        self._started: list[float] = []
        self._ended: list[float] = []
        self._core_seconds: list[float] = []

    @contextmanager
    def running(self) -> Iterator[None]:
        """One thread's work; several may be in it at once."""
        core = thread_time()
        self._started.append(perf_counter())
        yield
        self._ended.append(perf_counter())
        self._core_seconds.append(thread_time() - core)

    @property
    def seconds(self) -> float:
        return max(self._ended) - min(self._started)

    @property
    def core_seconds(self) -> float:
        return sum(self._core_seconds)


class _Group(NamedTuple):
    """Payloads that are decoded together.

    Attributes:
        numbers: Their clusters' places in the part.
        area: The payloads, one behind the other.
        segments: Where each lies.
    """

    numbers: tuple[int, ...]
    area: bytes
    segments: Segments


class CodecTrial:
    """Times a cell of the matrix on parts of the sample; made for one run of one part."""

    def __init__(
        self, setting: Setting, executor: Executor, token: CancelToken, tick: Tick | None = None
    ) -> None:
        """A trial whose codecs are made and have their memory, one for each thread.

        Args:
            setting: What to try.
            executor: With as many threads as the setting says.
            token: Stops it.
            tick: Called in this thread about ten times a second.
        """
        self._setting = setting
        self._executor = executor
        self._token = token
        self._tick = tick
        size, step = setting.cluster_bytes, token.raise_if_cancelled
        self._codecs = [make_codec(setting.method, size, step) for _ in range(executor.threads)]
        for codec in self._codecs:
            codec.encoder.encode(bytes(size))

    def measure(self, part: memoryview, *, check: bool) -> Timing:
        """Compress and decompress `part` once.

        Args:
            part: Guest bytes; a cluster at the end that is not whole is filled up with zeros.
            check: Whether what was decompressed is compared, outside of the time that is measured.

        Raises:
            VerifyError: When the backend does not give back what it was given.
            Cancelled: When the token was set.
        """
        size = self._setting.cluster_bytes
        batches: list[EncodedBatch] = []
        chunks = SharedIterator(_iter_chunks(len(part), size))
        encoding = self._time(partial(self._encode, part, chunks, batches))
        plain = sum(len(batch.plain) for batch in batches)
        groups = list(_iter_groups(batches, size))
        shrunk = sum(len(group.numbers) for group in groups)
        payload_bytes = sum(len(group.area) for group in groups)
        batches.clear()
        decoding = self._time(partial(self._decode, SharedIterator(groups)))
        if check:
            self._time(partial(self._compare, part, SharedIterator(groups)))
        return Timing(
            payload_bytes + plain * size,
            (plain + shrunk) * size,
            encoding.seconds,
            shrunk * size,
            decoding.seconds,
            encoding.core_seconds + decoding.core_seconds,
        )

    def _time(self, work: Callable[[Codec], None]) -> _Clock:
        clock = _Clock()

        def worker(worker_index: int) -> None:
            with clock.running():
                work(self._codecs[worker_index])

        raise_outcome(run(self._executor, worker, self._token, tick=self._tick))
        return clock

    def _encode(
        self,
        part: memoryview,
        chunks: SharedIterator[tuple[int, int]],
        batches: list[EncodedBatch],
        codec: Codec,
    ) -> None:
        size = self._setting.cluster_bytes
        for start, end in chunks:
            self._token.raise_if_cancelled()
            pieces = [Piece(start, part[start:end])]
            batches.append(encode_batch(0, start, end, pieces, size, codec.encoder))

    def _decode(self, groups: SharedIterator[_Group], codec: Codec) -> None:
        for group in groups:
            self._decoded(group, codec)

    def _compare(self, part: memoryview, groups: SharedIterator[_Group], codec: Codec) -> None:
        size = self._setting.cluster_bytes
        for group in groups:
            clusters = self._decoded(group, codec).each(size)
            for number, cluster in zip(group.numbers, clusters, strict=True):
                wanted = part[number * size : (number + 1) * size]
                if memoryview(cluster)[: len(wanted)] != wanted:
                    raise self._broken(number)

    def _decoded(self, group: _Group, codec: Codec) -> DecodedClusters:
        self._token.raise_if_cancelled()
        decoded = codec.decoder.decode_many(group.area, group.segments)
        if decoded is None:
            raise self._broken(group.numbers[0])
        return decoded

    def _broken(self, number: int) -> VerifyError:
        method = self._setting.method
        return VerifyError(
            f"{method.backend} at level {method.level} does not give back the cluster that it was "
            "given",
            guest_offset=number * self._setting.cluster_bytes,
            hint="the library, or this program, is at fault: leave out this backend",
        )


def _iter_chunks(length: int, cluster_bytes: int) -> Iterator[tuple[int, int]]:
    step = max(cluster_bytes, _CHUNK_BYTES)
    for start in range(0, length, step):
        yield start, min(start + step, length)


def _iter_groups(batches: Sequence[EncodedBatch], cluster_bytes: int) -> Iterator[_Group]:
    """The payloads in groups, as a conversion decodes them together."""
    most = max(1, _CHUNK_BYTES // cluster_bytes)
    for batch in batches:
        for first in range(0, len(batch.compressed), most):
            chosen = batch.compressed[first : first + most]
            lengths = np.array([len(payload) for _, payload in chosen], dtype=np.uint64)
            segments = np.column_stack([np.cumsum(lengths) - lengths, lengths])
            area = b"".join(payload for _, payload in chosen)
            yield _Group(tuple(number for number, _ in chosen), area, segments)
