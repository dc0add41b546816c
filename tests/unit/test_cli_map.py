"""`qcowgui map`: extents for people and for programs, printed while they are found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qcowgui.cli.main import run
from qcowgui.errors import ExitCode
from tests.support.base_images import b0, b0_builder, text
from tests.support.builder import ImageBuilder
from tests.support.damage import set_l2_entry

Capture = pytest.CaptureFixture[str]
CLUSTER = 65536


def extents(capsys: Capture, *arguments: str | Path) -> list[dict[str, Any]]:
    assert run(["map", "--json", *map(str, arguments)]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    builder = b0_builder(size=8 * CLUSTER)
    builder.write_compressed(1, text(CLUSTER))
    builder.zero(2)
    builder.zero(3, allocated=True)
    return builder.build().write_to(tmp_path / "mixed.qcow2")


def test_truth_values_of_every_kind(mixed: Path, capsys: Capture) -> None:
    keys = ("start", "length", "depth", "present", "zero", "data", "compressed", "offset")
    found = extents(capsys, mixed)
    rows = [tuple(extent.get(key) for key in keys) for extent in found]
    host = rows[3][7]
    assert rows == [
        (0, CLUSTER, 0, True, False, True, False, 0x50000),
        (CLUSTER, CLUSTER, 0, True, False, True, True, None),
        (2 * CLUSTER, CLUSTER, 0, True, True, False, False, None),
        (3 * CLUSTER, CLUSTER, 0, True, True, False, False, host),
        (4 * CLUSTER, 4 * CLUSTER, 0, False, True, False, False, None),
    ]
    assert host is not None
    assert list(found[0]) == list(keys)
    assert "offset" not in found[1]


def test_people_see_stored_ranges_and_compressed_ones(mixed: Path, capsys: Capture) -> None:
    assert run(["map", str(mixed)]) == 0
    assert capsys.readouterr().out == (
        "Offset          Length          Mapped to       File\n"
        f"0x0             0x10000         0x50000         {mixed}\n"
        f"0x10000         0x10000         compressed      {mixed}\n"
    )


def test_a_range_is_exact_to_the_byte(mixed: Path, capsys: Capture) -> None:
    found = extents(capsys, "-s", "1000", "-l", "66000", mixed)
    assert [(extent["start"], extent["length"]) for extent in found] == [
        (1000, CLUSTER - 1000),
        (CLUSTER, 66000 - CLUSTER + 1000),
    ]
    assert found[0]["offset"] == 0x50000 + 1000
    assert extents(capsys, "--start-offset=7M", mixed) == []
    assert extents(capsys, "--max-length=0", mixed) == []


def test_a_named_snapshot(tmp_path: Path, capsys: Capture) -> None:
    """BL-O53."""
    builder = ImageBuilder(size=4 * CLUSTER)
    builder.snapshot("empty")
    builder.write(CLUSTER, b"x" * CLUSTER)
    path = builder.build().write_to(tmp_path / "image.qcow2")
    assert len(extents(capsys, path)) == 3
    (everything,) = extents(capsys, "--snapshot", "empty", path)
    assert everything["present"] is False


def test_a_backing_file_needs_consent_or_is_left_out(tmp_path: Path, capsys: Capture) -> None:
    """BL-O16, BL-O61."""
    path = b0(backing_file="base.raw", backing_format="raw", size=2 * CLUSTER).write_to(
        tmp_path / "top.qcow2"
    )
    assert run(["map", "--json", str(path)]) == ExitCode.FAILED
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "--allow-backing turns it on" in captured.err
    assert run(["map", "--allow-backing", str(path)]) == ExitCode.FAILED
    assert "can't be found" in capsys.readouterr().err
    own = extents(capsys, "--no-backing", path)
    assert [extent["present"] for extent in own] == [True, False]
    (tmp_path / "base.raw").write_bytes(b"b" * CLUSTER * 2)
    both = extents(capsys, "--allow-backing", path)
    assert [(extent["depth"], extent["data"]) for extent in both] == [(0, True), (1, True)]


def test_a_damaged_entry_ends_the_list_with_its_place(tmp_path: Path, capsys: Capture) -> None:
    image = b0(size=4 * CLUSTER)
    path = set_l2_entry(image, 2, 0x50200).write_to(tmp_path / "image.qcow2")
    assert run(["map", str(path)]) == ExitCode.CORRUPT
    captured = capsys.readouterr()
    assert captured.out.count("\n") == 2
    assert "guest offset 0x2_0000 can't be read" in captured.err
