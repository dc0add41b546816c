"""`qcowgui measure` against `qemu-img measure`, byte by byte.

The intended differences are listed in `qcowgui/convert/measure.py`; the last tests look at them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Unpack

import pytest

from qcowgui.cli.main import run
from tests.converting import mixed_disk
from tests.support import oracle
from tests.support.base_images import b0_builder, pattern, text
from tests.support.builder import ImageBuilder
from tests.support.options import GIB, KIB, MIB, TIB, OptionKeywords

Capture = pytest.CaptureFixture[str]
TARGETS = [
    "",
    "cluster_size=512",
    "cluster_size=4k,refcount_bits=1",
    "cluster_size=16k,extended_l2=on",
    "cluster_size=128k,extended_l2=on,refcount_bits=8",
    "cluster_size=2M",
    "cluster_size=2M,refcount_bits=64",
    "compat=0.10",
    "compat=0.10,cluster_size=8k",
    "lazy_refcounts=on,refcount_bits=32",
]


def ours(capsys: Capture, *arguments: str | Path) -> dict[str, int]:
    assert run(["measure", "--output=json", *map(str, arguments)]) == 0
    found: dict[str, int] = json.loads(capsys.readouterr().out)
    return found


def theirs(*arguments: str | Path, folder: Path | None = None) -> dict[str, Any]:
    done = oracle.qemu_img("measure", "--output=json", *arguments, folder=folder)
    expected: dict[str, Any] = json.loads(done.stdout)
    return expected


def assert_agree(capsys: Capture, path: Path, image_format: str, *arguments: str) -> dict[str, int]:
    path = path.absolute()
    expected = theirs("-U", "-f", image_format, *arguments, path, folder=path.parent)
    found = ours(capsys, "--allow-backing", "-f", image_format, *arguments, path)
    assert found == expected
    return found


def target_arguments(options: str) -> list[str]:
    return ["-O", "qcow2", *(["-o", options] if options else [])]


@pytest.fixture
def sparse(tmp_path: Path) -> Path:
    """A raw disk whose data start and end inside clusters of every size."""
    path = tmp_path / "sparse.raw"
    with path.open("wb") as file:
        for offset, length in ((0, 4096), (60 * KIB, 8192), (5 * MIB, 700 * KIB), (9 * MIB, 4096)):
            file.seek(offset)
            file.write(pattern(length, offset))
        file.truncate(40 * MIB + 1536)
    return path


def source_builder(**options: Unpack[OptionKeywords]) -> ImageBuilder:
    options.setdefault("size", 24 * MIB + 512)
    builder = ImageBuilder(**options)
    cluster = builder.cluster_bytes
    builder.write(cluster, pattern(3 * cluster))
    builder.write_compressed(7, text(cluster, 1))
    builder.write_compressed(8, text(cluster, 2))
    if builder.version >= 3:
        builder.zero(2)
        builder.zero(9, allocated=True)
    builder.write(builder.size // cluster * cluster, pattern(512, 3))
    return builder


@pytest.mark.parametrize("options", TARGETS)
@pytest.mark.parametrize("size", [0, 1, 512, 64 * KIB + 1, MIB, 10 * GIB + 12345, TIB])
def test_new_images(size: int, options: str, capsys: Capture) -> None:
    if size == TIB and "cluster_size=512" in options:
        size = 128 * GIB  # the most that its L1 table reaches
    arguments = [*target_arguments(options), "--size", str(size)]
    assert ours(capsys, *arguments) == theirs(*arguments)


@pytest.mark.parametrize("size", [0, 1, 512, 3 * GIB + 1])
def test_new_raw_images(size: int, capsys: Capture) -> None:
    arguments = ["-O", "raw", "--size", str(size)]
    assert ours(capsys, *arguments) == theirs(*arguments)


@pytest.mark.parametrize("options", TARGETS)
def test_raw_sources(options: str, sparse: Path, capsys: Capture) -> None:
    found = assert_agree(capsys, sparse, "raw", *target_arguments(options))
    assert found["required"] < found["fully-allocated"]


def test_a_raw_source_without_holes(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "full.raw"
    path.write_bytes(mixed_disk())
    assert_agree(capsys, path, "raw", "-O", "qcow2")
    assert_agree(capsys, path, "raw")


@pytest.mark.parametrize("options", TARGETS)
@pytest.mark.parametrize("cluster_bits", [9, 12, 16, 21])
def test_qcow2_sources(cluster_bits: int, options: str, tmp_path: Path, capsys: Capture) -> None:
    path = source_builder(cluster_bits=cluster_bits).build().write_to(tmp_path / "image.qcow2")
    found = assert_agree(capsys, path, "qcow2", *target_arguments(options))
    assert ("bitmaps" in found) == ("compat=0.10" not in options)


@pytest.mark.parametrize("options", TARGETS)
def test_version_2_sources(options: str, tmp_path: Path, capsys: Capture) -> None:
    path = source_builder(version=2).build().write_to(tmp_path / "image.qcow2")
    assert "bitmaps" not in assert_agree(capsys, path, "qcow2", *target_arguments(options))


def test_zstd_sources(tmp_path: Path, capsys: Capture) -> None:
    path = source_builder(compression_type=1).build().write_to(tmp_path / "image.qcow2")
    assert_agree(capsys, path, "qcow2", "-O", "qcow2")
    assert_agree(capsys, path, "qcow2", "-O", "raw")


@pytest.mark.parametrize("options", TARGETS)
def test_subclusters(options: str, tmp_path: Path, capsys: Capture) -> None:
    builder = ImageBuilder(extended_l2=True, size=8 * MIB)
    builder.subclusters(8, alloc_mask=0x0000_00F1, zero_mask=0x00FF_0000, data=pattern(65536))
    builder.subclusters(9, alloc_mask=0, zero_mask=0x5555_5555, data=b"")
    path = builder.build().write_to(tmp_path / "image.qcow2")
    assert_agree(capsys, path, "qcow2", *target_arguments(options))


@pytest.mark.parametrize("options", [*TARGETS, "backing_file=base.raw,backing_fmt=raw"])
@pytest.mark.parametrize("base_format", ["raw", "qcow2"])
def test_backing_chains(base_format: str, options: str, tmp_path: Path, capsys: Capture) -> None:
    base = tmp_path / f"base.{base_format}"
    if base_format == "raw":
        with base.open("wb") as file:
            file.seek(10 * MIB + 4096)
            file.write(pattern(3 * MIB))
    else:
        lower = ImageBuilder(cluster_bits=12, size=12 * MIB)
        lower.write(10 * MIB + 4096, pattern(64 * KIB))
        lower.write_compressed(5, text(4096))
        lower.build().write_to(base)
    builder = source_builder(backing_file=base.name, backing_format=base_format)
    path = builder.build().write_to(tmp_path / "overlay.qcow2")
    assert_agree(capsys, path, "qcow2", *target_arguments(options))


@pytest.mark.parametrize("options", TARGETS)
def test_bitmaps(options: str, tmp_path: Path, capsys: Capture) -> None:
    builder = source_builder()
    builder.bitmap("short", granularity_bits=9)
    builder.bitmap("a name of another length", granularity_bits=20)
    builder.bitmap("ünïcode", granularity_bits=31)
    path = builder.build().write_to(tmp_path / "image.qcow2")
    found = assert_agree(capsys, path, "qcow2", *target_arguments(options))
    if "compat=0.10" not in options:
        assert found["bitmaps"] > 0


def test_bitmaps_that_are_not_to_be_trusted(tmp_path: Path, capsys: Capture) -> None:
    builder = source_builder()
    builder.bitmap("in use", flags=1)
    path = builder.build().write_to(tmp_path / "in-use.qcow2")
    assert assert_agree(capsys, path, "qcow2", "-O", "qcow2")["bitmaps"] > 0
    with path.open("r+b") as file:
        file.seek(88)  # autoclear_features
        file.write(bytes(8))
    assert assert_agree(capsys, path, "qcow2", "-O", "qcow2")["bitmaps"] == 0


@pytest.mark.parametrize("selection", ["before", "1", "snapshot.name=before", "snapshot.id=1"])
def test_snapshots(selection: str, tmp_path: Path, capsys: Capture) -> None:
    builder = b0_builder()
    builder.snapshot("before")
    builder.write(MIB, pattern(MIB))
    builder.bitmap("now")
    path = builder.build().write_to(tmp_path / "image.qcow2")
    before = assert_agree(capsys, path, "qcow2", "-O", "qcow2", "-l", selection)
    now = assert_agree(capsys, path, "qcow2", "-O", "qcow2")
    assert now["required"] - before["required"] == MIB


def test_preallocated_sources(tmp_path: Path, capsys: Capture) -> None:
    path = oracle.create(tmp_path / "image.qcow2", 32 * MIB, "-o", "preallocation=metadata")
    found = ours(capsys, "-O", "qcow2", path)
    expected = theirs("-O", "qcow2", path)
    assert found["fully-allocated"] == expected["fully-allocated"]
    # qemu-img asks for holes: nothing was written yet.
    assert found["required"] - expected["required"] == 32 * MIB


def test_a_snapshot_from_before_a_resize(tmp_path: Path, capsys: Capture) -> None:
    path = oracle.create(tmp_path / "image.qcow2", 8 * MIB)
    oracle.qemu_img("snapshot", "-c", "small", path)
    oracle.qemu_img("resize", "-q", path, str(64 * MIB))
    arguments = ["-O", "qcow2", "-l", "small", str(path)]
    found, expected = ours(capsys, *arguments), theirs(*arguments)
    assert expected["fully-allocated"] - found["fully-allocated"] == 56 * MIB


def test_what_no_cluster_size_reaches(tmp_path: Path, capsys: Capture) -> None:
    arguments = ["-O", "qcow2", "-o", "cluster_size=512"]
    size = ["--size", str(129 * GIB)]
    assert oracle.qemu_img("measure", *arguments, *size, check=False).returncode == 1
    assert run(["measure", *arguments, *size]) == 1
    path = tmp_path / "large.raw"
    with path.open("wb") as file:
        file.truncate(129 * GIB)
    # A source passes qemu-img's test, and fails when it is converted.
    assert theirs(*arguments, path)["required"] > 0
    assert run(["measure", *arguments, str(path)]) == 1
    assert "too large" in capsys.readouterr().err
