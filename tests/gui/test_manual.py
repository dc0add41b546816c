"""The manual: its pages, what is found in them, and the window that shows them."""

from __future__ import annotations

import re

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QAction, QDesktopServices, QTextBlock
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTreeWidgetItem
from pytestqt.qtbot import QtBot

from qcowgui.check import clustermap, guestmap
from qcowgui.format.finding import CODES
from qcowgui.gui.dialogs.manual import ManualDialog
from qcowgui.gui.key_list import key_table
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.manual_pages import (
    SWATCH_SCHEME,
    Page,
    Section,
    anchor_of,
    finding_address,
    manual_pages,
    search,
)
from qcowgui.gui.settings import ColourScheme, Settings
from qcowgui.gui.theme import DARK, LIGHT, Theme
from qcowgui.gui.translation import (
    LANGUAGES,
    SOURCE_LANGUAGE,
    install_translations,
    without_mnemonic,
)
from qcowgui.resources import resource_path
from tests.gui.scenes import every_menu

TRANSLATED = [code for code in LANGUAGES if code != SOURCE_LANGUAGE]


@pytest.fixture
def actions(qapp: QApplication) -> list[QAction]:
    made = QAction("Sa&ve | keep", qapp)
    made.setShortcut("Ctrl+Shift+S")
    return [made]


@pytest.fixture
def pages(actions: list[QAction]) -> tuple[Page, ...]:
    return manual_pages(key_table(actions))


@pytest.fixture
def manual(qtbot: QtBot, actions: list[QAction], theme: Theme) -> ManualDialog:
    made = ManualDialog(actions, theme)
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(made)
    made.show()
    return made


def _items(manual: ManualDialog) -> list[QTreeWidgetItem]:
    tree = manual.contents
    return [item for i in range(tree.topLevelItemCount()) if (item := tree.topLevelItem(i))]


def _first_visible(manual: ManualDialog) -> QTextBlock:
    return manual.browser.cursorForPosition(manual.browser.viewport().rect().topLeft()).block()


def test_every_file_is_a_page(pages: tuple[Page, ...]) -> None:
    root = resource_path("manual")
    files = {path.relative_to(root).as_posix() for path in root.rglob("*.md")}
    wanted = {page.address for page in pages}
    for language in TRANSLATED:
        wanted |= {f"{language}/{page.address}" for page in pages if not page.below}
    assert files == wanted


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_language_says_the_same(
    pages: tuple[Page, ...], actions: list[QAction], language: str
) -> None:
    for page, other in zip(pages, manual_pages(key_table(actions), language), strict=True):
        assert other.address == page.address
        assert shape(other.markdown) == shape(page.markdown), page.address
        assert page.below or other.markdown != page.markdown


def shape(markdown: str) -> list[str]:
    """What each block is, the commands in it and where it leads, in order."""
    blocks = []
    for line in markdown.splitlines():
        head = re.match(r"#+ |- |\d\. |\|", line)
        commands = sorted(re.findall(r"`[^`]+`", line))
        links = sorted(re.findall(r"\]\(([^)]+)\)", line))
        blocks.append(f"{head[0] if head else bool(line)} {commands} {links} {line.count('→')}")
    return blocks


def test_every_link_leads_somewhere(pages: tuple[Page, ...]) -> None:
    addresses = {part.address for page in pages for part in page.sections()}
    for page in pages:
        for target in re.findall(r"\]\(([^)]+)\)", page.markdown):
            if not target.startswith(f"{SWATCH_SCHEME}:"):
                assert QUrl(page.address).resolved(QUrl(target)).toString() in addresses


def test_nothing_is_left_to_fill_in(pages: tuple[Page, ...]) -> None:
    for page in pages:
        assert not re.search(r"\{[a-z-]+\}", page.markdown), page.address


def test_the_map_page_explains_every_state(pages: tuple[Page, ...]) -> None:
    text = next(page.markdown for page in pages if page.address == "map.md")
    for table in (clustermap.DESCRIPTIONS, guestmap.DESCRIPTIONS):
        for state, description in table.items():
            if state:
                assert description.name in text
                assert description.meaning in text


@pytest.mark.parametrize("language", list(LANGUAGES))
def test_the_manual_names_menus_that_exist(
    qapp: QApplication, actions: list[QAction], language: str
) -> None:
    install_translations(qapp, language)
    settings = Settings(remember=False)
    window = MainWindow(Theme(qapp, settings, settings), settings)
    try:
        commands = {
            without_mnemonic(menu.title()): {
                without_mnemonic(action.text()) for action in menu.actions()
            }
            for menu in every_menu(window)
        }
        found = 0
        for page in manual_pages(key_table(actions), language):
            if page.below and language != SOURCE_LANGUAGE:
                continue  # English, as the window is not
            for menu, item in re.findall(r"\*\*([^*\n]+?) → ([^*]+)\*\*", page.markdown):
                found += 1
                assert item in commands[menu] or f"{item}…" in commands[menu], (menu, item)
        assert found >= 5
    finally:
        window.close()
        window.deleteLater()
        install_translations(qapp, SOURCE_LANGUAGE)


def test_keys_are_listed_as_they_are(pages: tuple[Page, ...]) -> None:
    keyboard = next(page for page in pages if page.address == "keyboard.md")
    assert "Save \\| keep | Ctrl\\+Shift\\+S" in keyboard.markdown
    assert "Save keep" in keyboard.sections()[0].text.replace("  ", " ")


def test_every_finding_has_an_address(pages: tuple[Page, ...]) -> None:
    addresses = {part.address for page in pages for part in page.sections()}
    assert {finding_address(code) for code in CODES} <= addresses


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [("leak", "leak"), ("What to do?", "what-to-do"), ("A, b – c", "a-b-c")],
)
def test_anchors(heading: str, anchor: str) -> None:
    assert anchor_of(heading) == anchor


def test_a_search_ranks_titles_then_phrases_then_words() -> None:
    words = Section("a.md", "A", "Other", "a table that was lost")
    phrase = Section("b.md", "B", "Other", "this is a lost table of an image")
    title = Section("c.md", "C", "Lost table", "nothing")
    neither = Section("d.md", "D", "Table", "nothing")
    found = search([words, neither, phrase, title], "lost TABLE")
    assert [hit.section.address for hit in found] == ["c.md", "b.md", "a.md"]
    assert search([words], "  ") == []


def test_an_excerpt_shows_what_was_found() -> None:
    text = "word " * 60 + "needle " + "word " * 60
    (hit,) = search([Section("a.md", "A", "T", text.strip())], "needle")
    assert "needle" in hit.excerpt
    assert hit.excerpt.startswith("… ")
    assert hit.excerpt.endswith(" …")
    assert len(hit.excerpt) < 140


def test_pictures_have_the_colours_of_the_theme(manual: ManualDialog, theme: Theme) -> None:
    def middle() -> str:
        picture = manual.browser.loadResource(2, QUrl(f"{SWATCH_SCHEME}:host-2"))
        image = picture.toImage()  # type: ignore[attr-defined]
        return str(image.pixelColor(image.rect().center()).name())

    assert middle() == "#1d5674"
    theme.choose(ColourScheme.DARK)
    assert middle() == "#4f68ab"


def test_every_state_has_a_picture(manual: ManualDialog) -> None:
    manual.show_address("map.md")
    html = manual.browser.document().toHtml()
    pictures = len(clustermap.DESCRIPTIONS) + len(guestmap.DESCRIPTIONS) - 2
    assert html.count(f'src="{SWATCH_SCHEME}:') == pictures


def test_a_finding_is_shown_where_it_is_explained(manual: ManualDialog) -> None:
    manual.show_finding("l2-copied")
    assert manual.address == "findings/l2.md#l2-copied"
    QApplication.processEvents()
    assert _first_visible(manual).text() in ("l2-copied", "")
    item = manual.contents.currentItem()
    assert item is not None
    assert item.text(0) == "l2-copied"
    assert item.toolTip(0) == CODES["l2-copied"]


def test_an_unknown_page_changes_nothing(manual: ManualDialog) -> None:
    with pytest.raises(KeyError):
        manual.show_address("nowhere.md")
    assert manual.address == "start.md"
    assert not manual.back.isEnabled()


def test_back_and_forward(manual: ManualDialog) -> None:
    manual.show_address("map.md")
    manual.show_finding("leak")
    manual.back.click()
    assert manual.address == "map.md"
    QTest.keyClick(manual, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert manual.address == "start.md"
    assert not manual.back.isEnabled()
    QTest.keyClick(manual, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    manual.forward.click()
    assert manual.address == "findings/refcounts.md#leak"
    assert not manual.forward.isEnabled()


def test_links_are_followed(manual: ManualDialog, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    manual.browser.anchorClicked.emit(QUrl("findings.md"))
    assert manual.address == "findings.md"
    manual.browser.anchorClicked.emit(QUrl("findings/l1.md#l1-copied"))
    manual.browser.anchorClicked.emit(QUrl("#l2-truncated"))
    assert manual.address == "findings/l1.md#l2-truncated"
    manual.browser.anchorClicked.emit(QUrl("https://example.org/"))
    assert opened == ["https://example.org/"]
    assert manual.address == "findings/l1.md#l2-truncated"


def test_searching_by_keyboard(manual: ManualDialog, qtbot: QtBot) -> None:
    QTest.keyClicks(manual.search_field, "grown over night")
    qtbot.waitUntil(lambda: len(_items(manual)) == 1)
    assert _items(manual)[0].isDisabled()
    manual.search_field.clear()
    QTest.keyClicks(manual.search_field, "deep check")
    QTest.keyClick(manual.search_field, Qt.Key.Key_Return)
    assert manual.contents.currentItem() is _items(manual)[0]
    assert manual.browser.extraSelections()
    assert manual.isVisible()  # Return belongs to the search
    QTest.keyClick(manual.search_field, Qt.Key.Key_Down)
    assert manual.contents.hasFocus()
    QTest.keyClick(manual.search_field, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: _items(manual)[0].text(0) == "First steps")
    assert not manual.browser.extraSelections()
    assert manual.isVisible()
    QTest.keyClick(manual, Qt.Key.Key_Escape)
    assert not manual.isVisible()


def test_other_colours_keep_the_place(manual: ManualDialog, theme: Theme) -> None:
    manual.show_finding("leak")
    QApplication.processEvents()
    place = manual.browser.verticalScrollBar().value()
    assert place > 0
    theme.choose(ColourScheme.DARK)
    QApplication.processEvents()
    assert abs(manual.browser.verticalScrollBar().value() - place) <= 2
    html = manual.browser.document().toHtml()
    assert DARK.hover in html
    assert LIGHT.hover not in html


def test_lines_stay_short_in_a_wide_window(manual: ManualDialog) -> None:
    manual.resize(1900, 700)
    QApplication.processEvents()
    letters = manual.browser.document().textWidth() / manual.fontMetrics().averageCharWidth()
    assert letters < 110
