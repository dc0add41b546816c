"""What is to be thought of an image, in the few words of the badge. Knows no widgets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from qcowgui.check.checker import CheckReport
from qcowgui.check.verdict import Verdict, verdict_of
from qcowgui.format.finding import Severity
from qcowgui.gui.formatters import SEVERITY_TONES, Tone, findings_summary
from qcowgui.gui.session import CheckState, Session
from qcowgui.gui.translation import count_text
from qcowgui.image.locks import Usage

translate = QCoreApplication.translate


class Health(NamedTuple):
    """The words of a badge.

    Attributes:
        text: A few words.
        tone: How they look.
        detail: A sentence or more, for the tooltip.
    """

    text: str
    tone: Tone
    detail: str


def health_of(session: Session) -> Health:
    """What is known of an image's health; it claims no more than was looked at."""
    if session.check is not None:
        text, tone = _checked(session.check)
    else:
        text, tone = findings_summary(session.findings, settled=False)
    if session.check_state is CheckState.RUNNING:
        text = _with(text if session.findings else "", running_text(session.check_progress))
    elif session.check_state is CheckState.FAILED:
        text, tone = _with(text, translate("health", "check failed")), Tone.WARNING
    elif session.check is None:
        text = _with(text if session.findings else "", translate("health", "not checked"))
    detail = session.looked_at()
    if session.check_error is not None:
        reason = translate("health", "The check failed: {reason}.")
        detail += "\n" + reason.format(reason=session.check_error.message)
    return Health(text[:1].upper() + text[1:], tone, detail)


def usage_of(session: Session) -> Health | None:
    """What is to be said of others who use the file; None when nobody does, as far as is known."""
    state = session.usage
    if state is None or state.usage in (Usage.FREE, Usage.UNKNOWN):
        return None
    text = {
        Usage.READ: translate("health", "in use by another program"),
        Usage.LOCKED: translate("health", "locked by another program"),
        Usage.WRITTEN: translate("health", "in use, may be inconsistent"),
    }[state.usage]
    detail = translate("health", "The file {reason}.").format(reason=state.reason)
    return Health(text, Tone.WARNING, detail)


def running_text(progress: float | None) -> str:
    """The words for a check that runs."""
    text = translate("health", "checking…")
    return f"{text} {progress:.0%}" if progress else text


def _with(first: str, second: str) -> str:
    return f"{first} · {second}" if first else second


def _checked(check: CheckReport) -> tuple[str, Tone]:
    verdict = verdict_of(check.counts, complete=check.complete)
    if verdict is Verdict.CONSISTENT:
        return translate("health", "metadata consistent"), Tone.NORMAL
    text, tone = counts_text(check.counts)
    if verdict is Verdict.UNUSUAL:
        text = _with(translate("health", "metadata consistent"), text)
    if not check.complete:
        incomplete = translate("health", "check incomplete")
        return _with(text, incomplete), Tone.DANGER if tone is Tone.DANGER else Tone.WARNING
    return text, tone


def counts_text(counts: Mapping[Severity, int]) -> tuple[str, Tone]:
    """How much of each severity there is but for notes, the worst first; and how bad that is."""
    texts = {
        Severity.FATAL: lambda count: count_text(count, "fatal finding"),
        Severity.CORRUPTION: lambda count: count_text(count, "corruption"),
        Severity.LEAK: lambda count: count_text(count, "leak"),
        Severity.SUSPICIOUS: lambda count: count_text(count, "unusual thing"),
    }
    found = [severity for severity in texts if counts.get(severity)]
    if not found:
        return "", Tone.NORMAL
    text = " · ".join(texts[severity](counts[severity]) for severity in found)
    return text, SEVERITY_TONES[found[0]]
