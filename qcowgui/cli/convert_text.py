"""How the result of a conversion reads, for people and for programs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from qcowgui.cli import output
from qcowgui.cli.progress import format_seconds
from qcowgui.units import format_offset, format_size

if TYPE_CHECKING:
    from qcowgui.convert.job import ConvertResult
    from qcowgui.convert.options import ConvertOptions


def warnings_of(result: ConvertResult) -> list[str]:
    """All that is to be said of a result: its warnings and what was lost."""
    found = list(result.warnings)
    for lost in result.losses:
        end = lost.start + lost.length
        where = f"{format_offset(lost.start)} to {format_offset(end)}"
        found.append(f"lost: guest bytes {where}: {lost.reason}")
    return found


def summary(options: ConvertOptions, result: ConvertResult) -> str:
    """The result of a conversion in one line."""
    compression = "" if options.compression == "none" else f", {options.compression}"
    kind = f"{options.target_format}{compression}"
    used = result.target_disk_bytes
    blocks = (
        f", {format_size(used)} used" if used is not None and used < result.target_bytes else ""
    )
    sizes = f"{format_size(result.source_bytes)} → {format_size(result.target_bytes)}"
    # A raw file is as long as the disk: its length says nothing about the conversion.
    if options.target_format == "qcow2" and result.source_bytes:
        sizes += f" ({result.target_bytes / result.source_bytes:.1%})"
    return "; ".join(
        [
            f"{options.target}: {kind}, virtual size {format_size(result.virtual_bytes)}",
            f"file {sizes}{blocks}",
            format_seconds(result.seconds),
            "verified" if result.verified else "not verified",
        ]
    )


def result_object(options: ConvertOptions, result: ConvertResult) -> dict[str, Any]:
    """The result of a conversion as JSON; sizes in bytes."""
    return {
        "schema": output.SCHEMA,
        "source": os.fspath(options.source),
        "target": os.fspath(options.target),
        "format": options.target_format,
        "compression": options.compression,
        "virtual-size": result.virtual_bytes,
        "source-bytes": result.source_bytes,
        "target-bytes": result.target_bytes,
        "target-disk-bytes": result.target_disk_bytes,
        "seconds": round(result.seconds, 3),
        "verified": result.verified,
        "bitmaps": list(result.bitmaps),
        "losses-file": None if result.losses_path is None else os.fspath(result.losses_path),
        "losses": [
            {"start": lost.start, "length": lost.length, "reason": lost.reason}
            for lost in result.losses
        ],
        "warnings": list(result.warnings),
    }
