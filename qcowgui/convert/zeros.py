"""Finding zeros fast: by a probe of each block, then by memcmp.

2026-11-30, 64 KiB of zeros: comparing bytes objects is a memcmp (2 µs); numpy's `any` takes 8 µs,
comparing memoryviews 23 µs. 16 blocks of data: a strided view of 64-bit words shows in 0.7 µs which
of them may be zeros at all; numpy needs 12 µs for the same answer.
"""

from __future__ import annotations

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


def zero_blocks(data: Buffer, block_bytes: int, *, phase: int = 0) -> list[tuple[int, int]]:
    """The blocks [a, b) of `data` that are all zero, in order.

    Args:
        data: The bytes.
        block_bytes: Length and alignment of a block: a power of two, 512 or more.
        phase: The position of `data`'s first byte: blocks are aligned to positions. What stands
            before the first and behind the last whole block is a block of its own.
    """
    length = len(data)
    head = min(-phase % block_bytes, length)
    whole_end = length - (length - head) % block_bytes
    found = []
    if head and is_zero(data[:head]):
        found.append((0, head))
    # A block whose first eight bytes are not all zero is none; few blocks of data get past that.
    words = memoryview(data)[head:whole_end].cast("Q")[:: block_bytes // 8].tolist()
    if 0 in words:
        for index, word in enumerate(words):
            if not word:
                first = head + index * block_bytes
                if is_zero(data[first : first + block_bytes]):
                    found.append((first, first + block_bytes))
    if whole_end < length and is_zero(data[whole_end:]):
        found.append((whole_end, length))
    return found
