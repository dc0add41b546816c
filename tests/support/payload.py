"""Compressed streams in every shape that writers have produced."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import accumulate
from typing import Literal

import numpy as np
import numpy.typing as npt
import zstandard

LengthPrefix = Literal["big", "little"]

DEFLATE = 0
ZSTD = 1


def deflate_stream(data: bytes, *, level: int | None = None, wbits: int = -12) -> bytes:
    """Return `data` as raw deflate; `wbits` is the negated binary logarithm of the window."""
    compressor = zlib.compressobj(6 if level is None else level, zlib.DEFLATED, wbits, 9)
    return compressor.compress(data) + compressor.flush()


def zstd_stream(
    data: bytes, *, level: int | None = None, frames: int = 1, content_size: bool = True
) -> bytes:
    """Return `data` as `frames` zstd frames of about the same share, one after another."""
    share = -(-len(data) // frames)
    compressor = zstandard.ZstdCompressor(
        level=3 if level is None else level, write_content_size=content_size
    )
    return b"".join(
        compressor.compress(data[start : start + share]) for start in range(0, len(data), share)
    )


def with_length_prefix(stream: bytes, byteorder: LengthPrefix) -> bytes:
    """Return the stream as the unreleased zstd patches of 2019 stored it, its length before it."""
    return len(stream).to_bytes(4, byteorder) + stream


def packed(payloads: Sequence[bytes]) -> tuple[bytes, npt.NDArray[np.uint64]]:
    """Return `payloads` one behind the other, and where each lies: what decode_many takes."""
    lengths = [len(payload) for payload in payloads]
    starts = [0, *accumulate(lengths)][: len(lengths)]
    return b"".join(payloads), np.array([starts, lengths], dtype=np.uint64).T.copy()
