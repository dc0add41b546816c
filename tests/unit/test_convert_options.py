"""Options are tested when they are made, before any file is touched."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import pytest

from qcowgui.codec.registry import CompressionType
from qcowgui.convert.options import CLUSTER_SIZES, REFCOUNT_BITS, Compression, ConvertOptions
from qcowgui.errors import OptionsError
from tests.converting import ConvertKeywords
from tests.support.options import KIB, MIB

SOURCE, TARGET = Path("source.raw"), Path("target.qcow2")


def options(**keywords: object) -> ConvertOptions:
    """Options of a qcow2 target; `keywords` need not be possible."""
    return ConvertOptions(SOURCE, TARGET, **cast("Any", {"target_format": "qcow2"} | keywords))


def test_what_a_format_can_be() -> None:
    assert tuple(512 << n for n in range(13)) == CLUSTER_SIZES
    assert CLUSTER_SIZES[-1] == 2 * MIB
    assert REFCOUNT_BITS == (1, 2, 4, 8, 16, 32, 64)


def test_defaults_are_qemus_but_for_raw_without_a_format() -> None:
    plain = ConvertOptions(SOURCE, TARGET)
    assert plain.target_format == "raw"
    assert (plain.cluster_bytes, plain.compat, plain.refcount_bits) == (64 * KIB, "1.1", 16)
    assert plain.sparse_bytes == 4 * KIB
    assert plain.verify
    assert not plain.salvage
    assert not plain.overwrite


@pytest.mark.parametrize("cluster_bytes", CLUSTER_SIZES)
def test_cluster_bits(cluster_bytes: int) -> None:
    assert 1 << options(cluster_bytes=cluster_bytes).cluster_bits == cluster_bytes


@pytest.mark.parametrize("refcount_bits", REFCOUNT_BITS)
def test_refcount_order(refcount_bits: int) -> None:
    assert 1 << options(refcount_bits=refcount_bits).refcount_order == refcount_bits


@pytest.mark.parametrize(
    ("compression", "kind"),
    [("none", None), ("zlib", CompressionType.ZLIB), ("zstd", CompressionType.ZSTD)],
)
def test_compression_type(compression: Compression, kind: CompressionType | None) -> None:
    assert options(compression=compression).compression_type is kind


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"target_format": "vmdk"}, "target format 'vmdk' does not exist; raw, qcow2 do"),
        ({"compression": "lzma"}, "compression 'lzma' does not exist"),
        ({"compat": "0.9"}, "compat '0.9' does not exist; 0.10, 1.1 do"),
        ({"window": "8k"}, "window '8k' does not exist"),
        ({"target_format": "raw", "compression": "zlib"}, "raw target can't have compression"),
        ({"target_format": "raw", "backing_file": "b"}, "raw target can't have a backing file"),
        ({"target_format": "raw", "extended_l2": True}, "raw target can't have extended L2"),
        ({"target_format": "raw", "lazy_refcounts": True}, "raw target can't have lazy refcounts"),
        ({"level": 3}, "Level 3 was given, but no compression"),
        ({"compression": "zlib", "level": 13}, "zlib has no level 13"),
        ({"compression": "zlib", "level": -1}, "zlib has no level -1"),
        ({"compression": "zlib", "window": "4k", "level": 10}, "no level 10 with a window of 4k"),
        ({"compression": "zstd", "level": 23}, "zstd has no level 23"),
        ({"compression": "zstd", "level": 0}, "zstd has no level 0"),
        ({"compression": "zstd", "window": "4k"}, "window of 4k belongs to zlib"),
        ({"threads": 0}, "0 threads are not possible"),
        ({"threads": 257}, "257 threads are not possible"),
        ({"sparse_bytes": 256}, "sparse threshold 256"),
        ({"sparse_bytes": 1536}, "sparse threshold 1536"),
        ({"sparse_bytes": -4096}, "sparse threshold -4096"),
        ({"sparse_bytes": 4 * MIB}, "sparse threshold 4194304"),
        ({"cluster_bytes": 256}, "cluster size of 256 bytes"),
        ({"cluster_bytes": 3 * KIB}, "cluster size of 3072 bytes"),
        ({"cluster_bytes": 4 * MIB}, "cluster size of 4194304 bytes"),
        ({"refcount_bits": 3}, "3 refcount bits are not possible"),
        ({"refcount_bits": 128}, "128 refcount bits are not possible"),
        (
            {"extended_l2": True, "cluster_bytes": 8 * KIB},
            "Extended L2 entries need clusters of 16",
        ),
        ({"backing_file": "b.raw"}, "format of the backing file 'b.raw' was not given"),
        ({"backing_file": "b", "backing_format": "vdi"}, "backing format 'vdi' does not exist"),
        ({"backing_file": "b" * 1024, "backing_format": "raw"}, "longer than 1023 bytes"),
        ({"backing_file": "ü" * 512, "backing_format": "raw"}, "longer than 1023 bytes"),
        ({"backing_format": "raw"}, "backing format was given, but no backing file"),
        ({"compat": "0.10", "compression": "zstd"}, "compat 0.10 does not have zstd"),
        ({"compat": "0.10", "extended_l2": True}, "compat 0.10 does not have extended L2"),
        ({"compat": "0.10", "lazy_refcounts": True}, "compat 0.10 does not have lazy refcounts"),
        ({"compat": "0.10", "refcount_bits": 8}, "does not have refcounts of any width but 16"),
    ],
)
def test_contradictions(keywords: dict[str, object], message: str) -> None:
    with pytest.raises(OptionsError) as caught:
        options(**keywords)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "keywords",
    [
        {"compression": "zlib", "level": 0},
        {"compression": "zlib", "level": 12},
        {"compression": "zlib", "level": 9, "window": "4k"},
        {"compression": "zstd", "level": 1},
        {"compression": "zstd", "level": 22},
        {"extended_l2": True, "cluster_bytes": 16 * KIB},
        {"sparse_bytes": 0},
        {"sparse_bytes": 2 * MIB},
        {"threads": 1},
        {"threads": 256},
        {"backing_file": "b" * 1023, "backing_format": "qcow2"},
        {"compat": "0.10", "compression": "zlib"},
    ],
)
def test_borders_that_are_allowed(keywords: ConvertKeywords) -> None:
    made = options(**keywords)
    assert all(getattr(made, name) == value for name, value in keywords.items())


def test_a_backing_name_that_is_no_text() -> None:
    name = os.fsdecode(b"caf\xe9.raw")
    assert options(backing_file=name, backing_format="raw").backing_file == name
