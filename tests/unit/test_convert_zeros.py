"""Finding zeros: against the plainest possible implementation."""

from __future__ import annotations

import random

import pytest

from qcowgui.convert.zeros import is_zero, iter_data_runs


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
@pytest.mark.parametrize("length", [0, 1, 31, 32, 33, 512, 65536])
def test_is_zero(length: int, kind: type[bytes | bytearray | memoryview]) -> None:
    assert is_zero(kind(bytes(length)))
    for position in {0, length // 2, length - 1} if length else ():
        data = bytearray(length)
        data[position] = 1
        assert not is_zero(kind(bytes(data)))


def plain_runs(data: bytes, block_bytes: int, phase: int) -> list[tuple[int, int]]:
    """What `iter_data_runs` says, one block after another."""
    runs: list[tuple[int, int]] = []
    start = 0
    while start < len(data):
        end = min(len(data), start + block_bytes - (phase + start) % block_bytes)
        if any(data[start:end]):
            if runs and runs[-1][1] == start:
                runs[-1] = runs[-1][0], end
            else:
                runs.append((start, end))
        start = end
    return runs


@pytest.mark.parametrize("seed", range(60))
def test_data_runs(seed: int) -> None:
    chance = random.Random(seed)
    block_bytes = chance.choice([512, 1024, 4096])
    length = chance.choice([0, 1, 511, 512, 4096, 5000, 20000, chance.randrange(40000)])
    phase = chance.choice([0, 512, 100, chance.randrange(1 << 40)])
    data = bytearray(length)
    for _ in range(chance.randrange(6) if length else 0):
        start = chance.randrange(length)
        end = min(length, start + chance.choice([1, 300, 5000]))
        data[start:end] = chance.randbytes(end - start)
    expected = plain_runs(bytes(data), block_bytes, phase)
    assert list(iter_data_runs(bytes(data), block_bytes, phase=phase)) == expected
    assert list(iter_data_runs(memoryview(data), block_bytes, phase=phase)) == expected


@pytest.mark.parametrize("position", [0, 255, 256, 257, 511, 512, 2047])
def test_a_single_byte_anywhere(position: int) -> None:
    data = bytearray(2048)
    data[position] = 0x80
    block = position // 512 * 512
    assert list(iter_data_runs(data, 512)) == [(block, block + 512)]
