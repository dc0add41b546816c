"""Scrolling through bytes of any number, a row at a time."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QAbstractSlider, QFrame, QWidget

from qcowgui.gui.pages import PageCache
from qcowgui.gui.theme import monospaced_font
from qcowgui.gui.views.hex_layout import HexLayout, ScrollScale

_MARGIN: Final = 18.0
_ROW_PADDING: Final = 4
_WHEEL_ROWS: Final = 3
_WHEEL_NOTCH: Final = 120
_CONTEXT_ROWS: Final = 3
"""Rows left above what is jumped to, so that it does not stick to the heading."""


class HexScrollArea(QAbstractScrollArea):
    """A window on the rows of a PageCache. Offsets and rows are Python ints: Qt's end at 2^31.

    Signals:
        page_shown: A page has come, some of it may be visible: its first byte and its end.
    """

    page_shown = Signal(object, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pages: PageCache | None = None
        self._top_row = 0
        self._wheel_rest = 0
        self._font = monospaced_font()
        self._layout = self._make_layout()
        self._scale = ScrollScale(0)
        self._following_bar = True
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        bar = self.verticalScrollBar()
        bar.valueChanged.connect(self._bar_moved)
        bar.actionTriggered.connect(self._bar_stepped)

    @property
    def pages(self) -> PageCache | None:
        """What is shown."""
        return self._pages

    def set_pages(self, pages: PageCache | None) -> None:
        """Show other bytes, or none; the place stays if it is possible."""
        if self._pages is not None:
            self._pages.loaded.disconnect(self._page_loaded)
        self._pages = pages
        if pages is not None:
            pages.loaded.connect(self._page_loaded)
        self._arrange()

    @property
    def size_bytes(self) -> int:
        """How many bytes there are."""
        return 0 if self._pages is None else self._pages.size_bytes

    @property
    def layout_(self) -> HexLayout:
        """Where everything is."""
        return self._layout

    @property
    def top_row(self) -> int:
        """The first visible row."""
        return self._top_row

    @property
    def visible_rows(self) -> int:
        """How many rows are visible as a whole."""
        return self._layout.visible_rows(self.viewport().height())

    def set_top_row(self, row: int) -> None:
        """Scroll to a row, or as far as possible."""
        self._top_row = min(max(row, 0), self._scale.max_top)
        self._following_bar = False
        self.verticalScrollBar().setValue(self._scale.value(self._top_row))
        self._following_bar = True
        self._show_rows()

    def reveal(self, start: int, end: int) -> None:
        """Scroll, if need be, until the bytes [start, end) are visible, or the first of many."""
        size = self._layout.row_bytes
        first, last = start // size, max(start, end - 1) // size
        visible = self.visible_rows
        if last - first >= visible:
            last = first
        if not self._top_row <= first <= last < self._top_row + visible:
            self.set_top_row(first - min(_CONTEXT_ROWS, visible // 4))

    # ---------------------------------------------------------------- events

    def sizeHint(self) -> QSize:
        """Room for a dozen rows of 16 bytes."""
        return QSize(int(self._layout.column * 90), self._layout.row_height * 12)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Choose how many bytes a row has."""
        super().resizeEvent(event)
        self._arrange()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the system's font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.ApplicationFontChange):
            self._font = monospaced_font()
            self._arrange()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll by rows, however many rows a step of the scroll bar stands for."""
        delta = event.angleDelta().y()
        if not delta:
            super().wheelEvent(event)
            return
        self._wheel_rest -= delta * _WHEEL_ROWS
        rows = int(self._wheel_rest / _WHEEL_NOTCH)
        self._wheel_rest -= rows * _WHEEL_NOTCH
        self.set_top_row(self._top_row + rows)
        event.accept()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Draw again: rows are not pixels."""
        self.viewport().update()

    # ---------------------------------------------------------------- inside

    def _make_layout(self) -> HexLayout:
        metrics = QFontMetricsF(self._font)
        return HexLayout.fitting(
            width=self.viewport().width(),
            column=metrics.horizontalAdvance("0" * 64) / 64,
            row_height=int(metrics.height() + 0.5) + _ROW_PADDING,
            margin=_MARGIN,
            size_bytes=self.size_bytes,
        )

    def _arrange(self) -> None:
        """Lay out anew; the first visible byte stays."""
        first = self._top_row * self._layout.row_bytes
        self._layout = self._make_layout()
        visible = self.visible_rows
        rows = self._layout.row_count(self.size_bytes)
        self._scale = ScrollScale(max(0, rows - visible))
        self._following_bar = False
        bar, side = self.verticalScrollBar(), self.horizontalScrollBar()
        bar.setRange(0, self._scale.bar_maximum)
        bar.setPageStep(visible)
        side.setRange(0, max(0, int(self._layout.width) - self.viewport().width()))
        side.setPageStep(self.viewport().width())
        self._following_bar = True
        self.set_top_row(first // self._layout.row_bytes)

    def _bar_moved(self, value: int) -> None:
        if self._following_bar:
            self._top_row = self._scale.top(value)
            self._show_rows()

    def _bar_stepped(self, action: int) -> None:
        """A click on the bar moves by rows and pages, also where its values are coarser."""
        steps = {
            QAbstractSlider.SliderAction.SliderSingleStepAdd: 1,
            QAbstractSlider.SliderAction.SliderSingleStepSub: -1,
            QAbstractSlider.SliderAction.SliderPageStepAdd: self.visible_rows,
            QAbstractSlider.SliderAction.SliderPageStepSub: -self.visible_rows,
        }
        step = steps.get(QAbstractSlider.SliderAction(action))
        if step is not None:
            self.set_top_row(self._top_row + step)
            # Or the bar would go on to where its own arithmetic leads.
            self.verticalScrollBar().setSliderPosition(self.verticalScrollBar().value())

    def _show_rows(self) -> None:
        """Draw, and ask for the pages around the visible ones, so that scrolling finds them."""
        self.viewport().update()
        if self._pages is not None:
            size = self._layout.row_bytes
            first = self._top_row * size // self._pages.page_bytes
            last = (self._top_row + self.visible_rows) * size // self._pages.page_bytes
            self._pages.prefetch(first - 1)
            self._pages.prefetch(last + 1)

    def _page_loaded(self, index: int) -> None:
        if self._pages is None:
            return
        size, start = self._layout.row_bytes, index * self._pages.page_bytes
        end = start + self._pages.page_bytes
        top = self._top_row * size
        if start < top + (self.visible_rows + 1) * size and end > top:
            self.viewport().update()
        self.page_shown.emit(start, end)
