"""`qcowgui forecast`: what it tries, refuses and prints. The figures: `test_convert_forecast`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qcowgui.cli.main import run
from qcowgui.errors import ExitCode
from tests.support.base_images import b0_builder, pattern, text

Capture = pytest.CaptureFixture[str]
MIB = 1 << 20


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    path = tmp_path / "disk.raw"
    path.write_bytes((text(3 * MIB) + pattern(MIB)).ljust(8 * MIB, b"\0"))
    return path


def forecast(capsys: Capture, *arguments: str | Path) -> dict[str, Any]:
    assert run(["forecast", "--json", *map(str, arguments)]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_json(raw: Path, capsys: Capture) -> None:
    found = forecast(capsys, raw)
    assert found["virtual-size"] == 8 * MIB
    assert found["confidence"] == 0.95
    assert found["write-measured"] is True
    candidates = found["candidates"]
    tried = {(c["compression_type"], c["level"], c["cluster_size"]) for c in candidates}
    assert tried == {
        (name, level, size)
        for size in (65536, 2 * MIB)
        for name, levels in (("zlib", (1, 6, 9)), ("zstd", (1, 3, 9)))
        for level in levels
    }
    for candidate in candidates:
        for key in ("size", "seconds"):
            one = candidate[key]
            assert list(one) == ["low", "expected", "high"]
            assert 0 <= one["low"] <= one["expected"] <= one["high"]
        assert isinstance(candidate["size"]["expected"], int)
        assert candidate["ratio"] > 0
        assert candidate["compatibility"].endswith(".")
    assert [path.name for path in raw.parent.iterdir()] == ["disk.raw"]


def test_what_is_tried(raw: Path, capsys: Capture) -> None:
    def tried(*arguments: str) -> list[tuple[str, int | None, int]]:
        found = forecast(capsys, *arguments, raw)["candidates"]
        return sorted((c["compression_type"], c["level"], c["cluster_size"]) for c in found)

    assert tried("--compress", "zstd", "--level", "2", "--cluster-size", "4k") == [
        ("zstd", 2, 4096)
    ]
    # zlib has no level 15.
    assert tried("--level", "15", "--level", "4", "--cluster-size", "64k") == [
        ("zlib", 4, 65536),
        ("zstd", 4, 65536),
        ("zstd", 15, 65536),
    ]
    assert tried("--compress", "none", "--cluster-size", "64k") == [("none", None, 65536)]


def test_for_people(raw: Path, capsys: Capture) -> None:
    arguments = ["--compress", "zstd", "--level", "3", "--cluster-size", "64k", "--no-verify"]
    assert run(["forecast", *arguments, "-m", "1", str(raw)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Forecast (8 MiB of 8 MiB stored)"
    assert lines[1].split() == [
        *("type", "level", "cluster", "size", "between", "time", "between", "ratio")
    ]
    assert lines[2].split()[:4] == ["zstd", "3", "64", "KiB"]
    assert lines[4].startswith("Recommended: zstd at level 3, clusters of 64 KiB. Needs QEMU 5.1")
    assert lines[5].endswith("Time: 1 thread, without verifying.")


def test_an_empty_disk_has_no_ratio(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "empty.raw"
    with path.open("wb") as file:
        file.truncate(8 << 20)
    arguments = ["--compress", "zstd", "--level", "3", "--cluster-size", "64k", "-m", "1"]
    assert run(["forecast", *arguments, str(path)]) == 0
    row = capsys.readouterr().out.splitlines()[2]
    assert row.split()[-1] == "–"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--level", "40"], "no type that is tried has a level 40"),
        (["--compress", "zlib", "--level", "15"], "no type that is tried has a level 15"),
        (["--cluster-size", "5k"], "A cluster size of 5120 bytes is not possible"),
        (["--cluster-size", "x"], "--cluster-size: 'x' is not a size"),
        (["-m", "0"], "0 threads are not possible"),
        (["-f", "vdi"], "the format 'vdi' is not supported"),
        (["-l", "none"], "a raw file has no snapshots"),
    ],
)
def test_refusals(arguments: list[str], message: str, raw: Path, capsys: Capture) -> None:
    assert run(["forecast", *arguments, str(raw)]) in (ExitCode.FAILED, ExitCode.UNSUPPORTED)
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_snapshots_and_backing_files(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "base.raw").write_bytes(text(2 * MIB))
    builder = b0_builder(size=4 * MIB, backing_file="base.raw", backing_format="raw")
    builder.snapshot("before")
    builder.write(2 * MIB, pattern(MIB))
    path = builder.build().write_to(tmp_path / "image.qcow2")
    quick = ["--compress", "zstd", "--level", "1", "--cluster-size", "64k"]
    assert run(["forecast", *quick, str(path)]) == ExitCode.FAILED
    assert "base.raw" in capsys.readouterr().err
    now = forecast(capsys, *quick, "--allow-backing", path)
    before = forecast(capsys, *quick, "--allow-backing", "-l", "before", path)
    assert now["stored-bytes"] - before["stored-bytes"] == MIB


def test_progress(raw: Path, capsys: Capture) -> None:
    assert run(["forecast", "-p", "--compress", "none", str(raw)]) == 0
    assert "forecasting [########################] 100 %" in capsys.readouterr().err
