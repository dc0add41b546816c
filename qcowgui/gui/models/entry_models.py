"""The model of a table of entries: millions of rows, of which it makes the texts of those in view.

It neither filters nor sorts: an `EntryFeed` hands it the rows and their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from qcowgui.engine.work import CancelToken
from qcowgui.gui.formatters import Column, Row, Tone, tsv
from qcowgui.gui.models.entry_filter import RowNumbers
from qcowgui.gui.models.entry_rows import EntryColumn, EntryRows, make_columns
from qcowgui.gui.theme import Theme, monospaced_font

_NO_PARENT: Final = QModelIndex()
_KEPT_ROWS: Final = 1024
"""Rows whose texts are kept: some screens full."""
_ROWS_PER_LOOK: Final = 512
"""While texts are made for the clipboard, the token is looked at after so many rows."""


class EntryModel(QAbstractTableModel):
    """Shows the rows of one table, all of them or some, in any order."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: EntryRows | None = None
        self.columns: tuple[Column, ...] = ()
        self._shown: RowNumbers | None = None
        self._kept: dict[int, Row] = {}
        self._theme = theme
        self._fixed_font = monospaced_font()

    def set_rows(self, rows: EntryRows | None, shown: RowNumbers | None) -> None:
        """Show `rows`; of them `shown`, in that order, or with None all in the file's order."""
        self.beginResetModel()
        self.rows, self._shown = rows, shown
        self._kept.clear()
        self.columns = make_columns(rows.key) if rows is not None else ()
        self.endResetModel()

    def entry(self, model_row: int) -> int:
        """The entry of the file that the model has at `model_row`."""
        return model_row if self._shown is None else int(self._shown[model_row])

    def entries(self, model_rows: Sequence[tuple[int, int]]) -> RowNumbers:
        """int32: the entries at ranges [first, last) of rows."""
        parts = [np.arange(first, last, dtype=np.int32) for first, last in model_rows]
        rows = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)
        return rows if self._shown is None else self._shown[rows]

    def model_row(self, entry: int) -> int | None:
        """Where the model has an entry of the file; None when it is not shown."""
        if self.rows is None or not 0 <= entry < len(self.rows.arrays):
            return None
        if self._shown is None:
            return entry
        hits = np.flatnonzero(self._shown == entry)
        return int(hits[0]) if len(hits) else None

    def column_of(self, section: int) -> EntryColumn | None:
        """Which column the model has at `section`."""
        if self.rows is None or not 0 <= section < len(self.rows.columns):
            return None
        return self.rows.columns[section]

    def row_at(self, model_row: int) -> Row:
        """The texts of a row.

        Raises:
            LookupError: When there is no table.
        """
        if self.rows is None:
            raise LookupError("no table is shown")
        entry = self.entry(model_row)
        row = self._kept.get(entry)
        if row is None:
            if len(self._kept) >= _KEPT_ROWS:
                self._kept.clear()
            row = self._kept[entry] = self.rows.row(entry)
        return row

    # ---------------------------------------------------------------- for the view

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _NO_PARENT) -> int:
        """The rows shown; cells have none below them."""
        if parent.isValid() or self.rows is None:
            return 0
        return len(self.rows.arrays) if self._shown is None else len(self._shown)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = _NO_PARENT) -> int:
        """The columns of the table."""
        return 0 if parent.isValid() else len(self.columns)

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        """The columns' titles."""
        if orientation != Qt.Orientation.Horizontal or section >= len(self.columns):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.columns[section].title
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(section)
        return None

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """What a cell shows, and all that a view asks about it."""
        section = index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.row_at(index.row()).cells[section]
            case Qt.ItemDataRole.ToolTipRole:
                row = self.row_at(index.row())
                return "\n".join(filter(None, (row.cells[section], row.detail)))
            case Qt.ItemDataRole.ForegroundRole:
                tone = self.cell_tone(self.row_at(index.row()), section)
                return QColor(self._theme.tone_colour(tone))
            case Qt.ItemDataRole.FontRole:
                return self._fixed_font if self.columns[section].monospaced else None
            case Qt.ItemDataRole.TextAlignmentRole:
                return self._alignment(section)
            case Qt.ItemDataRole.AccessibleTextRole:
                row = self.row_at(index.row())
                return f"{self.columns[section].title}: {row.cells[section]}"
        return None

    def cell_tone(self, row: Row, section: int) -> Tone:
        """What the colour of a cell says."""
        if row.tone is Tone.MUTED:
            return row.tone
        column = self.column_of(section)
        if row.tone is not Tone.NORMAL and column in (EntryColumn.ENTRY, EntryColumn.KIND):
            return row.tone
        if column is EntryColumn.DIFFERENCE and row.cells[section].strip("0–"):
            return Tone.WARNING
        return Tone.MUTED if self.columns[section].quiet else Tone.NORMAL

    def _alignment(self, section: int) -> Qt.AlignmentFlag:
        right = self.columns[section].right
        side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter


class CopyWork:
    """Makes the text of rows for the clipboard, in a thread: there may be very many."""

    def __init__(
        self, rows: EntryRows, entries: RowNumbers, columns: Sequence[int], *, titles: bool
    ) -> None:
        """Text of `entries`, in their order.

        Args:
            rows: The table.
            entries: Of the file.
            columns: Positions of the columns wanted.
            titles: Whether the columns' titles come first.
        """
        self._rows = rows
        self._entries = entries
        self._columns = columns
        self._titles = titles

    def __call__(self, token: CancelToken) -> str:
        """Tab-separated text, a row a line.

        Raises:
            Cancelled: When the token asks for it.
        """
        return tsv(self._iter_lines(token))

    def _iter_lines(self, token: CancelToken) -> Iterator[list[str]]:
        if self._titles:
            titles = [column.title for column in make_columns(self._rows.key)]
            yield [titles[index] for index in self._columns]
        wanted = [self._rows.columns[index] for index in self._columns]
        for position, entry in enumerate(self._entries.tolist()):
            if not position % _ROWS_PER_LOOK:
                token.raise_if_cancelled()
            yield [self._rows.cell(entry, column) for column in wanted]
