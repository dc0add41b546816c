"""Options and kinds of values that several sub-commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from qcowgui.errors import UnsupportedError
from qcowgui.image.references import DENY, AllowGate, EitherGate, Gate
from qcowgui.units import parse_size

F = TypeVar("F", bound=Callable[..., Any])

FORMATS: Final = ("qcow2", "raw")
_ALLOW_BACKING: Final = "--allow-backing"


def parse_number(text: str) -> int:
    """The number that `text` means: 512, 64k, 1.5G, 0x10000.

    Raises:
        ValueError: When `text` is no such number.
    """
    try:
        return int(text, 16) if text.lower().startswith("0x") else parse_size(text)
    except ValueError as error:
        message = f"{text!r} is not a size (examples: 512, 64k, 1.5G, 0x10000)"
        raise ValueError(message) from error


def parse_size_option(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> int | None:
    """The number of bytes that an option's value means; a callback.

    Raises:
        BadParameter: When the value is no number.
    """
    try:
        return None if value is None else parse_number(value)
    except ValueError as error:
        raise click.BadParameter(str(error), context, parameter) from error


class GatedCommand(click.Command):
    """A command with `--allow-backing`, which takes a value after "=" only.

    So `--allow-backing IMAGE` leaves IMAGE alone, where click would take it as the value.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse `args`, with an empty value added to each `--allow-backing` that has none."""
        end = args.index("--") if "--" in args else len(args)
        options = [
            f"{_ALLOW_BACKING}=" if argument == _ALLOW_BACKING else argument
            for argument in args[:end]
        ]
        return super().parse_args(ctx, options + args[end:])


def allow_backing_option(function: F) -> F:
    """Add `--allow-backing[=PATH]` as `allow_backing`; see `gate_for`."""
    return click.option(
        _ALLOW_BACKING,
        "allow_backing",
        multiple=True,
        metavar="[=PATH]",
        help="Let the image open the files it refers to: backing files, and a data file in its "
        "own folder. With =PATH, that file or anything in that folder (repeatable). Without, "
        "nothing that an image names is opened.",
    )(function)


def gate_for(allow_backing: Sequence[str]) -> Gate:
    """The gate that the values of `--allow-backing` ask for; an empty one is the bare option."""
    paths = [Path(value) for value in allow_backing if value]
    gates: list[Gate] = []
    if "" in allow_backing:
        gates.append(AllowGate())
    if paths:
        gates.append(AllowGate(paths))
    if not gates:
        return DENY
    return gates[0] if len(gates) == 1 else EitherGate(*gates)


def image_argument(function: F) -> F:
    """Add the argument IMAGE as `image`; opening it says what is wrong with it, not the parser."""
    return click.argument("image", type=click.Path())(function)


def format_option(function: F) -> F:
    """Add `-f FMT` as `image_format`."""
    return click.option(
        "-f",
        "image_format",
        metavar="FMT",
        help="The image's format, qcow2 or raw; by default what its content shows.",
    )(function)


def output_options(function: F) -> F:
    """Add `--output=human|json` and `--json`, both as `output`."""
    function = click.option(
        "--output",
        "output",
        type=click.Choice(["human", "json"]),
        default="human",
        help="For people (the default) or for programs.",
    )(function)
    return click.option("--json", "output", flag_value="json", help="The same as --output=json.")(
        function
    )


def share_option(function: F) -> F:
    """Add `-U`, which qemu-img needs for an image in use; this program locks nothing."""
    return click.option(
        "-U",
        "--force-share",
        is_flag=True,
        expose_value=False,
        help="Accepted for qemu-img's sake: images are read without a lock.",
    )(function)


def check_format(image_format: str | None, path: str) -> None:
    """Refuse a format that this program does not read.

    Raises:
        UnsupportedError: For anything but qcow2, raw and None.
    """
    if image_format is not None and image_format not in FORMATS:
        raise UnsupportedError(
            f"the format {image_format!r} is not supported; {' and '.join(FORMATS)} are", path=path
        )
