"""The options of `convert` that say what of a source's metadata is carried into the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

SNAPSHOT_MODES: Final = ("files", "chain")
CARRIED_NAMES: Final = ("bitmaps", "keep_backing")
"""Parameters that `ConvertOptions` has under the same name."""


def carry_options(function: F) -> F:
    """Add `--bitmaps` and `--keep-backing` (see `CARRIED_NAMES`), and `--snapshots` as `snapshots`.

    `snapshots` is None, or one of `SNAPSHOT_MODES`, for `convert.snapshots.plan_snapshots`.
    """
    function = click.option(
        "--snapshots",
        type=click.Choice(SNAPSHOT_MODES),
        help="Also convert the internal snapshots, beside TARGET and with their names in its name. "
        "files: each whole. chain: the oldest whole, each later one with its differences, TARGET "
        "on top.",
    )(function)
    function = click.option(
        "--keep-backing",
        is_flag=True,
        help="Keep the source's own backing file instead of taking its data in.",
    )(function)
    return click.option(
        "--bitmaps",
        is_flag=True,
        help="Carry the persistent bitmaps; those that can't be trusted are named and left out.",
    )(function)
