"""What a compressed conversion will give: size, time and readers, from a sample of the disk.

Small cells spread over the disk say how much the reference makes of the whole. Every candidate is
tried on a part of them, or of the large cells, and its proportion to the reference there gives its
own sum: two-phase sampling. The same seed draws the same cells, so sizes are the same each time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from qcowgui.convert.forecast_sampling import (
    CONFIDENCE,
    Estimate,
    Frame,
    count_cells,
    draw,
    iter_cell_starts,
)
from qcowgui.convert.forecast_size import (
    Reference,
    estimate_data,
    file_bytes,
    geometry_of,
    l1_coverage_bytes,
    measure_reference,
    packing_factor,
    relate,
)
from qcowgui.convert.forecast_time import (
    Workload,
    estimate_seconds,
    measure_contention,
    measure_reading,
    probe_folder,
)
from qcowgui.convert.forecast_trial import (
    COARSE_BYTES,
    COARSE_REFERENCE,
    FINE_BYTES,
    REFERENCE,
    Candidate,
    Cell,
    TrialWorker,
)
from qcowgui.convert.options import Compression
from qcowgui.convert.plan import iter_stored_ranges
from qcowgui.convert.qcow2_header import check_virtual_size
from qcowgui.engine.work import CancelToken, Counter, Executor, SharedIterator, raise_outcome, run
from qcowgui.image.chain import OpenedImage
from qcowgui.units import KIB, MIB

__all__ = ["DEFAULT_CANDIDATES", "Candidate", "Estimate", "Forecast", "ForecastJob"]

_DEFAULT_LEVELS: Final[tuple[tuple[Compression, int], ...]] = (
    ("zlib", 1),
    ("zlib", 6),
    ("zlib", 9),
    ("zstd", 1),
    ("zstd", 3),
    ("zstd", 9),
)
DEFAULT_CANDIDATES: Final = tuple(
    Candidate(compression, level, cluster_bytes)
    for cluster_bytes in (64 * KIB, 2 * MIB)
    for compression, level in _DEFAULT_LEVELS
)
DEFAULT_SEED: Final = 1
_FINE_CELLS: Final = 4096
"""256 MiB. Sizes of cells differ by some 70 % among each other, so their mean is within 2 %."""
_COARSE_CELLS: Final = 96
"""192 MiB."""
_GROUP_BYTES: Final = 4 * MIB
_NEAR_SIZE: Final = 1.05
"""A size that is no more than this times the smallest is as good."""

_COMPATIBILITY: Final = {
    "none": "Read by every program that knows qcow2.",
    "zlib": "Read by QEMU and nearly every other program; a few strict ones need a window of 4k.",
    "zstd": "Needs QEMU 5.1 or newer; several other programs, 7-Zip among them, can't read it.",
}


@dataclass(frozen=True, slots=True)
class CandidateForecast:
    """What is expected of one candidate.

    Attributes:
        candidate: Which one.
        size: The target's length in bytes.
        seconds: From the conversion's start to the target being in place.
        ratio: Bytes of the disk that are stored in the source, for each byte of the target.
        compatibility: Who can read it, in whole sentences.
    """

    candidate: Candidate
    size: Estimate
    seconds: Estimate
    ratio: float
    compatibility: str


@dataclass(frozen=True, slots=True)
class Forecast:
    """The candidates, the recommended one first and the others by their expected sizes.

    Attributes:
        candidates: At least one.
        virtual_bytes: Size of the virtual disk.
        stored_bytes: Guest bytes that may hold something else than zeros.
        sampled_bytes: Guest bytes that were read.
        threads: Workers, in the trial as in the conversion.
        verify: Whether the seconds include reading the result again.
        write_measured: Whether they include writing: the target's folder could be tried.
        confidence: With which a size lies in its range.
    """

    candidates: tuple[CandidateForecast, ...]
    virtual_bytes: int
    stored_bytes: int
    sampled_bytes: int
    threads: int
    verify: bool
    write_measured: bool
    confidence: float = CONFIDENCE

    @property
    def recommended(self) -> CandidateForecast:
        """The quickest of those whose size comes near the smallest."""
        return self.candidates[0]


@dataclass(slots=True)
class _Sample:
    """Cells of one size, `wanted` of them or all that there are."""

    cell_bytes: int
    wanted: int
    cells: list[Cell] = field(default_factory=list)

    @property
    def is_fine(self) -> bool:
        return self.cell_bytes == FINE_BYTES

    @property
    def references(self) -> tuple[Candidate, ...]:
        """What is tried on every cell."""
        return (REFERENCE,) if self.is_fine else (REFERENCE, COARSE_REFERENCE)

    def iter_groups(self) -> Iterator[Sequence[Cell]]:
        """The cells, as many together as one worker takes."""
        size = _GROUP_BYTES // self.cell_bytes
        for start in range(0, len(self.cells), size):
            yield self.cells[start : start + size]

    @property
    def sampled_bytes(self) -> int:
        return sum(cell.end - cell.start for cell in self.cells)


class ForecastJob:
    """One forecast; `run` it once.

    Attributes:
        token: Stops the job: its `cancel` may be called from any thread.
    """

    def __init__(
        self,
        source: OpenedImage,
        candidates: Sequence[Candidate] = DEFAULT_CANDIDATES,
        *,
        target_folder: Path | None = None,
        verify: bool = True,
        seed: int = DEFAULT_SEED,
    ) -> None:
        """A job that has not started.

        Args:
            source: What would be converted; it stays open.
            candidates: At least one; each once.
            target_folder: Where the target would be, to try how quickly it takes data; None
                leaves writing out of the seconds.
            verify: Whether the conversion would verify.
            seed: Of the sample.

        Raises:
            ValueError: When there is no candidate.
            OptionsError: When the disk is too large for one's clusters.
        """
        if not candidates:
            raise ValueError("a forecast needs a candidate")
        for candidate in candidates:
            check_virtual_size(geometry_of(candidate), source.size_bytes)
        self.token = CancelToken()
        self._source = source
        self._candidates = tuple(dict.fromkeys(candidates))
        self._target_folder = target_folder
        self._verify = verify
        self._chance = random.Random(seed)  # noqa: S311  a sample, no secret
        self._counter = Counter()
        self._total_bytes = 0
        self._counts: dict[int, int] = {}
        self._fine = _Sample(FINE_BYTES, _FINE_CELLS)
        self._coarse = _Sample(COARSE_BYTES, _COARSE_CELLS)

    def progress(self) -> tuple[int, int]:
        """Guest bytes read so far, and in all; 0 in all while the disk is looked through.

        Thread-safe.
        """
        return self._counter.value, self._total_bytes

    def run(self, executor: Executor, *, tick: Callable[[], None] | None = None) -> Forecast:
        """Read the sample once and try the candidates on it.

        Args:
            executor: Where the workers run; the conversion is taken to have as many threads.
            tick: Called in this thread about ten times a second.

        Raises:
            ImageError: When the source can't be read.
            SourceError: When the operating system refuses a read.
            Cancelled: When the token was set.
        """
        sizes = {FINE_BYTES, COARSE_BYTES, *map(l1_coverage_bytes, self._candidates)}
        self._counts = count_cells(self._ranges(), sizes)
        self._draw(self._fine)
        self._draw(self._coarse)
        groups = SharedIterator([*self._coarse.iter_groups(), *self._fine.iter_groups()])
        self._total_bytes = self._coarse.sampled_bytes + self._fine.sampled_bytes
        raise_outcome(run(executor, partial(self._work, groups), self.token, tick=tick))
        return self._conclude(executor.threads)

    def _ranges(self) -> Iterator[tuple[int, int]]:
        return iter_stored_ranges(self._source, self.token)

    def _draw(self, sample: _Sample) -> None:
        """Draw the cells of a sample, and say what is tried on each."""
        size = sample.cell_bytes
        numbers = draw(self._counts[size], sample.wanted, self._chance)
        mine = [item for item in self._candidates if item.is_fine is sample.is_fine]
        strides = {candidate: candidate.stride(len(numbers)) for candidate in mine}
        for index, start in enumerate(iter_cell_starts(self._ranges(), size, numbers)):
            tried = [candidate for candidate in mine if index % strides[candidate] == 0]
            end = min(start + size, self._source.size_bytes)
            if mine or sample.is_fine:  # else the cell is only read, for the time that takes
                tried = [*sample.references, *tried]
            sample.cells.append(Cell(start, end, tuple(dict.fromkeys(tried))))

    def _work(self, groups: SharedIterator[Sequence[Cell]], _worker_index: int) -> None:
        worker = TrialWorker(
            self._source, (*self._coarse.references, *self._candidates), self.token
        )
        for cell in worker.iter_tried(groups):
            self._counter.add(cell.end - cell.start)

    def _conclude(self, threads: int) -> Forecast:
        folder = self._target_folder
        write = probe_folder(folder, self.token.raise_if_cancelled) if folder else None
        reading = measure_reading(self._coarse.cells, self._frame(self._coarse))
        contention = measure_contention([*self._coarse.cells, *self._fine.cells])
        workload = Workload(threads, contention, *reading, self._verify, write)
        fine = measure_reference(self._fine.cells, self._frame(self._fine))
        known = [fine]
        if any(not item.is_fine for item in self._candidates):
            frame = self._frame(self._coarse)
            known.append(relate(COARSE_REFERENCE, self._coarse.cells, frame, fine))
        stored = min(self._counts[FINE_BYTES] * FINE_BYTES, self._source.size_bytes)
        found = [
            self._judge(item, known[:1] if item.is_fine else known, workload, stored)
            for item in self._candidates
        ]
        return Forecast(
            tuple(_best_first(found)),
            self._source.size_bytes,
            stored,
            self._coarse.sampled_bytes + self._fine.sampled_bytes,
            threads,
            self._verify,
            write is not None,
        )

    def _frame(self, sample: _Sample) -> Frame:
        return Frame(sample.cell_bytes, self._counts[sample.cell_bytes])

    def _judge(
        self,
        candidate: Candidate,
        references: Sequence[Reference],
        workload: Workload,
        stored_bytes: int,
    ) -> CandidateForecast:
        sample = self._fine if candidate.is_fine else self._coarse
        frame = self._frame(sample)
        cells = [cell for cell in sample.cells if candidate in cell.trials]
        data = estimate_data(candidate, cells, frame, references)
        packed = packing_factor(candidate, cells, self._source.batch_bytes)
        to_file = partial(
            file_bytes,
            geometry_of(candidate),
            virtual_bytes=self._source.size_bytes,
            l2_tables=self._counts[l1_coverage_bytes(candidate)],
        )
        size = Estimate(*(to_file(part * packed) for part in (data.low, data.expected, data.high)))
        seconds = estimate_seconds(candidate, cells, frame, workload, data.expected)
        return CandidateForecast(
            candidate,
            size,
            seconds,
            stored_bytes / size.expected,
            _COMPATIBILITY[candidate.compression],
        )


def _best_first(found: Sequence[CandidateForecast]) -> list[CandidateForecast]:
    """The quickest of those that come near the smallest size, then all others by size."""
    ordered = sorted(found, key=lambda item: (item.size.expected, item.seconds.expected))
    near = ordered[0].size.expected * _NEAR_SIZE
    best = min(
        (item for item in ordered if item.size.expected <= near),
        key=lambda item: item.seconds.expected,
    )
    return [best, *(item for item in ordered if item is not best)]
