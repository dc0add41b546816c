"""The inspector's words as rich text, with ways to other places as links. Knows no widgets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from PySide6.QtCore import QCoreApplication

from qcowgui.format import describe
from qcowgui.format.finding import Finding
from qcowgui.gui.formatters import SEVERITY_TONES, Tone
from qcowgui.gui.inspection import Fact, Inspection, Link
from qcowgui.gui.selection import Selection
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.theme import Colours
from qcowgui.gui.translation import severity_word

translate = QCoreApplication.translate

LINK_SCHEME: Final = "place"
MAX_FINDINGS: Final = 8
"""Listed of one place; the findings' own panel has all of them."""


class InspectorHtml:
    """Makes the rich text of one inspection; the links in it are numbers of `places`.

    Attributes:
        places: What each link selects.
    """

    def __init__(self, colours: Colours) -> None:
        self.places: list[Selection] = []
        self._colours = colours

    def intro(self, inspection: Inspection) -> str:
        """What it says, and what is wrong with it: that is not to be searched for."""
        text = f"<p>{_lines(inspection.described.text)}</p>"
        return text + self._findings(inspection.findings)

    def details(self, inspection: Inspection, *, owners_known: bool) -> str:
        """Values, and ways to elsewhere.

        Args:
            inspection: What to show.
            owners_known: Whether the owners are listed, which for a cluster say more than the one
                entry that is known at once.
        """
        described = inspection.described
        parts = [self._facts(inspection.facts)]
        title = translate("inspector", "Leads to")
        if inspection.selection.structure is StructureKey.GUEST:
            title = translate("inspector", "The way there")
        parts.append(self.links(title, described.leads_to))
        if inspection.selection.structure is not StructureKey.CLUSTER or not owners_known:
            parts.append(self.links(translate("inspector", "Named by"), described.named_by))
        return "".join(parts)

    def owners(self, cluster: int, owners: Sequence[Link] | None, trouble: str = "") -> str:
        """Who refers to a host cluster; None: that is being looked for."""
        title = translate("inspector", "Cluster {index} is used by").format(index=f"{cluster:,}")
        if trouble:
            return self._heading(title) + f"<p>{self._muted(trouble)}</p>"
        if owners is None:
            waiting = translate("inspector", "Looking through the tables…")
            return self._heading(title) + f"<p>{self._muted(waiting)}</p>"
        if not owners:
            nobody = translate("inspector", "nothing")
            return self._heading(title) + f"<p>{self._muted(nobody)}</p>"
        return self.links(title, owners)

    def source(self, section: str) -> str:
        """Where QEMU's description of the format says more."""
        text = translate("inspector", "More in QEMU’s description of the format, “{section}”.")
        return f"<p>{self._muted(text.format(section=section))}</p>" if section else ""

    def links(self, title: str, links: Iterable[Link]) -> str:
        """A list of ways under a heading; empty without any."""
        lines = "".join(f"<p>{self._link(link)}</p>" for link in links)
        return self._heading(title) + lines if lines else ""

    # ---------------------------------------------------------------- inside

    def _link(self, link: Link) -> str:
        if link.selection is None:
            return _lines(link.text)
        self.places.append(link.selection)
        return (
            f'<a href="{LINK_SCHEME}:{len(self.places) - 1}" style="color: {self._colours.accent};'
            f' text-decoration: none">{_lines(link.text)}</a>'
        )

    def _facts(self, facts: Iterable[Fact]) -> str:
        rows = "".join(
            f'<tr><td style="color: {self._colours.muted}; padding-right: 10px;'
            f' padding-bottom: 4px; white-space: pre">{_lines(fact.title)}</td>'
            f'<td style="color: {self._tone(fact.tone)}; padding-bottom: 4px">'
            f"{_lines(fact.value)}</td></tr>"
            for fact in facts
        )
        return f'<table cellspacing="0" cellpadding="0">{rows}</table>' if rows else ""

    def _findings(self, findings: Sequence[Finding]) -> str:
        if not findings:
            return ""
        lines = []
        for finding in findings[:MAX_FINDINGS]:
            colour = self._tone(SEVERITY_TONES[finding.severity])
            word = severity_word(finding.severity)
            text = describe.finding_text(finding)
            if finding.expected:
                expected = translate("inspector", "Expected: {value}")
                text += f"\n{expected.format(value=finding.expected)}"
            lines.append(f'<p><b style="color: {colour}">{word}</b> · {_lines(text)}</p>')
        more = len(findings) - MAX_FINDINGS
        if more > 0:
            text = translate("inspector", "and {count} more, listed in the findings")
            lines.append(f"<p>{self._muted(text.format(count=f'{more:,}'))}</p>")
        return self._heading(translate("inspector", "Findings here")) + "".join(lines)

    def _heading(self, text: str) -> str:
        return f'<p style="color: {self._colours.muted}; margin-top: 8px"><b>{_lines(text)}</b></p>'

    def _muted(self, text: str) -> str:
        return f'<span style="color: {self._colours.muted}">{_lines(text)}</span>'

    def _tone(self, tone: Tone) -> str:
        colours = self._colours
        return {
            Tone.NORMAL: colours.text,
            Tone.MUTED: colours.muted,
            Tone.NOTE: colours.note,
            Tone.WARNING: colours.warning,
            Tone.DANGER: colours.danger,
        }[tone]


def _lines(text: str) -> str:
    """Text as it is: names come from images, and may look like markup."""
    return escape(text).replace("\n", "<br>")
