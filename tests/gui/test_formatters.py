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
    findings_summary,
    rate_text,
    ratio_text,
    short_duration_text,
    tsv,
)


def header_value(name: str, value: int) -> FieldValue:
    field = field_named(HEADER_FIELDS, name)
    return FieldValue(field, field.offset, value.to_bytes(field.width_bytes, "big"), value)


def test_a_field_row_has_offset_bytes_and_place() -> None:
    row = field_row(header_value("size", 1 << 30))
    assert row.cells[:4] == ("size", "0x18", "00000000 40000000", "1 GiB (1,073,741,824 bytes)")
    assert (row.host_start, row.host_end, row.tone) == (24, 32, Tone.NORMAL)
    assert row.covers(24)
    assert row.covers(31)
    assert not row.covers(32)


def test_an_unknown_bit_has_the_images_own_name() -> None:
    row = field_row(header_value("compatible_features", 1 << 9), names={(1, 9): "colour"})
    assert row.cells[3] == "colour"


@pytest.mark.parametrize(("raw", "word"), [(b"", "absent"), (b"\0\0", "cut off")])
def test_a_field_that_is_not_there_says_why(raw: bytes, word: str) -> None:
    row = field_row(FieldValue(field_named(HEADER_FIELDS, "size"), 24, raw, None))
    assert row.cells[2:4] == ("–", word)
    assert row.tone is Tone.MUTED


def test_numbers() -> None:
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


def test_the_badge_claims_only_what_was_looked_at() -> None:
    assert findings_summary([]) == ("No findings when opening", Tone.NORMAL)
    assert findings_summary([], settled=False) == ("No findings so far", Tone.NORMAL)
    note = Finding("dirty", Severity.INFO, "x", "header")
    assert findings_summary([note]) == ("1 note", Tone.NOTE)
    assert findings_summary([note, FINDING]) == ("3 corruptions · 1 note", Tone.DANGER)
