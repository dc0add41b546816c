"""What only a snapshot holds: against the builder, and against what QEMU frees with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled, CorruptError
from qcowgui.image.inspect import inspect_source
from qcowgui.image.snapshot_sharing import Sharing, sharing_cells
from qcowgui.image.source import BytesSource, FileSource
from tests.support import oracle
from tests.support.base_images import pattern, rich, text
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.damage import poke, set_l2_entry
from tests.support.options import KIB, MIB

CLUSTER = 64 * KIB


def cells_of(image: BuiltImage, snapshot: int, first: int = 0, last: int = 16) -> list[int]:
    source = BytesSource(image.to_bytes())
    report = inspect_source(source)
    cells = sharing_cells(
        source, report, report.snapshots[snapshot], first=first, last=last, token=CancelToken()
    )
    return [int(cell) for cell in cells]


def builder_of(*, extended_l2: bool = False) -> ImageBuilder:
    builder = ImageBuilder(size=16 * CLUSTER, extended_l2=extended_l2)
    builder.write(0, pattern(4 * CLUSTER, 1))
    builder.write_compressed(4, text(CLUSTER, 2))
    builder.write_compressed(5, text(CLUSTER, 3))
    builder.zero(6)
    builder.snapshot("first")
    builder.write(CLUSTER, pattern(CLUSTER, 4))
    builder.write(4 * CLUSTER, pattern(CLUSTER, 5))
    builder.snapshot("second")
    builder.write(2 * CLUSTER, pattern(CLUSTER, 6))
    builder.write(7 * CLUSTER, pattern(CLUSTER, 7))
    return builder


@pytest.mark.parametrize("extended_l2", [False, True])
def test_each_cluster_of_a_snapshot(extended_l2: bool) -> None:
    image = builder_of(extended_l2=extended_l2).build()
    s = Sharing
    nothing = [s.NEITHER] * 8
    assert cells_of(image, 0) == [
        *(s.SAME, s.ONLY_HERE, s.KEPT_ELSEWHERE, s.SAME, s.ONLY_HERE, s.SAME, s.SAME),
        s.ACTIVE_ONLY,
        *nothing,
    ]
    assert cells_of(image, 1) == [
        *(s.SAME, s.SAME, s.KEPT_ELSEWHERE, s.SAME, s.SAME, s.SAME, s.SAME, s.ACTIVE_ONLY),
        *nothing,
    ]
    assert cells_of(image, 0, 3, 6) == [s.SAME, s.ONLY_HERE, s.SAME]


def test_what_only_it_holds_is_what_qemu_frees_with_it(tmp_path: Path) -> None:
    path = oracle.create(tmp_path / "q.qcow2", 64 * MIB)
    oracle.qemu_io(path, "write -P 1 0 1M")
    oracle.qemu_img("snapshot", "-c", "one", path)
    oracle.qemu_io(path, "write -P 2 256k 192k")
    oracle.qemu_img("snapshot", "-c", "two", path)
    oracle.qemu_io(path, "write -P 3 0 128k")
    with FileSource(path) as source:
        report = inspect_source(source)
        cells = sharing_cells(
            source, report, report.snapshots[0], first=0, last=1024, token=CancelToken()
        )
    alone = int((cells == Sharing.ONLY_HERE).sum())
    assert alone == 3
    assert int((cells == Sharing.KEPT_ELSEWHERE).sum()) == 2
    before = _free_clusters(path)
    oracle.qemu_img("snapshot", "-d", "one", path)
    tables = 2  # its L1 table and its L2 table
    assert _free_clusters(path) - before == alone + tables


def _free_clusters(path: Path) -> int:
    """Host clusters whose stored refcount is 0, in an image with one refcount block."""
    data = path.read_bytes()
    block = int.from_bytes(data[CLUSTER : CLUSTER + 8], "big")
    counts = data[block : block + CLUSTER]
    used = sum(counts[i : i + 2] != b"\0\0" for i in range(0, len(counts), 2))
    return CLUSTER // 2 - used


def test_an_entry_that_contradicts_the_format_is_unreadable() -> None:
    image = set_l2_entry(builder_of().build(), 3, 1 << 63 | 0x1200)
    assert cells_of(image, 0)[3] == Sharing.UNREADABLE


def test_a_table_in_an_impossible_place_is_refused_and_holds_nothing_for_others() -> None:
    image = builder_of().build()
    source = BytesSource(image.to_bytes())
    report = inspect_source(source)
    second = report.snapshots[1]
    broken = poke(image, second.entry_offset, (0x123).to_bytes(8, "big"))
    with pytest.raises(CorruptError):
        cells_of(broken, 1)
    assert cells_of(broken, 0)[2] == Sharing.ONLY_HERE


def test_parts_are_pieces_of_the_whole() -> None:
    image = rich()
    whole = cells_of(image, 0, 0, 1024)
    assert [*cells_of(image, 0, 0, 700), *cells_of(image, 0, 700, 1024)] == whole
    assert Sharing.ONLY_HERE in whole


def test_it_can_be_cancelled() -> None:
    source = BytesSource(builder_of().build().to_bytes())
    report = inspect_source(source)
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        sharing_cells(source, report, report.snapshots[0], first=0, last=4, token=token)
