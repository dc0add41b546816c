"""The model over a `Table`: immutable rows, so it has nothing to signal."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from qcowgui.gui.formatters import Row, Table, Tone
from qcowgui.gui.theme import Theme, monospaced_font

SORT_ROLE: Final = Qt.ItemDataRole.UserRole + 1

_NO_PARENT: Final = QModelIndex()


class TableModel(QAbstractTableModel):
    """Shows one `Table`. A view that needs another one gets another model."""

    def __init__(self, table: Table, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.table = table
        self._theme = theme
        self._fixed_font = monospaced_font()

    def row_at(self, row: int) -> Row:
        """The row with this index."""
        return self.table.rows[row]

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
        row, column = self.table.rows[index.row()], index.column()
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
            case _ if role == SORT_ROLE:
                return row.sort_keys[column] if row.sort_keys else row.cells[column]
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
