"""What a benchmark draws, measures and leaves behind; figures against what is really there."""

from __future__ import annotations

import csv
import importlib
import io
import os
import random
import shlex
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest

from qcowgui.codec.cluster import Buffer
from qcowgui.codec.registry import CompressionType
from qcowgui.convert import benchmark as benchmark_module
from qcowgui.convert.benchmark import BenchmarkJob, Progress, Stage, percentile
from qcowgui.convert.benchmark_codecs import (
    BACKENDS,
    Backend,
    Method,
    available_backends,
    make_codec,
)
from qcowgui.convert.benchmark_peers import Conversion, Peers, Program, find_peers, run_command
from qcowgui.convert.benchmark_plan import (
    BenchmarkPlan,
    Setting,
    choose_methods,
    default_sample_bytes,
    thread_counts,
)
from qcowgui.convert.benchmark_reads import READ_BYTES, draw_places, time_reads
from qcowgui.convert.benchmark_records import COLUMNS, benchmark_object, csv_text
from qcowgui.convert.benchmark_result import Benchmark, spread_of
from qcowgui.convert.benchmark_sample import Sampler
from qcowgui.convert.benchmark_trial import CodecTrial, Timing
from qcowgui.convert.options import Compression
from qcowgui.engine.qpool import QPoolExecutor
from qcowgui.engine.work import CancelToken, SerialExecutor
from qcowgui.errors import Cancelled, OptionsError, OutputError, VerifyError
from qcowgui.image.chain import open_image
from tests.converting import convert
from tests.support.base_images import text
from tests.support.options import KIB, MIB

ZSTD = Method("zstd", 1)
DEFLATE = Method("libdeflate", 1)
SMALL = BenchmarkPlan(
    (ZSTD, DEFLATE),
    cluster_sizes=(64 * KIB,),
    runs=2,
    sample_bytes=2 * MIB,
    reads=20,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder for temporary files."""
    path = tmp_path / "temporary"
    path.mkdir()
    return path


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A raw disk of 9 MiB and a sector: text, noise, and a hole of 2 MiB between."""
    path = tmp_path_factory.mktemp("disk") / "disk.raw"
    noise = random.Random(3).randbytes(MIB)
    with path.open("wb") as file:
        file.write(text(3 * MIB) + noise)
        file.seek(6 * MIB)
        file.write(text(3 * MIB, 7) + noise[:512])
    return path


def plan_in(folder: Path, **changes: object) -> BenchmarkPlan:
    values = {name: getattr(SMALL, name) for name in BenchmarkPlan.__dataclass_fields__}
    return BenchmarkPlan(**{**values, "folder": folder, **changes})


def bench(disk: Path, plan: BenchmarkPlan) -> Benchmark:
    with open_image(disk) as source:
        return BenchmarkJob(source, plan).run(QPoolExecutor)


# ------------------------------------------------------------------ backends


@pytest.mark.parametrize("backend", available_backends(), ids=lambda backend: backend.name)
@pytest.mark.parametrize("cluster_bytes", [4 * KIB, 64 * KIB])
def test_a_backend_gives_back_what_it_got(backend: Backend, cluster_bytes: int) -> None:
    part = memoryview(text(3 * cluster_bytes) + random.Random(1).randbytes(cluster_bytes))
    for level in {backend.levels.lowest, backend.levels.default, *backend.tried_levels}:
        setting = Setting(cluster_bytes, Method(backend.name, level), 1)
        timing = CodecTrial(setting, SerialExecutor(), CancelToken()).measure(part, check=True)
        assert timing.encoded_bytes == len(part)
        # The noise does not shrink; at level 0 of deflate nothing does.
        assert timing.decoded_bytes == (3 * cluster_bytes if level else 0) or level == 0
        assert cluster_bytes < timing.stored_bytes <= len(part)
        assert timing.encode_seconds > 0


@pytest.mark.parametrize("name", ["zlib", "zlib-ng"])
def test_what_qemu_would_write_keeps_to_its_window(name: str) -> None:
    backend = BACKENDS[name]
    if not backend.is_available:
        assert backend.module  # the extra is not installed: its codec can't be made at all
        with pytest.raises(ImportError):
            make_codec(Method(name, 6), 64 * KIB, lambda: None)
        return
    noise = random.Random(2).randbytes(8 * KIB)
    far = (noise * 8)[: 64 * KIB]
    near = (noise[: 2 * KIB] * 32)[: 64 * KIB]
    codec = make_codec(Method(name, 6), 64 * KIB, lambda: None)
    # Repeats 8 KiB back are out of reach, those 2 KiB back are not.
    assert codec.encoder.encode(far) is None
    short = codec.encoder.encode(near)
    assert short is not None
    assert len(short) < 16 * KIB


def test_a_codec_that_is_wrong_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong:
        def encode(self, cluster: Buffer) -> bytes | bytearray | None:
            other = bytes(cluster[:-1]) + bytes([cluster[-1] ^ 1])
            return right.encoder.encode(other)

    right = make_codec(ZSTD, 4 * KIB, lambda: None)
    trial = CodecTrial(Setting(4 * KIB, ZSTD, 1), SerialExecutor(), CancelToken())
    monkeypatch.setattr(trial, "_codecs", [right._replace(encoder=Wrong())])
    part = memoryview(text(12 * KIB))
    trial.measure(part, check=False)
    with pytest.raises(VerifyError, match="zstd at level 1 does not give back") as caught:
        trial.measure(part, check=True)
    assert caught.value.guest_offset == 0


def test_payloads_that_do_not_decode_are_an_error() -> None:
    setting = Setting(4 * KIB, ZSTD, 1)
    trial = CodecTrial(setting, SerialExecutor(), CancelToken())
    other = make_codec(DEFLATE, 4 * KIB, lambda: None)
    trial._codecs = [trial._codecs[0]._replace(encoder=other.encoder)]
    with pytest.raises(VerifyError):
        trial.measure(memoryview(text(4 * KIB)), check=False)


def test_zeros_are_neither_compressed_nor_counted() -> None:
    part = memoryview(bytes(128 * KIB) + text(64 * KIB))
    setting = Setting(64 * KIB, DEFLATE, 1)
    timing = CodecTrial(setting, SerialExecutor(), CancelToken()).measure(part, check=True)
    assert timing.encoded_bytes == timing.decoded_bytes == 64 * KIB


def test_a_missing_backend_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    assert [item.name for item in available_backends()] == ["libdeflate", "zlib", "zstd"]
    with pytest.raises(OptionsError, match="isal is not installed") as caught:
        choose_methods(backends=("isal",))
    assert "qcowgui[bench]" in caught.value.hint


# ---------------------------------------------------------------------- plan


def test_methods_that_are_chosen() -> None:
    assert choose_methods((CompressionType.ZSTD,)) == tuple(
        Method("zstd", level) for level in (1, 3, 9)
    )
    assert choose_methods(levels=(11,), backends=("libdeflate", "zlib", "zstd")) == (
        Method("libdeflate", 11),
        Method("zstd", 11),
    )
    assert choose_methods(backends=("zlib", "zlib")) == (Method("zlib", 6),)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"levels": (40,)}, "has a level 40"),
        ({"backends": ("brotli",)}, "no backend 'brotli'"),
        ({"kinds": (CompressionType.ZLIB,), "backends": ("zstd",)}, "writes zlib"),
    ],
)
def test_methods_that_do_not_exist(arguments: dict[str, tuple[int, ...]], message: str) -> None:
    with pytest.raises(OptionsError, match=message):
        choose_methods(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changes",
    [
        {"methods": ()},
        {"methods": (Method("zstd", 23),)},
        {"methods": (Method("lz4", 1),)},
        {"cluster_sizes": (5000,)},
        {"cluster_sizes": (4 * MIB,)},
        {"threads": (0,)},
        {"threads": (257,)},
        {"runs": 0},
        {"reads": -1},
        {"sample_bytes": 0},
    ],
)
def test_plans_that_are_impossible(changes: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(OptionsError):
        plan_in(tmp_path, **changes)


def test_the_matrix_is_complete() -> None:
    plan = BenchmarkPlan((ZSTD, DEFLATE), cluster_sizes=(4 * KIB, 2 * MIB), threads=(1, 3))
    settings = list(plan.iter_settings())
    assert len(settings) == len(set(settings)) == 8
    assert plan.compressions == ("none", "zstd", "zlib")
    assert len(list(plan.iter_images())) == 6


def test_threads_double_up_to_the_cores() -> None:
    assert thread_counts(1) == (1,)
    assert thread_counts(2) == (1, 2)
    assert thread_counts(6) == (1, 2, 4, 6)
    assert thread_counts(16) == (1, 2, 4, 8, 16)
    assert default_sample_bytes((1, 2)) == 32 * MIB
    assert default_sample_bytes((1, 16)) == 256 * MIB
    assert default_sample_bytes((1,), peers=True) == 128 * MIB


# -------------------------------------------------------------------- sample


def sample_of(disk: Path, target: Path, plan: BenchmarkPlan) -> bytes:
    with open_image(disk) as source:
        sample = Sampler(source, plan, CancelToken()).run(target, SerialExecutor(), None)
    data = target.read_bytes()
    assert len(data) == sample.size_bytes
    assert sample.frame_bytes == 8 * MIB
    return data


def test_all_that_is_stored_is_the_sample(disk: Path, tmp_path: Path) -> None:
    whole = disk.read_bytes()
    data = sample_of(disk, tmp_path / "all.raw", plan_in(tmp_path, sample_bytes=None))
    # The hole's cell is left out; the last one ends where the disk does.
    assert data == whole[: 4 * MIB] + whole[6 * MIB :]


def test_a_sample_is_the_same_for_a_seed(disk: Path, tmp_path: Path) -> None:
    whole = disk.read_bytes()
    cells = {whole[start : start + 2 * MIB] for start in range(0, len(whole), 2 * MIB)}
    drawn = {
        seed: sample_of(disk, tmp_path / f"{seed}.raw", plan_in(tmp_path, seed=seed))
        for seed in range(8)
    }
    again = sample_of(disk, tmp_path / "again.raw", plan_in(tmp_path, seed=3))
    assert again == drawn[3]
    assert set(drawn.values()) <= cells
    assert len(set(drawn.values())) > 1


def test_an_empty_disk_has_nothing_to_measure(tmp_path: Path, folder: Path) -> None:
    path = tmp_path / "empty.raw"
    path.touch()
    os.truncate(path, 8 * MIB)
    with pytest.raises(OptionsError, match="stores nothing"):
        bench(path, plan_in(folder))
    assert list(folder.iterdir()) == []


# --------------------------------------------------------------------- reads


def test_places_hold_data_and_are_the_same_for_a_seed(tmp_path: Path) -> None:
    path = tmp_path / "disk.raw"
    data = bytes(64 * KIB) + text(64 * KIB)
    path.write_bytes(data)
    with open_image(path, format="raw") as raw:
        places = draw_places(raw, 50, 1)
        assert draw_places(raw, 50, 1) == places
        assert draw_places(raw, 50, 2) != places
    assert len(places) == 50
    for offset, block in places:
        assert offset >= 64 * KIB
        assert offset % READ_BYTES == 0
        assert block == data[offset : offset + READ_BYTES]


def test_no_place_is_sought_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "zeros.raw"
    path.write_bytes(bytes(MIB))
    with open_image(path, format="raw") as raw:
        assert draw_places(raw, 10, 1) == []


def test_each_read_is_timed_and_compared(disk: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.qcow2"
    convert(disk, target, compression="zstd")
    with open_image(disk) as raw:
        places = draw_places(raw, 30, 1)
    done: list[int] = []
    seconds = time_reads(target, places, CancelToken(), lambda: done.append(1))
    assert len(seconds) == len(done) == 30
    assert min(seconds) > 0
    wrong = [(places[0][0], bytes(READ_BYTES))]
    with pytest.raises(VerifyError):
        time_reads(target, wrong, CancelToken(), lambda: None)


def test_percentiles() -> None:
    values = [float(value) for value in range(100, 0, -1)]
    assert percentile(values, 99) == 99
    assert percentile(values, 100) == 100
    assert percentile([5.0], 99) == 5


# ---------------------------------------------------------------------- whole


def test_a_whole_benchmark(disk: Path, folder: Path) -> None:
    plan = plan_in(folder, threads=(1, 2), cluster_sizes=(4 * KIB, 2 * MIB), sample_bytes=None)
    found = bench(disk, plan)
    assert found.virtual_bytes == disk.stat().st_size
    assert (found.frame_bytes, found.sample_bytes) == (8 * MIB, 7 * MIB + 512)
    assert [item.setting for item in found.codecs] == list(plan.iter_settings())
    sizes: dict[tuple[int, Method], set[int]] = {}
    for item in found.codecs:
        assert item.guest_bytes == found.sample_bytes
        assert item.compress.runs == 2
        assert item.compress.mean > 0
        assert item.decompress is not None
        sizes.setdefault((item.setting.cluster_bytes, item.setting.method), set()).add(
            item.stored_bytes
        )
    assert all(len(lengths) == 1 for lengths in sizes.values())
    assert [(item.cluster_bytes, item.compression) for item in found.reads] == list(
        plan.iter_images()
    )
    for read in found.reads:
        assert 0 < read.p50.mean <= read.p99.mean
    assert 0 < found.core_share <= 1
    assert found.peers == ()
    assert list(folder.iterdir()) == []


def test_sizes_are_those_of_a_conversion(disk: Path, folder: Path, tmp_path: Path) -> None:
    found = bench(disk, plan_in(folder, sample_bytes=None, reads=0, runs=1))
    compressions: tuple[Compression, ...] = ("zstd", "zlib")
    for item, compression in zip(found.codecs, compressions, strict=True):
        assert item.setting.method.compression_type.label == compression
        target = tmp_path / f"{compression}.qcow2"
        convert(disk, target, compression=compression, level=item.setting.method.level)
        # The file has its header, tables and refcounts as well, each in clusters of its own.
        assert 0 < target.stat().st_size - item.stored_bytes <= 8 * 64 * KIB
    assert found.reads == ()


def test_parts_of_a_large_sample_add_up(
    disk: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_in(folder, sample_bytes=None, reads=0)
    whole = bench(disk, plan)
    monkeypatch.setattr(benchmark_module, "_PART_BYTES", 2 * MIB)
    parts = bench(disk, plan)
    assert [item.stored_bytes for item in parts.codecs] == [
        item.stored_bytes for item in whole.codecs
    ]
    assert [item.compress.runs for item in parts.codecs] == [2, 2]


def test_timings_add_up() -> None:
    assert Timing(1, 2, 3.0, 4, 5.0, 6.0).plus(Timing(10, 20, 30.0, 40, 50.0, 60.0)) == Timing(
        11, 22, 33.0, 44, 55.0, 66.0
    )


def test_progress_reaches_its_end(disk: Path, folder: Path) -> None:
    seen: list[Progress] = []
    with open_image(disk) as source:
        job = BenchmarkJob(source, plan_in(folder))
        assert job.progress() == (Stage.SAMPLING, 0, 0)
        job.run(QPoolExecutor, tick=lambda: seen.append(job.progress()))
        last = job.progress()
    assert (last.stage, last.done) == (Stage.READS, last.total)
    assert last.total == 2 * 3 * 20
    assert [item.done for item in seen if item.stage is Stage.READS] == list(range(1, 121))


@pytest.mark.parametrize("stage", [Stage.SAMPLING, Stage.CODECS, Stage.READS, Stage.PEERS])
def test_cancelled_leaves_nothing(
    stage: Stage, disk: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeping = Program("sleeper", lambda _: [sys.executable, "-c", "import time; time.sleep(60)"])
    monkeypatch.setattr(benchmark_module, "find_peers", lambda: Peers((sleeping,), ()))
    plan = plan_in(folder, peers=True, runs=1000 if stage is Stage.CODECS else 1)
    with open_image(disk) as source:
        job = BenchmarkJob(source, plan)

        def tick() -> None:
            if job.progress().stage is stage:
                job.token.cancel()

        if stage is Stage.SAMPLING:
            job.token.cancel()
        with pytest.raises(Cancelled):
            job.run(QPoolExecutor, tick=tick)
    assert list(folder.iterdir()) == []


def test_a_folder_that_takes_nothing(disk: Path, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="takes no temporary files"):
        bench(disk, plan_in(tmp_path / "missing"))


# ---------------------------------------------------------------------- peers


def copying(name: str, script: str) -> Program:
    """A program that runs Python code with `source` and `target` set, as a process of its own."""

    def command(task: Conversion) -> list[str]:
        start = f"source, target = {str(task.source)!r}, {str(task.target)!r}\n"
        return [sys.executable, "-c", start + script]

    return Program(name, command)


def bench_peers(
    disk: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, programs: Sequence[Program]
) -> Benchmark:
    peers = Peers(tuple(programs), (("other", "1.0"),))
    monkeypatch.setattr(benchmark_module, "find_peers", lambda: peers)
    plan = plan_in(folder, methods=(ZSTD,), peers=True, reads=0)
    return bench(disk, plan)


def test_real_programs_do_the_same(disk: Path, folder: Path) -> None:
    plan = plan_in(folder, methods=(ZSTD,), peers=True, reads=0, runs=1)
    found = bench(disk, plan)
    peers = find_peers()
    names = [program.name for program in peers.programs]
    assert names[:3] == ["qcowgui", "qemu-img", "qemu-img -W -m 16"]
    unpacked = [item for item in found.peers if not item.writes_qcow2]
    packed = [item for item in found.peers if item.writes_qcow2]
    assert [item.program for item in unpacked] == names * 2
    assert len(packed) == 2 * sum(name != "nbdkit + nbdcopy" for name in names)
    for item in found.peers:
        assert item.failure == ""
        assert item.seconds is not None
        assert item.seconds.mean > 0
        assert item.target_bytes > 0
    assert {item.target_bytes for item in unpacked} == {found.sample_bytes}
    assert dict(found.machine.versions)["qemu-img"].startswith("qemu-img version")
    assert list(folder.iterdir()) == []


def test_a_program_that_fails_is_said_so(
    disk: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = [
        copying("mute", "raise SystemExit(3)"),
        copying("loud", "raise SystemExit('one\\ntwo \\x1b[31m')"),
        copying("idle", ""),
        copying("wrong", "open(target, 'wb').write(bytes(512))"),
        Program("absent", lambda _: ["/nonexistent/program"]),
        Program("unable", lambda _: None),
    ]
    found = bench_peers(disk, folder, monkeypatch, programs)
    failures = {item.program: item.failure for item in found.peers if not item.writes_qcow2}
    assert failures["mute"] == "exit status 3"
    assert failures["loud"] == "two \\x1b[31m"
    assert failures["absent"] == "can't be started: No such file or directory"
    assert failures["wrong"].startswith("what it wrote differs from the sample at 0x")
    assert failures["idle"].startswith("what it wrote can't be read")
    assert "unable" not in failures
    assert {item.seconds for item in found.peers} == {None}
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("starter", ["run", "Popen"])
def test_what_a_stopped_program_started_is_stopped_too(
    starter: str, tmp_path: Path, folder: Path
) -> None:
    mark = tmp_path / "mark"
    inner = f"import time; open({str(mark)!r}, 'w').write('x'); time.sleep(60)"
    script = f"import subprocess, sys; subprocess.{starter}([sys.executable, '-c', {inner!r}])"
    token = CancelToken()

    def tick() -> None:
        if mark.exists():
            token.cancel()

    with pytest.raises(Cancelled):
        run_command([sys.executable, "-c", script], folder, token, tick)
    found = [
        path
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if str(mark).encode() in _content(path)
    ]
    assert found == []


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has ended meanwhile
        return b""


def test_nbdkit_is_asked_for_its_filter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filters = tmp_path / "filters"
    filters.mkdir()
    for name, answer in (("nbdkit", f"filterdir={filters}"), ("nbdcopy", "")):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho {shlex.quote(answer)}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert [program.name for program in find_peers().programs] == ["qcowgui"]
    (filters / "nbdkit-qcow2dec-filter.so").touch()
    peers = find_peers()
    assert [program.name for program in peers.programs] == ["qcowgui", "nbdkit + nbdcopy"]
    task = Conversion(Path("/a b/in.qcow2"), Path("/a b/out.raw"), False, 65536, "zstd")
    command = peers.programs[1].command(task)
    assert command is not None
    assert command[-3:] == [
        "file=/a b/in.qcow2",
        "--run",
        f"{tmp_path}/nbdcopy \"$uri\" '/a b/out.raw'",
    ]
    packing = Conversion(task.target, task.source, True, 65536, "zstd")
    assert peers.programs[1].command(packing) is None


def test_a_bundle_starts_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    task = Conversion(Path("in.raw"), Path("out.qcow2"), True, 4096, "zlib")
    command = find_peers().programs[0].command(task)
    assert command is not None
    assert command[:4] == [sys.executable, "-m", "qcowgui", "convert"]
    assert command[-2:] == ["in.raw", "out.qcow2"]
    assert "compression_type=zlib" in command
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    bundled = find_peers().programs[0].command(task)
    assert bundled is not None
    assert bundled[:2] == [sys.executable, "convert"]


# -------------------------------------------------------------------- records


def test_spread() -> None:
    assert spread_of([4.0]) == (4.0, 0.0, 1)
    mean, deviation, runs = spread_of([1.0, 3.0])
    assert (mean, runs) == (2.0, 2)
    assert deviation == pytest.approx(2**0.5)
    assert spread_of([1.0, 3.0]).text(1000) == "2,000 ± 1,414"
    assert spread_of([4.0]).text(1, digits=2) == "4.00"
    assert spread_of([1.0, 3.0]).text(1) == "2.0 ± 1.4"


def test_records_hold_every_figure(
    disk: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        benchmark_module, "find_peers", lambda: Peers((copying("mute", "raise SystemExit(3)"),), ())
    )
    found = bench(disk, plan_in(folder, peers=True))
    value = benchmark_object(found)
    assert [item["backend"] for item in value["codecs"]] == ["zstd", "libdeflate"]
    assert value["codecs"][0]["compress"]["runs"] == 2
    assert [item["compression_type"] for item in value["random-reads"]] == ["none", "zstd", "zlib"]
    assert {item["direction"] for item in value["programs"]} == {"raw to qcow2", "qcow2 to raw"}
    assert value["programs"][0]["failure"] == "exit status 3"
    rows = list(csv.DictReader(io.StringIO(csv_text(found))))
    assert tuple(rows[0]) == COLUMNS
    assert [row["kind"] for row in rows] == ["codec"] * 2 + ["read"] * 3 + ["program"] * 6
    assert float(rows[0]["compress_bytes_per_second"]) == found.codecs[0].compress.mean
    assert float(rows[2]["p99_seconds"]) == found.reads[0].p99.mean
    assert rows[-1]["failure"] == "exit status 3"
    assert rows[-1]["seconds"] == ""


def test_the_executors_may_be_anything(disk: Path, folder: Path) -> None:
    with open_image(disk) as source:
        job = BenchmarkJob(source, plan_in(folder, reads=0))
        found = job.run(lambda _: nullcontext(SerialExecutor()))
    assert len(found.codecs) == 2
    assert found is job.found
