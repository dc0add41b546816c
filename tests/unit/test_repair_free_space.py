"""Where new metadata goes, and where it must not."""

from __future__ import annotations

import pytest

from qcowgui.check.ownership import build
from qcowgui.image.inspect import inspect_source
from qcowgui.image.source import BytesSource
from qcowgui.repair.free_space import DanglingReferences, FreeSpace, NoSpaceError
from tests.support.base_images import b0, b0_builder, s0, s0_builder
from tests.support.built import BuiltImage
from tests.support.damage import set_l1_entry, set_l2_entry, truncate_at
from tests.support.guest import ALL_SUBCLUSTERS

COPIED = 1 << 63


def space_of(image: BuiltImage) -> tuple[FreeSpace, DanglingReferences]:
    source = BytesSource(image.to_bytes())
    report = inspect_source(source)
    geometry = report.header.geometry
    assert geometry is not None
    dangling = DanglingReferences(geometry, source.size_bytes, report.virtual_bytes)
    ownership = build(source, report, on_l1=dangling.on_l1, on_l2=dangling.on_l2)
    dangling.look_at_regions(ownership)
    space = FreeSpace(source, ownership, geometry.cluster_bits, dangling.first_offset)
    return space, dangling


def test_clusters_are_appended_behind_the_last_one() -> None:
    image = s0()
    space, dangling = space_of(image)
    end = len(image.file) // 512
    assert dangling.first_offset is None
    assert [space.take(1), space.take(3), space.take(1)] == [end, end + 1, end + 4]
    assert space.appended == 5
    assert space.new_file_bytes == (end + 5) * 512


def test_nothing_taken_leaves_the_length_as_it_is() -> None:
    image = b0().resized(0x60000 - 1000)
    space, _ = space_of(image)
    assert space.new_file_bytes == 0x60000 - 1000


def test_a_table_cut_in_its_last_entries_is_no_reason_to_grow_over_it() -> None:
    """QEMU's own images may end with a short L1: what is missing are no entries."""
    builder = s0_builder()
    image = builder.build()
    space, dangling = space_of(truncate_at(image, len(image.file) - 100))
    # The last cluster is a data cluster here: growing would make up its last 100 bytes.
    assert dangling.first_offset == len(image.file) - 100
    with pytest.raises(NoSpaceError, match="surely free"):
        space.take(1)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        (COPIED | 0x60000, 0x60000),
        (COPIED | 0x80000, 0x80000),
        (COPIED | 0x60001, 0x60000),
    ],
)
def test_an_entry_that_names_a_cluster_behind_the_end_is_found(word: int, expected: int) -> None:
    _, dangling = space_of(set_l2_entry(b0(), 3, word))
    assert dangling.first_offset == expected


def test_an_l2_table_behind_the_end_is_found() -> None:
    builder = b0_builder(size=1 << 30)
    _, dangling = space_of(set_l1_entry(builder.build(), 1, COPIED | 0x70000))
    assert dangling.first_offset == 0x70000


def test_appending_stops_before_what_an_entry_names() -> None:
    space, _ = space_of(set_l2_entry(b0(), 3, COPIED | 0x80000))
    assert [space.take(1), space.take(1)] == [6, 7]
    with pytest.raises(NoSpaceError):
        space.take(1)


def test_a_cluster_of_zeros_inside_the_file_is_used_then() -> None:
    builder = b0_builder()
    builder.gap(3)
    builder.write(1 << 20, b"\1" * 65536)
    image = builder.build()
    end = len(image.file)
    image = set_l2_entry(image, 3, COPIED | end)
    space, _ = space_of(image)
    first = space.take(2)
    assert image.read(first << 16, 2 << 16) == bytes(2 << 16)
    assert space.take(1) not in range(first, first + 2)
    assert space.appended == 0
    assert space.new_file_bytes == end
    with pytest.raises(NoSpaceError):
        space.take(1)


def test_unowned_clusters_with_content_are_never_taken() -> None:
    builder = b0_builder()
    builder.leak(2)
    builder.write(1 << 20, b"\1" * 65536)
    image = builder.build()
    free = [
        cluster
        for cluster in range(6, len(image.file) >> 16)
        if image.read(cluster << 16, 65536) == bytes(65536)
    ]
    for cluster in free:
        image = image.edited(cluster << 16, b"lost data")
    space, _ = space_of(set_l2_entry(image, 3, COPIED | len(image.file)))
    with pytest.raises(NoSpaceError):
        space.take(1)


def test_the_last_sector_of_a_payload_may_be_cut() -> None:
    builder = s0_builder()
    builder.write_compressed(3, b"x" * 512)
    image = builder.build()
    space, dangling = space_of(image)
    assert dangling.first_offset is None
    assert space.take(1) == -(-len(image.file) // 512)


def test_a_reserved_zero_cluster_behind_the_end_keeps_its_place() -> None:
    _, dangling = space_of(set_l2_entry(b0(), 3, COPIED | 0x60000 | 1))
    assert dangling.first_offset == 0x60000


def test_subclusters_without_data_need_no_bytes_of_their_cluster() -> None:
    builder = b0_builder(extended_l2=True)
    image = builder.build()
    cut = truncate_at(image, len(image.file) - 512)
    word = COPIED | image.layout.data[0].offset
    cut = set_l2_entry(cut, 0, word, ALL_SUBCLUSTERS << 32)
    _, dangling = space_of(cut)
    assert dangling.first_offset is None
