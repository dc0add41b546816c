"""What a check amounts to, in one word and one sentence: the same in the window and on a terminal.

"Consistent" is said of metadata only: no check can tell whether the guest's data is what the guest
once wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


NOUNS: Final = ("error", "leak", "unusual thing")
"""What is counted in `SENTENCES`."""
_COUNTED: Final = (Severity.CORRUPTION, Severity.LEAK, Severity.SUSPICIOUS)
SENTENCES: Final[dict[Verdict | str, str]] = {
    Verdict.FATAL: "fatal: where the guest's data lies can't be told from this header",
    Verdict.CORRUPT: "corrupt: {errors}",
    "leaks too": "corrupt: {errors}, {leaks}",
    "incomplete too": "{verdict}; not everything could be looked at",
    Verdict.INCOMPLETE: "check incomplete: not everything could be looked at",
    # Not "no data at risk": they may be what a lost table named.
    Verdict.LEAKS: "metadata consistent but for {leaks}: counted as used, referred to by nothing",
    Verdict.UNUSUAL: "metadata consistent, with {things}",
    Verdict.CONSISTENT: "metadata consistent",
}
"""What is said of each verdict."""


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


def verdict_text(
    counts: Mapping[Severity, int],
    *,
    complete: bool,
    say: Callable[[str], str] = str,
    count: Callable[[int, str], str] = format_count,
) -> str:
    """The verdict as a sentence without a full stop, with the numbers it rests on.

    Args:
        counts: How many findings there are of each severity; those not named count as none.
        complete: Whether everything could be checked.
        say: Gives each of `SENTENCES` in the language to speak.
        count: Gives a number with one of `NOUNS` behind it.
    """
    verdict = verdict_of(counts, complete=complete)
    errors, leaks, things = (
        count(counts.get(severity, 0), noun) for severity, noun in zip(_COUNTED, NOUNS, strict=True)
    )
    key = "leaks too" if verdict is Verdict.CORRUPT and counts.get(Severity.LEAK) else verdict
    sentence = say(SENTENCES[key]).format(errors=errors, leaks=leaks, things=things)
    if verdict is Verdict.CORRUPT and not complete:
        return say(SENTENCES["incomplete too"]).format(verdict=sentence)
    return sentence
