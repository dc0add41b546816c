"""One opened image: its state, what was found about it, and what is selected of it.

An image is opened in two steps, both beside the window: inspecting it, which is quick and shows
everything but two numbers, and reading its mapping tables, which may take a while.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from qcowgui.engine.work import CancelToken, Failed, Outcome
from qcowgui.errors import QcowError
from qcowgui.format import describe
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
from qcowgui.image.inspect import ImageReport, inspect
from qcowgui.image.references import Reference, backing_reference, data_file_reference
from qcowgui.image.source import FileSource
from qcowgui.image.summary import MappingSummary, summarise_mapping


class SessionState(Enum):
    """How far an image is."""

    LOADING = auto()
    READY = auto()
    FAILED = auto()


class MappingState(Enum):
    """Whether the mapping tables were read."""

    UNREAD = auto()
    """Not: the header allows no mapping, or the reading was cancelled."""
    READING = auto()
    READ = auto()
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
    references = tuple(map(_reference_state, image_references(report)))
    return Inspected(report, references, image_structures(report, references))


def image_references(report: ImageReport) -> list[Reference]:
    """The files that the image names and that reading its guest data needs. Opens nothing."""
    found = (backing_reference(report), data_file_reference(report))
    return [reference for reference in found if reference is not None]


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
        mapping_state: Whether the mapping tables were read; UNREAD until `state` is READY.
        mapping: What they amount to, when `mapping_state` is READ.
        mapping_error: Why they could not be read, when `mapping_state` is FAILED.
        findings: Everything noticed so far, worst first.

    Signals:
        changed: `state` is another, or the image was read again.
        mapping_changed: `mapping_state` is another, while `state` stays.
        selection_changed: `selection` is another.
    """

    changed = Signal()
    mapping_changed = Signal()
    selection_changed = Signal()

    def __init__(
        self, path: str | os.PathLike[str], runner: BackgroundRunner, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.path = Path(path).absolute()
        self.state = SessionState.LOADING
        self.inspected: Inspected | None = None
        self.error: QcowError | None = None
        self.mapping_state = MappingState.UNREAD
        self.mapping: MappingSummary | None = None
        self.mapping_error: QcowError | None = None
        self.findings: tuple[Finding, ...] = ()
        self._runner = runner
        self._selection = Selection(StructureKey.HEADER)
        self._token = CancelToken()

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

    def looked_at(self) -> str:
        """What opening the image has looked at, and what not; for sentences that claim no more."""
        match self.mapping_state:
            case MappingState.READ:
                text = self.tr(
                    "The header, its extensions, the tables it names directly and the active"
                    " mapping tables were looked at; {unseen} were not."
                )
            case MappingState.READING:
                text = self.tr(
                    "The header, its extensions and the tables it names directly were looked at;"
                    " the mapping tables are being read, {unseen} are not."
                )
            case MappingState.UNREAD | MappingState.FAILED:
                text = self.tr(
                    "The header, its extensions and the tables it names directly were looked at;"
                    " {unseen} were not."
                )
        seen = self.mapping_state in (MappingState.READ, MappingState.READING)
        text = text.format(unseen=describe.unseen_text(mapping_read=seen))
        if self.mapping_error is not None:
            failed = self.tr("Reading the mapping tables failed: {reason}.")
            text += " " + failed.format(reason=self.mapping_error.message)
        return text

    def load(self) -> None:
        """Read the file, again where it was read before. Returns at once."""
        self.abandon()
        token = self._token = CancelToken()
        self.state = SessionState.LOADING
        self.changed.emit()

        def finished(outcome: Outcome, inspected: Inspected | None) -> None:
            if token is self._token:  # or a later load, or a closed tab, has overtaken it
                self._take(outcome, inspected)

        self._runner.submit(_Inspection(self.path), finished, token=token)

    def abandon(self) -> None:
        """Read no further and take no more results: the tab was closed."""
        self._token.cancel()
        self._token = CancelToken()

    def _take(self, outcome: Outcome, inspected: Inspected | None) -> None:
        self.inspected, self.error = inspected, None
        self.state = SessionState.READY if inspected else SessionState.FAILED
        self.findings = inspected.report.findings if inspected else ()
        self.mapping, self.mapping_error = None, None
        self.mapping_state = MappingState.UNREAD
        if isinstance(outcome, Failed):
            if not isinstance(outcome.error, QcowError):
                raise outcome.error
            self.error = outcome.error
        if self.structure(self._selection.structure) is None:
            self._selection = Selection(StructureKey.HEADER)
        if inspected is not None and _has_mapping(inspected.report):
            self._read_mapping(inspected.report)
        self.changed.emit()

    def _read_mapping(self, report: ImageReport) -> None:
        """Start to read the mapping tables; the token is that of the load they belong to."""
        token = self._token
        self.mapping_state = MappingState.READING

        def finished(outcome: Outcome, mapping: MappingSummary | None) -> None:
            if token is self._token:
                self._take_mapping(outcome, mapping)

        self._runner.submit(_MappingCount(self.path, report), finished, token=token)

    def _take_mapping(self, outcome: Outcome, mapping: MappingSummary | None) -> None:
        self.mapping = mapping
        self.mapping_state = MappingState.READ if mapping else MappingState.UNREAD
        if mapping is not None:
            found = [*self.findings, *mapping.findings()]
            self.findings = tuple(sorted(found, key=lambda finding: -finding.severity))
        if isinstance(outcome, Failed):
            self.mapping_state = MappingState.FAILED
            if not isinstance(outcome.error, QcowError):
                self.mapping_changed.emit()
                raise outcome.error
            self.mapping_error = outcome.error
        self.mapping_changed.emit()


def _has_mapping(report: ImageReport) -> bool:
    return report.header.geometry is not None and not report.mapping_refusals


@dataclass(frozen=True, slots=True)
class _Inspection:
    """The work of `Session.load`; refers to nothing of Qt."""

    path: Path

    def __call__(self, token: CancelToken) -> Inspected:
        token.raise_if_cancelled()
        return inspect_image(self.path)


@dataclass(frozen=True, slots=True)
class _MappingCount:
    """The work that follows; refers to nothing of Qt."""

    path: Path
    report: ImageReport

    def __call__(self, token: CancelToken) -> MappingSummary:
        with FileSource(self.path) as source:
            return summarise_mapping(source, self.report, token=token)
