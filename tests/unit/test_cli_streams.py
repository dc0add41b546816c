"""Standard streams that are closed or full: the work is done, and the exit status is true."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.converting import names_in
from tests.support.base_images import b0, text
from tests.support.options import MIB

NO_SPACE = "standard output can't be written: No space left on device\n"


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    path = tmp_path / "source.raw"
    path.write_bytes(text(MIB))
    return path


def in_shell(redirection: str, arguments: Sequence[str | Path]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-m", "qcowgui", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    "redirection", ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", "<&- 2>&-"]
)
def test_closed_streams(redirection: str, raw: Path, tmp_path: Path) -> None:
    """Nor does a message go into the target, which could have had a stream's number."""
    target = tmp_path / "target.raw"
    done = in_shell(redirection, ["convert", "-p", raw, target])
    assert done.returncode == 0
    assert target.read_bytes() == raw.read_bytes()
    assert ("; verified" in done.stdout) == (" >&-" not in f" {redirection}")
    assert ("100 %" in done.stderr) == ("2>&-" not in redirection)
    assert names_in(tmp_path) == {raw.name, target.name}


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_an_error_that_can_not_be_told(redirection: str, tmp_path: Path) -> None:
    done = in_shell(redirection, ["info", tmp_path / "none"])
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


def test_progress_and_warnings_that_can_not_be_told(tmp_path: Path) -> None:
    source = b0(compression_type=1).write_to(tmp_path / "source.qcow2")
    target = tmp_path / "target.qcow2"
    done = in_shell("2>/dev/full", ["convert", "-p", "--compress", "zstd", source, target])
    assert done.returncode == 0
    assert target.exists()


@pytest.mark.parametrize("arguments", [["info"], ["info", "--json"], ["map"], ["dump"]])
def test_a_full_output(arguments: list[str], tmp_path: Path) -> None:
    image = b0().write_to(tmp_path / "image.qcow2")
    done = in_shell(">/dev/full", [*arguments, image])
    assert (done.returncode, done.stderr) == (1, f"qcowgui: {NO_SPACE}")


def test_a_full_output_of_help() -> None:
    done = in_shell(">/dev/full", ["--help"])
    assert (done.returncode, done.stderr) == (1, f"qcowgui: {NO_SPACE}")


@pytest.mark.parametrize("option", [[], ["--json"]])
def test_a_full_output_of_a_conversion(option: list[str], raw: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.raw"
    done = in_shell(">/dev/full", ["convert", *option, raw, target])
    message = f"qcowgui: {target} is complete and in place, but {NO_SPACE}"
    assert (done.returncode, done.stderr) == (1, message)
    assert target.read_bytes() == raw.read_bytes()


def test_a_full_output_of_a_comparison(raw: Path) -> None:
    """Neither the same nor different: nobody was told."""
    done = in_shell(">/dev/full", ["compare", raw, raw])
    assert (done.returncode, done.stderr) == (4, f"qcowgui: {NO_SPACE}")
    assert in_shell(">/dev/full", ["compare", "-q", raw, raw]).returncode == 0


def test_nobody_who_reads_a_comparison(raw: Path) -> None:
    command = [sys.executable, "-m", "qcowgui", "compare", str(raw), str(raw)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 4
