"""Finding zeros fast: whole clusters first, then aligned blocks of a piece.

2026-11-30, 64 KiB: comparing bytes objects is a memcmp (2 µs); numpy's `any` takes 8 µs, comparing
memoryviews 23 µs and more. Data is told from zeros by its first bytes almost always, so those are
looked at first and a copy for memcmp is made only when they are zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

_LOOK_BYTES = 32
_SOME_ZEROS = bytes(_LOOK_BYTES)

Buffer = bytes | bytearray | memoryview


@lru_cache(maxsize=8)
def _zeros(length: int) -> bytes:
    return bytes(length)


def is_zero(data: Buffer) -> bool:
    """Whether every byte of `data` is zero."""
    if data[:_LOOK_BYTES] != _SOME_ZEROS[: len(data)]:
        return False
    if isinstance(data, memoryview):
        data = data.tobytes()
    return data == _zeros(len(data))


def iter_data_runs(data: Buffer, block_bytes: int, *, phase: int = 0) -> Iterator[tuple[int, int]]:
    """The parts [a, b) of `data` that are left when its all-zero blocks are taken out, in order.

    Args:
        data: The bytes.
        block_bytes: Length and alignment of a block that may be left out: a power of two.
        phase: The position of `data`'s first byte, so that blocks are aligned to positions; what
            stands before the first and behind the last whole block is a block of its own.
    """
    length = len(data)
    head = min(-phase % block_bytes, length)
    whole = (length - head) // block_bytes
    if length <= block_bytes and (not head or head == length):
        if not is_zero(data):
            yield 0, length
        return
    edges = [0, head] if head else [0]
    zero_flags = [is_zero(data[:head])] if head else []
    zero_flags += _zero_blocks(data, head, whole, block_bytes)
    edges += range(head + block_bytes, head + (whole + 1) * block_bytes, block_bytes)
    tail = head + whole * block_bytes
    if tail < length:
        zero_flags.append(is_zero(data[tail:]))
        edges.append(length)
    start: int | None = None
    for index, zero in enumerate(zero_flags):
        if zero and start is not None:
            yield start, edges[index]
            start = None
        elif not zero and start is None:
            start = edges[index]
    if start is not None:
        yield start, length


def _zero_blocks(data: Buffer, start: int, blocks: int, block_bytes: int) -> list[bool]:
    """Whether each of the `blocks` from `start` on is all zero."""
    if not blocks:
        return []
    words = np.frombuffer(data, dtype=np.uint8, count=blocks * block_bytes, offset=start)
    grid = words.reshape(blocks, block_bytes)
    # One probe a block rules out nearly all data blocks without reading them.
    candidates = np.flatnonzero((grid[:, 0] | grid[:, block_bytes // 2]) == 0)
    flags = [False] * blocks
    for block in candidates.tolist():
        position = start + block * block_bytes
        flags[block] = is_zero(data[position : position + block_bytes])
    return flags
