"""The record of what was put into a user's folders: what may be replaced, and what taken away.

A file counts as ours when its path and the digest of its content stand here. So nothing that
somebody else wrote, or changed later, is ever overwritten or removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from qcowgui.convert.done_record import state_folder
from qcowgui.convert.output import OutputFile
from qcowgui.errors import QcowError

_VERSION: Final = 1
_MAX_BYTES: Final = 1 << 20


def digest(content: bytes) -> str:
    """What stands for `content` in the record."""
    return hashlib.sha256(content).hexdigest()


@dataclass(slots=True)
class Record:
    """What was put in place.

    Attributes:
        files: Path → digests that our file there may have; more than one while it is replaced.
        folders: Folders that were made for them.
    """

    files: dict[Path, set[str]] = field(default_factory=dict)
    folders: set[Path] = field(default_factory=set)

    @classmethod
    def load(cls) -> Self:
        """The user's record; an empty one when there is none.

        Raises:
            QcowError: When there is one that can't be read.
        """
        path = record_path()
        try:
            with path.open("rb") as file:
                content = _parsed(file.read(_MAX_BYTES))
            files = {_own(name): set(map(str, known)) for name, known in content["files"].items()}
            return cls(files, {Path(name) for name in content["folders"]})
        except FileNotFoundError:
            return cls()
        except (
            OSError,
            ValueError,
            LookupError,
            TypeError,
            AttributeError,
            RecursionError,
        ) as error:
            raise QcowError(
                f"the record of what was integrated, {path}, can't be read: {error}",
                hint="move it away and run qcowgui integrate: files as it would write them are "
                "recognised, and --remove works again",
            ) from error

    def save(self) -> None:
        """Replace the user's record by this one, or remove it when nothing is left.

        Raises:
            OutputError, OSError: When it can't be written.
        """
        path = record_path()
        if not self.files and not self.folders:
            path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # others keep their state there, too
                path.parent.rmdir()
            return
        content = {
            "version": _VERSION,
            "files": {str(name): sorted(known) for name, known in sorted(self.files.items())},
            "folders": sorted(map(str, self.folders)),
        }
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with OutputFile(path, overwrite=True) as output:
            output.write_at(0, json.dumps(content, indent=1).encode())
            output.commit()

    def owns(self, path: Path, content: bytes) -> bool:
        """Whether a file of that content at `path` is one that we wrote."""
        return digest(content) in self.files.get(path, ())


def record_path() -> Path:
    """Where the user's record is.

    Raises:
        QcowError: When the user has no home folder.
    """
    try:
        return state_folder() / "integration.json"
    except RuntimeError as error:
        raise QcowError(
            "there is no home folder to integrate into", hint="set HOME and try again"
        ) from error


def _parsed(data: bytes) -> dict[str, Any]:
    """A record's content, of the version that this program writes.

    Raises:
        ValueError, LookupError, TypeError: When it is something else.
    """
    content: dict[str, Any] = json.loads(data)
    if content["version"] != _VERSION:
        raise ValueError(f"its version is {content['version']!r}")
    return content


def _own(name: str) -> Path:
    """`name` as a path that can be one of ours.

    Raises:
        ValueError: When it can't.
    """
    path = Path(name)
    if not path.is_absolute() or not path.name.startswith("qcowgui"):
        raise ValueError(f"{name!r} is no file of ours")
    return path
