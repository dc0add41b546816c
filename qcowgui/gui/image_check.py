"""The check of one open image, run beside the window: started, followed, stopped."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

import numpy as np
from PySide6.QtCore import QObject, Signal

from qcowgui.check.cells import Cells
from qcowgui.check.checker import CheckReport
from qcowgui.check.roles import Role
from qcowgui.engine.work import CancelledOutcome, CancelToken, Counter, Failed, Outcome
from qcowgui.errors import QcowError
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.opening import Checked, CheckWork
from qcowgui.gui.polite import PoliteExecutor
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.units import ceil_div

_ENTRIES_PER_STEP: Final = 8192
"""Of L2 entries: after so many a check counts a step."""
_METADATA_SHARE: Final = 0.2
"""Of a deep check's time, before it decodes: what a bar that moves evenly needs."""
_PROGRESS_STEPS: Final = 100
_PROGRESS_SECONDS: Final = 0.1
"""Progress is told so finely and so often at most: each time, views are laid out anew."""


class CheckState(Enum):
    """How far the check of an image is."""

    NONE = auto()
    """Not begun: the image is not there yet, or is no image."""
    RUNNING = auto()
    DONE = auto()
    FAILED = auto()
    CANCELLED = auto()


@dataclass(frozen=True, slots=True)
class _Run:
    """A check on its way.

    Attributes:
        work: What is run.
        token: Stops it.
        steps: About how often it counts a step.
        payload_bytes: About how much it decodes.
    """

    work: CheckWork
    token: CancelToken
    steps: int
    payload_bytes: int

    @property
    def progress(self) -> float:
        """0 to 1, as far as that can be told."""
        done = min(1.0, self.work.steps.value / max(1, self.steps))
        if not self.work.deep or not self.payload_bytes:
            return done
        decoded = min(1.0, self.work.decoded.value / self.payload_bytes)
        return _METADATA_SHARE * done + (1 - _METADATA_SHARE) * decoded


class ImageCheck(QObject):
    """Checks one image, at most once at a time. Belongs to the GUI's thread.

    Attributes:
        state: How far it is.
        report: What the last check that was done found; also while another one runs.
        error: Why it failed, when `state` is FAILED.
        states: uint8: a `ClusterState` of each host cluster; empty until a check was done.

    Signals:
        changed: One of these is another.
        progressed: A check that runs has come on.
    """

    changed = Signal()
    progressed = Signal()

    def __init__(self, runner: BackgroundRunner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = CheckState.NONE
        self.report: CheckReport | None = None
        self.error: QcowError | None = None
        self.states = no_cells()
        self._runner = runner
        self._run: _Run | None = None
        self._told = -1, 0.0
        runner.pulled.connect(self._pulled)

    @property
    def progress(self) -> float | None:
        """How far the running check is, 0 to 1; None when none runs."""
        return None if self._run is None else self._run.progress

    def reset(self) -> None:
        """Forget everything: another image follows, or none. Says nothing of it."""
        self._drop()
        self.state = CheckState.NONE
        self.report, self.error, self.states = None, None, no_cells()

    def abandon(self) -> None:
        """Stop a check that runs, and say nothing of it: its image is closed or read again."""
        if self._run is not None:
            self._drop()
            self.state = CheckState.CANCELLED

    def start(self, source: ByteSource, image: ImageReport, *, deep: bool) -> None:
        """Check an image; a check that runs is cancelled.

        Args:
            source: The image; stays open for as long as the result is in use.
            image: What an open says of it.
            deep: Whether compressed clusters are decoded.

        Raises:
            QcowError: When the system lets this process start no thread.
        """
        self._drop()
        executor = PoliteExecutor() if deep else None
        work = CheckWork(source, image, deep, executor, Counter(), Counter())
        run = _Run(work, CancelToken(), _expected_steps(image), self._payload_bytes())

        def finished(outcome: Outcome, checked: Checked | None) -> None:
            if executor is not None:
                executor.close()  # its workers have returned
            if run is self._run:
                self._run = None
                self._take(outcome, checked)

        self._runner.submit(work, finished, token=run.token)
        self._run = run
        self.state, self.error = CheckState.RUNNING, None
        self.changed.emit()

    def cancel(self) -> None:
        """Stop a check that runs; what an earlier one found stays."""
        if self._run is not None:
            self._drop()
            self.state = CheckState.CANCELLED
            self.changed.emit()

    def _drop(self) -> None:
        if self._run is not None:
            self._run.token.cancel()
            self._run = None

    def _take(self, outcome: Outcome, checked: Checked | None) -> None:
        error = outcome.error if isinstance(outcome, Failed) else None
        if checked is not None:
            self.state = CheckState.DONE
            self.report, self.states = checked.report, checked.states
        elif isinstance(outcome, CancelledOutcome):
            self.state = CheckState.CANCELLED
        else:
            self.state = CheckState.FAILED
            self.error = error if isinstance(error, QcowError) else None
        self.changed.emit()
        if error is not None and not isinstance(error, QcowError):
            raise error

    def _payload_bytes(self) -> int:
        if self.report is None:
            return 0
        clusters = self.report.role_clusters.get(Role.COMPRESSED, 0)
        return clusters * self.report.ownership.cluster_bytes

    def _pulled(self) -> None:
        if self._run is None:
            return
        step, now = int(self._run.progress * _PROGRESS_STEPS), time.monotonic()
        told_step, told_at = self._told
        if step != told_step and now - told_at >= _PROGRESS_SECONDS:
            self._told = step, now
            self.progressed.emit()


def no_cells() -> Cells:
    """States of nothing."""
    return np.zeros(0, dtype=np.uint8)


def _expected_steps(image: ImageReport) -> int:
    """About how often a check counts a step: once for a window of L2 entries."""
    geometry = image.header.geometry
    if geometry is None:
        return 1
    return ceil_div(geometry.clusters(image.virtual_bytes), _ENTRIES_PER_STEP)
