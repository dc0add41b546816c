"""Putting L2 tables in order: by what they map first, by their order in the file last."""

from __future__ import annotations

import numpy as np
import pytest

from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled
from qcowgui.format.geometry import Geometry
from qcowgui.salvage.ordering import Placement, place_tables
from qcowgui.salvage.placer import l1_of
from qcowgui.salvage.tables import Flags
from tests.support.options import MIB
from tests.unit.test_salvage_guest_hints import ext_superblock, mbr

GEOMETRY = Geometry(12)
COVERAGE = GEOMETRY.l1_coverage_bytes
BLOCKS = 40_000  # of 1 KiB: 4.9 groups of 8 MiB, copies in 1 and 3


def disk_piece(index: int) -> dict[int, bytes]:
    """What the guest has at known places in the range that L1 entry `index` maps."""
    first_block = index * COVERAGE // 1024
    found = {}
    for group in (0, 1, 3):
        block = 1 + group * 8192
        if first_block <= block < first_block + COVERAGE // 1024:
            found[(block - first_block) * 1024] = ext_superblock(
                blocks=BLOCKS, group=group, log_block=0
            )
    return found


def place(order: list[int], *, slots: int | None, fixed: dict[int, int] | None = None) -> Placement:
    """Place tables that lie in the file in this order of their true L1 indices."""

    def read(table: int, offset: int, length: int) -> bytes:
        return disk_piece(order[table]).get(offset, bytes(length)) if offset else disk_head(table)

    def disk_head(table: int) -> bytes:
        head = bytearray(4096)
        for offset, data in disk_piece(order[table]).items():
            if offset < 4096:
                head[offset : offset + len(data)] = data
        return bytes(head)

    return place_tables(
        len(order), read, GEOMETRY, fixed=fixed or {}, slots=slots, token=CancelToken()
    )


def test_the_order_in_the_file_is_exact_when_there_is_a_table_for_every_slot() -> None:
    placed = place(list(range(20)), slots=20)
    assert placed.l1.tolist() == list(range(20))
    assert placed.guessed == placed.between


def test_copies_of_superblocks_put_tables_in_their_place() -> None:
    order = [12, 0, 4]
    placed = place(order, slots=20)
    assert placed.exact == 3
    assert {index: int(table) for index, table in enumerate(placed.l1) if table >= 0} == {
        12: 0,
        0: 1,
        4: 2,
    }
    assert "group 3" in " ".join(placed.notes)


def test_gaps_between_exact_tables_are_seen() -> None:
    placed = place([0, 2, 4, 5, 12], slots=20)
    assert placed.exact == 3  # 0, 4 and 12
    assert placed.guessed == 2
    assert placed.between == 0


def test_what_fills_the_room_between_exact_tables_is_told_apart() -> None:
    placed = place([0, 1, 2, 3, 4, 7, 12], slots=20)
    assert placed.between == 3
    assert placed.guessed == 4
    assert placed.l1.tolist()[:5] == [0, 1, 2, 3, 4]


def test_there_may_be_more_tables_than_room() -> None:
    placed = place([0, 1, 2, 3], slots=3)
    assert placed.left_over == 1
    assert placed.l1.tolist() == [0, 1, 2]


def test_what_is_known_stays() -> None:
    placed = place([6, 7, 8], slots=20, fixed={6: 0, 7: 1, 8: 2})
    assert placed.l1.tolist()[6:9] == [0, 1, 2]
    assert placed.guessed == 0


def test_copies_place_tables_though_the_first_table_is_lost() -> None:
    placed = place([12, 7, 4], slots=20)
    assert int(placed.l1[12]) == 0
    assert int(placed.l1[4]) == 2
    assert placed.exact == 2


def test_two_disk_starts_are_noted() -> None:
    def read(_table: int, offset: int, length: int) -> bytes:
        return mbr((2048, 2048)).ljust(length, b"\0") if offset == 0 else bytes(length)

    placed = place_tables(3, read, GEOMETRY, fixed={}, slots=None, token=CancelToken())
    assert int(placed.l1[0]) == 0
    assert "3 tables map something that looks like the start" in " ".join(placed.notes)


def test_no_tables() -> None:
    placed = place([], slots=None)
    assert placed.l1.tolist() == []


def test_cancelling_stops() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        place_tables(1, lambda *_: bytes(MIB), GEOMETRY, fixed={}, slots=None, token=token)


def test_an_l1_table_ends_with_its_last_table() -> None:
    # A size that was overwritten asks for millions of entries, of which these name a table.
    l1 = np.full(1 << 20, -1)
    l1[[1, 5, 9]] = 0, 1, 2
    placement = Placement(l1, 3, 0, 0, 0, ())
    assert l1_of(placement, np.array([512, 1024, 1536])).tolist() == [
        *(0, 512, 0, 0, 0, 1024, 0, 0, 0, 1536)
    ]


def test_an_l1_table_without_tables_is_empty() -> None:
    nothing = Placement(np.full(8, -1), 0, 0, 0, 0, ())
    assert not len(l1_of(nothing, np.zeros(0, dtype=np.int64)))


def test_what_fits_the_blocks_in_use_is_a_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other ranges of the disk may have the same blocks in use."""
    in_use = np.zeros(GEOMETRY.l2_entries, dtype=np.bool_)
    in_use[[5, 9, 30]] = True

    class Usage:
        readable = True

        def __init__(self, *_: object) -> None: ...

        def used_clusters(self, index: int, _: Geometry) -> Flags:
            return in_use if index == 7 else np.zeros_like(in_use)

    monkeypatch.setattr("qcowgui.salvage.ordering.ExtUsage", Usage)

    def read(table: int, offset: int, length: int) -> bytes:
        disk = bytes(1024) + ext_superblock(blocks=BLOCKS, group=0, log_block=0)
        return (disk if table == 0 else b"")[offset : offset + length].ljust(length, b"\0")

    patterns = np.array([~in_use, in_use])
    placed = place_tables(
        2, read, GEOMETRY, fixed={}, slots=20, token=CancelToken(), patterns=patterns
    )
    assert int(placed.l1[7]) == 1
    assert (placed.exact, placed.guessed, placed.by_usage) == (1, 1, 1)
    assert placed.guessed_at == (7,)
    assert placed.between == 0
