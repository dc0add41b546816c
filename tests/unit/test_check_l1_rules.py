"""Rules on L1 entries, against one judgement at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.check.l1_rules import judge_l1
from qcowgui.check.rule_context import QEMU_WEIGHT, RuleContext
from qcowgui.format.finding import CODES
from qcowgui.format.geometry import Geometry

COPIED = 1 << 63
FILE_BYTES = 0x60200


def context(cluster_bits: int = 16, file_bytes: int = FILE_BYTES) -> RuleContext:
    return RuleContext(Geometry(cluster_bits), 3, file_bytes)


def judged(words: list[int], where: RuleContext) -> dict[str, list[int]]:
    hits = judge_l1(np.array(words, dtype=np.uint64), where)
    assert len({hit.code for hit in hits}) == len(hits)
    assert all(len(hit.indices) for hit in hits)
    return {hit.code: hit.indices.tolist() for hit in hits}


@pytest.mark.parametrize(
    ("word", "codes"),
    [
        (0, set()),
        (COPIED | 0x40000, set()),
        (0x50000, set()),
        (0x40001, {"l1-reserved-bits"}),
        (0x40100, {"l1-reserved-bits"}),
        (1 << 56 | 0x40000, {"l1-reserved-bits"}),
        (1 << 62 | 0x40000, {"l1-reserved-bits"}),
        (COPIED, {"l1-flags-only"}),
        (1, {"l1-flags-only", "l1-reserved-bits"}),
        (0x40200, {"l2-offset-unaligned"}),
        (0x48000, {"l2-offset-unaligned"}),
        (0x60000, {"l2-truncated"}),
        (0x70000, {"l2-table-beyond-eof"}),
        (0xFF_FFFF_FFFF_0000, {"l2-table-beyond-eof"}),
        (0x70200, {"l2-table-beyond-eof", "l2-offset-unaligned"}),
        (0x50400, {"l2-offset-unaligned", "l2-truncated"}),
    ],
)
def test_one_entry(word: int, codes: set[str]) -> None:
    # Sound neighbours, one of them at the end of the file, must not be taken for it.
    found = judged([0x50000, word, 0, COPIED | 0x10000], context())
    assert found == {code: [1] for code in codes}


def test_the_file_may_end_exactly_behind_a_table() -> None:
    assert judged([0x50000], context(file_bytes=0x60000)) == {}
    assert judged([0x50000], context(file_bytes=0x5FFFF)) == {"l2-truncated": [0]}
    assert judged([0x50000], context(file_bytes=0x50001)) == {"l2-truncated": [0]}
    assert judged([0x50000], context(file_bytes=0x50000)) == {"l2-table-beyond-eof": [0]}


def test_an_empty_table_has_no_faults() -> None:
    assert judged([], context()) == {}


def test_every_code_is_known() -> None:
    assert QEMU_WEIGHT.keys() <= CODES.keys()


WORDS = st.builds(
    lambda offset, flags: offset | flags,
    st.integers(0, 1 << 10).map(lambda sector: sector * 512)
    | st.integers(0, 0xFF).map(lambda cluster: cluster << 16),
    st.sampled_from([0, COPIED]) | st.integers(0, 63).map(lambda bit: 1 << bit),
)


def naive(word: int, where: RuleContext) -> set[str]:
    """Spec 1.7 and 2.2, one entry at a time."""
    cluster = where.geometry.cluster_bytes
    offset = word & 0x00FF_FFFF_FFFF_FE00
    codes = set()
    if word & 0x7F00_0000_0000_01FF:
        codes.add("l1-reserved-bits")
    if word and not offset:
        codes.add("l1-flags-only")
    if offset % cluster:
        codes.add("l2-offset-unaligned")
    if offset and offset >= where.file_bytes:
        codes.add("l2-table-beyond-eof")
    elif offset and offset + cluster > where.file_bytes:
        codes.add("l2-truncated")
    return codes


@given(
    st.lists(WORDS, max_size=20),
    st.sampled_from([9, 12, 16, 21]),
    st.integers(0, 1 << 20),
)
def test_whole_tables_against_single_entries(
    words: list[int], cluster_bits: int, file_bytes: int
) -> None:
    where = context(cluster_bits, file_bytes)
    expected: dict[str, list[int]] = {}
    for index, word in enumerate(words):
        for code in naive(word, where):
            expected.setdefault(code, []).append(index)
    assert judged(words, where) == expected
