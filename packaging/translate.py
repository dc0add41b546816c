"""Collects the window's texts into resources/translations and compiles what is translated there.

Run by packaging/translate. lupdate itself misses texts in f-strings and takes the names of
variables for contexts, so that it is given a list of what was found here.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

PROJECT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from qcowgui.check import clustermap, guestmap  # noqa: E402
from qcowgui.check.verdict import NOUNS, SENTENCES  # noqa: E402
from qcowgui.format.describe import SEVERITY_WORDS  # noqa: E402
from qcowgui.gui.translation import (  # noqa: E402
    COUNTS_CONTEXT,
    LANGUAGES,
    SEVERITIES_CONTEXT,
    SOURCE_LANGUAGE,
    STATES_CONTEXT,
    VERDICTS_CONTEXT,
)

TRANSLATIONS: Final = PROJECT / "resources" / "translations"
_WINDOW: Final = PROJECT / "qcowgui" / "gui"


class Text(NamedTuple):
    """A text to translate."""

    context: str
    source: str


class NotFoundError(Exception):
    """A text that can't be collected, with its place and what to write instead."""


def window_texts() -> dict[Text, str]:
    """Every text of the window, with the place where it stands first, sorted.

    Raises:
        NotFoundError: When one is no literal, or its context can't be told.
    """
    found: dict[Text, str] = {}
    for text, place in (*_source_texts(), *_texts_of_other_rooms()):
        found.setdefault(text, place)
    return dict(sorted(found.items()))


def update() -> None:
    """Bring the files of texts up to date, and compile them."""
    TRANSLATIONS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        listing = Path(folder) / "texts.py"
        listing.write_text("".join(map(_call, window_texts())), "utf-8")
        for language in LANGUAGES:
            if language == SOURCE_LANGUAGE:
                continue
            path = TRANSLATIONS / f"qcowgui_{language}.ts"
            _run(
                *("pyside6-lupdate", str(listing), "-ts", str(path), "-no-obsolete"),
                *("-locations", "none", "-source-language", SOURCE_LANGUAGE),
                *("-target-language", language),
            )
            _run("pyside6-lrelease", "-silent", str(path), "-qm", str(path.with_suffix(".qm")))


def _source_texts() -> Iterator[tuple[Text, str]]:
    for path in sorted(_WINDOW.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        for call, enclosing in _calls(tree, ""):
            place = f"{path.relative_to(PROJECT)}:{call.lineno}"
            for text in _texts_of(call, enclosing, place):
                yield text, place


def _calls(node: ast.AST, enclosing: str) -> Iterator[tuple[ast.Call, str]]:
    """Every call below `node`, with the name of the class around it."""
    for child in ast.iter_child_nodes(node):
        inside = child.name if isinstance(child, ast.ClassDef) else enclosing
        if isinstance(child, ast.Call):
            yield child, inside
        yield from _calls(child, inside)


def _texts_of(call: ast.Call, enclosing: str, place: str) -> list[Text]:
    function, given = call.func, call.args
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name == "tr":
        if not enclosing:
            raise NotFoundError(f"{place}: outside of a class, use translate(context, text)")
        return [Text(enclosing, _literal(given[0], place))]
    if name == "translate" and (isinstance(function, ast.Name) or len(given) > 1):
        if isinstance(function, ast.Attribute) and not _is_application(function.value):
            return []  # a painter's, a string's
        if any(isinstance(part, ast.Name) for part in given[:1]):
            return []  # translation.py, of what `_texts_of_other_rooms` collects
        return [Text(_literal(given[0], place), _literal(given[1], place))]
    if name == "count_text":
        singular = _literal(given[1], place)
        plural = _literal(given[2], place) if len(given) > 2 else f"{singular}s"
        return [Text(COUNTS_CONTEXT, singular), Text(COUNTS_CONTEXT, plural)]
    return []


def _is_application(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("QCoreApplication", "QApplication")


def _literal(node: ast.expr, place: str) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise NotFoundError(f"{place}: {ast.unparse(node)} is no literal text")


def _texts_of_other_rooms() -> Iterator[tuple[Text, str]]:
    for module in (clustermap, guestmap):
        for name, meaning in module.DESCRIPTIONS.values():
            yield Text(STATES_CONTEXT, name), module.__name__
            yield Text(STATES_CONTEXT, meaning), module.__name__
    for word in SEVERITY_WORDS.values():
        yield Text(SEVERITIES_CONTEXT, word), "qcowgui.format.describe"
    for sentence in SENTENCES.values():
        yield Text(VERDICTS_CONTEXT, sentence), "qcowgui.check.verdict"
    for noun in NOUNS:
        yield Text(COUNTS_CONTEXT, noun), "qcowgui.check.verdict"
        yield Text(COUNTS_CONTEXT, f"{noun}s"), "qcowgui.check.verdict"


def _call(text: Text) -> str:
    return f"QCoreApplication.translate({_quoted(text.context)}, {_quoted(text.source)})\n"


def _quoted(text: str) -> str:
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(plain, escaped)
    return f'"{text}"'


def _run(program: str, *arguments: str) -> None:
    # Beside the Python that runs this, where pip put it.
    path = Path(sys.executable).parent / program
    subprocess.run([path, *arguments], check=True, stdout=subprocess.DEVNULL)  # noqa: S603


if __name__ == "__main__":
    try:
        update()
    except NotFoundError as error:
        sys.exit(f"translate: {error}")
