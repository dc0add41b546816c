"""Feature bits and the names that an image gives them."""

from __future__ import annotations

import struct

import pytest

from qcowgui.format import features
from qcowgui.format.features import (
    FEATURES,
    Autoclear,
    Compatible,
    FeatureClass,
    Incompatible,
    decode_features,
    feature_name,
    parse_feature_names,
)
from tests.support.preamble import FEATURE_NAMES, feature_table


def test_bits_are_the_specifications() -> None:
    assert [bit.value for bit in Incompatible] == [1, 2, 4, 8, 16]
    assert [bit.value for bit in Compatible] == [1]
    assert [bit.value for bit in Autoclear] == [1, 2]
    known = features.KNOWN_INCOMPATIBLE, features.KNOWN_COMPATIBLE, features.KNOWN_AUTOCLEAR
    assert known == (0x1F, 0x1, 0x3)


def test_names_are_those_that_qemu_writes() -> None:
    names, findings = parse_feature_names(feature_table())
    assert findings == []
    assert names == {(kind, bit): name for kind, bit, name in FEATURE_NAMES}
    assert names == {place: name for place, (name, _) in FEATURES.items()}


def row(kind: int, bit: int, name: bytes) -> bytes:
    return struct.pack(">BB46s", kind, bit, name)


def test_a_name_may_fill_its_46_bytes_and_steers_no_terminal() -> None:
    names, _ = parse_feature_names(row(0, 5, b"x" * 46) + row(7, 200, b"\x1b[2J\xff"))
    assert names == {(0, 5): "x" * 46, (7, 200): "\\x1b[2J\\xff"}


@pytest.mark.parametrize("extra", [1, 47])
def test_an_incomplete_row_is_dropped_and_said(extra: int) -> None:
    names, (finding,) = parse_feature_names(row(0, 0, b"a") + b"z" * extra)
    assert names == {(0, 0): "a"}
    assert (finding.code, finding.raw) == ("feature-table-length", 48 + extra)


def test_feature_name() -> None:
    names = {(0, 0): "nonsense", (0, 9): "nine", (0, 10): ""}
    assert feature_name(FeatureClass.INCOMPATIBLE, 0, names) == "dirty bit"
    assert feature_name(FeatureClass.INCOMPATIBLE, 9, names) == "nine"
    assert feature_name(FeatureClass.INCOMPATIBLE, 10, names) == "bit 10"
    assert feature_name(FeatureClass.AUTOCLEAR, 9, names) == "bit 9"


def test_known_bits_are_listed_even_when_clear() -> None:
    found = decode_features(0, 0, 0, {})
    assert len(found) == 8
    assert not any(feature.is_set for feature in found)
    assert all(feature.known and feature.meaning for feature in found)


@pytest.mark.parametrize("bit", range(64))
@pytest.mark.parametrize("feature_class", FeatureClass)
def test_each_bit(feature_class: FeatureClass, bit: int) -> None:
    words = [0, 0, 0]
    words[feature_class] = 1 << bit
    incompatible, compatible, autoclear = words
    features_found = decode_features(incompatible, compatible, autoclear, {})
    (found,) = (feature for feature in features_found if feature.is_set)
    assert (found.feature_class, found.bit) == (feature_class, bit)
    assert found.known == ((feature_class, bit) in FEATURES)
    assert found.known or found.name == f"bit {bit}"
    assert found.known or found.meaning.startswith("unknown")
