"""Other programs that convert: which of them are here, how they are told to, how long they take."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Final, NamedTuple

from qcowgui import __version__
from qcowgui.convert.options import Compression
from qcowgui.engine.work import TICK_SECONDS, CancelToken
from qcowgui.format.text import decode_name

Tick = Callable[[], None]

QEMU_THREADS: Final = 16
"""The most that qemu-img takes."""
_GRACE_SECONDS: Final = 2.0
"""For a program that is told to stop, to remove what it made."""
_VERSION_SECONDS: Final = 10.0
_QCOW2_FILTER: Final = "qcow2dec"


@dataclass(frozen=True, slots=True)
class Conversion:
    """What a program is to convert.

    Attributes:
        source: An existing file.
        target: A file that does not exist.
        writes_qcow2: Whether raw → qcow2 is meant; else qcow2 → raw.
        cluster_bytes: Of the qcow2 image.
        compression: Of the qcow2 image.
    """

    source: Path
    target: Path
    writes_qcow2: bool
    cluster_bytes: int
    compression: Compression

    @property
    def formats(self) -> tuple[str, str]:
        """Of source and target, as qemu-img and this program call them."""
        return ("raw", "qcow2") if self.writes_qcow2 else ("qcow2", "raw")


class Program(NamedTuple):
    """A program that converts.

    Attributes:
        name: With the options that matter.
        command: Gives the command for a conversion; None for one that it can't do.
    """

    name: str
    command: Callable[[Conversion], list[str] | None]


@dataclass(frozen=True, slots=True)
class Peers:
    """The programs that are here, this one first, and their versions by name."""

    programs: tuple[Program, ...]
    versions: tuple[tuple[str, str], ...]


def find_peers() -> Peers:
    """This program and the others that are found on the search path."""
    programs = [Program("qcowgui", _product_command)]
    versions = [("qcowgui", __version__)]
    qemu_img = shutil.which("qemu-img")
    if qemu_img is not None:
        programs += _qemu_img(qemu_img)
        versions.append(("qemu-img", _version(qemu_img)))
    nbdkit, nbdcopy = shutil.which("nbdkit"), shutil.which("nbdcopy")
    if nbdkit is not None and nbdcopy is not None and _has_filter(nbdkit):
        programs.append(_nbdkit(nbdkit, nbdcopy))
        versions.append(("nbdkit", _version(nbdkit)))
    return Peers(tuple(programs), tuple(versions))


def _product_command(task: Conversion) -> list[str]:
    start = [sys.executable] if hasattr(sys, "frozen") else [sys.executable, "-m", "qcowgui"]
    before, after = task.formats
    options = ["convert", "-q", "--no-verify", "-f", before, "-O", after]
    if task.writes_qcow2:
        options += ["-o", f"cluster_size={task.cluster_bytes}"]
        if task.compression != "none":
            options += ["-c", "-o", f"compression_type={task.compression}"]
    return [*start, *options, str(task.source), str(task.target)]


def _qemu_img(program: str) -> list[Program]:
    def make(task: Conversion, more: Sequence[str]) -> list[str]:
        before, after = task.formats
        options = ["convert", *more, "-f", before, "-O", after]
        if task.writes_qcow2:
            options += ["-o", f"cluster_size={task.cluster_bytes}"]
            if task.compression != "none":
                options += ["-c", "-o", f"compression_type={task.compression}"]
        return [program, *options, str(task.source), str(task.target)]

    parallel = ("-W", "-m", str(QEMU_THREADS))
    return [
        Program("qemu-img", lambda task: make(task, ())),
        Program(f"qemu-img {' '.join(parallel)}", lambda task: make(task, parallel)),
    ]


def _nbdkit(nbdkit: str, nbdcopy: str) -> Program:
    def make(task: Conversion) -> list[str] | None:
        if task.writes_qcow2:
            return None
        copy = f'{shlex.quote(nbdcopy)} "$uri" {shlex.quote(str(task.target))}'
        serve = [nbdkit, "-U", "-", f"--filter={_QCOW2_FILTER}", "file", f"file={task.source}"]
        return [*serve, "--run", copy]

    return Program("nbdkit + nbdcopy", make)


def _ask(argv: Sequence[str]) -> str:
    """What a program says at once; "" when it fails or does not answer."""
    try:
        answer = subprocess.run(  # noqa: S603  found on the user's own search path
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_VERSION_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout if answer.returncode == 0 else ""


def _version(program: str) -> str:
    line = _ask([program, "--version"]).partition("\n")[0]
    return decode_name(line.encode())[0]


def _has_filter(nbdkit: str) -> bool:
    """Whether nbdkit has the filter that reads qcow2: since version 1.36."""
    folders = [
        line.partition("=")[2]
        for line in _ask([nbdkit, "--dump-config"]).splitlines()
        if line.startswith("filterdir=")
    ]
    return any(
        path.is_file()
        for folder in folders
        for path in Path(folder).glob(f"nbdkit-{_QCOW2_FILTER}-filter.*")
    )


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended.

    Attributes:
        seconds: From its start to its end, by the clock.
        failure: "" when it went well, else what it said last.
    """

    seconds: float
    failure: str


def run_command(
    argv: Sequence[str], folder: Path, token: CancelToken, tick: Tick | None = None
) -> Ran:
    """Run a command to its end.

    Args:
        argv: Program and arguments.
        folder: For the temporary files that the program makes.
        token: Stops it; it then has some time to tidy up.
        tick: Called in this thread about ten times a second.

    Raises:
        Cancelled: When the token was set.
    """
    environment = {**os.environ, "LC_ALL": "C", "TMPDIR": str(folder)}
    token.raise_if_cancelled()
    started = perf_counter()
    try:
        process = subprocess.Popen(  # noqa: S603  found on the user's own search path
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment,
            # Ctrl-C is for this program, which then stops the other one and what that has started.
            start_new_session=True,
        )
    except OSError as error:
        return Ran(0.0, f"can't be started: {error.strerror}")
    try:
        while (said := _listen(process)) is None:
            if tick is not None:
                tick()
            token.raise_if_cancelled()
    except BaseException:
        _stop(process)
        raise
    return Ran(perf_counter() - started, _failure(process.returncode, said))


def _listen(process: subprocess.Popen[bytes]) -> bytes | None:
    """What a process has said, once it has ended; None when it has not for a moment."""
    try:
        return process.communicate(timeout=TICK_SECONDS)[1]
    except subprocess.TimeoutExpired:
        return None


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End a process and those that it started: first by asking."""
    for number in ("SIGTERM", "SIGKILL"):
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):
                # Also when the process itself has ended: others of its group may not have.
                os.killpg(process.pid, signal.Signals[number])
        else:
            process.terminate()
        try:
            process.communicate(timeout=_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        return


def _failure(status: int, said: bytes) -> str:
    if status == 0:
        return ""
    lines = said.split(b"\n")
    last = next((line for line in reversed(lines) if line.strip()), b"")
    return decode_name(last.strip())[0] or f"exit status {status}"
