"""A page of the manual as it is read: Markdown with room, links, and squares of map states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QResizeEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
)
from PySide6.QtWidgets import QFrame, QTextBrowser, QTextEdit, QWidget

from qcowgui.gui.heatmap.layers import GUEST_KEYS, HOST_KEYS, Order
from qcowgui.gui.heatmap.swatches import SIDE, swatch
from qcowgui.gui.manual_pages import SWATCH_SCHEME, Page, anchor_of
from qcowgui.gui.theme import SPACING, Theme, monospaced_font, scaled_font

_MAX_LINE_LETTERS: Final = 88
"""Average letters in a line; longer ones are hard to follow."""
_LINE_HEIGHT_PERCENT: Final = 135
_HEADING_SIZES: Final = {1: 1.7, 2: 1.2, 3: 1.05}
_RANK_OF_SECTIONS: Final = 2
_CELL_PADDING: Final = 5
_INDENT: Final = 20
_CODE_SCALE: Final = 0.92
"""Of letters of one width, which look larger than others and would push lines apart."""
_KEYS: Final = {Order.HOST: HOST_KEYS, Order.GUEST: GUEST_KEYS}


class ManualBrowser(QTextBrowser):
    """Shows one page; `anchorClicked` tells of its links, none of which it opens itself."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._page: Page | None = None
        self._words: list[str] = []
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(False)
        self.setAccessibleName(self.tr("Page of the manual"))
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextBrowserInteraction
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QTextEdit.LineWrapMode.FixedPixelWidth)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(3 * SPACING)
        self.document().setIndentWidth(_INDENT)
        theme.changed.connect(self._restyle)

    def show_page(self, page: Page, anchor: str = "") -> None:
        """Show a page from its beginning, or from the section called `anchor`."""
        if page is not self._page:
            self._page = page
            self._render()
        block = self._section(anchor)
        bar = self.verticalScrollBar()
        if block is None:
            self.moveCursor(QTextCursor.MoveOperation.Start)
            bar.setValue(0)
            return
        cursor = QTextCursor(block)
        self.setTextCursor(cursor)
        bar.setValue(bar.value() + self.cursorRect(cursor).top() - SPACING)

    def mark(self, words: list[str]) -> None:
        """Mark every place where one of `words` stands."""
        self._words = words
        self._mark()

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """The picture of a state of the map; anything else is Qt's."""
        url = QUrl(name)
        if url.scheme() != SWATCH_SCHEME:
            return super().loadResource(kind, name)
        order, _, value = url.path().partition("-")
        key = next(key for key in _KEYS[Order(order)] if key.value == int(value))
        icon = swatch(key, dark=self._theme.dark)
        return icon.pixmap(QSize(SIDE, SIDE), self.devicePixelRatioF())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lines get no longer than can be followed."""
        longest = self.fontMetrics().averageCharWidth() * _MAX_LINE_LETTERS + 6 * SPACING
        self.setLineWrapColumnOrWidth(min(longest, self.viewport().width()))
        super().resizeEvent(event)

    def _section(self, anchor: str) -> QTextBlock | None:
        if not anchor:
            return None
        for block in _blocks(self.document()):
            is_section = block.blockFormat().headingLevel() == _RANK_OF_SECTIONS
            if is_section and anchor_of(block.text()) == anchor:
                return block
        return None

    def _restyle(self) -> None:
        """Other colours, the same place."""
        if self._page is None:
            return
        place = self.verticalScrollBar().value()
        self._render()
        self.verticalScrollBar().setValue(place)

    def _render(self) -> None:
        if self._page is None:
            return
        document = self.document()
        document.clear()
        document.setDefaultFont(self.font())
        document.setMarkdown(self._page.markdown)
        cursor = QTextCursor(document)
        cursor.beginEditBlock()
        for block in _blocks(document):
            self._dress(block)
        for frame in document.rootFrame().childFrames():
            if isinstance(frame, QTextTable):
                self._dress_table(frame)
        cursor.endEditBlock()
        self._mark()

    def _dress(self, block: QTextBlock) -> None:
        layout = QTextBlockFormat(block.blockFormat())
        level = layout.headingLevel()
        in_table = QTextCursor(block).currentTable() is not None
        percent = QTextBlockFormat.LineHeightTypes.ProportionalHeight.value
        layout.setLineHeight(_LINE_HEIGHT_PERCENT, percent)
        layout.setTopMargin({0: 0, 1: 0}.get(level, 3.0 * SPACING))
        layout.setBottomMargin(
            0 if in_table else SPACING / 2 if block.textList() is not None else SPACING
        )
        cursor = QTextCursor(block)
        cursor.setBlockFormat(layout)
        if level:
            self._dress_heading(block, level)
            return
        code = monospaced_font()
        code.setPointSizeF(code.pointSizeF() * _CODE_SCALE)
        for start, end, form in _pieces(block):
            changed = QTextCharFormat()
            if form.fontFixedPitch():
                changed.setFont(code)
                changed.setBackground(QBrush(QColor(self._theme.colours.hover)))
            if form.isAnchor():
                changed.setForeground(QBrush(QColor(self._theme.colours.accent)))
            if changed.propertyCount():
                cursor.setPosition(start)
                cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
                cursor.mergeCharFormat(changed)

    def _dress_heading(self, block: QTextBlock, level: int) -> None:
        form = QTextCharFormat()
        form.setFont(scaled_font(_HEADING_SIZES.get(level, 1.0), bold=True))
        form.setForeground(QBrush(QColor(self._theme.colours.text)))
        cursor = QTextCursor(block)
        cursor.select(QTextCursor.SelectionType.BlockUnderCursor)
        cursor.setCharFormat(form)  # what Markdown gave it would make it another size

    def _dress_table(self, table: QTextTable) -> None:
        form = table.format()
        form.setBorder(0)
        form.setCellSpacing(0)
        form.setCellPadding(_CELL_PADDING)
        form.setBorderCollapse(True)
        form.setTopMargin(SPACING)
        form.setBottomMargin(SPACING)
        form.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
        if not table.cellAt(0, 0).firstCursorPosition().block().text():  # squares
            widths = [QTextLength(QTextLength.Type.FixedLength, SIDE + 2 * _CELL_PADDING)]
            widths += [QTextLength()] * (table.columns() - 1)
            form.setColumnWidthConstraints(widths)
        table.setFormat(form)
        line = QBrush(QColor(self._theme.colours.line))
        for row in range(table.rows()):
            for column in range(table.columns()):
                cell = table.cellAt(row, column)
                cell_form = cell.format().toTableCellFormat()
                cell_form.setBottomBorder(1)
                cell_form.setBottomBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
                cell_form.setBottomBorderBrush(line)
                if row == 0:
                    cell_form.setForeground(QBrush(QColor(self._theme.colours.muted)))
                    cell_form.setFontWeight(QFont.Weight.DemiBold)
                cell.setFormat(cell_form)

    def _mark(self) -> None:
        form = QTextCharFormat()
        form.setBackground(QBrush(QColor(self._theme.colours.warning_back)))
        marks = []
        for word in self._words:
            cursor = self.document().find(word)
            while not cursor.isNull():
                mark = QTextEdit.ExtraSelection()
                mark.cursor = cursor
                mark.format = form
                marks.append(mark)
                cursor = self.document().find(word, cursor)
        self.setExtraSelections(marks)


def _blocks(document: QTextDocument) -> Iterator[QTextBlock]:
    block = document.begin()
    while block.isValid():
        yield block
        block = block.next()


def _pieces(block: QTextBlock) -> list[tuple[int, int, QTextCharFormat]]:
    """The start, the end and the format of each run of letters that look alike."""
    pieces = []
    place = block.begin()
    while not place.atEnd():
        piece = place.fragment()
        start = piece.position()
        pieces.append((start, start + piece.length(), piece.charFormat()))
        place += 1
    return pieces
