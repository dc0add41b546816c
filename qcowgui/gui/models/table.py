"""The model over a `Table`: immutable rows, in the table's order or sorted by a column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from qcowgui.gui.formatters import Row, SortKey, Table, Tone
from qcowgui.gui.theme import Theme, monospaced_font

_NO_PARENT: Final = QModelIndex()


class TableModel(QAbstractTableModel):
    """Shows one `Table` at a time.

    It sorts by itself: a proxy would call back into Python for each comparison, and a damaged
    image can have a hundred thousand findings.
    """

    def __init__(self, table: Table, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.table = table
        self._order: Sequence[int] = range(len(table.rows))
        self._theme = theme
        self._fixed_font = monospaced_font()

    def set_table(self, table: Table) -> None:
        """Show another table, in its own order."""
        self.beginResetModel()
        self.table = table
        self._order = range(len(table.rows))
        self.endResetModel()

    def table_row(self, model_row: int) -> int:
        """The index in the table of what the model has at `model_row`."""
        return self._order[model_row]

    def model_row(self, table_row: int) -> int:
        """Where the model has the table's row `table_row`."""
        return self._order.index(table_row)

    def row_at(self, model_row: int) -> Row:
        """The row that the model has at `model_row`."""
        return self.table.rows[self._order[model_row]]

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; by -1 go back to the table's order. Equal rows keep that order."""
        rows = self.table.rows

        def key(row: int) -> SortKey:
            return rows[row].sort_keys[column] if rows[row].sort_keys else rows[row].cells[column]

        natural: Sequence[int] = range(len(rows))
        descending = order == Qt.SortOrder.DescendingOrder
        new = natural if column < 0 else sorted(natural, key=key, reverse=descending)
        self.layoutAboutToBeChanged.emit()
        old_indexes = self.persistentIndexList()
        places = {table_row: model_row for model_row, table_row in enumerate(new)}
        new_indexes = [
            self.index(places[self._order[index.row()]], index.column()) for index in old_indexes
        ]
        self._order = new
        self.changePersistentIndexList(old_indexes, new_indexes)
        self.layoutChanged.emit()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _NO_PARENT) -> int:
        """The rows of the table; cells have none below them."""
        return 0 if parent.isValid() else len(self.table.rows)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = _NO_PARENT) -> int:
        """The columns of the table."""
        return 0 if parent.isValid() else len(self.table.columns)

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        """The columns' titles."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.table.columns[section].title
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(section)
        return None

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """What a cell shows, and all that a view asks about it."""
        row, column = self.row_at(index.row()), index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return row.cells[column]
            case Qt.ItemDataRole.ToolTipRole:
                return "\n".join(filter(None, (row.cells[column].strip(), row.detail)))
            case Qt.ItemDataRole.ForegroundRole:
                return QColor(self._theme.tone_colour(self._cell_tone(row, column)))
            case Qt.ItemDataRole.FontRole:
                return self._fixed_font if self.table.columns[column].monospaced else None
            case Qt.ItemDataRole.TextAlignmentRole:
                return self._alignment(column)
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{self.table.columns[column].title}: {row.cells[column].strip()}"
        return None

    def _cell_tone(self, row: Row, column: int) -> Tone:
        # The first cell carries the colour; a whole sentence in it would shout.
        if row.tone is Tone.MUTED or column == 0:
            return row.tone
        return Tone.MUTED if self.table.columns[column].quiet else Tone.NORMAL

    def _alignment(self, column: int) -> Qt.AlignmentFlag:
        side = (
            Qt.AlignmentFlag.AlignRight
            if self.table.columns[column].right
            else Qt.AlignmentFlag.AlignLeft
        )
        return side | Qt.AlignmentFlag.AlignVCenter
