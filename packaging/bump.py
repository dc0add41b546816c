"""Makes a version of what the changelog holds as unreleased: bump.py VERSION [--date YYYY-MM-DD].

Writes the version into qcowgui/__init__.py, dates the changelog's section and begins a new one, and
tells software centres of the release. Nothing is written when anything is wrong.
"""

from __future__ import annotations

import argparse
import re
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

_VERSION: Final = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_VERSION_LINE: Final = re.compile(r'^__version__ = "([^"]*)"$', re.MULTILINE)
_UNRELEASED: Final = "## [Unreleased]\n"
_SECTION: Final = re.compile(r"^## \[", re.MULTILINE)
_SHOWN_ITEMS: Final = 8
"""How many of the changelog's items a software centre shows; more, nobody reads there."""


class ReleaseError(Exception):
    """What keeps this tree from becoming that version."""


def bumped_source(text: str, version: str) -> str:
    """The source that holds the version, with the new one.

    Raises:
        ReleaseError: When `version` is none, or not above the one that is there.
    """
    found = _VERSION_LINE.search(text)
    old, new = _VERSION.fullmatch(found[1]) if found else None, _VERSION.fullmatch(version)
    if old is None:
        raise ReleaseError('qcowgui/__init__.py has no line __version__ = "X.Y.Z"')
    if new is None:
        raise ReleaseError(f"{version!r} is no version: it has three numbers, as 1.2.0")
    if tuple(map(int, new.groups())) < tuple(map(int, old.groups())):
        raise ReleaseError(f"{version} is below {old[0]}, which this tree is already")
    return _VERSION_LINE.sub(f'__version__ = "{version}"', text)


def released_changelog(text: str, version: str, day: date) -> tuple[str, list[str]]:
    """The changelog with its unreleased section named, and that section's items in short.

    Raises:
        ReleaseError: When there is nothing unreleased, or the version is there already.
    """
    if f"## [{version}]" in text:
        raise ReleaseError(f"CHANGELOG.md has a section for {version} already")
    head, found, rest = text.partition(_UNRELEASED)
    if not found:
        raise ReleaseError("CHANGELOG.md has no section ## [Unreleased]")
    following = _SECTION.search(rest)
    section = rest[: following.start()] if following else rest
    items = [_brief(item) for item in re.findall(r"^- (.*(?:\n  .*)*)", section, re.MULTILINE)]
    if not items:
        raise ReleaseError("CHANGELOG.md says nothing of what is new since the last version")
    return f"{head}{_UNRELEASED}\n## [{version}] – {day.isoformat()}\n{rest}", items


def released_metainfo(text: str, version: str, day: date, items: list[str]) -> str:
    """The AppStream metainfo with a release before all others.

    Raises:
        ReleaseError: When it is not as this program writes it.
    """
    listed = "\n".join(f"          <li>{escape(item)}</li>" for item in items[:_SHOWN_ITEMS])
    release = f"""\
    <release version="{version}" date="{day.isoformat()}">
      <description>
        <ul>
{listed}
        </ul>
      </description>
    </release>
"""
    if "  <releases>\n" in text:
        return text.replace("  <releases>\n", f"  <releases>\n{release}", 1)
    if "  <content_rating" not in text:
        raise ReleaseError("the metainfo has neither <releases> nor <content_rating>")
    return text.replace(
        "  <content_rating", f"  <releases>\n{release}  </releases>\n  <content_rating", 1
    )


def _brief(item: str) -> str:
    """An item's first sentence, without Markdown's marks."""
    line = " ".join(item.split())
    line = re.sub(r"`([^`]*)`", r"\1", line)
    return re.split(r"(?<=[.:;])\s", line, maxsplit=1)[0].rstrip(".:;")


def main() -> int:
    """Change the tree; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version")
    parser.add_argument("--date", type=date.fromisoformat, default=datetime.now(UTC).date())
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    given = parser.parse_args()
    source = given.root / "qcowgui" / "__init__.py"
    changelog = given.root / "CHANGELOG.md"
    metainfo = given.root / "resources" / "desktop" / "qcowgui.metainfo.xml"
    try:
        version_text = bumped_source(source.read_text("utf-8"), given.version)
        log, items = released_changelog(changelog.read_text("utf-8"), given.version, given.date)
        told = released_metainfo(metainfo.read_text("utf-8"), given.version, given.date, items)
    except ReleaseError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    for path, text in ((source, version_text), (changelog, log), (metainfo, told)):
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
