"""One conversion from options to result: read, write, verify, put in place. Leaves no debris."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from qcowgui.codec.registry import encoder
from qcowgui.convert.compare import first_difference
from qcowgui.convert.encode import encode_batch
from qcowgui.convert.output import (
    OutputFile,
    check_room,
    check_target,
    refuse_same_file,
    refused,
)
from qcowgui.convert.plan import Batch, iter_batches, iter_ranges_over, iter_stored_ranges
from qcowgui.convert.qcow2_header import check_virtual_size
from qcowgui.convert.qcow2_writer import Qcow2Writer
from qcowgui.convert.raw_writer import RawWriter
from qcowgui.convert.warnings import source_warnings
from qcowgui.engine.work import CancelToken, Counter, Executor, SharedIterator, raise_outcome, run
from qcowgui.errors import ImageError, OptionsError, SourceError, VerifyError
from qcowgui.format.geometry import Geometry
from qcowgui.image.chain import OpenedImage, open_image
from qcowgui.image.layer import LostRange
from qcowgui.image.references import (
    DENY,
    AllowGate,
    EitherGate,
    Gate,
    Reference,
    resolve_reference,
)
from qcowgui.units import SECTOR_BYTES, format_offset

if TYPE_CHECKING:
    from qcowgui.convert.options import ConvertOptions

_STREAMED_BATCHES: Final = 4
"""How many batches a worker reads and writes in one go where nothing has to wait for the last."""

Tick = Callable[[], None]
Warn = Callable[[str], None]


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


class _Stage(NamedTuple):
    """What `progress` tells, as one value."""

    phase: Phase
    counter: Counter
    total_bytes: int


class ConvertJob:
    """One conversion; `run` it once.

    Attributes:
        options: What to do.
        token: Stops the job: its `cancel` may be called from any thread.
    """

    def __init__(
        self,
        options: ConvertOptions,
        gate: Gate = DENY,
        *,
        open_source: Callable[[], OpenedImage] | None = None,
    ) -> None:
        """A job that has not started.

        Args:
            options: Validated options.
            gate: Decides whether the source's backing and data files may be opened. The backing
                file that the options name is allowed by being named.
            open_source: Opens what to convert, where that is not simply the image at
                `options.source`; what it gives is closed at the end.
        """
        self.options = options
        self._open_source = open_source or self._open_image
        self.token = CancelToken()
        self._gate = gate
        self._stage = _Stage(Phase.PREPARING, Counter(), 0)
        self._output: OutputFile | None = None

    def progress(self) -> Progress:
        """How far the job is. Thread-safe."""
        stage, output = self._stage, self._output
        return Progress(
            stage.phase,
            stage.counter.value,
            stage.total_bytes,
            output.written_bytes if output is not None else 0,
        )

    def run(
        self, executor: Executor, *, tick: Tick | None = None, warn: Warn | None = None
    ) -> ConvertResult:
        """Convert; returns when the target is in place.

        Args:
            executor: Where the workers run.
            tick: Called in this thread about ten times a second.
            warn: Told in this thread what is known before the work starts, in whole sentences. They
                are among the result's warnings, too.

        Raises:
            QcowError: When something is wrong with the source, the options or the target; the
                target is then as it was before.
            Cancelled: When the token was set; likewise.
        """
        started = time.monotonic()
        options = self.options
        check_target(options.target, overwrite=options.overwrite)
        with self._open_source() as source:
            refuse_same_file(options.target, source.identities)
            # A source without a usable mapping is what to tell, not that its target has no room.
            next(source.iter_extents(0, SECTOR_BYTES), None)
            foreseen = self._foresee(source)
            if warn is not None:
                for warning in foreseen:
                    warn(warning)
            self.token.raise_if_cancelled()
            with (
                self._open_base() or nullcontext() as base,
                OutputFile(options.target, overwrite=options.overwrite) as output,
            ):
                self._output = output
                self._convert(source, base, output, executor, tick)
                if options.verify:
                    self._verify(source, output.path, executor, tick)
                # A copy of something that changed underneath may never have been its content.
                source.require_unchanged()
                self.token.raise_if_cancelled()
                self._stage = self._stage._replace(phase=Phase.FINISHING)
                status = output.commit(before_move=self.token.raise_if_cancelled)
                return self._result(source, status, time.monotonic() - started, foreseen)

    def _open_image(self) -> OpenedImage:
        options = self.options
        return open_image(
            options.source,
            format=options.source_format,
            gate=self._source_gate(),
            snapshot=options.snapshot,
            salvage=options.salvage,
        )

    def _foresee(self, source: OpenedImage) -> tuple[str, ...]:
        """What to warn of before any file is made.

        Raises:
            OutputError: When there is no room for the target, whatever the source holds.
        """
        if self.options.target_format != "raw":
            return ()
        sparse = self.options.sparse_bytes > 0
        warning = check_room(self.options.target, source.size_bytes, sparse=sparse)
        return (warning,) if warning else ()

    def _source_gate(self) -> Gate:
        """What the user allowed, and the backing file that the options name."""
        reference = self._base_reference()
        if reference is None or reference.path is None:
            return self._gate
        return EitherGate(self._gate, AllowGate((reference.path,)))

    def _base_reference(self) -> Reference | None:
        """Where the kept backing file is, seen from the place where the target really will be."""
        name = self.options.backing_file
        if name is None:
            return None
        return resolve_reference("backing file", name, Path(os.path.realpath(self.options.target)))

    def _open_base(self) -> OpenedImage | None:
        """The backing file that the target keeps, opened as guest data.

        Raises:
            OptionsError: When its name is no plain file name.
            OutputError: When the target would replace it.
        """
        reference = self._base_reference()
        if reference is None:
            return None
        if reference.path is None:
            raise OptionsError(
                f"The backing file {reference.name!r} is not a plain file name",
                hint="protocol and json: names can't be read; write ./ before a name with a colon",
            )
        base = open_image(
            reference.path, format=self.options.backing_format, gate=self._source_gate()
        )
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
            options = self.options
            geometry = Geometry(options.cluster_bits, options.extended_l2, options.refcount_order)
            check_virtual_size(geometry, size)
            writer = Qcow2Writer(output, options, virtual_bytes=size, workers=executor.threads)
            work = self._qcow2_worker(source, base, writer)
            raise_outcome(run(executor, work, self.token, tick=tick))
            writer.finish()
        # What lies behind the last batch was skipped as well.
        counter = self._stage.counter
        counter.add(size - counter.value)

    def _start_phase(self, phase: Phase, total_bytes: int) -> Counter:
        counter = Counter()
        # One assignment, so that `progress` never mixes two phases.
        self._stage = _Stage(phase, counter, total_bytes)
        return counter

    def _counted(self, batches: Iterator[Batch]) -> SharedIterator[Batch]:
        def iter_counted() -> Iterator[Batch]:
            for batch in batches:
                self._stage.counter.add(batch.skipped_bytes)
                yield batch

        return SharedIterator(iter_counted())

    def _raw_worker(self, source: OpenedImage, output: OutputFile) -> Callable[[int], None]:
        writer = RawWriter(
            output, size_bytes=source.size_bytes, sparse_bytes=self.options.sparse_bytes
        )
        batches = self._counted(
            iter_batches(
                iter_stored_ranges(source, self.token),
                size_bytes=source.size_bytes,
                batch_bytes=source.batch_bytes * _STREAMED_BATCHES,
            )
        )

        def work(_worker_index: int) -> None:
            context = source.context()
            for batch in batches:
                self.token.raise_if_cancelled()
                source.stream_pieces(batch.start, batch.end, context, writer.write)
                self._stage.counter.add(batch.end - batch.start)

        return work

    def _qcow2_worker(
        self, source: OpenedImage, base: OpenedImage | None, writer: Qcow2Writer
    ) -> Callable[[int], None]:
        options = self.options
        batches = self._counted(
            iter_batches(
                iter_ranges_over(source, base, self.token),
                size_bytes=source.size_bytes,
                batch_bytes=max(source.batch_bytes, options.cluster_bytes),
            )
        )

        def work(_worker_index: int) -> None:
            context = source.context()
            base_context = base.context() if base is not None else None
            kind = options.compression_type
            coder = (
                encoder(
                    kind,
                    options.cluster_bytes,
                    level=options.level,
                    window=options.window,
                    # One batch may take it a second, and one cluster at the slowest levels.
                    on_step=self.token.raise_if_cancelled,
                )
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
                self._stage.counter.add(batch.end - batch.start)

        return work

    def _verify(
        self, source: OpenedImage, path: Path, executor: Executor, tick: Tick | None
    ) -> None:
        """Read the written image through the strict reader and compare it with the source.

        Raises:
            VerifyError: At the first guest byte that differs or can't be read back.
            OutputError: When the system refuses to open or read the written file.
        """
        hint = "nothing was kept; the storage, or this program, is at fault"
        counter = self._start_phase(Phase.VERIFYING, source.size_bytes)
        try:
            with open_image(
                path, format=self.options.target_format, gate=self._source_gate()
            ) as written:
                if written.size_bytes != source.size_bytes:
                    raise VerifyError(
                        f"The result has {written.size_bytes:,} bytes, not {source.size_bytes:,}",
                        guest_offset=min(written.size_bytes, source.size_bytes),
                        hint=hint,
                    )
                found = first_difference(
                    source, written, executor, token=self.token, counter=counter, tick=tick
                )
        except ImageError as error:
            if error.path != str(path):
                raise
            raise VerifyError(
                f"The result can't be read back: {error.message}",
                guest_offset=error.guest_offset or 0,
                hint=hint,
            ) from error
        except SourceError as error:
            if error.path != str(path):
                raise
            # By its own name: the user has never seen that of the temporary file.
            raise refused(self.options.target, "can't be read back", error.errno) from error
        if found is not None:
            source.require_unchanged()  # or the source is at fault
            raise VerifyError(
                f"The result differs from the source at guest offset {format_offset(found)}",
                guest_offset=found,
                hint=hint,
            )

    def _result(
        self,
        source: OpenedImage,
        status: os.stat_result,
        seconds: float,
        foreseen: tuple[str, ...],
    ) -> ConvertResult:
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
            warnings=(*source_warnings(self.options, source, losses), *foreseen),
        )
