"""Comparing two images: as qemu-img does it, down to the first byte that differs."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from qcowgui.convert.compare import Comparison, compare_images, compare_pieces
from qcowgui.engine.qpool import QPoolExecutor
from qcowgui.engine.work import CancelToken, Counter, SerialExecutor
from qcowgui.errors import Cancelled, ImageError
from qcowgui.image.chain import open_image
from qcowgui.image.layer import BATCH_BYTES, Piece
from tests.converting import ALLOW, convert, mixed_disk
from tests.support import oracle
from tests.support.base_images import b0, pattern, text
from tests.support.builder import ImageBuilder
from tests.support.damage import truncate_at
from tests.support.options import KIB, MIB


def compare(left: Path, right: Path, *, strict: bool = False) -> Comparison:
    with open_image(left, gate=ALLOW) as one, open_image(right, gate=ALLOW) as other:
        return compare_images(one, other, SerialExecutor(), strict=strict)


def qemu_says(left: Path, right: Path, *, strict: bool = False) -> bool:
    """Whether qemu-img compare finds the two equal."""
    formats = ["raw" if path.suffix == ".img" else "qcow2" for path in (left, right)]
    arguments = [*(["-s"] if strict else []), "-f", formats[0], "-F", formats[1]]
    done = oracle.qemu_img("compare", *arguments, left, right, check=False, folder=left.parent)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode == 0


def write_raw(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    return write_raw(tmp_path / "disk.img", mixed_disk())


@pytest.fixture
def image(tmp_path: Path, disk: Path) -> Path:
    target = tmp_path / "image.qcow2"
    convert(disk, target, source_format="raw", compression="zlib")
    return target


def test_equal(disk: Path, image: Path) -> None:
    assert compare(disk, image) == Comparison(True, None, "Images are equal.")
    assert compare(image, disk).equal
    assert qemu_says(disk, image)


@pytest.mark.parametrize("position", [0, 511, 100 * KIB, 5 * MIB, BATCH_BYTES, 6 * MIB + 1535])
def test_the_first_difference(position: int, disk: Path, image: Path) -> None:
    content = bytearray(disk.read_bytes())
    content[position] ^= 1
    content[-1] ^= 2
    disk.write_bytes(content)
    for left, right in ((disk, image), (image, disk)):
        found = compare(left, right)
        assert not found.equal
        assert found.first_difference == position
        assert str(position) in found.message
    assert not qemu_says(disk, image)


@pytest.mark.parametrize("tail", ["zeros", "hole", "data"])
@pytest.mark.parametrize("strict", [False, True])
def test_a_longer_image(tail: str, strict: bool, disk: Path, tmp_path: Path) -> None:
    longer = write_raw(tmp_path / "longer.img", disk.read_bytes())
    size = longer.stat().st_size
    with longer.open("r+b") as file:
        file.truncate(size + MIB)
        file.seek(size)
        file.write({"zeros": bytes(MIB), "hole": b"", "data": bytes(5000) + b"\1"}[tail])
    for left, right in ((disk, longer), (longer, disk)):
        found = compare(left, right, strict=strict)
        assert found.equal is qemu_says(left, right, strict=strict)
        if strict:
            assert "sizes differ" in found.message
        elif tail == "data":
            assert found.first_difference == size + 5000
        else:
            assert "longer one ends with zeros" in found.message


def build(path: Path, *, size: int = MIB, zero: bool = False, far: bool = False) -> Path:
    builder = ImageBuilder(cluster_bits=16, size=size)
    builder.write(0, pattern(64 * KIB))
    if zero:
        builder.write(5 * 64 * KIB, bytes(64 * KIB))
    if far:
        builder.write(size - 64 * KIB, bytes(64 * KIB))
    return builder.build().write_to(path)


@pytest.mark.parametrize(
    ("keywords", "where"), [({}, None), ({"zero": True}, 5 * 64 * KIB), ({"far": True}, 960 * KIB)]
)
def test_strict_looks_at_what_is_allocated(
    keywords: dict[str, bool], where: int | None, tmp_path: Path
) -> None:
    plain = build(tmp_path / "plain.qcow2")
    other = build(tmp_path / "other.qcow2", **keywords)
    for left, right in ((plain, other), (other, plain)):
        assert compare(left, right).equal
        found = compare(left, right, strict=True)
        assert found.first_difference == where
        assert found.equal is (where is None)
        assert found.equal is qemu_says(left, right, strict=True)


def test_empty_images(tmp_path: Path) -> None:
    nothing = write_raw(tmp_path / "nothing.img", b"")
    zeros = write_raw(tmp_path / "zeros.img", bytes(MIB))
    # Without a format an empty file is no image at all.
    with open_image(nothing, format="raw") as one, open_image(zeros) as other:
        assert compare_images(one, one, SerialExecutor()).equal
        assert compare_images(one, other, SerialExecutor()).equal
        assert not compare_images(one, other, SerialExecutor(), strict=True).equal


def test_what_can_not_be_read_is_no_answer(tmp_path: Path) -> None:
    whole = b0().write_to(tmp_path / "whole.qcow2")
    cut = truncate_at(b0(), 0x58000).write_to(tmp_path / "cut.qcow2")
    with pytest.raises(ImageError, match="beyond the end of the file"):
        compare(whole, cut)


@pytest.mark.parametrize("threads", [1, 3])
def test_the_counter_ends_at_the_longer_size(
    threads: int, disk: Path, image: Path, tmp_path: Path
) -> None:
    longer = write_raw(tmp_path / "longer.img", disk.read_bytes() + bytes(9 * MIB))
    counter = Counter()
    with (
        open_image(image) as one,
        open_image(longer) as other,
        QPoolExecutor(threads) as executor,
    ):
        assert compare_images(one, other, executor, counter=counter).equal
    assert counter.value == longer.stat().st_size


@pytest.mark.parametrize("attempt", range(5))
def test_many_workers_agree_on_the_first_difference(attempt: int, tmp_path: Path) -> None:
    chance = random.Random(attempt)
    places = sorted(chance.randrange(40 * MIB) for _ in range(6))
    left = tmp_path / "left.img"
    right = tmp_path / "right.img"
    for path, places_here in ((left, []), (right, places)):
        with path.open("wb") as file:
            file.truncate(40 * MIB)
            for place in places_here:
                file.seek(place)
                file.write(b"\1")
    with open_image(left) as one, open_image(right) as other, QPoolExecutor(3) as executor:
        assert compare_images(one, other, executor).first_difference == places[0]


def test_a_set_token(disk: Path, image: Path) -> None:
    token = CancelToken()
    token.cancel()
    with open_image(disk) as one, open_image(image) as other, pytest.raises(Cancelled):
        compare_images(one, other, SerialExecutor(), token=token)


@pytest.mark.parametrize("seed", range(40))
def test_pieces_against_whole_bytes(seed: int) -> None:
    chance = random.Random(seed)
    left = bytearray(3000)
    for _ in range(3):
        place = chance.randrange(2900)
        left[place : place + 100] = text(100, seed)
    right = bytearray(left)
    for _ in range(chance.randrange(3)):
        right[chance.randrange(3000)] ^= chance.choice([0, 1, 255])
    expected = next((i for i, (a, b) in enumerate(zip(left, right, strict=True)) if a != b), None)
    found = compare_pieces(cut(bytes(left), chance), cut(bytes(right), chance))
    assert found == (None if expected is None else 1000 + expected)


def cut(data: bytes, chance: random.Random) -> list[Piece]:
    """Random parts of `data` at guest offset 1,000, some of those that are all zeros left out."""
    edges = sorted({0, len(data), *(chance.randrange(len(data)) for _ in range(8))})
    return [
        Piece(1000 + start, memoryview(data)[start:end])
        for start, end in itertools.pairwise(edges)
        if any(data[start:end]) or chance.random() < 0.5
    ]
