"""The files of a backing chain as `info` looks at them: tolerant, and without reading guest data.

Unlike `image.chain`, which opens an image to read it, this goes on with images that can't be read,
and imports no codec.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from qcowgui.cli.parameters import FORMATS
from qcowgui.errors import NotQcow2Error
from qcowgui.image.identify import identify
from qcowgui.image.inspect import ImageReport, inspect_source
from qcowgui.image.references import ChainGuard, Gate, backing_reference, open_reference
from qcowgui.image.signatures import FileKind
from qcowgui.image.source import FileSource
from qcowgui.image.summary import MappingSummary, l2_table_bytes, summarise_mapping
from qcowgui.report.inspected import Inspected, Qcow2File, RawFile
from qcowgui.units import MIB

COUNTED_TABLE_BYTES: Final = 32 * MIB
"""L2 tables up to this size are read unasked: 256 GiB of 64 KiB clusters, some 0.1 s."""


def inspect_file(source: FileSource, image_format: str | None, *, count: bool = False) -> Inspected:
    """What is known of an opened file.

    Args:
        source: The file.
        image_format: "qcow2", "raw", or None for what the content shows.
        count: Whether guest clusters are counted however large the L2 tables are.

    Raises:
        NotQcow2Error: When it is said to be qcow2 and is not, or when its content is in a format
            that is neither qcow2 nor a disk as it stands.
        SourceError: When the operating system refuses a read.
    """
    if image_format == "raw":
        return _raw_file(source)
    try:
        report = inspect_source(source)
    except NotQcow2Error as error:
        if image_format == "qcow2" or not _is_disk(FileKind(error.detected)):
            raise
        return _raw_file(source)
    return Qcow2File(report, _count_clusters(source, report, always=count))


def _count_clusters(
    source: FileSource, report: ImageReport, *, always: bool
) -> MappingSummary | None:
    """The count, or None when nothing maps guest clusters or the tables are large."""
    if report.mapping_refusals or not (always or l2_table_bytes(report) <= COUNTED_TABLE_BYTES):
        return None
    return summarise_mapping(source, report)


def _is_disk(kind: FileKind) -> bool:
    return kind.reads_as_raw or kind is FileKind.LUKS


def _raw_file(source: FileSource) -> RawFile:
    found = identify(source, name=source.name)
    return RawFile(source.name, source.size_bytes, source.disk_bytes, found)


def iter_chain(
    path: str, image_format: str | None, gate: Gate, *, count: bool = False
) -> Iterator[Inspected]:
    """The image and its backing files, from the top to the bottom, each as soon as it is known.

    Raises:
        NotQcow2Error: When a file is in a format that this program does not read.
        ReferencedFileError: When the gate refuses a backing file, when it is missing, or when the
            chain is a loop or too long.
        SourceError: When the operating system refuses a file.
    """
    guard = ChainGuard()
    source = FileSource(path)
    guessed = False
    while True:
        with source:
            guard.enter(source)
            inspected = inspect_file(source, image_format, count=count)
        yield inspected
        if isinstance(inspected, RawFile):
            return
        reference = backing_reference(inspected.report, trusted=not guessed)
        if reference is None:
            return
        recorded = inspected.report.backing_format
        image_format = recorded if recorded in FORMATS else None
        guessed = image_format is None
        source = open_reference(reference, gate)


def probe_backing(report: ImageReport, gate: Gate) -> str | None:
    """What the backing file's content looks like, or None when looking is not allowed or fails."""
    reference = backing_reference(report)
    if reference is None or reference.path is None or not gate.permit(reference):
        return None
    with open_reference(reference, gate) as source:
        return identify(source).title
