"""Rules on L2 entries, against one judgement at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qcowgui.check.l2_rules import GuestStart, judge_l2
from qcowgui.check.rule_context import RuleContext
from qcowgui.format.finding import CODES
from qcowgui.format.geometry import Geometry
from qcowgui.format.tables import decode_l2

COPIED = 1 << 63
COMPRESSED = 1 << 62
FAR = 1 << 40
ALL = 0xFFFF_FFFF
FILE_BYTES = 0x60200

STANDARD = RuleContext(Geometry(16), 3, FILE_BYTES)
EXTENDED = RuleContext(Geometry(16, extended_l2=True), 3, FILE_BYTES)
VERSION_2 = replace(STANDARD, version=2)
DATA_FILE = replace(STANDARD, has_data_file=True, data_file_bytes=1 << 30)


def judged(
    entries: list[tuple[int, int]], context: RuleContext, first_guest_offset: GuestStart = 0
) -> dict[str, list[int]]:
    words = np.array([word for word, _ in entries], dtype=np.uint64)
    bitmaps = None
    if context.geometry.extended_l2:
        bitmaps = np.array([bitmap for _, bitmap in entries], dtype=np.uint64)
    start = first_guest_offset if isinstance(first_guest_offset, int) else 0
    view = decode_l2(
        words,
        bitmaps,
        context.geometry,
        version=context.version,
        data_file_guest_offset=start if context.has_data_file else None,
    )
    hits = judge_l2(view, context, first_guest_offset=first_guest_offset)
    assert len({hit.code for hit in hits}) == len(hits)
    assert all(len(hit.indices) and hit.code in CODES for hit in hits)
    return {hit.code: hit.indices.tolist() for hit in hits}


def compressed(offset: int, sectors: int = 1, cluster_bits: int = 16) -> int:
    return COMPRESSED | (sectors - 1) << 62 - (cluster_bits - 8) | offset


@pytest.mark.parametrize(
    ("word", "codes"),
    [
        (0, set()),
        (COPIED | 0x50000, set()),
        (1, set()),
        (COPIED | 0x50001, set()),
        (1 << 1 | 0x50000, {"l2-reserved-bits"}),
        (1 << 8, {"l2-reserved-bits"}),
        (1 << 56 | 0x50000, {"l2-reserved-bits"}),
        (1 << 61, {"l2-reserved-bits"}),
        (0x50200, {"data-cluster-unaligned"}),
        (0x50201, {"zero-cluster-unaligned"}),
        (FAR, {"data-beyond-eof"}),
        (FAR | 1, {"data-beyond-eof"}),
        (FAR | 0x200, {"data-cluster-unaligned", "data-beyond-eof"}),
        (0x60000, {"data-truncated"}),
        (0x60001, set()),  # preallocated: there is no data to miss
        (0x70000, {"data-beyond-eof"}),
        (COPIED, {"data-at-header"}),
        (COPIED | 1, {"copied-without-cluster"}),
        (compressed(0x50123, 3), set()),
        (compressed(0x50123, 3) | COPIED, {"compressed-copied"}),
        (compressed(0x60000), set()),
        (compressed(0x60200), {"compressed-missing"}),
        (compressed(0x60100, 2), {"compressed-truncated"}),
        (compressed(0x60200, 127), {"compressed-missing"}),
        (compressed(0x60200, 128), {"compressed-beyond-eof"}),
        (compressed(FAR) | COPIED, {"compressed-copied", "compressed-beyond-eof"}),
    ],
)
def test_one_standard_entry(word: int, codes: set[str]) -> None:
    entries = [(COPIED | 0x40000, 0), (word, 0), (compressed(0x5_0000), 0), (0, 0)]
    assert judged(entries, STANDARD) == {code: [1] for code in codes}


@pytest.mark.parametrize(
    ("word", "bitmap", "codes"),
    [
        (0, 0, set()),
        (COPIED | 0x50000, ALL, set()),
        (0x50000, ALL << 32, set()),
        (0x50000, 0, set()),
        (0, ALL << 32, set()),
        (1, 0, {"extended-zero-flag"}),
        (0x50001, ALL, {"extended-zero-flag"}),
        (0x50000, 1 | 1 << 32, {"subcluster-conflict"}),
        (0, 1 | 1 << 32, {"subclusters-without-cluster"}),
        (COPIED, 1, {"subclusters-without-cluster"}),
        (COPIED, 0, {"copied-without-cluster"}),
        (0x50200, 0, {"zero-cluster-unaligned"}),
        (0x50200, 1 << 32, {"zero-cluster-unaligned"}),
        (0x50200, 1, {"data-cluster-unaligned"}),
        (
            FAR | 0x200,
            1 | 1 << 32,
            {"subcluster-conflict", "data-cluster-unaligned", "data-beyond-eof"},
        ),
        (compressed(0x50000), 0, set()),
        (compressed(0x50000), 1, {"compressed-subclusters"}),
        (compressed(FAR), 1 << 63, {"compressed-subclusters"}),
        (compressed(FAR) | COPIED, 5, {"compressed-subclusters", "compressed-copied"}),
        (compressed(FAR), 0, {"compressed-beyond-eof"}),
    ],
)
def test_one_extended_entry(word: int, bitmap: int, codes: set[str]) -> None:
    entries = [(COPIED | 0x40000, ALL), (word, bitmap), (0, 0)]
    assert judged(entries, EXTENDED) == {code: [1] for code in codes}


def test_a_cluster_is_needed_up_to_its_last_subcluster_with_data() -> None:
    context = replace(EXTENDED, file_bytes=0x60800)
    assert judged([(0x60000, 1)], context) == {}
    assert judged([(0x60000, ALL << 32)], context) == {}
    assert judged([(0x60000, 1 | (ALL - 3) << 32)], context) == {}
    assert judged([(0x60000, 2)], context) == {"data-truncated": [0]}
    assert judged([(0x60000, 1 << 31)], context) == {"data-truncated": [0]}


@pytest.mark.parametrize(
    ("word", "codes"),
    [
        (1, {"zero-flag-v2"}),
        (COPIED | 0x50001, {"zero-flag-v2"}),
        (0x50201, {"zero-flag-v2", "zero-cluster-unaligned"}),
        (compressed(0x50001), set()),
    ],
)
def test_version_2_has_no_zero_flag(word: int, codes: set[str]) -> None:
    assert judged([(COPIED | 0x50000, 0), (word, 0)], VERSION_2) == {code: [1] for code in codes}


@pytest.mark.parametrize(
    ("word", "codes"),
    [
        (COPIED | 0x10000, set()),
        (COPIED | 0x10001, set()),
        (0, set()),
        (1, set()),
        (COPIED, {"data-file-offset"}),
        (COPIED | 1, {"copied-without-cluster"}),
        (COPIED | 0x20000, {"data-file-offset"}),
        (FAR, {"data-file-offset"}),
        (0x10200, {"data-cluster-unaligned"}),
        (compressed(0x10000), {"compressed-with-data-file"}),
        (compressed(FAR) | COPIED, {"compressed-with-data-file", "compressed-copied"}),
    ],
)
def test_one_entry_with_a_data_file(word: int, codes: set[str]) -> None:
    # The guest's first cluster may lie at offset 0 of the data file.
    assert judged([(COPIED, 0), (word, 0)], DATA_FILE) == {code: [1] for code in codes}


def test_a_zeroed_first_cluster_of_a_data_file_is_sound() -> None:
    assert judged([(COPIED | 1, 0)], DATA_FILE) == {}


def test_a_data_file_may_be_too_short() -> None:
    entries = [(COPIED | cluster << 16, 0) for cluster in range(4)]
    assert judged(entries, replace(DATA_FILE, data_file_bytes=0x40000)) == {}
    assert judged(entries, replace(DATA_FILE, data_file_bytes=None)) == {}
    short = replace(DATA_FILE, data_file_bytes=0x2FFFF)
    assert judged(entries, short) == {"data-file-short": [2, 3]}
    # Where the disk ends inside a cluster, so may the file.
    assert judged(entries[:3], replace(short, virtual_bytes=0x2FFFF)) == {}


def test_the_disks_last_cluster_may_be_short_in_the_file() -> None:
    entries = [(0x50000, 0), (0x60000, 0)]
    assert judged(entries, replace(STANDARD, virtual_bytes=0x10200)) == {}
    cut = replace(STANDARD, virtual_bytes=0x10201)
    assert judged(entries, cut) == {"data-truncated": [1]}
    # Behind the disk, where a snapshot keeps its VM state, clusters are whole.
    state = replace(STANDARD, virtual_bytes=0x10000)
    assert judged(entries, state) == {"data-truncated": [1]}


@pytest.mark.parametrize("cluster_bits", range(9, 22))
def test_compressed_offsets_of_every_cluster_size(cluster_bits: int) -> None:
    context = RuleContext(Geometry(cluster_bits), 3, 1 << 30)
    offset_bits = 62 - (cluster_bits - 8)
    sound = compressed(12345, 1, cluster_bits)
    far = compressed(1 << min(offset_bits - 1, 55), 1, cluster_bits)
    assert judged([(sound, 0), (far, 0)], context) == {"compressed-beyond-eof": [1]}
    for bit in range(56, offset_bits):
        high = compressed(1 << bit, 1, cluster_bits)
        assert judged([(sound, 0), (high, 0)], context) == {"compressed-offset-high": [1]}
    # The bits behind the offset are the sector count's: none is reserved.
    most = compressed(0, 1 << (cluster_bits - 8), cluster_bits)
    assert judged([(most, 0)], context) == {}


def test_tables_that_are_no_neighbours() -> None:
    entries = [(COPIED | 0x1000, 0), (COPIED | 0x2000, 0)]
    context = RuleContext(Geometry(9), 3, 1 << 20, has_data_file=True)
    starts = np.array([0x1000, 0x2000], dtype=np.int64)
    assert judged(entries, context, starts) == {}
    assert judged(entries, context, starts + 512) == {"data-file-offset": [0, 1]}
    assert judged(entries, context, 0x1000) == {"data-file-offset": [1]}


def test_an_empty_table_has_no_faults() -> None:
    assert judged([], STANDARD) == {}


# ------------------------------------------------------------------------------ against one by one


def naive(index: int, word: int, bitmap: int, context: RuleContext) -> set[str]:
    """Spec 1.7 to 1.9, 2.2 and 2.5, one entry at a time."""
    cluster_bits = context.geometry.cluster_bits
    if word & COMPRESSED:
        return naive_compressed(word, bitmap, context)
    cluster = 1 << cluster_bits
    guest = index * cluster
    offset, copied, flag = word & 0x00FF_FFFF_FFFF_FE00, bool(word & COPIED), bool(word & 1)
    extended = context.geometry.extended_l2
    plain_zero = flag and not extended
    at_zero = context.has_data_file and copied and not offset and not plain_zero
    allocated = bool(offset) or at_zero
    bitmap = bitmap if extended else 0
    alloc_bits = bitmap & ALL
    has_data = allocated and (bool(alloc_bits) if extended else not flag)
    codes = set()
    if word & 0x3F00_0000_0000_01FE:
        codes.add("l2-reserved-bits")
    if flag and (extended or context.version == 2):
        codes.add("extended-zero-flag" if extended else "zero-flag-v2")
    if allocated and alloc_bits & bitmap >> 32:
        codes.add("subcluster-conflict")
    if not allocated and alloc_bits:
        codes.add("subclusters-without-cluster")
    elif not allocated and copied and not extended and not flag:
        codes.add("data-at-header")
    elif not allocated and copied and not (context.has_data_file and guest == 0):
        codes.add("copied-without-cluster")
    if allocated and offset % cluster:
        codes.add("data-cluster-unaligned" if has_data else "zero-cluster-unaligned")
    if allocated:
        data_bytes = alloc_bits.bit_length() * cluster // 32 if extended else cluster
        codes |= naive_place(guest, offset, context, data_bytes=data_bytes if has_data else 0)
    return codes


def naive_place(guest: int, offset: int, context: RuleContext, *, data_bytes: int) -> set[str]:
    aligned = offset % context.geometry.cluster_bytes == 0
    end = offset + min(data_bytes, needed(guest, context))
    has_data = data_bytes > 0
    if context.has_data_file:
        if aligned and offset != guest:
            return {"data-file-offset"}
        limit = context.data_file_bytes
        short = has_data and aligned and limit is not None and end > limit
        return {"data-file-short"} if short else set()
    if offset >= context.file_bytes:
        return {"data-beyond-eof"}
    return {"data-truncated"} if has_data and aligned and end > context.file_bytes else set()


def needed(guest: int, context: RuleContext) -> int:
    cluster = context.geometry.cluster_bytes
    if context.virtual_bytes is None or context.virtual_bytes <= guest:
        return cluster
    return min(cluster, context.virtual_bytes - guest)


def naive_compressed(word: int, bitmap: int, context: RuleContext) -> set[str]:
    cluster_bits = context.geometry.cluster_bits
    offset_bits = 62 - (cluster_bits - 8)
    offset = word & (1 << offset_bits) - 1
    sectors = (word >> offset_bits & (1 << cluster_bits - 8) - 1) + 1
    end = offset // 512 * 512 + sectors * 512
    file_end = -(-context.file_bytes // 512) * 512
    codes = {"compressed-copied"} if word & COPIED else set()
    if context.has_data_file:
        return codes | {"compressed-with-data-file"}
    if bitmap and context.geometry.extended_l2:
        return codes | {"compressed-subclusters"}
    if offset >> 56:
        codes.add("compressed-offset-high")
    elif end - file_end >= 1 << cluster_bits:
        codes.add("compressed-beyond-eof")
    elif offset >= context.file_bytes:
        codes.add("compressed-missing")
    elif end > file_end:
        codes.add("compressed-truncated")
    return codes


OFFSETS = st.one_of(
    st.just(0),
    st.integers(0, 1 << 11).map(lambda sector: sector * 512),
    st.integers(0, 31).map(lambda cluster: cluster << 16),
    st.integers(0, (1 << 62) - 1),
)
FLAGS = st.lists(
    st.sampled_from([COPIED, COMPRESSED, 1]) | st.integers(0, 63).map(lambda bit: 1 << bit),
    max_size=2,
)
BITMAPS = st.sampled_from([0, ALL, ALL << 32, 1, 1 << 32, 1 | 1 << 32]) | st.integers(
    0, (1 << 64) - 1
)
ENTRIES = st.lists(
    st.tuples(
        st.builds(lambda offset, flags: offset | sum(set(flags)) & ~offset, OFFSETS, FLAGS), BITMAPS
    ),
    max_size=12,
)
CONTEXTS = st.builds(
    lambda bits, extended, version, file_bytes, data_file, virtual: RuleContext(
        Geometry(max(bits, 14) if extended else bits, extended and version == 3),
        version,
        file_bytes,
        has_data_file=data_file is not None and version == 3,
        data_file_bytes=data_file or None,
        virtual_bytes=virtual,
    ),
    st.sampled_from([9, 10, 12, 14, 16, 21]),
    st.booleans(),
    st.sampled_from([2, 3]),
    st.integers(0, 1 << 21),
    st.none() | st.integers(0, 1 << 20),
    st.none() | st.integers(0, 1 << 20),
)


@given(ENTRIES, CONTEXTS)
@example([(COPIED | 0x50000, 0)] * 2, STANDARD)
def test_whole_tables_against_single_entries(
    entries: list[tuple[int, int]], context: RuleContext
) -> None:
    expected: dict[str, list[int]] = {}
    for index, (word, bitmap) in enumerate(entries):
        for code in naive(index, word, bitmap, context):
            expected.setdefault(code, []).append(index)
    assert judged(entries, context) == expected
