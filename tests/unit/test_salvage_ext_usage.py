"""Block bitmaps of ext file systems as shapes of L2 tables."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest

from qcowgui.format.geometry import Geometry
from qcowgui.salvage.ext_usage import ExtUsage
from qcowgui.salvage.ordering import best_matches
from tests.support.options import KIB, MIB
from tests.unit.test_salvage_guest_hints import ext_superblock

BLOCKS = 3 * 8192 + 1  # three groups of 8 MiB, blocks of 1 KiB


def disk(*used: tuple[int, int], start: int = 0, flags: int = 0) -> bytes:
    """A file system whose block ranges `used` (in whole bytes of the bitmap) are in use."""
    data = bytearray(start + 2 * MIB)
    data[start + 1024 : start + 2048] = superblock()
    for group in range(3):
        descriptor = struct.pack("<IIIHHHH12x", 100 + group, 200, 300, 0, 0, 0, flags)
        at = start + 2 * KIB + group * 32
        data[at : at + 32] = descriptor
    for first, last in used:
        for block in range(first, last):
            group, inside = divmod(block - 1, 8192)
            at = start + (100 + group) * KIB + inside // 8
            data[at] |= 1 << (inside % 8)
    return bytes(data)


def superblock() -> bytes:
    return ext_superblock(blocks=BLOCKS, log_block=0)


def usage(data: bytes, start: int = 0) -> ExtUsage:
    return ExtUsage(superblock(), start, lambda offset, length: data[offset : offset + length])


@pytest.mark.parametrize("bits", [9, 10, 12])
def test_used_blocks_become_used_clusters(bits: int) -> None:
    geometry = Geometry(bits)
    used = [(1, 40), (3000, 3001), (8190, 8300), (20_000, 20_100)]
    found = usage(disk(*used))
    coverage = geometry.l1_coverage_bytes
    for index in range(BLOCKS * KIB // coverage):
        expected = np.zeros(geometry.l2_entries, dtype=np.bool_)
        for first, last in used:
            for offset in range(first * KIB, last * KIB, 512):
                place = (offset - index * coverage) >> bits
                if 0 <= place < len(expected):
                    expected[place] = True
        clusters = found.used_clusters(index, geometry)
        assert clusters is not None
        assert np.array_equal(clusters, expected), index


def test_a_volume_that_begins_between_clusters() -> None:
    geometry = Geometry(12)
    found = usage(disk((3, 4), start=63 * 512), 63 * 512)
    clusters = found.used_clusters(0, geometry)
    assert clusters is not None
    assert np.flatnonzero(clusters).tolist() == [(63 * 512 + 3 * KIB) >> 12]


def test_a_group_that_was_never_used() -> None:
    clusters = usage(disk((1, 40), flags=2)).used_clusters(0, Geometry(12))
    assert clusters is not None
    assert not clusters.any()


def test_what_is_outside_or_not_known() -> None:
    geometry = Geometry(12)
    found = usage(disk((1, 40)))
    assert found.readable
    assert found.used_clusters(99, geometry) is None
    assert found.ends_before(99, geometry)
    assert not found.ends_before(3, geometry)
    assert usage(b"").used_clusters(0, geometry) is None


@pytest.mark.parametrize("seed", range(20))
def test_hostile_superblocks_raise_nothing(seed: int) -> None:
    chance = random.Random(seed)
    hostile = bytearray(superblock())
    for _ in range(4):
        hostile[chance.choice((4, 20, 24, 32, 0x60, 0xFE)) + chance.randrange(2)] = (
            chance.randrange(256)
        )
    hostile[24:28] = struct.pack("<I", hostile[24] % 7)
    noise = chance.randbytes(64 * KIB)
    found = ExtUsage(bytes(hostile), 0, lambda offset, length: noise[offset % KIB :][:length])
    if found.readable:
        for index in range(3):
            found.used_clusters(index, Geometry(12))


def test_clear_matches_are_found_and_others_not() -> None:
    chance = np.random.default_rng(1)
    usages = chance.random((6, 512)) < 0.5
    patterns = usages[[4, 1, 0]] ^ (chance.random((3, 512)) < 0.05)
    assert best_matches(patterns, usages) == [(0, 4), (1, 1), (2, 0)]
    full = np.ones((3, 512), dtype=np.bool_)
    assert best_matches(full, full) == []
    assert best_matches(~usages[:1], usages[:1]) == []
