"""The work behind the benchmark view, and its figures as tables. Knows no widgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PySide6.QtCore import QCoreApplication

from qcowgui.convert.benchmark import BenchmarkJob, Progress, Stage
from qcowgui.convert.benchmark_plan import BenchmarkPlan
from qcowgui.convert.benchmark_records import benchmark_object, csv_text
from qcowgui.convert.benchmark_result import (
    Benchmark,
    CodecFigures,
    PeerFigures,
    ReadFigures,
    Spread,
)
from qcowgui.convert.options import Compression
from qcowgui.convert.output import OutputFile, refuse_same_file
from qcowgui.engine.work import CancelToken, Executor
from qcowgui.gui.formatters import NOTHING, Column, Row, SortKey, Table, Tone
from qcowgui.gui.translation import count_text
from qcowgui.image.chain import open_image
from qcowgui.image.references import Gate
from qcowgui.image.source import Identity
from qcowgui.report.schema import SCHEMA
from qcowgui.units import format_size

translate = QCoreApplication.translate

CSV_SUFFIX: Final = ".csv"


@dataclass(slots=True, eq=False)
class BenchmarkWork:
    """Measures one image; nothing is written to it.

    Attributes:
        path: The image.
        gate: Which files it refers to may be opened.
        plan: What to measure.
        executors: What the codecs run on, by number of threads: those of the plan and one a core.
        identities: Of the image's own files, once it is open.
    """

    path: Path
    gate: Gate
    plan: BenchmarkPlan
    executors: Mapping[int, Executor]
    identities: frozenset[Identity] = frozenset()
    _job: BenchmarkJob | None = None

    def __call__(self, token: CancelToken) -> Benchmark:
        """All figures.

        Raises:
            QcowError: When the image can't be read, or the temporary files can't be written.
            Cancelled: When the token asks for it.
        """
        token.raise_if_cancelled()
        with open_image(self.path, gate=self.gate) as source:
            self.identities = source.identities
            job = BenchmarkJob(source, self.plan)
            job.token = token
            self._job = job
            return job.run(lambda threads: nullcontext(self.executors[threads]))

    @property
    def progress(self) -> Progress:
        """How far it is. Thread-safe."""
        return Progress(Stage.SAMPLING, 0, 0) if self._job is None else self._job.progress()

    @property
    def found(self) -> Benchmark | None:
        """The figures so far. Thread-safe."""
        return None if self._job is None else self._job.found


@dataclass(frozen=True, slots=True)
class SaveWork:
    """Writes figures to a file, as CSV or, by its name, as JSON.

    Attributes:
        image: What was measured.
        identities: Of its files, which are never replaced.
        benchmark: The figures.
        target: The file; an existing one is replaced.
    """

    image: Path
    identities: frozenset[Identity]
    benchmark: Benchmark
    target: Path

    def __call__(self, token: CancelToken) -> Path:
        """The target, once it is in place.

        Raises:
            OutputError: When it can't be written, or is one of the image's files.
            Cancelled: When the token was set.
        """
        token.raise_if_cancelled()
        refuse_same_file(self.target, self.identities)
        with OutputFile(self.target, overwrite=True) as file:
            file.write_at(0, self._text().encode("utf-8"))
            file.commit(before_move=token.raise_if_cancelled)
        return self.target

    def _text(self) -> str:
        if self.target.suffix.lower() == CSV_SUFFIX:
            return csv_text(self.benchmark)
        import json

        head = {"schema": SCHEMA, "filename": str(self.image)}
        return json.dumps({**head, **benchmark_object(self.benchmark)}, indent=4) + "\n"


# ------------------------------------------------------------------- words


def stage_text(progress: Progress) -> str:
    """What is being done, in a sentence."""
    match progress.stage:
        case Stage.SAMPLING:
            return translate("benchmark", "Taking a sample of the disk…")
        case Stage.CODECS:
            return translate("benchmark", "Compressing and decompressing…")
        case Stage.READS:
            return translate("benchmark", "Reading at random places…")
    return translate("benchmark", "Converting with each program: {done} of {total}…").format(
        done=progress.done, total=progress.total
    )


def basis_text(benchmark: Benchmark) -> str:
    """What the figures hold for."""
    machine = benchmark.machine
    runs = max((item.compress.runs for item in benchmark.codecs), default=0)
    return translate("benchmark", "{sampled} of {stored} tried, {runs}; {system}, {cores}").format(
        sampled=format_size(benchmark.sample_bytes),
        stored=format_size(benchmark.frame_bytes),
        runs=count_text(runs, "run"),
        system=machine.system,
        cores=count_text(machine.cores, "core"),
    )


def disturbance_text(benchmark: Benchmark) -> str:
    """That other programs were busy, or ""."""
    if not benchmark.was_disturbed:
        return ""
    return translate(
        "benchmark",
        "The machine was busy: a thread had {share} of a core, so the figures are lower than they"
        " could be.",
    ).format(share=f"{benchmark.core_share:.0%}")


# ------------------------------------------------------------------ tables


def codec_table(benchmark: Benchmark) -> Table:
    """The matrix, a row for each of its cells."""
    return Table(
        (
            Column(translate("benchmark", "Cluster"), right=True),
            Column(translate("benchmark", "Backend")),
            Column(translate("benchmark", "Level"), right=True),
            Column(translate("benchmark", "Threads"), right=True),
            Column(translate("benchmark", "Size"), right=True),
            Column(translate("benchmark", "Ratio"), right=True),
            Column(translate("benchmark", "Compress, MB/s"), right=True),
            Column(translate("benchmark", "Decompress, MB/s"), right=True),
            Column("", wide=True),
        ),
        tuple(map(_codec_row, benchmark.codecs)),
        sortable=True,
    )


def _codec_row(item: CodecFigures) -> Row:
    size, method, threads = item.setting
    return Row(
        (
            format_size(size),
            method.backend,
            f"{method.level}",
            f"{threads}",
            format_size(item.stored_bytes),
            f"{item.ratio:.2f}",
            item.compress.text(1e-6),
            item.decompress.text(1e-6) if item.decompress else NOTHING,
            "",
        ),
        detail=translate("benchmark", "compression type {kind}").format(
            kind=method.compression_type.label
        ),
        sort_keys=(
            size,
            method.backend,
            method.level,
            threads,
            item.stored_bytes,
            round(item.ratio * 1000),
            round(item.compress.mean),
            _mean_key(item.decompress, 1),
            "",
        ),
    )


def _mean_key(spread: Spread | None, factor: float) -> int:
    return -1 if spread is None else round(spread.mean * factor)


def read_table(benchmark: Benchmark) -> Table:
    """The random reads, a row for each image."""
    return Table(
        (
            Column(translate("benchmark", "Cluster"), right=True),
            Column(translate("benchmark", "Type")),
            Column(translate("benchmark", "File"), right=True),
            Column(translate("benchmark", "Half within, µs"), right=True),
            Column(translate("benchmark", "99 of 100, µs"), right=True),
            Column("", wide=True),
        ),
        tuple(map(_read_row, benchmark.reads)),
        sortable=True,
    )


def _read_row(item: ReadFigures) -> Row:
    name = compression_text(item.compression)
    return Row(
        (
            format_size(item.cluster_bytes),
            name,
            format_size(item.file_bytes),
            item.p50.text(1e6),
            item.p99.text(1e6),
            "",
        ),
        sort_keys=(
            item.cluster_bytes,
            name,
            item.file_bytes,
            _mean_key(item.p50, 1e9),
            _mean_key(item.p99, 1e9),
            "",
        ),
    )


def compression_text(compression: Compression) -> str:
    """The type of an image's clusters."""
    return translate("benchmark", "not compressed") if compression == "none" else compression


def peer_table(benchmark: Benchmark) -> Table:
    """Whole conversions: a column of seconds for each program."""
    names = tuple(dict.fromkeys(item.program for item in benchmark.peers))
    rows: dict[tuple[int, Compression, bool], dict[str, PeerFigures]] = {}
    for item in benchmark.peers:
        key = item.cluster_bytes, item.compression, item.writes_qcow2
        rows.setdefault(key, {})[item.program] = item
    return Table(
        (
            Column(translate("benchmark", "Cluster"), right=True),
            Column(translate("benchmark", "Type")),
            Column(translate("benchmark", "Conversion")),
            *(
                Column(translate("benchmark", "{program}, s").format(program=name), right=True)
                for name in names
            ),
            Column("", wide=True),
        ),
        tuple(_peer_row(*key, [found.get(name) for name in names]) for key, found in rows.items()),
        sortable=True,
    )


def _peer_row(
    cluster_bytes: int,
    compression: Compression,
    writes_qcow2: bool,
    found: Sequence[PeerFigures | None],
) -> Row:
    name = compression_text(compression)
    way = (
        translate("benchmark", "raw → qcow2")
        if writes_qcow2
        else translate("benchmark", "qcow2 → raw")
    )
    failures = [f"{item.program}: {item.failure}" for item in found if item and item.failure]
    keys: list[SortKey] = [-1 if item is None else _mean_key(item.seconds, 1e6) for item in found]
    return Row(
        (format_size(cluster_bytes), name, way, *map(_peer_text, found), ""),
        tone=Tone.WARNING if failures else Tone.NORMAL,
        detail="\n".join(failures),
        sort_keys=(cluster_bytes, name, way, *keys, ""),
    )


def _peer_text(item: PeerFigures | None) -> str:
    if item is None:
        return NOTHING
    if item.seconds is None:
        return translate("benchmark", "failed")
    return item.seconds.text(1, digits=2)
