"""The named damages: each changes its image, covers its row, and QEMU takes it for what it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qcowgui.check.checker import check_image
from qcowgui.engine.work import CancelToken
from qcowgui.errors import NotQcow2Error
from qcowgui.format.finding import CODES
from qcowgui.image.source import FileSource
from tests.support import oracle
from tests.support.built import BuiltImage
from tests.support.check_damages import CHECK_DAMAGES, NOT_IN_A_FILE
from tests.support.check_damages.combinations import iter_combinations
from tests.support.check_damages.geometries import GEOMETRIES, Has
from tests.support.check_damages.record import Book, CheckDamage, Verdict, edited
from tests.support.damage import flip_bits

CHECKS = (
    *(f"S{number}" for number in range(1, 7)),
    *(f"R{number}" for number in range(26) if number != 10),
    "R10a",
    "R10b",
)
MISSED_BY_QEMU = tuple(f"2.5.{number}" for number in range(1, 13))
ODD_BY_PROPERTY = tuple(f"4.2.{number}" for number in range(1, 15))
ODD_BY_WRITER = (
    "4.1 QEMU < 5.1",
    "4.1 old cloud images",
    "4.1 cluster 512",
    "4.1 crosvm",
    "4.1 cloud-hypervisor 7526",
    "4.1 cloud-hypervisor 8606",
    "4.1 cloud-hypervisor 8358",
    "4.1 Docker for Mac",
    "4.1 VirtualBox",
    "4.1 e2image",
    "4.1 zchee",
    "4.1 Proxmox PVE 9",
    "4.1 pcbastler",
    "4.3 zstd",
    "4.3 Lieven",
    "4.3 unknown",
    "4.3 2014",
)
CASES = tuple(
    f"BL-O{number:02d}"
    for number in (*range(1, 15), *range(16, 31), 32, 44, 45, 47, 48, 49, 58, 60, 63, 64, 65)
)
INTENDED_DIFFERENCES = {
    "key-secret": "QEMU needs the passphrase to open it; a check of ours does not read guest data.",
    "Could not open backing file": "A check of ours needs no backing file.",
}
"""Where QEMU refuses what we check: what it says, and why we don't."""

COVERED = {row for damage in CHECK_DAMAGES.values() for row in damage.rows}


COMBINATIONS = [
    pytest.param(
        damage,
        geometry,
        marks=[] if is_first else [pytest.mark.slow],
        id=f"{damage.name}-{geometry}",
    )
    for damage, geometry, is_first in iter_combinations(CHECK_DAMAGES.values())
]
"""Every damage in two of its geometries, or in all; the first of each is not slow."""


def same_bytes(left: BuiltImage, right: BuiltImage) -> bool:
    """Whether two images have the same files; those of 8 GiB are compared by what is stored."""
    if len(left.file) != len(right.file) or left.data_file_name != right.data_file_name:
        return False
    return left.file._pages == right.file._pages


@pytest.mark.parametrize(
    "row", [*CHECKS, *MISSED_BY_QEMU, *ODD_BY_PROPERTY, *ODD_BY_WRITER, *CASES]
)
def test_every_row_has_a_damage_or_a_reason(row: str) -> None:
    assert (row in COVERED) != (row in NOT_IN_A_FILE)


@pytest.mark.parametrize("damage", CHECK_DAMAGES.values(), ids=CHECK_DAMAGES.keys())
def test_the_record_of_a_damage(damage: CheckDamage) -> None:
    assert damage.codes | damage.may <= CODES.keys()
    assert damage.sentence.endswith(".")
    assert len(set(damage.geometries)) == len(damage.geometries) > 0
    assert damage.name[0] in "RSMOF"
    re.compile(damage.says)
    # A damage that QEMU finds names what QEMU says of it.
    assert bool(damage.says) == (damage.qemu not in (Verdict.CLEAN, Verdict.REFUSED))


@pytest.mark.parametrize(("damage", "geometry"), COMBINATIONS)
def test_a_damage_is_a_change(damage: CheckDamage, geometry: str) -> None:
    damaged = damage.damaged(geometry)
    assert not same_bytes(damage.healthy(geometry), damaged)
    assert same_bytes(damaged, damage.damaged(geometry))


@pytest.mark.parametrize("name", GEOMETRIES)
def test_qemu_finds_nothing_wrong_with_the_healthy_images(name: str, tmp_path: Path) -> None:
    if Has.LUKS in GEOMETRIES[name].has:
        path = GEOMETRIES[name].image().write_to(tmp_path / "image.qcow2")
        assert "key-secret" in oracle.check(path).messages
        return
    assert oracle.check(GEOMETRIES[name].image().write_to(tmp_path / "image.qcow2")).is_clean


@pytest.mark.slow
@pytest.mark.parametrize(("damage", "geometry"), COMBINATIONS)
def test_qemu_meets_the_damage(damage: CheckDamage, geometry: str, tmp_path: Path) -> None:
    """The damage hits the row that it claims: QEMU says so in words, or is known to be blind."""
    result = oracle.check(damage.damaged(geometry).write_to(tmp_path / "image.qcow2"))
    refused = "Could not open" in result.messages
    verdict = Verdict.REFUSED if refused else Verdict(result.exit_code)
    assert verdict is damage.verdict(geometry), result.messages
    if refused:
        assert result.exit_code == 1
    else:
        assert re.search(damage.says, result.messages), result.messages
    if verdict is Verdict.CLEAN:
        assert result.is_clean


@pytest.mark.slow
@pytest.mark.parametrize(("damage", "geometry"), COMBINATIONS)
def test_the_totals_are_those_of_qemu(damage: CheckDamage, geometry: str, tmp_path: Path) -> None:
    path = damage.damaged(geometry).write_to(tmp_path / "image.qcow2")
    theirs = oracle.check(path)
    if not damage.is_qcow2:
        assert "Could not open" in theirs.messages
        return
    with FileSource(path) as source:
        report = check_image(source, token=CancelToken())
    ours = report.totals
    if "Could not open" in theirs.messages:
        intended = any(words in theirs.messages for words in INTENDED_DIFFERENCES)
        assert bool(ours.refusal) != intended, theirs.messages
        return
    assert report.exit_code == theirs.exit_code, theirs.messages
    if theirs.report:
        assert (ours.corruptions, ours.leaks, ours.check_errors) == (
            theirs.corruptions,
            theirs.leaks,
            theirs.check_errors,
        ), theirs.messages
        assert ours.image_end_offset == theirs.report.get("image-end-offset", 0)


def codes_found(path: Path, *, deep: bool) -> set[str]:
    """The codes of a check of an image file."""
    with FileSource(path) as source:
        report = check_image(source, token=CancelToken(), deep=deep)
        return {group.code for group in report.groups}


@pytest.mark.parametrize("name", GEOMETRIES)
def test_a_check_finds_nothing_in_the_healthy_images(name: str, tmp_path: Path) -> None:
    path = GEOMETRIES[name].image().write_to(tmp_path / "image.qcow2")
    assert codes_found(path, deep=True) == set()


@pytest.mark.parametrize(("damage", "geometry"), COMBINATIONS)
def test_a_check_names_the_damage_and_nothing_else(
    damage: CheckDamage, geometry: str, tmp_path: Path
) -> None:
    path = damage.damaged(geometry).write_to(tmp_path / "image.qcow2")
    if not damage.is_qcow2:
        with pytest.raises(NotQcow2Error):
            codes_found(path, deep=True)
        return
    found = codes_found(path, deep=True)
    assert damage.codes <= found <= damage.codes | damage.may
    if damage.deep:
        assert not damage.codes & codes_found(path, deep=False)


def test_sizes_stay_small_but_where_size_is_the_point() -> None:
    large = {
        damage.name
        for damage in CHECK_DAMAGES.values()
        if len(damage.damaged(damage.geometries[0]).file) > 64 << 20
    }
    assert large == {"R0-too-many-clusters", "S5-table-too-large", "O-far-away"}


def test_a_book_takes_no_second_damage_of_a_name_and_none_without_a_geometry() -> None:
    book = Book()
    make = edited(lambda image: flip_bits(image, 0))
    book.enter("one", "A sentence.", "R1", "", make)
    with pytest.raises(ValueError, match="two damages"):
        book.enter("one", "A sentence.", "R1", "", make)
    with pytest.raises(ValueError, match="geometries"):
        book.enter("two", "A sentence.", "R1", "", make, needs=[Has.V2, Has.EXTENDED_L2])
    with pytest.raises(ValueError, match="geometries"):
        book.enter("three", "A sentence.", "R1", "", make, only=["no such geometry"])
