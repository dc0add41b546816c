"""The vocabulary of an identification: what a file can be, and the bytes that tell it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Final, Protocol

from qcowgui.units import KIB, SECTOR_BYTES, format_size

HEAD_BYTES: Final = 192 * KIB
"""Reaches over the second VHDX header (128 KiB) and one grain of a stream-optimized VMDK."""
TAIL_BYTES: Final = 4 * SECTOR_BYTES
"""Reaches over a VHD footer and over the footer of a stream-optimized VMDK."""


class ReadableAt(Protocol):
    """The part of a byte source that is needed here."""

    @property
    def size_bytes(self) -> int:
        """The source's length."""
        ...

    def read_at(self, offset: int, length: int) -> bytes:
        """`length` bytes at `offset`, fewer only at the end of the source."""
        ...


class FileKind(Enum):
    """What a file can be; the value is its short name for scripts."""

    QCOW2 = "qcow2"
    QCOW1 = "qcow"
    QED = "qed"
    VMDK = "vmdk"
    VHD = "vhd"
    VHDX = "vhdx"
    VDI = "vdi"
    ISO = "iso"
    LUKS = "luks"
    GZIP = "gzip"
    XZ = "xz"
    ZSTD = "zstd"
    BZIP2 = "bzip2"
    SEVEN_ZIP = "7z"
    ZIP = "zip"
    TAR = "tar"
    OVA = "ova"
    HTML = "html"
    XML = "xml"
    JSON = "json"
    LFS_POINTER = "git-lfs-pointer"
    EMPTY = "empty"
    ZEROS = "zeros"
    RAW = "raw"
    UNKNOWN = "unknown"

    @property
    def reads_as_raw(self) -> bool:
        """Whether the file's bytes are a guest disk's bytes, as they stand."""
        return self in (FileKind.RAW, FileKind.ISO, FileKind.ZEROS, FileKind.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Identification:
    """What a file turned out to be.

    Attributes:
        kind: For programs.
        title: A noun phrase: "VMDK image"; as `identify` gives it with its article: "a VMDK image".
        detail: What else the content tells, in whole sentences; may be empty.
        evidence: Which bytes led to it.
        hint: What the user can do next; empty for qcow2.
        expected_by_name: A sentence when the name promises something else, otherwise empty.
        guest_bytes: The guest disk's size, for foreign formats whose header or footer names it.
    """

    kind: FileKind
    title: str
    detail: str = ""
    evidence: str = ""
    hint: str = ""
    expected_by_name: str = ""
    guest_bytes: int | None = None


class Probe:
    """The bytes that the detectors look at, each part read once."""

    def __init__(self, source: ReadableAt) -> None:
        self._source = source
        self.size_bytes = source.size_bytes
        self.head = source.read_at(0, HEAD_BYTES)

    @cached_property
    def tail(self) -> bytes:
        """The last bytes of the file, read when first needed."""
        start = max(0, self.size_bytes - TAIL_BYTES)
        return self._source.read_at(start, TAIL_BYTES)

    def read(self, offset: int, length: int) -> bytes:
        """Bytes from anywhere; the caller keeps `length` small."""
        return self._source.read_at(offset, length)

    def number(self, offset: int, width_bytes: int, order: str = "little") -> int:
        """An unsigned number in the head; bytes beyond the end of the file count as zeros."""
        field = self.head[offset : offset + width_bytes].ljust(width_bytes, b"\0")
        return int.from_bytes(field, "big" if order == "big" else "little")


Detector = Callable[[Probe], Identification | None]


def evidence_of(probe: Probe, offset: int, length: int) -> str:
    """Some bytes of the head, as a reader of a hex dump would look for them."""
    return f"bytes {probe.head[offset : offset + length].hex(' ')} at offset {offset:#x}"


def size_sentence(guest_bytes: int) -> str:
    """The guest disk's size in words."""
    return f"Its guest disk has {format_size(guest_bytes)} ({guest_bytes:,} bytes)."
