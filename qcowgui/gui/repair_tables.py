"""A repair plan as tables: by kind of finding, and change by change. Knows no widgets."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from qcowgui.gui.formatters import Column, Row, Table, Tone
from qcowgui.gui.repair_work import Planned
from qcowgui.units import format_offset

translate = QCoreApplication.translate


def summary_table(changes: Sequence[tuple[str, int, str]]) -> Table:
    """How many changes remove which kind of finding; from `Planned.changes`."""
    return Table(
        (
            Column(translate("RepairDialog", "What was wrong"), wide=True),
            Column(translate("RepairDialog", "Changes"), right=True),
            Column(translate("RepairDialog", "Code"), monospaced=True, quiet=True),
        ),
        tuple(
            Row((meaning, f"{count:,}", code), sort_keys=(meaning, count, code))
            for code, count, meaning in changes
        ),
        sortable=True,
    )


def rows_table(planned: Planned) -> Table:
    """Each change with what stands there and what will."""
    rows = [
        Row(
            (
                format_offset(found.offset),
                found.before or translate("RepairDialog", "(behind the end)"),
                found.after,
                found.why,
                found.code,
            ),
            found.offset,
            found.offset + found.length_bytes,
            sort_keys=(found.offset, found.before, found.after, found.why, found.code),
        )
        for found in planned.rows
    ]
    if not planned.complete:
        text = translate("RepairDialog", "There are more; qcowgui repair --plan lists them all.")
        end = planned.rows[-1].offset + 1
        rows.append(Row(("", "", "", text, ""), tone=Tone.MUTED, sort_keys=(end, "", "", text, "")))
    return Table(
        (
            Column(translate("RepairDialog", "Offset"), monospaced=True, right=True),
            Column(translate("RepairDialog", "Before"), monospaced=True),
            Column(translate("RepairDialog", "After"), monospaced=True),
            Column(translate("RepairDialog", "Why"), wide=True),
            Column(translate("RepairDialog", "Code"), monospaced=True, quiet=True),
        ),
        tuple(rows),
        sortable=True,
    )
