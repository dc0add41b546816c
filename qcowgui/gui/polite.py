"""Workers that leave the window its share: work on every core must not make it stutter."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import Final

from qcowgui.engine.qpool import QPoolExecutor
from qcowgui.engine.work import CancelToken, RunningWork, Worker

_NICENESS: Final = 10
"""With a worker on each core, the window's thread has nine parts of ten of a core while it needs
one, instead of half. On two busy cores it then waited 23 to 68 ms at worst instead of 93 to 132
(2026-11-30); with nothing else to run, the workers lose nothing."""


class PoliteExecutor(QPoolExecutor):
    """An executor whose threads step back where the system schedules threads one by one."""

    def start(self, worker: Worker, token: CancelToken) -> RunningWork:
        """Start `worker(worker_index)` once per thread, as QPoolExecutor does."""

        def polite(worker_index: int) -> None:
            step_back()
            worker(worker_index)

        return super().start(polite, token)


def step_back() -> None:
    """Give this thread a low priority, for as long as it lives. Only Linux has that."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # a container may forbid it
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
