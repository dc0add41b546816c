"""`qcowgui measure`: what it takes, refuses and prints. The figures: `tests/oracle`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from qcowgui.cli.main import run
from qcowgui.errors import ExitCode
from tests.support.base_images import b0, b0_builder

Capture = pytest.CaptureFixture[str]


def test_for_people(capsys: Capture) -> None:
    assert run(["measure", "-O", "qcow2", "--size", "64M"]) == 0
    assert capsys.readouterr().out == (
        "required size: 327680 (320 KiB)\nfully allocated size: 67436544 (64.3 MiB)\n"
    )


def test_bitmaps_are_told_where_there_may_be_some(tmp_path: Path, capsys: Capture) -> None:
    path = b0().write_to(tmp_path / "image.qcow2")
    assert run(["measure", "-O", "qcow2", str(path)]) == 0
    assert "bitmaps size: 0 (0 B)\n" in capsys.readouterr().out
    assert run(["measure", "--json", str(path)]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "required": 64 << 20,
        "fully-allocated": 64 << 20,
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Either an IMAGE or --size is needed, and not both"),
        (["--size", "1G", "image"], "Either an IMAGE or --size is needed, and not both"),
        (["--size", "1G", "-l", "snapshot"], "-l and -f belong to an IMAGE"),
        (["--size", "1G", "-f", "raw"], "-l and -f belong to an IMAGE"),
        (["--size", "1G", "-o", "cluster_size=4k"], "A raw target has no options"),
        (["--size", "1G", "-O", "vmdk"], "The target format 'vmdk' does not exist"),
        (["--size", "1x"], "'1x' is not a size"),
        (["--size", "9E"], "is not possible"),
        (["-O", "qcow2", "-o", "cluster_size=5k", "--size", "1G"], "cluster size of 5120"),
        (["-O", "qcow2", "-o", "compat=0.10,refcount_bits=8", "--size", "1G"], "compat 0.10"),
        (["-f", "vmdk", "image"], "the format 'vmdk' is not supported"),
    ],
)
def test_refusals(arguments: list[str], message: str, capsys: Capture) -> None:
    assert run(["measure", *arguments]) in (ExitCode.FAILED, ExitCode.UNSUPPORTED)
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_a_backing_file_is_opened_only_when_allowed(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "base.raw").write_bytes(b"\1" * (1 << 20))
    builder = b0_builder(backing_file="base.raw", backing_format="raw")
    path = builder.build().write_to(tmp_path / "image.qcow2")
    assert run(["measure", "-O", "qcow2", str(path)]) == ExitCode.FAILED
    assert "base.raw" in capsys.readouterr().err
    assert run(["measure", "-O", "qcow2", "--allow-backing", "--json", str(path)]) == 0
    # The 16 clusters of the backing file, the first of them replaced.
    assert json.loads(capsys.readouterr().out)["required"] == 5 * 65536 + (1 << 20)


def test_a_raw_target_needs_no_backing_file(tmp_path: Path, capsys: Capture) -> None:
    """Its size is that of the disk; qemu-img measures it as well."""
    builder = b0_builder(backing_file="gone.raw", backing_format="raw")
    path = builder.build().write_to(tmp_path / "image.qcow2")
    assert run(["measure", "-O", "raw", "--json", str(path)]) == 0
    disk_bytes = 64 << 20
    measured = json.loads(capsys.readouterr().out)
    assert measured == {"required": disk_bytes, "fully-allocated": disk_bytes}


def test_the_backing_file_of_the_target_is_not_looked_for(capsys: Capture) -> None:
    arguments = ["measure", "-O", "qcow2", "-o", "backing_file=nowhere", "--size", "1G"]
    assert run(arguments) == 0
    assert "required size" in capsys.readouterr().out


@pytest.mark.parametrize("mode", ["off", "metadata", "falloc", "full"])
@pytest.mark.parametrize("target_format", ["raw", "qcow2"])
def test_preallocation_is_measured_as_qemu_img_does(
    target_format: str, mode: str, capsys: Capture
) -> None:
    arguments = ["-O", target_format, "-o", f"preallocation={mode}", "--size", "100M"]
    peer = subprocess.run(
        ["qemu-img", "measure", "--output=json", *arguments], capture_output=True, check=False
    )
    status = run(["measure", "--json", *arguments])
    if (target_format, mode) == ("raw", "metadata"):
        assert status == ExitCode.FAILED  # qemu-img measures what it then can't make
    else:
        assert status == 0
        found = json.loads(capsys.readouterr().out)
        assert {key: found[key] for key in json.loads(peer.stdout)} == json.loads(peer.stdout)
