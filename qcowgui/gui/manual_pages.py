"""The manual's pages as Markdown, and what is found in them. Knows no widgets.

The prose lies in `resources/manual`, that of other languages in a folder each. What the program
knows better, such as the states of the map, the keys and the findings, is filled in here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from qcowgui.check.cells import Description
from qcowgui.gui.formatters import Table
from qcowgui.gui.heatmap.layers import GUEST_KEYS, HOST_KEYS, Key, Order
from qcowgui.gui.translation import SOURCE_LANGUAGE, state_description, translate
from qcowgui.report.explain import Family, explain, families
from qcowgui.resources import resource_path

START: Final = "start.md"
FINDINGS: Final = "findings.md"
KEYBOARD: Final = "keyboard.md"
_PROSE: Final = (
    START,
    "map.md",
    "checking.md",
    "converting.md",
    "repair.md",
    "salvage.md",
    KEYBOARD,
    FINDINGS,
)
"""The pages in their order; those of the findings follow the last."""

SWATCH_SCHEME: Final = "swatch"
"""Of the addresses of pictures: `swatch:host-17` is the square of a state of the map."""

_CONTEXT_CHARACTERS: Final = 60
"""Of text shown on either side of what was found."""
_MARKS: Final = re.compile(
    r"\*\*|`|!\[[^\]]*\]\([^)]*\)|\[([^\]]*)\]\([^)]*\)|^\|[-| ]+\|$", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Page:
    """One page.

    Attributes:
        address: As links name it: `map.md`, `findings/header.md`.
        title: Its heading.
        markdown: All of it, heading included.
        below: Whether it belongs under the page on findings.
    """

    address: str
    title: str
    markdown: str
    below: bool = False

    def sections(self) -> list[Section]:
        """Its parts: what stands before the first heading of second rank, then each of those."""
        head, *rest = self.markdown.split("\n## ")
        parts = [Section(self.address, self.title, self.title, _plain(head.partition("\n")[2]))]
        for part in rest:
            title, _, text = part.partition("\n")
            address = f"{self.address}#{anchor_of(title)}"
            parts.append(Section(address, self.title, title, _plain(text)))
        return parts


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page.

    Attributes:
        address: The page's, and behind # the anchor of a heading of second rank.
        page: The heading of its page.
        title: Its own heading, or its page's.
        text: Without marks, in one line.
    """

    address: str
    page: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A section in which all the words occur.

    Attributes:
        section: It.
        excerpt: Text around the first of the words; the section's beginning when they are in its
            title.
    """

    section: Section
    excerpt: str


def manual_pages(keys: Table, language: str = SOURCE_LANGUAGE) -> tuple[Page, ...]:
    """The whole manual. What it says of single findings is English in every language.

    Args:
        keys: Commands and their keys, two columns.
        language: The code of a language of `translation.LANGUAGES`.

    Raises:
        FileNotFoundError: When the program came without its manual.
    """
    filled = {
        "{host-states}": _states_table(Order.HOST, HOST_KEYS),
        "{guest-states}": _states_table(Order.GUEST, GUEST_KEYS),
        "{keys}": _markdown_table([column.title for column in keys.columns], _cells(keys)),
        "{findings}": "\n".join(
            f"- [{family.title}](findings/{family.name}.md): {len(family.explanations)}"
            for family in families()
        ),
    }
    folder = () if language == SOURCE_LANGUAGE else (language,)
    pages = []
    for address in _PROSE:
        text = resource_path("manual", *folder, address).read_text("utf-8")
        for mark, content in filled.items():
            text = text.replace(mark, content)
        pages.append(Page(address, text.partition("\n")[0].removeprefix("# "), text))
    return (*pages, *map(_family_page, families()))


def finding_address(code: str) -> str:
    """Where the manual explains a finding.

    Raises:
        KeyError: When there is no finding of that code.
    """
    return f"findings/{explain(code).family}.md#{code}"


def anchor_of(heading: str) -> str:
    """By which name links know a heading: lower case, with dashes for what is no letter."""
    return re.sub(r"[^\w]+", "-", heading.lower()).strip("-")


def search(sections: Iterable[Section], text: str) -> list[Hit]:
    """The sections with all words of `text`: first in their title, then side by side, then any."""
    words = text.casefold().split()
    if not words:
        return []
    ranked: list[tuple[int, Hit]] = []
    for section in sections:
        title, body = section.title.casefold(), section.text.casefold()
        if all(word in title for word in words):
            ranked.append((0 if title.startswith(words[0]) else 1, Hit(section, _cut(section, 0))))
        elif all(word in body or word in title for word in words):
            phrase = body.find(" ".join(words))
            first = min(body.find(word) for word in words if word in body)
            rank, place = (2, phrase) if phrase >= 0 else (3, first)
            ranked.append((rank, Hit(section, _cut(section, place))))
    ranked.sort(key=lambda each: each[0])
    return [hit for _, hit in ranked]


def _cut(section: Section, position: int) -> str:
    """The text around a position, cut at words."""
    start = max(0, position - _CONTEXT_CHARACTERS // 3)
    if start:
        start = section.text.find(" ", start) + 1
    end = start + 2 * _CONTEXT_CHARACTERS
    cut = section.text[start:end]
    if end < len(section.text):
        cut = cut.rpartition(" ")[0] + " …"
    return ("… " if start else "") + cut


def _family_page(family: Family) -> Page:
    parts = [f"# {family.title}"]
    if family.introduction:
        parts.append(family.introduction)
    for each in family.explanations:
        remedy = f"{each.remedy} {each.command}".strip()
        parts += [
            f"## {each.code}",
            each.meaning,
            f"**Cause.** {each.cause}",
            f"**What to do.** {remedy}",
        ]
    return Page(f"findings/{family.name}.md", family.title, "\n\n".join(parts), below=True)


def _states_table(order: Order, keys: Sequence[Key]) -> str:
    """The states as the legend calls them, each with its square."""
    rows = []
    for key in keys:
        said = state_description(Description(key.name, key.meaning))
        square = f"![{key.name}]({SWATCH_SCHEME}:{order.value}-{key.value})"
        rows.append((square, f"**{said.name}**", said.meaning))
    return _markdown_table(
        ["", translate("manual", "State"), translate("manual", "What it means")], rows
    )


def _cells(table: Table) -> list[tuple[str, ...]]:
    return [tuple(_escaped(cell) for cell in row.cells) for row in table.rows]


def _markdown_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]|<>#+])", r"\\\1", text)


def _plain(markdown: str) -> str:
    text = re.sub(r"\\(.)", r"\1", _MARKS.sub(lambda match: match.group(1) or "", markdown))
    return " ".join(text.replace("|", " ").split())
