"""The work behind the conversion form: looking at the sources, and what is to be expected.

Plain callables that refer to nothing of Qt.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from qcowgui.convert.batch import Found, find_sources
from qcowgui.convert.file_system import file_system_of
from qcowgui.convert.outlook import outlook
from qcowgui.convert.warnings import Concern
from qcowgui.engine.work import CancelToken
from qcowgui.errors import QcowError, ReferencedFileError, SourceError
from qcowgui.format.snapshots import Snapshot
from qcowgui.gui.consent import Consent
from qcowgui.gui.opening import Inspected, Signature, inspect_image, signature_of
from qcowgui.image.chain import open_image, probe_format
from qcowgui.image.references import Reference
from qcowgui.image.source import FileSource

if TYPE_CHECKING:
    from qcowgui.convert.forecast import Forecast
    from qcowgui.convert.options import ConvertOptions
    from qcowgui.image.inspect import ImageReport

_REMOTE: Final = frozenset(
    {"9p", "afs", "ceph", "cifs", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs"}
)
_REMOTE_PREFIX: Final = "fuse."


@dataclass(frozen=True, slots=True)
class Looked:
    """What is known of a source before its conversion.

    Attributes:
        path: The file.
        format: "qcow2" or "raw".
        signature: What the file was like.
        virtual_bytes: Size of its disk.
        stored_bytes: About how much data it has: what the file takes on its disk.
        remote: Whether its file system may be slow: it lies on another machine, or is unknown.
        report: What inspecting it found; None for a raw file.
        references: The files that it names.
    """

    path: Path
    format: str
    signature: Signature
    virtual_bytes: int
    stored_bytes: int
    remote: bool
    report: ImageReport | None
    references: tuple[Reference, ...]

    @property
    def file_bytes(self) -> int:
        """The length of the file."""
        return self.signature.size_bytes

    @property
    def snapshots(self) -> tuple[Snapshot, ...]:
        """Its internal snapshots."""
        return tuple(self.report.snapshots) if self.report is not None else ()

    @property
    def bitmaps(self) -> int:
        """How many persistent bitmaps its directory lists."""
        return len(self.report.bitmaps) if self.report is not None else 0


@dataclass(frozen=True, slots=True)
class Unusable:
    """A source that can't be converted.

    Attributes:
        path: The file.
        error: Why.
    """

    path: Path
    error: QcowError


@dataclass(frozen=True, slots=True)
class LookWork:
    """Looks at files; nothing but their metadata is read.

    Attributes:
        paths: The files.
        inspected: What is known of one of them already.
    """

    paths: tuple[Path, ...]
    inspected: dict[Path, Inspected]

    def __call__(self, token: CancelToken) -> dict[Path, Looked | Unusable]:
        """What each of them is.

        Raises:
            Cancelled: When the token asks for it.
        """
        found: dict[Path, Looked | Unusable] = {}
        for path in self.paths:
            token.raise_if_cancelled()
            try:
                found[path] = _look(path, self.inspected.get(path))
            except QcowError as error:
                found[path] = Unusable(path, error)
        return found


@dataclass(frozen=True, slots=True)
class FindWork:
    """Looks for images among files and in folders.

    Attributes:
        paths: Files and folders.
    """

    paths: tuple[Path, ...]

    def __call__(self, token: CancelToken) -> Found:
        """The images, and what is none.

        Raises:
            Cancelled: When the token asks for it.
        """
        token.raise_if_cancelled()
        found = find_sources(self.paths)
        token.raise_if_cancelled()
        return found


@dataclass(frozen=True, slots=True)
class Planned:
    """A conversion of the form.

    Attributes:
        options: What it would do.
        consent: Which referenced files a person has agreed to open, and where they are.
        forecast: A forecast of its source, if there is one.
    """

    options: ConvertOptions
    consent: Consent
    forecast: Forecast | None = None


@dataclass(frozen=True, slots=True)
class OutlookWork:
    """Says what is to be known of conversions before they start. Nothing is written.

    Attributes:
        planned: The conversions.
    """

    planned: tuple[Planned, ...]

    def __call__(self, token: CancelToken) -> tuple[tuple[Concern, ...], ...]:
        """The concerns of each of them.

        Raises:
            Cancelled: When the token asks for it.
        """
        return tuple(_concerns(one, token) for one in self.planned)


def _concerns(planned: Planned, token: CancelToken) -> tuple[Concern, ...]:
    token.raise_if_cancelled()
    options = planned.options
    try:
        with open_image(
            options.source,
            format=options.source_format,
            gate=planned.consent.gate(),
            snapshot=options.snapshot,
            salvage=options.salvage,
        ) as source:
            return outlook(options, source, forecast=planned.forecast, token=token)
    except ReferencedFileError as error:
        if error.reason == "denied":
            return ()  # the form asks for it
        return (Concern("reference-unusable", "stop", error.message, error.hint),)
    except QcowError as error:
        return (Concern("source-unusable", "stop", error.message, error.hint),)


def _look(path: Path, inspected: Inspected | None) -> Looked:
    """What the file at `path` is.

    Raises:
        QcowError: When it can't be read as a disk.
    """
    try:
        signature = signature_of(path)
    except OSError as error:
        raise SourceError(
            f"{path} can't be looked at: {error.strerror}", path=str(path), errno=error.errno
        ) from error
    remote = is_remote(path)
    if inspected is None:
        with FileSource(path) as source:
            if probe_format(source) == "raw":
                size = source.size_bytes
                stored = source.disk_bytes or size
                return Looked(path, "raw", signature, size, stored, remote, None, ())
        inspected = inspect_image(path)
    return Looked(
        path,
        "qcow2",
        signature,
        inspected.report.virtual_bytes,
        inspected.report.disk_bytes or signature.size_bytes,
        remote,
        inspected.report,
        tuple(state.reference for state in inspected.references),
    )


def is_remote(path: Path) -> bool:
    """Whether the file lies on another machine, as far as its file system tells."""
    name = file_system_of(Path(os.path.realpath(path)).parent).name
    return name in _REMOTE or name.startswith(_REMOTE_PREFIX)
