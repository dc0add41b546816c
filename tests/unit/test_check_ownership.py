from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qcowgui.check.ownership import MAX_CLUSTERS, Ownership, build
from qcowgui.check.reference_counts import PART_CLUSTERS, ReferenceCounts
from qcowgui.check.roles import (
    DATA_ROLES,
    EXCLUSIVE,
    METADATA,
    ROLE_NAMES,
    SNAPSHOT_PAYLOAD_BIT,
    Role,
    conflict_of_uses,
    role_of_uses,
    use_bit,
)
from qcowgui.check.stored import StoredRefcounts
from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled
from qcowgui.image.inspect import inspect_source
from qcowgui.image.source import ByteSource, BytesSource, FileSource
from tests.support.base_images import b0, b0_builder, pattern, rich, s0, text
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.check_damages.geometries import GEOMETRIES
from tests.support.damage import (
    get_l1_entry,
    get_l2_entry,
    get_refcount,
    set_field,
    set_integer,
    set_l1_entry,
    set_l2_entry,
    truncate_at,
)
from tests.support.filled import write_filled_image
from tests.support.layout import Span
from tests.support.options import GIB, MIB
from tests.support.strategies import ImageCase, image_cases

COPIED = 1 << 63


def ownership_of(image: BuiltImage) -> Ownership:
    return owned(BytesSource(image.to_bytes()))


def owned(source: ByteSource) -> Ownership:
    return build(source, inspect_source(source))


def stored_counts(image: BuiltImage, clusters: int) -> list[int]:
    """What the image says of its clusters; the builder counts references on its own."""
    per_block = image.layout.cluster_bytes * 8 >> image.layout.refcount_order
    return [
        get_refcount(image, cluster) if cluster // per_block in image.layout.refcount_blocks else 0
        for cluster in range(clusters)
    ]


def clusters_of(span: Span | None, image: BuiltImage) -> list[int]:
    if span is None or not span.length:
        return []
    bits = image.layout.cluster_bits
    return list(range(span.offset >> bits, (span.end - 1 >> bits) + 1))


# The sets of uses


def test_every_role_is_one_thing() -> None:
    assert METADATA.isdisjoint(DATA_ROLES)
    assert METADATA | DATA_ROLES | {Role.FREE} == frozenset(Role)
    assert EXCLUSIVE < METADATA
    assert set(ROLE_NAMES) == set(Role)
    bits = [use_bit(role) for role in Role if role > Role.HEADER]
    assert len({*bits, SNAPSHOT_PAYLOAD_BIT}) == len(bits) + 1
    assert sum(bits) + SNAPSHOT_PAYLOAD_BIT == 0xFFFF


@pytest.mark.parametrize("role", [role for role in Role if role > Role.HEADER])
def test_a_single_use_is_its_role_and_no_conflict(role: Role) -> None:
    assert role_of_uses()[use_bit(role)] == role
    assert not conflict_of_uses()[use_bit(role)]


@given(st.sets(st.sampled_from([role for role in Role if role > Role.HEADER]), min_size=1))
def test_the_smallest_role_wins(roles: set[Role]) -> None:
    assert role_of_uses()[sum(map(use_bit, roles))] == min(roles)


@given(st.sets(st.sampled_from([role for role in Role if role > Role.HEADER]), min_size=1))
def test_uses_that_exclude_each_other(roles: set[Role]) -> None:
    metadata = roles & METADATA
    whole = roles & {Role.DATA, Role.ZERO_ALLOC, Role.SNAPSHOT_DATA}
    tables = {Role.ACTIVE_L2, Role.SNAPSHOT_L2}
    expected = (
        (len(metadata) > 1 and metadata != tables)
        or bool(metadata and roles & DATA_ROLES)
        or bool(whole and Role.COMPRESSED in roles)
    )
    assert conflict_of_uses()[sum(map(use_bit, roles))] == expected


def test_payloads_of_snapshots_go_with_payloads_only() -> None:
    table = conflict_of_uses()
    assert role_of_uses()[SNAPSHOT_PAYLOAD_BIT] == Role.SNAPSHOT_DATA
    assert not table[SNAPSHOT_PAYLOAD_BIT | use_bit(Role.COMPRESSED)]
    assert table[SNAPSHOT_PAYLOAD_BIT | use_bit(Role.SNAPSHOT_DATA)]
    assert table[SNAPSHOT_PAYLOAD_BIT | use_bit(Role.ACTIVE_L2)]


# Counting


@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(0, 3 * PART_CLUSTERS - 1), max_size=6),
            st.sampled_from([1, 3, 4, 12]),
            st.sampled_from([1, 1, 2, 40_000, 70_000]),
        ),
        max_size=8,
    ),
    st.booleans(),
)
def test_counting_is_that_of_a_loop(steps: list[tuple[list[int], int, int]], dense: bool) -> None:
    counts = ReferenceCounts(3 * PART_CLUSTERS)
    expected = np.zeros(3 * PART_CLUSTERS, dtype=np.int64)
    uses = np.zeros(3 * PART_CLUSTERS, dtype=np.uint16)
    for clusters, bits, weight in steps:
        near = [PART_CLUSTERS + cluster % 7 for cluster in clusters] if dense else clusters
        counts.add_each(np.array(near, dtype=np.int64), bits, weight)
        for cluster in near:
            expected[cluster] += weight
            uses[cluster] |= bits
    assert (counts.counts == expected).all()
    assert (counts.uses == uses).all()
    (used,) = np.nonzero(expected)
    assert counts.referenced_end == (int(used[-1]) + 1 if len(used) else 0)
    inside = {c for first, last in counts.iter_parts() for c in range(first, last)}
    assert inside.issuperset(used.tolist())


@given(st.integers(0, 200), st.integers(0, 200), st.sampled_from([1, 65_535, 65_536]))
def test_a_run_is_each_of_its_clusters(first: int, last: int, weight: int) -> None:
    run, each = ReferenceCounts(200), ReferenceCounts(200)
    for _ in range(2):
        run.add_run(first, last, 5, weight)
        each.add_each(np.arange(first, max(first, last)), 5, weight)
    assert (run.counts == each.counts).all()
    assert (run.uses == each.uses).all()
    assert run.referenced_end == each.referenced_end


@pytest.mark.parametrize("way", ["run", "dense", "scattered"])
def test_counters_saturate(way: str) -> None:
    counts = ReferenceCounts(100_000)
    clusters = np.array([5, 90_000 if way == "scattered" else 6, 5])
    for _ in range(3):
        if way == "run":
            counts.add_run(5, 7, 0, (1 << 31) - 1)
        else:
            counts.add_each(clusters, 0, (1 << 31) - 1)
    assert counts.counts.dtype == np.uint32
    assert int(counts.counts[5]) == (1 << 32) - 1
    assert int(counts.counts[4]) == 0


def test_the_parts_of_a_range() -> None:
    counts = ReferenceCounts(5 * PART_CLUSTERS)
    counts.add_run(PART_CLUSTERS + 7, PART_CLUSTERS + 8, 1)
    counts.add_run(4 * PART_CLUSTERS, 4 * PART_CLUSTERS + 1, 1)
    assert list(counts.iter_parts()) == [
        (PART_CLUSTERS, 2 * PART_CLUSTERS),
        (4 * PART_CLUSTERS, 5 * PART_CLUSTERS),
    ]
    assert list(counts.iter_parts(PART_CLUSTERS + 3, 4 * PART_CLUSTERS + 2)) == [
        (PART_CLUSTERS + 3, 2 * PART_CLUSTERS),
        (4 * PART_CLUSTERS, 4 * PART_CLUSTERS + 2),
    ]
    assert list(counts.iter_parts(3, 3)) == []


# Sound images


@pytest.mark.parametrize("name", sorted(GEOMETRIES))
def test_computed_references_are_the_stored_ones(name: str) -> None:
    image = GEOMETRIES[name].image()
    ownership = ownership_of(image)
    assert ownership.complete
    assert ownership.computed.tolist() == stored_counts(image, ownership.clusters)
    assert not len(ownership.conflicts)
    assert not len(ownership.shared)
    assert not ownership.regions_beyond


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(image_cases())
def test_no_built_image_has_conflicts(case: ImageCase) -> None:
    image = case.build()
    ownership = ownership_of(image)
    counts = stored_counts(image, ownership.clusters)
    leaked = {cluster for span in image.layout.leaks for cluster in clusters_of(span, image)}
    expected = [0 if cluster in leaked else count for cluster, count in enumerate(counts)]
    assert ownership.computed.tolist() == expected
    assert not len(ownership.conflicts)


@pytest.mark.parametrize("name", ["snapshots-64k", "bitmap-512", "luks-64k", "extended-16k"])
def test_roles_are_those_of_the_layout(name: str) -> None:
    image = GEOMETRIES[name].image()
    layout = image.layout
    ownership = ownership_of(image)
    roles = [Role(role) for role in ownership.roles]
    expected: dict[int, Role] = {0: Role.HEADER}
    for spans, role in (
        (layout.bitmap_data.values(), Role.BITMAP_DATA),
        (layout.bitmap_tables, Role.BITMAP_TABLE),
        ([layout.bitmap_directory], Role.BITMAP_DIRECTORY),
        ([layout.snapshot_table], Role.SNAPSHOT_TABLE),
        ([layout.luks], Role.ENCRYPTION_HEADER),
        (layout.refcount_blocks.values(), Role.REFCOUNT_BLOCK),
        ([layout.refcount_table], Role.REFCOUNT_TABLE),
        (layout.snapshot_l2.values(), Role.SNAPSHOT_L2),
        (layout.snapshot_l1, Role.SNAPSHOT_L1),
        (layout.l2.values(), Role.ACTIVE_L2),
        ([layout.l1], Role.ACTIVE_L1),
    ):
        for span in spans:
            expected |= dict.fromkeys(clusters_of(span, image), role)
    for cluster, role in expected.items():
        assert roles[cluster] == role
    for index, span in layout.data.items():
        zero = not layout.extended_l2 and get_l2_entry(image, index) & 1
        (cluster,) = clusters_of(span, image)
        if not layout.extended_l2:
            assert roles[cluster] == (Role.ZERO_ALLOC if zero else Role.DATA)
    assert ownership.role_clusters() == {role: roles.count(role) for role in Role if role in roles}


def test_the_run_of_a_full_table_and_its_entries_count_alike(tmp_path: Path) -> None:
    straight = write_filled_image(tmp_path / "straight", 8 * MIB, cluster_bits=9)
    shuffled = write_filled_image(tmp_path / "shuffled", 8 * MIB, cluster_bits=9, shuffled=True)
    with FileSource(straight) as first, FileSource(shuffled) as second:
        one, other = owned(first), owned(second)
    assert (one.computed == 1).all()
    assert (one.computed == other.computed).all()
    assert (one.roles == other.roles).all()
    assert one.role_clusters() == other.role_clusters()


def test_data_in_a_data_file_is_nobodys_here() -> None:
    image = GEOMETRIES["data-file-64k"].image()
    assert Role.DATA not in ownership_of(image).role_clusters()


def test_bitmaps_without_the_autoclear_bit_have_no_references() -> None:
    image = set_field(GEOMETRIES["bitmap-64k"].image(), "autoclear_features", 0)
    roles = ownership_of(image).role_clusters()
    assert not {Role.BITMAP_DIRECTORY, Role.BITMAP_TABLE, Role.BITMAP_DATA} & set(roles)


def test_the_tables_are_handed_on() -> None:
    source = BytesSource(rich().to_bytes())
    l1_offsets: list[int] = []
    l2_offsets: list[int] = []
    ticks: list[None] = []
    build(
        source,
        inspect_source(source),
        on_l1=lambda l1: l1_offsets.append(l1.host_offset),
        on_l2=lambda table, _: l2_offsets.extend(table.host_offsets.tolist()),
        tick=lambda: ticks.append(None),
    )
    layout = rich().layout
    assert l1_offsets == [span.offset for span in (layout.l1, *layout.snapshot_l1)]
    tables = {span.offset for span in (*layout.l2.values(), *layout.snapshot_l2.values())}
    assert sorted(l2_offsets) == sorted(tables)
    assert len(ticks) >= len(l1_offsets)


# Broken images


def test_metadata_under_data_is_a_conflict() -> None:
    image = b0()
    block = image.layout.refcount_blocks[0]
    damaged = ownership_of(set_l2_entry(image, 3, COPIED | block.offset))
    assert damaged.conflicts.tolist() == clusters_of(block, image)
    assert Role(int(damaged.roles[damaged.conflicts[0]])) == Role.REFCOUNT_BLOCK
    assert damaged.blocks_shared.tolist() == [0]


def test_a_payload_in_a_data_cluster_is_a_conflict() -> None:
    builder = ImageBuilder(size=MIB)
    builder.write(0, pattern(65536))
    builder.write_compressed(1, text(60000))
    image = builder.build()
    word = get_l2_entry(image, 1)
    onto_data = word & ~((1 << 54) - 1) | image.layout.data[0].offset
    found = ownership_of(set_l2_entry(image, 1, onto_data))
    assert found.conflicts.tolist() == clusters_of(image.layout.data[0], image)


def test_anything_on_the_header_is_a_conflict() -> None:
    builder = ImageBuilder(size=MIB)
    builder.write_compressed(1, text(60000))
    image = builder.build()
    word = get_l2_entry(image, 1) & ~((1 << 54) - 1)
    assert ownership_of(set_l2_entry(image, 1, word)).conflicts.tolist() == [0]


def test_a_table_at_two_addresses_is_a_conflict() -> None:
    image = rich()
    twice = set_l1_entry(image, 1, get_l1_entry(image, 0))
    assert ownership_of(twice).conflicts.tolist() == clusters_of(image.layout.l2[0], image)


def test_shared_data_without_snapshots() -> None:
    builder = b0_builder()
    builder.share(7, 0)
    image = builder.build()
    found = ownership_of(image)
    assert found.shared.tolist() == clusters_of(image.layout.data[0], image)
    assert not len(found.conflicts)


@pytest.mark.parametrize("when", ["before", "after"])
def test_shared_data_with_snapshots(when: str) -> None:
    builder = ImageBuilder(size=4 * MIB)
    builder.write(0, pattern(3 * 65536))
    if when == "before":
        builder.share(7, 0)
    builder.snapshot("one")
    builder.write(65536, pattern(65536, 5))
    if when == "after":
        builder.share(7, 2)
    image = builder.build()
    found = ownership_of(image)
    assert found.shared.tolist() == clusters_of(image.layout.data[7], image)


def test_payloads_may_share_a_cluster() -> None:
    image = GEOMETRIES["v3-64k"].image()
    found = ownership_of(image)
    assert int(found.computed.max()) > 1
    assert not len(found.shared)


@pytest.mark.parametrize("order", [0, 1, 2, 3, 4])
def test_references_above_the_maximum(order: int) -> None:
    most = (1 << (1 << order)) - 1
    times = min(most + 3, 600)
    builder = ImageBuilder(size=64 * MIB, refcount_order=order)
    builder.write(0, pattern(65536))
    image = builder.build()
    word = get_l2_entry(image, 0)
    for index in range(1, times):
        image = set_l2_entry(image, index, word)
    found = ownership_of(image)
    above = [cluster for part in found.iter_above(most) for cluster in part.tolist()]
    if times > most:
        assert above == clusters_of(image.layout.data[0], image)
        assert found.excess_references(most) == times - most
    else:
        assert not above
        assert not found.excess_references(most)


def test_a_region_behind_the_end_is_no_reference() -> None:
    image = rich()
    damaged = set_integer(image, image.layout.snapshot_entries[0].offset, 8, 1 << 40)
    found = ownership_of(damaged)
    assert [region.role for region in found.regions_beyond] == [Role.SNAPSHOT_L1]
    assert found.clusters == ownership_of(image).clusters


def test_the_last_cluster_may_be_cut_short() -> None:
    image = rich()
    whole, cut = ownership_of(image), ownership_of(truncate_at(image, len(image.file) - 1))
    assert (whole.computed == cut.computed).all()


def test_a_reference_may_reach_into_the_cluster_behind_the_last_one() -> None:
    # The last cluster's entry is unaligned; the file is not cut at a cluster's end.
    image = b0()
    last = image.layout.data[0]
    damaged = truncate_at(set_l2_entry(image, 0, COPIED | last.offset + 512), last.end - 1024)
    found = ownership_of(damaged)
    assert found.clusters == len(image.file) // 65536 + 1
    assert found.computed.tolist()[-2:] == [1, 1]


def test_flags_without_a_table_add_what_qemu_adds_but_no_owner() -> None:
    found = ownership_of(set_l1_entry(b0(size=2 * GIB), 1, COPIED))
    assert int(found.computed[0]) > 1
    assert not len(found.conflicts)
    assert Role.COMPRESSED not in found.role_clusters()


def test_all_entries_of_a_block_but_the_first_are_shared() -> None:
    image = rich()
    block = image.layout.refcount_blocks[0].offset
    for index in (1, 5):
        image = set_integer(image, image.layout.refcount_table.offset + 8 * index, 8, block)
    assert ownership_of(image).blocks_shared.tolist() == [1, 5]


def test_a_bitmap_in_use_with_a_bad_table_stops_qemu() -> None:
    builder = b0_builder()
    builder.bitmap("one", flags=1, set_ranges=[(0, MIB)])
    image = builder.build()
    assert not ownership_of(image).bitmaps_refused
    damaged = set_integer(image, image.layout.bitmap_tables[0].offset, 8, 1 << 60)
    assert ownership_of(damaged).bitmaps_refused


def test_bits_behind_the_end_are_no_reference() -> None:
    builder = b0_builder()
    builder.bitmap("one", set_ranges=[(0, MIB)])
    image = builder.build()
    damaged = set_integer(image, image.layout.bitmap_tables[0].offset, 8, 1 << 40)
    assert ownership_of(damaged).bitmap_clusters_beyond == 1


@pytest.mark.parametrize("extra", [0, 1])
def test_too_many_clusters(extra: int, tmp_path: Path) -> None:
    path = s0().write_to(tmp_path / "image")
    with path.open("r+b") as file:
        file.truncate((MAX_CLUSTERS + extra) * 512)
    with FileSource(path) as source:
        found = owned(source)
    assert found.clusters == (0 if extra else MAX_CLUSTERS)
    assert found.complete == (not extra)
    if not extra:
        assert found.computed[:6].tolist() == [1] * 6
        assert found.role_clusters()[Role.FREE] == MAX_CLUSTERS - 6


def test_no_geometry_no_clusters() -> None:
    found = ownership_of(set_field(b0(), "cluster_bits", 30))
    assert not found.clusters
    assert not found.complete
    assert found.role_clusters() == {}


def test_the_token_stops_it() -> None:
    source = BytesSource(b0().to_bytes())
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        build(source, inspect_source(source), token=token)


def test_a_loaded_table_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    source = BytesSource(b0().to_bytes())
    report = inspect_source(source)
    stored = StoredRefcounts(source, report)
    refused: Callable[..., None] = lambda *_: pytest.fail("loaded twice")  # noqa: E731
    monkeypatch.setattr("qcowgui.check.ownership.StoredRefcounts", refused)
    assert build(source, report, stored=stored).complete
