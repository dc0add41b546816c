"""The comparison of a benchmark's run with the baseline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bench import regress
from tests.bench.rows import ALL_ROWS


def run_of(**ratios: float) -> dict[str, Any]:
    rows: list[dict[str, Any]] = [{"row": row, "ratio": ratio} for row, ratio in ratios.items()]
    return {"environment": {"qemu-img": "7.2"}, "rows": [*rows, {"row": "broken"}]}


@pytest.fixture
def baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps({"environment": {}, "ratios": {"a": 2.0, "b": 1.0}}))
    monkeypatch.setattr(regress, "BASELINE", path)
    return path


def write_run(folder: Path, **ratios: float) -> str:
    path = folder / "run.json"
    path.write_text(json.dumps(run_of(**ratios)))
    return str(path)


@pytest.mark.usefixtures("baseline")
@pytest.mark.parametrize(("ratio", "status"), [(2.5, 0), (1.71, 0), (1.69, 1), (0.1, 1)])
def test_a_row_may_fall_by_fifteen_percent(
    ratio: float, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert regress.main([write_run(tmp_path, a=ratio, b=1.0)]) == status
    output = capsys.readouterr()
    assert ("FELL" in output.out) is bool(status)
    assert ("a" in output.err.split(": ")[-1].split()) is bool(status)


@pytest.mark.usefixtures("baseline")
def test_rows_that_only_one_of_them_has_are_named_and_decide_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert regress.main([write_run(tmp_path, a=2.0, c=1.0)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ", 1)[1].strip() for line in lines[1:]] == [
        "not in this run",
        "not in the baseline",
    ]


def test_a_run_becomes_the_baseline(baseline: Path, tmp_path: Path) -> None:
    run = write_run(tmp_path, a=1.0, c=3.0)
    assert regress.main([run]) == 1
    assert regress.main([run, "--write"]) == 0
    assert json.loads(baseline.read_text())["ratios"] == {"a": 1.0, "c": 3.0}
    assert regress.main([run]) == 0


@pytest.mark.usefixtures("baseline")
def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text("{}")
    with pytest.raises(SystemExit, match="2"):
        regress.main([str(path)])


def test_the_baseline_names_rows_that_exist() -> None:
    names = {row.name for row in ALL_ROWS}
    ratios = json.loads(regress.BASELINE.read_text(encoding="utf-8"))["ratios"]
    assert set(ratios) <= names
    assert all(ratio > 0 for ratio in ratios.values())
