"""The texts that views, clipboard and screen readers share."""

from __future__ import annotations

import pytest

from qcowgui.format.fields import HEADER_FIELDS, FieldValue, field_named
from qcowgui.format.finding import Finding, Refusal, Severity
from qcowgui.gui.formatters import (
    Column,
    Row,
    Table,
    Tone,
    duration_text,
    field_row,
    finding_detail,
    findings_summary,
    findings_table,
    hex_text,
    offset_text,
    place_text,
    rate_text,
    ratio_text,
    short_duration_text,
    size_text,
    tsv,
)


def header_value(name: str, value: int) -> FieldValue:
    field = field_named(HEADER_FIELDS, name)
    return FieldValue(field, field.offset, value.to_bytes(field.width_bytes, "big"), value)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("magic", 0x514649FB, r"QFI\xfb"),
        ("magic", 0x4B444D56, "0x4b444d56"),
        ("version", 3, "3 (compat 1.1)"),
        ("version", 2, "2 (compat 0.10)"),
        ("version", 7, "7"),
        ("cluster_bits", 16, "16 (64 KiB)"),
        ("cluster_bits", 8, "8"),
        ("refcount_order", 4, "4 (16 bits)"),
        ("refcount_order", 0, "0 (1 bit)"),
        ("refcount_order", 7, "7"),
        ("crypt_method", 2, "2 (LUKS)"),
        ("crypt_method", 3, "3"),
        ("compression_type", 1, "1 (zstd)"),
        ("l1_table_offset", 0x14000, "0x1_4000 (81,920)"),
        ("l1_table_offset", 0, "none"),
        ("size", 1 << 30, "1 GiB (1,073,741,824 bytes)"),
        ("size", 512, "512 bytes"),
        ("incompatible_features", 0, "none"),
        ("incompatible_features", 0b101, "dirty bit, external data file"),
        ("incompatible_features", 1 << 40, "bit 40"),
        ("padding", 0, "0"),
        ("padding", 1, "not zero"),
        ("nb_snapshots", 65536, "65,536"),
    ],
)
def test_a_field_says_what_its_number_means(name: str, value: int, text: str) -> None:
    assert field_row(header_value(name, value)).cells[3] == text


def test_a_field_row_has_offset_bytes_and_place() -> None:
    row = field_row(header_value("size", 1 << 30))
    assert row.cells[:3] == ("size", "0x18", "00000000 40000000")
    assert (row.host_start, row.host_end, row.tone) == (24, 32, Tone.NORMAL)
    assert row.covers(24)
    assert row.covers(31)
    assert not row.covers(32)


def test_an_unknown_bit_has_the_images_own_name() -> None:
    row = field_row(header_value("compatible_features", 1 << 9), names={(1, 9): "colour"})
    assert row.cells[3] == "colour"


@pytest.mark.parametrize(
    ("raw", "words"), [(b"", "absent from this header"), (b"\0\0", "the file ends inside it")]
)
def test_a_field_that_is_not_there_says_why(raw: bytes, words: str) -> None:
    row = field_row(FieldValue(field_named(HEADER_FIELDS, "size"), 24, raw, None))
    assert row.cells[2:4] == ("–", "–")
    assert row.cells[4].endswith(words)
    assert row.tone is Tone.MUTED


def test_long_data_is_cut_and_says_so() -> None:
    assert hex_text(bytes(range(6))) == "00010203 0405"
    assert hex_text(bytes(64)).count("00") == 64
    assert hex_text(bytes(65)).endswith(" … (1 byte more)")


def test_numbers() -> None:
    assert size_text(1) == "1 byte"
    assert size_text(1536) == "1.5 KiB (1,536 bytes)"
    assert offset_text(0) == "0"
    assert offset_text(65536) == "0x1_0000 (65,536)"
    assert rate_text(312.4e6) == "312 MB/s"
    assert ratio_text(200, 50) == "25%"
    assert [short_duration_text(s) for s in (0.04, 9.9, 9.96, 70)] == [
        "0.0 s",
        "9.9 s",
        "10 s",
        "1:10",
    ]
    assert ratio_text(0, 50) == "–"
    assert [duration_text(s) for s in (0.4, 8, 59.6, 125, 3725)] == [
        "0 s",
        "8 s",
        "1:00",
        "2:05",
        "1:02:05",
    ]


def test_tsv_keeps_the_shape_whatever_a_cell_holds() -> None:
    assert tsv([["a\tb", "c\nd"], ["e", ""]]) == "a b\tc d\ne\t"
    table = Table((Column("x"), Column("y")), (Row(("1", "2")),))
    assert table.as_tsv() == "x\ty\n1\t2"


FINDING = Finding(
    "l2-truncated",
    Severity.CORRUPTION,
    "The file ends inside an L2 table.",
    "L1 table",
    host_offset=0x30008,
    entry=1,
    guest_start=1 << 29,
    guest_end=1 << 30,
    raw=4096,
    expected="less",
    count=3,
    refusal=Refusal.QEMU,
)


def test_a_finding_says_what_and_where() -> None:
    (row,) = findings_table([FINDING]).rows
    place = "L1 table · entry 1 · host 0x3_0008 · guest 0x2000_0000 – 0x4000_0000"
    assert row.cells == (
        "corruption",
        "The file ends inside an L2 table. (×3)",
        place,
        "l2-truncated",
    )
    assert place_text(FINDING) == place
    assert row.tone is Tone.DANGER
    assert row.detail.splitlines() == [
        "Expected: less",
        "Found: 4,096 (0x1000)",
        "QEMU refuses the image; guest data can be read.",
    ]
    assert finding_detail(Finding("dirty", Severity.INFO, "x", "header")) == ""


def test_the_badge_claims_only_what_was_looked_at() -> None:
    assert findings_summary([]) == ("No findings when opening", Tone.NORMAL)
    note = Finding("dirty", Severity.INFO, "x", "header")
    assert findings_summary([note]) == ("1 note", Tone.NOTE)
    assert findings_summary([note, FINDING]) == ("3 corruptions · 1 note", Tone.DANGER)
