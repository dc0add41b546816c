"""Preallocated targets, judged by qemu-img: no damage, the length of its own, all allocated."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from qcowgui.convert.options import Preallocation
from tests.converting import convert, mixed_disk
from tests.support import oracle
from tests.support.options import KIB, MIB

MODES: tuple[Preallocation, ...] = ("metadata", "falloc", "full")


@pytest.mark.parametrize(
    ("mode", "cluster_bytes", "extended_l2"),
    [
        *itertools.product(MODES, (4 * KIB, 64 * KIB), (False,)),
        ("metadata", 512, False),
        ("metadata", 2 * MIB, False),
        *itertools.product(MODES, (16 * KIB,), (True,)),
    ],
)
def test_qemu_finds_it_whole(
    mode: Preallocation, cluster_bytes: int, extended_l2: bool, tmp_path: Path
) -> None:
    source = tmp_path / "disk.raw"
    source.write_bytes(mixed_disk())
    ours, theirs = tmp_path / "ours.qcow2", tmp_path / "theirs.qcow2"
    convert(source, ours, preallocation=mode, cluster_bytes=cluster_bytes, extended_l2=extended_l2)
    extended = ",extended_l2=on" if extended_l2 else ""
    oracle.convert(
        source,
        theirs,
        "-o",
        f"preallocation={mode},cluster_size={cluster_bytes}{extended}",
        source_format="raw",
        target_format="qcow2",
    )
    checked = oracle.check(ours)
    assert checked.is_clean
    assert checked.report["allocated-clusters"] == checked.report["total-clusters"]
    assert checked.report.get("fragmented-clusters", 0) == 0
    assert oracle.guest_bytes(ours) == source.read_bytes()
    # QEMU puts its metadata in other places, and may round up once more.
    assert abs(ours.stat().st_size - theirs.stat().st_size) <= 4 * cluster_bytes
    oracle.qemu_io(ours, f"write -P 7 {5 * MIB} 300k")
    assert oracle.check(ours).is_clean
