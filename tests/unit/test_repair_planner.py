"""What a repair decides: what is freed or dropped, which bits are cleared, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from qcowgui.check.checker import CheckReport
from qcowgui.check.refcount_rules import kept_leak_count
from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled, NotQcow2Error, ProofError, SourceError
from qcowgui.format.finding import Repair, Severity
from qcowgui.image.inspect import inspect_source
from qcowgui.image.patched import Edit
from qcowgui.image.source import BytesSource, FileSource
from qcowgui.repair import planner
from qcowgui.repair.draft import Draft, Drafting
from qcowgui.repair.planner import ProvenPlan, RepairRequest, plan_repair
from qcowgui.repair.remains import remaining_sentence
from tests.support.base_images import b0, b0_builder, pattern, rich, s0, s0_builder
from tests.support.built import BuiltImage
from tests.support.check_damages import CHECK_DAMAGES
from tests.support.damage import (
    get_field,
    get_l2_entry,
    poke,
    set_feature_bit,
    set_field,
    set_l1_entry,
    set_l2_entry,
    set_refcount,
    truncate_at,
)

COPIED = 1 << 63
FAR_OFFSET = 1 << 40
LEAKS = RepairRequest(tier=Repair.LEAKS)


def planned(image: BuiltImage, request: RepairRequest | None = None) -> ProvenPlan:
    source = BytesSource(image.to_bytes())
    return plan_repair(source, request or RepairRequest(), token=CancelToken())


def codes(report: CheckReport) -> set[str]:
    return {group.code for group in report.groups}


def leaking(clusters: int = 3) -> BuiltImage:
    builder = s0_builder()
    builder.leak(clusters)
    return builder.build()


@pytest.mark.parametrize("request_", [RepairRequest(), LEAKS])
def test_leaks_of_a_sound_image_are_freed(request_: RepairRequest) -> None:
    proven = planned(leaking(), request_)
    assert proven.changes == {"leak": 3}
    assert proven.after.leaked_clusters == 0
    assert proven.plan.tier is request_.tier
    assert proven.plan.refused == ()


@pytest.mark.parametrize("tier", [Repair.LEAKS, Repair.ALL])
def test_leaks_beside_a_lost_table_are_kept_unless_that_is_asked_for(tier: Repair) -> None:
    builder = s0_builder()
    builder.write(40 << 10, pattern(512, 3))
    image = builder.build()
    image = set_l1_entry(image, 1, FAR_OFFSET)
    request = RepairRequest(tier=tier)
    proven = planned(image, request)
    assert "leak" not in proven.changes
    assert proven.after.leaked_clusters == proven.before.leaked_clusters == 2
    assert any("--free-unowned" in sentence for sentence in proven.plan.refused)

    freed = planned(image, replace(request, free_unowned=True))
    assert freed.changes == {"leak": 2}
    assert freed.after.leaked_clusters == 0


def test_a_wiped_l1_keeps_its_clusters() -> None:
    builder = b0_builder(cluster_bits=12, size=64 << 20)
    builder.write(0, pattern(400 << 10))
    image = builder.build()
    image = set_l1_entry(image, 0, 0)
    proven = planned(image)
    assert proven.before.hints
    assert proven.plan.is_empty
    assert any("salvage" in sentence for sentence in proven.plan.refused)


@pytest.mark.parametrize("tier", [Repair.LEAKS, Repair.ALL])
def test_an_emptied_table_of_compressed_clusters_keeps_their_data(tier: Repair) -> None:
    builder = b0_builder(cluster_bits=12, size=1 << 20)
    for index in range(4):
        builder.write_compressed(index, pattern(4096, index))
    image = builder.build()
    span = image.layout.l2[0]
    image = poke(image, span.offset, bytes(span.length))
    proven = planned(image, RepairRequest(tier=tier))
    assert proven.before.leaked_clusters > 0
    assert proven.changes == {}
    assert any("--free-unowned" in sentence for sentence in proven.plan.refused)


@pytest.mark.parametrize("tier", [Repair.LEAKS, Repair.ALL])
@pytest.mark.parametrize("rewritten", [False, True])
def test_an_emptied_table_of_a_snapshot_keeps_what_it_needs(tier: Repair, rewritten: bool) -> None:
    builder = s0_builder()
    builder.write(0, pattern(2048, 3))
    builder.snapshot("first")
    if rewritten:
        builder.write(0, pattern(512, 4))
    image = builder.build()
    report = inspect_source(BytesSource(image.to_bytes()))
    image = poke(image, report.snapshots[0].l1_table_offset, bytes(8))
    proven = planned(image, RepairRequest(tier=tier))
    assert "refcount-too-high" in codes(proven.before)
    assert not proven.changes.keys() & {"leak", "refcount-too-high"}
    assert any("keep" in sentence and "salvage" in sentence for sentence in proven.plan.refused)

    freed = planned(image, RepairRequest(tier=tier, free_unowned=True))
    assert freed.changes["refcount-too-high"] > 0
    assert freed.after.totals.leaks == 0


def with_second_entry_at(host_offset: Callable[[BuiltImage], int]) -> BuiltImage:
    """Two data clusters, the second of which the table no longer names."""
    builder = s0_builder()
    builder.write(0, pattern(1024, 3))
    image = builder.build()
    return set_l2_entry(image, 1, COPIED | host_offset(image))


def test_an_entry_that_names_a_table_leaves_its_lost_data_counted() -> None:
    image = with_second_entry_at(lambda found: get_field(found, "refcount_table_offset"))
    proven = planned(image)
    assert "owner-conflict" in codes(proven.before)
    assert "leak" not in proven.changes
    assert proven.after.leaked_clusters == proven.before.leaked_clusters == 1
    [misread] = [text for text in proven.plan.refused if "the refcount table" in text]
    assert misread.startswith("Guest 0x200 to 0x400:")


def test_an_entry_that_names_other_data_leaves_its_lost_data_counted() -> None:
    image = with_second_entry_at(lambda found: get_l2_entry(found, 0) & ~COPIED)
    proven = planned(image)
    assert "shared-data" in codes(proven.before)
    assert "leak" not in proven.changes
    assert proven.after.leaked_clusters == proven.before.leaked_clusters == 1
    assert any(
        text.startswith("Guest 0x0 to 0x200, 0x200 to 0x400: all read")
        for text in proven.plan.refused
    )


def test_the_tier_of_leaks_leaves_errors_alone() -> None:
    """BL-O08: separate counts, separate actions."""
    image = set_refcount(leaking(), 5, 0)
    proven = planned(image, LEAKS)
    assert proven.changes == {"leak": 3}
    assert codes(proven.after) >= codes(proven.before) - {"leak"}
    assert "refcount-zero" in codes(proven.after)
    assert planned(image).after.counts[Severity.CORRUPTION] == 0


def test_a_count_that_falls_to_one_takes_its_copied_flag_along() -> None:
    image = set_refcount(b0(), 5, 2)
    image = set_l2_entry(image, 0, get_l2_entry(image, 0) & ~COPIED)
    proven = planned(image, LEAKS)
    assert proven.changes == {"refcount-too-high": 1, "l2-copied": 1}
    assert codes(proven.after) == set()


def test_flags_that_were_wrong_before_are_not_the_business_of_leaks() -> None:
    image = set_l2_entry(leaking(), 0, get_l2_entry(leaking(), 0) & ~COPIED)
    proven = planned(image, LEAKS)
    assert proven.changes == {"leak": 3}
    assert "l2-copied" in codes(proven.after)


@pytest.mark.parametrize(("bit", "code"), [(0, "dirty"), (1, "corrupt")])
def test_the_state_bits_are_cleared_with_the_last_error(bit: int, code: str) -> None:
    image = set_feature_bit(set_refcount(b0(), 5, 0), "incompatible_features", bit)
    proven = planned(image)
    assert proven.changes == {code: 1, "refcount-zero": 1}
    assert codes(proven.after) == set()
    # BL-O23: refcounts first, then the bit; the header is written last of all.
    assert code in codes(proven.before)


@pytest.mark.parametrize("bit", [0, 1])
def test_the_state_bits_stay_while_an_error_is_left(bit: int) -> None:
    image = set_l2_entry(b0(), 3, COPIED | FAR_OFFSET)
    image = set_refcount(set_feature_bit(image, "incompatible_features", bit), 5, 0)
    proven = planned(image)
    assert proven.changes == {"refcount-zero": 1, "l2-copied": 1}
    header = proven.after.image.header
    assert header.dirty or header.corrupt


def test_the_tier_of_leaks_clears_no_bit() -> None:
    image = set_feature_bit(leaking(), "incompatible_features", 0)
    proven = planned(image, LEAKS)
    assert proven.changes == {"leak": 3}
    assert proven.after.image.header.dirty


@pytest.mark.parametrize(
    ("field", "bit"), [("incompatible_features", 5), ("incompatible_features", 40)]
)
def test_an_image_of_an_unknown_kind_is_left_alone(field: str, bit: int) -> None:
    proven = planned(set_feature_bit(leaking(), field, bit))
    assert proven.plan.is_empty
    assert proven.before is proven.after
    assert any("unknown-incompatible" in sentence for sentence in proven.plan.refused)


def test_an_unreadable_snapshot_entry_is_dropped_and_its_space_kept() -> None:
    """BL-O18: nobody knows what the third snapshot named."""
    image = CHECK_DAMAGES["S-third-entry-cut"].damaged("snapshots-64k")
    proven = planned(image)
    assert len(proven.after.image.snapshots) == proven.after.image.header.nb_snapshots == 2
    assert any("1 snapshot entry" in sentence for sentence in proven.plan.notes)
    assert proven.after.totals.corruptions == 0


def test_no_snapshot_that_is_whole_is_dropped_from_a_senseless_count() -> None:
    image = set_field(rich(), "nb_snapshots", 65537)
    proven = planned(image)
    assert [found.name for found in proven.after.image.snapshots] == ["first", "second"]
    assert proven.after.image.header.nb_snapshots == 2


def test_snapshots_whose_table_is_elsewhere_are_not_dropped() -> None:
    image = set_field(rich(), "snapshots_offset", FAR_OFFSET)
    proven = planned(image)
    assert proven.after.image.header.nb_snapshots == 2
    assert "leak" not in proven.changes


def test_what_would_make_it_worse_is_not_done() -> None:
    proven = planned(CHECK_DAMAGES["M-l1-names-itself"].damaged("v3-64k"))
    assert proven.plan.is_empty
    assert proven.changes == {}
    assert "lie upon each other" in proven.plan.refused[0]


@pytest.mark.parametrize("name", ["M-data-on-header", "M-data-on-l1", "M-data-on-l2-table"])
def test_no_edit_touches_what_may_be_guest_data(name: str) -> None:
    image = set_feature_bit(CHECK_DAMAGES[name].damaged("v3-64k"), "autoclear_features", 40)
    proven = planned(image)
    contested = set((proven.before.ownership.conflicts << 16).tolist())
    assert contested
    for edit in proven.plan.edits:
        assert edit.offset >> 16 << 16 not in contested


def test_a_plan_that_writes_into_guest_data_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    image = leaking()
    data = image.layout.data[0].offset
    wrong = Edit(data, image.read(data, 1), b"\xff", "A mistake.", "leak")
    draft = Draft((wrong,), len(image.file), {"leak": 1})
    monkeypatch.setattr(Drafting, "draft_all", lambda *_: draft)
    with pytest.raises(ProofError, match="guest data") as caught:
        planned(image)
    assert "mistake in qcowgui" in caught.value.hint


@pytest.mark.parametrize("verify_all", [False, True])
def test_a_plan_that_maps_other_data_is_refused(
    monkeypatch: pytest.MonkeyPatch, verify_all: bool
) -> None:
    builder = s0_builder()
    builder.write(512, pattern(512, 9))
    image = set_l2_entry(builder.build(), 1, get_l2_entry(builder.build(), 1) | 1 << 57)
    real = Drafting.draft_all

    def exchanged(self: Drafting, findings: list[object]) -> Draft:
        assert findings == []
        draft = real(self, [])
        (edit,) = draft.edits
        assert isinstance(edit.after, bytes)
        return replace(draft, edits=(replace(edit, after=image.read(edit.offset - 8, 8)),))

    monkeypatch.setattr(Drafting, "draft_all", exchanged)
    monkeypatch.setattr(planner, "_is_worse", lambda *_: False)
    with pytest.raises(ProofError, match="guest offset 0x200"):
        planned(image, RepairRequest(verify_all=verify_all))


def test_comparing_everything_passes_on_a_right_plan() -> None:
    image = set_refcount(rich(backing_file=None, backing_format=None), 5, 0)
    proven = planned(image, RepairRequest(verify_all=True))
    assert proven.after.counts[Severity.CORRUPTION] == 0


@pytest.mark.parametrize("geometry", ["v3-64k", "extended-16k"])
def test_sector_counts_are_put_right_by_a_deep_repair_alone(geometry: str) -> None:
    damage = next(
        found
        for found in CHECK_DAMAGES.values()
        if "payload-sectors-short" in found.codes and geometry in found.geometries
    )
    image = damage.damaged(geometry)
    assert planned(image).plan.is_empty
    proven = planned(image, RepairRequest(deep=True))
    assert proven.changes["payload-sectors-short"] == 1
    assert "payload-sectors-short" not in codes(proven.after)
    assert proven.after.totals.corruptions == 0


def test_a_cut_image_gets_no_data_made_up() -> None:
    builder = s0_builder()
    builder.write(0, pattern(100 << 10))
    image = builder.build()
    cut = truncate_at(image, len(image.file) * 7 // 10)
    proven = planned(cut)
    assert proven.plan.growth_bytes == 0
    assert proven.plan.refused
    before, after = proven.before, proven.after
    assert {g.code: g.count for g in before.groups if "eof" in g.code} == {
        g.code: g.count for g in after.groups if "eof" in g.code
    }


def test_a_healthy_image_needs_nothing() -> None:
    proven = planned(s0())
    assert proven.plan.is_empty
    assert (proven.plan.notes, proven.plan.refused, proven.changes) == ((), (), {})


def test_a_tier_that_no_plan_has_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="SALVAGE"):
        planned(s0(), RepairRequest(tier=Repair.SALVAGE))


def test_no_qcow2_image_and_a_cancelled_plan() -> None:
    with pytest.raises(NotQcow2Error):
        plan_repair(BytesSource(bytes(4096)), RepairRequest(), token=CancelToken())
    token = CancelToken()
    token.cancel()
    source = BytesSource(leaking().to_bytes())
    with pytest.raises(Cancelled):
        plan_repair(source, RepairRequest(), report=inspect_source(source), token=token)


def test_a_file_that_changes_while_it_is_planned_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = leaking().write_to(tmp_path / "image.qcow2")
    real = Drafting.draft_all

    def draft(self: Drafting, findings: list[object]) -> Draft:
        assert findings == []
        with path.open("ab") as file:
            file.write(b"x")
        return real(self, [])

    monkeypatch.setattr(Drafting, "draft_all", draft)
    with FileSource(path) as source, pytest.raises(SourceError):
        plan_repair(source, RepairRequest(), token=CancelToken())


def test_an_edit_where_guest_data_may_lie_too_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An L2 entry claims the refcount table's cluster, where an edit would be needed."""
    image = s0_builder().build()
    table_offset = image.layout.refcount_table.offset
    image = set_l2_entry(image, 60, COPIED | table_offset)
    edit = Edit(table_offset, image.read(table_offset, 1), b"\xff", "It is needed.", "leak")
    draft = Draft((edit,), len(image.file), {"leak": 1})
    monkeypatch.setattr(Drafting, "draft_all", lambda *_: draft)
    proven = planned(image)
    assert proven.plan.is_empty
    (sentence,) = [text for text in proven.plan.refused if "guest data too" in text]
    assert "(It is needed)" in sentence
    assert "salvage" in sentence


def applied(image: BuiltImage, request: RepairRequest | None = None) -> BytesSource:
    source = BytesSource(image.to_bytes())
    proven = plan_repair(source, request or RepairRequest(), token=CancelToken())
    patched = proven.plan.applied_to(source)
    return BytesSource(patched.read_at(0, patched.size_bytes))


@pytest.mark.parametrize(
    "entry",
    [
        lambda image: COPIED | image.layout.refcount_table.offset,
        lambda image: COPIED | image.layout.refcount_blocks[0].offset,
        lambda image: COPIED | 1 << 57 | len(image.file) - (1 << 16),
    ],
    ids=["on-the-refcount-table", "on-a-refcount-block", "reserved-bit-and-another-offset"],
)
def test_a_second_repair_keeps_what_the_first_one_kept(
    entry: Callable[[BuiltImage], int],
) -> None:
    """The first one removes the contradiction that told of the lost reference."""
    builder = b0_builder()
    builder.write(1 << 16, pattern(1 << 16, 1))
    builder.leak(1)
    image = builder.build()
    orphan = (get_l2_entry(image, 0) & ~COPIED) >> 16
    source = applied(set_l2_entry(image, 0, entry(image)))
    for _ in range(2):
        proven = plan_repair(source, RepairRequest(), token=CancelToken())
        assert proven.plan.is_empty
        assert proven.before.stored is not None
        assert proven.before.stored.at(orphan) == kept_leak_count(proven.before.stored.geometry)
        assert "kept-by-repair" in {hint.code for hint in proven.before.hints}
        assert any("--free-unowned" in sentence for sentence in proven.plan.refused)
    freed = plan_repair(source, RepairRequest(free_unowned=True), token=CancelToken())
    assert freed.after.leaked_clusters == 0


@pytest.mark.parametrize(
    ("content", "is_cleared"), [(bytes(1 << 16), True), (pattern(1 << 16, 4), False)]
)
def test_a_zero_flag_of_version_2_is_cleared_over_zeros_only(
    content: bytes, is_cleared: bool
) -> None:
    image = b0(version=2)
    word = get_l2_entry(image, 0)
    image = poke(image, word & ~COPIED, content)
    proven = planned(set_l2_entry(image, 0, word | 1))
    assert proven.changes == ({"zero-flag-v2": 1} if is_cleared else {})
    assert any("zero-flag-v2" in sentence for sentence in proven.plan.refused) != is_cleared


@pytest.mark.parametrize("backing", [None, "base.raw"])
def test_a_zero_flag_of_version_2_without_a_cluster(backing: str | None) -> None:
    image = b0_builder(version=2, backing_file=backing).build()
    proven = planned(set_l2_entry(image, 3, 1))
    assert proven.changes == ({"zero-flag-v2": 1} if backing is None else {})


def test_advice_that_needs_qemu_is_not_given_where_that_refuses_the_image() -> None:
    damage = CHECK_DAMAGES["R13-snapshot-l1-unaligned"]
    report = planned(damage.damaged(damage.geometries[0])).after
    (group,) = (group for group in report.groups if group.code == "snapshot-l1")
    assert "qemu-img snapshot -d" in remaining_sentence(group, opens_in_qemu=True)
    without_qemu = remaining_sentence(group, opens_in_qemu=False)
    assert "qemu-img" not in without_qemu
    assert "qcowgui convert" in without_qemu


def test_what_an_unaligned_entry_claims_behind_the_end_of_the_file_is_nobodys_data() -> None:
    """The new refcount block goes where a zero cluster at no cluster boundary would reach to."""
    builder = b0_builder(cluster_bits=12, size=4 << 20)
    builder.write(0, pattern(3 << 12))
    image = builder.build()
    end_offset = len(image.file)
    image = set_l2_entry(image, 7, COPIED | (end_offset - 0xE00) | 1)
    table_offset = get_field(image, "refcount_table_offset")
    image = poke(image, table_offset, (0x9340_1C12_E620_01FE).to_bytes(8, "big"))
    proven = planned(image)
    assert any(edit.offset == end_offset for edit in proven.plan.edits)
    assert not proven.after.counts[Severity.CORRUPTION]
