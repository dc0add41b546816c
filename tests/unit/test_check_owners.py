from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from qcowgui.check.l1_tables import ACTIVE
from qcowgui.check.owners import MAX_OWNERS, Owner, owners_of
from qcowgui.check.ownership import build
from qcowgui.check.roles import Role
from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled
from qcowgui.image.inspect import inspect_source
from qcowgui.image.source import BytesSource
from tests.support.base_images import b0, pattern, rich, text
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.check_damages.geometries import GEOMETRIES
from tests.support.damage import get_l2_entry, set_field, set_l2_entry
from tests.support.options import MIB
from tests.support.strategies import ImageCase, image_cases

COPIED = 1 << 63


def owners(image: BuiltImage, *clusters: int) -> dict[int, list[Owner]]:
    source = BytesSource(image.to_bytes())
    return owners_of(source, inspect_source(source), clusters)


def check_all(image: BuiltImage) -> None:
    """Every cluster has as many owners as references, and one of them has its role."""
    source = BytesSource(image.to_bytes())
    report = inspect_source(source)
    ownership = build(source, report)
    found = owners_of(source, report, range(ownership.clusters))
    for cluster, listed in found.items():
        references = sum(1 + owner.others for owner in listed)
        if len(listed) < MAX_OWNERS:
            assert references == int(ownership.computed[cluster]), (cluster, listed)
        role = Role(int(ownership.roles[cluster]))
        roles = {owner.role for owner in listed}
        if role == Role.SNAPSHOT_DATA:
            assert roles <= {Role.DATA, Role.COMPRESSED, Role.ZERO_ALLOC}
        elif role == Role.FREE:
            assert not roles
        else:
            assert role in roles


@pytest.mark.parametrize("name", sorted(GEOMETRIES))
def test_as_many_owners_as_references(name: str) -> None:
    check_all(GEOMETRIES[name].image())


def test_as_many_owners_as_references_in_the_rich_image() -> None:
    check_all(rich())


@settings(
    max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
@given(image_cases())
def test_as_many_owners_as_references_in_any_image(case: ImageCase) -> None:
    check_all(case.build())


def test_metadata_of_b0() -> None:
    image = b0()
    found = owners(image, 0, 1, 2, 3, 4, 5, 6)
    assert {cluster: [str(owner) for owner in listed] for cluster, listed in found.items()} == {
        0: ["the header"],
        1: ["the refcount table"],
        2: ["refcount block 0"],
        3: ["the L1 table"],
        4: ["the L2 table of L1[0]"],
        5: ["guest 0x0 by L1[0]/L2[0]"],
        6: [],
    }
    places = [listed[0].host_offset for cluster, listed in found.items() if cluster < 6]
    assert places == [None, 48, 0x10000, 40, 0x30000, 0x40000]


def test_an_owner_says_all_that_is_known() -> None:
    image = rich()
    cluster = image.layout.data[2].offset // 4096
    (owner,) = owners(image, cluster)[cluster]
    assert owner == Owner(Role.DATA, ACTIVE, 0, 2, 8192, image.layout.l2_entry_offset(2))


def test_snapshots_are_named() -> None:
    image = rich()
    first, _ = image.layout.snapshot_l1
    (owner,) = owners(image, first.offset // 4096)[first.offset // 4096]
    assert str(owner) == "the L1 table of snapshot 0"
    assert owner.host_offset == image.layout.snapshot_entries[0].offset
    cluster = image.layout.data[0].offset // 4096
    texts = [str(owner) for owner in owners(image, cluster)[cluster]]
    assert texts == [
        "guest 0x0 by L1[0]/L2[0]",
        "guest 0x0 by L1[0]/L2[0] of snapshot 0",
        "guest 0x0 by L1[0]/L2[0] of snapshot 1",
    ]


def test_bitmaps_are_named() -> None:
    image = rich()
    span = image.layout.bitmap_data[1, 0]
    (owner,) = owners(image, span.offset // 4096)[span.offset // 4096]
    assert str(owner) == "the bits of bitmap 1"
    assert owner.host_offset == image.layout.bitmap_tables[1].offset


def test_kinds_of_guest_clusters() -> None:
    builder = ImageBuilder(size=MIB)
    builder.zero(0, allocated=True)
    builder.write_compressed(1, text(60000))
    image = builder.build()
    zero = image.layout.data[0].offset // 65536
    payload = image.layout.payloads[1].offset // 65536
    found = owners(image, zero, payload)
    assert str(found[zero][0]) == "guest 0x0 (zero) by L1[0]/L2[0]"
    assert str(found[payload][0]) == "guest 0x1_0000 (compressed) by L1[0]/L2[1]"


def test_a_table_of_several_disks_tells_of_the_others() -> None:
    builder = ImageBuilder(size=MIB)
    builder.write(0, pattern(65536))
    builder.snapshot("one")
    builder.snapshot("two")
    image = builder.build()
    cluster = image.layout.data[0].offset // 65536
    (owner,) = owners(image, cluster)[cluster]
    assert owner.others == 2
    assert str(owner) == "guest 0x0 by L1[0]/L2[0] (and 2 more of its kind)"


def test_an_unaligned_cluster_touches_two() -> None:
    image = b0()
    damaged = set_l2_entry(image, 0, get_l2_entry(image, 0) - 512)
    for cluster in (4, 5):
        assert "guest 0x0 by L1[0]/L2[0]" in map(str, owners(damaged, cluster)[cluster])


def test_no_more_owners_than_a_reader_wants() -> None:
    image = b0()
    for index in range(1, 100):
        image = set_l2_entry(image, index, get_l2_entry(image, 0))
    listed = owners(image, 5)[5]
    assert len(listed) == MAX_OWNERS
    assert [owner.l2_index for owner in listed] == list(range(MAX_OWNERS))


def test_no_more_tables_than_a_reader_wants() -> None:
    builder = ImageBuilder(cluster_bits=9, size=16 * MIB)
    builder.write(0, pattern(512))
    image = builder.build()
    word = COPIED | image.layout.l2[0].offset
    damaged = image.edited(image.layout.l1.offset, word.to_bytes(8, "big") * 100)
    cluster = image.layout.l2[0].offset // 512
    listed = owners(damaged, cluster)[cluster]
    assert [owner.l1_index for owner in listed] == list(range(MAX_OWNERS))


def test_without_geometry_nobody_owns_anything() -> None:
    assert owners(set_field(b0(), "cluster_bits", 30), 0, 7) == {0: [], 7: []}


def test_the_token_stops_the_search() -> None:
    source = BytesSource(b0().to_bytes())
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        owners_of(source, inspect_source(source), [5], token=token)
