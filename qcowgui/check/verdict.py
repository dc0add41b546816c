"""What a check amounts to, in one word and one sentence: the same in the window and on a terminal.

"Consistent" is said of metadata only: no check can tell whether the guest's data is what the guest
once wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from qcowgui.format.finding import Severity
from qcowgui.units import format_count


class Verdict(StrEnum):
    """What is to be thought of an image after a check, from good to bad."""

    CONSISTENT = "consistent"
    UNUSUAL = "unusual"
    LEAKS = "leaks"
    INCOMPLETE = "incomplete"
    CORRUPT = "corrupt"
    FATAL = "fatal"


_VERDICTS: Final = {
    Severity.FATAL: Verdict.FATAL,
    Severity.CORRUPTION: Verdict.CORRUPT,
    Severity.LEAK: Verdict.LEAKS,
    Severity.SUSPICIOUS: Verdict.UNUSUAL,
    Severity.INFO: Verdict.CONSISTENT,
}
_ORDER: Final = tuple(Verdict)


def verdict_of(counts: Mapping[Severity, int], *, complete: bool) -> Verdict:
    """The verdict.

    Args:
        counts: How many findings there are of each severity; those not named count as none.
        complete: Whether everything could be checked.
    """
    verdicts = {verdict for severity, verdict in _VERDICTS.items() if counts.get(severity)}
    if not complete:
        verdicts.add(Verdict.INCOMPLETE)
    return max(verdicts, key=_ORDER.index, default=Verdict.CONSISTENT)


def verdict_text(counts: Mapping[Severity, int], *, complete: bool) -> str:
    """The verdict as a sentence without a full stop, with the numbers it rests on."""
    verdict = verdict_of(counts, complete=complete)
    sentence = _sentence(verdict, counts)
    if verdict is Verdict.CORRUPT and not complete:
        return f"{sentence}; not everything could be looked at"
    return sentence


def _sentence(verdict: Verdict, counts: Mapping[Severity, int]) -> str:
    match verdict:
        case Verdict.FATAL:
            return "fatal: where the guest's data lies can't be told from this header"
        case Verdict.CORRUPT:
            errors = format_count(counts[Severity.CORRUPTION], "error")
            leaks = counts.get(Severity.LEAK, 0)
            return f"corrupt: {errors}" + (f", {format_count(leaks, 'leak')}" if leaks else "")
        case Verdict.INCOMPLETE:
            return "check incomplete: not everything could be looked at"
        case Verdict.LEAKS:
            wasted = format_count(counts[Severity.LEAK], "leak")
            # Not "no data at risk": they may be what a lost table named.
            return f"metadata consistent but for {wasted}: counted as used, referred to by nothing"
        case Verdict.UNUSUAL:
            things = format_count(counts[Severity.SUSPICIOUS], "unusual thing")
            return f"metadata consistent, with {things}"
        case Verdict.CONSISTENT:
            return "metadata consistent"
