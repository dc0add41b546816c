"""The first cluster of a new file, read back with the parsers that read any file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Unpack

import pytest

from qcowgui.convert.options import ConvertOptions
from qcowgui.convert.qcow2_header import (
    TablePlaces,
    build_extensions,
    build_first_cluster,
    check_virtual_size,
)
from qcowgui.errors import OptionsError
from qcowgui.format.geometry import Geometry
from tests.converting import ConvertKeywords
from tests.support.options import GIB, KIB, MIB

PLACES = TablePlaces(0x30000, 7, 0x10000, 2)


def first_cluster(places: TablePlaces = PLACES, **keywords: Unpack[ConvertKeywords]) -> bytes:
    keywords["target_format"] = "qcow2"
    options = ConvertOptions(Path("s"), Path("t"), **keywords)
    geometry = Geometry(options.cluster_bits, options.extended_l2, options.refcount_order)
    return build_first_cluster(options, geometry, 5 * GIB, places)


def number(data: bytes, offset: int, width: int) -> int:
    return int.from_bytes(data[offset : offset + width], "big")


def test_version_3_byte_by_byte() -> None:
    data = first_cluster(
        compression="zstd", extended_l2=True, lazy_refcounts=True, refcount_bits=64
    )
    assert data[:8] == b"QFI\xfb\0\0\0\x03"
    assert number(data, 8, 8) == number(data, 16, 4) == 0
    assert number(data, 20, 4) == 16
    assert number(data, 24, 8) == 5 * GIB
    assert number(data, 32, 4) == 0
    assert number(data, 36, 4) == 7
    assert number(data, 40, 8) == 0x30000
    assert number(data, 48, 8) == 0x10000
    assert number(data, 56, 4) == 2
    assert number(data, 60, 4) == number(data, 64, 8) == 0
    assert number(data, 72, 8) == 0b11000
    assert number(data, 80, 8) == 1
    assert number(data, 88, 8) == 0
    assert number(data, 96, 4) == 6
    assert number(data, 100, 4) == 112
    assert data[104:112] == b"\x01" + bytes(7)


def test_zlib_sets_no_incompatible_bit() -> None:
    data = first_cluster(compression="zlib")
    assert number(data, 72, 8) == 0
    assert data[104] == 0


def test_version_2_is_72_bytes_and_an_end_marker() -> None:
    data = first_cluster(compat="0.10")
    assert number(data, 4, 4) == 2
    assert data[72:] == bytes(8)


def test_the_backing_file_and_its_format() -> None:
    data = first_cluster(backing_file="base.raw", backing_format="raw", cluster_bytes=4 * KIB)
    assert data[112:128] == b"\xe2\x79\x2a\xca\0\0\0\x03raw\0\0\0\0\0"
    assert data[128:136] == bytes(8)
    assert (number(data, 8, 8), number(data, 16, 4)) == (136, 8)
    assert data[136:] == b"base.raw"


def test_a_backing_name_that_is_no_text() -> None:
    name = os.fsdecode(b"caf\xe9.raw")
    assert first_cluster(backing_file=name, backing_format="raw").endswith(b"caf\xe9.raw")


def test_a_backing_name_that_fills_the_first_cluster() -> None:
    room = 512 - 112 - 16 - 8

    def with_name(length: int) -> bytes:
        name = "b" * length
        return first_cluster(cluster_bytes=512, backing_file=name, backing_format="qcow2")

    assert len(with_name(room)) == 512
    with pytest.raises(OptionsError, match="does not fit into the first cluster of 512 bytes"):
        with_name(room + 1)


@pytest.mark.parametrize(("cluster_bytes", "has_names"), [(4 * KIB, False), (8 * KIB, True)])
def test_feature_names_need_room(cluster_bytes: int, has_names: bool) -> None:
    data = first_cluster(cluster_bytes=cluster_bytes)
    assert (b"\x68\x03\xf8\x57" in data) is has_names
    assert (b"dirty bit" in data) is has_names


def test_extensions_are_padded_to_8_bytes() -> None:
    assert build_extensions([(1, b"123456789")]) == (
        b"\0\0\0\x01\0\0\0\x09123456789" + bytes(7) + bytes(8)
    )


@pytest.mark.parametrize(
    ("geometry", "most_bytes"),
    [
        (Geometry(9), 128 * GIB),
        (Geometry(16), 2048 * 1024 * GIB),
        (Geometry(16, extended_l2=True), 1024 * 1024 * GIB),
    ],
)
def test_the_largest_l1_table(geometry: Geometry, most_bytes: int) -> None:
    check_virtual_size(geometry, most_bytes)
    with pytest.raises(OptionsError, match="choose a larger cluster size"):
        check_virtual_size(geometry, most_bytes + 512)


def test_the_largest_refcount_table() -> None:
    largest = 8 * MIB // 512
    keywords: ConvertKeywords = {"cluster_bytes": 512, "refcount_bits": 64}
    assert first_cluster(TablePlaces(512, 1, 1024, largest), **keywords)
    with pytest.raises(OptionsError, match=r"needs more refcounts than clusters of 512 B"):
        first_cluster(TablePlaces(512, 1, 1024, largest + 1), **keywords)
