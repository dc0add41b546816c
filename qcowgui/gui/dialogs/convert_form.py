"""What the conversion form holds and says, as values: no widgets."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from PySide6.QtCore import QCoreApplication

from qcowgui.codec.registry import CompressionType, level_range
from qcowgui.convert.command_line import command_text, qcowgui_command, qemu_img_command
from qcowgui.convert.forecast import DEFAULT_CANDIDATES, Candidate, CandidateForecast
from qcowgui.convert.options import ConvertOptions
from qcowgui.convert.presets import PRESETS, apply, facts_of, preset
from qcowgui.errors import OptionsError
from qcowgui.gui.consent import Consent
from qcowgui.gui.dialogs.convert_work import Looked
from qcowgui.gui.forecast_work import Forecasted
from qcowgui.gui.formatters import path_text, short_duration_text
from qcowgui.gui.translation import count_text
from qcowgui.units import format_size

translate = QCoreApplication.translate

Values = dict[str, Any]
"""Fields of ConvertOptions by name, but for those that belong to one file."""
Wanted = tuple[ConvertOptions, Consent]
"""A conversion, and what a person has agreed to for it."""

COMPRESSION_TYPES: Final = {kind.label: kind for kind in CompressionType}
DEFAULTS: Final[Values] = {
    option.name: option.default
    for option in dataclasses.fields(ConvertOptions)
    if option.name not in ("source", "target", "overwrite")
}
_OF_QCOW2: Final = (
    "compression",
    "level",
    "window",
    "cluster_bytes",
    "compat",
    "refcount_bits",
    "extended_l2",
    "lazy_refcounts",
    "backing_file",
    "backing_format",
    "keep_backing",
    "bitmaps",
)
_OF_RAW: Final = ("sparse_bytes",)
_OF_THE_READING: Final = (
    "source_format",
    "snapshots_kept",
    "snapshot",
    "threads",
    "verify",
    "salvage",
    "bitmaps",
    "keep_backing",
    "backing_file",
    "backing_format",
)
OPTIMISE: Final = "optimise"
"""The key of the preset that makes a better copy; it is chosen for one image, never remembered."""


def fitting(values: Mapping[str, Any]) -> Values:
    """The settings without those that the target's format can't have: they get their defaults."""
    found = DEFAULTS | dict(values)
    for key in _OF_QCOW2 if found["target_format"] == "raw" else _OF_RAW:
        found[key] = DEFAULTS[key]
    if found["compression"] == "none":
        found["level"] = None
    if found["compression"] != "zlib":
        found["window"] = DEFAULTS["window"]
    if found["compression"] != "none" or found["keep_backing"] or found["backing_file"] is not None:
        found["preallocation"] = DEFAULTS["preallocation"]
    return found


def values_in(options: ConvertOptions) -> Values:
    """The settings that an existing conversion has."""
    return {key: getattr(options, key) for key in DEFAULTS}


# -------------------------------------------------------------------- presets


def preset_values(key: str, values: Mapping[str, Any], looked: Looked | None) -> Values | None:
    """The settings with those that a preset decides; None when it does not suit the source.

    What says which data is read, and how carefully, stays as it is. What makes the file itself gets
    its default where the preset leaves it open.
    """
    try:
        decided = apply(
            preset(key),
            facts_of(looked.report if looked is not None else None),
            stored_bytes=looked.stored_bytes if looked is not None else None,
        )
    except OptionsError:
        return None
    kept = {name: values[name] for name in _OF_THE_READING}
    return fitting(kept | decided)


def matching_preset(values: Mapping[str, Any], looked: Looked | None) -> str | None:
    """The key of the preset that makes just these settings, or None."""
    for found in PRESETS:
        if preset_values(found.key, values, looked) == values:
            return found.key
    return None


def first_preset(remembered: str, looked: Looked | None) -> str:
    """What the form starts with: what was used last, if it makes something else of the source."""
    is_raw = looked is not None and looked.format == "raw"
    possible = preset_values(remembered, DEFAULTS, looked) is not None
    if possible and remembered != OPTIMISE and not (is_raw and remembered == "raw"):
        return remembered
    return "smallest" if is_raw else "raw"


# -------------------------------------------------------------------- forecasts


def candidate_of(values: Mapping[str, Any]) -> Candidate | None:
    """What a forecast can try of these settings; None when it can't.

    Of deflate's windows a forecast knows the large one.
    """
    if values["target_format"] != "qcow2" or values["window"] != "32k":
        return None
    kind = COMPRESSION_TYPES.get(values["compression"])
    level = values["level"]
    if kind is not None and level is None:
        level = level_range(kind).default
    try:
        return Candidate(values["compression"], level, values["cluster_bytes"])
    except OptionsError:
        return None


def values_of(item: CandidateForecast) -> Values:
    """The settings that make what was forecast."""
    tried = item.candidate
    return {
        "target_format": "qcow2",
        "compression": tried.compression,
        "level": tried.level,
        "window": "32k",
        "cluster_bytes": tried.cluster_bytes,
        "compat": "1.1",
        "extended_l2": False,
    }


def preset_candidates(values: Mapping[str, Any], looked: Looked | None) -> list[Candidate]:
    """What a forecast should try: the usual, what the presets make, and what the form says."""
    wanted: dict[Candidate | None, None] = dict.fromkeys(DEFAULT_CANDIDATES)
    for found in PRESETS:
        of_preset = preset_values(found.key, values, looked)
        if of_preset is not None:
            wanted[candidate_of(of_preset)] = None
    wanted[candidate_of(values)] = None
    return [candidate for candidate in wanted if candidate is not None]


def figure_text(values: Mapping[str, Any] | None, found: Forecasted | None) -> str:
    """What a forecast expects of these settings, for a card; empty when nobody knows."""
    if values is None or found is None:
        return ""
    if values["target_format"] == "raw":
        stored = (
            found.forecast.stored_bytes if values["sparse_bytes"] else found.forecast.virtual_bytes
        )
        return translate("convert", "≈ {size} on disk").format(size=format_size(stored))
    item = forecast_of(values, found)
    if item is None:
        return ""
    size, seconds = int(item.size.expected), item.seconds.expected
    return f"≈ {format_size(size)} · {short_duration_text(seconds)}"


def forecast_of(values: Mapping[str, Any], found: Forecasted) -> CandidateForecast | None:
    """What a forecast expects of these settings, or None when it did not try them."""
    candidate = candidate_of(values)
    return None if candidate is None else found.of(candidate)


# -------------------------------------------------------------------- words


def settings_text(values: Mapping[str, Any]) -> str:
    """The settings in a line: what differs from the defaults is named."""
    return " · ".join(_iter_settings(values))


def _iter_settings(values: Mapping[str, Any]) -> Iterator[str]:
    if values["target_format"] == "raw":
        yield translate("convert", "raw disk")
        if not values["sparse_bytes"]:
            yield translate("convert", "without holes")
    else:
        yield "qcow2"
        yield _compression_text(values)
        size = format_size(values["cluster_bytes"])
        yield translate("convert", "clusters of {size}").format(size=size)
    for key, text in (
        ("snapshot", translate("convert", "of a snapshot")),
        ("extended_l2", translate("convert", "extended L2 entries")),
        ("lazy_refcounts", translate("convert", "lazy refcounts")),
        ("bitmaps", translate("convert", "with its bitmaps")),
        ("keep_backing", translate("convert", "on its backing file")),
        ("backing_file", translate("convert", "on a backing file")),
        ("salvage", translate("convert", "salvaged")),
    ):
        if values[key]:
            yield text
    if values["compat"] != DEFAULTS["compat"]:
        yield f"compat {values['compat']}"
    if values["refcount_bits"] != DEFAULTS["refcount_bits"]:
        bits = values["refcount_bits"]
        yield translate("convert", "refcounts of {bits}").format(bits=count_text(bits, "bit"))
    yield (
        translate("convert", "verified")
        if values["verify"]
        else translate("convert", "not verified")
    )


def _compression_text(values: Mapping[str, Any]) -> str:
    kind = COMPRESSION_TYPES.get(values["compression"])
    if kind is None:
        return translate("convert", "not compressed")
    level = values["level"]
    if level is None:
        level = level_range(kind, values["window"]).default
    window = translate("convert", ", window of 4 KiB") if values["window"] == "4k" else ""
    return f"{kind.label} {level}{window}"


def source_text(looked: Looked) -> str:
    """What a source is, in a line."""
    parts = [looked.format, translate("convert", "{size} disk").format(size=_size(looked))]
    parts.append(translate("convert", "file of {size}").format(size=format_size(looked.file_bytes)))
    if looked.snapshots:
        parts.append(count_text(len(looked.snapshots), "snapshot"))
    if looked.bitmaps:
        parts.append(count_text(looked.bitmaps, "bitmap"))
    return " · ".join(parts)


def _size(looked: Looked) -> str:
    return format_size(looked.virtual_bytes)


# -------------------------------------------------------------------- commands


def qcowgui_text(wanted: Iterable[Wanted]) -> str:
    """The commands of this program that do the same, each in a line.

    A command can't say where a file was located by hand: comments do.
    """
    lines: dict[str, None] = {}
    for options, consent in wanted:
        lines[command_text(qcowgui_command(options, consent.allowed))] = None
        for (image, name), path in consent.located.items():
            text = translate("convert", "Here, {name} of {image} was read at {path}.")
            shown = text.format(name=path_text(name), image=path_text(image), path=path_text(path))
            lines[f"# {shown}"] = None
    return "\n".join(lines)


def qemu_img_text(wanted: Iterable[ConvertOptions]) -> tuple[str, tuple[str, ...]]:
    """The commands of qemu-img that come nearest, each in a line, and what they leave out."""
    commands = [qemu_img_command(options) for options in wanted]
    left_out = dict.fromkeys(sentence for command in commands for sentence in command.left_out)
    return "\n".join(command.text for command in commands), tuple(left_out)
