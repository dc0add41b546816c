"""Carried bitmaps, judged by qemu-img: it lists them, finds no damage, and loads their bits."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from qcowgui.convert.command_line import qemu_img_command
from qcowgui.convert.options import ConvertOptions
from qcowgui.image.bitmap_bits import iter_dirty_ranges
from qcowgui.image.inspect import inspect
from qcowgui.image.source import FileSource
from tests.converting import ALLOW, convert
from tests.support import oracle
from tests.support.options import GIB, KIB, MIB

SIZE = 3 * GIB
GRANULARITIES = {"fine": 512, "usual": 64 * KIB, "off": 32 * KIB, "coarse": 2 * GIB}
CLUSTERS = (512, 4 * KIB, 64 * KIB, 2 * MIB)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An image whose bitmaps QEMU itself has filled, one of them disabled afterwards."""
    path = oracle.create(
        tmp_path_factory.mktemp("source") / "source.qcow2", SIZE, "-o", "cluster_size=4k"
    )
    for name, granularity in GRANULARITIES.items():
        oracle.qemu_img("bitmap", "--add", "-g", str(granularity), path, name)
    oracle.qemu_io(path, "write -P 5 0 64k", "write -P 6 5M 3M", f"write -z {SIZE - 4096} 4k")
    oracle.qemu_img("bitmap", "--disable", path, "off")
    oracle.qemu_io(path, "write -P 7 1G 4k")
    return path


def ranges(path: Path, name: str) -> list[tuple[int, int]]:
    """The dirty guest ranges of a bitmap."""
    report = inspect(path)
    geometry = report.header.geometry
    assert geometry is not None
    [entry] = [item for item in report.bitmaps if item.name == name]
    with FileSource(path) as file:
        return list(iter_dirty_ranges(file, entry, geometry, report.virtual_bytes))


def listed(path: Path) -> list[dict[str, object]]:
    """The bitmaps as `qemu-img info` has them."""
    found: list[dict[str, object]] = oracle.info(path)["format-specific"]["data"]["bitmaps"]
    return found


def loaded(path: Path, name: str, granularity: int, folder: Path) -> list[tuple[int, int]]:
    """The dirty ranges as QEMU reads them: merged by it into a bitmap of a new image."""
    merged = oracle.create(folder / f"{name}.qcow2", SIZE)
    oracle.qemu_img("bitmap", "--add", "-g", str(granularity), merged, "got")
    oracle.qemu_img("bitmap", "--merge", name, "-b", path, "-F", "qcow2", merged, "got")
    return ranges(merged, "got")


@pytest.mark.parametrize(
    ("cluster_bytes", "compression"),
    [*itertools.product(CLUSTERS, ("none",)), (4 * KIB, "zlib"), (64 * KIB, "zstd")],
)
def test_qemu_reads_every_bit(
    cluster_bytes: int, compression: str, source: Path, tmp_path: Path
) -> None:
    target = tmp_path / "target.qcow2"
    convert(
        source,
        target,
        bitmaps=True,
        cluster_bytes=cluster_bytes,
        compression=compression,  # type: ignore[arg-type]
    )
    assert oracle.check(target).is_clean
    assert listed(target) == listed(source)
    for name, granularity in GRANULARITIES.items():
        assert loaded(target, name, granularity, tmp_path) == ranges(source, name)
    oracle.qemu_img("compare", "-q", source, target)


def test_a_writer_goes_on_recording(source: Path, tmp_path: Path) -> None:
    """An enabled bitmap records after the conversion, a disabled one does not."""
    target = tmp_path / "target.qcow2"
    convert(source, target, bitmaps=True)
    oracle.qemu_io(target, "write -P 1 2G 512")
    assert (2 * GIB, 2 * GIB + 512) in ranges(target, "fine")
    assert ranges(target, "off") == ranges(source, "off")
    assert oracle.check(target).is_clean


def test_the_same_as_qemu_img_makes(source: Path, tmp_path: Path) -> None:
    """The command to copy carries the same bits, and what it can't be told is said."""
    options = ConvertOptions(
        source, tmp_path / "qemu.qcow2", target_format="qcow2", source_format="qcow2", bitmaps=True
    )
    command = qemu_img_command(options)
    oracle.qemu_img(*command.argv[1:])
    ours = tmp_path / "ours.qcow2"
    convert(source, ours, bitmaps=True)
    for name in GRANULARITIES:
        assert ranges(ours, name) == ranges(options.target, name)
    kept = [{key: item[key] for key in ("name", "granularity")} for item in listed(ours)]
    assert kept == [
        {key: item[key] for key in ("name", "granularity")} for item in listed(options.target)
    ]


def test_bitmaps_of_an_overlay_that_keeps_its_backing_file(tmp_path: Path) -> None:
    base = oracle.create(tmp_path / "base.raw", MIB, image_format="raw")
    overlay = oracle.create(tmp_path / "over.qcow2", None, "-b", base, "-F", "raw")
    oracle.qemu_img("bitmap", "--add", overlay, "changes")
    oracle.qemu_io(overlay, "write -P 9 0 64k")
    target = tmp_path / "target.qcow2"
    convert(overlay, target, gate=ALLOW, bitmaps=True, keep_backing=True)
    assert oracle.info(target)["backing-filename"] == str(base)
    assert listed(target) == listed(overlay)
    assert ranges(target, "changes") == [(0, 64 * KIB)]
    assert oracle.check(target).is_clean
