"""Ready-made choices for a conversion, by what somebody wants of the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from qcowgui.convert.options import (
    DEFAULT_CLUSTER_BYTES,
    Compat,
    Compression,
    TargetFormat,
)
from qcowgui.errors import OptionsError
from qcowgui.format.features import Compatible
from qcowgui.units import KIB, MIB

if TYPE_CHECKING:
    from qcowgui.codec.registry import Window
    from qcowgui.image.inspect import ImageReport


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What a qcow2 source is, as far as a result may be like it.

    Attributes:
        compression: Its compression type, whether or not anything is compressed.
        cluster_bytes: Its cluster size.
        compat: Its version.
        refcount_bits: Their width.
        extended_l2: Whether it has subclusters.
        lazy_refcounts: Whether it has that compatible feature.
    """

    compression: Compression
    cluster_bytes: int
    compat: Compat
    refcount_bits: int
    extended_l2: bool
    lazy_refcounts: bool


@dataclass(frozen=True, slots=True)
class Preset:
    """A choice with a name.

    Attributes:
        key: Its name for programs.
        target_format: What it makes.
        compression: Of a qcow2 target; what `like_source` gives wins.
        level: None: the type's default.
        window: Deflate's history.
        cluster_bytes: Of a qcow2 target.
        fits_cluster: Whether the cluster size depends on how much data there is.
        like_source: Whether the result's geometry, version and type are the source's.
    """

    key: str
    target_format: TargetFormat
    compression: Compression = "none"
    level: int | None = None
    window: Window = "32k"
    cluster_bytes: int = DEFAULT_CLUSTER_BYTES
    fits_cluster: bool = False
    like_source: bool = False


PRESETS: Final = (
    Preset("raw", "raw"),
    Preset("smallest", "qcow2", "zstd", level=19, cluster_bytes=2 * MIB, fits_cluster=True),
    Preset("fastest", "qcow2", "zstd", level=1),
    Preset("compatible", "qcow2", "zlib", window="4k"),
    Preset("optimise", "qcow2", like_source=True),
)
"""2026-11-30, 16 MiB of programs and headers, zstd's output per byte of input at levels 9, 15, 19:
0.301, 0.266, 0.260 in clusters of 64 KiB, 0.269, 0.268, 0.224 of 512 KiB, 0.253, 0.251, 0.210 of
2 MiB; MB/s on one core about 50, 8, 2. So the smallest needs level 19 and large clusters.
Level 1 packs some 400 MB/s on one core, to a third: two cores are quicker than a disk that would
have to write all of it, unless it takes more than some 400 MB/s. So the fastest compresses."""

_LARGE_CLUSTERS: Final = ((800 * MIB, 2 * MIB), (100 * MIB, 512 * KIB))
"""From how much data on a cluster size pays: some seven clusters of metadata are never shared."""
_OPTIMISE_LEVELS: Final[dict[str, int]] = {"zlib": 9, "zstd": 15}
"""Within some per cent of the smallest at the usual 64 KiB, and several times as quick."""


def preset(key: str) -> Preset:
    """The preset of this name.

    Raises:
        OptionsError: When there is none.
    """
    for found in PRESETS:
        if found.key == key:
            return found
    keys = ", ".join(found.key for found in PRESETS)
    raise OptionsError(f"there is no preset {key!r}", hint=f"there are {keys}")


def facts_of(report: ImageReport | None) -> SourceFacts | None:
    """What a report says of a source, or None when its geometry or its type can't be kept.

    Args:
        report: None for a source that is no qcow2 image.
    """
    geometry = report.header.geometry if report is not None else None
    if report is None or geometry is None:
        return None
    header = report.header
    if header.compression_name not in ("zlib", "zstd"):
        return None
    return SourceFacts(
        compression=cast("Compression", header.compression_name),
        cluster_bytes=geometry.cluster_bytes,
        compat="0.10" if header.version == 2 else "1.1",
        refcount_bits=1 << header.refcount_order,
        extended_l2=header.extended_l2,
        lazy_refcounts=bool(header.compatible_features & Compatible.LAZY_REFCOUNTS),
    )


def apply(
    chosen: Preset, source: SourceFacts | None = None, *, stored_bytes: int | None = None
) -> dict[str, Any]:
    """The fields of `ConvertOptions` that a preset decides, with their values.

    Args:
        chosen: The preset.
        source: What the source is; needed for a preset that makes the result like it.
        stored_bytes: About how much data there is: what the source's file takes on its disk. None:
            not known.

    Raises:
        OptionsError: When the source is not known, or no qcow2 image, and the preset needs one.
    """
    found: dict[str, Any] = {
        "target_format": chosen.target_format,
        "compression": chosen.compression,
        "level": chosen.level,
        "window": chosen.window,
        "cluster_bytes": chosen.cluster_bytes,
    }
    if chosen.fits_cluster and stored_bytes is not None:
        found["cluster_bytes"] = next(
            (size for least, size in _LARGE_CLUSTERS if stored_bytes >= least),
            DEFAULT_CLUSTER_BYTES,
        )
    if not chosen.like_source:
        return found
    if source is None:
        raise OptionsError(
            f"the preset {chosen.key!r} makes a better copy of a qcow2 image, and the source is "
            "none that can be read",
            hint="choose another preset",
        )
    return found | {
        "compression": source.compression,
        "level": _OPTIMISE_LEVELS[source.compression],
        "cluster_bytes": source.cluster_bytes,
        "compat": source.compat,
        "refcount_bits": source.refcount_bits,
        "extended_l2": source.extended_l2,
        "lazy_refcounts": source.lazy_refcounts,
    }
