"""`ImageReport.readable` against QEMU: does a read-only open of the same file succeed?

Where the two differ on purpose, `INTENDED_DIFFERENCES` says why.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Unpack

import pytest

from qcowgui.errors import NotQcow2Error
from qcowgui.image.inspect import inspect
from tests.support import oracle
from tests.support.base_images import b0, b0_builder, rich, s0
from tests.support.built import BuiltImage
from tests.support.damage import set_field
from tests.support.damages import DAMAGES
from tests.support.options import TIB, OptionKeywords
from tests.support.preamble import (
    EXT_BACKING_FORMAT,
    EXT_BITMAPS,
    EXT_CROSVM_BACKING_FORMAT,
    EXT_DATA_FILE,
    EXT_ENCRYPTION,
    EXT_FEATURE_NAMES,
)

INTENDED_DIFFERENCES = {
    "backing_name_in_header": (
        "QEMU takes header bytes for a name. We refuse: to read the image without its backing file "
        "would give wrong data, and to open a name made of numbers is worse."
    ),
    "v2_cut_at_64": "QEMU reads zeros for the missing header fields; we call the header cut.",
    "v2_cut_at_71": "The same, one byte short.",
    "aes": "QEMU needs the key to open it; the image is sound, and a reader with the key reads it.",
    "luks": "The same.",
}


def with_fields(image: BuiltImage, **values: int) -> BuiltImage:
    for name, value in values.items():
        image = set_field(image, name, value)
    return image


def with_name(offset: int, length: int) -> BuiltImage:
    """B0 with a backing file name of zeros at an offset."""
    return b0().edited(8, struct.pack(">QI", offset, length))


def with_bitmap(*, flags: int = 0, extra: bytes = b"") -> BuiltImage:
    builder = b0_builder()
    builder.bitmap("one", flags=flags, extra=extra)
    return builder.build()


def in_bitmap_entry(offset: int, data: bytes) -> BuiltImage:
    image = with_bitmap()
    return image.edited(image.layout.bitmap_entries[0].offset + offset, data)


def in_bitmap_table(word: int, image: BuiltImage | None = None) -> BuiltImage:
    image = image or with_bitmap()
    return image.edited(image.layout.bitmap_tables[0].offset, word.to_bytes(8, "big"))


def in_bitmaps_extension(offset: int, data: bytes, image: BuiltImage | None = None) -> BuiltImage:
    image = image or with_bitmap()
    return image.edited(image.layout.extension(EXT_BITMAPS).offset + offset, data)


def without_autoclear(image: BuiltImage) -> BuiltImage:
    return set_field(image, "autoclear_features", 0)


def two_bitmaps_of_one_name() -> BuiltImage:
    builder = b0_builder()
    builder.bitmap("a")
    builder.bitmap("a")
    return builder.build()


def with_snapshots() -> BuiltImage:
    builder = b0_builder()
    builder.snapshot("a")
    builder.snapshot("b")
    return builder.build()


def in_snapshot(index: int, offset: int, data: bytes) -> BuiltImage:
    image = with_snapshots()
    return image.edited(image.layout.snapshot_entries[index].offset + offset, data)


def luks() -> BuiltImage:
    builder = b0_builder()
    builder.luks()
    return builder.build()


def u32(value: int) -> bytes:
    return value.to_bytes(4, "big")


def u64(value: int) -> bytes:
    return value.to_bytes(8, "big")


def b0_with(**options: Unpack[OptionKeywords]) -> Callable[[], BuiltImage]:
    return lambda: b0(**options)


def s0_v2(*extensions: tuple[int, bytes]) -> BuiltImage:
    return s0(version=2, extensions=extensions)


IMAGES: dict[str, Callable[[], BuiltImage]] = {
    "healthy": b0,
    "healthy_v2": s0_v2,
    "healthy_rich": rich,
    # tables
    "snapshots_unaligned_without_any": lambda: with_fields(b0(), snapshots_offset=0x1234),
    "snapshots_near_int64": lambda: with_fields(
        b0(), snapshots_offset=(1 << 63) - 0x10000, nb_snapshots=65536
    ),
    "snapshots_65536": lambda: with_fields(with_snapshots(), nb_snapshots=65536),
    "snapshots_65537": lambda: with_fields(with_snapshots(), nb_snapshots=65537),
    "snapshots_at_0": lambda: with_fields(with_snapshots(), snapshots_offset=0),
    "snapshot_extra_1024": lambda: in_snapshot(1, 36, u32(1024)),
    "snapshot_extra_1025": lambda: in_snapshot(1, 36, u32(1025)),
    "snapshot_extra_0": lambda: in_snapshot(0, 36, u32(0)),
    "snapshot_table_cut": lambda: with_snapshots().resized(
        with_snapshots().layout.snapshot_entries[1].offset + 10
    ),
    "snapshot_and_l1_size_0": lambda: with_fields(with_snapshots(), l1_size=0),
    "l1_at_0": lambda: with_fields(b0(), l1_table_offset=0),
    "l1_near_int64": lambda: with_fields(
        b0(), l1_table_offset=(1 << 63) - 0x10000, l1_size=1 << 15
    ),
    "l1_32_mib": lambda: with_fields(b0(), l1_size=1 << 22),
    "l1_32_mib_and_8": lambda: with_fields(b0(), l1_size=(1 << 22) + 1),
    "no_disk": lambda: with_fields(b0(), size=0, l1_size=0),
    "no_disk_unaligned_l1": lambda: with_fields(b0(), size=0, l1_size=0, l1_table_offset=0x30001),
    "refcount_table_8_mib": lambda: with_fields(b0(), refcount_table_clusters=128),
    "refcount_table_8_mib_and_a_cluster": lambda: with_fields(b0(), refcount_table_clusters=129),
    "refcount_table_2_to_31": lambda: with_fields(b0(), refcount_table_clusters=1 << 31),
    "refcount_table_all_ones": lambda: with_fields(b0(), refcount_table_clusters=0xFFFFFFFF),
    "refcount_table_at_0": lambda: with_fields(b0(), refcount_table_offset=0),
    "refcount_table_near_int64": lambda: with_fields(b0(), refcount_table_offset=(1 << 63) - 65536),
    "refcount_table_past_int64": lambda: with_fields(b0(), refcount_table_offset=(1 << 64) - 65536),
    "size_152_tib": lambda: with_fields(b0(), size=152 * TIB, l1_size=152 * TIB >> 29),
    "size_2_to_63": lambda: with_fields(b0(), size=(1 << 63) - 512),
    "size_2_to_64": lambda: with_fields(b0(), size=(1 << 64) - 1),
    "size_odd": lambda: with_fields(b0(), size=12345),
    # backing file name
    "backing_name_in_header": lambda: with_name(40, 4),
    "backing_name_fills_cluster": lambda: with_name(65536 - 4, 4),
    "backing_name_after_cluster_empty": lambda: with_name(65536, 0),
    "backing_name_after_cluster": lambda: with_name(65536, 1),
    "backing_name_outside": lambda: with_name(0x50000, 12),
    "backing_name_crossing": lambda: with_name(0xFFF8, 16),
    "backing_name_1023": lambda: with_name(4096, 1023),
    "backing_name_1024": lambda: with_name(4096, 1024),
    "backing_name_empty": lambda: with_name(400, 0),
    "backing_size_without_offset": lambda: with_fields(b0(), backing_file_size=400),
    "extensions_4_bytes_left": lambda: with_name(112 + 4, 4),
    # header
    **{f"length_{n}": b0_with(header_length=n) for n in (104, 105, 109, 112, 120, 136)},
    "length_103": lambda: with_fields(b0(), header_length=103),
    "length_cluster": lambda: with_fields(b0(), header_length=65536),
    "length_cluster_and_1": lambda: with_fields(b0(), header_length=65537),
    "length_2_gib": lambda: with_fields(b0(), header_length=0x7FFFFFFF),
    **{f"b0_cut_at_{n}": partial(b0().resized, n) for n in (4, 8, 24, 36, 72, 100, 104, 112)},
    **{f"v2_cut_at_{n}": partial(s0_v2().resized, n) for n in (8, 36, 50, 64, 71, 72, 80)},
    **{
        f"cluster_bits_{n}": partial(with_fields, b0(), cluster_bits=n)
        for n in (0, 8, 9, 15, 17, 21, 22, 31, 63, 64)
    },
    **{f"refcount_order_{n}": partial(with_fields, b0(), refcount_order=n) for n in (0, 6, 32)},
    # extensions
    "backing_format_15": b0_with(extensions=[(EXT_BACKING_FORMAT, b"x" * 15)]),
    "backing_format_16": b0_with(extensions=[(EXT_BACKING_FORMAT, b"x" * 16)]),
    "crosvm": b0_with(extensions=[(EXT_CROSVM_BACKING_FORMAT, b"composite")]),
    "compression_2017": b0_with(extensions=[(0xC03183A3, b"abcd")]),
    "clb3": b0_with(extensions=[(0x434C4233, b"")]),
    "unused_data_file_name": b0_with(extensions=[(EXT_DATA_FILE, b"x")]),
    "feature_names_50": b0_with(extensions=[(EXT_FEATURE_NAMES, b"x" * 50)]),
    "duplicate": b0_with(extensions=[(0x12345678, b"1"), (0x12345678, b"2")]),
    "encryption_unexpected": b0_with(extensions=[(EXT_ENCRYPTION, bytes(16))]),
    "encryption_15": b0_with(extensions=[(EXT_ENCRYPTION, bytes(15))]),
    "no_end_marker": b0_with(end_extension=False),
    "end_marker_overlong": lambda: b0(feature_table=False).edited(112 + 4, u32(0x7FFFFFFF)),
    "v2_garbage_extension": lambda: s0_v2().edited(72, b"\1" * 8),
    "v2_bitmaps": lambda: s0_v2((EXT_BITMAPS, bytes(24))),
    "v2_bitmaps_short": lambda: s0_v2((EXT_BITMAPS, bytes(3))),
    "bitmaps_stale_zeros": lambda: s0(extensions=[(EXT_BITMAPS, bytes(24))]),
    # bitmaps
    "bitmap": with_bitmap,
    "bitmap_stale_unaligned": lambda: in_bitmaps_extension(
        24, u64(1), without_autoclear(with_bitmap())
    ),
    "bitmap_stale_length": lambda: in_bitmaps_extension(
        4, u32(23), without_autoclear(with_bitmap())
    ),
    "bitmap_stale_type": lambda: without_autoclear(in_bitmap_entry(16, b"\7")),
    "bitmap_duplicate": two_bitmaps_of_one_name,
    "bitmap_flag_extra": lambda: with_bitmap(flags=4),
    "bitmap_extra": lambda: with_bitmap(extra=b"12345678"),
    "bitmap_extra_compatible": lambda: with_bitmap(extra=b"12345678", flags=4),
    **{
        f"bitmap_granularity_{n}": partial(in_bitmap_entry, 17, bytes([n]))
        for n in (0, 8, 9, 31, 32, 63, 64)
    },
    "bitmap_table_one_more": lambda: in_bitmap_entry(8, u32(2)),
    "bitmap_in_use_one_more": lambda: in_bitmap_entry(8, u32(2) + u32(1)),
    "bitmap_in_use_type": lambda: in_bitmap_entry(12, u32(1) + b"\3"),
    "bitmap_in_use_table": lambda: in_bitmap_table(1 << 63, in_bitmap_entry(12, u32(1))),
    "bitmap_table_unaligned": lambda: in_bitmap_table(0x200),
    "bitmap_table_ones_and_offset": lambda: in_bitmap_table(0x50001),
    "bitmap_table_ones": lambda: in_bitmap_table(1),
    "bitmap_table_beyond_eof": lambda: in_bitmap_table(1 << 40),
    "bitmap_name_empty": lambda: in_bitmap_entry(18, b"\0\0"),
    "bitmap_name_no_utf8": lambda: in_bitmap_entry(24, b"\x1b"),
    "bitmap_directory_longer": lambda: in_bitmaps_extension(16, u64(40)),
    "bitmap_count_2": lambda: in_bitmaps_extension(8, u32(2)),
    "bitmap_dirty_and_corrupt": lambda: with_fields(with_bitmap(), incompatible_features=3),
    "bitmap_of_an_empty_disk": lambda: set_field(with_bitmap(), "size", 0),
    # encryption and data file
    "aes": b0_with(crypt_method=1),
    "luks": luks,
    "luks_without_header": lambda: with_fields(b0(), crypt_method=2),
    "data_file": b0_with(data_file="guest.data"),
    "data_file_raw": b0_with(data_file="guest.data", data_file_raw=True),
}


def qemu_opens(path: Path) -> bool:
    arguments = "-r", "-f", "qcow2", "-c", "quit", path
    return not oracle._run("qemu-io", arguments, check=False, folder=path.parent).returncode


def we_call_readable(path: Path) -> bool:
    try:
        return inspect(path).readable
    except NotQcow2Error:
        return False


def compare(name: str, image: BuiltImage, folder: Path) -> None:
    (folder / "base.raw").write_bytes(bytes(4096))
    path = image.write_to(folder / "x.qcow2")
    agree = qemu_opens(path) == we_call_readable(path)
    assert agree != (name in INTENDED_DIFFERENCES), INTENDED_DIFFERENCES.get(name, "")


@pytest.fixture(scope="module")
def healthy() -> BuiltImage:
    return rich()


@pytest.mark.parametrize("name", DAMAGES)
def test_named_damages(name: str, healthy: BuiltImage, tmp_path: Path) -> None:
    compare(name, DAMAGES[name].apply(healthy), tmp_path)


@pytest.mark.parametrize("name", IMAGES)
def test_odd_images(name: str, tmp_path: Path) -> None:
    compare(name, IMAGES[name](), tmp_path)


def test_no_intended_difference_is_forgotten() -> None:
    assert set(INTENDED_DIFFERENCES) <= {*IMAGES, *DAMAGES}
