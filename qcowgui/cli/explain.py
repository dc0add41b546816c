"""`qcowgui explain`: what a finding means, what causes it and what to do."""

from __future__ import annotations

import shutil
import textwrap
from typing import Final

import click

from qcowgui.cli import output
from qcowgui.report.explain import Explanation, explain, families, similar_codes

_MAX_WIDTH: Final = 88
"""Characters in a line of prose; wider ones are hard to read on any terminal."""


@click.command("explain")
@click.argument("codes", metavar="[CODE]...", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print for programs.")
def command(codes: tuple[str, ...], as_json: bool) -> None:
    """Say what a finding means, what causes it and what to do.

    A CODE stands behind each finding of `qcowgui check`, as in refcount-too-low. Without one all
    are listed.
    """
    chosen = [_explanation(code) for code in codes]
    if not chosen:
        chosen = [each for family in families() for each in family.explanations]
    if as_json:
        output.print_json([_as_object(each) for each in chosen])
    elif codes:
        for number, each in enumerate(chosen):
            if number:
                output.print_line()
            _print_explanation(each)
    else:
        _print_list()


def _explanation(code: str) -> Explanation:
    try:
        return explain(code.strip().lower())
    except KeyError:
        close = similar_codes(code)
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        raise click.BadParameter(f"there is no finding {code!r}{hint}") from None


def _as_object(each: Explanation) -> dict[str, str]:
    return {
        "code": each.code,
        "part": each.family,
        "summary": each.summary,
        "meaning": each.meaning,
        "cause": each.cause,
        "what-to-do": each.remedy,
        "command": each.command,
    }


def _print_explanation(each: Explanation) -> None:
    output.print_line(f"{each.code}: {each.summary}", style="bold")
    _print_paragraph(each.meaning)
    _print_paragraph(f"Cause: {each.cause}")
    _print_paragraph(f"What to do: {each.remedy}")
    if each.command:
        _print_paragraph(each.command)


def _print_paragraph(text: str) -> None:
    output.print_line()
    width = min(_MAX_WIDTH, shutil.get_terminal_size().columns)
    for line in textwrap.wrap(
        text.replace("**", ""),
        max(width, 20),
        initial_indent="  ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    ):
        output.print_line(line)


def _print_list() -> None:
    columns = (output.Column("code", "code", whole=True), output.Column("summary", "meaning"))
    for number, family in enumerate(families()):
        if number:
            output.print_line()
        rows = [(each.code, each.summary) for each in family.explanations]
        output.print_table(output.Table(family.name, family.title, columns, rows))
