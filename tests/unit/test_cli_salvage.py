"""`qcowgui salvage`: what it prints, what it refuses, what it returns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qcowgui.cli import main
from qcowgui.cli.main import run
from tests.support import oracle
from tests.support.base_images import pattern
from tests.support.builder import ImageBuilder
from tests.support.options import MIB


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(main.COMMANDS, "salvage", "Find what is left of a damaged image.")


def disk() -> ImageBuilder:
    builder = ImageBuilder(cluster_bits=12, size=8 * MIB)
    for index in range(2048):
        builder.write(index << 12, pattern(4096, index))
    return builder


@pytest.fixture
def wiped(tmp_path: Path) -> Path:
    return disk().build().edited(0, bytes(4096)).write_to(tmp_path / "wiped.qcow2")


@pytest.fixture
def torn(tmp_path: Path) -> Path:
    image = disk().build()
    return image.edited(image.layout.l2[1].offset, bytes(4096)).write_to(tmp_path / "torn.qcow2")


def test_candidates_for_people(wiped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["salvage", str(wiped)]) == 0
    text = capsys.readouterr().out
    assert "The header is gone" in text
    assert "Candidate 1, score 1.00: the L1 table at 0x" in text
    assert "clusters of 4 KiB" in text
    assert "? Whether there was a backing file" in text
    assert "qcowgui salvage" in text


def test_candidates_for_programs(wiped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["salvage", "--json", str(wiped)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == 1
    best = found["candidates"][0]
    assert best["origin"] == "l1-table"
    assert best["cluster-size"] == 4096
    assert best["virtual-size"] == 8 * MIB
    assert best["tables"] == {"whole": 4, "damaged": 0, "lost": 0}
    assert found["refcount-table"] == {"offset": 4096, "refcount-bits": 16}
    assert found["orphans"]["clusters"] == 0


def test_writing(wiped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "out.qcow2"
    assert run(["salvage", str(wiped), "-o", str(target)]) == 0
    captured = capsys.readouterr()
    assert "no losses; the disk's size is a guess" in captured.out
    assert "the copy was verified against what was read" in captured.out
    assert "backing file" in captured.err
    assert oracle.guest_bytes(target) == disk().build().guest_bytes()
    assert oracle.check(target).is_clean


def test_losses_are_told_and_change_the_status(
    torn: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out"
    assert run(["salvage", "--raw", str(torn), "-o", str(target)]) == 2
    captured = capsys.readouterr()
    assert "lost: guest bytes 0x20_0000 to 0x40_0000" in captured.err
    left = "2 MiB of data that no table names left out"
    assert f"2 MiB lost, {left}, listed in {target}.losses.json" in captured.out
    assert target.stat().st_size == 8 * MIB


def test_json_of_what_was_written(
    torn: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.raw"
    assert run(["salvage", "--json", str(torn), "-o", str(target), "-q"]) == 2
    written = json.loads(capsys.readouterr().out)["written"]
    assert written["candidate"] == 1
    assert written["lost-bytes"] == 2 * MIB
    assert written["losses-file"] == f"{target}.losses.json"
    assert written["verified"] is True


def test_compressing_the_output(wiped: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.qcow2"
    assert run(["salvage", str(wiped), "-o", str(target), "--compress", "zstd", "-q"]) == 0
    assert oracle.info(target)["format-specific"]["data"]["compression-type"] == "zstd"
    assert oracle.guest_bytes(target) == disk().build().guest_bytes()


def test_what_the_user_knows(wiped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--cluster-size", "4k", "--size", "16M", "--compression-type", "zstd"]
    assert run(["salvage", "--json", str(wiped), *arguments]) == 0
    best = json.loads(capsys.readouterr().out)["candidates"][0]
    assert best["virtual-size"] == 16 * MIB
    assert best["compression-type"] == "zstd"


def test_nothing_to_salvage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "noise"
    path.write_bytes(pattern(MIB, 3))
    target = tmp_path / "out"
    assert run(["salvage", str(path), "-o", str(target)]) == 2
    assert "Nothing that could be an L1 or L2 table" in capsys.readouterr().out
    assert not target.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--candidate", "1"], "-o OUT was not given"),
        (["--raw"], "-o OUT was not given"),
        (["-o", ""], "empty"),
        (["--cluster-size", "3000"], "3000 bytes is not possible"),
        (["--candidate", "9", "-o", "OUT"], "no candidate 9"),
        (["--raw", "-O", "qcow2", "-o", "OUT"], "contradict"),
        (["--raw", "--compress", "zlib", "-o", "OUT"], "raw target can't have compression"),
    ],
)
def test_what_is_refused(
    wiped: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    arguments = [str(tmp_path / "out") if item == "OUT" else item for item in arguments]
    assert run(["salvage", str(wiped), *arguments]) == 1
    assert message in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"wiped.qcow2"}


def test_a_file_that_can_not_be_opened(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["salvage", "/nonexistent"]) == 1
    assert "can't be opened" in capsys.readouterr().err


def test_progress_is_shown_when_asked_for(
    wiped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["salvage", "-p", str(wiped), "-o", str(tmp_path / "out.raw")]) == 0
    assert "finishing" in capsys.readouterr().err


def test_a_guess_is_told_listed_and_changes_the_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image = disk().build()
    damaged = image.edited(image.layout.l1.offset, bytes(image.layout.l1.length))
    damaged = damaged.edited(image.layout.l2[1].offset, bytes(4096))
    path, target = damaged.write_to(tmp_path / "torn.qcow2"), tmp_path / "out.raw"
    assert run(["salvage", str(path), "-o", str(target)]) == 2
    captured = capsys.readouterr()
    assert "no losses" not in captured.out
    assert "are a guess" in captured.out
    assert "2 MiB of data that no table names left out" in captured.out
    assert "guest data may be lost" in captured.err
    listed = json.loads((tmp_path / "out.raw.losses.json").read_text())
    assert listed["losses"] == []
    assert listed["guessed-bytes"] == sum(part["length"] for part in listed["guessed"]) > 0
    assert listed["unowned-clusters"] == 512
    assert len(listed["unknown"]) == 3


def test_a_lost_l2_table_is_not_hidden_by_the_l1_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    builder = ImageBuilder(size=4 * MIB)
    builder.write(0, pattern(4 * MIB, 1))
    image = builder.build()
    damaged = image.edited(image.layout.l2[0].offset, bytes(64 << 10))
    path, target = damaged.write_to(tmp_path / "torn.qcow2"), tmp_path / "out.raw"
    assert run(["salvage", "--json", str(path), "-o", str(target), "-q"]) == 2
    found = json.loads(capsys.readouterr().out)
    assert found["written"]["lost-bytes"] == 4 * MIB
    assert found["written"]["unowned-clusters"] == 64
    assert found["candidates"][0]["score"] == 0.0


def test_a_backing_file_that_was_not_opened(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "base").write_bytes(pattern(MIB, 1))
    builder = ImageBuilder(cluster_bits=12, size=MIB, backing_file="base", backing_format="raw")
    builder.write(0, pattern(4096, 2))
    path, target = builder.build().write_to(tmp_path / "over.qcow2"), tmp_path / "out.raw"
    assert run(["salvage", str(path), "-o", str(target)]) == 2
    assert "name it with -B" in capsys.readouterr().err
    arguments = ["--allow-backing", "-o", str(target), "--force"]
    assert run(["salvage", str(path), *arguments]) == 0
    captured = capsys.readouterr()
    assert "no losses" in captured.out
    assert "-B" not in captured.err


def test_a_snapshot_that_stands_in_for_the_disk_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    builder = ImageBuilder(size=4 * MIB)
    builder.write(0, pattern(1 << 16, 1))
    builder.snapshot("before")
    builder.write(0, pattern(4 * MIB, 2))
    image = builder.build()
    damaged = image.edited(0, bytes(1 << 16))
    for lost in (image.layout.l1, image.layout.l2[0]):
        damaged = damaged.edited(lost.offset, bytes(1 << 16))
    path, target = damaged.write_to(tmp_path / "torn.qcow2"), tmp_path / "out.raw"
    assert run(["salvage", str(path), "-o", str(target)]) == 2
    assert "is snapshot 1 (before)" in capsys.readouterr().err
    assert run(["salvage", str(path), "-o", str(target), "--force", "--candidate", "1"]) == 0
