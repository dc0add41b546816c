"""Reports of what should not have happened, as files in the user's state folder.

A report says where in the program it was and what that is made of; never what a file holds.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from PySide6.QtCore import QLockFile

from qcowgui.report.versions import versions_text

MAX_REPORTS: Final = 10
"""So many are kept; the oldest go."""

_MAX_TRACE_BYTES: Final = 1 << 16
_BYTES_LITERAL: Final = re.compile(
    r"""b'(?:[^'\\]|\\.)*'|b"(?:[^"\\]|\\.)*"|bytearray\(b'(?:[^'\\]|\\.)*'\)"""
)


@dataclass(frozen=True, slots=True)
class Report:
    """A report, and where it is.

    Attributes:
        summary: A line that says what it was.
        text: All of it.
        path: The file; None when it could not be written.
    """

    summary: str
    text: str
    path: Path | None


def exception_text(error: BaseException) -> str:
    """Where an exception came from, without the bytes that its message may quote from a file."""
    lines = traceback.format_exception(type(error), error, error.__traceback__)
    return _BYTES_LITERAL.sub("b'…'", "".join(lines)).strip()


def report_text(what: str, circumstances: str = "") -> str:
    """A report for people who look for the mistake.

    Args:
        what: Where in the program it happened.
        circumstances: What is known of the system beside the versions, a line each.
    """
    moment = time.strftime("%Y-%m-%d %H:%M:%S %z")
    parts = [f"qcowgui: report of {moment}", what.strip(), versions_text()]
    return "\n\n".join(filter(None, [*parts, circumstances.strip()])) + "\n"


class CrashReports:
    """The folder of the reports, and the trace that this process leaves when it is torn down."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._trace: IO[bytes] | None = None
        self._trace_path: Path | None = None
        self._lock: QLockFile | None = None

    def save(self, text: str) -> Path | None:
        """Write a report that only its user can read; None when that is refused."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = self._free_name(time.strftime("report-%Y%m%d-%H%M%S"))
            with os.fdopen(
                _new_file(path), "w", encoding="utf-8", errors="backslashreplace"
            ) as file:
                file.write(text)
        except OSError:
            return None
        self._forget_old()
        return path

    def open_trace(self) -> IO[bytes] | None:
        """A file for a trace that the interpreter writes when the process is torn down.

        None when there can be none. It is removed by `close_trace` if nothing was written.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = self._free_name(f"running-{os.getpid()}")
            lock = _locked(path)
            if lock is None:
                return None
            self._trace = os.fdopen(_new_file(path), "wb", buffering=0)
        except OSError:
            return None
        self._lock, self._trace_path = lock, path
        return self._trace

    def close_trace(self) -> None:
        """Say that this process ends as it should."""
        if self._trace is not None:
            self._trace.close()
            self._trace = None
        if self._trace_path is not None:
            with contextlib.suppress(OSError):
                self._trace_path.unlink()
            self._trace_path = None
        if self._lock is not None:
            self._lock.unlock()
            self._lock = None

    def take_left(self) -> list[Report]:
        """Reports about processes that were torn down since somebody looked, the latest last.

        A process that was killed from outside has left an empty trace, of which there is no report.
        """
        found = []
        with contextlib.suppress(OSError):
            for path in sorted(self.folder.glob("running-*.txt"), key=_modified):
                lock = _locked(path)
                if lock is None:
                    continue  # it runs
                trace = _read(path)
                with contextlib.suppress(OSError):
                    path.unlink()
                lock.unlock()
                if trace:
                    text = report_text(trace)
                    found.append(Report(trace.split("\n", 1)[0], text, self.save(text)))
        return found

    def _free_name(self, stem: str) -> Path:
        names = (f"{stem}.txt", *(f"{stem}-{number}.txt" for number in range(2, 100)))
        paths = (self.folder / name for name in names)
        return next((path for path in paths if not path.exists()), self.folder / f"{stem}-100.txt")

    def _forget_old(self) -> None:
        with contextlib.suppress(OSError):
            for path in sorted(self.folder.glob("report-*.txt"), key=_modified)[:-MAX_REPORTS]:
                path.unlink()


def _new_file(path: Path) -> int:
    """A file that only its user can read, and that was not there; its descriptor."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)


def _locked(path: Path) -> QLockFile | None:
    """A lock that says that the process of a trace lives; None while another one holds it."""
    lock = QLockFile(f"{path}.lock")
    lock.setStaleLockTime(0)
    return lock if lock.tryLock(0) else None


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_TRACE_BYTES).decode("utf-8", "replace").strip()
    except OSError:
        return ""
