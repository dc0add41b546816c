"""What is selected, in words: what it is, what it says here, whether it is fine, where it leads.

Knows no widgets, and never waits: what a page of the file is missing for is said again later.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from qcowgui.check import clustermap
from qcowgui.format import describe
from qcowgui.format.finding import Finding, Severity
from qcowgui.gui.formatters import SEVERITY_TONES, Tone
from qcowgui.gui.image_check import CheckState
from qcowgui.gui.inspection import (
    Described,
    Fact,
    Inspection,
    Known,
    Link,
    bytes_text,
    cluster_state,
    counted_references,
    state_tone,
    stored_refcount,
)
from qcowgui.gui.inspector_entries import describe_entry
from qcowgui.gui.inspector_places import describe_cluster, describe_guest
from qcowgui.gui.inspector_tables import describe_field, describe_table
from qcowgui.gui.locator import Locator
from qcowgui.gui.models.tree_badges import structure_of
from qcowgui.gui.selection import Selection
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.translation import count_text, severity_word, state_description
from qcowgui.units import format_size

translate = QCoreApplication.translate


def inspect_selection(selection: Selection, known: Known) -> Inspection:
    """Everything that can be said of `selection` by now."""
    return _completed(selection, _describe(selection, known), known)


def _describe(selection: Selection, known: Known) -> Described:
    if selection.structure is StructureKey.CLUSTER:
        return describe_cluster(selection, known)
    if selection.structure is StructureKey.GUEST:
        return describe_guest(selection, known)
    if selection.row is None:
        return describe_table(selection, known)
    if selection.structure.is_entry_table:
        return describe_entry(selection, known)
    return describe_field(selection, known)


def _completed(selection: Selection, described: Described, known: Known) -> Inspection:
    """`described` with what holds for every kind: verdict, ranges, refcounts, neighbours."""
    findings = findings_at(selection, described.cluster, known)
    verdict, tone = _verdict(described, findings, known)
    facts = (*_range_facts(selection), *described.facts, *_refcount_facts(described, known))
    return Inspection(
        selection,
        described,
        verdict,
        tone,
        facts,
        neighbour(selection, -1, known.locator),
        neighbour(selection, 1, known.locator),
        findings,
    )


# -------------------------------------------------------------------------------- facts


def _range_facts(selection: Selection) -> list[Fact]:
    facts = []
    if selection.host is not None:
        title = translate("inspector", "In the file")
        facts.append(Fact(title, bytes_text(selection.host)))
    if selection.guest is not None:
        title = translate("inspector", "In the guest")
        text = bytes_text(selection.guest)
        start = selection.guest[0]
        if start >= 1000:
            at = translate("inspector", "{bytes} from {position} on")
            text = at.format(bytes=text, position=format_size(start))
        facts.append(Fact(title, text))
    return facts


def _refcount_facts(described: Described, known: Known) -> list[Fact]:
    cluster, geometry = described.cluster, known.locator.geometry
    if cluster is None or geometry is None:
        return []
    facts = []
    state = cluster_state(cluster, known)
    if state is not None:
        name = state_description(clustermap.DESCRIPTIONS[state]).name
        facts.append(Fact(translate("inspector", "Cluster is"), name, state_tone(state)))
    stored, counted = stored_refcount(cluster, known), counted_references(cluster, known)
    texts = []
    if stored is not None:
        texts.append(translate("inspector", "{count} stored").format(count=f"{stored:,}"))
    if counted is not None:
        texts.append(translate("inspector", "{count} counted").format(count=f"{counted:,}"))
    if texts:
        # More references than a refcount can hold are no difference: see RefcountSummary.
        differ = None not in (stored, counted) and stored != min(
            counted or 0, geometry.refcount_max
        )
        tone = Tone.DANGER if differ else Tone.NORMAL
        facts.append(Fact(translate("inspector", "Refcount"), " · ".join(texts), tone))
    return facts


# -------------------------------------------------------------------------------- verdict


def findings_at(selection: Selection, cluster: int | None, known: Known) -> tuple[Finding, ...]:
    """The findings about the bytes that are selected, or about the guest bytes they map.

    Of a refcount also those about the cluster that it counts; of a structure that was chosen as a
    whole all those about it.
    """
    if selection.row is None and selection.host is None and selection.guest is None:
        return tuple(found for found in known.findings if _is_of(found, selection))
    ranges = [selection.host] if selection.host is not None else []
    geometry = known.locator.geometry
    counts = selection.structure in (StructureKey.REFCOUNT_BLOCK, StructureKey.CLUSTER)
    if cluster is not None and geometry is not None and counts and selection.row is not None:
        size = geometry.cluster_bytes
        ranges.append((cluster * size, (cluster + 1) * size))
    # A whole table's range may be the whole disk: only its own bytes count.
    guest = None if selection.row is None else selection.guest
    found = []
    for finding in known.findings:
        host = finding.host_offset
        here = host is not None and any(start <= host < end for start, end in ranges)
        if here or (guest is not None and _is_about(finding, guest, selection)):
            found.append(finding)
    return tuple(found)


def _is_of(finding: Finding, selection: Selection) -> bool:
    """Whether a finding is about the structure that is selected."""
    if structure_of(finding) is not selection.structure or selection.part is not None:
        return False
    return selection.structure is not StructureKey.L1 or finding.snapshot == selection.snapshot


def _is_about(finding: Finding, guest: tuple[int, int], selection: Selection) -> bool:
    """Whether a finding is about just these guest bytes, or some of them, of the same disk."""
    start, end = finding.guest_start, finding.guest_end
    if start is None or end is None or selection.structure is StructureKey.L1:
        return False
    return finding.snapshot == selection.snapshot and guest[0] <= start and end <= guest[1]


def _verdict(described: Described, findings: Sequence[Finding], known: Known) -> tuple[str, Tone]:
    if findings:
        worst = max(finding.severity for finding in findings)
        count = len(findings)
        if worst is Severity.INFO:
            text = count_text(count, "note about this place", "notes about this place")
            return (text if count == 1 else _notes_text(count)), SEVERITY_TONES[worst]
        if count == 1:
            return translate("inspector", "Something is wrong here."), SEVERITY_TONES[worst]
        text = translate("inspector", "{count} things are wrong here.")
        return text.format(count=f"{count:,}"), SEVERITY_TONES[worst]
    state = None if described.cluster is None else cluster_state(described.cluster, known)
    if state is not None and state.is_fault:
        return state_description(clustermap.DESCRIPTIONS[state]).meaning, state_tone(state)
    wrong = any(word.wrong_mask for word in described.words)
    if wrong or described.tone in (Tone.WARNING, Tone.DANGER):
        tone = Tone.DANGER if described.tone is Tone.DANGER else Tone.WARNING
        return translate("inspector", "This can’t be right: see below."), tone
    return _unsuspicious(known), Tone.MUTED if known.check is None else Tone.NORMAL


def _notes_text(count: int) -> str:
    return translate("inspector", "{count} notes about this place").format(count=f"{count:,}")


def _unsuspicious(known: Known) -> str:
    """The words for a place without findings; they claim no more than was looked at."""
    if known.check is not None and known.check.complete:
        return translate("inspector", "The check found nothing wrong here.")
    if known.check is not None:
        return translate(
            "inspector", "The check found nothing wrong here, but could not look at everything."
        )
    if known.check_state is CheckState.RUNNING:
        return translate("inspector", "Nothing noticed so far; the check is running.")
    return translate("inspector", "Nothing noticed so far; not checked.")


# -------------------------------------------------------------------------------- neighbours


def neighbour(selection: Selection, step: int, locator: Locator) -> Selection | None:
    """The entry, field or cluster before (-1) or behind (1) the one that is selected."""
    if selection.row is None:
        return None
    row = selection.row + step
    if not 0 <= row < _rows_of(selection, locator):
        return None
    return locator.at_entry(selection.structure, selection.part, row, selection.snapshot)


def _rows_of(selection: Selection, locator: Locator) -> int:
    geometry = locator.geometry
    if selection.structure is StructureKey.CLUSTER:
        return 0 if geometry is None else geometry.clusters(locator.host_end)
    if selection.structure is StructureKey.GUEST:
        return 0 if geometry is None else geometry.clusters(locator.guest_bytes(selection.snapshot))
    if selection.structure.is_entry_table:
        place = locator.table_place(selection.table)
        return 0 if place is None else place.entries
    structure = locator.structure(selection.structure)
    return 0 if structure is None else len(structure.table.rows)


def inspection_text(inspection: Inspection, owners: Sequence[Link] | None) -> str:
    """All of it as plain text, for the clipboard."""
    described = inspection.described
    lines = [described.title, inspection.verdict, described.text]
    for word in described.words:
        lines.append(f"{word.title}: {word.hex_text} ({word.decimal_text})")
        for part in word.parts:
            span, name = describe.bit_span_text(part.field), part.field.name
            wrong = f" – {part.reason}" if part.reason else ""
            lines.append(f"  {span:>6}  {name}: {part.text}{wrong}")
    lines += [f"{fact.title}: {fact.value}".replace("\n", ", ") for fact in inspection.facts]
    for title, links in (
        (translate("inspector", "Leads to"), described.leads_to),
        (translate("inspector", "Named by"), described.named_by),
        (translate("inspector", "Used by"), owners or ()),
    ):
        lines += [f"{title}: {link.text}" for link in links]
    for finding in inspection.findings:
        lines.append(f"{severity_word(finding.severity)}: {finding.message}")
    return "\n".join(line for line in lines if line)
