"""What is known of a table entry that a finding is about, and what rules' texts are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from qcowgui.check.rule_context import RuleContext
from qcowgui.format import geometry as geo
from qcowgui.format.entries import L1Entry, L2Entry
from qcowgui.format.finding import Severity
from qcowgui.units import format_offset


class EntryPlace(NamedTuple):
    """Where one entry of a table is.

    Attributes:
        structure: The format's name for the table.
        host_offset: File offset of the entry in bytes.
        entry: Its index in the table.
        l1_index: For an L2 entry, the L1 entry that names its table; else None.
        guest_start: First guest byte that it maps, or None.
        guest_end: End (exclusive) of them, or None.
        snapshot: Index of the internal snapshot that owns the table; None for the active disk.
    """

    structure: str
    host_offset: int
    entry: int
    l1_index: int | None = None
    guest_start: int | None = None
    guest_end: int | None = None
    snapshot: int | None = None

    def __str__(self) -> str:
        if self.structure.startswith("refcount"):
            label = f"Refcount table entry {self.entry:,}"
        elif self.structure == "L1 table":
            label = f"L1[{self.entry}]"
        else:
            table = "" if self.l1_index is None else f"L1[{self.l1_index}]/"
            label = f"{table}L2[{self.entry}]"
        return label if self.snapshot is None else f"{label} of snapshot {self.snapshot}"


@dataclass(frozen=True, slots=True)
class EntryFacts:
    """What a sentence on one entry may mention.

    Attributes:
        place: Where it is.
        word: Its raw value.
        context: The image.
        bitmap: The subcluster bitmap of an extended entry, else 0.
        refcount: The stored refcount of what it names, where the rule is about that.
    """

    place: EntryPlace
    word: int
    context: RuleContext
    bitmap: int = 0
    refcount: int | None = None

    @property
    def table_offset(self) -> int:
        """The L2 table that an L1 entry names."""
        return L1Entry(self.word).l2_table_offset

    @property
    def block_offset(self) -> int:
        """The refcount block that a refcount table entry names."""
        return self.word & geo.REFCOUNT_OFFSET_MASK

    @property
    def l2(self) -> L2Entry:
        """The word as an L2 entry."""
        return L2Entry(self.word, self.bitmap, self.context.geometry)

    @property
    def file_end(self) -> str:
        """Where the file ends, for a sentence."""
        return f"the end of the file at {format_offset(self.context.file_bytes)}"

    def guest_is(self, what: str) -> str:
        """A sentence on the guest range: that it `what` ("is lost")."""
        start, end = self.place.guest_start, self.place.guest_end
        if start is None or end is None:
            return "No guest data is affected."
        return f"Guest {format_offset(start)} to {format_offset(end)} {what}."

    @property
    def payload(self) -> str:
        """The bytes that a compressed descriptor claims, for a sentence."""
        claimed = self.l2.compressed
        return f"{format_offset(claimed.host_offset)} to {format_offset(claimed.end)}"


class EntryRule(NamedTuple):
    """What is said of an entry that breaks one rule.

    Attributes:
        severity: How bad that is.
        spec: Section of the format description, with the row of the list of checks.
        sentence: What follows the entry's name.
        expected: What should stand there.
    """

    severity: Severity
    spec: str
    sentence: Callable[[EntryFacts], str]
    expected: Callable[[EntryFacts], str] = lambda _: ""


def aligned_offset(facts: EntryFacts) -> str:
    """What an offset of a cluster should be."""
    return f"a multiple of {facts.context.geometry.cluster_bytes:,}"


def word_text(value: int) -> str:
    """A 64-bit word in hexadecimal."""
    return f"{value:#018x}"


def without_bits(mask: int) -> Callable[[EntryFacts], str]:
    """What says that the word should be the same without the bits of `mask`."""
    return lambda facts: word_text(facts.word & ~mask)


def copied_expected(facts: EntryFacts) -> str:
    """The word with the COPIED flag that the refcount asks for. Spec: 2.2 (R24, R25)"""
    wanted = facts.word & ~geo.COPIED | (geo.COPIED if facts.refcount == 1 else 0)
    return word_text(wanted)


def copied_sentence(facts: EntryFacts) -> str:
    """How the COPIED flag contradicts the refcount, and what that leads to."""
    state = "set" if facts.word & geo.COPIED else "clear"
    count = "another number" if facts.refcount is None else f"{facts.refcount:,}"
    risk = (
        "a writer may change a cluster that others still need"
        if facts.word & geo.COPIED
        else "a writer copies it without need"
    )
    return f"has COPIED {state}, but the refcount of what it names is {count}: {risk}."
