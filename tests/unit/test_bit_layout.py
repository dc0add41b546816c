"""Words bit by bit: every bit in one part, for every geometry, and the wrong ones marked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.format import geometry as geo
from qcowgui.format.entries import L2Entry
from qcowgui.format.features import Feature, FeatureClass
from qcowgui.format.geometry import Geometry
from qcowgui.gui.bit_layout import (
    BitWord,
    bitmap_flags_word,
    bitmap_table_word,
    feature_word,
    l1_word,
    l2_words,
    refcount_table_word,
    refcount_word,
)

WORDS = st.integers(0, 2**64 - 1)
GEOMETRIES = st.builds(Geometry, st.integers(9, 21))
EXTENDED = st.builds(Geometry, st.integers(14, 21), st.just(True))


def assert_partition(word: BitWord) -> None:
    """Each bit is in one part, most significant first, and wrong bits are set bits of theirs."""
    bits = [bit for part in word.parts for bit in range(part.field.high, part.field.low - 1, -1)]
    assert bits == list(range(word.width_bits - 1, -1, -1))
    for index, part in enumerate(word.parts):
        assert word.part_at(part.field.low) == word.part_at(part.field.high) == index
        assert part.wrong_mask & ~(part.mask & word.value) == 0
        assert bool(part.wrong_mask) == bool(part.reason)


@given(WORDS)
def test_tables_of_pointers(value: int) -> None:
    l1, table, bitmap = l1_word(value), refcount_table_word(value), bitmap_table_word(value)
    for word in (l1, table, bitmap):
        assert_partition(word)
    assert l1.wrong_mask == value & 0x7F00_0000_0000_01FF
    assert table.wrong_mask == value & 0x1FF
    all_ones_is_wrong = value & 1 if value & 0x00FF_FFFF_FFFF_FE00 else 0
    assert bitmap.wrong_mask == value & 0xFF00_0000_0000_01FE | all_ones_is_wrong


@given(WORDS, GEOMETRIES, st.sampled_from([2, 3]))
def test_l2_entries(value: int, geometry: Geometry, version: int) -> None:
    (word,) = l2_words(L2Entry(value, 0, geometry), version)
    assert_partition(word)
    if value & geo.COMPRESSED:
        above = value & geometry.compressed_offset_mask & ~(2**56 - 1)
        assert word.wrong_mask == value & geo.COPIED | above
    else:
        zero_flag = value & 1 if version == 2 else 0
        assert word.wrong_mask == value & 0x3F00_0000_0000_01FE | zero_flag


@given(WORDS, WORDS, EXTENDED)
def test_extended_l2_entries(value: int, bitmap: int, geometry: Geometry) -> None:
    word, subclusters = l2_words(L2Entry(value, bitmap, geometry), 3)
    assert_partition(word)
    assert_partition(subclusters)
    if value & geo.COMPRESSED:
        assert subclusters.wrong_mask == bitmap
        return
    assert word.wrong_mask == value & 0x3F00_0000_0000_01FF
    data, zero = bitmap & 0xFFFF_FFFF, bitmap >> 32
    invalid = data & zero if value & geo.OFFSET_MASK else data
    assert subclusters.wrong_mask == invalid | (invalid & zero) << 32


@pytest.mark.parametrize(
    ("cluster_bits", "split"), [(9, 61), (12, 58), (14, 56), (16, 54), (21, 49)]
)
def test_a_compressed_descriptor_is_split_by_the_cluster_size(
    cluster_bits: int, split: int
) -> None:
    entry = L2Entry(geo.COMPRESSED | 1 << split | 0x1234, 0, Geometry(cluster_bits))
    (word,) = l2_words(entry, 3)
    parts = {part.field.name: part for part in word.parts}
    assert (parts["additional_sectors"].field.low, parts["additional_sectors"].text) == (split, "1")
    assert parts["host_offset"].field.high == min(split - 1, 55)
    assert parts["host_offset"].text == "0x1234 (4,660)"
    assert not word.wrong_mask


@pytest.mark.parametrize("bits", [1, 2, 4, 8, 16, 32, 64])
def test_refcounts_have_their_width(bits: int) -> None:
    word = refcount_word(2**bits - 1, bits)
    assert_partition(word)
    assert word.width_bits == bits
    assert word.decimal_text == f"{2**bits - 1:,}"


def test_numbers_keep_all_digits() -> None:
    word = l1_word(2**63 + 0x5_0000)
    assert word.hex_text == "0x8000_0000_0005_0000"
    assert word.decimal_text == "9,223,372,036,855,103,488"
    assert refcount_word(3, 16).hex_text == "0x0003"


def test_subclusters_are_named_by_runs() -> None:
    bitmap = 0b1001_1111 | 1 << 31 | 0b0110_0000 << 32
    _, word = l2_words(L2Entry(0x5_0000, bitmap, Geometry(16, extended_l2=True)), 3)
    assert [part.text for part in word.parts] == ["5–6", "0–4, 7, 31"]
    _, empty = l2_words(L2Entry(0x5_0000, 0, Geometry(16, extended_l2=True)), 3)
    assert [part.text for part in empty.parts] == ["none", "none"]


def feature(kind: FeatureClass, bit: int, *, known: bool) -> Feature:
    return Feature(kind, bit, True, known, f"name {bit}", f"meaning {bit}")


def test_only_unknown_incompatible_features_are_wrong() -> None:
    incompatible, compatible = FeatureClass.INCOMPATIBLE, FeatureClass.COMPATIBLE
    features = [
        feature(incompatible, 0, known=True),
        feature(incompatible, 63, known=False),
        feature(compatible, 40, known=False),
    ]
    word = feature_word("incompatible_features", 1 << 63 | 1, features, 0)
    assert_partition(word)
    assert word.wrong_mask == 1 << 63
    assert word.marked is not None
    assert word.parts[word.marked].field.name == "name 0"
    word = feature_word("compatible_features", 1 << 40, features)
    assert_partition(word)
    assert (word.wrong_mask, word.marked) == (0, None)


def test_bitmap_flags() -> None:
    word = bitmap_flags_word(0b1011)
    assert_partition(word)
    assert [part.field.name for part in word.parts] == [
        "reserved",
        "extra_data_compatible",
        "auto",
        "in_use",
    ]
    assert word.wrong_mask == 0b1000
