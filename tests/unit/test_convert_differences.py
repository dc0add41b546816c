"""Where two images differ: against the bytes themselves, with holes, losses and other sizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.convert.differences import (
    Difference,
    Differences,
    find_differences,
    judge_units,
    unit_for,
)
from qcowgui.engine.qpool import QPoolExecutor
from qcowgui.engine.work import CancelToken, Counter, Executor, SerialExecutor
from qcowgui.errors import Cancelled, ImageError
from qcowgui.image.chain import open_image
from qcowgui.image.layer import Piece
from tests.support import oracle
from tests.support.base_images import pattern, text
from tests.support.builder import ImageBuilder
from tests.support.damage import set_l2_entry
from tests.support.options import KIB, MIB

CLUSTER = 64 * KIB


def compared(
    left: Path,
    right: Path,
    *,
    unit: int = CLUSTER,
    executor: Executor | None = None,
    counter: Counter | None = None,
    salvage: bool = True,
) -> Differences:
    with open_image(left, salvage=salvage) as one, open_image(right, salvage=salvage) as other:
        return find_differences(
            one,
            other,
            executor or SerialExecutor(),
            unit_bytes=unit,
            token=CancelToken(),
            counter=counter,
        )


def expected_cells(left: bytes, right: bytes, unit: int) -> list[int]:
    size = max(len(left), len(right))
    left, right = left.ljust(size, b"\0"), right.ljust(size, b"\0")
    cells: list[int] = []
    for start in range(0, size, unit):
        one, other = left[start : start + unit], right[start : start + unit]
        if one == other:
            cells.append(Difference.SAME)
        elif not any(other):
            cells.append(Difference.LEFT_ONLY)
        elif not any(one):
            cells.append(Difference.RIGHT_ONLY)
        else:
            cells.append(Difference.BOTH)
    return cells


def builder_of(*, size: int = 4 * MIB) -> ImageBuilder:
    builder = ImageBuilder(size=size)
    builder.write(0, pattern(2 * CLUSTER, 1))
    builder.write_compressed(5, text(CLUSTER, 2))
    builder.zero(9)
    builder.write(20 * CLUSTER, pattern(CLUSTER, 3))
    return builder


@pytest.mark.parametrize("threads", [1, 2])
def test_each_cluster_is_told(tmp_path: Path, threads: int) -> None:
    left = builder_of().build().write_to(tmp_path / "left.qcow2")
    other = builder_of(size=5 * MIB)
    other.write(CLUSTER + 100, b"x")
    other.discard(20)
    other.write(30 * CLUSTER, b"new")
    other.write(5 * MIB - 1, b"y")
    right = other.build().write_to(tmp_path / "right.qcow2")
    counter = Counter()
    if threads == 1:
        found = compared(left, right, counter=counter)
    else:
        with QPoolExecutor(threads) as executor:
            found = compared(left, right, executor=executor, counter=counter)
    wanted = expected_cells(oracle.guest_bytes(left), oracle.guest_bytes(right), CLUSTER)
    assert found.cells.tolist() == wanted
    assert {Difference.LEFT_ONLY, Difference.RIGHT_ONLY, Difference.BOTH} <= set(wanted)
    assert counter.value == found.size_bytes == 5 * MIB
    assert (found.left_bytes, found.right_bytes) == (4 * MIB, 5 * MIB)


@pytest.mark.parametrize("unit", [512, 4 * KIB, MIB, 4 * MIB])
def test_any_unit_gives_what_the_bytes_give(tmp_path: Path, unit: int) -> None:
    left = builder_of().build().write_to(tmp_path / "left.qcow2")
    other = builder_of()
    other.write(CLUSTER - 3, b"abcdef")
    right = other.build().write_to(tmp_path / "right.qcow2")
    found = compared(left, right, unit=unit)
    wanted = expected_cells(oracle.guest_bytes(left), oracle.guest_bytes(right), unit)
    assert found.cells.tolist() == wanted


def test_an_image_and_itself(tmp_path: Path) -> None:
    path = builder_of().build().write_to(tmp_path / "a.qcow2")
    assert set(compared(path, path).cells.tolist()) == {Difference.SAME}


def test_what_can_not_be_read_is_unknown(tmp_path: Path) -> None:
    image = builder_of().build()
    whole = image.write_to(tmp_path / "whole.qcow2")
    broken = set_l2_entry(image, 0, 1 << 63 | 0x1200).write_to(tmp_path / "broken.qcow2")
    found = compared(whole, broken)
    assert found.cells[0] == Difference.UNKNOWN
    assert set(found.cells[1:].tolist()) == {Difference.SAME}
    with pytest.raises(ImageError):
        compared(whole, broken, salvage=False)


def test_it_can_be_cancelled(tmp_path: Path) -> None:
    path = builder_of().build().write_to(tmp_path / "a.qcow2")
    token = CancelToken()
    token.cancel()
    with open_image(path) as one, open_image(path) as other, pytest.raises(Cancelled):
        find_differences(one, other, SerialExecutor(), unit_bytes=CLUSTER, token=token)


def test_the_unit_grows_with_the_disk() -> None:
    assert unit_for(CLUSTER, 1 << 40) == CLUSTER
    assert unit_for(512, 1 << 40) == 4096
    assert unit_for(512, (1 << 40) + 1) == 8192


@given(
    left=st.lists(st.sampled_from([None, 0, 1, 2]), min_size=12, max_size=12),
    right=st.lists(st.sampled_from([None, 0, 1, 2]), min_size=12, max_size=12),
    joined=st.booleans(),
)
def test_pieces_in_any_shape(left: list[int | None], right: list[int | None], joined: bool) -> None:
    """None is a hole; each item stands for three bytes, a unit for eight."""

    def pieces(items: list[int | None]) -> list[Piece]:
        made: list[Piece] = []
        for index, value in enumerate(items):
            start = 64 + index * 3
            if value is None:
                continue
            data = bytes([value, 0, value])
            if joined and made and made[-1].start + len(made[-1].data) == start:
                made[-1] = Piece(made[-1].start, bytes(made[-1].data) + data)
            else:
                made.append(Piece(start, data))
        return made

    def whole(items: list[int | None]) -> bytes:
        return b"".join(bytes([value or 0, 0, value or 0]) for value in items)

    found = judge_units(pieces(left), pieces(right), 64, 5, 8)
    assert isinstance(found, np.ndarray)
    assert found.tolist() == expected_cells(whole(left), whole(right), 8)
