"""The byte edits that the fixes of tables come to."""

from __future__ import annotations

import numpy as np
import pytest

from qcowgui.format.geometry import Geometry
from qcowgui.image.patched import PatchedSource, content_bytes, read_content
from qcowgui.image.source import BytesSource
from qcowgui.repair.entry_fixes import Fix
from qcowgui.repair.table_book import MAX_RUNS, GuestRange, TableBook, TablePlace

GEOMETRY = Geometry(16)
COPIED = 1 << 63
TABLE = 0x10000
L2 = TablePlace(TABLE, False, None, 3)


def source_with(words: dict[int, int], *, entries: int = 8192) -> BytesSource:
    data = np.zeros(entries, dtype=">u8")
    for index, word in words.items():
        data[index] = word
    return BytesSource(bytes(TABLE) + data.tobytes())


def fixes(
    indices: list[int], fix: Fix, entries: int = 8192
) -> np.ndarray[tuple[int], np.dtype[np.uint16]]:
    found = np.zeros(entries, dtype=np.uint16)
    found[indices] = fix
    return found


def test_each_run_of_alike_entries_is_one_edit() -> None:
    words = {1: 0x50000, 2: 0x60000, 5: 0x70000}
    book = TableBook(source_with(words), GEOMETRY)
    book.add(L2, fixes([1, 2, 5], Fix.SET_COPIED))
    edits = list(book.iter_edits())
    assert [(edit.offset, edit.length_bytes) for edit in edits] == [
        (TABLE + 8, 16),
        (TABLE + 40, 8),
    ]
    assert edits[0].before == (0x50000).to_bytes(8, "big") + (0x60000).to_bytes(8, "big")
    assert edits[0].after == b"".join(
        (COPIED | word).to_bytes(8, "big") for word in (0x50000, 0x60000)
    )
    assert {edit.code for edit in edits} == {"l2-copied"}
    assert edits[0].why == "L1[3]/L2[1] to L2[2] (2 entries): says COPIED: the refcount is 1."
    assert edits[1].why == "L1[3]/L2[5]: says COPIED: the refcount is 1."


def test_fixes_of_one_table_from_several_passes_are_one_edit() -> None:
    book = TableBook(source_with({4: 0x50000 | 1 << 57}), GEOMETRY)
    book.add(L2, fixes([4], Fix.CLEAR_RESERVED))
    book.add(L2, fixes([4], Fix.SET_COPIED))
    (edit,) = book.iter_edits()
    assert edit.after == (COPIED | 0x50000).to_bytes(8, "big")
    assert edit.code == "l2-reserved-bits"
    assert book.counts() == {"l2-reserved-bits": 1, "l2-copied": 1}


def test_an_entry_that_stays_as_it_is_makes_no_edit() -> None:
    book = TableBook(source_with({4: COPIED | 0x50000}), GEOMETRY)
    book.add(L2, fixes([4], Fix.SET_COPIED))
    assert list(book.iter_edits()) == []
    assert book.counts() == {}


def test_too_many_runs_become_one_edit_with_the_same_result() -> None:
    indices = list(range(0, 2 * MAX_RUNS + 2, 2))
    source = source_with({index: 0x50000 + (index << 16) for index in range(400)})
    book = TableBook(source, GEOMETRY)
    book.add(L2, fixes(indices, Fix.SET_COPIED))
    (edit,) = book.iter_edits()
    assert edit.offset == TABLE
    assert f"({len(indices)} entries)" in edit.why
    after = np.frombuffer(read_content(edit.after, 0, edit.length_bytes), ">u8")
    flagged = np.flatnonzero(after >= COPIED).tolist()
    assert flagged == indices


def test_a_long_edit_is_made_from_the_source_when_it_is_asked_for() -> None:
    source = source_with({index: 0x50000 + (index << 16) for index in range(8192)})
    book = TableBook(source, GEOMETRY)
    book.add(L2, fixes(list(range(8192)), Fix.SET_COPIED))
    (edit,) = book.iter_edits()
    assert not isinstance(edit.before, bytes)
    assert content_bytes(edit.before) == 65536
    assert read_content(edit.before, 0, 65536) == source.read_at(TABLE, 65536)
    patched = PatchedSource(source, [edit.patch])
    whole = patched.read_at(TABLE, 65536)
    assert (np.frombuffer(whole, ">u8") >= COPIED).all()
    # Any part of it is the same part.
    assert patched.read_at(TABLE + 13, 1000) == whole[13:1013]


def test_of_an_extended_entry_only_the_word_that_changes_is_edited() -> None:
    geometry = Geometry(16, extended_l2=True)
    source = source_with({2: COPIED | 0x50000, 3: 0x0000_0001_0000_0001, 4: 0x60001, 5: 7})
    book = TableBook(source, geometry)
    entries = geometry.l2_entries
    book.add(L2, fixes([1], Fix.KEEP_DATA, entries))
    book.add(L2, fixes([2], Fix.CLEAR_ZERO_FLAG, entries))
    first, second = book.iter_edits()
    assert (first.offset, first.after) == (TABLE + 24, (1).to_bytes(8, "big"))
    assert (second.offset, second.after) == (TABLE + 32, (0x60000).to_bytes(8, "big"))


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (L2, GuestRange(None, (3 << 29) + (2 << 16), (3 << 29) + (8 << 16))),
        (TablePlace(TABLE, True, 1, 0), GuestRange(1, 2 << 29, 8 << 29)),
    ],
)
def test_what_edited_entries_map(place: TablePlace, expected: GuestRange) -> None:
    book = TableBook(source_with({}), GEOMETRY)
    book.add(place, fixes([2, 7], Fix.CLEAR_RESERVED))
    assert book.guest_ranges() == [expected]


def test_a_sector_count_is_an_edit_and_a_payload_to_compare() -> None:
    old, new = (GEOMETRY.compressed_descriptor(0x50123, size) for size in (700, 1500))
    book = TableBook(source_with({6: old}), GEOMETRY)
    book.add_sectors(L2, 6, new)
    (edit,) = book.iter_edits()
    assert edit.after == new.to_bytes(8, "big")
    assert edit.code == "payload-sectors-short"
    start = (3 << 29) + (6 << 16)
    assert book.payload_ranges() == [GuestRange(None, start, start + 65536)]
    assert book.has(Fix.SECTORS)
    assert not book.has(Fix.KEEP_DATA)


def test_a_table_cut_by_the_end_of_the_file_is_edited_as_far_as_it_is_there() -> None:
    source = source_with({1: 0x50000}, entries=3)
    book = TableBook(source, GEOMETRY)
    book.add(L2, fixes([1, 2], Fix.CLEAR_RESERVED | Fix.SET_COPIED))
    edits = list(book.iter_edits())
    assert edits[0].offset == TABLE + 8
    assert max(edit.end_offset for edit in edits) <= source.size_bytes
