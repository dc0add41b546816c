"""How values are written: the one place that the views, the clipboard and the tests share.

Nothing here knows widgets. A `Table` is immutable and complete: what is shown, copied and read out
by a screen reader is the text of its cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, TypeAlias

from PySide6.QtCore import QCoreApplication

from qcowgui.format.features import FeatureClass, FeatureNames, feature_name
from qcowgui.format.fields import FieldKind, FieldValue
from qcowgui.format.finding import Finding, Refusal, Severity
from qcowgui.format.geometry import cluster_bits_valid
from qcowgui.format.header import COMPRESSION_TYPES, CRYPT_METHODS, MAGIC
from qcowgui.format.limits import MAX_REFCOUNT_ORDER
from qcowgui.units import format_count, format_hex, format_offset, format_size

translate = QCoreApplication.translate

NOTHING: Final = "–"
"""Stands in a cell that has nothing to say."""

MAX_HEX_BYTES: Final = 64
"""Bytes of a raw hex cell; longer data is cut, and the cell says so."""

FLAG_WORDS: Final = {
    "incompatible_features": FeatureClass.INCOMPATIBLE,
    "compatible_features": FeatureClass.COMPATIBLE,
    "autoclear_features": FeatureClass.AUTOCLEAR,
}
"""Header field → the set of feature bits it holds."""

SortKey: TypeAlias = int | str


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


def hex_text(data: bytes) -> str:
    """Bytes as pairs of digits in groups of four bytes; cut after `MAX_HEX_BYTES`."""
    shown = data[:MAX_HEX_BYTES].hex(" ", -4)
    if len(data) > MAX_HEX_BYTES:
        rest = len(data) - MAX_HEX_BYTES
        shown += " … " + translate("formatters", "({count} more)").format(
            count=format_count(rest, "byte")
        )
    return shown


def size_text(size_bytes: int) -> str:
    """A size for reading, with the exact number where the rounded one is another."""
    if size_bytes < 1000:
        return format_count(size_bytes, "byte")
    return f"{format_size(size_bytes)} ({format_count(size_bytes, 'byte')})"


def offset_text(offset: int) -> str:
    """A host offset in hexadecimal and, where they differ, in decimal."""
    return f"{offset}" if offset < 10 else f"{format_offset(offset)} ({offset:,})"


def field_row(found: FieldValue, *, names: FeatureNames | None = None, indent: bool = False) -> Row:
    """The row of a field in a table with `field_columns`."""
    field = found.field
    meaning = field.meaning
    tone = Tone.NORMAL
    if found.value is None:
        value = NOTHING
        tone = Tone.MUTED
        meaning += " · " + (
            translate("formatters", "the file ends inside it")
            if 0 < len(found.raw) < field.width_bytes
            else translate("formatters", "absent from this header")
        )
    else:
        value = value_text(found, names or {})
    return Row(
        (
            ("    " if indent else "") + field.name,
            format_offset(found.host_offset),
            hex_text(found.raw) if found.value is not None else NOTHING,
            value,
            meaning,
        ),
        found.host_offset,
        found.host_offset + field.width_bytes,
        tone,
    )


def value_text(found: FieldValue, names: FeatureNames) -> str:
    """What a field's number means, in words where the number alone does not tell."""
    value = found.value
    if value is None:
        return NOTHING
    special = _special_value(found.field.name, value)
    if special:
        return special
    match found.field.kind:
        case FieldKind.OFFSET:
            return offset_text(value) if value else translate("formatters", "none")
        case FieldKind.BYTES:
            return size_text(value)
        case FieldKind.FLAGS:
            return flags_text(found.field.name, value, names)
        case FieldKind.HEX:
            return format_hex(value, found.field.width_bytes * 8)
        case FieldKind.PADDING:
            return translate("formatters", "not zero") if value else "0"
        case FieldKind.NUMBER:
            return f"{value:,}"


def _special_value(name: str, value: int) -> str:
    """The words for fields whose number stands for something else, or an empty string."""
    if name == "magic" and value == MAGIC:
        return r"QFI\xfb"
    if name == "version" and value in (2, 3):
        return f"{value} (compat {'0.10' if value == 2 else '1.1'})"
    if name == "cluster_bits" and cluster_bits_valid(value):
        return f"{value} ({format_size(1 << value)})"
    if name == "refcount_order" and value <= MAX_REFCOUNT_ORDER:
        return f"{value} ({format_count(1 << value, 'bit')})"
    if name == "crypt_method" and value in CRYPT_METHODS:
        return f"{value} ({CRYPT_METHODS[value]})"
    if name == "compression_type" and value in COMPRESSION_TYPES:
        return f"{value} ({COMPRESSION_TYPES[value]})"
    return ""


def flags_text(field_name: str, word: int, names: FeatureNames) -> str:
    """The bits that are set, by name where the field is a set of features."""
    if not word:
        return translate("formatters", "none")
    feature_class = FLAG_WORDS.get(field_name)
    set_bits = [bit for bit in range(word.bit_length()) if word >> bit & 1]
    if feature_class is None:
        return ", ".join(f"bit {bit}" for bit in set_bits)
    return ", ".join(feature_name(feature_class, bit, names) for bit in set_bits)


def severity_text(severity: Severity) -> str:
    """The severity's word."""
    return {
        Severity.INFO: translate("formatters", "note"),
        Severity.LEAK: translate("formatters", "leak"),
        Severity.SUSPICIOUS: translate("formatters", "suspicious"),
        Severity.CORRUPTION: translate("formatters", "corruption"),
        Severity.FATAL: translate("formatters", "fatal"),
    }[severity]


SEVERITY_TONES: Final = {
    Severity.INFO: Tone.NOTE,
    Severity.LEAK: Tone.WARNING,
    Severity.SUSPICIOUS: Tone.WARNING,
    Severity.CORRUPTION: Tone.DANGER,
    Severity.FATAL: Tone.DANGER,
}


def place_text(finding: Finding) -> str:
    """Where a finding is: structure, entry, host offset, guest range; as far as it is known."""
    parts = [finding.structure]
    if finding.entry is not None:
        parts.append(translate("formatters", "entry {index}").format(index=f"{finding.entry:,}"))
    if finding.host_offset is not None:
        parts.append(f"host {format_offset(finding.host_offset)}")
    if finding.guest_start is not None:
        guest = f"guest {format_offset(finding.guest_start)}"
        if finding.guest_end is not None:
            guest += f" – {format_offset(finding.guest_end)}"
        parts.append(guest)
    return " · ".join(parts)


def finding_detail(finding: Finding) -> str:
    """What the columns of the findings leave out, one fact a line."""
    lines = []
    if finding.expected:
        lines.append(translate("formatters", "Expected: {what}").format(what=finding.expected))
    if finding.raw is not None:
        lines.append(
            translate("formatters", "Found: {decimal} ({hexadecimal})").format(
                decimal=f"{finding.raw:,}", hexadecimal=f"{finding.raw:#x}"
            )
        )
    if finding.refusal is Refusal.QEMU:
        lines.append(translate("formatters", "QEMU refuses the image; guest data can be read."))
    elif finding.refusal is Refusal.READER:
        lines.append(translate("formatters", "QEMU refuses the image; guest data can't be read."))
    return "\n".join(lines)


def findings_table(findings: Sequence[Finding]) -> Table:
    """The findings as rows, worst first as they come."""
    rows = []
    for finding in findings:
        message = finding.message
        if finding.count > 1:
            message += f" (×{finding.count:,})"
        place = place_text(finding)
        rows.append(
            Row(
                (severity_text(finding.severity), message, place, finding.code),
                finding.host_offset,
                None if finding.host_offset is None else finding.host_offset + 1,
                SEVERITY_TONES[finding.severity],
                finding_detail(finding),
                (
                    -finding.severity,
                    message.casefold(),
                    -1 if finding.host_offset is None else finding.host_offset,
                    finding.code,
                ),
            )
        )
    return Table(
        (
            Column(translate("formatters", "Severity")),
            Column(translate("formatters", "What"), wide=True),
            Column(translate("formatters", "Where")),
            Column(translate("formatters", "Code"), monospaced=True, quiet=True),
        ),
        tuple(rows),
        sortable=True,
    )


def findings_summary(findings: Sequence[Finding]) -> tuple[str, Tone]:
    """The words of the health badge, and how they look; they claim no more than was looked at."""
    if not findings:
        return translate("formatters", "No findings when opening"), Tone.NORMAL
    counts = dict.fromkeys(sorted(Severity, reverse=True), 0)
    for finding in findings:
        counts[finding.severity] += finding.count
    nouns = {
        Severity.FATAL: ("fatal finding", "fatal findings"),
        Severity.CORRUPTION: ("corruption", "corruptions"),
        Severity.SUSPICIOUS: ("suspicious", "suspicious"),
        Severity.LEAK: ("leak", "leaks"),
        Severity.INFO: ("note", "notes"),
    }
    worst = next(severity for severity, count in counts.items() if count)
    text = " · ".join(
        format_count(count, *nouns[severity]) for severity, count in counts.items() if count
    )
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
