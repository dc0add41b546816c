"""Notices that an open file was changed on disk, without asking the disk in the GUI's thread."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Final

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

from qcowgui.engine.work import CancelToken, Failed, Outcome
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.opening import Signature, signature_of, usage_of_path
from qcowgui.image.locks import LockState

_QUIET_MS: Final = 400
"""A writer tells of each of its writes: only a pause says that there is something to look at."""
_LATEST_MS: Final = 3_000
"""But one that never pauses must not hide."""


class Change(Enum):
    """What happened to the file."""

    CHANGED = auto()
    """Other bytes, or another file under its name."""
    CUT = auto()
    """It is shorter than it was."""
    GONE = auto()
    """Nothing is there any more."""
    UNREADABLE = auto()
    """It is there, but may not be looked at."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the file is like now.

    Attributes:
        signature: None when it is gone.
        usage: Who else uses it; None when it is gone.
    """

    signature: Signature | None
    usage: LockState | None


@dataclass(frozen=True, slots=True)
class _Look:
    """The work. Refers to nothing of Qt."""

    path: Path

    def __call__(self, token: CancelToken) -> _Seen:
        token.raise_if_cancelled()
        try:
            return _Seen(signature_of(self.path), usage_of_path(self.path))
        except (FileNotFoundError, NotADirectoryError):
            return _Seen(None, None)


class FileWatch(QObject):
    """Watches one file. Belongs to the GUI's thread.

    Attributes:
        usage: Who else used the file when it was last looked at; None before.

    Signals:
        changed: The file is another than the known one: a `Change`. It is told once for each state.
    """

    changed = Signal(object)

    def __init__(self, path: Path, runner: BackgroundRunner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.usage: LockState | None = None
        self._path = path
        self._runner = runner
        self._known: Signature | None = None
        self._told: Change | None = None
        self._seen: Signature | None = None
        self._watching = False
        self._token: CancelToken | None = None
        self._watcher = QFileSystemWatcher(self)
        self._watcher.fileChanged.connect(self._notice)
        self._watcher.directoryChanged.connect(self._notice)
        self._quiet = self._make_timer(_QUIET_MS)
        self._latest = self._make_timer(_LATEST_MS)

    def watch(self, known: Signature | None) -> None:
        """Compare with `known` from now on; None: it could not be opened, any new state is news."""
        self._known = known
        if known is not None:
            self._seen, self._told = known, None
        self._watching = True
        self._watch_again()

    def stop(self) -> None:
        """Watch no more."""
        self._watching = False
        self._quiet.stop()
        self._latest.stop()
        if self._token is not None:
            self._token.cancel()
            self._token = None
        for paths in (self._watcher.files(), self._watcher.directories()):
            if paths:
                self._watcher.removePaths(paths)

    def look(self) -> None:
        """Look at the file now, as somebody comes back to the window."""
        self._quiet.stop()
        self._latest.stop()
        if self._token is not None or not self._watching:
            return
        token = CancelToken()
        self._token = token

        def finished(outcome: Outcome, found: _Seen | None) -> None:
            if token is self._token:
                self._token = None
                self._take(outcome, found)

        self._runner.submit(_Look(self._path), finished, token=token)

    def _make_timer(self, interval_ms: int) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(interval_ms)
        timer.timeout.connect(self.look)
        return timer

    def _notice(self) -> None:
        self._quiet.start()
        if not self._latest.isActive():
            self._latest.start()

    def _watch_again(self) -> None:
        """A file that was replaced is no longer watched: its folder tells of the new one."""
        wanted = [str(self._path), str(self._path.parent)]
        watched = {*self._watcher.files(), *self._watcher.directories()}
        missing = [path for path in wanted if path not in watched]
        if missing:
            self._watcher.addPaths(missing)

    def _take(self, outcome: Outcome, found: _Seen | None) -> None:
        change: Change | None
        if isinstance(outcome, Failed):
            if not isinstance(outcome.error, OSError):
                raise outcome.error
            change, now = Change.UNREADABLE, None
        elif found is None:
            return
        else:
            now, self.usage = found.signature, found.usage
            change = self._compare(now)
        self._watch_again()
        if change is self._told and now == self._seen:
            return
        self._told, self._seen = change, now
        if change is not None:
            self.changed.emit(change)

    def _compare(self, now: Signature | None) -> Change | None:
        known = self._known
        if now == known:
            return None
        if now is None:
            return Change.GONE
        is_cut = known is not None and now.size_bytes < known.size_bytes
        return Change.CUT if is_cut else Change.CHANGED
