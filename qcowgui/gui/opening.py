"""The work of a session, done beside the window: opening, counting, checking, turning round.

Plain callables that refer to nothing of Qt's widgets or signals.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from qcowgui.check.cells import MAX_CELLS, Cells
from qcowgui.check.checker import CheckReport, check_image
from qcowgui.check.clustermap import states_of
from qcowgui.check.guestmap import guest_states
from qcowgui.engine.work import CancelToken, Counter, Executor
from qcowgui.errors import QcowError, SourceError
from qcowgui.gui.host_index import HostIndex, build_host_index
from qcowgui.gui.structure_tables import ReferenceState
from qcowgui.gui.structures import Structure, image_structures
from qcowgui.image.inspect import ImageReport, inspect, inspect_source
from qcowgui.image.locks import LockState, Usage, probe_path
from qcowgui.image.mapping import GuestMapping
from qcowgui.image.references import Reference, backing_reference, data_file_reference
from qcowgui.image.source import ByteSource, FileSource
from qcowgui.image.summary import MappingSummary, summarise_mapping


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


@dataclass(frozen=True, slots=True)
class Signature:
    """What tells whether a file is still what was opened.

    Attributes:
        identity: Device and inode: another file may have taken its name.
        size_bytes: Its length.
        modified_ns: Time of its last change.
    """

    identity: tuple[int, int]
    size_bytes: int
    modified_ns: int


class HeldSource(FileSource):
    """A file that is closed when nobody refers to it any more.

    Views and work in other threads share it: whoever closed it could take it from one that reads,
    and the number of its descriptor may be another file's by then.
    """

    _closed = True  # until it is open

    def __del__(self) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that is open, and what it is.

    Attributes:
        source: The file.
        signature: What it was like when it was opened.
        usage: Whether somebody else uses it.
        inspected: What was found, when it is an image.
        error: Why there is nothing, when it is none.
    """

    source: FileSource
    signature: Signature
    usage: LockState
    inspected: Inspected | None
    error: QcowError | None


def inspect_image(path: Path) -> Inspected:
    """Inspect the image at `path`. May take as long as the disk does; any thread may call.

    Raises:
        NotQcow2Error: When the file is something else.
        SourceError: When it can't be opened or read.
    """
    return _inspected(inspect(path))


def image_references(report: ImageReport) -> list[Reference]:
    """The files that the image names and that reading its guest data needs. Opens nothing."""
    found = (backing_reference(report), data_file_reference(report))
    return [reference for reference in found if reference is not None]


def signature_of(path: Path) -> Signature:
    """What the file at `path` is like now.

    Raises:
        OSError: When it can't be looked at.
    """
    status = path.stat()
    return Signature((status.st_dev, status.st_ino), status.st_size, status.st_mtime_ns)


def has_mapping(report: ImageReport) -> bool:
    """Whether the header allows to read the mapping tables."""
    return report.header.geometry is not None and not report.mapping_refusals


def _inspected(report: ImageReport) -> Inspected:
    references = tuple(map(_reference_state, image_references(report)))
    return Inspected(report, references, image_structures(report, references))


def _reference_state(reference: Reference) -> ReferenceState:
    if reference.path is None:
        return ReferenceState(reference, None)
    return ReferenceState(reference, os.path.lexists(reference.path))


@dataclass(frozen=True, slots=True)
class OpenWork:
    """Opens and inspects a file. The source stays open, also when it is no image."""

    path: Path

    def __call__(self, token: CancelToken) -> Opened:
        """What is there.

        Raises:
            SourceError: When the file can't be opened.
        """
        token.raise_if_cancelled()
        usage = usage_of_path(self.path)
        source = HeldSource(self.path)
        try:
            signature = signature_of(self.path)
        except OSError as error:
            raise SourceError(
                f"{self.path} can't be looked at: {error.strerror}",
                path=str(self.path),
                errno=error.errno,
            ) from error
        inspected, failure = None, None
        try:
            inspected = _inspected(inspect_source(source))
        except QcowError as error:
            failure = error
        token.raise_if_cancelled()
        return Opened(source, signature, usage, inspected, failure)


def usage_of_path(path: Path) -> LockState:
    """Whether somebody else uses the file at `path`; UNKNOWN also when that can't be asked."""
    try:
        return probe_path(path)
    except SourceError as error:
        return LockState(Usage.UNKNOWN, f"may be in use: {error.message}")


@dataclass(frozen=True, slots=True)
class MappingWork:
    """Counts what the mapping tables amount to."""

    source: ByteSource
    report: ImageReport

    def __call__(self, token: CancelToken) -> MappingSummary:
        """The sums.

        Raises:
            SourceError: When the operating system refuses a read.
        """
        return summarise_mapping(self.source, self.report, token=token)


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check gives.

    Attributes:
        report: All that is wrong.
        states: uint8, a `ClusterState` for each of the first host clusters; see MAX_CELLS.
    """

    report: CheckReport
    states: Cells


@dataclass(frozen=True, slots=True)
class CheckWork:
    """Checks an image and judges its clusters.

    Attributes:
        source: The image; stays open for as long as the result is in use.
        report: What an open says of it.
        deep: Whether compressed clusters are decoded.
        executor: What decodes them, if they are.
        steps: Counts the steps through the mapping tables.
        decoded: Counts bytes of payloads.
    """

    source: ByteSource
    report: ImageReport
    deep: bool
    executor: Executor | None
    steps: Counter
    decoded: Counter

    def __call__(self, token: CancelToken) -> Checked:
        """The check's report and the states.

        Raises:
            SourceError: When the operating system refuses a read.
            Cancelled: When the token asks for it.
        """
        report = check_image(
            self.source,
            self.report,
            token=token,
            counter=self.decoded,
            executor=self.executor,
            deep=self.deep,
            tick=lambda: self.steps.add(1),
        )
        states = states_of(
            report.ownership,
            report.stored if report.stored is not None and report.stored.usable else None,
            file_bytes=self.source.size_bytes,
            last=min(report.ownership.clusters, MAX_CELLS),
            token=token,
        )
        return Checked(report, states)


@dataclass(frozen=True, slots=True)
class GuestStatesWork:
    """Judges the clusters of the guest's disk.

    Attributes:
        source: The image.
        report: What an open says of it.
        backing_bytes: Guest bytes that the backing file covers; 0 without one.
    """

    source: ByteSource
    report: ImageReport
    backing_bytes: int

    def __call__(self, token: CancelToken) -> Cells:
        """uint8, a `GuestState` for each of the first guest clusters; see MAX_CELLS.

        Raises:
            SourceError: When the operating system refuses a read.
            Cancelled: When the token asks for it.
        """
        mapping = active_mapping(self.source, self.report)
        has_data_file = self.report.header.has_data_file
        return guest_states(
            mapping,
            0,
            min(mapping.geometry.clusters(mapping.virtual_bytes), MAX_CELLS),
            data_bytes=None if has_data_file else self.source.size_bytes,
            backing_bytes=self.backing_bytes,
            token=token,
        )


@dataclass(frozen=True, slots=True)
class IndexWork:
    """Turns the mapping tables round.

    Attributes:
        source: The image.
        report: What an open says of it.
    """

    source: ByteSource
    report: ImageReport

    def __call__(self, token: CancelToken) -> HostIndex:
        """Which entries lead to each host cluster.

        Raises:
            SourceError: When the operating system refuses a read.
            Cancelled: When the token asks for it.
        """
        return build_host_index(self.source, self.report, token=token)


def active_mapping(source: ByteSource, report: ImageReport) -> GuestMapping:
    """The mapping of the active disk.

    Raises:
        SourceError: When the operating system refuses a read.
        ValueError: When the header allows no geometry.
    """
    header, geometry = report.header, report.header.geometry
    if geometry is None:
        raise ValueError("an image without a geometry has no mapping")
    return GuestMapping(
        source,
        geometry,
        version=header.version,
        l1_table_offset=header.l1_table_offset,
        l1_size=header.l1_size,
        virtual_bytes=report.virtual_bytes,
        has_data_file=header.has_data_file,
    )
