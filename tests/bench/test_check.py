"""The benchmark of checks: what it runs, what it prints, what it calls too slow."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from qcowgui.units import MIB
from tests.bench import check
from tests.bench.measure import BenchError, Sample
from tests.bench.result import Figures
from tests.support.options import GIB


def sample(seconds: float, peak_bytes: int = 50 * MIB) -> Sample:
    return Sample(seconds, seconds, peak_bytes, 10)


def result(product: float, peer: float, peak_bytes: int = 50 * MIB) -> check.CheckResult:
    return check.CheckResult(
        "check", Figures((sample(product, peak_bytes),), 0), Figures((sample(peer),), 0)
    )


@pytest.mark.parametrize("image", check.images(GIB), ids=lambda image: image.name)
def test_both_programs_check_the_same_image_in_turn(
    image: check.CheckImage, tmp_path: Path
) -> None:
    commands: list[Sequence[str]] = []

    def run(command: Sequence[str]) -> Sample:
        commands.append(command)
        assert Path(command[-1]).stat().st_size > GIB
        return sample(len(commands))

    found = check.run_image(image, tmp_path, ["product"], 2, run)
    assert [command[-2] for command in commands] == ["check", "qcow2"] * 2
    assert [one.wall_seconds for one in found.product.samples] == [1, 3]
    assert found.ratio == 3 / 2
    assert not list(tmp_path.iterdir())


def test_a_program_that_finds_something_stops_it(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="exit status"):
        check.run_image(check.images(GIB)[0], tmp_path, ["false"], 1)
    assert not list(tmp_path.iterdir())


def test_what_is_not_good_enough() -> None:
    assert result(1, 2).misses(judge_speed=True) == []
    assert result(2, 1).misses(judge_speed=True) == ["ratio 0.50 is below 1.0"]
    assert result(2, 1).misses(judge_speed=False) == []
    (miss,) = result(1, 2, 500 * MIB).misses(judge_speed=False)
    assert "above 400 MiB" in miss


def test_the_table_and_the_json() -> None:
    lines = check.format_results([result(1, 2)]).splitlines()
    assert lines[1].split() == ["check", "1.00", "2.00", "2.00", "50", "MiB", "50", "MiB"]
    (row,) = check.to_json([result(1, 2)])
    assert row["qemu-img"][0]["wall_seconds"] == 2


def test_the_command_runs_the_real_programs(tmp_path: Path) -> None:
    # In a process of its own: the kernel counts this one's memory for its children.
    run = subprocess.run(
        [sys.executable, "-m", "tests.bench", "check", "--quick", "--runs", "1", "--dir", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "check 16 GiB, shuffled" in run.stdout
