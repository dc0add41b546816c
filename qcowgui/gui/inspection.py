"""The parts of what the inspector says, and what is known of a host cluster by now.

Knows no widgets, and never waits: see `Known`. Spec: 1.10
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QCoreApplication

from qcowgui.check.cells import Cells
from qcowgui.check.checker import CheckReport
from qcowgui.check.clustermap import ClusterState
from qcowgui.format.finding import Finding
from qcowgui.format.refcounts import unpack_refcounts
from qcowgui.gui.bit_layout import BitWord
from qcowgui.gui.entry_places import Read
from qcowgui.gui.formatters import Tone
from qcowgui.gui.image_check import CheckState
from qcowgui.gui.locator import Locator
from qcowgui.gui.places import range_text
from qcowgui.gui.selection import Selection
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.translation import count_text
from qcowgui.units import format_size

translate = QCoreApplication.translate

_WASTE_STATES: Final = frozenset({ClusterState.LEAKED, ClusterState.REFCOUNT_HIGH})


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of an image by now.

    Attributes:
        locator: What lies where.
        read: Gives bytes of the file, or None while they are not here.
        check_state: How far the check is.
        check: What it came to.
        states: uint8: a `ClusterState` of each host cluster; empty without a check.
        findings: What was noticed so far; of many alike only some.
    """

    locator: Locator
    read: Read
    check_state: CheckState
    check: CheckReport | None
    states: Cells
    findings: Sequence[Finding]


@dataclass(frozen=True, slots=True)
class Fact:
    """A value with its name."""

    title: str
    value: str
    tone: Tone = Tone.NORMAL


@dataclass(frozen=True, slots=True)
class Link:
    """A way to another selection; without one, only words."""

    text: str
    selection: Selection | None = None


@dataclass(frozen=True, slots=True)
class Described:
    """What a kind of structure says of a selection, before what holds for all is added.

    Attributes:
        title: What it is.
        text: What it says, in sentences.
        words: Its raw words.
        facts: Its values.
        leads_to: What it points to.
        named_by: What points to it.
        cluster: The host cluster that its refcount and owners are about, or None.
        spec: The section of the format's description.
        complete: False while bytes of the file are missing.
        tone: What the words themselves tell: not NORMAL when they can't be right.
    """

    title: str
    text: str
    words: tuple[BitWord, ...] = ()
    facts: tuple[Fact, ...] = ()
    leads_to: tuple[Link, ...] = ()
    named_by: tuple[Link, ...] = ()
    cluster: int | None = None
    spec: str = ""
    complete: bool = True
    tone: Tone = Tone.NORMAL


@dataclass(frozen=True, slots=True)
class Inspection:
    """Everything that the inspector says of a selection but for the owners.

    Attributes:
        selection: What it is about.
        described: What it is and says.
        verdict: Whether it is fine, as a sentence.
        tone: The verdict's.
        facts: Values, those of `described` included.
        previous, next: The neighbours in its table, or None at an end.
        findings: What was noticed at this place.
    """

    selection: Selection
    described: Described
    verdict: str
    tone: Tone
    facts: tuple[Fact, ...]
    previous: Selection | None
    next: Selection | None
    findings: tuple[Finding, ...]


def bytes_text(bounds: tuple[int, int]) -> str:
    """The bytes [start, end), and below that how many."""
    length = bounds[1] - bounds[0]
    size = count_text(length, "byte") if length < 1000 else format_size(length)
    return f"{range_text(bounds)}\n{size}"


def stored_refcount(cluster: int, known: Known) -> int | None:
    """The refcount of a host cluster as stored; None while it is not here, or can't be read."""
    locator, geometry = known.locator, known.locator.geometry
    table = locator.table_place(Selection(StructureKey.REFCOUNT_TABLE))
    if geometry is None or table is None or not table.host_offset:
        return None
    part, row = divmod(cluster, geometry.refcounts_per_block)
    if part >= table.entries:
        return 0
    word = locator.entry_word(table, part)
    if word == 0:
        return 0
    block = locator.table_place(Selection(StructureKey.REFCOUNT_BLOCK, None, part))
    if block is None or not geometry.is_aligned(block.host_offset):
        return None
    start, end = block.entry_range(row)
    data = known.read(start, end - start)
    if data is None or len(data) < end - start:
        return None
    counts = unpack_refcounts(data, geometry.refcount_order)
    return int(counts[row % len(counts)])


def counted_references(cluster: int, known: Known) -> int | None:
    """How many references the check has counted; None without a check, or beyond what it saw."""
    if known.check is None or cluster >= known.check.ownership.clusters:
        return None
    return int(known.check.ownership.computed[cluster])


def cluster_state(cluster: int, known: Known) -> ClusterState | None:
    """What the check says of a host cluster; None without one."""
    if not 0 <= cluster < len(known.states):
        return None
    return ClusterState(int(known.states[cluster]))


def state_tone(state: ClusterState) -> Tone:
    """How bad the state of a host cluster is."""
    if not state.is_fault:
        return Tone.NORMAL
    return Tone.WARNING if state in _WASTE_STATES else Tone.DANGER
