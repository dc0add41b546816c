"""A folder of ten images, the power gone in the middle, and the same command once more."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.converting import names_in
from tests.support import oracle
from tests.support.base_images import pattern, text
from tests.support.options import MIB

pytestmark = pytest.mark.slow

COUNT = 10
TIMEOUT_SECONDS = 100


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten images of three kinds, with names that are not easy."""
    folder = tmp_path_factory.mktemp("images")
    stems = ["plain", "a b", "über", "100 %", "-dash", "new\nline", "'quote\"", "ö/deep", "x", "y"]
    for number, stem in enumerate(stems):
        raw = folder / f"{stem}.raw"
        raw.parent.mkdir(exist_ok=True)
        raw.write_bytes(
            b"".join((text(3 * MIB, number), bytes(MIB), pattern(MIB, number), text(3 * MIB, 99)))
        )
        if number % 3:
            more = ["-c"] if number % 3 == 1 else []
            target = folder / f"{stem}.qcow2"
            oracle.convert(raw, target, *more, source_format="raw", target_format="qcow2")
            raw.unlink()
    return folder


def start(images: Path, out: Path, state: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "qcowgui", "convert", "--to", "zstd", "--level", "17"]
    return subprocess.Popen(
        [*command, "--json-progress", "--out-dir", out, *arguments, "--", images],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"XDG_STATE_HOME": str(state)},
    )


def finish(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    """Wait for the end; the objects on standard error."""
    _, errors = process.communicate(timeout=TIMEOUT_SECONDS)
    return [json.loads(line) for line in errors.splitlines()]


def wait_for_the_middle(process: subprocess.Popen[str], out: Path, finished: int) -> None:
    """Return when so many results are there, and the next one has begun."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while True:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        names = names_in(out) if out.exists() else set()
        parts = {name for name in names if name.endswith(".part")}
        written = any((out / name).stat().st_size for name in parts if (out / name).exists())
        if written and len(names - parts) >= finished:
            return
        time.sleep(0.01)


def check_results(images: Path, out: Path) -> None:
    """Ten files, each of them right, and nothing else."""
    assert len(names_in(out)) == COUNT
    sources = [path for path in images.rglob("*") if path.is_file()]
    assert len(sources) == COUNT
    for source in sources:
        target = out / f"{source.name.rpartition('.')[0]}-zstd.qcow2"
        assert oracle.check(target).is_clean
        source_format = source.suffix.removeprefix(".")
        done = oracle.qemu_img(
            "compare", "-f", source_format, "-F", "qcow2", source.absolute(), target.absolute()
        )
        assert "identical" in done.stdout
        data = oracle.info(target)["format-specific"]["data"]
        assert data["compression-type"] == "zstd"


@pytest.mark.parametrize("jobs", [1, 3])
def test_killed_in_the_middle_and_started_again(jobs: int, images: Path, tmp_path: Path) -> None:
    out, state = tmp_path / "out", tmp_path / "state"
    process = start(images, out, state, "--jobs", str(jobs))
    wait_for_the_middle(process, out, 3)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == -signal.SIGKILL
    assert any(name.endswith(".part") for name in names_in(out))

    process = start(images, out, state, "--jobs", str(jobs))
    *_, summary = finish(process)
    assert process.returncode == 0
    assert (summary["type"], summary["total"]) == ("summary", COUNT)
    assert summary["skipped"] >= 3
    assert summary["done"] + summary["skipped"] == COUNT
    assert summary["done"] >= 1
    check_results(images, out)

    times = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    process = start(images, out, state)
    *_, summary = finish(process)
    assert summary["skipped"] == COUNT
    assert {path: path.stat().st_mtime_ns for path in out.iterdir()} == times
    assert not list(state.rglob("*.part"))


def test_started_again_by_somebody_without_notes(images: Path, tmp_path: Path) -> None:
    """What is done is found by its content; what is not the result is never replaced."""
    out = tmp_path / "out"
    process = start(images, out, tmp_path / "one", "--level", "1")
    finish(process)
    assert process.returncode == 0
    foreign = out / "x-zstd.qcow2"
    foreign.write_bytes(b"somebody's file")
    process = start(images, out, tmp_path / "other")
    lines = finish(process)
    assert process.returncode == 1
    assert (lines[-1]["skipped"], lines[-1]["failed"]) == (COUNT - 1, 1)
    [failed] = [line for line in lines if line["type"] == "finished" and line["phase"] == "failed"]
    assert "exists already" in failed["message"]
    assert foreign.read_bytes() == b"somebody's file"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_by_a_signal(number: signal.Signals, images: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start(images, out, tmp_path / "state", "--jobs", "2")
    wait_for_the_middle(process, out, 2)
    process.send_signal(number)
    began = time.monotonic()
    lines = finish(process)
    assert time.monotonic() - began < 3
    assert process.returncode == 130
    assert (lines[-1]["type"], lines[-1]["phase"]) == ("summary", "cancelled")
    assert lines[-1]["done"] + lines[-1]["cancelled"] == COUNT
    assert len(names_in(out)) == lines[-1]["done"]
    assert all(oracle.check(path).is_clean for path in out.iterdir())


@pytest.mark.parametrize(("name", "status"), [("stderr", 0), ("stdout", 1)])
def test_nobody_reads_what_it_says(name: str, status: int, images: Path, tmp_path: Path) -> None:
    """A closed pipe stops no work; what can't be printed on standard output is a failure."""
    out = tmp_path / "out"
    process = start(images, out, tmp_path / "state", "--level", "1")
    getattr(process, name).close()
    process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == status
    check_results(images, out)
