"""The list of what salvaging could not read: beside the target, whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from qcowgui.convert.losses import losses_path
from qcowgui.convert.output import OutputFile
from qcowgui.errors import OutputError
from qcowgui.image.inspect import inspect
from tests.converting import convert, names_in
from tests.support.base_images import b0, pattern
from tests.support.builder import ImageBuilder
from tests.support.damage import set_integer, truncate_at
from tests.support.options import KIB, MIB


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    """An image whose file ends too early: 32 KiB from guest offset 0x8000 on are gone."""
    return truncate_at(b0(), 0x58000).write_to(tmp_path / "cut.qcow2")


def test_the_list(cut: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.raw"
    result = convert(cut, target, salvage=True)
    path = tmp_path / "target.raw.losses.txt"
    assert result.losses_path == path == losses_path(target)
    assert names_in(tmp_path) == {"cut.qcow2", "target.raw", path.name}
    lines = path.read_text().splitlines()
    assert lines[:2] == [f"Source: {cut}", f"Target: {target}"]
    assert lines[2].startswith("32,768 bytes of the guest's disk in 1 range could not be read;")
    assert lines[3:5] == ["", "start\tend\tbytes\treason"]
    [row] = [line.split("\t") for line in lines[5:]]
    [lost] = result.losses
    assert row == ["0x8000", "0x10000", "32768", lost.reason]


def test_nothing_lost_no_list(tmp_path: Path) -> None:
    source = b0().write_to(tmp_path / "source.qcow2")
    result = convert(source, tmp_path / "target.raw", salvage=True)
    assert result.losses_path is None
    assert names_in(tmp_path) == {"source.qcow2", "target.raw"}


def test_a_strict_conversion_writes_no_list(cut: Path, tmp_path: Path) -> None:
    losses_path(tmp_path / "other.raw").write_text("of another image")
    source = b0().write_to(tmp_path / "source.qcow2")
    convert(source, tmp_path / "other.raw")
    assert losses_path(tmp_path / "other.raw").read_text() == "of another image"
    assert cut.exists()


def test_an_existing_list_is_never_replaced_unasked(cut: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.raw"
    losses_path(target).write_text("precious")
    with pytest.raises(OutputError, match=r"target\.raw\.losses\.txt exists already"):
        convert(cut, target, salvage=True)
    assert names_in(tmp_path) == {"cut.qcow2", "target.raw.losses.txt"}
    assert losses_path(target).read_text() == "precious"


def test_overwriting_replaces_the_list_of_the_run_before(cut: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.raw"
    convert(cut, target, salvage=True)
    whole = b0().write_to(tmp_path / "whole.qcow2")
    result = convert(whole, target, salvage=True, overwrite=True)
    assert result.losses == ()
    assert losses_path(target).read_text() == (
        f"Source: {whole}\nTarget: {target}\nEverything could be read.\n"
    )


def test_a_list_that_is_the_source(tmp_path: Path) -> None:
    source = b0().write_to(tmp_path / "target.raw.losses.txt")
    before = source.read_bytes()
    with pytest.raises(OutputError, match="is the source itself"):
        convert(
            source,
            tmp_path / "target.raw",
            source_format="qcow2",
            salvage=True,
            overwrite=True,
        )
    assert source.read_bytes() == before
    assert names_in(tmp_path) == {source.name}


def test_no_target_without_its_list(
    cut: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What can fail of the list fails before the target is moved."""
    real = OutputFile.write_at

    def write_at(output: OutputFile, offset: int, data: bytes) -> None:
        if output.target.suffix == ".txt":
            raise OutputError("no space", path=str(output.target))
        real(output, offset, data)

    monkeypatch.setattr(OutputFile, "write_at", write_at)
    with pytest.raises(OutputError, match="no space"):
        convert(cut, tmp_path / "target.raw", salvage=True)
    assert names_in(tmp_path) == {"cut.qcow2"}


def test_no_target_when_its_list_can_not_be_moved(
    cut: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.link

    def link(source: Path, target: Path) -> None:
        if Path(target).suffix == ".txt":
            Path(target).write_text("somebody else's")
        real(source, target)

    monkeypatch.setattr(os, "link", link)
    with pytest.raises(OutputError, match=r"losses\.txt was made by somebody else meanwhile"):
        convert(cut, tmp_path / "target.raw", salvage=True)
    assert names_in(tmp_path) == {"cut.qcow2", "target.raw.losses.txt"}
    assert (tmp_path / "target.raw.losses.txt").read_text() == "somebody else's"


def test_a_list_whose_target_can_not_be_moved_goes(
    cut: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.link

    def link(source: Path, target: Path) -> None:
        if Path(target).suffix == ".raw":
            assert losses_path(Path(target)).exists()
            Path(target).write_text("somebody else's")
        real(source, target)

    monkeypatch.setattr(os, "link", link)
    with pytest.raises(OutputError, match=r"target\.raw was made by somebody else meanwhile"):
        convert(cut, tmp_path / "target.raw", salvage=True)
    assert names_in(tmp_path) == {"cut.qcow2", "target.raw"}


def test_a_list_that_was_left_without_its_target_is_replaced(cut: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.raw"
    convert(cut, target, salvage=True)
    listed = losses_path(target).read_text()
    target.unlink()
    convert(cut, target, salvage=True)
    assert losses_path(target).read_text() == listed
    losses_path(target).write_text(listed.replace("target.raw", "other.raw"))
    target.unlink()
    with pytest.raises(OutputError, match="exists already"):
        convert(cut, target, salvage=True)


def test_replacing_a_salvaged_target_takes_its_list_away(cut: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.raw"
    convert(cut, target, salvage=True)
    whole = b0().write_to(tmp_path / "whole.qcow2")
    convert(whole, target, overwrite=True)
    assert names_in(tmp_path) == {"cut.qcow2", "target.raw", "whole.qcow2"}


def test_odd_names_stay_on_their_line(tmp_path: Path) -> None:
    name = os.fsdecode(b"bad\xff\nname\x1b[31m.qcow2")
    source = truncate_at(b0(), 0x58000).write_to(tmp_path / name)
    result = convert(source, tmp_path / "target.raw", salvage=True)
    assert result.losses_path is not None
    first, second, *_ = result.losses_path.read_text().splitlines()
    assert first == rf"Source: {tmp_path}/bad\xff\nname\x1b[31m.qcow2"
    assert second.startswith("Target: ")


def test_a_snapshot_is_named(tmp_path: Path) -> None:
    builder = ImageBuilder(size=MIB)
    builder.write(0, pattern(128 * KIB))
    builder.snapshot("before")
    image = builder.build()
    offset = inspect(image.write_to(tmp_path / "whole.qcow2")).snapshots[0].l1_table_offset
    source = set_integer(image, offset, 8, 1 << 50).write_to(tmp_path / "lost.qcow2")
    result = convert(source, tmp_path / "t.raw", salvage=True, snapshot="before")
    assert result.losses_path is not None
    assert "Snapshot: before" in result.losses_path.read_text().splitlines()
