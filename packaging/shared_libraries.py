"""The Debian packages that a bundle's libraries need: shared_libraries.py FOLDER [PACKAGE…].

Prints a value for Depends: what owns each shared library that is needed and not in the bundle, the
packages named, and the C library at the version whose symbols are used.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

_NEEDED: Final = re.compile(r"^\s+NEEDED\s+(\S+)$", re.MULTILINE)
_GLIBC: Final = re.compile(r"\bGLIBC_(\d+)\.(\d+)\b")
_OPTIONAL: Final = re.compile(r"libqgtk3\.so|wayland|libQt6W(ayland|l)")
"""What Qt loads on desktops where its libraries are, and does without elsewhere: GTK's dialogs, and
Wayland, in whose place X11 will do."""
_RENAMED: Final = frozenset({"libglib2.0-0"})
"""Of the packages that this program needs."""
_C_LIBRARY: Final = frozenset({"libc6"})


def main(arguments: list[str]) -> int:
    """Print the packages; the exit status."""
    folder = Path(arguments[0])
    objects = [path for path in folder.rglob("*") if path.is_file() and _is_elf(path)]
    inside = {path.name for path in folder.rglob("*")}
    needed: set[str] = set()
    glibc = (0, 0)
    for path in objects:
        if _OPTIONAL.search(str(path)):
            continue
        text = _run("objdump", "-p", str(path))
        needed.update(_NEEDED.findall(text))
        for major, minor in _GLIBC.findall(text):
            glibc = max(glibc, (int(major), int(minor)))
    packages = {*arguments[1:], *_owners(sorted(needed - inside))} - _C_LIBRARY
    depends = [f"libc6 (>= {glibc[0]}.{glibc[1]})", *map(_either_name, sorted(packages))]
    sys.stdout.write(", ".join(depends) + "\n")
    return 0


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _owners(names: Iterable[str]) -> Iterator[str]:
    """The package of each library, as this system has them.

    Raises:
        SystemExit: When one has none here: the bundle would not start elsewhere, either.
    """
    cache = _run("ldconfig", "-p")
    for name in names:
        if name.startswith("ld-linux"):
            continue
        found = re.search(rf"^\s*{re.escape(name)} .*=> (\S+)$", cache, re.MULTILINE)
        owner = _owner(Path(found[1])) if found else None
        if owner is None:
            raise SystemExit(f"no package here has {name}, which the bundle needs")
        yield owner


def _owner(path: Path) -> str | None:
    """The package of a file; with merged /usr it is listed under either name."""
    real = path.resolve()
    for name in {str(path), str(real), str(real).removeprefix("/usr"), f"/usr{path}"}:
        done = subprocess.run(  # noqa: S603  what a linked library is called
            ["dpkg-query", "-S", name],  # noqa: S607  on Debian's path
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            return done.stdout.partition(":")[0]
    return None


def _either_name(package: str) -> str:
    """The name, or that of its successor where the size of times changed in 2024."""
    plain = package.removesuffix("t64")
    return f"{plain}t64 | {plain}" if plain in _RENAMED else package


def _run(*command: str) -> str:
    return subprocess.run(  # noqa: S603  only of tools named here
        command, capture_output=True, text=True, check=True
    ).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
