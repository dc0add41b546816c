"""The bytes of a file or a guest's disk, of any size: seen, selected, copied."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QMenu, QWidget

from qcowgui.gui.hex_text import GROUP_BYTES, CopyFormat, range_text
from qcowgui.gui.pages import PageCache
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.hex_cursor import ByteCursor, Move
from qcowgui.gui.views.hex_layout import Part
from qcowgui.gui.views.hex_painter import HexPainter, Shown
from qcowgui.gui.views.hex_scroll import HexScrollArea
from qcowgui.gui.views.hex_tints import OwnerMap

_Key = Qt.Key
_MOVES: Final[dict[tuple[int, bool], Move]] = {
    (_Key.Key_Left, False): Move.BYTE_BACK,
    (_Key.Key_Right, False): Move.BYTE_ON,
    (_Key.Key_Left, True): Move.WORD_BACK,
    (_Key.Key_Right, True): Move.WORD_ON,
    (_Key.Key_Up, False): Move.ROW_BACK,
    (_Key.Key_Down, False): Move.ROW_ON,
    (_Key.Key_PageUp, False): Move.PAGE_BACK,
    (_Key.Key_PageDown, False): Move.PAGE_ON,
    (_Key.Key_Home, False): Move.ROW_START,
    (_Key.Key_End, False): Move.ROW_END,
    (_Key.Key_Home, True): Move.START,
    (_Key.Key_End, True): Move.END,
}
"""By key, with and without Ctrl."""


class HexView(HexScrollArea):
    """Shows one PageCache at a time. Offsets are Python ints: Qt's would end at 2 GiB.

    Attributes:
        cursor_: The cursor and what is selected with it.

    Signals:
        picked: A person moved the cursor to a byte: its offset.
        range_changed: Other bytes are selected than before.
        hovered: The pointer is over another byte: its offset, or None.
        copy_requested: Copy the selected bytes: a CopyFormat.
    """

    picked = Signal(object)
    range_changed = Signal()
    hovered = Signal(object)
    copy_requested = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.cursor_ = ByteCursor()
        self._theme = theme
        self._owners: OwnerMap | None = None
        self._mark: tuple[int, int] | None = None
        self._hovered: int | None = None
        self._dragging = False
        self._placeholder = ""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.page_shown.connect(self._page_shown)
        theme.changed.connect(self.viewport().update)

    # ---------------------------------------------------------------- what is shown

    def set_pages(self, pages: PageCache | None) -> None:
        """Show other bytes, or none; the cursor and the place stay where they are possible."""
        self._mark = None
        self.cursor_.size_bytes = 0 if pages is None else pages.size_bytes
        self.cursor_.place(self.cursor_.position)
        super().set_pages(pages)
        self._range_changed()

    def set_owners(self, owners: OwnerMap | None) -> None:
        """Tint the bytes by the states of their clusters; None: no tints."""
        self._owners = owners
        self.viewport().update()

    def set_placeholder(self, text: str) -> None:
        """Say this while there are no bytes."""
        self._placeholder = text
        self.viewport().update()

    def set_mark(self, mark: tuple[int, int] | None) -> None:
        """Mark the bytes [start, end) of what is selected elsewhere."""
        if mark != self._mark:
            self._mark = mark
            self.viewport().update()

    @property
    def mark(self) -> tuple[int, int] | None:
        """The bytes [start, end) that are marked."""
        return self._mark

    def select_range(self, start: int, end: int) -> None:
        """Select the bytes [start, end) and show them; nobody is told that a person did it."""
        self.cursor_.select(start, end)
        self.reveal(self.cursor_.start, self.cursor_.end)
        self._range_changed()

    # ---------------------------------------------------------------- keys

    def event(self, event: QEvent) -> bool:
        """Keep the keys that mean something here from the window's commands."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            plain = not event.modifiers()
            if (
                event.matches(QKeySequence.StandardKey.Copy)
                or event.matches(QKeySequence.StandardKey.SelectAll)
                or (plain and event.key() in (Qt.Key.Key_W, Qt.Key.Key_L))
            ):
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the cursor; with Shift, select; copy."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_requested.emit(CopyFormat.HEX)
            return
        if event.matches(QKeySequence.StandardKey.SelectAll):
            self._select_by_hand(0, self.size_bytes)
            return
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        move = _MOVES.get((event.key(), control))
        if move is not None:
            target = self.cursor_.target(move, self._layout.row_bytes, self.visible_rows)
            extend = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self._go(target, extend=extend)
        elif event.key() == Qt.Key.Key_W and not event.modifiers():
            self.select_word()
        elif event.key() == Qt.Key.Key_L and not event.modifiers():
            self.select_line()
        else:
            super().keyPressEvent(event)

    def select_word(self) -> None:
        """Select the aligned eight bytes around the cursor."""
        self.cursor_.select_word()
        self._range_changed()

    def select_line(self) -> None:
        """Select the row of the cursor."""
        self.cursor_.select_block(self._layout.row_bytes)
        self._range_changed()

    def _select_by_hand(self, start: int, end: int) -> None:
        self.cursor_.select(start, end)
        self._range_changed()

    def _go(self, offset: int, *, extend: bool) -> None:
        self.cursor_.place(offset, extend=extend)
        self.reveal(self.cursor_.position, self.cursor_.position + 1)
        self._range_changed()
        self.picked.emit(self.cursor_.position)

    def _range_changed(self) -> None:
        self.viewport().update()
        self.setAccessibleDescription(self._spoken())
        QAccessible.updateAccessibility(
            QAccessibleEvent(self, QAccessible.Event.DescriptionChanged)
        )
        self.range_changed.emit()

    def _spoken(self) -> str:
        """The selected bytes for a screen reader: where, and the first of them."""
        start, end = self.cursor_.start, self.cursor_.end
        if start >= end:
            return self.tr("no bytes")
        data = self.pages.read(start, min(end - start, GROUP_BYTES)) if self.pages else None
        return f"{range_text(start, end)}: {data.hex(' ') if data else '…'}"

    # ---------------------------------------------------------------- mouse

    def offset_at(self, position: QPointF) -> int | None:
        """The byte at a place of the viewport; None above, below and beside the bytes."""
        row = int(position.y() // self._layout.row_height) - 1
        if row < 0:
            return None
        part, index = self._layout.hit(position.x() + self.horizontalScrollBar().value())
        offset = (self.top_row + row) * self._layout.row_bytes + index
        beside = position.x() + self.horizontalScrollBar().value() > self._layout.width
        if offset >= self.size_bytes or (part is Part.TEXT and beside):
            return None
        return offset

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Place the cursor; with Shift, select from it. On an offset: the row."""
        offset = self.offset_at(event.position())
        if event.button() is not Qt.MouseButton.LeftButton or offset is None:
            event.accept()
            return
        part, _ = self._layout.hit(event.position().x() + self.horizontalScrollBar().value())
        extend = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self._dragging = True
        self.cursor_.place(offset, extend=extend)
        if part is Part.OFFSET and not extend:
            self.cursor_.select_block(self._layout.row_bytes)
        self._range_changed()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Select while dragging, scrolling at the edges; else tell what is below the pointer."""
        if self._dragging:
            self._drag_to(event.position())
        else:
            self._hover(self.offset_at(event.position()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """What was clicked or dragged over is chosen."""
        if event.button() is Qt.MouseButton.LeftButton and self._dragging:
            self._dragging = False
            self.picked.emit(self.cursor_.position)
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Select the word: the entry of a table."""
        offset = self.offset_at(event.position())
        if offset is not None:
            self.cursor_.place(offset)
            self.select_word()

    def leaveEvent(self, event: QEvent) -> None:
        """Nothing is below the pointer any more."""
        super().leaveEvent(event)
        self._hover(None)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with the selected bytes."""
        self.make_menu().popup(event.globalPos())

    def make_menu(self) -> QMenu:
        """The context menu; it deletes itself when it closes."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for text, form in (
            (self.tr("Copy as hex"), CopyFormat.HEX),
            (self.tr("Copy as hex dump"), CopyFormat.DUMP),
            (self.tr("Copy as C array"), CopyFormat.C),
            (self.tr("Copy as Python bytes"), CopyFormat.PYTHON),
            (self.tr("Copy as Base64"), CopyFormat.BASE64),
            (self.tr("Copy as text"), CopyFormat.TEXT),
        ):
            action = menu.addAction(text)
            action.triggered.connect(lambda _=False, form=form: self.copy_requested.emit(form))
        menu.addSeparator()
        menu.addAction(self.tr("Select word (W)"), self.select_word)
        menu.addAction(self.tr("Select line (L)"), self.select_line)
        if self._mark is not None:
            menu.addAction(self.tr("Select the marked bytes"), self._select_mark)
        for action in menu.actions():
            action.setEnabled(self.size_bytes > 0)
        return menu

    def _select_mark(self) -> None:
        if self._mark is not None:
            self._select_by_hand(*self._mark)

    def _drag_to(self, position: QPointF) -> None:
        row = int(position.y() // self._layout.row_height) - 1
        visible = self.visible_rows
        if row < 0:
            self.set_top_row(self.top_row - 1)
        elif row >= visible:
            self.set_top_row(self.top_row + 1)
        _, index = self._layout.hit(position.x() + self.horizontalScrollBar().value())
        shown = self.top_row + min(max(row, 0), visible - 1)
        self.cursor_.place(shown * self._layout.row_bytes + index, extend=True)
        self._range_changed()

    def _page_shown(self, start: int, end: int) -> None:
        if start <= self.cursor_.end and self.cursor_.start < end:
            self.range_changed.emit()

    def _hover(self, offset: int | None) -> None:
        if offset != self._hovered:
            self._hovered = offset
            self.hovered.emit(offset)

    # ---------------------------------------------------------------- drawing

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the visible rows."""
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self.palette().base())
        pages = self.pages
        if pages is not None:
            side = self.horizontalScrollBar().value()
            painter.translate(-side, 0)
            width = self.viewport().width() + side
            HexPainter(painter, self._shown(pages), self._theme.colours, self._font, width).draw()
        else:
            painter.setPen(QColor(self._theme.colours.muted))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            margin = self._layout.row_height
            area = self.viewport().rect().adjusted(margin, margin, -margin, -margin)
            painter.drawText(area, flags, self._placeholder)
        painter.end()

    def _shown(self, pages: PageCache) -> Shown:
        return Shown(
            pages=pages,
            layout=self._layout,
            top_row=self.top_row,
            row_count=self.visible_rows + 1,
            selected=(self.cursor_.start, self.cursor_.end),
            cursor=self.cursor_.position,
            mark=self._mark,
            owners=self._owners,
            dark=self._theme.dark,
            focused=self.hasFocus(),
        )

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show that keys go here."""
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Show that they don't."""
        super().focusOutEvent(event)
        self.viewport().update()
