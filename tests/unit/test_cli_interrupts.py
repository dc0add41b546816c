"""Ctrl-C and its like, at any moment from the start to the end of the process."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from qcowgui.cli import convert as convert_module
from qcowgui.cli import interrupts
from qcowgui.cli.convert_text import summary
from qcowgui.cli.main import run
from qcowgui.errors import ExitCode
from tests.converting import names_in
from tests.support.base_images import b0, text
from tests.support.options import MIB

Capture = pytest.CaptureFixture[str]
OLD = b"what was there before"
CANCELLED = "qcowgui: cancelled\n"

STRIKE = """
import os, signal, sys
wanted, number = sys.argv[1], int(sys.argv[2])
del sys.argv[1:3]
class Strike:
    struck = False
    def find_spec(self, name, path=None, target=None):
        if name == wanted and not Strike.struck:
            Strike.struck = True
            os.kill(os.getpid(), number)
sys.meta_path.insert(0, Strike())
from qcowgui.__main__ import main
status = main()
assert Strike.struck, "it was never imported"
sys.exit(status)
"""
"""Sends the process a signal at the moment when it begins to import a module."""

ANNOUNCE = """
import os, sys
os.write(1, b"!")
from qcowgui.__main__ import main
sys.exit(main())
"""
"""Tells when the interpreter is up: what comes before is not the program's."""


@pytest.fixture(autouse=True)
def _handlers_are_put_back() -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield
    after = [signal.getsignal(number) for number in numbers]
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)
    assert after == before


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    path = tmp_path / "source.raw"
    path.write_bytes(text(MIB))
    return path


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "target.qcow2"
    path.write_bytes(OLD)
    return path


def struck(
    module: str, number: signal.Signals, *arguments: str | Path
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", STRIKE, module, str(int(number)), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )


@pytest.mark.parametrize(
    "module",
    [
        "qcowgui.cli.main",
        "click",
        "qcowgui.cli.output",
        "qcowgui.cli.convert",
        "numpy",
        "qcowgui.convert.job",
        "PySide6",
        "shiboken6",
        "PySide6.QtCore",
        "PySide6.support",  # by Qt's bindings themselves, which abort when that fails
        "qcowgui.engine.allocator",
    ],
)
def test_ctrl_c_during_an_import(module: str, raw: Path, target: Path) -> None:
    done = struck(module, signal.SIGINT, "convert", "--force", raw, target)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", CANCELLED)
    assert target.read_bytes() == OLD
    assert names_in(target.parent) == {raw.name, target.name}


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("PySide6.QtCore", ["compare", "-m", "2"]),
        ("numpy", ["compare"]),
        ("PySide6.QtWidgets", []),
    ],
)
def test_ctrl_c_while_other_commands_start(module: str, arguments: list[str], raw: Path) -> None:
    done = struck(module, signal.SIGINT, *arguments, raw, raw)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", CANCELLED)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_before_the_work_end_the_process(
    number: signal.Signals, raw: Path, target: Path
) -> None:
    done = struck("PySide6.QtCore", number, "convert", "--force", raw, target)
    assert (done.returncode, done.stdout, done.stderr) == (-number, "", "")
    assert target.read_bytes() == OLD


def test_a_signal_after_the_end_does_not_change_the_result(raw: Path, target: Path) -> None:
    program = "import atexit, os, signal, sys\nfrom qcowgui.__main__ import main\n"
    program += "atexit.register(os.kill, os.getpid(), signal.SIGINT)\nsys.exit(main())"
    command = [sys.executable, "-c", program, "convert", "-q", "--force", str(raw), str(target)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    assert target.read_bytes() != OLD


def test_held_back_signals_take_effect_at_the_end() -> None:
    reached = []

    def interrupted() -> None:
        with interrupts.held_back():
            with interrupts.held_back():
                signal.raise_signal(signal.SIGINT)
                reached.append("inner")
            reached.append("outer")
        reached.append("never")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert reached == ["inner", "outer"]


def test_a_failed_import_is_told_when_nobody_interrupts() -> None:
    with pytest.raises(ImportError), interrupts.held_back():
        raise ImportError


def test_an_ignored_signal_stays_ignored() -> None:
    """As SIGHUP under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        arrived: list[int] = []
        with interrupts.redirected(arrived.append):
            signal.raise_signal(signal.SIGHUP)
            signal.raise_signal(signal.SIGTERM)
        assert arrived == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGHUP, before)


def test_other_threads_leave_the_handlers_alone() -> None:
    seen = []

    def work() -> None:
        with interrupts.held_back():
            seen.append(signal.getsignal(signal.SIGINT))
        interrupts.ignore()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]
    assert seen != [signal.SIG_IGN]


def striking(function: Callable[..., object], *numbers: signal.Signals) -> Callable[..., object]:
    """`function`, with signals just before it does its work."""

    def strike_first(*arguments: object) -> object:
        for number in numbers:
            signal.raise_signal(number)
        return function(*arguments)

    return strike_first


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_the_result_is_told_cancels_nothing(
    number: signal.Signals,
    raw: Path,
    target: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    monkeypatch.setattr(convert_module, "summary", striking(summary, number))
    assert run(["convert", "--force", str(raw), str(target)]) == 0
    captured = capsys.readouterr()
    assert "; verified" in captured.out
    assert captured.err == ""
    assert target.read_bytes() != OLD


@pytest.mark.parametrize(
    "numbers", [(signal.SIGINT,), (signal.SIGTERM,), (signal.SIGINT, signal.SIGINT)]
)
def test_a_signal_while_the_file_is_made_durable_cancels(
    numbers: tuple[signal.Signals, ...],
    raw: Path,
    target: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    """That can take as long as all the rest; the second Ctrl-C does not wait for it."""
    monkeypatch.setattr(os, "fsync", striking(os.fsync, *numbers))
    assert run(["convert", "--force", str(raw), str(target)]) == ExitCode.CANCELLED
    assert capsys.readouterr() == ("", CANCELLED)
    assert target.read_bytes() == OLD
    assert names_in(target.parent) == {raw.name, target.name}


def test_ctrl_c_while_the_reader_of_stdout_does_not_read(tmp_path: Path) -> None:
    """The process ends all the same; what could not be written is dropped."""
    image = b0(cluster_bits=9, size=512 << 20).write_to(tmp_path / "big.qcow2")
    command = [sys.executable, "-m", "qcowgui", "dump", str(image), "l1", "--count=1000000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read(1)
        time.sleep(0.5)  # until the pipe is full
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == ExitCode.CANCELLED


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_ctrl_c_at_any_moment(seed: int, tmp_path: Path, target: Path) -> None:
    """Either it was cancelled and nothing has changed, or it is done and the result is there."""
    source = tmp_path / "source.raw"
    source.write_bytes(text(8 * MIB))
    arguments = ["convert", "-q", "--force", "--compress", "zlib", str(source), str(target)]
    with subprocess.Popen(
        [sys.executable, "-c", ANNOUNCE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read(1) == b"!"
        time.sleep(random.Random(seed).uniform(0, 0.8))
        process.send_signal(signal.SIGINT)
        output, messages = process.communicate(timeout=60)
    outcome = (process.returncode, output + messages, target.read_bytes() == OLD)
    assert outcome in ((130, CANCELLED.encode(), True), (0, b"", False))
    assert names_in(tmp_path) == {source.name, target.name}
