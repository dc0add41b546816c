"""The few pieces of HTML that a report consists of. Every text is untrusted and gets escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import NewType

from qcowgui.format.text import decode_name

Markup = NewType("Markup", str)
"""HTML that is safe to put into a page."""

Content = str | Markup


def text(value: str) -> Markup:
    """A text from anywhere as HTML: with what can't be printed escaped, and no markup in it."""
    lines = value.split("\n")
    shown = (
        line if line.isprintable() else decode_name(line.encode("utf-8", "surrogateescape"))[0]
        for line in lines
    )
    return Markup("<br>".join(html.escape(line) for line in shown))


def element(tag: str, *content: Markup, kind: str = "") -> Markup:
    """An element around `content`; `kind` is its class."""
    attribute = f' class="{kind}"' if kind else ""
    return Markup(f"<{tag}{attribute}>{''.join(content)}</{tag}>")


def joined(*parts: Markup) -> Markup:
    """Pieces one behind the other, a line each."""
    return Markup("\n".join(parts))


def section(title: str, *content: Markup) -> Markup:
    """A section under a heading."""
    return element("section", element("h2", text(title)), *content)


def facts(pairs: Iterable[tuple[str, str]]) -> Markup:
    """Names and values; nothing when there are none."""
    rows = [element("dt", text(name)) + element("dd", text(value)) for name, value in pairs]
    return element("dl", Markup("".join(rows))) if rows else Markup("")


def table(
    headings: Sequence[str], rows: Iterable[Sequence[Markup]], kinds: Sequence[str] = ()
) -> Markup:
    """A table whose headings are repeated on every printed page.

    Args:
        headings: One a column.
        rows: One cell a column.
        kinds: The class of each column's cells; "" or nothing for none.
    """
    columns = list(kinds) or [""] * len(headings)
    head = [
        element("th", text(title), kind=kind) for title, kind in zip(headings, columns, strict=True)
    ]
    body = [
        element(
            "tr",
            *(element("td", cell, kind=kind) for cell, kind in zip(row, columns, strict=True)),
        )
        for row in rows
    ]
    return element("table", element("thead", element("tr", *head)), element("tbody", joined(*body)))
