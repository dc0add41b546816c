"""Snapshot tables put right: which entries stay, and what is written anew."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qcowgui.check.ownership import build
from qcowgui.format.snapshots import Snapshot
from qcowgui.image.inspect import ImageReport, inspect_source
from qcowgui.image.patched import PatchedSource
from qcowgui.image.source import BytesSource
from qcowgui.repair.free_space import FreeSpace
from qcowgui.repair.snapshot_fixes import (
    SnapshotEdits,
    needs_snapshot_fixes,
    plan_snapshot_edits,
)
from tests.support.base_images import b0_builder, rich
from tests.support.built import BuiltImage
from tests.support.check_damages import CHECK_DAMAGES
from tests.support.damage import set_field, truncate_at


def fixed(image: BuiltImage) -> tuple[SnapshotEdits, ImageReport, ImageReport]:
    """The edits, and what an open says before and after."""
    source = BytesSource(image.to_bytes())
    report = inspect_source(source)
    assert needs_snapshot_fixes(report)
    space = FreeSpace(source, build(source, report), report.header.cluster_bits, None)
    found = plan_snapshot_edits(source, report, space)
    for edit in found.edits:
        assert edit.before == source.read_at(edit.offset, edit.length_bytes)
    patched = PatchedSource(source, [edit.patch for edit in found.edits])
    return found, report, inspect_source(patched)


def without_place(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, entry_offset=0, entry_bytes=0, extra_data=b"", extra_data_size=0)


def test_a_sound_table_needs_nothing() -> None:
    assert not needs_snapshot_fixes(inspect_source(BytesSource(rich().to_bytes())))


@pytest.mark.parametrize("extra_bytes", [0, 8])
def test_short_extra_data_becomes_what_a_reader_takes_it_for(extra_bytes: int) -> None:
    image = CHECK_DAMAGES[f"S6-extra-data-{extra_bytes}"].damaged("v3-64k")
    found, before, after = fixed(image)
    assert (found.dropped, found.rewritten) == (0, 1)
    (old,), (new,) = before.snapshots, after.snapshots
    assert without_place(new) == without_place(replace(old, disk_bytes=before.header.size))
    assert new.extra_data_size == 16
    assert new.entry_offset >= before.file_bytes
    assert [edit.offset for edit in found.edits if edit.offset < 512] == [60]


def test_long_extra_data_keeps_what_qemu_reads() -> None:
    image = CHECK_DAMAGES["S4-extra-data-too-long"].damaged("v3-64k")
    _, before, after = fixed(image)
    (old,), (new,) = before.snapshots, after.snapshots
    assert new.extra_data == old.extra_data
    assert new.extra_data_size == 1024 < old.extra_data_size
    assert without_place(new) == without_place(old)


def test_entries_that_are_in_order_are_copied_byte_for_byte() -> None:
    builder = b0_builder()
    unknown = bytes(8) + (64 << 20).to_bytes(8, "big") + b"\xff" * 8 + b"for later"
    builder.snapshot("kept", extra=unknown, vm_state=b"\3" * 300)
    builder.snapshot("odd", extra=b"")
    image = builder.build()
    _, before, after = fixed(image)
    assert after.snapshots[0].extra_data == unknown
    assert without_place(after.snapshots[0]) == without_place(before.snapshots[0])
    assert [found.name for found in after.snapshots] == ["kept", "odd"]


def test_entries_of_zeros_behind_the_last_snapshot_are_dropped() -> None:
    found, _, after = fixed(set_field(rich(), "nb_snapshots", 5))
    assert (found.dropped, found.rewritten) == (3, 0)
    assert [snapshot.name for snapshot in after.snapshots] == ["first", "second"]
    assert [edit.offset for edit in found.edits] == [60]


def test_a_cut_entry_is_dropped_and_the_table_stays() -> None:
    image = rich()
    table = image.layout.snapshot_table
    assert table is not None
    # As if the table were the file's last structure.
    second = image.layout.snapshot_entries[1].offset
    found, before, after = fixed(truncate_at(image, second + 20))
    assert found.dropped == 1
    assert [edit.offset for edit in found.edits] == [60]
    assert [found.name for found in after.snapshots] == ["first"]
    assert after.header.snapshots_offset == before.header.snapshots_offset


def test_without_any_whole_entry_there_is_no_table() -> None:
    image = rich()
    found, _, after = fixed(truncate_at(image, image.layout.snapshot_entries[0].offset + 20))
    assert found.dropped == 2
    assert (after.header.nb_snapshots, after.header.snapshots_offset) == (0, 0)


def test_a_table_that_is_nowhere_in_the_file_is_not_touched() -> None:
    image = set_field(rich(), "snapshots_offset", 1 << 40)
    assert not needs_snapshot_fixes(inspect_source(BytesSource(image.to_bytes())))
