"""Persistent bitmaps in converted images: which are carried, their bits, what is left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from qcowgui.convert.carried_bitmaps import BitmapSource, choose_bitmaps, iter_parts
from qcowgui.convert.options import ConvertOptions
from qcowgui.engine.qpool import QPoolExecutor
from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled, OptionsError, QcowError, SourceError, VerifyError
from qcowgui.format.bitmaps import FLAG_AUTO, FLAG_EXTRA_DATA_COMPATIBLE, FLAG_IN_USE
from qcowgui.format.features import Autoclear
from qcowgui.image.bitmap_bits import iter_dirty_ranges
from qcowgui.image.inspect import inspect
from qcowgui.image.source import FileSource
from tests.converting import ALLOW, convert, names_in
from tests.support.base_images import b0_builder, pattern
from tests.support.base_images import rich as rich_image
from tests.support.builder import ImageBuilder
from tests.support.damage import flip_bits, set_field, set_integer
from tests.support.damages import DAMAGES
from tests.support.options import GIB, KIB, MIB

Ranges = list[tuple[int, int]]


def dirty(path: Path) -> dict[str, tuple[int, bool, Ranges]]:
    """Granularity, auto flag and dirty guest ranges of each bitmap of an image, by its name."""
    report = inspect(path)
    assert not report.refusals
    geometry = report.header.geometry
    assert geometry is not None
    with FileSource(path) as source:
        return {
            entry.name: (
                entry.granularity_bits,
                entry.auto,
                list(iter_dirty_ranges(source, entry, geometry, report.virtual_bytes)),
            )
            for entry in report.bitmaps
        }


def rich(cluster_bits: int, size: int = 5 * GIB + 512, granularity_bits: int = 16) -> ImageBuilder:
    """An image with bitmaps whose bits fill several clusters, partly with ones and zeros alone."""
    builder = ImageBuilder(cluster_bits=cluster_bits, size=size)
    builder.write(0, pattern(1 << cluster_bits))
    rest = size - GIB
    builder.bitmap("none", granularity_bits=granularity_bits)
    builder.bitmap(
        "some",
        granularity_bits=granularity_bits,
        flags=FLAG_AUTO,
        set_ranges=[(0, 1), (7 * MIB, 9 * MIB), (rest, 3), (size - 1, 1)],
    )
    builder.bitmap("all", granularity_bits=granularity_bits, set_ranges=[(0, size)])
    builder.bitmap("coarse", granularity_bits=31, set_ranges=[(GIB, GIB)], store_uniform=True)
    builder.bitmap('ünïcode, "x"', granularity_bits=20, set_ranges=[(size // 2, size // 4)])
    return builder


@pytest.mark.parametrize("cluster_bits", [9, 12, 16, 21])
@pytest.mark.parametrize("cluster_bytes", [512, 4 * KIB, 64 * KIB, 2 * MIB])
def test_every_bit_through_every_change_of_the_cluster_size(
    cluster_bits: int, cluster_bytes: int, tmp_path: Path
) -> None:
    source = rich(cluster_bits).build().write_to(tmp_path / "source.qcow2")
    target = tmp_path / "target.qcow2"
    result = convert(source, target, bitmaps=True, cluster_bytes=cluster_bytes)
    assert dirty(target) == dirty(source)
    assert list(result.bitmaps) == ["none", "some", "all", "coarse", 'ünïcode, "x"']
    assert result.verified
    assert result.warnings == ()


def test_parts_of_ones_and_zeros_take_no_cluster(tmp_path: Path) -> None:
    builder = ImageBuilder(cluster_bits=9, size=64 * MIB)
    builder.bitmap("all", granularity_bits=9, set_ranges=[(0, 64 * MIB)], store_uniform=True)
    builder.bitmap("none", granularity_bits=9, store_uniform=True)
    source = builder.build().write_to(tmp_path / "source.qcow2")
    target = tmp_path / "target.qcow2"
    convert(source, target, bitmaps=True, cluster_bytes=512)
    assert dirty(target) == dirty(source)
    assert target.stat().st_size < source.stat().st_size - 2 * 64 * MIB // 512 // 8 + 2048


def test_the_flag_bit_and_the_directory_are_there_only_with_bitmaps(tmp_path: Path) -> None:
    source = rich(16).build().write_to(tmp_path / "source.qcow2")
    plain, carried = tmp_path / "plain.qcow2", tmp_path / "carried.qcow2"
    convert(source, plain)
    convert(source, carried, bitmaps=True)
    assert inspect(plain).bitmaps_extension is None
    assert not inspect(plain).header.autoclear_features
    assert inspect(carried).header.autoclear_features == Autoclear.BITMAPS


def test_nothing_to_carry_is_no_error(tmp_path: Path) -> None:
    source = b0_builder().build().write_to(tmp_path / "source.qcow2")
    raw = tmp_path / "source.raw"
    raw.write_bytes(pattern(4 * KIB))
    for path in (source, raw):
        target = tmp_path / f"{path.suffix[1:]}-target.qcow2"
        result = convert(path, target, bitmaps=True)
        assert result.bitmaps == ()
        assert inspect(target).bitmaps_extension is None


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    builder = ImageBuilder(cluster_bits=12, size=GIB)
    builder.bitmap("good", set_ranges=[(0, 1)])
    builder.bitmap("open", flags=FLAG_IN_USE)
    builder.bitmap("also open", flags=FLAG_IN_USE | FLAG_AUTO)
    builder.bitmap("odd", type=2)
    builder.bitmap("newer", flags=8)
    builder.bitmap("extra", extra=b"12345678")
    builder.bitmap("known extra", extra=b"12345678", flags=FLAG_EXTRA_DATA_COMPATIBLE)
    builder.bitmap("fine", granularity_bits=8)
    builder.bitmap("good", set_ranges=[(MIB, 1)])
    source = builder.build().write_to(tmp_path / "source.qcow2")
    target = tmp_path / "target.qcow2"
    result = convert(source, target, bitmaps=True)
    assert dirty(target) == {
        "good": (16, False, [(0, 64 * KIB)]),
        "known extra": (16, False, []),
    }
    told = [text for text in result.warnings if text.startswith("Bitmaps")]
    assert [text.removeprefix("Bitmaps are not carried over, because ") for text in told] == [
        'they were not saved cleanly, so that their bits can\'t be believed: "open", "also open".',
        'what the directory says of them contradicts the format: "odd", "newer", "extra", "fine".',
        'another bitmap has the same name: "good".',
    ]


def test_bitmaps_of_an_image_that_others_wrote_to_are_stale(tmp_path: Path) -> None:
    image = set_field(rich(16).build(), "autoclear_features", 0)
    source = image.write_to(tmp_path / "source.qcow2")
    result = convert(source, tmp_path / "target.qcow2", bitmaps=True)
    assert result.bitmaps == ()
    assert "because a program that does not know bitmaps has written" in result.warnings[0]


def test_bits_that_can_not_be_read(tmp_path: Path) -> None:
    builder = ImageBuilder(cluster_bits=9, size=64 * MIB)
    builder.bitmap("good", set_ranges=[(0, 1)], granularity_bits=16)
    builder.bitmap("cut", set_ranges=[(MIB, 1)], granularity_bits=9)
    image = builder.build()
    table_offset = inspect(image.write_to(tmp_path / "whole.qcow2")).bitmaps[1].bitmap_table_offset
    source = set_integer(image, table_offset, 8, 1 << 40).write_to(tmp_path / "cut.qcow2")
    target = tmp_path / "target.qcow2"
    assert [entry.name for entry in choose_bitmaps(inspect(source)).kept] == ["good", "cut"]
    result = convert(source, target, bitmaps=True)
    assert result.bitmaps == ("good",)
    assert result.warnings == (
        'Bitmaps are not carried over, because their bits can\'t be read: "cut".',
    )
    assert list(dirty(target)) == ["good"]


def test_bits_behind_the_end_of_the_disk_are_zero(tmp_path: Path) -> None:
    builder = ImageBuilder(cluster_bits=12, size=3 * 64 * KIB)
    builder.bitmap("three", set_ranges=[(0, 3 * 64 * KIB)])
    image = builder.build()
    source = image.write_to(tmp_path / "source.qcow2")
    report = inspect(source)
    [entry] = report.bitmaps
    with FileSource(source) as file:
        parts = list(iter_parts(file, entry, report, part_bytes=512, token=CancelToken()))
    assert parts == [b"\x07"]


def test_parts_are_the_same_whatever_the_cut(tmp_path: Path) -> None:
    source = rich(9, size=2 * GIB, granularity_bits=9).build().write_to(tmp_path / "s.qcow2")
    report = inspect(source)
    entry = report.bitmaps[1]
    with FileSource(source) as file:
        whole = {
            b"".join(iter_parts(file, entry, report, part_bytes=size, token=CancelToken()))
            for size in (512, 4 * KIB, 2 * MIB)
        }
    assert len(whole) == 1
    bits = np.unpackbits(np.frombuffer(whole.pop(), dtype=np.uint8), bitorder="little")
    assert bits[[0, 1, 7 * 2048, 16 * 2048 - 1, 16 * 2048]].tolist() == [1, 0, 1, 1, 0]


def test_the_same_bytes_with_any_number_of_workers(tmp_path: Path) -> None:
    source = rich(16).build().write_to(tmp_path / "source.qcow2")
    one, many = tmp_path / "one.qcow2", tmp_path / "many.qcow2"
    convert(source, one, bitmaps=True, compression="zstd")
    with QPoolExecutor(4) as executor:
        convert(source, many, executor=executor, bitmaps=True, compression="zstd")
    assert one.read_bytes() == many.read_bytes()


def test_verifying_looks_at_the_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = rich(16).build().write_to(tmp_path / "source.qcow2")
    real = BitmapSource.first_difference

    def flip(bitmaps: BitmapSource, path: Path) -> str | None:
        report = inspect(path)
        with FileSource(path) as file:
            word = file.read_at(report.bitmaps[1].bitmap_table_offset, 8)
        with path.open("r+b") as writing:
            writing.seek(int.from_bytes(word, "big"))
            writing.write(b"\x03")
        return real(bitmaps, path)

    monkeypatch.setattr(BitmapSource, "first_difference", flip)
    with pytest.raises(VerifyError, match="has not the bitmap 'some' as the source has it"):
        convert(source, tmp_path / "target.qcow2", bitmaps=True)
    assert names_in(tmp_path) == {source.name}


def test_another_file_under_the_name_is_noticed(tmp_path: Path) -> None:
    source = rich(16).build().write_to(tmp_path / "source.qcow2")
    report = inspect(source)
    with FileSource(source) as file:
        identity = file.identity
    moved = tmp_path / "moved.qcow2"
    source.rename(moved)
    source.write_bytes(moved.read_bytes())
    with pytest.raises(SourceError, match="is another file now"):
        BitmapSource(source, identity, report, CancelToken())


def test_reading_bits_can_be_cancelled(tmp_path: Path) -> None:
    source = rich(16).build().write_to(tmp_path / "source.qcow2")
    token = CancelToken()
    token.cancel()
    with FileSource(source) as file, pytest.raises(Cancelled):
        BitmapSource(source, file.identity, inspect(source), token)


def test_a_hostile_directory_is_bounded(tmp_path: Path) -> None:
    """Seventeen bitmaps of the largest size: the last one is too much."""
    builder = ImageBuilder(cluster_bits=21, size=2 << 40)
    for index in range(17):
        builder.bitmap(f"b{index}", granularity_bits=9)
    chosen = choose_bitmaps(inspect(builder.build().write_to(tmp_path / "many.qcow2")))
    assert len(chosen.kept) == 16
    assert [(item.name, item.reason) for item in chosen.left_out] == [
        ("b16", "all together have more than 8 GiB")
    ]


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"target_format": "raw"}, "A raw target can't have bitmaps"),
        ({"target_format": "qcow2", "compat": "0.10"}, "compat 0.10 does not have bitmaps"),
        ({"target_format": "qcow2", "snapshot": "1"}, "on the active disk, not on a snapshot"),
    ],
)
def test_options_that_contradict_bitmaps(keywords: dict[str, str], message: str) -> None:
    with pytest.raises(OptionsError, match=message):
        ConvertOptions(Path("a"), Path("b"), bitmaps=True, **keywords)  # type: ignore[arg-type]


def test_a_flipped_bit_in_the_source_is_carried_as_it_is(tmp_path: Path) -> None:
    """Nobody can tell a wrong bit from a right one: the copy has what the source has."""
    image = rich(16).build()
    report = inspect(image.write_to(tmp_path / "first.qcow2"))
    word = image.read_integer(report.bitmaps[1].bitmap_table_offset, 8)
    source = flip_bits(image, word & ~1 | 2, 1, 0x10).write_to(tmp_path / "source.qcow2")
    target = tmp_path / "target.qcow2"
    convert(source, target, bitmaps=True)
    assert dirty(target) == dirty(source)
    assert dirty(target) != dirty(tmp_path / "first.qcow2")


@pytest.mark.parametrize(
    "name",
    [
        # Bitmaps' own damages always; the others belong to the readers, which have tests of theirs.
        pytest.param(name, marks=() if "bitmap" in name else pytest.mark.slow)
        for name in sorted(DAMAGES)
    ],
)
def test_whatever_is_damaged_the_copy_is_whole(name: str, tmp_path: Path) -> None:
    """Either there is a reason and no file, or an image that any program opens, bitmaps and all."""
    (tmp_path / "base.raw").write_bytes(pattern(4 * MIB, 9))
    source = DAMAGES[name].apply(rich_image()).write_to(tmp_path / "damaged.qcow2")
    target = tmp_path / "target.qcow2"
    try:
        result = convert(source, target, gate=ALLOW, bitmaps=True, salvage=True)
    except QcowError:
        assert names_in(tmp_path) == {"base.raw", source.name}
        return
    report = inspect(target)
    assert report.findings == ()
    assert tuple(entry.name for entry in report.bitmaps) == result.bitmaps
    assert set(result.bitmaps) <= {"dirty", "fine"}
