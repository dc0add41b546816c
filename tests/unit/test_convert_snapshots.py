"""Plans for the internal snapshots of an image: names, order, what each step may open, the rest."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from qcowgui.convert.job import ConvertJob
from qcowgui.convert.options import ConvertOptions
from qcowgui.convert.snapshots import SnapshotMode, SnapshotPlan, plan_snapshots
from qcowgui.engine.work import SerialExecutor
from qcowgui.errors import OptionsError, OutputError, QcowError, SourceError
from qcowgui.image.chain import open_image
from qcowgui.image.inspect import inspect
from qcowgui.image.references import AllowGate
from tests.converting import ALLOW, names_in
from tests.support.base_images import pattern, rich
from tests.support.builder import ImageBuilder
from tests.support.damages import DAMAGES
from tests.support.options import KIB, MIB

CLUSTER = 64 * KIB
NO_IMAGE = {"first_cluster_wiped", "header_magic", "header_version_1"}
"""Damages after which nothing can be inspected."""


def lived(tmp_path: Path) -> tuple[Path, dict[str, bytes]]:
    """An image with a history, and its disks: the snapshots' by name, the active one's as ""."""
    builder = ImageBuilder(size=2 * MIB)
    builder.write(0, pattern(4 * CLUSTER, 1))
    builder.snapshot("first: boot", date_seconds=1000)
    builder.write(CLUSTER, pattern(CLUSTER, 2))
    builder.zero(2)
    builder.snapshot("late", date_seconds=3000)
    builder.resize(3 * MIB)
    builder.write(40 * CLUSTER, pattern(CLUSTER, 3))
    builder.snapshot("middle", date_seconds=2000, vm_state=pattern(3 * CLUSTER, 9))
    builder.write(0, pattern(CLUSTER, 4))
    builder.bitmap("changes", set_ranges=[(0, CLUSTER)])
    image = builder.build()
    path = image.write_to(tmp_path / "lived.qcow2")
    disks = {name: image.guest_bytes(snapshot=name) for name in ("first: boot", "late", "middle")}
    return path, {**disks, "": image.guest_bytes()}


def plan(source: Path, target: Path, mode: SnapshotMode, **keywords: object) -> SnapshotPlan:
    options = ConvertOptions(source, target, target_format="qcow2")
    return plan_snapshots(replace(options, **keywords), inspect(source), mode)  # type: ignore[arg-type]


def run(found: SnapshotPlan) -> list[tuple[str, ...]]:
    """Run all steps; the warnings of each."""
    return [
        ConvertJob(step.options, AllowGate(step.allowed) if step.allowed else ALLOW)
        .run(SerialExecutor())
        .warnings
        for step in found.steps
    ]


def content(path: Path) -> bytes:
    """The whole disk of an image, through its chain."""
    with open_image(path, gate=ALLOW) as image:
        disk = bytearray(image.size_bytes)
        for piece in image.read_pieces(0, image.size_bytes, image.context()):
            disk[piece.start : piece.start + len(piece.data)] = piece.data
        return bytes(disk)


NAMES = {
    "first: boot": "out.first_ boot.qcow2",
    "late": "out.late.qcow2",
    "middle": "out.middle.qcow2",
    "": "out.qcow2",
}


@pytest.mark.parametrize("compression", ["none", "zstd"])
@pytest.mark.parametrize("mode", ["files", "chain"])
def test_every_disk_of_the_image(mode: SnapshotMode, compression: str, tmp_path: Path) -> None:
    source, disks = lived(tmp_path)
    found = plan(source, tmp_path / "out.qcow2", mode, compression=compression, bitmaps=True)
    # No step warns of snapshots or bitmaps that others carry.
    needs_newer = ("The result needs QEMU 5.1 or newer",) if compression == "zstd" else ()
    told = [tuple(text.partition(";")[0] for text in warnings) for warnings in run(found)]
    assert told == [needs_newer] * 4
    assert names_in(tmp_path) == {"lived.qcow2", *NAMES.values()}
    for name, disk in disks.items():
        assert content(tmp_path / NAMES[name]) == disk
    with_bitmaps = [name for name in NAMES.values() if inspect(tmp_path / name).bitmaps]
    assert with_bitmaps == ["out.qcow2"]


def test_a_chain_goes_by_the_dates(tmp_path: Path) -> None:
    source, _ = lived(tmp_path)
    found = plan(source, tmp_path / "out.qcow2", "chain")
    run(found)
    backing = [inspect(step.options.target).backing_name for step in found.steps]
    assert backing == [None, "out.first_ boot.qcow2", "out.middle.qcow2", "out.late.qcow2"]
    assert [len(step.allowed) for step in found.steps] == [0, 1, 2, 3]
    # The oldest holds four clusters, the next one only the two that were written since.
    sizes = [step.options.target.stat().st_size // CLUSTER for step in found.steps]
    assert sizes[0] - sizes[1] == 2


def test_files_stand_alone(tmp_path: Path) -> None:
    source, _ = lived(tmp_path)
    found = plan(source, tmp_path / "out.qcow2", "files")
    assert all(step.allowed == () for step in found.steps)
    assert all(step.options.backing_file is None for step in found.steps)


def test_raw_files(tmp_path: Path) -> None:
    source, disks = lived(tmp_path)
    run(plan(source, tmp_path / "out.img", "files", target_format="raw"))
    assert (tmp_path / "out.middle.img").read_bytes() == disks["middle"]


def test_vm_state_is_said_to_be_left_out(tmp_path: Path) -> None:
    source, _ = lived(tmp_path)
    [told] = plan(source, tmp_path / "out.qcow2", "chain").left_out
    assert told == (
        "The state of the running machine in the snapshot 'middle' (192 KiB) is not carried over; "
        "its disk is."
    )


def test_an_image_without_snapshots_is_converted_alone(tmp_path: Path) -> None:
    source = ImageBuilder(size=MIB).build().write_to(tmp_path / "plain.qcow2")
    found = plan(source, tmp_path / "out.qcow2", "chain")
    assert [step.options.target.name for step in found.steps] == ["out.qcow2"]
    assert found.left_out == ("The source has no internal snapshots.",)
    raw = plan_snapshots(ConvertOptions(tmp_path / "a.raw", tmp_path / "b.raw"), None, "files")
    assert len(raw.steps) == 1


def test_names_that_no_folder_could_have(tmp_path: Path) -> None:
    builder = ImageBuilder(size=MIB)
    for name in ("../../etc/passwd", "", "..", "CON:", "Äh", "äh", "x" * 300, "x" * 301, "a\0b\n"):
        builder.snapshot(name)
    source = builder.build().write_to(tmp_path / "odd.qcow2")
    target = tmp_path / "out.qcow2"
    found = plan(source, target, "files")
    names = [step.options.target.name for step in found.steps]
    assert names == [
        "out._.._etc_passwd.qcow2",
        "out.snapshot-2.qcow2",
        "out.snapshot-3.qcow2",
        "out.CON_.qcow2",
        "out.Äh.qcow2",
        "out.äh-2.qcow2",
        f"out.{'x' * 80}.qcow2",
        f"out.{'x' * 80}-2.qcow2",
        "out.a_x00b_n.qcow2",
        "out.qcow2",
    ]
    assert all(step.options.target.parent == tmp_path for step in found.steps)
    run(found)
    assert names_in(tmp_path) == {"odd.qcow2", *names}


def test_a_long_target_name_keeps_room_for_the_snapshot(tmp_path: Path) -> None:
    source, _ = lived(tmp_path)
    found = plan(source, tmp_path / f"{'ü' * 120}.qcow2", "files")
    names = [step.options.target.name for step in found.steps]
    assert max(len(os.fsencode(name)) for name in names) <= 255
    assert names[0].endswith("ü.first_ boot.qcow2")


def test_the_source_s_own_name_is_taken(tmp_path: Path) -> None:
    source, _ = lived(tmp_path)
    moved = source.rename(tmp_path / "out.late.qcow2")
    names = [
        step.options.target.name for step in plan(moved, tmp_path / "out.qcow2", "files").steps
    ]
    assert names == [
        "out.first_ boot.qcow2",
        "out.middle.qcow2",
        "out.late-2.qcow2",
        "out.qcow2",
    ]


def test_the_same_plan_has_the_same_names(tmp_path: Path) -> None:
    source, _ = lived(tmp_path)
    first = plan(source, tmp_path / "out.qcow2", "files")
    run(first)
    again = plan(source, tmp_path / "out.qcow2", "files")
    assert again == first
    with pytest.raises(OutputError, match="exists already"):
        run(again)


def test_one_that_can_not_be_told_from_another_is_left_out(tmp_path: Path) -> None:
    builder = ImageBuilder(size=MIB)
    builder.snapshot("same", id="1")
    builder.snapshot("same", id="1")
    builder.snapshot("other", id="1")
    found = plan(builder.build().write_to(tmp_path / "s.qcow2"), tmp_path / "o.qcow2", "files")
    assert [step.options.snapshot for step in found.steps] == ["snapshot.name=other", None]
    assert (
        found.left_out
        == ("The snapshot 'same' is not carried over: another snapshot has the same id and name.",)
        * 2
    )


def test_a_damaged_snapshot_does_not_stop_the_others(tmp_path: Path) -> None:
    source, disks = lived(tmp_path)
    report = inspect(source)
    data = source.read_bytes()
    offset = report.snapshots[1].entry_offset  # begins with l1_table_offset
    source.write_bytes(data[:offset] + (1 << 50).to_bytes(8, "big") + data[offset + 8 :])
    found = plan(source, tmp_path / "out.qcow2", "chain")
    assert [step.options.target.name for step in found.steps] == [
        "out.first_ boot.qcow2",
        "out.middle.qcow2",
        "out.qcow2",
    ]
    assert found.left_out[0].startswith("The snapshot 'late' is not carried over: ")
    run(found)
    assert content(tmp_path / "out.qcow2") == disks[""]


def test_a_table_that_can_not_be_read_to_its_end(tmp_path: Path) -> None:
    source, _ = lived(tmp_path)
    report = inspect(source)
    cut = replace(report, snapshots=report.snapshots[:1])
    options = ConvertOptions(source, tmp_path / "out.raw")
    found = plan_snapshots(options, cut, "files")
    assert found.left_out == ("2 more snapshots are in a part of the table that can't be read.",)
    assert len(found.steps) == 2


def test_thousands_of_snapshots_of_one_name(tmp_path: Path) -> None:
    """Names and selectors take no time that grows with the square of their number."""
    builder = ImageBuilder(cluster_bits=9, size=512)
    for _ in range(3000):
        builder.snapshot("again", vm_state=b"")
    found = plan(builder.build().write_to(tmp_path / "s.qcow2"), tmp_path / "o.qcow2", "files")
    targets = {step.options.target for step in found.steps}
    assert len(targets) == 3001


def test_sentences_are_bounded(tmp_path: Path) -> None:
    builder = ImageBuilder(cluster_bits=9, size=512)
    for _ in range(100):
        builder.snapshot("twin", id="1")
    found = plan(builder.build().write_to(tmp_path / "s.qcow2"), tmp_path / "o.qcow2", "files")
    assert len(found.left_out) == 33
    assert found.left_out[-1].startswith("68 more snapshots are not carried over")


def test_only_the_bottom_keeps_a_backing_file(tmp_path: Path) -> None:
    base = tmp_path / "base.raw"
    base.write_bytes(pattern(MIB, 7))
    builder = ImageBuilder(size=MIB, backing_file="base.raw", backing_format="raw")
    builder.write(0, pattern(CLUSTER, 1))
    builder.snapshot("one")
    builder.write(CLUSTER, pattern(CLUSTER, 2))
    image = builder.build()
    source = image.write_to(tmp_path / "over.qcow2")
    found = plan(source, tmp_path / "out.qcow2", "chain", keep_backing=True)
    for step in found.steps:
        gate = AllowGate((base, *step.allowed))
        ConvertJob(step.options, gate).run(SerialExecutor())
    names = [inspect(step.options.target).backing_name for step in found.steps]
    assert names == ["base.raw", "out.one.qcow2"]
    assert content(tmp_path / "out.qcow2") == image.guest_bytes(backing=base.read_bytes())


def test_contradictions(tmp_path: Path) -> None:
    source, _ = lived(tmp_path)
    with pytest.raises(OptionsError, match="Either the snapshot 'late' is converted or all"):
        plan(source, tmp_path / "out.qcow2", "files", snapshot="late")
    with pytest.raises(OptionsError, match="can't be part of a chain"):
        plan(source, tmp_path / "out.raw", "chain", target_format="raw")


def test_a_step_that_misses_the_one_below_says_so(tmp_path: Path) -> None:
    source, _ = lived(tmp_path)
    found = plan(source, tmp_path / "out.qcow2", "chain")
    step = found.steps[2]
    with pytest.raises(SourceError, match=r"out\.middle\.qcow2 can't be opened"):
        ConvertJob(step.options, AllowGate(step.allowed)).run(SerialExecutor())
    assert names_in(tmp_path) == {"lived.qcow2"}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(DAMAGES.keys() - NO_IMAGE))
def test_whatever_is_damaged_the_plan_says_what_is_left_out(name: str, tmp_path: Path) -> None:
    (tmp_path / "base.raw").write_bytes(pattern(4 * MIB, 9))
    source = DAMAGES[name].apply(rich()).write_to(tmp_path / "damaged.qcow2")
    found = plan(source, tmp_path / "out.qcow2", "files", salvage=True)
    report = inspect(source)
    carried = len(found.steps) - 1
    if report.header.nb_snapshots == 2 and carried < 2:
        assert found.left_out
    for step in found.steps:
        try:
            ConvertJob(step.options, ALLOW).run(SerialExecutor())
        except QcowError:
            assert not step.options.target.exists()
        else:
            assert inspect(step.options.target).findings == ()
