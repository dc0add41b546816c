"""Standard input, output and error as they may be found: closed, full, or left by the reader."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Final, TextIO

_NAMES: Final = ("stdin", "stdout", "stderr")


def prepare() -> None:
    """Make all three usable. To be called before any file is opened.

    A closed one is opened on the null device: its number must not go to an image or a target, into
    which messages would then be written.
    """
    for number, name in enumerate(_NAMES):
        _occupy(number)
        if getattr(sys, name) is None:
            mode = "w" if number else "r"
            stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115  as long as the process
            setattr(sys, name, stream)
    # Names of files may hold bytes that are no text, and a terminal may know few characters.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _occupy(number: int) -> None:
    """Open the null device as file descriptor `number` if that is closed; lower ones are open."""
    try:
        os.fstat(number)
    except OSError:
        # The system gives out the lowest number that is free.
        opened = os.open(os.devnull, os.O_RDWR)
        os.set_inheritable(opened, True)


def settle(*, drop: bool = False) -> None:
    """Write what is buffered; what can't be written goes nowhere.

    Otherwise the interpreter would try again when it ends, and change the exit status.

    Args:
        drop: Write nothing more to standard output, whose reader may have stopped reading.
    """
    if drop:
        _discard(sys.stdout)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            _discard(stream)


def _discard(stream: TextIO) -> None:
    """Let what `stream` holds, and all that follows, go to the null device."""
    # OSError: no descriptors are left, or the stream is none of the system's.
    with contextlib.suppress(OSError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
        stream.flush()
