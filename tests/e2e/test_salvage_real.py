"""Salvage of images as QEMU and mke2fs make them: what is not listed as lost is right."""

from __future__ import annotations

import os
import random
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from qcowgui.convert.job import ConvertResult
from qcowgui.convert.options import ConvertOptions
from qcowgui.engine.work import CancelToken, SerialExecutor
from qcowgui.format.geometry import OFFSET_MASK
from qcowgui.image.source import FileSource
from qcowgui.salvage.candidates import Candidate, Origin, Overrides, SalvageReport
from qcowgui.salvage.search import search_candidates
from qcowgui.salvage.write import SalvageJob
from tests.support import oracle
from tests.support.base_images import pattern, text
from tests.support.options import KIB, MIB

pytestmark = pytest.mark.slow

DISK_BYTES = 160 * MIB


@dataclass(frozen=True)
class Salvaged:
    """What came of a salvage.

    Attributes:
        report: What was found.
        result: What the job says.
        disk: The bytes written.
    """

    report: SalvageReport
    result: ConvertResult
    disk: bytes

    @property
    def best(self) -> Candidate:
        return self.report.candidates[0]


@pytest.fixture(scope="module")
def file_system(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A raw disk with an ext4 file system that holds real files."""
    folder = tmp_path_factory.mktemp("files")
    chance = random.Random(3)
    for index in range(120):
        kind = pattern if index % 3 else text
        size = chance.choice((100, 5_000, 70_000, 2_500_000))
        (folder / f"file {index}").write_bytes(kind(size, index))
    path = tmp_path_factory.mktemp("disk") / "disk.raw"
    command = ["mke2fs", "-q", "-t", "ext4", "-b", "1024", "-d", str(folder), str(path)]
    subprocess.run([*command, f"{DISK_BYTES // KIB}k"], check=True, capture_output=True)
    return path


def convert(source: Path, target: Path, options: str, *, compress: bool = False) -> Path:
    flags = ["-c"] if compress else []
    return oracle.convert(
        source, target, *flags, "-o", options, source_format="raw", target_format="qcow2"
    )


def header(path: Path) -> tuple[int, int, int]:
    """(cluster size, L1 entries, L1 offset) as the healthy header says."""
    with path.open("rb") as file:
        head = file.read(48)
    bits, entries = struct.unpack_from(">I", head, 20)[0], struct.unpack_from(">I", head, 36)[0]
    return 1 << bits, entries, struct.unpack_from(">Q", head, 40)[0]


def overwrite(path: Path, offset: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)


def l2_offsets(path: Path) -> list[int]:
    """The host offset of each L1 entry's table."""
    _, entries, offset = header(path)
    words = struct.unpack(f">{entries}Q", path.read_bytes()[offset : offset + entries * 8])
    return [word & OFFSET_MASK for word in words]


def wipe_l1(path: Path) -> None:
    _, entries, offset = header(path)
    overwrite(path, offset, bytes(entries * 8))


def wipe_header(path: Path, filler: bytes | None = None) -> None:
    overwrite(path, 0, bytes(header(path)[0]) if filler is None else filler)


def salvage(path: Path, *, size: int | None = None, backing: Path | None = None) -> Salvaged:
    """Salvage by the best candidate, to a raw file."""
    target = path.with_suffix(".out")
    before = path.stat()
    options = ConvertOptions(path, target, salvage=True, overwrite=True)
    with FileSource(path) as source:
        report = search_candidates(source, CancelToken(), overrides=Overrides(virtual_bytes=size))
        job = SalvageJob(options, source, report.candidates[0], backing=backing)
        result = job.run(SerialExecutor())
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    return Salvaged(report, result, target.read_bytes())


def same(left: bytes, right: bytes) -> bool:
    """Whether two disks are equal; pytest would take minutes to show where they differ."""
    return left == right


def assert_right_but_for_losses(salvaged: Salvaged, expected: bytes) -> int:
    """Every byte is that of the disk, or lies in a listed range; the number of lost bytes."""
    wanted = bytearray(expected)
    for lost in salvaged.result.losses:
        wanted[lost.start : lost.end] = bytes(lost.length)
    assert len(salvaged.disk) == len(wanted)
    assert same(salvaged.disk, bytes(wanted))
    return sum(lost.length for lost in salvaged.result.losses)


LAYOUTS = [
    ("cluster_size=64k", False),
    ("cluster_size=64k", True),
    ("cluster_size=64k,compression_type=zstd", True),
    ("cluster_size=4k", False),
    ("cluster_size=4k,compression_type=zstd", True),
    ("cluster_size=512", False),
    ("cluster_size=2M", False),
    ("cluster_size=2M,compression_type=zstd", True),
    ("cluster_size=128k,extended_l2=on", False),
    ("cluster_size=16k,extended_l2=on,compression_type=zstd", True),
    ("cluster_size=64k,compat=0.10", True),
    ("cluster_size=32k,refcount_bits=1", False),
    ("cluster_size=8k,refcount_bits=64", True),
]


@pytest.mark.parametrize(("options", "compress"), LAYOUTS)
def test_a_wiped_first_cluster(
    file_system: Path, tmp_path: Path, options: str, compress: bool
) -> None:
    path = convert(file_system, tmp_path / "image.qcow2", options, compress=compress)
    info = oracle.info(path)
    wipe_header(path)
    salvaged = salvage(path)
    assert not salvaged.result.losses
    assert same(salvaged.disk, file_system.read_bytes())
    best = salvaged.best
    assert best.geometry.cluster_bytes == info["cluster-size"]
    assert best.geometry.extended_l2 == info["format-specific"]["data"].get("extended-l2", False)
    assert best.geometry.refcount_bits == info["format-specific"]["data"]["refcount-bits"]
    if compress:
        kind = info["format-specific"]["data"]["compression-type"]
        assert best.compression_type.label == kind


def test_the_first_64_kib_overwritten(file_system: Path, tmp_path: Path) -> None:
    """cloud-hypervisor 8358."""
    path = convert(file_system, tmp_path / "image.qcow2", "cluster_size=64k")
    overwrite(path, 0, os.urandom(64 * KIB))
    salvaged = salvage(path)
    assert assert_right_but_for_losses(salvaged, file_system.read_bytes()) == 0


def test_the_first_64_kib_and_tables_in_them_overwritten(tmp_path: Path) -> None:
    """Small clusters: L1 and first L2 tables go as well. What is left is offered with doubts."""
    path = oracle.create(tmp_path / "image.qcow2", 16 * MIB, "-o", "cluster_size=4k")
    oracle.qemu_io(path, *(f"write -P {1 + index} {index * 2}M 2M" for index in range(8)))
    overwrite(path, 0, os.urandom(64 * KIB))
    salvaged = salvage(path)
    assert salvaged.best.origin is Origin.ORDERED
    assert any("order of their data" in doubt for doubt in salvaged.best.undecidable)
    left = {salvaged.disk[start] for start in range(0, len(salvaged.disk), 2 * MIB)}
    assert len(left & set(range(1, 9))) >= 6


@pytest.mark.parametrize(
    ("options", "compress"), [("cluster_size=64k", False), ("cluster_size=16k", True)]
)
@pytest.mark.parametrize("header_too", [False, True])
def test_a_wiped_l1(
    file_system: Path, tmp_path: Path, options: str, compress: bool, header_too: bool
) -> None:
    path = convert(file_system, tmp_path / "image.qcow2", options, compress=compress)
    wipe_l1(path)
    if header_too:
        wipe_header(path)
    salvaged = salvage(path)
    assert salvaged.best.origin is Origin.ORDERED
    assert same(salvaged.disk, file_system.read_bytes())
    assert any("superblock" in reason or "disk" in reason for reason in salvaged.best.reasons)


@pytest.mark.parametrize("cluster", ["4k", "16k"])
def test_l2_tables_written_in_any_order(file_system: Path, tmp_path: Path, cluster: str) -> None:
    """Superblock copies and block bitmaps put them in their place, not their order in the file."""
    path = convert(file_system, tmp_path / "image.qcow2", f"cluster_size={cluster}")
    size = header(path)[0]
    used = [offset for offset in l2_offsets(path) if offset]
    content = path.read_bytes()
    tables = [content[offset : offset + size] for offset in used]
    for offset, table in zip(reversed(used), tables, strict=True):
        overwrite(path, offset, table)
    wipe_l1(path)
    salvaged = salvage(path)
    assert any("placed by what they map" in reason for reason in salvaged.best.reasons)
    disk, coverage = file_system.read_bytes(), size // 8 * size
    right = [
        salvaged.disk[start : start + coverage] == disk[start : start + coverage]
        for start in range(0, len(disk), coverage)
    ]
    if cluster == "16k":
        assert all(right)
    else:  # a table of 2 MiB seldom holds anything that tells its place
        assert sum(right) >= len(right) * 0.8
        assert any("order of their data" in doubt for doubt in salvaged.best.undecidable)


@pytest.mark.parametrize("filler", [bytes, os.urandom])
@pytest.mark.parametrize("header_too", [False, True])
def test_some_l2_tables_lost(
    file_system: Path, tmp_path: Path, filler: type[bytes], header_too: bool
) -> None:
    path = convert(file_system, tmp_path / "image.qcow2", "cluster_size=16k")
    used = [offset for offset in l2_offsets(path) if offset]
    for offset in used[1:3]:
        overwrite(path, offset, filler(16 * KIB))
    if header_too:
        wipe_header(path)
    salvaged = salvage(path)
    lost = assert_right_but_for_losses(salvaged, file_system.read_bytes())
    assert lost == 2 * 32 * MIB
    assert salvaged.best.lost_tables == 2
    assert salvaged.report.orphans.clusters


@pytest.mark.parametrize("share", [0.3, 0.7, 0.99])
@pytest.mark.parametrize("compress", [False, True])
def test_a_truncated_file(file_system: Path, tmp_path: Path, share: float, compress: bool) -> None:
    path = convert(file_system, tmp_path / "image.qcow2", "cluster_size=16k", compress=compress)
    with path.open("r+b") as file:
        file.truncate(int(path.stat().st_size * share))
    salvaged = salvage(path)
    expected = file_system.read_bytes()
    wanted = bytearray(expected)
    for lost in salvaged.result.losses:
        wanted[lost.start : lost.end] = salvaged.disk[lost.start : lost.end]
    assert same(salvaged.disk, bytes(wanted))
    assert 0 < sum(lost.length for lost in salvaged.result.losses) < DISK_BYTES


def test_an_image_fragmented_by_random_writes(tmp_path: Path) -> None:
    path = oracle.create(tmp_path / "image.qcow2", 64 * MIB, "-o", "cluster_size=4k")
    chance = random.Random(11)
    places = [chance.randrange(64 * MIB // 512) * 512 for _ in range(400)]
    writes = [f"write -P {1 + n % 250} {at} 3k" for n, at in enumerate(places) if at < 63 * MIB]
    oracle.qemu_io(path, *writes, "discard 20M 1M", "write -z 30M 1M", f"write -P 9 {63 * MIB} 1M")
    expected = oracle.guest_bytes(path)
    wipe_header(path)
    salvaged = salvage(path)
    assert salvaged.disk == expected
    assert not salvaged.result.losses


def test_snapshots_come_back_too(tmp_path: Path) -> None:
    path = oracle.create(tmp_path / "image.qcow2", 32 * MIB, "-o", "cluster_size=4k")
    oracle.qemu_io(path, "write -P 1 0 5M", "write -P 2 20M 1M")
    oracle.qemu_img("snapshot", "-c", "before", path)
    oracle.qemu_io(path, "write -P 3 1M 100k", "write -P 4 31M 1M")
    active, before = oracle.guest_bytes(path), oracle.guest_bytes(path, snapshot="before")
    wipe_header(path)
    salvaged = salvage(path)
    assert salvaged.disk == active
    snapshot = next(c for c in salvaged.report.candidates if c.origin is Origin.SNAPSHOT)
    target = tmp_path / "before.raw"
    with FileSource(path) as source:
        options = ConvertOptions(path, target, salvage=True)
        SalvageJob(options, source, snapshot).run(SerialExecutor())
    assert target.read_bytes() == before


def test_snapshots_order_the_tables_of_a_wiped_l1(tmp_path: Path) -> None:
    path = oracle.create(tmp_path / "image.qcow2", 64 * MIB, "-o", "cluster_size=4k")
    chance = random.Random(2)
    order = list(range(32))
    chance.shuffle(order)
    oracle.qemu_io(path, *(f"write -P {1 + index} {index * 2}M 64k" for index in order))
    oracle.qemu_img("snapshot", "-c", "before", path)
    oracle.qemu_io(path, *(f"write -P 99 {index * 2}M 4k" for index in order[:9]))
    expected = oracle.guest_bytes(path)
    wipe_l1(path)
    assert salvage(path).disk == expected


def test_an_overlay_without_header_and_its_backing_file(tmp_path: Path) -> None:
    base = tmp_path / "base.raw"
    base.write_bytes(pattern(32 * MIB, 4))
    path = tmp_path / "overlay.qcow2"
    backing = ("-b", base, "-F", "raw", "-o", "cluster_size=4k")
    oracle.create(path, None, *backing)
    oracle.qemu_io(path, "write -P 7 3M 2M", "write -P 8 31M 1M", "write -z 9M 1M")
    expected = oracle.guest_bytes(path)
    wipe_header(path)
    assert salvage(path, backing=base).disk == expected


def test_the_output_passes_a_check(file_system: Path, tmp_path: Path) -> None:
    path = convert(file_system, tmp_path / "image.qcow2", "cluster_size=64k", compress=True)
    wipe_header(path)
    target = tmp_path / "out.qcow2"
    options = ConvertOptions(path, target, target_format="qcow2", compression="zstd", salvage=True)
    with FileSource(path) as source:
        best = search_candidates(source, CancelToken()).candidates[0]
        SalvageJob(options, source, best).run(SerialExecutor())
    assert oracle.check(target).is_clean
    done = oracle.qemu_img("compare", "-f", "raw", "-F", "qcow2", file_system, target)
    assert done.returncode == 0
