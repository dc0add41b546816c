"""Naming a version: what a release changes in the tree, and when it refuses."""

from __future__ import annotations

import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
FILES = ("qcowgui/__init__.py", "CHANGELOG.md", "resources/desktop/qcowgui.metainfo.xml")
CHANGELOG = """# Changelog

## [Unreleased]

### Added

- `qcowgui x`: does <this> & that. It is
  new.
- Second

## [0.9.0] – 2026-01-01

- Old
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The files that a release changes, of version 1.2.3."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, tmp_path / name)
    (tmp_path / FILES[0]).write_text('"""A."""\n\n__version__ = "1.2.3"\n')
    (tmp_path / FILES[1]).write_text(CHANGELOG, "utf-8")
    return tmp_path


def bump(tree: Path, version: str, day: str = "2026-12-01") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "packaging/bump.py", "--root", str(tree), "--date", day, version],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("version", ["1.2.3", "1.2.10", "1.10.0", "2.0.0"])
def test_a_release(tree: Path, version: str) -> None:
    done = bump(tree, version)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tree / FILES[0]).read_text() == f'"""A."""\n\n__version__ = "{version}"\n'
    text = (tree / FILES[1]).read_text("utf-8")
    assert f"## [Unreleased]\n\n## [{version}] – 2026-12-01\n\n### Added\n\n- `qcowgui x`" in text
    assert text.endswith(CHANGELOG[CHANGELOG.index("- Second") :])
    root = ET.parse(tree / FILES[2]).getroot()
    first = root.find("releases/release")
    assert first is not None
    assert first.attrib == {"version": version, "date": "2026-12-01"}
    assert [item.text for item in first.iter("li")] == ["qcowgui x", "Second"]
    subprocess.run(["appstreamcli", "validate", "--no-net", str(tree / FILES[2])], check=True)


def test_a_second_release_stands_before_the_first(tree: Path) -> None:
    assert bump(tree, "1.3.0").returncode == 0
    path = tree / FILES[1]
    path.write_text(path.read_text("utf-8").replace("[Unreleased]\n", "[Unreleased]\n\n- New\n", 1))
    assert bump(tree, "1.4.0", "2026-12-24").returncode == 0
    root = ET.parse(tree / FILES[2]).getroot()
    versions = [release.get("version") for release in root.iterfind("releases/release")]
    assert versions == ["1.4.0", "1.3.0"]


@pytest.mark.parametrize(
    ("version", "complaint"),
    [
        ("1.2", "no version"),
        ("1.2.3rc1", "no version"),
        ("v1.3.0", "no version"),
        ("1.2.2", "below 1.2.3"),
        ("0.9.0", "below 1.2.3"),
    ],
)
def test_versions_that_are_refused(tree: Path, version: str, complaint: str) -> None:
    assert_refused(tree, version, complaint)


def test_a_version_that_the_changelog_has(tree: Path) -> None:
    path = tree / FILES[1]
    path.write_text(path.read_text("utf-8").replace("0.9.0", "1.3.0"), "utf-8")
    assert_refused(tree, "1.3.0", "a section for 1.3.0 already")


def test_a_changelog_that_says_nothing(tree: Path) -> None:
    (tree / FILES[1]).write_text("# Changelog\n\n## [Unreleased]\n\n## [0.9.0]\n\n- Old\n")
    assert_refused(tree, "1.3.0", "says nothing")


def test_a_changelog_without_the_section(tree: Path) -> None:
    (tree / FILES[1]).write_text("# Changelog\n\n## [0.9.0]\n\n- Old\n")
    assert_refused(tree, "1.3.0", "no section")


def assert_refused(tree: Path, version: str, complaint: str) -> None:
    """The version is refused with that complaint, and nothing is changed."""
    before = [(tree / name).read_bytes() for name in FILES]
    done = bump(tree, version)
    assert done.returncode == 1
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert [(tree / name).read_bytes() for name in FILES] == before


def test_this_tree_could_be_released(tmp_path: Path) -> None:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, tmp_path / name)
    done = bump(tmp_path, "99.0.0")
    assert (done.returncode, done.stderr) == (0, "")
    subprocess.run(["appstreamcli", "validate", "--no-net", str(tmp_path / FILES[2])], check=True)
