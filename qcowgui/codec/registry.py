"""The codecs by compression type, and the levels and windows each one takes."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final, Literal, TypeAlias

from qcowgui.codec import deflate, zstd
from qcowgui.codec.cluster import ClusterDecoder, ClusterEncoder, LevelRange, Step, no_step
from qcowgui.errors import OptionsError

Window: TypeAlias = Literal["4k", "32k"]
"""How far back a deflate stream may refer."""

DEFAULT_WINDOW: Final = "32k"


class CompressionType(IntEnum):
    """The header's compression_type. The spec calls type 0 deflate; its option name is zlib."""

    ZLIB = 0
    ZSTD = 1

    @property
    def label(self) -> str:
        """The name that qemu-img prints and takes."""
        return self.name.lower()


LEVELS: Final[Mapping[CompressionType, LevelRange]] = {
    CompressionType.ZLIB: deflate.LEVELS_32K,
    CompressionType.ZSTD: zstd.LEVELS,
}
"""The levels with the default window; `level_range` knows the other one."""


def level_range(compression_type: CompressionType, window: Window = DEFAULT_WINDOW) -> LevelRange:
    """The levels that `encoder` takes for this type and window.

    Raises:
        OptionsError: When the type has no such window.
    """
    if window not in ("4k", "32k"):
        raise OptionsError(f"there is no window of {window}", hint="4k or 32k")
    if window == DEFAULT_WINDOW:
        return LEVELS[compression_type]
    if compression_type is not CompressionType.ZLIB:
        raise OptionsError(
            f"a window of {window} belongs to zlib, not to {compression_type.label}",
            hint="leave out the window",
        )
    return deflate.LEVELS_4K


def decoder(compression_type: CompressionType, cluster_bytes: int) -> ClusterDecoder:
    """A new decoder for clusters of `cluster_bytes`, for one thread."""
    if compression_type is CompressionType.ZSTD:
        return zstd.ZstdDecoder(cluster_bytes)
    return deflate.DeflateDecoder(cluster_bytes)


def encoder(
    compression_type: CompressionType,
    cluster_bytes: int,
    *,
    level: int | None = None,
    window: Window = DEFAULT_WINDOW,
    on_step: Step = no_step,
) -> ClusterEncoder:
    """A new encoder for clusters of `cluster_bytes`, for one thread.

    Args:
        compression_type: What to write.
        cluster_bytes: The length of every cluster.
        level: None: the type's and window's default.
        window: How far back a deflate stream may refer.
        on_step: Called before each cluster, and several times in one where that takes long.

    Raises:
        OptionsError: When the type has no such level or window.
    """
    levels = level_range(compression_type, window)
    if level is None:
        level = levels.default
    if not levels.lowest <= level <= levels.highest:
        raise OptionsError(
            f"{compression_type.label} has no level {level}",
            hint=f"{levels.lowest} to {levels.highest}"
            + (f" with a window of {window}" if window != DEFAULT_WINDOW else ""),
        )
    if compression_type is CompressionType.ZSTD:
        return zstd.ZstdEncoder(cluster_bytes, level, on_step)
    if window == "4k":
        return deflate.SmallWindowDeflateEncoder(cluster_bytes, level, on_step)
    return deflate.DeflateEncoder(cluster_bytes, level, on_step)
