"""What single L1 and L2 entries become."""

from __future__ import annotations

import numpy as np
import pytest

from qcowgui.check.rule_context import Hit
from qcowgui.format.finding import CODES, REPAIRS, Repair
from qcowgui.format.geometry import Geometry
from qcowgui.repair.entry_fixes import (
    FIXABLE_CODES,
    Fix,
    TableFixes,
    fixed_bitmaps,
    fixed_words,
    fixes_for,
    reasons_for,
)

COPIED, COMPRESSED = 1 << 63, 1 << 62
OFFSET = 0x0000_0012_3456_0000
STANDARD, EXTENDED = Geometry(16), Geometry(16, extended_l2=True)


def table(fixes: int, *, is_l1: bool = False, sectors: int | None = None) -> TableFixes:
    words = {} if sectors is None else {0: sectors}
    return TableFixes(0x40000, is_l1, None, 0, np.array([fixes], dtype=np.uint16), words)


def fixed(word: int, fixes: int, geometry: Geometry = STANDARD, *, is_l1: bool = False) -> int:
    words = np.array([word], dtype=np.uint64)
    return int(fixed_words(words, table(fixes, is_l1=is_l1), 0, geometry)[0])


@pytest.mark.parametrize(
    ("fix", "word", "expected"),
    [
        (Fix.CLEAR_RESERVED, COPIED | OFFSET | 0x3F00_0000_0000_01FE | 1, COPIED | OFFSET | 1),
        (Fix.PLAIN_ZERO, COPIED | OFFSET | 0x800 | 1, 1),
        (Fix.CLEAR_ZERO_FLAG, COPIED | OFFSET | 1, COPIED | OFFSET),
        (Fix.CLEAR_COPIED, COPIED | COMPRESSED | 0x123, COMPRESSED | 0x123),
        (Fix.SET_COPIED, OFFSET, COPIED | OFFSET),
        (Fix.CLEAR_RESERVED | Fix.SET_COPIED, OFFSET | 1 << 57, COPIED | OFFSET),
    ],
)
def test_what_a_standard_l2_entry_becomes(fix: Fix, word: int, expected: int) -> None:
    assert fixed(word, fix) == expected
    assert fixed(word, 0) == word


@pytest.mark.parametrize(
    ("fix", "word", "expected"),
    [
        (Fix.CLEAR_RESERVED, COPIED | OFFSET | 0x7F00_0000_0000_01FF, COPIED | OFFSET),
        (Fix.EMPTY, COPIED | 1 << 58, 0),
    ],
)
def test_what_an_l1_entry_becomes(fix: Fix, word: int, expected: int) -> None:
    assert fixed(word, fix, is_l1=True) == expected


def test_an_extended_entry_without_its_unaligned_place_keeps_its_bitmap() -> None:
    assert fixed(COPIED | OFFSET | 0x800, Fix.PLAIN_ZERO, EXTENDED) == 0
    bitmaps = np.array([0x0F << 32], dtype=np.uint64)
    assert fixed_bitmaps(bitmaps, table(Fix.PLAIN_ZERO), 0).tolist() == [0x0F << 32]


@pytest.mark.parametrize(
    ("fix", "bitmap", "expected"),
    [
        (Fix.DROP_BITMAP, 0x1234_5678_9ABC_DEF0, 0),
        (Fix.DROP_ALLOCATED, 0x0000_00F0_FFFF_FFFF, 0x0000_00F0_0000_0000),
        (Fix.KEEP_DATA, 0x0000_00FF_0000_000F, 0x0000_00F0_0000_000F),
    ],
)
def test_what_a_subcluster_bitmap_becomes(fix: Fix, bitmap: int, expected: int) -> None:
    bitmaps = np.array([bitmap], dtype=np.uint64)
    assert fixed_bitmaps(bitmaps, table(fix), 0).tolist() == [expected]
    assert fixed_bitmaps(bitmaps, table(0), 0).tolist() == [bitmap]


def test_a_sector_count_replaces_the_descriptor_and_no_other_entry() -> None:
    right = STANDARD.compressed_descriptor(0x5_0123, 700)
    entries = TableFixes(0, False, None, 0, np.array([0, Fix.SECTORS, 0], np.uint16), {1: right})
    words = np.array([1, 2, 3], dtype=np.uint64)
    assert fixed_words(words, entries, 0, STANDARD).tolist() == [1, right, 3]
    assert fixed_words(words[:1], entries, 2, STANDARD).tolist() == [1]
    assert fixed_words(words[1:], entries, 1, STANDARD).tolist() == [right, 3]


def test_only_what_can_be_fixed_gets_a_fix() -> None:
    hits = [
        Hit("l2-reserved-bits", np.array([1, 3])),
        Hit("data-beyond-eof", np.array([0])),
        Hit("compressed-copied", np.array([3])),
    ]
    fixes = fixes_for(hits, 4, is_l1=False, version=3)
    assert fixes is not None
    reserved, copied = Fix.CLEAR_RESERVED.value, Fix.CLEAR_COPIED.value
    assert fixes.tolist() == [0, reserved, 0, reserved | copied]
    assert fixes_for([hits[1]], 4, is_l1=False, version=3) is None
    assert fixes_for([hits[0]], 4, is_l1=True, version=3) is None


def test_version_2_gets_no_zero_flag() -> None:
    hits = [Hit("zero-cluster-unaligned", np.array([0]))]
    assert fixes_for(hits, 1, is_l1=False, version=2) is None
    assert fixes_for(hits, 1, is_l1=False, version=3) is not None


def test_every_code_with_a_fix_is_said_to_be_repairable() -> None:
    assert {REPAIRS[code] for code in FIXABLE_CODES} == {Repair.ALL}


@pytest.mark.parametrize(
    ("fix", "word", "is_l1", "code"),
    [
        (Fix.CLEAR_RESERVED, OFFSET, True, "l1-reserved-bits"),
        (Fix.CLEAR_RESERVED, OFFSET, False, "l2-reserved-bits"),
        (Fix.SET_COPIED, OFFSET, True, "l1-copied"),
        (Fix.SET_COPIED, OFFSET, False, "l2-copied"),
        (Fix.CLEAR_COPIED, COMPRESSED | OFFSET, False, "compressed-copied"),
        (Fix.CLEAR_COPIED, COPIED | 1, False, "copied-without-cluster"),
        (Fix.KEEP_DATA | Fix.SET_COPIED, OFFSET, False, "subcluster-conflict"),
    ],
)
def test_the_weightiest_reason_comes_first(fix: Fix, word: int, is_l1: bool, code: str) -> None:
    reasons = reasons_for(fix, table(fix, is_l1=is_l1), word, word)
    assert reasons[0].code == code
    assert {reason.code for reason in reasons} <= CODES.keys()


@pytest.mark.parametrize(
    ("old_bytes", "new_bytes", "code"),
    [(700, 1500, "payload-sectors-short"), (1500, 700, "payload-sectors-long")],
)
def test_the_reason_says_whether_sectors_lacked(old_bytes: int, new_bytes: int, code: str) -> None:
    old = STANDARD.compressed_descriptor(0x5_0123, old_bytes)
    new = STANDARD.compressed_descriptor(0x5_0123, new_bytes)
    reasons = reasons_for(Fix.SECTORS, table(Fix.SECTORS, sectors=new), old | COPIED, new)
    assert [reason.code for reason in reasons] == [code]


def test_flags_in_tables_of_snapshots_have_a_code_of_their_own() -> None:
    of_snapshot = TableFixes(0, False, 1, 0, np.array([Fix.CLEAR_COPIED], np.uint16), {})
    assert reasons_for(Fix.CLEAR_COPIED, of_snapshot, OFFSET, OFFSET)[0].code == "snapshot-copied"
