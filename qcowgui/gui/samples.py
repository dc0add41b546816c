"""The sample images of a window: made when somebody asks for one, gone with the window."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from qcowgui.convert.samples import DAMAGED, HEALTHY, ZLIB, make_samples
from qcowgui.engine.qpool import QPoolExecutor
from qcowgui.engine.work import CancelToken, Executor, Failed, Outcome
from qcowgui.errors import QcowError
from qcowgui.gui.background import BackgroundRunner


class Sample(Enum):
    """The samples that are offered; the values are the files' names."""

    HEALTHY = HEALTHY
    COMPRESSED = ZLIB
    DAMAGED = DAMAGED


@dataclass(frozen=True, slots=True)
class _Making:
    """The work; refers to nothing of Qt's widgets or signals."""

    folder: Path
    executor: Executor

    def __call__(self, token: CancelToken) -> Path:
        make_samples(self.folder, self.executor, token=token)
        return self.folder


class SampleImages(QObject):
    """Makes all samples on the first request, beside the window. Belongs to the GUI's thread.

    Signals:
        busy_changed: Whether they are being made.
        ready: A sample that was asked for is there: its path.
        failed: They could not be made: a QcowError.
    """

    busy_changed = Signal(bool)
    ready = Signal(object)
    failed = Signal(object)

    def __init__(self, runner: BackgroundRunner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runner = runner
        self._holder: tempfile.TemporaryDirectory[str] | None = None
        self._folder: Path | None = None
        self._wanted: Sample | None = None

    def request(self, sample: Sample) -> None:
        """Ask for a sample: `ready` follows, at once when they are there already."""
        if self._folder is not None and (self._folder / sample.value).exists():
            self.ready.emit(self._folder / sample.value)
            return
        making = self._wanted is not None
        self._wanted = sample
        if not making:
            self._make()

    def clean_up(self) -> None:
        """Remove the samples; images that are open still can be read."""
        if self._holder is not None:
            self._holder.cleanup()
        self._holder = self._folder = None

    def _make(self) -> None:
        self.clean_up()
        try:
            self._holder = tempfile.TemporaryDirectory(
                prefix="qcowgui-samples-", ignore_cleanup_errors=True
            )
        except OSError as error:
            self._wanted = None
            self.failed.emit(QcowError(f"The samples need a temporary folder: {error.strerror}"))
            return
        executor = QPoolExecutor()
        work = _Making(Path(self._holder.name), executor)

        def finished(outcome: Outcome, folder: Path | None) -> None:
            executor.close()  # its workers have returned
            self._take(outcome, folder)

        self._runner.submit(work, finished)
        self.busy_changed.emit(True)

    def _take(self, outcome: Outcome, folder: Path | None) -> None:
        wanted, self._wanted = self._wanted, None
        self._folder = folder
        self.busy_changed.emit(False)
        if folder is not None and wanted is not None:
            self.ready.emit(folder / wanted.value)
        elif isinstance(outcome, Failed):
            if not isinstance(outcome.error, QcowError):
                raise outcome.error
            self.failed.emit(outcome.error)
