"""The window's languages: complete, right in form, and chosen as the user wants."""

from __future__ import annotations

import importlib.util
import re
import string
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QTranslator
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QMessageBox
from pytestqt.qtbot import QtBot

from qcowgui.check.cells import Description
from qcowgui.format.finding import Severity
from qcowgui.gui import translation
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.settings import Settings
from qcowgui.gui.theme import Theme
from qcowgui.gui.translation import (
    LANGUAGES,
    SOURCE_LANGUAGE,
    choose_language,
    count_text,
    install_translations,
    severity_word,
    state_description,
    verdict_text,
    without_mnemonic,
)
from qcowgui.resources import resource_path
from tests.gui.scenes import every_menu

PROJECT = Path(__file__).parents[2]
TRANSLATED = [code for code in LANGUAGES if code != SOURCE_LANGUAGE]


class Entry:
    """A message of a file of texts."""

    def __init__(self, context: str, message: ET.Element) -> None:
        translated = message.find("translation")
        assert translated is not None
        self.context = context
        self.source = message.findtext("source", "")
        self.text = translated.text or ""
        self.state = translated.get("type", "finished")


def entries(language: str) -> list[Entry]:
    root = ET.parse(resource_path("translations", f"qcowgui_{language}.ts")).getroot()
    assert root.get("language") == language
    return [
        Entry(context.findtext("name", ""), message)
        for context in root.iter("context")
        for message in context.iter("message")
    ]


@pytest.fixture(scope="module")
def tool() -> Iterator[ModuleType]:
    """packaging/translate.py."""
    name = "qcowgui_packaging_translate"
    spec = importlib.util.spec_from_file_location(name, PROJECT / "packaging" / "translate.py")
    assert spec is not None
    assert spec.loader is not None
    path = list(sys.path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path[:] = path
    yield module
    del sys.modules[name]


@pytest.fixture
def english(qapp: QApplication) -> Iterator[None]:
    """Whatever a test speaks, those after it speak English."""
    yield
    install_translations(qapp, SOURCE_LANGUAGE)


def fields(text: str) -> Counter[str]:
    return Counter(
        f"{name}:{spec}" for _, name, spec, _ in string.Formatter().parse(text) if name is not None
    )


# ---------------------------------------------------------------- the files


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_files_hold_exactly_the_texts_of_the_window(tool: ModuleType, language: str) -> None:
    """When this fails, run packaging/translate, and translate what is new."""
    there = {(entry.context, entry.source) for entry in entries(language)}
    wanted = {(text.context, text.source): place for text, place in tool.window_texts().items()}
    assert {text: wanted[text] for text in wanted.keys() - there} == {}
    assert there - wanted.keys() == set()


@pytest.mark.parametrize("language", TRANSLATED)
def test_everything_is_translated(language: str) -> None:
    missing = [
        (entry.context, entry.source)
        for entry in entries(language)
        if entry.state != "finished" or not entry.text.strip()
    ]
    assert missing == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_placeholders_are_those_of_the_source(language: str) -> None:
    wrong = [
        (entry.source, entry.text)
        for entry in entries(language)
        if fields(entry.source) != fields(entry.text)
    ]
    assert wrong == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_translations_have_the_form_of_the_source(language: str) -> None:
    wrong = [
        (entry.source, entry.text)
        for entry in entries(language)
        if entry.source.count("\n") != entry.text.count("\n")
        or len(re.findall("&(?!&)", entry.source)) != len(re.findall("&(?!&)", entry.text))
        or entry.source.endswith("…") != entry.text.endswith("…")
        or re.findall(r"\*\.\w+", entry.source) != re.findall(r"\*\.\w+", entry.text)
        or entry.text != entry.text.rstrip("\n")
    ]
    assert wrong == []


def test_german_is_written_as_germans_write_it() -> None:
    for entry in entries("de"):
        assert '"' not in entry.text, entry.text
        assert "..." not in entry.text, entry.text
        assert not re.search(r"\w…", entry.text.replace("0x…", "")), entry.text
        assert entry.text.count("„") == entry.text.count("“"), entry.text


def test_chinese_is_written_in_chinese() -> None:
    """But for names, units and what is the same in any language."""
    plain = [
        entry.text
        for entry in entries("zh_CN")
        if re.search(r"[a-z]{4}", re.sub(r"\{[^}]*\}", "", entry.text))
        and not re.search(r"[\u4e00-\u9fff]", entry.text)
    ]
    assert all(re.fullmatch(r"[A-Za-z0-9 →()*./-]+", text) for text in plain)
    assert len(plain) < 10
    for entry in entries("zh_CN"):
        assert not re.search(r"[\u4e00-\u9fff],", entry.text), entry.text


@pytest.mark.parametrize("language", TRANSLATED)
@pytest.mark.usefixtures("qapp")
def test_what_is_compiled_is_what_is_translated(language: str) -> None:
    translator = QTranslator()
    assert translator.load(str(resource_path("translations", f"qcowgui_{language}.qm")))
    assert translator.language() == language
    for entry in entries(language):
        assert translator.translate(entry.context, entry.source) == entry.text


@pytest.mark.parametrize("language", list(LANGUAGES))
@pytest.mark.usefixtures("english")
def test_no_two_commands_of_a_menu_share_a_letter(qapp: QApplication, language: str) -> None:
    install_translations(qapp, language)
    settings = Settings(remember=False)
    window = MainWindow(Theme(qapp, settings, settings), settings)
    try:
        menus = every_menu(window)
        assert len(menus) >= 6
        bar = [action.text() for action in window.menuBar().actions()]
        for title, texts in [
            ("bar", bar),
            *((menu.title(), [action.text() for action in menu.actions()]) for menu in menus),
        ]:
            letters = Counter(re.findall(r"&(\w)", " ".join(texts).lower()))
            assert not [letter for letter, count in letters.items() if count > 1], (title, texts)
    finally:
        window.close()
        window.deleteLater()


# ---------------------------------------------------------------- collecting


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('class A:\n    def f(self):\n        return self.tr("x")', [("A", "x")]),
        ("class A:\n    def f(self):\n        return f\"{self.tr('x')}!\"", [("A", "x")]),
        ('class A:\n    def f(self):\n        tr = self.tr\n        tr("x")', [("A", "x")]),
        ('class A:\n    def f(self):\n        return self.tr("x" "y")', [("A", "xy")]),
        ('translate("c", "x")', [("c", "x")]),
        ('QCoreApplication.translate("c", "x")', [("c", "x")]),
        ('count_text(n, "page")', [("counts", "page"), ("counts", "pages")]),
        ('count_text(n, "entry", "entries")', [("counts", "entry"), ("counts", "entries")]),
        ("painter.translate(1, 2)", []),
        ("text.translate(table)", []),
    ],
)
def test_texts_are_found(
    tool: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: str,
    found: list[tuple[str, str]],
) -> None:
    (tmp_path / "module.py").write_text(code)
    monkeypatch.setattr(tool, "_WINDOW", tmp_path)
    monkeypatch.setattr(tool, "PROJECT", tmp_path)
    monkeypatch.setattr(tool, "_texts_of_other_rooms", list)
    assert sorted((text.context, text.source) for text in tool.window_texts()) == sorted(found)


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("class A:\n    def f(self):\n        self.tr(words)", "module.py:3: words is no literal"),
        ('def f(window):\n    window.tr("x")', "module.py:2: outside of a class"),
        ('translate("c", words)', "module.py:1: words is no literal"),
        ("count_text(n, *nouns)", "module.py:1: \\*nouns is no literal"),
    ],
)
def test_texts_that_nobody_could_find_are_refused(
    tool: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: str,
    complaint: str,
) -> None:
    (tmp_path / "module.py").write_text(code)
    monkeypatch.setattr(tool, "_WINDOW", tmp_path)
    monkeypatch.setattr(tool, "PROJECT", tmp_path)
    with pytest.raises(tool.NotFoundError, match=complaint):
        tool.window_texts()


# ---------------------------------------------------------------- choosing and speaking


@pytest.mark.parametrize(
    ("setting", "preferred", "chosen"),
    [
        ("de", ["en-GB"], "de"),
        ("en", ["de-DE"], "en"),
        ("tlh", ["de-DE"], "de"),
        ("", ["de-AT", "en"], "de"),
        ("", ["de"], "de"),
        ("", ["fr-FR", "de"], "de"),
        ("", ["en-US", "de"], "en"),
        ("", ["zh-Hans-CN"], "zh_CN"),
        ("", ["zh_CN"], "zh_CN"),
        ("", ["zh-SG"], "zh_CN"),
        ("", ["zh-Hant-TW", "de"], "de"),
        ("", ["zh-HK"], "en"),
        ("", ["C"], "en"),
        ("", [], "en"),
    ],
)
def test_the_language_is_the_users(setting: str, preferred: list[str], chosen: str) -> None:
    assert choose_language(setting, preferred) == chosen


@pytest.mark.usefixtures("english")
def test_the_language_can_change(qtbot: QtBot, qapp: QApplication) -> None:
    def says() -> str:
        return QCoreApplication.translate("Actions", "&File")

    assert install_translations(qapp, "de") == "de"
    assert says() == "&Datei"
    box = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
    qtbot.addWidget(box)
    assert box.button(QDialogButtonBox.StandardButton.Cancel).text() == "Abbrechen"
    assert install_translations(qapp, "zh_CN") == "zh_CN"
    assert says() == "文件(&F)"
    assert install_translations(qapp, "", ["xx"]) == "en"
    assert says() == "&File"


@pytest.mark.usefixtures("english")
def test_by_default_the_system_is_asked(qapp: QApplication) -> None:
    languages = QLocale.system().uiLanguages()
    assert install_translations(qapp, "") == choose_language("", languages)


@pytest.mark.usefixtures("english")
def test_without_files_it_speaks_english(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def nowhere(*parts: str) -> Path:
        raise FileNotFoundError(*parts)

    monkeypatch.setattr(translation, "resource_path", nowhere)
    monkeypatch.setattr(translation, "_qt_folder", lambda: tmp_path)
    assert install_translations(qapp, "de") == "de"
    assert QCoreApplication.translate("Actions", "&File") == "&File"


@pytest.mark.usefixtures("english")
def test_words_of_other_rooms_are_translated(qapp: QApplication) -> None:
    leak, complete = {Severity.LEAK: 2}, {"complete": True}
    header = Description("header", "The LUKS header; without it no passphrase opens the image.")
    assert count_text(1, "cluster") == "1 cluster"
    assert count_text(2048, "entry", "entries") == "2,048 entries"
    assert verdict_text(leak, **complete).startswith("metadata consistent but for 2 leaks")
    install_translations(qapp, "de")
    assert count_text(2048, "entry", "entries") == "2,048 Einträge"
    assert severity_word(Severity.CORRUPTION) == "Beschädigung"
    assert state_description(header).meaning.startswith("Der LUKS-Header; ohne ihn")
    assert verdict_text(leak, **complete).startswith("Metadaten konsistent bis auf 2 Lecks")


@pytest.mark.parametrize(
    ("text", "read"),
    [("&Open…", "Open…"), ("打开(&O)…", "打开…"), ("A && b", "A & b"), ("a (b)", "a (b)")],
)
def test_text_without_its_key(text: str, read: str) -> None:
    assert without_mnemonic(text) == read


@pytest.mark.usefixtures("english")
def test_a_question_of_qts_speaks_the_language(qtbot: QtBot, qapp: QApplication) -> None:
    install_translations(qapp, "de")
    box = QMessageBox()
    qtbot.addWidget(box)
    box.setStandardButtons(QMessageBox.StandardButton.Yes)
    assert box.button(QMessageBox.StandardButton.Yes).text().replace("&", "") == "Ja"
