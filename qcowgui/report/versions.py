"""What the program is made of: its version and those of the libraries that it runs on."""

from __future__ import annotations

import platform
import zlib
from importlib import metadata
from typing import Final

from qcowgui import __version__

_LIBRARIES: Final = (
    "PySide6-Essentials",
    "numpy",
    "zstandard",
    "deflate",
    "pyqtgraph",
    "QtAwesome",
    "click",
    "rich",
)
"""Distributions, in the order in which they matter for a problem."""
_UNKNOWN: Final = "?"


def library_versions() -> list[tuple[str, str]]:
    """(name, version) of Python, of the libraries, and of the system. Imports none of them."""
    found = [("Python", f"{platform.python_version()} ({platform.python_implementation()})")]
    found += [(name, _version_of(name)) for name in _LIBRARIES]
    found.append(("zlib", zlib.ZLIB_RUNTIME_VERSION))
    found.append(("system", f"{platform.platform()} {platform.machine()}".strip()))
    return found


def versions_text() -> str:
    """The program's version in the first line, then a library a line."""
    libraries = library_versions()
    width = max(len(name) for name, _ in libraries)
    lines = [f"qcowgui {__version__}"]
    return "\n".join([*lines, *(f"  {name:<{width}}  {version}" for name, version in libraries)])


def _version_of(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:  # a bundle may come without what packages say of theirs
        return _UNKNOWN
