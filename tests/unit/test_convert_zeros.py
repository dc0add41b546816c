"""Finding zeros: against the plainest possible implementation."""

from __future__ import annotations

import random

import pytest

from qcowgui.convert.zeros import is_zero, zero_blocks


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
@pytest.mark.parametrize("length", [0, 1, 31, 32, 33, 512, 65536])
def test_is_zero(length: int, kind: type[bytes | bytearray | memoryview]) -> None:
    assert is_zero(kind(bytes(length)))
    for position in {0, length // 2, length - 1} if length else ():
        data = bytearray(length)
        data[position] = 1
        assert not is_zero(kind(bytes(data)))


def plain_zero_blocks(data: bytes, block_bytes: int, phase: int) -> list[tuple[int, int]]:
    """What `zero_blocks` says, one block after another."""
    blocks: list[tuple[int, int]] = []
    start = 0
    while start < len(data):
        end = min(len(data), start + block_bytes - (phase + start) % block_bytes)
        if not any(data[start:end]):
            blocks.append((start, end))
        start = end
    return blocks


@pytest.mark.parametrize("seed", range(60))
def test_zero_blocks(seed: int) -> None:
    chance = random.Random(seed)
    block_bytes = chance.choice([512, 1024, 4096])
    length = chance.choice([0, 1, 511, 512, 4096, 5000, 20000, chance.randrange(40000)])
    phase = chance.choice([0, 512, 100, chance.randrange(1 << 40)])
    data = bytearray(length)
    for _ in range(chance.randrange(6) if length else 0):
        start = chance.randrange(length)
        end = min(length, start + chance.choice([1, 300, 5000]))
        data[start:end] = chance.randbytes(end - start)
    expected = plain_zero_blocks(bytes(data), block_bytes, phase)
    assert zero_blocks(bytes(data), block_bytes, phase=phase) == expected
    assert zero_blocks(memoryview(data), block_bytes, phase=phase) == expected


@pytest.mark.parametrize("position", [0, 255, 256, 257, 511, 512, 2047])
def test_a_single_byte_anywhere(position: int) -> None:
    data = bytearray(2048)
    data[position] = 0x80
    found = zero_blocks(data, 512)
    assert found == [
        (start, start + 512) for start in range(0, 2048, 512) if start != position // 512 * 512
    ]
