"""Rules about the source that neither the linter nor the import contracts can express."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = ROOT / "qcowgui"
MODULES: Final = sorted(path.relative_to(ROOT).as_posix() for path in PACKAGE.rglob("*.py"))

MAY_CATCH_EVERYTHING: Final = {
    "qcowgui/engine/work.py": "the job boundary: an exception becomes Failed",
    "qcowgui/engine/qpool.py": "the job boundary: an exception becomes Failed",
    "qcowgui/cli/main.py": "the top-level hook of the command line",
    "qcowgui/gui/app.py": "the top-level hook of the window",
}
FORMAT_MAY_IMPORT: Final = sys.stdlib_module_names | {"numpy", "qcowgui"}
QT_NAMES: Final = {"PySide6", "shiboken6", "qtpy", "pyqtgraph", "qtawesome"}


def tree_of(module: str) -> ast.Module:
    return ast.parse((ROOT / module).read_text(encoding="utf-8"), module)


def imported_modules(tree: ast.AST) -> Iterator[str]:
    """Every absolute module name that an import statement anywhere in the tree mentions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative import"
            assert node.module is not None
            # `from PySide6 import QtGui` imports PySide6.QtGui; a class's name does no harm here.
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def broad_handlers(tree: ast.AST) -> Iterator[int]:
    """The lines that catch or suppress Exception, BaseException or everything.

    A handler that tidies up and raises again catches nothing.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            last = node.body[-1]
            if isinstance(last, ast.Raise) and last.exc is None:
                continue
            caught = [node.type]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
            caught = list(node.args)
        else:
            continue
        flat = [e for c in caught for e in (c.elts if isinstance(c, ast.Tuple) else [c])]
        if any(e is None or ast.unparse(e) in {"Exception", "BaseException"} for e in flat):
            yield node.lineno


@pytest.mark.parametrize("module", MODULES)
def test_every_module_says_what_it_is(module: str) -> None:
    assert ast.get_docstring(tree_of(module))


@pytest.mark.parametrize("module", [m for m in MODULES if m not in MAY_CATCH_EVERYTHING])
def test_nothing_is_caught_wholesale_inside(module: str) -> None:
    assert list(broad_handlers(tree_of(module))) == []


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("try:\n    x()\nexcept Exception:\n    pass", [3]),
        ("try:\n    x()\nexcept (OSError, BaseException):\n    pass", [3]),
        ("try:\n    x()\nexcept:\n    pass", [3]),
        ("with contextlib.suppress(Exception):\n    x()", [1]),
        ("try:\n    x()\nexcept OSError:\n    pass", []),
        ("try:\n    x()\nexcept BaseException:\n    close()\n    raise", []),
        ("try:\n    x()\nexcept Exception as e:\n    raise ValueError from e", [3]),
    ],
)
def test_the_search_for_broad_handlers_sees_them(code: str, lines: list[int]) -> None:
    assert list(broad_handlers(ast.parse(code))) == lines


@pytest.mark.parametrize("module", [m for m in MODULES if m.startswith("qcowgui/format/")])
def test_format_needs_numpy_and_nothing_else(module: str) -> None:
    roots = {name.partition(".")[0] for name in imported_modules(tree_of(module))}
    assert roots <= FORMAT_MAY_IMPORT


@pytest.mark.parametrize("module", [m for m in MODULES if not m.startswith("qcowgui/gui/")])
def test_below_the_window_qt_is_the_engines_qtcore(module: str) -> None:
    qt = {n for n in imported_modules(tree_of(module)) if n.partition(".")[0] in QT_NAMES}
    if module == "qcowgui/engine/qpool.py":
        qt = {name for name in qt if not name.startswith("PySide6.QtCore.")}
    assert qt == set()
