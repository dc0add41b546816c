"""The sample of a disk as a raw file, which everything that is measured starts from."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from qcowgui.convert.benchmark_plan import BenchmarkPlan
from qcowgui.convert.forecast_sampling import count_cells, draw, iter_cell_starts
from qcowgui.convert.forecast_trial import COARSE_BYTES
from qcowgui.convert.options import Compression, ConvertOptions
from qcowgui.convert.output import OutputFile
from qcowgui.convert.plan import iter_stored_ranges
from qcowgui.engine.work import (
    CancelToken,
    Counter,
    Executor,
    SharedIterator,
    raise_outcome,
    run,
)
from qcowgui.errors import OptionsError
from qcowgui.image.chain import OpenedImage
from qcowgui.units import ceil_div

Tick = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Sample:
    """Cells of 2 MiB that were drawn from a disk, one behind the other in a raw file.

    So every cluster size finds whole clusters in it, and the last cell alone may be shorter.

    Attributes:
        path: The file; zeros in it are holes.
        size_bytes: Its length.
        frame_bytes: Guest bytes of all cells that store something: what was drawn from.
    """

    path: Path
    size_bytes: int
    frame_bytes: int

    def target_options(
        self, target: Path, cluster_bytes: int, compression: Compression
    ) -> ConvertOptions:
        """A conversion of it to qcow2, at the defaults but without verifying."""
        return ConvertOptions(
            self.path,
            target,
            target_format="qcow2",
            source_format="raw",
            compression=compression,
            cluster_bytes=cluster_bytes,
            verify=False,
        )


class Sampler:
    """Draws a sample; `run` it once.

    Attributes:
        counter: Guest bytes written so far.
        total_bytes: Guest bytes of the sample; 0 while the disk is looked through.
    """

    def __init__(self, source: OpenedImage, plan: BenchmarkPlan, token: CancelToken) -> None:
        self.counter = Counter()
        self.total_bytes = 0
        self._source = source
        self._plan = plan
        self._token = token

    def run(self, path: Path, executor: Executor, tick: Tick | None) -> Sample:
        """Write the sample to `path`, which does not exist yet.

        Raises:
            OptionsError: When the disk stores nothing.
            ImageError: When the source can't be read.
            SourceError: When the operating system refuses a read.
            OutputError: When the file can't be written.
            Cancelled: When the token was set.
        """
        frame = count_cells(self._ranges(), (COARSE_BYTES,))[COARSE_BYTES]
        if not frame:
            raise OptionsError(
                "The disk stores nothing, so there is nothing to compress or to read",
                hint="choose an image that holds data",
            )
        wanted = self._plan.sample_bytes
        cells = frame if wanted is None else min(frame, ceil_div(wanted, COARSE_BYTES))
        chance = random.Random(self._plan.seed)  # noqa: S311  a sample, no secret
        numbers = draw(frame, cells, chance)
        starts = list(iter_cell_starts(self._ranges(), COARSE_BYTES, numbers))
        size_bytes = (cells - 1) * COARSE_BYTES + self._end(starts[-1]) - starts[-1]
        self.total_bytes = size_bytes
        with OutputFile(path, overwrite=False) as output:
            copy = partial(self._copy, SharedIterator(enumerate(starts)), output)
            raise_outcome(run(executor, copy, self._token, tick=tick))
            output.set_size(size_bytes)
            output.commit(before_move=self._token.raise_if_cancelled)
        stored_bytes = min(frame * COARSE_BYTES, self._source.size_bytes)
        return Sample(path, size_bytes, stored_bytes)

    def _copy(
        self, places: SharedIterator[tuple[int, int]], output: OutputFile, _worker_index: int
    ) -> None:
        """Copy cells, given by their numbers in the sample and their guest offsets."""
        context = self._source.context()
        for index, start in places:
            self._token.raise_if_cancelled()
            end = self._end(start)
            for piece in self._source.read_pieces(start, end, context):
                output.write_at(index * COARSE_BYTES + piece.start - start, piece.data)
            self.counter.add(end - start)

    def _end(self, start: int) -> int:
        return min(start + COARSE_BYTES, self._source.size_bytes)

    def _ranges(self) -> Iterator[tuple[int, int]]:
        return iter_stored_ranges(self._source, self._token)
