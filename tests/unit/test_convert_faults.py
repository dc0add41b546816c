"""The program stopped, killed, or without room: what a user then finds on the disk."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.converting import mixed_disk, names_in
from tests.support.base_images import pattern, text
from tests.support.builder import ImageBuilder
from tests.support.options import GIB, KIB, MIB, TIB

OLD = b"what was there before"
COMMAND = (sys.executable, "-m", "qcowgui", "convert")
TIMEOUT_SECONDS = 60
MEMORY_LIMIT_BYTES = 300 * MIB

REPORT_MEMORY = """
import re, sys
from pathlib import Path
from qcowgui.cli.main import run
code = run(sys.argv[1:])
status = Path("/proc/self/status").read_text()
print("peak", int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) * 1024)
sys.exit(code)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "out"
    path.mkdir()
    return path


@pytest.fixture
def slow_source(tmp_path: Path) -> Path:
    """A disk that takes half a minute and more at zstd's highest level."""
    path = tmp_path / "slow.raw"
    block = b"".join(text(MIB, seed) for seed in range(8))
    with path.open("wb") as file:
        for _ in range(12):
            file.write(block)
    return path


@contextmanager
def converting(source: Path, target: Path) -> Iterator[subprocess.Popen[str]]:
    """A conversion that has written something, and is far from its end."""
    arguments = ["--force", "-f", "raw", "-O", "qcow2", "--compress", "zstd", "--level", "22"]
    with subprocess.Popen(
        [*COMMAND, *arguments, source, target],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            deadline = time.monotonic() + TIMEOUT_SECONDS
            while not any(path.stat().st_size for path in target.parent.glob(".*.part")):
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < deadline
                time.sleep(0.02)
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_stopped_by_a_signal(number: signal.Signals, slow_source: Path, folder: Path) -> None:
    target = folder / "target.qcow2"
    target.write_bytes(OLD)
    with converting(slow_source, target) as process:
        began = time.monotonic()
        process.send_signal(number)
        output, errors = process.communicate(timeout=TIMEOUT_SECONDS)
        seconds = time.monotonic() - began
    assert process.returncode == 130
    assert output == ""
    assert errors.splitlines() == ["qcowgui: cancelled"]
    assert seconds < 3
    assert target.read_bytes() == OLD
    assert names_in(folder) == {target.name}


def test_killed(slow_source: Path, folder: Path) -> None:
    target = folder / "target.qcow2"
    target.write_bytes(OLD)
    with converting(slow_source, target) as process:
        process.kill()
        process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == -signal.SIGKILL
    assert target.read_bytes() == OLD
    # Nobody could remove the temporary file, but its name says what it is.
    [left] = names_in(folder) - {target.name}
    assert left.startswith(".target.qcow2.")
    assert left.endswith(".part")


def run_with(
    *arguments: str | Path, file_size_limit: int | None = None, report_memory: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run `qcowgui convert`, perhaps with a limit on the size of the files it writes."""

    def limit() -> None:
        if file_size_limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size_limit, file_size_limit))

    command = [sys.executable, "-c", REPORT_MEMORY, "convert"] if report_memory else COMMAND
    return subprocess.run(
        [*command, *arguments],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
        preexec_fn=limit,
    )


@pytest.mark.parametrize("target_format", ["raw", "qcow2"])
def test_no_room_in_the_middle(target_format: str, tmp_path: Path, folder: Path) -> None:
    source, target = tmp_path / "source.raw", folder / "target"
    source.write_bytes(pattern(12 * MIB))
    target.write_bytes(OLD)
    done = run_with("--force", "-O", target_format, source, target, file_size_limit=5 * MIB)
    assert done.returncode == 1
    assert done.stdout == ""
    error, hint = done.stderr.splitlines()
    assert error.startswith(f"qcowgui: {target} can't be")
    assert "File too large" in error
    assert "too large for this file system or for the set limit" in hint
    assert target.read_bytes() == OLD
    assert names_in(folder) == {target.name}


def huge_image(path: Path, size: int) -> Path:
    builder = ImageBuilder(cluster_bits=21 if size > 64 * TIB else 16, size=size)
    for place in (0, size // 3, size - 2 * MIB):
        builder.write(place - place % MIB, pattern(100 * KIB, 1))
    return builder.build().write_to(path)


def peak_memory(done: subprocess.CompletedProcess[str]) -> int:
    return int(done.stdout.rpartition("peak ")[2])


@pytest.mark.parametrize(
    ("target_format", "size"),
    # ext4 takes no file of 16 TiB.
    [("raw", 15 * TIB), ("qcow2", 16 * TIB)],
)
def test_memory_does_not_grow_with_the_disk(
    target_format: str, size: int, tmp_path: Path, folder: Path
) -> None:
    source = huge_image(tmp_path / "source.qcow2", size)
    target = folder / "target"
    done = run_with("-O", target_format, source, target, report_memory=True)
    assert done.returncode == 0, done.stderr
    assert peak_memory(done) < MEMORY_LIMIT_BYTES
    assert target.stat().st_blocks * 512 < 8 * MIB


@pytest.mark.slow
def test_memory_does_not_grow_with_the_data(tmp_path: Path, folder: Path) -> None:
    source, target = tmp_path / "source.raw", folder / "target.qcow2"
    block = pattern(3 * MIB, 1) + text(5 * MIB, 2)
    with source.open("wb") as file:
        for index in range(128):
            file.write(block[index * 4096 :] + block[: index * 4096])
    assert source.stat().st_size == GIB
    done = run_with("--compress", "zstd", "-m", "4", source, target, report_memory=True)
    assert done.returncode == 0, done.stderr
    assert peak_memory(done) < MEMORY_LIMIT_BYTES


def test_a_disk_that_no_file_here_can_hold(tmp_path: Path, folder: Path) -> None:
    """152 TiB, all of it valid; the system refuses so long a file at once."""
    source = huge_image(tmp_path / "source.qcow2", 152 * TIB)
    began = time.monotonic()
    done = run_with(
        "-O", "raw", source, folder / "target.raw",
        file_size_limit=64 * MIB, report_memory=True,
    )  # fmt: skip
    assert done.returncode == 1
    assert "can't be made 167,125,767,421,952 bytes long: File too large" in done.stderr
    assert peak_memory(done) < MEMORY_LIMIT_BYTES
    assert time.monotonic() - began < 10
    assert names_in(folder) == set()


@pytest.mark.parametrize("target", ["/dev/stdout", "/dev/null", "/dev/full"])
def test_a_target_that_is_no_file(target: str, tmp_path: Path) -> None:
    source = tmp_path / "source.raw"
    source.write_bytes(mixed_disk())
    done = run_with("--force", "-O", "raw", source, target)
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"{target} is no regular file" in done.stderr
    assert "a pipe or a device does not allow" in done.stderr


def test_a_folder_that_takes_no_files(tmp_path: Path) -> None:
    source = tmp_path / "source.raw"
    source.write_bytes(mixed_disk())
    done = run_with("-O", "raw", source, "/proc/self/target.raw")
    assert done.returncode == 1
    assert "/target.raw can't be created" in done.stderr


def test_standard_output_into_a_file(tmp_path: Path) -> None:
    """/dev/stdout leads to a regular file then, which is replaced as any other."""
    source, target = tmp_path / "source.raw", tmp_path / "target.raw"
    source.write_bytes(mixed_disk())
    with target.open("wb") as output:
        done = subprocess.run(
            [*COMMAND, "-q", "--force", "-O", "raw", source, "/dev/stdout"],
            stdout=output,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    assert done.returncode == 0
    assert target.read_bytes() == mixed_disk()
    assert names_in(tmp_path) == {source.name, target.name}
