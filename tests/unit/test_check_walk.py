from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from qcowgui.check.l1_tables import ACTIVE, L1Table, MappingOwner, l1_places, load_l1_table
from qcowgui.check.l2_places import L2Places, PlaceCollector
from qcowgui.check.l2_tables import WINDOW_ENTRIES, L2Table, L2TableReader
from qcowgui.check.snapshot_list import load_snapshot_list
from qcowgui.check.walk import iter_distinct_l2_tables, iter_l1_tables, iter_l2_tables
from qcowgui.format import limits
from qcowgui.format.entries import ClusterKind
from qcowgui.format.snapshots import NeedMore, Snapshot, parse_snapshot_entry
from qcowgui.image.inspect import ImageReport, inspect_source
from qcowgui.image.source import BytesSource, FileSource
from tests.support.base_images import b0, pattern, rich, s0
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.check_damages.geometries import GEOMETRIES
from tests.support.damage import get_l1_entry, set_field, set_l1_entry, truncate_at
from tests.support.damages import DAMAGES
from tests.support.filled import write_filled_image
from tests.support.options import GIB, KIB, MIB

COPIED = 1 << 63


def opened(image: BuiltImage) -> tuple[BytesSource, ImageReport]:
    source = BytesSource(image.to_bytes())
    return source, inspect_source(source)


def places_of(image: BuiltImage) -> L2Places:
    source, report = opened(image)
    assert report.header.geometry is not None
    collector = PlaceCollector(report.header.geometry)
    for l1 in iter_l1_tables(source, report):
        collector.add(l1)
    return collector.places()


def test_l1_tables_of_all_disks_the_active_one_first() -> None:
    image = rich()
    tables = list(iter_l1_tables(*opened(image)))
    assert [table.owner for table in tables] == [ACTIVE, MappingOwner(0), MappingOwner(1)]
    spans = [image.layout.l1, *image.layout.snapshot_l1]
    assert [table.host_offset for table in tables] == [span.offset for span in spans]
    for table, span in zip(tables, spans, strict=True):
        assert table.words.tolist() == list(
            struct.unpack(f">{span.length // 8}Q", image.read(span.offset, span.length))
        )
        assert table.entries_missing == 0


@pytest.mark.parametrize(("kept", "missing"), [(16, 0), (9, 1), (8, 1), (7, 2), (0, 2)])
def test_l1_entries_behind_the_end_are_missing(kept: int, missing: int) -> None:
    image = rich()
    cut = truncate_at(image, image.layout.l1.offset + kept)
    table = next(iter_l1_tables(*opened(cut)))
    assert table.entries_missing == missing
    assert len(table.words) == -(-kept // 8)


@pytest.mark.parametrize("name", sorted(GEOMETRIES))
def test_each_l2_table_once_with_its_references(name: str) -> None:
    image = GEOMETRIES[name].image()
    layout = image.layout
    offsets: dict[int, list[int]] = {}
    for span in layout.l2.values():
        offsets.setdefault(span.offset, []).append(-1)
    for (snapshot, _), span in layout.snapshot_l2.items():
        offsets.setdefault(span.offset, []).append(snapshot)
    found: dict[int, tuple[int, int]] = {}
    for table in iter_distinct_l2_tables(*opened(image)):
        for offset in table.host_offsets.tolist():
            assert offset not in found
            found[offset] = table.references, table.active_references
    assert found == {offset: (len(owners), owners.count(-1)) for offset, owners in offsets.items()}


def test_l2_tables_of_one_l1_table() -> None:
    image = rich()
    source, report = opened(image)
    _, first, _ = iter_l1_tables(source, report)
    (table,) = iter_l2_tables(source, report, first)
    assert table.owner == MappingOwner(0)
    assert table.l1_indices.tolist() == [0, 2]
    assert table.host_offsets.tolist() == [
        image.layout.snapshot_l2[0, 0].offset,
        image.layout.snapshot_l2[0, 2].offset,
    ]


def test_small_tables_come_as_runs_that_know_their_places() -> None:
    builder = ImageBuilder(cluster_bits=9, size=16 * MIB)
    for table in (0, 1, 2, 9, 400):
        builder.write(table * 32 * KIB + 3 * 512, pattern(512, table))
    image = builder.build()
    (run,) = iter_distinct_l2_tables(*opened(image))
    assert run.tables == 5
    assert run.l1_indices.tolist() == [0, 1, 2, 9, 400]
    assert run.first_guest_offsets.tolist() == [n * 32 * KIB for n in (0, 1, 2, 9, 400)]
    (entries,) = np.nonzero(run.words)
    assert entries.tolist() == [64 * n + 3 for n in range(5)]
    guest = [n * 32 * KIB + 3 * 512 for n in (0, 1, 2, 9, 400)]
    assert run.guest_offsets(entries).tolist() == guest
    for entry, offset in zip(entries.tolist(), guest, strict=True):
        assert run.entry_offset(entry) == image.layout.l2_entry_offset(offset // 512)
    last = run.single(4)
    assert last.l1_index == 400
    assert last.words.tolist() == run.words[4 * 64 :].tolist()


def test_runs_are_bounded(tmp_path: Path) -> None:
    path = write_filled_image(tmp_path / "image", 64 * MIB, cluster_bits=9)
    with FileSource(path) as source:
        tables = list(iter_distinct_l2_tables(source, inspect_source(source)))
    assert all(len(table.words) == WINDOW_ENTRIES for table in tables)
    assert sum(table.tables for table in tables) == 2048


def test_extended_entries_are_taken_apart() -> None:
    image = GEOMETRIES["extended-64k"].image()
    (table,) = iter_distinct_l2_tables(*opened(image))
    assert table.bitmaps is not None
    span = image.layout.l2[0]
    pairs = struct.unpack(f">{span.length // 8}Q", image.read(span.offset, span.length))
    assert table.words.tolist() == list(pairs[::2])
    assert table.bitmaps.tolist() == list(pairs[1::2])


def test_entries_behind_the_end_are_missing() -> None:
    image = rich()
    cut = truncate_at(image, image.layout.l2[0].offset + 100)
    table = next(iter_distinct_l2_tables(*opened(cut)))
    assert table.entries_missing.tolist() == [512 - 12]
    kinds = table.decoded().kinds
    assert (kinds[12:] == ClusterKind.MISSING).all()
    assert (kinds[:12] != ClusterKind.MISSING).all()


@pytest.mark.parametrize("offset", [0, 0x4200, 1 << 40])
def test_what_is_no_table_of_the_file_is_left_out(offset: int) -> None:
    image = set_l1_entry(rich(), 0, COPIED | offset)
    assert all(
        offset not in table.host_offsets.tolist()
        for table in iter_distinct_l2_tables(*opened(image))
    )


def test_unsound_places_are_kept_apart_and_few() -> None:
    builder = ImageBuilder(cluster_bits=12, size=GIB)
    for index in range(1, 200):
        builder.raw_l1_entry(index, 0x4000 + index * 512 | 0x200)
    builder.raw_l1_entry(0, 1)
    places = places_of(builder.build())
    assert len(places.unsound) == 64
    assert 0 in places.unsound.host_offsets
    assert all(offset % 4096 == 0 for offset in places.sound.host_offsets.tolist())


def test_a_table_at_two_guest_addresses_is_displaced() -> None:
    image = rich()
    assert not places_of(image).displaced.any()
    twice = places_of(set_l1_entry(image, 1, get_l1_entry(image, 0)))
    index = twice.host_offsets.tolist().index(image.layout.l2[0].offset)
    assert twice.displaced.tolist() == [position == index for position in range(len(twice))]
    assert int(twice.references[index]) == 2
    assert int(twice.l1_indices[index]) == 0


def test_merging_in_batches_is_the_same_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    image = rich()
    at_once = places_of(image)
    monkeypatch.setattr("qcowgui.check.l2_places._BATCH_ROWS", 1)
    for name in ("host_offsets", "l1_indices", "owners", "references", "displaced"):
        assert getattr(places_of(image), name).tolist() == getattr(at_once, name).tolist()


def test_a_table_in_a_hole_is_not_read(tmp_path: Path) -> None:
    path = write_filled_image(tmp_path / "image", 4 * GIB)
    with FileSource(path) as source:
        l1_table_offset = inspect_source(source).header.l1_table_offset
    with path.open("r+b") as file:
        # The first L1 entry now names a table that was never written.
        end = file.seek(0, 2)
        file.truncate(end + 65536)
        file.seek(l1_table_offset)
        file.write(end.to_bytes(8, "big"))
    with FileSource(path) as source:
        tables = list(iter_distinct_l2_tables(source, inspect_source(source)))
    assert [table.l1_index for table in tables] == list(range(1, 8))


def test_where_holes_are_not_known_everything_is_read() -> None:
    image = set_l1_entry(b0(size=4 * GIB), 1, COPIED | 0x60000)
    longer = image.resized(0x70000)
    found = [table.l1_index for table in iter_distinct_l2_tables(*opened(longer))]
    assert found == [0, 1]


def test_tables_that_cannot_all_be_in_the_file_are_not_walked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("qcowgui.check.l1_tables._EXTRA_L1_BYTES", 0)
    builder = ImageBuilder(cluster_bits=9, size=MIB)
    for number in range(4):
        builder.snapshot(str(number))
    image = builder.build()
    source, report = opened(image)
    assert l1_places(report, load_snapshot_list(source, report)).complete
    # Each snapshot says that its table is the rest of the file, but for a few entries.
    entries = (len(image.file) - image.layout.l1.offset) // 8
    for number, span in enumerate(image.layout.snapshot_entries):
        place = struct.pack(">QI", image.layout.l1.offset, entries - number)
        image = image.edited(span.offset, place)
    source, report = opened(image)
    places = l1_places(report, load_snapshot_list(source, report))
    assert not places.complete
    assert sum(place.table_bytes for place in places.places) <= len(image.file)


def test_snapshots_that_name_the_same_table_count_as_one() -> None:
    image = rich()
    first, second = image.layout.snapshot_entries
    image = image.edited(second.offset, image.read(first.offset, 12))
    source, report = opened(image)
    places = l1_places(report, load_snapshot_list(source, report)).places
    assert [(place.owner.snapshot, place.references) for place in places] == [(None, 1), (0, 2)]


@pytest.mark.parametrize(
    ("name", "refused", "snapshots", "incomplete"),
    [
        ("snapshot_id_overlong", False, 2, 1),
        ("header_snapshots_beyond_eof", False, 2, 2),
        ("header_nb_snapshots_3", False, 3, 1),
        ("header_nb_snapshots_huge", True, None, None),
        ("header_snapshots_unaligned", True, 0, 0),
        ("snapshot_extra_overlong", True, 0, 0),
    ],
)
def test_the_snapshot_table_goes_on_with_zeros(
    name: str, refused: bool, snapshots: int | None, incomplete: int | None
) -> None:
    found = load_snapshot_list(*opened(DAMAGES[name].apply(rich())))
    assert found.refused == refused
    if snapshots is not None:
        assert (found.entries, found.incomplete_entries) == (snapshots, incomplete)


@pytest.mark.parametrize("cut_bytes", [0, 1, 24, 31])
def test_entries_behind_the_end_of_the_file_are_counted_and_not_parsed(
    monkeypatch: pytest.MonkeyPatch, cut_bytes: int
) -> None:
    image = rich()
    last = image.layout.snapshot_entries[-1]
    cut = truncate_at(set_field(image, "nb_snapshots", limits.MAX_SNAPSHOTS), last.end - cut_bytes)
    source, report = opened(cut)
    parsed: list[int] = []

    def parse(data: bytes, start: int, *, index: int, entry_offset: int) -> Snapshot | NeedMore:
        parsed.append(index)
        return parse_snapshot_entry(data, start, index=index, entry_offset=entry_offset)

    monkeypatch.setattr("qcowgui.check.snapshot_list.parse_snapshot_entry", parse)
    found = load_snapshot_list(source, report)
    assert (found.entries, found.refused) == (limits.MAX_SNAPSHOTS, False)
    assert set(parsed) <= {1}
    assert len(found.snapshots) == len(image.layout.snapshot_entries)
    # What is cut off reads as zeros, and so does each entry behind: 40 bytes without anything.
    expected_end = last.end + -last.end % 8 + 40 * found.zero_entries
    assert found.table_bytes == expected_end - image.layout.snapshot_entries[0].offset


def test_a_snapshot_table_whose_zeros_exceed_the_limit_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    image = set_field(rich(), "nb_snapshots", 1000)
    source, report = opened(truncate_at(image, rich().layout.snapshot_entries[-1].end))
    table_bytes = load_snapshot_list(source, report).table_bytes
    for limit, refused in ((table_bytes, False), (table_bytes - 1, True)):
        monkeypatch.setattr("qcowgui.format.limits.MAX_SNAPSHOT_TABLE_BYTES", limit)
        assert load_snapshot_list(source, report).refused == refused


def test_a_snapshot_table_in_the_header_cluster_is_read_from_there() -> None:
    # An open does not look at it, but a check does: entry 0 begins with the magic number.
    found = load_snapshot_list(*opened(set_field(rich(), "snapshots_offset", 0)))
    assert found.snapshots[0].l1_table_offset >> 32 == int.from_bytes(b"QFI\xfb", "big")
    assert [snapshot.entry_offset for snapshot in found.snapshots][:1] == [0]


def test_no_more_l1_tables_are_walked_than_the_file_has_clusters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("qcowgui.check.l1_tables._EXTRA_L1_TABLES", 0)
    builder = ImageBuilder(cluster_bits=12, size=MIB)
    for number in range(8):
        builder.snapshot(str(number))
    image = builder.build()
    source, report = opened(image)
    assert l1_places(report, load_snapshot_list(source, report)).complete
    # Each snapshot has one entry more than the one before, of the same table.
    for number, span in enumerate(image.layout.snapshot_entries):
        place = struct.pack(">QI", image.layout.l1.offset, 2 + number)
        image = image.edited(span.offset, place)
    cut = truncate_at(image, image.layout.snapshot_entries[-1].end)
    source, report = opened(cut)
    places = l1_places(report, load_snapshot_list(source, report))
    clusters = -(-report.file_bytes // 4096)
    assert places.complete == (clusters >= 9)
    monkeypatch.setattr("qcowgui.check.l1_tables._EXTRA_L1_TABLES", 3 - clusters)
    places = l1_places(report, load_snapshot_list(source, report))
    assert (len(places.places), places.complete) == (3, False)


def test_tables_that_nothing_can_be_read_of_are_not_gathered() -> None:
    image = b0()
    offsets = [image.layout.l2[0].offset, image.layout.l2[0].offset + 512, 0, len(image.file)]
    words = np.array([COPIED | offset for offset in offsets], dtype=np.uint64)
    source, report = opened(image)
    assert report.header.geometry is not None
    table = L1Table(ACTIVE, image.layout.l1.offset, words, 0)
    for end_offset, sound_only, kept in (
        (1 << 62, False, [0, 1, 2, 3]),
        (source.size_bytes, False, [0, 1, 2]),
        (source.size_bytes, True, [0]),
    ):
        collector = PlaceCollector(report.header.geometry, end_offset, sound_only)
        collector.add(table)
        assert collector.places().l1_indices.tolist() == kept


def test_the_length_of_the_snapshot_table_is_without_padding() -> None:
    image = rich()
    assert image.layout.snapshot_table is not None
    last = image.layout.snapshot_entries[-1]
    found = load_snapshot_list(*opened(image))
    assert found.snapshots == opened(image)[1].snapshots
    assert found.table_bytes == last.offset - image.layout.snapshot_table.offset + 24 + 40 + 7


def test_an_image_without_geometry_has_no_tables() -> None:
    source, report = opened(set_field(s0(), "cluster_bits", 30))
    assert list(iter_l1_tables(source, report)) == []
    assert list(iter_distinct_l2_tables(source, report)) == []
    with pytest.raises(ValueError, match="geometry"):
        L2TableReader(source, report)


def test_the_words_of_a_table_stay_when_the_next_is_read() -> None:
    builder = ImageBuilder(size=4 * GIB)
    for index in range(3):
        builder.write(index * GIB, pattern(65536, index))
    tables: list[L2Table] = list(iter_distinct_l2_tables(*opened(builder.build())))
    assert len({int(table.words[0]) for table in tables}) == 3


def test_a_place_is_loaded_with_its_references() -> None:
    source, report = opened(rich())
    places = l1_places(report, load_snapshot_list(source, report)).places
    assert [load_l1_table(source, place).references for place in places] == [1, 1, 1]
