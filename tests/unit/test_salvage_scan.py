"""The scan of a damaged file: sectors of tables are noted, guest data is turned away."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from qcowgui.engine.work import CancelToken, Counter
from qcowgui.errors import Cancelled
from qcowgui.format.geometry import Geometry
from qcowgui.image.source import BytesSource, FileSource
from qcowgui.salvage.scan import Scan, scan_source
from qcowgui.salvage.words import fits_geometry, is_bitmap, is_descriptor, is_small_counts
from tests.support.base_images import b0_builder, pattern, rich, text
from tests.support.options import KIB, MIB

LIMIT = 1 << 36


def scan(data: bytes) -> Scan:
    return scan_source(BytesSource(data), CancelToken())


def words(*values: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.array(values, dtype=np.uint64)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        (0, True),
        (1, True),
        (0x8000_0000_0005_0000, True),
        (0x0000_0000_0005_0200, True),
        (0x4000_0000_0005_1234, True),
        (0xC000_0000_0005_1234, False),
        (0x8000_0000_0005_0002, False),
        (0x0100_0000_0005_0000, False),
        (0x2000_0000_0005_0000, False),
        (0x8000_0010_0000_0000, False),
        (0x7061_7373_776F_7264, False),
    ],
)
def test_what_a_descriptor_can_be(word: int, expected: bool) -> None:
    assert bool(is_descriptor(words(word), LIMIT)[0]) is expected


@pytest.mark.parametrize(
    ("word", "bits", "extended", "expected"),
    [
        (0x8000_0000_0005_0000, 16, False, True),
        (0x8000_0000_0005_8000, 16, False, False),
        (0x8000_0000_0005_8000, 15, False, True),
        (0x8000_0000_0005_0001, 16, False, True),
        (0x8000_0000_0005_0001, 16, True, False),
        (0x4000_0000_0005_1234, 16, False, True),
        (0x4000_0000_0000_0010, 16, False, False),  # inside the header
        (0x4080_0000_0005_1234, 9, False, False),  # offset bits above the limit
    ],
)
def test_what_fits_a_cluster_size(word: int, bits: int, extended: bool, expected: bool) -> None:
    geometry = Geometry(bits, extended_l2=extended)
    assert bool(fits_geometry(words(word), geometry, LIMIT)[0]) is expected


@pytest.mark.parametrize(
    ("bitmap", "descriptor", "expected"),
    [
        (0x0000_0000_FFFF_FFFF, 0x8000_0000_0005_0000, True),
        (0x0000_0000_FFFF_FFFF, 0, False),
        (0xFFFF_FFFF_0000_0000, 0, True),
        (0x0000_0001_0000_0001, 0x8000_0000_0005_0000, False),
        (0, 0x4000_0000_0005_1234, True),
        (1, 0x4000_0000_0005_1234, False),
    ],
)
def test_what_a_subcluster_bitmap_can_be(bitmap: int, descriptor: int, expected: bool) -> None:
    assert bool(is_bitmap(words(bitmap), words(descriptor))[0]) is expected


def test_small_counts() -> None:
    assert is_small_counts(words(0x0001_0001_0001_0002)).all()
    assert not is_small_counts(words(0x0001_0001_0001_0010)).any()


@pytest.mark.parametrize(
    "data", [bytes(MIB), pattern(MIB, 1), text(MIB, 2), b"\xff" * MIB, b"\x00\x00\x00\x01" * MIB]
)
def test_guest_data_is_no_table(data: bytes) -> None:
    found = scan(data)
    assert (found.standard.sectors, found.extended.sectors) == (0, 0)


def test_every_table_of_an_image_is_noted() -> None:
    image = rich()
    found = scan(image.to_bytes())
    noted = {
        sector * 512
        for start, end in zip(found.standard.starts, found.standard.ends, strict=True)
        for sector in range(int(start), int(end))
    }
    layout = image.layout
    for span in (layout.l1, layout.refcount_table, *layout.l2.values(), *layout.snapshot_l1):
        assert noted & set(range(span.offset, span.offset + span.length, 512))
    assert layout.snapshot_table is not None
    assert layout.snapshot_table.offset in found.snapshot_offsets
    assert found.counts.sectors
    assert found.complete


def test_extended_tables_are_told_from_standard_ones() -> None:
    builder = b0_builder(extended_l2=True)
    image = builder.build()
    found = scan(image.to_bytes())
    sector = image.layout.l2[0].offset // 512
    assert sector in found.extended.starts
    assert sector not in found.standard.starts


def test_a_file_that_ends_inside_a_sector() -> None:
    image = b0_builder(short_last_cluster=True).build()
    cut = image.to_bytes()[: image.layout.l2[0].offset + 20]
    assert scan(cut).standard.sectors == scan(image.to_bytes()).standard.sectors


def test_the_counter_gets_the_whole_file_holes_included(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.seek(9 * MIB)
        file.write(pattern(5 * KIB, 1))
        file.truncate(20 * MIB + 17)
    counter = Counter()
    with FileSource(path) as source:
        scan_source(source, CancelToken(), counter)
    assert counter.value == 20 * MIB + 17


def test_cancelling_stops_the_scan() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        scan_source(BytesSource(bytes(KIB)), token)


def test_any_bytes_scan() -> None:
    chance = random.Random(5)
    for length in (0, 1, 511, 512, 513, 70_000):
        found = scan(chance.randbytes(length))
        assert found.file_bytes == length
