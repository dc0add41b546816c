"""Compressed streams in every shape that writers have produced."""

from __future__ import annotations

import zlib
from typing import Literal

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
