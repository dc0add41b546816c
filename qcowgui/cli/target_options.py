"""`-o key=value,…` and the other ways in which `convert` is told what to make."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from qcowgui.cli.parameters import parse_number
from qcowgui.errors import OptionsError

_SEPARATOR: Final = re.compile(r"(?<!,),(?!,)")
_TRUE: Final = frozenset({"on", "true", "yes", "y"})
_FALSE: Final = frozenset({"off", "false", "no", "n"})
_COMPATS: Final = {"0.10": "0.10", "1.1": "1.1", "v2": "0.10", "v3": "1.1"}
_COMPRESSIONS: Final = ("zlib", "zstd")
_QCOW2_SUFFIXES: Final = (".qcow2", ".qcow")


def parse_key_values(texts: Iterable[str]) -> dict[str, Any]:
    """What the values of `-o` say, by the names of the keys; a later value wins.

    A comma inside a value is written twice, as for qemu-img.

    Raises:
        OptionsError: For a key that is not known, or a value that its key can't have.
    """
    found: dict[str, Any] = {}
    for text in texts:
        for part in _SEPARATOR.split(text):
            key, equals, value = part.replace(",,", ",").partition("=")
            key = key.strip()
            if key not in _PARSERS:
                raise OptionsError(
                    f"-o does not know {key!r}", hint=f"it knows {', '.join(_PARSERS)}"
                )
            if not equals:
                raise OptionsError(f"-o {key} needs a value: {key}=…")
            try:
                found[key] = _PARSERS[key](value)
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
