"""The legend: each state with its colour, how much there is, and what it means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from qcowgui.check.cells import Tally
from qcowgui.gui.heatmap.layers import Key, MapLayer, Shown
from qcowgui.gui.heatmap.swatches import SIDE, swatch
from qcowgui.gui.theme import Theme
from qcowgui.units import format_size

_RIGHT: Final = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_VALUE_ROLE: Final = Qt.ItemDataRole.UserRole
_NAME_PADDING: Final = 24
"""Around a name: the style sheet's, and what lies between it and its swatch."""


class Legend(QTreeWidget):
    """The keys of a layer that occur, the worst first.

    A click, or Space, isolates one; a double click, or Delete, hides it; again shows all. Where
    there is little room the names come before the sizes, which tooltips say, too.

    Signals:
        shown_changed: Other values are to be shown: a `Shown`.
    """

    shown_changed = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._layer: MapLayer | None = None
        self._tally: Mapping[int, Tally] = {}
        self._shown = Shown()
        self._before_click = Shown()
        self.setObjectName("legend")
        self.setColumnCount(3)
        self.setHeaderLabels([self.tr("State"), self.tr("Clusters"), self.tr("Size")])
        self.setRootIsDecorated(False)
        self.setIndentation(0)
        self.setIconSize(QSize(SIDE, SIDE))
        self.setExpandsOnDoubleClick(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setAccessibleName(self.tr("Legend: states, clusters and sizes"))
        self.setToolTip(self.tr("Click: only this state. Double click: hide it."))
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for column in (1, 2):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
            self.headerItem().setTextAlignment(column, _RIGHT)
        self.itemClicked.connect(self._clicked)
        self.itemDoubleClicked.connect(self._double_clicked)
        theme.changed.connect(self._dress_all)

    @property
    def shown(self) -> Shown:
        """Which values are to be shown."""
        return self._shown

    def show_layer(
        self, layer: MapLayer | None, amounts: Mapping[int, Tally], shown: Shown
    ) -> None:
        """Explain a layer; `amounts` is how much there is of each value that occurs."""
        self._shown = shown
        if layer is not self._layer or amounts != self._tally:
            self._layer, self._tally = layer, amounts
            self._fill()
        self._dress_all()

    def rows(self) -> list[tuple[Key, Tally]]:
        """The keys that occur, the worst first, and how much there is of each."""
        if self._layer is None:
            return []
        return [
            (key, self._tally[key.value])
            for key in reversed(self._layer.keys)
            if key.value in self._tally
        ]

    def _fill(self) -> None:
        self.clear()
        for key, amount in self.rows():
            texts = [key.name, f"{amount.clusters:,}", format_size(amount.bytes)]
            item = QTreeWidgetItem(texts)
            item.setData(0, _VALUE_ROLE, key.value)
            self.addTopLevelItem(item)
        self._fit()

    def _fit(self) -> None:
        """Leave the sizes out when names would be cut."""
        names = [key.name for key, _ in self.rows()]
        metrics = self.fontMetrics()
        widest = max(map(metrics.horizontalAdvance, names), default=0) + SIDE + _NAME_PADDING
        others = sum(
            max(self.sizeHintForColumn(column), self.header().sectionSizeHint(column))
            for column in (1, 2)
        )
        self.setColumnHidden(2, widest + others > self.viewport().width())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """There is another room for names."""
        super().resizeEvent(event)
        self._fit()

    def _dress_all(self) -> None:
        for row, (key, amount) in enumerate(self.rows()):
            item = self.topLevelItem(row)
            if item is not None:
                self._dress(item, key, amount, hidden=key.value in self._shown.hidden)

    def _dress(self, item: QTreeWidgetItem, key: Key, amount: Tally, *, hidden: bool) -> None:
        colours = self._theme.colours
        isolated = self._shown.isolated
        quiet = hidden or (isolated is not None and isolated != key.value)
        font = QFont(self.font())
        font.setStrikeOut(hidden)
        font.setBold(isolated == key.value)
        item.setIcon(0, swatch(key, dark=self._theme.dark, hidden=hidden))
        for column in range(3):
            item.setToolTip(column, f"{key.meaning}\n{format_size(amount.bytes)}")
            item.setFont(column, font)
            item.setForeground(column, QColor(colours.muted if quiet or column else colours.text))
            if column:
                item.setTextAlignment(column, _RIGHT)
        item.setData(0, Qt.ItemDataRole.AccessibleDescriptionRole, key.meaning)

    def isolate(self, value: int) -> None:
        """Show only one value; all again when it was isolated. A hidden one is shown again."""
        if value in self._shown.hidden:
            self._change(Shown(None, self._shown.hidden - {value}))
        else:
            isolated = None if self._shown.isolated == value else value
            self._change(Shown(isolated, self._shown.hidden))

    def hide_value(self, value: int) -> None:
        """Hide a value, or show it again; nothing stays isolated."""
        self._change(Shown(None, self._shown.hidden ^ {value}))

    def _change(self, shown: Shown) -> None:
        self._shown = shown
        self._dress_all()
        self.shown_changed.emit(shown)

    def _clicked(self, item: QTreeWidgetItem) -> None:
        value = self._value_of(item)
        if value is not None:
            self.isolate(value)

    def _double_clicked(self, item: QTreeWidgetItem) -> None:
        value = self._value_of(item)
        if value is not None:
            # Its first click has isolated it, or shown it.
            self._shown = self._before_click
            self.hide_value(value)

    def _value_of(self, item: QTreeWidgetItem | None) -> int | None:
        return None if item is None else int(item.data(0, _VALUE_ROLE))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember what was shown: the click may turn out to be half of a double click."""
        self._before_click = self._shown
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Isolate and hide without a mouse."""
        value = self._value_of(self.currentItem())
        if value is not None and event.key() == Qt.Key.Key_Space:
            self.isolate(value)
        elif value is not None and event.key() == Qt.Key.Key_Delete:
            self.hide_value(value)
        else:
            super().keyPressEvent(event)
