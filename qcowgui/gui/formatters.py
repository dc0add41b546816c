"""Tables and the window's own texts: what the views, the clipboard and the tests share.

What an image's values are called comes from `format.describe`. Nothing here knows widgets. A
`Table` is immutable and complete: what is shown, copied and read out by a screen reader is the text
of its cells.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Final, TypeAlias

from PySide6.QtCore import QCoreApplication

from qcowgui.format import describe
from qcowgui.format.features import FeatureNames
from qcowgui.format.fields import FieldValue
from qcowgui.format.finding import Finding, Severity
from qcowgui.format.text import decode_name
from qcowgui.gui.translation import count_text
from qcowgui.units import format_offset

translate = QCoreApplication.translate

NOTHING: Final = "–"
"""Stands in a cell that has nothing to say."""

SortKey: TypeAlias = int | str


_COMMAND_LINE: Final = re.compile(r" \((?:on the command line )?-[^)]*\)")


def without_options(hint: str) -> str:
    """A hint without what it says of the command line, in brackets: the window has no options."""
    return _COMMAND_LINE.sub("", hint)


class Tone(Enum):
    """What a row's colour says."""

    NORMAL = auto()
    MUTED = auto()
    NOTE = auto()
    WARNING = auto()
    DANGER = auto()


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        title: Its heading.
        monospaced: Whether digits should stand below digits.
        right: Whether its cells are aligned to the right.
        quiet: Whether it only explains the others.
        wide: Whether it takes the room that the others leave; by default the last one does.
    """

    title: str
    monospaced: bool = False
    right: bool = False
    quiet: bool = False
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Attributes:
        cells: One text for each column.
        host_start: First byte in the file of what the row shows, or None.
        host_end: End (exclusive) of it, or None.
        tone: What its colour says.
        detail: More about it than the cells hold, or an empty string.
        sort_keys: What columns are sorted by, where the text would sort wrongly; empty: the cells.
    """

    cells: tuple[str, ...]
    host_start: int | None = None
    host_end: int | None = None
    tone: Tone = Tone.NORMAL
    detail: str = ""
    sort_keys: tuple[SortKey, ...] = ()

    @property
    def host_bytes(self) -> int:
        """How many bytes of the file the row shows."""
        return (self.host_end or 0) - (self.host_start or 0)

    def covers(self, host_offset: int) -> bool:
        """Whether the row shows the byte at `host_offset`."""
        if self.host_start is None or self.host_end is None:
            return False
        return self.host_start <= host_offset < self.host_end


@dataclass(frozen=True, slots=True)
class Table:
    """Rows below columns.

    Attributes:
        columns: At least one.
        rows: In the order of the file, or worst first.
        sortable: Whether another order than that makes sense.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    sortable: bool = False

    def as_tsv(self) -> str:
        """The whole table for the clipboard, headings included."""
        return tsv([[column.title for column in self.columns], *(row.cells for row in self.rows)])


def tsv(lines: Iterable[Sequence[str]]) -> str:
    """Cells as tab-separated text; tabs and line breaks inside a cell become spaces."""
    return "\n".join("\t".join(" ".join(cell.split()) for cell in line) for line in lines)


def field_columns() -> tuple[Column, ...]:
    """The columns of every table of fields."""
    return (
        Column(translate("formatters", "Field")),
        Column(translate("formatters", "Offset"), monospaced=True, right=True),
        Column(translate("formatters", "Raw hex"), monospaced=True),
        Column(translate("formatters", "Value")),
        Column(translate("formatters", "Meaning"), quiet=True),
    )


def field_row(found: FieldValue, *, names: FeatureNames | None = None, indent: bool = False) -> Row:
    """The row of a field in a table with `field_columns`."""
    field = found.field
    missing = found.value is None
    return Row(
        (
            ("    " if indent else "") + field.name,
            format_offset(found.host_offset),
            NOTHING if missing else describe.hex_text(found.raw),
            describe.field_text(found, names),
            field.meaning,
        ),
        found.host_offset,
        found.host_offset + field.width_bytes,
        Tone.MUTED if missing else Tone.NORMAL,
    )


SEVERITY_TONES: Final = {
    Severity.INFO: Tone.NOTE,
    Severity.LEAK: Tone.WARNING,
    Severity.SUSPICIOUS: Tone.WARNING,
    Severity.CORRUPTION: Tone.DANGER,
    Severity.FATAL: Tone.DANGER,
}


def findings_summary(findings: Sequence[Finding], *, settled: bool = True) -> tuple[str, Tone]:
    """The words of the health badge, and how they look; they claim no more than was looked at.

    `settled` is whether what opening an image looks at has all been read.
    """
    if not findings and not settled:
        return translate("formatters", "No findings so far"), Tone.NORMAL
    if not findings:
        return translate("formatters", "No findings when opening"), Tone.NORMAL
    counts = dict.fromkeys(sorted(Severity, reverse=True), 0)
    for finding in findings:
        counts[finding.severity] += finding.count
    texts = {
        Severity.FATAL: lambda count: count_text(count, "fatal finding"),
        Severity.CORRUPTION: lambda count: count_text(count, "corruption"),
        Severity.SUSPICIOUS: lambda count: count_text(count, "suspicious", "suspicious"),
        Severity.LEAK: lambda count: count_text(count, "leak"),
        Severity.INFO: lambda count: count_text(count, "note"),
    }
    worst = next(severity for severity, count in counts.items() if count)
    text = " · ".join(texts[severity](count) for severity, count in counts.items() if count)
    return text, SEVERITY_TONES[worst]


def duration_text(seconds: float) -> str:
    """A time span for reading: "8 s", "2:05", "1:02:05"."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, second = divmod(whole, 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def short_duration_text(seconds: float) -> str:
    """A time that is over: with tenths where whole seconds would say too little."""
    return f"{seconds:.1f} s" if seconds < 9.95 else duration_text(seconds)


def rate_text(bytes_per_second: float) -> str:
    """A speed: "312 MB/s" (decimal, as drives and networks are measured)."""
    return f"{bytes_per_second / 1e6:,.0f} MB/s"


def ratio_text(source_bytes: int, target_bytes: int) -> str:
    """How large the target is beside the source, or nothing for an empty source."""
    return f"{target_bytes / source_bytes:.0%}" if source_bytes else NOTHING


def path_text(path: Path | str) -> str:
    """A path that an image may have chosen, fit to be shown: in one line, without control codes."""
    return decode_name(os.fsencode(path))[0]
