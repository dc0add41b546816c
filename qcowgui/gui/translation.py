"""The window's language: which one it is, its texts, and words that stand beside numbers.

Views say `self.tr("…")`; what is no QObject says `translate("context", "…")`. Texts of the rooms
below, which know no languages, are translated here. `packaging/translate` collects all of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from qcowgui.check import verdict
from qcowgui.check.cells import Description
from qcowgui.format import describe
from qcowgui.format.finding import Severity
from qcowgui.resources import resource_path

translate = QCoreApplication.translate

SOURCE_LANGUAGE: Final = "en"
LANGUAGES: Final = {SOURCE_LANGUAGE: "English", "de": "Deutsch", "zh_CN": "简体中文"}
"""Code → what its speakers call it. Of all but the first there is a file of texts."""

STATES_CONTEXT: Final = "states"
COUNTS_CONTEXT: Final = "counts"
SEVERITIES_CONTEXT: Final = "severities"
VERDICTS_CONTEXT: Final = "verdicts"

_PROPERTY: Final = "qcowgui_translators"
_LANGUAGE_PROPERTY: Final = "qcowgui_language"
_MNEMONIC: Final = re.compile(r"\s*\(&.\)|&(?!&)|(?<=&)&")
"""In "&Open" and, as where letters are no part of words, in "打开(&O)"; && stands for an &."""


def choose_language(setting: str, preferred: Sequence[str]) -> str:
    """The code of the language to speak.

    Args:
        setting: What the user chose; an empty string, or what there is no language of, leaves it
            to the system.
        preferred: The languages that the system's user reads, the dearest first, as "de-AT".
    """
    if setting in LANGUAGES:
        return setting
    for name in preferred:
        parts = name.replace("_", "-").split("-")
        if parts[0] in LANGUAGES:
            return parts[0]
        if parts[0] == "zh" and not {"Hant", "TW", "HK", "MO"} & set(parts):
            return "zh_CN"
    return SOURCE_LANGUAGE


def install_translations(
    app: QCoreApplication, setting: str, preferred: Sequence[str] | None = None
) -> str:
    """Let the application speak a language from now on; the code of that which it speaks.

    What exists already hears of it by a LanguageChange event. A file that is missing leaves texts
    in English.

    Args:
        app: The application.
        setting: As in `choose_language`.
        preferred: As in `choose_language`; by default the system's.
    """
    if preferred is None:
        preferred = QLocale.system().uiLanguages()
    language = choose_language(setting, preferred)
    for translator in app.property(_PROPERTY) or []:
        app.removeTranslator(translator)
    # Qt looks into the latest first; ours may say otherwise than Qt's.
    translators = [
        translator
        for path in _files(language)
        if (translator := QTranslator(app)).load(str(path)) and app.installTranslator(translator)
    ]
    app.setProperty(_PROPERTY, translators)
    app.setProperty(_LANGUAGE_PROPERTY, language)
    return language


def current_language() -> str:
    """The code of the language that the application speaks."""
    app = QCoreApplication.instance()
    return (app.property(_LANGUAGE_PROPERTY) if app is not None else None) or SOURCE_LANGUAGE


def count_text(count: int, singular: str, plural: str = "") -> str:
    """`count` with thousands separators and the noun in the right number: "1,024 clusters".

    Args:
        count: How many.
        singular: The noun, in English and a literal: `packaging/translate` has to find it.
        plural: Where it is not the singular with an s.
    """
    noun = singular if count == 1 else plural or f"{singular}s"
    return f"{count:,} {translate(COUNTS_CONTEXT, noun)}"


def severity_word(severity: Severity) -> str:
    """What a severity is called."""
    return translate(SEVERITIES_CONTEXT, describe.SEVERITY_WORDS[severity])


def state_description(description: Description) -> Description:
    """A state of the map, and what it means, in the window's language."""
    return Description(
        translate(STATES_CONTEXT, description.name),
        translate(STATES_CONTEXT, description.meaning),
    )


def verdict_text(counts: Mapping[Severity, int], *, complete: bool) -> str:
    """`check.verdict.verdict_text` in the window's language."""
    return verdict.verdict_text(
        counts,
        complete=complete,
        say=lambda text: translate(VERDICTS_CONTEXT, text),
        count=count_text,
    )


def without_mnemonic(text: str) -> str:
    """The text of an action as people read it where no key can follow it."""
    return _MNEMONIC.sub("", text)


def _files(language: str) -> list[Path]:
    """The files of texts of a language: Qt's own, for its dialogs, then ours."""
    if language == SOURCE_LANGUAGE:
        return []
    return [_qt_folder() / f"qtbase_{language}.qm", *_own_files(language)]


def _own_files(language: str) -> list[Path]:
    try:
        return [resource_path("translations", f"qcowgui_{language}.qm")]
    except FileNotFoundError:
        return []


@cache
def _qt_folder() -> Path:
    return Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
