"""Collects the licences of what a bundle holds: licences.py FOLDER.

Writes one text: for qcowgui and each package it needs, name, version, licence, and its licence's
text as the package came with it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.metadata import (
    Distribution,
    PackageMetadata,
    PackageNotFoundError,
    distribution,
)
from itertools import chain
from pathlib import Path
from typing import Final

_LICENCE_FILE = re.compile(r"(^|/)(LICEN[CS]E|COPYING|NOTICE|AUTHORS)[^/]*$", re.IGNORECASE)
_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)")

_QT_NOTE: Final = """Used under the GNU Lesser General Public License, version 3, with the Qt
libraries that it brings: https://www.gnu.org/licenses/lgpl-3.0.txt and
https://www.gnu.org/licenses/gpl-3.0.txt.
Its source is at https://download.qt.io. The libraries are files of their own in this folder, and
may be replaced by others that are compatible.
"""


def main(arguments: list[str]) -> int:
    """Write LICENCES.txt into the folder; the exit status."""
    texts = [_text(found) for found in needed_by("qcowgui")]
    texts.append(
        f"Python {sys.version.split()[0]}\nPython Software Foundation License\n\n{_python()}"
    )
    Path(arguments[0], "LICENCES.txt").write_text(f"\n{'=' * 78}\n".join(texts), "utf-8")
    return 0


def needed_by(name: str) -> list[Distribution]:
    """The distribution called so, and all that it needs here, by name."""
    found: dict[str, Distribution] = {}
    waiting = [name]
    while waiting:
        key = waiting.pop().lower().replace("_", "-")
        if key in found:
            continue
        try:
            found[key] = distribution(key)
        except PackageNotFoundError:  # needed on another system, or for an extra
            continue
        for requirement in found[key].requires or ():
            match = _REQUIREMENT.match(requirement)
            if match and "extra ==" not in requirement:
                waiting.append(match[1])
    return [found[key] for key in sorted(found)]


def _text(found: Distribution) -> str:
    facts = found.metadata
    classifiers = (
        value for value in _values(facts, "Classifier") if value.startswith("License ::")
    )
    licence = next(chain(_values(facts, "License-Expression", "License"), classifiers), "see below")
    home = next(_values(facts, "Home-page", "Project-URL"), "")
    files = [
        Path(str(found.locate_file(file))).read_text("utf-8", "replace")
        for file in found.files or ()
        if _LICENCE_FILE.search(str(file)) and ".dist-info" in str(file)
    ]
    head = f"{facts['Name']} {found.version}\n{licence.splitlines()[0]}\n{home}\n"
    note = _QT_NOTE if facts["Name"].lower().startswith(("pyside6", "shiboken6")) else ""
    return "\n".join(filter(None, [head, note, *files]))


def _values(facts: PackageMetadata, *names: str) -> Iterator[str]:
    """What these fields say, without those that are missing or empty."""
    return (value for name in names for value in facts.get_all(name) or () if value)


def _python() -> str:
    path = Path(sys.base_prefix, "lib", f"python3.{sys.version_info.minor}", "LICENSE.txt")
    return path.read_text("utf-8") if path.is_file() else "https://docs.python.org/3/license.html\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
