"""The structure tree beside the map: what the image consists of, and where something is wrong."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from qcowgui.gui.formatters import SEVERITY_TONES
from qcowgui.gui.models.structure_tree import LINE_ROLE, StructureTreeModel, TreeLine
from qcowgui.gui.models.tree_badges import Badge
from qcowgui.gui.session import Session
from qcowgui.gui.theme import Theme

_INDENT: Final = 14
_GAP: Final = 8
_BADGE_PADDING: Final = 6
_BADGE_SCALE: Final = 0.85
_EDGE: Final = 6

_Index = QModelIndex | QPersistentModelIndex


class StructureTreeView(QTreeView):
    """The structures of an image, down to each L2 table, with how many findings each has.

    Signals:
        chosen: The user selected a table or a structure, which the session has selected by now:
            its `Selection`.
    """

    chosen = Signal(object)

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._showing = False
        self.structures = StructureTreeModel(session, self)
        self.setModel(self.structures)
        self.setItemDelegate(_NodeDelegate(theme, self))
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setIndentation(_INDENT)
        self.setExpandsOnDoubleClick(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setAccessibleName(self.tr("Structures"))
        self.selectionModel().currentChanged.connect(self._current_changed)
        self.structures.tables_read.connect(self._show_selection)
        self.structures.rebuilt.connect(self._show_selection)
        session.selection_changed.connect(self._show_selection)
        session.index_changed.connect(self._show_selection)
        theme.changed.connect(self.viewport().update)
        self._show_selection()

    def abandon(self) -> None:
        """Take no more results: the tab is being closed."""
        self.structures.abandon()

    def keyboardSearch(self, search: str) -> None:
        """Only what is in view: Qt would look through every node that was ever made."""
        index = self.currentIndex()
        while index.isValid() and (index := self.indexBelow(index)).isValid():
            if str(index.data()).casefold().startswith(search.casefold()):
                self.setCurrentIndex(index)
                return

    def _show_selection(self) -> None:
        """Make the table that the session's selection is in the current item."""
        session = self._session
        selection = session.locator.entry_of(session.selection) if session.locator else None
        if selection is None:
            return
        index = self.structures.find(selection)
        if not index.isValid() or index == self.currentIndex():
            return
        self._showing = True
        self.setCurrentIndex(index)
        self.scrollTo(index)
        self._showing = False

    def _current_changed(self, current: QModelIndex) -> None:
        selection = self.structures.selection_at(current)
        if self._showing or selection is None:
            return
        self._session.select(selection)
        self.chosen.emit(selection)


class _NodeDelegate(QStyledItemDelegate):
    """Paints a node: its title, its note at the right, and a badge behind that."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        """High enough for a badge; as wide as the view."""
        size = super().sizeHint(option, index)
        return QSize(0, max(size.height(), option.fontMetrics.height() + 8))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint one node.

        The base class would ask the model for six things that no node has.
        """
        line = index.data(LINE_ROLE)
        if not isinstance(line, TreeLine):
            return
        widget = option.widget
        style = widget.style()
        style.drawPrimitive(QStyle.PrimitiveElement.PE_PanelItemViewItem, option, painter, widget)
        painter.save()
        rect = option.rect.adjusted(_EDGE, 0, -_EDGE, 0)
        title, note = line.title, line.note
        if line.badge is not None:
            rect.setRight(self._paint_badge(painter, option, rect, line.badge) - _GAP)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        text_role = QPalette.ColorRole.HighlightedText if selected else QPalette.ColorRole.Text
        text_colour = option.palette.color(text_role)
        metrics = option.fontMetrics
        painter.setFont(option.font)
        title_width = metrics.horizontalAdvance(title)
        note_width = metrics.horizontalAdvance(note)
        if note and title_width + _GAP + note_width <= rect.width():
            painter.setPen(text_colour if selected else QColor(self._theme.colours.muted))
            painter.drawText(rect, _RIGHT, note)
            rect.setRight(rect.right() - note_width - _GAP)
        painter.setPen(text_colour)
        elided = metrics.elidedText(title, Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, _LEFT, elided)
        painter.restore()

    def _paint_badge(
        self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, badge: Badge
    ) -> int:
        """Paint a badge at the right end of `rect`; where it begins."""
        font = QFont(option.font)
        font.setPointSizeF(font.pointSizeF() * _BADGE_SCALE)
        font.setBold(True)
        metrics = QFontMetrics(font)
        height = metrics.height() + 2
        width = max(height, metrics.horizontalAdvance(badge.text) + 2 * _BADGE_PADDING)
        top = rect.top() + (rect.height() - height) // 2
        pill = QRect(rect.right() - width + 1, top, width, height)
        tone = SEVERITY_TONES[badge.severity]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self._theme.tone_back(tone)))
        painter.drawRoundedRect(pill, height / 2, height / 2)
        painter.setFont(font)
        painter.setPen(QColor(self._theme.tone_colour(tone)))
        painter.drawText(pill, Qt.AlignmentFlag.AlignCenter, badge.text)
        return pill.left()


_LEFT: Final = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT: Final = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
