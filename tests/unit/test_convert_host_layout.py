"""Host space: nothing overlaps, and every refcount is the number of references."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
import pytest

from qcowgui.convert.host_layout import HostLayout
from qcowgui.format.geometry import Geometry
from qcowgui.format.refcounts import unpack_refcounts

GEOMETRIES = [
    Geometry(9, refcount_order=order) for order in (0, 1, 3, 4, 6)
] + [Geometry(12), Geometry(16, refcount_order=0)]  # fmt: skip


class Recorder:
    """What a layout wrote, and what was asked of it."""

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry
        self.written: dict[int, bytes] = {}
        self.layout = HostLayout(geometry, self.write)
        self.references: Counter[int] = Counter()
        self.taken: list[tuple[int, int]] = []
        self.clusters(1)  # the header's; so no table is at offset 0

    def write(self, offset: int, data: bytes) -> None:
        assert offset not in self.written
        self.written[offset] = bytes(data)

    def clusters(self, count: int) -> int:
        offset = self.layout.allocate_clusters(count)
        self._take(offset, count * self.geometry.cluster_bytes)
        return offset

    def payload(self, length: int) -> int:
        offset = self.layout.allocate_payload(length)
        self._take(offset, length)
        return offset

    def _take(self, offset: int, length: int) -> None:
        self.taken.append((offset, offset + length))
        bits = self.geometry.cluster_bits
        self.references.update(range(offset >> bits, (offset + length - 1 >> bits) + 1))

    def check(self) -> None:
        """End the file, and compare the refcounts in it with the references."""
        geometry = self.geometry
        table_offset, table_clusters = self.layout.finish()
        table = np.frombuffer(self.written.pop(table_offset), dtype=">u8")
        assert len(table) == table_clusters * geometry.cluster_bytes // 8
        used = [int(word) for word in table if word]
        assert not table[len(used) :].any()
        assert sorted(used) == sorted(self.written)
        for offset in used:
            self._take(offset, geometry.cluster_bytes)
        self._take(table_offset, table_clusters * geometry.cluster_bytes)
        ends = sorted(self.taken)
        assert all(one[1] <= other[0] for one, other in itertools.pairwise(ends))
        assert ends[-1][1] == self.layout.end_offset
        found: dict[int, int] = {}
        for index, offset in enumerate(used):
            counts = unpack_refcounts(self.written[offset], geometry.refcount_order)
            first = index * geometry.refcounts_per_block
            found |= {first + int(at): int(counts[at]) for at in np.flatnonzero(counts)}
        assert found == dict(self.references)
        # Not one block more than the file needs.
        clusters = self.layout.end_offset // geometry.cluster_bytes
        assert len(used) == -(-clusters // geometry.refcounts_per_block)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_an_empty_file(geometry: Geometry) -> None:
    Recorder(geometry).check()


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_random_allocations(geometry: Geometry, seed: int) -> None:
    chance = random.Random(seed)
    recorder = Recorder(geometry)
    for _ in range(chance.choice([3, 100, 1500])):
        if chance.random() < 0.3:
            recorder.clusters(chance.choice([1, 1, 3, 40]))
        else:
            recorder.payload(chance.randrange(1, geometry.cluster_bytes))
        if chance.random() < 0.2:
            recorder.layout.write_final_blocks()
    recorder.check()


@pytest.mark.parametrize("refcount_order", [4, 6])
def test_every_size_around_the_borders_of_blocks_and_tables(refcount_order: int) -> None:
    geometry = Geometry(9, refcount_order=refcount_order)
    per_block, per_table = geometry.refcounts_per_block, 64
    borders = [per_block, 2 * per_block, per_block * per_table]
    for border in borders:
        for clusters in range(border - 70, border + 4):
            recorder = Recorder(geometry)
            recorder.clusters(max(1, clusters - 1))
            recorder.check()


def test_payloads_are_packed() -> None:
    recorder = Recorder(Geometry(12))
    assert [recorder.payload(1000) for _ in range(5)] == [4096, 5096, 6096, 7096, 8096]
    recorder.clusters(2)
    # 9,096 to 12,288 are left of the open cluster; the next ones are taken.
    assert recorder.payload(3000) == 9096
    assert recorder.payload(1000) == 5 * 4096
    recorder.check()


def test_a_refcount_of_one_bit_shares_no_cluster() -> None:
    recorder = Recorder(Geometry(12, refcount_order=0))
    assert [recorder.payload(1000) for _ in range(3)] == [4096, 8192, 12288]
    recorder.check()


def test_a_refcount_of_two_bits_is_shared_by_three() -> None:
    recorder = Recorder(Geometry(12, refcount_order=1))
    assert [recorder.payload(100) for _ in range(5)] == [4096, 4196, 4296, 8192, 8292]
    recorder.check()


def test_blocks_are_written_early() -> None:
    geometry = Geometry(9)
    recorder = Recorder(geometry)
    for _ in range(20 * geometry.refcounts_per_block):
        recorder.clusters(1)
        recorder.layout.write_final_blocks()
    assert len(recorder.written) >= 20
    recorder.check()


def test_an_open_cluster_does_not_hold_blocks_back() -> None:
    geometry = Geometry(9)
    recorder = Recorder(geometry)
    recorder.payload(100)
    for _ in range(10 * geometry.refcounts_per_block):
        recorder.clusters(1)
        recorder.layout.write_final_blocks()
    assert len(recorder.written) >= 9
    recorder.payload(100)
    recorder.check()
