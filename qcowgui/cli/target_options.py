"""How `convert` is told what to make: `--to`, `--preset`, `-O`, `-c`, `-o key=value,…`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from qcowgui.cli import output
from qcowgui.cli.carry_options import CARRIED_NAMES
from qcowgui.cli.parameters import F, parse_number, parse_size_option
from qcowgui.errors import OptionsError

if TYPE_CHECKING:
    from qcowgui.convert.presets import SourceFacts

PRESET_KEYS: Final = ("raw", "smallest", "fastest", "compatible", "optimise")
"""Those of `convert.presets`, which `--help` must not import."""
_TARGETS: Final = {
    "raw": ("raw", "none"),
    "qcow2": ("qcow2", "none"),
    "zlib": ("qcow2", "zlib"),
    "zstd": ("qcow2", "zstd"),
}
"""The values of `--to`: format and compression."""
_SAME_NAMES: Final = (
    "source_format",
    "sparse_bytes",
    "snapshot",
    "threads",
    "verify",
    "salvage",
)
"""Parameters that `ConvertOptions` has under the same name."""
_DIRECT_KEYS: Final = frozenset(
    {"cluster_size", "compat", "refcount_bits", "extended_l2", "lazy_refcounts", "preallocation"}
)
"""Keys of `-o` that are one option of `ConvertOptions` each."""

_SEPARATOR: Final = re.compile(r"(?<!,),(?!,)")
_TRUE: Final = frozenset({"on", "true", "yes", "y"})
_FALSE: Final = frozenset({"off", "false", "no", "n"})
_COMPATS: Final = {"0.10": "0.10", "1.1": "1.1", "v2": "0.10", "v3": "1.1"}
_COMPRESSIONS: Final = ("zlib", "zstd")
_QCOW2_SUFFIXES: Final = (".qcow2", ".qcow")


def parse_key_values(
    texts: Iterable[str], parsers: Mapping[str, Callable[[str], Any]] | None = None
) -> dict[str, Any]:
    """What the values of `-o` say, by the names of the keys; a later value wins.

    A comma inside a value is written twice, as for qemu-img.

    Args:
        texts: The values.
        parsers: The keys that exist and what reads their values; None: those of an image's format.

    Raises:
        OptionsError: For a key that is not known, or a value that its key can't have.
    """
    parsers = _PARSERS if parsers is None else parsers
    found: dict[str, Any] = {}
    for text in texts:
        for part in _SEPARATOR.split(text):
            key, equals, value = part.replace(",,", ",").partition("=")
            key = key.strip()
            if key not in parsers:
                raise OptionsError(
                    f"-o does not know {key!r}", hint=f"it knows {', '.join(parsers)}"
                )
            if not equals:
                raise OptionsError(f"-o {key} needs a value: {key}=…")
            try:
                found[key] = parsers[key](value)
            except ValueError as error:
                raise OptionsError(f"-o {key}: {error}") from error
    return found


def _parse_switch(text: str) -> bool:
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise ValueError(f"{text!r} is neither on nor off")


def _parse_one_of(values: Mapping[str, str]) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in values:
            raise ValueError(f"{text!r} does not exist; {', '.join(values)} do")
        return values[text]

    return parse


_PARSERS: Final[dict[str, Callable[[str], Any]]] = {
    "compression_type": _parse_one_of({name: name for name in _COMPRESSIONS}),
    "cluster_size": parse_number,
    "compat": _parse_one_of(_COMPATS),
    "refcount_bits": parse_number,
    "extended_l2": _parse_switch,
    "lazy_refcounts": _parse_switch,
    "backing_file": str,
    "backing_fmt": str,
}
_PREALLOCATIONS: Final = ("off", "metadata", "falloc", "full")
CONVERT_PARSERS: Final = _PARSERS | {
    "preallocation": _parse_one_of({mode: mode for mode in _PREALLOCATIONS})
}
"""With what is no part of the format, but of how a file is made."""


def choose_format(target_format: str | None, target: str) -> str:
    """The target's format: the one given, else what its name says."""
    if target_format is not None:
        return target_format
    return "qcow2" if target.lower().endswith(_QCOW2_SUFFIXES) else "raw"


def choose_compression(
    *, flag: bool, compress: str | None, keys: Mapping[str, Any], target_format: str
) -> str:
    """The type, or "none", from `-c`, `--compress` and `-o compression_type`.

    As for qemu-img, `-o compression_type` alone compresses nothing.

    Raises:
        OptionsError: When two of them contradict each other, or a raw target should be compressed.
    """
    kind: str | None = keys.get("compression_type")
    if compress and kind and compress != kind:
        raise OptionsError(
            f"--compress {compress} and -o compression_type={kind} contradict each other"
        )
    if not flag and not compress:
        return "none"
    if target_format == "raw":
        raise OptionsError("A raw target can't be compressed", hint="-O qcow2 makes a qcow2 image")
    return compress or kind or "zlib"


def choose_backing(
    backing_file: str | None, backing_format: str | None, keys: Mapping[str, Any]
) -> tuple[str | None, str | None]:
    """The backing file that the target keeps and its format, from `-B`, `-F` and `-o`.

    Raises:
        OptionsError: When the two ways to say it contradict each other.
    """
    chosen = []
    for option, value, key in (
        ("-B", backing_file, "backing_file"),
        ("-F", backing_format, "backing_fmt"),
    ):
        other: str | None = keys.get(key)
        if value is not None and other is not None and value != other:
            raise OptionsError(f"{option} {value} and -o {key}={other} contradict each other")
        chosen.append(value if value is not None else other)
    return chosen[0], chosen[1]


_OPTIONS: Final = (
    click.option("-f", "source_format", metavar="FMT", help="The source's format: qcow2 or raw."),
    click.option(
        "--to",
        type=click.Choice(list(_TARGETS)),
        help="What to make: raw, qcow2 (not compressed), or qcow2 compressed with zlib or zstd.",
    ),
    click.option(
        "--preset",
        type=click.Choice(PRESET_KEYS),
        help="Settings that belong together; single ones can be given as well and win. optimise: "
        "as the source, compressed anew, without leaks and free space.",
    ),
    click.option(
        "-O",
        "target_format",
        metavar="FMT",
        help="The target's format: qcow2 or raw. Without, its name decides: .qcow2 and .qcow are "
        "qcow2, anything else is raw.",
    ),
    click.option("-c", "compress_flag", is_flag=True, help="Compress, by default with zlib."),
    click.option(
        "--compress",
        type=click.Choice(["zlib", "zstd"]),
        help="Compress with this type; implies -c.",
    ),
    click.option("--level", type=int, metavar="N", help="Compression level: zlib 0–12, zstd 1–22."),
    click.option(
        "--window",
        type=click.Choice(["4k", "32k"]),
        help="Deflate's history: 32k (the default, smaller), or 4k as qemu-img writes it.",
    ),
    click.option("-o", "key_values", multiple=True, metavar="KEY=VALUE,…", help="See above."),
    click.option(
        "-S",
        "sparse_bytes",
        metavar="SIZE",
        default="4k",
        callback=parse_size_option,
        help="Zeros of this length become holes in a raw target; 0: none do. Default 4k.",
    ),
    click.option("-l", "snapshot", metavar="SNAP", help="Convert this snapshot, by name or id."),
    click.option(
        "-B", "backing_file", metavar="FILE", help="The backing file that the target keeps."
    ),
    click.option("-F", "backing_format", metavar="FMT", help="The format of that backing file."),
    click.option(
        "-m",
        "--threads",
        type=int,
        metavar="N",
        help="Threads to work with, for all jobs together; by default one a core.",
    ),
    click.option("--verify/--no-verify", default=True, help="Read the result again and compare."),
    click.option(
        "--salvage", is_flag=True, help="Write zeros for what can't be read, and list it."
    ),
    click.option("--force", is_flag=True, help="Replace an existing target, once all went well."),
)


def conversion_options(function: F) -> F:
    """Add the options that say how a conversion is done; see `option_fields`."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def needs_source_facts(given: Mapping[str, Any]) -> bool:
    """Whether `option_fields` depends on what the source is."""
    from qcowgui.convert import presets

    key: str | None = given["preset"]
    if key is None:
        return False
    chosen = presets.preset(key)
    return chosen.like_source or chosen.fits_cluster


def option_fields(
    given: Mapping[str, Any],
    target: str | None,
    source: SourceFacts | None = None,
    *,
    stored_bytes: int | None = None,
) -> dict[str, Any]:
    """The fields of `ConvertOptions` without source and target.

    Args:
        given: The values of the command line, by their parameters' names.
        target: The target's name, which decides the format where nothing else does; None: there
            is none yet.
        source: What the source is, for presets that keep that.
        stored_bytes: About how much data it has, for presets that depend on that.

    Raises:
        OptionsError: When the values contradict each other.
    """
    from qcowgui.convert import presets

    key: str | None = given["preset"]
    found: dict[str, Any] = {}
    if key is not None:
        found = presets.apply(presets.preset(key), source, stored_bytes=stored_bytes)
    keys = parse_key_values(given["key_values"], CONVERT_PARSERS)
    found["target_format"] = _chosen_format(given, target, found.get("target_format"))
    _put_compression(found, given, keys)
    if found["target_format"] == "raw" and (
        others := [key for key in keys if key != "preallocation"]
    ):
        raise OptionsError(
            f"A raw target has no options but preallocation, and -o {', '.join(others)} was given",
            hint="-O qcow2 makes a qcow2 image",
        )
    if found["compression"] == "none":
        _refuse_idle_compression(keys, given["level"])
    found["backing_file"], found["backing_format"] = choose_backing(
        given["backing_file"], given["backing_format"], keys
    )
    renamed = {"cluster_size": "cluster_bytes"}
    found |= {renamed.get(name, name): keys[name] for name in keys if name in _DIRECT_KEYS}
    found |= {name: given[name] for name in (*_SAME_NAMES, *CARRIED_NAMES)}
    return found | {"overwrite": given["force"]}


def _chosen_format(given: Mapping[str, Any], target: str | None, preset_format: str | None) -> str:
    """The target's format, as `--to`, `-O`, the preset or the target's name says.

    Raises:
        OptionsError: When none of them says it, or two say different things.
    """
    to: str | None = given["to"]
    if to is not None:
        for option, value in (
            ("-O", given["target_format"]),
            ("-c", given["compress_flag"]),
            ("--compress", given["compress"]),
        ):
            if value:
                raise OptionsError(
                    f"--to says the format and the compression, but {option} was given as well",
                    hint="leave out one of the two",
                )
        return _TARGETS[to][0]
    asked: str | None = given["target_format"] or preset_format
    if asked is None and target is None:
        raise OptionsError(
            "What to make was not said",
            hint="--to raw, --to qcow2, --to zlib, --to zstd, or a --preset",
        )
    return choose_format(asked, target or "")


def _put_compression(
    found: dict[str, Any], given: Mapping[str, Any], keys: Mapping[str, Any]
) -> None:
    """Put compression, level and window into the fields; what is given wins over the preset's."""
    of_preset = found.get("compression", "none")
    if given["to"] is not None:
        asked = _TARGETS[given["to"]][1]
        if keys.get("compression_type", asked) != asked != "none":
            raise OptionsError(
                f"--to {asked} and -o compression_type={keys['compression_type']} contradict "
                "each other"
            )
    else:
        asked = choose_compression(
            flag=given["compress_flag"],
            compress=given["compress"],
            keys=keys,
            target_format=found["target_format"],
        )
        if asked == "none" and of_preset != "none" and found["target_format"] == "qcow2":
            asked = keys.get("compression_type", of_preset)
    if asked != of_preset:
        found.pop("level", None)
        found.pop("window", None)
    found["compression"] = asked
    for name in ("level", "window"):
        if given[name] is not None:
            found[name] = given[name]


def _refuse_idle_compression(keys: Mapping[str, Any], level: int | None) -> None:
    """Say that nothing will be compressed where the other options let one expect it.

    Raises:
        OptionsError: When a level was given, which only makes sense with compression.
    """
    if level is not None:
        raise OptionsError(
            f"--level {level} was given, but no compression",
            hint="add -c, or use --compress zlib or --compress zstd",
        )
    if "compression_type" in keys:
        kind = keys["compression_type"]
        output.warn(
            f"-o compression_type={kind} alone compresses nothing, as with qemu-img: "
            f"add -c, or use --compress {kind}"
        )
