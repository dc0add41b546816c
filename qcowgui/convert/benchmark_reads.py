"""How long a guest's random reads take: 4 KiB of a real image, through the strict reader."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Final

from qcowgui.convert.zeros import is_zero
from qcowgui.engine.work import CancelToken
from qcowgui.errors import VerifyError
from qcowgui.image.chain import open_image
from qcowgui.image.reader import GuestImage
from qcowgui.units import KIB

READ_BYTES: Final = 4 * KIB
_TRIES: Final = 16
"""For each place: the part of a disk that is zeros may be large, and reads of them show nothing."""


def draw_places(raw: GuestImage, count: int, seed: int) -> list[tuple[int, bytes]]:
    """Places of a disk for random reads, with what is there: blocks that are not zeros.

    Args:
        raw: The disk; at least one block long.
        count: How many are wanted; fewer come when hardly anything but zeros is found.
        seed: The same one gives the same places.

    Returns:
        Guest offsets, multiples of `READ_BYTES`, each with the block that starts there.

    Raises:
        SourceError: When the operating system refuses a read.
    """
    chance = random.Random(seed)  # noqa: S311  a sample, no secret
    blocks = max(1, raw.size_bytes // READ_BYTES)
    places: list[tuple[int, bytes]] = []
    for _ in range(count * _TRIES):
        offset = chance.randrange(blocks) * READ_BYTES
        block = raw.read(offset, READ_BYTES)
        if not is_zero(block):
            places.append((offset, block))
            if len(places) == count:
                break
    return places


def time_reads(
    path: Path,
    places: Sequence[tuple[int, bytes]],
    token: CancelToken,
    on_read: Callable[[], None],
) -> list[float]:
    """The seconds that each read takes in an image that is opened for these reads.

    Nothing is decoded yet and no table is known to this program; the file itself may well lie in
    the system's memory.

    Args:
        path: A qcow2 image.
        places: From `draw_places`.
        token: Stops it.
        on_read: Called behind each read, outside of the time that is measured.

    Raises:
        ImageError: When the image can't be read.
        SourceError: When the operating system refuses a read.
        VerifyError: When a block differs from what it should be.
        Cancelled: When the token was set.
    """
    seconds = []
    with open_image(path, format="qcow2") as image:
        context = image.context()
        for offset, block in places:
            token.raise_if_cancelled()
            started = perf_counter()
            found = image.read(offset, READ_BYTES, context)
            seconds.append(perf_counter() - started)
            if found != block:
                raise VerifyError(
                    f"The image with the sample does not read as the sample at {offset:#x}",
                    guest_offset=offset,
                    hint="the storage, or this program, is at fault",
                )
            on_read()
    return seconds
