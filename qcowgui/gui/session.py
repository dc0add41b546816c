"""One opened image: its state, what inspecting it found, and what is selected of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from qcowgui.engine.work import CancelToken, Failed, Outcome
from qcowgui.errors import QcowError
from qcowgui.format.finding import Finding
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.structure_tables import ReferenceState
from qcowgui.gui.structures import (
    Selection,
    Structure,
    StructureKey,
    image_structures,
    locate,
)
from qcowgui.image.chain import backing_reference
from qcowgui.image.inspect import ImageReport, inspect
from qcowgui.image.references import Reference, resolve_reference


class SessionState(Enum):
    """How far an image is."""

    LOADING = auto()
    READY = auto()
    FAILED = auto()


@dataclass(frozen=True, slots=True)
class Inspected:
    """What opening an image gives: all of it immutable, made outside the GUI's thread.

    Attributes:
        report: What inspecting the file found.
        references: The files it names; they were looked at, not opened.
        structures: The tables.
    """

    report: ImageReport
    references: tuple[ReferenceState, ...]
    structures: tuple[Structure, ...]


def inspect_image(path: Path) -> Inspected:
    """Inspect the image at `path`. May take as long as the disk does; any thread may call.

    Raises:
        NotQcow2Error: When the file is something else.
        SourceError: When it can't be opened or read.
    """
    report = inspect(path)
    references = tuple(map(_reference_state, image_references(report, path)))
    return Inspected(report, references, image_structures(report, references))


def image_references(report: ImageReport, path: Path) -> list[Reference]:
    """The files that the image names and that reading its guest data needs. Opens nothing."""
    references = []
    backing = backing_reference(report, path)
    if backing is not None:
        references.append(backing)
    if report.header.has_data_file and report.data_file_name_raw:
        name = os.fsdecode(report.data_file_name_raw)
        references.append(resolve_reference("data file", name, path))
    return references


def _reference_state(reference: Reference) -> ReferenceState:
    if reference.path is None:
        return ReferenceState(reference, None)
    return ReferenceState(reference, os.path.lexists(reference.path))


class Session(QObject):
    """An image that is open in a tab. Belongs to the GUI's thread.

    Attributes:
        path: The file, absolute.
        state: How far it is.
        inspected: What was found, when `state` is READY.
        error: Why there is nothing, when `state` is FAILED.

    Signals:
        changed: `state` is another, or the image was read again.
        selection_changed: `selection` is another.
    """

    changed = Signal()
    selection_changed = Signal()

    def __init__(
        self, path: str | os.PathLike[str], runner: BackgroundRunner, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.path = Path(path).absolute()
        self.state = SessionState.LOADING
        self.inspected: Inspected | None = None
        self.error: QcowError | None = None
        self._runner = runner
        self._selection = Selection(StructureKey.HEADER)
        self._load_number = 0

    @property
    def selection(self) -> Selection:
        """What is selected, everywhere."""
        return self._selection

    def select(self, selection: Selection) -> None:
        """Select something, everywhere."""
        if selection != self._selection:
            self._selection = selection
            self.selection_changed.emit()

    def select_finding(self, finding: Finding) -> bool:
        """Select what `finding` is about; False when no table shows that place."""
        if self.inspected is None:
            return False
        selection = locate(self.inspected.structures, finding)
        if selection is None:
            return False
        self.select(selection)
        return True

    def structure(self, key: StructureKey) -> Structure | None:
        """The structure called `key`, when the image has it."""
        structures = self.inspected.structures if self.inspected else ()
        return next((found for found in structures if found.key is key), None)

    def load(self) -> None:
        """Read the file, again where it was read before. Returns at once."""
        self._load_number += 1
        number, path = self._load_number, self.path
        self.state = SessionState.LOADING
        self.changed.emit()

        def finished(outcome: Outcome, inspected: Inspected | None) -> None:
            if number == self._load_number:  # or a later load, or a closed tab, has overtaken it
                self._take(outcome, inspected)

        self._runner.submit(_Inspection(path), finished)

    def abandon(self) -> None:
        """Take no more results: the tab was closed."""
        self._load_number += 1

    def _take(self, outcome: Outcome, inspected: Inspected | None) -> None:
        self.inspected, self.error = inspected, None
        self.state = SessionState.READY if inspected else SessionState.FAILED
        if isinstance(outcome, Failed):
            if not isinstance(outcome.error, QcowError):
                raise outcome.error
            self.error = outcome.error
        if self.structure(self._selection.structure) is None:
            self._selection = Selection(StructureKey.HEADER)
        self.changed.emit()


@dataclass(frozen=True, slots=True)
class _Inspection:
    """The work of `Session.load`; refers to nothing of Qt."""

    path: Path

    def __call__(self, token: CancelToken) -> Inspected:
        token.raise_if_cancelled()
        return inspect_image(self.path)
