"""Running a program, and what it cost: wall time, CPU time, peak memory."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

# Linux counts ru_maxrss in KiB, macOS in bytes.
_MAXRSS_UNIT_BYTES: Final = 1 if sys.platform == "darwin" else 1024
_STDERR_TAIL_CHARS: Final = 300

_NO_BYTECODE: Final = frozenset({"PYTHONDONTWRITEBYTECODE"})


class BenchError(Exception):
    """The benchmark can't go on: a tool is missing, or the input can't be built."""


class CommandError(BenchError):
    """A program failed.

    Attributes:
        argv: The command.
        status: Its exit status; negative, the signal that ended it.
        stderr: The end of what it wrote there.
    """

    def __init__(self, argv: Sequence[str], status: int, stderr: str) -> None:
        super().__init__(f"{shlex.join(argv)}: exit status {status}: {stderr or 'no message'}")
        self.argv = tuple(argv)
        self.status = status
        self.stderr = stderr


@dataclass(frozen=True)
class Sample:
    """One run of one program.

    Attributes:
        wall_seconds: From just before the process is created until it is reaped.
        cpu_seconds: User and system time of the process and the children that it waited for.
        peak_rss_bytes: The largest resident set of any one of them. The kernel counts this
            program's own from before the exec, so smaller values than that never show.
        stdout_bytes: How much it printed.
    """

    wall_seconds: float
    cpu_seconds: float
    peak_rss_bytes: int
    stdout_bytes: int


def find_program(name: str) -> str:
    """The path of the program `name`, also from the system folders that a user's PATH lacks.

    Raises:
        BenchError: When it isn't installed.
    """
    places = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
    found = shutil.which(name, path=places)
    if found is None:
        raise BenchError(f"{name} is needed and not installed")
    return found


def measure(argv: Sequence[str]) -> Sample:
    """Run `argv` once, with output kept off the terminal, and return what it cost.

    Raises:
        CommandError: When it can't be started or ends with anything but status 0.
    """
    # An installed program has its bytecode; from a source tree it may be written at the first run.
    environment = {name: value for name, value in os.environ.items() if name not in _NO_BYTECODE}
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        started = time.perf_counter()
        try:
            process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, env=environment
            )
        except OSError as error:
            raise CommandError(argv, error.errno or 1, str(error)) from error
        try:
            # Not Popen.wait(): only wait4 tells this one child's usage.
            _, wait_status, usage = os.wait4(process.pid, 0)
        except BaseException:  # an interrupt: what still runs would write on, unseen
            process.kill()
            process.wait()
            raise
        wall_seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(wait_status)
        if process.returncode != 0:
            stderr.seek(0)
            text = stderr.read().decode(errors="replace").strip()
            raise CommandError(argv, process.returncode, text[-_STDERR_TAIL_CHARS:])
        return Sample(
            wall_seconds=wall_seconds,
            cpu_seconds=usage.ru_utime + usage.ru_stime,
            peak_rss_bytes=usage.ru_maxrss * _MAXRSS_UNIT_BYTES,
            stdout_bytes=os.fstat(stdout.fileno()).st_size,
        )


def run(argv: Sequence[str]) -> None:
    """Run `argv` where its cost doesn't matter.

    Raises:
        CommandError: As `measure` does.
    """
    measure(argv)
