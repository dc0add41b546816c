"""Our totals, and the exit code, against `qemu-img check --output=json`.

Where the two differ on purpose, `check_differences.py` says why.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from qcowgui.check.checker import CheckReport, check_image
from qcowgui.check.totals import QemuTotals
from qcowgui.engine.work import CancelToken
from qcowgui.errors import NotQcow2Error
from qcowgui.image.source import FileSource
from tests.oracle.check_differences import (
    INTENDED_DIFFERENCES,
    INTENDED_DIFFERENCES_OF_GEOMETRIES,
    NOT_QCOW2,
)
from tests.support import oracle
from tests.support.base_images import rich
from tests.support.built import BuiltImage
from tests.support.check_damages import CHECK_DAMAGES
from tests.support.check_damages.combinations import chosen_geometries
from tests.support.check_damages.geometries import GEOMETRIES
from tests.support.damages import DAMAGES
from tests.support.filled import write_filled_image
from tests.support.layout import Span
from tests.support.options import GIB, MIB

KEYS = {
    "corruptions": "corruptions",
    "leaks": "leaks",
    "check-errors": "check_errors",
    "total-clusters": "total_clusters",
    "allocated-clusters": "allocated_clusters",
    "fragmented-clusters": "fragmented_clusters",
    "compressed-clusters": "compressed_clusters",
    "image-end-offset": "image_end_offset",
}
"""qemu-img's key → the field of `QemuTotals`. It leaves most out where they are zero."""

Numbers = tuple[int, dict[str, int] | None]
"""Exit code, and totals if there are any."""

TOO_LONG = {
    "S5-table-too-large": "64 MiB of names, which an open escapes one character after another",
}
"""Damages that cost minutes, with the reason. What a check does then has a unit test."""


def theirs(path: Path) -> Numbers:
    result = oracle.check(path)
    totals = {key: result.report.get(key, 0) for key in KEYS} if result.report else None
    return result.exit_code, totals


def checked(path: Path) -> CheckReport:
    with FileSource(path) as source:
        return check_image(source, token=CancelToken())


def ours(path: Path) -> Numbers:
    try:
        report = checked(path)
    except NotQcow2Error as error:
        return error.exit_code, None
    return report.exit_code, None if report.totals.refusal else as_qemu(report.totals)


def as_qemu(totals: QemuTotals) -> dict[str, int]:
    return {key: getattr(totals, name) for key, name in KEYS.items()}


def write(image: BuiltImage, folder: Path) -> Path:
    """The image as a file, with a backing file beside it in case it names one."""
    base = folder / "base.raw"
    if not base.exists():
        with base.open("wb") as file:
            file.truncate(4 * MIB)
    return image.write_to(folder / "image.qcow2")


@pytest.mark.parametrize("name", sorted(DAMAGES))
def test_damages_of_the_rich_image(name: str, tmp_path: Path) -> None:
    path = write(DAMAGES[name].apply(rich()), tmp_path)
    if name in INTENDED_DIFFERENCES:
        assert ours(path) != theirs(path), "no difference any more: take it off the list"
    else:
        assert ours(path) == theirs(path)


@pytest.mark.parametrize("name", sorted(GEOMETRIES))
def test_sound_images(name: str, tmp_path: Path) -> None:
    path = write(GEOMETRIES[name].image(), tmp_path)
    if name in INTENDED_DIFFERENCES_OF_GEOMETRIES:
        assert ours(path)[0] == 0
        assert theirs(path) == (1, None)
    else:
        assert ours(path) == theirs(path)


def assert_parity(name: str, geometry: str, path: Path) -> None:
    reason = INTENDED_DIFFERENCES.get(name) or INTENDED_DIFFERENCES_OF_GEOMETRIES.get(geometry)
    if reason is None:
        assert ours(path) == theirs(path), (name, geometry)
        return
    assert theirs(path) == (1, None), (name, geometry)
    if reason == NOT_QCOW2:
        assert ours(path) == (63, None)


NAMES = sorted(set(CHECK_DAMAGES) - set(TOO_LONG))


@pytest.mark.parametrize("name", NAMES)
def test_damages_in_one_geometry(name: str, tmp_path: Path) -> None:
    damage = CHECK_DAMAGES[name]
    # Not always the same geometry, but for each damage.
    geometry = random.Random(name).choice(damage.geometries)
    assert_parity(name, geometry, write(damage.damaged(geometry), tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_damages_in_several_geometries(name: str, tmp_path: Path) -> None:
    damage = CHECK_DAMAGES[name]
    for geometry in chosen_geometries(damage):
        assert_parity(name, geometry, write(damage.damaged(geometry), tmp_path))


# Words and bytes of metadata replaced at random


def mutated(seed: int) -> BuiltImage:
    """A sound image with some of its metadata replaced; the same for one seed."""
    choose = random.Random(seed)
    names = sorted(set(GEOMETRIES) - set(INTENDED_DIFFERENCES_OF_GEOMETRIES))
    image = GEOMETRIES[choose.choice(names)].image()
    words = words_of(image)
    for _ in range(choose.choice([1, 1, 2, 3, 6, 20])):
        span = choose.choice(tables_of(image))
        if span in image.layout.refcount_blocks.values():
            inside = min(span.length, max(16, len(image.file) // image.layout.cluster_bytes * 2))
            byte = choose.choice([0, 1, 2, 255, choose.getrandbits(8)])
            image = image.edited(span.offset + choose.randrange(inside), bytes([byte]))
        else:
            limit = min(span.length, choose.choice([16, 64, 512, span.length]))
            offset = span.offset + 8 * choose.randrange(max(1, limit // 8))
            image = image.edited(offset, random_word(choose, words, image).to_bytes(8, "big"))
    if choose.random() < 0.15:
        cluster = image.layout.cluster_bytes
        cut = choose.choice([1, 511, 512, cluster - 1, cluster, choose.randrange(len(image.file))])
        image = image.resized(max(cluster, len(image.file) - cut))
    return image


def tables_of(image: BuiltImage) -> list[Span]:
    layout = image.layout
    return [
        layout.l1,
        layout.refcount_table,
        *layout.l2.values(),
        *layout.refcount_blocks.values(),
        *layout.snapshot_l1,
        *layout.snapshot_l2.values(),
        *([layout.snapshot_table] if layout.snapshot_table else []),
        *layout.bitmap_tables,
    ]


def words_of(image: BuiltImage) -> list[int]:
    """The words that are there already: they lead somewhere."""
    offsets = (
        offset
        for span in tables_of(image)
        for offset in range(span.offset, span.offset + min(span.length, 1024), 8)
    )
    return sorted({image.read_integer(offset, 8) for offset in offsets})


def random_word(choose: random.Random, words: list[int], image: BuiltImage) -> int:
    size, cluster = len(image.file), image.layout.cluster_bytes
    sectors = choose.randrange(4) << (62 - (image.layout.cluster_bits - 8))
    flags = choose.choice([0, 1 << 63, 1 << 62, 3 << 62, 1])
    return choose.choice(
        [
            choose.choice(words),
            choose.choice(words) ^ 1 << choose.randrange(64),
            choose.getrandbits(64),
            choose.choice([0, 1, 1 << 63, 1 << 63 | 1, (1 << 64) - 1, 1 << 62, 1 << 55]),
            flags | choose.randrange(0, size + 2 * cluster, cluster),
            flags | choose.randrange(0, size + 2 * cluster, 512),
            1 << 62 | sectors | choose.randrange(size + cluster),
            1 << 63 | choose.randrange(0, size + cluster, cluster),
        ]
    )


@pytest.mark.parametrize("first", range(0, 100, 10))
def test_random_damage(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 10):
        path = write(mutated(seed), tmp_path)
        assert ours(path) == theirs(path), seed


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 3000, 100))
def test_much_random_damage(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 100):
        path = write(mutated(seed), tmp_path)
        assert ours(path) == theirs(path), seed


# Images that QEMU made


@pytest.mark.parametrize(
    "options",
    [
        "cluster_size=64k",
        "cluster_size=512",
        "cluster_size=2M",
        "extended_l2=on,cluster_size=128k",
        "compat=0.10",
        "lazy_refcounts=on,refcount_bits=1",
        "refcount_bits=64,compression_type=zstd",
        "preallocation=metadata",
        "preallocation=metadata,cluster_size=4k,extended_l2=off",
    ],
)
def test_images_of_qemu(options: str, tmp_path: Path) -> None:
    path = oracle.create(tmp_path / "image.qcow2", 64 * MIB, "-o", options)
    oracle.qemu_io(
        path,
        "write -P 1 0 300k",
        "write -P 2 5M 1M",
        "write -z 8M 1M",
        "write -z -u 5M 100k",
        "discard 6M 64k",
        "write -P 3 63M 100k",
    )
    expected = theirs(path)
    assert expected[0] == 0
    assert ours(path) == expected
    assert not checked(path).counts[max(checked(path).counts)]


def test_snapshots_of_qemu_come_and_go(tmp_path: Path) -> None:
    path = oracle.create(tmp_path / "image.qcow2", 64 * MIB)
    for number in range(4):
        oracle.qemu_io(path, f"write -P {number + 1} {number * 64}k 192k")
        oracle.qemu_img("snapshot", "-c", f"s{number}", path)
    for command in (("-d", "s1"), ("-a", "s2"), ("-d", "s0"), ("-d", "s2")):
        oracle.qemu_img("snapshot", *command, path)
        oracle.qemu_io(path, "write -P 9 64k 64k")
        assert ours(path) == theirs(path)
        # QEMU leaves COPIED in tables of snapshots, where it is true: that is no finding.
        assert {group.code for group in checked(path).groups} <= {"free-inside", "trailing-space"}


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("cluster_bits", [9, 12, 16, 21])
def test_full_images(cluster_bits: int, shuffled: bool, tmp_path: Path) -> None:
    size = max(16 * MIB, 1 << (2 * cluster_bits - 3))
    size = min(size * 4, 1024 * GIB)
    path = write_filled_image(
        tmp_path / "image", size, cluster_bits=cluster_bits, shuffled=shuffled
    )
    expected = theirs(path)
    assert expected[0] == 0
    assert ours(path) == expected
