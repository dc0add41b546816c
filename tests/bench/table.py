"""The results for people (a table) and for programs (JSON)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from qcowgui.units import format_size
from tests.bench.corpus import Corpus
from tests.bench.result import Broken, Figures, Measured, find_misses

_HEADINGS: Final = (
    *("row", "product s", "peer s", "ratio", "target", "product CPU s", "peer CPU s"),
    *("product size", "peer size", "size ratio", "product RSS", "peer RSS", "verdict"),
)


def _target_text(result: Measured | Broken) -> str:
    limits = result.row.limits
    if limits.max_wall_seconds is not None:
        return f"< {limits.max_wall_seconds} s"
    return "–" if limits.min_ratio is None else f"{limits.min_ratio:.2f}"


def _verdict(result: Measured | Broken, *, judge_speed: bool) -> str:
    if find_misses(result, judge_speed=judge_speed):
        return "MISSED" if isinstance(result, Measured) else "BROKEN"
    if not result.row.is_required:
        return "info"
    return "reached" if judge_speed else "content only"


def _cells(result: Measured | Broken, *, judge_speed: bool) -> list[str]:
    verdict = _verdict(result, judge_speed=judge_speed)
    if isinstance(result, Broken):
        return [result.row.name, "–", "–", "–", _target_text(result), *["–"] * 7, verdict]
    product, peer, size_ratio = result.product, result.peer, result.size_ratio
    sizes = ["–", "–", "–"]
    if size_ratio is not None:
        outputs = (product.output_bytes, peer.output_bytes)
        sizes = [*map(format_size, outputs), f"{size_ratio:.3f}"]
    return [
        *(result.row.name, f"{product.wall_seconds:.2f}", f"{peer.wall_seconds:.2f}"),
        *(f"{result.ratio:.2f}", _target_text(result)),
        *(f"{product.cpu_seconds:.2f}", f"{peer.cpu_seconds:.2f}", *sizes),
        *(f"{figures.peak_rss_bytes / 1e6:.0f} MB" for figures in (product, peer)),
        verdict,
    ]


def format_table(results: Sequence[Measured | Broken], *, judge_speed: bool) -> str:
    """All results as lines of aligned columns, and below them why rows missed their targets."""
    lines = [list(_HEADINGS), *(_cells(result, judge_speed=judge_speed) for result in results)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = [
        "  ".join(
            cell.ljust(width) if index == 0 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]
    for result in results:
        misses = find_misses(result, judge_speed=judge_speed)
        text.extend(f"{result.row.name}: {miss}" for miss in misses)
    return "\n".join(text)


def _figures_value(figures: Figures) -> dict[str, Any]:
    return {
        "wall_seconds": figures.wall_seconds,
        "cpu_seconds": figures.cpu_seconds,
        "peak_rss_bytes": figures.peak_rss_bytes,
        "output_bytes": figures.output_bytes,
        "samples": [asdict(sample) for sample in figures.samples],
    }


def _result_value(result: Measured | Broken, *, judge_speed: bool) -> dict[str, Any]:
    value: dict[str, Any] = {
        "row": result.row.name,
        "required": result.row.is_required,
        "limits": asdict(result.row.limits),
        "misses": find_misses(result, judge_speed=judge_speed),
    }
    if isinstance(result, Measured):
        value |= {
            "ratio": result.ratio,
            "size_ratio": result.size_ratio,
            "product": _figures_value(result.product),
            "peer": _figures_value(result.peer),
        }
    return value


def format_json(
    results: Sequence[Measured | Broken],
    corpus: Corpus,
    environment: dict[str, str],
    *,
    judge_speed: bool,
) -> str:
    """Every run of every row, with the input and the machine that they were measured on."""
    value = {
        "environment": environment,
        "speed_judged": judge_speed,
        "corpus": {
            "digest": corpus.digest,
            "file_count": corpus.file_count,
            "data_bytes": corpus.data_bytes,
            "image_bytes": corpus.image_bytes,
            "allocated_bytes": corpus.allocated_bytes,
        },
        "rows": [_result_value(result, judge_speed=judge_speed) for result in results],
    }
    return json.dumps(value, indent=2) + "\n"
