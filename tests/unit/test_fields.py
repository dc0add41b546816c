"""The field table against literals, and against the builder's own table."""

from __future__ import annotations

import pytest

from qcowgui.format import fields
from qcowgui.format.fields import BitField, Field
from tests.support import layout

TABLES = {
    "header": (fields.HEADER_FIELDS, 112),
    "snapshot": (fields.SNAPSHOT_FIELDS, 40),
    "snapshot extra": (fields.SNAPSHOT_EXTRA_FIELDS, 24),
    "bitmaps extension": (fields.BITMAPS_EXTENSION_FIELDS, 24),
    "bitmap directory": (fields.BITMAP_DIRECTORY_FIELDS, 24),
    "encryption extension": (fields.ENCRYPTION_EXTENSION_FIELDS, 16),
}
WORDS = {
    "L1": (fields.L1_BITS, 0x7F00_0000_0000_01FF),
    "L2": (fields.L2_STANDARD_BITS, 0x3F00_0000_0000_01FE),
    "subclusters": (fields.SUBCLUSTER_BITS, 0),
    "refcount table": (fields.REFCOUNT_TABLE_BITS, 0x1FF),
    "bitmap table": (fields.BITMAP_TABLE_BITS, 0xFF00_0000_0000_01FE),
    "compressed, 512": (fields.compressed_bits(9), 0),
    "compressed, 64k": (fields.compressed_bits(16), 0),
    "compressed, 2M": (fields.compressed_bits(21), 0),
}


@pytest.mark.parametrize("name", TABLES)
def test_fields_lie_side_by_side(name: str) -> None:
    table, length = TABLES[name]
    end = 0
    for field in table:
        assert field.offset == end, field.name
        assert field.meaning
        end = field.end
    assert end == length


def test_header_fields_are_where_the_builder_puts_them() -> None:
    ours = {field.name: (field.offset, field.width_bytes) for field in fields.HEADER_FIELDS}
    assert ours.pop("padding") == (105, 7)
    assert ours == layout.HEADER_FIELDS
    assert {f.name for f in fields.HEADER_FIELDS if f.since == 2} == {
        f.name for f in fields.HEADER_FIELDS if f.end <= 72
    }


@pytest.mark.parametrize("name", WORDS)
def test_bits_fill_the_word_once(name: str) -> None:
    bits, reserved = WORDS[name]
    low = 0
    for field in bits:
        assert field.low == low, field.name
        low = field.high + 1
    assert low == 64
    mask = sum(((1 << f.high + 1) - 1) & ~((1 << f.low) - 1) for f in bits if f.reserved)
    assert mask == reserved


@pytest.mark.parametrize(
    ("cluster_bits", "shift"), [(9, 61), (12, 58), (14, 56), (16, 54), (21, 49)]
)
def test_compressed_bits(cluster_bits: int, shift: int) -> None:
    offset, sectors, flag, copied = fields.compressed_bits(cluster_bits)
    assert (offset.high, sectors.low, sectors.high) == (shift - 1, shift, 61)
    assert (flag.low, copied.low) == (62, 63)


def test_extract() -> None:
    assert BitField("x", 4, 7, "").extract(0xA5) == 0xA
    assert BitField("x", 63, 63, "").extract(1 << 63) == 1


def test_values_of_a_cut_structure() -> None:
    table = (
        Field("a", 0, 2, 2, fields.FieldKind.NUMBER, "a"),
        Field("b", 2, 4, 2, fields.FieldKind.NUMBER, "b"),
        Field("c", 6, 2, 3, fields.FieldKind.NUMBER, "c"),
    )
    data = bytes.fromhex("0102 03040506")
    a, b, c = fields.iter_field_values(table, data, base_offset=100)
    assert (a.value, a.raw, a.host_offset) == (0x0102, b"\1\2", 100)
    assert (b.value, b.host_offset) == (0x0304_0506, 102)
    assert (c.value, c.raw, c.host_offset) == (None, b"", 106)
    assert [found.value for found in fields.iter_field_values(table, data[:5])] == [258, None, None]
    assert [found.value for found in fields.iter_field_values(table, data, end=5)] == [
        258,
        None,
        None,
    ]
    assert fields.parse_fields(table, data[:5]) == {"a": 258, "b": 0, "c": 0}


def test_field_named() -> None:
    assert fields.field_named(fields.HEADER_FIELDS, "size").offset == 24
    with pytest.raises(KeyError):
        fields.field_named(fields.HEADER_FIELDS, "no such field")


def test_header_end() -> None:
    assert fields.header_end(2, 104) == 72
    assert fields.header_end(3, 120) == 120
