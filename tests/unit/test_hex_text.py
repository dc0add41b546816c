"""Bytes as text: rows, copies, numbers, offsets."""

from __future__ import annotations

import ast
import base64

import pytest

from qcowgui.errors import UsageError
from qcowgui.gui.hex_text import (
    CopyFormat,
    Reading,
    copy_text,
    dump,
    hex_column,
    offset_digits,
    offset_text,
    parse_offset,
    range_text,
    readings,
    row_text,
)

HEADER = bytes.fromhex("514649fb00000003")


def test_a_row_is_drawn_in_layers_of_equal_pitch() -> None:
    row = row_text(b"QFI\xfb\0\0\0\x03\x7f")
    assert row.digits == "51 46 49 fb          03  7f"
    assert row.zeros == "            00 00 00       "
    assert row.letters == "QFI      "
    assert row.dots == "   ......"
    assert len(row.digits) == len(row.zeros)
    assert row.digits[hex_column(8) :] == "7f"


def test_what_cannot_be_read_shows_as_such() -> None:
    row = row_text(b"A\0\0", [True, False, True])
    assert (row.digits, row.zeros) == ("41 ??   ", "      00")
    assert (row.letters, row.dots) == ("A  ", " ?.")


@pytest.mark.parametrize("index", range(32))
def test_the_column_of_a_byte_is_where_its_digits_are(index: int) -> None:
    data = bytes(range(0x80, 0xA0))
    assert row_text(data).digits[hex_column(index) :][:2] == f"{0x80 + index:02x}"


@pytest.mark.parametrize(
    ("size_bytes", "digits"),
    [(0, 8), (1, 8), (1 << 32, 8), ((1 << 32) + 1, 12), (1 << 48, 12), (1 << 63, 16)],
)
def test_offsets_have_as_many_digits_as_the_last_one_needs(size_bytes: int, digits: int) -> None:
    assert offset_digits(size_bytes) == digits
    last = max(size_bytes - 1, 0)
    assert int(offset_text(last, digits).replace("_", ""), 16) == last


def test_offsets_are_grouped() -> None:
    assert offset_text(0x140000000, 12) == "0001_4000_0000"
    assert offset_text((1 << 63) + 1, 16) == "8000_0000_0000_0001"


def test_copies_can_be_read_back() -> None:
    data = bytes(range(256)) + b"\0\xff"
    assert bytes.fromhex(copy_text(data, CopyFormat.HEX)) == data
    assert base64.b64decode(copy_text(data, CopyFormat.BASE64)) == data
    assignment = ast.parse(copy_text(data, CopyFormat.PYTHON)).body[0]
    assert isinstance(assignment, ast.Assign)
    assert ast.literal_eval(assignment.value) == data
    source = copy_text(data, CopyFormat.C)
    assert source.startswith("static const unsigned char data[258] = {\n")
    numbers = source[source.index("{") + 1 : source.rindex("}")].split(",")
    assert bytes(int(number, 16) for number in numbers if number.strip()) == data


def test_nothing_can_be_copied_too() -> None:
    assert copy_text(b"", CopyFormat.PYTHON) == 'data = b""'
    assert copy_text(b"", CopyFormat.HEX) == copy_text(b"", CopyFormat.DUMP) == ""


def test_text_keeps_all_characters_of_a_clipboard() -> None:
    assert copy_text("Käse\0\n".encode() + b"\xff", CopyFormat.TEXT) == "Käse\u2400\n\ufffd"


def test_a_dump_keeps_the_columns_of_whole_rows() -> None:
    lines = dump(bytes(range(0x30, 0x30 + 20)), 0xE).splitlines()
    assert lines == [
        "0000_0000  " + " " * hex_column(14) + "30 31  " + " " * 14 + "01",
        "0000_0010  32 33 34 35 36 37 38 39  3a 3b 3c 3d 3e 3f 40 41  23456789:;<=>?@A",
        "0000_0020  42 43" + " " * (hex_column(16) - 5) + "BC",
    ]


def test_numbers_are_read_in_both_orders() -> None:
    assert readings(HEADER) == [
        Reading("u8", "0x51 = 81"),
        Reading("u16", "0x5146 = 20,806"),
        Reading("u32", "0x514649fb = 1,363,560,955"),
        Reading("u64", "0x514649fb00000003 = 5,856,449,707,827,527,683"),
    ]
    little = dict(readings(HEADER, little_endian=True))
    assert little["u16"] == "0x4651 = 18,001"
    assert little["u64"] == f"0x03000000fb494651 = {0x03000000FB494651:,}"


def test_the_largest_number_is_right() -> None:
    assert readings(b"\xff" * 8)[-1].text == "0xffffffffffffffff = 18,446,744,073,709,551,615"


def test_at_the_end_only_what_fits_is_read() -> None:
    assert [reading.name for reading in readings(b"\1\2\3")] == ["u8", "u16"]
    assert readings(b"") == []


def test_ranges_are_said_with_both_ends() -> None:
    assert range_text(16, 17) == "0x10 = 16"
    assert range_text(0x1000, 0x1008) == "0x1000 – 0x1007 · 8 bytes"
    assert range_text(0, 1 << 40) == "0x0 – 0xff_ffff_ffff · 1,099,511,627,776 bytes (1 TiB)"


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("0x1_0000", 0x10000),
        ("0X1f", 0x1F),
        (" 65536 ", 65536),
        ("65,536", 65536),
        ("64k", 65536),
        ("1.5M", 3 << 19),
        ("+0x10", 0x1010),
        ("- 16", 0xFF0),
        ("end", (1 << 40) - 1),
        ("0xffffffffff", (1 << 40) - 1),
    ],
)
def test_an_offset_can_be_given_in_many_ways(text: str, offset: int) -> None:
    assert parse_offset(text, current=0x1000, size_bytes=1 << 40) == offset


@pytest.mark.parametrize("text", ["", "x", "0x", "0xg", "12 34z", "+", "1.3", "--1"])
def test_nonsense_is_no_offset(text: str) -> None:
    with pytest.raises(UsageError, match="not an offset"):
        parse_offset(text, current=0, size_bytes=100)


@pytest.mark.parametrize(("text", "place"), [("100", "behind the end"), ("-1", "before the start")])
def test_an_offset_outside_is_refused(text: str, place: str) -> None:
    with pytest.raises(UsageError, match=place) as caught:
        parse_offset(text, current=0, size_bytes=100)
    assert "0x63" in caught.value.hint


def test_an_empty_source_has_offset_zero() -> None:
    assert parse_offset("0", current=0, size_bytes=0) == 0
    assert parse_offset("end", current=0, size_bytes=0) == 0
