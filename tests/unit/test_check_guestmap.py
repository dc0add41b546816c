"""The state of each guest cluster, against what the builder was told to write."""

from __future__ import annotations

import pytest

from qcowgui.check.cells import MAX_CELLS
from qcowgui.check.guestmap import DESCRIPTIONS, GuestState, guest_states
from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled
from qcowgui.format.geometry import Geometry
from qcowgui.image.mapping import GuestMapping
from qcowgui.image.source import BytesSource
from tests.support.base_images import b0_builder, pattern, text
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.damage import set_l1_entry, set_l2_entry, truncate_at
from tests.support.options import KIB

CLUSTER = 64 * KIB
COPIED = 1 << 63
STATES = [
    GuestState.DATA,
    GuestState.COMPRESSED,
    GuestState.ZERO,
    GuestState.ZERO_ALLOC,
    GuestState.UNALLOCATED,
    GuestState.UNALLOCATED,
]


def mapping_of(image: BuiltImage) -> GuestMapping:
    layout = image.layout
    return GuestMapping(
        BytesSource(image.to_bytes(), "image.qcow2"),
        Geometry(layout.cluster_bits, extended_l2=layout.extended_l2),
        version=layout.version,
        l1_table_offset=layout.l1.offset,
        l1_size=layout.l1.length // 8,
        virtual_bytes=image.disk.size,
        has_data_file=image.data_file_name is not None,
    )


def states(
    image: BuiltImage,
    first: int = 0,
    last: int | None = None,
    *,
    data_bytes: int | None = None,
    backing_bytes: int = 0,
) -> list[GuestState]:
    mapping = mapping_of(image)
    end = mapping.geometry.clusters(image.disk.size) if last is None else last
    cells = guest_states(
        mapping,
        first,
        end,
        data_bytes=len(image.file) if data_bytes is None else data_bytes,
        backing_bytes=backing_bytes,
    )
    return [GuestState(cell) for cell in cells.tolist()]


def mixed_builder() -> ImageBuilder:
    builder = b0_builder(size=6 * CLUSTER)
    builder.write_compressed(1, text(CLUSTER))
    builder.zero(2)
    builder.zero(3, allocated=True)
    return builder


def test_every_healthy_state() -> None:
    assert states(mixed_builder().build()) == STATES


def test_a_range_is_a_part_of_the_whole() -> None:
    image = mixed_builder().build()
    for first in range(7):
        for last in range(first, 7):
            assert states(image, first, last) == STATES[first:last]


def test_behind_the_end_of_the_disk_there_is_nothing() -> None:
    image = mixed_builder().build()
    assert states(image, 5, 9) == [GuestState.UNALLOCATED, *[GuestState.OUTSIDE] * 3]
    assert states(image, 7, 9) == [GuestState.OUTSIDE] * 2


def test_what_the_backing_file_covers() -> None:
    image = mixed_builder().build()
    backed = [*STATES[:4], GuestState.BACKING, GuestState.BACKING]
    assert states(image, backing_bytes=6 * CLUSTER) == backed
    assert states(image, 3, backing_bytes=1 << 40) == backed[3:]
    # A cluster that the backing file covers in part reads from it, too.
    assert states(image, backing_bytes=4 * CLUSTER + 1) == [*backed[:5], GuestState.UNALLOCATED]
    assert states(image, 5, backing_bytes=4 * CLUSTER) == [GuestState.UNALLOCATED]


def test_subclusters() -> None:
    builder = ImageBuilder(extended_l2=True, size=4 * CLUSTER)
    builder.subclusters(0, alloc_mask=1, data=pattern(CLUSTER))
    builder.subclusters(1, alloc_mask=0, zero_mask=2, allocated=False)
    builder.zero(2)
    image = builder.build()
    expected = [GuestState.MIXED, GuestState.MIXED, GuestState.ZERO, GuestState.UNALLOCATED]
    assert states(image) == expected
    # The second has no host cluster: nothing of it can be beyond the end.
    assert states(image, data_bytes=CLUSTER) == [GuestState.BEYOND_EOF, *expected[1:]]


def test_a_file_that_is_cut_short() -> None:
    image = mixed_builder().build()
    data_end = image.layout.data[0].offset + CLUSTER
    payload = image.layout.payloads[1]
    for length, expected in (
        (data_end - 1, [GuestState.BEYOND_EOF, GuestState.BEYOND_EOF]),
        (data_end, [GuestState.DATA, GuestState.BEYOND_EOF]),
        (payload.offset + payload.length, [GuestState.DATA, GuestState.COMPRESSED]),
    ):
        assert states(truncate_at(image, length)) == expected + STATES[2:]


def test_the_disks_last_cluster_need_not_be_whole() -> None:
    builder = ImageBuilder(size=CLUSTER + 512, short_last_cluster=True)
    builder.write(0, pattern(CLUSTER + 512))
    image = builder.build()
    last = image.layout.data[1].offset
    assert states(image, data_bytes=last + 512) == [GuestState.DATA] * 2
    assert states(image, data_bytes=last + 511) == [GuestState.DATA, GuestState.BEYOND_EOF]


def test_a_data_file_of_unknown_length() -> None:
    builder = ImageBuilder(size=2 * CLUSTER, data_file="disk.data")
    builder.write(0, pattern(2 * CLUSTER))
    image = builder.build()
    mapping = mapping_of(image)
    assert guest_states(mapping, 0, 2, data_bytes=None).tolist() == [GuestState.DATA] * 2
    assert states(image, data_bytes=CLUSTER) == [GuestState.DATA, GuestState.BEYOND_EOF]


def test_entries_that_contradict_the_format() -> None:
    image = mixed_builder().build()
    unaligned = set_l2_entry(image, 0, COPIED | image.layout.data[0].offset | 512)
    assert states(unaligned) == [GuestState.INVALID, *STATES[1:]]


def test_tables_that_are_gone() -> None:
    image = b0_builder(cluster_bits=9, size=128 * KIB).build()
    assert image.layout.l1.length == 32
    lost = set_l1_entry(image, 2, COPIED | 1 << 40)
    found = states(lost)
    assert found[:1] == [GuestState.DATA]
    assert found[1:128] == [GuestState.UNALLOCATED] * 127
    assert found[128:192] == [GuestState.MISSING] * 64
    assert found[192:] == [GuestState.UNALLOCATED] * 64
    cut = truncate_at(image, image.layout.l1.offset + 16)
    assert set(states(cut)[128:]) == {GuestState.MISSING}


def test_what_is_wrong_outranks_what_is_not() -> None:
    faults = {state for state in GuestState if state.is_fault}
    assert faults == {GuestState.BEYOND_EOF, GuestState.MISSING, GuestState.INVALID}
    assert min(faults) > max(set(GuestState) - faults)


def test_every_state_is_described_by_a_sentence_of_its_own() -> None:
    assert list(DESCRIPTIONS) == list(GuestState)
    meanings = [description.meaning for description in DESCRIPTIONS.values()]
    assert len(set(meanings)) == len(meanings)
    assert all(meaning.endswith(".") for meaning in meanings)


def test_a_huge_disk_is_asked_for_by_range() -> None:
    image = ImageBuilder(size=1 << 45).build()
    mapping = mapping_of(image)
    with pytest.raises(ValueError, match="use a range"):
        guest_states(mapping, 0, MAX_CELLS + 1, data_bytes=None)
    last = (1 << 45) // CLUSTER
    assert guest_states(mapping, last - 1, last + 1, data_bytes=None).tolist() == [1, 0]


def test_the_work_can_be_stopped() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        guest_states(mapping_of(mixed_builder().build()), 0, 6, data_bytes=None, token=token)
