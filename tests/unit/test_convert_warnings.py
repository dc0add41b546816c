"""What a user is told about a conversion, before anybody misses something."""

from __future__ import annotations

from pathlib import Path

import pytest

from qcowgui.convert.options import Compression, ConvertOptions, TargetFormat
from qcowgui.convert.warnings import source_warnings
from qcowgui.image.chain import open_image
from qcowgui.image.layer import LostRange
from tests.converting import ALLOW
from tests.support.base_images import b0, pattern
from tests.support.builder import ImageBuilder
from tests.support.damage import set_field
from tests.support.options import KIB, MIB


def warnings(
    source: Path, *, losses: tuple[LostRange, ...] = (), compression: Compression | None = None
) -> list[str]:
    """The warnings of converting to raw, or to qcow2 when there is a compression."""
    target_format: TargetFormat = "qcow2" if compression else "raw"
    options = ConvertOptions(
        source, Path("target"), target_format=target_format, compression=compression or "none"
    )
    with open_image(source, gate=ALLOW) as image:
        return list(source_warnings(options, image, losses))


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    return b0().write_to(tmp_path / "plain.qcow2")


def test_a_plain_image_needs_no_warning(plain: Path) -> None:
    assert warnings(plain) == []
    assert warnings(plain, compression="zlib") == []


def test_a_raw_source_needs_no_warning(tmp_path: Path) -> None:
    source = tmp_path / "disk.img"
    source.write_bytes(pattern(4 * KIB))
    assert warnings(source) == []


def test_zstd_is_not_for_every_reader(plain: Path) -> None:
    assert warnings(plain, compression="zstd") == [
        "The result needs QEMU 5.1 or newer; several other programs can't read zstd clusters."
    ]


def test_snapshots_and_bitmaps_are_listed(tmp_path: Path) -> None:
    builder = ImageBuilder(cluster_bits=12, size=MIB)
    for index in range(11):
        builder.snapshot(f"state {index}" if index else "", id=f"id{index}")
    builder.bitmap("daily", set_ranges=[(0, 4 * KIB)])
    builder.bitmap('a", "b, c')
    found = warnings(builder.build().write_to(tmp_path / "rich.qcow2"))
    assert found == [
        'Internal snapshots are not carried over: "" (id "id0"), '
        + ", ".join(f'"state {index}"' for index in range(1, 8))
        + " and 3 more.",
        r'Bitmaps are not carried over: "daily", "a\", \"b, c".',
    ]


def test_losses_come_first(plain: Path) -> None:
    losses = (LostRange(0, 64 * KIB, "gone"), LostRange(MIB, 64 * KIB, "gone too"))
    assert warnings(plain, losses=losses)[0] == (
        "128 KiB in 2 ranges could not be read and are zeros in the result."
    )


def test_a_corrupt_mark(tmp_path: Path) -> None:
    image = set_field(b0(), "incompatible_features", 2)
    found = warnings(image.write_to(tmp_path / "corrupt.qcow2"))
    assert any("marked as corrupt" in text for text in found)


def test_what_qemu_refuses(tmp_path: Path) -> None:
    image = set_field(b0(), "refcount_table_offset", 512)
    found = warnings(image.write_to(tmp_path / "odd.qcow2"))
    assert any(text.startswith("QEMU would refuse to open the source: ") for text in found)


def test_a_backing_format_that_was_guessed(tmp_path: Path) -> None:
    base = tmp_path / "base.img"
    base.write_bytes(pattern(4 * KIB))
    source = b0(backing_file="base.img").write_to(tmp_path / "source.qcow2")
    [found] = warnings(source)
    assert found.startswith(f"The recorded format of the backing file {base} is missing or not one")
    assert found.endswith("it was read as raw, as its content shows.")


def test_zstd_clusters_from_before_their_release(tmp_path: Path) -> None:
    builder = ImageBuilder(cluster_bits=12, size=MIB, compression_type=1)
    builder.write_compressed(3, pattern(4 * KIB)[: 2 * KIB] * 2, length_prefix="big")
    source = builder.build().write_to(tmp_path / "old.qcow2")
    options = ConvertOptions(source, Path("target"))
    with open_image(source) as image:
        assert list(source_warnings(options, image)) == []
        image.read(0, image.size_bytes)
        [found] = source_warnings(options, image)
    assert "the layout from before QEMU 5.1 was released" in found


def test_what_can_not_be_named_is_counted(tmp_path: Path) -> None:
    builder = ImageBuilder(cluster_bits=12, size=MIB)
    for index in range(3):
        builder.snapshot(f"state {index}")
    builder.bitmap("daily")
    image = builder.build()
    # Both tables beyond the end of the file.
    extension = image.to_bytes().index(b"\x23\x85\x28\x75") + 8
    image = set_field(image, "snapshots_offset", 1 << 40)
    image = image.edited(extension + 16, (1 << 40).to_bytes(8, "big"))
    found = warnings(image.write_to(tmp_path / "cut.qcow2"))
    assert "Internal snapshots are not carried over: 3, in a table that can't be read." in found
    assert "Bitmaps are not carried over: 1, in a table that can't be read." in found
