"""Repaired copies of damaged images: QEMU finds nothing wrong, and the guest reads the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from qcowgui.engine.work import CancelToken
from qcowgui.errors import ImageError, ReferencedFileError
from qcowgui.format.finding import Repair, Severity
from qcowgui.image.chain import OpenedImage, open_image
from qcowgui.image.references import AllowGate
from qcowgui.image.source import FileSource
from qcowgui.repair.apply import apply_to_copy
from qcowgui.repair.planner import ProvenPlan, RepairRequest, plan_repair
from tests.oracle.repair_remains import CONTESTED, NOT_CLEAN
from tests.support import oracle
from tests.support.base_images import rich
from tests.support.check_damages import CHECK_DAMAGES
from tests.support.check_damages.combinations import iter_combinations
from tests.support.check_damages.geometries import GEOMETRIES, Has
from tests.support.check_damages.record import CheckDamage
from tests.support.damages import DAMAGES

READ_BYTES = 1 << 22
MOST_BYTES = 1 << 27
"""What is read of a disk that a crafted header makes larger."""

COMBINATIONS = [
    pytest.param(
        damage,
        geometry,
        marks=[] if is_first else [pytest.mark.slow],
        id=f"{damage.name}-{geometry}",
    )
    for damage, geometry, is_first in iter_combinations(
        known for known in CHECK_DAMAGES.values() if known.is_qcow2
    )
]
"""Every damage in two of its geometries, or in all; the first of each is not slow."""


def repair(path: Path, target: Path, request: RepairRequest) -> ProvenPlan:
    """Write a repaired copy, or the same bytes when nothing is to be changed."""
    with FileSource(path) as source:
        proven = plan_repair(source, request, token=CancelToken())
        apply_to_copy(proven.plan, source, target, token=CancelToken())
    return proven


def opened(path: Path, snapshot: str | None) -> OpenedImage | None:
    """The image's own layer, whatever can be read of it; None when that is nothing."""
    try:
        return open_image(path, gate=AllowGate(), snapshot=snapshot, salvage=True, follow=False)
    except (ImageError, ReferencedFileError):
        return None


def require_same_guest_bytes(path: Path, target: Path, snapshot: str | None) -> None:
    """Fail if a byte that could be read before reads otherwise, or not at all."""
    before = opened(path, snapshot)
    if before is None:
        return
    # With the bit on a raw data file set, our reader expects no backing file.
    followed = before.missing is not None
    after = opened(target, snapshot)
    assert after is not None
    with before, after:
        if (after.missing is not None) != followed:
            return
        assert before.losses is not None
        assert after.losses is not None
        for start in range(0, min(before.size_bytes, MOST_BYTES), READ_BYTES):
            old, new = before.read(start, READ_BYTES), after.read(start, READ_BYTES)
            if old == new:
                continue
            was = bytearray(old)
            for lost in before.losses.ranges():
                part = slice(max(0, lost.start - start), max(0, lost.end - start))
                was[part] = new[part]
            assert was == new
        unknown = {byte for lost in before.losses.ranges() for byte in (lost.start, lost.end - 1)}
        for lost in after.losses.ranges():
            assert {lost.start, lost.end - 1} <= unknown or any(
                old.start <= lost.start and lost.end <= old.end for old in before.losses.ranges()
            )


@pytest.mark.parametrize(("damage", "geometry"), COMBINATIONS)
def test_the_repaired_copy_is_clean_and_reads_the_same(
    damage: CheckDamage, geometry: str, tmp_path: Path
) -> None:
    path = damage.damaged(geometry).write_to(tmp_path / "image.qcow2")
    target = tmp_path / "repaired.qcow2"
    proven = repair(path, target, RepairRequest(deep=damage.deep))

    found = oracle.check(target)
    if Has.LUKS in GEOMETRIES[geometry].has:
        assert "key-secret" in found.messages or damage.name in NOT_CLEAN
    else:
        assert found.is_clean != (damage.name in NOT_CLEAN), found.messages
        if found.is_clean or found.exit_code in (2, 3):
            assert found.exit_code == proven.after.exit_code
    if not found.is_clean and not damage.name.startswith("O-"):
        assert proven.plan.refused or Has.LUKS in GEOMETRIES[geometry].has
    snapshots = [snapshot.id for snapshot in proven.before.image.snapshots]
    for snapshot in (None, *dict.fromkeys(snapshots)):
        require_same_guest_bytes(path, target, snapshot)


@pytest.mark.parametrize(("damage", "geometry"), COMBINATIONS)
def test_a_second_repair_finds_nothing_to_do(
    damage: CheckDamage, geometry: str, tmp_path: Path
) -> None:
    path = damage.damaged(geometry).write_to(tmp_path / "image.qcow2")
    repair(path, tmp_path / "repaired.qcow2", RepairRequest(deep=damage.deep))
    with FileSource(tmp_path / "repaired.qcow2") as source:
        again = plan_repair(source, RepairRequest(deep=damage.deep), token=CancelToken())
    # Where tables lay upon each other, a first repair may free one of them from the others.
    if NOT_CLEAN.get(damage.name) is not CONTESTED:
        assert list(again.plan.edits) == []


@pytest.mark.parametrize(("damage", "geometry"), COMBINATIONS)
def test_the_tier_of_leaks_only_lowers_counts(
    damage: CheckDamage, geometry: str, tmp_path: Path
) -> None:
    path = damage.damaged(geometry).write_to(tmp_path / "image.qcow2")
    with FileSource(path) as source:
        proven = plan_repair(source, RepairRequest(tier=Repair.LEAKS), token=CancelToken())
    assert proven.changes.keys() <= {"leak", "refcount-too-high", "l1-copied", "l2-copied"}
    assert proven.plan.growth_bytes == 0
    before, after = proven.before.counts, proven.after.counts
    assert after[Severity.LEAK] <= before[Severity.LEAK]
    assert after[Severity.CORRUPTION] <= before[Severity.CORRUPTION]


@pytest.mark.parametrize("name", GEOMETRIES)
def test_a_healthy_image_needs_no_edit(name: str, tmp_path: Path) -> None:
    path = GEOMETRIES[name].image().write_to(tmp_path / "image.qcow2")
    with FileSource(path) as source:
        proven = plan_repair(source, RepairRequest(deep=True), token=CancelToken())
    assert proven.plan.is_empty
    assert proven.changes == {}


NO_QCOW2 = frozenset(
    {"header_magic", "header_version_1", "length_magic_only", "first_cluster_wiped"}
)


@pytest.mark.parametrize("name", [name for name in DAMAGES if name not in NO_QCOW2])
def test_the_damages_of_the_rich_image(name: str, tmp_path: Path) -> None:
    """Whatever remains is told, and no guest byte changes."""
    path = DAMAGES[name].apply(rich()).write_to(tmp_path / "image.qcow2")
    target = tmp_path / "repaired.qcow2"
    (tmp_path / "base.raw").write_bytes(bytes(512))
    proven = repair(path, target, RepairRequest(deep=True))
    found = oracle.check(target)
    assert found.is_clean or proven.plan.refused, found.messages
    for snapshot in (None, *(found.id for found in proven.before.image.snapshots)):
        require_same_guest_bytes(path, target, snapshot)
