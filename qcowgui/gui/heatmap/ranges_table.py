"""The accessible twin of the map: its ranges as a table, reachable by keyboard."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSignalBlocker,
    Qt,
    Signal,
)
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from qcowgui.gui.formatters import tsv
from qcowgui.gui.heatmap.runs import Run, Runs
from qcowgui.gui.heatmap.swatches import swatch
from qcowgui.gui.theme import Theme
from qcowgui.units import format_offset, format_size

_NO_PARENT: Final = QModelIndex()
_MAX_COPIED_ROWS: Final = 100_000


class RangesModel(QAbstractTableModel):
    """The listed runs of a layer."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._runs: Runs | None = None

    @property
    def runs(self) -> Runs | None:
        """What is listed."""
        return self._runs

    def set_runs(self, runs: Runs | None) -> None:
        """List other runs."""
        self.beginResetModel()
        self._runs = runs
        self.endResetModel()

    def headings(self) -> list[str]:
        """The titles of the columns."""
        return [
            self.tr("State"),
            self.tr("Offset"),
            self.tr("First cluster"),
            self.tr("Clusters"),
            self.tr("Size"),
        ]

    def cells(self, row: int) -> list[str]:
        """The texts of a row."""
        runs = self._runs
        if runs is None:
            return []
        run, layer = runs[row], runs.layer
        key = layer.key(run.value)
        start = run.first * layer.cluster_bytes
        end = min(run.last * layer.cluster_bytes, max(layer.end_bytes, start))
        return [
            "" if key is None else key.name,
            format_offset(start),
            f"{run.first:,}",
            f"{run.last - run.first:,}",
            format_size(end - start),
        ]

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _NO_PARENT) -> int:
        """How many runs are listed; Qt counts in 31 bits."""
        if parent.isValid() or self._runs is None:
            return 0
        return min(len(self._runs), (1 << 31) - 1)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = _NO_PARENT) -> int:
        """How many columns there are."""
        return 0 if parent.isValid() else len(self.headings())

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """The titles of the columns."""
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self.headings()[section]
        return None

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """The text of a cell, the state's colour beside its name, its sentence as a tooltip."""
        runs = self._runs
        if runs is None or not index.isValid():
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.cells(index.row())[index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _align(index.column())
        key = runs.layer.key(runs[index.row()].value)
        if index.column() == 0 and key is not None:
            if role == Qt.ItemDataRole.DecorationRole:
                return swatch(key, dark=self._theme.dark)
            if role == Qt.ItemDataRole.ToolTipRole:
                return key.meaning
        return None


def _align(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


class RangesTable(QTableView):
    """Shows the ranges of a map; copies rows as tab-separated text.

    Signals:
        chosen: A range became the current one: a `Run`.
    """

    chosen = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.ranges = RangesModel(theme, self)
        self.setModel(self.ranges)
        self.setAccessibleName(self.tr("Ranges of clusters by state"))
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 8)
        self.horizontalHeader().setResizeContentsPrecision(100)
        self.horizontalHeader().setHighlightSections(False)
        self.selectionModel().currentRowChanged.connect(self._current_changed)
        theme.changed.connect(self.viewport().update)

    def show_runs(self, runs: Runs | None) -> None:
        """List other runs, none of them current."""
        with QSignalBlocker(self.selectionModel()):
            self.ranges.set_runs(runs)
        self.resizeColumnsToContents()

    def show_cluster(self, cluster: int) -> None:
        """Make the range that a cluster is in the current one, without choosing it."""
        runs = self.ranges.runs
        row = None if runs is None else runs.index_of(cluster)
        if row is not None and row != self.currentIndex().row():
            with QSignalBlocker(self.selectionModel()):
                self.selectRow(row)
            self.scrollTo(self.ranges.index(row, 0))
            self.viewport().update()

    def run_of(self, row: int) -> Run | None:
        """The range of a row."""
        runs = self.ranges.runs
        return None if runs is None or not 0 <= row < len(runs) else runs[row]

    def copy_rows(self, *, everything: bool = False) -> None:
        """Put the selected rows on the clipboard, or all of them, with the headings."""
        if everything:
            rows = list(range(min(self.ranges.rowCount(), _MAX_COPIED_ROWS)))
        else:
            rows = sorted(index.row() for index in self.selectionModel().selectedRows())[
                :_MAX_COPIED_ROWS
            ]
        lines = [self.ranges.headings(), *(self.ranges.cells(row) for row in rows)]
        QGuiApplication.clipboard().setText(tsv(lines))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy, too."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_rows()
        else:
            super().keyPressEvent(event)

    def _current_changed(self, index: QModelIndex) -> None:
        run = self.run_of(index.row())
        if run is not None:
            self.chosen.emit(run)
