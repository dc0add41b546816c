"""What is measured: one row is one task, done by qcowgui and by a peer."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final

from qcowgui.units import KIB, MIB
from tests.bench.measure import find_program


class Compression(Enum):
    """How an image's clusters are stored; the value is qemu-img's word for it."""

    NONE = "none"
    ZLIB = "zlib"
    ZSTD = "zstd"


@dataclass(frozen=True)
class Image:
    """A kind of image.

    Attributes:
        cluster_bytes: The cluster size; 0 for a raw image.
        compression: The clusters' compression; NONE for a raw image.
    """

    cluster_bytes: int = 0
    compression: Compression = Compression.NONE

    @property
    def format(self) -> str:
        """qemu-img's name of the format."""
        return "qcow2" if self.cluster_bytes else "raw"

    @property
    def label(self) -> str:
        """A short name for tables and files: "raw", "64k-zlib"."""
        if not self.cluster_bytes:
            return "raw"
        is_small = self.cluster_bytes < MIB
        unit_bytes, suffix = (KIB, "k") if is_small else (MIB, "M")
        kind = "plain" if self.compression is Compression.NONE else self.compression.value
        return f"{self.cluster_bytes // unit_bytes}{suffix}-{kind}"

    def target_arguments(self) -> list[str]:
        """The options, the same for qemu-img and qcowgui, that make `convert` write this kind."""
        arguments = ["-O", self.format]
        if not self.cluster_bytes:
            return arguments
        options = f"cluster_size={self.cluster_bytes}"
        if self.compression is not Compression.NONE:
            arguments.append("-c")
            options = f"compression_type={self.compression.value},{options}"
        return [*arguments, "-o", options]


class Peer(Enum):
    """The program that a row compares with."""

    QEMU_IMG = "qemu-img"
    CP = "cp"  # copies the raw image itself: the least that writing the same content can cost


@dataclass(frozen=True)
class Limits:
    """What a row must reach; None: shown, not judged.

    Attributes:
        min_ratio: The peer's median wall time over the product's.
        max_size_ratio: The product's file length over the peer's.
        max_wall_seconds: The product's median wall time, exclusive.
    """

    min_ratio: float | None = None
    max_size_ratio: float | None = None
    max_wall_seconds: float | None = None


@dataclass(frozen=True)
class Row:
    """One task.

    Attributes:
        source: The kind of image that is read.
        target: The kind that is written; None: the task is `info`.
        limits: What must be reached.
        peer: Whom it is compared with.
        is_required: Whether the limits decide the exit status.
    """

    source: Image
    target: Image | None
    limits: Limits = field(default_factory=Limits)
    peer: Peer = Peer.QEMU_IMG
    is_required: bool = False

    @property
    def name(self) -> str:
        """Unique among the rows; what --rows is matched against."""
        task = "info" if self.target is None else f"to {self.target.label}"
        versus = "" if self.peer is Peer.QEMU_IMG else f" ({self.peer.value})"
        return f"{self.source.label} {task}{versus}"

    def product_command(self, product: list[str], source: Path, target: Path) -> list[str]:
        """qcowgui's command, `product` being how it is started."""
        if self.target is None:
            return [*product, "info", str(source)]
        return [
            *product,
            *("convert", "-f", self.source.format, *self.target.target_arguments()),
            # qemu-img verifies nothing and replaces its target.
            *("--no-verify", "--force", "-q", str(source), str(target)),
        ]

    def peer_command(self, source: Path, raw: Path, target: Path) -> list[str]:
        """The peer's command; `raw` holds the same guest content as `source`."""
        if self.peer is Peer.CP:
            return [find_program("cp"), "--sparse=auto", str(raw), str(target)]
        if self.target is None:
            return [find_program("qemu-img"), "info", str(source)]
        return qemu_img_convert(self.source, source, self.target, target, ["-W", "-m", "16"])


def qemu_img_convert(
    source: Image, source_path: Path, target: Image, target_path: Path, options: list[str]
) -> list[str]:
    """The qemu-img command that converts, with `options` added."""
    return [
        *(find_program("qemu-img"), "convert", *options, "-f", source.format),
        *(*target.target_arguments(), str(source_path), str(target_path)),
    ]


RAW: Final = Image()
_PLAIN_64K: Final = Image(64 * KIB)
_ZLIB_64K: Final = Image(64 * KIB, Compression.ZLIB)
_ZSTD_64K: Final = Image(64 * KIB, Compression.ZSTD)
_OTHER_SOURCES: Final = tuple(
    Image(cluster_bytes, compression)
    for cluster_bytes in (4 * KIB, 512 * KIB, 2 * MIB)
    for compression in (Compression.ZLIB, Compression.ZSTD)
)

REQUIRED_ROWS: Final = (
    Row(_ZLIB_64K, RAW, Limits(min_ratio=2.1), is_required=True),
    Row(_ZLIB_64K, None, Limits(max_wall_seconds=0.3), is_required=True),
    Row(_ZSTD_64K, RAW, Limits(min_ratio=1.3), is_required=True),
    # The levels that give qemu-img's sizes: libdeflate's 1 equals zlib's 6 with a 4 KiB window,
    # and qemu-img writes zstd at that library's default, 3.
    Row(RAW, _ZLIB_64K, Limits(min_ratio=4.0, max_size_ratio=1.01), is_required=True),
    Row(RAW, _ZSTD_64K, Limits(min_ratio=1.6, max_size_ratio=1.01), is_required=True),
)
INFORMATIONAL_ROWS: Final = (
    *(Row(source, RAW) for source in _OTHER_SOURCES),
    Row(_PLAIN_64K, RAW),
    Row(_PLAIN_64K, RAW, peer=Peer.CP),
    Row(RAW, _PLAIN_64K),
)
ALL_ROWS: Final = (*REQUIRED_ROWS, *INFORMATIONAL_ROWS)
