"""One window for each user and display: a later start hands its files to the first one.

Whoever holds the lock listens; all others ask it. It has to greet before anybody tells it anything,
so that one which hangs never gets the files that the later start then opens by itself.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PySide6.QtCore import QLockFile, QObject, QTimer, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from qcowgui.units import MIB

HANDING_SECONDS: Final = 3.0
"""How long a start waits for the first window: one that is starting takes two on a slow disk."""
MAX_MESSAGE_BYTES: Final = 4 * MIB
"""Longer than any command line that Linux accepts; whoever has more to say opens its own window."""

_GREETING: Final = b"qcowgui 1\n"
_TAKEN: Final = b"taken\n"
_VISIT_MS: Final = 5000
_ABSENT_SECONDS: Final = 0.3
"""How long nobody may listen although somebody holds the lock: between the two lie milliseconds."""
_PAUSE_SECONDS: Final = 0.02
_MAX_FOLDER_BYTES: Final = 70
"""A socket's path has 107 bytes at most on Linux and 103 on macOS; its name takes some of them."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a start asks of the first window.

    Attributes:
        paths: Absolute names of files to open; none: only to come to the front.
        activation: What the desktop gave the start as a permission to take the focus, or nothing.
    """

    paths: tuple[str, ...] = ()
    activation: str = ""


def encode_request(request: Request) -> bytes:
    """A request as a line of ASCII; names that are no Unicode survive."""
    content = {"paths": request.paths, "activation": request.activation}
    return json.dumps(content).encode("ascii") + b"\n"


def decode_request(line: bytes) -> Request | None:
    """The request in a line; None when it holds anything else."""
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    paths, activation = content.get("paths"), content.get("activation")
    if not isinstance(paths, list) or not isinstance(activation, str) or "\0" in activation:
        return None
    if not all(_is_full_name(p) for p in paths):
        return None
    return Request(tuple(paths), activation)


def _is_full_name(value: object) -> bool:
    return isinstance(value, str) and "\0" not in value and Path(value).is_absolute()


def meeting_folder() -> Path | None:
    """A folder that nobody but this user can enter; None when there can be none."""
    candidates = []
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    if runtime.is_absolute():
        candidates.append(runtime / "qcowgui")
    with contextlib.suppress(OSError):
        user = str(os.getuid()) if sys.platform != "win32" else "instance"
        candidates.append(Path(tempfile.gettempdir()) / f"qcowgui-{user}")
    short = [folder for folder in candidates if len(os.fsencode(folder)) <= _MAX_FOLDER_BYTES]
    return next((folder for folder in short if _is_private(folder)), None)


def _is_private(folder: Path) -> bool:
    """Whether the folder, made if it isn't there, is this user's alone."""
    try:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(found.st_mode):
        return False
    if sys.platform == "win32":  # the folder for temporary files is the user's
        return True
    return found.st_uid == os.getuid() and not found.st_mode & 0o077


class SingleInstance(QObject):
    """The place where the windows of one user on one display meet. Needs a QCoreApplication.

    Signals:
        received: A later start has handed over: a Request.
    """

    received = Signal(object)

    def __init__(self, folder: Path, display: str = "", parent: QObject | None = None) -> None:
        """A place to meet; nothing is looked at yet.

        Args:
            folder: Of this user alone: see `meeting_folder`.
            display: What tells this display from others of the user's.
            parent: Whose end is this object's end.
        """
        super().__init__(parent)
        name = hashlib.sha256(f"{folder}\0{display}".encode(errors="replace")).hexdigest()[:12]
        place = folder / f"window-{name}"
        # Windows has no sockets in folders: there it is the name of a pipe.
        self._name = f"qcowgui-{name}" if sys.platform == "win32" else f"{place}.socket"
        self._lock = QLockFile(f"{place}.lock")
        self._lock.setStaleLockTime(0)  # only a process that is gone loses its lock
        self._server: QLocalServer | None = None
        self._is_open: Callable[[], bool] | None = None

    @property
    def serves(self) -> bool:
        """Whether later starts come to this one."""
        return self._server is not None

    def claim(self) -> bool:
        """Be the first, if no other process is; whether this one is. Never waits."""
        if self._server is not None:
            return True
        if not self._lock.tryLock(0):
            return False
        QLocalServer.removeServer(self._name)  # of a process that is gone
        server = QLocalServer(self)
        server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        if not server.listen(self._name):
            server.deleteLater()
            self._lock.unlock()
            return False
        self._server = server
        return True

    def hand_over(self, request: Request, *, seconds: float = HANDING_SECONDS) -> bool:
        """Give the first window a request; whether it took it.

        When there is no other, this one becomes the first. Blocks for `seconds` at most.
        """
        message = encode_request(request)
        start = time.monotonic()
        while not self.claim():
            if self._lock.error() is not QLockFile.LockError.LockFailedError:
                return False  # there can be no lock here
            if len(message) > MAX_MESSAGE_BYTES:
                return False
            socket = QLocalSocket()
            end = start + seconds
            socket.connectToServer(self._name)
            if socket.waitForConnected(_milliseconds_until(end)):
                if _line_before(end, socket) == _GREETING:
                    socket.write(message)
                    return _line_before(end, socket) == _TAKEN
            elif time.monotonic() > start + _ABSENT_SECONDS:
                return False
            # It listens no more, or not yet: it ends, or has just begun.
            if time.monotonic() >= end:
                return False
            time.sleep(_PAUSE_SECONDS)
        return False

    def serve(self, is_open: Callable[[], bool]) -> None:
        """Answer later starts from now on, if this one is the first.

        Args:
            is_open: Whether there is a window to hand anything to. Once there is none, the next
                start becomes the first.
        """
        if self._server is not None:
            self._is_open = is_open
            self._server.newConnection.connect(self._welcome)
            self._welcome()

    def close(self) -> None:
        """Leave the place to others."""
        if self._server is not None:
            self._server.close()
            self._server.deleteLater()
            self._server = None
        self._lock.unlock()

    def _welcome(self) -> None:
        while self._server is not None and self._server.hasPendingConnections():
            if self._is_open is not None and not self._is_open():
                self.close()
                return
            _Visit(self._server.nextPendingConnection(), self.received.emit)


class _Visit(QObject):
    """A later start that has come. It lives as long as its connection, some seconds at most."""

    def __init__(self, socket: QLocalSocket, receive: Callable[[Request], object]) -> None:
        super().__init__(socket)
        self._socket = socket
        self._receive = receive
        socket.setReadBufferSize(MAX_MESSAGE_BYTES + 1)
        socket.disconnected.connect(self._gone)
        socket.readyRead.connect(self._read)
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.timeout.connect(self._end)
        timer.start(_VISIT_MS)
        socket.write(_GREETING)
        socket.flush()

    def _gone(self) -> None:
        self._socket.deleteLater()

    def _end(self) -> None:
        self._socket.abort()

    def _read(self) -> None:
        socket = self._socket
        if not socket.canReadLine():
            if socket.bytesAvailable() > MAX_MESSAGE_BYTES:
                socket.abort()
            return
        socket.readyRead.disconnect(self._read)
        request = decode_request(bytes(socket.readLine().data()))
        if request is None:
            socket.abort()
            return
        socket.write(_TAKEN)
        socket.flush()
        socket.disconnectFromServer()
        self._receive(request)


def _line_before(end: float, socket: QLocalSocket) -> bytes:
    """A line that arrives before a moment of time.monotonic(), else what there is of it."""
    while not socket.canReadLine():
        if not socket.waitForReadyRead(_milliseconds_until(end)):
            break
    return bytes(socket.readLine(len(_GREETING) + 1).data())


def _milliseconds_until(end: float) -> int:
    return max(1, int((end - time.monotonic()) * 1000))
