"""What a finding about a table entry says, and how ranges of the guest's disk are written.

A rule per code (`table_wording`, `l2_wording`) knows the severity, the section of the format
description, the sentence, and what should stand there. Sentences say what is wrong, with the values
concerned, and what follows from it.
"""

from __future__ import annotations

from typing import Final

from qcowgui.check.entry_facts import EntryFacts
from qcowgui.check.l2_wording import COMPRESSED_RULES, STANDARD_RULES
from qcowgui.check.ranges import Ranges
from qcowgui.check.table_wording import L1_RULES, REFCOUNT_TABLE_RULES
from qcowgui.format.finding import Finding, Severity
from qcowgui.units import format_offset, format_size

_RULES: Final = {**L1_RULES, **STANDARD_RULES, **COMPRESSED_RULES, **REFCOUNT_TABLE_RULES}


def entry_codes() -> frozenset[str]:
    """The codes that `entry_finding` has a rule for."""
    return frozenset(_RULES)


def entry_severity(code: str) -> Severity:
    """How bad an entry that breaks the rule is."""
    return _RULES[code].severity


def entry_finding(code: str, facts: EntryFacts, *, count: int = 1) -> Finding:
    """The finding that an entry breaks the rule `code`.

    Args:
        code: One of `entry_codes()`.
        facts: The entry.
        count: How many references to the table make it so many findings.

    Raises:
        KeyError: When there is no rule of that name.
    """
    rule, place = _RULES[code], facts.place
    message = f"{place} {rule.sentence(facts)}"
    if count > 1:
        message += f" {count:,} references to the table make this {count:,} times wrong."
    return Finding(
        code,
        rule.severity,
        message,
        place.structure,
        host_offset=place.host_offset,
        entry=place.entry,
        guest_start=place.guest_start,
        guest_end=place.guest_end,
        raw=facts.word,
        expected=rule.expected(facts),
        spec=rule.spec,
        count=count,
        snapshot=place.snapshot,
    )


def guest_range_text(start: int, end: int) -> str:
    """A guest range for a person: "guest 5 GiB – 5.5 GiB", the end exclusive."""
    return f"guest {_range_text(start, end)}"


def guest_ranges_text(found: Ranges, *, shown: int = 3) -> str:
    """The first ranges of the guest's disk for a person; empty when there are none."""
    if not found.spans:
        return ""
    text = "guest " + ", ".join(_range_text(*span) for span in found.spans[:shown])
    more = len(found.spans) - shown
    if more > 0:
        text += f" and {more:,} other{'' if more == 1 else 's'}"
        return text if found.complete else f"{text} or more"
    return text if found.complete else f"{text} and others"


def _range_text(start: int, end: int) -> str:
    first, last = format_size(start), format_size(end)
    # Three digits can't tell the ends of a small range far inside the disk.
    if first == last:
        first, last = format_offset(start), format_offset(end)
    return f"{first} – {last}"
