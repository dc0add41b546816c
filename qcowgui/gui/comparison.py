"""Making an overlay of the guest's disk beside the window: started, followed, stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from qcowgui.convert.differences import find_differences, unit_for
from qcowgui.engine.work import (
    CancelledOutcome,
    CancelToken,
    Counter,
    Executor,
    Failed,
    Outcome,
)
from qcowgui.errors import QcowError, ReferencedFileError
from qcowgui.gui.background import Work
from qcowgui.gui.overlays import BitmapWork, Overlay, SnapshotWork, difference_overlay
from qcowgui.gui.polite import PoliteExecutor
from qcowgui.gui.session import Session
from qcowgui.image.chain import open_image
from qcowgui.image.references import Gate, Reference

_Ended = Callable[[], tuple[Reference, ...]]
"""Called when work has ended: gives back what it used, and tells which files it was refused."""


class OverlayState(Enum):
    """How far an overlay is."""

    NONE = auto()
    RUNNING = auto()
    DONE = auto()
    FAILED = auto()
    CANCELLED = auto()


@dataclass(frozen=True, slots=True)
class CompareWork:
    """Compares what a guest reads from two images. Refers to nothing of Qt's widgets or signals.

    Attributes:
        left: One image.
        right: The other.
        gate: Which files they refer to may be opened.
        executor: What reads and decodes.
        unit_bytes: The size of a cluster on the map.
        size: Gets the bytes that there are to compare.
        done: Counts those that were.
    """

    left: Path
    right: Path
    gate: Gate
    executor: Executor
    unit_bytes: int
    size: Counter = field(default_factory=Counter)
    done: Counter = field(default_factory=Counter)

    def __call__(self, token: CancelToken) -> Overlay:
        """The overlay.

        Raises:
            ImageError: When one of the two has no guest data that could be read.
            ReferencedFileError: When one needs a file that the gate does not allow.
            SourceError: When the operating system refuses a read, or when one was written
                meanwhile: the answer would be that of no moment.
            Cancelled: When the token was set.
        """
        token.raise_if_cancelled()
        with (
            open_image(self.left, gate=self.gate, salvage=True) as left,
            open_image(self.right, gate=self.gate, salvage=True) as right,
        ):
            size_bytes = max(left.size_bytes, right.size_bytes)
            self.size.add(size_bytes)
            found = find_differences(
                left,
                right,
                self.executor,
                unit_bytes=unit_for(self.unit_bytes, size_bytes),
                token=token,
                counter=self.done,
            )
            left.require_unchanged()
            right.require_unchanged()
        return difference_overlay(found, left=self.left.name, right=self.right.name)


class OverlayLoader(QObject):
    """Makes one overlay at a time. Belongs to the GUI's thread.

    Attributes:
        state: How far it is.
        overlay: The last one that was made; None while another one is being made.
        error: Why it failed, when `state` is FAILED.
        refused: The files that would have been needed and were not allowed.
        other: The image that is compared with, or None.

    Signals:
        changed: One of these is another.
        progressed: What runs has come on.
    """

    changed = Signal()
    progressed = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._token: CancelToken | None = None
        self._compare: CompareWork | None = None
        self.state = OverlayState.NONE
        self.overlay: Overlay | None = None
        self.error: QcowError | None = None
        self.refused: tuple[Reference, ...] = ()
        self.other: Path | None = None
        session.runner.pulled.connect(self._pulled)

    @property
    def progress(self) -> float | None:
        """How far a comparison is, 0 to 1; None when none runs, or none can tell."""
        if self._compare is None or not self._compare.size.value:
            return None
        return min(1.0, self._compare.done.value / self._compare.size.value)

    def compare_with(self, path: Path) -> None:
        """Find where the image at `path` differs. What it refers to is opened only if allowed.

        Raises:
            QcowError: When the system lets this process start no thread.
        """
        inspected = self._session.inspected
        geometry = inspected.report.header.geometry if inspected else None
        if geometry is None:
            return
        executor = PoliteExecutor()
        gate = self._session.permissions.gate()
        work = CompareWork(
            self._session.path, path.absolute(), gate, executor, geometry.cluster_bytes
        )

        def ended() -> tuple[Reference, ...]:
            executor.close()  # its workers have returned
            return tuple(gate.refused)

        self._start(work, ended)
        self._compare, self.other = work, path.absolute()
        self.changed.emit()

    def compare_again(self) -> None:
        """Compare once more, as after files were allowed."""
        if self.other is not None:
            self.compare_with(self.other)

    def show_snapshot(self, index: int) -> None:
        """Find what only a snapshot holds; `index` is its place in the report's list."""
        inspected, source = self._session.inspected, self._session.source
        if inspected is not None and source is not None:
            snapshot = inspected.report.snapshots[index]
            self._start(SnapshotWork(source, inspected.report, snapshot), tuple)
            self.changed.emit()

    def show_bitmap(self, index: int) -> None:
        """Find what a bitmap marks; `index` is its place in the report's list."""
        inspected, source = self._session.inspected, self._session.source
        if inspected is not None and source is not None:
            bitmap = inspected.report.bitmaps[index]
            self._start(BitmapWork(source, inspected.report, bitmap), tuple)
            self.changed.emit()

    def stop(self) -> None:
        """Stop what runs."""
        if self._token is not None:
            self._drop()
            self.state = OverlayState.CANCELLED
            self.changed.emit()

    def clear(self) -> None:
        """Stop what runs and forget what was made."""
        self._drop()
        self.overlay, self.error, self.refused, self.other = None, None, (), None
        self.state = OverlayState.NONE
        self.changed.emit()

    def abandon(self) -> None:
        """Take no more results, and say nothing of it: the tab is being closed."""
        self._drop()

    def _drop(self) -> None:
        self._compare = None
        if self._token is not None:
            self._token.cancel()
            self._token = None

    def _start(self, work: Work[Overlay], ended: _Ended) -> None:
        self._drop()
        token = CancelToken()

        def finished(outcome: Outcome, overlay: Overlay | None) -> None:
            refused = ended()
            if token is self._token:
                self._token = self._compare = None
                self._take(outcome, overlay, refused)

        self._session.runner.submit(work, finished, token=token)
        self._token = token
        self.state, self.overlay, self.error = OverlayState.RUNNING, None, None
        self.refused, self.other = (), None

    def _take(
        self, outcome: Outcome, overlay: Overlay | None, refused: tuple[Reference, ...]
    ) -> None:
        error = outcome.error if isinstance(outcome, Failed) else None
        self.overlay = overlay
        if overlay is not None:
            self.state = OverlayState.DONE
        elif isinstance(outcome, CancelledOutcome):
            self.state = OverlayState.CANCELLED
        else:
            self.state = OverlayState.FAILED
            self.error = error if isinstance(error, QcowError) else None
            if isinstance(error, ReferencedFileError) and error.reason == "denied":
                self.refused = refused
        self.changed.emit()
        if error is not None and not isinstance(error, QcowError):
            raise error

    def _pulled(self) -> None:
        if self._token is not None:
            self.progressed.emit()
