"""Tables of entries: decoded, counted and judged like a check does; filtered, sorted, in words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qcowgui.check.checker import CheckReport, check_image
from qcowgui.check.cluster_wording import cluster_codes
from qcowgui.check.l1_tables import MAX_L1_ENTRIES
from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled, NotQcow2Error, SourceError
from qcowgui.format.entries import ClusterKind
from qcowgui.format.finding import CODES, Severity
from qcowgui.gui.formatters import NOTHING, Tone
from qcowgui.gui.host_index import build_host_index
from qcowgui.gui.models.entry_arrays import EntryArrays, PointerKind, TableWork
from qcowgui.gui.models.entry_filter import EntryFilter, EntryOrder, OrderWork
from qcowgui.gui.models.entry_judge import code_severity
from qcowgui.gui.models.entry_models import CopyWork
from qcowgui.gui.models.entry_rows import COLUMNS, EntryColumn, EntryRows, kind_words, make_columns
from qcowgui.gui.selection import Selection
from qcowgui.gui.structures import StructureKey
from qcowgui.image.inspect import ImageReport, inspect_source
from qcowgui.image.source import BytesSource
from tests.support.base_images import b0, pattern, rich, text
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.check_damages import CHECK_DAMAGES
from tests.support.check_damages.geometries import GEOMETRIES
from tests.support.damage import set_l1_entry, set_l2_entry, set_refcount, truncate_at
from tests.support.damages import DAMAGES

KEY = StructureKey
COLUMN = EntryColumn
COPIED = 1 << 63
Fault = tuple[StructureKey, int | None, int | None, int, str]
"""Structure, part, snapshot, entry and code."""
CLUSTER = 65536


class Opened:
    """An image, checked or not, whose tables can be asked for."""

    def __init__(self, image: BuiltImage, *, checked: bool = True) -> None:
        self.source = BytesSource(image.to_bytes(), "image.qcow2")
        self.report: ImageReport = inspect_source(self.source)
        self.check: CheckReport | None = None
        if checked:
            self.check = check_image(self.source, self.report, token=CancelToken())

    def arrays(
        self, key: StructureKey, part: int | None = None, snapshot: int | None = None
    ) -> EntryArrays:
        """The table; fails where there is none."""
        ownership = self.check.ownership if self.check else None
        table = Selection(key, None, part, snapshot)
        found = TableWork(self.source, self.report, table, ownership)(CancelToken())
        assert found is not None
        return found

    def rows(
        self, key: StructureKey, part: int | None = None, snapshot: int | None = None
    ) -> EntryRows:
        return EntryRows(self.arrays(key, part, snapshot))


def cells(rows: EntryRows, entry: int) -> dict[EntryColumn, str]:
    return dict(zip(rows.columns, rows.row(entry).cells, strict=True))


def shown(
    rows: EntryRows, wanted: EntryFilter | None = None, order: EntryOrder | None = None
) -> list[int]:
    """The entries that are left, in their order."""
    work = OrderWork(rows, wanted or EntryFilter(), order or EntryOrder())
    found = work(CancelToken())
    return list(range(len(rows.arrays))) if found is None else found.tolist()


@pytest.fixture(scope="module")
def rich_opened() -> Opened:
    return Opened(rich())


# ---------------------------------------------------------------- what cells say


def test_standard_entries_in_words() -> None:
    builder = ImageBuilder(size=16 * CLUSTER)
    builder.write(0, pattern(CLUSTER))
    builder.zero(1)
    builder.zero(2, allocated=True)
    rows = Opened(builder.build()).rows(KEY.L2, 0)
    data, zero, kept, nothing = (cells(rows, entry) for entry in range(4))
    assert data[COLUMN.ENTRY] == "0"
    assert data[COLUMN.FILE_OFFSET] == "0x4_0000"
    assert data[COLUMN.RAW] == "80000000 00050000"
    assert data[COLUMN.KIND] == "data"
    assert data[COLUMN.HOST_OFFSET] == "0x5_0000"
    assert data[COLUMN.DETAILS] == "COPIED"
    assert data[COLUMN.GUEST_OFFSET] == "0x0"
    assert (data[COLUMN.STORED], data[COLUMN.COUNTED], data[COLUMN.DIFFERENCE]) == ("1", "1", "0")
    assert data[COLUMN.OWNER] == "guest data"
    assert (zero[COLUMN.KIND], zero[COLUMN.HOST_OFFSET]) == ("zero", NOTHING)
    assert (kept[COLUMN.KIND], kept[COLUMN.HOST_OFFSET]) == ("zero, allocated", "0x6_0000")
    assert (nothing[COLUMN.KIND], nothing[COLUMN.STORED]) == ("unallocated", NOTHING)
    assert rows.row(3).tone is Tone.MUTED
    assert rows.row(0).tone is Tone.NORMAL
    assert (rows.row(2).host_start, rows.row(2).host_end) == (0x4_0010, 0x4_0018)


def test_compressed_entries_say_how_long_the_payload_may_be() -> None:
    builder = ImageBuilder(size=16 * CLUSTER)
    builder.write_compressed(3, text(CLUSTER))
    rows = Opened(builder.build()).rows(KEY.L2, 0)
    found = rows.arrays
    assert found.payload_bytes is not None
    sectors = -(-int(found.payload_bytes[3]) // 512)
    said = cells(rows, 3)
    assert said[COLUMN.KIND] == "compressed"
    assert said[COLUMN.DETAILS] == f"at most {found.payload_bytes[3]:,} bytes in {sectors} sectors"
    assert said[COLUMN.OWNER] == "compressed guest data"


def test_extended_entries_count_their_subclusters() -> None:
    builder = ImageBuilder(size=16 * CLUSTER, extended_l2=True)
    builder.write(0, pattern(CLUSTER))
    builder.raw_l2_entry(1, 0, 0x3 << 32)
    builder.raw_l2_entry(2, 0, 0xFFFF_FFFF << 32)
    rows = Opened(builder.build()).rows(KEY.L2, 0)
    assert len(rows.arrays) == CLUSTER // 16
    assert cells(rows, 0)[COLUMN.DETAILS] == "COPIED, 32 data"
    assert cells(rows, 1)[COLUMN.KIND] == "subclusters differ"
    assert cells(rows, 1)[COLUMN.DETAILS] == "2 zero, 30 unallocated"
    assert cells(rows, 1)[COLUMN.RAW] == "00000000 00000000 00000003 00000000"
    assert cells(rows, 2)[COLUMN.KIND] == "zero"
    start = int(cells(rows, 1)[COLUMN.FILE_OFFSET].replace("_", ""), 16)
    assert start == int(cells(rows, 0)[COLUMN.FILE_OFFSET].replace("_", ""), 16) + 16
    order = shown(rows, EntryFilter(only_allocated=True), EntryOrder(COLUMN.DETAILS))
    assert order == [0]


def test_clusters_of_a_data_file_have_no_refcount_here() -> None:
    builder = ImageBuilder(size=16 * CLUSTER, data_file="disk.raw")
    builder.write(0, pattern(2 * CLUSTER))
    rows = Opened(builder.build()).rows(KEY.L2, 0)
    assert cells(rows, 0)[COLUMN.HOST_OFFSET] == "0x0"
    assert cells(rows, 1)[COLUMN.HOST_OFFSET] == "0x1_0000"
    assert cells(rows, 1)[COLUMN.STORED] == NOTHING
    assert cells(rows, 1)[COLUMN.OWNER] == NOTHING
    assert shown(rows, EntryFilter(only_allocated=True)) == [0, 1]
    assert not rows.arrays.flagged.any()


def test_l1_and_refcount_table_and_bitmap_table(rich_opened: Opened) -> None:
    l1 = rich_opened.rows(KEY.L1)
    assert cells(l1, 1)[COLUMN.OWNER] == "active L2 table, snapshot's L2 table"
    assert cells(l1, 1)[COLUMN.GUEST_OFFSET] == "0x20_0000"
    table = rich_opened.rows(KEY.REFCOUNT_TABLE)
    assert cells(table, 0)[COLUMN.KIND] == "refcount block"
    assert cells(table, 1)[COLUMN.DETAILS] == "clusters 2,048 to 4,095"
    bitmap = rich_opened.rows(KEY.BITMAP_TABLE, 0)
    assert cells(bitmap, 0)[COLUMN.KIND] == "bits"
    assert cells(bitmap, 0)[COLUMN.OWNER] == "bitmap data"
    assert bitmap.arrays.guest_range(0) == (0, 8 * 4096 * 65536)


def test_a_refcount_block_names_what_it_counts(rich_opened: Opened) -> None:
    index = build_host_index(rich_opened.source, rich_opened.report, token=CancelToken())
    rows = rich_opened.rows(KEY.REFCOUNT_BLOCK, 0).with_index(index)
    assert cells(rows, 0)[COLUMN.OWNER] == "header"
    assert cells(rows, 0)[COLUMN.HOST_OFFSET] == "0x0"
    assert cells(rows, 6)[COLUMN.OWNER] == "guest data, snapshot data · guest 0x0"
    assert cells(rows, 7)[COLUMN.OWNER] == "snapshot data · guest 0x1000 of snapshot 0"
    assert cells(rows, 2047)[COLUMN.OWNER] == "nothing"


def test_snapshots_have_tables_of_their_own(rich_opened: Opened) -> None:
    active = rich_opened.arrays(KEY.L2, 0)
    old = rich_opened.arrays(KEY.L2, 0, snapshot=0)
    assert old.place.host_offset != active.place.host_offset
    assert int(old.kinds[1]) == ClusterKind.NORMAL
    assert not old.flagged.any()
    assert len(rich_opened.arrays(KEY.L1, snapshot=0)) == 3


def test_without_a_check_there_are_no_references() -> None:
    rows = Opened(rich(), checked=False).rows(KEY.L2, 0)
    assert cells(rows, 0)[COLUMN.STORED] == "3"
    assert {cells(rows, 0)[column] for column in (COLUMN.COUNTED, COLUMN.OWNER)} == {NOTHING}
    assert shown(rows, order=EntryOrder(COLUMN.DIFFERENCE)) == list(range(512))


@pytest.mark.parametrize("order", range(7))
def test_refcounts_of_every_width(order: int) -> None:
    bits = 1 << order
    most = (1 << bits) - 1
    builder = ImageBuilder(size=1 << 20, cluster_bits=12, refcount_order=order)
    builder.write(0, pattern(3 * 4096))
    image = builder.build()
    if most > 1:
        image = set_refcount(image, 6, most)
    opened = Opened(image)
    l2 = opened.arrays(KEY.L2, 0)
    named = np.flatnonzero(l2.hosts == 6 * 4096)
    block = opened.rows(KEY.REFCOUNT_BLOCK, 0)
    assert len(block.arrays) == 4096 * 8 // bits
    assert int(block.arrays.words[6]) == most
    said = cells(block, 6)
    assert said[COLUMN.STORED] == f"{most:,}"
    assert said[COLUMN.RAW].replace(" ", "") == f"{most:0{max(1, bits // 4)}x}"
    assert said[COLUMN.DIFFERENCE] == ("0" if most == 1 else f"{most - 1:+,}")
    assert [int(l2.refcounts.stored[row]) for row in named] == [most]
    largest = shown(block, order=EntryOrder(COLUMN.STORED, descending=True))[0]
    assert largest == (0 if most == 1 else 6)
    assert bool(block.arrays.flagged[6]) == (most > 1)


# ---------------------------------------------------------------- what is missing or wrong


def test_a_table_that_the_file_cuts_off() -> None:
    builder = ImageBuilder(size=16 * CLUSTER)
    builder.write(0, pattern(CLUSTER))
    image = builder.build()
    found = Opened(truncate_at(image, image.layout.l2[0].offset + 83)).arrays(KEY.L2, 0)
    assert len(found) == 10
    assert found.missing == CLUSTER // 8 - 10


@pytest.mark.parametrize("word", [0, COPIED])
def test_no_table_where_no_entry_names_one(word: int) -> None:
    image = set_l1_entry(rich(), 0, word)
    opened = Opened(image, checked=False)
    for part in (0, 7, None):
        work = TableWork(opened.source, opened.report, Selection(KEY.L2, None, part))
        assert work(CancelToken()) is None


def test_a_table_beyond_the_end_is_empty() -> None:
    image = set_l1_entry(rich(), 0, 1 << 50)
    opened = Opened(image)
    assert len(opened.arrays(KEY.L2, 0)) == 0
    l1 = opened.rows(KEY.L1)
    assert int(l1.arrays.kinds[0]) == PointerKind.UNUSABLE
    assert l1.row(0).tone is Tone.DANGER
    assert l1.row(0).detail == CODES["l2-table-beyond-eof"]
    assert shown(l1, EntryFilter(only_findings=True)) == [0]


def judged(opened: Opened) -> set[Fault]:
    """All that the tables say is wrong."""
    found: set[Fault] = set()
    tables: list[tuple[StructureKey, None, int | None]] = [
        (KEY.L1, None, None),
        (KEY.REFCOUNT_TABLE, None, None),
    ]
    tables += [
        (KEY.L1, None, snapshot.index)
        for snapshot in opened.report.snapshots
        if snapshot.l1_size <= MAX_L1_ENTRIES  # a check looks at no larger ones
    ]
    for key, part, snapshot in tables:
        pointers = opened.arrays(key, part, snapshot)
        assert pointers.hosts is not None
        below = KEY.L2 if key is KEY.L1 else KEY.REFCOUNT_BLOCK
        for entry in range(len(pointers)):
            found |= {(key, part, snapshot, entry, code) for code in pointers.codes(entry)}
            if not pointers.hosts[entry]:
                continue
            table = opened.arrays(below, entry, snapshot)
            for row in np.flatnonzero(table.flagged).tolist():
                found |= {(below, entry, snapshot, row, code) for code in table.codes(row)}
    return found


def checked(opened: Opened) -> set[Fault]:
    """All that a check says is wrong with an entry, as far as it kept every finding of a kind."""
    geometry, check = opened.report.header.geometry, opened.check
    assert geometry is not None
    assert check is not None
    blocks = np.flatnonzero(opened.arrays(KEY.REFCOUNT_TABLE).kinds == PointerKind.TABLE)
    kept = [group.first for group in check.groups if group.count == len(group.first)]
    found: set[Fault] = set()
    for finding in (finding for first in kept for finding in first):
        entry, host = finding.entry, finding.host_offset
        if entry is None or host is None or finding.code.startswith("payload-"):
            continue
        if finding.code == "refcount-block-overwritten":  # about the block, not one of its counts
            continue
        if finding.structure == "L1 table":
            found.add((KEY.L1, None, finding.snapshot, entry, finding.code))
        elif finding.structure == "L2 table" and finding.guest_start is not None:
            part = geometry.l1_index(finding.guest_start)
            found.add((KEY.L2, part, finding.snapshot, entry, finding.code))
        elif finding.structure == "refcount table":
            found.add((KEY.REFCOUNT_TABLE, None, None, entry, finding.code))
        elif finding.structure == "refcount block":
            part, row = divmod(geometry.cluster_index(host), geometry.refcounts_per_block)
            if part in blocks:
                found.add((KEY.REFCOUNT_BLOCK, part, None, row, finding.code))
    return found


def is_walked(opened: Opened) -> bool:
    """Whether a check could look at everything."""
    known = opened.report.header.geometry is not None and not opened.report.mapping_refusals
    return known and opened.check is not None and opened.check.complete


@pytest.mark.parametrize("name", sorted(DAMAGES))
def test_tables_find_what_a_check_finds(name: str) -> None:
    """Every finding about an entry is in its table; of what is in an entry itself, no other."""
    try:
        opened = Opened(DAMAGES[name].apply(rich()))
    except NotQcow2Error:
        return
    if not is_walked(opened) or opened.check is None:
        return
    found = judged(opened)
    assert checked(opened) <= found
    codes = {group.code for group in opened.check.groups}
    assert {fault[4] for fault in found if fault[4] not in cluster_codes()} <= codes


@pytest.mark.parametrize("name", sorted(CHECK_DAMAGES))
def test_tables_find_what_a_check_finds_in_every_geometry(name: str) -> None:
    """Two of the geometries of each damage: a large one and a small one differ most."""
    damage = CHECK_DAMAGES[name]
    for geometry in {damage.geometries[0], damage.geometries[-1]}:
        try:
            opened = Opened(damage.make(GEOMETRIES[geometry]))
        except NotQcow2Error:
            continue
        except ValueError:  # some are too long for memory
            continue
        if is_walked(opened):
            assert checked(opened) <= judged(opened)


def test_how_bad_a_row_is() -> None:
    image = set_refcount(set_refcount(rich(), 15, 1), 0, 0)
    block = Opened(image).rows(KEY.REFCOUNT_BLOCK, 0)
    assert block.row(15).tone is Tone.WARNING
    assert block.row(0).tone is Tone.DANGER
    assert code_severity("leak") is Severity.LEAK
    assert code_severity("bitmap-table") is Severity.CORRUPTION


class BadSpot(BytesSource):
    """Bytes of which those from `start` to `end` can't be read."""

    def __init__(self, data: bytes, start: int, end: int) -> None:
        super().__init__(data, "bad.qcow2")
        self._start, self._end = start, end

    def read_at(self, offset: int, length: int) -> bytes:
        if offset < self._end and self._start < offset + length:
            raise SourceError("the disk is broken", path=self.name)
        return super().read_at(offset, length)


@pytest.mark.parametrize("cluster", [1, 2])
def test_a_bad_spot_in_the_refcounts_hides_no_other_table(cluster: int) -> None:
    """Of the rich image: the refcount table, and its only block."""
    data = rich().to_bytes()
    report = inspect_source(BytesSource(data))
    source = BadSpot(data, cluster * 4096, cluster * 4096 + 4096)
    found = TableWork(source, report, Selection(KEY.L2, None, 0))(CancelToken())
    assert found is not None
    assert not found.refcounts.known.any()
    rows = EntryRows(found)
    assert cells(rows, 0)[COLUMN.KIND] == "data"
    assert cells(rows, 0)[COLUMN.STORED] == NOTHING
    assert not found.flagged.any()


def test_references_are_shown_where_a_refcount_is_unreadable() -> None:
    image = rich()
    unaligned = image.layout.refcount_blocks[0].offset + 512
    image = image.edited(image.layout.refcount_table.offset, unaligned.to_bytes(8, "big"))
    said = cells(Opened(image).rows(KEY.L2, 0), 0)
    assert (said[COLUMN.STORED], said[COLUMN.DIFFERENCE]) == (NOTHING, NOTHING)
    assert said[COLUMN.COUNTED] == "3"
    assert said[COLUMN.OWNER] == "guest data, snapshot data"


def test_an_image_without_a_geometry_has_no_tables() -> None:
    opened = Opened(DAMAGES["header_cluster_bits_max"].apply(rich()), checked=False)
    assert TableWork(opened.source, opened.report, Selection(KEY.L1))(CancelToken()) is None


@given(data=st.data(), extended=st.booleans(), order=st.integers(0, 6))
@settings(max_examples=15)
def test_whatever_a_table_holds_has_words(data: st.DataObject, extended: bool, order: int) -> None:
    """Tables of any bytes: each cell has a text, each fault a code, and every column sorts."""
    bits = 14 if extended else 9
    image = b0(cluster_bits=bits, size=1 << 20, extended_l2=extended, refcount_order=order)
    layout = image.layout
    for offset in (layout.refcount_blocks[0].offset, layout.l2[0].offset):
        image = image.edited(offset, data.draw(st.binary(min_size=64, max_size=256)))
    # The entries that lead to these two tables stay.
    for offset in (layout.refcount_table.offset, layout.l1.offset):
        image = image.edited(offset + 8, data.draw(st.binary(min_size=8, max_size=64)))
    opened = Opened(image)
    for key, part in (
        (KEY.L1, None),
        (KEY.L2, 0),
        (KEY.REFCOUNT_TABLE, None),
        (KEY.REFCOUNT_BLOCK, 0),
    ):
        rows = opened.rows(key, part)
        for entry in range(min(len(rows.arrays), 80)):
            row = rows.row(entry)
            assert all(isinstance(cell, str) for cell in row.cells)
            assert set(rows.arrays.codes(entry)) <= CODES.keys()
            assert bool(row.detail) == bool(rows.arrays.flagged[entry])
        for column in rows.columns:
            assert len(shown(rows, order=EntryOrder(column))) == len(rows.arrays)
        assert set(shown(rows, EntryFilter(text="0x8"))) <= set(range(len(rows.arrays)))


# ---------------------------------------------------------------- filtering and sorting


def reference(rows: EntryRows, term: str) -> list[int]:
    """The entries that have `term` in a cell, by comparing texts."""
    found = []
    offsets = (COLUMN.FILE_OFFSET, COLUMN.HOST_OFFSET, COLUMN.GUEST_OFFSET)
    for entry in range(len(rows.arrays)):
        said = cells(rows, entry)
        texts = [said[column].replace("_", "") for column in offsets if column in said]
        texts = [one for one in texts if one != NOTHING]
        leading = term.startswith("0x")
        hit = any(one.startswith(term) if leading else term in one[2:] for one in texts)
        raw = said[COLUMN.RAW].split(" ")
        words = ["".join(raw[:2]), "".join(raw[2:])]
        hit |= not leading and any(term in word for word in words)
        hit |= term.isdecimal() and int(term) == entry
        if hit:
            found.append(entry)
    return found


@pytest.mark.parametrize("term", ["6", "60", "8000", "00", "4c", "961", "0x96", "0x6", "0x1", "17"])
def test_digits_are_found_as_in_the_text(rich_opened: Opened, term: str) -> None:
    rows = rich_opened.rows(KEY.L2, 0)
    assert shown(rows, EntryFilter(text=term)) == reference(rows, term)


def test_words_are_found_in_kinds_flags_uses_and_findings() -> None:
    image = set_l2_entry(rich(), 30, COPIED | 0x6000 | 2)
    rows = Opened(image).rows(KEY.L2, 0)
    assert shown(rows, EntryFilter(text="compress")) == list(range(8, 14))
    assert 30 in shown(rows, EntryFilter(text="copied"))
    assert shown(rows, EntryFilter(text="RESERVED")) == [30]
    assert shown(rows, EntryFilter(text="allocated zero")) == [21]
    assert shown(rows, EntryFilter(text="l2-reserved-bits")) == [30]
    assert shown(rows, EntryFilter(text="compress 9617")) == [9]
    assert shown(rows, EntryFilter(text="nosuchword")) == []
    block = Opened(image).rows(KEY.REFCOUNT_BLOCK, 0)
    assert shown(block, EntryFilter(text="l1")) == [
        3,
        *shown(block, EntryFilter(text="snapshot's l1")),
    ]
    assert shown(block, EntryFilter(text="1,999")) == [1999]


def test_kinds_allocated_and_findings(rich_opened: Opened) -> None:
    rows = rich_opened.rows(KEY.L2, 0)
    for kind, word in enumerate(kind_words(KEY.L2)):
        assert shown(rows, EntryFilter(kind)) == [
            row for row in range(512) if cells(rows, row)[COLUMN.KIND] == word
        ]
    assert shown(rows, EntryFilter(only_allocated=True)) == [0, 1, 2, *range(8, 14), 21]
    assert shown(rows, EntryFilter(only_findings=True)) == []
    block = rich_opened.rows(KEY.REFCOUNT_BLOCK, 0)
    used = shown(block, EntryFilter(only_allocated=True))
    assert used == [row for row in range(2048) if cells(block, row)[COLUMN.STORED] != "0"]


@pytest.mark.parametrize("key", list(COLUMNS))
@pytest.mark.parametrize("descending", [False, True])
def test_every_column_sorts_stably(
    rich_opened: Opened, key: StructureKey, descending: bool
) -> None:
    rows = rich_opened.rows(key, 0 if key not in (KEY.L1, KEY.REFCOUNT_TABLE) else None)
    total = len(rows.arrays)
    for column in rows.columns:
        order = shown(rows, order=EntryOrder(column, descending))
        assert sorted(order) == list(range(total))
        values = rows.sort_values(column)
        if values is None:
            assert order == (list(range(total))[::-1] if descending else list(range(total)))
            continue
        expected = sorted(range(total), key=lambda row: values[row], reverse=descending)
        assert order == expected
    filtered = shown(rows, EntryFilter(only_allocated=True), EntryOrder(COLUMN.RAW, descending))
    assert set(filtered) == set(shown(rows, EntryFilter(only_allocated=True)))


def test_words_sort_by_the_alphabet(rich_opened: Opened) -> None:
    rows = rich_opened.rows(KEY.L2, 0)
    for column in (COLUMN.KIND,):
        order = shown(rows, order=EntryOrder(column))
        texts = [cells(rows, row)[column] for row in order]
        assert texts == sorted(texts)


def test_columns_and_headings_go_together() -> None:
    for key, columns in COLUMNS.items():
        assert len(make_columns(key)) == len(columns)
        assert len(kind_words(key)) == len(set(kind_words(key)))


def test_copied_text_is_that_of_the_cells(rich_opened: Opened) -> None:
    rows = rich_opened.rows(KEY.L2, 0)
    entries = np.array([9, 0], dtype=np.int32)
    lines = CopyWork(rows, entries, [0, 3, 4], titles=True)(CancelToken()).split("\n")
    assert lines == ["Entry\tKind\tHost offset", "9\tcompressed\t0x9617", "0\tdata\t0x6000"]


def test_work_can_be_cancelled(rich_opened: Opened) -> None:
    token = CancelToken()
    token.cancel()
    rows = rich_opened.rows(KEY.L2, 0)
    for work in (
        TableWork(rich_opened.source, rich_opened.report, Selection(KEY.L1)),
        OrderWork(rows, EntryFilter(text="6"), EntryOrder()),
        CopyWork(rows, np.arange(3, dtype=np.int32), [0], titles=False),
    ):
        with pytest.raises(Cancelled):
            work(token)
