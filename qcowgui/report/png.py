"""Pictures of indexed colours as PNG files: all that a map needs, and no toolkit for it.

One byte a pixel and a palette: IHDR, PLTE, IDAT, IEND; filter 0 in every row.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_HEADER: Final = struct.Struct(">IIBBBBB")
_BIT_DEPTH: Final = 8
_INDEXED: Final = 3
_MAX_COLOURS: Final = 256


def indexed_png(pixels: npt.NDArray[np.uint8], colours: Sequence[str]) -> bytes:
    """A PNG file.

    Args:
        pixels: Shape (height, width): indices into `colours`.
        colours: At most 256, as #rrggbb.

    Raises:
        ValueError: When the picture is empty, or a pixel has no colour.
    """
    height, width = pixels.shape
    if not height or not width:
        raise ValueError("a picture has at least one pixel")
    if not int(pixels.max()) < len(colours) <= _MAX_COLOURS:
        raise ValueError("each pixel needs one of at most 256 colours")
    header = _HEADER.pack(width, height, _BIT_DEPTH, _INDEXED, 0, 0, 0)
    palette = bytes.fromhex("".join(colour.removeprefix("#") for colour in colours))
    rows = np.zeros((height, width + 1), dtype=np.uint8)  # in front of each row its filter
    rows[:, 1:] = pixels
    return b"".join(
        (
            _SIGNATURE,
            _chunk(b"IHDR", header),
            _chunk(b"PLTE", palette),
            _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)
