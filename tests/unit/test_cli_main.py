"""The entry point: exit codes, error text, names of files, and what is imported when."""

from __future__ import annotations

import ast
import errno
import json
import os
import platform
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import qcowgui
from qcowgui.cli import info
from qcowgui.cli.main import COMMANDS, run
from qcowgui.errors import (
    Cancelled,
    CorruptError,
    ExitCode,
    OptionsError,
    QcowError,
    SourceError,
    UnsupportedError,
)
from tests.support.base_images import b0

Capture = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def image(tmp_path: Path) -> Path:
    return b0().write_to(tmp_path / "image.qcow2")


def raising(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let `qcowgui info` meet `error`."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(info, "inspect_file", fail)


def test_version(capsys: Capture) -> None:
    assert run(["--version"]) == 0
    first, *libraries = capsys.readouterr().out.splitlines()
    assert first == f"qcowgui {qcowgui.__version__}"
    found = dict(line.split(maxsplit=1) for line in libraries)
    assert found["Python"].startswith(platform.python_version())
    for name in ("PySide6-Essentials", "numpy", "zstandard", "deflate"):
        assert found[name] == metadata.version(name)
    assert "?" not in found.values()


def test_help_lists_every_command(capsys: Capture) -> None:
    assert run(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"\n  {name} " in text for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_of_its_own(name: str, capsys: Capture) -> None:
    assert run([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert f"Usage: qcowgui {name}" in text
    assert "--debug" in text
    assert "\\b" not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info"], "Missing argument 'IMAGE'"),
        (["info", "--nonsense", "x"], "--nonsense"),
        (["info", "--output=xml", "x"], "'xml' is not one of 'human', 'json'"),
        (["map", "-s", "many", "x"], "'many' is not a size"),
        (["convert", "a", "b", "c"], "unexpected extra argument"),
        (["inof", "x"], "there is no command and no file 'inof'; did you mean 'info'?"),
        (["dump", "x", "everything"], "'everything' is not one of"),
    ],
)
def test_bad_usage_fails_with_1(arguments: list[str], message: str, capsys: Capture) -> None:
    assert run(arguments) == ExitCode.FAILED
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("qcowgui: ")
    assert message in captured.err
    assert "--help lists what is possible" in captured.err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SourceError("can't be read"), 1),
        (OptionsError("contradict"), 1),
        (CorruptError("is broken"), 2),
        (UnsupportedError("is unknown"), 63),
        (KeyboardInterrupt(), 130),
        (Cancelled(), 130),
    ],
)
def test_exit_codes(
    error: BaseException, code: int, image: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    raising(monkeypatch, error)
    assert run(["info", str(image)]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    expected = error.message if isinstance(error, QcowError) else "cancelled"
    assert captured.err == f"qcowgui: {expected}\n"


def test_a_hint_has_a_line_of_its_own_and_the_file_is_named_once(
    image: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    raising(monkeypatch, CorruptError("it is broken", path="some.qcow2", hint="look at it"))
    run(["info", str(image)])
    assert capsys.readouterr().err == "qcowgui: some.qcow2: it is broken\n  hint: look at it\n"
    raising(monkeypatch, CorruptError("some.qcow2 is broken", path="some.qcow2"))
    run(["info", str(image)])
    assert capsys.readouterr().err == "qcowgui: some.qcow2 is broken\n"


def test_a_mistake_of_ours_is_one_line_and_where_to_report_it(
    image: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    raising(monkeypatch, ZeroDivisionError("by zero"))
    assert run(["info", str(image)]) == ExitCode.FAILED
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "qcowgui: unexpected ZeroDivisionError: by zero"
    assert "please report it" in lines[1]
    assert len(lines) == 2


@pytest.mark.parametrize("arguments", [["--debug", "info"], ["info", "--debug"]])
def test_debug_prints_the_traceback(
    arguments: list[str], image: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    raising(monkeypatch, ZeroDivisionError("by zero"))
    assert run([*arguments, str(image)]) == ExitCode.FAILED
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_a_missing_file_is_a_sentence(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "none.qcow2"
    assert run(["info", str(path)]) == ExitCode.FAILED
    assert capsys.readouterr().err == (
        f"qcowgui: {path} can't be opened: No such file or directory\n"
    )


@pytest.mark.parametrize(
    "name", ["a 'b' #1 %20.qcow2", "-x.qcow2", "ümlaut „quoted“.qcow2", "two\nlines.qcow2"]
)
def test_names_of_every_kind(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """BL-O84."""
    monkeypatch.chdir(tmp_path)
    b0().write_to(tmp_path / name)
    assert run(["info", "--json", "--", name]) == 0
    assert json.loads(capsys.readouterr().out)["filename"] == name
    assert run(["info", "--", name]) == 0
    first_line = capsys.readouterr().out.splitlines()[0]
    assert first_line == name.replace("\n", "\\n")


def in_process(
    *arguments: str | bytes, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "qcowgui", *arguments],
        env=env,
        capture_output=True,
        check=False,
        timeout=60,
    )


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/bytes-\xff.qcow2"
    b0().write_to(Path(os.fsdecode(path)))
    for option in (["--json"], []):
        done = in_process("info", *option, path)
        assert done.returncode == 0, done.stderr
        assert b"bytes-\\" in done.stdout
    missing = in_process("info", path + b"-missing")
    assert missing.returncode == 1
    assert b"bytes-\\xff.qcow2-missing can't be opened" in missing.stderr


def test_a_reader_that_leaves_is_no_error(image: Path) -> None:
    """As with `| head -1`: nothing on stderr."""
    command = [sys.executable, "-m", "qcowgui", "dump", str(image), "l1", "--count=1000000"]
    program = "import subprocess, sys; p = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)\n"
    program += "p.stdout.readline(); p.stdout.close(); p.wait()"
    big = b0(cluster_bits=9, size=512 << 20).write_to(image.with_name("big.qcow2"))
    command[4] = str(big)
    done = subprocess.run(
        [sys.executable, "-c", program, *command], capture_output=True, check=True, timeout=60
    )
    assert done.stderr == b""


def test_info_imports_no_conversion_and_no_drawing(image: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "qcowgui", "info", str(image)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "qcowgui.image.inspect" in imported
    heavy = ("PySide6", "qcowgui.convert", "qcowgui.gui", "rich")
    assert [name for name in sorted(imported) if name.startswith(heavy)] == []


def test_help_imports_no_command() -> None:
    program = "import sys; from qcowgui.cli.main import run; run(['--help'])\n"
    program += "print([m for m in sys.modules if m.startswith('qcowgui.cli.')], file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert ast.literal_eval(done.stderr) == [
        f"qcowgui.cli.{name}" for name in ("interrupts", "streams", "collector", "output", "main")
    ]


@pytest.mark.parametrize("arguments", [[], ["some.qcow2"], ["--", "-x.qcow2"]])
def test_without_a_display_the_window_says_so(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    for variable in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(variable, raising=False)
    assert run(arguments) == ExitCode.FAILED
    assert "the window needs a display, and there is none here" in capsys.readouterr().err


@pytest.mark.parametrize("option", [[], ["--new-window"]], ids=["", "new window"])
@pytest.mark.parametrize(
    ("arguments", "images"),
    [
        ([], []),
        (["a.qcow2", "b c.qcow2"], ["a.qcow2", "b c.qcow2"]),
        (["--", "-x.qcow2"], ["-x.qcow2"]),
        (["./info"], ["./info"]),
    ],
)
def test_images_without_a_command_go_to_the_window(
    arguments: list[str], images: list[str], option: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[list[str], bool]] = []

    def note(names: tuple[str, ...], *, new_window: bool) -> int:
        opened.append((list(names), new_window))
        return 7

    monkeypatch.setattr("qcowgui.cli.window.open_window", note)
    assert run([*option, *arguments]) == 7
    assert run([*arguments, *option]) == 7
    assert opened == [(images, bool(option))] * 2


def test_a_new_window_is_for_images(capsys: Capture) -> None:
    assert run(["--new-window", "info", "x"]) == ExitCode.FAILED
    assert capsys.readouterr().err.startswith("qcowgui: --new-window is for images, not for 'info'")


def test_no_memory_is_a_sentence(
    image: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    raising(monkeypatch, MemoryError())
    assert run(["info", str(image)]) == ExitCode.FAILED
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "qcowgui: there is not enough memory"
    assert lines[1].startswith("  hint: close other programs")


def test_what_the_system_refuses_is_named(
    image: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    raising(monkeypatch, OSError(errno.EMFILE, "Too many open files", "some/file"))
    assert run(["info", str(image)]) == ExitCode.FAILED
    message = "the system refused: [Errno 24] Too many open files: 'some/file'"
    assert capsys.readouterr().err == f"qcowgui: {message}\n"


def test_the_process_leaves_with_the_exit_status() -> None:
    """Both entry points are one: the script's is tested by what pyproject.toml says."""
    assert in_process("info").returncode == ExitCode.FAILED
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts["qcowgui"] == "qcowgui.__main__:main"
    assert in_process("info", "--help").returncode == ExitCode.GOOD
