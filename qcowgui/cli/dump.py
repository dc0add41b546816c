"""`qcowgui dump`: any structure, field by field: offset, raw bytes, value, meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import click

from qcowgui.cli import output, parameters
from qcowgui.cli.dump_entry import entry_tables
from qcowgui.cli.dump_fields import (
    bitmap_tables,
    encryption_tables,
    extensions_table,
    header_table,
    snapshot_tables,
)
from qcowgui.cli.dump_tables import (
    Selection,
    l1_table,
    l2_table,
    refcount_block,
    refcount_table,
)
from qcowgui.cli.info_text import features_table
from qcowgui.cli.output import Table
from qcowgui.errors import UsageError
from qcowgui.image.inspect import ImageReport, inspect_source
from qcowgui.image.source import FileSource

STRUCTURES: Final = (
    "header",
    "features",
    "extensions",
    "l1",
    "l2",
    "refcounts",
    "snapshots",
    "bitmaps",
    "encryption",
    "entry",
)
_DEFAULT_COUNT: Final = 64
_HELP: Final = """Print a STRUCTURE of IMAGE with offsets, raw bytes, values and meanings.

\b
header, features, extensions, snapshots, bitmaps, encryption
l1                 the active L1 table
l2 L1INDEX         the L2 table that this L1 entry names
refcounts          the refcount table
refcounts INDEX    the refcount block that this entry of the table names
entry OFFSET       where guest byte OFFSET (512, 64k, 0x10000) is

Without STRUCTURE: header, features and extensions. Of tables the first 64 entries that are not
empty are printed, unless --first, --count or --all ask for others; in JSON, "more" tells whether
that left some out. What the file lacks because it is cut short is left out.
"""


@click.command("dump", help=_HELP)
@parameters.image_argument
@click.argument("structure", type=click.Choice(STRUCTURES), required=False, metavar="[STRUCTURE]")
@click.argument("which", required=False)
@click.option(
    "--first", type=click.IntRange(min=0), metavar="N", help="The first entry of a table to print."
)
@click.option(
    "--count", type=click.IntRange(min=0), metavar="N", help="How many entries, empty ones too."
)
@click.option("--all", "everything", is_flag=True, help="Every entry of a table that is not empty.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def command(
    image: str,
    structure: str | None,
    which: str | None,
    first: int | None,
    count: int | None,
    everything: bool,
    as_json: bool,
) -> None:
    """Print a STRUCTURE of IMAGE; see `_HELP`."""
    if everything and count is not None:
        raise UsageError("--all and --count contradict each other")
    selection = Selection(
        first=first or 0,
        count=count,
        limit=None if everything or count is not None else _DEFAULT_COUNT,
    )
    with FileSource(image) as source:
        report = inspect_source(source)
        tables = _tables(source, report, structure, which, selection)
        if as_json:
            output.print_json_tables(image, tables, more=lambda: selection.cut)
            return
        for index, table in enumerate(tables):
            if index:
                output.print_line()
            output.print_table(table)
        if selection.cut:
            output.print_line("  … there are more: --all prints them, --first N goes on from N")


def _tables(
    source: FileSource,
    report: ImageReport,
    structure: str | None,
    which: str | None,
    selection: Selection,
) -> Iterator[Table]:
    """The tables asked for, each made when the one before has been printed."""
    plain: dict[str, Callable[[], Iterator[Table]]] = {
        "header": lambda: iter([header_table(report)]),
        "features": lambda: iter([features_table(report.features, only_set=False)]),
        "extensions": lambda: iter([extensions_table(report)]),
        "snapshots": lambda: snapshot_tables(source, report),
        "bitmaps": lambda: bitmap_tables(source, report),
        "encryption": lambda: encryption_tables(report),
        "l1": lambda: iter([l1_table(source, report, selection)]),
    }
    if structure is None:
        for name in ("header", "features", "extensions"):
            yield from plain[name]()
    elif structure in plain:
        if which is not None:
            raise UsageError(f"dump {structure} takes no further argument, but {which!r} was given")
        yield from plain[structure]()
    elif structure == "refcounts" and which is None:
        yield refcount_table(source, report, selection)
    elif structure == "refcounts":
        yield refcount_block(source, report, _index(which, "INDEX"), selection)
    elif structure == "l2":
        yield l2_table(source, report, _index(which, "L1INDEX"), selection)
    else:
        yield from entry_tables(source, report, _index(which, "OFFSET"))


def _index(text: str | None, name: str) -> int:
    """The number that an argument means; sizes are understood too.

    Raises:
        UsageError: When it is missing or no number.
    """
    if text is None:
        raise UsageError(f"{name} is missing", hint="qcowgui dump --help lists what is possible")
    try:
        return parameters.parse_number(text)
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from error
