"""The model of the findings dock: a `FindingList` as a flat table, made row by row when asked."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from PySide6.QtCore import (
    QAbstractTableModel,
    QCoreApplication,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)
from PySide6.QtGui import QColor

from qcowgui.check.collector import OTHER_SNAPSHOTS, FindingGroup
from qcowgui.check.wording import guest_ranges_text
from qcowgui.format import describe
from qcowgui.format.finding import CODES, Finding, Repair
from qcowgui.gui.finding_list import FindingFilter, FindingList, Listed, ListRow
from qcowgui.gui.formatters import NOTHING, SEVERITY_TONES, Tone, tsv
from qcowgui.gui.theme import Theme, monospaced_font
from qcowgui.gui.translation import count_text, severity_word
from qcowgui.units import format_offset

translate = QCoreApplication.translate

_NO_PARENT: Final = QModelIndex()
_INDENT: Final = "      "


class FindingColumn(IntEnum):
    """The columns of the table."""

    SEVERITY = 0
    COUNT = 1
    WHAT = 2
    WHERE = 3
    GUEST = 4
    REPAIR = 5
    CODE = 6


_QUIET: Final = frozenset({FindingColumn.COUNT, FindingColumn.CODE})


def repair_words(repair: Repair) -> str:
    """How something can be repaired, in a word or two."""
    return {
        Repair.NONE: NOTHING,
        Repair.LEAKS: translate("findings", "Repair (leaks)"),
        Repair.ALL: translate("findings", "Repair"),
        Repair.SALVAGE: translate("findings", "Salvage"),
    }[repair]


def repair_sentence(repair: Repair) -> str:
    """How something can be repaired, in a sentence."""
    return {
        Repair.NONE: translate(
            "findings", "Nothing that a program could decide: read it, and judge yourself."
        ),
        Repair.LEAKS: translate(
            "findings", "A repaired copy gives the space back; no other byte changes."
        ),
        Repair.ALL: translate(
            "findings", "A repaired copy has consistent metadata; the guest reads the same data."
        ),
        Repair.SALVAGE: translate(
            "findings", "Only salvage helps: a new image from what can still be read."
        ),
    }[repair]


class FindingsModel(QAbstractTableModel):
    """Shows a `FindingList`; which kinds are open belongs to it, too."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.list = FindingList()
        self._theme = theme
        self._fixed_font = monospaced_font()
        self._listing: int | None = None
        theme.changed.connect(self._repaint)

    # ---------------------------------------------------------------- content

    def set_groups(self, groups: tuple[FindingGroup, ...]) -> None:
        """Show other findings; the filter stays, and kinds that are still there stay open."""
        if groups == self.list.groups:
            return
        opened = {
            _identity(group)
            for index, group in enumerate(self.list.groups)
            if self.list.is_expanded(index)
        }
        self.beginResetModel()
        wanted = self.list.filter
        self.list = FindingList(groups)
        self.list.set_filter(wanted)
        for index, group in enumerate(groups):
            if _identity(group) in opened:
                self.list.set_expanded(index, True)
        self._listing = None
        self.endResetModel()

    def set_filter(self, wanted: FindingFilter) -> None:
        """Show what passes `wanted`."""
        self.beginResetModel()
        self.list.set_filter(wanted)
        self.endResetModel()

    def set_expanded(self, group: int, expanded: bool) -> None:
        """Open or close a kind."""
        start = self.list.row_of_group(group)
        if start is None or expanded == self.list.is_expanded(group) or self.list.is_single(group):
            return
        inside = self.list.shown_count(group) + (self.list.missing(group) > 0)
        first, last = start + 1, start + inside
        if expanded:
            self.beginInsertRows(_NO_PARENT, first, last)
            self.list.set_expanded(group, True)
            self.endInsertRows()
        else:
            self.beginRemoveRows(_NO_PARENT, first, last)
            self.list.set_expanded(group, False)
            self.endRemoveRows()
        self.dataChanged.emit(self.index(start, 0), self.index(start, len(FindingColumn) - 1))

    def set_listing(self, group: int | None) -> None:
        """Say of which kind all findings are being looked for."""
        self._listing = group
        self._repaint()

    def list_all(self, group: int, listed: Listed) -> None:
        """Show all findings of a kind."""
        self.beginResetModel()
        self._listing = None
        self.list.list_all(group, listed)
        self.list.set_expanded(group, True)
        self.endResetModel()

    # ---------------------------------------------------------------- Qt's model

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _NO_PARENT) -> int:
        """The rows of the list; cells have none below them."""
        return 0 if parent.isValid() else len(self.list)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = _NO_PARENT) -> int:
        """The columns of `FindingColumn`."""
        return 0 if parent.isValid() else len(FindingColumn)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """The columns' titles."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._title(FindingColumn(section))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(FindingColumn(section))
        return None

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """What a cell shows, and all that a view asks about it."""
        row, column = self.list.row(index.row()), FindingColumn(index.column())
        match role:
            case Qt.ItemDataRole.DisplayRole:
                text = self.text(row, column)
                inside = column is FindingColumn.WHAT and self.is_inside(row)
                return f"{_INDENT}{text}" if inside else text
            case Qt.ItemDataRole.DecorationRole:
                return self._chevron(row) if column is FindingColumn.SEVERITY else None
            case Qt.ItemDataRole.ToolTipRole:
                return self._tooltip(row, column)
            case Qt.ItemDataRole.ForegroundRole:
                return QColor(self._theme.tone_colour(self._tone(row, column)))
            case Qt.ItemDataRole.FontRole:
                return self._fixed_font if column is FindingColumn.CODE else None
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._accessible(row, column)
        return None

    # ---------------------------------------------------------------- words

    def text(self, row: ListRow, column: FindingColumn) -> str:
        """The text of a cell, as it is copied."""
        group = self.list.groups[row.group]
        if row.is_more:
            return self._more_text(row.group) if column is FindingColumn.WHAT else ""
        finding = self._single(row)
        if finding is None:
            return self._group_text(group, column)
        if column is FindingColumn.SEVERITY:
            return "" if self.is_inside(row) else _severity(group)
        return _finding_text(finding, column)

    def row_tsv(self, rows: list[int]) -> str:
        """Rows as tab-separated text; each with its severity, though only kinds show it."""
        lines = []
        for index in rows:
            row = self.list.row(index)
            cells = [self.text(row, column) for column in FindingColumn]
            cells[FindingColumn.SEVERITY] = _severity(self.list.groups[row.group])
            lines.append(cells)
        return tsv(lines)

    def titles(self) -> list[str]:
        """The columns' titles."""
        return [self._title(column) for column in FindingColumn]

    def is_inside(self, row: ListRow) -> bool:
        """Whether a row stands below that of its kind."""
        return row.finding is not None or row.is_more

    def _single(self, row: ListRow) -> Finding | None:
        """The one finding that a row shows; None for a kind of several."""
        if row.finding is None and not self.list.is_single(row.group):
            return None
        return self.list.finding_at(row)

    def _group_text(self, group: FindingGroup, column: FindingColumn) -> str:
        match column:
            case FindingColumn.SEVERITY:
                return _severity(group)
            case FindingColumn.COUNT:
                return f"{group.count:,}"
            case FindingColumn.WHAT:
                return CODES[group.code]
            case FindingColumn.WHERE:
                return self._group_place(group)
            case FindingColumn.GUEST:
                return guest_ranges_text(group.guest_ranges).removeprefix("guest ") or NOTHING
            case FindingColumn.REPAIR:
                return repair_words(group.repair)
            case FindingColumn.CODE:
                return group.code

    def _group_place(self, group: FindingGroup) -> str:
        structures = dict.fromkeys(finding.structure for finding in group.first)
        parts = [", ".join(list(structures)[:2]) + (" …" if len(structures) > 2 else "")]
        if group.snapshot == OTHER_SNAPSHOTS:
            parts.append(self.tr("other snapshots"))
        elif group.snapshot is not None:
            parts.append(self.tr("snapshot {index}").format(index=group.snapshot))
        spans = group.host_ranges.spans
        if spans:
            end = format_offset(spans[-1][1]) if group.host_ranges.complete else "…"
            parts.append(f"{format_offset(spans[0][0])} – {end}")
        return " · ".join(part for part in parts if part)

    def _more_text(self, group: int) -> str:
        count = count_text(self.list.missing(group), "more of this kind", "more of this kind")
        if self._listing == group:
            return self.tr("{count}: they are being looked for…").format(count=count)
        if self.list.was_searched(group):
            return self.tr("{count}, too many to be listed").format(count=count)
        return self.tr("{count} – press Enter to list them").format(count=count)

    def _title(self, column: FindingColumn) -> str:
        return {
            FindingColumn.SEVERITY: self.tr("Severity"),
            FindingColumn.COUNT: self.tr("Count"),
            FindingColumn.WHAT: self.tr("What"),
            FindingColumn.WHERE: self.tr("Where"),
            FindingColumn.GUEST: self.tr("Guest range"),
            FindingColumn.REPAIR: self.tr("Repaired by"),
            FindingColumn.CODE: self.tr("Code"),
        }[column]

    # ---------------------------------------------------------------- looks

    def _chevron(self, row: ListRow) -> object:
        if self.is_inside(row) or self.list.is_single(row.group):
            return None
        name = "expanded" if self.list.is_expanded(row.group) else "collapsed"
        return self._theme.icon(name, self._theme.colours.muted)

    def _tone(self, row: ListRow, column: FindingColumn) -> Tone:
        if column is FindingColumn.SEVERITY:
            return SEVERITY_TONES[self.list.groups[row.group].severity]
        return Tone.MUTED if row.is_more or column in _QUIET else Tone.NORMAL

    def _tooltip(self, row: ListRow, column: FindingColumn) -> str:
        group = self.list.groups[row.group]
        if column is FindingColumn.REPAIR and not row.is_more:
            return repair_sentence(group.repair)
        finding = self._single(row)
        lines = [self.text(row, column)]
        if finding is not None and column is FindingColumn.WHAT:
            lines.append(describe.finding_detail_text(finding))
            if finding.spec:
                lines.append(
                    self.tr("Format description, section {spec}").format(spec=finding.spec)
                )
        return "\n".join(filter(None, lines))

    def _accessible(self, row: ListRow, column: FindingColumn) -> str:
        text = f"{self._title(column)}: {self.text(row, column)}"
        if column is not FindingColumn.SEVERITY or self._chevron(row) is None:
            return text
        opened = self.list.is_expanded(row.group)
        return f"{text}, {self.tr('expanded') if opened else self.tr('collapsed')}"

    def _repaint(self) -> None:
        if len(self.list):
            last = self.index(len(self.list) - 1, len(FindingColumn) - 1)
            self.dataChanged.emit(self.index(0, 0), last)


def _identity(group: FindingGroup) -> tuple[str, int, int | None]:
    return group.code, group.severity, group.snapshot


def _finding_text(finding: Finding, column: FindingColumn) -> str:
    """The text of a single finding in any column but the first."""
    return {
        FindingColumn.COUNT: f"{finding.count:,}" if finding.count > 1 else "",
        FindingColumn.WHAT: finding.message,
        FindingColumn.WHERE: _where(finding),
        FindingColumn.GUEST: _guest(finding),
        FindingColumn.REPAIR: repair_words(finding.repair),
        FindingColumn.CODE: finding.code,
    }[column]


def _severity(group: FindingGroup) -> str:
    return severity_word(group.severity)


def _where(finding: Finding) -> str:
    parts = [finding.structure]
    if finding.entry is not None:
        parts.append(translate("findings", "entry {number}").format(number=f"{finding.entry:,}"))
    if finding.host_offset is not None:
        parts.append(format_offset(finding.host_offset))
    return " · ".join(parts)


def _guest(finding: Finding) -> str:
    if finding.guest_start is None:
        return NOTHING
    if finding.guest_end is None:
        return format_offset(finding.guest_start)
    # Exact: what is listed differs by a cluster, which three digits of a size can't tell.
    return f"{format_offset(finding.guest_start)} – {format_offset(finding.guest_end)}"


def _alignment(column: FindingColumn) -> Qt.AlignmentFlag:
    right = column is FindingColumn.COUNT
    side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
