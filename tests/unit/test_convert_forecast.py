"""What a forecast draws, estimates and promises; sizes against conversions that are really done."""

from __future__ import annotations

import os
import random
import sysconfig
from pathlib import Path

import numpy as np
import pytest

from qcowgui.convert import forecast as forecast_module
from qcowgui.convert.forecast import DEFAULT_CANDIDATES, Candidate, Forecast, ForecastJob
from qcowgui.convert.forecast_sampling import (
    Frame,
    count_cells,
    draw,
    interval,
    iter_cell_starts,
    mean_variance,
    quantile,
    ratio_variance,
)
from qcowgui.convert.forecast_size import file_bytes, geometry_of, packing_factor
from qcowgui.convert.forecast_time import Workload, WriteSpeed, estimate_seconds, probe_folder
from qcowgui.convert.forecast_trial import REFERENCE, Cell, CellTrial
from qcowgui.convert.options import Compression
from qcowgui.engine.qpool import QPoolExecutor
from qcowgui.engine.work import Executor, SerialExecutor
from qcowgui.errors import Cancelled, CorruptError, OptionsError
from qcowgui.image.chain import open_image
from tests.converting import convert
from tests.support.base_images import b0, pattern, text
from tests.support.damage import set_l2_entry
from tests.support.options import KIB, MIB

SMALL = Candidate("zstd", 1, 64 * KIB)


def forecast(
    path: Path,
    *candidates: Candidate,
    executor: Executor | None = None,
    folder: Path | None = None,
    seed: int = 1,
) -> Forecast:
    with open_image(path) as source:
        job = ForecastJob(source, candidates, target_folder=folder, seed=seed)
        return job.run(executor or SerialExecutor())


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A disk of real files, each in blocks of its own as on a file system, with holes between."""
    path = tmp_path_factory.mktemp("disk") / "files.raw"
    chance = random.Random(5)
    with path.open("wb") as disk:
        for file in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
            disk.write(file.read_bytes())
            disk.seek(-disk.tell() % 4096, os.SEEK_CUR)
        disk.seek(MIB, os.SEEK_CUR)
        for _ in range(6):
            disk.write(chance.randbytes(700 * KIB))
            disk.write(text(900 * KIB, chance.randrange(1000)))
        disk.write(bytes(3 * MIB))
        disk.truncate(64 * MIB)
    return path


@pytest.mark.parametrize(
    "candidate",
    [
        Candidate("zlib", 1, 64 * KIB),
        Candidate("zlib", 6, 4 * KIB),
        Candidate("zlib", 6, 2 * MIB),
        Candidate("zstd", 3, 64 * KIB),
        Candidate("zstd", 3, 512 * KIB),
        Candidate("zstd", 9, 2 * MIB),
        Candidate("none", None, 64 * KIB),
    ],
)
def test_sizes_come_true(candidate: Candidate, disk: Path, tmp_path: Path) -> None:
    expected = forecast(disk, candidate).recommended.size
    real = convert(
        disk,
        tmp_path / "real.qcow2",
        compression=candidate.compression,
        level=candidate.level,
        cluster_bytes=candidate.cluster_bytes,
        verify=False,
    ).target_bytes
    assert expected.expected == pytest.approx(real, rel=0.05, abs=candidate.cluster_bytes)
    assert expected.low <= expected.expected <= expected.high


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_part_of_the_disk_is_enough(
    seed: int, disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forecast_module, "_FINE_CELLS", 128)
    monkeypatch.setattr(forecast_module, "_COARSE_CELLS", 6)
    found = forecast(disk, SMALL, seed=seed)
    real = convert(disk, tmp_path / "real.qcow2", compression="zstd", level=1, verify=False)
    assert found.sampled_bytes <= 128 * 64 * KIB + 6 * 2 * MIB < found.stored_bytes * 1.5
    size = found.recommended.size
    assert size.low < size.expected < size.high
    assert real.target_bytes == pytest.approx(size.expected, rel=0.1)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_sizes_with_any_number_of_threads(
    disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forecast_module, "_FINE_CELLS", 64)
    candidates = [SMALL, Candidate("zlib", 6, 2 * MIB)]

    def sizes(seed: int, executor: Executor) -> dict[Candidate, object]:
        found = forecast(disk, *candidates, seed=seed, executor=executor)
        return {item.candidate: item.size for item in found.candidates}

    with QPoolExecutor(2) as pool:
        assert sizes(1, SerialExecutor()) == sizes(1, pool)
        # Sizes are whole clusters, so that two seeds may well agree.
        assert any(sizes(seed, pool) != sizes(1, pool) for seed in range(2, 12))


def test_a_disk_of_zeros(tmp_path: Path) -> None:
    path = tmp_path / "zeros.raw"
    path.write_bytes(bytes(8 * MIB))
    hole = tmp_path / "hole.raw"
    with hole.open("wb") as file:
        file.truncate(8 * MIB)
    for name in (path, hole):
        found = forecast(name, *DEFAULT_CANDIDATES)
        assert len(found.candidates) == len(DEFAULT_CANDIDATES)
        for item in found.candidates:
            assert item.size.low == item.size.expected == item.size.high
            # Metadata alone; a table is counted where something might be stored.
            assert item.size.expected <= 5 * item.candidate.cluster_bytes
            assert item.seconds.low >= 0


def test_what_does_not_compress_is_stored_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "noise.raw"
    path.write_bytes(pattern(6 * MIB))
    for candidate in (SMALL, Candidate("zlib", 6, 2 * MIB), Candidate("none", None, 512)):
        size = forecast(path, candidate).recommended.size
        real = convert(
            path,
            tmp_path / "real.qcow2",
            compression=candidate.compression,
            level=candidate.level,
            cluster_bytes=candidate.cluster_bytes,
            overwrite=True,
        )
        assert size.low == size.expected == size.high == real.target_bytes


def test_the_recommended_one_is_quick_and_near_the_smallest(disk: Path) -> None:
    found = forecast(disk, *(Candidate("zstd", level, 64 * KIB) for level in (1, 3, 9)))
    best = found.recommended
    smallest = min(item.size.expected for item in found.candidates)
    assert best.size.expected <= smallest * 1.05
    rest = [item.size.expected for item in found.candidates[1:]]
    assert rest == sorted(rest)
    near = [item for item in found.candidates if item.size.expected <= smallest * 1.05]
    assert best.seconds.expected == min(item.seconds.expected for item in near)
    assert "QEMU 5.1" in best.compatibility
    assert best.ratio == pytest.approx(found.stored_bytes / best.size.expected)


@pytest.mark.slow
def test_a_compressed_source(disk: Path, tmp_path: Path) -> None:
    """Only the packing depends on how the source stores its clusters: by its batches."""
    path = tmp_path / "compressed.qcow2"
    convert(disk, path, compression="zlib", cluster_bytes=2 * MIB)
    assert forecast(path, SMALL).recommended.size.expected == pytest.approx(
        forecast(disk, SMALL).recommended.size.expected, abs=4 * 64 * KIB
    )


def test_damage_and_cancelling_end_it(disk: Path, tmp_path: Path) -> None:
    image = b0()
    damaged = set_l2_entry(image, 0, (1 << 63) | 0x50200)  # not at a cluster's start
    with pytest.raises(CorruptError):
        forecast(damaged.write_to(tmp_path / "bad.qcow2"), SMALL)
    with open_image(disk) as source:
        job = ForecastJob(source, [SMALL])
        assert job.progress() == (0, 0)
        job.token.cancel()
        with pytest.raises(Cancelled):
            job.run(SerialExecutor())


def test_progress_ends_at_its_total(disk: Path) -> None:
    with open_image(disk) as source:
        job = ForecastJob(source, [SMALL])
        found = job.run(SerialExecutor())
        assert job.progress() == (found.sampled_bytes, found.sampled_bytes)


def test_the_folder_is_tried_and_left_as_it_was(disk: Path, tmp_path: Path) -> None:
    assert forecast(disk, SMALL, folder=tmp_path).write_measured
    assert not list(tmp_path.iterdir())
    assert not forecast(disk, SMALL, folder=tmp_path / "missing").write_measured
    assert probe_folder(tmp_path / "missing", lambda: None) is None
    assert not forecast(disk, SMALL).write_measured


@pytest.mark.parametrize(
    ("compression", "level", "cluster_bytes"),
    [
        ("zlib", 13, 65536),
        ("zstd", 0, 65536),
        ("zstd", None, 65536),
        ("none", 1, 65536),
        ("zlib", 6, 65535),
        ("zlib", 6, 4 * MIB),
    ],
)
def test_impossible_candidates(
    compression: Compression, level: int | None, cluster_bytes: int
) -> None:
    with pytest.raises(OptionsError):
        Candidate(compression, level, cluster_bytes)


def test_no_candidate(disk: Path) -> None:
    with open_image(disk) as source, pytest.raises(ValueError, match="needs a candidate"):
        ForecastJob(source, [])


def test_a_disk_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "large.raw"
    with path.open("wb") as file:
        file.truncate((128 << 30) + 512)
    with pytest.raises(OptionsError, match="too large for clusters of 512 B"):
        forecast(path, Candidate("none", None, 512))


def test_slow_candidates_get_fewer_cells() -> None:
    assert SMALL.stride(4096) < Candidate("zlib", 9, 64 * KIB).stride(4096)
    for candidate in (Candidate("zstd", 22, 64 * KIB), Candidate("zstd", 22, 2 * MIB)):
        assert 5 <= 96 // candidate.stride(96) <= 12
    assert Candidate("zstd", 22, 2 * MIB).stride(3) == 1


def test_drawing() -> None:
    chance = random.Random(0)
    assert draw(5, 5, chance) == [0, 1, 2, 3, 4]
    assert draw(0, 5, chance) == []
    numbers = draw(1000, 10, chance)
    assert [number // 100 for number in numbers] == list(range(10))
    hits = np.bincount([number for _ in range(2000) for number in draw(7, 3, chance)])
    assert len(hits) == 7
    # Strata of 2, 2 and 3.
    assert hits.tolist() == pytest.approx([1000, 1000, 1000, 1000, 667, 667, 667], rel=0.15)


def test_cells_of_ranges() -> None:
    ranges = [(5, 10), (12, 13), (95, 310), (300, 301)]
    assert count_cells(ranges, [10, 100]) == {10: 24, 100: 4}
    assert list(iter_cell_starts(ranges, 10, [0, 1, 2, 23])) == [0, 10, 90, 300]
    assert list(iter_cell_starts(ranges, 100, [3])) == [300]
    assert list(iter_cell_starts(ranges, 100, [])) == []


@pytest.mark.parametrize(("degrees", "expected"), [(3, 3.182), (5, 2.571), (30, 2.042)])
def test_quantiles(degrees: int, expected: float) -> None:
    assert quantile(degrees) == pytest.approx(expected, rel=0.04)
    assert quantile(10**6) == pytest.approx(1.95997, rel=1e-4)


def test_ranges_hold_what_they_promise() -> None:
    """Of 400 samples of a skewed, drifting population, about 95 % give a range with its mean."""
    chance = np.random.default_rng(3)
    population = chance.exponential(1000.0, 5000) * np.linspace(0.5, 2, 5000)
    source, inside = random.Random(4), 0
    for _ in range(400):
        values = population[draw(5000, 200, source)]
        mean = float(values.mean())
        found = interval(mean, mean_variance(values, 5000) / mean**2, 199)
        inside += found.low <= population.mean() <= found.high
    assert 0.92 <= inside / 400 <= 0.98


def test_variances_of_what_is_known() -> None:
    values = np.array([1.0, 2.0, 3.0])
    assert mean_variance(values, 3) == 0
    assert ratio_variance(values, values * 2, 1000) == 0
    assert ratio_variance(values, values[::-1], 1000) > 0
    assert ratio_variance(values * 0, values, 1000) == 0


def cell(candidate: Candidate, *lengths: int, seconds: float = 0.0) -> Cell:
    trial = CellTrial(lengths, sum(lengths), seconds, seconds, 2 * seconds)
    return Cell(0, len(lengths) * candidate.cluster_bytes, (candidate,), 0.0, {candidate: trial})


def test_packing() -> None:
    # Payloads alone are packed without a gap; after each plain cluster half of one is lost.
    packed = [cell(SMALL, 40_000)] * 40
    assert packing_factor(SMALL, packed, 65536) == pytest.approx(1, rel=0.001)
    mixed = [cell(SMALL, 40_000), cell(SMALL, 65536)] * 20
    assert packing_factor(SMALL, mixed, 65536) == pytest.approx(131072 / 105_536, rel=0.001)
    # Payloads of one batch come before its plain clusters.
    assert packing_factor(SMALL, mixed, MIB) < 1.05
    assert packing_factor(SMALL, [], MIB) == 1


def test_metadata() -> None:
    # Header, L1, L2, refcount table and block, and two clusters of data.
    assert file_bytes(geometry_of(SMALL), 65537.0, virtual_bytes=64 * MIB, l2_tables=1) == 7 * 65536


def test_seconds() -> None:
    cells = [cell(REFERENCE, 1000, seconds=0.5)] * 4
    frame = Frame(65536, 40)
    alone = Workload(2, 1.0, 4.0, 0.0, False, None)
    # 40 cells of 0.5 s and 4 s of reading, on two threads.
    assert estimate_seconds(REFERENCE, cells, frame, alone, 1e6).expected == pytest.approx(12)
    busy = alone._replace(contention=2.0)
    assert estimate_seconds(REFERENCE, cells, frame, busy, 1e6).expected == pytest.approx(22)
    verified = alone._replace(verify=True)
    assert estimate_seconds(REFERENCE, cells, frame, verified, 1e6).expected == pytest.approx(24)
    written = alone._replace(write=WriteSpeed(1e-6, 3e-6))
    # A second on each thread, and three to the disk, none of them beside a short conversion.
    found = estimate_seconds(REFERENCE, cells, frame, written, 1e6)
    assert found.expected == pytest.approx(12 + 0.5 + 3)
    assert found.low < found.expected < found.high
