"""What can be put right in the first cluster: feature bits, padding, header extensions.

Spec: 1.2 to 1.4
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from qcowgui.format.extensions import Extension, ExtensionType
from qcowgui.format.features import KNOWN_AUTOCLEAR, Autoclear, Incompatible
from qcowgui.format.fields import HEADER_FIELDS, field_named
from qcowgui.format.limits import KNOWN_HEADER_BYTES
from qcowgui.image.chain import FORMATS
from qcowgui.image.inspect import ImageReport
from qcowgui.image.patched import Edit
from qcowgui.image.source import ByteSource
from qcowgui.repair.edits import edits_between

_HEAD_BYTES: Final = 8
"""An extension's type and length."""


def header_field_edit(source: ByteSource, name: str, value: int, why: str, code: str) -> Edit:
    """The edit that gives a header field another value.

    Raises:
        SourceError: When the operating system refuses the read.
    """
    field = field_named(HEADER_FIELDS, name)
    before = source.read_at(field.offset, field.width_bytes)
    return Edit(field.offset, before, value.to_bytes(field.width_bytes, "big"), why, code)


def iter_feature_edits(
    source: ByteSource, report: ImageReport, *, drop_bitmaps: str
) -> Iterator[Edit]:
    """Edits of the first cluster that any writer has to make, or that nobody reads differently.

    The dirty and corrupt bits are not among them: they say what is true until all is repaired.

    Args:
        source: The image.
        report: What an open says of it.
        drop_bitmaps: The code of the finding for which persistent bitmaps are taken out, or an
            empty string. They are no guest data, but one that is damaged keeps QEMU from opening
            an image.

    Raises:
        SourceError: When the operating system refuses a read.
    """
    header = report.header
    if header.version < 3 or header.geometry is None:
        return
    yield from _autoclear_edits(source, report, drop_bitmaps)
    if header.padding and header.header_length >= KNOWN_HEADER_BYTES:
        yield header_field_edit(
            source, "padding", 0, "Header padding becomes zero.", "header-padding"
        )
    yield from _extension_edits(source, report, drop_bitmaps)


def clear_state_bits(source: ByteSource, report: ImageReport) -> Edit | None:
    """The edit that clears the dirty and the corrupt bit; None when neither is set.

    Raises:
        SourceError: When the operating system refuses the read.
    """
    header = report.header
    if header.version < 3 or not (header.dirty or header.corrupt):
        return None
    value = header.incompatible_features & ~(Incompatible.DIRTY | Incompatible.CORRUPT)
    names = [name for name, is_set in _state_names(header.dirty, header.corrupt) if is_set]
    return header_field_edit(
        source,
        "incompatible_features",
        value,
        f"The {' and the '.join(names)} bit: cleared, because the metadata is consistent now.",
        "corrupt" if header.corrupt else "dirty",
    )


def _state_names(dirty: bool, corrupt: bool) -> tuple[tuple[str, bool], ...]:
    return ("dirty", dirty), ("corrupt", corrupt)


def _autoclear_edits(source: ByteSource, report: ImageReport, drop_bitmaps: str) -> Iterator[Edit]:
    value = report.header.autoclear_features
    steps = (
        (~KNOWN_AUTOCLEAR, "unknown-autoclear", "bits that this program does not know"),
        (
            0 if report.header.has_data_file else Autoclear.RAW_EXTERNAL_DATA,
            "raw-external-without-data-file",
            "the bit on a raw data file, which there is none of",
        ),
        (Autoclear.BITMAPS if drop_bitmaps else 0, drop_bitmaps, "the bit on bitmaps"),
    )
    cleared = [(code, what) for mask, code, what in steps if value & mask]
    if not cleared:
        return
    kept = value
    for mask, _, _ in steps:
        kept &= ~mask
    why = f"Autoclear features cleared: {', '.join(what for _, what in cleared)}."
    yield header_field_edit(source, "autoclear_features", kept, why, cleared[0][0])


def _extension_edits(source: ByteSource, report: ImageReport, drop_bitmaps: str) -> Iterator[Edit]:
    """Edits of the extensions; none where the list is broken."""
    codes = {finding.code for finding in report.findings}
    if codes & _BROKEN_LISTS or not report.extensions:
        return
    dropped = [found for found in report.extensions if found.type == ExtensionType.BITMAPS]
    if dropped and drop_bitmaps:
        yield from _without(source, report, dropped, drop_bitmaps)
        return
    for extension in report.extensions:
        if any(extension.padding):
            yield from edits_between(
                extension.offset + _HEAD_BYTES + len(extension.data),
                extension.padding,
                bytes(len(extension.padding)),
                f"The padding of header extension {extension.name} becomes zero.",
                "extension-padding",
            )
    yield from _spelling_edits(report)


_BROKEN_LISTS: Final = frozenset(
    {
        "extension-count",
        "extension-overlong",
        "extension-truncated",
        "extension-length",
        "extension-unterminated",
    }
)


def _spelling_edits(report: ImageReport) -> Iterator[Edit]:
    """Give crosvm's backing format its right number, when QEMU can use what it says."""
    if any(found.type == ExtensionType.BACKING_FORMAT for found in report.extensions):
        return
    for extension in report.extensions:
        if extension.type == ExtensionType.CROSVM_BACKING_FORMAT and extension.text in FORMATS:
            yield from edits_between(
                extension.offset,
                extension.type.to_bytes(4, "big"),
                ExtensionType.BACKING_FORMAT.to_bytes(4, "big"),
                f"The backing format “{extension.text}” gets the number that programs look for.",
                "extension-misspelt",
            )
            return


def _without(
    source: ByteSource, report: ImageReport, dropped: list[Extension], code: str
) -> Iterator[Edit]:
    """Take extensions out of the list; those behind move up, and zeros (the end) follow."""
    start = dropped[0].offset
    last = report.extensions[-1]
    before = source.read_at(start, last.offset + _stored_bytes(last) - start)
    kept = b"".join(
        source.read_at(extension.offset, _stored_bytes(extension))
        for extension in report.extensions
        if extension.offset >= start and extension not in dropped
    )
    yield from edits_between(
        start,
        before,
        kept.ljust(len(before), b"\0"),
        "The bitmaps extension is taken out: what the bitmaps say can't be relied on.",
        code,
    )


def _stored_bytes(extension: Extension) -> int:
    """What an extension takes, padding included."""
    return _HEAD_BYTES + len(extension.data) + len(extension.padding)
