"""Finding zeros fast: by a probe of each block, then by memcmp.

2026-11-30, 64 KiB of zeros: comparing bytes objects is a memcmp (2 µs); numpy's `any` takes 8 µs,
comparing memoryviews 23 µs. 16 blocks of data: one strided slice and a search (0.4 µs) show that
none of them starts with a zero; numpy needs 12 µs for the same answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from qcowgui.codec.cluster import Buffer

_LOOK_BYTES: Final = 32
_SOME_ZEROS: Final = bytes(_LOOK_BYTES)


@lru_cache(maxsize=64)
def _zeros(length: int) -> bytes:
    return bytes(length)


def is_zero(data: Buffer) -> bool:
    """Whether every byte of `data` is zero."""
    # Most data differs from zeros at its start; only what does not is copied for the memcmp.
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
        phase: The position of `data`'s first byte: blocks are aligned to positions. What stands
            before the first and behind the last whole block is a block of its own.
    """
    start = 0
    for first, last in _iter_zero_blocks(data, block_bytes, -phase % block_bytes):
        if start < first:
            yield start, first
        start = last
    if start < len(data):
        yield start, len(data)


def _iter_zero_blocks(data: Buffer, block_bytes: int, head: int) -> Iterator[tuple[int, int]]:
    """The blocks of `data` that are all zero, as [a, b); the first one has `head` bytes, if any."""
    length = len(data)
    if head:
        head = min(head, length)
        if is_zero(data[:head]):
            yield 0, head
    probes = bytes(data[head::block_bytes])
    index = probes.find(0)
    while index >= 0:
        first = head + index * block_bytes
        last = min(first + block_bytes, length)
        if data[first : first + _LOOK_BYTES] == _SOME_ZEROS[: last - first] and is_zero(
            data[first:last]
        ):
            yield first, last
        index = probes.find(0, index + 1)
