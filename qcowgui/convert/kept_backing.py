"""The backing file that a target keeps: where it is, under which name, and what it holds."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from qcowgui.convert.output import refuse_same_file
from qcowgui.errors import OptionsError
from qcowgui.image.chain import OpenedImage, open_image
from qcowgui.image.references import (
    AllowGate,
    EitherGate,
    Gate,
    Reference,
    resolve_reference,
)

if TYPE_CHECKING:
    from qcowgui.convert.options import ConvertOptions


def with_named_backing(options: ConvertOptions, source: OpenedImage) -> ConvertOptions:
    """The options with the name of the source's own backing file, where they want to keep that.

    A source without a backing file has none to keep: the target stands alone then.

    Raises:
        OptionsError: When the name would be too long for a header.
    """
    if not options.keep_backing:
        return options
    if len(source.chain) < 2:
        return replace(options, keep_backing=False)
    base = source.chain[1]
    return replace(
        options,
        keep_backing=False,
        backing_file=_name_from(options.target, base.reference, base.path),
        backing_format=base.format,
    )


def _name_from(target: Path, reference: Reference | None, base: Path) -> str:
    """The name under which `target` finds `base`: the source's own, where that still leads there.

    Else the way from the target's folder to it, or where there is none, the absolute path.
    """
    real_target = Path(os.path.realpath(target))
    if reference is not None:
        again = resolve_reference("backing file", reference.name, real_target)
        if again.path is not None and _same_path(again.path, base):
            return reference.name
    real_base = os.path.realpath(base)
    try:
        name = os.path.relpath(real_base, real_target.parent)
    except ValueError:  # another drive
        return real_base
    # QEMU takes what stands before a colon for a protocol, unless a slash comes first.
    return f"./{name}" if ":" in name.partition("/")[0] else name


def _same_path(left: Path, right: Path) -> bool:
    return os.path.realpath(left) == os.path.realpath(right)


def backing_of(options: ConvertOptions) -> Reference | None:
    """Where the named backing file is, seen from the place where the target really will be."""
    if options.backing_file is None:
        return None
    target = Path(os.path.realpath(options.target))
    return resolve_reference("backing file", options.backing_file, target)


def gate_with_backing(options: ConvertOptions, gate: Gate) -> Gate:
    """What the user allowed, and the backing file that the options name."""
    reference = backing_of(options)
    if reference is None or reference.path is None:
        return gate
    return EitherGate(gate, AllowGate((reference.path,)))


def open_backing(options: ConvertOptions, gate: Gate) -> OpenedImage | None:
    """The backing file that the target keeps, opened as guest data; None when it keeps none.

    Args:
        options: With the backing file by name.
        gate: What else may be opened.

    Raises:
        OptionsError: When its name is no plain file name.
        OutputError: When the target would replace it.
        ImageError: When it can't present guest data.
        ReferencedFileError: When it refers to a file that is not allowed or missing.
        SourceError: When the operating system refuses a file.
    """
    reference = backing_of(options)
    if reference is None:
        return None
    if reference.path is None:
        raise OptionsError(
            f"The backing file {reference.name!r} is not a plain file name",
            hint="protocol and json: names can't be read; write ./ before a name with a colon",
        )
    base = open_image(
        reference.path, format=options.backing_format, gate=gate_with_backing(options, gate)
    )
    try:
        refuse_same_file(options.target, base.identities)
    except BaseException:
        base.close()
        raise
    return base
