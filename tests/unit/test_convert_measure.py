"""Sizes without reading guest data, against numbers worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from qcowgui.convert.measure import (
    MAX_DISK_BYTES,
    Measurement,
    iter_cluster_runs,
    measure_new,
    measure_source,
)
from qcowgui.convert.options import Compat, ConvertOptions, Preallocation, TargetFormat
from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled, OptionsError
from qcowgui.image.chain import open_image
from tests.support.base_images import b0_builder, pattern
from tests.support.options import KIB, MIB

CLUSTER = 64 * KIB


def target(
    target_format: TargetFormat = "qcow2",
    *,
    cluster_bytes: int = CLUSTER,
    compat: Compat = "1.1",
    backing_file: str | None = None,
) -> ConvertOptions:
    return ConvertOptions(
        Path("source"),
        Path("target"),
        target_format=target_format,
        cluster_bytes=cluster_bytes,
        compat=compat,
        backing_file=backing_file,
        backing_format="raw" if backing_file else None,
    )


def test_a_new_image() -> None:
    # Header, L1, one L2 table, refcount table, refcount block.
    assert measure_new(target(), 64 * MIB) == Measurement(5 * CLUSTER, 64 * MIB + 5 * CLUSTER)
    # Without guest clusters there are no tables: header, refcount table, refcount block.
    assert measure_new(target(), 0) == Measurement(3 * CLUSTER, 3 * CLUSTER)


def test_a_new_raw_image_has_whole_sectors() -> None:
    assert measure_new(target("raw"), 513) == Measurement(1024, 1024)


@pytest.mark.parametrize("size", [-1, MAX_DISK_BYTES + 1])
def test_impossible_sizes(size: int) -> None:
    for target_format in ("raw", "qcow2"):
        with pytest.raises(OptionsError, match="not possible"):
            measure_new(target(target_format), size)


def test_too_large_for_its_clusters() -> None:
    with pytest.raises(OptionsError, match="too large for clusters of 512 B"):
        measure_new(target(cluster_bytes=512), (128 << 30) + 1)


def test_what_is_stored_counts_in_clusters_of_the_target(tmp_path: Path) -> None:
    builder = b0_builder()
    builder.write(10 * CLUSTER, pattern(CLUSTER))
    builder.zero(20, allocated=True)
    path = builder.build().write_to(tmp_path / "image.qcow2")
    with open_image(path) as source:
        small = measure_source(target(), source)
        large = measure_source(target(cluster_bytes=2 * MIB), source)
        kept = measure_source(target(backing_file="base"), source)
    assert small == Measurement(7 * CLUSTER, 64 * MIB + 5 * CLUSTER, 0)
    # Both lie in the first cluster of 2 MiB.
    assert large.required_bytes == 6 * 2 * MIB
    assert kept.required_bytes == kept.fully_allocated_bytes == small.fully_allocated_bytes


def test_bitmaps_need_version_3_on_both_sides(tmp_path: Path) -> None:
    path = b0_builder(version=2).build().write_to(tmp_path / "old.qcow2")
    with open_image(path) as source:
        assert measure_source(target(), source).bitmaps_bytes is None
    builder = b0_builder()
    builder.bitmap("changes", granularity_bits=16)
    path = builder.build().write_to(tmp_path / "new.qcow2")
    with open_image(path) as source:
        # A cluster each for the bits, the bitmap's table and the directory.
        assert measure_source(target(), source).bitmaps_bytes == 3 * CLUSTER
        assert measure_source(target(compat="0.10"), source).bitmaps_bytes is None
        assert measure_source(target("raw"), source).bitmaps_bytes is None


def test_it_stops_when_asked(tmp_path: Path) -> None:
    token = CancelToken()
    token.cancel()
    with (
        open_image(b0_builder().build().write_to(tmp_path / "image.qcow2")) as source,
        pytest.raises(Cancelled),
    ):
        measure_source(target(), source, token)


def test_cluster_runs() -> None:
    ranges = [(0, 1), (5, 10), (10, 12), (15, 16), (20, 41), (30, 35), (79, 80)]
    assert list(iter_cluster_runs(ranges, 10)) == [(0, 1), (1, 2), (2, 5), (7, 8)]
    assert list(iter_cluster_runs([], 10)) == []


@pytest.mark.parametrize("preallocation", ["falloc", "full"])
def test_space_that_is_set_aside_is_required(preallocation: Preallocation, tmp_path: Path) -> None:
    options = replace(target(), preallocation=preallocation)
    # As qemu-img measure says of 100 MiB.
    assert measure_new(options, 100 * MIB) == Measurement(105_185_280, 105_185_280)
    path = b0_builder().build().write_to(tmp_path / "source.qcow2")
    with open_image(path) as source:
        measured = measure_source(options, source)
        assert measured.required_bytes == measured.fully_allocated_bytes
        grows = measure_source(replace(options, preallocation="metadata"), source)
    assert grows.required_bytes < measured.required_bytes
    assert grows.fully_allocated_bytes == measured.fully_allocated_bytes
