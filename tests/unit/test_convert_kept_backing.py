"""The source's own backing file, kept: under which name, from wherever the target is."""

from __future__ import annotations

from pathlib import Path

import pytest

from qcowgui.convert.kept_backing import with_named_backing
from qcowgui.convert.options import ConvertOptions
from qcowgui.errors import OptionsError, OutputError, ReferencedFileError
from qcowgui.image.chain import open_image
from qcowgui.image.inspect import inspect
from tests.converting import ALLOW, convert, names_in
from tests.support.base_images import b0, pattern
from tests.support.builder import ImageBuilder
from tests.support.options import KIB, MIB

CLUSTER = 64 * KIB


def overlay(path: Path, base: str, base_format: str | None = "raw") -> Path:
    """An overlay with one cluster of its own."""
    builder = ImageBuilder(size=MIB, backing_file=base, backing_format=base_format)
    builder.write(CLUSTER, pattern(CLUSTER, 2))
    return builder.build().write_to(path)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    path = tmp_path / "base.raw"
    path.write_bytes(pattern(MIB, 1))
    return path


def content(path: Path) -> bytes:
    raw = path.with_name(f"{path.name}.raw")
    convert(path, raw, gate=ALLOW)
    return raw.read_bytes()


def test_beside_the_source_the_name_stays(base: Path, tmp_path: Path) -> None:
    source = overlay(tmp_path / "over.qcow2", "base.raw")
    target = tmp_path / "target.qcow2"
    result = convert(source, target, gate=ALLOW, keep_backing=True, compression="zlib")
    report = inspect(target)
    assert (report.backing_name, report.backing_format) == ("base.raw", "raw")
    assert result.verified
    assert content(target) == content(source)
    # The overlay's own cluster, and one each for header, L1, L2, refcount table and block.
    assert target.stat().st_size == 6 * CLUSTER
    assert base.read_bytes() == pattern(MIB, 1)


def test_from_another_folder_the_way_is_another(base: Path, tmp_path: Path) -> None:
    source = overlay(tmp_path / "over.qcow2", "base.raw")
    folder = tmp_path / "deep" / "er"
    folder.mkdir(parents=True)
    target = folder / "target.qcow2"
    convert(source, target, gate=ALLOW, keep_backing=True)
    assert inspect(target).backing_name == "../../base.raw"
    assert content(target) == content(source)
    assert base.exists()


def test_a_file_of_the_same_name_beside_the_target_is_not_taken(base: Path, tmp_path: Path) -> None:
    source = overlay(tmp_path / "over.qcow2", "base.raw")
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "base.raw").write_bytes(bytes(MIB))
    target = folder / "target.qcow2"
    convert(source, target, gate=ALLOW, keep_backing=True)
    assert inspect(target).backing_name == "../base.raw"
    assert content(target) == content(source)
    assert base.exists()


def test_an_absolute_name_stays(base: Path, tmp_path: Path) -> None:
    source = overlay(tmp_path / "over.qcow2", str(base))
    (tmp_path / "other").mkdir()
    target = tmp_path / "other" / "target.qcow2"
    convert(source, target, gate=ALLOW, keep_backing=True)
    assert inspect(target).backing_name == str(base)


def test_links_are_followed_to_where_the_target_really_is(base: Path, tmp_path: Path) -> None:
    source = overlay(tmp_path / "over.qcow2", "base.raw")
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "a" / "b")
    target = tmp_path / "link" / "target.qcow2"
    convert(source, target, gate=ALLOW, keep_backing=True)
    assert inspect(target).backing_name == "../../base.raw"
    assert content(tmp_path / "a" / "b" / "target.qcow2") == content(source)
    assert base.exists()


def test_a_name_with_a_colon_stays_a_file_name(tmp_path: Path) -> None:
    (tmp_path / "nbd:1").write_bytes(pattern(MIB, 1))
    (tmp_path / "sub").mkdir()
    source = overlay(tmp_path / "sub" / "over.qcow2", "../nbd:1")
    target = tmp_path / "target.qcow2"
    convert(source, target, gate=ALLOW, keep_backing=True)
    assert inspect(target).backing_name == "./nbd:1"
    assert content(target) == content(source)


def test_a_deeper_chain(base: Path, tmp_path: Path) -> None:
    overlay(tmp_path / "middle.qcow2", "base.raw")
    top = ImageBuilder(size=MIB, backing_file="middle.qcow2", backing_format="qcow2")
    top.write(2 * CLUSTER, pattern(CLUSTER, 3))
    source = top.build().write_to(tmp_path / "top.qcow2")
    target = tmp_path / "target.qcow2"
    convert(source, target, gate=ALLOW, keep_backing=True)
    assert inspect(target).backing_name == "middle.qcow2"
    assert content(target) == content(source)
    assert base.exists()


def test_a_guessed_format_is_recorded(base: Path, tmp_path: Path) -> None:
    """The result says how its backing file was read, so that no reader has to guess again."""
    source = overlay(tmp_path / "over.qcow2", "base.raw", None)
    target = tmp_path / "target.qcow2"
    result = convert(source, target, gate=ALLOW, keep_backing=True)
    assert inspect(target).backing_format == "raw"
    assert any("it was read as raw" in warning for warning in result.warnings)
    assert base.exists()


def test_without_a_backing_file_there_is_none_to_keep(tmp_path: Path) -> None:
    source = b0().write_to(tmp_path / "source.qcow2")
    target = tmp_path / "target.qcow2"
    convert(source, target, keep_backing=True)
    assert inspect(target).backing_name is None
    options = ConvertOptions(source, target, target_format="qcow2", keep_backing=True)
    with open_image(source) as image:
        assert not with_named_backing(options, image).keep_backing


def test_the_backing_file_is_not_opened_unasked(base: Path, tmp_path: Path) -> None:
    source = overlay(tmp_path / "over.qcow2", "base.raw")
    with pytest.raises(ReferencedFileError, match="which was not opened"):
        convert(source, tmp_path / "target.qcow2", keep_backing=True)
    assert names_in(tmp_path) == {base.name, source.name}


def test_the_backing_file_is_no_target(base: Path, tmp_path: Path) -> None:
    source = overlay(tmp_path / "over.qcow2", "base.raw")
    with pytest.raises(OutputError, match="or a file that the source refers to"):
        convert(
            source,
            base,
            gate=ALLOW,
            keep_backing=True,
            overwrite=True,
            target_format="qcow2",
        )
    assert base.read_bytes() == pattern(MIB, 1)


def test_contradictions() -> None:
    paths = Path("a"), Path("b")
    with pytest.raises(OptionsError, match="A raw target can't have a backing file"):
        ConvertOptions(*paths, keep_backing=True)
    with pytest.raises(OptionsError, match="can't both be kept"):
        ConvertOptions(
            *paths,
            target_format="qcow2",
            keep_backing=True,
            backing_file="c",
            backing_format="raw",
        )
