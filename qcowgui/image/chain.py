"""Opening an image with everything it refers to: the chain of layers that a guest reads through."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from qcowgui.codec.registry import CompressionType
from qcowgui.errors import (
    CorruptError,
    ImageError,
    UnsupportedError,
)
from qcowgui.format import limits
from qcowgui.format.geometry import Geometry
from qcowgui.format.header import CRYPT_METHODS, MAGIC_BYTES
from qcowgui.image.layer import Layer, RawLayer
from qcowgui.image.mapping import GuestMapping
from qcowgui.image.qcow2_layer import Qcow2Layer
from qcowgui.image.reader import GuestImage
from qcowgui.image.references import (
    DENY,
    ChainGuard,
    Gate,
    Reference,
    backing_reference,
    data_file_reference,
    open_reference,
)
from qcowgui.image.source import ByteSource, FileSource, Identity
from qcowgui.units import SECTOR_BYTES, align_down

if TYPE_CHECKING:
    from qcowgui.format.snapshots import Snapshot
    from qcowgui.image.inspect import ImageReport

FORMATS: Final = ("qcow2", "raw")
"""The formats that this program reads."""

_SNAPSHOT_ARGUMENT: Final = re.compile(r"snapshot\.(id|name)=(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ChainLayer:
    """One opened file of a chain, for showing.

    Attributes:
        path: The file's path.
        format: "qcow2" or "raw".
        format_guessed: Whether the overlay recorded no format, so that the content decided.
        size_bytes: Guest bytes it covers.
        file_bytes: The file's length.
        report: What inspecting it found; None for a raw file.
        reference: How the layer above names it; None for the image itself.
        identity: What tells the file from others.
    """

    path: Path
    format: str
    format_guessed: bool
    size_bytes: int
    file_bytes: int
    report: ImageReport | None
    reference: Reference | None
    identity: Identity | None


class OpenedImage(GuestImage):
    """A guest image together with what is known of its files.

    Attributes:
        chain: The opened files, the image itself first.
    """

    def __init__(
        self,
        layers: list[Layer],
        chain: list[ChainLayer],
        sources: list[ByteSource],
        *,
        salvage: bool,
        missing: Reference | None = None,
    ) -> None:
        super().__init__(layers, sources=sources, salvage=salvage, missing=missing)
        self.chain = tuple(chain)

    @property
    def format(self) -> str:
        """The format of the image itself."""
        return self.chain[0].format

    @property
    def report(self) -> ImageReport | None:
        """What inspecting the image itself found; None for a raw file."""
        return self.chain[0].report


def probe_format(source: ByteSource) -> str:
    """The format that the content shows: "qcow2" or "raw".

    Raises:
        NotQcow2Error: When the content is in a format that neither is nor may be passed on as raw.
    """
    if source.read_at(0, 4) == MAGIC_BYTES:
        return "qcow2"
    from qcowgui.image.identify import identify
    from qcowgui.image.inspect import not_qcow2_error

    if not identify(source, name=source.name).kind.reads_as_raw:
        raise not_qcow2_error(source)
    return "raw"


def open_image(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    gate: Gate = DENY,
    snapshot: str | None = None,
    salvage: bool = False,
    follow: bool = True,
) -> OpenedImage:
    """Open an image for reading guest data, with its backing chain and its data file.

    Args:
        path: The image.
        format: "qcow2" or "raw"; None: what the content shows.
        gate: Decides whether referenced files may be opened; it may know that they lie elsewhere.
        snapshot: Name or id of an internal snapshot to read instead of the active disk; also
            `snapshot.id=…` or `snapshot.name=…`. An id wins over a name.
        salvage: Whether unreadable ranges read as zeros and are noted in `losses`.
        follow: False opens the image's own layer alone. What it leaves to its backing file is then
            unknown: `iter_extents` calls it UNALLOCATED, reading it raises, and with `salvage`
            it is given as zeros and noted in `losses`.

    Raises:
        ImageError: When the image, or one it refers to, can't present guest data.
        ReferencedFileError: When a referenced file is not allowed, missing, or part of a loop.
        SourceError: When the operating system refuses a file.
    """
    opener = _ChainOpener(gate, salvage=salvage, follow=follow)
    try:
        return opener.open(Path(path), format, snapshot)
    except BaseException:
        opener.close()
        raise


class _ChainOpener:
    """One run of `open_image`."""

    def __init__(self, gate: Gate, *, salvage: bool, follow: bool) -> None:
        self._gate = gate
        self._salvage = salvage
        self._follow = follow
        self._sources: list[ByteSource] = []
        self._layers: list[Layer] = []
        self._chain: list[ChainLayer] = []
        self._guard = ChainGuard()

    def close(self) -> None:
        for source in self._sources:
            source.close()

    def open(self, path: Path, format: str | None, snapshot: str | None) -> OpenedImage:
        source = FileSource(path)
        reference: Reference | None = None
        missing: Reference | None = None
        guessed = False
        while True:
            self._sources.append(source)
            self._guard.enter(source)
            found = format or probe_format(source)
            if found not in FORMATS:
                raise UnsupportedError(
                    f"the format {found!r} is not supported; qcow2 and raw are", path=source.name
                )
            if found == "raw":
                self._add_raw(source, reference, guessed=guessed)
                break
            report = self._add_qcow2(source, reference, snapshot, guessed=guessed)
            snapshot = None
            reference = backing_reference(report, trusted=not guessed)
            if reference is None:
                break
            if not self._follow:
                missing = reference
                break
            format = report.backing_format
            if format not in FORMATS:
                format = None  # crosvm's "composite" and the like: the content decides
            guessed = format is None
            source = open_reference(reference, self._gate)
        if snapshot is not None:
            raise ImageError("a raw file has no snapshots", path=str(path))
        return OpenedImage(
            self._layers, self._chain, self._sources, salvage=self._salvage, missing=missing
        )

    def _add_raw(self, source: FileSource, reference: Reference | None, *, guessed: bool) -> None:
        layer = RawLayer(source)
        self._layers.append(layer)
        self._chain.append(
            ChainLayer(
                source.path,
                "raw",
                guessed,
                layer.size_bytes,
                source.size_bytes,
                None,
                reference,
                source.identity,
            )
        )

    def _add_qcow2(
        self,
        source: FileSource,
        reference: Reference | None,
        snapshot: str | None,
        *,
        guessed: bool,
    ) -> ImageReport:
        from qcowgui.image.inspect import inspect_source

        report = inspect_source(source)
        geometry = require_mappable(report)
        header = report.header
        if header.crypt_method:
            raise UnsupportedError(
                f"the guest data is encrypted ({CRYPT_METHODS[header.crypt_method]}), and this "
                "program does not decrypt",
                path=source.name,
                hint="qemu-img convert with --object secret,… can decrypt it",
            )
        data_source: ByteSource = source
        data_file = data_file_reference(report, trusted=not guessed)
        if data_file is not None:
            data_source = open_reference(data_file, self._gate)
            self._sources.append(data_source)
        chosen = find_snapshot(report, snapshot) if snapshot is not None else None
        virtual_bytes = report.virtual_bytes
        if chosen is not None:
            _require_snapshot_table(chosen, report, geometry)
            if chosen.disk_bytes is not None:
                virtual_bytes = align_down(chosen.disk_bytes, SECTOR_BYTES)
        mapping = GuestMapping(
            source,
            geometry,
            version=header.version,
            l1_table_offset=chosen.l1_table_offset if chosen else header.l1_table_offset,
            l1_size=chosen.l1_size if chosen else header.l1_size,
            virtual_bytes=virtual_bytes,
            has_data_file=header.has_data_file,
        )
        layer = Qcow2Layer(
            source, data_source, mapping, compression_type=CompressionType(header.compression_type)
        )
        self._layers.append(layer)
        self._chain.append(
            ChainLayer(
                source.path,
                "qcow2",
                guessed,
                virtual_bytes,
                source.size_bytes,
                report,
                reference,
                source.identity,
            )
        )
        return report


def require_mappable(report: ImageReport) -> Geometry:
    """The image's geometry, when an honest reader can present its guest data.

    Raises:
        UnsupportedError: For a feature, a version or a compression type that is not known.
        CorruptError: For a header that contradicts the format.
    """
    refusals = report.mapping_refusals
    geometry = report.header.geometry
    if geometry is not None and not refusals:
        return geometry
    message = " ".join(found.message for found in refusals).rstrip(".")
    if refusals[0].code in _UNSUPPORTED_CODES:
        raise UnsupportedError(message, path=report.name)
    raise CorruptError(message, path=report.name, finding=refusals[0])


_UNSUPPORTED_CODES: Final = frozenset(
    {"header-version", "unknown-incompatible", "compression-type-unknown", "header-crypt-method"}
)


def _require_snapshot_table(snapshot: Snapshot, report: ImageReport, geometry: Geometry) -> None:
    """Refuse a snapshot whose L1 table is in an impossible place or too small for its disk.

    One that is cut by the end of the file passes: what is left of it can be read.

    Raises:
        CorruptError: When it is so.
    """
    from qcowgui.format.snapshots import check_snapshot_l1

    finding = check_snapshot_l1(
        snapshot,
        geometry,
        virtual_bytes=report.header.size,
        file_bytes=limits.MAX_OFFSET + limits.MAX_L1_BYTES,
    )
    if finding is not None:
        raise CorruptError(finding.message.rstrip("."), path=report.name, finding=finding)


def find_snapshot(report: ImageReport, wanted: str) -> Snapshot:
    """The internal snapshot that `wanted` names, as `qemu-img convert -l` understands it.

    Raises:
        ImageError: When there is none; the message lists those that exist.
    """
    match = _SNAPSHOT_ARGUMENT.fullmatch(wanted)
    by, text = (match[1], match[2]) if match else ("", wanted)
    if by != "name":
        for snapshot in report.snapshots:
            if snapshot.id == text:
                return snapshot
    if by != "id":
        for snapshot in report.snapshots:
            if snapshot.name == text:
                return snapshot
    names = ", ".join(f"{item.id} ({item.name})" for item in report.snapshots[:20]) or "none"
    raise ImageError(
        f"there is no snapshot {text!r}", path=report.name, hint=f"snapshots here: {names}"
    )
