"""What was looked at of an image, and what not, in sentences. Knows no widgets."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from qcowgui.check.checker import CheckReport
from qcowgui.errors import QcowError
from qcowgui.format import describe
from qcowgui.gui.session_states import MappingState
from qcowgui.gui.translation import verdict_text

translate = QCoreApplication.translate


def opened_text(mapping_state: MappingState, mapping_error: QcowError | None) -> str:
    """What opening an image has looked at, and what not."""
    match mapping_state:
        case MappingState.READ:
            text = translate(
                "looked_at",
                "The header, its extensions, the tables it names directly and the active mapping"
                " tables were looked at; {unseen} were not.",
            )
        case MappingState.READING:
            text = translate(
                "looked_at",
                "The header, its extensions and the tables it names directly were looked at; the"
                " mapping tables are being read, {unseen} are not.",
            )
        case MappingState.UNREAD | MappingState.FAILED:
            text = translate(
                "looked_at",
                "The header, its extensions and the tables it names directly were looked at;"
                " {unseen} were not.",
            )
    seen = mapping_state in (MappingState.READ, MappingState.READING)
    text = text.format(unseen=describe.unseen_text(mapping_read=seen))
    if mapping_error is not None:
        failed = translate("looked_at", "Reading the mapping tables failed: {reason}.")
        text += " " + failed.format(reason=mapping_error.message)
    return text


def checked_text(check: CheckReport) -> str:
    """What a check came to, and what it has looked at."""
    verdict = verdict_text(check.counts, complete=check.complete)
    text = f"{verdict[:1].upper()}{verdict[1:]}.\n"
    if check.deep is not None:
        return text + translate(
            "looked_at",
            "All structures and refcounts were checked, and every compressed cluster decoded; no"
            " check can tell whether data is what the guest once wrote.",
        )
    return text + translate(
        "looked_at",
        "All structures and refcounts were checked; the guest’s data was not looked at.",
    )
