"""Sources are never written, references need permission, and results are verified."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from qcowgui.convert.job import ConvertJob
from qcowgui.errors import (
    CorruptError,
    OptionsError,
    OutputError,
    ReferencedFileError,
    SourceError,
    VerifyError,
)
from qcowgui.image.chain import open_image
from qcowgui.image.references import AllowGate
from qcowgui.units import format_offset
from tests.converting import ALLOW, convert, mixed_disk, names_in
from tests.support.base_images import b0, b0_builder, pattern
from tests.support.builder import ImageBuilder
from tests.support.options import KIB, MIB

OLD = b"what was there before"
CANCEL_SECONDS = 0.5


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    path = tmp_path / "disk.raw"
    path.write_bytes(mixed_disk())
    return path


def guest(path: Path, **keywords: str) -> bytes:
    with open_image(path, gate=ALLOW, format=keywords.get("format")) as image:
        return image.read(0, image.size_bytes)


@pytest.mark.parametrize("link", ["itself", "symbolic", "hard"])
def test_the_source_is_never_the_target(link: str, disk: Path, tmp_path: Path) -> None:
    target = tmp_path / "other.raw"
    if link == "symbolic":
        target.symlink_to(disk)
    elif link == "hard":
        target.hardlink_to(disk)
    else:
        target = disk
    before = disk.read_bytes()
    with pytest.raises(OutputError, match="is the source itself"):
        convert(disk, target, overwrite=True)
    assert disk.read_bytes() == before


@pytest.fixture
def overlay(disk: Path, tmp_path: Path) -> Path:
    builder = b0_builder(backing_file=disk.name, backing_format="raw", size=disk.stat().st_size)
    builder.zero(4)
    return builder.build().write_to(tmp_path / "overlay.qcow2")


def test_the_sources_backing_file_is_never_the_target(overlay: Path, disk: Path) -> None:
    before = disk.read_bytes()
    with pytest.raises(OutputError, match="a file that the source refers to"):
        convert(overlay, disk, gate=ALLOW, overwrite=True)
    assert disk.read_bytes() == before


def test_the_sources_data_file_is_never_the_target(tmp_path: Path) -> None:
    source = b0_builder(data_file="guest.data").build().write_to(tmp_path / "source.qcow2")
    data = tmp_path / "guest.data"
    before = data.read_bytes()
    with pytest.raises(OutputError, match="a file that the source refers to"):
        convert(source, data, target_format="raw", gate=ALLOW, overwrite=True)
    assert data.read_bytes() == before


def test_the_kept_backing_file_is_never_the_target(disk: Path, tmp_path: Path) -> None:
    base = tmp_path / "base.qcow2"
    convert(disk, base)
    before = base.read_bytes()
    with pytest.raises(OutputError, match="is the source itself, or a file"):
        convert(disk, base, overwrite=True, backing_file=base.name, backing_format="qcow2")
    assert base.read_bytes() == before


def test_references_need_permission(overlay: Path, disk: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.raw"
    with pytest.raises(ReferencedFileError, match="was not opened"):
        convert(overlay, target)
    assert not target.exists()
    convert(overlay, target, gate=AllowGate((disk,)))
    assert target.stat().st_size == disk.stat().st_size


def test_naming_the_backing_file_permits_that_one_alone(overlay: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.qcow2"
    convert(overlay, target, backing_file="disk.raw", backing_format="raw")
    assert guest(target) == guest(overlay)
    other = tmp_path / "other.raw"
    other.write_bytes(bytes(MIB))
    with pytest.raises(ReferencedFileError, match="was not opened"):
        convert(overlay, tmp_path / "no.qcow2", backing_file="other.raw", backing_format="raw")


def test_a_kept_backing_file_that_is_missing(disk: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="can't be opened"):
        convert(disk, tmp_path / "target.qcow2", backing_file="no.raw", backing_format="raw")
    assert names_in(tmp_path) == {disk.name}


def test_a_kept_backing_file_with_a_colon(disk: Path, tmp_path: Path) -> None:
    (tmp_path / "a:b.raw").write_bytes(disk.read_bytes())
    target = tmp_path / "target.qcow2"
    with pytest.raises(OptionsError, match=r"write \./ before"):
        convert(disk, target, backing_file="a:b.raw", backing_format="raw")
    result = convert(disk, target, backing_file="./a:b.raw", backing_format="raw")
    assert result.target_bytes < 512 * KIB


def test_a_linked_target_finds_its_backing_file_from_where_it_really_is(
    disk: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "base.raw").write_bytes(disk.read_bytes())
    # Of the same name, but beside the link.
    (tmp_path / "base.raw").write_bytes(pattern(MIB))
    link = tmp_path / "link.qcow2"
    link.symlink_to("elsewhere/real.qcow2")
    convert(disk, link, backing_file="base.raw", backing_format="raw")
    assert guest(folder / "real.qcow2") == disk.read_bytes()
    assert link.is_symlink()


def test_one_base_read_in_two_ways(tmp_path: Path) -> None:
    """The source reads its base as qcow2; the target is asked to read the same file as raw."""
    base = b0(size=MIB).write_to(tmp_path / "base.qcow2")
    builder = ImageBuilder(size=MIB, backing_file="base.qcow2", backing_format="qcow2")
    builder.write(MIB - 64 * KIB, pattern(64 * KIB, 3))
    source = builder.build().write_to(tmp_path / "source.qcow2")
    target = tmp_path / "target.qcow2"
    convert(source, target, gate=ALLOW, backing_file=base.name, backing_format="raw")
    assert guest(target) == guest(source)


@pytest.fixture
def flip(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Lets the storage flip a bit of the finished file, at a host offset, before it is verified."""
    position: list[int] = []
    real = ConvertJob._verify

    def damage_first(conversion: ConvertJob, source: object, path: Path, *rest: object) -> None:
        with path.open("r+b") as file:
            file.seek(position[0])
            value = file.read(1)[0]
            file.seek(position[0])
            file.write(bytes([value ^ 0x40]))
        real(conversion, source, path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(ConvertJob, "_verify", damage_first)
    yield position.append
    assert position


@pytest.mark.parametrize("place", [0, 4 * MIB + 5, 6 * MIB + 1535])
def test_a_flipped_bit_is_found(
    place: int, disk: Path, tmp_path: Path, flip: Callable[[int], None]
) -> None:
    target = tmp_path / "target.raw"
    target.write_bytes(OLD)
    flip(place)
    with pytest.raises(VerifyError) as caught:
        convert(disk, target, source_format="raw", overwrite=True)
    assert caught.value.guest_offset == place
    assert format_offset(place) in str(caught.value)
    assert target.read_bytes() == OLD
    assert names_in(tmp_path) == {disk.name, target.name}


@pytest.mark.parametrize(
    "place", [3, 24 + 4, 40 + 5, 64 * KIB + 5], ids=["magic", "size", "L1 offset", "L1 entry"]
)
def test_flipped_metadata_is_found(
    place: int, disk: Path, tmp_path: Path, flip: Callable[[int], None]
) -> None:
    target = tmp_path / "target.qcow2"
    flip(place)
    with pytest.raises(VerifyError) as caught:
        convert(disk, target)
    assert ".part" not in str(caught.value)
    assert "the storage, or this program, is at fault" in caught.value.hint
    assert names_in(tmp_path) == {disk.name}


def test_a_result_of_another_size_is_found(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = disk.stat().st_size
    real = ConvertJob._verify

    def cut_first(conversion: ConvertJob, source: object, path: Path, *rest: object) -> None:
        os.truncate(path, size - 512)
        real(conversion, source, path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(ConvertJob, "_verify", cut_first)
    with pytest.raises(
        VerifyError, match="The result has 6,292,480 bytes, not 6,292,992"
    ) as caught:
        convert(disk, tmp_path / "target.raw")
    assert caught.value.guest_offset == size - 512
    assert names_in(tmp_path) == {disk.name}


def test_a_source_that_breaks_while_verifying_is_its_own_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = b0().write_to(tmp_path / "source.qcow2")

    def fail(*_: object, **__: object) -> None:
        raise CorruptError("is broken now", path=str(source))

    monkeypatch.setattr("qcowgui.convert.job.first_difference", fail)
    with pytest.raises(CorruptError):
        convert(source, tmp_path / "target.raw")
    assert names_in(tmp_path) == {source.name}
