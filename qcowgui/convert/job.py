"""One conversion from options to result: read, write, verify, put in place. Leaves no debris."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from qcowgui.codec.registry import encoder
from qcowgui.convert.compare import first_difference
from qcowgui.convert.encode import encode_batch
from qcowgui.convert.output import OutputFile, check_target, refuse_same_file
from qcowgui.convert.plan import (
    Batch,
    iter_batches,
    iter_own_ranges,
    iter_stored_ranges,
    merge_ranges,
)
from qcowgui.convert.qcow2_writer import Qcow2Writer
from qcowgui.convert.raw_writer import RawWriter
from qcowgui.convert.warnings import source_warnings
from qcowgui.engine.work import CancelToken, Counter, Executor, SharedIterator, raise_outcome, run
from qcowgui.errors import VerifyError
from qcowgui.image.chain import OpenedImage, open_image
from qcowgui.image.layer import BATCH_BYTES, LostRange
from qcowgui.image.references import DENY, AllowGate, EitherGate, Gate, Reference, resolve_reference
from qcowgui.units import format_offset

if TYPE_CHECKING:
    from qcowgui.convert.options import ConvertOptions

Tick = Callable[[], None]


class Phase(Enum):
    """Where a job stands."""

    PREPARING = "preparing"
    CONVERTING = "converting"
    VERIFYING = "verifying"
    FINISHING = "finishing"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is.

    Attributes:
        phase: What it does.
        done_bytes: Guest bytes dealt with in this phase, skipped ones included.
        total_bytes: Guest bytes of this phase; 0 while preparing.
        written_bytes: Bytes written to the target so far.
    """

    phase: Phase
    done_bytes: int
    total_bytes: int
    written_bytes: int


@dataclass(frozen=True, slots=True)
class ConvertResult:
    """What came of a conversion.

    Attributes:
        virtual_bytes: Size of the virtual disk.
        source_bytes: Length of the source file.
        target_bytes: Length of the target file.
        target_disk_bytes: What the file system has set aside for the target, or None.
        seconds: From start to the target being in place.
        verified: Whether the result was read again and compared.
        losses: With salvage: what could not be read and is zeros in the target.
        warnings: What the user should know, in whole sentences.
    """

    virtual_bytes: int
    source_bytes: int
    target_bytes: int
    target_disk_bytes: int | None
    seconds: float
    verified: bool
    losses: tuple[LostRange, ...]
    warnings: tuple[str, ...]


class ConvertJob:
    """One conversion; `run` it once.

    Attributes:
        options: What to do.
        token: Stops the job: its `cancel` may be called from any thread.
    """

    def __init__(self, options: ConvertOptions, gate: Gate = DENY) -> None:
        """A job that has not started.

        Args:
            options: Validated options.
            gate: Decides whether the source's backing and data files may be opened. The backing
                file that the options name is allowed by being named.
        """
        self.options = options
        self.token = CancelToken()
        self._gate = gate
        self._phase = Phase.PREPARING
        self._counter = Counter()
        self._total_bytes = 0
        self._output: OutputFile | None = None

    def progress(self) -> Progress:
        """How far the job is. Thread-safe."""
        output = self._output
        return Progress(
            self._phase,
            min(self._counter.value, self._total_bytes),
            self._total_bytes,
            output.written_bytes if output is not None else 0,
        )

    def run(self, executor: Executor, *, tick: Tick | None = None) -> ConvertResult:
        """Convert; returns when the target is in place.

        Args:
            executor: Where the workers run.
            tick: Called in this thread about ten times a second.

        Raises:
            QcowError: When something is wrong with the source, the options or the target; the
                target is then as it was before.
            Cancelled: When the token was set; likewise.
        """
        started = time.monotonic()
        options = self.options
        check_target(options.target, overwrite=options.overwrite)
        with open_image(
            options.source,
            format=options.source_format,
            gate=self._source_gate(),
            snapshot=options.snapshot,
            salvage=options.salvage,
        ) as source:
            refuse_same_file(options.target, source.identities)
            with OutputFile(options.target, overwrite=options.overwrite) as output:
                self._output = output
                base = self._open_base(output)
                try:
                    self._convert(source, base, output, executor, tick)
                finally:
                    if base is not None:
                        base.close()
                if options.verify:
                    self._verify(source, output.path, executor, tick)
                self.token.raise_if_cancelled()
                self._phase = Phase.FINISHING
                output.commit()
                return self._result(source, output, time.monotonic() - started)

    def _source_gate(self) -> Gate:
        if self.options.backing_file is None:
            return self._gate
        reference = self._base_reference(self.options.target)
        named = AllowGate((reference.path,)) if reference.path else DENY
        return EitherGate(self._gate, named)

    def _base_reference(self, target: Path) -> Reference:
        return resolve_reference("backing file", self.options.backing_file or "", target)

    def _open_base(self, output: OutputFile) -> OpenedImage | None:
        """The backing file that the target keeps, opened as guest data."""
        if self.options.backing_file is None:
            return None
        reference = self._base_reference(output.target)
        path = reference.path or Path(self.options.backing_file)
        base = open_image(path, format=self.options.backing_format, gate=self._source_gate())
        try:
            refuse_same_file(self.options.target, base.identities)
        except BaseException:
            base.close()
            raise
        return base

    def _convert(
        self,
        source: OpenedImage,
        base: OpenedImage | None,
        output: OutputFile,
        executor: Executor,
        tick: Tick | None,
    ) -> None:
        size = source.size_bytes
        self._start_phase(Phase.CONVERTING, size)
        if self.options.target_format == "raw":
            work = self._raw_worker(source, output)
            raise_outcome(run(executor, work, self.token, tick=tick))
        else:
            writer = Qcow2Writer(output, self.options, virtual_bytes=size, workers=executor.threads)
            work = self._qcow2_worker(source, base, writer)
            raise_outcome(run(executor, work, self.token, tick=tick))
            writer.finish()
        self._counter.add(size - self._counter.value)

    def _start_phase(self, phase: Phase, total_bytes: int) -> None:
        self._counter = Counter()
        self._total_bytes = total_bytes
        self._phase = phase

    def _counted(self, batches: Iterator[Batch]) -> SharedIterator[Batch]:
        def iter_counted() -> Iterator[Batch]:
            for batch in batches:
                self._counter.add(batch.skipped_bytes)
                yield batch

        return SharedIterator(iter_counted())

    def _raw_worker(self, source: OpenedImage, output: OutputFile) -> Callable[[int], None]:
        writer = RawWriter(
            output, size_bytes=source.size_bytes, sparse_bytes=self.options.sparse_bytes
        )
        batches = self._counted(
            iter_batches(iter_stored_ranges(source), size_bytes=source.size_bytes)
        )

        def work(_worker_index: int) -> None:
            context = source.context()
            for batch in batches:
                self.token.raise_if_cancelled()
                writer.write(source.read_pieces(batch.start, batch.end, context))
                self._counter.add(batch.end - batch.start)

        return work

    def _qcow2_worker(
        self, source: OpenedImage, base: OpenedImage | None, writer: Qcow2Writer
    ) -> Callable[[int], None]:
        options = self.options
        batches = self._counted(
            iter_batches(
                _ranges(source, base),
                size_bytes=source.size_bytes,
                batch_bytes=max(BATCH_BYTES, options.cluster_bytes),
            )
        )

        def work(_worker_index: int) -> None:
            context = source.context()
            base_context = base.context() if base is not None else None
            kind = options.compression_type
            coder = (
                encoder(kind, options.cluster_bytes, level=options.level, window=options.window)
                if kind is not None
                else None
            )
            for batch in batches:
                self.token.raise_if_cancelled()
                pieces = source.read_pieces(batch.start, batch.end, context)
                base_pieces = None
                if base is not None and base_context is not None:
                    base_pieces = base.read_pieces(batch.start, batch.end, base_context)
                encoded = encode_batch(
                    batch.number,
                    batch.start,
                    batch.end,
                    pieces,
                    options.cluster_bytes,
                    coder,
                    base_pieces,
                )
                writer.write(encoded, self.token)
                self._counter.add(batch.end - batch.start)

        return work

    def _verify(
        self, source: OpenedImage, path: Path, executor: Executor, tick: Tick | None
    ) -> None:
        """Read the written image through the strict reader and compare it with the source.

        Raises:
            VerifyError: At the first guest byte that differs.
        """
        with open_image(
            path, format=self.options.target_format, gate=self._source_gate()
        ) as written:
            self._start_phase(Phase.VERIFYING, max(source.size_bytes, written.size_bytes))
            if written.size_bytes != source.size_bytes:
                raise VerifyError(
                    f"The result has {written.size_bytes:,} bytes, not {source.size_bytes:,}",
                    guest_offset=min(written.size_bytes, source.size_bytes),
                )
            found = first_difference(
                source, written, executor, token=self.token, counter=self._counter, tick=tick
            )
        if found is not None:
            raise VerifyError(
                f"The result differs from the source at guest offset {format_offset(found)}",
                guest_offset=found,
                hint="nothing was kept; the storage, or this program, is at fault",
            )

    def _result(self, source: OpenedImage, output: OutputFile, seconds: float) -> ConvertResult:
        status = output.target.stat()
        blocks = getattr(status, "st_blocks", None)
        losses = tuple(source.losses.ranges()) if source.losses is not None else ()
        return ConvertResult(
            virtual_bytes=source.size_bytes,
            source_bytes=source.chain[0].file_bytes,
            target_bytes=status.st_size,
            target_disk_bytes=None if blocks is None else blocks * 512,
            seconds=seconds,
            verified=self.options.verify,
            losses=losses,
            warnings=tuple(source_warnings(self.options, source, losses)),
        )


def _ranges(source: OpenedImage, base: OpenedImage | None) -> Iterator[tuple[int, int]]:
    """The guest ranges that a qcow2 target may need clusters for."""
    if base is None:
        return iter_stored_ranges(source)
    if len(source.chain) > 1 and source.chain[1].identity == base.chain[0].identity:
        # The target keeps the source's own backing file: only what the overlay decides can differ.
        return iter_own_ranges(source)
    return merge_ranges(iter_stored_ranges(source), iter_stored_ranges(base))
