"""Tables, JSON and text that is safe for a terminal."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

import pytest

from qcowgui.cli import output
from qcowgui.cli.output import Cell, Column, Table

Capture = pytest.CaptureFixture[str]

COLUMNS = (
    Column("index", "index", right=True),
    Column("hidden", None),
    Column("name", "name"),
    Column("good", "good"),
)


def table(rows: list[tuple[Cell, ...]]) -> Table:
    return Table("things", "Things", COLUMNS, rows, empty="no things")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ümlaut", "plain ümlaut"),
        ("a\x1b[31mred", "a\\x1b[31mred"),
        ("left\u202eright", "left\\u202eright"),
        ("nul\0 and\nline", "nul\\x00 and\\nline"),
        ("byte \udcff", "byte \\xff"),
    ],
)
def test_printable(text: str, shown: str) -> None:
    assert output.printable(text) == shown


def test_a_table_in_columns(capsys: Capture) -> None:
    output.print_table(table([(1, "x", "one", True), (12345, "y", "many\x1b", False)]))
    assert capsys.readouterr().out == (
        "Things\n   index  name      good\n       1  one       yes\n  12,345  many\\x1b  no\n"
    )


def test_an_empty_table_says_so(capsys: Capture) -> None:
    output.print_table(table([]))
    assert capsys.readouterr().out == "Things\n  no things\n"


def test_a_long_table_is_written_while_it_is_made(capsys: Capture) -> None:
    written_before_row: list[int] = []

    def rows() -> Iterator[tuple[Cell, ...]]:
        for index in range(1000):
            written_before_row.append(len(capsys.readouterr().out))
            yield index, None, f"row {index}", True

    output.print_table(Table("things", "Things", COLUMNS, rows()))
    # The first rows are looked at for the widths; from then on each is out before the next is made.
    assert all(size == 0 for size in itertools.islice(written_before_row, 1, 256))
    assert all(size > 0 for size in written_before_row[256:])


def test_on_a_terminal_names_are_no_markup(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(output, "_on_terminal", lambda: True)
    output.print_table(table([(1, "x", "[bold]one[/bold]", True)]))
    text = capsys.readouterr().out
    assert "[bold]one[/bold]" in text
    assert "Things" in text


def test_a_stream_of_json_is_an_array(capsys: Capture) -> None:
    objects = table([(1, "x", "one", True), (2, None, "two", False)]).objects()
    output.print_json_stream(map(json.dumps, objects))
    assert json.loads(capsys.readouterr().out) == [
        {"index": 1, "hidden": "x", "name": "one", "good": True},
        {"index": 2, "hidden": None, "name": "two", "good": False},
    ]


def test_tables_as_json(capsys: Capture) -> None:
    tables = [table([]), Table("others", "Others", COLUMNS, [(3, None, "ü\x1b", True)])]
    output.print_json_tables("a “b”", tables, more=lambda: True)
    text = capsys.readouterr().out
    assert text.isascii()
    assert json.loads(text) == {
        "schema": output.SCHEMA,
        "filename": "a “b”",
        "things": [],
        "others": [{"index": 3, "hidden": None, "name": "ü\x1b", "good": True}],
        "more": True,
    }


def test_on_a_narrow_terminal_numbers_and_hex_stay_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(output, "_on_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "50")
    columns = (
        Column("offset", "offset", right=True),
        Column("raw", "raw", whole=True),
        Column("meaning", "meaning"),
    )
    words = "several words that need more than one line of the table"
    output.print_table(Table("x", "X", columns, [(123456789, "00000000 00030000", words)]))
    lines = [line for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert all(len(line) <= 50 for line in lines)
    assert any("123,456,789   00000000 00030000   several" in line for line in lines)
    assert len(lines) > 5
