"""Names for targets: nobody's file, nobody's other target."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from qcowgui.convert.naming import TargetNames, suggest_target
from qcowgui.convert.options import Compression, TargetFormat


@pytest.mark.parametrize(
    ("source", "target_format", "compression", "name"),
    [
        ("disk.qcow2", "raw", "none", "disk.raw"),
        ("disk.img", "qcow2", "none", "disk.qcow2"),
        ("disk.img", "qcow2", "zstd", "disk-zstd.qcow2"),
        ("a.b.IMG", "raw", "none", "a.b.raw"),
        ("disk", "raw", "none", "disk.raw"),
        (".raw", "raw", "none", ".raw.raw"),
        ("-x.qcow", "raw", "none", "-x.raw"),
        ("ä 100 %\n.iso", "qcow2", "zlib", "ä 100 %\n-zlib.qcow2"),
        ("\udcff.img", "raw", "none", "\udcff.raw"),
    ],
)
def test_the_name_says_what_it_will_be(
    source: str, target_format: TargetFormat, compression: Compression, name: str, tmp_path: Path
) -> None:
    assert suggest_target(tmp_path / source, target_format, compression) == tmp_path / name


def test_never_the_source_a_file_that_exists_or_a_taken_name(tmp_path: Path) -> None:
    source = tmp_path / "disk.raw"
    assert suggest_target(source, "raw", "none").name == "disk-2.raw"
    (tmp_path / "disk-2.raw").symlink_to("nowhere")
    assert suggest_target(source, "raw", "none").name == "disk-3.raw"
    taken = [tmp_path / "disk-3.raw"]
    assert suggest_target(source, "raw", "none", taken=taken).name == "disk-4.raw"


@pytest.mark.parametrize("taken", ["Disk.QCOW2", "dIsk.qcow2", "disk.qcow2"])
def test_names_that_some_file_system_takes_for_one(taken: str, tmp_path: Path) -> None:
    found = suggest_target(tmp_path / "disk.img", "qcow2", "none", taken=[tmp_path / taken])
    assert found.name == "disk-2.qcow2"


def test_two_ways_to_write_an_accent_are_one_name(tmp_path: Path) -> None:
    taken = [tmp_path / "u\u0308ber.raw"]
    assert suggest_target(tmp_path / "über.img", "raw", "none", taken=taken).name == "über-2.raw"


def test_another_folder(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert suggest_target(tmp_path / "a.img", "raw", "none", folder=folder) == folder / "a.raw"


def test_of_two_sources_of_one_name_the_folder_tells(tmp_path: Path) -> None:
    names, out = TargetNames(), tmp_path / "out"
    sources = [tmp_path / folder / "d.img" for folder in ("a", "b", "c/b", "d/b")]
    found = [names.pick(source, "raw", "none", folder=out).name for source in sources]
    assert found == ["d.raw", "d-b.raw", "d-2.raw", "d-3.raw"]


@pytest.mark.parametrize("stem", ["x" * 251, "ä" * 125, "\udcff" * 250])
def test_a_long_name_is_cut_to_fit(stem: str, tmp_path: Path) -> None:
    found = suggest_target(tmp_path / f"{stem}.img", "qcow2", "zstd")
    assert len(os.fsencode(found.name)) <= 255
    assert found.name.endswith("-zstd.qcow2")
    found.touch()


def test_many_of_one_name_are_quick(tmp_path: Path) -> None:
    names = TargetNames()
    found = {
        names.pick(tmp_path / str(number % 3) / "d.img", "raw", "none", folder=tmp_path)
        for number in range(10_000)
    }
    assert len(found) == 10_000
