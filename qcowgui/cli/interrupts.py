"""Signals that ask the program to stop: Ctrl-C, SIGTERM, SIGHUP.

Python raises KeyboardInterrupt between any two instructions. While an extension module starts, that
ends badly: Qt's bindings abort the process, or swallow the exception so that the work goes on.
So these signals are only noted while modules are imported, and answered afterwards. Handlers do
that on every system; a signal mask would be inherited by threads that an import starts.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from types import FrameType

    from qcowgui.engine.work import CancelToken

_NAMES: Final = ("SIGINT", "SIGTERM", "SIGHUP")


def _heeded() -> list[signal.Signals]:
    """Those signals that exist here and are not ignored, as SIGHUP is under nohup."""
    known = [signal.Signals[name] for name in _NAMES if hasattr(signal, name)]
    # None: a handler that isn't Python's, which could not be put back.
    return [number for number in known if signal.getsignal(number) not in (signal.SIG_IGN, None)]


@contextmanager
def redirected(handler: Callable[[int], None]) -> Iterator[None]:
    """While the body runs, call `handler` with the number of a signal instead of its own handler.

    Does nothing outside the main thread, where Python sees no signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, frame: FrameType | None) -> None:
        del frame
        handler(number)

    before = {number: signal.getsignal(number) for number in _heeded()}
    try:
        for number in before:
            signal.signal(number, handle)
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


@contextmanager
def cancelling(token: CancelToken) -> Iterator[None]:
    """Let the signals set `token` while the body runs, so that nothing is left behind.

    A request, and no exception: that could come between the making of a file and the note that it
    must go. Ctrl-C once more raises KeyboardInterrupt, for what doesn't come to look.
    """

    def cancel(number: int) -> None:
        if number == signal.SIGINT and token.cancelled:
            raise KeyboardInterrupt
        token.cancel()

    with redirected(cancel):
        yield


@contextmanager
def held_back() -> Iterator[None]:
    """Signals that arrive while the body runs take effect at its end."""
    arrived: list[int] = []
    try:
        with redirected(arrived.append):
            yield
    finally:
        for number in dict.fromkeys(arrived):
            signal.raise_signal(number)


def ignore() -> None:
    """Ignore the signals from now on: the exit status is settled, and the process is leaving."""
    if threading.current_thread() is threading.main_thread():
        for number in _heeded():
            signal.signal(number, signal.SIG_IGN)
