"""Header extensions: the list behind the header, whatever is in it. Spec: 1.4"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from qcowgui.format import limits
from qcowgui.format.finding import Finding, Refusal, Severity
from qcowgui.format.text import decode_name
from qcowgui.units import align_up, format_hex, format_offset


class ExtensionType(IntEnum):
    """The numbers of the extensions that the format defines, and of three that it does not."""

    END = 0x00000000
    BACKING_FORMAT = 0xE2792ACA
    FEATURE_NAMES = 0x6803F857
    BITMAPS = 0x23852875
    ENCRYPTION_HEADER = 0x0537BE77
    DATA_FILE = 0x44415441
    CROSVM_BACKING_FORMAT = 0xE279268F
    LEGACY_COMPRESSION = 0xC03183A3
    CLB3 = 0x434C4233


EXTENSION_NAMES: Final[dict[int, str]] = {
    ExtensionType.END: "end",
    ExtensionType.BACKING_FORMAT: "backing format name",
    ExtensionType.FEATURE_NAMES: "feature name table",
    ExtensionType.BITMAPS: "bitmaps",
    ExtensionType.ENCRYPTION_HEADER: "full disk encryption header",
    ExtensionType.DATA_FILE: "external data file name",
    ExtensionType.CROSVM_BACKING_FORMAT: "backing format name (misspelt by crosvm)",
    ExtensionType.LEGACY_COMPRESSION: "compression (2017 proposal)",
    ExtensionType.CLB3: "CLB3 (pcbastler)",
}

_HEADER_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class Extension:
    """One header extension.

    Attributes:
        type: Its number.
        offset: Host offset of its 8-byte head.
        length: The length it claims, padding not counted.
        data: Its bytes, cut where the area or the file ends.
        padding: The bytes up to the next multiple of 8.
    """

    type: int
    offset: int
    length: int
    data: bytes
    padding: bytes

    @property
    def name(self) -> str:
        """What the format calls it."""
        return EXTENSION_NAMES.get(self.type, f"unknown {format_hex(self.type, 32)}")

    @property
    def text(self) -> str:
        """Its data as text fit to be shown, for the types that hold a name: untrusted."""
        return decode_name(self.data)[0]


def parse_extensions(data: bytes, *, start: int, end: int) -> tuple[list[Extension], list[Finding]]:
    """The extensions between two host offsets, and what is wrong with the list. Spec: 1.4

    Args:
        data: The file's first bytes; it may end before `end` when the file does.
        start: Where the header ends.
        end: Where the area ends: the backing file name's offset, or the end of the first cluster.

    The end marker is not returned. A wrong list is returned as far as it makes sense.
    """
    extensions: list[Extension] = []
    findings: list[Finding] = []
    offset = start
    # An area that is used up needs no end marker.
    while offset < end:
        problem = _head_problem(data, offset, end, len(extensions))
        if problem:
            findings.append(problem)
            break
        extension, next_offset = _parse_extension(data, offset, end)
        is_end = extension.type == ExtensionType.END
        problem = _length_problem(extension, len(data), end)
        if problem:
            findings.append(problem)
        if not is_end:
            extensions.append(extension)
        if problem or is_end:
            break
        offset = next_offset
    return extensions, [*findings, *_check_each(extensions)]


def _parse_extension(data: bytes, offset: int, end: int) -> tuple[Extension, int]:
    """The extension whose head is at `offset`, and where the next one starts, `end` at most."""
    body = offset + _HEADER_BYTES
    kind = int.from_bytes(data[offset : offset + 4], "big")
    length = int.from_bytes(data[offset + 4 : body], "big")
    # Padding counts from the extension's start, which header_length may have left unaligned.
    data_end, next_offset = min(body + length, end), min(body + align_up(length, 8), end)
    return Extension(
        kind, offset, length, data[body:data_end], data[data_end:next_offset]
    ), next_offset


def _head_problem(data: bytes, offset: int, end: int, count: int) -> Finding | None:
    """Why no further extension can be read at `offset`."""
    if offset + _HEADER_BYTES > end:
        return _finding(
            "extension-unterminated",
            Severity.CORRUPTION,
            f"The {end - offset} bytes left at {format_offset(offset)} are too few for another "
            "header extension or an end marker.",
            offset,
            refusal=Refusal.QEMU,
        )
    if offset + _HEADER_BYTES > len(data):
        return _finding(
            "extension-truncated",
            Severity.CORRUPTION,
            f"The file ends at {format_offset(len(data))}, inside the header extensions.",
            offset,
        )
    if count >= limits.MAX_EXTENSIONS:
        return _finding(
            "extension-count",
            Severity.SUSPICIOUS,
            f"Only the first {limits.MAX_EXTENSIONS:,} header extensions were read.",
            offset,
        )
    return None


def _length_problem(extension: Extension, file_end: int, end: int) -> Finding | None:
    """What is wrong with the length that an extension claims, so that nothing after it counts."""
    kind, offset, length = extension.type, extension.offset, extension.length
    body = offset + _HEADER_BYTES
    if body + length > end:
        return _finding(
            "extension-overlong",
            Severity.CORRUPTION,
            f"Header extension {format_hex(kind, 32)} at {format_offset(offset)} claims "
            f"{length:,} bytes; {end - body:,} are left.",
            offset,
            raw=length,
            refusal=Refusal.QEMU,
        )
    if kind == ExtensionType.END and length:
        return _finding(
            "extension-length",
            Severity.SUSPICIOUS,
            f"The end marker of the header extensions claims {length} bytes.",
            offset,
            raw=length,
        )
    if body + length > file_end:
        return _finding(
            "extension-truncated",
            Severity.CORRUPTION,
            f"The file ends at {format_offset(file_end)}, inside header extension "
            f"{format_hex(kind, 32)}.",
            offset,
        )
    return None


def _check_each(extensions: list[Extension]) -> Iterator[Finding]:
    seen: set[int] = set()
    for extension in extensions:
        kind, offset = extension.type, extension.offset
        if kind in seen:
            yield _finding(
                "extension-duplicate",
                Severity.SUSPICIOUS,
                f"There is more than one header extension {extension.name}.",
                offset,
            )
        seen.add(kind)
        if any(extension.padding):
            yield _finding(
                "extension-padding",
                Severity.SUSPICIOUS,
                f"The padding of header extension {extension.name} is not zero.",
                offset,
            )
        yield from _check_kind(extension)


def _check_kind(extension: Extension) -> Iterator[Finding]:
    kind, offset = extension.type, extension.offset
    if kind == ExtensionType.CROSVM_BACKING_FORMAT:
        yield _finding(
            "extension-misspelt",
            Severity.SUSPICIOUS,
            f"The backing format “{extension.text}” is stored under number 0xe279268f, a "
            "misspelling made by crosvm; other programs do not see it.",
            offset,
        )
    elif kind == ExtensionType.LEGACY_COMPRESSION:
        yield _finding(
            "extension-legacy-compression",
            Severity.SUSPICIOUS,
            "The image has the compression extension that was proposed in 2017 and never adopted.",
            offset,
        )
    elif kind == ExtensionType.CLB3 or kind not in EXTENSION_NAMES:
        yield _finding(
            "extension-unknown",
            Severity.INFO,
            f"Header extension {format_hex(kind, 32)} with {extension.length:,} bytes is unknown; "
            "it is kept.",
            offset,
            raw=kind,
        )
    elif (
        kind == ExtensionType.BACKING_FORMAT and extension.length > limits.MAX_BACKING_FORMAT_BYTES
    ):
        yield _finding(
            "backing-format-length",
            Severity.CORRUPTION,
            f"The backing format name has {extension.length} bytes; QEMU accepts "
            f"{limits.MAX_BACKING_FORMAT_BYTES}.",
            offset,
            raw=extension.length,
            refusal=Refusal.QEMU,
        )


def first_of(extensions: list[Extension], *kinds: ExtensionType) -> Extension | None:
    """The first extension of the first of `kinds` that occurs, or None."""
    for kind in kinds:
        for extension in extensions:
            if extension.type == kind:
                return extension
    return None


def _finding(
    code: str,
    severity: Severity,
    message: str,
    offset: int,
    *,
    raw: int | None = None,
    refusal: Refusal = Refusal.NONE,
) -> Finding:
    return Finding(
        code,
        severity,
        message,
        "header extension",
        host_offset=offset,
        raw=raw,
        spec="1.4",
        refusal=refusal,
    )
