"""`qcowgui bench`: what it tries, refuses and prints. The figures: `test_convert_benchmark`."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from qcowgui.cli.main import run
from qcowgui.convert.benchmark_result import Benchmark
from qcowgui.errors import ExitCode
from tests.support.base_images import pattern, text

Capture = pytest.CaptureFixture[str]
MIB = 1 << 20
QUICK = ("--runs", "2", "--reads", "10", "-m", "1", "--cluster-size", "64k", "--level", "1")


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    path = tmp_path / "disk.raw"
    path.write_bytes((text(3 * MIB) + pattern(MIB)).ljust(8 * MIB, b"\0"))
    return path


def bench(capsys: Capture, *arguments: str | Path) -> dict[str, Any]:
    assert run(["bench", "--json", *map(str, arguments)]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_json(raw: Path, capsys: Capture) -> None:
    found = bench(capsys, *QUICK, "--backend", "zstd", "--backend", "libdeflate", raw)
    assert found["schema"] == 1
    assert found["filename"] == str(raw)
    assert (found["virtual-size"], found["sampled-bytes"]) == (8 * MIB, 8 * MIB)
    assert [(c["backend"], c["level"]) for c in found["codecs"]] == [
        ("zstd", 1),
        ("libdeflate", 1),
    ]
    assert {c["threads"] for c in found["codecs"]} == {1}
    reads = [(r["cluster_size"], r["compression_type"]) for r in found["random-reads"]]
    assert reads == [(65536, "none"), (65536, "zstd"), (65536, "zlib")]
    assert found["programs"] == []
    assert [path.name for path in raw.parent.iterdir()] == ["disk.raw"]


def test_what_is_tried(raw: Path, capsys: Capture) -> None:
    found = bench(
        *(capsys, "--runs", "1", "--reads", "0", "--sample", "2M", "--compress", "zstd"),
        *("--level", "2", "--level", "5", "-m", "1", "-m", "3", "--cluster-size", "4k", raw),
    )
    tried = [(c["cluster_size"], c["level"], c["threads"]) for c in found["codecs"]]
    assert tried == [(4096, 2, 1), (4096, 2, 3), (4096, 5, 1), (4096, 5, 3)]
    assert found["sampled-bytes"] == 2 * MIB
    assert found["random-reads"] == []


def test_csv(raw: Path, capsys: Capture) -> None:
    assert run(["bench", "--csv", *QUICK, "--compress", "zstd", str(raw)]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["kind"] for row in rows] == ["codec", "read", "read"]


def test_for_people(raw: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Benchmark, "was_disturbed", property(lambda _: True))
    arguments = [*QUICK, "--compress", "zstd", "--all", "--peers", str(raw)]
    assert run(["bench", *arguments]) == 0
    printed = capsys.readouterr()
    tables = [block.splitlines() for block in printed.out.split("\n\n")]
    assert [table[0] for table in tables[:3]] == [
        "Codecs, MB/s (8 MiB of 8 MiB tried)",
        "Random reads of 4 KiB, µs",
        "Whole conversions of the sample, seconds with the program's start",
    ]
    codec = tables[0][2].split()
    assert codec[:6] == ["64", "KiB", "zstd", "zstd", "1", "1"]
    assert codec.count("±") == 2
    assert tables[2][1].split()[:5] == ["cluster", "type", "direction", "qcowgui", "qemu-img"]
    assert [line.split()[2:6] for line in tables[2][2:]] == [
        [kind, *way]
        for kind in ("none", "zstd")
        for way in (["qcow2", "→", "raw"], ["raw", "→", "qcow2"])
    ]
    assert tables[3][0].startswith("Mean ± standard deviation of 2 runs; deflate ")
    assert "the machine was busy: a thread had" in printed.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--all", "--sample", "1M"), "exclude each other"),
        (("--level", "40"), "has a level 40"),
        (("--backend", "lzma"), "no backend 'lzma'"),
        (("--cluster-size", "5000"), "5000 bytes is not possible"),
        (("--cluster-size", "big"), "'big' is not a size"),
        (("--runs", "0"), "0 runs are not possible"),
        (("-m", "0"), "0 threads are not possible"),
        (("-f", "vmdk"), "'vmdk' is not supported"),
        (("--dir", "/nonexistent"), "takes no temporary files"),
    ],
)
def test_refused(arguments: tuple[str, ...], message: str, raw: Path, capsys: Capture) -> None:
    assert run(["bench", *arguments, str(raw)]) in {ExitCode.FAILED, ExitCode.UNSUPPORTED}
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.out == ""


def test_progress_is_shown_when_asked_for(raw: Path, capsys: Capture) -> None:
    assert run(["bench", "-p", "--csv", *QUICK, "--compress", "zstd", str(raw)]) == 0
    assert "reading at random (40 of 40)" in capsys.readouterr().err


def test_ctrl_c_ends_it_and_leaves_nothing(raw: Path, tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    arguments = ["bench", "--runs", "1000", "--dir", str(folder), str(raw)]
    process = subprocess.Popen(
        [sys.executable, "-m", "qcowgui", *arguments], stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not list(folder.glob("*/sample.raw")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == ExitCode.CANCELLED
    assert said == "qcowgui: cancelled\n"
    assert list(folder.iterdir()) == []
