"""Where the files that travel with the program are: icons, colour tables, the desktop entry."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Final

_PACKAGE_FOLDER: Final = Path(__file__).resolve().parent


def resource_path(*parts: str) -> Path:
    """The path of a resource, or of a folder of them: `resource_path("icons", "qcowgui.svg")`.

    Raises:
        ValueError: When `parts` would leave the resources' folder.
        FileNotFoundError: When there is no such resource, or the program came without any.
    """
    root = _resource_root()
    path = root.joinpath(*parts)
    if not path.resolve().is_relative_to(root):
        raise ValueError(f"{'/'.join(parts)!r} is outside the resources")
    if not path.exists():
        raise FileNotFoundError(f"resource {'/'.join(parts)!r} is not in {root}")
    return path


@cache
def _resource_root() -> Path:
    """The folder of the resources: of a frozen bundle, a wheel or the source tree.

    Raises:
        FileNotFoundError: When none of them holds one.
    """
    candidates = _candidate_roots()
    for candidate in candidates:
        if candidate.is_dir():
            return candidate.resolve()
    raise FileNotFoundError(f"no resources in any of {', '.join(map(str, candidates))}")


def _candidate_roots() -> tuple[Path, ...]:
    """The places to look at, first choice first.

    The source tree's folder counts only beside a pyproject.toml: next to an installed package,
    `resources` would be any other distribution's.
    """
    roots = []
    bundle = getattr(sys, "_MEIPASS", None)
    if bundle is not None:
        roots.append(Path(bundle) / "qcowgui" / "_resources")
    roots.append(_PACKAGE_FOLDER / "_resources")
    if (_PACKAGE_FOLDER.parent / "pyproject.toml").is_file():
        roots.append(_PACKAGE_FOLDER.parent / "resources")
    return tuple(roots)
