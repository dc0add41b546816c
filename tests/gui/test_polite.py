"""Workers that step back."""

from __future__ import annotations

import os
import sys
import threading

from qcowgui.engine.work import CancelToken, Done
from qcowgui.gui.polite import PoliteExecutor

_LINUX = sys.platform == "linux"


def niceness() -> int:
    """Of this thread, where threads have one."""
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id() if _LINUX else 0)


def test_workers_step_back_and_nobody_else() -> None:
    before = niceness()
    found: dict[int, int] = {}

    def worker(index: int) -> None:
        found[index] = niceness()

    with PoliteExecutor(2) as executor:
        outcome = executor.start(worker, CancelToken()).wait(10)
    assert isinstance(outcome, Done)
    wanted = max(before, 10) if _LINUX else before
    assert found == {0: wanted, 1: wanted}
    assert niceness() == before
