"""What a check amounts to: the worst thing decides, and consistent metadata is not sound data."""

from __future__ import annotations

import pytest

from qcowgui.check.verdict import Verdict, verdict_of, verdict_text
from qcowgui.format.finding import Severity


@pytest.mark.parametrize(
    ("counts", "verdict", "text"),
    [
        ({}, Verdict.CONSISTENT, "metadata consistent"),
        ({Severity.INFO: 3, Severity.LEAK: 0}, Verdict.CONSISTENT, "metadata consistent"),
        (
            {Severity.SUSPICIOUS: 1},
            Verdict.UNUSUAL,
            "metadata consistent, with 1 unusual thing",
        ),
        (
            {Severity.LEAK: 1200, Severity.SUSPICIOUS: 1},
            Verdict.LEAKS,
            "metadata consistent but for 1,200 leaks: counted as used, referred to by nothing",
        ),
        (
            {Severity.CORRUPTION: 2, Severity.LEAK: 9},
            Verdict.CORRUPT,
            "corrupt: 2 errors, 9 leaks",
        ),
        (
            {Severity.FATAL: 1, Severity.CORRUPTION: 2},
            Verdict.FATAL,
            "fatal: where the guest's data lies can't be told from this header",
        ),
    ],
)
def test_the_worst_finding_decides(
    counts: dict[Severity, int], verdict: Verdict, text: str
) -> None:
    assert verdict_of(counts, complete=True) is verdict
    assert verdict_text(counts, complete=True) == text


def test_a_check_that_could_not_finish_never_says_consistent() -> None:
    for counts in ({}, {Severity.LEAK: 1}, {Severity.SUSPICIOUS: 1}):
        assert verdict_of(counts, complete=False) is Verdict.INCOMPLETE
        assert "consistent" not in verdict_text(counts, complete=False)


def test_what_was_found_before_it_stopped_still_counts() -> None:
    counts = {Severity.CORRUPTION: 1}
    assert verdict_of(counts, complete=False) is Verdict.CORRUPT
    assert verdict_text(counts, complete=False) == (
        "corrupt: 1 error; not everything could be looked at"
    )


def test_a_fatal_header_explains_why_the_rest_was_not_looked_at() -> None:
    counts = {Severity.FATAL: 1}
    assert verdict_of(counts, complete=False) is Verdict.FATAL
    assert verdict_text(counts, complete=False) == verdict_text(counts, complete=True)
