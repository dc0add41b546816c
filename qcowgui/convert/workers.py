"""What each worker of a conversion does: take a batch, read, encode, write, until none is left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from qcowgui.codec.registry import encoder
from qcowgui.convert.encode import encode_batch
from qcowgui.convert.plan import Batch, iter_batches, iter_ranges_over, iter_stored_ranges
from qcowgui.engine.work import CancelToken, Counter, SharedIterator, Worker

if TYPE_CHECKING:
    from qcowgui.codec.cluster import ClusterEncoder
    from qcowgui.convert.options import ConvertOptions
    from qcowgui.convert.qcow2_writer import Qcow2Writer
    from qcowgui.convert.raw_writer import RawWriter
    from qcowgui.image.chain import OpenedImage

_STREAMED_BATCHES: Final = 4
"""How many batches a worker reads and writes in one go where nothing has to wait for the last."""


class Work(NamedTuple):
    """What the workers of one conversion share.

    Attributes:
        options: What to do, the kept backing file by name.
        source: What is read.
        base: The backing file that the target keeps, or None.
        token: Stops them.
        counter: Gets guest bytes as they are dealt with; in all, the end of the last batch.
    """

    options: ConvertOptions
    source: OpenedImage
    base: OpenedImage | None
    token: CancelToken
    counter: Counter

    def batches(self, ranges: Iterator[tuple[int, int]], batch_bytes: int) -> SharedIterator[Batch]:
        """The batches of `ranges`; what is skipped before each is counted when it is taken."""
        batches = iter_batches(ranges, size_bytes=self.source.size_bytes, batch_bytes=batch_bytes)

        def iter_counted() -> Iterator[Batch]:
            for batch in batches:
                self.counter.add(batch.skipped_bytes)
                yield batch

        return SharedIterator(iter_counted())


def raw_worker(work: Work, writer: RawWriter) -> Worker:
    """What each thread of a conversion to raw runs."""
    source, token = work.source, work.token
    batches = work.batches(
        iter_stored_ranges(source, token), source.batch_bytes * _STREAMED_BATCHES
    )

    def run(_worker_index: int) -> None:
        context = source.context()
        for batch in batches:
            token.raise_if_cancelled()
            source.stream_pieces(batch.start, batch.end, context, writer.write)
            work.counter.add(batch.end - batch.start)

    return run


def qcow2_worker(work: Work, writer: Qcow2Writer) -> Worker:
    """What each thread of a conversion to qcow2 runs."""
    source, base, token = work.source, work.base, work.token
    cluster_bytes = work.options.cluster_bytes
    batches = work.batches(
        iter_ranges_over(source, base, token), max(source.batch_bytes, cluster_bytes)
    )

    def run(_worker_index: int) -> None:
        context = source.context()
        base_context = base.context() if base is not None else None
        coder = _encoder(work)
        for batch in batches:
            token.raise_if_cancelled()
            pieces = source.read_pieces(batch.start, batch.end, context)
            base_pieces = None
            if base is not None and base_context is not None:
                base_pieces = base.read_pieces(batch.start, batch.end, base_context)
            encoded = encode_batch(
                batch.number, batch.start, batch.end, pieces, cluster_bytes, coder, base_pieces
            )
            writer.write(encoded, token)
            work.counter.add(batch.end - batch.start)

    return run


def _encoder(work: Work) -> ClusterEncoder | None:
    """A thread's own encoder; None where nothing is compressed."""
    options = work.options
    kind = options.compression_type
    if kind is None:
        return None
    return encoder(
        kind,
        options.cluster_bytes,
        level=options.level,
        window=options.window,
        # One batch may take it a second, and one cluster at the slowest levels.
        on_step=work.token.raise_if_cancelled,
    )
