"""`qcowgui map` against `qemu-img map`, extent by extent.

Intended differences, the complete list:

- "compressed" is there as from qemu-img 8.2 on; an older one has no such key.
- A start at or beyond the end of the disk gives no extent; qemu-img gives one of length 0.
- Where a table or an entry is damaged this program stops with an error; `test_cli_map.py` looks.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qcowgui.cli.main import run
from tests.support import oracle
from tests.support.base_images import b0_builder, pattern, rich_builder, text
from tests.support.builder import ImageBuilder
from tests.support.options import OptionKeywords

Capture = pytest.CaptureFixture[str]
MIB = 1 << 20
SIZE = 8 * MIB


def ours(capsys: Capture, path: Path, *arguments: str) -> list[dict[str, Any]]:
    assert run(["map", "--json", "--allow-backing", *arguments, str(path.absolute())]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def assert_agree(capsys: Capture, path: Path) -> list[dict[str, Any]]:
    found, expected = ours(capsys, path), oracle.map_extents(path)
    if expected and "compressed" not in expected[0]:
        for extent in found:
            del extent["compressed"]
    assert found == expected
    return found


def used(options: OptionKeywords, *, compressed: bool) -> ImageBuilder:
    """An image with runs of every kind of cluster that its options allow."""
    builder = ImageBuilder(**options)
    cluster = builder.cluster_bytes
    builder.write(0, pattern(2 * cluster))
    builder.write(cluster * 3, pattern(cluster, 1))
    if builder.version >= 3:
        builder.zero(1)
        builder.zero(2, allocated=True)
    last = builder.size // cluster - 1
    if compressed:
        for index in range(min(4, last - 3)):
            builder.write_compressed(last - index, text(cluster, index))
    else:
        builder.write(last * cluster, pattern(cluster, 2))
    return builder


@pytest.mark.parametrize("backing", [None, "raw", "qcow2"])
@pytest.mark.parametrize("kind", ["plain", "zlib", "zstd"])
@pytest.mark.parametrize("cluster_bits", [9, 12, 16, 20])
@pytest.mark.parametrize("version", [2, 3])
def test_the_matrix(
    version: int,
    cluster_bits: int,
    kind: str,
    backing: str | None,
    tmp_path: Path,
    capsys: Capture,
) -> None:
    if version == 2 and kind == "zstd":
        kind = "zlib"  # version 2 has nothing else
    options: OptionKeywords = {"version": version, "cluster_bits": cluster_bits, "size": SIZE}
    options["compression_type"] = int(kind == "zstd")
    if backing:
        options |= {"backing_file": f"base.{backing}", "backing_format": backing}
    base = tmp_path / f"base.{backing}"
    if backing == "raw":
        with base.open("wb") as file:
            file.write(pattern(65536, 9))
            file.seek(MIB * 4)
            file.write(pattern(65536, 8))
            file.truncate(SIZE - 4 * MIB + 65536 * 16)
    elif backing == "qcow2":
        shorter: OptionKeywords = {"cluster_bits": 12, "size": SIZE // 2}
        used(shorter, compressed=True).build().write_to(base)
    image = used(options, compressed=kind != "plain").build()
    found = assert_agree(capsys, image.write_to(tmp_path / "image.qcow2"))
    assert len(found) > 3


def test_extended_l2(tmp_path: Path, capsys: Capture) -> None:
    builder = used({"extended_l2": True, "size": SIZE}, compressed=True)
    builder.subclusters(8, alloc_mask=0x0000_00F1, zero_mask=0x00FF_0000, data=pattern(65536))
    builder.subclusters(9, alloc_mask=0, zero_mask=0x5555_5555, data=b"")
    builder.subclusters(10, alloc_mask=0, zero_mask=0x0000_FFFF, allocated=False)
    found = assert_agree(capsys, builder.build().write_to(tmp_path / "image.qcow2"))
    assert any(extent["length"] == 2048 for extent in found)


@pytest.mark.parametrize("raw", [False, True])
def test_data_files(raw: bool, tmp_path: Path, capsys: Capture) -> None:
    builder = ImageBuilder(size=SIZE, data_file="data.raw", data_file_raw=raw)
    builder.write(0, pattern(65536))
    builder.write(65536 * 5, pattern(3 * 65536))
    builder.zero(9)
    assert_agree(capsys, builder.build().write_to(tmp_path / "image.qcow2"))


def test_the_rich_image_over_its_base(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "base.raw").write_bytes(pattern(3 * MIB))
    assert_agree(capsys, rich_builder().build().write_to(tmp_path / "image.qcow2"))


@pytest.mark.parametrize(
    ("start", "length"),
    [(0, 1), (100_000, 70_000), (65_536, 65_536), (131_071, 2), (SIZE - 5, 100), (1, SIZE)],
)
def test_ranges_are_exact_to_the_byte(
    start: int, length: int, tmp_path: Path, capsys: Capture
) -> None:
    path = used({"size": SIZE}, compressed=True).build().write_to(tmp_path / "image.qcow2")
    found = ours(capsys, path, "-s", str(start), "-l", str(length))
    for extent in found:
        del extent["compressed"]
    expected = oracle.map_extents(path, start=start, length=length)
    for extent in expected:
        extent.pop("compressed", None)
    assert found == expected


def test_a_raw_file_and_its_holes(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "disk.raw"
    with path.open("wb") as file:
        file.seek(MIB)
        file.write(pattern(65536))
        file.truncate(3 * MIB + 100)
    found = ours(capsys, path, "-f", "raw")
    for extent in found:
        del extent["compressed"]
    assert found == oracle.map_extents(path, image_format="raw")


@pytest.mark.parametrize("backing", [None, "raw"])
def test_the_table_for_people(backing: str | None, tmp_path: Path, capsys: Capture) -> None:
    """The same lines, where qemu-img prints any: without compressed clusters."""
    if backing:
        (tmp_path / "base.raw").write_bytes(pattern(SIZE))
    builder = b0_builder(
        size=SIZE, backing_file="base.raw" if backing else None, backing_format=backing
    )
    builder.write(65536 * 4, pattern(65536, 3))
    path = builder.build().write_to(tmp_path / "image.qcow2").absolute()
    assert run(["map", "--allow-backing", str(path)]) == 0
    printed = capsys.readouterr().out
    expected = oracle.qemu_img("map", "-U", "-f", "qcow2", path, folder=tmp_path).stdout
    # qemu-img prints the first number as 0, not as 0x0.
    assert printed == expected.replace("\n0  ", "\n0x0")
