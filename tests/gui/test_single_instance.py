"""Handing files over: what is said, who listens, and that nothing of it ever blocks a start."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtNetwork import QLocalSocket
from pytestqt.qtbot import QtBot

from qcowgui.gui import single_instance
from qcowgui.gui.single_instance import (
    MAX_MESSAGE_BYTES,
    Request,
    SingleInstance,
    decode_request,
    encode_request,
    meeting_folder,
)

PROJECT = Path(__file__).parents[2]

START = """
    import sys, time
    from pathlib import Path
    from PySide6.QtCore import QCoreApplication
    from qcowgui.gui.single_instance import Request, SingleInstance

    app = QCoreApplication([])
    start = SingleInstance(Path(sys.argv[1]))
    began = time.monotonic()
    taken = start.hand_over(Request(tuple(sys.argv[3:]), "token"), seconds=float(sys.argv[2]))
    print(taken, start.serves, round(time.monotonic() - began, 1), flush=True)
    {then}
"""
"""Another start: it hands over the words after the first two, and says what came of it."""


def begin(
    folder: Path, *paths: str, seconds: float = 10, then: str = "pass"
) -> subprocess.Popen[str]:
    code = textwrap.dedent(START).format(then=then)
    return subprocess.Popen(
        [sys.executable, "-c", code, str(folder), str(seconds), *paths],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def told(process: subprocess.Popen[str]) -> tuple[bool, bool, float]:
    """(whether the files were taken, whether the start is the first one now, seconds it took)."""
    output, _ = process.communicate(timeout=30)
    taken, serves, seconds = output.split()
    return taken == "True", serves == "True", float(seconds)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that is nobody else's; its name leaves room for a socket's."""
    made = tmp_path / "meet"
    made.mkdir(mode=0o700)
    return made


@pytest.fixture
def first(qtbot: QtBot, folder: Path) -> Iterator[SingleInstance]:
    """The first start, whose window is open."""
    del qtbot
    made = SingleInstance(folder)
    assert made.claim()
    made.serve(lambda: True)
    yield made
    made.close()
    made.deleteLater()


@pytest.fixture
def requests(first: SingleInstance) -> list[Request]:
    """What the first start was asked for."""
    found: list[Request] = []
    first.received.connect(found.append)
    return found


def test_requests_survive() -> None:
    for request in (
        Request(),
        Request(("/a b/ü %20.qcow2", "/\udcff\udcfe", "/x\ny"), "token"),
    ):
        line = encode_request(request)
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        assert decode_request(line) == request


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"garbage\n",
        b"[]\n",
        b"{}\n",
        b'{"paths": "/a", "activation": ""}\n',
        b'{"paths": [1], "activation": ""}\n',
        b'{"paths": ["relative"], "activation": ""}\n',
        b'{"paths": ["/a\\u0000b"], "activation": ""}\n',
        b'{"paths": [], "activation": 7}\n',
        b'{"paths": [], "activation": "\\u0000"}\n',
        b"\xff\xfe\n",
        b"[" * 100_000,
    ],
)
def test_anything_else_is_no_request(line: bytes) -> None:
    assert decode_request(line) is None


def test_the_first_takes_the_files_of_the_second(
    qtbot: QtBot, folder: Path, requests: list[Request]
) -> None:
    names = ("/a/one.qcow2", "/b/zwei ü.img")
    other = begin(folder, *names)
    qtbot.waitUntil(lambda: bool(requests), timeout=20_000)
    assert told(other)[:2] == (True, False)
    assert requests == [Request(names, "token")]


def test_a_start_without_files_only_comes_to_the_front(
    qtbot: QtBot, folder: Path, requests: list[Request]
) -> None:
    other = begin(folder)
    qtbot.waitUntil(lambda: bool(requests), timeout=20_000)
    assert told(other)[0]
    assert requests == [Request((), "token")]


def test_many_starts_at_once_meet_in_one(
    qtbot: QtBot, folder: Path, requests: list[Request]
) -> None:
    others = [begin(folder, f"/{number}") for number in range(4)]
    qtbot.waitUntil(lambda: len(requests) == 4, timeout=30_000)
    assert [told(other)[:2] for other in others] == [(True, False)] * 4
    assert {request.paths for request in requests} == {(f"/{number}",) for number in range(4)}


@pytest.mark.usefixtures("qapp")
def test_what_a_killed_process_left_is_taken_over(folder: Path) -> None:
    killed = begin(folder, then="sys.stdin.read()")
    assert killed.stdout is not None
    assert killed.stdout.readline().split()[:2] == ["False", "True"]
    assert [path.suffix for path in sorted(folder.iterdir())] == [".lock", ".socket"]
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    start = SingleInstance(folder)
    began = time.monotonic()
    assert not start.hand_over(Request(("/a",)))
    assert time.monotonic() - began < 1
    assert start.serves
    start.close()
    assert list(folder.iterdir()) == []


@pytest.mark.usefixtures("qapp")
def test_one_that_hangs_is_left_alone_and_gets_nothing(folder: Path) -> None:
    hanging = begin(folder, then="sys.stdin.read()")
    assert hanging.stdout is not None
    hanging.stdout.readline()
    start = SingleInstance(folder)
    began = time.monotonic()
    assert not start.hand_over(Request(("/a",)), seconds=0.4)
    assert 0.3 < time.monotonic() - began < 2
    assert not start.serves
    hanging.communicate(timeout=20)


def test_a_window_that_closes_makes_room(qtbot: QtBot, folder: Path) -> None:
    first = SingleInstance(folder)
    assert first.claim()
    first.serve(lambda: False)
    other = begin(folder, "/a")
    qtbot.waitUntil(lambda: not first.serves, timeout=20_000)
    assert told(other)[:2] == (False, True)
    first.deleteLater()


@pytest.mark.usefixtures("first")
def test_a_display_is_another_place(folder: Path) -> None:
    other = SingleInstance(folder, "another display")
    assert other.claim()
    other.close()


@pytest.mark.parametrize(
    "message",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b'{"paths": ["relative"], "activation": ""}\n',
        b"x" * (MAX_MESSAGE_BYTES + 2),
    ],
    ids=["another protocol", "a relative name", "too long"],
)
def test_whoever_says_something_else_is_sent_away(
    qtbot: QtBot, first: SingleInstance, requests: list[Request], message: bytes
) -> None:
    visitor = QLocalSocket()
    visitor.connectToServer(first._name)
    qtbot.waitUntil(lambda: visitor.bytesAvailable() > 0)
    assert bytes(visitor.readAll().data()).startswith(b"qcowgui ")
    visitor.write(message)
    gone = QLocalSocket.LocalSocketState.UnconnectedState
    qtbot.waitUntil(lambda: visitor.state() is gone, timeout=10_000)
    assert requests == []


def test_whoever_says_nothing_is_sent_away(
    qtbot: QtBot, first: SingleInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(single_instance, "_VISIT_MS", 50)
    with socket.socket(socket.AF_UNIX) as visitor:
        visitor.settimeout(0)
        visitor.connect(first._name)
        ended: list[bytes] = []

        def read() -> bool:
            try:
                ended.append(visitor.recv(100))
            except BlockingIOError:
                return False
            return ended[-1] == b""

        qtbot.waitUntil(read, timeout=10_000)


@pytest.mark.usefixtures("first")
def test_the_place_is_this_users_alone(folder: Path) -> None:
    (found,) = folder.glob("*.socket")
    assert found.stat().st_mode & 0o077 == 0


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder whose name leaves room for that of a socket, which pytest's do not."""
    with tempfile.TemporaryDirectory(prefix="qcowgui-") as made:
        yield Path(made)


def test_a_folder_with_too_long_a_name_is_none(
    short_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A socket's path has some hundred bytes; the place for temporary files is short."""
    runtime = tmp_path / ("long" * 20)
    runtime.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(short_folder))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    assert meeting_folder() == short_folder / f"qcowgui-{os.getuid()}"


def test_the_folder_is_private_or_there_is_none(
    short_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime, other = short_folder / "run", short_folder / "tmp"
    runtime.mkdir()
    other.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(other))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    assert meeting_folder() == runtime / "qcowgui"
    assert (runtime / "qcowgui").stat().st_mode & 0o777 == 0o700
    (runtime / "qcowgui").chmod(0o755)
    fallback = other / f"qcowgui-{os.getuid()}"
    assert meeting_folder() == fallback
    fallback.rmdir()
    fallback.symlink_to(short_folder)  # somebody else's, in a folder that all may write to
    assert meeting_folder() is None
    monkeypatch.setenv("XDG_RUNTIME_DIR", "relative")
    assert meeting_folder() is None


@pytest.mark.usefixtures("qapp")
def test_where_nothing_can_be_made_a_start_goes_on_at_once(tmp_path: Path) -> None:
    start = SingleInstance(tmp_path / "missing")
    began = time.monotonic()
    assert not start.hand_over(Request(("/a",)))
    assert time.monotonic() - began < 1
    assert not start.serves
    start.serve(lambda: True)
    start.close()
