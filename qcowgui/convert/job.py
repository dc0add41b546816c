"""One conversion from options to result: read, write, verify, put in place. Leaves no debris."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from qcowgui.convert.compare import first_difference
from qcowgui.convert.kept_backing import gate_with_backing, open_backing, with_named_backing
from qcowgui.convert.losses import (
    losses_path,
    may_replace_list,
    move_with_list,
    remove_stale_list,
    write_losses,
)
from qcowgui.convert.output import (
    OutputFile,
    check_room,
    check_target,
    refuse_same_file,
    refused,
)
from qcowgui.convert.preallocation import reserve, reserved_bytes
from qcowgui.convert.qcow2_header import check_virtual_size
from qcowgui.convert.qcow2_writer import Qcow2Writer
from qcowgui.convert.raw_writer import RawWriter
from qcowgui.convert.result_comparison import opened_source
from qcowgui.convert.warnings import source_warnings
from qcowgui.convert.workers import Work, qcow2_worker, raw_worker
from qcowgui.engine.work import CancelToken, Counter, Executor, raise_outcome, run
from qcowgui.errors import ImageError, SourceError, VerifyError
from qcowgui.format.geometry import Geometry
from qcowgui.image.chain import OpenedImage, open_image
from qcowgui.image.layer import LostRange
from qcowgui.image.references import DENY, Gate
from qcowgui.units import SECTOR_BYTES, format_offset

if TYPE_CHECKING:
    from qcowgui.convert.carried_bitmaps import BitmapSource
    from qcowgui.convert.options import ConvertOptions

Tick = Callable[[], None]
Warn = Callable[[str], None]
BeforeMove = Callable[[Path, Sequence[LostRange]], None]


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
        bitmaps: The names of the bitmaps that the target has, fit to be shown.
        losses_path: The list of the losses, where one was written.
    """

    virtual_bytes: int
    source_bytes: int
    target_bytes: int
    target_disk_bytes: int | None
    seconds: float
    verified: bool
    losses: tuple[LostRange, ...]
    warnings: tuple[str, ...]
    bitmaps: tuple[str, ...] = ()
    losses_path: Path | None = None


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
                `options.source`; what it gives is closed at the end, and its losses are for the
                caller to write down.
        """
        self.options = options
        self._open_source = open_source or (lambda: opened_source(options, gate))
        self._lists_losses = options.salvage and open_source is None
        self.token = CancelToken()
        self._gate = gate
        self._named = options
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
        self,
        executor: Executor,
        *,
        tick: Tick | None = None,
        warn: Warn | None = None,
        before_move: BeforeMove | None = None,
    ) -> ConvertResult:
        """Convert; returns when the target is in place.

        Args:
            executor: Where the workers run.
            tick: Called in this thread about ten times a second.
            warn: Told in this thread what is known before the work starts, in whole sentences. They
                are among the result's warnings, too.
            before_move: Told in this thread of the finished file and of what it lacks, when only
                the move to the target's place is left.

        Raises:
            QcowError: When something is wrong with the source, the options or the target; the
                target is then as it was before.
            Cancelled: When the token was set; likewise.
        """
        started = time.monotonic()
        options = self.options
        check_target(options.target, overwrite=options.overwrite)
        if self._lists_losses:
            check_target(losses_path(options.target), overwrite=may_replace_list(options))
        with ExitStack() as files:
            source = files.enter_context(self._open_source())
            refuse_same_file(options.target, source.identities)
            if self._lists_losses:
                refuse_same_file(losses_path(options.target), source.identities)
            # A source without a usable mapping is what to tell, not that its target has no room.
            next(source.iter_extents(0, SECTOR_BYTES), None)
            self._named = options = with_named_backing(options, source)
            bitmaps = self._open_bitmaps(source, files)
            foreseen = self._foresee(source)
            if warn is not None:
                for warning in foreseen:
                    warn(warning)
            self.token.raise_if_cancelled()
            base = open_backing(options, self._gate)
            if base is not None:
                files.enter_context(base)
            output = files.enter_context(OutputFile(options.target, overwrite=options.overwrite))
            self._output = output
            self._convert(source, base, output, executor, tick, bitmaps)
            if options.verify:
                self._verify(source, output.path, executor, tick, bitmaps)
            # A copy of something that changed underneath may never have been its content.
            source.require_unchanged()
            self.token.raise_if_cancelled()
            result = self._put_in_place(source, output, bitmaps, before_move)
            return replace(
                result,
                seconds=time.monotonic() - started,
                warnings=(*result.warnings, *foreseen),
            )

    def _open_bitmaps(self, source: OpenedImage, files: ExitStack) -> BitmapSource | None:
        """The bitmaps that the target gets; None when none were asked for or the source has none.

        Raises:
            SourceError: When the operating system refuses a read, or when the path leads to another
                file meanwhile.
            Cancelled: When the token was set.
        """
        report = source.report
        if not self.options.bitmaps or report is None or not report.bitmaps:
            return None
        from qcowgui.convert.carried_bitmaps import BitmapSource

        layer = source.chain[0]
        return files.enter_context(BitmapSource(layer.path, layer.identity, report, self.token))

    def _foresee(self, source: OpenedImage) -> tuple[str, ...]:
        """What to warn of before any file is made.

        Raises:
            OutputError: When there is no room for the target, whatever the source holds.
        """
        options = self.options
        if reserved := reserved_bytes(options, source.size_bytes):
            check_room(options.target, reserved, sparse=False)
        if options.target_format != "raw" or reserved:
            return ()
        warning = check_room(options.target, source.size_bytes, sparse=True)
        return (warning,) if warning else ()

    def _convert(
        self,
        source: OpenedImage,
        base: OpenedImage | None,
        output: OutputFile,
        executor: Executor,
        tick: Tick | None,
        bitmaps: BitmapSource | None,
    ) -> None:
        options, size = self._named, source.size_bytes
        counter = self._start_phase(Phase.CONVERTING, size)
        work = Work(options, source, base, self.token, counter)
        reserve(output, options, size, self.token)
        if options.target_format == "raw":
            raw = RawWriter(output, size_bytes=size, sparse_bytes=options.sparse_bytes)
            raise_outcome(run(executor, raw_worker(work, raw), self.token, tick=tick))
        else:
            geometry = Geometry(options.cluster_bits, options.extended_l2, options.refcount_order)
            check_virtual_size(geometry, size)
            writer = Qcow2Writer(
                output,
                options,
                virtual_bytes=size,
                workers=executor.threads,
                bitmaps=bitmaps,
            )
            raise_outcome(run(executor, qcow2_worker(work, writer), self.token, tick=tick))
            writer.finish(self.token)
        # What lies behind the last batch was skipped as well.
        counter.add(size - counter.value)

    def _start_phase(self, phase: Phase, total_bytes: int) -> Counter:
        counter = Counter()
        # One assignment, so that `progress` never mixes two phases.
        self._stage = _Stage(phase, counter, total_bytes)
        return counter

    def _verify(
        self,
        source: OpenedImage,
        path: Path,
        executor: Executor,
        tick: Tick | None,
        bitmaps: BitmapSource | None,
    ) -> None:
        """Read the written image through the strict reader and compare it with the source.

        Raises:
            VerifyError: At the first guest byte that differs or can't be read back, or when a
                bitmap differs.
            OutputError: When the system refuses to open or read the written file.
        """
        hint = "nothing was kept; the storage, or this program, is at fault"
        counter = self._start_phase(Phase.VERIFYING, source.size_bytes)
        try:
            with open_image(
                path,
                format=self.options.target_format,
                gate=gate_with_backing(self._named, self._gate),
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
                lost = None
                if found is None and bitmaps is not None:
                    lost = bitmaps.first_difference(path)
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
        if found is not None or lost is not None:
            source.require_unchanged()  # or the source is at fault
        if found is not None:
            raise VerifyError(
                f"The result differs from the source at guest offset {format_offset(found)}",
                guest_offset=found,
                hint=hint,
            )
        if lost is not None:
            raise VerifyError(
                f"The result has not the bitmap {lost!r} as the source has it",
                guest_offset=0,
                hint=hint,
            )

    def _put_in_place(
        self,
        source: OpenedImage,
        output: OutputFile,
        bitmaps: BitmapSource | None,
        before_move: BeforeMove | None,
    ) -> ConvertResult:
        """Move the finished file, and the list of its losses, to where they belong.

        The result's seconds and foreseen warnings are for the caller to add.
        """
        options = self.options
        self._stage = self._stage._replace(phase=Phase.FINISHING)
        losses = tuple(source.losses.ranges()) if source.losses is not None else ()
        listed = write_losses(options, losses) if self._lists_losses else None

        def ready() -> None:
            if before_move is not None:
                before_move(output.path, losses)

        status = move_with_list(output, listed, self.token, ready)
        if options.overwrite and not self._lists_losses:
            remove_stale_list(options.target)
        carried = bitmaps.carried if bitmaps is not None else None
        blocks = getattr(status, "st_blocks", None)
        return ConvertResult(
            virtual_bytes=source.size_bytes,
            source_bytes=source.chain[0].file_bytes,
            target_bytes=status.st_size,
            target_disk_bytes=None if blocks is None else blocks * 512,
            seconds=0.0,
            verified=options.verify,
            losses=losses,
            warnings=tuple(source_warnings(options, source, losses, carried)),
            bitmaps=tuple(entry.name for entry in carried.kept) if carried is not None else (),
            losses_path=listed.target if listed is not None else None,
        )
