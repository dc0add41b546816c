"""What pyproject.toml promises, where a slip would show only at a user's."""

from __future__ import annotations

import importlib.metadata
import tomllib
from pathlib import Path
from typing import Any, Final

from packaging.requirements import Requirement

import qcowgui

ROOT: Final = Path(__file__).parents[2]


def project() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return table


def test_the_qt_that_aborts_is_not_accepted() -> None:
    requirements = [Requirement(line) for line in project()["project"]["dependencies"]]
    (qt,) = (r for r in requirements if r.name == "PySide6-Essentials")
    assert qt.specifier.contains("6.11.3")
    assert not qt.specifier.contains("6.12.0")
    assert not any(r.name in {"PySide6", "PySide6-Addons"} for r in requirements)


def test_the_qt_in_use_is_accepted() -> None:
    (qt,) = (
        requirement
        for requirement in map(Requirement, project()["project"]["dependencies"])
        if requirement.name == "PySide6-Essentials"
    )
    assert qt.specifier.contains(importlib.metadata.version("PySide6-Essentials"))


def test_the_version_has_one_home() -> None:
    assert project()["project"]["dynamic"] == ["version"]
    assert project()["tool"]["hatch"]["version"]["path"] == "qcowgui/__init__.py"
    assert qcowgui.__version__.count(".") == 2


def test_the_resources_travel_in_the_wheel() -> None:
    wheel = project()["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"] == {"resources": "qcowgui/_resources"}


def test_everything_in_the_tree_travels_in_the_source_archive() -> None:
    included = set(project()["tool"]["hatch"]["build"]["targets"]["sdist"]["include"])
    folders = {"/.ci", "/packaging", "/qcowgui", "/resources", "/tests"}
    documents = {f"/{path.name}" for path in ROOT.glob("*.md")}
    assert folders | documents | {"/LICENSE", "/.gitignore"} <= included


def test_every_lint_exemption_is_for_a_folder() -> None:
    lint = project()["tool"]["ruff"]["lint"]
    assert set(lint["per-file-ignores"]) == {"qcowgui/gui/**", "tests/**"}
