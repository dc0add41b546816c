"""What a conversion is asked to do, tested for contradictions before any output exists."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from qcowgui.codec.registry import CompressionType, Window, level_range
from qcowgui.errors import OptionsError
from qcowgui.format import limits
from qcowgui.units import KIB, MIB, SECTOR_BYTES, format_size

TargetFormat = Literal["raw", "qcow2"]
Compression = Literal["none", "zlib", "zstd"]
Compat = Literal["0.10", "1.1"]
Preallocation = Literal["off", "metadata", "falloc", "full"]
PREALLOCATIONS: Final[tuple[Preallocation, ...]] = ("off", "metadata", "falloc", "full")

CLUSTER_SIZES: Final = tuple(
    1 << bits for bits in range(limits.MIN_CLUSTER_BITS, limits.MAX_CLUSTER_BITS + 1)
)
REFCOUNT_BITS: Final = tuple(1 << order for order in range(limits.MAX_REFCOUNT_ORDER + 1))
DEFAULT_CLUSTER_BYTES: Final = 64 * KIB
DEFAULT_REFCOUNT_BITS: Final = 16
DEFAULT_SPARSE_BYTES: Final = 4 * KIB
MAX_SPARSE_BYTES: Final = 2 * MIB

_COMPRESSION_TYPES: Final = {"zlib": CompressionType.ZLIB, "zstd": CompressionType.ZSTD}


@dataclass(frozen=True, slots=True)
class ConvertOptions:
    """A conversion, source to target. Creating one validates it.

    Attributes:
        source: The image to read.
        target: The file to make; it appears whole or not at all.
        source_format: "qcow2", "raw", or None for what the content shows.
        target_format: "raw" or "qcow2".
        compression: For a qcow2 target.
        level: Compression level, or None for the type's default.
        window: Deflate's history: "32k", or "4k" as qemu-img writes it, for strict readers.
        cluster_bytes: Of a qcow2 target.
        compat: "1.1" (version 3) or "0.10" (version 2) of a qcow2 target.
        refcount_bits: Of a qcow2 target.
        extended_l2: Whether a qcow2 target has subclusters.
        lazy_refcounts: Whether a qcow2 target sets that compatible feature.
        snapshot: Internal snapshot of the source to convert, by name or id.
        snapshots_kept: Whether other conversions keep the source's internal snapshots, so that
            nobody needs to be warned of their loss.
        backing_file: Backing file that a qcow2 target keeps, as its name will be stored; None
            flattens the chain.
        backing_format: The backing file's format; needed with `backing_file`.
        keep_backing: Whether a qcow2 target keeps the source's own backing file, if it has one.
        bitmaps: Whether a qcow2 target gets the source's persistent bitmaps, those of them whose
            bits can be believed.
        preallocation: What is set aside for data that a guest may write later. metadata: a place in
            a qcow2 file for each cluster; falloc: the space as well; full: written with zeros.
        sparse_bytes: Zeros of this length and alignment become holes in a raw target; 0: none do.
        threads: Workers, or None for one a core.
        verify: Whether the result is read again and compared with the source.
        salvage: Whether unreadable ranges are written as zeros and listed.
        overwrite: Whether an existing target may be replaced, once the result is complete.

    Raises:
        OptionsError: When the options contradict each other or the format.
    """

    source: Path
    target: Path
    target_format: TargetFormat = "raw"
    source_format: str | None = None
    compression: Compression = "none"
    level: int | None = None
    window: Window = "32k"
    cluster_bytes: int = DEFAULT_CLUSTER_BYTES
    compat: Compat = "1.1"
    refcount_bits: int = DEFAULT_REFCOUNT_BITS
    extended_l2: bool = False
    lazy_refcounts: bool = False
    snapshot: str | None = None
    snapshots_kept: bool = False
    backing_file: str | None = None
    backing_format: str | None = None
    keep_backing: bool = False
    bitmaps: bool = False
    preallocation: Preallocation = "off"
    sparse_bytes: int = DEFAULT_SPARSE_BYTES
    threads: int | None = None
    verify: bool = True
    salvage: bool = False
    overwrite: bool = False

    def __post_init__(self) -> None:
        self._check_target()
        self._check_compression()
        self._check_numbers()
        if self.target_format == "qcow2":
            self._check_qcow2()

    @property
    def compression_type(self) -> CompressionType | None:
        """The type to write, or None for no compression."""
        return _COMPRESSION_TYPES.get(self.compression)

    @property
    def cluster_bits(self) -> int:
        """Binary logarithm of `cluster_bytes`."""
        return self.cluster_bytes.bit_length() - 1

    @property
    def refcount_order(self) -> int:
        """Binary logarithm of `refcount_bits`."""
        return self.refcount_bits.bit_length() - 1

    def _check_target(self) -> None:
        _one_of("target format", self.target_format, ("raw", "qcow2"))
        _one_of("compression", self.compression, ("none", "zlib", "zstd"))
        _one_of("compat", self.compat, ("0.10", "1.1"))
        _one_of("preallocation", self.preallocation, PREALLOCATIONS)
        _one_of("window", self.window, ("4k", "32k"))
        if self.target_format == "raw":
            only_qcow2 = {
                "compression": self.compression != "none",
                "a backing file": self.backing_file is not None or self.keep_backing,
                "bitmaps": self.bitmaps,
                "preallocated metadata": self.preallocation == "metadata",
                "extended L2 entries": self.extended_l2,
                "lazy refcounts": self.lazy_refcounts,
            }
            for what, asked in only_qcow2.items():
                if asked:
                    raise OptionsError(
                        f"A raw target can't have {what}", hint="choose qcow2 as the target format"
                    )

    def _check_compression(self) -> None:
        kind = self.compression_type
        if kind is None:
            if self.level is not None:
                raise OptionsError(
                    f"Level {self.level} was given, but no compression",
                    hint="choose zlib or zstd (on the command line -c, or -o compression_type=…)",
                )
            return
        levels = level_range(kind, self.window)
        if self.level is not None and not levels.lowest <= self.level <= levels.highest:
            raise OptionsError(
                f"{self.compression} has no level {self.level} with a window of {self.window}",
                hint=f"{levels.lowest} to {levels.highest} exist",
            )

    def _check_numbers(self) -> None:
        if self.threads is not None and not 1 <= self.threads <= 256:
            raise OptionsError(f"{self.threads} threads are not possible; 1 to 256 are")
        sparse = self.sparse_bytes
        if sparse and (sparse % SECTOR_BYTES or sparse & (sparse - 1) or sparse > MAX_SPARSE_BYTES):
            raise OptionsError(
                f"The sparse threshold {sparse} is not possible; 0 or a power of two from 512 to "
                f"{format_size(MAX_SPARSE_BYTES)} is"
            )

    def _check_qcow2(self) -> None:
        if self.cluster_bytes not in CLUSTER_SIZES:
            raise OptionsError(
                f"A cluster size of {self.cluster_bytes} bytes is not possible; powers of two from "
                "512 bytes to 2 MiB are"
            )
        if self.refcount_bits not in REFCOUNT_BITS:
            raise OptionsError(
                f"{self.refcount_bits} refcount bits are not possible; 1, 2, 4, 8, 16, 32, 64 are"
            )
        if self.extended_l2 and self.cluster_bits < limits.MIN_EXTENDED_L2_CLUSTER_BITS:
            raise OptionsError("Extended L2 entries need clusters of 16 KiB or more")
        self._check_preallocation()
        self._check_backing()
        if self.bitmaps and self.snapshot is not None:
            raise OptionsError(
                "Bitmaps say what has changed on the active disk, not on a snapshot",
                hint="leave out the bitmaps, or convert the active disk",
            )
        if self.compat == "0.10":
            self._check_version_2()

    def _check_preallocation(self) -> None:
        if self.preallocation == "off":
            return
        contradictions = {
            "be compressed": self.compression != "none",
            "have a backing file, which they would hide": self.backing_file or self.keep_backing,
        }
        for what, asked in contradictions.items():
            if asked:
                raise OptionsError(
                    f"An image whose clusters are all preallocated can't {what}",
                    hint="leave out one of the two",
                )

    def _check_backing(self) -> None:
        if self.keep_backing and (self.backing_file, self.backing_format) != (None, None):
            raise OptionsError(
                "The source's own backing file and another one can't both be kept",
                hint="leave out one of the two",
            )
        if self.backing_file is not None:
            if self.backing_format is None:
                raise OptionsError(
                    f"The format of the backing file {self.backing_file!r} was not given",
                    hint="on the command line: -F qcow2 or -F raw",
                )
            _one_of("backing format", self.backing_format, ("qcow2", "raw"))
            if len(os.fsencode(self.backing_file)) > limits.MAX_BACKING_NAME_BYTES:
                raise OptionsError("The backing file's name is longer than 1023 bytes")
        elif self.backing_format is not None:
            raise OptionsError("A backing format was given, but no backing file")

    def _check_version_2(self) -> None:
        newer = {
            "zstd compression": self.compression == "zstd",
            "extended L2 entries": self.extended_l2,
            "lazy refcounts": self.lazy_refcounts,
            "bitmaps": self.bitmaps,
            "refcounts of any width but 16 bits": self.refcount_bits != DEFAULT_REFCOUNT_BITS,
        }
        for what, asked in newer.items():
            if asked:
                raise OptionsError(f"compat 0.10 does not have {what}", hint="use compat 1.1")


def _one_of(what: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise OptionsError(f"The {what} {value!r} does not exist; {', '.join(allowed)} do")
