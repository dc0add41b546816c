"""What people and scripts read: tables and facts as text or as JSON, errors and warnings.

A table is made once and rendered twice. On a terminal rich draws it; anywhere else it is plain text
in columns. Every text passes `printable`: names in an image must not steer a terminal.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from qcowgui.errors import QcowError
from qcowgui.format.text import decode_name
from qcowgui.report import schema

Cell = int | str | bool | None
Show = Callable[[Cell], str]

SCHEMA: Final = schema.SCHEMA
"""Version of everything in our JSON that qemu-img's does not have."""

_BUFFERED_ROWS: Final = 256
"""Rows looked at before column widths are settled; a longer table is written as it is made."""
_GAP: Final = "  "


def printable(text: str) -> str:
    r"""`text` with everything that is not printable escaped; bytes that are no text as \xNN."""
    if text.isprintable():
        return text
    return decode_name(text.encode("utf-8", "surrogateescape"))[0]


def show(cell: Cell) -> str:
    """A cell as text: yes or no, thousands separated, nothing for None."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return f"{cell:,}" if isinstance(cell, int) else cell


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        key: Its name in JSON.
        title: Its heading; None leaves it to JSON alone.
        show: Its cells as text.
        right: Whether it is aligned to the right.
        whole: Whether its cells are never broken into two lines; those to the right never are.
    """

    key: str
    title: str | None
    show: Show = show
    right: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a title.

    Attributes:
        key: Its name in JSON.
        title: What stands above it.
        columns: One for each cell of a row.
        rows: Made as they are asked for, and only once.
        empty: What is said when there is no row.
    """

    key: str
    title: str
    columns: Sequence[Column]
    rows: Iterable[Sequence[Cell]]
    empty: str = "none"

    def text_rows(self) -> Iterator[list[str]]:
        """The rows as text, columns without a title left out."""
        chosen = [(i, column.show) for i, column in enumerate(self.columns) if column.title]
        for row in self.rows:
            yield [printable(text(row[index])) for index, text in chosen]

    def objects(self) -> Iterator[dict[str, Cell]]:
        """The rows as JSON objects."""
        keys = [column.key for column in self.columns]
        for row in self.rows:
            yield dict(zip(keys, row, strict=True))


def facts(key: str, title: str, pairs: Iterable[tuple[str, str]]) -> Table:
    """A table of two columns, what and how it is."""
    columns = (Column("name", "name"), Column("value", "value"))
    return Table(key, title, columns, pairs)


def print_text(text: str) -> None:
    """Write `text` on standard output as it is."""
    sys.stdout.write(text)


def print_line(text: str = "", *, style: str = "") -> None:
    """Print a line on standard output; `style` is rich's and counts on a terminal only."""
    if style and _on_terminal():
        from rich.console import Console
        from rich.text import Text

        Console().print(Text(printable(text), style=style), soft_wrap=True)
    else:
        sys.stdout.write(printable(text) + "\n")


def print_facts(table: Table) -> None:
    """Print a table of `facts`, without headings for its two columns."""
    rows = list(table.text_rows())
    width = max((len(name) for name, _ in rows), default=0)
    print_line(table.title, style="bold")
    for name, value in rows:
        sys.stdout.write(f"  {name:<{width}}  {value}\n")


def print_table(table: Table) -> None:
    """Print a table for people; one that does not end soon is written while it is made."""
    rows = table.text_rows()
    head = list(itertools.islice(rows, _BUFFERED_ROWS))
    print_line(table.title, style="bold")
    if not head:
        sys.stdout.write(f"  {printable(table.empty)}\n")
    elif len(head) < _BUFFERED_ROWS and _on_terminal():
        _print_rich(table, head)
    else:
        _print_plain(table, head, rows)


def _print_plain(table: Table, head: list[list[str]], rest: Iterator[list[str]]) -> None:
    columns = [column for column in table.columns if column.title]
    titles = [column.title or "" for column in columns]
    widths = [max(map(len, cells)) for cells in zip(titles, *head, strict=True)]
    aligned = [
        (">" if column.right else "<") + str(width)
        for column, width in zip(columns, widths, strict=True)
    ]
    for row in itertools.chain([titles], head, rest):
        cells = [format(cell, form) for cell, form in zip(row, aligned, strict=True)]
        sys.stdout.write("  " + _GAP.join(cells).rstrip() + "\n")


def _print_rich(table: Table, rows: list[list[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=box.SIMPLE_HEAD, show_edge=False, header_style="dim")
    for column in table.columns:
        if column.title:
            drawn.add_column(
                column.title,
                justify="right" if column.right else "left",
                overflow="fold",
                no_wrap=column.right or column.whole,
            )
    for row in rows:
        drawn.add_row(*map(Text, row))  # Text: brackets in a name are no markup
    Console().print(drawn)


def _on_terminal() -> bool:
    return sys.stdout.isatty()


def json_text(value: object) -> str:
    """A JSON value as text, indented, in pure ASCII: right for any locale."""
    return json.dumps(value, indent=4) + "\n"


def print_json(value: object) -> None:
    """Print a JSON value."""
    sys.stdout.write(json_text(value))


def print_json_stream(items: Iterable[str], *, prefix: str = "") -> None:
    """Print a JSON array of `items`, texts in JSON already, one a line and each as it comes."""
    write = sys.stdout.write
    separator = prefix + "["
    for item in items:
        write(separator + item)
        separator = ",\n"
    write("]" if separator == ",\n" else prefix + "[]")


def print_json_tables(filename: str, tables: Iterable[Table], *, more: Callable[[], bool]) -> None:
    """Print a JSON object with the schema, the file's name and an array of rows for each table.

    `more` is asked last: whether the tables have rows that were left out.
    """
    encode = json.JSONEncoder().encode
    sys.stdout.write(f'{{"schema": {SCHEMA},\n"filename": {json.dumps(filename)}')
    for table in tables:
        print_json_stream(map(encode, table.objects()), prefix=f",\n{json.dumps(table.key)}: ")
    sys.stdout.write(f',\n"more": {json.dumps(more())}}}\n')


def warn(text: str) -> None:
    """Print a warning on standard error."""
    _tell(f"qcowgui: warning: {printable(text)}\n")


def _tell(text: str) -> None:
    """Write on standard error. That it can't be written is nobody's to know, and stops no work."""
    with contextlib.suppress(OSError):
        sys.stderr.write(text)


def report_error(
    error: BaseException, message: str = "", *, hint: str = "", debug: bool = False
) -> None:
    """Print why the program ends, on standard error: a sentence, then what can be done.

    Args:
        error: What was raised.
        message: The sentence; by default that of a `QcowError`.
        hint: What the user can do; by default that of a `QcowError`.
        debug: Whether the traceback comes first.
    """
    if debug:
        import traceback

        _tell("".join(traceback.format_exception(error)))
    if isinstance(error, QcowError):
        message = message or error_sentence(error)
        hint = hint or error.hint
    _tell(f"qcowgui: {printable(message)}\n")
    if hint:
        _tell(f"  hint: {printable(hint)}\n")


def error_sentence(error: QcowError) -> str:
    """What happened, with the file's name unless the sentence has it already."""
    path = getattr(error, "path", "")
    if path and path not in error.message:
        return f"{path}: {error.message}"
    return error.message
