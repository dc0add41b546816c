"""What each finding means, what causes it and what to do: the manual's pages on findings.

A page of `resources/manual/findings` has a heading, an introduction, and a section for each code:
its heading is the code, and it says what the finding means, then its cause, then what to do.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from qcowgui.format.finding import CODES, REPAIRS, Repair
from qcowgui.resources import resource_path

_FAMILIES: Final = (
    "header",
    "features",
    "extensions",
    "encryption",
    "snapshots",
    "bitmaps",
    "l1",
    "l2",
    "compressed",
    "refcounts",
    "file",
)
"""The pages, in the order of the manual."""

_SECTION: Final = re.compile(
    r"(?P<meaning>.+?)\n\n\*\*Cause\.\*\* (?P<cause>.+?)\n\n\*\*What to do\.\*\* (?P<remedy>.+)",
    re.DOTALL,
)

_REPAIR_SENTENCES: Final = {
    Repair.LEAKS: "`qcowgui repair IMAGE -o REPAIRED --leaks` deals with it.",
    Repair.ALL: "`qcowgui repair IMAGE -o REPAIRED --all` deals with it.",
    Repair.SALVAGE: "`qcowgui salvage IMAGE -o OUT` saves what can still be read.",
}
"""Which command is for findings of that kind; `Repair.NONE` has none."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the manual says of a finding; texts are Markdown with code spans and nothing else.

    Attributes:
        code: Of the finding.
        family: The name of the page it stands on.
        meaning: What the finding says, and what follows from it.
        cause: How an image comes to have it.
        remedy: What to do.
    """

    code: str
    family: str
    meaning: str
    cause: str
    remedy: str

    @property
    def summary(self) -> str:
        """The finding in one sentence."""
        return CODES[self.code]

    @property
    def command(self) -> str:
        """A sentence with the command that deals with it; empty where `remedy` names one."""
        if "`qcowgui " in self.remedy:
            return ""
        return _REPAIR_SENTENCES.get(REPAIRS.get(self.code, Repair.NONE), "")


@dataclass(frozen=True, slots=True)
class Family:
    """One page: findings about the same part of an image.

    Attributes:
        name: Of the page, as in an address.
        title: Its heading.
        introduction: What the part of the image is; Markdown, maybe empty.
        explanations: Of its codes, in the page's order.
    """

    name: str
    title: str
    introduction: str
    explanations: tuple[Explanation, ...]


@cache
def families() -> tuple[Family, ...]:
    """All pages.

    Raises:
        FileNotFoundError: When the program came without its manual.
        ValueError: When a section lacks one of its parts.
    """
    return tuple(_read(name) for name in _FAMILIES)


def explain(code: str) -> Explanation:
    """What the manual says of the finding `code`.

    Raises:
        KeyError: When there is no finding of that code.
    """
    return _by_code()[code]


def similar_codes(text: str) -> list[str]:
    """The codes that somebody who typed `text` may have meant, best first; at most five."""
    wanted = text.strip().lower().replace("_", "-").replace(" ", "-")
    close = difflib.get_close_matches(wanted, CODES, n=5)
    parts = [code for code in CODES if wanted and wanted in code and code not in close]
    return [*close, *parts][:5]


@cache
def _by_code() -> dict[str, Explanation]:
    return {
        explanation.code: explanation
        for family in families()
        for explanation in family.explanations
    }


def _read(name: str) -> Family:
    text = resource_path("manual", "findings", f"{name}.md").read_text("utf-8")
    head, *sections = text.split("\n## ")
    title, _, introduction = head.partition("\n")
    return Family(
        name,
        title.removeprefix("# "),
        introduction.strip(),
        tuple(_parse(name, section) for section in sections),
    )


def _parse(family: str, section: str) -> Explanation:
    code, _, body = section.partition("\n")
    parts = _SECTION.fullmatch(body.strip())
    if parts is None:
        raise ValueError(f"page {family!r}: {code!r} needs a meaning, a cause and what to do")
    return Explanation(code, family, **parts.groupdict())
