"""The manual in a window of its own: contents, search, pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QSize, Qt, QTimer, QUrl
from PySide6.QtGui import QAction, QDesktopServices, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QSplitter,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from qcowgui.gui.key_list import key_table
from qcowgui.gui.manual_pages import (
    FINDINGS,
    START,
    Hit,
    Page,
    anchor_of,
    finding_address,
    manual_pages,
    search,
)
from qcowgui.gui.theme import SPACING, Theme
from qcowgui.gui.translation import current_language
from qcowgui.gui.views.manual_browser import ManualBrowser
from qcowgui.report.explain import explain

_SIZE: Final = QSize(980, 700)
_CONTENTS_WIDTH: Final = 260
_TYPING_MS: Final = 120
_MAX_HITS: Final = 60
_ADDRESS_ROLE: Final = Qt.ItemDataRole.UserRole
_ICON_SIZE: Final = QSize(16, 16)


class ManualDialog(QDialog):
    """A window beside the main one, with its own way back and forward.

    Attributes:
        contents: Pages, and below those of findings their codes; while something is searched for,
            where it was found.
        browser: The page.
        search_field: What is searched for.
    """

    def __init__(
        self, actions: Sequence[QAction], theme: Theme, parent: QWidget | None = None
    ) -> None:
        """The manual at its first page.

        Args:
            actions: Whose keys it lists.
            theme: Its colours.
            parent: The window it belongs to.
        """
        super().__init__(parent)
        self._theme = theme
        pages = manual_pages(key_table(actions), current_language())
        self._pages = {page.address: page for page in pages}
        self._sections = [part for page in self._pages.values() for part in page.sections()]
        self._past: list[str] = []
        self._future: list[str] = []
        self._address = ""
        self.setWindowTitle(self.tr("Manual"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowFlag(Qt.WindowType.WindowMinMaxButtonsHint)
        self.search_field = QLineEdit()
        self.search_field.setPlaceholderText(self.tr("Search the manual"))
        self.search_field.setAccessibleName(self.tr("Search the manual"))
        self.search_field.setClearButtonEnabled(True)
        self.contents = _contents_tree(self.tr("Contents of the manual"))
        self.browser = ManualBrowser(theme)
        self.back = self._step_button(self.tr("Back"), self.go_back)
        self.forward = self._step_button(self.tr("Forward"), self.go_forward)
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(_TYPING_MS)
        self._lay_out()
        self._connect()
        self._fill_contents()
        self._paint()
        self.show_address(START)

    @property
    def address(self) -> str:
        """Of what is shown: a page, and maybe a section of it behind #."""
        return self._address

    def show_finding(self, code: str) -> None:
        """Show what the manual says of a finding.

        Raises:
            KeyError: When there is no finding of that code.
        """
        self.show_address(finding_address(code))

    def show_address(self, address: str) -> None:
        """Show a page, or a section of it; it can be gone back from.

        Raises:
            KeyError: When there is no such page.
        """
        self._page_of(address)
        if address != self._address:
            if self._address:
                self._past.append(self._address)
            self._future.clear()
        self._show(address)

    def go_back(self) -> None:
        """Show what was shown before."""
        if self._past:
            self._future.append(self._address)
            self._show(self._past.pop())

    def go_forward(self) -> None:
        """Undo a step back."""
        if self._future:
            self._past.append(self._address)
            self._show(self._future.pop())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape ends a search before it closes the window."""
        if event.key() == Qt.Key.Key_Escape and self.search_field.text():
            self.search_field.clear()
        elif event.key() == Qt.Key.Key_Down and self.search_field.hasFocus():
            self.contents.setFocus()
        elif event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)

    def _page_of(self, address: str) -> Page:
        return self._pages[address.partition("#")[0]]

    def _show(self, address: str) -> None:
        self._address = address
        page = self._page_of(address)
        self.browser.show_page(page, address.partition("#")[2])
        self.setWindowTitle(self.tr("{page} – Manual").format(page=page.title))
        self.back.setEnabled(bool(self._past))
        self.forward.setEnabled(bool(self._future))
        self._show_place()

    def _show_place(self) -> None:
        """Mark in the contents what is shown."""
        item = self._item_of(self._address) or self._item_of(self._address.partition("#")[0])
        if item is not None and item is not self.contents.currentItem():
            self.contents.blockSignals(True)
            self.contents.setCurrentItem(item)
            self.contents.blockSignals(False)
            self.contents.viewport().update()

    def _item_of(self, address: str) -> QTreeWidgetItem | None:
        found = self.contents.model().match(
            self.contents.model().index(0, 0),
            _ADDRESS_ROLE,
            address,
            1,
            Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchRecursive,
        )
        return self.contents.itemFromIndex(found[0]) if found else None

    def _fill_contents(self) -> None:
        self.contents.clear()
        findings: QTreeWidgetItem | None = None
        for page in self._pages.values():
            item = _item(page.title, page.address)
            if page.below and findings is not None:
                findings.addChild(item)
            else:
                self.contents.addTopLevelItem(item)
            if page.address == FINDINGS:
                findings = item
            if page.below:
                for section in page.sections()[1:]:
                    child = _item(section.title, section.address)
                    child.setToolTip(0, explain(section.title).summary)
                    item.addChild(child)
        if findings is not None:
            findings.setExpanded(True)

    def _search(self) -> None:
        text = self.search_field.text()
        words = text.split()
        self.contents.blockSignals(True)
        if words:
            self._fill_hits(search(self._sections, text))
        else:
            self._fill_contents()
        self.contents.blockSignals(False)
        self.browser.mark(words)
        if not words:
            self._show_place()

    def _fill_hits(self, hits: list[Hit]) -> None:
        self.contents.clear()
        for hit in hits[:_MAX_HITS]:
            part = hit.section
            title = part.title if part.title == part.page else f"{part.title} · {part.page}"
            item = _item(title, part.address)
            item.setToolTip(0, hit.excerpt)
            self.contents.addTopLevelItem(item)
        if not hits:
            nothing = _item(self.tr("Nothing found"), "")
            nothing.setDisabled(True)
            self.contents.addTopLevelItem(nothing)

    def _open_first_hit(self) -> None:
        self._typing.stop()
        self._search()
        first = self.contents.topLevelItem(0)
        if self.search_field.text() and first is not None and not first.isDisabled():
            self.contents.setCurrentItem(first)

    def _item_chosen(self, item: QTreeWidgetItem | None) -> None:
        address = "" if item is None else item.data(0, _ADDRESS_ROLE)
        if address:
            self.show_address(address)

    def _follow(self, url: QUrl) -> None:
        """Follow a link: to a page beside the one that is shown, or out of the manual."""
        if url.scheme() in ("http", "https"):
            QDesktopServices.openUrl(url)
            return
        here = QUrl(self._address.partition("#")[0])
        target = here.resolved(url) if url.path() else here
        fragment = url.fragment()
        self.show_address(target.path() + (f"#{anchor_of(fragment)}" if fragment else ""))

    def _connect(self) -> None:
        self._typing.timeout.connect(self._search)
        self.search_field.textChanged.connect(self._typing.start)
        self.search_field.returnPressed.connect(self._open_first_hit)
        self.contents.currentItemChanged.connect(lambda item, _before: self._item_chosen(item))
        self.browser.anchorClicked.connect(self._follow)
        self._theme.changed.connect(self._paint)
        for key, call in (
            (QKeySequence.StandardKey.Find, self.search_field.setFocus),
            (QKeySequence.StandardKey.Back, self.go_back),
            (QKeySequence.StandardKey.Forward, self.go_forward),
        ):
            action = QAction(self)
            action.setShortcuts(key)
            action.triggered.connect(lambda _checked=False, call=call: call())
            self.addAction(action)

    def _lay_out(self) -> None:
        tools = QHBoxLayout()
        tools.setSpacing(SPACING // 2)
        tools.addWidget(self.back)
        tools.addWidget(self.forward)
        tools.addWidget(self.search_field, 1)
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACING)
        column.addLayout(tools)
        column.addWidget(self.contents, 1)
        parts = QSplitter()
        parts.addWidget(left)
        page = QFrame()
        page.setProperty("card", True)
        frame = QVBoxLayout(page)
        frame.setContentsMargins(*[SPACING // 2] * 4)
        frame.addWidget(self.browser)
        parts.addWidget(page)
        parts.setStretchFactor(1, 1)
        parts.setChildrenCollapsible(False)
        parts.setSizes([_CONTENTS_WIDTH, _SIZE.width() - _CONTENTS_WIDTH])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[SPACING + SPACING // 2] * 4)
        layout.addWidget(parts)
        self.resize(_SIZE)
        self.search_field.setFocus()

    def _step_button(self, name: str, call: object) -> QToolButton:
        button = QToolButton()
        button.setProperty("segment", True)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setAccessibleName(name)
        button.setToolTip(name)
        button.setIconSize(_ICON_SIZE)
        button.clicked.connect(call)
        return button

    def _paint(self) -> None:
        self.back.setIcon(self._theme.icon("back"))
        self.forward.setIcon(self._theme.icon("forward"))


def _contents_tree(name: str) -> QTreeWidget:
    tree = QTreeWidget()
    tree.setHeaderHidden(True)
    tree.setUniformRowHeights(True)
    tree.setIndentation(14)
    tree.setAccessibleName(name)
    return tree


def _item(text: str, address: str) -> QTreeWidgetItem:
    item = QTreeWidgetItem([text])
    item.setData(0, _ADDRESS_ROLE, address)
    return item
