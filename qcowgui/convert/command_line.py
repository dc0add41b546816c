"""A conversion as a command to copy: for `qcowgui` itself, and for `qemu-img`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from qcowgui.convert.options import (
    DEFAULT_CLUSTER_BYTES,
    DEFAULT_REFCOUNT_BITS,
    DEFAULT_SPARSE_BYTES,
)

if TYPE_CHECKING:
    from qcowgui.convert.options import ConvertOptions

_QEMU_KEY: Final = "snapshot."
"""qemu-img takes what begins so for KEY=VALUE,… and anything else for a name or an id."""


@dataclass(frozen=True, slots=True)
class QemuCommand:
    """A conversion in `qemu-img`'s words.

    Attributes:
        argv: The program's name and its arguments.
        left_out: What `qemu-img` can't be told, or does in another way, in whole sentences.
    """

    argv: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def text(self) -> str:
        """The command as one line of a shell."""
        return command_text(self.argv)


def command_text(argv: Sequence[str]) -> str:
    """A command as one line of a POSIX shell, quoted where that is needed."""
    return shlex.join(argv)


def qcowgui_command(options: ConvertOptions, allowed: Sequence[Path] = ()) -> list[str]:
    """The `qcowgui convert` command that does the same; what is the default is left out.

    Args:
        options: The conversion.
        allowed: The referenced files that may be opened.
    """
    argv = ["qcowgui", "convert"]
    if options.source_format is not None:
        argv += ["-f", options.source_format]
    argv += ["-O", options.target_format]
    if options.compression != "none":
        argv += ["--compress", options.compression]
    if options.level is not None:
        argv += ["--level", str(options.level)]
    if options.window != "32k":
        argv += ["--window", options.window]
    argv += _key_values(options)
    argv += _sparse(options)
    if options.snapshot is not None:
        argv += ["-l", options.snapshot]
    argv += _backing(options)
    switches = {
        "--keep-backing": options.keep_backing,
        "--bitmaps": options.bitmaps,
        "--no-verify": not options.verify,
        "--salvage": options.salvage,
        "--force": options.overwrite,
    }
    argv += [switch for switch, on in switches.items() if on]
    if options.threads is not None:
        argv += ["-m", str(options.threads)]
    argv += [f"--allow-backing={os.fspath(path)}" for path in allowed]
    names = [os.fspath(options.source), os.fspath(options.target)]
    # Behind "--" nothing is taken for an option, whatever it begins with.
    return [*argv, *(["--"] if any(name.startswith("-") for name in names) else []), *names]


def qemu_img_command(options: ConvertOptions) -> QemuCommand:
    """The `qemu-img convert` command that comes nearest.

    A backing file that the source itself names is only left out for want of its name:
    `kept_backing.with_named_backing` puts it into the options.
    """
    argv = ["qemu-img", "convert"]
    if options.source_format is not None:
        argv += ["-f", options.source_format]
    argv += ["-O", options.target_format]
    kinds: list[str] = []
    if options.compression != "none":
        argv.append("-c")
        kinds = [f"compression_type={options.compression}"]
    argv += _key_values(options, kinds)
    argv += _sparse(options)
    if options.snapshot is not None:
        argv += ["-l", _qemu_snapshot(options.snapshot)]
    argv += _backing(options)
    if options.bitmaps and options.source_format != "raw":  # which qemu-img refuses
        argv += ["--bitmaps", "--skip-broken-bitmaps"]
    if options.salvage:
        argv.append("--salvage")
    argv += [_qemu_name(options.source), _qemu_name(options.target)]
    return QemuCommand(tuple(argv), tuple(_left_out(options)))


def _key_values(options: ConvertOptions, first: Sequence[str] = ()) -> list[str]:
    """`-o` with what both programs call the same, or nothing when all of it is the default."""
    pairs = list(first)
    if options.target_format == "qcow2":
        if options.compat != "1.1":
            pairs.append(f"compat={options.compat}")
        if options.cluster_bytes != DEFAULT_CLUSTER_BYTES:
            pairs.append(f"cluster_size={options.cluster_bytes}")
        if options.refcount_bits != DEFAULT_REFCOUNT_BITS:
            pairs.append(f"refcount_bits={options.refcount_bits}")
        if options.extended_l2:
            pairs.append("extended_l2=on")
        if options.lazy_refcounts:
            pairs.append("lazy_refcounts=on")
    if options.preallocation != "off":
        pairs.append(f"preallocation={options.preallocation}")
    return ["-o", ",".join(pairs)] if pairs else []


def _sparse(options: ConvertOptions) -> list[str]:
    if options.target_format != "raw" or options.sparse_bytes == DEFAULT_SPARSE_BYTES:
        return []
    return ["-S", str(options.sparse_bytes)]


def _backing(options: ConvertOptions) -> list[str]:
    if options.backing_file is None or options.backing_format is None:
        return []
    return ["-B", options.backing_file, "-F", options.backing_format]


def _qemu_name(path: Path) -> str:
    """A file name that qemu-img takes for one: neither for an option nor for a protocol."""
    name = os.fspath(path)
    plain = not name.startswith("-") and ":" not in name.partition("/")[0]
    return name if plain else f"./{name}"


def _qemu_snapshot(snapshot: str) -> str:
    """A snapshot as `qemu-img convert -l` understands it: a comma in a value is written twice."""
    if not snapshot.startswith(_QEMU_KEY):
        return snapshot
    key, equals, value = snapshot.partition("=")
    if not equals or key not in ("snapshot.id", "snapshot.name"):
        key, value = "snapshot.name", snapshot
    return f"{key}={value.replace(',', ',,')}"


def _left_out(options: ConvertOptions) -> Iterator[str]:
    if options.level is not None:
        yield (
            f"The level {options.level}: qemu-img always uses the default one of "
            f"{options.compression}."
        )
    if options.compression == "zlib" and options.window == "32k":
        yield "The window of 32 KiB: qemu-img writes zlib with 4 KiB, which gives larger files."
    if options.keep_backing:
        yield "The source's own backing file, which qemu-img wants named: add -B NAME -F FORMAT."
    if options.threads is not None:
        yield f"The number of threads, {options.threads}: qemu-img chooses it by itself."
    if options.verify:
        yield "Verifying: afterwards, qemu-img compare tells whether the two are the same."
    if options.salvage:
        yield "The list of losses as a file: qemu-img only prints what it could not read."
    if not options.overwrite:
        yield "Keeping a file that exists: qemu-img replaces the target without asking."
