"""How fast every way to compress is on a user's own image, and how fast the result is read.

Everything starts from a sample, a raw file in a temporary folder that is gone at the end: the
matrix of codecs works on its bytes, random reads and whole conversions on images made of it.
Runs go round: each thing is measured once, then each again, so that a busy moment of the machine
spreads over all.
"""

from __future__ import annotations

import platform
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from qcowgui.convert.benchmark_peers import Conversion, Peers, Program, find_peers, run_command
from qcowgui.convert.benchmark_plan import BenchmarkPlan, Setting
from qcowgui.convert.benchmark_reads import draw_places, time_reads
from qcowgui.convert.benchmark_result import (
    Benchmark,
    CodecFigures,
    Machine,
    PeerFigures,
    ReadFigures,
    spread_of,
)
from qcowgui.convert.benchmark_sample import Sample, Sampler
from qcowgui.convert.benchmark_trial import CodecTrial, Timing
from qcowgui.convert.compare import first_difference
from qcowgui.convert.job import ConvertJob
from qcowgui.convert.options import Compression
from qcowgui.engine.work import CancelToken, Counter, Executor, default_threads
from qcowgui.errors import ImageError, OutputError, SourceError
from qcowgui.image.chain import OpenedImage, open_image
from qcowgui.units import MIB

Tick = Callable[[], None]
Executors: TypeAlias = Callable[[int], AbstractContextManager[Executor]]
"""Gives an executor with so many threads."""

_PART_BYTES: Final = 64 * MIB
"""Of the sample in memory at a time: a multiple of every cluster size."""
_PREFIX: Final = "qcowgui-bench-"
_LIBRARIES: Final = ("deflate", "zstandard", "zlib-ng", "isal")


class Stage(Enum):
    """Where a benchmark stands."""

    SAMPLING = "taking a sample"
    CODECS = "compressing and decompressing"
    READS = "reading at random"
    PEERS = "converting with each program"


class Progress(NamedTuple):
    """How far a benchmark is.

    Attributes:
        stage: What it does.
        done: Of this stage: guest bytes, single reads, or conversions with the other programs.
        total: Of this stage; 0 while it is not known.
    """

    stage: Stage
    done: int
    total: int


@dataclass(slots=True)
class _CodecSums:
    """What the runs of one cell of the matrix have given so far, each summed over its parts."""

    timings: list[Timing] = field(default_factory=list)
    guest_bytes: int = 0

    def add(self, run_index: int, part_bytes: int, timing: Timing) -> None:
        if run_index == len(self.timings):
            self.timings.append(timing)
        else:
            self.timings[run_index] = self.timings[run_index].plus(timing)
        if run_index == 0:
            self.guest_bytes += part_bytes

    def figures(self, setting: Setting) -> CodecFigures:
        decoded = [run.decoded_bytes / run.decode_seconds for run in self.timings]
        return CodecFigures(
            setting,
            self.guest_bytes,
            self.timings[0].stored_bytes,
            spread_of([run.encoded_bytes / run.encode_seconds for run in self.timings]),
            spread_of(decoded) if any(decoded) else None,
        )


class BenchmarkJob:
    """One benchmark; `run` it once.

    Attributes:
        token: Stops the job: its `cancel` may be called from any thread.
    """

    def __init__(self, source: OpenedImage, plan: BenchmarkPlan) -> None:
        """A job that has not started.

        Args:
            source: The image; it stays open, and nothing is written to it.
            plan: What to measure.
        """
        self.token = CancelToken()
        self._source = source
        self._plan = plan
        self._stage: tuple[Stage, Counter, int] = Stage.SAMPLING, Counter(), 0
        self._sampler: Sampler | None = None
        self._found = Benchmark(plan, Machine(default_threads(), _system(), ()))

    def progress(self) -> Progress:
        """How far the job is. Thread-safe."""
        sampler = self._sampler
        if sampler is not None:
            return Progress(Stage.SAMPLING, sampler.counter.value, sampler.total_bytes)
        stage, counter, total = self._stage
        return Progress(stage, counter.value, total)

    @property
    def found(self) -> Benchmark:
        """The figures so far. Thread-safe."""
        return self._found

    def run(self, executors: Executors, *, tick: Tick | None = None) -> Benchmark:
        """Measure everything.

        Args:
            executors: Where the codecs work; asked for each number of threads.
            tick: Called in this thread now and then, ten times a second where nothing else runs.

        Raises:
            OptionsError: When the disk stores nothing.
            ImageError: When the source can't be read.
            SourceError: When the operating system refuses a read.
            OutputError: When the temporary files can't be written.
            VerifyError: When something does not give back what it was given.
            Cancelled: When the token was set.
        """
        plan = self._plan
        counts = dict.fromkeys((*plan.threads, default_threads()))
        with _temporary_folder(plan.folder) as folder, ExitStack() as stack:
            pools = {threads: stack.enter_context(executors(threads)) for threads in counts}
            work = _Work(folder, pools, tick)
            peers = find_peers() if plan.peers else Peers((), ())
            self._found = replace(
                self._found,
                machine=Machine(
                    default_threads(), _system(), (*_library_versions(), *peers.versions)
                ),
                virtual_bytes=self._source.size_bytes,
            )
            sample = self._take_sample(work)
            self._measure_codecs(sample, work)
            if plan.reads:
                self._measure_reads(sample, work)
            if len(peers.programs) > 0:
                self._measure_peers(sample, peers, work)
        return self._found

    def _take_sample(self, work: _Work) -> Sample:
        self._sampler = sampler = Sampler(self._source, self._plan, self.token)
        sample = sampler.run(work.folder / "sample.raw", work.pool, work.tick)
        self._found = replace(
            self._found, frame_bytes=sample.frame_bytes, sample_bytes=sample.size_bytes
        )
        self._sampler = None
        return sample

    def _enter(self, stage: Stage, total: int) -> Counter:
        counter = Counter()
        # One assignment, so that `progress` never mixes two stages.
        self._stage = stage, counter, total
        return counter

    # ------------------------------------------------------------------ codecs

    def _measure_codecs(self, sample: Sample, work: _Work) -> None:
        plan = self._plan
        settings = list(plan.iter_settings())
        counter = self._enter(Stage.CODECS, plan.runs * len(settings) * sample.size_bytes)
        sums = {setting: _CodecSums() for setting in settings}
        with open_image(sample.path, format="raw") as raw:
            for run_index in range(plan.runs):
                for start in range(0, sample.size_bytes, _PART_BYTES):
                    length = min(_PART_BYTES, sample.size_bytes - start)
                    part = memoryview(raw.read(start, length))
                    for setting, kept in sums.items():
                        executor = work.pools[setting.threads]
                        trial = CodecTrial(setting, executor, self.token, work.tick)
                        kept.add(run_index, length, trial.measure(part, check=run_index == 0))
                        counter.add(length)
                        self._show_codecs(sums)

    def _show_codecs(self, sums: dict[Setting, _CodecSums]) -> None:
        tried = {item: kept for item, kept in sums.items() if kept.timings}
        least = min(item.threads for item in tried)
        runs = [
            run for item, kept in tried.items() if item.threads == least for run in kept.timings
        ]
        seconds = sum(run.encode_seconds + run.decode_seconds for run in runs)
        self._found = replace(
            self._found,
            codecs=tuple(kept.figures(item) for item, kept in tried.items()),
            core_share=min(1.0, sum(run.core_seconds for run in runs) / (seconds * least)),
        )

    # ------------------------------------------------------------------- reads

    def _measure_reads(self, sample: Sample, work: _Work) -> None:
        plan = self._plan
        with open_image(sample.path, format="raw") as raw:
            places = draw_places(raw, plan.reads, plan.seed)
        images = list(plan.iter_images())
        counter = self._enter(Stage.READS, plan.runs * len(images) * len(places))
        if not places:
            return

        def on_read() -> None:
            counter.add(1)
            if work.tick is not None:
                work.tick()

        for cluster_bytes, compression in images:
            with self._written(sample, cluster_bytes, compression, work) as path:
                runs = [time_reads(path, places, self.token, on_read) for _ in range(plan.runs)]
                figures = ReadFigures(
                    cluster_bytes,
                    compression,
                    path.stat().st_size,
                    spread_of([statistics.median(run) for run in runs]),
                    spread_of([percentile(run, 99) for run in runs]),
                )
            self._found = replace(self._found, reads=(*self._found.reads, figures))

    @contextmanager
    def _written(
        self, sample: Sample, cluster_bytes: int, compression: Compression, work: _Work
    ) -> Iterator[Path]:
        """The sample as a qcow2 image, which is removed at the end."""
        target = work.folder / "sample.qcow2"
        job = ConvertJob(sample.target_options(target, cluster_bytes, compression))
        job.token = self.token
        try:
            job.run(work.pool, tick=work.tick)
            yield target
        finally:
            target.unlink(missing_ok=True)

    # ------------------------------------------------------------------- peers

    def _measure_peers(self, sample: Sample, peers: Peers, work: _Work) -> None:
        images = list(self._plan.iter_images())
        total = 2 * len(images) * len(peers.programs) * self._plan.runs
        counter = self._enter(Stage.PEERS, total)
        for cluster_bytes, compression in images:
            with self._written(sample, cluster_bytes, compression, work) as qcow2:
                raw_target, qcow2_target = work.folder / "peer.raw", work.folder / "peer.qcow2"
                unpack = Conversion(qcow2, raw_target, False, cluster_bytes, compression)
                pack = Conversion(sample.path, qcow2_target, True, cluster_bytes, compression)
                for task in (unpack, pack):
                    self._in_turn(sample, task, peers.programs, work, counter)

    def _in_turn(
        self,
        sample: Sample,
        task: Conversion,
        programs: tuple[Program, ...],
        work: _Work,
        counter: Counter,
    ) -> None:
        """Let every program do the same, one behind the other, as often as there are runs."""
        seconds: dict[str, list[float]] = {program.name: [] for program in programs}
        failures: dict[str, str] = {}
        lengths: dict[str, int] = {}
        for run_index in range(self._plan.runs):
            for program in programs:
                command = program.command(task)
                if command is not None and program.name not in failures:
                    ran = run_command(command, work.folder, self.token, work.tick)
                    failure = ran.failure
                    if not failure and run_index == 0:
                        failure, lengths[program.name] = self._judge(sample, task, work)
                    if failure:
                        failures[program.name] = failure
                    seconds[program.name].append(ran.seconds)
                    task.target.unlink(missing_ok=True)
                counter.add(1)
        figures = [
            PeerFigures(
                task.cluster_bytes,
                task.compression,
                task.writes_qcow2,
                name,
                None if name in failures else spread_of(taken),
                0 if name in failures else lengths[name],
                failures.get(name, ""),
            )
            for name, taken in seconds.items()
            if taken
        ]
        self._found = replace(self._found, peers=(*self._found.peers, *figures))

    def _judge(self, sample: Sample, task: Conversion, work: _Work) -> tuple[str, int]:
        """What is wrong with the file that a program wrote, "" when nothing is; and its length."""
        _, written_format = task.formats
        try:
            with (
                open_image(sample.path, format="raw") as raw,
                open_image(task.target, format=written_format) as written,
            ):
                place = first_difference(raw, written, work.pool, token=self.token, tick=work.tick)
                file_bytes = written.chain[0].file_bytes
        except (ImageError, SourceError) as error:
            return f"what it wrote can't be read: {error.message}", 0
        if place is not None:
            return f"what it wrote differs from the sample at {place:#x}", 0
        return "", file_bytes


class _Work(NamedTuple):
    """What all stages need.

    Attributes:
        folder: For temporary files.
        pools: By number of threads.
        tick: As `run` was given it.
    """

    folder: Path
    pools: dict[int, Executor]
    tick: Tick | None

    @property
    def pool(self) -> Executor:
        """One thread a core."""
        return self.pools[default_threads()]


def percentile(values: list[float], percent: int) -> float:
    """The value that `percent` of 100 values do not exceed, of at least one."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


@contextmanager
def _temporary_folder(parent: Path | None) -> Iterator[Path]:
    """A new folder in `parent` that is gone at the end.

    Raises:
        OutputError: When it can't be made.
    """
    try:
        made = tempfile.TemporaryDirectory(prefix=_PREFIX, dir=parent, ignore_cleanup_errors=True)
    except OSError as error:
        place = parent or Path(tempfile.gettempdir())
        raise OutputError(
            f"{place} takes no temporary files: {error.strerror}",
            path=str(place),
            errno=error.errno,
            hint="choose another folder",
        ) from error
    with made as name:
        yield Path(name).resolve()


def _system() -> str:
    return f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"


def _library_versions() -> Iterator[tuple[str, str]]:
    for name in _LIBRARIES:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            continue
