"""The state of each host cluster: roles, both counts, conflicts and the end of the file."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.check.cells import MAX_CELLS, Tally, tally
from qcowgui.check.clustermap import DESCRIPTIONS, ClusterState, judge_states, states_of
from qcowgui.check.ownership import build
from qcowgui.check.roles import Role
from qcowgui.check.stored import StoredRefcounts
from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled
from qcowgui.image.inspect import inspect_source
from qcowgui.image.source import BytesSource
from tests.support.base_images import b0, b0_builder, rich, text
from tests.support.built import BuiltImage
from tests.support.damage import (
    get_l2_entry,
    set_integer,
    set_l2_entry,
    set_refcount,
    truncate_at,
)

S = ClusterState


def judged(
    roles: list[Role], computed: list[int], stored: list[int] | None, *, refcount_max: int = 65535
) -> list[ClusterState]:
    cells = judge_states(
        np.array(roles, dtype=np.uint8),
        np.array(computed, dtype=np.uint32),
        None if stored is None else np.array(stored, dtype=np.uint64),
        refcount_max=refcount_max,
    )
    assert cells.dtype == np.uint8
    return [ClusterState(cell) for cell in cells.tolist()]


def states(
    image: BuiltImage, first: int = 0, last: int | None = None, *, with_refcounts: bool = True
) -> list[ClusterState]:
    source = BytesSource(image.to_bytes(), "image.qcow2")
    report = inspect_source(source)
    stored = StoredRefcounts(source, report)
    cells = states_of(
        build(source, report, stored=stored),
        stored if with_refcounts else None,
        file_bytes=source.size_bytes,
        first=first,
        last=last,
    )
    return [ClusterState(cell) for cell in cells.tolist()]


def changes(healthy: BuiltImage, damaged: BuiltImage) -> dict[int, ClusterState]:
    """The clusters whose state differs, and what it is now."""
    before, after = states(healthy), states(damaged)
    assert len(before) == len(after)
    pairs = enumerate(zip(before, after, strict=True))
    return {index: new for index, (old, new) in pairs if old is not new}


def test_every_role_has_a_state() -> None:
    roles = list(Role)
    ones = [0, *[1] * (len(roles) - 1)]
    assert judged(roles, ones, ones) == [
        S.FREE,
        S.HEADER,
        S.ACTIVE_L1,
        S.ACTIVE_L2,
        S.SNAPSHOT_L1,
        S.SNAPSHOT_L2,
        S.REFCOUNT_TABLE,
        S.REFCOUNT_BLOCK,
        S.SNAPSHOT_TABLE,
        S.BITMAP_METADATA,
        S.BITMAP_METADATA,
        S.BITMAP_DATA,
        S.ENCRYPTION_HEADER,
        S.DATA,
        S.COMPRESSED,
        S.ZERO_ALLOC,
        S.SNAPSHOT_DATA,
    ]


@pytest.mark.parametrize(
    ("computed", "stored", "state"),
    [
        (1, 1, S.DATA),
        (300, 300, S.DATA),
        (1, 2, S.REFCOUNT_HIGH),
        (1, (1 << 64) - 1, S.REFCOUNT_HIGH),
        (2, 1, S.REFCOUNT_LOW),
        (65535, 1, S.REFCOUNT_LOW),
        (1, 0, S.COUNTED_FREE),
        (65535, 0, S.COUNTED_FREE),
        # More than the array of computed counts can hold must not wrap to equality.
        (1, 65537, S.REFCOUNT_HIGH),
    ],
)
def test_both_counts_of_a_cluster_in_use(computed: int, stored: int, state: S) -> None:
    assert judged([Role.DATA], [computed], [stored]) == [state]


@pytest.mark.parametrize(
    ("stored", "state"), [(0, S.FREE), (1, S.LEAKED), ((1 << 64) - 1, S.LEAKED)]
)
def test_both_counts_of_a_cluster_that_nothing_uses(stored: int, state: S) -> None:
    assert judged([Role.FREE], [0], [stored]) == [state]


def test_without_refcounts_the_roles_alone_are_told() -> None:
    assert judged([Role.DATA, Role.FREE], [7, 0], None) == [S.DATA, S.FREE]


@given(
    st.lists(st.tuples(st.sampled_from(Role), st.integers(0, 5), st.integers(0, 5)), max_size=40),
    st.sampled_from([1, 3, 65535]),
)
def test_runs_are_judged_as_each_cluster_alone(
    clusters: list[tuple[Role, int, int]], refcount_max: int
) -> None:
    roles = [role for role, _, _ in clusters]
    computed = [count for _, count, _ in clusters]
    stored = [min(count, refcount_max) for _, _, count in clusters]
    expected = []
    for role, references, refcount in zip(roles, computed, stored, strict=True):
        wanted = min(references, refcount_max)
        if refcount > wanted:
            expected.append(S.REFCOUNT_HIGH if wanted else S.LEAKED)
        elif refcount < wanted:
            expected.append(S.REFCOUNT_LOW if refcount else S.COUNTED_FREE)
        else:
            expected.extend(judged([role], [references], None))
    assert judged(roles, computed, stored, refcount_max=refcount_max) == expected


def test_a_refcount_can_hold_no_more_than_its_maximum() -> None:
    roles = [Role.DATA] * 3
    assert judged(roles, [3, 4, 3], [3, 3, 2], refcount_max=3) == [S.DATA, S.DATA, S.REFCOUNT_LOW]


# ------------------------------------------------------------------------------------ images


def test_a_small_image() -> None:
    healthy = [S.HEADER, S.REFCOUNT_TABLE, S.REFCOUNT_BLOCK, S.ACTIVE_L1, S.ACTIVE_L2, S.DATA]
    assert states(b0()) == healthy
    for first in range(7):
        for last in range(first, 7):
            assert states(b0(), first, last) == healthy[first:last]
    assert states(b0(), 4, 9) == [S.ACTIVE_L2, S.DATA, S.OUTSIDE, S.OUTSIDE, S.OUTSIDE]
    assert states(b0(), 8, 9) == [S.OUTSIDE]


def test_the_rich_image_has_every_healthy_state_but_one() -> None:
    missing = {state for state in ClusterState if not state.is_fault} - set(states(rich()))
    assert missing == {S.OUTSIDE, S.ENCRYPTION_HEADER}
    assert not any(state.is_fault for state in states(rich()))


def test_each_structure_is_where_the_builder_put_it() -> None:
    image = rich()
    layout, found = image.layout, states(image)
    for span, state in (
        (layout.refcount_table, S.REFCOUNT_TABLE),
        (layout.refcount_blocks[0], S.REFCOUNT_BLOCK),
        (layout.l1, S.ACTIVE_L1),
        (layout.l2[0], S.ACTIVE_L2),
        (layout.snapshot_table, S.SNAPSHOT_TABLE),
        (layout.bitmap_tables[0], S.BITMAP_METADATA),
        (layout.payloads[8], S.COMPRESSED),
    ):
        assert span is not None
        assert found[span.offset >> layout.cluster_bits] is state


def test_an_encryption_header() -> None:
    builder = b0_builder()
    builder.luks()
    assert S.ENCRYPTION_HEADER in states(builder.build())


def test_wrong_refcounts() -> None:
    image = b0()
    assert changes(image, set_refcount(image, 5, 0)) == {5: S.COUNTED_FREE}
    assert changes(image, set_refcount(image, 5, 7)) == {5: S.REFCOUNT_HIGH}
    twice = set_l2_entry(image, 1, get_l2_entry(image, 0))
    assert changes(image, twice) == {5: S.REFCOUNT_LOW}
    assert changes(image, set_l2_entry(image, 0, 0)) == {5: S.LEAKED}


def test_a_leak_and_a_gap() -> None:
    builder = b0_builder()
    builder.leak(2)
    builder.gap(3)
    builder.write(builder.cluster_bytes, b"x")
    tail = states(builder.build())[5:]
    assert tail == [S.DATA, S.LEAKED, S.LEAKED, S.FREE, S.FREE, S.FREE, S.DATA]


def test_without_refcounts_leaks_look_free() -> None:
    image = set_l2_entry(b0(), 0, 0)
    assert states(image, 5)[0] is S.LEAKED
    assert states(image, 5, with_refcounts=False)[0] is S.FREE


def test_data_on_metadata_is_contested() -> None:
    image = b0()
    damaged = set_l2_entry(image, 0, 1 << 63 | image.layout.l1.offset)
    assert changes(image, damaged) == {3: S.CONTESTED, 5: S.LEAKED}
    assert states(damaged, 3, 5) == [S.CONTESTED, S.ACTIVE_L2]
    assert states(damaged, 4, 6) == [S.ACTIVE_L2, S.LEAKED]


def test_refcounts_that_can_not_be_read_are_not_judged() -> None:
    image = b0()
    entry = image.layout.refcount_table.offset
    block = image.layout.refcount_blocks[0].offset
    unaligned = set_integer(image, entry, 8, block | 0x200)
    assert not any(state.is_fault for state in states(unaligned))
    # Without any block, however, all are zero.
    lost = states(set_integer(image, entry, 8, 0))
    assert lost == [*[S.COUNTED_FREE] * 2, S.FREE, *[S.COUNTED_FREE] * 3]


def test_a_cluster_just_behind_the_end_of_the_file() -> None:
    builder = b0_builder()
    builder.write_compressed(1, text(builder.cluster_bytes), extra_sectors=100)
    image = builder.build()
    assert states(image, 5) == [S.DATA, S.COMPRESSED, S.COMPRESSED]
    # The descriptor claims sectors of a cluster that begins where the file ends; QEMU counts it.
    cut = truncate_at(image, 7 * builder.cluster_bytes)
    assert states(cut, 5) == [S.DATA, S.COMPRESSED, S.BEYOND_EOF]
    assert states(truncate_at(image, 7 * builder.cluster_bytes - 1), 5) == states(cut, 5)
    assert states(truncate_at(image, 7 * builder.cluster_bytes + 1), 5) == states(image, 5)


def test_too_many_clusters_are_asked_for_by_range() -> None:
    with pytest.raises(ValueError, match="use a range"):
        states(b0(), 0, MAX_CELLS + 1)


def test_the_work_can_be_stopped() -> None:
    source = BytesSource(b0().to_bytes(), "image.qcow2")
    ownership = build(source, inspect_source(source))
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        states_of(ownership, None, file_bytes=source.size_bytes, token=token)


# ------------------------------------------------------------------------------------ meanings


def test_what_is_wrong_outranks_what_is_not() -> None:
    faults = {state for state in ClusterState if state.is_fault}
    assert faults == {
        S.LEAKED,
        S.REFCOUNT_HIGH,
        S.REFCOUNT_LOW,
        S.COUNTED_FREE,
        S.BEYOND_EOF,
        S.CONTESTED,
    }
    assert min(faults) > max(set(ClusterState) - faults)


def test_metadata_outranks_data() -> None:
    data = {S.DATA, S.ZERO_ALLOC, S.COMPRESSED, S.SNAPSHOT_DATA}
    assert max(data) < min(S.ACTIVE_L1, S.ACTIVE_L2, S.HEADER, S.REFCOUNT_BLOCK, S.SNAPSHOT_L1)


def test_every_state_is_described_by_a_sentence_of_its_own() -> None:
    assert list(DESCRIPTIONS) == list(ClusterState)
    names = [description.name for description in DESCRIPTIONS.values()]
    meanings = [description.meaning for description in DESCRIPTIONS.values()]
    assert len(set(names)) == len(set(meanings)) == len(ClusterState)
    assert all(meaning.endswith(".") for meaning in meanings)


# ------------------------------------------------------------------------------------ how much


@given(
    st.binary(max_size=60),
    st.integers(0, 40),
    st.integers(0, 100 * 512),
)
def test_the_tally_is_that_of_counting_one_by_one(content: bytes, first: int, end: int) -> None:
    expected: dict[int, Tally] = {}
    for index, state in enumerate(content, first):
        so_far = expected.get(state, Tally(0, 0))
        inside = max(0, min(512, end - index * 512))
        expected[state] = Tally(so_far.clusters + 1, so_far.bytes + inside)
    found = tally(np.frombuffer(content, dtype=np.uint8), 512, end, first)
    assert found == dict(sorted(expected.items()))
    assert list(found) == sorted(found)


def test_a_tally_of_millions() -> None:
    cells = np.full(5 << 20, S.DATA, dtype=np.uint8)
    cells[3 << 20] = S.LEAKED
    assert tally(cells, 1 << 21, 1 << 60) == {
        S.DATA: Tally((5 << 20) - 1, ((5 << 20) - 1) << 21),
        S.LEAKED: Tally(1, 1 << 21),
    }
